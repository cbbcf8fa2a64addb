// Sorts items by category: counts each category, then gives every item a place in its category's stretch of `order`.
// Places are taken from a counter in workgroup memory and one atomic a category and workgroup, so that the order
// inside a category varies. `ARMS`, the number of categories, is printed before this text.

@group(0) @binding(0) var<storage, read> categories: array<u32>;
// Of each category the number of items, then the number that have been placed.
@group(0) @binding(1) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;

var<workgroup> counts: array<atomic<u32>, ARMS>;
var<workgroup> firsts: array<u32, ARMS>;

@compute @workgroup_size(WORKGROUP)
fn category_count(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local < ARMS {
    atomicStore(&counts[local], 0u);
  }
  workgroupBarrier();
  atomicAdd(&counts[categories[workgroup.x * WORKGROUP + local] % ARMS], 1u);
  workgroupBarrier();
  if local < ARMS {
    atomicAdd(&counters[local], atomicLoad(&counts[local]));
  }
}

@compute @workgroup_size(WORKGROUP)
fn category_place(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local < ARMS {
    atomicStore(&counts[local], 0u);
  }
  workgroupBarrier();
  let item = workgroup.x * WORKGROUP + local;
  let category = categories[item] % ARMS;
  let rank = atomicAdd(&counts[category], 1u);
  workgroupBarrier();
  if local < ARMS {
    var first = 0u;
    for (var before = 0u; before < local; before++) {
      first += atomicLoad(&counters[before]);
    }
    firsts[local] = first + atomicAdd(&counters[ARMS + local], atomicLoad(&counts[local]));
  }
  workgroupBarrier();
  // Clamped, since the counters are data.
  order[min(firsts[category] + rank, arrayLength(&order) - 1u)] = item;
}
