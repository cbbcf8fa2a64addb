// The same work from grids and workgroups of one, two and three dimensions. `SHAPE_X`, `SHAPE_Y` and `SHAPE_Z` are
// printed before this text; their product is `WORKGROUP`.

struct Params {
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(SHAPE_X, SHAPE_Y, SHAPE_Z)
fn dimensions(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let group = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
  let index = group * WORKGROUP + local;
  results[index] = arm_a(index, params.trips);
}

// Every workgroup counts itself at its linear index: what shows that a folded grid runs each of them once.
@group(0) @binding(2) var<storage, read_write> visits: array<atomic<u32>>;

@compute @workgroup_size(SHAPE_X, SHAPE_Y, SHAPE_Z)
fn visit(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let group = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
  // A folded grid is a little larger than the work.
  if local == 0u && group < arrayLength(&visits) {
    atomicAdd(&visits[group], 1u);
  }
}
