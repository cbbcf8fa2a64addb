// Two tracks of 16-bit samples, each with a gain, mixed and clipped; and a checksum of each block that wraps at 16 bits.
// run: mix 4
// buffer: 256 random 71
// buffer: 256 random 72
// buffer: 2 words 2896 3547
// buffer: 256 zeros
// buffer: 8 zeros

enable wgpu_int16;

@group(0) @binding(0) var<storage, read> left: array<i16>;
@group(0) @binding(1) var<storage, read> right: array<vec2<i16>>;
@group(0) @binding(2) var<uniform> gain: vec2<i32>;
@group(0) @binding(3) var<storage, read_write> mixed: array<i16>;
@group(0) @binding(4) var<storage, read_write> sums: array<u16>;

var<workgroup> block: array<u16, 128>;

// The gain counts in 4096ths.
fn scaled(sample: i16, by: i32) -> i16 {
  return i16(clamp((i32(sample) * by) >> 12u, -32768, 32767));
}

fn plus(a: i16, b: i16) -> i16 {
  let sum = a + b;
  // The sign of a sum that wraps is that of neither.
  if ((a ^ sum) & (b ^ sum)) < i16(0) {
    return select(i16(32767), i16(-32767) - i16(1), a < i16(0));
  }
  return sum;
}

@compute @workgroup_size(128)
fn mix(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
  let sample = plus(scaled(left[id.x], gain.x), scaled(right[id.x / 2u][id.x % 2u], gain.y));
  mixed[id.x] = sample;
  block[i] = u16(sample) * u16(2u * i + 1u);
  workgroupBarrier();
  if i < 4u {
    var sum = u16(0);
    for (var at = i; at < 128u; at += 4u) {
      sum = (sum << 3u | sum >> 13u) + block[at];
    }
    sums[4u * (id.x / 128u) + i] = sum;
  }
}
