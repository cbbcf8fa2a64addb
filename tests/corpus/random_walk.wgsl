// Walks on a grid, by xorshift, a linear congruence and PCG, that end at different times.
// run: main 1
// buffer: 64 random 40
// buffer: 256 zeros

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4i>;

fn xorshift(state: ptr<function, u32>) -> u32 {
  *state ^= *state << 13u;
  *state ^= *state >> 17u;
  *state ^= *state << 5u;
  return *state;
}

fn pcg(state: ptr<function, u32>) -> u32 {
  let old = *state;
  *state = old * 747796405u + 2891336453u;
  let word = ((old >> ((old >> 28u) + 4u)) ^ old) * 277803737u;
  return (word >> 22u) ^ word;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let steps = array<vec2i, 4>(vec2(1, 0), vec2(0, 1), vec2(-1, 0), vec2(0, -1));
  var state = seeds[i] | 1u;
  var at = vec2i();
  var farthest = 0;
  var count = 0;
  while count < 60 && abs(at.x) + abs(at.y) < 8 {
    var word: u32;
    switch i % 3u {
      case 0u: { word = xorshift(&state) >> 7u; }
      case 1u: { word = pcg(&state); }
      default: {
        state = state * 1664525u + 1013904223u;
        word = state >> 16u;
      }
    }
    at += steps[word % 4u];
    farthest = max(farthest, abs(at.x) + abs(at.y));
    count++;
  }
  out[i] = vec4(at, farthest, count);
}
