// Prefixes over all invocations, in order of subgroup and lane.
//
// Each subgroup scans; its last lane leaves the subgroup's total in workgroup memory; every subgroup combines the
// totals before its own. There can be more subgroups than lanes: each lane takes a run of the totals, and what
// lies at or behind the own subgroup counts as the identity.
//
// Two barriers. The totals are free again when the call returns.

var<workgroup> wg_totals: array<T, SG_PARTS>;
// The combination of all values, after a scan: the same in every invocation.
var<private> wg_total: T;

fn wg_scan_inclusive(x: T) -> T {
  let inclusive = sg_scan_inclusive(x);
  return op_combine(wg_scan_before(inclusive), inclusive);
}

fn wg_scan_exclusive(x: T) -> T {
  let inclusive = sg_scan_inclusive(x);
  return op_combine(wg_scan_before(inclusive), sg_scan_shift(inclusive));
}

// The combination of the subgroups before this one, given its inclusive scan; sets `wg_total`.
fn wg_scan_before(inclusive: T) -> T {
  if sg_lane == sg_count - 1u {
    wg_totals[sg_id] = inclusive;
  }
  workgroupBarrier();
  let run = (sg_groups + sg_count - 1u) / sg_count;
  let begin = sg_lane * run;
  let end = min(begin + run, sg_groups);
  var lower = op_identity();
  for (var i = begin; i < min(end, sg_id); i++) {
    lower = op_combine(lower, wg_totals[i]);
  }
  var upper = op_identity();
  for (var i = max(begin, sg_id); i < end; i++) {
    upper = op_combine(upper, wg_totals[i]);
  }
  let before = sg_reduce(lower);
  wg_total = op_combine(before, sg_reduce(upper));
  workgroupBarrier();
  return before;
}
