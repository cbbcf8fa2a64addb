//! Textures: every format from its definition, addressing, levels, copies and samplers.

use wavelane::simt::{self, SimtOptions};
use wavelane::wgpu::{
    self, AddressMode, BindingResource, Extent3d, TextureDimension, TextureFormat, TextureUsages, TextureViewDescriptor,
};

use super::{Sim, noise};

const ALL_USAGES: TextureUsages = TextureUsages::COPY_SRC
    .union(TextureUsages::COPY_DST)
    .union(TextureUsages::TEXTURE_BINDING)
    .union(TextureUsages::STORAGE_BINDING);

/// What a component is, by its bits: an f16 or a shorter float has five bits of exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Uint,
    Sint,
    Unorm,
    Snorm,
    Float,
}

/// Each format with its name in WGSL, what its components are, and their bits from the lowest on.
fn formats() -> Vec<(TextureFormat, &'static str, Kind, Vec<u32>)> {
    use Kind::{Float, Sint, Snorm, Uint, Unorm};
    use TextureFormat as F;
    vec![
        (F::R8Unorm, "r8unorm", Unorm, vec![8]),
        (F::R8Snorm, "r8snorm", Snorm, vec![8]),
        (F::R8Uint, "r8uint", Uint, vec![8]),
        (F::R8Sint, "r8sint", Sint, vec![8]),
        (F::Rg8Unorm, "rg8unorm", Unorm, vec![8; 2]),
        (F::Rg8Snorm, "rg8snorm", Snorm, vec![8; 2]),
        (F::Rg8Uint, "rg8uint", Uint, vec![8; 2]),
        (F::Rg8Sint, "rg8sint", Sint, vec![8; 2]),
        (F::Rgba8Unorm, "rgba8unorm", Unorm, vec![8; 4]),
        (F::Bgra8Unorm, "bgra8unorm", Unorm, vec![8; 4]),
        (F::Rgba8Snorm, "rgba8snorm", Snorm, vec![8; 4]),
        (F::Rgba8Uint, "rgba8uint", Uint, vec![8; 4]),
        (F::Rgba8Sint, "rgba8sint", Sint, vec![8; 4]),
        (F::R16Unorm, "r16unorm", Unorm, vec![16]),
        (F::R16Snorm, "r16snorm", Snorm, vec![16]),
        (F::R16Uint, "r16uint", Uint, vec![16]),
        (F::R16Sint, "r16sint", Sint, vec![16]),
        (F::R16Float, "r16float", Float, vec![16]),
        (F::Rg16Unorm, "rg16unorm", Unorm, vec![16; 2]),
        (F::Rg16Snorm, "rg16snorm", Snorm, vec![16; 2]),
        (F::Rg16Uint, "rg16uint", Uint, vec![16; 2]),
        (F::Rg16Sint, "rg16sint", Sint, vec![16; 2]),
        (F::Rg16Float, "rg16float", Float, vec![16; 2]),
        (F::Rgba16Unorm, "rgba16unorm", Unorm, vec![16; 4]),
        (F::Rgba16Snorm, "rgba16snorm", Snorm, vec![16; 4]),
        (F::Rgba16Uint, "rgba16uint", Uint, vec![16; 4]),
        (F::Rgba16Sint, "rgba16sint", Sint, vec![16; 4]),
        (F::Rgba16Float, "rgba16float", Float, vec![16; 4]),
        (F::R32Uint, "r32uint", Uint, vec![32]),
        (F::R32Sint, "r32sint", Sint, vec![32]),
        (F::R32Float, "r32float", Float, vec![32]),
        (F::Rg32Uint, "rg32uint", Uint, vec![32; 2]),
        (F::Rg32Sint, "rg32sint", Sint, vec![32; 2]),
        (F::Rg32Float, "rg32float", Float, vec![32; 2]),
        (F::Rgba32Uint, "rgba32uint", Uint, vec![32; 4]),
        (F::Rgba32Sint, "rgba32sint", Sint, vec![32; 4]),
        (F::Rgba32Float, "rgba32float", Float, vec![32; 4]),
        (F::Rgb10a2Uint, "rgb10a2uint", Uint, vec![10, 10, 10, 2]),
        (F::Rgb10a2Unorm, "rgb10a2unorm", Unorm, vec![10, 10, 10, 2]),
        (F::Rg11b10Ufloat, "rg11b10ufloat", Float, vec![11, 11, 10]),
    ]
}

