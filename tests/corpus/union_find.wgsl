// The connected parts of a graph by union-find with compare-exchange; the label of a part is its least node.
// run: start 1
// run: join 2
// run: label 1
// run: forget 1
// buffer: 256 random 47 below 128
// buffer: 128 zeros
// buffer: 128 zeros

@group(0) @binding(0) var<storage, read> edges: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> parents: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> labels: array<u32>;

fn root(node: u32) -> u32 {
  var at = node;
  var parent = atomicLoad(&parents[at]);
  while parent != at {
    at = parent;
    parent = atomicLoad(&parents[at]);
  }
  return at;
}

@compute @workgroup_size(128)
fn start(@builtin(global_invocation_id) id: vec3u) {
  atomicStore(&parents[id.x], id.x);
}

@compute @workgroup_size(32)
fn join(@builtin(global_invocation_id) id: vec3u) {
  let edge = edges[id.x];
  loop {
    let a = root(edge.x);
    let b = root(edge.y);
    if a == b {
      break;
    }
    if atomicCompareExchangeWeak(&parents[max(a, b)], max(a, b), min(a, b)).exchanged {
      break;
    }
  }
}

@compute @workgroup_size(128)
fn label(@builtin(global_invocation_id) id: vec3u) {
  labels[id.x] = root(id.x);
}

// How the trees look depends on the order; what they join does not.
@compute @workgroup_size(128)
fn forget(@builtin(global_invocation_id) id: vec3u) {
  atomicStore(&parents[id.x], 0u);
}
