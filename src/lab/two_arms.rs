//! The kernel of two arms taken in turn, which several experiments ask in different ways: one pipeline for all.

use super::Bench;
use super::kernel::Launch;
use super::oracle::{arm_a, arm_b};
use super::timing::calibrate;
use crate::error::Result;

/// Who takes which arm, and for how many trips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    run: u32,
    shift: u32,
    mask: u32,
    flip: u32,
    trips_a: u32,
    trips_b: u32,
}

impl Pattern {
    /// Every invocation takes arm A.
    pub(super) fn all_a(trips: u32) -> Self {
        Self { run: 1, shift: 0, mask: 0, flip: 0, trips_a: trips, trips_b: trips }
    }

    /// Every invocation takes arm B.
    pub(super) fn all_b(trips: u32) -> Self {
        Self { flip: 1, ..Self::all_a(trips) }
    }

    /// Runs of `run` invocations (at least one) take the arms in turn.
    pub(super) fn runs(run: u32, trips: u32) -> Self {
        Self { run: run.max(1), mask: 1, ..Self::all_a(trips) }
    }

    /// The same, with the runs moved down by `shift` invocations.
    pub(super) fn shifted(self, shift: u32) -> Self {
        Self { shift, ..self }
    }

    /// The same, with another length of arm B.
    pub(super) fn trips_b(self, trips_b: u32) -> Self {
        Self { trips_b, ..self }
    }

    /// What invocation `index` computes.
    fn expected(&self, index: u32) -> u32 {
        match (((index + self.shift) / self.run) & self.mask) ^ self.flip {
            0 => arm_a(index, self.trips_a),
            _ => arm_b(index, self.trips_b),
        }
    }
}

/// The pipeline of two_way.wgsl and the buffer that it writes.
#[derive(Debug)]
pub(super) struct TwoArms {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl TwoArms {
    pub(super) fn new(bench: &Bench<'_>) -> Result<Self> {
        Ok(Self {
            pipeline: bench.pipeline("two_way", "", include_str!("../../shaders/lab/two_way.wgsl"))?,
            results: bench.words("two_way", bench.invocations())?,
        })
    }

    /// A dispatch of this pattern, whose results were compared with the host's.
    pub(super) fn launch(&self, bench: &Bench<'_>, pattern: Pattern) -> Result<Launch> {
        let launch = self.unverified(bench, pattern)?;
        let what = format!("two_way, {pattern:?}");
        bench.verify(&what, &self.results, |pass| launch.record(pass), |index| pattern.expected(index))?;
        Ok(launch)
    }

    fn unverified(&self, bench: &Bench<'_>, pattern: Pattern) -> Result<Launch> {
        let Pattern { run, shift, mask, flip, trips_a, trips_b } = pattern;
        let params = bench.params(&[run, shift, mask, flip, trips_a, trips_b])?;
        Ok(bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], bench.groups()))
    }

    /// The trip count at which one arm takes long enough to be timed.
    pub(super) fn calibrate(&self, bench: &Bench<'_>) -> Result<u32> {
        calibrate(bench, |trips| self.unverified(bench, Pattern::all_a(trips)))
    }
}