/// The number that a field stands for.
fn value(kind: Kind, bits: u32, field: u32) -> f64 {
    let most = 2_f64.powi(bits as i32);
    let signed = if f64::from(field) < most / 2.0 { f64::from(field) } else { f64::from(field) - most };
    match kind {
        Kind::Uint => f64::from(field),
        Kind::Sint => signed,
        Kind::Unorm => f64::from(field) / (most - 1.0),
        Kind::Snorm => (signed / (most / 2.0 - 1.0)).max(-1.0),
        Kind::Float if bits == 32 => f64::from(f32::from_bits(field)),
        Kind::Float => {
            let fraction_bits = if bits == 16 { 10 } else { bits - 5 };
            let fraction = f64::from(field % (1 << fraction_bits)) / 2_f64.powi(fraction_bits as i32);
            let sign = if bits == 16 && field >> 15 == 1 { -1.0 } else { 1.0 };
            match field >> fraction_bits & 31 {
                0 => sign * fraction * 2_f64.powi(-14),
                exponent => sign * (1.0 + fraction) * 2_f64.powi(exponent as i32 - 15),
            }
        }
    }
}

/// Fields of a texel without a pattern, and with no float that is not finite.
fn field(kind: Kind, bits: u32, word: u32) -> u32 {
    let field = word >> (32 - bits);
    match (kind, bits) {
        (Kind::Float, 32) => field & !(1 << 23),
        (Kind::Float, 16) => field & !(1 << 10),
        (Kind::Float, _) => field & !(1 << (bits - 5)),
        _ => field,
    }
}

impl Sim {
    fn texture(
        &self,
        format: TextureFormat,
        dimension: TextureDimension,
        size: [u32; 3],
        levels: u32,
    ) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: Extent3d { width: size[0], height: size[1], depth_or_array_layers: size[2] },
            mip_level_count: levels,
            sample_count: 1,
            dimension,
            format,
            usage: ALL_USAGES,
            view_formats: &[],
        })
    }

    /// Fills a level, slice by slice and row by row.
    fn fill(&self, texture: &wgpu::Texture, mip_level: u32, bytes: &[u8]) {
        let size = texture.size().mip_level_size(mip_level, texture.dimension());
        let row = size.width * texture.format().block_copy_size(None).unwrap();
        self.queue.write_texture(
            wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() },
            bytes,
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: Some(size.height) },
            size,
        );
    }

    /// The bytes of a level.
    fn texels(&self, texture: &wgpu::Texture, mip_level: u32) -> Vec<u8> {
        let size = texture.size().mip_level_size(mip_level, texture.dimension());
        let row = (size.width * texture.format().block_copy_size(None).unwrap()) as usize;
        let pitch = row.next_multiple_of(256);
        let landing = self.storage(&vec![0; pitch / 4 * (size.height * size.depth_or_array_layers) as usize]);
        self.submit(|encoder| {
            encoder.copy_texture_to_buffer(
                wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() },
                wgpu::TexelCopyBufferInfo {
                    buffer: &landing,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(pitch as u32),
                        rows_per_image: Some(size.height),
                    },
                },
                size,
            );
        });
        let bytes: Vec<u8> = bytemuck::pod_collect_to_vec(&self.download(&landing));
        bytes.chunks(pitch).flat_map(|bytes| &bytes[..row]).copied().collect()
    }

    /// Runs a shader in one workgroup with these resources at the bindings 0, 1, … of group 0.
    fn dispatch(&self, text: &str, resources: Vec<BindingResource<'_>>) {
        let pipeline = self.pipeline(text);
        let entries: Vec<_> =
            (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        let layout = &pipeline.get_bind_group_layout(0);
        let group =
            self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        self.run(&pipeline, &group, [1, 1, 1]);
    }
}

fn view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&Default::default())
}

