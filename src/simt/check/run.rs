//! What a shader is run on: the entry point, the grid, and what is bound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use naga::{AddressSpace, ImageClass, ImageDimension, ScalarKind, StorageAccess, TypeInner};
use wgpu::{AddressMode, Extent3d, FilterMode, TextureDimension, TextureFormat};

use super::{find_entry, key, validated, with_overrides};
use crate::error::{Error, Result};
use crate::simt::machine::groups::Random;
use crate::simt::machine::{Bound, Resource};
use crate::simt::memory::Memory;
use crate::simt::operation::float_to_half;
use crate::simt::program::layout;
use crate::simt::texture;

/// What a shader is run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The entry point.
    pub entry: String,
    /// The workgroups, in each dimension.
    pub workgroups: [u32; 3],
    /// Values of pipeline-overridable constants, by name or number.
    pub overrides: BTreeMap<String, f64>,
    /// The buffers that are bound.
    pub buffers: Vec<Buffer>,
    /// The textures that are bound.
    pub textures: Vec<Texture>,
    /// The samplers that are bound.
    pub samplers: Vec<Sampler>,
}

/// A buffer of a [`Run`].
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Name of the variable; may be left empty.
    pub name: String,
    /// `@group`.
    pub group: u32,
    /// `@binding`.
    pub binding: u32,
    /// Its size.
    pub bytes: u64,
    /// What it holds before.
    pub fill: Fill,
}

/// A texture of a [`Run`].
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Name of the variable; may be left empty.
    pub name: String,
    /// `@group`.
    pub group: u32,
    /// `@binding`.
    pub binding: u32,
    /// The format: of a storage texture the one that the shader declares.
    pub format: TextureFormat,
    /// Its size in texels, and the layers of an array or the depth of a volume.
    pub size: Extent3d,
    /// Its mip levels.
    pub mip_levels: u32,
    /// What it holds before: a number for each component of each texel, level by level, layer by layer and row by row.
    /// Normalised components are the nearest to their number that there is; [`Fill::Bytes`] are packed texels.
    pub fill: Fill,
}

/// A sampler of a [`Run`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// Name of the variable; may be left empty.
    pub name: String,
    /// `@group`.
    pub group: u32,
    /// `@binding`.
    pub binding: u32,
    /// What lies beyond the edges of a texture.
    pub address_mode: AddressMode,
    /// How it finds a value between texels.
    pub filter: FilterMode,
}

/// What a buffer or a texture holds before a run. Each number has the type of the scalar in its place: the one that the
/// shader declares in a buffer, a component of a texture. What no scalar takes, between the members of a structure, is
/// zeros.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Nothing: to read it before it is written is a finding. Of buffers only.
    Empty,
    /// Zeros.
    Zeros,
    /// The same number everywhere.
    Value(f64),
    /// 0, 1, 2, …
    Ramp,
    /// Numbers from `low` up to `high`, without it, from a seed.
    Random {
        /// Where the numbers come from.
        seed: u64,
        /// The least.
        low: f64,
        /// Beyond the greatest.
        high: f64,
    },
    /// These bytes; zeros after them.
    Bytes(Vec<u8>),
}

