// A product of matrices of 32 by 32 by tiles in workgroup memory; the numbers are small, so that each sum is exact.
// run: main 4 4
// buffer: 1024 random 6 below 16
// buffer: 1024 random 7 below 16
// buffer: 1024 zeros

const SIZE = 32u;
const TILE = 8u;

@group(0) @binding(0) var<storage, read> left: array<u32>;
@group(0) @binding(1) var<storage, read> right: array<u32>;
@group(0) @binding(2) var<storage, read_write> product: array<f32>;

var<workgroup> a: array<array<f32, TILE>, TILE>;
var<workgroup> b: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_id) local: vec3u) {
  var sum = 0.0;
  for (var k = 0u; k < SIZE; k += TILE) {
    a[local.y][local.x] = f32(left[at.y * SIZE + k + local.x]);
    b[local.y][local.x] = f32(right[(k + local.y) * SIZE + at.x]);
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) {
      sum += a[local.y][i] * b[i][local.x];
    }
    workgroupBarrier();
  }
  product[at.y * SIZE + at.x] = sum;
}
