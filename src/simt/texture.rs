//! Textures: how texels lie in memory, what shaders see of them, and how samplers find them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use wgpu::{AddressMode, TextureDimension, TextureFormat, wgt};

use super::memory::Memory;
use super::operation::Unary;

/// What the bits of a component mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Uint,
    Sint,
    Unorm,
    Snorm,
    Float,
}

/// How the bytes of a texel make up its components: fields that follow each other from the lowest bit on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    kind: Kind,
    /// The bits of each field.
    fields: &'static [u32],
    /// Whether blue comes first.
    is_bgr: bool,
}

impl Format {
    /// None where the simulator has no such format.
    pub(crate) fn of(format: TextureFormat) -> Option<Self> {
        use Kind::{Float, Sint, Snorm, Uint, Unorm};
        let (kind, fields): (Kind, &[u32]) = match format {
            TextureFormat::R8Unorm => (Unorm, &[8]),
            TextureFormat::R8Snorm => (Snorm, &[8]),
            TextureFormat::R8Uint => (Uint, &[8]),
            TextureFormat::R8Sint => (Sint, &[8]),
            TextureFormat::Rg8Unorm => (Unorm, &[8; 2]),
            TextureFormat::Rg8Snorm => (Snorm, &[8; 2]),
            TextureFormat::Rg8Uint => (Uint, &[8; 2]),
            TextureFormat::Rg8Sint => (Sint, &[8; 2]),
            TextureFormat::Rgba8Unorm | TextureFormat::Bgra8Unorm => (Unorm, &[8; 4]),
            TextureFormat::Rgba8Snorm => (Snorm, &[8; 4]),
            TextureFormat::Rgba8Uint => (Uint, &[8; 4]),
            TextureFormat::Rgba8Sint => (Sint, &[8; 4]),
            TextureFormat::R16Unorm => (Unorm, &[16]),
            TextureFormat::R16Snorm => (Snorm, &[16]),
            TextureFormat::R16Uint => (Uint, &[16]),
            TextureFormat::R16Sint => (Sint, &[16]),
            TextureFormat::R16Float => (Float, &[16]),
            TextureFormat::Rg16Unorm => (Unorm, &[16; 2]),
            TextureFormat::Rg16Snorm => (Snorm, &[16; 2]),
            TextureFormat::Rg16Uint => (Uint, &[16; 2]),
            TextureFormat::Rg16Sint => (Sint, &[16; 2]),
            TextureFormat::Rg16Float => (Float, &[16; 2]),
            TextureFormat::Rgba16Unorm => (Unorm, &[16; 4]),
            TextureFormat::Rgba16Snorm => (Snorm, &[16; 4]),
            TextureFormat::Rgba16Uint => (Uint, &[16; 4]),
            TextureFormat::Rgba16Sint => (Sint, &[16; 4]),
            TextureFormat::Rgba16Float => (Float, &[16; 4]),
            TextureFormat::R32Uint => (Uint, &[32]),
            TextureFormat::R32Sint => (Sint, &[32]),
            TextureFormat::R32Float => (Float, &[32]),
            TextureFormat::Rg32Uint => (Uint, &[32; 2]),
            TextureFormat::Rg32Sint => (Sint, &[32; 2]),
            TextureFormat::Rg32Float => (Float, &[32; 2]),
            TextureFormat::Rgba32Uint => (Uint, &[32; 4]),
            TextureFormat::Rgba32Sint => (Sint, &[32; 4]),
            TextureFormat::Rgba32Float => (Float, &[32; 4]),
            TextureFormat::Rgb10a2Uint => (Uint, &[10, 10, 10, 2]),
            TextureFormat::Rgb10a2Unorm => (Unorm, &[10, 10, 10, 2]),
            TextureFormat::Rg11b10Ufloat => (Float, &[11, 11, 10]),
            _ => return None,
        };
        Some(Self { kind, fields, is_bgr: format == TextureFormat::Bgra8Unorm })
    }

    /// The bytes of a texel.
    pub(crate) fn bytes(&self) -> usize {
        self.fields.iter().sum::<u32>() as usize / 8
    }

    /// Words of a texel in memory: each begins one of its own, so that to store it touches no neighbour.
    fn words(&self) -> usize {
        self.bytes().div_ceil(4)
    }

    /// The fields from the lowest on, each with its first bit and the component that it holds.
    fn places(&self) -> impl Iterator<Item = (u32, u32, usize)> {
        let is_bgr = self.is_bgr;
        self.fields.iter().enumerate().scan(0, move |next, (i, bits)| {
            let first = *next;
            *next += bits;
            Some((*bits, first, if is_bgr && i < 3 { 2 - i } else { i }))
        })
    }

