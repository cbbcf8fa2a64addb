//! The device: which adapter, what it can do, how wide its subgroups really are.
//!
//! [`Gpu`] is a handle on a wgpu device with what this crate learnt of it. [`Gpu::open`] chooses an adapter by itself;
//! [`Gpu::from_device`] takes the device that a program already has. Either way a small kernel counts the lanes
//! first ([`Probe`]), because what an adapter reports is a range, a ceiling, or wrong.

mod adapter;
mod lane_map;
mod probe;
mod readback;
mod requirements;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

pub use adapter::{Adapters, GpuOptions};
pub use lane_map::LaneMap;
pub use probe::{Probe, ShapeProbe};
pub use requirements::{Requirements, requirements};

use crate::error::{Error, ErrorKind, Result};
use crate::primitive::{Binding, MAX_ELEMENT_BYTES};
use crate::shader::{Assembled, Checks, trusted};

/// How subgroup operations are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubgroupPath {
    /// By the hardware's subgroup operations, at the width that each kernel reads for itself.
    Native,
    /// Over workgroup memory with barriers, `lanes` wide: for devices without subgroups, and for tests at any width.
    Emulated {
        /// Lanes of an emulated subgroup: a power of two from 1 to 128.
        lanes: u32,
    },
}

impl SubgroupPath {
    /// The width used where subgroups are emulated without a wish for another one.
    pub const DEFAULT_EMULATED: SubgroupPath = SubgroupPath::Emulated { lanes: 32 };

    /// `native` or `emulated`, as written in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Emulated { .. } => "emulated",
        }
    }
}

impl std::fmt::Display for SubgroupPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Native => f.write_str("native"),
            Self::Emulated { lanes } => write!(f, "emulated at {lanes} lanes"),
        }
    }
}

/// A wgpu device with what this crate learnt of it. Cheap to clone; clones share pipelines.
#[derive(Clone)]
pub struct Gpu {
    shared: Arc<Shared>,
    path: SubgroupPath,
    checks: Checks,
}

struct Shared {
    info: wgpu::AdapterInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    features: wgpu::Features,
    limits: wgpu::Limits,
    probe: Probe,
    pipelines: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
    pipeline_cache: OnceLock<wgpu::PipelineCache>,
    placeholders: OnceLock<[wgpu::Buffer; 2]>,
    /// What went wrong outside any call, kept for the next call that can report it. Only filled for devices that
    /// this crate opened: a caller's device keeps the caller's handlers.
    faults: Arc<Faults>,
    timeout: Duration,
}

#[derive(PartialEq, Eq, Hash)]
struct PipelineKey {
    text: String,
    entry: String,
    trusted: bool,
    bindings: Option<Vec<Binding>>,
}

/// The error that wgpu reported by callback, until a call tells it.
#[derive(Default)]
struct Faults(Mutex<Option<Error>>);

impl Faults {
    /// Keeps the first error, unless the device was lost: then whatever else goes wrong does so because of that.
    fn keep(&self, error: Error) {
        let mut kept = self.kept();
        if kept.is_none() || error.kind() == ErrorKind::DeviceLost {
            *kept = Some(error);
        }
    }

    /// The error, for one call to tell; of a lost device, for every call.
    fn take(&self) -> Option<Error> {
        self.lost().or_else(|| self.kept().take())
    }

    /// The loss of the device.
    fn lost(&self) -> Option<Error> {
        self.kept().clone().filter(|error| error.kind() == ErrorKind::DeviceLost)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Error>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu")
            .field("adapter", &self.shared.info.name)
            .field("backend", &self.shared.info.backend)
            .field("path", &self.path)
            .field("checks", &self.checks)
            .finish_non_exhaustive()
    }
}

impl Gpu {
    /// How long the blocking calls wait for the device unless [`GpuOptions::timeout`] says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

    /// Opens the best adapter: a discrete GPU before an integrated one, before a virtual one, before a CPU driver. The
    /// device gets all of the adapter's limits, and the features of [`requirements`].
    ///
    /// `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` narrow the choice. Blocks; takes about 0.2 s, most of it the driver's.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] where none is found, [`ErrorKind::NoDevice`] where the adapter refuses.
    pub fn open() -> Result<Self> {
        GpuOptions::default().open()
    }

    /// Options for opening an adapter by name, index or backend.
    pub fn options() -> GpuOptions {
        GpuOptions::default()
    }

