// A transposition by tiles with 2-D workgroups, at the rim of what they cover only in part.
// run: main 4 3
// buffer: 600 random 18
// buffer: 600 zeros

const SIZE = vec2u(30, 20);

@group(0) @binding(0) var<storage, read> image: array<u32>;
@group(0) @binding(1) var<storage, read_write> turned: array<u32>;

var<workgroup> tile: array<array<u32, 9>, 8>;

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let first = workgroup.xy * 8u;
  let source = first + local.xy;
  if all(source < SIZE) {
    tile[local.y][local.x] = image[source.y * SIZE.x + source.x];
  }
  workgroupBarrier();
  let to = first.yx + local.xy;
  if all(to < SIZE.yx) {
    turned[to.y * SIZE.y + to.x] = tile[local.x][local.y];
  }
}
