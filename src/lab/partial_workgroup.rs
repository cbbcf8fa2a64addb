//! Workgroups that do not fill their last subgroup.

use super::kernel::Launch;
use super::model::{Model, TIME};
use super::oracle::arm_a;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::{Pair, Trips, calibrate, slopes};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "partial-workgroup",
    group: "workgroups",
    title: "A workgroup that does not fill its last subgroup",
    claim: "A workgroup takes whole subgroups: 100 invocations at a width of 32 take four, the last of them with four \
            lanes, so only 78 % of the lanes that are paid for do work.",
    simulated: Simulated::Issues,
    run,
};

/// The full workgroup that the others are compared with: four subgroups, or what fits.
fn full_workgroup(lanes: u32, most: u32) -> u32 {
    lanes * (most / lanes).clamp(1, 4)
}

/// Workgroups of one size.
struct Kernel {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    invocations: u32,
    groups: u32,
}

impl Kernel {
    /// As many workgroups of this size as make, together, so many subgroups: then every size pays for the same.
    fn new(bench: &Bench<'_>, model: &Model, invocations: u32, subgroups: u32) -> Result<Self> {
        let groups = subgroups / model.subgroups(invocations);
        let text = include_str!("../../shaders/lab/partial_workgroup.wgsl");
        Ok(Self {
            pipeline: bench.pipeline_of(invocations, "partial_workgroup", "", text)?,
            results: bench.words("partial_workgroup", invocations * groups)?,
            invocations,
            groups,
        })
    }

    /// Invocations of the whole dispatch.
    fn all(&self) -> f64 {
        f64::from(self.invocations * self.groups)
    }

    fn unverified(&self, bench: &Bench<'_>, trips: u32) -> Result<Launch> {
        let params = bench.params(&[trips])?;
        Ok(bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], self.groups))
    }

    fn launch(&self, bench: &Bench<'_>, trips: u32) -> Result<Launch> {
        let launch = self.unverified(bench, trips)?;
        let what = format!("partial_workgroup of {}", self.invocations);
        bench.verify(&what, &self.results, |pass| launch.record(pass), |index| arm_a(index, trips))?;
        Ok(launch)
    }
}

/// The sizes, of which the first fills its subgroups: multiples of the width, one more, one less, and 100.
fn sizes(lanes: u32, most: u32) -> Vec<u32> {
    let mut sizes = vec![1, lanes / 2 + 1, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, 3 * lanes + 1, 100];
    let full = full_workgroup(lanes, most);
    sizes.retain(|size| (1..=most).contains(size) && *size != full);
    sizes.sort_unstable();
    sizes.dedup();
    sizes.insert(0, full);
    sizes
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let lanes = model.lanes;
    let limits = bench.gpu.limits();
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    let subgroups = (bench.invocations() / lanes).min(limits.max_compute_workgroups_per_dimension);
    let kernels = sizes(lanes, most)
        .into_iter()
        .map(|size| Kernel::new(bench, &model, size, subgroups))
        .collect::<Result<Vec<_>>>()?;
    let Some(full) = kernels.first() else { return Err(Error::internal("no workgroup size")) };
    bench.ready()?;
    let trips = Trips::up_to(calibrate(bench, |trips| full.unverified(bench, trips))?);
    let pairs = kernels
        .iter()
        .map(|kernel| {
            Pair::new(format!("{} invocations", kernel.invocations), trips, |trips| kernel.launch(bench, trips))
        })
        .collect::<Result<Vec<_>>>()?;
    let slopes = slopes(bench, pairs)?;
    let Some(reference) = slopes.first() else { return Err(Error::internal("a contender was not sampled")) };

    let mut rows = Vec::new();
    let mut points = Vec::new();
    let mut one_over = None;
    let mut named = Vec::new();
    for (kernel, slope) in kernels.iter().zip(&slopes) {
        let cell = format!("{} invocations", kernel.invocations);
        rows.push(Row::trip(&cell, &slope.trip));
        rows.push(Row::count(&cell, "subgroups a workgroup", Unit::Count, model.subgroups(kernel.invocations)));
        if kernel.invocations == full.invocations {
            continue;
        }
        // Work a time, over the full workgroup's.
        let share = kernel.all() / full.all();
        let paid: Vec<f64> = reference.trip.ns.iter().map(|ns| ns * share).collect();
        let row = Row::ratio(&cell, "rate of a lane over a full workgroup's", &paid, &slope.trip.ns, slope.trip.clock)
            .predicted(model.around(model.filled_lanes(kernel.invocations), TIME));
        points.push([f64::from(kernel.invocations), row.value]);
        if kernel.invocations == lanes + 1 {
            one_over = Some(row.clone());
        }
        if kernel.invocations == 100 || kernel.invocations == lanes + 1 {
            named.push(format!(
                "{} invocations take {} subgroups, and a lane gets {} of a full workgroup's rate",
                kernel.invocations,
                model.subgroups(kernel.invocations),
                row.against_model()
            ));
        }
        rows.push(row);
    }
    let one_over = one_over.ok_or_else(|| Error::internal("no size is one more than the width"))?;
    let control = control(
        "one invocation more than a subgroup, judged as if lanes were paid for one by one",
        &one_over,
        model.around(1.0, TIME),
    );
    let sweep = (1..=full.invocations).map(|size| [f64::from(size), model.filled_lanes(size)]);
    Ok(Outcome {
        prediction: format!(
            "n / ({lanes} x n / {lanes} rounded up): {:.3} with {} invocations, {:.3} with 100.",
            model.filled_lanes(lanes + 1),
            lanes + 1,
            model.filled_lanes(100)
        ),
        finding: format!("At a width of {lanes}, {}.", named.join("; ")),
        method: format!(
            "Arithmetic in workgroups of each size, as many of them as make {subgroups} subgroups; slopes between {} and \
             {} trips, so that neither the pass nor the start of the workgroups counts.",
            trips.short, trips.long
        ),
        verdict: overall(&rows),
        plots: vec![line_plot(
            "Rate of a lane against the size of its workgroup",
            axis("invocations a workgroup", false),
            axis("rate over a full workgroup's", false),
            vec![measured("measured", points), predicted("model", sweep)],
        )],
        rows,
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_size_is_full_and_the_others_are_not_it() {
        for lanes in [2, 4, 8, 25, 32, 64] {
            let sizes = sizes(lanes, 256);
            assert_eq!(sizes[0], 4 * lanes);
            assert!(sizes[1..].iter().all(|size| *size != 4 * lanes && *size > 0), "{sizes:?}");
            assert!(sizes[1..].contains(&(lanes + 1)), "{sizes:?}");
        }
    }
}
