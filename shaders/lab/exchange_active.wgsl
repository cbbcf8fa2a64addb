// The same exchanges where only some of the lanes take part: under a branch on data, and in loops of different
// lengths. There is no mask argument: those who take part are the lanes that are there. WGSL's built-in functions are
// called as they are, since the library's blocks are made for uniform control flow.
//
// One pipeline serves every exchange, since nothing is timed; the numbers of the cases are printed before this text.

fn is_there(present: vec4<u32>, lane: u32) -> bool {
  return lane < sg_count && sg_mask_has(present, min(lane, 127u));
}

fn exchange_active(x: u32, source: u32) -> u32 {
  let present = subgroupBallot(true);
  var y = x;
  switch params.primitive {
    case SHUFFLE: {
      y = select(x, subgroupShuffle(x, source), is_there(present, source));
    }
    case SHUFFLE_UP: {
      // Below lane 0 the difference wraps round and is no lane.
      y = select(x, subgroupShuffleUp(x, params.argument), is_there(present, sg_lane - params.argument));
    }
    case SHUFFLE_DOWN: {
      y = select(x, subgroupShuffleDown(x, params.argument), is_there(present, sg_lane + params.argument));
    }
    case SHUFFLE_XOR: {
      y = select(x, subgroupShuffleXor(x, params.argument), is_there(present, sg_lane ^ params.argument));
    }
    case BROADCAST: {
      y = subgroupBroadcastFirst(x);
    }
    case BALLOT: {
      y = x ^ folded(subgroupBallot((x & 1u) == 1u));
    }
    case ALL: {
      y = x ^ select(0u, 0x9E3779B1u, subgroupAll((x & 63u) != 0u));
    }
    case ANY: {
      y = x ^ select(0u, 0x9E3779B1u, subgroupAny((x & 63u) == 0u));
    }
    case ACTIVE_MASK: {
      y = x ^ folded(present);
    }
    case MATCH_ANY: {
      var peers = present;
      for (var bit = 0u; bit < 3u; bit++) {
        let mine = ((x >> bit) & 1u) == 1u;
        let ones = subgroupBallot(mine);
        peers &= select(~ones, ones, mine);
      }
      y = x ^ folded(peers);
    }
    case REDUCE: {
      y = subgroupAdd(x);
    }
    case SCANS: {
      y = subgroupInclusiveAdd(x) ^ (subgroupExclusiveAdd(x) * 3u);
    }
    default: {}
  }
  return y;
}

@compute @workgroup_size(WORKGROUP)
fn exchanges_active(place: Place) {
  sg_begin(place);
  let index = place.workgroup.x * WORKGROUP + place.index;
  let source = (sg_lane + params.argument) % sg_count;
  let word = scramble(index);
  var x = index;
  if params.divergence == BRANCH {
    if (word & 1u) == 1u {
      x = exchange_active(x, source);
    }
  } else {
    for (var trip = 0u; trip < word % 5u; trip++) {
      x = exchange_active(x, source) + word;
    }
  }
  results[index] = vec2<u32>(x, (sg_id << 16u) | sg_lane);
}
