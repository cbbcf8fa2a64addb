//! The tree sum of a subgroup, step by step.

use super::exchange::{BUILT_IN_U32, Contest, Form, SERIAL_U32, TREE_U32, Times, library};
use super::kernel::CHECKS;
use super::model::{Model, exactly};
use super::outcome::{Outcome, axis, bars, control, measured, overall, said};
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::gpu::{Gpu, SubgroupPath};
use crate::report::{Plot, Row, Unit};
use crate::shader::MAX_LANES;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "tree-sum",
    group: "primitives",
    title: "The sum of a subgroup, step by step",
    claim: "A sum over the lanes takes log2(width) steps as a tree, since each step doubles what a lane has gathered: 5 \
            at 32 lanes, 6 at 64, where a sum of one lane after the other takes width - 1.",
    simulated: Simulated::Issues,
    run,
};

const FORMS: &[Form] = &[SERIAL_U32, TREE_U32, BUILT_IN_U32];
const SERIAL: usize = 0;
const TREE: usize = 1;
const BUILT_IN: usize = 2;

/// What tree_sum.wgsl counted.
struct Counted {
    path: SubgroupPath,
    model: Model,
    /// What each lane holds after each step, from before the first on.
    held: Vec<Vec<u32>>,
    tree_steps: u32,
    tree_sum: u32,
    serial_steps: u32,
    serial_sum: u32,
}

impl Counted {
    /// Runs one subgroup.
    fn new(bench: &Bench<'_>, gpu: &Gpu) -> Result<Self> {
        let lanes = gpu.lanes();
        let text = format!("{}\n{}", library(gpu, lanes)?, include_str!("../../shaders/lab/tree_sum.wgsl"));
        let pipeline = gpu.pipeline("tree_sum", &text, "tree_sum", CHECKS)?;
        // As many rows as the widest subgroup can have; those behind the counted steps say nothing new.
        let most_rows = MAX_LANES.ilog2() + 1;
        let (held, counted) = (bench.words("tree_sum", lanes * most_rows)?, bench.words("tree_sum", 4)?);
        let launch = bench.launch(&pipeline, &[(0, &held), (1, &counted)], 1);
        bench.run_once(|pass| launch.record(pass))?;
        let counted = bench.read_words(&counted, 4)?;
        let tree_steps = counted[0];
        let rows = bench.read_words(&held, lanes * (tree_steps.min(most_rows - 1) + 1))?;
        Ok(Self {
            path: gpu.path(),
            model: Model { lanes, cpu: gpu.is_cpu() },
            held: rows.chunks(lanes as usize).map(<[u32]>::to_vec).collect(),
            tree_steps,
            tree_sum: counted[1],
            serial_steps: counted[2],
            serial_sum: counted[3],
        })
    }

    fn rows(&self) -> Vec<Row> {
        let Model { lanes, .. } = self.model;
        let row = |cell: String, quantity: &str, unit: Unit, value: u32, predicted: u32| {
            Row::count(cell, quantity, unit, value).predicted(exactly(predicted)).on(self.path)
        };
        let mut rows = vec![
            row("tree".into(), "steps", Unit::Steps, self.tree_steps, self.model.tree_steps()),
            row("tree".into(), "lanes summed", Unit::Lanes, self.tree_sum, lanes),
            row("one lane after the other".into(), "steps", Unit::Steps, self.serial_steps, self.model.serial_steps()),
            row("one lane after the other".into(), "lanes summed", Unit::Lanes, self.serial_sum, lanes),
        ];
        for (step, held) in (0u32..).zip(&self.held) {
            let predicted = |lane: u32| self.model.tree_partial(lane, step);
            let right = (0u32..).zip(held).filter(|(lane, held)| **held == predicted(*lane)).count() as u32;
            let cell = format!("after step {step}");
            rows.push(row(cell.clone(), "lanes that lane 0 has summed", Unit::Lanes, held[0], predicted(0)));
            let all = held.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            rows.push(
                row(cell, "lanes that hold what the tree says", Unit::Count, right, lanes)
                    .noted(format!("lane by lane: {all}")),
            );
        }
        rows
    }

    fn plot(&self) -> Plot {
        let lanes = (0..self.model.lanes).map(|lane| lane.to_string()).collect();
        let series = self.held.iter().enumerate().map(|(step, held)| {
            let name = match step {
                0 => "before the first step".to_string(),
                step => format!("after step {step}"),
            };
            measured(&name, held.iter().enumerate().map(|(lane, sum)| [lane as f64, f64::from(*sum)]))
        });
        bars("What each lane has summed", "lane", lanes, axis("lanes summed", false), series.collect())
    }
}

/// What the times come to; it begins with the space that parts it from what was counted.
fn time_finding(times: &Times<'_>, model: &Model) -> String {
    match times.missing() {
        Some(reason) => format!(" Subgroup operations cannot be timed here: {reason}."),
        None => {
            let ns = |form| said(&times.latency(form), "ns");
            let rate = |form| said(&times.throughput(form), "x 10^9");
            format!(
                " With one subgroup alone the serial sum takes {}, the tree {} and the built-in sum {}; the full device does \
                 {}, {} and {} lane-operations a second. Steps are not times: the loads of a serial sum do not wait for \
                 each other, and a built-in sum may be one instruction of the hardware{}.",
                ns(SERIAL),
                ns(TREE),
                ns(BUILT_IN),
                rate(SERIAL),
                rate(TREE),
                rate(BUILT_IN),
                if model.cpu { ", or, as on this CPU driver, a loop over the lanes" } else { "" },
            )
        }
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let counted = Counted::new(bench, bench.gpu)?;
    let contest = Contest::new(bench, FORMS)?;
    bench.ready()?;
    let mut rows = counted.rows();
    let mut plots = vec![counted.plot()];
    let model = counted.model;
    // How many instructions a sum is, is the hardware's own: the simulator has steps only to say.
    let timed = if bench.gpu.is_simulated() {
        String::new()
    } else {
        let times = contest.times(bench)?;
        rows.extend(times.rows(&[[TREE, SERIAL], [BUILT_IN, TREE]]));
        if times.missing().is_none() {
            plots.extend(times.plots());
        }
        time_finding(&times, &model)
    };
    let held: Vec<_> = counted.held.iter().map(|held| held[0].to_string()).collect();
    let serial = Row::count("one lane after the other", "steps", Unit::Steps, counted.serial_steps);
    Ok(Outcome {
        prediction: format!(
            "At {} lanes: {} steps for the tree, {} for one lane after the other.{}",
            model.lanes,
            model.tree_steps(),
            model.serial_steps(),
            if timed.is_empty() {
                ""
            } else {
                " The tree is no slower than the serial sum, and the built-in sum of integers no slower than the tree."
            }
        ),
        finding: format!(
            "The tree summed {} lanes in {} steps, one lane after the other took {}. Lane 0 held {} lanes' values in \
             turn.{timed}",
            counted.tree_sum,
            counted.tree_steps,
            counted.serial_steps,
            held.join(", "),
        ),
        method: "Counted in one subgroup in which every lane brings a 1: what a lane holds is how many lanes it has \
                 summed, stored after each step. Timed as the experiments on single exchanges are: slopes over two trip \
                 counts of a loop of 8 dependent sums of u32, on the full device and with one subgroup alone."
            .into(),
        verdict: overall(&rows),
        plots,
        rows,
        control: Some(control(
            "the steps of one lane after the other, judged as if they were the tree's",
            &serial,
            exactly(model.tree_steps()),
        )),
    })
}
