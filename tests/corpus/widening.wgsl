// Conversions to 64 bits that change the sign too: a u32 keeps its value, an i32 its value modulo 2^64.
// run: main 1
// buffer: 64 random 61
// buffer: 256 zeros
// simulated only: naga 30.0.2 writes them as SConvert and UConvert, against its own constant evaluator

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u64, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i][0] = u64(i64(input[i]));
  out[i][1] = u64(bitcast<i32>(input[i]));
}
