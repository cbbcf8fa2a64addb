//! What a workgroup barrier costs, by the size of the workgroup.

use super::grid::{CPU_GRID, not_here};
use super::kernel::Launch;
use super::model::{DATA, barrier_growth, rung};
use super::oracle::arm_a;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::{Pair, Trips, slopes};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::Result;
use crate::measure::Samples;
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "barrier-cost",
    group: "workgroups",
    title: "The price of a barrier",
    claim: "A workgroup barrier costs more the larger the workgroup. A shuffle inside a subgroup needs none, and costs the same \
            in every workgroup; an exchange through workgroup memory needs two.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Steps of a trip, and so barriers, exchanges or shuffles.
const STEPS: u32 = 4;
const TRIPS: Trips = Trips { short: 512, long: 3584 };
/// Workgroups that no large device has two of on one multiprocessor, and enough to fill any.
const ALONE: u32 = 16;
const FULL: u32 = 2048;

/// Entry points of barrier_cost.wgsl, and what they are called.
const WAYS: [(&str, &str); 4] = [
    ("without", "nothing between"),
    ("with_barriers", "barrier"),
    ("with_exchanges", "exchange through workgroup memory"),
    ("with_shuffles", "shuffle"),
];

struct Kernels {
    workgroup: u32,
    pipelines: Vec<wgpu::ComputePipeline>,
}

impl Kernels {
    fn new(bench: &Bench<'_>, workgroup: u32) -> Result<Self> {
        let text = include_str!("../../shaders/lab/barrier_cost.wgsl");
        // Without subgroup operations there is no shuffle; the text must do without it too.
        let (text, ways) =
            match (bench.has_subgroups(), text.split_once("@compute @workgroup_size(WORKGROUP)\nfn with_shuffles")) {
                (false, Some((text, _))) => (text, &WAYS[..WAYS.len() - 1]),
                _ => (text, &WAYS[..]),
            };
        let pipeline = |(entry, _): &(&str, &str)| bench.pipeline_of(workgroup, entry, "", text);
        Ok(Self { workgroup, pipelines: ways.iter().map(pipeline).collect::<Result<_>>()? })
    }

