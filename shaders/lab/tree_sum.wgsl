// The tree sum of one subgroup, step by step: what each lane holds, and how many steps a tree and a serial sum take.
// The library's blocks are printed before this text, with LANE_STEPS, the steps of the widest subgroup that the device
// can have. Every lane brings a 1, so that what a lane holds says how many lanes it has summed.

// Row s holds what the lanes have after s steps.
@group(0) @binding(0) var<storage, read_write> partial_sums: array<u32, WORKGROUP * (LANE_STEPS + 1u)>;

struct Counted {
  // Steps, and the sum that they come to.
  tree_steps: u32,
  tree_sum: u32,
  serial_steps: u32,
  serial_sum: u32,
}

// As lane 0 counts.
@group(0) @binding(1) var<storage, read_write> counted: Counted;

@compute @workgroup_size(WORKGROUP)
fn tree_sum(place: Place) {
  sg_begin(place);
  var sum = 1u;
  partial_sums[sg_lane] = sum;
  for (var step = 0u; step < LANE_STEPS; step++) {
    let distance = 1u << step;
    let upper = sg_shuffle_down_u32(sum, distance);
    if sg_lane + distance < sg_count {
      sum += upper;
    }
    partial_sums[(step + 1u) * WORKGROUP + sg_lane] = sum;
  }
  let tree_sum = sg_reduce_tree_add_u32(1u);
  let tree_steps = sg_tree_steps_add_u32;
  var serial_sum = sg_shuffle_u32(1u, 0u);
  var serial_steps = 0u;
  for (var lane = 1u; lane < WORKGROUP; lane++) {
    serial_sum += sg_shuffle_u32(1u, lane);
    serial_steps++;
  }
  if sg_lane == 0u {
    counted = Counted(tree_steps, tree_sum, serial_steps, serial_sum);
  }
}
