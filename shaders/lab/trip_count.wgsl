// Loops of different lengths in one subgroup: one invocation in `spacing` loops `long` times and the rest `short`
// times, or, where `random` is 1, each a random number of times from 1 to `long`.

struct Params {
  spacing: u32,
  random: u32,
  long: u32,
  short: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> rows: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn trip_count(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var trips = select(params.short, params.long, index % params.spacing == 0u);
  if params.random == 1u {
    trips = scramble(index) % params.long + 1u;
  }
  results[index] = arm_a(index, trips);
}

// Each invocation loops `long` times for every entry of its row.
@compute @workgroup_size(WORKGROUP)
fn row_each(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  results[index] = arm_a(index, rows[index] * params.long);
}
