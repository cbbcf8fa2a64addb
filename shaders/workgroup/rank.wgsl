// A stable counting sort's place for each invocation's bucket, within the workgroup.
//
// Each subgroup ranks its lanes within their buckets; the counts go into a table, bucket by bucket and within it
// subgroup by subgroup, whose exclusive scan says where each subgroup's share of each bucket begins. BUCKETS and
// BUCKET_BITS are printed before this text. Buckets at or above BUCKETS are not allowed.

struct WgRanked {
  // Place of this invocation in the order of bucket, then subgroup and lane.
  place: u32,
  // Rank among the invocations with the same bucket.
  rank: u32,
}

var<workgroup> wg_shares: array<u32, WG_SHARES>;

fn wg_rank(bucket: u32) -> WgRanked {
  for (var i = wg_index; i < WG_SHARES; i += WORKGROUP) {
    wg_shares[i] = 0u;
  }
  workgroupBarrier();
  let split = sg_multisplit(bucket, BUCKET_BITS);
  if split.rank == 0u {
    wg_shares[bucket * sg_groups + sg_id] = split.count;
  }
  workgroupBarrier();
  // Each invocation takes a run of the table that is in use.
  let cells = BUCKETS * sg_groups;
  let run = (cells + WORKGROUP - 1u) / WORKGROUP;
  let begin = wg_index * run;
  let end = min(begin + run, cells);
  var sum = 0u;
  for (var i = begin; i < end; i++) {
    sum += wg_shares[i];
  }
  var before = wg_scan_exclusive_add_u32(sum);
  for (var i = begin; i < end; i++) {
    let share = wg_shares[i];
    wg_shares[i] = before;
    before += share;
  }
  workgroupBarrier();
  let place = wg_shares[bucket * sg_groups + sg_id] + split.rank;
  let ranked = WgRanked(place, place - wg_shares[bucket * sg_groups]);
  workgroupBarrier();
  return ranked;
}
