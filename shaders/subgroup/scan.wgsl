// Prefixes over the lanes, in lane order: log2(width) steps of shuffle up, each lane taking what the lane at twice the
// last distance has gathered (Hillis and Steele 1986). The built-in scans of WGSL measure 2.8 times slower, and know
// only sum and product.

// The combination of the values of the lanes up to and with this one.
fn sg_scan_inclusive(x: T) -> T {
  var all = x;
  for (var step = 0u; step < LANE_STEPS; step++) {
    let distance = 1u << step;
    let lower = sg_shuffle_up(all, distance);
    if sg_lane >= distance {
      all = op_combine(lower, all);
    }
  }
  return all;
}

// The combination of the values of the lanes below this one; the identity in lane 0.
fn sg_scan_exclusive(x: T) -> T {
  return sg_scan_shift(sg_scan_inclusive(x));
}

// The exclusive scan that belongs to an inclusive one.
fn sg_scan_shift(inclusive: T) -> T {
  var lower = sg_shuffle_up(inclusive, 1u);
  if sg_lane == 0u {
    lower = op_identity();
  }
  return lower;
}
