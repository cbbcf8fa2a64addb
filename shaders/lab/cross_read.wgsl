// Every workgroup leaves the number of the run in its slot and looks into another's: in one dispatch, or in two. All by
// atomics, so that what is read is a value that was once there.

struct Params {
  // The number of this run: what stands in a slot that its workgroup has already come to.
  run: u32,
  groups: u32,
  // 1: the slot of the workgroup before; 0: the slot at the other end, mirrored.
  before: u32,
}

@group(0) @binding(0) var<storage, read_write> stale: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> slots: array<atomic<u32>>;

fn other(group: u32) -> u32 {
  let mirrored = params.groups - 1u - group;
  return select(mirrored, (group + params.groups - 1u) % params.groups, params.before == 1u);
}

fn is_stale(group: u32) -> u32 {
  return u32(atomicLoad(&slots[other(group)]) != params.run);
}

@compute @workgroup_size(WORKGROUP)
fn leave_and_look(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local == 0u {
    atomicStore(&slots[workgroup.x], params.run);
    stale[workgroup.x] = is_stale(workgroup.x);
  }
}

@compute @workgroup_size(WORKGROUP)
fn leave(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local == 0u {
    atomicStore(&slots[workgroup.x], params.run);
  }
}

@compute @workgroup_size(WORKGROUP)
fn look(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local == 0u {
    stale[workgroup.x] = is_stale(workgroup.x);
  }
}
