// Conversions of floats that are out of an integer's range or near its ends: to the last integer that is a float too.
// run: main 1
// buffer: 16 words 0 1333788672 3481272320 1325400064 1325400065 3472883712 3472883713 1336000000 2139095039 4286578687 1065353216 3217031168 1073741824 1057803469 1 2147483649
// buffer: 32 zeros

@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2u>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = vec2u(u32(numbers[i]), bitcast<u32>(i32(numbers[i])));
}
