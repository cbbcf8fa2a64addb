//! How many workgroups a multiprocessor holds at once, found by measuring.

use super::kernel::Launch;
use super::model::{Capacity, FREE, Model, TIME};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::MAX_TRIPS;
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Clock, Effort, Samples};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "residency",
    group: "workgroups",
    title: "How many workgroups share a multiprocessor",
    claim: "A multiprocessor holds as many workgroups at once as its limits on workgroups, subgroups and workgroup \
            memory allow. No call of WebGPU tells how many: it shows as a step in the time of a kernel that waits for \
            memory.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

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
/// less (1.04 at most was seen on an H200), and a second wave adds more, though not always as much again: the one
/// workgroup over has the device to itself (1.36 at least was seen there).
const JUMP: f64 = 1.2;

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
            Clock::Gpu | Clock::Issues | Clock::Sectors => 512,
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
            Clock::Gpu | Clock::Issues | Clock::Sectors => 1_024,
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

    /// A launch of so many workgroups.
    pub(super) fn launch(&self, bench: &Bench<'_>, groups: u32) -> Launch {
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
        let samples = bench.sample(&launches)?;
        let medians: Vec<_> = samples.iter().map(Samples::median).collect();
        log::debug!("workgroups of {}: {counts:?} of them take {medians:.0?} ns", self.workgroup);
        Ok(samples)
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

/// Why nothing here can be measured on a CPU driver.
pub(super) const CPU_REASON: &str =
    "a CPU driver runs its workgroups one after another on a few threads and holds no others beside them";

/// Workgroup sizes in subgroups, the two that tell the limits among them: one, and [`EIGHT`].
const SIZES: [u32; 10] = [1, 2, 3, 4, 6, EIGHT, 12, 16, 24, 32];
const EIGHT: u32 = 8;
/// Parts of the most workgroup memory, of which [`SIXTEENTH`] tells how much there is in all.
const PARTS: [u32; 8] = [24, SIXTEENTH, 12, 8, 5, 4, 2, 1];
const SIXTEENTH: u32 = 16;

/// What was found for one size and one amount of workgroup memory.
struct Found {
    invocations: u32,
    bytes: u32,
    residency: Residency,
    groups: f64,
}

fn cell(invocations: u32, bytes: u32) -> String {
    match bytes {
        0 => format!("{invocations} invocations"),
        _ => format!("{invocations} invocations, {bytes} bytes"),
    }
}

/// The cases: sizes without workgroup memory, then one size with more and more of it.
fn cases(bench: &Bench<'_>, lanes: u32) -> Vec<(u32, u32)> {
    let limits = bench.gpu.limits();
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    let mut sizes = SIZES.to_vec();
    let mut parts = PARTS.to_vec();
    if bench.effort == Effort::Full {
        sizes.extend([5, 7, 10, 20, 28]);
        parts.extend([32, 20, 10, 6, 3]);
        sizes.sort_unstable();
        parts.sort_unstable_by(|a, b| b.cmp(a));
    }
    let by_size = sizes.into_iter().map(|size| (size * lanes, 0)).filter(|(size, _)| *size <= most);
    let by_memory = parts.into_iter().map(|part| (2 * lanes, limits.max_compute_workgroup_storage_size / part / 4 * 4));
    by_size.chain(by_memory).collect()
}

/// The limits that three of the cases tell.
fn capacity(found: &[Found], model: &Model, most_bytes: u32) -> Option<Capacity> {
    let at = |invocations, bytes| {
        let case = found.iter().find(|case| (case.invocations, case.bytes) == (invocations, bytes));
        case.map(|case| case.groups.round() as u32)
    };
    let groups = at(model.lanes, 0)?;
    let subgroups = EIGHT * at(EIGHT * model.lanes, 0)?;
    let bytes = most_bytes / SIXTEENTH / 4 * 4;
    let with_memory = at(2 * model.lanes, bytes)?;
    // Where the same number fits without memory, memory is not what ran out.
    let ran_out = with_memory < groups.min(subgroups / 2);
    Some(Capacity { groups, subgroups, workgroup_bytes: ran_out.then_some(with_memory * bytes) })
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let lanes = model.lanes;
    let prediction =
        "As many as three limits allow, which the smallest workgroup, one of eight subgroups and one with a \
                      sixteenth of the workgroup memory tell: the least of the limit on workgroups, of the limit on \
                      subgroups over those of a workgroup, and of the memory over that of a workgroup, rounded down."
            .to_string();
    let method = "Dependent loads, one chain a subgroup. The number of workgroups at which the time makes its first step \
                  is a wave: found by doubling, then between two powers of two, then looked at once more. Over the number \
                  of multiprocessors, which shows in the same way with a kernel bound by issue, of which one workgroup \
                  fills a multiprocessor."
        .to_string();
    let absent = |reason: &str, rows: Vec<Row>| {
        let mut rows = rows;
        let row = Row::not_measurable("all sizes", "workgroups a multiprocessor", Unit::Count, reason);
        rows.push(row);
        Ok(Outcome::not_measurable(prediction.clone(), method.clone(), rows, reason))
    };
    if bench.gpu.is_cpu() {
        let probe = Probe::dependent_loads(bench, 2 * lanes, 1024)?;
        probe.verify(bench, 4)?;
        Probe::issue(bench, 2 * lanes)?.verify(bench, 4)?;
        return absent(CPU_REASON, vec![]);
    }
    // Building is idleness: all of it comes first, and what is built stays.
    let cases = cases(bench, lanes);
    for (invocations, bytes) in &cases {
        Probe::dependent_loads(bench, *invocations, *bytes)?;
    }
    let arithmetic = Probe::issue(bench, EIGHT * lanes)?;
    let Some(multiprocessors) = multiprocessors(bench)? else {
        return absent("no step shows in the time of a kernel bound by issue", vec![]);
    };
    let mut rows = vec![Row::count("multiprocessors", "count", Unit::Count, multiprocessors)];
    let mut found = Vec::new();
    for (invocations, bytes) in cases {
        match residency(bench, invocations, bytes)? {
            Some(residency) => {
                let groups = residency.groups_per_multiprocessor().unwrap_or(0.0);
                found.push(Found { invocations, bytes, residency, groups });
            }
            None => rows.push(Row::not_measurable(
                cell(invocations, bytes),
                "workgroups a multiprocessor",
                Unit::Count,
                "no step shows in the time of dependent loads",
            )),
        }
    }
    let most_bytes = bench.gpu.limits().max_compute_workgroup_storage_size;
    let Some(capacity) = capacity(&found, &model, most_bytes) else {
        return absent("no step shows in the time of dependent loads where one tells the limits", rows);
    };
    let mut series = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for case in &found {
        let expected = model.resident_groups(capacity, case.invocations, case.bytes);
        let cell = cell(case.invocations, case.bytes);
        let told = (case.bytes == 0 && [lanes, EIGHT * lanes].contains(&case.invocations))
            || case.bytes == most_bytes / SIXTEENTH / 4 * 4;
        let row = Row::count(&cell, "workgroups a multiprocessor", Unit::Count, case.groups);
        rows.push(if told {
            row.noted("not judged: it tells one of the limits from which the others are predicted")
        } else {
            row.predicted(model.around(expected.into(), FREE))
        });
        rows.push(Row::count(&cell, "workgroups a wave", Unit::Count, case.residency.groups_per_wave));
        let subgroups = f64::from(model.subgroups(case.invocations)) * case.groups;
        rows.push(Row::count(&cell, "subgroups a multiprocessor", Unit::Count, subgroups));
        rows.push(Row::ratio(
            &cell,
            "time of one workgroup more than a wave, over a wave",
            &case.residency.over.ns,
            &case.residency.full.ns,
            case.residency.full.clock,
        ));
        let x = if case.bytes == 0 { case.invocations } else { case.bytes };
        let (points, model_points) = &mut series[usize::from(case.bytes > 0)];
        points.push([f64::from(x), case.groups]);
        model_points.push([f64::from(x), f64::from(expected)]);
    }
    let wave = found.iter().find(|case| (case.invocations, case.bytes) == (EIGHT * lanes, 0));
    let wave = wave.map_or(multiprocessors, |case| case.residency.groups_per_wave);
    let samples = arithmetic.times(bench, &[1, wave])?;
    let [one, full] = samples.as_slice() else { return Err(Error::internal("a count was not sampled")) };
    let busy =
        Row::ratio("a wave of workgroups bound by issue", "time over one workgroup", &full.ns, &one.ns, one.clock)
            .noted(format!("{wave} workgroups"));
    let control = control(
        "a wave of workgroups that are busy all the time, judged as if they only waited beside each other",
        &busy,
        model.around(1.0, TIME),
    );
    rows.push(busy);
    let memory = match capacity.workgroup_bytes {
        Some(bytes) => format!("{:.1} KiB of workgroup memory", f64::from(bytes) / 1024.0),
        None => "more workgroup memory than was asked for".into(),
    };
    let groups = capacity.groups;
    let smallest = f64::from(groups) / f64::from(capacity.subgroups);
    let [by_size, by_memory] = series;
    let plot = |title: &str, x: &str, (points, model_points): (Vec<[f64; 2]>, Vec<[f64; 2]>)| {
        line_plot(
            title,
            axis(x, true),
            axis("workgroups a multiprocessor", false),
            vec![measured("measured", points), predicted("model", model_points)],
        )
    };
    Ok(Outcome {
        finding: format!(
            "{multiprocessors} multiprocessors each hold {groups} workgroups of {lanes} invocations, {} subgroups in \
             workgroups of {}, and {memory} in all. Workgroups of {lanes} therefore fill {:.0} % of the places for \
             subgroups; other sizes and amounts hold what these three limits allow in {} of {} cases.",
            capacity.subgroups,
            EIGHT * lanes,
            100.0 * smallest,
            rows.iter().filter(|row| row.verdict == Some(Verdict::Holds)).count(),
            rows.iter().filter(|row| row.prediction.is_some()).count(),
        ),
        prediction,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![
            plot("Workgroups a multiprocessor by their size", "invocations a workgroup", by_size),
            plot("Workgroups a multiprocessor by their memory", "bytes of workgroup memory", by_memory),
        ],
        control: Some(control),
    })
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
