// Pointers to parts of variables as arguments, through two calls.
// run: main 1
// buffer: 64 random 34
// buffer: 64 zeros
// simulated only: naga 30.0.2 panics at such an argument when it writes SPIR-V ("Expression is not cached")

struct Pair {
  a: u32,
  list: array<u32, 4>,
}

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

var<private> total: u32 = 5u;

fn add(to: ptr<function, u32>, by: u32) {
  *to = *to * 3u + by;
}

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
  let old = *a;
  *a = *b;
  *b = old;
}

fn reverse(list: ptr<function, array<u32, 4>>) {
  swap(&(*list)[0], &(*list)[3]);
  swap(&(*list)[1], &(*list)[2]);
}

fn count(to: ptr<private, u32>) -> u32 {
  *to += 1u;
  return *to;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var pair: Pair;
  for (var k = 0u; k < 4u; k++) {
    pair.list[k] = seeds[(i + k) % 64u] >> 4u;
  }
  let place = &pair.list[i % 4u];
  *place ^= 0xffffu;
  add(place, i);
  add(&pair.a, pair.list[(i + 1u) % 4u]);
  if i % 3u == 0u {
    reverse(&pair.list);
  }
  let copy = &pair;
  (*copy).a += count(&total) * count(&total);
  out[i] = pair.a ^ (pair.list[0] + 3u * pair.list[1] + 5u * pair.list[2] + 7u * pair.list[3]) ^ total;
}
