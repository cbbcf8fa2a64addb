// Kernels to run in workgroups of many sizes.

struct Params {
  // Items, or subgroups.
  count: u32,
  short: u32,
  long: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> input: array<u32>;

// Streams: copies eight words a lane, all of them loaded before the first is stored.
@compute @workgroup_size(WORKGROUP)
fn copy(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  // The grid may be folded into two dimensions, and then be a little larger than the work.
  let group = workgroup.y * grid.x + workgroup.x;
  if group >= params.count / (WORKGROUP * 8u) {
    return;
  }
  let first = group * WORKGROUP * 8u + local;
  var words: array<u32, 8>;
  for (var k = 0u; k < 8u; k++) {
    words[k] = input[first + k * WORKGROUP];
  }
  for (var k = 0u; k < 8u; k++) {
    results[first + k * WORKGROUP] = words[k];
  }
}

// Arithmetic: one subgroup in eight, by its hash, does `long` steps and the others `short`; alike for even work.
// `LANES` is printed before this text.
@compute @workgroup_size(WORKGROUP)
fn arithmetic(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let is_long = scramble(index / LANES) % 8u == 0u;
  results[index] = arm_a(index, select(params.short, params.long, is_long));
}
