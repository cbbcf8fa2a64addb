// Which lanes hold the same value, bit for bit. T_WORDS and `sg_word` (one of the 32-bit words of a value) are printed
// with the type.

// The lanes whose value equals this lane's. 32 ballots a word.
fn sg_match_any(x: T) -> vec4<u32> {
  var peers = sg_active_mask();
  for (var w = 0u; w < T_WORDS; w++) {
    peers &= sg_match_bits(sg_word(x, w), 32u);
  }
  return peers;
}

// Whether all lanes hold one value.
fn sg_match_all(x: T) -> bool {
  let first = sg_broadcast_first(x);
  var same = true;
  for (var w = 0u; w < T_WORDS; w++) {
    same = same && sg_word(x, w) == sg_word(first, w);
  }
  return sg_all(same);
}
