// The combination of all lanes' values, in lane order, in every lane.
//
// A tree of shuffles: after the step of distance d a lane holds its own value and those of the 2d - 1 lanes above, so
// log2(width) steps leave the whole in lane 0 (Kogge and Stone 1973, Harris 2007). Each step puts the lower lanes
// left of the upper, so the operator need not commute; lanes that a partly filled subgroup lacks are left out.
// LANE_STEPS is printed before this text: log2 of the widest subgroup that the device can have.

// Steps of the last `sg_reduce_tree` that had a lane to reach: log2 of the width. Where the text is made for a range of
// widths, those beyond reach nobody and change nothing.
var<private> sg_tree_steps: u32;

fn sg_reduce_tree(x: T) -> T {
  var all = x;
  sg_tree_steps = 0u;
  for (var step = 0u; step < LANE_STEPS; step++) {
    let distance = 1u << step;
    let upper = sg_shuffle_down(all, distance);
    if sg_lane + distance < sg_count {
      all = op_combine(all, upper);
    }
    sg_tree_steps += u32(distance < sg_size);
  }
  return sg_broadcast_first(all);
}
