// Two steps of bodies that attract each other, by tiles in workgroup memory.
// run: main 2
// run: main 2
// buffer: 512 floats 11 -1 1
// buffer: 512 zeros
// ulps: 0 2
// ulps: 1 4

struct Body {
  at: vec3f,
  mass: f32,
}

@group(0) @binding(0) var<storage, read_write> bodies: array<Body, 128>;
@group(0) @binding(1) var<storage, read_write> speeds: array<vec4f, 128>;

var<workgroup> tile: array<Body, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  var body = bodies[id.x];
  var force = vec3f();
  // The tile of its own workgroup only, which no other workgroup moves.
  tile[local] = body;
  workgroupBarrier();
  for (var i = 0u; i < 64u; i++) {
    let to = tile[i].at - body.at;
    let squared = dot(to, to) + 0.0625;
    let inverse = inverseSqrt(squared);
    force += to * (abs(tile[i].mass) * inverse * inverse * inverse);
  }
  let speed = speeds[id.x] + vec4f(force, 0.0) * 0.0078125;
  body.at += speed.xyz * 0.0078125;
  speeds[id.x] = speed;
  bodies[id.x] = body;
}
