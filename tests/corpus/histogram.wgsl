// Counts bytes: in workgroup memory first, then those of all workgroups together.
// run: main 4
// buffer: 256 random 1
// buffer: 256 zeros

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

var<workgroup> local_counts: array<atomic<u32>, 256>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_index) local: u32) {
  let word = words[at.x];
  for (var byte = 0u; byte < 4u; byte++) {
    atomicAdd(&local_counts[extractBits(word, 8u * byte, 8u)], 1u);
  }
  workgroupBarrier();
  for (var bin = local; bin < 256u; bin += 64u) {
    let count = atomicLoad(&local_counts[bin]);
    if count != 0u {
      atomicAdd(&counts[bin], count);
    }
  }
}
