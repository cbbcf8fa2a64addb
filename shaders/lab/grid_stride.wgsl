// The forms in which a grid can go over more elements than it has invocations. What is done with an element,
// `element` and `four`, is printed before this text: the work that is timed, or a count of the visits, so that the
// very loops that are timed show whether each element is visited once. The grid may be folded into two dimensions.

struct Params {
  count: u32,
  // Elements of one invocation's chunk.
  chunk: u32,
}

@group(0) @binding(1) var<uniform> params: Params;

// One element an invocation.
@compute @workgroup_size(WORKGROUP)
fn plain(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = (workgroup.y * grid.x + workgroup.x) * WORKGROUP + local;
  if i < params.count {
    element(i);
  }
}

// Elements at a distance of the whole grid.
@compute @workgroup_size(WORKGROUP)
fn strided(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  for (var i = id.x; i < params.count; i += grid.x * WORKGROUP) {
    element(i);
  }
}

// The same with four elements under way at a time.
@compute @workgroup_size(WORKGROUP)
fn four_wide(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let stride = grid.x * WORKGROUP;
  var i = id.x;
  for (; i + 3u * stride < params.count; i += 4u * stride) {
    four(vec4<u32>(i, i + stride, i + 2u * stride, i + 3u * stride));
  }
  for (; i < params.count; i += stride) {
    element(i);
  }
}

// A contiguous chunk an invocation, four elements at a time too.
@compute @workgroup_size(WORKGROUP)
fn chunked(@builtin(global_invocation_id) id: vec3<u32>) {
  var i = min(id.x * params.chunk, params.count);
  let end = min(i + params.chunk, params.count);
  for (; i + 3u < end; i += 4u) {
    four(vec4<u32>(i, i + 1u, i + 2u, i + 3u));
  }
  for (; i < end; i += 1u) {
    element(i);
  }
}

// The mistake: elements at a distance of one workgroup, so that every workgroup goes over all that follow its own.
@compute @workgroup_size(WORKGROUP)
fn workgroup_strided(@builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = id.x; i < params.count; i += WORKGROUP) {
    element(i);
  }
}
