// A subgroup's part of a span into one value, for an operator that does not commute: the rows lie side by side in
// memory, so each must be combined over the lanes before the next. All subgroups of a workgroup take the same number of
// steps, since the lanes meet in each. Every lane has the value.
fn dev_fold(part: DevSpan, steps: u32) -> T {
  var all = op_identity();
  for (var i = 0u; i < steps; i++) {
    let rows = dev_load_rows(part, part.first + i * ROWS * sg_size, op_identity());
    for (var r = 0u; r < ROWS; r++) {
      var row = rows[r][0];
      for (var k = 1u; k < PACK; k++) {
        row = op_combine(row, rows[r][k]);
      }
      all = op_combine(all, sg_reduce(row));
    }
  }
  return all;
}