impl Run {
    /// A run of an entry point (the only one, unless it is named) with values that make sense for most shaders: four
    /// workgroups; arrays that fill a buffer with as many elements as there are invocations, and textures with as many
    /// texels; zeros for what the shader may write, a ramp for what it only reads, random numbers from 0 to 1 for floats of
    /// textures, and 1 for an override without a value of its own. The numbers of a uniform buffer are the edge of a grid of
    /// as many invocations: their number in one dimension, its square root in two, its cube root in three.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) for text that is not valid or not simulated,
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) where no entry point or several are there.
    pub fn reflect(text: &str, entry: Option<&str>) -> Result<Self> {
        let (module, info) = validated(text)?;
        let name = find_entry(&module, entry)?.1.name.clone();
        let unset = module.overrides.iter().filter(|(_, constant)| constant.init.is_none());
        let overrides: BTreeMap<_, _> = unset.map(|(_, constant)| (key(constant), 1.0)).collect();
        // The size of a workgroup may rest on them.
        let (module, info) = with_overrides(&module, &info, &name, &overrides)?;
        let (index, entry) = find_entry(&module, Some(&name))?;
        let grid = Grid::of(entry.workgroup_size);
        let mut run = Self {
            entry: name,
            workgroups: grid.workgroups,
            overrides,
            buffers: Vec::new(),
            textures: Vec::new(),
            samplers: Vec::new(),
        };
        for (handle, variable) in module.global_variables.iter() {
            let (Some(at), false) = (&variable.binding, info.get_entry_point(index)[handle].is_empty()) else {
                continue;
            };
            let (name, group, binding) = (variable.name.clone().unwrap_or_default(), at.group, at.binding);
            let inner = layout::inner(&module, variable.ty);
            let fill = match variable.space {
                AddressSpace::Handle => None,
                AddressSpace::Uniform => Some(Fill::Value(grid.edge as f64)),
                AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => Some(Fill::Zeros),
                AddressSpace::Storage { .. } => Some(Fill::Ramp),
                _ => continue,
            };
            match (fill, inner) {
                (Some(fill), _) => {
                    let bytes = layout::bytes(&module, inner, grid.invocations).map_err(Error::shader)?;
                    run.buffers.push(Buffer { name, group, binding, bytes: bytes.next_multiple_of(4), fill });
                }
                (None, &TypeInner::Image { dim, class, .. }) => {
                    let (format, fill) = format_and_fill(class);
                    let size = grid.texels(dim);
                    let mip_levels = match class {
                        ImageClass::Storage { .. } => 1,
                        _ => size.max_mips(dimension(dim)),
                    };
                    run.textures.push(Texture { name, group, binding, format, size, mip_levels, fill });
                }
                (None, TypeInner::Sampler { .. }) => {
                    let (address_mode, filter) = (AddressMode::default(), FilterMode::default());
                    run.samplers.push(Sampler { name, group, binding, address_mode, filter });
                }
                // It cannot be compiled either, which says more.
                (None, _) => {}
            }
        }
        run.buffers.sort_by_key(|buffer| (buffer.group, buffer.binding));
        run.textures.sort_by_key(|texture| (texture.group, texture.binding));
        run.samplers.sort_by_key(|sampler| (sampler.group, sampler.binding));
        Ok(run)
    }

    /// Everything that is bound, in its state before the run.
    pub(super) fn bind(&self, module: &naga::Module) -> Result<Vec<Bound>> {
        let places = self.buffers.iter().map(|buffer| (buffer.group, buffer.binding));
        let places = places.chain(self.textures.iter().map(|texture| (texture.group, texture.binding)));
        let places = places.chain(self.samplers.iter().map(|sampler| (sampler.group, sampler.binding)));
        let mut taken = BTreeSet::new();
        for (group, binding) in places {
            if !taken.insert((group, binding)) {
                return Err(Error::argument(format!("two things are bound to group {group}, binding {binding}")));
            }
        }
        let buffers = self.buffers.iter().map(|buffer| {
            let place = Place::find(module, buffer.group, buffer.binding, &buffer.name)?;
            Ok(place.bound(buffer.resource(module, &place)?))
        });
        let textures = self.textures.iter().map(|texture| {
            let place = Place::find(module, texture.group, texture.binding, &texture.name)?;
            Ok(place.bound(texture.resource(&place)?))
        });
        let samplers = self.samplers.iter().map(|sampler| {
            let place = Place::find(module, sampler.group, sampler.binding, &sampler.name)?;
            Ok(place.bound(sampler.resource(&place)?))
        });
        buffers.chain(textures).chain(samplers).collect()
    }
}

/// The grid of a run that is reflected.
struct Grid {
    workgroups: [u32; 3],
    invocations: u64,
    /// In each dimension.
    extent: [u32; 3],
    /// Of a line, square or cube of as many invocations.
    edge: u64,
}

