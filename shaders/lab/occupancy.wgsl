// Kernels that hold a given amount of workgroup memory beside them, so that fewer workgroups are resident: one that
// waits for memory, and one that has independent work in each lane. Both use the same little of that memory.
//
// `LANES`, `LINE_WORDS` and `PAD_WORDS` are printed before this text.

struct Params {
  trips: u32,
  lines: u32,
  // 0, which no compiler knows.
  zero: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> table: array<u32>;

// The index into it is unknown to the compiler, which would drop an array that nothing needs in whole.
var<workgroup> pad: array<u32, PAD_WORDS>;

fn hold(local: u32) -> u32 {
  if local == 0u {
    pad[params.zero] = params.zero;
  }
  workgroupBarrier();
  return pad[params.zero];
}

@compute @workgroup_size(WORKGROUP)
fn waiting(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = local % LANES % LINE_WORDS;
  var line = (index / LANES * 2654435769u + 77u + hold(local)) % params.lines;
  for (var i = 0u; i < params.trips; i++) {
    line = table[line * LINE_WORDS + word];
  }
  results[index] = line;
}

@compute @workgroup_size(WORKGROUP)
fn working(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  var x = vec4<u32>(index + hold(local)) + vec4<u32>(0u, 1u, 2u, 3u);
  for (var i = 0u; i < params.trips; i++) {
    x = x * 0x9E3779B1u + 0x7F4A7C15u;
    x ^= x >> vec4<u32>(15u);
  }
  results[index] = x.x ^ x.y ^ x.z ^ x.w;
}
