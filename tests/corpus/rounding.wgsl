// Rounding, parts, signs and conversions of floats, halves between and large ones among them.
// run: main 1
// buffer: 64 floats 36 -1000 1000
// buffer: 1280 zeros
// ulps: 1 0

@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<f32, 20>, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var x = numbers[i];
  if i < 16u {
    x = (f32(i) - 7.0) * 0.5;
  } else if i < 24u {
    x *= 16777216.0;
  } else if i < 32u {
    x *= 0.0009765625;
  }
  let parts = modf(x);
  let power = frexp(x);
  let clipped = clamp(x, -2147483000.0, 2147483000.0);
  out[i] = array<f32, 20>(
    floor(x), ceil(x), round(x), trunc(x), fract(x), sign(x), abs(x), parts.fract, parts.whole, power.fract,
    f32(power.exp), ldexp(x, i32(i % 9u) - 4), saturate(x), step(0.25, x), f32(i32(clipped)), f32(u32(abs(clipped))),
    quantizeToF16(x), min(x, 2.5), max(-x, 2.5), f32(i32(i) * 123456789),
  );
}