#[test]
fn every_storage_format_is_loaded_and_stored_as_it_is_defined() {
    let sim = Sim::new(16);
    let (width, height) = (37, 3);
    let count = (width * height) as usize;
    for (format, name, kind, fields) in formats() {
        let words = noise(8 * count);
        let texel = |words: &[u32]| -> (Vec<u32>, u128) {
            let values: Vec<_> = fields.iter().zip(words).map(|(bits, word)| field(kind, *bits, *word)).collect();
            let texel =
                values.iter().zip(&fields).rev().fold(0, |texel, (value, bits)| texel << bits | u128::from(*value));
            (values, texel)
        };
        let bytes = fields.iter().sum::<u32>() as usize / 8;
        // Blue comes first in one format.
        let component = |i: usize| if name == "bgra8unorm" && i < 3 { 2 - i } else { i };
        let scalar = match kind {
            Kind::Uint => "u32",
            Kind::Sint => "i32",
            _ => "f32",
        };
        let text = format!(
            "@group(0) @binding(0) var picture: texture_storage_2d<{name}, read_write>;
            @group(0) @binding(1) var<storage, read> values: array<vec4<{scalar}>>;
            @group(0) @binding(2) var<storage, read_write> out: array<vec4<{scalar}>>;
            @compute @workgroup_size({width}, {height})
            fn main(@builtin(local_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {{
                out[i] = textureLoad(picture, id.xy);
                textureStore(picture, id.xy, values[i]);
            }}"
        );
        // What is stored: of numbers some are out of range, of floats each is one that the format has.
        let stored: Vec<u32> = (0..4 * count)
            .map(|at| {
                let word = words[4 * count + at];
                let bits = fields.get(at % 4).copied().unwrap_or(8);
                match kind {
                    Kind::Uint => word >> (word % 5 * 8 % 32),
                    Kind::Sint => ((word as i32) >> (word % 5 * 8 % 32)) as u32,
                    Kind::Unorm | Kind::Snorm => ((word >> 8) as f32 / (1 << 22) as f32 - 2.0).to_bits(),
                    Kind::Float => (value(kind, bits, field(kind, bits, word)) as f32).to_bits(),
                }
            })
            .collect();
        let before: Vec<_> = words[..4 * count].chunks(4).map(texel).collect();
        let picture = sim.texture(format, TextureDimension::D2, [width, height, 1], 1);
        let upload: Vec<u8> = before.iter().flat_map(|(_, texel)| texel.to_le_bytes()[..bytes].to_vec()).collect();
        sim.fill(&picture, 0, &upload);
        assert_eq!(sim.texels(&picture, 0), upload, "{name}");
        let (values, out) = (sim.storage(&stored), sim.storage(&vec![0; 4 * count]));
        sim.dispatch(
            &text,
            vec![BindingResource::TextureView(&view(&picture)), values.as_entire_binding(), out.as_entire_binding()],
        );
        for (i, (got, (fields_before, _))) in sim.download(&out).chunks(4).zip(&before).enumerate() {
            let mut expected = [0.0, 0.0, 0.0, 1.0];
            for (place, (bits, field)) in fields.iter().zip(fields_before).enumerate() {
                expected[component(place)] = value(kind, *bits, *field);
            }
            let expected = expected.map(|value| match kind {
                Kind::Uint => value as u32,
                Kind::Sint => value as i32 as u32,
                _ => (value as f32).to_bits(),
            });
            let apart = got.iter().zip(&expected).map(|(got, expected)| got.abs_diff(*expected)).max();
            // A quotient is rounded twice here.
            assert!(
                apart <= Some(u32::from(kind == Kind::Unorm || kind == Kind::Snorm)),
                "{name} {i}: {got:?} {expected:?}"
            );
        }
        for (i, got) in sim.texels(&picture, 0).chunks(bytes).enumerate() {
            let texel = got.iter().rev().fold(0, |texel, byte| texel << 8 | u128::from(*byte));
            let mut first = 0;
            for (place, bits) in fields.iter().enumerate() {
                let got = (texel >> first) as u32 & (u32::MAX >> (32 - bits));
                first += bits;
                let word = stored[4 * i + component(place)];
                let most = 2_f64.powi(*bits as i32);
                let number = f64::from(f32::from_bits(word));
                let expected = match kind {
                    Kind::Uint => f64::from(word).min(most - 1.0),
                    Kind::Sint => f64::from(word as i32).clamp(-most / 2.0, most / 2.0 - 1.0),
                    // In steps of the format, to the nearest.
                    Kind::Unorm => number.clamp(0.0, 1.0) * (most - 1.0),
                    Kind::Snorm => number.clamp(-1.0, 1.0) * (most / 2.0 - 1.0),
                    Kind::Float => number,
                };
                let (got, most_apart) = match kind {
                    Kind::Unorm => (f64::from(got), 0.51),
                    Kind::Snorm => (value(Kind::Sint, *bits, got), 0.51),
                    _ => (value(kind, *bits, got), 0.0),
                };
                // Fields of different widths: a float of eleven bits may have no like of ten.
                let most_apart = if name == "rg11b10ufloat" { expected / 32.0 } else { most_apart };
                assert!((got - expected).abs() <= most_apart, "{name} {i}: {got} for {expected}");
            }
        }
    }
}

#[test]
fn textures_of_each_dimension_are_addressed_by_column_row_and_slice() {
    let sim = Sim::new(8);
    let cases = [
        ("1d", TextureDimension::D1, [24, 1, 1], "id.x", "vec3(textureDimensions(picture), 1u, 1u)"),
        ("2d", TextureDimension::D2, [6, 4, 1], "id.xy", "vec3(textureDimensions(picture), 1u)"),
        (
            "2d_array",
            TextureDimension::D2,
            [3, 2, 4],
            "id.xy, id.z",
            "vec3(textureDimensions(picture), textureNumLayers(picture))",
        ),
        ("3d", TextureDimension::D3, [2, 3, 4], "id", "textureDimensions(picture)"),
    ];
    for (ty, dimension, size, at, dimensions) in cases {
        let [x, y, z] = size;
        let picture = sim.texture(TextureFormat::R32Uint, dimension, size, 1);
        // Every texel once, of many more invocations than there are texels: what is beyond is dropped, and reads as zero.
        let store = format!(
            "@group(0) @binding(0) var picture: texture_storage_{ty}<r32uint, write>;
            @compute @workgroup_size({}, {}, {})
            fn main(@builtin(local_invocation_id) id: vec3<u32>) {{
                textureStore(picture, {at}, vec4(1u + id.x + 100u * id.y + 10000u * id.z));
            }}",
            x + 1,
            if y == 1 { 1 } else { y + 1 },
            if z == 1 { 1 } else { z + 1 },
        );
        let whole = TextureViewDescriptor {
            dimension: (ty == "2d_array").then_some(wgpu::TextureViewDimension::D2Array),
            ..Default::default()
        };
        let view = picture.create_view(&whole);
        sim.dispatch(&store, vec![BindingResource::TextureView(&view)]);
        let expected: Vec<u32> =
            (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| 1 + i + 100 * j + 10000 * k))).collect();
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&sim.texels(&picture, 0)), expected, "{ty}");
        for class in ["storage", "sampled"] {
            let (ty, level) = match class {
                "storage" => (format!("texture_storage_{ty}<r32uint, read>"), ""),
                _ => (format!("texture_{ty}<u32>"), ", 0"),
            };
            let load = format!(
                "@group(0) @binding(0) var picture: {ty};
                @group(0) @binding(1) var<storage, read_write> out: array<u32>;
                @compute @workgroup_size({x}, {y}, {z})
                fn main(@builtin(local_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {{
                    out[i] = textureLoad(picture, {at}{level}).x;
                    let size = {dimensions};
                    out[24] = size.x + 100u * size.y + 10000u * size.z;
                    {{
                        let id = vec3<i32>(i32({x}), -1, 0);
                        out[25] = textureLoad(picture, {at}{level}).x;
                    }}
                }}"
            );
            let out = sim.storage(&[7; 26]);
            sim.dispatch(&load, vec![BindingResource::TextureView(&view), out.as_entire_binding()]);
            let got = sim.download(&out);
            assert_eq!(got[..24], expected, "{ty}");
            assert_eq!(got[24..], [x + 100 * y + 10000 * z, 0], "{ty}");
        }
    }
}

