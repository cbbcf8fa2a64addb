// A branch on data: words below `threshold` take arm A, the others arm B.

struct Params {
  threshold: u32,
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn random_half(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = words[index];
  var x = word;
  if word < params.threshold {
    x = arm_a(x, params.trips);
  } else {
    x = arm_b(x, params.trips);
  }
  results[index] = x;
}
