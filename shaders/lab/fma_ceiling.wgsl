// Nothing but multiply-adds of floats, in sixteen independent chains a lane: the arithmetic ceiling.

struct Params {
  trips: u32,
  // 1.0 both, which no compiler knows: whole numbers stay whole, so that the host gets the same bits.
  factor: f32,
  addend: f32,
}

@group(0) @binding(0) var<storage, read_write> results: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn fma_ceiling(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let factor = vec4<f32>(params.factor);
  let addend = vec4<f32>(params.addend);
  // Sixteen different starts: chains that are alike would be computed once.
  var a = vec4<f32>(f32(index % 1024u)) + vec4<f32>(0.0, 1.0, 2.0, 3.0);
  var b = a + vec4<f32>(4.0);
  var c = a + vec4<f32>(8.0);
  var d = a + vec4<f32>(12.0);
  for (var trip = 0u; trip < params.trips; trip++) {
    a = fma(a, factor, addend);
    b = fma(b, factor, addend);
    c = fma(c, factor, addend);
    d = fma(d, factor, addend);
  }
  let sum = (a + b) + (c + d);
  results[index] = (sum.x + sum.y) + (sum.z + sum.w);
}
