// One product and one sum an item, several items an invocation. `Item`, `ITEMS` and `place` (where item k of an
// invocation lies) are printed before this text. All items are loaded before the first is stored; the loops have constant
// bounds and are unrolled.

@group(0) @binding(0) var<storage, read_write> results: array<Item>;
@group(0) @binding(2) var<storage, read> input: array<Item>;

@compute @workgroup_size(WORKGROUP)
fn coarsening(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  // The grid may be folded into two dimensions, and then be a little larger than the work.
  let first = (workgroup.y * grid.x + workgroup.x) * WORKGROUP * ITEMS;
  if first >= arrayLength(&results) {
    return;
  }
  var items: array<Item, ITEMS>;
  for (var k = 0u; k < ITEMS; k++) {
    items[k] = input[first + place(local, k)];
  }
  for (var k = 0u; k < ITEMS; k++) {
    results[first + place(local, k)] = items[k] * 2.0 + Item(1.0);
  }
}
