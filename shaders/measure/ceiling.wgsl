// The simplest kernels that move memory as fast as it goes: what other kernels' figures are shares of.
// `WORKGROUP` is printed before this text.
//
// Each invocation takes vec4 words at a stride of the whole grid, so that a subgroup's loads are neighbours. Four or
// eight loads are written out, because a loop with one load in flight reaches little more than half. What remains
// below a full round is taken one word at a time. Any grid covers all `params.count` words.
//
// The kernels named `span` give each workgroup one contiguous part instead, and stride by the workgroup within it.

struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

// Item i is a * i + b: the sum over all items is known without looking at them.
@compute @workgroup_size(WORKGROUP)
fn fill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP) {
    output[i] = (vec4<u32>(i * 4u) + vec4<u32>(0u, 1u, 2u, 3u)) * ITEM_FACTOR + ITEM_ADDEND;
  }
}

var<workgroup> total: atomic<u32>;

// Stores the sum of the workgroup's items: one word.
fn store_sum(sum: vec4<u32>, local: u32, workgroup: u32) {
  if (local == 0u) {
    atomicStore(&total, 0u);
  }
  workgroupBarrier();
  atomicAdd(&total, sum.x + sum.y + sum.z + sum.w);
  workgroupBarrier();
  if (local == 0u) {
    sums[workgroup] = atomicLoad(&total);
  }
}

@compute @workgroup_size(WORKGROUP)
fn read4(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let stride = grid.x * WORKGROUP;
  var sum = vec4<u32>();
  var i = id.x;
  for (; i + 3u * stride < params.count; i += 4u * stride) {
    let a = input[i];
    let b = input[i + stride];
    let c = input[i + 2u * stride];
    let d = input[i + 3u * stride];
    sum += (a + b) + (c + d);
  }
  for (; i < params.count; i += stride) {
    sum += input[i];
  }
  store_sum(sum, local, workgroup.x);
}

@compute @workgroup_size(WORKGROUP)
fn read8(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let stride = grid.x * WORKGROUP;
  var sum = vec4<u32>();
  var i = id.x;
  for (; i + 7u * stride < params.count; i += 8u * stride) {
    let a = input[i];
    let b = input[i + stride];
    let c = input[i + 2u * stride];
    let d = input[i + 3u * stride];
    let e = input[i + 4u * stride];
    let f = input[i + 5u * stride];
    let g = input[i + 6u * stride];
    let h = input[i + 7u * stride];
    sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
  }
  for (; i < params.count; i += stride) {
    sum += input[i];
  }
  store_sum(sum, local, workgroup.x);
}

@compute @workgroup_size(WORKGROUP)
fn copy4(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let stride = grid.x * WORKGROUP;
  var i = id.x;
  for (; i + 3u * stride < params.count; i += 4u * stride) {
    let a = input[i];
    let b = input[i + stride];
    let c = input[i + 2u * stride];
    let d = input[i + 3u * stride];
    output[i] = a;
    output[i + stride] = b;
    output[i + 2u * stride] = c;
    output[i + 3u * stride] = d;
  }
  for (; i < params.count; i += stride) {
    output[i] = input[i];
  }
}

@compute @workgroup_size(WORKGROUP)
fn copy8(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let stride = grid.x * WORKGROUP;
  var i = id.x;
  for (; i + 7u * stride < params.count; i += 8u * stride) {
    let a = input[i];
    let b = input[i + stride];
    let c = input[i + 2u * stride];
    let d = input[i + 3u * stride];
    let e = input[i + 4u * stride];
    let f = input[i + 5u * stride];
    let g = input[i + 6u * stride];
    let h = input[i + 7u * stride];
    output[i] = a;
    output[i + stride] = b;
    output[i + 2u * stride] = c;
    output[i + 3u * stride] = d;
    output[i + 4u * stride] = e;
    output[i + 5u * stride] = f;
    output[i + 6u * stride] = g;
    output[i + 7u * stride] = h;
  }
  for (; i < params.count; i += stride) {
    output[i] = input[i];
  }
}

@compute @workgroup_size(WORKGROUP)
fn read_span8(
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let share = (params.count + grid.x - 1u) / grid.x;
  let end = min((workgroup.x + 1u) * share, params.count);
  var sum = vec4<u32>();
  var i = workgroup.x * share + local;
  for (; i + 7u * WORKGROUP < end; i += 8u * WORKGROUP) {
    let a = input[i];
    let b = input[i + WORKGROUP];
    let c = input[i + 2u * WORKGROUP];
    let d = input[i + 3u * WORKGROUP];
    let e = input[i + 4u * WORKGROUP];
    let f = input[i + 5u * WORKGROUP];
    let g = input[i + 6u * WORKGROUP];
    let h = input[i + 7u * WORKGROUP];
    sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
  }
  for (; i < end; i += WORKGROUP) {
    sum += input[i];
  }
  store_sum(sum, local, workgroup.x);
}

@compute @workgroup_size(WORKGROUP)
fn copy_span8(
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let share = (params.count + grid.x - 1u) / grid.x;
  let end = min((workgroup.x + 1u) * share, params.count);
  var i = workgroup.x * share + local;
  for (; i + 7u * WORKGROUP < end; i += 8u * WORKGROUP) {
    let a = input[i];
    let b = input[i + WORKGROUP];
    let c = input[i + 2u * WORKGROUP];
    let d = input[i + 3u * WORKGROUP];
    let e = input[i + 4u * WORKGROUP];
    let f = input[i + 5u * WORKGROUP];
    let g = input[i + 6u * WORKGROUP];
    let h = input[i + 7u * WORKGROUP];
    output[i] = a;
    output[i + WORKGROUP] = b;
    output[i + 2u * WORKGROUP] = c;
    output[i + 3u * WORKGROUP] = d;
    output[i + 4u * WORKGROUP] = e;
    output[i + 5u * WORKGROUP] = f;
    output[i + 6u * WORKGROUP] = g;
    output[i + 7u * WORKGROUP] = h;
  }
  for (; i < end; i += WORKGROUP) {
    output[i] = input[i];
  }
}
