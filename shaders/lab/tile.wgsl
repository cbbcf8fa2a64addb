// Kernels over an image in tiles of `TILE_X` x `TILE_Y`, one workgroup a tile. `RADIUS` is printed before this text too.
//
// Rows are `params.pitch` apart and have a margin on every side, so that no tile needs to clamp. Pixels are whole numbers,
// so that sums are exact in any order.

struct Params {
  pitch: u32,
  // Width and height of the picture that the plane repeats.
  width: u32,
  height: u32,
  // Words of the plane.
  count: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> plane: array<f32>;

// Lays the picture out over the plane, again and again.
@group(0) @binding(3) var<storage, read> picture: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn lay_out(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP) {
    results[i] = picture[(i / params.pitch) % params.height * params.width + (i % params.pitch) % params.width];
  }
}

// The sum of the pixels around each, to `RADIUS` in both directions.
@compute @workgroup_size(TILE_X, TILE_Y)
fn box_sum(@builtin(global_invocation_id) id: vec3<u32>) {
  var sum = 0.0;
  for (var dy = 0u; dy <= 2u * RADIUS; dy++) {
    for (var dx = 0u; dx <= 2u * RADIUS; dx++) {
      sum += plane[(id.y + dy) * params.pitch + id.x + dx];
    }
  }
  results[(id.y + RADIUS) * params.pitch + id.x + RADIUS] = sum;
}

// A copy, eight rows of the tile an invocation: with one pixel a lane the start of the workgroups takes the time.
@compute @workgroup_size(TILE_X, TILE_Y)
fn copy_rows(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let x = workgroup.x * TILE_X + local.x;
  let y = workgroup.y * TILE_Y * 8u + local.y;
  var pixels: array<f32, 8>;
  for (var k = 0u; k < 8u; k++) {
    pixels[k] = plane[(y + k * TILE_Y) * params.pitch + x];
  }
  for (var k = 0u; k < 8u; k++) {
    results[(y + k * TILE_Y) * params.pitch + x] = pixels[k];
  }
}
