// A pack's results, from what comes before it and its own inclusive scan.
fn dev_scan_items(before: T, inclusive: Items) -> Items {
  var items: Items;
  for (var k = 0u; k < PACK; k++) {
    items[k] = op_combine(before, inclusive[k]);
  }
  return items;
}
