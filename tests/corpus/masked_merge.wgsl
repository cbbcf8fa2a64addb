// A merge of two words by a constant mask, written in two ways, one of them in a loop that some lanes go on with.
// run: main 1
// buffer: 64 random 5
// buffer: 128 zeros
// simulated only: lavapipe of Mesa 22.3.6 gives two results where both ways are one by the laws of bits

@group(0) @binding(0) var<storage, read> input: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2i, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
  let a = input[local];
  let b = bitcast<i32>(a * 747796405u) >> 9u;
  let u1 = ~a * 3u;
  var i0 = b * 3 + 5;
  var f0 = f32(a & 63u);
  let straight = select((i0 & ~-823695862) | (b & -823695862), i0, (u1 & 7u) < 5u);
  var n = 0u;
  loop {
    n++;
    f0 = subgroupMin(f0);
    if (u1 & 7u) < 5u {
      continue;
    }
    i0 ^= (b ^ i0) & -823695862;
    continuing {
      break if n >= 4u;
    }
  }
  out[local] = vec2i(i0, select(0, straight, f0 >= 0.0));
}
