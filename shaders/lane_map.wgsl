// The place of each invocation in its subgroup, found without the built-in values that need a one-dimensional
// workgroup: the first lane's local index names the subgroup, a running count is the lane, the total is the width.
// `WORKGROUP_X`, `WORKGROUP_Y` and `WORKGROUP_Z` are printed before this text.

@group(0) @binding(0) var<storage, read_write> places: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP_X, WORKGROUP_Y, WORKGROUP_Z)
fn lane_map(@builtin(local_invocation_index) index: u32) {
  let first = subgroupBroadcastFirst(index);
  let lane = subgroupExclusiveAdd(1u);
  let lanes = subgroupAdd(1u);
  places[index] = vec4<u32>(first, lane, lanes, 0u);
}
