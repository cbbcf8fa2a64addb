// A breadth-first search over a graph in levels: queues in workgroup memory, filled by atomics.
// run: main 1
// buffer: 256 random 49 below 64
// buffer: 64 zeros

@group(0) @binding(0) var<storage, read> neighbours: array<array<u32, 4>, 64>;
@group(0) @binding(1) var<storage, read_write> levels: array<u32, 64>;

var<workgroup> seen: array<atomic<u32>, 2>;
var<workgroup> queues: array<array<u32, 64>, 2>;
var<workgroup> lengths: array<atomic<u32>, 2>;
var<workgroup> length: u32;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
  if local == 0u {
    atomicStore(&seen[0], 1u);
    length = 1u;
  }
  var level = 1u;
  loop {
    let count = workgroupUniformLoad(&length);
    if count == 0u {
      break;
    }
    let now = level % 2u;
    if local < count {
      let node = queues[1u - now][local];
      levels[node] = level;
      for (var i = 0; i < 3; i++) {
        let other = neighbours[node][i];
        let bit = 1u << (other % 32u);
        if (atomicOr(&seen[other / 32u], bit) & bit) == 0u {
          queues[now][atomicAdd(&lengths[now], 1u)] = other;
        }
      }
    }
    workgroupBarrier();
    if local == 0u {
      length = atomicExchange(&lengths[now], 0u);
    }
    level++;
  }
}
