// Storage textures of five formats: filtered, counted, turned into a volume.
// run: filter_image 3 2
// run: count 3 2
// run: stack 3 2 2
// texture: rgba8unorm 23 13 1 1 random 71
// texture: rgba8snorm 23 13 1 1 zeros
// texture: rgba16float 23 13 1 1 zeros
// texture: r32uint 23 13 1 1 ramp
// buffer: 8 zeros

@group(0) @binding(0) var image: texture_storage_2d<rgba8unorm, read>;
@group(0) @binding(1) var blurred: texture_storage_2d<rgba8snorm, write>;
@group(0) @binding(2) var sums: texture_storage_2d<rgba16float, write>;
@group(0) @binding(3) var counts: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(4) var<storage, read_write> sizes: array<u32>;

fn at(place: vec2i) -> vec4f {
  return textureLoad(image, clamp(place, vec2i(), vec2i(textureDimensions(image)) - 1));
}

@compute @workgroup_size(8, 8)
fn filter_image(@builtin(global_invocation_id) id: vec3u) {
  if any(id.xy >= textureDimensions(blurred)) { return; }
  let place = vec2i(id.xy);
  // Thirds of a step lie between no two.
  let row = at(place - vec2i(1, 0)) + at(place) + at(place + vec2i(1, 0));
  textureStore(blurred, place, floor(row * 255.0 + 0.5) / 3.0 / 127.0 - 1.0);
  // Whole numbers that a half float has.
  let column = at(place - vec2i(0, 1)) + at(place) + at(place + vec2i(0, 1));
  textureStore(sums, id.xy, floor(column * 255.0 + 0.5));
}

@compute @workgroup_size(8, 8)
fn count(@builtin(global_invocation_id) id: vec3u) {
  let size = textureDimensions(counts);
  if any(id.xy >= size) { return; }
  let before = textureLoad(counts, id.xy).x;
  let texel = pack4x8unorm(textureLoad(image, id.xy));
  textureStore(counts, id.xy, vec4u(before * 1000u + countOneBits(texel)));
  if all(id.xy == vec2u()) {
    sizes[0] = size.x;
    sizes[1] = size.y;
  }
}

@compute @workgroup_size(8, 8)
fn stack(@builtin(global_invocation_id) id: vec3u) {
  if any(id.xy >= textureDimensions(counts)) || id.z > 0u { return; }
  let before = textureLoad(counts, vec2i(id.xy)).x;
  textureStore(counts, vec2i(id.xy), vec4u(before ^ (id.x << 20u)));
}
