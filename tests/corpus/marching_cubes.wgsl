// Marching cubes up to the triangles: classifies the cells of a field, counts triangles by a table, and lists the cells.
// run: main 2 2 2
// buffer: 512 zeros
// buffer: 2 zeros
// buffer: 16 zeros

// Triangles of each of the 256 cases, four bits each.
const TRIANGLES = array<u32, 32>(
  0x32212110, 0x23323221, 0x43323221, 0x34434332, 0x43323221, 0x34434332, 0x34432332, 0x25543443,
  0x43323221, 0x34434332, 0x54434332, 0x45545443, 0x32434332, 0x23545443, 0x23543443, 0x14254554,
  0x43323221, 0x34434332, 0x54434332, 0x25343423, 0x54434332, 0x45545443, 0x45543443, 0x12452534,
  0x54434332, 0x23325443, 0x25545443, 0x14234534, 0x43545443, 0x12432554, 0x12432332, 0x01121423,
);
const SIZE = 8u;

struct Totals {
  cells: atomic<u32>,
  triangles: atomic<u32>,
}

@group(0) @binding(0) var<storage, read_write> cases: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: Totals;
@group(0) @binding(2) var<storage, read_write> cells_by_triangles: array<atomic<u32>, 16>;

// A sphere with a bite; all its numbers are exact.
fn field(at: vec3u) -> f32 {
  let p = vec3f(at) - 4.0;
  let q = p - vec3f(2.0, 1.0, 0.5);
  return min(9.5 - dot(p, p), dot(q, q) - 4.25);
}

@compute @workgroup_size(4, 4, 4)
fn main(@builtin(global_invocation_id) at: vec3u) {
  var inside = 0u;
  for (var corner = 0u; corner < 8u; corner++) {
    let offset = vec3u(corner & 1u, (corner >> 1u) & 1u, corner >> 2u);
    if field(at + offset) > 0.0 {
      inside |= 1u << corner;
    }
  }
  var words = TRIANGLES;
  let triangles = (words[inside / 8u] >> (4u * (inside % 8u))) & 15u;
  cases[(at.z * SIZE + at.y) * SIZE + at.x] = inside | (triangles << 8u);
  if triangles > 0u {
    atomicAdd(&totals.cells, 1u);
    atomicAdd(&totals.triangles, triangles);
  }
  atomicAdd(&cells_by_triangles[triangles], 1u);
}
