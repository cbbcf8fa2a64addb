// The combination of the values of all invocations, in order of subgroup and lane, in every invocation.
//
// Each subgroup reduces and leaves its part in workgroup memory; then every subgroup reduces the parts, so that all
// know the result without another exchange. There can be more parts than a subgroup has lanes: each lane first
// combines a run of them. SG_PARTS is printed before this text: the most subgroups that the workgroup can have.
//
// Two barriers. The parts are free again when the call returns.

var<workgroup> wg_parts: array<T, SG_PARTS>;

fn wg_reduce(x: T) -> T {
  return wg_reduce_parts(sg_reduce(x));
}

// The same, from each subgroup's part (equal in all its lanes).
fn wg_reduce_parts(part: T) -> T {
  if sg_lane == 0u {
    wg_parts[sg_id] = part;
  }
  workgroupBarrier();
  let run = (sg_groups + sg_count - 1u) / sg_count;
  var all = op_identity();
  for (var i = sg_lane * run; i < min((sg_lane + 1u) * run, sg_groups); i++) {
    all = op_combine(all, wg_parts[i]);
  }
  all = sg_reduce(all);
  workgroupBarrier();
  return all;
}