    /// Uses a device that the program already has, and counts its lanes with a small kernel on `queue`.
    ///
    /// Merge [`requirements`] into the device request first; what the device was not given is not used (without
    /// `SUBGROUP` the emulated path is taken). Async in form only: it polls the device itself until the probe's result is
    /// there, some milliseconds, and holds its thread meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::LimitTooSmall`] where the device is below what any path needs, [`ErrorKind::Timeout`] or
    /// [`ErrorKind::DeviceLost`] where the probe does not come back.
    pub async fn from_device(adapter: &wgpu::Adapter, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self> {
        let gpu = Self::unprobed(adapter.get_info(), device, queue, Arc::default(), Self::DEFAULT_TIMEOUT)?;
        gpu.probed()
    }

    /// As [`from_device`](Self::from_device), with a [`Probe`] saved earlier from the same adapter and driver: runs
    /// nothing. A probe of another adapter or driver version gives wrong results; nobody checks.
    ///
    /// # Errors
    /// [`ErrorKind::LimitTooSmall`] where the device is below what any path needs.
    pub fn with_probe(
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        probe: Probe,
    ) -> Result<Self> {
        let gpu = Self::unprobed(adapter.get_info(), device, queue, Arc::default(), Self::DEFAULT_TIMEOUT)?;
        Ok(gpu.with_probe_result(probe))
    }

    fn unprobed(
        info: wgpu::AdapterInfo,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        faults: Arc<Faults>,
        timeout: Duration,
    ) -> Result<Self> {
        let limits = device.limits();
        requirements::check(&limits)?;
        let probe = Probe::unmeasured(&info, device.features());
        Ok(Self {
            path: probe.path(),
            checks: Checks::Trusted,
            shared: Arc::new(Shared {
                features: device.features(),
                limits,
                info,
                device: device.clone(),
                queue: queue.clone(),
                probe,
                pipelines: Mutex::default(),
                pipeline_cache: OnceLock::new(),
                placeholders: OnceLock::new(),
                faults,
                timeout,
            }),
        })
    }

    fn probed(self) -> Result<Self> {
        let probe = Probe::run(&self)?;
        if let Some(warning) = probe.warning() {
            log::warn!("{}: {warning}", self.shared.info.name);
        }
        Ok(self.with_probe_result(probe))
    }

    fn with_probe_result(self, probe: Probe) -> Self {
        let path = probe.path();
        let mut shared = Arc::into_inner(self.shared).expect("a new Gpu has no clones yet");
        shared.probe = probe;
        Self { shared: Arc::new(shared), path, checks: self.checks }
    }

    /// The same device with another way of carrying out subgroup operations.
    ///
    /// # Errors
    /// [`ErrorKind::MissingFeature`] for [`SubgroupPath::Native`] on a device whose probe did not find subgroups to
    /// rely on; [`ErrorKind::InvalidArgument`] for a width that is no power of two from 1 to 128.
    pub fn with_path(&self, path: SubgroupPath) -> Result<Self> {
        match path {
            SubgroupPath::Native if self.shared.probe.path() != SubgroupPath::Native => {
                return Err(Error::new(
                    ErrorKind::MissingFeature,
                    format!(
                        "native subgroups cannot be used on {}: {}",
                        self.shared.info.name,
                        self.shared.probe.reason()
                    ),
                ));
            }
            SubgroupPath::Emulated { lanes } if !lanes.is_power_of_two() || lanes > crate::shader::MAX_LANES => {
                return Err(Error::argument(format!(
                    "an emulated subgroup has a power of two from 1 to {} lanes, not {lanes}",
                    crate::shader::MAX_LANES
                )));
            }
            _ => {}
        }
        Ok(Self { path, ..self.clone() })
    }

    /// The same device with wgpu's run-time checks on or off in this crate's own kernels.
    ///
    /// Off ([`Checks::Trusted`]) is the default and up to three times faster; kernels that hold a caller's text with
    /// loops, dynamic indices or globals are checked in any case.
    pub fn with_checks(&self, checks: Checks) -> Self {
        Self { checks, ..self.clone() }
    }

    /// Uses a wgpu pipeline cache for every pipeline built from now on (Vulkan only). The first call wins.
    pub fn set_pipeline_cache(&self, cache: wgpu::PipelineCache) {
        let _ = self.shared.pipeline_cache.set(cache);
    }

    /// The adapter's name, driver, type and reported subgroup sizes.
    pub fn info(&self) -> &wgpu::AdapterInfo {
        &self.shared.info
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.shared.device
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.shared.queue
    }

    /// Features of the device (not of the adapter: what the device was made with).
    pub fn features(&self) -> wgpu::Features {
        self.shared.features
    }

    /// Limits of the device.
    pub fn limits(&self) -> &wgpu::Limits {
        &self.shared.limits
    }

    /// What the probe kernel counted.
    pub fn probe(&self) -> &Probe {
        &self.shared.probe
    }

    /// How subgroup operations are carried out.
    pub fn path(&self) -> SubgroupPath {
        self.path
    }

    /// Whether wgpu's run-time checks are on in this crate's own kernels.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// The subgroup width that kernels of this handle have: counted on the native path, chosen on the emulated one.
    ///
    /// Where one adapter mixes widths this is the widest seen; kernels never rely on it.
    pub fn lanes(&self) -> u32 {
        match self.path {
            SubgroupPath::Native => self.shared.probe.width(),
            SubgroupPath::Emulated { lanes } => lanes,
        }
    }

    /// The smallest subgroup width that a kernel of this handle can meet: what workgroup arrays are sized for.
    pub fn min_lanes(&self) -> u32 {
        match self.path {
            SubgroupPath::Native => self.shared.probe.min_width(),
            SubgroupPath::Emulated { lanes } => lanes,
        }
    }

    /// Whether the adapter is a driver that runs on the CPU (lavapipe, SwiftShader, WARP).
    pub fn is_cpu(&self) -> bool {
        self.shared.info.device_type == wgpu::DeviceType::Cpu
    }

    /// `vulkan`, `metal`, `dx12`, or `simt` for the simulator, whose backend wgpu has no name for.
    pub fn backend_name(&self) -> String {
        if self.is_simulated() { "simt".into() } else { self.shared.info.backend.to_string() }
    }

    /// Whether the device is this crate's simulator (`wavelane::simt`), whose timestamps count issues.
    pub fn is_simulated(&self) -> bool {
        #[cfg(feature = "simt")]
        return crate::simt::is_simulated(&self.shared.device);
        #[cfg(not(feature = "simt"))]
        return false;
    }

    /// Lets the timestamps of a simulated device count sectors of storage buffers from now on instead of issues, or issues
    /// again.
    #[cfg(feature = "lab")]
    pub(crate) fn count_sectors(&self, sectors: bool) {
        #[cfg(feature = "simt")]
        crate::simt::count_sectors(&self.shared.device, sectors);
        #[cfg(not(feature = "simt"))]
        let _ = sectors;
    }

    /// Builds the pipeline of one entry point of a caller's kernel: of [`Library::with_kernel`], which validated it.
    /// Kept: the same kernel and entry point give the same pipeline.
    ///
    /// Bind group layouts are derived from the text ([`get_bind_group_layout`](wgpu::ComputePipeline)). wgpu's run-time
    /// checks stay in. Workgroup memory is not zeroed: the building blocks initialise what they read, and so must the
    /// kernel. A program that wants it otherwise builds its own pipeline from [`Assembled::text`].
    ///
    /// [`Library::with_kernel`]: crate::shader::Library::with_kernel
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] where the kernel has no such entry point, [`ErrorKind::MissingFeature`] where it needs
    /// what the device was made without; [`ErrorKind::Internal`] where wgpu refuses what naga accepted.
    pub fn compute_pipeline(&self, kernel: &Assembled, entry: &str) -> Result<wgpu::ComputePipeline> {
        let (module, _) = kernel.validate_for(self.features())?;
        let points = module.entry_points.iter().filter(|point| point.stage == naga::ShaderStage::Compute);
        let names: Vec<_> = points.map(|point| point.name.as_str()).collect();
        if !names.contains(&entry) {
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(Error::argument(format!("the kernel has no entry point '{entry}'; it has {names}")));
        }
        self.pipeline(entry, kernel.text(), entry, Checks::Checked)
    }