#[test]
fn levels_and_layers_of_a_view_are_its_own() {
    let sim = Sim::new(4);
    let picture = sim.texture(TextureFormat::R32Uint, TextureDimension::D2, [8, 4, 3], 3);
    // Level, layer, row and column are digits.
    let texel = |level: u32, layer: u32, y: u32, x: u32| 1000 * level + 100 * layer + 10 * y + x;
    for level in 0..3 {
        let (width, height) = (8 >> level, 4 >> level);
        let words: Vec<u32> = (0..3)
            .flat_map(|layer| (0..height).flat_map(move |y| (0..width).map(move |x| texel(level, layer, y, x))))
            .collect();
        sim.fill(&picture, level, bytemuck::cast_slice(&words));
    }
    let text = "@group(0) @binding(0) var picture: texture_2d_array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureNumLevels(picture);
            out[1] = textureNumLayers(picture);
            let size = textureDimensions(picture, 1);
            out[2] = 10u * size.x + size.y;
            out[3] = textureLoad(picture, vec2(1, 0), 1, 1).x;
            out[4] = textureLoad(picture, vec2(1, 0), 0, 0).x;
            out[5] = textureLoad(picture, vec2(0, 0), 0, 2).x;
            out[6] = textureLoad(picture, vec2(0, 0), 2, 0).x;
        }";
    let out = sim.storage(&[7; 7]);
    let part = picture.create_view(&TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        base_mip_level: 1,
        mip_level_count: Some(2),
        base_array_layer: 1,
        array_layer_count: Some(2),
        ..Default::default()
    });
    sim.dispatch(text, vec![BindingResource::TextureView(&part), out.as_entire_binding()]);
    // Beyond the levels and the layers of the view there is nothing.
    assert_eq!(sim.download(&out), [2, 2, 21, texel(2, 2, 0, 1), texel(1, 1, 0, 1), 0, 0]);
}

