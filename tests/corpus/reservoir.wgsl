// Reservoir sampling: each invocation keeps four of a stream of unknown length.
// run: main 1
// buffer: 256 random 48
// buffer: 128 zeros

@group(0) @binding(0) var<storage, read> stream: array<u32>;
@group(0) @binding(1) var<storage, read_write> kept: array<vec4u>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  var state = stream[i] | 1u;
  var reservoir: vec4u;
  var count = 0u;
  for (var at = i; at < 256u; at += 5u) {
    let item = stream[at];
    if item % 16u == i % 16u && count > 8u {
      break;
    }
    if count < 4u {
      reservoir[count] = item;
    } else {
      state = state * 1103515245u + 12345u;
      let place = (state >> 8u) % (count + 1u);
      if place < 4u {
        reservoir[place] = item;
      }
    }
    count++;
  }
  kept[i] = reservoir;
}
