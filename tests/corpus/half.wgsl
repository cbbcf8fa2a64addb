// Numbers of 16 bits: arithmetic that is exact, rounding, and vectors of them in a buffer.
// run: main 1
// buffer: 64 random 55 below 64
// buffer: 64 zeros
// buffer: 64 zeros

enable f16;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> halves: array<vec2<f16>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = f16(input[i]) * 0.25h;
  let b = vec2<f16>(a + 1.0h, f16(input[63u - i]));
  halves[i] = b * a - vec2<f16>(0.5h, f16(i));
  out[i] = f32(max(b.x, b.y) * min(b.x, 4.0h)) + select(0.0, 0.125, b.x < b.y) + f32(floor(a));
}
