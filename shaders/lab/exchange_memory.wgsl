// Exchanges for exchange.wgsl through workgroup memory, where that goes with fewer barriers than the library's
// emulated blocks take: those stay general, a barrier on either side of every single step.
// SG_LANES, the lanes of an emulated subgroup, is printed with the blocks.

var<workgroup> slots: array<u32, WORKGROUP>;

fn match_any_memory(x: u32, source: u32) -> u32 {
  let key = x & 7u;
  slots[wg_index] = key;
  workgroupBarrier();
  let first = wg_index - sg_lane;
  var peers = 0u;
  for (var lane = 0u; lane < sg_count; lane++) {
    // The lane's bit, with the weight that `folded` gives its word.
    let bit = (2u * (lane / 32u) + 1u) << (lane % 32u);
    peers += select(0u, bit, slots[first + lane] == key);
  }
  // The next exchange fills the slots again: not before all have read.
  workgroupBarrier();
  return x ^ peers;
}

fn reduce_memory(x: u32, source: u32) -> u32 {
  slots[wg_index] = x;
  workgroupBarrier();
  for (var distance = SG_LANES / 2u; distance > 0u; distance /= 2u) {
    if sg_lane < distance && sg_lane + distance < sg_count {
      slots[wg_index] += slots[wg_index + distance];
    }
    workgroupBarrier();
  }
  let sum = slots[wg_index - sg_lane];
  workgroupBarrier();
  return sum;
}

fn scan_inclusive_memory(x: u32, source: u32) -> u32 {
  var all = x;
  slots[wg_index] = all;
  workgroupBarrier();
  for (var distance = 1u; distance < SG_LANES; distance *= 2u) {
    var lower = 0u;
    if sg_lane >= distance {
      lower = slots[wg_index - distance];
    }
    workgroupBarrier();
    all += lower;
    slots[wg_index] = all;
    workgroupBarrier();
  }
  return all;
}
