// A loop over the lanes of a subgroup, bounded by the built-in width and by a constant of the program with the same
// value: only the constant is known to the compiler. `LANES` is printed before this text.

struct Params {
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn bound_built_in(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_size) lanes: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = index;
  for (var trip = 0u; trip < params.trips; trip++) {
    for (var i = 0u; i < lanes; i++) {
      x = x * 0x9E3779B1u + i;
      x ^= x >> 15u;
    }
  }
  results[index] = x;
}

@compute @workgroup_size(WORKGROUP)
fn bound_constant(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = index;
  for (var trip = 0u; trip < params.trips; trip++) {
    for (var i = 0u; i < LANES; i++) {
      x = x * 0x9E3779B1u + i;
      x ^= x >> 15u;
    }
  }
  results[index] = x;
}
