// Chains of dependent loads through a ring of lines: every word of a line holds the number of the next. All lanes of a
// subgroup follow the same chain, each by its own word of the line, so that a step is one line; a lane may follow 1, 2,
// 4 or 8 chains that are independent of each other.
//
// `LANES`, `LINE_WORDS`, `RING_FACTOR` and `RING_ADDEND` are printed before this text; `lines` is a power of two.

struct Params {
  steps: u32,
  lines: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> table: array<u32>;
@group(0) @binding(3) var<storage, read_write> filled: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn chase_fill(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
) {
  for (var word = id.x; word < params.lines * LINE_WORDS; word += workgroups.x * WORKGROUP) {
    filled[word] = (word / LINE_WORDS * RING_FACTOR + RING_ADDEND) % params.lines;
  }
}

fn start(chain: u32) -> u32 {
  return (chain * 2654435769u + 77u) % params.lines;
}

fn start2(chain: u32) -> vec2<u32> {
  return vec2<u32>(start(chain), start(chain + 1u));
}

fn start4(chain: u32) -> vec4<u32> {
  return vec4<u32>(start2(chain), start2(chain + 2u));
}

fn next(line: u32, word: u32) -> u32 {
  return table[line * LINE_WORDS + word];
}

fn next4(lines: vec4<u32>, word: u32) -> vec4<u32> {
  return vec4<u32>(next(lines.x, word), next(lines.y, word), next(lines.z, word), next(lines.w, word));
}

@compute @workgroup_size(WORKGROUP)
fn chase_1(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = local % LANES % LINE_WORDS;
  var line = start(index / LANES);
  for (var i = 0u; i < params.steps; i++) {
    line = next(line, word);
  }
  results[index] = line;
}

@compute @workgroup_size(WORKGROUP)
fn chase_2(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = local % LANES % LINE_WORDS;
  var line = start2(2u * (index / LANES));
  for (var i = 0u; i < params.steps; i++) {
    line = vec2<u32>(next(line.x, word), next(line.y, word));
  }
  results[index] = line.x + line.y;
}

@compute @workgroup_size(WORKGROUP)
fn chase_4(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = local % LANES % LINE_WORDS;
  var line = start4(4u * (index / LANES));
  for (var i = 0u; i < params.steps; i++) {
    line = next4(line, word);
  }
  results[index] = line.x + line.y + line.z + line.w;
}

@compute @workgroup_size(WORKGROUP)
fn chase_8(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let word = local % LANES % LINE_WORDS;
  var low = start4(8u * (index / LANES));
  var high = start4(8u * (index / LANES) + 4u);
  for (var i = 0u; i < params.steps; i++) {
    low = next4(low, word);
    high = next4(high, word);
  }
  let line = low + high;
  results[index] = line.x + line.y + line.z + line.w;
}
