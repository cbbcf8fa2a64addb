// Subgroups as the hardware has them. The other file with these names is emulated.wgsl; exactly one is chosen.
//
// An entry point takes a `Place` and calls `sg_begin(place)` first. WORKGROUP is printed before this text: the
// invocations of the one-dimensional workgroup.
//
// Everything here is called in workgroup-uniform control flow, since the emulated form contains barriers.

struct Place {
  @builtin(local_invocation_index) index: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(subgroup_size) lanes: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
}

// Lanes of a full subgroup; this invocation's lane; its subgroup in the workgroup; the lanes that its subgroup has
// (fewer in a last one that is partly filled); subgroups in the workgroup.
var<private> sg_size: u32;
var<private> sg_lane: u32;
var<private> sg_id: u32;
var<private> sg_count: u32;
var<private> sg_groups: u32;
// Place in the workgroup, in order of subgroup and lane. Not every device has this equal to the local index.
var<private> wg_index: u32;

fn sg_begin(place: Place) {
  sg_size = place.lanes;
  sg_lane = place.lane;
  sg_id = place.subgroup;
  sg_count = min(sg_size, WORKGROUP - sg_id * sg_size);
  // Computed, because drivers exist whose num_subgroups is rounded down.
  sg_groups = (WORKGROUP + sg_size - 1u) / sg_size;
  wg_index = sg_id * sg_size + sg_lane;
}

fn sg_ballot(vote: bool) -> vec4<u32> {
  return subgroupBallot(vote);
}

fn sg_all(vote: bool) -> bool {
  return subgroupAll(vote);
}

fn sg_any(vote: bool) -> bool {
  return subgroupAny(vote);
}
