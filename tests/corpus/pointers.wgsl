// Pointers as arguments, to locals and to private variables, through two calls; and pointers to parts by name.
// run: main 1
// buffer: 64 random 34
// buffer: 64 zeros

struct Pair {
  a: u32,
  list: array<u32, 4>,
}

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

var<private> total: u32 = 5u;

fn add(to: ptr<function, Pair>, at: u32, by: u32) -> u32 {
  let place = &(*to).list[at];
  *place = *place * 3u + by;
  (*to).a += 1u;
  return *place;
}

fn twice(to: ptr<function, Pair>, by: u32) -> u32 {
  let first = add(to, by % 4u, by);
  return first ^ add(to, (by + 1u) % 4u, by * 2u);
}

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
  let old = *a;
  *a = *b;
  *b = old;
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
  var a = twice(&pair, i);
  var b = i;
  if a % 3u == 0u {
    swap(&a, &b);
  }
  (*&pair).a += count(&total) * count(&total);
  out[i] = pair.a ^ (pair.list[0] + 3u * pair.list[1] + 5u * pair.list[2] + 7u * pair.list[3]) ^ (a * 2u + b) ^ total;
}
