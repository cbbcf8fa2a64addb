// An inclusive sum over several workgroups: of each tile, of the tiles' sums, and both together.
// run: tiles 5
// run: sums 1
// run: spread 5
// buffer: 320 random 4
// buffer: 8 zeros

@group(0) @binding(0) var<storage, read_write> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;

var<workgroup> tile: array<u32, 64>;

@compute @workgroup_size(64)
fn tiles(
  @builtin(global_invocation_id) at: vec3u,
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  tile[local] = items[at.x];
  for (var step = 1u; step < 64u; step *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if local >= step {
      before = tile[local - step];
    }
    workgroupBarrier();
    tile[local] += before;
  }
  items[at.x] = tile[local];
  if local == 63u {
    totals[workgroup.x] = tile[local];
  }
}

@compute @workgroup_size(1)
fn sums() {
  var sum = 0u;
  for (var i = 0u; i < arrayLength(&totals); i++) {
    let next = totals[i];
    totals[i] = sum;
    sum += next;
  }
}

@compute @workgroup_size(64)
fn spread(@builtin(global_invocation_id) at: vec3u, @builtin(workgroup_id) workgroup: vec3u) {
  items[at.x] += totals[workgroup.x];
}
