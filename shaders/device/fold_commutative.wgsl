// A subgroup's part of a span into one value, for an operator that commutes: each lane gathers for itself until the end.
// The other file with this name is fold_ordered.wgsl.

// `steps` is for the other file, whose lanes meet in every step.
fn dev_fold(part: DevSpan, steps: u32) -> T {
  let step = ROWS * sg_size;
  let whole_last = min(part.last, part.whole_end);
  var all = op_identity();
  var at = part.first;
  // The first pack and the last need not be whole. They have loops of their own, and no branch in the one that counts: a
  // CPU driver runs both sides of a branch under masks, in every round.
  for (; at < min(part.last, part.whole_first); at += step) {
    all = dev_fold_rows(all, dev_load_edge_rows(part, at, op_identity()));
  }
  for (; at + step <= whole_last; at += step) {
    all = dev_fold_rows(all, dev_load_whole_rows(at));
  }
  for (; at < part.last; at += step) {
    all = dev_fold_rows(all, dev_load_edge_rows(part, at, op_identity()));
  }
  return sg_reduce(all);
}

fn dev_fold_rows(gathered: T, rows: array<Items, ROWS>) -> T {
  var all = gathered;
  for (var r = 0u; r < ROWS; r++) {
    for (var k = 0u; k < PACK; k++) {
      all = op_combine(all, rows[r][k]);
    }
  }
  return all;
}
