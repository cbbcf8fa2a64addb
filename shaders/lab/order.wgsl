// Every workgroup takes a ticket as it starts, and then has some work, so that workgroups are there at the same time.

struct Params {
  // The number of the first workgroup: dispatches of one workgroup each have numbers of their own.
  first: u32,
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> tickets: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> counter: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn order(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local == 0u {
    tickets[params.first + workgroup.x] = atomicAdd(&counter, 1u);
  }
  let index = (params.first + workgroup.x) * WORKGROUP + local;
  results[index] = arm_a(index, params.trips);
}
