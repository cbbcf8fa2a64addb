//! Where shaders run: on the simulator, and on lavapipe.

use std::collections::BTreeMap;

use wavelane::simt::{self, SimtOptions};
use wavelane::wgpu::util::DeviceExt;
use wavelane::wgpu::{self, BufferUsages, ShaderStages};
use wavelane::{Adapters, Gpu, SubgroupPath};

/// The widths that lavapipe has, too.
pub(crate) const WIDTHS: [u32; 3] = [4, 8, 16];

/// A device with all that the corpus needs of it.
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) lanes: u32,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// What is to run: entry points one after the other on the same buffers.
pub(crate) struct Job<'a> {
    pub(crate) source: &'a str,
    /// Entry points, each with its workgroups.
    pub(crate) runs: &'a [(String, [u32; 3])],
    pub(crate) overrides: &'a [(&'a str, f64)],
    /// Words of the bindings of group 0, in their order.
    pub(crate) buffers: &'a [Vec<u32>],
    /// Those of the bindings that are no buffers.
    pub(crate) others: &'a BTreeMap<u32, Other>,
}

/// What is bound and no buffer.
#[derive(Clone, Copy)]
pub(crate) enum Other {
    /// Its words are its levels, each with all its texels one after the other.
    Texture { format: wgpu::TextureFormat, size: wgpu::Extent3d, levels: u32 },
    /// It takes the nearest texel, and has no words.
    Sampler(wgpu::AddressMode),
}

/// What was made for a binding.
enum Made {
    Buffer(wgpu::Buffer),
    Texture(wgpu::Texture, wgpu::TextureView),
    Sampler(wgpu::Sampler),
}

/// Where bytes come back: rows, each at the begin of so many bytes.
struct Landing {
    buffer: wgpu::Buffer,
    row: u64,
    pitch: u64,
}

impl Device {
    /// The simulator at this width.
    pub(crate) fn simulated(lanes: u32) -> Self {
        let adapter = simt::adapter(&SimtOptions::default().lanes(lanes)).expect("a width that is simulated");
        let (device, queue) = open(&adapter);
        Self { name: adapter.get_info().name, lanes, device, queue }
    }

    /// The simulator at each width.
    pub(crate) fn all_simulated() -> [Self; 3] {
        WIDTHS.map(Self::simulated)
    }

    /// Lavapipe; or none, said aloud, unless `WAVELANE_REQUIRE_ADAPTER` is set: then its absence is a failure. Other
    /// drivers are free to differ in what the tolerances here allow lavapipe alone.
    pub(crate) fn lavapipe() -> Option<Self> {
        let adapters = Adapters::find(None);
        let adapter = match adapters.choose("llvmpipe") {
            Ok(adapter) => adapter,
            Err(error) => {
                let required = std::env::var_os("WAVELANE_REQUIRE_ADAPTER").is_some();
                assert!(!required || !adapters.is_empty(), "an adapter is required here: {error}");
                eprintln!("skipped, the comparison with lavapipe: {error}");
                return None;
            }
        };
        let (device, queue) = open(adapter);
        let gpu = pollster::block_on(Gpu::from_device(adapter, &device, &queue)).expect("lavapipe runs the probe");
        if gpu.path() != SubgroupPath::Native {
            // It can be told a vector width at which it says another number of lanes than it runs.
            eprintln!("skipped, the comparison with lavapipe: {}", gpu.probe().reason());
            return None;
        }
        Some(Self { name: adapter.get_info().name, lanes: gpu.probe().width(), device, queue })
    }

