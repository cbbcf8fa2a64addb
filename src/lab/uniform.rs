//! A branch on which a whole workgroup agrees.

use super::kernel::Launch;
use super::model::{FREE, TIME};
use super::oracle::arm_a;
use super::outcome::{Outcome, bar_plot, control, mask_remark, overall};
use super::timing::means;
use super::two_arms::{Pattern, TwoArms};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "uniform",
    group: "lanes",
    title: "A branch on the workgroup's index",
    claim: "A branch on which all lanes of a subgroup agree costs nothing: each subgroup issues the arm that it takes \
            and skips the other.",
    simulated: Simulated::Issues,
    run,
};

/// The kernel of one arm without any branch, which others are compared with.
#[derive(Debug)]
pub(super) struct Plain {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl Plain {
    pub(super) fn new(bench: &Bench<'_>) -> Result<Self> {
        Ok(Self {
            pipeline: bench.pipeline("plain", "", include_str!("../../shaders/lab/plain.wgsl"))?,
            results: bench.words("plain", bench.invocations())?,
        })
    }

    /// A dispatch, whose results were compared with the host's.
    pub(super) fn launch(&self, bench: &Bench<'_>, trips: u32) -> Result<Launch> {
        let params = bench.params(&[trips])?;
        let launch = bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], bench.groups());
        bench.verify("plain", &self.results, |pass| launch.record(pass), |index| arm_a(index, trips))?;
        Ok(launch)
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let (arms, plain) = (TwoArms::new(bench)?, Plain::new(bench)?);
    let model = bench.model()?;
    bench.ready()?;
    let trips = arms.calibrate(bench)?;
    let workgroup = bench.workgroup();
    let launches = [
        ("A alone".to_string(), arms.launch(bench, Pattern::all_a(trips))?),
        ("B alone".to_string(), arms.launch(bench, Pattern::all_b(trips))?),
        ("by workgroup".to_string(), arms.launch(bench, Pattern::runs(workgroup, trips))?),
        ("by lane".to_string(), arms.launch(bench, Pattern::runs(1, trips))?),
        ("no branch in the kernel".to_string(), plain.launch(bench, trips)?),
    ];
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> =
        launches.iter().zip(&samples).map(|((name, _), samples)| Row::each_trip(name, samples, trips)).collect();
    let [a, b, by_workgroup, by_lane, no_branch] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let one = means(&a.ns, &b.ns);
    let ratio = |cell: &str, a: &[f64], b: &[f64]| Row::ratio(cell, "time ratio", a, b, by_workgroup.clock);
    let nothing = model.around(model.runs(workgroup, 0), FREE);
    let by_workgroup = ratio("by workgroup, over one arm", &by_workgroup.ns, &one).predicted(nothing);
    let unused = ratio("an unused branch, over no branch", &a.ns, &no_branch.ns).predicted(nothing);
    let by_lane = ratio("by lane, over one arm", &by_lane.ns, &one).predicted(model.around(model.runs(1, 0), TIME));
    let finding = format!(
        "Workgroups that take two arms in turn need {} times the time of one arm; lanes that do so, {}. The branch \
         itself, with all lanes on one side, takes {} times a kernel without it.{}",
        by_workgroup.against_model(),
        by_lane.against_model(),
        unused.against_model(),
        mask_remark(model.cpu, &unused),
    );
    let control = control("the same branch by lane, judged as if it were by workgroup", &by_lane, nothing);
    rows.extend([by_workgroup, unused, by_lane]);
    Ok(Outcome {
        prediction: format!(
            "1.00 where workgroups of {workgroup} invocations agree; {:.2} where the {} lanes of a subgroup do not.",
            model.runs(1, 0),
            model.lanes
        ),
        finding,
        method: format!(
            "Two arms of {trips} trips, taken in turn by workgroup or by lane: the same pipeline, the pattern in a \
             uniform buffer. Compared with the mean of each arm alone; plain times, a round each."
        ),
        verdict: overall(&rows),
        plots: vec![bar_plot("Cost of a branch", "time ratio", &rows)],
        rows,
        control: Some(control),
    })
}
