//! Reading what another workgroup writes in the same dispatch.

use super::kernel::{Launch, record_all};
use super::model::{exactly, some_of};
use super::outcome::{Outcome, bar_plot, control, overall};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "cross-read",
    group: "workgroups",
    title: "Reading what another workgroup writes",
    claim: "What one workgroup writes, another of the same dispatch may or may not see: some reads are stale. Behind the \
            end of the dispatch none is.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

const GROUPS: u32 = 4096;

struct Kernels {
    both: wgpu::ComputePipeline,
    leave: wgpu::ComputePipeline,
    look: wgpu::ComputePipeline,
    stale: wgpu::Buffer,
    slots: wgpu::Buffer,
}

/// Runs of each case: the order in which workgroups run is another one each time.
const RUNS: u32 = 5;

/// Where a workgroup looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Mirrored,
    Before,
}

impl Kernels {
    fn launches(&self, bench: &Bench<'_>, run: u32, at: Where, dispatches: u32) -> Result<Vec<Launch>> {
        let params = bench.params(&[run, GROUPS, u32::from(at == Where::Before)])?;
        let (stale, params, slots) = ((0, &self.stale), (1, &params), (2, &self.slots));
        Ok(if dispatches == 1 {
            vec![bench.launch(&self.both, &[stale, params, slots], GROUPS)]
        } else {
            vec![
                bench.launch(&self.leave, &[params, slots], GROUPS),
                bench.launch(&self.look, &[stale, params, slots], GROUPS),
            ]
        })
    }

    /// Stale reads of one run, whose number is unlike that of every other.
    fn stale(&self, bench: &Bench<'_>, run: u32, at: Where, dispatches: u32) -> Result<u32> {
        let launches = self.launches(bench, run, at, dispatches)?;
        bench.run_once(|pass| record_all(&launches, pass))?;
        let slots = bench.read_words(&self.slots, GROUPS)?;
        if let Some(slot) = slots.iter().find(|slot| **slot != run) {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!("cross-read: behind run {run} a slot holds {slot}"),
            ));
        }
        Ok(bench.read_words(&self.stale, GROUPS)?.iter().sum())
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let text = include_str!("../../shaders/lab/cross_read.wgsl");
    let kernels = Kernels {
        both: bench.pipeline("leave_and_look", "", text)?,
        leave: bench.pipeline("leave", "", text)?,
        look: bench.pipeline("look", "", text)?,
        stale: bench.words("stale", GROUPS)?,
        slots: bench.words("slots", GROUPS)?,
    };
    // A first run for nothing, so that each of the others finds the slots of a run before it.
    kernels.stale(bench, 1, Where::Mirrored, 2)?;
    let mut run = 1;
    let mut stale = |at: Where, dispatches: u32| -> Result<Vec<u32>> {
        let one = |_| {
            run += 1;
            kernels.stale(bench, run, at, dispatches)
        };
        (0..RUNS).map(one).collect()
    };
    let varying = |cell: &str, runs: &[u32]| Row::varying(cell, "stale reads", Unit::Count, runs);
    // None means none in any run.
    let never = |cell: &str, runs: &[u32]| {
        Row::count(cell, "stale reads", Unit::Count, runs.iter().sum::<u32>()).predicted(exactly(0u32))
    };
    let mirrored = varying("one dispatch, the slot mirrored at the other end", &stale(Where::Mirrored, 1)?)
        .predicted(some_of(GROUPS));
    let before = varying("one dispatch, the slot of the workgroup before", &stale(Where::Before, 1)?);
    let apart = never("two dispatches, the slot mirrored", &stale(Where::Mirrored, 2)?);
    let apart_before = never("two dispatches, the workgroup before", &stale(Where::Before, 2)?);
    let finding = format!(
        "In one dispatch {:.0} of {GROUPS} reads of a slot at the other end of the grid were stale, and {:.0} of those of \
         the workgroup before, which is the more dangerous figure the smaller it is. With the end of a dispatch between \
         writing and reading, {:.0} and {:.0} were.",
        mirrored.value, before.value, apart.value, apart_before.value
    );
    let control = control("two dispatches, judged as if they were one", &apart, some_of(GROUPS));
    let plot_rows = [&mirrored, &before, &apart, &apart_before]
        .map(|row| Row { prediction: row.prediction.or(Some(some_of(GROUPS))), ..row.clone() });
    let plot = bar_plot("Stale reads", "reads", &plot_rows);
    let rows = vec![mirrored, before, apart, apart_before];
    Ok(Outcome {
        prediction: "Some stale reads in one dispatch; none behind its end.".into(),
        finding,
        method: format!(
            "The first lane of each of {GROUPS} workgroups stores the number of the run into its slot and loads another's, \
             both by atomics; a slot that still holds the run before is stale. Medians of {RUNS} runs for one dispatch, the sum of as many for two; \
             nothing is timed. With plain loads instead \
             of atomics this would be a data race, and even old caches could answer."
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
