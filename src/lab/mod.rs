//! The lab: each experiment asks whether a claim of the SIMT model holds on this adapter.

use crate::error::Result;
use crate::gpu::Gpu;
use crate::measure::{Effort, Sampler};
use crate::report::ExperimentRecord;

/// One experiment of the lab.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Short name, the argument of `wavelane measure`.
    pub id: &'static str,
    /// `lanes`, `primitives` or `workgroups`.
    pub group: &'static str,
    /// A heading.
    pub title: &'static str,
    /// The claim.
    pub claim: &'static str,
    run: fn(&Bench<'_>) -> Result<ExperimentRecord>,
}

/// What an experiment works with.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// Takes samples.
    pub sampler: &'a Sampler,
    /// How much time may be spent.
    pub effort: Effort,
}

/// Every experiment, in the order in which a run takes them.
pub fn experiments() -> &'static [Experiment] {
    &[]
}
