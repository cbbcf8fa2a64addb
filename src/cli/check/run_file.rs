//! The file that says what a shader is run on.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wavelane::simt::check::{Buffer, Fill, Run};

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
        let buffers = file.buffers.iter().map(|entry| entry.buffer(folder)).collect::<Result<_>>()?;
        let Self { entry, workgroups, overrides, .. } = &file;
        let run = Run { entry: entry.clone(), workgroups: *workgroups, overrides: overrides.clone(), buffers };
        Ok((file, run))
    }

    /// A run that was told from a shader.
    pub(super) fn reflected(run: &Run) -> Self {
        Self {
            entry: run.entry.clone(),
            workgroups: run.workgroups,
            overrides: run.overrides.clone(),
            buffers: run.buffers.iter().map(BufferEntry::from).collect(),
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
            text += &format!(
                "  {} (group {group}, binding {binding}): {bytes} bytes, {}\n",
                buffer.name(),
                fill.toml().trim_matches('"')
            );
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
            text += &format!(
                "
[[buffers]]
name = \"{}\"
group = {group}
binding = {binding}
bytes = {bytes}
fill = {}
",
                buffer.name(),
                fill.toml(),
            );
        }
        text
    }
}

impl BufferEntry {
    fn name(&self) -> String {
        let Self { group, binding, .. } = self;
        self.name.clone().unwrap_or_else(|| format!("group {group}, binding {binding}"))
    }

    /// The buffer, with the contents of the file that it names.
    fn buffer(&self, folder: &Path) -> Result<Buffer> {
        let fill = match &self.fill {
            Contents::Empty => Fill::Empty,
            Contents::Zeros => Fill::Zeros,
            Contents::Ramp => Fill::Ramp,
            Contents::Value(value) => Fill::Value(*value),
            Contents::Random(Random { seed, low, high }) => Fill::Random { seed: *seed, low: *low, high: *high },
            Contents::File(file) => {
                let path = folder.join(file);
                let fault = |error| {
                    Failure::usage(format!("cannot read {}, the contents of {}: {error}", path.display(), self.name()))
                };
                Fill::Bytes(std::fs::read(&path).map_err(fault)?)
            }
        };
        let Self { group, binding, bytes, .. } = *self;
        Ok(Buffer { name: self.name.clone().unwrap_or_default(), group, binding, bytes, fill })
    }
}

impl From<&Buffer> for BufferEntry {
    fn from(buffer: &Buffer) -> Self {
        let fill = match &buffer.fill {
            Fill::Empty => Contents::Empty,
            Fill::Zeros => Contents::Zeros,
            Fill::Ramp => Contents::Ramp,
            Fill::Value(value) => Contents::Value(*value),
            Fill::Random { seed, low, high } => Contents::Random(Random { seed: *seed, low: *low, high: *high }),
            Fill::Bytes(_) => unreachable!("a shader does not tell bytes"),
        };
        let Buffer { name, group, binding, bytes, .. } = buffer;
        Self { name: Some(name.clone()), group: *group, binding: *binding, bytes: *bytes, fill }
    }
}

impl Contents {
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
