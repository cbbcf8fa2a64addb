// A sparse matrix times a vector, an invocation a row of its own length.
// run: lengths 1
// run: main 1
// buffer: 65 zeros
// buffer: 512 random 8 below 64
// buffer: 512 floats 9 -1 1
// buffer: 64 floats 10 -4 4
// buffer: 64 zeros

@group(0) @binding(0) var<storage, read_write> starts: array<u32>;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(1)
fn lengths() {
  var start = 0u;
  for (var row = 0u; row <= 64u; row++) {
    starts[row] = start;
    start += min((row * 7u) % 9u + u32(row == 33u) * 60u, 512u - start);
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3u) {
  var sum = 0.0;
  for (var i = starts[at.x]; i < starts[at.x + 1u]; i++) {
    sum += values[i] * x[columns[i]];
  }
  y[at.x] = sum;
}
