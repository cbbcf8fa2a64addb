//! A barrier of the whole grid in software, against the end of a dispatch.

use super::grid::{not_here, why_not_waiting};
use super::kernel::Launch;
use super::model::cheaper;
use super::oracle::arm_a;
use super::outcome::{Outcome, bar_plot, control, overall};
use super::residency::{multiprocessors, residency};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Contender, Samples, slope};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "grid-barrier",
    group: "workgroups",
    title: "A barrier of the whole grid",
    claim: "A barrier of the whole grid in software works only while every workgroup is resident, and then costs less than the \
            end of a dispatch.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

const WORKGROUP: u32 = 256;
/// Barriers, and dispatches, at either end of the slope.
const COUNTS: [u32; 2] = [50, 500];
/// The most polls of a barrier. A poll takes most of a microsecond, and a barrier of resident workgroups a few of them.
const POLLS: u32 = 4096;
/// Words of `State` in grid_barrier.wgsl, by name.
const STATE: u32 = 4;
const GAVE_UP: usize = 1;
const MOST_POLLS: usize = 2;
const EARLY: usize = 3;

struct Kernel {
    pipeline: wgpu::ComputePipeline,
    increment: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    state: wgpu::Buffer,
    places: wgpu::Buffer,
}

impl Kernel {
    fn new(bench: &Bench<'_>, most: u32) -> Result<Self> {
        let boundary = include_str!("../../shaders/lab/dispatch_boundary.wgsl");
        Ok(Self {
            pipeline: bench.pipeline_of(
                WORKGROUP,
                "grid_barrier",
                "",
                include_str!("../../shaders/lab/grid_barrier.wgsl"),
            )?,
            increment: bench.pipeline_of(WORKGROUP, "increment", "", boundary)?,
            results: bench.words("grid barrier", most * WORKGROUP)?,
            state: bench.words("grid barrier state", STATE)?,
            places: bench.words("grid barrier places", most)?,
        })
    }

