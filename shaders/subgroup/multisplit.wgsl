// Ranks of lanes within the buckets that they choose: the warp-level multisplit of Ashkiani et al. (PPoPP 2016), a
// ballot for each bit of the bucket.

struct SgSplit {
  // The lanes with the same bucket.
  peers: vec4<u32>,
  // How many of them are below this one, and how many there are.
  rank: u32,
  count: u32,
}

// Lanes whose buckets agree in the lowest `bits` bits (uniform over the workgroup).
fn sg_match_bits(bucket: u32, bits: u32) -> vec4<u32> {
  var peers = sg_active_mask();
  for (var bit = 0u; bit < bits; bit++) {
    let mine = ((bucket >> bit) & 1u) == 1u;
    let ones = sg_ballot(mine);
    peers &= select(~ones, ones, mine);
  }
  return peers;
}

fn sg_multisplit(bucket: u32, bits: u32) -> SgSplit {
  let peers = sg_match_bits(bucket, bits);
  return SgSplit(peers, sg_ballot_rank(peers), sg_ballot_count(peers));
}
