//! How many workgroups a kernel with a loop over the work should have.

use super::kernel::Launch;
use super::model::{Model, TIME, makespan};
use super::oracle::{arm_a, scramble};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::residency::{CPU_REASON, residency};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::report::{Prediction, Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "grid-fill",
    group: "workgroups",
    title: "As many workgroups as fill the device",
    claim: "A kernel that strides over even work gains nothing from more workgroups than the device holds at once. Uneven \
            work does: with many more workgroups than places, those that finish early make room for others.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Sizes of the grid for even work, in parts of eight of what fills the device.
const EVEN: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// The part that is the fill itself.
const FILL: u32 = 8;
/// Sizes of the grid for uneven work, as multiples of the fill.
const UNEVEN: [u32; 5] = [1, 2, 5, 10, 20];
/// How much longer a long item is. One in 16 is long.
const LONGER: u32 = 32;
/// Trips of a short item.
const SHORT: u32 = 64;
// A workgroup of the coarsest grid that meets only long items still stays below what a CPU driver's loops can do.
const _: () = assert!(20 * SHORT * LONGER < 65_535);

/// Trips of an item of the uneven work.
fn trips(item: u32) -> u32 {
    if scramble(item).is_multiple_of(16) { SHORT * LONGER } else { SHORT }
}

/// Trips of one workgroup of a grid over `items` items, one after another.
fn work(group: u32, groups: u32, items: u32) -> u32 {
    (group..items).step_by(groups as usize).map(trips).sum()
}

struct Kernels {
    even: wgpu::ComputePipeline,
    uneven: wgpu::ComputePipeline,
    words: wgpu::Buffer,
    count: u32,
    results: wgpu::Buffer,
    workgroup: u32,
}

impl Kernels {
    fn new(bench: &Bench<'_>, most_groups: u32) -> Result<Self> {
        let text = include_str!("../../shaders/lab/grid_fill.wgsl");
        let count = bench.memory_words();
        Ok(Self {
            even: bench.pipeline("even", "", text)?,
            uneven: bench.pipeline("uneven", "", text)?,
            words: bench.filled_words("grid_fill", count, u32::MAX)?,
            count,
            results: bench.words("grid_fill_results", most_groups * bench.workgroup())?,
            workgroup: bench.workgroup(),
        })
    }

    fn even(&self, bench: &Bench<'_>, groups: u32) -> Result<Launch> {
        let params = bench.params(&[self.count])?;
        let launch = bench.launch(&self.even, &[(0, &self.results), (1, &params), (2, &self.words)], groups);
        let stride = groups * self.workgroup;
        let expected = |index| {
            let from = if index < stride { index } else { self.count };
            (from..self.count).step_by(stride as usize).fold(0u32, |sum, at| sum.wrapping_add(scramble(at)))
        };
        bench.verify_stretches(
            &format!("even, {groups} workgroups"),
            &self.results,
            |pass| launch.record(pass),
            expected,
        )?;
        Ok(launch)
    }

    fn uneven(&self, bench: &Bench<'_>, groups: u32, items: u32) -> Result<Launch> {
        let params = bench.params(&[items, SHORT, SHORT * LONGER])?;
        let launch = bench.launch(&self.uneven, &[(0, &self.results), (1, &params)], groups);
        let expected = |index: u32| match index / self.workgroup {
            group if group < groups => arm_a(index, work(group, groups, items)),
            _ => 0,
        };
        let what = format!("uneven, {groups} workgroups");
        bench.verify_stretches(&what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

/// Time of a grid of `multiple` times `fill` workgroups over uneven items, over that of a perfect balance: the model.
fn imbalance(fill: u32, multiple: u32, items: u32) -> f64 {
    let groups = fill * multiple;
    let costs: Vec<_> = (0..groups).map(|group| f64::from(work(group, groups, items))).collect();
    makespan(&costs, fill as usize) / (costs.iter().sum::<f64>() / f64::from(fill))
}

/// The gain of the finest grid over one that just fills the device: what the model says, if every place were a
/// processor of its own. Places on one multiprocessor share it and even the work out among themselves, so that part of
/// the gain, but not all of it, may be gone before.
fn gain(fill: u32, finest: u32, items: u32) -> Prediction {
    let value = imbalance(fill, 1, items) / imbalance(fill, finest, items);
    Prediction { value, low: 1.03_f64.min(value), high: value * 1.1 }
}

fn not_here(bench: &Bench<'_>, prediction: String, method: String, reason: &str) -> Result<Outcome> {
    let kernels = Kernels::new(bench, 16)?;
    kernels.even(bench, 8)?;
    kernels.uneven(bench, 8, 64)?;
    let row = Row::not_measurable("all grids", "time ratio", Unit::Ratio, reason);
    Ok(Outcome::not_measurable(prediction, method, vec![row], reason))
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model: Model = bench.model()?;
    let method = "The fill is the residency that dependent loads show. Even work: one sum over a buffer larger than any \
                  cache, four loads under way. Uneven work: items that a whole workgroup works on, one in 16 of them 32 \
                  times longer, dealt out in turn. Whole passes."
        .to_string();
    let prediction = "1.00 for even work from the fill on; for uneven work a gain, up to what a schedule of as many \
                      places as the fill has gives."
        .to_string();
    let workgroup = bench.workgroup();
    let Some(resident) = residency(bench, workgroup, 0)? else {
        let reason = if bench.gpu.is_cpu() {
            CPU_REASON
        } else {
            "how many workgroups fill the device does not show in any time"
        };
        return not_here(bench, prediction, method, reason);
    };
    let fill = resident.groups_per_wave;
    let limit = bench.gpu.limits().max_compute_workgroups_per_dimension;
    let grids: Vec<_> =
        EVEN.iter().map(|part| (*part, fill * part / FILL)).filter(|(_, g)| (1..=limit).contains(g)).collect();
    let multiples: Vec<_> = UNEVEN.iter().copied().filter(|multiple| fill * multiple <= limit).collect();
    let finest_multiple = multiples.last().copied().unwrap_or(1);
    // One item a workgroup of the finest grid; a workgroup of the coarsest works through all of them in turn.
    let items = fill * finest_multiple;
    let most = grids.iter().map(|(_, groups)| *groups).chain([items]).max().unwrap_or(items);
    let kernels = Kernels::new(bench, most)?;
    let mut launches = Vec::new();
    for (_, groups) in &grids {
        launches.push((format!("even, {groups} workgroups"), kernels.even(bench, *groups)?));
    }
    for multiple in &multiples {
        launches.push((format!("uneven, {multiple} times the fill"), kernels.uneven(bench, fill * multiple, items)?));
    }
    bench.ready()?;
    let samples = bench.sample(&launches)?;
    let (even, uneven) = samples.split_at(grids.len());

    let mut rows = vec![Row::count("workgroups that fill the device", "count", Unit::Count, fill)];
    let at_fill = grids.iter().position(|(part, _)| *part == FILL).and_then(|at| even.get(at));
    let Some(at_fill) = at_fill else { return Err(Error::internal("the fill was not sampled")) };
    let bytes = 4.0 * f64::from(kernels.count);
    let plateau = model.around(1.0, TIME);
    let mut sparse = None;
    let mut points = Vec::new();
    for ((part, groups), samples) in grids.iter().zip(even) {
        let cell = format!("even work, {} times the fill", f64::from(*part) / f64::from(FILL));
        rows.push(Row::time(&cell, samples).noted(format!("{groups} workgroups")));
        let rate = Row::bytes_moved(&cell, samples, bytes);
        points.push([f64::from(*part) / f64::from(FILL), rate.value]);
        rows.push(rate);
        // The rate over the rate at the fill.
        let row = Row::ratio(&cell, "throughput over the fill's", &at_fill.ns, &samples.ns, samples.clock);
        match part {
            &FILL => {}
            part if *part > FILL => {
                let share = bench.launch_share(*groups, samples)?;
                rows.push(row.unless_launch_bound(share).predicted(plateau));
            }
            part => {
                if *part == EVEN[0] {
                    sparse = Some(row.clone());
                }
                rows.push(row);
            }
        }
    }
    let beyond: Vec<_> = rows.iter().filter(|row| row.prediction.is_some()).map(Row::against_model).collect();
    let mut uneven_points = Vec::new();
    let mut uneven_model = Vec::new();
    let mut said = "no finer grid fits this device".to_string();
    if let [coarse, .., finest] = uneven {
        for (multiple, samples) in multiples.iter().zip(uneven) {
            let cell = format!("uneven work, {multiple} times the fill");
            rows.push(Row::time(&cell, samples));
            let row = Row::ratio(&cell, "time over the finest grid's", &samples.ns, &finest.ns, samples.clock);
            uneven_points.push([f64::from(*multiple), row.value]);
            let finest = imbalance(fill, finest_multiple, items);
            uneven_model.push([f64::from(*multiple), imbalance(fill, *multiple, items) / finest]);
            rows.push(row);
        }
        let row =
            Row::ratio("uneven work", "time at the fill over the finest grid's", &coarse.ns, &finest.ns, coarse.clock)
                .predicted(gain(fill, finest_multiple, items));
        said = format!(
            "as many as fill the device take {} times as long as {finest_multiple} times as many",
            row.against_model()
        );
        rows.push(row);
    }
    let control = sparse
        .map(|row| control("an eighth of the workgroups that fill the device, judged as the plateau", &row, plateau));
    let mut plots = vec![line_plot(
        "Throughput of even work by the size of the grid",
        axis("workgroups over those that fill the device", true),
        axis("GB/s", false),
        vec![measured("measured", points)],
    )];
    if !uneven_points.is_empty() {
        plots.push(line_plot(
            "Time of uneven work by the size of the grid",
            axis("workgroups over those that fill the device", true),
            axis("time over the finest grid", false),
            vec![measured("measured", uneven_points), predicted("model", uneven_model)],
        ));
    }
    Ok(Outcome {
        prediction,
        finding: format!(
            "{fill} workgroups of {workgroup} fill the device. For even work 2, 4, 8 and 16 times as many give {} of its \
             throughput; for uneven work {said}.",
            beyond.join(", ")
        ),
        method,
        verdict: overall(&rows),
        rows,
        plots,
        control,
    })
}
