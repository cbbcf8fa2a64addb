// A median filter of 3 by 3 by a sorting network, and the Sobel gradient beside it.
// run: main 3 2
// buffer: 384 random 50 below 256
// buffer: 384 zeros
// buffer: 384 zeros

const SIZE = vec2i(24, 16);

@group(0) @binding(0) var<storage, read> image: array<i32>;
@group(0) @binding(1) var<storage, read_write> medians: array<i32>;
@group(0) @binding(2) var<storage, read_write> gradients: array<i32>;

fn pixel(at: vec2i) -> i32 {
  let inside = clamp(at, vec2i(), SIZE - 1);
  return image[inside.y * SIZE.x + inside.x];
}

fn order(list: ptr<function, array<i32, 9>>, a: i32, b: i32) {
  let low = min((*list)[a], (*list)[b]);
  (*list)[b] = max((*list)[a], (*list)[b]);
  (*list)[a] = low;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let at = vec2i(id.xy);
  var p: array<i32, 9>;
  for (var i = 0; i < 9; i++) {
    p[i] = pixel(at + vec2(i % 3, i / 3) - 1);
  }
  let x = p[2] + 2 * p[5] + p[8] - p[0] - 2 * p[3] - p[6];
  let y = p[6] + 2 * p[7] + p[8] - p[0] - 2 * p[1] - p[2];
  for (var round = 0; round < 9; round++) {
    for (var i = round % 2; i < 8; i += 2) {
      order(&p, i, i + 1);
    }
  }
  medians[at.y * SIZE.x + at.x] = p[4];
  gradients[at.y * SIZE.x + at.x] = abs(x) + abs(y);
}
