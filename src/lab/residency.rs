//! How many workgroups a multiprocessor holds at once, found by measuring.

use super::Bench;
use super::kernel::Launch;
use super::timing::MAX_TRIPS;
use crate::error::{Error, Result};
use crate::measure::{Clock, Samples};

/// How many workgroups of one size run at once.
#[derive(Clone, Debug)]
pub(super) struct Residency {
    /// Workgroups that the whole device holds at once: a wave of a kernel that waits for memory.
    pub(super) groups_per_wave: u32,
    /// The device's multiprocessors, where they could be told.
    pub(super) multiprocessors: Option<u32>,
    /// Times of one wave.
    pub(super) full: Samples,
    /// Times of one wave and one workgroup.
    pub(super) over: Samples,
}

impl Residency {
    /// Workgroups that one multiprocessor holds at once.
    pub(super) fn groups_per_multiprocessor(&self) -> Option<f64> {
        self.multiprocessors.map(|count| f64::from(self.groups_per_wave) / f64::from(count))
    }
}

/// Lines of the table that the dependent loads walk through, 2 MiB in all: beyond the first cache, within the last.
const LINES: u32 = 1 << 14;
/// Words of a line: 128 bytes.
const LINE_WORDS: u32 = 32;
/// The most invocations of a launch here.
const MOST_INVOCATIONS: u32 = 1 << 22;
/// A time that grows by more than this has a second wave in it. Workgroups beside each other slow each other down by
/// less, a second wave doubles the time.
const JUMP: f64 = 1.4;

/// The line after this one: a generator whose period is all [`LINES`].
fn next(line: u32) -> u32 {
    line.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % LINES
}

/// One kernel of residency.wgsl in workgroups of one size.
pub(super) struct Probe {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    params: wgpu::Buffer,
    /// The table of lines, where the kernel reads one.
    lines: Option<wgpu::Buffer>,
    trips: u32,
    lanes: u32,
    workgroup: u32,
}

impl Probe {
    /// Dependent loads, with so much workgroup memory held beside them.
    pub(super) fn dependent_loads(bench: &Bench<'_>, workgroup: u32, workgroup_bytes: u32) -> Result<Self> {
        // Long beside a pass by whatever clock; a load takes some 200 ns.
        let trips = match bench.sampler.clock() {
            Clock::Gpu => 512,
            Clock::Wall => MAX_TRIPS,
        };
        let lines: Vec<u32> = (0..LINES * LINE_WORDS)
            .map(|word| if word % LINE_WORDS == 0 { next(word / LINE_WORDS) } else { 0 })
            .collect();
        let lines = bench.words_with("residency_lines", &lines)?;
        Self::new(bench, "dependent_loads", workgroup, workgroup_bytes, trips, Some(lines))
    }

    /// Arithmetic that one workgroup of this size keeps a multiprocessor busy with.
    fn issue(bench: &Bench<'_>, workgroup: u32) -> Result<Self> {
        let trips = match bench.sampler.clock() {
            Clock::Gpu => 1_024,
            Clock::Wall => MAX_TRIPS,
        };
        Self::new(bench, "issue", workgroup, 4, trips, None)
    }

    fn new(
        bench: &Bench<'_>,
        entry: &str,
        workgroup: u32,
        workgroup_bytes: u32,
        trips: u32,
        lines: Option<wgpu::Buffer>,
    ) -> Result<Self> {
        let lanes = bench.model()?.lanes;
        let pad_words = (workgroup_bytes / 4).max(1);
        let prelude = format!(
            "const LANES = {lanes}u;\nconst LINES = {LINES}u;\nconst LINE_WORDS = {LINE_WORDS}u;\n\
             const PAD_WORDS = {pad_words}u;"
        );
        Ok(Self {
            pipeline: bench.pipeline_of(
                workgroup,
                entry,
                &prelude,
                include_str!("../../shaders/lab/residency.wgsl"),
            )?,
            results: bench.words("residency", MOST_INVOCATIONS)?,
            params: bench.params(&[trips, 0])?,
            lines,
            trips,
            lanes,
            workgroup,
        })
    }

    fn launch(&self, bench: &Bench<'_>, groups: u32) -> Launch {
        let mut buffers = vec![(0, &self.results), (1, &self.params)];
        buffers.extend(self.lines.iter().map(|lines| (2, lines)));
        bench.launch(&self.pipeline, &buffers, groups)
    }

    /// What invocation `index` of a launch of so many workgroups leaves behind.
    fn expected(&self, index: u32, groups: u32) -> u32 {
        if index >= groups * self.workgroup {
            0
        } else if self.lines.is_some() {
            let start = (index / self.lanes).wrapping_mul(40_503) % LINES;
            (0..self.trips).fold(start, |line, _| next(line))
        } else {
            (0..4).fold(0, |all, chain| all ^ super::oracle::arm_a(index + chain, self.trips))
        }
    }

