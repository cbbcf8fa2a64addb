// SHA-256 of messages of one block each; the first is "abc".
// run: main 1
// buffer: 64 words 1633837952 0 0 0 0 0 0 0 0 0 0 0 0 0 0 24 2147483648
// buffer: 32 zeros

const K = array<u32, 64>(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
const START = array<u32, 8>(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

@group(0) @binding(0) var<storage, read> blocks: array<array<u32, 16>>;
@group(0) @binding(1) var<storage, read_write> digests: array<array<u32, 8>>;

fn turn(x: u32, by: u32) -> u32 {
  return (x >> by) | (x << (32u - by));
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) block: u32) {
  var w: array<u32, 64>;
  for (var i = 0; i < 16; i++) {
    w[i] = blocks[block][i];
  }
  for (var i = 16; i < 64; i++) {
    let a = w[i - 15];
    let b = w[i - 2];
    let s0 = turn(a, 7u) ^ turn(a, 18u) ^ (a >> 3u);
    let s1 = turn(b, 17u) ^ turn(b, 19u) ^ (b >> 10u);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  var s = START;
  for (var i = 0; i < 64; i++) {
    let s1 = turn(s[4], 6u) ^ turn(s[4], 11u) ^ turn(s[4], 25u);
    let choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    let first = s[7] + s1 + choice + K[i] + w[i];
    let s0 = turn(s[0], 2u) ^ turn(s[0], 13u) ^ turn(s[0], 22u);
    let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    s = array<u32, 8>(first + s0 + majority, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]);
  }
  for (var i = 0; i < 8; i++) {
    digests[block][i] = START[i] + s[i];
  }
}
