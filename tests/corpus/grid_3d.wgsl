// All built-in positions of 3-D workgroups of uneven sides.
// run: main 2 3 2
// buffer: 2880 zeros

struct Seen {
  global: vec3u,
  index: u32,
  local: vec3u,
  group: u32,
}

struct Place {
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
}

@group(0) @binding(0) var<storage, read_write> seen: array<Seen>;

@compute @workgroup_size(5, 3, 2)
fn main(
  @builtin(global_invocation_id) global: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) index: u32,
  place: Place,
) {
  let size = place.workgroups * vec3u(5, 3, 2);
  let at = (global.z * size.y + global.y) * size.x + global.x;
  let group = (place.workgroup.z * place.workgroups.y + place.workgroup.y) * place.workgroups.x + place.workgroup.x;
  seen[at] = Seen(global, index, local, group);
}
