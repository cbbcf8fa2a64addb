// A little work in each of very many workgroups. Results are stored for the first STORED invocations and again by those
// behind them, which compute the same: so many workgroups need no buffer of their own. `STORED` is printed before this.

struct Params {
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn tiny(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = ((workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local) % STORED;
  results[index] = arm_a(index, params.trips);
}
