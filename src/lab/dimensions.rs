//! The same work in one, two and three dimensions.

use super::kernel::{Launch, fold};
use super::model::{FREE, exactly};
use super::oracle::arm_a;
use super::outcome::{Outcome, bar_plot, control, overall};
use super::timing::{Pair, Trips, calibrate, slopes};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "dimensions",
    group: "workgroups",
    title: "Two and three dimensions are notation",
    claim: "A grid of two or three dimensions is a way to write indices: the same work costs the same in one. Each \
            dimension has its limit, and a longer row is folded into the next dimension.",
    simulated: Simulated::Issues,
    run,
};

/// A shape of the workgroup and of the grid, with the same products for all.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    workgroup: [u32; 3],
    grid: [u32; 3],
}

/// One, two and three dimensions of `1 << workgroup` invocations and `1 << groups` workgroups.
fn shapes(workgroup: u32, groups: u32) -> [Shape; 3] {
    let two = |power: u32| [1 << power.div_ceil(2), 1 << (power / 2), 1];
    let three = |power: u32| [1 << power.div_ceil(3), 1 << (power - power / 3 - power.div_ceil(3)), 1 << (power / 3)];
    [
        Shape { name: "one dimension", workgroup: [1 << workgroup, 1, 1], grid: [1 << groups, 1, 1] },
        Shape { name: "two dimensions", workgroup: two(workgroup), grid: two(groups) },
        Shape { name: "three dimensions", workgroup: three(workgroup), grid: three(groups) },
    ]
}

struct Kernel {
    shape: Shape,
    pipeline: wgpu::ComputePipeline,
}

fn pipeline(bench: &Bench<'_>, [x, y, z]: [u32; 3], entry: &str) -> Result<wgpu::ComputePipeline> {
    let prelude = format!("const SHAPE_X = {x}u;\nconst SHAPE_Y = {y}u;\nconst SHAPE_Z = {z}u;");
    bench.pipeline_of(x * y * z, entry, &prelude, include_str!("../../shaders/lab/dimensions.wgsl"))
}

