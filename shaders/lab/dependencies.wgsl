// A graph of tiles in STAGES stages: a tile of one stage needs three neighbours of the stage before. Done by a dispatch a
// stage, or by one persistent kernel whose workgroups take tiles by tickets, in order, and wait for their three tiles
// only. A tile depends on earlier tickets, whose workgroups run or are done, so somebody can always go on. Values go from
// workgroup to workgroup by atomics. `STAGES` is printed before this text.

struct Params {
  tiles: u32,
  trips: u32,
  stage: u32,
  // The most polls for one tile.
  polls: u32,
}

struct State {
  ticket: atomic<u32>,
  gave_up: atomic<u32>,
}

// Of each stage, tile and lane.
@group(0) @binding(0) var<storage, read_write> values: array<atomic<u32>>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> state: State;
// Of each stage and tile: 1 once it is done.
@group(0) @binding(3) var<storage, read_write> done: array<atomic<u32>>;

var<workgroup> taken: u32;
var<workgroup> abandoned: u32;

// The tile `offset` - 1 places after this one, in a circle.
fn neighbour(tile: u32, offset: u32) -> u32 {
  return (tile + params.tiles + offset - 1u) % params.tiles;
}

fn value(stage: u32, tile: u32, local: u32) -> u32 {
  return atomicLoad(&values[(stage * params.tiles + tile) * WORKGROUP + local]);
}

fn work(stage: u32, tile: u32, local: u32) {
  var x = tile * WORKGROUP + local;
  if stage > 0u {
    x = value(stage - 1u, neighbour(tile, 0u), local)
      + value(stage - 1u, tile, local)
      + value(stage - 1u, neighbour(tile, 2u), local);
  }
  atomicStore(&values[(stage * params.tiles + tile) * WORKGROUP + local], arm_a(x, params.trips));
}

@compute @workgroup_size(WORKGROUP)
fn one_stage(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  work(params.stage, workgroup.x, local);
}

// Whether this tile of this stage is done, after some polls.
fn wait_for(stage: u32, tile: u32) -> bool {
  for (var polls = 0u; polls < params.polls; polls++) {
    if atomicLoad(&done[stage * params.tiles + tile]) == 1u {
      return true;
    }
    if atomicLoad(&state.gave_up) != 0u {
      break;
    }
  }
  return false;
}

fn wait_for_three(stage: u32, tile: u32) -> bool {
  for (var offset = 0u; offset < 3u; offset++) {
    if !wait_for(stage, neighbour(tile, offset)) {
      return false;
    }
  }
  return true;
}

@compute @workgroup_size(WORKGROUP)
fn all_stages(@builtin(local_invocation_index) local: u32) {
  if local == 0u {
    abandoned = 0u;
  }
  loop {
    if local == 0u {
      taken = atomicAdd(&state.ticket, 1u);
    }
    let ticket = workgroupUniformLoad(&taken);
    if ticket >= STAGES * params.tiles {
      break;
    }
    let stage = ticket / params.tiles;
    let tile = ticket % params.tiles;
    if local == 0u && stage > 0u && !wait_for_three(stage - 1u, tile) {
      atomicAdd(&state.gave_up, 1u);
      abandoned = 1u;
    }
    storageBarrier();
    if workgroupUniformLoad(&abandoned) != 0u {
      break;
    }
    work(stage, tile, local);
    storageBarrier();
    if local == 0u {
      atomicStore(&done[ticket], 1u);
    }
  }
}