    /// What the buffers hold afterwards.
    pub(crate) fn run(&self, job: &Job<'_>) -> Vec<Vec<u32>> {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(job.source.into()),
        });
        // One layout for all entry points, whatever each of them uses.
        let types = binding_types(job);
        assert!(types.keys().copied().eq(0..job.buffers.len() as u32), "a buffer for each binding from 0 on");
        let entries: Vec<_> = types
            .iter()
            .map(|(&binding, &ty)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: ShaderStages::COMPUTE,
                ty,
                count: None,
            })
            .collect();
        let group_layout =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&group_layout)],
            ..Default::default()
        });
        let made: Vec<_> =
            job.buffers.iter().zip(&types).map(|(words, (at, ty))| self.make(job, words, *at, *ty)).collect();
        let entries: Vec<_> = made
            .iter()
            .zip(0..)
            .map(|(made, binding)| {
                let resource = match made {
                    Made::Buffer(buffer) => buffer.as_entire_binding(),
                    Made::Texture(_, view) => wgpu::BindingResource::TextureView(view),
                    Made::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
                };
                wgpu::BindGroupEntry { binding, resource }
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &group_layout,
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for (entry, [x, y, z]) in job.runs {
            let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(&layout),
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: job.overrides,
                    ..Default::default()
                },
                cache: None,
            });
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(*x, *y, *z);
        }
        let landings: Vec<Vec<Landing>> = made.iter().map(|made| self.land(&mut encoder, made)).collect();
        self.queue.submit([encoder.finish()]);
        for landing in landings.iter().flatten() {
            landing.buffer.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.expect("it is mapped"));
        }
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let bytes = |landing: &Landing| -> Vec<u8> {
            let range = landing.buffer.slice(..).get_mapped_range().expect("it is mapped");
            range.chunks(landing.pitch as usize).flat_map(|row| row[..landing.row as usize].to_vec()).collect()
        };
        let words = |landings: &Vec<Landing>| {
            bytemuck::pod_collect_to_vec(&landings.iter().flat_map(bytes).collect::<Vec<_>>())
        };
        landings.iter().map(words).collect()
    }

    fn make(&self, job: &Job<'_>, words: &[u32], binding: u32, ty: wgpu::BindingType) -> Made {
        match (ty, job.others.get(&binding)) {
            (wgpu::BindingType::Buffer { ty, .. }, None) => Made::Buffer(self.upload(words, ty)),
            (_, Some(&Other::Sampler(mode))) => Made::Sampler(self.device.create_sampler(&wgpu::SamplerDescriptor {
                address_mode_u: mode,
                address_mode_v: mode,
                address_mode_w: mode,
                ..Default::default()
            })),
            (_, Some(&Other::Texture { format, size, levels })) => {
                let (usage, view) = match ty {
                    wgpu::BindingType::StorageTexture { view_dimension, .. } => {
                        (wgpu::TextureUsages::STORAGE_BINDING, view_dimension)
                    }
                    wgpu::BindingType::Texture { view_dimension, .. } => {
                        (wgpu::TextureUsages::TEXTURE_BINDING, view_dimension)
                    }
                    other => panic!("{other:?} is no texture"),
                };
                let descriptor = wgpu::TextureDescriptor {
                    label: None,
                    size,
                    mip_level_count: levels,
                    sample_count: 1,
                    dimension: view.compatible_texture_dimension(),
                    format,
                    usage: usage | wgpu::TextureUsages::COPY_SRC,
                    view_formats: &[],
                };
                let order = wgpu::util::TextureDataOrder::MipMajor;
                let contents = bytemuck::cast_slice(words);
                let texture = self.device.create_texture_with_data(&self.queue, &descriptor, order, contents);
                let view = wgpu::TextureViewDescriptor { dimension: Some(view), ..Default::default() };
                let view = texture.create_view(&view);
                Made::Texture(texture, view)
            }
            (other, _) => panic!("binding {binding}: nothing was said of {other:?}"),
        }
    }

    /// Copies what was made to where the host reads it: a texture level by level.
    fn land(&self, encoder: &mut wgpu::CommandEncoder, made: &Made) -> Vec<Landing> {
        let landing = |size| {
            let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
            self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        match made {
            Made::Buffer(from) => {
                let buffer = landing(from.size());
                encoder.copy_buffer_to_buffer(from, 0, &buffer, 0, from.size());
                vec![Landing { buffer, row: from.size(), pitch: from.size() }]
            }
            Made::Texture(texture, _) => {
                let level = |mip_level| {
                    let size = texture.size().mip_level_size(mip_level, texture.dimension());
                    let row = size.width * texture.format().block_copy_size(None).expect("it has one plane");
                    let pitch = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
                    let rows = size.height * size.depth_or_array_layers;
                    let buffer = landing(u64::from(pitch) * u64::from(rows));
                    let layout = wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(pitch),
                        rows_per_image: Some(size.height),
                    };
                    encoder.copy_texture_to_buffer(
                        wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() },
                        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
                        size,
                    );
                    Landing { buffer, row: row.into(), pitch: pitch.into() }
                };
                (0..texture.mip_level_count()).map(level).collect()
            }
            Made::Sampler(_) => Vec::new(),
        }
    }

    fn upload(&self, words: &[u32], ty: wgpu::BufferBindingType) -> wgpu::Buffer {
        let usage = match ty {
            wgpu::BufferBindingType::Uniform => BufferUsages::UNIFORM,
            wgpu::BufferBindingType::Storage { .. } => BufferUsages::STORAGE,
        };
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(words),
            usage: usage | BufferUsages::COPY_SRC,
        })
    }
}

