//! The shaders of tests/corpus: the simulator at 4, 8 and 16 lanes, lavapipe and an oracle agree.
//!
//! A shader begins with comments: what it is, and how it is run, a line each.
//!
//! | line | says |
//! | --- | --- |
//! | `run: NAME X [Y [Z]]` | an entry point and its workgroups, in the order in which they run |
//! | `buffer: COUNT FILL` | the next binding of group 0, from 0 on, with so many words |
//! | `texture: FORMAT WIDTH HEIGHT DEPTH LEVELS FILL` | likewise; its words are its texels, level by level |
//! | `sampler: MODE` | likewise; it takes the nearest texel, and `clamp`, `repeat` or `mirror` beyond the edges |
//! | `override: NAME VALUE` | the value of an override |
//! | `ulps: BINDING N` | the binding holds f32, which may be so many ulps apart from lavapipe's |
//! | `width: seen` | the results depend on the width of a subgroup |
//! | `simulated only: WHY` | lavapipe does not get to run it |
//!
//! Fills are `zeros`, `ramp` (0, 1, …), `random SEED [below N]`, `floats SEED LOW HIGH` and `words A B …` (then zeros).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use wavelane::wgpu::{self, AddressMode, TextureFormat};

use crate::device::{Device, Job, Other};
use crate::{oracle, ulps};

/// A shader and how it is run.
struct Shader {
    name: String,
    source: String,
    runs: Vec<(String, [u32; 3])>,
    overrides: Vec<(String, f64)>,
    buffers: Vec<Vec<u32>>,
    /// The bindings that are no buffers.
    others: BTreeMap<u32, Other>,
    /// How far the floats of each buffer may be from lavapipe's; none of integers, whose bits are compared.
    ulps: Vec<Option<u32>>,
    sees_width: bool,
    simulated_only: bool,
}

impl Shader {
    fn read(path: &PathBuf) -> Self {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let source = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut shader = Self {
            name,
            source: source.clone(),
            runs: Vec::new(),
            overrides: Vec::new(),
            buffers: Vec::new(),
            others: BTreeMap::new(),
            ulps: Vec::new(),
            sees_width: false,
            simulated_only: false,
        };
        for line in source.lines().map_while(|line| line.strip_prefix("// ")).skip(1) {
            shader.line(line).unwrap_or_else(|| panic!("{}: {line}", shader.name));
        }
        shader
    }

    /// Takes in a line of the head; nothing where it makes no sense.
    fn line(&mut self, line: &str) -> Option<()> {
        let (key, rest) = line.split_once(": ")?;
        let words: Vec<&str> = rest.split(' ').collect();
        match (key, words.as_slice()) {
            ("run", [entry, counts @ ..]) => {
                let mut workgroups = [1; 3];
                for (to, count) in workgroups.iter_mut().zip(counts) {
                    *to = count.parse().ok()?;
                }
                self.runs.push(((*entry).to_string(), workgroups));
            }
            ("buffer", [count, fill @ ..]) => {
                self.buffers.push(filled(count.parse().ok()?, fill)?);
                self.ulps.push(None);
            }
            ("texture", [format, width, height, depth, levels, fill @ ..]) => {
                let (_, format) = *FORMATS.iter().find(|(name, _)| name == format)?;
                let (width, height, depth_or_array_layers) =
                    (width.parse().ok()?, height.parse().ok()?, depth.parse().ok()?);
                let levels: u32 = levels.parse().ok()?;
                let size = wgpu::Extent3d { width, height, depth_or_array_layers };
                // Only the levels of a volume have less depth: one has one level here.
                let of_level = |level| size.mip_level_size(level, wgpu::TextureDimension::D2);
                let texels = |size: wgpu::Extent3d| size.width * size.height * size.depth_or_array_layers;
                let texels: u32 = (0..levels).map(|level| texels(of_level(level))).sum();
                let bytes = texels * format.block_copy_size(None)?;
                self.others.insert(self.buffers.len() as u32, Other::Texture { format, size, levels });
                self.buffers.push(filled(bytes as usize / 4, fill)?);
                self.ulps.push(None);
            }
            ("sampler", [mode]) => {
                let mode = match *mode {
                    "clamp" => AddressMode::ClampToEdge,
                    "repeat" => AddressMode::Repeat,
                    "mirror" => AddressMode::MirrorRepeat,
                    _ => return None,
                };
                self.others.insert(self.buffers.len() as u32, Other::Sampler(mode));
                self.buffers.push(Vec::new());
                self.ulps.push(None);
            }
            ("override", [name, value]) => self.overrides.push(((*name).to_string(), value.parse().ok()?)),
            ("ulps", [binding, most]) => {
                *self.ulps.get_mut(binding.parse::<usize>().ok()?)? = Some(most.parse().ok()?);
            }
            ("width", ["seen"]) => self.sees_width = true,
            ("simulated only", _) => self.simulated_only = true,
            _ => return None,
        }
        Some(())
    }

    fn run(&self, device: &Device) -> Vec<Vec<u32>> {
        let overrides: Vec<_> = self.overrides.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        device.run(&Job {
            source: &self.source,
            runs: &self.runs,
            overrides: &overrides,
            buffers: &self.buffers,
            others: &self.others,
        })
    }
}

