// Run-length encoding in one workgroup: the heads of the runs, their places by a sum, their values and lengths.
// run: main 1
// buffer: 128 random 46 below 3
// buffer: 256 zeros
// buffer: 1 zeros

struct Run {
  value: u32,
  length: u32,
}

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> runs: array<Run>;
@group(0) @binding(2) var<storage, read_write> count: u32;

var<workgroup> places: array<u32, 128>;
var<workgroup> heads: array<u32, 129>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) local: u32) {
  let is_head = local == 0u || items[local] != items[max(local, 1u) - 1u];
  places[local] = u32(is_head);
  for (var step = 1u; step < 128u; step *= 2u) {
    workgroupBarrier();
    let before = select(0u, places[max(local, step) - step], local >= step);
    workgroupBarrier();
    places[local] += before;
  }
  workgroupBarrier();
  let total = places[127];
  if is_head {
    heads[places[local] - 1u] = local;
  }
  if local == 127u {
    heads[total] = 128u;
    count = total;
  }
  workgroupBarrier();
  if local < total {
    runs[local] = Run(items[heads[local]], heads[local + 1u] - heads[local]);
  }
}
