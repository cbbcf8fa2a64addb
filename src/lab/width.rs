//! How wide a subgroup is: as reported, as counted, and as a branch shows it without any subgroup operation.

use super::kernel::Launch;
use super::model::{DATA, FREE, Model, TIME, exactly};
use super::oracle::steps;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::calibrate;
use super::two_arms::{Pattern, TwoArms};
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::measure::{Effort, Samples, median};
use crate::report::{Prediction, Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "width",
    group: "lanes",
    title: "Width of a subgroup",
    claim: "The width of a subgroup belongs to the hardware and not to the program: 32 on NVIDIA, 64 on AMD CDNA, 32 or \
            64 on RDNA, others elsewhere. It shows without any subgroup operation, since a branch becomes free once \
            all lanes of a subgroup agree on it. A loop over the lanes is unrolled only where the compiler sees the \
            width as a constant of the program.",
    simulated: Simulated::Issues,
    run,
};

/// Below this ratio to one arm alone, a branch whose sides change every `run` invocations counts as free: half way
/// between the two levels, one arm and two.
const KNEE: f64 = 1.5;

/// Times of the run-length sweep.
struct Sweep {
    trips: u32,
    /// Arm A alone.
    alone: Samples,
    /// Run length, and times.
    runs: Vec<(u32, Samples)>,
    /// Arm A on both sides of the branch, with sides that change at every invocation.
    one_sided: Samples,
}

impl Sweep {
    fn ratio(&self, run: u32, samples: &Samples) -> Row {
        Row::ratio(format!("run of {run}"), "time over one arm", &samples.ns, &self.alone.ns, samples.clock)
    }

    /// The first power of two from which on a branch between runs is free. Where none is, the workgroup: then no
    /// invocations but those of another workgroup are seen to be independent.
    fn knee(&self, bench: &Bench<'_>) -> u32 {
        let powers = self.runs.iter().filter(|(run, _)| run.is_power_of_two());
        let free = powers.filter(|(_, samples)| median(&samples.ns) < KNEE * median(&self.alone.ns));
        free.map(|(run, _)| *run).min().unwrap_or(bench.workgroup())
    }
}

/// Powers of two up to the workgroup.
fn powers(bench: &Bench<'_>) -> Vec<u32> {
    (0..=bench.workgroup().ilog2()).map(|power| 1 << power).collect()
}

fn sweep(bench: &Bench<'_>, arms: &TwoArms, runs: &[u32]) -> Result<Sweep> {
    let trips = arms.calibrate(bench)?;
    let mut launches = vec![
        ("A alone".to_string(), arms.launch(bench, Pattern::all_a(trips))?),
        ("A on both sides".to_string(), arms.launch(bench, Pattern::all_a(trips))?),
    ];
    for run in runs {
        launches.push((format!("run of {run}"), arms.launch(bench, Pattern::runs(*run, trips))?));
    }
    let mut samples = bench.sample(&launches)?.into_iter();
    let (Some(alone), Some(one_sided)) = (samples.next(), samples.next()) else {
        return Err(crate::Error::internal("a contender was not sampled"));
    };
    Ok(Sweep { trips, alone, one_sided, runs: runs.iter().copied().zip(samples).collect() })
}

/// The width as the knee of the sweep shows it, for devices without subgroup operations to rely on.
pub(super) fn measure_knee(bench: &Bench<'_>) -> Result<u32> {
    let arms = TwoArms::new(bench)?;
    bench.ready()?;
    Ok(sweep(bench, &arms, &powers(bench))?.knee(bench))
}

/// The loop over the lanes, bounded by the built-in width and by a constant.
struct LoopBound {
    built_in: wgpu::ComputePipeline,
    constant: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    lanes: u32,
}

