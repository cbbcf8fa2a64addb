// Lane masks and what is read from them. A mask has four words, the lanes 0 to 31 in the first.

// Lanes below this one.
fn sg_mask_lt() -> vec4<u32> {
  return sg_mask_below(sg_lane);
}

// Lanes below this one, and this one.
fn sg_mask_le() -> vec4<u32> {
  return sg_mask_below(sg_lane + 1u);
}

// Lanes above this one that the subgroup has.
fn sg_mask_gt() -> vec4<u32> {
  return sg_mask_below(sg_count) & ~sg_mask_le();
}

// This lane and those above it that the subgroup has.
fn sg_mask_ge() -> vec4<u32> {
  return sg_mask_below(sg_count) & ~sg_mask_lt();
}

// This lane.
fn sg_mask_eq() -> vec4<u32> {
  return sg_mask_le() & ~sg_mask_lt();
}

// The lanes 0 to `lanes` - 1, word by word: a word that lies below is full, one that lies above is empty.
fn sg_mask_below(lanes: u32) -> vec4<u32> {
  let first = vec4<u32>(0u, 32u, 64u, 96u);
  let inside = vec4<u32>(lanes) - min(vec4<u32>(lanes), first);
  let partial = (vec4<u32>(1u) << (inside % vec4<u32>(32u))) - vec4<u32>(1u);
  return select(partial, vec4<u32>(0xffffffffu), inside >= vec4<u32>(32u));
}

// The lanes that take part: all that the subgroup has, in uniform control flow.
fn sg_active_mask() -> vec4<u32> {
  return sg_ballot(true);
}

fn sg_active_count() -> u32 {
  return sg_ballot_count(sg_active_mask());
}

// True in exactly one lane, the lowest.
fn sg_elect() -> bool {
  return !any((sg_active_mask() & sg_mask_lt()) != vec4<u32>(0u));
}

// How many lanes are in the mask.
fn sg_ballot_count(mask: vec4<u32>) -> u32 {
  let bits = countOneBits(mask);
  return bits.x + bits.y + bits.z + bits.w;
}

// How many lanes of the mask are below this one: its rank among them.
fn sg_ballot_rank(mask: vec4<u32>) -> u32 {
  return sg_ballot_count(mask & sg_mask_lt());
}

// The lowest lane of the mask; 0xffffffff of an empty one.
fn sg_ballot_first(mask: vec4<u32>) -> u32 {
  let bit = firstTrailingBit(mask);
  return min(min(sg_word_lane(bit.x, 0u), sg_word_lane(bit.y, 32u)), min(sg_word_lane(bit.z, 64u), sg_word_lane(bit.w, 96u)));
}

// The highest lane of the mask; 0xffffffff of an empty one.
fn sg_ballot_last(mask: vec4<u32>) -> u32 {
  let bit = firstLeadingBit(mask);
  // One more than the lane, so that "none" is the smallest.
  let above = max(
    max(sg_word_lane(bit.x, 0u) + 1u, sg_word_lane(bit.y, 32u) + 1u),
    max(sg_word_lane(bit.z, 64u) + 1u, sg_word_lane(bit.w, 96u) + 1u),
  );
  return above - 1u;
}

// A bit of one word as a lane; 0xffffffff stays what it is.
fn sg_word_lane(bit: u32, first: u32) -> u32 {
  return select(bit + first, bit, bit == 0xffffffffu);
}

// Whether the mask has this lane.
fn sg_mask_has(mask: vec4<u32>, lane: u32) -> bool {
  return ((mask[lane / 32u] >> (lane % 32u)) & 1u) == 1u;
}
