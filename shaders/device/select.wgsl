// Select: the items that a predicate keeps, in their order, and how many there are.
//
// As scan.wgsl: every workgroup counts what it keeps of its span; then every workgroup adds up the counts before its
// own and writes its items behind them. The last workgroup knows the total: it writes the count and the dispatch
// arguments for the caller's next kernel.

@group(0) @binding(4) var<storage, read_write> dev_kept: array<In>;
@group(0) @binding(5) var<storage, read_write> dev_kept_count: array<u32>;
@group(0) @binding(6) var<storage, read_write> dev_parts: array<u32>;
@group(0) @binding(7) var<storage, read_write> dev_args: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn dev_select_count(place: Place) {
  sg_begin(place);
  let span = dev_span(place.workgroup.x);
  var kept = 0u;
  for (var tile = span.first; tile < span.last; tile += TILE_PACKS) {
    let at = tile + sg_id * ROWS * sg_size;
    let keeps = dev_keep_rows(span, at, dev_load_rows(span, at, T()));
    for (var r = 0u; r < ROWS; r++) {
      kept += countOneBits(keeps[r]);
    }
  }
  let count = wg_reduce_add_u32(kept);
  if wg_index == 0u {
    dev_parts[place.workgroup.x] = count;
  }
}

@compute @workgroup_size(WORKGROUP)
fn dev_select_write(place: Place) {
  sg_begin(place);
  let group = place.workgroup.x;
  let span = dev_span(group);
  var carry = dev_parts_before_add_u32(group);
  for (var tile = span.first; tile < span.last; tile += TILE_PACKS) {
    let at = tile + sg_id * ROWS * sg_size;
    let rows = dev_load_rows(span, at, T());
    var keeps = dev_keep_rows(span, at, rows);
    var before: array<u32, ROWS>;
    var all = 0u;
    for (var r = 0u; r < ROWS; r++) {
      // Changes nothing, but hides from the compiler what the branches of dev_keep_rows found. Without it NVIDIA's (580.159)
      // gives kernels whose barriers do not hold, as if it led those branches straight to the one that stores.
      keeps[r] ^= dev_params.zero;
      let kept = countOneBits(keeps[r]);
      let inclusive = sg_scan_inclusive_add_u32(kept);
      before[r] = all + inclusive - kept;
      all += sg_broadcast_u32(inclusive, sg_count - 1u);
    }
    let offset = dev_params.out_start + carry + wg_scan_before_add_u32(all);
    carry += wg_total_add_u32;
    for (var r = 0u; r < ROWS; r++) {
      var out = offset + before[r];
      for (var k = 0u; k < PACK; k++) {
        if ((keeps[r] >> k) & 1u) == 1u {
          // In range whatever the predicate says: what other spans kept is at most their items, as is what this one does.
          dev_kept[out] = rows[r][k];
          out += 1u;
        }
      }
    }
  }
  if group == dev_params.groups - 1u && wg_index == 0u {
    dev_kept_count[dev_params.count_out_at] = carry;
    dev_write_args(carry);
  }
}

// Which items of the packs from `at` on are kept: bit k for item k. Items outside the range are not.
fn dev_keep_rows(span: DevSpan, at: u32, rows: array<Items, ROWS>) -> array<u32, ROWS> {
  var keeps: array<u32, ROWS>;
  if dev_is_whole(span, at) {
    for (var r = 0u; r < ROWS; r++) {
      for (var k = 0u; k < PACK; k++) {
        let item = (at + r * sg_size + sg_lane) * PACK + k;
        keeps[r] |= u32(dev_keep(rows[r][k], item - span.begin)) << k;
      }
    }
  } else {
    for (var r = 0u; r < ROWS; r++) {
      for (var k = 0u; k < PACK; k++) {
        let pack = at + r * sg_size + sg_lane;
        let item = pack * PACK + k;
        if pack < span.last && item >= span.begin && item < span.end && dev_keep(rows[r][k], item - span.begin) {
          keeps[r] |= 1u << k;
        }
      }
    }
  }
  return keeps;
}

// Workgroups for the caller's next dispatch, folded into two dimensions past what one takes.
fn dev_write_args(count: u32) {
  // Rounded up without adding first: the sum can pass 32 bits.
  let workgroups = count / dev_params.args_items + u32(count % dev_params.args_items != 0u);
  let x = min(workgroups, 65535u);
  let y = select((workgroups + x - 1u) / max(x, 1u), 0u, x == 0u);
  let at = dev_params.args_at;
  dev_args[at] = x;
  dev_args[at + 1u] = y;
  dev_args[at + 2u] = 1u;
}
