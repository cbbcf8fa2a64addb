// The most valuable load for each weight, by rows of a table in workgroup memory.
// run: main 1
// buffer: 32 random 58 below 12
// buffer: 128 zeros

@group(0) @binding(0) var<storage, read> things: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> best: array<u32>;

var<workgroup> rows: array<array<u32, 128>, 2>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) load: u32) {
  for (var i = 0u; i < arrayLength(&things); i++) {
    workgroupBarrier();
    let thing = things[i] + vec2u(1u, 0u);
    var value = rows[i & 1u][load];
    if load >= thing.x {
      value = max(value, rows[i & 1u][load - thing.x] + thing.y);
    }
    rows[~i & 1u][load] = value;
  }
  best[load] = rows[0][load];
}
