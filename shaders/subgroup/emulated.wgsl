// Subgroups over workgroup memory, SG_LANES wide, for devices without them and for tests at any width. The other file
// with these names is native.wgsl; exactly one is chosen.
//
// Every function that exchanges something contains barriers: call it in workgroup-uniform control flow, from all
// invocations.

struct Place {
  @builtin(local_invocation_index) index: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
}

var<private> sg_size: u32;
var<private> sg_lane: u32;
var<private> sg_id: u32;
var<private> sg_count: u32;
var<private> sg_groups: u32;
var<private> wg_index: u32;

// The votes of each subgroup, four words of 32 lanes.
var<workgroup> sg_votes: array<atomic<u32>, SG_VOTES>;

fn sg_begin(place: Place) {
  wg_index = place.index;
  sg_size = SG_LANES;
  sg_lane = place.index % SG_LANES;
  sg_id = place.index / SG_LANES;
  sg_count = min(SG_LANES, WORKGROUP - sg_id * SG_LANES);
  sg_groups = (WORKGROUP + SG_LANES - 1u) / SG_LANES;
}

fn sg_ballot(vote: bool) -> vec4<u32> {
  for (var i = wg_index; i < SG_VOTES; i += WORKGROUP) {
    atomicStore(&sg_votes[i], 0u);
  }
  workgroupBarrier();
  if vote {
    atomicOr(&sg_votes[sg_id * 4u + sg_lane / 32u], 1u << (sg_lane % 32u));
  }
  workgroupBarrier();
  let first = sg_id * 4u;
  let votes = vec4<u32>(
    atomicLoad(&sg_votes[first]),
    atomicLoad(&sg_votes[first + 1u]),
    atomicLoad(&sg_votes[first + 2u]),
    atomicLoad(&sg_votes[first + 3u]),
  );
  // The next ballot clears the votes: not before all have read.
  workgroupBarrier();
  return votes;
}

fn sg_all(vote: bool) -> bool {
  return !any(sg_ballot(!vote) != vec4<u32>(0u));
}

fn sg_any(vote: bool) -> bool {
  return any(sg_ballot(vote) != vec4<u32>(0u));
}