#[test]
fn regions_are_copied_and_what_is_not_written_is_zero() {
    let sim = Sim::new(32);
    let [from, to] = [(); 2].map(|()| sim.texture(TextureFormat::Rgba8Uint, TextureDimension::D3, [5, 4, 3], 1));
    let words: Vec<u32> = (1..=60).collect();
    sim.fill(&from, 0, bytemuck::cast_slice(&words));
    sim.submit(|encoder| {
        let at = |texture, x, y, z| wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: 0,
            origin: wgpu::Origin3d { x, y, z },
            aspect: wgpu::TextureAspect::All,
        };
        let size = Extent3d { width: 2, height: 3, depth_or_array_layers: 2 };
        encoder.copy_texture_to_texture(at(&from, 1, 0, 0), at(&to, 3, 1, 1), size);
    });
    let got: Vec<u32> = bytemuck::pod_collect_to_vec(&sim.texels(&to, 0));
    for (i, got) in (0_u32..).zip(got) {
        let (x, y, z) = (i % 5, i / 5 % 4, i / 20);
        let is_inside = x >= 3 && y >= 1 && z >= 1;
        assert_eq!(got, if is_inside { 1 + (x - 2) + 5 * (y - 1) + 20 * (z - 1) } else { 0 }, "{x} {y} {z}");
    }
    sim.submit(|encoder| encoder.clear_texture(&to, &Default::default()));
    assert_eq!(sim.texels(&to, 0), [0; 240]);
}

fn sampler(sim: &Sim, mode: AddressMode, filter: wgpu::FilterMode) -> wgpu::Sampler {
    sim.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("smooth"),
        address_mode_u: mode,
        address_mode_v: mode,
        mag_filter: filter,
        min_filter: filter,
        lod_max_clamp: 1.0,
        ..Default::default()
    })
}