impl LoopBound {
    fn new(bench: &Bench<'_>, lanes: u32) -> Result<Self> {
        let prelude = format!("const LANES = {lanes}u;");
        let text = include_str!("../../shaders/lab/loop_bound.wgsl");
        Ok(Self {
            built_in: bench.pipeline("bound_built_in", &prelude, text)?,
            constant: bench.pipeline("bound_constant", &prelude, text)?,
            results: bench.words("loop_bound", bench.invocations())?,
            lanes,
        })
    }

    fn launch(&self, bench: &Bench<'_>, pipeline: &wgpu::ComputePipeline, trips: u32) -> Result<Launch> {
        let params = bench.params(&[trips])?;
        Ok(bench.launch(pipeline, &[(0, &self.results), (1, &params)], bench.groups()))
    }

    fn expected(&self, index: u32, trips: u32) -> u32 {
        (0..trips).fold(index, |x, _| (0..self.lanes).fold(x, |x, i| steps(x, 1, 0x9E37_79B1, i, 15)))
    }

    /// Both loops' rows, and the built-in bound over the constant one.
    fn rows(&self, bench: &Bench<'_>) -> Result<(Vec<Row>, Row)> {
        // All trips of an invocation together stay below what a CPU driver's loops can do.
        let most = super::timing::MAX_TRIPS / self.lanes;
        let trips = calibrate(bench, |trips| self.launch(bench, &self.constant, trips.min(most)))?.min(most);
        let mut launches = Vec::new();
        for (name, pipeline) in [("bound built in", &self.built_in), ("bound constant", &self.constant)] {
            let launch = self.launch(bench, pipeline, trips)?;
            bench.verify(name, &self.results, |pass| launch.record(pass), |index| self.expected(index, trips))?;
            launches.push((name.to_string(), launch));
        }
        let samples = bench.sample(&launches)?;
        let rows =
            launches.iter().zip(&samples).map(|((name, _), samples)| Row::each_trip(name, samples, trips)).collect();
        let [built_in, constant] = samples.as_slice() else {
            return Err(crate::Error::internal("a contender was not sampled"));
        };
        let cell = "loop over the lanes, built-in bound over constant bound";
        Ok((rows, Row::ratio(cell, "time ratio", &built_in.ns, &constant.ns, built_in.clock)))
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let arms = TwoArms::new(bench)?;
    let counted = bench.counts_lanes().then(|| bench.gpu.probe().width());
    let loop_bound = counted.map(|lanes| LoopBound::new(bench, lanes)).transpose()?;
    let mut runs = powers(bench);
    if bench.effort == Effort::Full
        && let Some(lanes) = counted
    {
        // Between the powers of two only some subgroups are mixed: how many, the model says.
        runs.extend([lanes - 1, lanes + 1, lanes + lanes / 4, lanes + lanes / 2]);
        runs.sort_unstable();
        runs.dedup();
    }
    bench.ready()?;
    let sweep = sweep(bench, &arms, &runs)?;
    let knee = sweep.knee(bench);
    let lanes = counted.unwrap_or(knee);
    let model = Model { lanes, cpu: bench.gpu.is_cpu() };

    let mut rows = width_rows(bench, counted, knee);
    rows.push(Row::each_trip("A alone", &sweep.alone, sweep.trips));
    for (run, samples) in &sweep.runs {
        rows.push(Row::each_trip(format!("run of {run}"), samples, sweep.trips));
        let value = model.runs(*run, 0);
        let tolerance = match value {
            1.0 => FREE,
            2.0 => TIME,
            // Some subgroups are mixed and some are not.
            _ => DATA,
        };
        rows.push(sweep.ratio(*run, samples).predicted(model.around(value, tolerance)));
    }
    let shortest = model.around(model.runs(1, 0), TIME);
    let one_sided = Row::ratio(
        "A on both sides, changing at every invocation",
        "time over one arm",
        &sweep.one_sided.ns,
        &sweep.alone.ns,
        sweep.alone.clock,
    );
    let control = control("both sides of the branch take arm A, judged as if they were two", &one_sided, shortest);
    rows.push(one_sided);
    let mut bound = String::new();
    match &loop_bound {
        Some(loop_bound) => {
            let (times, ratio) = loop_bound.rows(bench)?;
            bound = format!(
                " A loop over the lanes takes {:.2} times as long with the built-in width as its bound as with a \
                 constant.",
                ratio.value
            );
            rows.extend(times);
            rows.push(ratio);
        }
        None => rows.push(Row::not_measurable(
            "loop over the lanes, built-in bound over constant bound",
            "time ratio",
            Unit::Ratio,
            &bench.gpu.probe().reason(),
        )),
    }
    let at =
        |run: u32| sweep.runs.iter().find(|(r, _)| *r == run).map(|(run, samples)| sweep.ratio(*run, samples).value);
    let levels = match (at(1), at(knee)) {
        (Some(short), Some(long)) => format!(
            "a branch whose sides change at every invocation takes {short:.2} times one arm, one that changes every \
             {knee} invocations {long:.2} times"
        ),
        _ => "the sweep has no level".into(),
    };
    let finding = match counted {
        Some(lanes) if lanes == knee => {
            format!(
                "Subgroups of {lanes} lanes were counted, and the branch shows the same width by itself: {levels}.{bound}"
            )
        }
        Some(lanes) => {
            format!("Subgroups of {lanes} lanes were counted, but the branch shows a width of {knee}: {levels}.{bound}")
        }
        None => format!(
            "The branch shows a width of {knee}: {levels}. It could not be counted: {}.",
            bench.gpu.probe().reason()
        ),
    };
    let points = sweep.runs.iter().map(|(run, samples)| [f64::from(*run), sweep.ratio(*run, samples).value]);
    let expected = sweep.runs.iter().map(|(run, _)| [f64::from(*run), model.runs(*run, 0)]);
    Ok(Outcome {
        prediction: format!(
            "Twice one arm while the sides of a branch change within a subgroup of {lanes} lanes, once from runs of \
             {lanes} invocations on."
        ),
        finding,
        method: format!(
            "Counted by ballot; and by the time of a two-armed branch on (index / run) mod 2, {} trips an arm, which \
             uses no subgroup operation. The knee is the first power of two below {KNEE} times one arm alone. The \
             plain ratios hold what a pass costs, a few percent at most.",
            sweep.trips
        ),
        verdict: overall(&rows),
        plots: vec![line_plot(
            "Time of a branch against the length of its runs",
            axis("invocations until the side changes", true),
            axis("time over one arm", false),
            vec![measured("measured", points), predicted("model", expected)],
        )],
        rows,
        control: Some(control),
    })
}

/// What is reported, what is counted, and what the knee shows.
fn width_rows(bench: &Bench<'_>, counted: Option<u32>, knee: u32) -> Vec<Row> {
    let (min, max) = bench.gpu.probe().reported();
    let mut rows = Vec::new();
    for (cell, lanes) in [("reported, smallest", min), ("reported, largest", max)] {
        rows.push(if lanes == 0 {
            Row::not_measurable(cell, "lanes a subgroup", Unit::Lanes, "the adapter reports no width")
        } else {
            Row::count(cell, "lanes a subgroup", Unit::Lanes, lanes)
        });
    }
    let shown = Row::count("shown by the knee", "lanes a subgroup", Unit::Lanes, knee);
    match counted {
        Some(lanes) => {
            let reported = Prediction { value: max.into(), low: min.into(), high: max.into() };
            rows.push(Row::count("counted", "lanes a subgroup", Unit::Lanes, lanes).predicted(reported));
            rows.push(shown.predicted(exactly(lanes)));
        }
        None => {
            let reason = bench.gpu.probe().reason();
            rows.push(Row::not_measurable("counted", "lanes a subgroup", Unit::Lanes, &reason));
            rows.push(shown);
        }
    }
    rows
}
