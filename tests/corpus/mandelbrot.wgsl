// Iterations of the Mandelbrot set, and where the point was last.
// run: main 4 2
// buffer: 512 zeros
// buffer: 1024 zeros

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> last: array<vec2f>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3u, @builtin(num_workgroups) groups: vec3u) {
  // Products only: a driver may put the constant of a sum elsewhere.
  let c = vec2f(vec2i(at.xy) - vec2(24, 8)) * vec2f(0.09375, 0.15625);
  var z = vec2f();
  var count = 0u;
  while count < 40u {
    let squares = z * z;
    if squares.x + squares.y > 4.0 {
      break;
    }
    z = vec2f(squares.x - squares.y, 2.0 * z.x * z.y) + c;
    count++;
  }
  let index = at.y * groups.x * 8u + at.x;
  counts[index] = count;
  last[index] = z;
}
