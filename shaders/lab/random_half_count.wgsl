// Counts, without timing, how the branch of random_half.wgsl splits the subgroups: how many there are, how many have
// both sides in them, and how many lanes go to arm A.

struct Params {
  threshold: u32,
}

struct Counts {
  subgroups: atomic<u32>,
  mixed: atomic<u32>,
  lanes_in_a: atomic<u32>,
}

@group(0) @binding(0) var<storage, read_write> counts: Counts;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;

fn ones(ballot: vec4<u32>) -> u32 {
  let bits = countOneBits(ballot);
  return bits.x + bits.y + bits.z + bits.w;
}

@compute @workgroup_size(WORKGROUP)
fn random_half_count(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let lanes = ones(subgroupBallot(true));
  let lanes_in_a = ones(subgroupBallot(words[index] < params.threshold));
  if lane == 0u {
    atomicAdd(&counts.subgroups, 1u);
    atomicAdd(&counts.lanes_in_a, lanes_in_a);
    if lanes_in_a > 0u && lanes_in_a < lanes {
      atomicAdd(&counts.mixed, 1u);
    }
  }
}
