// Scan by reduce, then scan (Dotsenko et al. 2008; Merrill and Grimshaw 2009), in two dispatches: every workgroup
// reduces its span; then every workgroup combines the parts before its own and scans its span tile by tile. Three
// passes over memory in all (two reads, one write). Nobody waits for anybody, so it works on every device and in place,
// and float results depend on the grouping alone, never on timing.

@group(0) @binding(6) var<storage, read_write> dev_parts: array<T>;

@compute @workgroup_size(WORKGROUP)
fn dev_scan_reduce(place: Place) {
  sg_begin(place);
  let all = dev_reduce_span(dev_span(place.workgroup.x));
  if wg_index == 0u {
    dev_parts[place.workgroup.x] = all;
  }
}

@compute @workgroup_size(WORKGROUP)
fn dev_scan_apply(place: Place) {
  sg_begin(place);
  let span = dev_span(place.workgroup.x);
  var carry = op_combine(dev_initial(), dev_parts_before(place.workgroup.x));
  for (var tile = span.first; tile < span.last; tile += TILE_PACKS) {
    let at = tile + sg_id * ROWS * sg_size;
    var rows = dev_load_rows(span, at, op_identity());
    // Within the packs, then over the lanes row by row: `all` is the subgroup's part so far.
    var before: array<T, ROWS>;
    var all = op_identity();
    for (var r = 0u; r < ROWS; r++) {
      for (var k = 1u; k < PACK; k++) {
        rows[r][k] = op_combine(rows[r][k - 1u], rows[r][k]);
      }
      let inclusive = sg_scan_inclusive(rows[r][PACK - 1u]);
      before[r] = op_combine(all, sg_scan_shift(inclusive));
      all = op_combine(all, sg_broadcast(inclusive, sg_count - 1u));
    }
    // Over the subgroups, then over the tiles before.
    let offset = op_combine(carry, wg_scan_before(all));
    carry = op_combine(carry, wg_total);
    for (var r = 0u; r < ROWS; r++) {
      rows[r] = dev_scan_items(op_combine(offset, before[r]), rows[r]);
    }
    dev_store_rows(span, at, rows);
  }
}

fn dev_store_rows(span: DevSpan, at: u32, rows: array<Items, ROWS>) {
  // Input and output begin at the same place within a pack: prepare takes single items otherwise.
  if dev_is_whole(span, at) {
    let out = at - span.begin / PACK + dev_params.out_start / PACK;
    for (var r = 0u; r < ROWS; r++) {
      dev_out_packs[out + r * sg_size + sg_lane] = el_store_pack(rows[r]);
    }
  } else {
    for (var r = 0u; r < ROWS; r++) {
      for (var k = 0u; k < PACK; k++) {
        let pack = at + r * sg_size + sg_lane;
        let item = pack * PACK + k;
        if pack < span.last && item >= span.begin && item < span.end {
          dev_out[item - span.begin + dev_params.out_start] = el_store(rows[r][k]);
        }
      }
    }
  }
}
