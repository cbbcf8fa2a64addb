// Sorts 128 keys in workgroup memory by a bitonic network.
// run: main 2
// buffer: 256 random 2

@group(0) @binding(0) var<storage, read_write> keys: array<u32>;

var<workgroup> tile: array<u32, 128>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let first = workgroup.x * 128u;
  tile[local] = keys[first + local];
  tile[local + 64u] = keys[first + local + 64u];
  for (var run = 2u; run <= 128u; run <<= 1u) {
    for (var distance = run >> 1u; distance > 0u; distance >>= 1u) {
      workgroupBarrier();
      let low = (local / distance) * 2u * distance + local % distance;
      let high = low + distance;
      let ascending = (low & run) == 0u;
      let a = tile[low];
      let b = tile[high];
      if (a > b) == ascending {
        tile[low] = b;
        tile[high] = a;
      }
    }
  }
  workgroupBarrier();
  keys[first + local] = tile[local];
  keys[first + local + 64u] = tile[local + 64u];
}
