//! Finding and opening an adapter.

use std::sync::Arc;
use std::time::Duration;

use super::{Gpu, SubgroupPath, probe::Probe};
use crate::error::{Error, ErrorKind, Result};
use crate::shader::Checks;

/// Which adapter to open, and how. Made by [`Gpu::options`].
///
/// ```no_run
/// let gpu = wavelane::Gpu::options().adapter("llvmpipe").open()?;
/// # Ok::<(), wavelane::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct GpuOptions {
    adapter: Option<String>,
    backends: Option<wgpu::Backends>,
    path: Option<SubgroupPath>,
    checks: Checks,
    timeout: Duration,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self { adapter: None, backends: None, path: None, checks: Checks::Trusted, timeout: Gpu::DEFAULT_TIMEOUT }
    }
}

impl GpuOptions {
    /// Chooses the adapter by its index in [`Adapters`], or by a part of its name (case does not matter).
    /// Without this the environment variable `WGPU_ADAPTER_NAME` is asked, then the best adapter is taken.
    pub fn adapter(mut self, name_or_index: impl Into<String>) -> Self {
        self.adapter = Some(name_or_index.into());
        self
    }

    /// Looks at these backends only. Without this the environment variable `WGPU_BACKEND` is asked, then all are.
    pub fn backends(mut self, backends: wgpu::Backends) -> Self {
        self.backends = Some(backends);
        self
    }

    /// Takes this subgroup path instead of the one that the probe chooses.
    pub fn path(mut self, path: SubgroupPath) -> Self {
        self.path = Some(path);
        self
    }

    /// Keeps wgpu's run-time checks in this crate's own kernels, or leaves them out (the default).
    pub fn checks(mut self, checks: Checks) -> Self {
        self.checks = checks;
        self
    }

    /// How long a blocking call waits for the device before it fails with [`ErrorKind::Timeout`]:
    /// [`Gpu::DEFAULT_TIMEOUT`] unless said here.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens the adapter and counts its lanes. Blocks.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`] names the adapters that were there; see also [`Gpu::open`].
    pub fn open(&self) -> Result<Gpu> {
        let adapters = Adapters::find(self.backends);
        let adapter = match &self.adapter {
            Some(wish) => adapters.choose(wish)?,
            None => match std::env::var("WGPU_ADAPTER_NAME") {
                Ok(wish) if !wish.is_empty() => adapters.choose(&wish)?,
                _ => adapters.best()?,
            },
        };
        self.open_adapter(adapter)
    }

    /// Opens this adapter with these options (the choice of adapter and backend aside). Blocks.
    ///
    /// # Errors
    /// [`ErrorKind::NoDevice`] where the adapter refuses, [`ErrorKind::LimitTooSmall`] where the device is below what any
    /// path needs, [`ErrorKind::MissingFeature`] and [`ErrorKind::InvalidArgument`] for a [`path`](Self::path) that it
    /// cannot take, and what the probe kernel meets ([`ErrorKind::Timeout`], [`ErrorKind::DeviceLost`]).
    pub fn open_adapter(&self, adapter: &wgpu::Adapter) -> Result<Gpu> {
        let info = adapter.get_info();
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("wavelane"),
            required_features: super::requirements(adapter).features,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(request).map_err(|error| {
            Error::new(ErrorKind::NoDevice, format!("{} ({}) gave no device: {error}", info.name, info.backend))
        })?;
        let faults = Arc::new(super::Faults::default());
        let (lost, uncaptured) = (faults.clone(), faults.clone());
        device.set_device_lost_callback(move |reason, message| {
            // Whoever uses a device after it was destroyed is told so; when it is dropped, nobody is left to tell.
            lost.keep(Error::new(
                ErrorKind::DeviceLost,
                match reason {
                    wgpu::DeviceLostReason::Destroyed => "the device was destroyed".into(),
                    _ => format!("the device was lost: {message}"),
                },
            ));
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let kind = match error {
                wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory,
                _ => ErrorKind::Internal,
            };
            uncaptured.keep(Error::new(kind, error.to_string()));
        }));
        let gpu = Gpu::unprobed(info, &device, &queue, faults, self.timeout)?.probed()?.with_checks(self.checks);
        match self.path {
            Some(path) => gpu.with_path(path),
            None => Ok(gpu),
        }
    }
}

/// Every adapter that wgpu sees, in wgpu's order: the index of [`GpuOptions::adapter`] counts in it.
#[derive(Debug)]
pub struct Adapters {
    list: Vec<wgpu::Adapter>,
    backends: wgpu::Backends,
}

