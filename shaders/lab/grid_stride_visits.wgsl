// What grid_stride.wgsl does with an element where its loops are checked: counts the visit.

@group(0) @binding(4) var<storage, read_write> visits: array<atomic<u32>>;

fn element(i: u32) {
  atomicAdd(&visits[i], 1u);
}

fn four(i: vec4<u32>) {
  atomicAdd(&visits[i.x], 1u);
  atomicAdd(&visits[i.y], 1u);
  atomicAdd(&visits[i.z], 1u);
  atomicAdd(&visits[i.w], 1u);
}
