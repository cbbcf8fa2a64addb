// A switch on the category of an item, for items in some order: `order` holds the items as they lie, or sorted by
// category. `take_arm(arm, x, trips)`, a function with a loop for each of ARMS arms, is printed before this text.

struct Params {
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> categories: array<u32>;
@group(0) @binding(3) var<storage, read> order: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn by_category(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let place = workgroup.x * WORKGROUP + local;
  // Clamped, since the order is data: it is a permutation of the items.
  let item = min(order[place], arrayLength(&categories) - 1u);
  results[item] = take_arm(categories[item], item, params.trips);
}
