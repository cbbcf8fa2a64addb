//! The file that says what a shader is run on.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wavelane::simt::check::{Buffer, Fill, Run, Sampler, Texture};
use wavelane::wgpu::{AddressMode, Extent3d, FilterMode, TextureFormat};

use super::super::{Failure, Result};

/// A [`Run`] as its file has it: contents of buffers that lie in other files are paths here.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with entry, workgroups and buffers")]
pub(super) struct RunFile {
    entry: String,
    pub(super) workgroups: [u32; 3],
    #[serde(default)]
    overrides: BTreeMap<String, f64>,
    #[serde(default)]
    buffers: Vec<BufferEntry>,
    #[serde(default)]
    textures: Vec<TextureEntry>,
    #[serde(default)]
    samplers: Vec<SamplerEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with group, binding, bytes and fill")]
struct BufferEntry {
    name: Option<String>,
    group: u32,
    binding: u32,
    bytes: u64,
    fill: Contents,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with group, binding, format, size and fill")]
struct TextureEntry {
    name: Option<String>,
    group: u32,
    binding: u32,
    format: TextureFormat,
    /// Width, height, and depth or layers.
    size: [u32; 3],
    #[serde(default = "one")]
    mip_levels: u32,
    fill: Contents,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with group and binding")]
struct SamplerEntry {
    name: Option<String>,
    group: u32,
    binding: u32,
    #[serde(default)]
    address_mode: AddressMode,
    #[serde(default)]
    filter: FilterMode,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[serde(expecting = "\"empty\", \"zeros\", \"ramp\", { value = … }, { random = … } or { file = … }")]
enum Contents {
    Empty,
    Zeros,
    Ramp,
    Value(f64),
    Random(Random),
    File(PathBuf),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with seed, low and high")]
struct Random {
    seed: u64,
    low: f64,
    high: f64,
}

impl RunFile {
    /// What a file says, with the run that it means.
    pub(super) fn read(path: &Path) -> Result<(Self, Run)> {
        let fault = |error: &dyn Display| Failure::usage(format!("cannot read {}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
        let file: Self = toml::from_str(&text).map_err(|error| fault(&error.to_string().trim_end()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let run = Run {
            entry: file.entry.clone(),
            workgroups: file.workgroups,
            overrides: file.overrides.clone(),
            buffers: file.buffers.iter().map(|entry| entry.buffer(folder)).collect::<Result<_>>()?,
            textures: file.textures.iter().map(|entry| entry.texture(folder)).collect::<Result<_>>()?,
            samplers: file.samplers.iter().map(SamplerEntry::sampler).collect(),
        };
        Ok((file, run))
    }

    /// A run that was told from a shader.
    pub(super) fn reflected(run: &Run) -> Self {
        Self {
            entry: run.entry.clone(),
            workgroups: run.workgroups,
            overrides: run.overrides.clone(),
            buffers: run.buffers.iter().map(BufferEntry::from).collect(),
            textures: run.textures.iter().map(TextureEntry::from).collect(),
            samplers: run.samplers.iter().map(SamplerEntry::from).collect(),
        }
    }

    /// The run in a few lines.
    pub(super) fn summary(&self) -> String {
        let [x, y, z] = self.workgroups;
        let mut text = format!("  entry point {}, {x} x {y} x {z} workgroups\n", self.entry);
        for (name, value) in &self.overrides {
            text += &format!("  override {name} = {value}\n");
        }
        for buffer in &self.buffers {
            let BufferEntry { group, binding, bytes, fill, .. } = buffer;
            let name = shown(buffer.name.as_deref(), *group, *binding);
            text += &format!("  {name} (group {group}, binding {binding}): {bytes} bytes, {}\n", fill.in_words());
        }
        for texture in &self.textures {
            let TextureEntry { group, binding, size: [x, y, z], mip_levels, fill, .. } = texture;
            let name = shown(texture.name.as_deref(), *group, *binding);
            let levels = if *mip_levels == 1 { String::new() } else { format!(", {mip_levels} mip levels") };
            text += &format!(
                "  {name} (group {group}, binding {binding}): {x} x {y} x {z} texels of {}{levels}, {}\n",
                texture.format(),
                fill.in_words()
            );
        }
        for sampler in &self.samplers {
            let SamplerEntry { group, binding, .. } = sampler;
            let name = shown(sampler.name.as_deref(), *group, *binding);
            let [address_mode, filter] = sampler.words();
            text += &format!("  {name} (group {group}, binding {binding}): {address_mode}, {filter}\n");
        }
        text
    }

    /// The file's text, which explains itself.
    pub(super) fn to_toml(&self, shader: &Path) -> String {
        let mut text = format!(
            "\
# What `wavelane check --run` runs {} on.

# The entry point, and the workgroups in x, y and z.
entry = \"{}\"
workgroups = {:?}

# Values of override constants: by name, or by number where the shader gives them one.
[overrides]
",
            shader.file_name().unwrap_or_default().display(),
            self.entry,
            self.workgroups,
        );
        for (name, value) in &self.overrides {
            text += &format!("\"{name}\" = {value}\n");
        }
        text += "
# The buffer of each binding: its size in bytes, and what it holds before.
#   \"empty\"                                         nothing: to read it before it is written is a finding
#   \"zeros\"                                         0, 0, 0, …
#   \"ramp\"                                          0, 1, 2, …
#   { value = 7 }                                   7, 7, 7, …
#   { random = { seed = 1, low = 0, high = 100 } }  numbers from low up to high, without it
#   { file = \"numbers.bin\" }                        these bytes, then zeros; seen from the folder of this file
# Each number has the type that the shader declares in its place.
";
        for buffer in &self.buffers {
            let BufferEntry { group, binding, bytes, fill, .. } = buffer;
            let name = shown(buffer.name.as_deref(), *group, *binding);
            text += &format!(
                "
[[buffers]]
name = \"{name}\"
group = {group}
binding = {binding}
bytes = {bytes}
fill = {}
",
                fill.toml(),
            );
        }
        if !self.textures.is_empty() {
            text += "
# The textures: width, height and depth or layers, mip levels, and what they hold, as a buffer does, but never \"empty\": a
# number for each component of each texel, row by row; a file has packed texels.
";
        }
        for texture in &self.textures {
            let TextureEntry { group, binding, size, mip_levels, fill, .. } = texture;
            let name = shown(texture.name.as_deref(), *group, *binding);
            text += &format!(
                "
[[textures]]
name = \"{name}\"
group = {group}
binding = {binding}
format = \"{}\"
size = {size:?}
mip_levels = {mip_levels}
fill = {}
",
                texture.format(),
                fill.toml(),
            );
        }
        if !self.samplers.is_empty() {
            text += "
# The samplers: \"clamp-to-edge\", \"repeat\" or \"mirror-repeat\", and \"nearest\".
";
        }
        for sampler in &self.samplers {
            let SamplerEntry { group, binding, .. } = sampler;
            let name = shown(sampler.name.as_deref(), *group, *binding);
            let [address_mode, filter] = sampler.words();
            text += &format!(
                "
[[samplers]]
name = \"{name}\"
group = {group}
binding = {binding}
address_mode = \"{address_mode}\"
filter = \"{filter}\"
"
            );
        }
        text
    }
}

/// What a binding is called.
fn shown(name: Option<&str>, group: u32, binding: u32) -> String {
    name.map_or_else(|| format!("group {group}, binding {binding}"), str::to_string)
}

/// A word of WebGPU, as serde has it.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_string)).unwrap_or_default()
}

impl BufferEntry {
    /// The buffer, with the contents of the file that it names.
    fn buffer(&self, folder: &Path) -> Result<Buffer> {
        let Self { group, binding, bytes, .. } = *self;
        let fill = self.fill.read(folder, &shown(self.name.as_deref(), group, binding))?;
        Ok(Buffer { name: self.name.clone().unwrap_or_default(), group, binding, bytes, fill })
    }
}

impl From<&Buffer> for BufferEntry {
    fn from(buffer: &Buffer) -> Self {
        let Buffer { name, group, binding, bytes, fill } = buffer;
        Self { name: Some(name.clone()), group: *group, binding: *binding, bytes: *bytes, fill: fill.into() }
    }
}

impl TextureEntry {
    fn format(&self) -> String {
        word(&self.format)
    }

    /// The texture, with the contents of the file that it names.
    fn texture(&self, folder: &Path) -> Result<Texture> {
        let Self { group, binding, format, size: [width, height, depth_or_array_layers], mip_levels, .. } = *self;
        let fill = self.fill.read(folder, &shown(self.name.as_deref(), group, binding))?;
        let size = Extent3d { width, height, depth_or_array_layers };
        Ok(Texture { name: self.name.clone().unwrap_or_default(), group, binding, format, size, mip_levels, fill })
    }
}

impl From<&Texture> for TextureEntry {
    fn from(texture: &Texture) -> Self {
        let Texture { ref name, group, binding, format, size, mip_levels, ref fill } = *texture;
        let size = [size.width, size.height, size.depth_or_array_layers];
        Self { name: Some(name.clone()), group, binding, format, size, mip_levels, fill: fill.into() }
    }
}

impl SamplerEntry {
    /// How it addresses and how it filters.
    fn words(&self) -> [String; 2] {
        [word(&self.address_mode), word(&self.filter)]
    }

    fn sampler(&self) -> Sampler {
        let Self { group, binding, address_mode, filter, .. } = *self;
        Sampler { name: self.name.clone().unwrap_or_default(), group, binding, address_mode, filter }
    }
}

impl From<&Sampler> for SamplerEntry {
    fn from(sampler: &Sampler) -> Self {
        let Sampler { ref name, group, binding, address_mode, filter } = *sampler;
        Self { name: Some(name.clone()), group, binding, address_mode, filter }
    }
}

impl From<&Fill> for Contents {
    fn from(fill: &Fill) -> Self {
        match fill {
            Fill::Empty => Self::Empty,
            Fill::Zeros => Self::Zeros,
            Fill::Ramp => Self::Ramp,
            Fill::Value(value) => Self::Value(*value),
            Fill::Random { seed, low, high } => Self::Random(Random { seed: *seed, low: *low, high: *high }),
            Fill::Bytes(_) => unreachable!("a shader does not tell bytes"),
        }
    }
}

impl Contents {
    /// What the buffer or texture of this name holds, with the contents of a file.
    fn read(&self, folder: &Path, name: &str) -> Result<Fill> {
        Ok(match self {
            Self::Empty => Fill::Empty,
            Self::Zeros => Fill::Zeros,
            Self::Ramp => Fill::Ramp,
            Self::Value(value) => Fill::Value(*value),
            Self::Random(Random { seed, low, high }) => Fill::Random { seed: *seed, low: *low, high: *high },
            Self::File(file) => {
                let path = folder.join(file);
                let fault =
                    |error| Failure::usage(format!("cannot read {}, the contents of {name}: {error}", path.display()));
                Fill::Bytes(std::fs::read(&path).map_err(fault)?)
            }
        })
    }

    fn in_words(&self) -> String {
        self.toml().trim_matches('"').into()
    }

    /// As the file has it.
    fn toml(&self) -> String {
        match self {
            Self::Empty => "\"empty\"".into(),
            Self::Zeros => "\"zeros\"".into(),
            Self::Ramp => "\"ramp\"".into(),
            Self::Value(value) => format!("{{ value = {value} }}"),
            Self::Random(Random { seed, low, high }) => {
                format!("{{ random = {{ seed = {seed}, low = {low}, high = {high} }} }}")
            }
            Self::File(path) => format!("{{ file = '{}' }}", path.display()),
        }
    }
}
