// Builds a complete tree of boxes over spheres, and finds the first sphere along rays with a stack.
// run: build 1
// run: trace 2
// buffer: 256 floats 13 -4 4
// buffer: 1024 zeros
// buffer: 256 zeros
// buffer: 128 zeros
// ulps: 3 2

struct Box {
  low: vec3f,
  high: vec3f,
}

@group(0) @binding(0) var<storage, read> spheres: array<vec4f, 64>;
@group(0) @binding(1) var<storage, read_write> boxes: array<Box, 128>;
@group(0) @binding(2) var<storage, read_write> hits: array<vec2u, 128>;
@group(0) @binding(3) var<storage, read_write> distances: array<f32, 128>;

fn radius(sphere: u32) -> f32 {
  return 0.25 + abs(spheres[sphere].w) * 0.125;
}

@compute @workgroup_size(64)
fn build(@builtin(local_invocation_index) leaf: u32) {
  let sphere = spheres[leaf].xyz;
  boxes[64u + leaf] = Box(sphere - radius(leaf), sphere + radius(leaf));
  for (var count = 32u; count > 0u; count /= 2u) {
    storageBarrier();
    if leaf < count {
      let node = count + leaf;
      let left = boxes[2u * node];
      let right = boxes[2u * node + 1u];
      boxes[node] = Box(min(left.low, right.low), max(left.high, right.high));
    }
  }
}

fn meets(node: u32, origin: vec3f, inverse: vec3f, nearest: f32) -> bool {
  let box = boxes[node];
  let a = (box.low - origin) * inverse;
  let b = (box.high - origin) * inverse;
  let first = min(a, b);
  let last = max(a, b);
  let enter = max(max(first.x, first.y), max(first.z, 0.0));
  let leave = min(min(last.x, last.y), min(last.z, nearest));
  return enter <= leave;
}

@compute @workgroup_size(64)
fn trace(@builtin(global_invocation_id) id: vec3u) {
  let origin = vec3f(f32(id.x % 16u) - 7.5, f32(id.x / 16u) - 3.5, -8.0);
  let direction = vec3f(0.0625, -0.03125, 1.0);
  let inverse = vec3f(16.0, -32.0, 1.0);
  var nearest = 1000.0;
  var hit = 0xffffu;
  var visited = 0u;
  var stack: array<u32, 16>;
  var top = 1u;
  stack[0] = 1u;
  while top > 0u {
    top--;
    let node = stack[top];
    if !meets(node, origin, inverse, nearest) {
      continue;
    }
    visited++;
    if node < 64u {
      stack[top] = 2u * node + 1u;
      stack[top + 1u] = 2u * node;
      top += 2u;
      continue;
    }
    let to = origin - spheres[node - 64u].xyz;
    let a = dot(direction, direction);
    let b = dot(to, direction);
    let c = dot(to, to) - radius(node - 64u) * radius(node - 64u);
    let inside = b * b - a * c;
    if inside < 0.0 {
      continue;
    }
    let distance = (-b - sqrt(inside)) / a;
    if distance > 0.0 && distance < nearest {
      nearest = distance;
      hit = node - 64u;
    }
  }
  hits[id.x] = vec2(hit, visited);
  distances[id.x] = nearest;
}
