// Subgroup operations that show the width, in divergent flow too.
// run: main 1
// buffer: 96 random 39
// buffer: 960 zeros
// width: seen

struct Seen {
  size: u32,
  sum: u32,
  before: u32,
  first: u32,
  ballot: u32,
  shuffled: u32,
  up: u32,
  down: u32,
  odd: u32,
  all: u32,
}

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> seen: array<Seen, 96>;

@compute @workgroup_size(96)
fn main(
  @builtin(local_invocation_index) i: u32,
  @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let item = items[i];
  var s: Seen;
  s.size = size;
  s.sum = subgroupAdd(item);
  s.before = subgroupExclusiveAdd(item & 0xffu);
  s.first = subgroupBroadcastFirst(item);
  s.ballot = subgroupBallot((item & 1u) == 1u).x;
  s.shuffled = subgroupShuffle(item, (lane * 3u + 1u) % size);
  // Lanes that are there only.
  s.up = select(subgroupShuffleUp(item, 1u), 0u, lane == 0u);
  s.down = select(subgroupShuffleDown(item, 1u), 0u, lane == size - 1u);
  if (item & 1u) == 1u {
    s.odd = subgroupMin(item >> 8u);
  } else {
    s.odd = subgroupMul(item | 1u);
  }
  s.all = u32(subgroupAll(item > 1000u));
  seen[i] = s;
}