    /// Compares the results of a launch with the host's.
    pub(super) fn verify(&self, bench: &Bench<'_>, groups: u32) -> Result<()> {
        let launch = self.launch(bench, groups);
        bench.verify("residency", &self.results, |pass| launch.record(pass), |index| self.expected(index, groups))
    }

    /// Times of launches of these numbers of workgroups, taken against each other.
    pub(super) fn times(&self, bench: &Bench<'_>, counts: &[u32]) -> Result<Vec<Samples>> {
        let launches: Vec<_> =
            counts.iter().map(|groups| (format!("{groups} workgroups"), self.launch(bench, *groups))).collect();
        bench.sample(&launches)
    }

    /// The most workgroups that take no longer than few: the first step in the time, found by doubling and then by
    /// sections between two powers of two. None where no step shows, or none that stands when looked at again.
    fn step(&self, bench: &Bench<'_>) -> Result<Option<Step>> {
        let most = (MOST_INVOCATIONS / self.workgroup).min(bench.gpu.limits().max_compute_workgroups_per_dimension);
        let mut low = 1;
        let mut high = loop {
            if 2 * low > most {
                return Ok(None);
            }
            match self.first_above(bench, &[low, 2 * low])? {
                Some((_, high)) => break high,
                None => low *= 2,
            }
        };
        while high - low > 1 {
            let apart = (high - low).div_ceil(16);
            let mut counts: Vec<_> = (low..high).step_by(apart as usize).collect();
            counts.push(high);
            // The step was seen before; where it is gone, the noise made it.
            let Some(ends) = self.first_above(bench, &counts)? else { return Ok(None) };
            (low, high) = ends;
        }
        let samples = self.times(bench, &[low, high])?;
        let [full, over] = <[Samples; 2]>::try_from(samples).map_err(|_| Error::internal("a count was not sampled"))?;
        Ok((over.median() > JUMP * full.median()).then_some(Step { groups: low, full, over }))
    }

    /// The first of these counts that takes a jump longer than the first of all, and the count before it.
    fn first_above(&self, bench: &Bench<'_>, counts: &[u32]) -> Result<Option<(u32, u32)>> {
        let samples = self.times(bench, counts)?;
        let base = samples.first().map_or(f64::INFINITY, Samples::median);
        let above = samples.iter().position(|samples| samples.median() > JUMP * base);
        Ok(above.map(|at| (counts[at.saturating_sub(1)], counts[at])))
    }
}

/// The first step of a time over the number of workgroups.
struct Step {
    groups: u32,
    full: Samples,
    over: Samples,
}

/// The device's multiprocessors: the most workgroups of a kernel bound by issue that take no longer than one. Measured
/// once a run; none on a CPU driver, and where no step shows.
pub(super) fn multiprocessors(bench: &Bench<'_>) -> Result<Option<u32>> {
    if let Some(count) = bench.multiprocessors.get() {
        return Ok(*count);
    }
    let count = if bench.gpu.is_cpu() {
        None
    } else {
        let limits = bench.gpu.limits();
        let largest = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(1024);
        let probe = Probe::issue(bench, largest)?;
        bench.ready()?;
        probe.verify(bench, 16)?;
        probe.step(bench)?.map(|step| step.groups)
    };
    Ok(*bench.multiprocessors.get_or_init(|| count))
}

/// How many workgroups of so many invocations and so many bytes of workgroup memory the device holds at once: the first
/// step in the time of dependent loads. Measured once a run for each pair.
///
/// None on a CPU driver, which holds as many workgroups as it has threads; where the workgroup is beyond the device's
/// limits; and where no step shows.
pub(super) fn residency(bench: &Bench<'_>, workgroup: u32, workgroup_bytes: u32) -> Result<Option<Residency>> {
    let key = (workgroup, workgroup_bytes);
    if let Some(known) = bench.residencies.borrow().get(&key) {
        return Ok(known.clone());
    }
    let limits = bench.gpu.limits();
    let fits = workgroup > 0
        && workgroup <= limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x)
        && workgroup_bytes <= limits.max_compute_workgroup_storage_size;
    let found = if bench.gpu.is_cpu() || !fits {
        None
    } else {
        let multiprocessors = multiprocessors(bench)?;
        let probe = Probe::dependent_loads(bench, workgroup, workgroup_bytes)?;
        bench.ready()?;
        probe.verify(bench, 16)?;
        probe.step(bench)?.map(|step| Residency {
            groups_per_wave: step.groups,
            multiprocessors,
            full: step.full,
            over: step.over,
        })
    };
    bench.residencies.borrow_mut().insert(key, found.clone());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_visits_every_line_once() {
        let mut seen = vec![false; LINES as usize];
        let mut line = 0;
        for _ in 0..LINES {
            assert!(!std::mem::replace(&mut seen[line as usize], true));
            line = next(line);
        }
        assert_eq!(line, 0);
    }
}
