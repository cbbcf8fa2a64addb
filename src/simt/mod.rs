//! A simulated device: a CPU that executes compute shaders as a GPU of a chosen width would, behind wgpu's own API.
//!
//! [`instance`] gives a [`wgpu::Instance`] with one adapter. What is opened on it is an ordinary device: this crate's
//! primitives and a program's own compute code run on it unchanged, at a subgroup width from 4 to 128 lanes.
//! Unlike a driver it executes the lanes of a subgroup strictly in step, and counts exactly what was issued and how many
//! lanes took part.
//!
//! ```
//! use wavelane::{Gpu, op, simt::{self, SimtOptions}};
//!
//! # fn main() -> Result<(), wavelane::Error> {
//! let adapter = simt::adapter(&SimtOptions::default().lanes(8))?;
//! let gpu = Gpu::options().open_adapter(&adapter)?;
//! assert_eq!(gpu.lanes(), 8);
//! assert_eq!(gpu.reduce(&[3_u32, 1, 4, 1, 5], op::Add)?, 14);
//! for dispatch in simt::take_dispatches(gpu.device())? {
//!     println!("{}: {} issues", dispatch.pipeline, dispatch.counts.issues);
//! }
//! # Ok(()) }
//! ```
//!
//! # Time
//!
//! Timestamps are counts of issues, so they are the same in every run: a pass takes as long as its dispatches issue. How
//! long the host took says nothing about any GPU.
//!
//! # What is not simulated
//!
//! Rendering. Of textures: depth, multisampled, cube, compressed and external ones, sRGB, and atomics on texels. Of samplers:
//! filtering other than nearest, and comparison. wgpu refuses a texture of a format that the adapter does not offer; a
//! pipeline that uses what the simulator does not execute fails with wgpu's internal error, which names the thing; and
//! what is sampled by a sampler that filters linearly is a fault, which names the sampler.
//!
//! # Faults
//!
//! Where a shader does what has no defined result and the simulator cannot go on, the submission fails, the device is
//! lost, and [`fault`] tells why: wgpu's own message has no room for it.

pub mod check;
mod counts;
#[allow(unsafe_code, reason = "the traits of wgpu-hal have unsafe functions only")]
mod front;
mod machine;
mod memory;
mod operation;
mod program;
mod texture;

pub use counts::{Counts, LineProfile, LoopProfile, MemoryCounts, Profile};

use crate::error::{Error, ErrorKind, Result};
use crate::shader::{MAX_LANES, MIN_LANES};

/// How wide the simulated device is, and what it may use of the host.
#[derive(Clone, Debug)]
#[must_use]
pub struct SimtOptions {
    lanes: u32,
    workers: Option<usize>,
    seed: Option<u64>,
    observe: Observe,
    banks: u32,
}

/// What the simulated device takes note of while it executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Observe {
    /// What is issued, of each dispatch.
    #[default]
    Counts,
    /// Beside it what every line issues, and its memory accesses: [`Dispatched::profile`]. Memory accesses are slower.
    Profile,
    /// Beside it mistakes: [`take_findings`]. It is slower, and everything runs on one thread.
    Checks,
}

impl Default for SimtOptions {
    fn default() -> Self {
        Self { lanes: Self::DEFAULT_LANES, workers: None, seed: None, observe: Observe::Counts, banks: 32 }
    }
}

impl SimtOptions {
    /// The width of a subgroup that nobody chose: NVIDIA's, and AMD's narrower one.
    pub const DEFAULT_LANES: u32 = 32;

    /// Lanes of a subgroup: a power of two from 4 to 128; [`DEFAULT_LANES`](Self::DEFAULT_LANES) unless said here.
    pub fn lanes(mut self, lanes: u32) -> Self {
        self.lanes = lanes;
        self
    }

    /// Lets the lanes of a subgroup go on independently of each other, rather than in step, until they meet at an operation
    /// of the subgroup, and workgroups start in another order: both come from this seed, the same in every run. Everything
    /// is slower then, runs on one thread, and issues more. Not with [`Observe::Profile`].
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// What the device takes note of.
    pub fn observe(mut self, observe: Observe) -> Self {
        self.observe = observe;
        self
    }