/// Runs more workgroups than one dimension takes, folded into two, and counts how often each ran: the fewest and the
/// most.
fn folded(bench: &Bench<'_>) -> Result<(u32, [u32; 3], [u32; 2])> {
    let limit = bench.gpu.limits().max_compute_workgroups_per_dimension;
    let wanted = limit.min(1 << 20).saturating_add(100);
    let grid = fold(wanted, limit);
    let pipeline = pipeline(bench, [1, 1, 1], "visit")?;
    let visits = bench.words("visits", wanted)?;
    let launch = bench.launch_grid(&pipeline, &[(2, &visits)], grid);
    bench.run_once(|pass| launch.record(pass))?;
    let visits = bench.read_words(&visits, wanted)?;
    let ends = [visits.iter().min(), visits.iter().max()].map(|end| end.copied().unwrap_or(0));
    Ok((wanted, grid, ends))
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let limits = bench.gpu.limits();
    let results = bench.words("dimensions", bench.invocations())?;
    let mut kernels = Vec::new();
    for shape in shapes(bench.workgroup().ilog2(), bench.groups().ilog2()) {
        kernels.push(Kernel { shape, pipeline: pipeline(bench, shape.workgroup, "dimensions")? });
    }
    let unverified = |kernel: &Kernel, trips: u32| -> Result<Launch> {
        let params = bench.params(&[trips])?;
        Ok(bench.launch_grid(&kernel.pipeline, &[(0, &results), (1, &params)], kernel.shape.grid))
    };
    let launch = |kernel: &Kernel, trips: u32| -> Result<Launch> {
        let launch = unverified(kernel, trips)?;
        bench.verify(kernel.shape.name, &results, |pass| launch.record(pass), |index| arm_a(index, trips))?;
        Ok(launch)
    };
    let (workgroups, grid, visits) = folded(bench)?;
    let Some(first) = kernels.first() else { return Err(Error::internal("no shape")) };
    bench.ready()?;
    let trips = Trips::up_to(calibrate(bench, |trips| unverified(first, trips))?);
    let mut pairs = Vec::new();
    for kernel in &kernels {
        pairs.push(Pair::new(kernel.shape.name, trips, |trips| launch(kernel, trips))?);
    }
    // The control: the same shape with twice the work.
    pairs.push(Pair::new("twice the work", trips, |trips| launch(first, 2 * trips))?);
    let slopes = slopes(bench, pairs)?;
    let [one, two, three, more] = slopes.as_slice() else { return Err(Error::internal("a contender was not sampled")) };

    let free = model.around(1.0, FREE);
    let quantity = "time over one dimension";
    let mut rows = vec![Row::trip("one dimension", &one.trip)];
    for (slope, kernel) in [two, three].into_iter().zip(&kernels[1..]) {
        let [x, y, z] = kernel.shape.workgroup;
        let cell = format!("{}, workgroups of {x} x {y} x {z}", kernel.shape.name);
        rows.push(Row::trip(&cell, &slope.trip));
        rows.push(Row::ratio(cell, quantity, &slope.trip.ns, &one.trip.ns, one.trip.clock).predicted(free));
    }
    let ratios: Vec<_> = rows.iter().filter(|row| row.prediction.is_some()).cloned().collect();
    let more = Row::ratio("twice the work", quantity, &more.trip.ns, &one.trip.ns, one.trip.clock);
    let control = control("twice the work, judged as if it were another notation", &more, free);
    rows.push(more);
    let folded_cell = format!("{workgroups} workgroups, folded into {} x {}", grid[0], grid[1]);
    rows.push(Row::count(&folded_cell, "fewest runs of a workgroup", Unit::Count, visits[0]).predicted(exactly(1u32)));
    rows.push(Row::count(&folded_cell, "most runs of a workgroup", Unit::Count, visits[1]).predicted(exactly(1u32)));
    for (cell, limit) in [
        ("workgroups a dimension", limits.max_compute_workgroups_per_dimension),
        ("invocations a workgroup", limits.max_compute_invocations_per_workgroup),
        ("invocations a workgroup, x", limits.max_compute_workgroup_size_x),
        ("invocations a workgroup, y", limits.max_compute_workgroup_size_y),
        ("invocations a workgroup, z", limits.max_compute_workgroup_size_z),
    ] {
        rows.push(Row::count(cell, "limit", Unit::Count, limit));
    }
    let ran = match visits {
        [1, 1] => "each of them once".to_string(),
        [least, most] => format!("some of them {least} and some {most} times"),
    };
    let said = |index: usize| ratios.get(index).map(Row::against_model).unwrap_or_default();
    Ok(Outcome {
        prediction: "1.00 times the time of one dimension, and every workgroup of a folded grid runs once.".into(),
        finding: format!(
            "The same work takes {} times as long in two dimensions as in one, and {} in three. A row of {workgroups} \
             workgroups, folded into {} x {}, ran {ran}.",
            said(0),
            said(1),
            grid[0],
            grid[1]
        ),
        method: format!(
            "Arithmetic of {} workgroups of {} invocations, shaped in one, two and three dimensions, each invocation at \
             its linear index; slopes between {} and {} trips. The folded grid counts its workgroups by atomics.",
            bench.groups(),
            bench.workgroup(),
            trips.short,
            trips.long
        ),
        verdict: overall(&rows),
        plots: vec![bar_plot("Time over one dimension", "time over one dimension", &ratios)],
        rows,
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_the_same_products() {
        for workgroup in 0..=10 {
            for groups in [6, 12] {
                for shape in shapes(workgroup, groups) {
                    assert_eq!(shape.workgroup.iter().product::<u32>(), 1 << workgroup, "{}", shape.name);
                    assert_eq!(shape.grid.iter().product::<u32>(), 1 << groups, "{}", shape.name);
                    // The smallest limit of the z dimension that WebGPU allows.
                    assert!(shape.workgroup[2] <= 64);
                }
            }
        }
    }
}
