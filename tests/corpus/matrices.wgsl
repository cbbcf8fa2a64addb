// Matrices of every shape: products, transposes, determinants, columns by index, in buffers with their padding.
// run: main 1
// buffer: 512 random 29 below 7
// buffer: 640 zeros

struct Input {
  a: mat3x3<f32>,
  b: mat2x3<f32>,
  c: mat4x2<f32>,
}

struct Result {
  product: mat2x3<f32>,
  other: mat4x3<f32>,
  turned: mat3x2<f32>,
  row: vec2f,
  column: vec3f,
  determinants: vec3f,
}

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<Result, 16>;

fn word(at: ptr<function, u32>) -> f32 {
  *at = (*at + 1u) % 512u;
  return f32(words[*at]) - 3.0;
}

fn triple(at: ptr<function, u32>) -> vec3f {
  let x = word(at);
  let y = word(at);
  return vec3f(x, y, word(at));
}

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
  var at = i * 31u;
  var input: Input;
  for (var column = 0; column < 3; column++) {
    input.a[column] = triple(&at);
  }
  input.b = mat2x3f(triple(&at), triple(&at));
  for (var column = 0u; column < 4u; column++) {
    input.c[column] = triple(&at).zx;
    input.c[column][i % 2u] += 1.0;
  }
  let four = mat4x4f(vec4f(input.a[0], 1.0), vec4f(input.a[1], -1.0), vec4f(input.a[2], 2.0), vec4f(1.0, 0.0, 3.0, 1.0));
  let two = mat2x2f(input.c[0], input.c[1]);
  results[i] = Result(
    input.a * input.b,
    (input.b * input.c) * 2.0 - input.b * input.c,
    transpose(input.b),
    input.a[i % 3u] * input.b,
    input.a * input.b[1],
    vec3f(determinant(two), determinant(input.a), determinant(four)),
  );
}
