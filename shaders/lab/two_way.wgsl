// Two arms, taken in turn by runs of `run` invocations: one pipeline for every pattern, so that no case is another
// program. `mask` 0 sends every invocation to the same arm, `flip` says to which, `shift` moves the runs.

struct Params {
  run: u32,
  shift: u32,
  mask: u32,
  flip: u32,
  trips_a: u32,
  trips_b: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn two_way(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let side = (((index + params.shift) / params.run) & params.mask) ^ params.flip;
  var x = index;
  if side == 0u {
    x = arm_a(x, params.trips_a);
  } else {
    x = arm_b(x, params.trips_b);
  }
  results[index] = x;
}
