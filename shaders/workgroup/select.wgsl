// Places for the invocations that keep something: their order stays what it was.

struct WgSelected {
  // How many invocations before this one keep something, and how many do in all.
  rank: u32,
  count: u32,
}

fn wg_select(keep: bool) -> WgSelected {
  let kept = sg_ballot(keep);
  let before = wg_scan_before_add_u32(sg_ballot_count(kept & sg_mask_le()));
  return WgSelected(before + sg_ballot_rank(kept), wg_total_add_u32);
}
