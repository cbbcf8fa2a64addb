//! Loops of different lengths in one subgroup.

use super::kernel::Launch;
use super::model::{DATA, TIME};
use super::oracle::{arm_a, scramble};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::calibrate;
use super::{Bench, Experiment};
use crate::error::{Error, Result};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "trip-count",
    group: "lanes",
    title: "One long loop in a subgroup",
    claim: "Lanes whose loops differ cost as much as the longest: one lane that loops a hundred times longer makes \
            its whole subgroup wait, so the share of lanes at work is the mean over the maximum of the trip counts.",
    run,
};

/// How many times longer the long loops are.
const LONGER: u32 = 100;

/// `Params` of trip_count.wgsl.
#[derive(Clone, Copy, Debug)]
struct Loops {
    spacing: u32,
    random: bool,
    long: u32,
    short: u32,
}

impl Loops {
    /// One in `spacing` invocations loops `long` times.
    fn spaced(spacing: u32, long: u32) -> Self {
        Self { spacing, random: false, long, short: (long / LONGER).max(2) }
    }

    /// Each invocation loops a random number of times, from 1 to `long`.
    fn random(long: u32) -> Self {
        Self { random: true, ..Self::spaced(1, long) }
    }

    fn trips(&self, index: u32) -> u32 {
        match (self.random, index % self.spacing) {
            (true, _) => scramble(index) % self.long + 1,
            (false, 0) => self.long,
            (false, _) => self.short,
        }
    }
}

struct Kernel {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl Kernel {
    fn unverified(&self, bench: &Bench<'_>, loops: Loops) -> Result<Launch> {
        let params = bench.params(&[loops.spacing, loops.random.into(), loops.long, loops.short])?;
        Ok(bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], bench.groups()))
    }

    fn launch(&self, bench: &Bench<'_>, loops: Loops) -> Result<Launch> {
        let launch = self.unverified(bench, loops)?;
        let what = format!("trip_count, {loops:?}");
        let expected = |index| arm_a(index, loops.trips(index));
        bench.verify(&what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let kernel = Kernel {
        pipeline: bench.pipeline("trip_count", "", include_str!("../../shaders/lab/trip_count.wgsl"))?,
        results: bench.words("trip_count", bench.invocations())?,
    };
    let model = bench.model()?;
    let lanes = model.lanes;
    bench.ready()?;
    let long = calibrate(bench, |trips| kernel.unverified(bench, Loops::spaced(1, trips)))?;
    let all_long = Loops::spaced(1, long);
    let all_short = Loops { long: all_long.short, ..all_long };
    let spacings: Vec<_> = (1..=lanes.ilog2() + 3).map(|power| 1u32 << power).collect();
    let mut launches = vec![
        ("all long".to_string(), kernel.launch(bench, all_long)?),
        ("all short".to_string(), kernel.launch(bench, all_short)?),
        ("random".to_string(), kernel.launch(bench, Loops::random(long))?),
    ];
    for spacing in &spacings {
        launches.push((format!("1 long in {spacing}"), kernel.launch(bench, Loops::spaced(*spacing, long))?));
    }
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> = launches.iter().zip(&samples).map(|((name, _), samples)| Row::time(name, samples)).collect();
    let [all, short, random, spaced @ ..] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let ratio = |cell: String, ns: &[f64]| Row::ratio(cell, "time over all long", ns, &all.ns, all.clock);
    let whole = model.around(1.0, TIME);
    let random =
        ratio("random, over all long".into(), &random.ns).predicted(model.around(model.random_loops(long), DATA));
    let short = ratio("all short, over all long".into(), &short.ns);
    let spaced: Vec<_> = spacings
        .iter()
        .zip(spaced)
        .map(|(spacing, samples)| {
            let row = ratio(format!("1 long in {spacing}, over all long"), &samples.ns);
            if *spacing <= lanes {
                row.predicted(model.around(model.spaced_loops(*spacing, long, all_long.short), TIME))
            } else {
                row.noted(format!(
                    "not judged: the model says {:.3}, but with long and short subgroups side by side the time also \
                     depends on how they are scheduled",
                    model.spaced_loops(*spacing, long, all_long.short)
                ))
            }
        })
        .collect();
    let points = spacings.iter().zip(&spaced).map(|(spacing, row)| [f64::from(*spacing), row.value]);
    let expected =
        spacings.iter().map(|spacing| [f64::from(*spacing), model.spaced_loops(*spacing, long, all_long.short)]);
    let plot = line_plot(
        "Time against the distance of the long loops",
        axis("invocations from one long loop to the next", true),
        axis("time over all long", false),
        vec![measured("measured", points), predicted("model", expected)],
    );
    let working = (f64::from(long) + f64::from(lanes - 1) * f64::from(all_long.short)) / f64::from(lanes * long);
    let one = spacings.iter().position(|spacing| *spacing == lanes).map(|at| spaced[at].against_model());
    let finding = format!(
        "One lane in {lanes} that loops {long} times among others that loop {} times takes {} times as long as if all \
         lanes looped {long} times, though only {:.0} % of the lane-steps do work. With random loop lengths it takes {}.",
        all_long.short,
        one.unwrap_or_default(),
        100.0 * working,
        random.against_model(),
    );
    let control = control("no long loop at all, judged as if every subgroup had one", &short, whole);
    rows.push(random);
    rows.extend(spaced);
    rows.push(short);
    Ok(Outcome {
        prediction: format!(
            "The time of the longest lane: 1.00 with one long loop in up to {lanes} invocations, {:.2} with random \
             lengths.",
            model.random_loops(long)
        ),
        finding,
        method: format!(
            "Loops of {long} and {} trips, chosen by index, or of a hashed number of trips; one pipeline, the pattern in \
             a uniform buffer. Plain times over those of all-long loops, a round each.",
            all_long.short
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
