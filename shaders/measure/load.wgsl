// Full-device arithmetic: what warms a device up, and the fixed work whose time shows whether its clock moved.
// `WORKGROUP` is printed before this text.
//
// A step is a multiply-add by a large odd constant and an xor with a shift of itself: three dependent instructions
// that no compiler folds across steps. The number of steps comes from a uniform buffer, so the loop is not unrolled
// away. Each invocation stores its result, so that none of the work is dead and the host can check it.

struct Params {
  steps: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn load(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = id.x;
  for (var step = 0u; step < params.steps; step += 1u) {
    x = x * 0x9e3779b1u + 0x85ebca77u;
    x ^= x >> 15u;
  }
  results[id.x] = x;
}
