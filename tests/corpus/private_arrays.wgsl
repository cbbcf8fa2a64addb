// Private and local arrays by index, nested and of vectors: a heap sort and a permutation's cycles.
// run: main 1
// buffer: 512 random 37 below 1000
// buffer: 512 zeros
// buffer: 32 zeros

@group(0) @binding(0) var<storage, read> before: array<u32>;
@group(0) @binding(1) var<storage, read_write> after: array<u32>;
@group(0) @binding(2) var<storage, read_write> cycles: array<u32>;

var<private> heap: array<u32, 16>;
var<private> table: array<array<vec2u, 4>, 4>;

fn sift(start: u32, end: u32) {
  var root = start;
  while 2u * root + 1u < end {
    var child = 2u * root + 1u;
    if child + 1u < end && heap[child + 1u] > heap[child] {
      child++;
    }
    if heap[root] >= heap[child] {
      return;
    }
    let old = heap[root];
    heap[root] = heap[child];
    heap[child] = old;
    root = child;
  }
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  for (var k = 0u; k < 16u; k++) {
    heap[k] = before[16u * i + k];
    table[k / 4u][k % 4u] = vec2u(k, (k * 5u + i) % 16u);
  }
  for (var k = 8u; k > 0u; k--) {
    sift(k - 1u, 16u);
  }
  for (var end = 15u; end > 0u; end--) {
    let old = heap[0];
    heap[0] = heap[end];
    heap[end] = old;
    sift(0u, end);
  }
  for (var k = 0u; k < 16u; k++) {
    after[16u * i + k] = heap[k];
  }
  var count = 0u;
  var seen: array<bool, 16>;
  for (var k = 0u; k < 16u; k++) {
    if seen[k] {
      continue;
    }
    count++;
    var at = k;
    while !seen[at] {
      seen[at] = true;
      at = table[at / 4u][at % 4u][1];
    }
  }
  cycles[i] = count;
}
