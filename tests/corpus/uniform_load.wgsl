// workgroupUniformLoad of scalars, vectors, structs and arrays, which decide loops with barriers.
// run: main 2
// buffer: 128 random 27
// buffer: 128 zeros

struct Plan {
  rounds: u32,
  step: vec2u,
  list: array<u32, 3>,
}

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

var<workgroup> plan: Plan;
var<workgroup> ring: array<u32, 64>;
var<workgroup> go: bool;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  ring[local] = seeds[id.x];
  if local == 17u {
    let seed = seeds[id.x];
    plan = Plan(2u + seed % 4u, vec2u(1u + seed % 7u, seed % 64u), array<u32, 3>(seed, seed >> 8u, seed >> 16u));
    go = true;
  }
  let whole = workgroupUniformLoad(&plan);
  for (var round = 0u; round < whole.rounds; round++) {
    let other = ring[(local + whole.step.x) % 64u];
    workgroupBarrier();
    ring[local] = other * 31u + whole.list[round % 3u];
    if local == workgroupUniformLoad(&plan.step).y {
      go = (ring[local] & 7u) != 0u;
    }
    if !workgroupUniformLoad(&go) {
      break;
    }
  }
  out[id.x] = ring[local];
}
