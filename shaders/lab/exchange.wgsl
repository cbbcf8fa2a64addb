// Exchanges between the lanes of a subgroup, made of the library's building blocks, and the loop in which one of them
// is checked and timed. The blocks and arms.wgsl are printed before this text; behind it stands `exchange`, which
// calls the one that is meant.
//
// Each exchange takes a value and gives one, so that it can be fed by the last result. Where a source lane does not
// exist the value stays. `source` is a lane of this subgroup: the one `params.argument` further on, round the end.
// Votes and masks are mixed into the value instead of replacing it, or the loop would soon turn in circles.

struct Params {
  trips: u32,
  // The distance, mask or lane of exchanges that take one.
  argument: u32,
  // Which exchange, and under which divergence: exchange_active.wgsl.
  primitive: u32,
  divergence: u32,
}

// The value of each invocation, and its place: the subgroup in the upper half, the lane in the lower.
@group(0) @binding(0) var<storage, read_write> results: array<vec2<u32>>;
@group(0) @binding(1) var<uniform> params: Params;

// A mask as one word; each of its four words counts.
fn folded(mask: vec4<u32>) -> u32 {
  let weighted = mask * vec4<u32>(1u, 3u, 5u, 7u);
  return weighted.x + weighted.y + weighted.z + weighted.w;
}

// A float between 1 and 2 in steps of 1/256: sums of 128 of them are exact in any order.
fn short_float(x: u32) -> f32 {
  return bitcast<f32>((x & 0x007f8000u) | 0x3f800000u);
}

// The loop without any exchange.
fn nothing(x: u32, source: u32) -> u32 {
  return x;
}

fn shuffle(x: u32, source: u32) -> u32 {
  return sg_shuffle_u32(x, source);
}

fn shuffle_up(x: u32, source: u32) -> u32 {
  return select(sg_shuffle_up_u32(x, params.argument), x, sg_lane < params.argument);
}

fn shuffle_down(x: u32, source: u32) -> u32 {
  return select(sg_shuffle_down_u32(x, params.argument), x, sg_lane + params.argument >= sg_count);
}

fn shuffle_xor(x: u32, source: u32) -> u32 {
  return select(sg_shuffle_xor_u32(x, params.argument), x, (sg_lane ^ params.argument) >= sg_count);
}

fn broadcast(x: u32, source: u32) -> u32 {
  return sg_broadcast_u32(x, min(params.argument, sg_count - 1u));
}

fn ballot(x: u32, source: u32) -> u32 {
  return x ^ folded(sg_ballot((x & 1u) == 1u));
}

fn vote_all(x: u32, source: u32) -> u32 {
  return x ^ select(0u, 0x9E3779B1u, sg_all((x & 63u) != 0u));
}

fn vote_any(x: u32, source: u32) -> u32 {
  return x ^ select(0u, 0x9E3779B1u, sg_any((x & 63u) == 0u));
}

fn active_mask(x: u32, source: u32) -> u32 {
  return x ^ folded(sg_active_mask());
}

// The mask of the odd lanes, in the odd lanes: where one cannot ask inside a branch who is there.
fn odd_mask(x: u32, source: u32) -> u32 {
  let odd = (x & 1u) == 1u;
  return x ^ select(0u, folded(sg_ballot(odd)), odd);
}

fn match_any(x: u32, source: u32) -> u32 {
  return x ^ folded(sg_match_any_u32(x & 7u));
}

// For keys of which only the lowest bits can differ: a ballot for each of those.
fn match_5_bits(x: u32, source: u32) -> u32 {
  return x ^ folded(sg_match_bits(x & 7u, 5u));
}

fn reduce(x: u32, source: u32) -> u32 {
  return sg_reduce_add_u32(x);
}

fn reduce_tree(x: u32, source: u32) -> u32 {
  return sg_reduce_tree_add_u32(x);
}

fn reduce_tree_float(x: u32, source: u32) -> u32 {
  return bitcast<u32>(sg_reduce_tree_add_f32(short_float(x)));
}

// One lane after the other.
fn reduce_serial(x: u32, source: u32) -> u32 {
  var sum = sg_shuffle_u32(x, 0u);
  for (var lane = 1u; lane < sg_count; lane++) {
    sum += sg_shuffle_u32(x, lane);
  }
  return sum;
}

fn scan_inclusive(x: u32, source: u32) -> u32 {
  return sg_scan_inclusive_add_u32(x);
}

fn scan_exclusive(x: u32, source: u32) -> u32 {
  return sg_scan_exclusive_add_u32(x);
}

fn scan_both(x: u32, source: u32) -> u32 {
  return sg_scan_inclusive_add_u32(x) ^ (sg_scan_exclusive_add_u32(x) * 3u);
}

// Eight exchanges a trip, so that the loop itself is little beside them. A sum and an exclusive or in turn feed each
// with the last result: two words of each lane's own keep reductions and broadcasts from being taken out of the loop,
// and the loop without any exchange from being folded.
@compute @workgroup_size(WORKGROUP)
fn exchanges(place: Place) {
  sg_begin(place);
  let index = place.workgroup.x * WORKGROUP + place.index;
  let source = (sg_lane + params.argument) % sg_count;
  let sum = scramble(index);
  let bits = scramble(~index);
  var x = index;
  for (var trip = 0u; trip < params.trips; trip++) {
    x = exchange(x, source) + sum;
    x = exchange(x, source) ^ bits;
    x = exchange(x, source) + sum;
    x = exchange(x, source) ^ bits;
    x = exchange(x, source) + sum;
    x = exchange(x, source) ^ bits;
    x = exchange(x, source) + sum;
    x = exchange(x, source) ^ bits;
  }
  results[index] = vec2<u32>(x, (sg_id << 16u) | sg_lane);
}
