// The sum of 64 items by two subgroups of 32 lanes: a butterfly in each, then the two sums together.
//
// Wrong at 64 lanes: the butterfly begins at a distance of 16, so it adds up 32 lanes, and with a single subgroup nobody
// writes the second sum. Items 32 to 63 are lost. The width has to be read (subgroup_size), not assumed:
//
//   wavelane check examples/check/width_32.wgsl              nothing found
//   wavelane check examples/check/width_32.wgsl --lanes 64   the sum that nobody wrote
//   wavelane check examples/check/width_32.wgsl --lanes 8    also lanes that are not there

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<u32, 2>;

@compute @workgroup_size(64)
fn sum(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(local_invocation_index) i: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  var sum = items[id.x];
  for (var distance = 16u; distance > 0u; distance /= 2u) {
    sum += subgroupShuffleXor(sum, distance);
  }
  if lane == 0u {
    sums[subgroup] = sum;
  }
  workgroupBarrier();
  if i == 0u {
    totals[group.x] = sums[0] + sums[1];
  }
}
