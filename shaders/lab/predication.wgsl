// A short branch, written as a branch and as a select: the condition is one bit of a word, another bit at each trip, so
// that no compiler can take it out of the loop. The word is random for each run of 2^`shift` invocations, or all ones.
// `side_a` and `side_b`, straight lines of a given number of instructions, are printed before this text.

struct Params {
  trips: u32,
  shift: u32,
  all_a: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

fn conditions(index: u32) -> u32 {
  return select(scramble(index >> params.shift), 0xFFFFFFFFu, params.all_a == 1u);
}

@compute @workgroup_size(WORKGROUP)
fn by_branch(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let bits = conditions(index);
  var x = index;
  for (var i = 0u; i < params.trips; i++) {
    if ((bits >> (i & 31u)) & 1u) == 1u {
      x = side_a(x);
    } else {
      x = side_b(x);
    }
  }
  results[index] = x;
}

@compute @workgroup_size(WORKGROUP)
fn by_select(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let bits = conditions(index);
  var x = index;
  for (var i = 0u; i < params.trips; i++) {
    x = select(side_b(x), side_a(x), ((bits >> (i & 31u)) & 1u) == 1u);
  }
  results[index] = x;
}
