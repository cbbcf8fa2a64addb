// The sum over a square of side 2 RADIUS + 1, read directly or from a tile with a halo in workgroup memory. Workgroups
// are TILE_X by TILE_Y invocations with ROWS pixels each, one below the other at a distance of TILE_Y, so that starting
// workgroups is not what takes the time; the image has a border of RADIUS on every side. `TILE_X`, `TILE_Y`, `ROWS` and
// `RADIUS` are printed before this text.

struct Params {
  // Floats of a row of the image, and of a row of the result.
  pitch: u32,
  width: u32,
}

const SIDE = 2u * RADIUS + 1u;
const HALO_X = TILE_X + 2u * RADIUS;
const HALO_Y = ROWS * TILE_Y + 2u * RADIUS;

@group(0) @binding(0) var<storage, read_write> results: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> image: array<f32>;

var<workgroup> tile: array<f32, HALO_X * HALO_Y>;

@compute @workgroup_size(TILE_X, TILE_Y)
fn direct(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) place: vec3<u32>,
) {
  let left = workgroup.x * TILE_X + place.x;
  let top = workgroup.y * TILE_Y * ROWS + place.y;
  for (var row = 0u; row < ROWS; row++) {
    let first = top + row * TILE_Y;
    var sum = 0.0;
    for (var y = 0u; y < SIDE; y++) {
      for (var x = 0u; x < SIDE; x++) {
        sum += image[(first + y) * params.pitch + left + x];
      }
    }
    results[first * params.width + left] = sum;
  }
}

@compute @workgroup_size(TILE_X, TILE_Y)
fn tiled(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) place: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let left = workgroup.x * TILE_X;
  let top = workgroup.y * TILE_Y * ROWS;
  for (var i = local; i < HALO_X * HALO_Y; i += TILE_X * TILE_Y) {
    tile[i] = image[(top + i / HALO_X) * params.pitch + left + i % HALO_X];
  }
  workgroupBarrier();
  for (var row = 0u; row < ROWS; row++) {
    let first = place.y + row * TILE_Y;
    var sum = 0.0;
    for (var y = 0u; y < SIDE; y++) {
      for (var x = 0u; x < SIDE; x++) {
        sum += tile[(first + y) * HALO_X + place.x + x];
      }
    }
    results[(top + first) * params.width + left + place.x] = sum;
  }
}
