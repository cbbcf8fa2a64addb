// Storage textures in one and three dimensions and in layers: stored to and loaded from by their own shape.
// run: store 2 2 2
// run: load 2 2 2
// texture: r32uint 21 1 1 1 zeros
// texture: rgba8uint 5 6 4 1 zeros
// texture: rg32float 4 3 5 1 zeros
// buffer: 512 zeros

@group(0) @binding(0) var line: texture_storage_1d<r32uint, read_write>;
@group(0) @binding(1) var layers: texture_storage_2d_array<rgba8uint, write>;
@group(0) @binding(2) var volume: texture_storage_3d<rg32float, write>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(4, 4, 4)
fn store(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + 8u * (id.y + 8u * id.z);
  if i < textureDimensions(line) {
    textureStore(line, i, vec4u(i * i));
  }
  if all(id < vec3u(textureDimensions(layers), textureNumLayers(layers))) {
    textureStore(layers, id.xy, id.z, vec4u(i % 256u, id));
  }
  if all(id < textureDimensions(volume)) {
    textureStore(volume, id, vec4f(f32(i), -0.5 * f32(id.z), 7.0, 7.0));
  }
}

@compute @workgroup_size(4, 4, 4)
fn load(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + 8u * (id.y + 8u * id.z);
  let length = textureDimensions(line);
  let texel = textureLoad(line, i32(i % length));
  out[i] = texel.x + 1000u * length + 100000u * texel.w + 1000000u * textureNumLayers(layers);
}