    /// Banks of workgroup memory, of 4 bytes each, for [`Observe::Profile`]: 32 unless said here.
    pub fn banks(mut self, banks: u32) -> Self {
        self.banks = banks;
        self
    }

    /// Threads of the host that execute workgroups: as many as it has processors unless said here. Counts do not depend
    /// on it.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }
}

/// One dispatch that the device executed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Dispatched {
    /// The label of its pipeline; the name of the entry point where it has none.
    pub pipeline: String,
    /// The workgroups, in each dimension.
    pub workgroups: [u32; 3],
    /// What it issued.
    pub counts: Counts,
    /// What each line did, with [`Observe::Profile`].
    pub profile: Option<Profile>,
}

/// A simulated device, as it was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) lanes: u32,
    pub(crate) workers: usize,
    pub(crate) seed: Option<u64>,
    pub(crate) observe: Observe,
    pub(crate) banks: u32,
}

/// A wgpu instance whose only adapter is the simulator.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for a width that is no power of two from 4 to 128, no worker, no bank, or a seed with
/// [`Observe::Profile`].
pub fn instance(options: &SimtOptions) -> Result<wgpu::Instance> {
    let lanes = options.lanes;
    if !lanes.is_power_of_two() || !(MIN_LANES..=MAX_LANES).contains(&lanes) {
        return Err(Error::argument(format!(
            "a simulated subgroup has a power of two from {MIN_LANES} to {MAX_LANES} lanes, not {lanes}"
        )));
    }
    if options.banks == 0 {
        return Err(Error::argument("workgroup memory needs at least one bank"));
    }
    if options.seed.is_some() && options.observe == Observe::Profile {
        return Err(Error::argument("a profile is of lanes in step: it takes no seed"));
    }
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    match options.workers.unwrap_or_else(available) {
        0 => Err(Error::argument("the simulator needs at least one worker")),
        workers => {
            let SimtOptions { seed, observe, banks, .. } = *options;
            Ok(front::instance(Setup { lanes, workers, seed, observe, banks }))
        }
    }
}

/// The adapter of [`instance`]. Its backend reads as `Noop`: wgpu has no name for a backend from outside.
///
/// # Errors
/// As [`instance`].
pub fn adapter(options: &SimtOptions) -> Result<wgpu::Adapter> {
    pollster::block_on(instance(options)?.request_adapter(&wgpu::RequestAdapterOptions::default()))
        .map_err(|error| Error::new(ErrorKind::NoAdapter, format!("wgpu does not take the simulator: {error}")))
}

/// The dispatches that `device` executed since the last call, in their order; of more than 4,096 the last ones. Those
/// that wgpu makes for itself (it checks the arguments of an indirect dispatch by a kernel) are left out.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] where the device is not the simulator's.
pub fn take_dispatches(device: &wgpu::Device) -> Result<Vec<Dispatched>> {
    front::with_state(device, front::State::take_dispatches).ok_or_else(not_simulated)
}

/// What was found in the dispatches since the last call, each between two instructions once, where the device was made
/// with [`Observe::Checks`]: data races, indices out of bounds, reads of workgroup memory that nobody wrote, and of lanes
/// that do not take part. [`check::check`] also tries other schedules.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] where the device is not the simulator's.
pub fn take_findings(device: &wgpu::Device) -> Result<Vec<check::Finding>> {
    front::with_state(device, front::State::take_findings).ok_or_else(not_simulated)
}

/// Why `device` was lost: the message of the shader's fault. None while it is well.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] where the device is not the simulator's.
pub fn fault(device: &wgpu::Device) -> Result<Option<String>> {
    front::with_state(device, front::State::fault).ok_or_else(not_simulated)
}

/// Lets the timestamps of `device`, where it is the simulator's, count sectors of storage buffers from now on instead of
/// issues, or issues again. Dispatches are slower while sectors are counted, and not checked.
#[cfg(feature = "lab")]
pub(crate) fn count_sectors(device: &wgpu::Device, sectors: bool) {
    front::with_state(device, |state| state.count_sectors(sectors));
}

/// Whether `device` is the simulator's.
pub fn is_simulated(device: &wgpu::Device) -> bool {
    front::with_state(device, |_| ()).is_some()
}

fn not_simulated() -> Error {
    Error::argument("the device is not the simulator's")
}
