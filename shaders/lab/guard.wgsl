// The guard of a grid larger than its data, as an `if` around the work and as an early return.

struct Params {
  items: u32,
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn guard_around(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  if index < params.items {
    results[index] = arm_a(index, params.trips);
  }
}

@compute @workgroup_size(WORKGROUP)
fn guard_return(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  if index >= params.items {
    return;
  }
  results[index] = arm_a(index, params.trips);
}
