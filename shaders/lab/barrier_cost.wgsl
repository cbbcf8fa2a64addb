// A loop whose trips have four steps of arithmetic, and the same loop with something between the steps: a barrier, an
// exchange through workgroup memory with its two barriers, or a shuffle.

struct Params {
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

var<workgroup> words: array<u32, WORKGROUP>;

fn step(x: u32) -> u32 {
  let y = x * 0x9E3779B1u + 0x7F4A7C15u;
  return y ^ (y >> 15u);
}

fn exchange(x: u32, local: u32) -> u32 {
  words[local] = x;
  workgroupBarrier();
  let other = words[local ^ 1u];
  workgroupBarrier();
  return other;
}

@compute @workgroup_size(WORKGROUP)
fn without(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = index;
  for (var i = 0u; i < params.trips; i++) {
    x = step(x);
    x = step(x);
    x = step(x);
    x = step(x);
  }
  results[index] = x;
}

@compute @workgroup_size(WORKGROUP)
fn with_barriers(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = index;
  for (var i = 0u; i < params.trips; i++) {
    x = step(x);
    workgroupBarrier();
    x = step(x);
    workgroupBarrier();
    x = step(x);
    workgroupBarrier();
    x = step(x);
    workgroupBarrier();
  }
  results[index] = x;
}

@compute @workgroup_size(WORKGROUP)
fn with_exchanges(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = index;
  for (var i = 0u; i < params.trips; i++) {
    x = exchange(step(x), local);
    x = exchange(step(x), local);
    x = exchange(step(x), local);
    x = exchange(step(x), local);
  }
  results[index] = x;
}

@compute @workgroup_size(WORKGROUP)
fn with_shuffles(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = index;
  for (var i = 0u; i < params.trips; i++) {
    x = subgroupShuffleXor(step(x), 1u);
    x = subgroupShuffleXor(step(x), 1u);
    x = subgroupShuffleXor(step(x), 1u);
    x = subgroupShuffleXor(step(x), 1u);
  }
  results[index] = x;
}
