// The remedy's first two dispatches: the indices of the selected words go side by side into a list (places by an
// atomic counter in workgroup memory and one atomic a workgroup, so the order varies), then one invocation turns
// their number into dispatch arguments, so that the dense kernel needs no read-back and no idle workgroups.

struct Params {
  threshold: u32,
  trips: u32,
}

struct Selected {
  count: atomic<u32>,
  // Arguments of the dense dispatch.
  groups: array<u32, 3>,
}

@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read_write> list: array<u32>;
@group(0) @binding(4) var<storage, read_write> selected: Selected;

var<workgroup> group_count: atomic<u32>;
var<workgroup> group_first: u32;

@compute @workgroup_size(WORKGROUP)
fn remedy_compact(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local == 0u {
    atomicStore(&group_count, 0u);
  }
  workgroupBarrier();
  let index = workgroup.x * WORKGROUP + local;
  let wanted = words[index] < params.threshold;
  var place = 0u;
  if wanted {
    place = atomicAdd(&group_count, 1u);
  }
  workgroupBarrier();
  if local == 0u {
    group_first = atomicAdd(&selected.count, atomicLoad(&group_count));
  }
  workgroupBarrier();
  if wanted {
    list[group_first + place] = index;
  }
}

@compute @workgroup_size(1)
fn remedy_arguments() {
  let count = atomicLoad(&selected.count);
  selected.groups = array<u32, 3>((count + WORKGROUP - 1u) / WORKGROUP, 1u, 1u);
}