    /// Builds a compute pipeline from WGSL text, with the bind group layout derived from the text, and keeps it: the
    /// same text and entry point give the same pipeline.
    ///
    /// `checks` says whether wgpu's run-time checks stay in. Only text of this crate may pass [`Checks::Trusted`];
    /// workgroup memory is never zeroed by wgpu, so kernels initialise what they read.
    pub(crate) fn pipeline(
        &self,
        label: &str,
        text: &str,
        entry: &str,
        checks: Checks,
    ) -> Result<wgpu::ComputePipeline> {
        self.cached_pipeline(label, text, entry, checks, None)
    }

    /// As [`pipeline`](Self::pipeline), with these bindings in group 0, whether the entry point uses them or not.
    pub(crate) fn pipeline_with_bindings(
        &self,
        label: &str,
        text: &str,
        entry: &str,
        checks: Checks,
        bindings: &[Binding],
    ) -> Result<wgpu::ComputePipeline> {
        self.cached_pipeline(label, text, entry, checks, Some(bindings))
    }

    fn cached_pipeline(
        &self,
        label: &str,
        text: &str,
        entry: &str,
        checks: Checks,
        bindings: Option<&[Binding]>,
    ) -> Result<wgpu::ComputePipeline> {
        let key = PipelineKey {
            text: text.into(),
            entry: entry.into(),
            trusted: checks == Checks::Trusted,
            bindings: bindings.map(<[Binding]>::to_vec),
        };
        self.alive()?;
        let mut pipelines = self.shared.pipelines.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(pipeline) = pipelines.get(&key) {
            return Ok(pipeline.clone());
        }
        let device = &self.shared.device;
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let layout = bindings.map(|bindings| self.pipeline_layout(label, bindings));
        let module = trusted::create_module(device, label, text, checks);
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: layout.as_ref(),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: self.shared.pipeline_cache.get(),
        });
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(Error::internal(format!("{label}: {error}")));
        }
        pipelines.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    fn pipeline_layout(&self, label: &str, bindings: &[Binding]) -> wgpu::PipelineLayout {
        let entries: Vec<_> = (0..)
            .zip(bindings)
            .filter(|(_, kind)| **kind != Binding::Unused)
            .map(|(binding, kind)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: match kind {
                        Binding::Uniform => wgpu::BufferBindingType::Uniform,
                        Binding::Read => wgpu::BufferBindingType::Storage { read_only: true },
                        Binding::Write | Binding::Unused => wgpu::BufferBindingType::Storage { read_only: false },
                    },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let device = &self.shared.device;
        let group =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries });
        device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        })
    }

    /// Stands in for a binding that a call does not touch: one for reading, one for writing.
    pub(crate) fn placeholders(&self) -> Result<&[wgpu::Buffer; 2]> {
        if self.shared.placeholders.get().is_none() {
            let make = || self.buffer("wavelane placeholder", MAX_ELEMENT_BYTES.into(), wgpu::BufferUsages::STORAGE);
            let _ = self.shared.placeholders.set([make()?, make()?]);
        }
        Ok(self.shared.placeholders.get().expect("set above"))
    }

    /// Makes a buffer, or says that the device has no room for it.
    pub(crate) fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        self.alive()?;
        let allowed = self.shared.limits.max_buffer_size;
        if bytes > allowed {
            return Err(Error::limit(&format!("a buffer ({label}, bytes)"), bytes, allowed, "max_buffer_size"));
        }
        let device = &self.shared.device;
        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            // A binding may not be empty, and copies move whole words.
            size: bytes.max(4).next_multiple_of(4),
            usage,
            mapped_at_creation: false,
        });
        let invalid = pollster::block_on(validation.pop());
        if let Some(error) = pollster::block_on(memory.pop()) {
            return Err(Error::new(
                ErrorKind::OutOfMemory,
                format!("no device memory for {bytes} bytes ({label}): {error}"),
            ));
        }
        match invalid {
            None => Ok(buffer),
            Some(error) => {
                Err(Error::argument(format!("no buffer of {bytes} bytes with usages {usage:?} ({label}): {error}")))
            }
        }
    }

    /// A buffer holding `bytes`, filled up with zeros to whole words.
    pub(crate) fn buffer_with(&self, label: &str, bytes: &[u8], usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let buffer = self.buffer(label, bytes.len() as u64, usage | wgpu::BufferUsages::COPY_DST)?;
        // Copies move whole words.
        let (words, rest) = bytes.split_at(bytes.len() / 4 * 4);
        if !words.is_empty() {
            self.shared.queue.write_buffer(&buffer, 0, words);
        }
        if !rest.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            self.shared.queue.write_buffer(&buffer, words.len() as u64, &last);
        }
        Ok(buffer)
    }

    /// Refuses to make anything of a device that is known to be lost: wgpu would, and say nothing.
    fn alive(&self) -> Result<()> {
        self.shared.faults.lost().map_or(Ok(()), |error| Err(self.explained(error)))
    }

    /// The error that a callback left behind, if any.
    fn fault(&self) -> Result<()> {
        self.shared.faults.take().map_or(Ok(()), |error| Err(self.explained(error)))
    }

    /// What wgpu reported, with what the simulator knows of it where the device is one.
    fn explained(&self, error: Error) -> Error {
        #[cfg(feature = "simt")]
        if error.kind() == ErrorKind::DeviceLost
            && let Ok(Some(fault)) = crate::simt::fault(&self.shared.device)
        {
            return Error::new(ErrorKind::DeviceLost, format!("the simulated device was lost: {fault}"));
        }
        error
    }
}
