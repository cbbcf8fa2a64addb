// Every atomic operation, signed and unsigned, in storage and in workgroup memory.
// run: main 2
// buffer: 128 random 25
// buffer: 16 words 0 0 4294967295 0 4294967295 0 0 0 0 0 0 0 0
// buffer: 32 zeros

struct All {
  add: atomic<u32>,
  sub: atomic<i32>,
  least: atomic<u32>,
  most: atomic<u32>,
  both: atomic<u32>,
  either: atomic<u32>,
  odd: atomic<u32>,
  signed_least: atomic<i32>,
  signed_most: atomic<i32>,
  signed_add: atomic<i32>,
  exchanged: atomic<u32>,
  stored: atomic<i32>,
}

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> all: All;
@group(0) @binding(2) var<storage, read_write> of_workgroups: array<array<u32, 16>, 2>;

var<workgroup> least: atomic<i32>;
var<workgroup> counts: array<atomic<u32>, 4>;
// A bit for each invocation whose ticket came back.
var<workgroup> tickets: array<atomic<u32>, 2>;
var<workgroup> next: atomic<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let x = seeds[id.x];
  let y = bitcast<i32>(x);
  atomicAdd(&all.add, x);
  atomicSub(&all.sub, y);
  atomicMin(&all.least, x);
  atomicMax(&all.most, x);
  atomicAnd(&all.both, x | 0xff0000u);
  atomicOr(&all.either, x & 0xf0f0fu);
  atomicXor(&all.odd, x);
  atomicMin(&all.signed_least, y);
  atomicMax(&all.signed_most, y);
  atomicAdd(&all.signed_add, -y / 3);
  atomicExchange(&all.exchanged, 77u);
  atomicStore(&all.stored, -5);

  atomicMin(&least, y);
  atomicAdd(&counts[x % 4u], 1u);
  let ticket = atomicAdd(&next, 1u);
  atomicOr(&tickets[ticket / 32u], 1u << (ticket % 32u));
  workgroupBarrier();
  if local < 4u {
    of_workgroups[workgroup.x][local] = atomicLoad(&counts[local]);
  }
  if local == 4u {
    of_workgroups[workgroup.x][4] = u32(atomicLoad(&least));
    of_workgroups[workgroup.x][5] = atomicLoad(&next);
    of_workgroups[workgroup.x][6] = atomicLoad(&tickets[0]) & atomicLoad(&tickets[1]);
  }
}
