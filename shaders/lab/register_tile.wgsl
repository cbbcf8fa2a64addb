// The product of two square matrices of floats, each step with fewer loads a product than the one before.
//
// The left matrix is held by columns, the right one and the result by rows, so that every load is of neighbours. The
// number of rows is a multiple of 128. Elements are small whole numbers, so that sums are exact in any order.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> left: array<f32>;
@group(0) @binding(3) var<storage, read> right: array<f32>;

@group(0) @binding(0) var<storage, read_write> results4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> left4: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> right4: array<vec4<f32>>;

// One result a lane, straight from memory: two loads a product.
@compute @workgroup_size(16, 16)
fn naive(@builtin(global_invocation_id) id: vec3<u32>) {
  var sum = 0.0;
  for (var k = 0u; k < params.n; k++) {
    sum = fma(left[k * params.n + id.y], right[k * params.n + id.x], sum);
  }
  results[id.y * params.n + id.x] = sum;
}

var<workgroup> left_tile: array<f32, 256>;
var<workgroup> right_tile: array<f32, 256>;

// One result a lane through tiles of 16 x 16 in workgroup memory: two loads a product still, but near ones.
@compute @workgroup_size(16, 16)
fn workgroup_tile(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  var sum = 0.0;
  for (var first = 0u; first < params.n; first += 16u) {
    let row = (first + local.y) * params.n;
    left_tile[local.y * 16u + local.x] = left[row + workgroup.y * 16u + local.x];
    right_tile[local.y * 16u + local.x] = right[row + id.x];
    workgroupBarrier();
    for (var k = 0u; k < 16u; k++) {
      sum = fma(left_tile[k * 16u + local.y], right_tile[k * 16u + local.x], sum);
    }
    workgroupBarrier();
  }
  results[id.y * params.n + id.x] = sum;
}

// Four rows of four results each, one row a column of the type.
fn add_products(sums: mat4x4<f32>, a: vec4<f32>, b: vec4<f32>) -> mat4x4<f32> {
  return mat4x4<f32>(
    fma(vec4<f32>(a.x), b, sums[0]),
    fma(vec4<f32>(a.y), b, sums[1]),
    fma(vec4<f32>(a.z), b, sums[2]),
    fma(vec4<f32>(a.w), b, sums[3]),
  );
}

fn store(sums: mat4x4<f32>, row: u32, column4: u32) {
  let row4 = params.n / 4u;
  results4[row * row4 + column4] = sums[0];
  results4[(row + 1u) * row4 + column4] = sums[1];
  results4[(row + 2u) * row4 + column4] = sums[2];
  results4[(row + 3u) * row4 + column4] = sums[3];
}

// Steps of the inner dimension, each 16 or 32 vectors wide.
var<workgroup> left_rows: array<vec4<f32>, 256>;
var<workgroup> right_rows: array<vec4<f32>, 256>;

// 4 x 4 results a lane, tiles of 64 x 64: two loads of four for 16 products.
@compute @workgroup_size(16, 16)
fn four_by_four(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) index: u32,
) {
  let row4 = params.n / 4u;
  var sums = mat4x4<f32>();
  for (var first = 0u; first < params.n; first += 16u) {
    let at = (first + index / 16u) * row4 + index % 16u;
    left_rows[index] = left4[at + workgroup.y * 16u];
    right_rows[index] = right4[at + workgroup.x * 16u];
    workgroupBarrier();
    for (var k = 0u; k < 16u; k++) {
      sums = add_products(sums, left_rows[k * 16u + local.y], right_rows[k * 16u + local.x]);
    }
    workgroupBarrier();
  }
  store(sums, workgroup.y * 64u + local.y * 4u, workgroup.x * 16u + local.x);
}

// 8 x 8 results a lane, tiles of 128 x 128: four loads of four for 64 products.
@compute @workgroup_size(16, 16)
fn eight_by_eight(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) index: u32,
) {
  let row4 = params.n / 4u;
  var upper_left = mat4x4<f32>();
  var upper_right = mat4x4<f32>();
  var lower_left = mat4x4<f32>();
  var lower_right = mat4x4<f32>();
  for (var first = 0u; first < params.n; first += 8u) {
    let at = (first + index / 32u) * row4 + index % 32u;
    left_rows[index] = left4[at + workgroup.y * 32u];
    right_rows[index] = right4[at + workgroup.x * 32u];
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
      let upper = left_rows[k * 32u + local.y];
      let lower = left_rows[k * 32u + 16u + local.y];
      let near = right_rows[k * 32u + local.x];
      let far = right_rows[k * 32u + 16u + local.x];
      upper_left = add_products(upper_left, upper, near);
      upper_right = add_products(upper_right, upper, far);
      lower_left = add_products(lower_left, lower, near);
      lower_right = add_products(lower_right, lower, far);
    }
    workgroupBarrier();
  }
  let row = workgroup.y * 128u + local.y * 4u;
  let column4 = workgroup.x * 32u + local.x;
  store(upper_left, row, column4);
  store(upper_right, row, column4 + 16u);
  store(lower_left, row + 64u, column4);
  store(lower_right, row + 64u, column4 + 16u);
}
