// Fills a region of a 16 by 16 maze from a corner, until a round changes nothing.
// run: main 1
// buffer: 256 random 12 below 3
// buffer: 257 zeros

@group(0) @binding(0) var<storage, read> maze: array<u32>;
@group(0) @binding(1) var<storage, read_write> reached: array<u32>;

var<workgroup> filled: array<array<u32, 16>, 16>;
var<workgroup> changes: atomic<u32>;
var<workgroup> changed: u32;

fn at(cell: vec2i) -> u32 {
  if any(cell < vec2i()) || any(cell >= vec2i(16)) {
    return 0u;
  }
  return filled[cell.y][cell.x];
}

@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  let cell = vec2i(id.xy);
  let open = maze[local] != 0u;
  filled[id.y][id.x] = u32(local == 0u);
  var rounds = 0u;
  loop {
    workgroupBarrier();
    let around = at(cell + vec2(1, 0)) | at(cell - vec2(1, 0)) | at(cell + vec2(0, 1)) | at(cell - vec2(0, 1));
    workgroupBarrier();
    if open && around == 1u && filled[id.y][id.x] == 0u {
      filled[id.y][id.x] = 1u;
      atomicAdd(&changes, 1u);
    }
    workgroupBarrier();
    if local == 0u {
      changed = atomicExchange(&changes, 0u);
    }
    if workgroupUniformLoad(&changed) == 0u {
      break;
    }
    rounds++;
  }
  reached[local] = filled[id.y][id.x];
  if local == 0u {
    reached[256] = rounds;
  }
}
