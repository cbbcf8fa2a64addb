// Dispatches that depend on each other through one buffer, and dispatches that only read it.

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read> words: array<u32>;

var<workgroup> seen: u32;

@compute @workgroup_size(WORKGROUP)
fn increment(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  counts[workgroup.x * WORKGROUP + local] += 1u;
}

@compute @workgroup_size(WORKGROUP)
fn look(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if words[workgroup.x * WORKGROUP + local] == 0xFFFFFFFFu {
    seen = local;
  }
}
