// Barriers in uniform control flow and in split one: an entry point a case. This text is only looked at, never run: a
// barrier that some invocations do not reach is undefined. Where a barrier is in split flow, its line ends in a comment
// that begins with `split`; the branch or loop that splits, in one that begins with `cause`.

@group(0) @binding(0) var<storage, read_write> items: array<u32>;
@group(0) @binding(1) var<uniform> limit: u32;

var<workgroup> shared_item: u32;

fn meet() {
  workgroupBarrier(); // split, where `called_by_some` calls it
}

// The guard that everybody writes first, with a barrier behind it.
@compute @workgroup_size(64)
fn behind_a_return(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x >= limit { // cause
    return;
  }
  items[id.x] += 1u;
  workgroupBarrier(); // split
}

// The same guard, around the work only.
@compute @workgroup_size(64)
fn behind_a_guard(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x < limit {
    items[id.x] += 1u;
  }
  workgroupBarrier();
}

@compute @workgroup_size(64)
fn in_an_arm(@builtin(local_invocation_index) local: u32) {
  if local < 32u { // cause
    workgroupBarrier(); // split
  }
}

@compute @workgroup_size(64)
fn in_both_arms(@builtin(local_invocation_index) local: u32) {
  if local < 32u { // cause
    workgroupBarrier(); // split
  } else {
    workgroupBarrier(); // split
  }
}

@compute @workgroup_size(64)
fn in_an_arm_by_workgroup(@builtin(workgroup_id) workgroup: vec3<u32>) {
  if workgroup.x < limit {
    workgroupBarrier();
  }
}

// Whoever's data ends the loop first is missing at the next trip's barrier.
@compute @workgroup_size(64)
fn in_a_loop_over_data(@builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = 0u; i < items[id.x]; i++) { // cause
    workgroupBarrier(); // split
  }
}

@compute @workgroup_size(64)
fn in_a_loop_over_a_uniform(@builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = 0u; i < limit; i++) {
    items[id.x] += i;
    workgroupBarrier();
  }
}

@compute @workgroup_size(64)
fn behind_a_break(@builtin(local_invocation_index) local: u32) {
  for (var i = 0u; i < limit; i++) {
    if local == i { // cause
      break;
    }
    workgroupBarrier(); // split
  }
}

@compute @workgroup_size(64)
fn called_by_some(@builtin(local_invocation_index) local: u32) {
  if local == 0u { // cause
    meet();
  }
}

@compute @workgroup_size(64)
fn called_by_all() {
  meet();
}

// One value for all, since one address is read by all behind a barrier.
@compute @workgroup_size(64)
fn by_a_shared_value(@builtin(local_invocation_index) local: u32) {
  if local == 0u {
    shared_item = items[0];
  }
  let item = workgroupUniformLoad(&shared_item);
  if item > 3u {
    workgroupBarrier();
  }
}

@compute @workgroup_size(64)
fn load_in_an_arm(@builtin(local_invocation_index) local: u32) {
  if local < limit { // cause
    items[local] = workgroupUniformLoad(&shared_item); // split
  }
}
