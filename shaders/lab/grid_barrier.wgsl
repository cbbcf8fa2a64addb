// A barrier of the whole grid in software: every workgroup counts itself in and waits until all have. It ends only if
// all workgroups are resident at once; where they are not, the polls run out and everybody leaves.

struct Params {
  barriers: u32,
  // The most polls of a barrier.
  polls: u32,
}

struct State {
  arrived: atomic<u32>,
  gave_up: atomic<u32>,
  most_polls: atomic<u32>,
  // Workgroups that came through a barrier and found that another had not come to it.
  early: atomic<u32>,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> state: State;
// The barrier that each workgroup is at.
@group(0) @binding(3) var<storage, read_write> places: array<atomic<u32>>;

var<workgroup> abandoned: u32;

// Whether all `wanted` have arrived, after some polls.
fn wait_for(wanted: u32) -> bool {
  for (var polls = 0u; polls < params.polls; polls++) {
    if atomicLoad(&state.arrived) >= wanted {
      atomicMax(&state.most_polls, polls);
      return true;
    }
    if atomicLoad(&state.gave_up) != 0u {
      break;
    }
  }
  return false;
}

@compute @workgroup_size(WORKGROUP)
fn grid_barrier(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  if local == 0u {
    abandoned = 0u;
  }
  var x = index;
  for (var barrier = 1u; barrier <= params.barriers; barrier++) {
    x = arm_a(x, 1u);
    storageBarrier();
    if local == 0u {
      atomicStore(&places[workgroup.x], barrier);
      atomicAdd(&state.arrived, 1u);
      if !wait_for(barrier * workgroups.x) {
        atomicAdd(&state.gave_up, 1u);
        abandoned = 1u;
      }
    }
    if workgroupUniformLoad(&abandoned) != 0u {
      break;
    }
    if local == 0u && atomicLoad(&places[(workgroup.x + 1u) % workgroups.x]) < barrier {
      atomicAdd(&state.early, 1u);
    }
  }
  results[index] = x;
}
