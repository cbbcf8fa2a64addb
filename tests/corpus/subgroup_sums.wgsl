// Subgroup operations whose results together do not depend on the width: sums, votes and exchanges of neighbours.
// run: main 2
// buffer: 128 random 38
// buffer: 128 zeros
// buffer: 8 zeros

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>, 8>;

var<workgroup> sums: array<u32, 64>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let item = items[id.x];
  let sum = subgroupAdd(item);
  let most = subgroupMax(item);
  let low = countOneBits(subgroupBallot(item % 3u == 0u));
  if lane == 0u {
    atomicAdd(&totals[0], sum);
    atomicMax(&totals[1], most);
    atomicAdd(&totals[2], low.x + low.y + low.z + low.w);
    atomicOr(&totals[3], u32(subgroupAny(item > 4000000000u)));
  }
  let both = subgroupXor(item);
  if lane == 0u {
    atomicXor(&totals[4], both);
  }
  // An inclusive sum over the workgroup.
  let before = subgroupInclusiveAdd(item);
  if lane == size - 1u {
    sums[local / size] = before;
  }
  workgroupBarrier();
  var carried = 0u;
  for (var i = 0u; i < local / size; i++) {
    carried += sums[i];
  }
  let next = subgroupShuffleXor(item, 1u) ^ quadSwapY(item);
  out[id.x] = carried + before + quadBroadcast(next, 2u);
}