    /// The components of a texel as shaders see them. Those that it has not are 0, and 1 for the last.
    fn decode(&self, texel: u128) -> [u32; 4] {
        let one = if let Kind::Uint | Kind::Sint = self.kind { 1 } else { 1_f32.to_bits() };
        let mut components = [0, 0, 0, one];
        for (bits, first, component) in self.places() {
            components[component] = self.kind.decode((texel >> first) as u32 & ones(bits), bits);
        }
        components
    }

    /// The texel of these numbers, one for each field. Integers wrap, normalised numbers are the nearest that there is.
    fn texel(&self, mut number: impl FnMut() -> f64) -> u128 {
        self.places().fold(0, |texel, (bits, first, _)| {
            let number = number();
            let field = match self.kind {
                Kind::Uint | Kind::Sint => number.floor() as i64 as u32,
                Kind::Unorm | Kind::Snorm | Kind::Float => self.kind.encode((number as f32).to_bits(), bits),
            };
            texel | u128::from(field & ones(bits)) << first
        })
    }

    /// The texel that is stored for these components.
    fn encode(&self, components: [u32; 4]) -> u128 {
        self.places().fold(0, |texel, (bits, first, component)| {
            texel | u128::from(self.kind.encode(components[component], bits) & ones(bits)) << first
        })
    }
}

