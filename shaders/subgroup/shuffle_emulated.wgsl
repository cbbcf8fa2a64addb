// Shuffles over workgroup memory: every invocation puts its value into a slot, all meet, each takes what it wants. A
// source that the subgroup does not have gives the lane its own value.

var<workgroup> sg_slots: array<T, WORKGROUP>;

fn sg_shuffle(x: T, lane: u32) -> T {
  sg_slots[wg_index] = x;
  workgroupBarrier();
  let y = sg_slots[select(wg_index, wg_index - sg_lane + lane, lane < sg_count)];
  // The next shuffle fills the slots again: not before all have read.
  workgroupBarrier();
  return y;
}

fn sg_shuffle_up(x: T, delta: u32) -> T {
  // Below lane 0 the difference wraps round and is no lane.
  return sg_shuffle(x, sg_lane - delta);
}

fn sg_shuffle_down(x: T, delta: u32) -> T {
  return sg_shuffle(x, sg_lane + delta);
}

fn sg_shuffle_xor(x: T, mask: u32) -> T {
  return sg_shuffle(x, sg_lane ^ mask);
}

fn sg_broadcast_first(x: T) -> T {
  return sg_shuffle(x, 0u);
}
