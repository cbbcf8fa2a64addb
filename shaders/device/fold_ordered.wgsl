// A lane's rows into what it has gathered, for an operator that does not commute: the rows lie side by side in memory,
// so each must be combined over the lanes before the next. Every lane keeps the subgroup's whole.

fn dev_fold(gathered: T, rows: array<Items, ROWS>) -> T {
  var all = gathered;
  for (var r = 0u; r < ROWS; r++) {
    var row = rows[r][0];
    for (var k = 1u; k < PACK; k++) {
      row = op_combine(row, rows[r][k]);
    }
    all = op_combine(all, sg_reduce(row));
  }
  return all;
}

fn dev_fold_lanes(gathered: T) -> T {
  return gathered;
}
