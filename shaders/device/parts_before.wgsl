// The combination of the parts of the workgroups before this one: each invocation takes a run.
fn dev_parts_before(group: u32) -> T {
  let run = (group + WORKGROUP - 1u) / WORKGROUP;
  var all = op_identity();
  for (var i = wg_index * run; i < min((wg_index + 1u) * run, group); i++) {
    all = op_combine(all, dev_parts[i]);
  }
  return wg_reduce(all);
}
