// Several items an invocation, from one arrangement to the other. ITEMS is printed before this text.
//
// Blocked: invocation i holds the items i * ITEMS and following, as a scan wants them. Striped: it holds the items
// i, i + WORKGROUP, …, as coalesced loads and stores have them. Two barriers.

var<workgroup> wg_items: array<T, WG_ITEMS>;

fn wg_striped_to_blocked(items: ptr<function, array<T, ITEMS>>) {
  for (var k = 0u; k < ITEMS; k++) {
    wg_items[k * WORKGROUP + wg_index] = (*items)[k];
  }
  workgroupBarrier();
  for (var k = 0u; k < ITEMS; k++) {
    (*items)[k] = wg_items[wg_index * ITEMS + k];
  }
  workgroupBarrier();
}

fn wg_blocked_to_striped(items: ptr<function, array<T, ITEMS>>) {
  for (var k = 0u; k < ITEMS; k++) {
    wg_items[wg_index * ITEMS + k] = (*items)[k];
  }
  workgroupBarrier();
  for (var k = 0u; k < ITEMS; k++) {
    (*items)[k] = wg_items[k * WORKGROUP + wg_index];
  }
  workgroupBarrier();
}