/// Formats that every device has for storage.
const FORMATS: [(&str, TextureFormat); 6] = [
    ("rgba8unorm", TextureFormat::Rgba8Unorm),
    ("rgba8snorm", TextureFormat::Rgba8Snorm),
    ("rgba8uint", TextureFormat::Rgba8Uint),
    ("r32uint", TextureFormat::R32Uint),
    ("rg32float", TextureFormat::Rg32Float),
    ("rgba16float", TextureFormat::Rgba16Float),
];

fn filled(count: usize, fill: &[&str]) -> Option<Vec<u32>> {
    Some(match *fill {
        ["zeros"] => vec![0; count],
        ["ramp"] => (0..count as u32).collect(),
        ["random", seed] => noise(seed.parse().ok()?).take(count).collect(),
        ["random", seed, "below", most] => {
            let most: u32 = most.parse().ok()?;
            noise(seed.parse().ok()?).take(count).map(|word| word % most).collect()
        }
        ["floats", seed, low, high] => {
            let (low, high): (f32, f32) = (low.parse().ok()?, high.parse().ok()?);
            let unit = noise(seed.parse().ok()?).map(|word| (word >> 8) as f32 / (1 << 24) as f32);
            unit.take(count).map(|unit| (low + (high - low) * unit).to_bits()).collect()
        }
        ["words", ref words @ ..] => {
            let mut all = words.iter().map(|word| word.parse().ok()).collect::<Option<Vec<u32>>>()?;
            all.resize(count, 0);
            all
        }
        _ => return None,
    })
}

/// Words without a pattern.
fn noise(seed: u32) -> impl Iterator<Item = u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    })
    .skip(4)
}

/// Every shader of the corpus, by name.
fn shaders() -> Vec<Shader> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let paths: BTreeSet<_> = files.map(|file| file.expect("it can be read").path()).collect();
    paths.iter().map(Shader::read).collect()
}

/// Where two results differ by more than is allowed, said in a line; else the most that they differ by.
fn compare(what: &str, got: &[Vec<u32>], expected: &[Vec<u32>], most: &[Option<u32>]) -> Result<u32, String> {
    assert_eq!(got.len(), expected.len(), "{what}");
    let mut farthest = 0;
    for (binding, ((got, expected), most)) in got.iter().zip(expected).zip(most).enumerate() {
        assert_eq!(got.len(), expected.len(), "{what}, binding {binding}");
        let differs = |(at, (x, y)): (usize, (&u32, &u32))| {
            let Some(most) = most else {
                return (x != y).then(|| format!("[{at}] {x:#x} for {y:#x}"));
            };
            let apart = ulps::apart(*x, *y);
            farthest = farthest.max(apart);
            (apart > *most)
                .then(|| format!("[{at}] {} for {}, {apart} ulps apart", f32::from_bits(*x), f32::from_bits(*y)))
        };
        let differences: Vec<_> = got.iter().zip(expected).enumerate().filter_map(differs).collect();
        if let Some(first) = differences.first() {
            let count = differences.len();
            return Err(format!("{what}, binding {binding}: {count} of {} words differ, first {first}", got.len()));
        }
    }
    Ok(farthest)
}

#[test]
fn every_shader_gives_the_same_everywhere() {
    let shaders = shaders();
    let names: BTreeSet<_> = shaders.iter().map(|shader| shader.name.as_str()).collect();
    for (name, _) in oracle::ORACLES {
        assert!(names.contains(name), "an oracle of {name}, which is not in the corpus");
    }
    let (simulators, lavapipe) = (Device::all_simulated(), Device::lavapipe());
    let mut failures = Vec::new();
    let (mut words, mut outputs) = (0, 0);
    for shader in &shaders {
        let name = &shader.name;
        let exact = vec![None; shader.buffers.len()];
        let results: Vec<_> = simulators.iter().map(|device| shader.run(device)).collect();
        for (device, result) in simulators.iter().zip(&results) {
            let what = format!("{name}, simulated at {} lanes", device.lanes);
            let mut check = |expected: &[Vec<u32>], than: &str| {
                if let Err(failure) = compare(&format!("{what}, against {than}"), result, expected, &exact) {
                    failures.push(failure);
                }
            };
            if !shader.sees_width {
                check(&results[0], "4 lanes");
            }
            if let Some((_, oracle)) = oracle::ORACLES.iter().find(|(of, _)| of == name) {
                check(&oracle(shader.buffers.clone(), device.lanes), "its oracle");
            }
            assert_ne!(*result, shader.buffers, "{what}: it did nothing");
        }
        if let Some(lavapipe) = lavapipe.as_ref().filter(|_| !shader.simulated_only) {
            let mut of_width = simulators.iter().zip(&results).filter(|(device, _)| device.lanes == lavapipe.lanes);
            let result = match of_width.next() {
                Some((_, result)) => result,
                None if shader.sees_width => continue,
                None => &results[0],
            };
            words += result.iter().map(Vec::len).sum::<usize>();
            outputs += 1;
            match compare(&format!("{name}, simulated against lavapipe"), result, &shader.run(lavapipe), &shader.ulps) {
                Ok(farthest) if farthest > 0 => println!("{name}: {farthest} ulps from lavapipe at most"),
                Ok(_) => {}
                Err(failure) => failures.push(failure),
            }
        }
    }
    println!("{} shaders; of {outputs}, {words} words compared with lavapipe", shaders.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
