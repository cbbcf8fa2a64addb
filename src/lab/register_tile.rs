//! A matrix product with more and more results a lane.

use super::kernel::Launch;
use super::memory::float_at;
use super::outcome::{Outcome, axis, control, overall};
use super::residency::CPU_REASON;
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::measure::Effort;
use crate::report::{Axis, Plot, PlotKind, Prediction, Row, Series, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "register-tile",
    group: "workgroups",
    title: "Results held in registers",
    claim: "A matrix product is slow because of its loads: with one result a lane every product needs two. A lane that \
            holds 8 x 8 results in registers needs a quarter of one, and that is what separates a slow matrix product \
            from a fast one.",
    simulated: Simulated::Issues,
    run,
};

/// The largest value of an element.
const MASK: u32 = 7;
/// The side of the workgroups, in lanes.
const SIDE: u32 = 16;
/// Multiply-adds of a trip of the ceiling's kernel.
const CHAINS: u32 = 16;

/// A step of the ladder: results a lane in each direction.
#[derive(Clone, Copy, PartialEq)]
struct Step {
    entry: &'static str,
    name: &'static str,
    results: u32,
}

const NAIVE: Step = Step { entry: "naive", name: "naive", results: 1 };
const TILE: Step = Step { entry: "workgroup_tile", name: "workgroup tile", results: 1 };
const FOUR: Step = Step { entry: "four_by_four", name: "4 x 4 a lane", results: 4 };
const EIGHT: Step = Step { entry: "eight_by_eight", name: "8 x 8 a lane", results: 8 };
const STEPS: [Step; 4] = [NAIVE, TILE, FOUR, EIGHT];

/// Two matrices of `n` rows.
struct Product {
    n: u32,
    left: wgpu::Buffer,
    right: wgpu::Buffer,
    results: wgpu::Buffer,
    params: wgpu::Buffer,
}

impl Product {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let n = match (bench.gpu.info().device_type, bench.effort) {
            (wgpu::DeviceType::Cpu, _) => 128,
            (wgpu::DeviceType::DiscreteGpu, Effort::Full) => 4096,
            (wgpu::DeviceType::DiscreteGpu, Effort::Quick) => 2048,
            _ => 1024,
        };
        Ok(Self {
            n,
            left: bench.filled_floats("left", n * n, MASK)?,
            right: bench.filled_floats("right", n * n, MASK)?,
            results: bench.words("product", n * n)?,
            params: bench.params(&[n])?,
        })
    }

    /// Element of the product: at most 49 n, which a float holds exactly.
    fn expected(&self, index: u32) -> u32 {
        let (row, column) = (index / self.n, index % self.n);
        let product = |k: u32| float_at(k * self.n + row, MASK) * float_at(k * self.n + column, MASK);
        (0..self.n).map(product).sum::<f32>().to_bits()
    }

    fn launch(&self, bench: &Bench<'_>, step: Step) -> Result<Launch> {
        let text = include_str!("../../shaders/lab/register_tile.wgsl");
        let pipeline = bench.pipeline_of(SIDE * SIDE, step.entry, "", text)?;
        let buffers = [(0, &self.results), (1, &self.params), (2, &self.left), (3, &self.right)];
        let groups = self.n / (SIDE * step.results);
        let launch = bench.launch_grid(&pipeline, &buffers, [groups, groups, 1]);
        let record = |pass: &mut wgpu::ComputePass<'_>| launch.record(pass);
        bench.verify_stretches(step.name, &self.results, record, |index| self.expected(index))?;
        Ok(launch)
    }

    /// Additions and multiplications.
    fn operations(&self) -> f64 {
        2.0 * f64::from(self.n).powi(3)
    }
}

/// The kernel of the ceiling: its launch, and what it does in operations.
fn ceiling(bench: &Bench<'_>) -> Result<(Launch, f64)> {
    let pipeline = bench.pipeline("fma_ceiling", "", include_str!("../../shaders/lab/fma_ceiling.wgsl"))?;
    let results = bench.words("fma_ceiling", bench.invocations())?;
    let trips = match (bench.gpu.is_cpu(), bench.gpu.is_simulated()) {
        // Enough that what goes before the loop hardly counts.
        (_, true) => 128,
        (true, _) => 16,
        (false, _) => 512,
    };
    let one = 1.0f32.to_bits();
    let params = bench.params(&[trips, one, one])?;
    let launch = bench.launch(&pipeline, &[(0, &results), (1, &params)], bench.groups());
    bench.verify(
        "fma_ceiling",
        &results,
        |pass| launch.record(pass),
        |index| {
            // Every chain is one further each trip.
            ((0..CHAINS).map(|chain| index % 1024 + chain + trips).sum::<u32>() as f32).to_bits()
        },
    )?;
    let operations = 2.0 * f64::from(CHAINS) * f64::from(trips) * f64::from(bench.invocations());
    Ok((launch, operations))
}

