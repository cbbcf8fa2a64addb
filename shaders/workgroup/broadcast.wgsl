// The value of one invocation, in all. `index` counts in order of subgroup and lane and is the same everywhere.
// Two barriers.

var<workgroup> wg_slot: T;

fn wg_broadcast(x: T, index: u32) -> T {
  if wg_index == index {
    wg_slot = x;
  }
  workgroupBarrier();
  let y = wg_slot;
  workgroupBarrier();
  return y;
}
