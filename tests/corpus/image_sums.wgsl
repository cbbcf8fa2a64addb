// The summed-area table of an image: sums along rows, then along columns.
// run: rows 16
// run: columns 24
// buffer: 384 random 43 below 256

const WIDTH = 24u;
const HEIGHT = 16u;

@group(0) @binding(0) var<storage, read_write> image: array<array<u32, WIDTH>, HEIGHT>;

var<workgroup> line: array<u32, 32>;

fn sum(local: u32) {
  for (var step = 1u; step < 32u; step <<= 1u) {
    workgroupBarrier();
    var before = 0u;
    if local >= step {
      before = line[local - step];
    }
    workgroupBarrier();
    line[local] += before;
  }
}

@compute @workgroup_size(32)
fn rows(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) local: u32) {
  if local < WIDTH {
    line[local] = image[row.x][local];
  }
  sum(local);
  if local < WIDTH {
    image[row.x][local] = line[local];
  }
}

@compute @workgroup_size(32)
fn columns(@builtin(workgroup_id) column: vec3u, @builtin(local_invocation_index) local: u32) {
  if local < HEIGHT {
    line[local] = image[local][column.x];
  }
  sum(local);
  if local < HEIGHT {
    image[local][column.x] = line[local];
  }
}
