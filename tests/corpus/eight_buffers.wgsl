// All eight storage bindings that every device has, and a uniform one.
// run: main 2
// buffer: 64 random 21
// buffer: 64 random 22
// buffer: 64 random 23
// buffer: 64 floats 24 -8 8
// buffer: 64 zeros
// buffer: 64 zeros
// buffer: 64 zeros
// buffer: 4 zeros
// buffer: 8 words 3 5 7 11 13 17 19 23

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<vec4u>;
@group(0) @binding(2) var<storage, read> c: array<i32>;
@group(0) @binding(3) var<storage, read> d: array<f32>;
@group(0) @binding(4) var<storage, read_write> e: array<u32>;
@group(0) @binding(5) var<storage, read_write> f: array<vec2i>;
@group(0) @binding(6) var<storage, read_write> g: array<f32>;
@group(0) @binding(7) var<storage, read_write> h: array<atomic<u32>, 4>;
@group(0) @binding(8) var<uniform> factors: array<vec4u, 2>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  e[i] = a[i] * factors[i % 2u][i % 4u] + b[i / 4u][i % 4u];
  if i < 32u {
    f[i] = vec2(c[2u * i], c[2u * i + 1u]) / vec2i(factors[1].zw);
  }
  g[i] = d[63u - i] * -0.5;
  atomicAdd(&h[i % 4u], arrayLength(&a) + arrayLength(&b));
}