    /// Forgets what the last run left: in the same encoder, before each run.
    fn reset(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.state, 0, None);
        encoder.clear_buffer(&self.places, 0, None);
    }

    fn launch(&self, bench: &Bench<'_>, groups: u32, barriers: u32) -> Result<Launch> {
        let params = bench.params(&[barriers, POLLS])?;
        let buffers = [(0, &self.results), (1, &params), (2, &self.state), (3, &self.places)];
        let launch = bench.launch(&self.pipeline, &buffers, groups);
        bench.gpu.submit(|encoder| self.reset(encoder));
        let expected = |index: u32| if index < groups * WORKGROUP { arm_a(index, barriers) } else { 0 };
        bench.verify("grid_barrier", &self.results, |pass| launch.record(pass), expected)?;
        self.state(bench)?;
        Ok(launch)
    }

    /// The state that the last run left; an error where a workgroup came through too early, or gave up.
    fn state(&self, bench: &Bench<'_>) -> Result<Vec<u32>> {
        let state = bench.read_words(&self.state, STATE)?;
        if state[EARLY] > 0 || state[GAVE_UP] > 0 {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!(
                    "grid-barrier: {} times a workgroup came through early, {} gave up after {POLLS} polls",
                    state[EARLY], state[GAVE_UP]
                ),
            ));
        }
        Ok(state)
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction =
        "A barrier of one workgroup a multiprocessor costs less than the end of a dispatch of the same grid.";
    let method = format!(
        "Every workgroup of {WORKGROUP} counts itself into one atomic counter and polls it, at most {POLLS} times, until all have; \
         that each other workgroup has come is checked behind every barrier. Grids above the measured residency are refused. \
         Slopes between {} and {} barriers, against as many dependent dispatches in one pass.",
        COUNTS[0], COUNTS[1]
    );
    let refuse =
        |reason: &str| Ok(not_here(prediction.into(), method.clone(), "barrier over dispatch", "time ratio", reason));
    if let Some(reason) = why_not_waiting(bench) {
        return refuse(reason);
    }
    let (Some(units), Some(resident)) = (multiprocessors(bench)?, residency(bench, WORKGROUP, 4)?) else {
        return refuse("how many workgroups are resident could not be measured, so any number may be too many");
    };
    let resident = resident.groups_per_wave;
    let sizes: Vec<_> = [1, 2, 4].map(|each| each * units).into_iter().filter(|groups| *groups <= resident).collect();
    let each = |groups: u32| format!("{} a multiprocessor", groups / units);
    let Some(&most) = sizes.last() else {
        return refuse("not even one workgroup a multiprocessor is resident at once");
    };
    let kernel = Kernel::new(bench, most)?;
    bench.ready()?;
    let mut barriers = Vec::new();
    for groups in &sizes {
        for count in COUNTS {
            barriers.push((format!("{}, {count} barriers", each(*groups)), kernel.launch(bench, *groups, count)?));
        }
    }
    let dispatch = bench.launch(&kernel.increment, &[(0, &kernel.results)], units);
    let dispatches = [0, 1].map(|again| COUNTS.map(|count| (format!("{count} dispatches, {}", again + 1), count)));
    let mut contenders: Vec<_> = barriers
        .iter()
        .map(|(name, launch)| Contender::new(name, |pass| launch.record(pass)).before(|encoder| kernel.reset(encoder)))
        .collect();
    let dispatch = &dispatch;
    contenders.extend(
        dispatches
            .iter()
            .flatten()
            .map(|(name, count)| Contender::new(name, move |pass| (0..*count).for_each(|_| dispatch.record(pass)))),
    );
    let names: Vec<_> = contenders.iter().map(|contender| contender.name().to_string()).collect();
    let samples = bench.sampler.sample(&contenders)?;
    drop(contenders);
    let state = kernel.state(bench)?;
    let slopes: Vec<Samples> =
        samples.chunks_exact(2).map(|ends| slope(&ends[0], &ends[1], COUNTS[0].into(), COUNTS[1].into())).collect();
    let [grids @ .., boundary, again] = slopes.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let mut rows: Vec<_> = names.iter().zip(&samples).map(|(name, samples)| Row::time(name, samples)).collect();
    rows.push(Row::duration("dispatch", "time of one more", boundary));
    let ratio = |cell: String, a: &Samples| Row::ratio(cell, "time ratio", &a.ns, &boundary.ns, a.clock);
    let mut ratios = Vec::new();
    for (groups, slope) in sizes.iter().zip(grids) {
        let cell = format!("barrier of {}", each(*groups));
        rows.push(Row::duration(&cell, "time of one more", slope).noted(format!("{groups} workgroups")));
        let row = ratio(format!("{cell}, over a dispatch of {}", each(units)), slope);
        // More workgroups a multiprocessor contend for one counter: only the first is claimed.
        ratios.push(if *groups == units { row.predicted(cheaper()) } else { row });
    }
    let same = ratio(format!("a dispatch of {}, over itself", each(units)), again);
    let control = control("a dispatch against itself, judged as if it were the barrier", &same, cheaper());
    let finding = format!(
        "A barrier of {units} workgroups, one a multiprocessor, costs {:.2} us, {:.2} of the {:.2} us that a dependent dispatch of \
         the same grid costs{}. {}. At most {} polls were needed. The device holds {resident} such workgroups at once; one more \
         and the barrier could never end, so it was not tried.",
        grids[0].median() / 1e3,
        ratios[0].value,
        boundary.median() / 1e3,
        if ratios[0].verdict == Some(Verdict::Holds) { "" } else { ", which is not clearly less" },
        sizes
            .iter()
            .zip(grids)
            .skip(1)
            .map(|(groups, slope)| format!("With {groups} workgroups it costs {:.2} us", slope.median() / 1e3))
            .collect::<Vec<_>>()
            .join(". "),
        state[MOST_POLLS] + 1,
    );
    let plot_rows: Vec<_> = ratios.iter().map(|row| Row { prediction: Some(cheaper()), ..row.clone() }).collect();
    let plot = bar_plot("Over a dispatch", "time ratio", &plot_rows);
    rows.push(Row::count("residency", "workgroups beyond which it gives up", Unit::Count, resident));
    rows.push(Row::count("barrier", "polls of the last run, at most", Unit::Count, state[MOST_POLLS] + 1));
    rows.extend(ratios);
    rows.push(same);
    Ok(Outcome {
        prediction: prediction.into(),
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
