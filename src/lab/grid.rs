//! What the experiments on workgroups and the grid share.

use super::Bench;
use super::outcome::Outcome;
use crate::error::Result;
use crate::measure::median;
use crate::report::{Row, Unit};

/// Why a CPU driver has no answer to questions about the grid.
pub(super) const CPU_GRID: &str = "a CPU driver hands each worker thread a fixed part of the grid and runs one workgroup \
                                   after the other on it, so this says nothing of lanes; results were compared with the \
                                   host's";

/// The share of a time that the starts of its workgroups may take before the time says nothing of their work.
const MOST_LAUNCHING: f64 = 1.0 / 3.0;

/// Why workgroups may not wait for each other in this run, if they may not.
pub(super) fn why_not_waiting(bench: &Bench<'_>) -> Option<&'static str> {
    if bench.gpu.is_cpu() {
        Some(
            "a CPU driver runs one workgroup of a thread to its end before the next, so workgroups that wait for each other \
              never end",
        )
    } else if !bench.waiting {
        Some(
            "opt-in: its workgroups wait for each other, which the programming model does not promise to end, so it runs only \
              where waiting is allowed (--waiting)",
        )
    } else {
        None
    }
}

/// An outcome of one row that gives the reason.
pub(super) fn not_here(prediction: String, method: String, cell: &str, quantity: &str, reason: &str) -> Outcome {
    let row = Row::not_measurable(cell, quantity, Unit::Ratio, reason);
    Outcome::not_measurable(prediction, method, vec![row], reason)
}

/// The row, refused where a dispatch of so many workgroups in this time was mostly starting them: the device starts
/// them at a fixed rate, and such a time measures that rate.
pub(super) fn unless_launch_bound(bench: &Bench<'_>, row: Row, groups: u32, ns: &[f64]) -> Result<Row> {
    let starts = bench.sampler.launch_ns_per_workgroup()? * f64::from(groups);
    let share = starts / median(ns);
    Ok(if share <= MOST_LAUNCHING {
        row
    } else {
        row.missing(&format!(
            "starting {groups} workgroups alone takes {} here, {:.0} % of the time",
            Unit::Ns.format(starts),
            100.0 * share.min(1.0)
        ))
    })
}

/// Bytes of a line of a [`Table`], which every adapter fetches as a whole or in parts of it.
pub(super) const LINE_BYTES: u64 = 128;
const LINE_WORDS: u64 = LINE_BYTES / 4;

/// Lines in the device's memory that form one ring: every word of a line holds the number of the next.
pub(super) struct Table {
    pub(super) buffer: wgpu::Buffer,
    pub(super) lines: u32,
}

/// The ring's generator; its period is every power of two.
const FACTOR: u32 = 1_664_525;
const ADDEND: u32 = 1_013_904_223;

impl Table {
    /// A ring of 2^`log` lines, at least one; fewer where one binding of this device has no room for them.
    pub(super) fn new(bench: &Bench<'_>, log: u32) -> Result<Self> {
        let limits = bench.gpu.limits();
        let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) / LINE_BYTES;
        let lines = (1u32 << log.min(24)).min(1 << room.max(1).ilog2().min(24));
        let buffer = bench.gpu.buffer("lines", u64::from(lines) * LINE_BYTES, wgpu::BufferUsages::STORAGE)?;
        let text = include_str!("../../shaders/lab/chase.wgsl");
        let fill = bench.pipeline("chase_fill", &Self::prelude(bench)?, text)?;
        let params = bench.params(&[0, lines])?;
        let words = u64::from(lines) * LINE_WORDS;
        let groups = words.div_ceil(bench.workgroup().into()).min(4096) as u32;
        let launch = bench.launch(&fill, &[(1, &params), (3, &buffer)], groups);
        bench.run_once(|pass| launch.record(pass))?;
        Ok(Self { buffer, lines })
    }

    /// What chase.wgsl needs before its text.
    pub(super) fn prelude(bench: &Bench<'_>) -> Result<String> {
        Ok(format!(
            "const LANES = {}u;\nconst LINE_WORDS = {LINE_WORDS}u;\nconst RING_FACTOR = {FACTOR}u;\nconst RING_ADDEND = \
             {ADDEND}u;",
            bench.model()?.lanes
        ))
    }

    /// The line that a chain begins at.
    pub(super) fn start(&self, chain: u32) -> u32 {
        chain.wrapping_mul(2_654_435_769).wrapping_add(77) % self.lines
    }

    /// The line `steps` steps behind this one: the generator applied to itself, in as many squarings as `steps` has
    /// bits.
    pub(super) fn after(&self, line: u32, mut steps: u32) -> u32 {
        let (mut line, mut factor, mut addend) = (line, FACTOR, ADDEND);
        while steps > 0 {
            if steps % 2 == 1 {
                line = line.wrapping_mul(factor).wrapping_add(addend);
            }
            addend = addend.wrapping_mul(factor).wrapping_add(addend);
            factor = factor.wrapping_mul(factor);
            steps /= 2;
        }
        line % self.lines
    }

    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.lines) * LINE_BYTES
    }
}

/// A number of bytes in KiB, MiB or GiB.
pub(super) fn in_bytes(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
