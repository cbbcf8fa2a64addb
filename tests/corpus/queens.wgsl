// Solutions of the eight queens by backtracking on bits, with the first two rows by invocation.
// run: main 1
// buffer: 64 zeros
// buffer: 1 zeros

@group(0) @binding(0) var<storage, read_write> solutions: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;

struct Row {
  free: u32,
  columns: u32,
  left: u32,
  right: u32,
}

fn row(columns: u32, left: u32, right: u32) -> Row {
  return Row(~(columns | left | right) & 0xffu, columns, left, right);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let first = 1u << (i % 8u);
  let second = 1u << (i / 8u);
  if (second & (first | (first << 1u) | (first >> 1u))) != 0u {
    return;
  }
  var rows: array<Row, 8>;
  rows[2] = row(first | second, (first << 2u) | (second << 1u), (first >> 2u) | (second >> 1u));
  var depth = 2;
  var count = 0u;
  while depth >= 2 {
    let free = rows[depth].free;
    if free == 0u {
      depth--;
      continue;
    }
    let queen = free & (~free + 1u);
    rows[depth].free ^= queen;
    if depth == 7 {
      count++;
      continue;
    }
    let now = rows[depth];
    depth++;
    rows[depth] = row(now.columns | queen, (now.left | queen) << 1u, (now.right | queen) >> 1u);
  }
  solutions[i] = count;
  atomicAdd(&total, count);
}
