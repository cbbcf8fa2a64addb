//! Taking samples.

use super::Samples;
use crate::error::Result;
use crate::gpu::Gpu;

/// How much time a run may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effort {
    /// The least that gives a stable median: all experiments together in under a minute on a GPU.
    #[default]
    Quick,
    /// Full sweeps and more samples.
    Full,
}

/// One of the things that are timed against each other.
pub struct Contender<'a> {
    name: String,
    before: Option<Box<dyn Fn(&mut wgpu::CommandEncoder) + 'a>>,
    record: Box<dyn Fn(&mut wgpu::ComputePass<'_>) + 'a>,
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Contender<'a> {
    /// What `record` records into an open pass is timed.
    pub fn new(name: impl Into<String>, record: impl Fn(&mut wgpu::ComputePass<'_>) + 'a) -> Self {
        Self { name: name.into(), before: None, record: Box::new(record) }
    }

    /// Runs before each sample, outside what is timed: to reset state.
    #[must_use]
    pub fn before(self, before: impl Fn(&mut wgpu::CommandEncoder) + 'a) -> Self {
        Self { before: Some(Box::new(before)), ..self }
    }
}

/// Takes samples on one device.
#[derive(Debug)]
pub struct Sampler {
    gpu: Gpu,
    effort: Effort,
}

impl Sampler {
    /// A sampler on this device; builds its load and reference kernels.
    pub fn new(gpu: &Gpu, effort: Effort) -> Result<Self> {
        Ok(Self { gpu: gpu.clone(), effort })
    }

    /// Puts a full load on the device until its clock is steady: at least a second on a GPU.
    pub fn warm_up(&self) -> Result<()> {
        todo!()
    }

    /// Samples each contender until the medians are stable or the effort's time is spent, taking turns round by
    /// round. One run of each goes before, unsampled. The answer has the contenders' order.
    pub fn sample(&self, contenders: &[Contender<'_>]) -> Result<Vec<Samples>> {
        todo!()
    }

    /// Nanoseconds of the fixed reference kernel now: to be compared at both ends of an experiment.
    pub fn reference_ns(&self) -> Result<f64> {
        todo!()
    }
}
