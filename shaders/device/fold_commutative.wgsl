// A lane's rows into what it has gathered, for an operator that commutes: each lane keeps a sum of its own until the
// end. The other file with these names is fold_ordered.wgsl.

fn dev_fold(gathered: T, rows: array<Items, ROWS>) -> T {
  var all = gathered;
  for (var r = 0u; r < ROWS; r++) {
    for (var k = 0u; k < PACK; k++) {
      all = op_combine(all, rows[r][k]);
    }
  }
  return all;
}

// The subgroup's whole, from what its lanes gathered.
fn dev_fold_lanes(gathered: T) -> T {
  return sg_reduce(gathered);
}