impl Adapters {
    /// Looks for adapters on these backends; with none given, on those of `WGPU_BACKEND`, or on all. Blocks while the
    /// drivers load. Empty where there is none, also in a program without a backend.
    pub fn find(backends: Option<wgpu::Backends>) -> Self {
        let backends = backends.or_else(wgpu::Backends::from_env).unwrap_or(wgpu::Backends::all());
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        descriptor.backends = backends;
        // The validation of indirect arguments costs a dispatch of its own; this crate writes its own arguments.
        descriptor.flags.remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
        // wgpu panics when it is asked for an instance in a program that has no backend.
        let list = match wgpu::Instance::enabled_backend_features().is_empty() {
            true => Vec::new(),
            false => pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends)),
        };
        Self { list, backends }
    }

    /// The adapters of an instance that the program has made: the simulator's, say. Blocks.
    pub fn of(instance: &wgpu::Instance) -> Self {
        let backends = wgpu::Backends::all();
        Self { list: pollster::block_on(instance.enumerate_adapters(backends)), backends }
    }

    /// The adapters.
    pub fn iter(&self) -> impl Iterator<Item = &wgpu::Adapter> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The best one: discrete, then integrated, virtual, of unknown type, and a CPU driver last.
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`], saying what to install.
    pub fn best(&self) -> Result<&wgpu::Adapter> {
        // min_by_key keeps the first of equals, so wgpu's order decides among adapters of one type.
        self.list.iter().min_by_key(|adapter| rank(adapter.get_info().device_type)).ok_or_else(|| self.none())
    }

    /// The adapter with this index, or the best one whose name contains `wish` (case does not matter).
    ///
    /// # Errors
    /// [`ErrorKind::NoAdapter`], naming the adapters that there are.
    pub fn choose(&self, wish: &str) -> Result<&wgpu::Adapter> {
        if self.list.is_empty() {
            return Err(self.none());
        }
        let found = match wish.parse::<usize>() {
            Ok(index) => self.list.get(index),
            Err(_) => self
                .list
                .iter()
                .filter(|adapter| adapter.get_info().name.to_lowercase().contains(&wish.to_lowercase()))
                .min_by_key(|adapter| rank(adapter.get_info().device_type)),
        };
        found.ok_or_else(|| {
            let names: Vec<_> = self
                .list
                .iter()
                .enumerate()
                .map(|(i, adapter)| format!("{i}: {} ({})", adapter.get_info().name, adapter.get_info().backend))
                .collect();
            Error::new(
                ErrorKind::NoAdapter,
                format!("no adapter matches '{wish}'; there are {}: {}", names.len(), names.join(", ")),
            )
        })
    }

    fn none(&self) -> Error {
        let built = wgpu::Instance::enabled_backend_features();
        let looked = names((self.backends & built) - wgpu::Backends::NOOP);
        let foreign = match std::env::consts::OS {
            "windows" => wgpu::Backends::METAL,
            "macos" | "ios" | "tvos" | "visionos" => wgpu::Backends::DX12,
            _ => wgpu::Backends::METAL | wgpu::Backends::DX12,
        };
        let message = if built.is_empty() {
            "this program was built without a GPU backend: enable wgpu's feature vulkan, metal or dx12".into()
        } else if foreign.contains(self.backends) {
            format!(
                "no GPU adapter: there is no {} on {}; here this program has {}",
                names(self.backends),
                std::env::consts::OS,
                names(built - wgpu::Backends::NOOP)
            )
        } else if looked.is_empty() {
            format!("no GPU adapter: {} was asked for, this program has {}", names(self.backends), names(built))
        } else {
            format!(
                "no GPU adapter was found by {looked}; install a driver for the GPU, or a CPU driver (Debian, Ubuntu: \
                 apt-get install mesa-vulkan-drivers libvulkan1)"
            )
        };
        Error::new(ErrorKind::NoAdapter, message)
    }
}

/// `vulkan, gl`
fn names(backends: wgpu::Backends) -> String {
    let names: Vec<_> = backends.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    names.join(", ")
}

fn rank(kind: wgpu::DeviceType) -> u32 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

impl Probe {
    /// What is known before any kernel ran.
    pub(super) fn unmeasured(info: &wgpu::AdapterInfo, features: wgpu::Features) -> Self {
        Self::new(info, features.contains(wgpu::Features::SUBGROUP), Vec::new())
    }
}
