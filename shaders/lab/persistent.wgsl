// Items of one workgroup's work each, handed out in three ways. `lengths` holds the trips of each item.

struct Params {
  items: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> lengths: array<u32>;
@group(0) @binding(3) var<storage, read_write> queue: atomic<u32>;

var<workgroup> taken: u32;

fn work(item: u32, local: u32) {
  let index = item * WORKGROUP + local;
  results[index] = arm_a(index, lengths[item]);
}

// A workgroup for each item: the device hands them out.
@compute @workgroup_size(WORKGROUP)
fn an_item_each(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  work(workgroup.x, local);
}

// As many workgroups as the device holds, each with every n-th item.
@compute @workgroup_size(WORKGROUP)
fn every_nth(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  for (var item = workgroup.x; item < params.items; item += workgroups.x) {
    work(item, local);
  }
}

// The same number of workgroups, each with a stretch of the items.
@compute @workgroup_size(WORKGROUP)
fn a_stretch_each(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let stretch = (params.items + workgroups.x - 1u) / workgroups.x;
  let end = min((workgroup.x + 1u) * stretch, params.items);
  for (var item = workgroup.x * stretch; item < end; item++) {
    work(item, local);
  }
}

// The same number of workgroups, each with the next item of a queue whenever it has done one.
@compute @workgroup_size(WORKGROUP)
fn from_a_queue(@builtin(local_invocation_index) local: u32) {
  loop {
    if local == 0u {
      taken = atomicAdd(&queue, 1u);
    }
    let item = workgroupUniformLoad(&taken);
    if item >= params.items {
      break;
    }
    work(item, local);
  }
}
