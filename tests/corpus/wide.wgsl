// Integers of 64 bits: products, quotients, shifts, comparisons and conversions.
// run: main 1
// buffer: 128 random 56
// buffer: 512 zeros

@group(0) @binding(0) var<storage, read> input: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u64, 4>>;

fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
  var result = 1lu;
  var square = base % modulus;
  var rest = exponent;
  while rest > 0lu {
    if (rest & 1lu) == 1lu {
      result = result * square % modulus;
    }
    square = square * square % modulus;
    rest >>= 1u;
  }
  return result;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = (u64(input[i].x) << 32u) | u64(input[i].y);
  let b = i64(u64(input[i].x)) - 0x80000000li;
  out[i] = array<u64, 4>(
    power(u64(input[i].y), u64(input[i].x & 0xffu), 4294967291lu),
    u64(i64(a) / (b | 1li)) ^ (a % u64(input[i].y | 1u)),
    (a << (i & 63u)) + u64(i64(a) >> (i & 63u)),
    u64(u32(a)) + u64(i64(i32(b))) * u64(i64(a) < b * b) + max(a, ~a) - u64(min(b, -b)),
  );
}
