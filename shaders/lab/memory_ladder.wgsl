// Rungs of the memory ladder that a chain through memory does not reach: registers and workgroup memory; and streams of
// loads over a footprint. `RING_FACTOR` and `RING_ADDEND` of a ring are printed before this text.

struct Params {
  trips: u32,
  // A power of two: vectors of the footprint.
  vectors: u32,
}

const PLACES = 1024u;

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> words: array<vec4<u32>>;

var<workgroup> ring: array<u32, PLACES>;

// Each step three dependent instructions.
@compute @workgroup_size(WORKGROUP)
fn registers(@builtin(local_invocation_index) local: u32) {
  results[local] = arm_a(local, params.trips);
}

@compute @workgroup_size(WORKGROUP)
fn workgroup_memory(@builtin(local_invocation_index) local: u32) {
  for (var place = local; place < PLACES; place += WORKGROUP) {
    ring[place] = (place * RING_FACTOR + RING_ADDEND) % PLACES;
  }
  workgroupBarrier();
  // All lanes at one place, so that no banks collide.
  var place = params.vectors % PLACES;
  for (var i = 0u; i < params.trips; i++) {
    place = ring[place];
  }
  results[local] = place;
}

// Four loads in flight. The stride is a little more than the grid, so that every invocation comes by other places of
// the footprint at each trip, and every multiprocessor by all of them.
@compute @workgroup_size(WORKGROUP)
fn stream(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup.x * WORKGROUP + local;
  let stride = workgroups.x * WORKGROUP + 33u * WORKGROUP;
  let last = params.vectors - 1u;
  var at = index;
  var sum = vec4<u32>(0u);
  for (var i = 0u; i < params.trips; i++) {
    let a = words[at & last];
    let b = words[(at + stride) & last];
    let c = words[(at + 2u * stride) & last];
    let d = words[(at + 3u * stride) & last];
    sum += (a ^ b) + (c ^ d);
    at += 4u * stride;
  }
  results[index] = sum.x + sum.y + sum.z + sum.w;
}
