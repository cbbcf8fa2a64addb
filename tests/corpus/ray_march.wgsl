// Rays marched through a distance field: steps, and the distance where they end.
// run: main 2 2
// buffer: 256 zeros
// buffer: 256 zeros
// ulps: 1 4

@group(0) @binding(0) var<storage, read_write> steps: array<u32>;
@group(0) @binding(1) var<storage, read_write> depths: array<f32>;

fn field(p: vec3f) -> f32 {
  let sphere = length(p - vec3f(0.0, 0.0, 4.0)) - 1.5;
  let q = abs(p - vec3f(1.5, 1.0, 3.0)) - 0.5;
  let box = length(max(q, vec3f())) + min(max(q.x, max(q.y, q.z)), 0.0);
  return min(sphere, box);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let direction = normalize(vec3f(vec2f(vec2i(id.xy) - 8) * 0.0625, 1.0));
  var depth = 0.0;
  var count = 0u;
  loop {
    let distance = field(direction * depth);
    if distance < 0.015625 || count >= 32u {
      break;
    }
    depth += distance;
    if depth > 8.0 {
      depth = 8.0;
      break;
    }
    count++;
  }
  steps[id.y * 16u + id.x] = count;
  depths[id.y * 16u + id.x] = depth;
}
