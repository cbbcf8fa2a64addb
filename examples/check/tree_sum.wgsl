// The sum of 32 items as a tree, for a subgroup of 32 lanes: each round halves the number of lanes that add.
//
// Wrong: the rounds rely on the lanes being in step. Nothing in WGSL promises that, and since Volta NVIDIA's lanes go on
// independently: a lane may read a sum before its neighbour has written it. What the memory needs is an order, which only
// a barrier gives. See tree_sum_repaired.wgsl.

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<u32, 32>;

@compute @workgroup_size(32)
fn sum(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
  sums[i] = items[32u * group.x + i];
  for (var step = 16u; step > 0u; step /= 2u) {
    if i < step {
      sums[i] += sums[i + step];
    }
  }
  if i == 0u {
    totals[group.x] = sums[0];
  }
}
