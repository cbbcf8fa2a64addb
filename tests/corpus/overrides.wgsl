// Override constants: the workgroup's size, the size of an array in workgroup memory, and what follows from others.
// run: main 3
// override: size 32
// override: 7 2.5
// override: backwards 1
// buffer: 96 zeros

override size: u32 = 64u;
override length: u32 = 2u * size + 1u;
@id(7) override scale: f32 = 1.0;
override shift: i32 = -3;
override backwards: bool;

@group(0) @binding(0) var<storage, read_write> out: array<i32>;

var<workgroup> list: array<i32, length>;

@compute @workgroup_size(size)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  for (var i = local; i < length; i += size) {
    list[i] = i32(f32(i) * scale) + shift;
  }
  workgroupBarrier();
  let at = select(local, length - 1u - local, backwards);
  out[id.x] = list[at] * i32(length);
}
