// Loads of single words from a buffer of `MASK` + 1 words, a power of two, in an order that the uniform buffer says.
//
// The loads of all invocations are numbered side by side. Load number j reads word (j stride) mod count, moved on by one
// each time it has gone round, so that a whole sweep reads every word once whatever the stride; or, where `random` is
// 1, a word that looks random. In each trip the workgroups take other numbers than before, so that none meets its own
// words in the cache of its multiprocessor. Sixteen loads are written out, to be under way together.

struct Params {
  trips: u32,
  stride: u32,
  // log2 of the stride.
  stride_log2: u32,
  random: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;

fn word(number: u32) -> u32 {
  let j = number & MASK;
  let strided = ((j << params.stride_log2) & MASK) + (j >> (MASK_BITS - params.stride_log2));
  return words[select(strided, scramble(j) & MASK, params.random == 1u)];
}

@compute @workgroup_size(WORKGROUP)
fn access_stride(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let all = grid.x * WORKGROUP;
  var sum = 0u;
  for (var trip = 0u; trip < params.trips; trip++) {
    // The number of workgroups is a power of two.
    let group = (workgroup.x + trip * 977u) & (grid.x - 1u);
    let first = trip * 16u * all + group * WORKGROUP + local;
    let a = word(first);
    let b = word(first + all);
    let c = word(first + 2u * all);
    let d = word(first + 3u * all);
    let e = word(first + 4u * all);
    let f = word(first + 5u * all);
    let g = word(first + 6u * all);
    let h = word(first + 7u * all);
    let i = word(first + 8u * all);
    let j = word(first + 9u * all);
    let k = word(first + 10u * all);
    let l = word(first + 11u * all);
    let m = word(first + 12u * all);
    let n = word(first + 13u * all);
    let o = word(first + 14u * all);
    let p = word(first + 15u * all);
    sum += (((a + b) + (c + d)) + ((e + f) + (g + h))) + (((i + j) + (k + l)) + ((m + n) + (o + p)));
  }
  results[workgroup.x * WORKGROUP + local] = sum;
}
