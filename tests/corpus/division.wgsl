// Division and remainder of integers with every pair of the edges: zero, minus one, least and most.
// run: main 1
// buffer: 16 words 0 1 2 3 7 4294967295 4294967294 4294967289 2147483648 2147483647 2147483649 65536 10 1000000007 255 3735928559
// buffer: 1024 zeros

@group(0) @binding(0) var<storage, read> edges: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4u, 256>;

@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
  let a = edges[id.x];
  let b = edges[id.y];
  let c = bitcast<i32>(a);
  let d = bitcast<i32>(b);
  out[i] = vec4u(a / b, a % b, bitcast<u32>(c / d), bitcast<u32>(c % d));
  if i % 7u == 3u {
    // By a constant a driver multiplies instead.
    out[i] += vec4u(a / 7u, a % 10u, bitcast<u32>(c / -3), bitcast<u32>(c % 16));
  }
}