#[test]
fn the_nearest_texel_is_sampled_by_each_address_mode() {
    let sim = Sim::new(16);
    let picture = sim.texture(TextureFormat::Rg8Unorm, TextureDimension::D2, [4, 2, 1], 3);
    for (level, count) in [(0, 8), (1, 2), (2, 1)] {
        let bytes: Vec<u8> = (0..count).flat_map(|texel| [100 * level + texel, 50]).collect();
        sim.fill(&picture, level.into(), &bytes);
    }
    let text = "@group(0) @binding(0) var picture: texture_2d<f32>;
        @group(0) @binding(1) var nearest: sampler;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        fn red(texel: vec4<f32>) -> u32 { return u32(round(texel.x * 255.0)); }
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
            let at = vec2((f32(i) - 6.0 + 0.3) / 4.0, 0.7);
            out[i] = red(textureSampleLevel(picture, nearest, at, 0.0));
            out[16u + i] = red(textureSampleLevel(picture, nearest, at, 0.5, vec2(1, -1)));
            out[32u + i] = red(textureSampleLevel(picture, nearest, at, 0.51));
            out[48u + i] = red(textureSampleLevel(picture, nearest, at, 9.0));
            let four = textureGather(0, picture, nearest, vec2((f32(i) - 6.0) / 4.0, 0.5));
            for (var k = 0u; k < 4u; k++) { out[64u + 4u * i + k] = u32(round(four[k] * 255.0)); }
        }";
    for mode in [AddressMode::ClampToEdge, AddressMode::Repeat, AddressMode::MirrorRepeat] {
        // By going there, a step at a time.
        let wrap = |texel: i32, length: i32| match mode {
            AddressMode::Repeat => (texel + 100 * length) % length,
            AddressMode::MirrorRepeat => {
                let round: Vec<i32> = (0..length).chain((0..length).rev()).collect();
                round[(texel + 100 * length) as usize % round.len()]
            }
            _ => texel.max(0).min(length - 1),
        };
        let texel = |level: u32, x: i32, y: i32| {
            let (width, height) = (4 >> level, 2 >> level);
            100 * level + (wrap(y, height) * width + wrap(x, width)) as u32
        };
        let mut expected = [0; 128];
        for i in 0..16 {
            let x = i as i32 - 6;
            expected[i] = texel(0, x, 1);
            expected[16 + i] = texel(0, x + 1, 0);
            // Two texels of this level take the place of four.
            expected[32 + i] = texel(1, x.div_euclid(2), 0);
            expected[48 + i] = expected[32 + i];
            let around = [texel(0, x - 1, 1), texel(0, x, 1), texel(0, x, 0), texel(0, x - 1, 0)];
            expected[64 + 4 * i..][..4].copy_from_slice(&around);
        }
        let out = sim.storage(&[0; 128]);
        let sampler = sampler(&sim, mode, wgpu::FilterMode::Nearest);
        sim.dispatch(
            text,
            vec![
                BindingResource::TextureView(&view(&picture)),
                BindingResource::Sampler(&sampler),
                out.as_entire_binding(),
            ],
        );
        assert_eq!(sim.download(&out), expected, "{mode:?}");
    }
}

#[test]
fn a_sampler_that_filters_is_a_fault_that_names_it() {
    let sim = Sim::new(4);
    let picture = sim.texture(TextureFormat::Rgba8Unorm, TextureDimension::D2, [4, 4, 1], 1);
    let out = sim.storage(&[0]);
    let text = "@group(0) @binding(0) var picture: texture_2d<f32>;
        @group(0) @binding(1) var soft: sampler;
        @group(0) @binding(2) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureSampleLevel(picture, soft, vec2(0.5), 0.0).x;
        }";
    sim.dispatch(
        text,
        vec![
            BindingResource::TextureView(&view(&picture)),
            BindingResource::Sampler(&sampler(&sim, AddressMode::Repeat, wgpu::FilterMode::Linear)),
            out.as_entire_binding(),
        ],
    );
    let fault = simt::fault(&sim.device).unwrap().unwrap();
    assert!(fault.contains("the sampler soft") && fault.contains("'smooth'") && fault.contains("linearly"), "{fault}");
}

#[test]
fn checks_find_texels_out_of_bounds() {
    let sim = Sim::of(&SimtOptions::default().observe(simt::Observe::Checks));
    let picture = sim.texture(TextureFormat::R32Uint, TextureDimension::D2, [8, 4, 1], 1);
    let text = "@group(0) @binding(0) var picture: texture_storage_2d<r32uint, read_write>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            let below = textureLoad(picture, vec2(i, 3u));
            textureStore(picture, vec2(i, i), below);
        }";
    sim.dispatch(text, vec![BindingResource::TextureView(&view(&picture))]);
    let [finding] = &simt::take_findings(&sim.device).unwrap()[..] else { panic!("one finding") };
    assert_eq!((finding.kind.name(), finding.at.line, finding.times), ("out-of-bounds", Some(4), 4), "{finding:?}");
    assert_eq!(finding.message, "row 4 of 4 of `picture`");
}
