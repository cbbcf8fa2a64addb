// Scans and reductions of runs of lanes. A segment begins at each lane that raises `head`, and at lane 0; it ends
// before the next, or with the subgroup.

// The first lane of this lane's segment.
fn sg_segment_first(head: bool) -> u32 {
  return sg_ballot_last((sg_ballot(head) | vec4<u32>(1u, 0u, 0u, 0u)) & sg_mask_le());
}

// The combination of the values of this segment up to and with this lane.
fn sg_segmented_scan_inclusive(x: T, head: bool) -> T {
  let first = sg_segment_first(head);
  var all = x;
  for (var step = 0u; step < LANE_STEPS; step++) {
    let distance = 1u << step;
    let lower = sg_shuffle_up(all, distance);
    if sg_lane >= first + distance {
      all = op_combine(lower, all);
    }
  }
  return all;
}

// The combination of the values of this segment below this lane; the identity in its first lane.
fn sg_segmented_scan_exclusive(x: T, head: bool) -> T {
  var lower = sg_shuffle_up(sg_segmented_scan_inclusive(x, head), 1u);
  if sg_lane == sg_segment_first(head) {
    lower = op_identity();
  }
  return lower;
}

// The combination of all values of this segment, in each of its lanes.
fn sg_segmented_reduce(x: T, head: bool) -> T {
  let scan = sg_segmented_scan_inclusive(x, head);
  let next = sg_ballot_first(sg_ballot(head) & sg_mask_gt());
  return sg_shuffle(scan, min(next, sg_count) - 1u);
}
