// The edit distance of two words of 32 letters, by diagonals in workgroup memory.
// run: main 2
// buffer: 64 random 41 below 4
// buffer: 64 random 42 below 4
// buffer: 2 zeros

@group(0) @binding(0) var<storage, read> left: array<u32>;
@group(0) @binding(1) var<storage, read> right: array<u32>;
@group(0) @binding(2) var<storage, read_write> distances: array<u32>;

var<workgroup> rows: array<array<u32, 33>, 33>;

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let y = local + 1u;
  rows[0][y] = y;
  rows[y][0] = y;
  for (var diagonal = 2u; diagonal <= 64u; diagonal++) {
    workgroupBarrier();
    let x = diagonal - y;
    if diagonal > y && x <= 32u {
      let differ = u32(left[32u * workgroup.x + y - 1u] != right[32u * workgroup.x + x - 1u]);
      rows[y][x] = min(min(rows[y - 1u][x], rows[y][x - 1u]) + 1u, rows[y - 1u][x - 1u] + differ);
    }
  }
  workgroupBarrier();
  if local == 31u {
    distances[workgroup.x] = rows[32][32];
  }
}