/// More than noise and than what the loads of whole tiles save: at least twice, at most what one load of four words for
/// sixteen products saves over two loads for one.
fn gain() -> Prediction {
    Prediction { value: 8.0, low: 2.0, high: 32.0 }
}

/// Fast: at least half of what the arithmetic alone could do.
fn fast() -> Prediction {
    Prediction { value: 0.75, low: 0.5, high: 1.0 }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let limits = bench.gpu.limits();
    let prediction = "8 x 8 results a lane need a quarter of a load a product, one result a lane two, so that one takes at least \
                      twice as long, 8.00 times as long if loads are all that counts. 8 x 8 reach half of the arithmetic \
                      ceiling; one result a lane does not."
        .to_string();
    if limits.max_compute_invocations_per_workgroup < SIDE * SIDE {
        let reason = "workgroups of 16 x 16 are too large for this adapter";
        let row = Row::not_measurable("all steps", "share of the ceiling", Unit::Ratio, reason);
        return Ok(Outcome::not_measurable(prediction, "None.".into(), vec![row], reason));
    }
    let product = Product::new(bench)?;
    let (ceiling, ceiling_operations) = ceiling(bench)?;
    let mut launches = vec![("arithmetic ceiling".to_string(), ceiling)];
    for step in STEPS {
        launches.push((step.name.to_string(), product.launch(bench, step)?));
    }
    let method = format!(
        "f32 matrices of {0} x {0}, whole passes; the ceiling is a kernel of multiply-adds in {CHAINS} independent chains a \
         lane. A multiply-add counts as two operations.",
        product.n
    );
    if bench.is_cpu_driver() {
        let row = Row::not_measurable("all steps", "share of the ceiling", Unit::Ratio, CPU_REASON);
        return Ok(Outcome::not_measurable(prediction, method, vec![row], CPU_REASON));
    }
    bench.ready()?;
    let samples = bench.sample(&launches)?;
    let Some((top, steps)) = samples.split_first() else { return Err(Error::internal("a step was not sampled")) };
    let most = Row::operations("arithmetic ceiling", top, ceiling_operations);
    let ceiling_said = most.throughput_said();
    let mut rows = vec![Row::time("arithmetic ceiling", top), most];
    let per_operation = |ns: &[f64], operations: f64| -> Vec<f64> { ns.iter().map(|ns| ns / operations).collect() };
    let top_ns = per_operation(&top.ns, ceiling_operations);
    let mut shares = Vec::new();
    for (step, samples) in STEPS.iter().zip(steps) {
        rows.push(Row::time(step.name, samples));
        rows.push(Row::operations(step.name, samples, product.operations()));
        let ns = per_operation(&samples.ns, product.operations());
        shares.push(Row::ratio(step.name, "share of the ceiling", &top_ns, &ns, samples.clock));
    }
    let [naive, tile, four, eight] = <[Row; 4]>::try_from(shares).map_err(|_| Error::internal("a step is missing"))?;
    let [_, tile_samples, _, eight_samples] = steps else { return Err(Error::internal("a step is missing")) };
    let gained = Row::ratio(
        EIGHT.name,
        "time of a workgroup tile over this",
        &tile_samples.ns,
        &eight_samples.ns,
        tile_samples.clock,
    )
    .predicted(gain());
    let points = [&naive, &tile, &four, &eight].into_iter().enumerate();
    let points = points.map(|(at, row)| [at as f64, row.value]).collect();
    let control = control("one result a lane through workgroup memory, judged as a fast product", &tile, fast());
    let eight = eight.predicted(fast());
    let finding = format!(
        "Of an arithmetic ceiling of {ceiling_said} the product reaches {:.2} naively, {:.2} through a workgroup tile, \
         {:.2} with 4 x 4 results a lane and {} with 8 x 8, over which the workgroup tile takes {} times as long.",
        naive.value,
        tile.value,
        four.value,
        eight.against_model(),
        gained.against_model()
    );
    rows.extend([naive, tile, four, eight, gained]);
    Ok(Outcome {
        prediction,
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![Plot {
            title: "Share of the arithmetic ceiling".into(),
            kind: PlotKind::Bars,
            x: Axis {
                label: "results a lane".into(),
                log2: false,
                categories: STEPS.iter().map(|step| step.name.into()).collect(),
            },
            y: axis("share of the ceiling", false),
            series: vec![Series { name: "measured".into(), predicted: false, points }],
        }],
        control: Some(control),
    })
}
