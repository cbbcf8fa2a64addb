// Counts, places and reversals of bits, insertion and extraction, shifts, of signed and unsigned words and vectors.
// run: main 1
// buffer: 64 random 35
// buffer: 1280 zeros

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 20>, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  // Sparse words too, zero and all ones among them.
  var x = seeds[i];
  if i < 34u {
    x = select(1u << (i & 31u), (i - 32u) * 0xffffffffu, i >= 32u);
  } else if i < 48u {
    x &= seeds[i - 1u] & seeds[i - 2u];
  }
  let y = bitcast<i32>(x);
  let offset = i % 33u;
  let count = min((i * 7u) % 33u, 32u - offset);
  let v = firstLeadingBit(vec2i(y, ~y));
  out[i] = array<u32, 20>(
    countOneBits(x), countLeadingZeros(x), countTrailingZeros(x), reverseBits(x), firstLeadingBit(x),
    firstTrailingBit(x), u32(firstLeadingBit(y)), u32(firstTrailingBit(y)), u32(countOneBits(y)),
    u32(reverseBits(y)), extractBits(x, offset, count), u32(extractBits(y, offset, count)),
    insertBits(x, 0xa5a5a5a5u, offset, count), u32(insertBits(y, -1, offset, count)), x << (i & 31u), x >> (i & 31u),
    u32(y >> (i & 31u)), u32(v.x) * 100u + u32(v.y), countOneBits(vec2u(x, ~x)).y, ~x ^ (x & 0xff00u) | 0x10u,
  );
}
