// Textures with levels, loaded and sampled at scattered places inside and beyond them.
// run: main 4
// texture: rgba8unorm 16 8 1 3 random 73
// texture: rgba8uint 8 4 3 2 random 74
// sampler: clamp
// sampler: repeat
// sampler: mirror
// buffer: 2560 zeros

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var layers: texture_2d_array<u32>;
@group(0) @binding(2) var at_edge: sampler;
@group(0) @binding(3) var repeated: sampler;
@group(0) @binding(4) var mirrored: sampler;
@group(0) @binding(5) var<storage, read_write> out: array<array<u32, 10>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let noise = id.x * 2654435761u;
  let level = (noise >> 8u) % textureNumLevels(image);
  // Lavapipe asks for the size of one lane's level, whatever the others say.
  let size = textureDimensions(image) >> vec2u(level);
  // Cells of the level, up to three times its size away, and a place well inside of each.
  let cell = vec2i(vec2u(noise >> 10u, noise >> 17u) % (4u * size)) - vec2i(size);
  let inside = vec2f(0.25) + vec2f(f32(noise & 15u), f32((noise >> 4u) & 15u)) / 32.0;
  let place = (vec2f(cell) + inside) / vec2f(size);
  let lod = f32(level) + 0.25;
  out[id.x][0] = pack4x8unorm(textureSampleLevel(image, at_edge, place, lod));
  out[id.x][1] = pack4x8unorm(textureSampleLevel(image, repeated, place, lod));
  out[id.x][2] = pack4x8unorm(textureSampleLevel(image, mirrored, place, lod));
  out[id.x][3] = pack4x8unorm(textureSampleLevel(image, repeated, place, lod, vec2i(-3, 2)));
  let wrapped = vec2u(cell + 4 * vec2i(size)) % size;
  out[id.x][4] = pack4x8unorm(textureLoad(image, wrapped, level));
  let corner = (vec2f(vec2u(noise >> 5u, noise >> 11u) % 40u) - 10.0 + 0.25) / vec2f(textureDimensions(image));
  out[id.x][5] = pack4x8unorm(textureGather(1, image, at_edge, corner));
  out[id.x][6] = pack4x8unorm(textureGather(3, image, mirrored, corner));
  let below = textureDimensions(layers, 1);
  let texel = textureLoad(layers, wrapped % below, i32(id.x % textureNumLayers(layers)), 1);
  out[id.x][7] = texel.x | (texel.y << 8u) | (texel.z << 16u) | (texel.w << 24u);
  out[id.x][8] = textureNumLevels(layers) + 10u * textureNumLayers(layers) + 100u * below.x + 1000u * below.y;
  out[id.x][9] = select(0u, 1u, out[id.x][1] == out[id.x][4]);
}
