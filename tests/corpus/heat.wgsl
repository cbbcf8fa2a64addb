// Steps of the heat equation with a halo in workgroup memory.
// run: main 4
// buffer: 128 floats 51 0 100
// buffer: 128 zeros
// ulps: 1 2

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;

var<workgroup> line: array<f32, 40>;

@compute @workgroup_size(40)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let at = i32(workgroup.x * 32u + local) - 4;
  line[local] = before[clamp(at, 0, 127)];
  for (var step = 0; step < 4; step++) {
    workgroupBarrier();
    let middle = line[local];
    var next = middle;
    if local > 0u && local < 39u {
      next = middle + 0.1 * (line[local - 1u] - 2.0 * middle + line[local + 1u]);
    }
    workgroupBarrier();
    line[local] = next;
  }
  if local >= 4u && local < 36u {
    after[at] = line[local];
  }
}