impl Grid {
    fn of(size: [u32; 3]) -> Self {
        let workgroups = if size[1] * size[2] == 1 { [4, 1, 1] } else { [2, 2, 1] };
        let invocations = 4 * u64::from(size.iter().product::<u32>());
        let edge = match size {
            [_, 1, 1] => invocations,
            [_, _, 1] => invocations.isqrt(),
            _ => (1..).take_while(|edge: &u64| edge.pow(3) <= invocations).last().unwrap_or(1),
        };
        Self { workgroups, invocations, extent: std::array::from_fn(|axis| size[axis] * workgroups[axis]), edge }
    }

    /// A texture with a texel for each invocation: where these lie in a line and it does not, a square or a cube.
    fn texels(&self, dim: ImageDimension) -> Extent3d {
        let invocations = self.invocations as u32;
        let is_line = self.extent[1] * self.extent[2] == 1;
        let [width, height, depth_or_array_layers] = match dim {
            ImageDimension::D1 => [invocations, 1, 1],
            ImageDimension::D3 if is_line => {
                let edge = (1..).take_while(|edge: &u32| edge.pow(3) <= invocations).last().unwrap_or(1);
                [edge, edge, invocations.div_ceil(edge * edge)]
            }
            ImageDimension::D2 if is_line => {
                let edge = invocations.isqrt();
                [invocations.div_ceil(edge), edge, 1]
            }
            ImageDimension::D2 | ImageDimension::D3 => self.extent,
            ImageDimension::Cube => [invocations.isqrt(), invocations.isqrt(), 6],
        };
        Extent3d { width, height, depth_or_array_layers }
    }
}

/// What a texture of this class holds in a run that is reflected.
fn format_and_fill(class: ImageClass) -> (TextureFormat, Fill) {
    let floats = Fill::Random { seed: 1, low: 0.0, high: 1.0 };
    match class {
        ImageClass::Storage { format, access } => {
            let is_written = access.contains(StorageAccess::STORE);
            let fill = match naga::Scalar::from(format).kind {
                _ if is_written => Fill::Zeros,
                ScalarKind::Float => floats,
                _ => Fill::Ramp,
            };
            (wgpu_naga_bridge::map_storage_format_from_naga(format), fill)
        }
        ImageClass::Sampled { kind: ScalarKind::Uint, .. } => (TextureFormat::Rgba32Uint, Fill::Ramp),
        ImageClass::Sampled { kind: ScalarKind::Sint, .. } => (TextureFormat::Rgba32Sint, Fill::Ramp),
        ImageClass::Sampled { .. } | ImageClass::External => (TextureFormat::Rgba32Float, floats),
        ImageClass::Depth { .. } => (TextureFormat::Depth32Float, floats),
    }
}

/// Where something is bound, and the variable that is there.
struct Place<'a> {
    group: u32,
    binding: u32,
    name: &'a str,
    inner: &'a TypeInner,
    space: AddressSpace,
}

impl<'a> Place<'a> {
    /// The variable of a binding, which has this name unless it is empty.
    fn find(module: &'a naga::Module, group: u32, binding: u32, name: &str) -> Result<Self> {
        let mut variables = module.global_variables.iter().map(|(_, variable)| variable);
        let is_this = |variable: &&naga::GlobalVariable| {
            variable.binding.as_ref().is_some_and(|at| (at.group, at.binding) == (group, binding))
        };
        let variable = variables.find(is_this).ok_or_else(|| {
            Error::argument(format!("the shader has no variable in group {group}, binding {binding}"))
        })?;
        let (inner, space) = (layout::inner(module, variable.ty), variable.space);
        let place = Self { group, binding, name: variable.name.as_deref().unwrap_or_default(), inner, space };
        if !name.is_empty() && name != place.name {
            return Err(place.fault(&format!("the variable is {}, not {name}", place.name)));
        }
        Ok(place)
    }

    fn fault(&self, reason: &str) -> Error {
        Error::argument(format!("group {}, binding {}: {reason}", self.group, self.binding))
    }

