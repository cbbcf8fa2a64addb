// A switch of ARMS arms, of which `arms` are taken: in turn by runs of `run` invocations, or at random.
// `take_arm(arm, x, trips)`, with one looped function for each arm, is printed before this text.

struct Params {
  run: u32,
  arms: u32,
  random: u32,
  first: u32,
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn k_way(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let turn = select(index / params.run, scramble(index), params.random == 1u);
  results[index] = take_arm(turn % params.arms + params.first, index, params.trips);
}
