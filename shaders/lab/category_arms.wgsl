// Counts, without timing, how many arms of the switch of category.wgsl each subgroup takes. `ARMS` is printed before
// this text.

struct Counts {
  subgroups: atomic<u32>,
  arms: atomic<u32>,
}

@group(0) @binding(0) var<storage, read_write> counts: Counts;
@group(0) @binding(2) var<storage, read> categories: array<u32>;
@group(0) @binding(3) var<storage, read> order: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn category_arms(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let item = min(order[workgroup.x * WORKGROUP + local], arrayLength(&categories) - 1u);
  let category = categories[item];
  var arms = 0u;
  for (var arm = 0u; arm < ARMS; arm++) {
    arms += u32(subgroupAny(category == arm));
  }
  if lane == 0u {
    atomicAdd(&counts.subgroups, 1u);
    atomicAdd(&counts.arms, arms);
  }
}
