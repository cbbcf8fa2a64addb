// A Fourier transform of 64 numbers in workgroup memory, with its factors from cos and sin.
// run: main 1
// buffer: 128 floats 52 -1 1
// buffer: 128 zeros
// ulps: 1 64

@group(0) @binding(0) var<storage, read> input: array<vec2f, 64>;
@group(0) @binding(1) var<storage, read_write> output: array<vec2f, 64>;

var<workgroup> numbers: array<vec2f, 64>;

fn times(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) local: u32) {
  for (var i = local; i < 64u; i += 32u) {
    numbers[reverseBits(i) >> 26u] = input[i];
  }
  for (var half = 1u; half < 64u; half *= 2u) {
    workgroupBarrier();
    let k = local % half;
    let low = local / half * 2u * half + k;
    let angle = -3.14159265 * f32(k) / f32(half);
    let other = times(vec2f(cos(angle), sin(angle)), numbers[low + half]);
    let own = numbers[low];
    numbers[low] = own + other;
    numbers[low + half] = own - other;
  }
  workgroupBarrier();
  output[local] = numbers[local];
  output[local + 32u] = numbers[local + 32u];
}
