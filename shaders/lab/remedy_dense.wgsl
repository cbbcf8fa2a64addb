// The remedy's last dispatch: every lane works on one listed word.

struct Params {
  threshold: u32,
  trips: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read> list: array<u32>;
@group(0) @binding(4) var<storage, read> selected: array<u32, 4>;

@compute @workgroup_size(WORKGROUP)
fn remedy_dense(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let place = workgroup.x * WORKGROUP + local;
  if place < selected[0] {
    // Clamped, since the list is data: an entry of this run is below it.
    let index = min(list[place], arrayLength(&words) - 1u);
    results[index] = arm_a(words[index], params.trips);
  }
}
