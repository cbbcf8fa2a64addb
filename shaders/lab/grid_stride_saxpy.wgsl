// What grid_stride.wgsl does with an element: saxpy, z = a x + y.

const FACTOR = 3.0;

@group(0) @binding(0) var<storage, read_write> z: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;

fn element(i: u32) {
  z[i] = FACTOR * x[i] + y[i];
}

fn four(i: vec4<u32>) {
  // All eight loads before the first store, so that they are under way together.
  let xs = vec4<f32>(x[i.x], x[i.y], x[i.z], x[i.w]);
  let ys = vec4<f32>(y[i.x], y[i.y], y[i.z], y[i.w]);
  let zs = FACTOR * xs + ys;
  z[i.x] = zs.x;
  z[i.y] = zs.y;
  z[i.z] = zs.z;
  z[i.w] = zs.w;
}
