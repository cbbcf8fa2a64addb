// The sum of many items, from the form that one writes first to the form that moves memory as fast as it goes: the
// rungs of a ladder, one entry point each. All leave the sum in `total`, which is 0 before.
//
// The library's blocks are printed before this text, with the workgroup's size, and ITEM_FACTOR and ITEM_ADDEND.
// The number of items is a multiple of 4.

struct Params {
  items: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// The same buffer, by the word and by four.
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read> vectors: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(4) var<storage, read_write> filled: array<vec4<u32>>;

// Item i is a * i + b, modulo 2^32: the sum is known without looking at them.
@compute @workgroup_size(WORKGROUP)
fn fill(place: Place) {
  let stride = place.workgroups.x * WORKGROUP;
  for (var i = place.workgroup.x * WORKGROUP + place.index; i < params.items / 4u; i += stride) {
    filled[i] = (vec4<u32>(i * 4u) + vec4<u32>(0u, 1u, 2u, 3u)) * ITEM_FACTOR + ITEM_ADDEND;
  }
}

// The workgroup's number: large grids have two dimensions.
fn group(place: Place) -> u32 {
  return place.workgroup.y * place.workgroups.x + place.workgroup.x;
}

// One item an invocation.
fn item(place: Place) -> u32 {
  let index = group(place) * WORKGROUP + place.index;
  if index < params.items {
    return items[index];
  }
  return 0u;
}

@compute @workgroup_size(WORKGROUP)
fn item_atomics(place: Place) {
  atomicAdd(&total, item(place));
}

@compute @workgroup_size(WORKGROUP)
fn subgroup_atomics(place: Place) {
  sg_begin(place);
  let sum = sg_reduce_add_u32(item(place));
  if sg_lane == 0u {
    atomicAdd(&total, sum);
  }
}

var<workgroup> slots: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn workgroup_tree(place: Place) {
  slots[place.index] = item(place);
  workgroupBarrier();
  for (var distance = WORKGROUP / 2u; distance > 0u; distance /= 2u) {
    if place.index < distance {
      slots[place.index] += slots[place.index + distance];
    }
    workgroupBarrier();
  }
  if place.index == 0u {
    atomicAdd(&total, slots[0]);
  }
}

@compute @workgroup_size(WORKGROUP)
fn subgroups_workgroup(place: Place) {
  sg_begin(place);
  let sum = wg_reduce_add_u32(item(place));
  if wg_index == 0u {
    atomicAdd(&total, sum);
  }
}

fn add_workgroup(sum: vec4<u32>) {
  let all = wg_reduce_add_u32((sum.x + sum.y) + (sum.z + sum.w));
  if wg_index == 0u {
    atomicAdd(&total, all);
  }
}

// Eight loads of four items, side by side in the workgroup.
@compute @workgroup_size(WORKGROUP)
fn vectors_8(place: Place) {
  sg_begin(place);
  let count = params.items / 4u;
  let begin = group(place) * WORKGROUP * 8u;
  var i = begin + place.index;
  var sum = vec4<u32>();
  if begin + WORKGROUP * 8u <= count {
    let a = vectors[i];
    let b = vectors[i + WORKGROUP];
    let c = vectors[i + 2u * WORKGROUP];
    let d = vectors[i + 3u * WORKGROUP];
    let e = vectors[i + 4u * WORKGROUP];
    let f = vectors[i + 5u * WORKGROUP];
    let g = vectors[i + 6u * WORKGROUP];
    let h = vectors[i + 7u * WORKGROUP];
    sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
  } else {
    for (; i < count; i += WORKGROUP) {
      sum += vectors[i];
    }
  }
  add_workgroup(sum);
}

// A fixed grid that strides over all, with four loads in flight.
@compute @workgroup_size(WORKGROUP)
fn grid_stride(place: Place) {
  sg_begin(place);
  let count = params.items / 4u;
  let stride = place.workgroups.x * WORKGROUP;
  var i = place.workgroup.x * WORKGROUP + place.index;
  var sum = vec4<u32>();
  for (; i + 3u * stride < count; i += 4u * stride) {
    let a = vectors[i];
    let b = vectors[i + stride];
    let c = vectors[i + 2u * stride];
    let d = vectors[i + 3u * stride];
    sum += (a + b) + (c + d);
  }
  for (; i < count; i += stride) {
    sum += vectors[i];
  }
  add_workgroup(sum);
}
