// A pack's results, from what comes before it and its own inclusive scan.
fn dev_scan_items(before: T, inclusive: Items) -> Items {
  var items: Items;
  items[0] = before;
  for (var k = 1u; k < PACK; k++) {
    items[k] = op_combine(before, inclusive[k - 1u]);
  }
  return items;
}
