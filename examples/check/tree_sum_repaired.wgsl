// The sum of tree_sum.wgsl, right under every schedule and at every width of a subgroup: a barrier stands between the
// writes of a round and the reads of the next, and outside the branch, so that all invocations reach it.

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<u32, 32>;

@compute @workgroup_size(32)
fn sum(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
  sums[i] = items[32u * group.x + i];
  workgroupBarrier();
  for (var step = 16u; step > 0u; step /= 2u) {
    if i < step {
      sums[i] += sums[i + step];
    }
    workgroupBarrier();
  }
  if i == 0u {
    totals[group.x] = sums[0];
  }
}
