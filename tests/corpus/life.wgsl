// Two generations of the game of life on a torus.
// run: first 4 2
// run: second 4 2
// buffer: 512 random 5 below 2
// buffer: 512 zeros

const SIZE = vec2i(32, 16);

@group(0) @binding(0) var<storage, read_write> even: array<u32>;
@group(0) @binding(1) var<storage, read_write> odd: array<u32>;

fn index(at: vec2i) -> u32 {
  let wrapped = (at + SIZE) % SIZE;
  return u32(wrapped.y * SIZE.x + wrapped.x);
}

fn lives(alive: u32, neighbours: u32) -> u32 {
  return select(u32(neighbours == 3u), u32(neighbours == 2u || neighbours == 3u), alive == 1u);
}

@compute @workgroup_size(8, 8)
fn first(@builtin(global_invocation_id) id: vec3u) {
  let at = vec2i(id.xy);
  var neighbours = 0u;
  for (var y = -1; y <= 1; y++) {
    for (var x = -1; x <= 1; x++) {
      if x == 0 && y == 0 {
        continue;
      }
      neighbours += even[index(at + vec2(x, y))];
    }
  }
  odd[index(at)] = lives(even[index(at)], neighbours);
}

@compute @workgroup_size(8, 8)
fn second(@builtin(global_invocation_id) id: vec3u) {
  let at = vec2i(id.xy);
  var neighbours = 0u;
  for (var i = 0; i < 9; i++) {
    if i != 4 {
      neighbours += odd[index(at + vec2(i % 3 - 1, i / 3 - 1))];
    }
  }
  even[index(at)] = lives(odd[index(at)], neighbours);
}
