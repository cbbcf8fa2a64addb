// What shows how many workgroups a device holds at once: kernels of which twice as many workgroups take no longer
// until there is no room for one more.
//
// `dependent_loads` waits for memory and leaves the multiprocessor idle, so workgroups beside each other cost nothing
// and only one that finds no room has to wait. All lanes of a subgroup follow one chain and read the same word, so
// that a load is one small transaction. `issue` is the opposite: four independent chains of arithmetic a lane keep a
// multiprocessor busy with one workgroup, so a second one on it doubles the time.
//
// `LANES`, `LINES` (a power of two), `LINE_WORDS` and `PAD_WORDS` are printed before this text.

struct Params {
  trips: u32,
  // 0, which no compiler knows.
  zero: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> lines: array<u32>;

// Workgroup memory that is only there to be held.
var<workgroup> pad: array<u32, PAD_WORDS>;

@compute @workgroup_size(WORKGROUP)
fn dependent_loads(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  // The index is unknown to the compiler, which would drop an array that nothing needs in whole.
  if local == 0u {
    pad[params.zero] = params.zero;
  }
  workgroupBarrier();
  let index = workgroup.x * WORKGROUP + local;
  var line = (index / LANES * 40503u + pad[params.zero]) % LINES;
  for (var i = 0u; i < params.trips; i++) {
    line = lines[line * LINE_WORDS];
  }
  results[index] = line;
}

@compute @workgroup_size(WORKGROUP)
fn issue(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = vec4<u32>(index) + vec4<u32>(0u, 1u, 2u, 3u);
  for (var i = 0u; i < params.trips; i++) {
    x = x * 0x9E3779B1u + 0x7F4A7C15u;
    x ^= x >> vec4<u32>(15u);
  }
  results[index] = x.x ^ x.y ^ x.z ^ x.w;
}
