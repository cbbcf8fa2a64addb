// Counts lanes: each invocation reports what the device says of its place in the subgroup (size, lane, id), and what
// subgroup operations show of it (the lanes that vote, its rank among them, the first lane's local index).
// `WORKGROUP` is printed before this text.

struct Seen {
  size: u32,
  lane: u32,
  subgroup: u32,
  first_index: u32,
  ballot: vec4<u32>,
}

@group(0) @binding(0) var<storage, read_write> seen: array<Seen>;

@compute @workgroup_size(WORKGROUP)
fn probe(
  @builtin(local_invocation_index) index: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let ballot = subgroupBallot(true);
  let first_index = subgroupBroadcastFirst(index);
  seen[workgroup.x * WORKGROUP + index] = Seen(size, lane, subgroup, first_index, ballot);
}
