// Moves the odd items of each subgroup to the front of its part of the output: the rank of an item is the number of lanes
// before it that have one too, counted in a ballot.
//
// Wrong at 64 lanes: a ballot has four words, and this one keeps 32 lanes of it. The lanes from 32 up get ranks of the lanes
// below, so that two of them write one place, which is how `wavelane check --lanes 64` finds it. Right at up to 32 lanes.

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> odd: array<u32>;

@compute @workgroup_size(64)
fn select_odd(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let item = items[id.x];
  let keeps = item % 2u == 1u;
  let ballot = subgroupBallot(keeps).x;
  let rank = countOneBits(ballot & ((1u << (lane % 32u)) - 1u));
  if keeps {
    odd[id.x - lane + rank] = item;
  }
}
