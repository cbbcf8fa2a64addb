// Reverses each block of 64 items, for 100 items.
//
// Wrong: invocations beyond the last item return before the barrier, and the others of their workgroup wait for them. What
// happens then is undefined: some GPUs go on as if all were there, others hang. Those without an item have to skip the
// reading and the writing, but not the barrier.

const COUNT = 100u;

@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> reversed: array<u32>;

var<workgroup> block: array<u32, 64>;

@compute @workgroup_size(64)
fn reverse(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>) {
  if id.x >= COUNT {
    return;
  }
  block[i] = items[id.x];
  workgroupBarrier();
  reversed[id.x] = block[63u - i];
}