/// So many bits, all set.
fn ones(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

impl Kind {
    fn decode(self, field: u32, bits: u32) -> u32 {
        let signed = (field << (32 - bits)) as i32 >> (32 - bits);
        match self {
            Self::Uint => field,
            Self::Sint => signed as u32,
            Self::Unorm => (field as f32 / ones(bits) as f32).to_bits(),
            Self::Snorm => (signed as f32 / ones(bits - 1) as f32).max(-1.0).to_bits(),
            Self::Float if bits == 32 => field,
            Self::Float if bits == 16 => Unary::HalfToFloat.lane([field]),
            // As an f16 without a sign, and with fewer bits behind the point.
            Self::Float => Unary::HalfToFloat.lane([field << (15 - bits)]),
        }
    }

    /// What is out of range becomes the nearest value that is in it.
    fn encode(self, component: u32, bits: u32) -> u32 {
        let float = f32::from_bits(component);
        match self {
            Self::Uint => component.min(ones(bits)),
            Self::Sint => {
                let most = ones(bits - 1) as i32;
                (component as i32).clamp(-most - 1, most) as u32
            }
            Self::Unorm => (float.clamp(0.0, 1.0) * ones(bits) as f32 + 0.5).floor() as u32,
            Self::Snorm => (float.clamp(-1.0, 1.0) * ones(bits - 1) as f32 + 0.5).floor() as i32 as u32,
            Self::Float if bits == 32 => component,
            Self::Float if bits == 16 => Unary::FloatToHalf.lane([component]),
            Self::Float if float < 0.0 => 0,
            Self::Float => {
                // Towards zero, and to the largest number rather than infinity.
                let within = if float.is_finite() { float.abs().min(65504.0) } else { float };
                let half = Unary::FloatToHalf.lane([within.to_bits()]);
                (half & 0x7fff) >> (15 - bits)
            }
        }
    }
}

/// A texture with its mip levels.
pub(crate) struct Texture {
    memory: Memory,
    format: Format,
    levels: Vec<Level>,
    is_volume: bool,
}

struct Level {
    /// Its first word.
    first: usize,
    /// Width, height, and depth or layers.
    size: [u32; 3],
}

/// The most bytes that a texture takes up.
const MOST_BYTES: u64 = 4 << 30;

impl Texture {
    /// None where it is too large.
    pub(crate) fn new(
        format: Format,
        size: wgpu::Extent3d,
        dimension: TextureDimension,
        mip_levels: u32,
    ) -> Option<Self> {
        let mut words = 0;
        let levels = (0..mip_levels).map(|level| {
            let size = size.mip_level_size(level, dimension);
            let size = [size.width, size.height, size.depth_or_array_layers];
            let first = words;
            words += size.iter().map(|length| *length as usize).product::<usize>() * format.words();
            Level { first, size }
        });
        let levels = levels.collect();
        let bytes = 4 * words as u64;
        let is_volume = dimension == TextureDimension::D3;
        (bytes <= MOST_BYTES).then(|| Self { memory: Memory::zeroed(bytes), format, levels, is_volume })
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Fills it with texels, level by level and row by row, each made of so many of these numbers as it has components.
    pub(crate) fn fill(&self, mut number: impl FnMut() -> f64) {
        let texels = self.memory.bytes() as usize / 4 / self.format.words();
        for texel in 0..texels {
            let bytes = self.format.texel(&mut number).to_le_bytes();
            self.memory.write(4 * (texel * self.format.words()) as u64, &bytes[..self.format.bytes()]);
        }
    }

    /// Fills it with the bytes of texels, level by level and row by row, from the first on. None where they are too many.
    pub(crate) fn fill_bytes(&self, bytes: &[u8]) -> Option<()> {
        let texels = self.memory.bytes() as usize / 4 / self.format.words();
        let given = bytes.chunks(self.format.bytes());
        (given.len() <= texels).then(|| {
            for (texel, bytes) in given.enumerate() {
                self.memory.write(4 * (texel * self.format.words()) as u64, bytes);
            }
        })
    }

    /// The first word of a texel, whose coordinates lie inside: column, row, and slice or layer.
    fn word(&self, level: u32, [x, y, z]: [u32; 3]) -> usize {
        let Level { first, size: [width, height, _] } = self.levels[level as usize];
        let [x, y, z, width, height] = [x, y, z, width, height].map(|length| length as usize);
        first + ((z * height + y) * width + x) * self.format.words()
    }

    /// The bytes of texels of a row, one after the other.
    pub(crate) fn read_row(&self, level: u32, at: [u32; 3], to: &mut [u8]) {
        let first = self.word(level, at);
        for (texel, word) in to.chunks_exact_mut(self.format.bytes()).zip((first..).step_by(self.format.words())) {
            self.memory.read(4 * word as u64, texel);
        }
    }

    pub(crate) fn write_row(&self, level: u32, at: [u32; 3], from: &[u8]) {
        let first = self.word(level, at);
        for (texel, word) in from.chunks_exact(self.format.bytes()).zip((first..).step_by(self.format.words())) {
            self.memory.write(4 * word as u64, texel);
        }
    }
}

/// The part of a texture that a shader sees.
pub(crate) struct View {
    texture: Arc<Texture>,
    first_level: u32,
    levels: u32,
    first_layer: u32,
    /// Of a volume one: its slices are all there.
    layers: u32,
}

impl View {
    pub(crate) fn new(texture: Arc<Texture>, range: &wgt::ImageSubresourceRange) -> Self {
        let all_layers = if texture.is_volume { 1 } else { texture.levels[0].size[2] };
        let (first_level, first_layer) = (range.base_mip_level, range.base_array_layer);
        let levels = range.mip_level_count.unwrap_or(texture.levels.len() as u32 - first_level);
        let layers = range.array_layer_count.unwrap_or(all_layers - first_layer);
        Self { texture, first_level, levels, first_layer, layers }
    }

    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    /// What all of the texture holds.
    pub(crate) fn contents(&self) -> Vec<u8> {
        let memory = &self.texture.memory;
        let mut bytes = vec![0; memory.bytes() as usize];
        memory.read(0, &mut bytes);
        bytes
    }

    /// Width, height, and depth or layers of a level; of the last where there are not so many.
    pub(crate) fn size(&self, level: u32) -> [u32; 3] {
        let level = self.first_level + level.min(self.levels - 1);
        let [width, height, slices] = self.texture.levels[level as usize].size;
        [width, height, if self.texture.is_volume { slices } else { self.layers }]
    }

    /// The first of the level and the coordinates that lies beyond its end: what it is called, and that end.
    pub(crate) fn beyond(&self, level: u32, [x, y, z]: [u32; 3]) -> Option<(&'static str, u32, u32)> {
        let [width, height, slices] = self.size(level);
        let last = if self.texture.is_volume { "slice" } else { "layer" };
        let axes = [("mip level", level, self.levels), ("column", x, width), ("row", y, height), (last, z, slices)];
        axes.into_iter().find(|(_, index, length)| index >= length)
    }

    fn word(&self, level: u32, [x, y, z]: [u32; 3]) -> usize {
        self.texture.word(self.first_level + level, [x, y, self.first_layer + z])
    }

    /// The number of a texel that lies inside, of all of the texture.
    pub(crate) fn number(&self, level: u32, at: [u32; 3]) -> u32 {
        (self.word(level, at) / self.texture.format.words()) as u32
    }

    /// The components of a texel that lies inside.
    pub(crate) fn load(&self, level: u32, at: [u32; 3]) -> [u32; 4] {
        let first = self.word(level, at);
        let words = &self.texture.memory.words()[first..first + self.texture.format.words()];
        let texel = words.iter().rev().fold(0, |texel, word| texel << 32 | u128::from(word.load(Relaxed)));
        self.texture.format.decode(texel)
    }

    /// Stores a texel that lies inside.
    pub(crate) fn store(&self, at: [u32; 3], components: [u32; 4]) {
        let first = self.word(0, at);
        let texel = self.texture.format.encode(components);
        let words = &self.texture.memory.words()[first..first + self.texture.format.words()];
        for (i, word) in words.iter().enumerate() {
            word.store((texel >> (32 * i)) as u32, Relaxed);
        }
    }

    /// The texel that is nearest.
    pub(crate) fn sample(&self, sampler: &Sampler, spot: &Spot, level: f32) -> [u32; 4] {
        let level = level.clamp(sampler.levels[0], sampler.levels[1]).clamp(0.0, (self.levels - 1) as f32);
        // Halfway between two levels it is the finer one.
        let level = ((level + 0.5).ceil() - 1.0) as u32;
        self.load(level, self.texel(sampler, spot, level, 0.0, [0; 3]))
    }

    /// One component of the four texels around, in the order in which WGSL has them.
    pub(crate) fn gather(&self, sampler: &Sampler, spot: &Spot, component: usize) -> [u32; 4] {
        [[0, 1], [1, 1], [1, 0], [0, 0]]
            .map(|[x, y]| self.load(0, self.texel(sampler, spot, 0, 0.5, [x, y, 0]))[component])
    }

    /// The texel that lies so many steps from the one at a spot, which is moved down by `shift` texels.
    fn texel(&self, sampler: &Sampler, spot: &Spot, level: u32, shift: f32, steps: [i64; 3]) -> [u32; 3] {
        let size = self.size(level);
        std::array::from_fn(|axis| {
            let (word, length) = (spot.at[axis], size[axis]);
            if axis >= spot.axes as usize {
                return (word as i32).clamp(0, length as i32 - 1) as u32;
            }
            let texel = (f32::from_bits(word) * length as f32 - shift).floor() as i64;
            let texel = texel.saturating_add(i64::from(spot.offset[axis])).saturating_add(steps[axis]);
            wrapped(sampler.modes[axis], texel, length)
        })
    }
}

/// Where a texture is sampled.
pub(crate) struct Spot {
    /// Floats, of which 1 is the whole texture, and then the layer, as an integer.
    pub(crate) at: [u32; 3],
    /// How many of them are floats.
    pub(crate) axes: u32,
    /// In texels.
    pub(crate) offset: [i32; 3],
}

/// A texel of an axis with so many, wherever the index lies.
fn wrapped(mode: AddressMode, texel: i64, length: u32) -> u32 {
    let length = i64::from(length);
    let texel = match mode {
        AddressMode::Repeat => texel.rem_euclid(length),
        AddressMode::MirrorRepeat => {
            let texel = texel.rem_euclid(2 * length);
            texel.min(2 * length - 1 - texel)
        }
        AddressMode::ClampToEdge | AddressMode::ClampToBorder => texel.clamp(0, length - 1),
    };
    texel as u32
}

/// How a texture is sampled.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    pub(crate) label: String,
    pub(crate) modes: [AddressMode; 3],
    /// The least and the greatest level that it takes.
    pub(crate) levels: [f32; 2],
    /// Whether it mixes texels or levels, which is not simulated.
    pub(crate) is_linear: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_wrap_as_the_mode_says() {
        let all = |mode| (-4..7).map(|texel| wrapped(mode, texel, 3)).collect::<Vec<_>>();
        assert_eq!(all(AddressMode::ClampToEdge), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(all(AddressMode::Repeat), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(all(AddressMode::MirrorRepeat), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]);
    }

    #[test]
    fn what_is_decoded_encodes_to_itself() {
        for format in [
            TextureFormat::R8Unorm,
            TextureFormat::R8Snorm,
            TextureFormat::R8Uint,
            TextureFormat::R8Sint,
            TextureFormat::R16Unorm,
            TextureFormat::R16Snorm,
            TextureFormat::R16Uint,
            TextureFormat::R16Sint,
            TextureFormat::R16Float,
        ] {
            let format = Format::of(format).expect("it is there");
            for texel in 0..1_u128 << (8 * format.bytes()) {
                let components = format.decode(texel);
                // The least of a signed range is another name of -1, and no NaN is like another.
                let is_least = format.kind == Kind::Snorm && texel == 1 << (8 * format.bytes() - 1);
                let is_nan = format.kind == Kind::Float && f32::from_bits(components[0]).is_nan();
                if !(is_least || is_nan) {
                    assert_eq!(format.encode(components), texel, "{format:?}");
                }
            }
        }
        let packed = Format::of(TextureFormat::Rg11b10Ufloat).expect("it is there");
        for texel in (0..1 << 11).map(|field| field << 11 | field).filter(|field| field % 2048 < 31 << 6) {
            assert_eq!(packed.encode(packed.decode(texel)), texel);
        }
    }
}
