// Invocations leave at different places, also out of nested loops and functions.
// run: main 2
// buffer: 128 random 14
// buffer: 128 zeros

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn first_multiple(start: u32, divisor: u32) -> u32 {
  for (var i = start; i < start + 20u; i++) {
    if i % divisor == 0u {
      return i;
    }
  }
  return 0u;
}

fn search(seed: u32) -> u32 {
  var steps = 0u;
  for (var x = 0u; x < 16u; x++) {
    for (var y = 0u; y < 16u; y++) {
      steps++;
      if x * 17u + y * 5u == seed % 271u {
        return steps;
      }
    }
    if steps > (seed >> 24u) {
      return 1000u + x;
    }
  }
  return 2000u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let seed = seeds[id.x];
  if seed % 5u == 0u {
    return;
  }
  out[id.x] = 1u;
  if seed % 7u == 0u {
    out[id.x] = search(seed);
    return;
  }
  var i = 0u;
  loop {
    if i > seed % 11u {
      out[id.x] += 100u * i;
      if seed % 3u == 0u {
        return;
      }
      break;
    }
    i++;
  }
  out[id.x] += first_multiple(seed % 1000u, 2u + seed % 23u);
}
