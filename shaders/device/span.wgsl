// Which packs a workgroup works on.
//
// The input binding is counted in packs of PACK items. Its first and last pack can hold items outside the range: they
// are not whole, and are read item by item. The packs are shared out in contiguous spans, one a workgroup, each a
// multiple of TILE_PACKS, so the order of the spans is the order of the items. WORKGROUP is a multiple of every width,
// so all subgroups are full.

struct DevSpan {
  // The range, in items of the binding.
  begin: u32,
  end: u32,
  // The packs that lie in the range as a whole.
  whole_first: u32,
  whole_end: u32,
  // This workgroup's packs.
  first: u32,
  last: u32,
}

fn dev_span(group: u32) -> DevSpan {
  let begin = dev_params.in_start;
  let end = begin + dev_count();
  let packs_first = begin / PACK;
  let packs_end = (end + PACK - 1u) / PACK;
  let tiles = (packs_end - packs_first + TILE_PACKS - 1u) / TILE_PACKS;
  let share = (tiles + dev_params.groups - 1u) / dev_params.groups * TILE_PACKS;
  let first = min(packs_first + group * share, packs_end);
  return DevSpan(begin, end, (begin + PACK - 1u) / PACK, end / PACK, first, min(first + share, packs_end));
}

// One pack of a span, for one that need not be whole or inside: items outside count as `nothing`.
fn dev_load_edge(span: DevSpan, pack: u32, nothing: T) -> Items {
  var items: Items;
  for (var k = 0u; k < PACK; k++) {
    let at = pack * PACK + k;
    items[k] = nothing;
    if pack < span.last && at >= span.begin && at < span.end {
      items[k] = el_load(dev_in_item(at));
    }
  }
  return items;
}

// Whether the ROWS packs a lane of a subgroup from `at` on lie in the span and the range as a whole.
fn dev_is_whole(span: DevSpan, at: u32) -> bool {
  return at >= span.whole_first && at + ROWS * sg_size <= min(span.last, span.whole_end);
}

// ROWS packs a lane from `at` on, row by row of the subgroup.
fn dev_load_rows(span: DevSpan, at: u32, nothing: T) -> array<Items, ROWS> {
  if dev_is_whole(span, at) {
    return dev_load_whole_rows(at);
  }
  return dev_load_edge_rows(span, at, nothing);
}

// The same for packs that are whole: the loads are issued together.
fn dev_load_whole_rows(at: u32) -> array<Items, ROWS> {
  var rows: array<Items, ROWS>;
  for (var r = 0u; r < ROWS; r++) {
    rows[r] = el_load_pack(dev_in_pack(at + r * sg_size + sg_lane));
  }
  return rows;
}

// The same for packs that need not be whole or inside.
fn dev_load_edge_rows(span: DevSpan, at: u32, nothing: T) -> array<Items, ROWS> {
  var rows: array<Items, ROWS>;
  for (var r = 0u; r < ROWS; r++) {
    rows[r] = dev_load_edge(span, at + r * sg_size + sg_lane, nothing);
  }
  return rows;
}