fn open(adapter: &wgpu::Adapter) -> (wgpu::Device, wgpu::Queue) {
    let needs = wavelane::requirements(adapter);
    // The library has no use for these; a shader here has.
    let also = adapter.features() & wgpu::Features::SHADER_I16;
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: needs.features | also,
        required_limits: needs.limits,
        ..Default::default()
    }))
    .expect("the adapter has what it said")
}

/// The bindings of group 0.
fn binding_types(job: &Job<'_>) -> BTreeMap<u32, wgpu::BindingType> {
    let module = parse(job.source).unwrap_or_else(|error| panic!("{error}\n{}", job.source));
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let bound = module.global_variables.iter().filter_map(|(_, variable)| {
        let binding = variable.binding.as_ref()?.binding;
        let ty = match variable.space {
            naga::AddressSpace::Storage { access } => {
                let read_only = !access.contains(naga::StorageAccess::STORE);
                buffer(wgpu::BufferBindingType::Storage { read_only })
            }
            naga::AddressSpace::Uniform => buffer(wgpu::BufferBindingType::Uniform),
            naga::AddressSpace::Handle => other_type(&module.types[variable.ty].inner, job.others.get(&binding)?),
            _ => return None,
        };
        Some((binding, ty))
    });
    bound.collect()
}

fn other_type(inner: &naga::TypeInner, other: &Other) -> wgpu::BindingType {
    let (naga::TypeInner::Image { dim, arrayed, class }, Other::Texture { format, .. }) = (inner, other) else {
        return wgpu::BindingType::Sampler(wgpu::SamplerBindingType::NonFiltering);
    };
    let view_dimension = match dim {
        naga::ImageDimension::D1 => wgpu::TextureViewDimension::D1,
        naga::ImageDimension::D3 => wgpu::TextureViewDimension::D3,
        _ if *arrayed => wgpu::TextureViewDimension::D2Array,
        _ => wgpu::TextureViewDimension::D2,
    };
    match class {
        naga::ImageClass::Storage { access, .. } => {
            let [load, store] = [naga::StorageAccess::LOAD, naga::StorageAccess::STORE].map(|to| access.contains(to));
            let access = match (load, store) {
                (true, true) => wgpu::StorageTextureAccess::ReadWrite,
                (true, false) => wgpu::StorageTextureAccess::ReadOnly,
                _ => wgpu::StorageTextureAccess::WriteOnly,
            };
            wgpu::BindingType::StorageTexture { access, format: *format, view_dimension }
        }
        _ => {
            let sample_type = match format.sample_type(None, None) {
                Some(wgpu::TextureSampleType::Float { .. }) => wgpu::TextureSampleType::Float { filterable: false },
                other => other.expect("it can be sampled"),
            };
            wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false }
        }
    }
}

/// naga's tree of a shader.
pub(crate) fn parse(source: &str) -> Result<naga::Module, String> {
    let mut options = naga::front::wgsl::Options::new();
    options.capabilities = naga::valid::Capabilities::all();
    naga::front::wgsl::Frontend::new_with_options(options).parse(source).map_err(|error| error.emit_to_string(source))
}
