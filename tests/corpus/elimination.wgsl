// Gauss's elimination with pivots, of four systems at once.
// run: main 4
// buffer: 256 floats 59 -4 4
// buffer: 32 floats 60 -1 1
// buffer: 32 zeros
// ulps: 2 4

@group(0) @binding(0) var<storage, read> matrices: array<array<array<f32, 8>, 8>, 4>;
@group(0) @binding(1) var<storage, read> right: array<array<f32, 8>, 4>;
@group(0) @binding(2) var<storage, read_write> solutions: array<array<f32, 8>, 4>;

var<workgroup> rows: array<array<f32, 9>, 8>;
var<workgroup> pivot: u32;

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  rows[local][8] = right[workgroup.x][local];
  for (var i = 0; i < 8; i++) {
    rows[local][i] = matrices[workgroup.x][local][i];
  }
  for (var column = 0u; column < 8u; column++) {
    workgroupBarrier();
    if local == 0u {
      pivot = column;
      for (var i = column + 1u; i < 8u; i++) {
        if abs(rows[i][column]) > abs(rows[pivot][column]) {
          pivot = i;
        }
      }
      let old = rows[pivot];
      rows[pivot] = rows[column];
      rows[column] = old;
    }
    workgroupBarrier();
    let own = rows[column];
    if local != column {
      let factor = rows[local][column] / own[column];
      for (var i = column; i < 9u; i++) {
        rows[local][i] -= factor * own[i];
      }
    }
  }
  solutions[workgroup.x][local] = rows[local][8] / rows[local][local];
}
