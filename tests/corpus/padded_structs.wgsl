// Structs with padding in and behind them, with @align and @size, copied whole and member by member.
// run: main 1
// buffer: 256 ramp
// buffer: 256 zeros
// buffer: 256 random 32

struct Inner {
  a: vec3u,
  @size(12) b: u32,
  @align(16) c: vec2u,
}

struct Outer {
  head: u32,
  inner: Inner,
  tail: array<vec3u, 2>,
  end: u32,
}

@group(0) @binding(0) var<storage, read> before: array<Outer, 8>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<Outer, 8>;

fn sum(inner: Inner) -> u32 {
  return inner.a.x + 2u * inner.a.y + 3u * inner.a.z + 5u * inner.b + 7u * inner.c.x + 11u * inner.c.y;
}

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  if i < 7u {
    var local = before[i];
    local.inner.b = i;
    local.tail[i % 2u].z ^= 0xffu;
    sums[i] = sum(local.inner) + local.head + local.end;
    if i % 2u == 0u {
      after[i] = local;
    } else {
      after[i].inner = local.inner;
      after[i].tail[1] = local.tail[0];
    }
    sums[8u + i] = sum(after[i].inner);
  }
}
