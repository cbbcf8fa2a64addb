//! The guard at the end of the data.

use super::kernel::Launch;
use super::model::{FREE, exactly};
use super::oracle::arm_a;
use super::outcome::{Outcome, bar_plot, control, mask_remark, overall};
use super::two_arms::{Pattern, TwoArms};
use super::uniform::Plain;
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "guard",
    group: "lanes",
    title: "The guard of a grid larger than its data",
    claim: "`if index < items` around the work costs nothing: it diverges in one subgroup of the whole dispatch.",
    simulated: Simulated::Issues,
    run,
};

/// Invocations past the end of the data: odd, so that the end lies inside a subgroup at every width.
const PAST_END: u32 = 99;

/// guard.wgsl: the guard as an `if` around the work, and as an early return.
struct Guard {
    around: wgpu::ComputePipeline,
    early: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl Guard {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let text = include_str!("../../shaders/lab/guard.wgsl");
        Ok(Self {
            around: bench.pipeline("guard_around", "", text)?,
            early: bench.pipeline("guard_return", "", text)?,
            results: bench.words("guard", bench.invocations())?,
        })
    }

    fn launch(
        &self,
        bench: &Bench<'_>,
        name: &str,
        pipeline: &wgpu::ComputePipeline,
        items: u32,
        trips: u32,
    ) -> Result<(String, Launch)> {
        let params = bench.params(&[items, trips])?;
        let launch = bench.launch(pipeline, &[(0, &self.results), (1, &params)], bench.groups());
        let expected = |index| if index < items { arm_a(index, trips) } else { 0 };
        bench.verify(name, &self.results, |pass| launch.record(pass), expected)?;
        Ok((name.into(), launch))
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let (guard, plain, arms) = (Guard::new(bench)?, Plain::new(bench)?, TwoArms::new(bench)?);
    let model = bench.model()?;
    bench.ready()?;
    let trips = arms.calibrate(bench)?;
    let invocations = bench.invocations();
    let items = invocations - PAST_END;
    let launches = [
        ("no guard".to_string(), plain.launch(bench, trips)?),
        guard.launch(bench, "if around the work", &guard.around, items, trips)?,
        guard.launch(bench, "early return", &guard.early, items, trips)?,
        guard.launch(bench, "if that all invocations pass", &guard.around, invocations, trips)?,
        ("a branch in every subgroup".to_string(), arms.launch(bench, Pattern::runs(1, trips))?),
    ];
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> =
        launches.iter().zip(&samples).map(|((name, _), samples)| Row::each_trip(name, samples, trips)).collect();
    let [none, around, early, all, everywhere] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let nothing = model.around(1.0, FREE);
    let ratio = |cell: &str, ns: &[f64]| Row::ratio(cell, "time ratio", ns, &none.ns, none.clock);
    let around = ratio("if around the work, over no guard", &around.ns).predicted(nothing);
    let early = ratio("early return, over no guard", &early.ns).predicted(nothing);
    let all = ratio("if that all invocations pass, over no guard", &all.ns).predicted(nothing);
    let everywhere = ratio("a branch in every subgroup, over no guard", &everywhere.ns);
    let subgroups = model.subgroups(invocations);
    // The end of the data cuts one subgroup, since it lies on no border; those past it agree to do nothing.
    let cut =
        (0..subgroups).filter(|subgroup| (subgroup * model.lanes + 1..(subgroup + 1) * model.lanes).contains(&items));
    let cut = Row::count("subgroups that the guard divides", "subgroups", Unit::Count, cut.count() as u32)
        .predicted(exactly(1u32))
        .noted(format!("computed from {items} items and {} lanes, of {subgroups} subgroups", model.lanes));
    let finding = format!(
        "A guard for {items} items in a grid of {invocations} invocations takes {} times the unguarded kernel as an \
         `if`, {} as an early return.{} It divides one of {subgroups} subgroups.",
        around.against_model(),
        early.against_model(),
        mask_remark(model.cpu, &around),
    );
    let control = control("a branch that divides every subgroup, judged as if it were a guard", &everywhere, nothing);
    rows.extend([cut, around, early, all, everywhere]);
    Ok(Outcome {
        prediction: format!("1.00: one subgroup of {subgroups} is divided, and it issues one arm only."),
        finding,
        method: format!(
            "{trips} trips an invocation. The unguarded kernel writes the whole grid, the guarded ones all but the last \
             {PAST_END} invocations. Plain times of a long kernel, round by round: on a short one the guard's own \
             instructions would show."
        ),
        verdict: overall(&rows),
        plots: vec![bar_plot("Cost of a guard", "time ratio", rows.iter().filter(|row| row.unit == Unit::Ratio))],
        rows,
        control: Some(control),
    })
}
