// What is made of shuffles for any type.

// The value of one lane, in all. `lane` is the same in the whole subgroup and may be computed.
fn sg_broadcast(x: T, lane: u32) -> T {
  return sg_shuffle(x, lane);
}

// The value of the lane `delta` further on, round the lanes that the subgroup has.
fn sg_rotate(x: T, delta: u32) -> T {
  return sg_shuffle(x, (sg_lane + delta % sg_count) % sg_count);
}
