// Contents that look random and that the host can compute again for any index, so that large buffers need no upload.

struct Params {
  count: u32,
  mask: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn fill_words(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP) {
    results[i] = scramble(i) & params.mask;
  }
}

// Whole numbers, so that sums of some of them are exact in any order.
@compute @workgroup_size(WORKGROUP)
fn fill_floats(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP) {
    results[i] = bitcast<u32>(f32(scramble(i) & params.mask));
  }
}
