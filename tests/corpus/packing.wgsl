// Packing and unpacking of every format, also of what lies outside of its range.
// run: main 1
// buffer: 64 random 30
// buffer: 256 floats 31 -1.5 1.5
// buffer: 768 zeros
// buffer: 1280 zeros
// ulps: 3 1

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> numbers: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> packed: array<array<u32, 12>, 64>;
@group(0) @binding(3) var<storage, read_write> unpacked: array<array<vec4f, 5>, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = numbers[i];
  let word = words[i];
  let signed = unpack4xI8(word);
  let unsigned = unpack4xU8(word);
  packed[i] = array<u32, 12>(
    pack4x8unorm(x), pack4x8snorm(x), pack2x16unorm(x.xy), pack2x16snorm(x.zw), pack2x16float(x.xz * 1000.0),
    pack4xI8(vec4i(x * 300.0)), pack4xU8(vec4u(abs(x) * 300.0)),
    pack4xI8Clamp(vec4i(x * 300.0)), pack4xU8Clamp(vec4u(abs(x) * 300.0)),
    u32(signed.x * signed.y + signed.z - signed.w), unsigned.x * unsigned.y + unsigned.z - unsigned.w,
    u32(dot4I8Packed(word, words[i ^ 1u])) + 3u * dot4U8Packed(word, words[i ^ 1u]),
  );
  // No exponent of all ones: what is no number has many forms.
  let halves = word & 0xbfffbfffu;
  unpacked[i] = array<vec4f, 5>(
    unpack4x8unorm(word), unpack4x8snorm(word), vec4f(unpack2x16unorm(word), unpack2x16snorm(word)),
    vec4f(unpack2x16float(halves), 0.0, 0.0), x,
  );
}