    fn launch(&self, bench: &Bench<'_>, results: &wgpu::Buffer, way: usize, groups: u32, trips: u32) -> Result<Launch> {
        let params = bench.params(&[trips])?;
        let launch = bench.launch(&self.pipelines[way], &[(0, results), (1, &params)], groups);
        let expected = |index: u32| {
            // An even number of exchanges with the neighbour brings each chain home.
            if index < groups * self.workgroup { arm_a(index, STEPS * trips) } else { 0 }
        };
        let what = format!("{}, workgroups of {}", WAYS[way].1, self.workgroup);
        bench.verify(&what, results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

/// What one step costs more than the bare one, in nanoseconds, a round each.
fn extra(with: &Samples, without: &Samples) -> Samples {
    let ns = with.ns.iter().zip(&without.ns).map(|(with, without)| (with - without) / f64::from(STEPS)).collect();
    Samples { ns, clock: with.clock }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let limits = bench.gpu.limits();
    let largest = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(1024);
    let lanes = bench.model()?.lanes;
    let is_cpu = bench.gpu.is_cpu();
    let mut sizes = vec![lanes];
    while sizes[sizes.len() - 1] * 2 <= largest && !is_cpu {
        sizes.push(sizes[sizes.len() - 1] * 2);
    }
    let most = sizes[sizes.len() - 1];
    // Against two subgroups: one may be spared the barrier.
    let base = sizes.get(1).copied().unwrap_or(lanes);
    let growth = barrier_growth(f64::from(most) / f64::from(base));
    let prediction = format!(
        "A barrier in a workgroup of {most} costs {:.2} to {:.0} times what it costs in one of {base}; a shuffle the same, 1.00; \
         an exchange through workgroup memory more than a shuffle.",
        growth.low, growth.high
    );
    let method = format!(
        "Loops of {STEPS} steps of arithmetic a trip, with a barrier, an exchange or a shuffle behind each step; what the same \
         loop without takes is subtracted, but for the exchange, which is compared whole. {ALONE} workgroups, so that each has \
         a multiprocessor for itself, and {FULL}, which fill the device. Slopes between {} and {} trips.",
        TRIPS.short, TRIPS.long
    );
    let kernels = sizes.iter().map(|size| Kernels::new(bench, *size)).collect::<Result<Vec<_>>>()?;
    if is_cpu {
        let results = bench.words("barriers", 2 * lanes)?;
        for kernels in &kernels {
            for way in 0..kernels.pipelines.len() {
                kernels.launch(bench, &results, way, 2, 25)?;
            }
        }
        return Ok(not_here(prediction, method, "barrier", "cost ratio", CPU_GRID));
    }
    let model = bench.model()?;
    let results = bench.words("barriers", FULL * most)?;
    bench.ready()?;
    let ways = kernels[0].pipelines.len();
    // The full device for barriers only: what is judged is the workgroup that has a multiprocessor for itself.
    let grids = |kernels: &Kernels| [(ALONE, ways), (FULL * lanes / kernels.workgroup, 2)];
    let mut pairs = Vec::new();
    for kernels in &kernels {
        for (groups, ways) in grids(kernels) {
            for (way, (_, what)) in WAYS.iter().enumerate().take(ways) {
                let name = format!("workgroups of {}, {groups} of them, {what}", kernels.workgroup);
                pairs.push(Pair::new(name, TRIPS, |trips| kernels.launch(bench, &results, way, groups, trips))?);
            }
        }
    }
    let slopes = slopes(bench, pairs)?;
    let mut rows = Vec::new();
    let (mut barriers, mut full, mut exchanges, mut shuffles) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (size, slopes) in sizes.iter().zip(slopes.chunks_exact(ways + 2)) {
        let trip = |at: usize| &slopes[at].trip;
        let mut cost = |cell: &str, samples: &Samples| {
            rows.push(Row::duration(format!("{cell}, workgroups of {size}"), "cost", samples));
        };
        let whole = |slope: &Samples| Samples {
            ns: slope.ns.iter().map(|ns| ns / f64::from(STEPS)).collect(),
            clock: slope.clock,
        };
        let barrier = extra(trip(1), trip(0));
        cost("barrier, a multiprocessor each", &barrier);
        barriers.push(barrier);
        let filled = extra(trip(ways + 1), trip(ways));
        cost("barrier, full device", &filled);
        full.push(filled);
        let exchange = whole(trip(2));
        cost("exchange through workgroup memory, with its step", &exchange);
        exchanges.push(exchange);
        if ways == WAYS.len() {
            let shuffle = whole(trip(3));
            cost("shuffle, with its step", &shuffle);
            shuffles.push(shuffle);
        }
    }
    let (at, last) = (sizes.len().min(2) - 1, sizes.len() - 1);
    let ratio = |cell: String, a: &Samples, b: &Samples| Row::ratio(cell, "cost ratio", &a.ns, &b.ns, a.clock);
    let grown = ratio(format!("barrier, {most} over {base}"), &barriers[last], &barriers[at]).predicted(growth);
    let missing = "the device has no subgroup operations";
    let compared = |cell: String, pick: &dyn Fn() -> Option<Row>| {
        pick().unwrap_or_else(|| Row::not_measurable(cell, "cost ratio", Unit::Ratio, missing))
    };
    let flat = compared("shuffle".into(), &|| {
        let (large, small) = (shuffles.get(last)?, shuffles.get(at)?);
        Some(ratio(format!("shuffle, {most} over {base}"), large, small).predicted(model.around(1.0, DATA)))
    });
    let dearer = compared("exchange over shuffle".into(), &|| {
        let (exchange, shuffle) = (exchanges.get(last)?, shuffles.get(last)?);
        Some(ratio(format!("exchange over shuffle, {most}"), exchange, shuffle).predicted(rung()))
    });
    let bare = slopes.chunks_exact(ways + 2).map(|slopes| &slopes[0].trip);
    let bare: Vec<_> = bare.collect();
    // Few subgroups do not get in each other's way, with nothing to wait for: many would compete for the multiprocessor.
    let no_barrier = ratio(format!("no barrier, {base} over {}", sizes[0]), bare[at], bare[0]);
    let control = control("the loop without barriers, judged as if it had them", &no_barrier, growth);
    let by_size = |samples: &[Samples]| {
        sizes
            .iter()
            .zip(samples)
            .map(|(size, samples)| format!("{:.0} at {size}", samples.median()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let finding = format!(
        "Where each workgroup has a multiprocessor for itself a barrier costs, in ns: {}; {} times as much at {most} as at \
         {base}. On a full device: {}. A shuffle at {most} costs {} times what it costs at {base}; an exchange through workgroup \
         memory at {most} {} times a shuffle.",
        by_size(&barriers),
        grown.against_model(),
        by_size(&full),
        flat.against_model(),
        dearer.against_model(),
    );
    let line = |name: &str, samples: &[Samples]| {
        measured(name, sizes.iter().zip(samples).map(|(size, samples)| [f64::from(*size), samples.median()]))
    };
    let mut series = vec![
        line("barrier, a multiprocessor each", &barriers),
        line("barrier, full device", &full),
        line("exchange, with its step", &exchanges),
    ];
    if !shuffles.is_empty() {
        series.push(line("shuffle, with its step", &shuffles));
    }
    let from = barriers[at].median();
    series.push(predicted(
        "barrier, every subgroup in turn",
        [[f64::from(base), from], [f64::from(most), from * growth.high]],
    ));
    let plot =
        line_plot("Cost by size of the workgroup", axis("invocations a workgroup", true), axis("ns", false), series);
    rows.extend([grown, flat, dearer, no_barrier]);
    Ok(Outcome {
        prediction,
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
