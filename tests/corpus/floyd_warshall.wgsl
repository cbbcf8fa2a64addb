// Shortest paths between all pairs of 16 nodes, in workgroup memory, with the next node of each path.
// run: main 1
// buffer: 256 random 44 below 100
// buffer: 256 zeros
// buffer: 256 zeros

const FAR = 100000u;

@group(0) @binding(0) var<storage, read> weights: array<u32>;
@group(0) @binding(1) var<storage, read_write> distances: array<u32>;
@group(0) @binding(2) var<storage, read_write> next: array<u32>;

var<workgroup> paths: array<array<u32, 16>, 16>;

@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  let weight = weights[local];
  // A third of the edges is there.
  paths[id.y][id.x] = select(select(FAR, weight, weight < 33u), 0u, id.x == id.y);
  var first = id.x;
  for (var k = 0u; k < 16u; k++) {
    workgroupBarrier();
    let through = paths[id.y][k] + paths[k][id.x];
    workgroupBarrier();
    if through < paths[id.y][id.x] {
      paths[id.y][id.x] = through;
      first = k;
    }
  }
  distances[local] = min(paths[id.y][id.x], FAR);
  next[local] = first;
}
