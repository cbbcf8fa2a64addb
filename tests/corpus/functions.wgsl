// Transcendental and geometric functions, one an array of 64 results, within what WGSL lets a driver be off.
// run: main 1
// buffer: 64 floats 53 0.1 3
// buffer: 64 floats 54 -0.9 0.9
// buffer: 512 zeros
// buffer: 512 zeros
// ulps: 2 2
// ulps: 3 512

@group(0) @binding(0) var<storage, read> positive: array<f32>;
@group(0) @binding(1) var<storage, read> small: array<f32>;
@group(0) @binding(2) var<storage, read_write> close: array<array<f32, 64>, 8>;
@group(0) @binding(3) var<storage, read_write> loose: array<array<f32, 64>, 8>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = positive[i];
  let s = small[i];
  let v = vec3f(x, s, positive[63u - i]);
  close[0][i] = sqrt(x);
  close[1][i] = inverseSqrt(x);
  close[2][i] = length(v);
  close[3][i] = distance(v, v.zxy);
  close[4][i] = normalize(v).y;
  close[5][i] = x / positive[63u - i];
  close[6][i] = degrees(x) + radians(x);
  close[7][i] = mix(1.0, 2.0, x) + smoothstep(0.0, 3.0, x);
  loose[0][i] = sin(x);
  loose[1][i] = cos(s);
  loose[2][i] = exp(s);
  loose[3][i] = exp2(x);
  loose[4][i] = log2(x + 1.5);
  loose[5][i] = pow(x, 1.75);
  loose[6][i] = atan2(x, 2.0);
  loose[7][i] = tanh(x) + asin(s) * 0.25 + 2.0;
}