    /// That it is something else.
    fn is_no(&self, what: &str) -> Error {
        let is = match self.inner {
            TypeInner::Image { .. } => "a texture",
            TypeInner::Sampler { .. } => "a sampler",
            _ => "a buffer",
        };
        self.fault(&format!("{} is {is}, not {what}", self.name))
    }

    fn bound(&self, resource: Resource) -> Bound {
        Bound { group: self.group, binding: self.binding, resource }
    }
}

impl Fill {
    /// Hands on the numbers, in their order; bytes are none.
    fn numbers(&self, place: &Place<'_>) -> Result<Option<Box<dyn Iterator<Item = f64>>>> {
        Ok(Some(match *self {
            Self::Empty | Self::Zeros | Self::Bytes(_) => return Ok(None),
            Self::Value(value) => Box::new(std::iter::repeat(value)),
            Self::Ramp => Box::new((0_u64..).map(|index| index as f64)),
            Self::Random { low, high, .. } if low >= high => {
                return Err(place.fault(&format!("there is no number from {low} up to {high}")));
            }
            Self::Random { seed, low, high } => {
                let mut random = Random::new(seed);
                let unit = move || (random.word() >> 11) as f64 / (1_u64 << 53) as f64;
                Box::new(std::iter::repeat_with(unit).map(move |unit| low + (high - low) * unit))
            }
        }))
    }
}

impl Buffer {
    fn resource(&self, module: &naga::Module, place: &Place<'_>) -> Result<Resource> {
        let bytes = self.bytes;
        if place.space == AddressSpace::Handle {
            return Err(place.is_no("a buffer"));
        }
        if bytes == 0 || bytes > u64::from(u32::MAX) {
            return Err(place.fault(&format!("a buffer has from 1 byte to 4 GiB, not {bytes}")));
        }
        let memory = Memory::zeroed(bytes);
        let least = layout::bytes(module, place.inner, 1).map_err(Error::shader)?;
        if bytes < least || !bytes.is_multiple_of(4) {
            let name = place.name;
            let reason = format!("{name} needs a multiple of 4 that is at least {least} bytes, not {bytes}");
            return Err(place.fault(&reason));
        }
        if let Some(mut numbers) = self.fill.numbers(place)? {
            let mut put = |at, scalar: naga::Scalar| {
                let bits = bits(numbers.next().expect("they have no end"), scalar).to_le_bytes();
                memory.write(at, &bits[..scalar.width.into()]);
            };
            layout::each_scalar(module, place.inner, 0, bytes, &mut put).map_err(Error::shader)?;
        }
        if let Fill::Bytes(contents) = &self.fill {
            if contents.len() as u64 > bytes {
                return Err(place.fault(&format!("{} bytes do not fit into {bytes}", contents.len())));
            }
            memory.write(0, contents);
        }
        Ok(Resource::Buffer { memory: Arc::new(memory), offset: 0, size: bytes })
    }
}

