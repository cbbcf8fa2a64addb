// Workgroups of equal work, of which a device holds a given number at once: bound by the workgroup memory that each
// holds, or, in `busy`, by nothing but the instructions that it issues. `PAD_WORDS` is printed before this text.

struct Params {
  trips: u32,
  // 0, which no compiler knows.
  zero: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

// Workgroup memory that is only there to be held: the index is unknown to the compiler, which would drop an array that
// nothing needs in whole.
var<workgroup> pad: array<u32, PAD_WORDS>;

@compute @workgroup_size(WORKGROUP)
fn roomy(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  if local == 0u {
    pad[params.zero] = params.zero;
  }
  workgroupBarrier();
  let index = workgroup.x * WORKGROUP + local;
  results[index] = arm_a(index + pad[params.zero], params.trips);
}

@compute @workgroup_size(WORKGROUP)
fn busy(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  results[index] = arm_a(index, params.trips);
}
