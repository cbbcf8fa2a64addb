// Work under a condition, as one writes it first: the selected words are worked on where they lie, the lanes of the
// others wait.

struct Params {
  threshold: u32,
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn remedy_direct(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = words[index];
  if word < params.threshold {
    results[index] = arm_a(word, params.trips);
  }
}