impl Texture {
    fn resource(&self, place: &Place<'_>) -> Result<Resource> {
        let &TypeInner::Image { dim, arrayed, class } = place.inner else { return Err(place.is_no("a texture")) };
        let Self { format, size, mip_levels, .. } = *self;
        let (name, text) = (place.name, wgpu_format(format));
        let simulated =
            texture::Format::of(format).ok_or_else(|| place.fault(&format!("the format {text} is not simulated")))?;
        let fits = match class {
            ImageClass::Storage { format: declared, .. } => {
                let declared = wgpu_naga_bridge::map_storage_format_from_naga(declared);
                (declared == format).then_some(()).ok_or_else(|| format!("the format {}", wgpu_format(declared)))
            }
            ImageClass::Sampled { kind, .. } => {
                let has = format.sample_type(None, None).is_some_and(|ty| sampled_kind(ty) == Some(kind));
                has.then_some(()).ok_or_else(|| format!("a format that is sampled as {kind:?}").to_lowercase())
            }
            ImageClass::Depth { .. } => {
                format.is_depth_stencil_format().then_some(()).ok_or_else(|| "a depth format".into())
            }
            ImageClass::External => Ok(()),
        };
        fits.map_err(|needs| place.fault(&format!("{name} needs {needs}, not {text}")))?;
        let Extent3d { width, height, depth_or_array_layers: slices } = size;
        let dimension = dimension(dim);
        let is_right = match dim {
            ImageDimension::D1 => height == 1 && slices == 1,
            ImageDimension::D2 => arrayed || slices == 1,
            ImageDimension::D3 => true,
            ImageDimension::Cube => width == height && if arrayed { slices % 6 == 0 } else { slices == 6 },
        };
        let most = match dim {
            ImageDimension::D3 => MOST_SLICES,
            _ => MOST_TEXELS,
        };
        let is_in = |length, most| (1..=most).contains(&length);
        if !is_right || !is_in(width, most) || !is_in(height, most) || !is_in(slices, MOST_SLICES) {
            return Err(place.fault(&format!("{name} cannot have the size {width} x {height} x {slices}")));
        }
        let most = size.max_mips(dimension);
        if !is_in(mip_levels, most) {
            return Err(place.fault(&format!("{name} has from 1 to {most} mip levels, not {mip_levels}")));
        }
        let texture = texture::Texture::new(simulated, size, dimension, mip_levels)
            .ok_or_else(|| place.fault(&format!("{name} has more than 4 GiB")))?;
        if self.fill == Fill::Empty {
            return Err(place.fault(&format!("{name} is a texture, which is never empty")));
        }
        if let Some(mut numbers) = self.fill.numbers(place)? {
            texture.fill(|| numbers.next().expect("they have no end"));
        }
        if let Fill::Bytes(contents) = &self.fill {
            let put = texture.fill_bytes(contents);
            put.ok_or_else(|| place.fault(&format!("{} bytes do not fit into {name}", contents.len())))?;
        }
        let view = texture::View::new(Arc::new(texture), &wgpu::wgt::ImageSubresourceRange::default());
        Ok(Resource::Texture(Arc::new(view)))
    }
}

/// As wgpu limits them on the simulated device.
const MOST_TEXELS: u32 = 16_384;
const MOST_SLICES: u32 = 2048;

fn dimension(dim: ImageDimension) -> TextureDimension {
    match dim {
        ImageDimension::D1 => TextureDimension::D1,
        ImageDimension::D2 | ImageDimension::Cube => TextureDimension::D2,
        ImageDimension::D3 => TextureDimension::D3,
    }
}

/// The name of a format, as WebGPU has it.
fn wgpu_format(format: TextureFormat) -> String {
    format!("{format:?}").to_lowercase()
}

/// What shaders see of a texture that is sampled so.
fn sampled_kind(ty: wgpu::TextureSampleType) -> Option<ScalarKind> {
    match ty {
        wgpu::TextureSampleType::Float { .. } => Some(ScalarKind::Float),
        wgpu::TextureSampleType::Sint => Some(ScalarKind::Sint),
        wgpu::TextureSampleType::Uint => Some(ScalarKind::Uint),
        wgpu::TextureSampleType::Depth => None,
    }
}

impl Sampler {
    fn resource(&self, place: &Place<'_>) -> Result<Resource> {
        if !matches!(place.inner, TypeInner::Sampler { .. }) {
            return Err(place.is_no("a sampler"));
        }
        let sampler = texture::Sampler {
            label: place.name.into(),
            modes: [self.address_mode; 3],
            levels: [0.0, 32.0],
            is_linear: self.filter == FilterMode::Linear,
        };
        Ok(Resource::Sampler(Arc::new(sampler)))
    }
}

/// A number as a scalar of this type; whole ones are rounded down.
fn bits(number: f64, scalar: naga::Scalar) -> u64 {
    match (scalar.kind, scalar.width) {
        (naga::ScalarKind::Float, 2) => float_to_half(number as f32).into(),
        (naga::ScalarKind::Float, 4) => (number as f32).to_bits().into(),
        (naga::ScalarKind::Float, _) => number.to_bits(),
        _ => number.floor() as i128 as u64,
    }
}
