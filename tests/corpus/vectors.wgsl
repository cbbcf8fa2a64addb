// Vectors: swizzles, components by index, comparisons, selection, dot and cross products; all numbers are exact.
// run: main 1
// buffer: 256 random 28 below 32
// buffer: 512 zeros

@group(0) @binding(0) var<storage, read> input: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> out: array<array<f32, 16>, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = vec4f(input[i]) - 16.0;
  var b = vec4f(input[i + 32u]) * vec4f(0.5, 1.0, 2.0, -1.0);
  b[i % 4u] += 3.0;
  b.y = -b.z;
  let c = cross(a.xyz, b.wzy);
  let smaller = a < b;
  let chosen = select(a, b.wxyz, smaller);
  let sum = a.xy + b.zw * a.ww - vec2(dot(a, b), 1.0);
  let whole = vec3i(a.zyx) % vec3(7, 5, 3);
  out[i] = array<f32, 16>(
    a[i % 4u], b.x, b.y, b.z, b.w, c.x, c.y, c.z,
    f32(all(smaller)) + 2.0 * f32(any(smaller.xw)), chosen.x + 64.0 * chosen.y, chosen.z + 64.0 * chosen.w,
    sum.x, sum.y, f32(dot(whole, whole)), min(a, b).x + max(a, b).y + clamp(a, vec4f(-4.0), vec4f(4.0)).z,
    f32(dot(input[i].xyz, input[i + 32u].yzw)),
  );
}
