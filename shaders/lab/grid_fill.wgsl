// Kernels over a fixed amount of work by grids of any size.

struct Params {
  // Words, or items.
  count: u32,
  short: u32,
  long: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;

// Even work: reads all words at a stride of the grid, four loads under way.
@compute @workgroup_size(WORKGROUP)
fn even(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let stride = grid.x * WORKGROUP;
  var sum = 0u;
  var i = id.x;
  for (; i + 3u * stride < params.count; i += 4u * stride) {
    let a = words[i];
    let b = words[i + stride];
    let c = words[i + 2u * stride];
    let d = words[i + 3u * stride];
    sum += (a + b) + (c + d);
  }
  for (; i < params.count; i += stride) {
    sum += words[i];
  }
  results[id.x] = sum;
}

// Uneven work: an item is a task for a whole workgroup, and one in 16, by its hash, is long.
@compute @workgroup_size(WORKGROUP)
fn uneven(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  var x = workgroup.x * WORKGROUP + local;
  for (var item = workgroup.x; item < params.count; item += grid.x) {
    x = arm_a(x, select(params.short, params.long, scramble(item) % 16u == 0u));
  }
  results[workgroup.x * WORKGROUP + local] = x;
}
