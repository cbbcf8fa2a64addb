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
        let types = binding_types(job.source);
        assert!(types.keys().copied().eq(0..job.buffers.len() as u32), "a buffer for each binding from 0 on");
        let entries: Vec<_> = types
            .iter()
            .map(|(&binding, &ty)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            })
            .collect();
        let group_layout =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&group_layout)],
            ..Default::default()
        });
        let buffers: Vec<_> =
            job.buffers.iter().zip(types.values()).map(|(words, ty)| self.upload(words, *ty)).collect();
        let entries: Vec<_> = buffers
            .iter()
            .zip(0..)
            .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
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
        let landings: Vec<_> = buffers
            .iter()
            .map(|buffer| {
                let landing = self.device.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size: buffer.size(),
                    usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                encoder.copy_buffer_to_buffer(buffer, 0, &landing, 0, buffer.size());
                landing
            })
            .collect();
        self.queue.submit([encoder.finish()]);
        for landing in &landings {
            landing.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.expect("it is mapped"));
        }
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let words = |landing: &wgpu::Buffer| {
            bytemuck::pod_collect_to_vec(&landing.slice(..).get_mapped_range().expect("it is mapped"))
        };
        landings.iter().map(words).collect()
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
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: needs.features,
        required_limits: needs.limits,
        ..Default::default()
    }))
    .expect("the adapter has what it said")
}

/// The bindings of group 0.
fn binding_types(source: &str) -> BTreeMap<u32, wgpu::BufferBindingType> {
    let module = parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let variables = module.global_variables.iter();
    variables
        .filter_map(|(_, variable)| {
            let ty = match variable.space {
                naga::AddressSpace::Storage { access } => {
                    wgpu::BufferBindingType::Storage { read_only: !access.contains(naga::StorageAccess::STORE) }
                }
                naga::AddressSpace::Uniform => wgpu::BufferBindingType::Uniform,
                _ => return None,
            };
            Some((variable.binding.as_ref()?.binding, ty))
        })
        .collect()
}

/// naga's tree of a shader.
pub(crate) fn parse(source: &str) -> Result<naga::Module, String> {
    let mut options = naga::front::wgsl::Options::new();
    options.capabilities = naga::valid::Capabilities::all();
    naga::front::wgsl::Frontend::new_with_options(options).parse(source).map_err(|error| error.emit_to_string(source))
}
