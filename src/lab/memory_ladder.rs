//! Registers, workgroup memory, caches, device memory: the steps between them.

use super::grid::{CPU_GRID, LINE_BYTES, Table, in_bytes, not_here};
use super::kernel::Launch;
use super::model::rung;
use super::oracle::arm_a;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall};
use super::timing::Trips;
use super::{Bench, Experiment, LATENCY, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Contender, Effort, Samples, slope};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "memory-ladder",
    group: "workgroups",
    title: "The memory ladder",
    claim: "Registers, workgroup memory, the caches and device memory are rungs of a ladder: each is slower than the one above \
            it, in latency and in bandwidth.",
    simulated: Simulated::Nothing(LATENCY),
    run,
};

/// Steps of the chains, and trips of the streams, at either end of a slope.
const STEPS: Trips = Trips { short: 2048, long: 12_288 };
const STREAM: Trips = Trips { short: 64, long: 256 };
/// Workgroups of a stream: enough to fill any device.
const STREAMING: u32 = 1024;
/// Bytes that a trip of an invocation of the stream reads.
const TRIP_BYTES: u32 = 4 * 16;
/// Instructions of a step of arithmetic.
const STEP_INSTRUCTIONS: f64 = 3.0;
/// Logarithms of the lines of the rings: the smallest for the control, one within every first cache, one beyond the
/// first and within the last, one beyond the last.
const SMALLEST: u32 = 5;
const NEAR: u32 = 7;
const FAR: u32 = 16;
const MEMORY: u32 = 23;
/// Bytes that are written to push everything else out of the caches.
const FLUSH: u64 = 256 << 20;
/// Places of `ring` in memory_ladder.wgsl.
const PLACES: u32 = 1024;

/// What happens before a sample, outside what is timed.
enum Before {
    Nothing,
    /// The ring is read as a whole, so that the last cache holds it.
    Warm(Launch),
    /// Other memory is written, so that no cache holds it.
    Flush(wgpu::Buffer),
}

/// A kernel at two trip counts.
struct Pair {
    name: String,
    trips: Trips,
    launches: [Launch; 2],
    before: Before,
}

impl Pair {
    fn contenders(&self) -> impl Iterator<Item = (String, Contender<'_>)> {
        self.launches.iter().zip([self.trips.short, self.trips.long]).map(|(launch, trips)| {
            let name = format!("{}, {trips} steps", self.name);
            let contender = Contender::new(&name, |pass| launch.record(pass)).before(|encoder| match &self.before {
                Before::Nothing => {}
                Before::Warm(launch) => launch.record(&mut encoder.begin_compute_pass(&Default::default())),
                Before::Flush(buffer) => encoder.clear_buffer(buffer, 0, None),
            });
            (name, contender)
        })
    }
}

struct Kernels {
    registers: wgpu::ComputePipeline,
    workgroup_memory: wgpu::ComputePipeline,
    chase: wgpu::ComputePipeline,
    stream: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    lanes: u32,
}

impl Kernels {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let lanes = bench.model()?.lanes;
        let prelude = Table::prelude(bench)?;
        let ladder = include_str!("../../shaders/lab/memory_ladder.wgsl");
        Ok(Self {
            registers: bench.pipeline_of(lanes, "registers", &prelude, ladder)?,
            workgroup_memory: bench.pipeline_of(lanes, "workgroup_memory", &prelude, ladder)?,
            chase: bench.pipeline_of(lanes, "chase_1", &prelude, include_str!("../../shaders/lab/chase.wgsl"))?,
            stream: bench.pipeline("stream", &prelude, ladder)?,
            results: bench.words("ladder", STREAMING * bench.workgroup())?,
            lanes,
        })
    }

    /// One subgroup alone, at both trip counts, with the results that `end` says.
    fn alone(
        &self,
        bench: &Bench<'_>,
        name: String,
        pipeline: &wgpu::ComputePipeline,
        table: Option<&Table>,
        before: Before,
        end: impl Fn(u32, u32) -> u32,
    ) -> Result<Pair> {
        let launch = |trips: u32| -> Result<Launch> {
            let params = bench.params(&[trips, table.map_or(0, |table| table.lines)])?;
            let mut buffers = vec![(0, &self.results), (1, &params)];
            buffers.extend(table.map(|table| (2, &table.buffer)));
            let launch = bench.launch(pipeline, &buffers, 1);
            let expected = |index: u32| if index < self.lanes { end(index, trips) } else { 0 };
            bench.verify(&name, &self.results, |pass| launch.record(pass), expected)?;
            Ok(launch)
        };
        Ok(Pair { trips: STEPS, launches: [launch(STEPS.short)?, launch(STEPS.long)?], name, before })
    }

    fn chain(&self, bench: &Bench<'_>, table: &Table, before: Before) -> Result<Pair> {
        let name = format!("chain through {}", in_bytes(table.bytes()));
        self.alone(bench, name, &self.chase, Some(table), before, |_, steps| table.after(table.start(0), steps))
    }

    fn stream_launch(&self, bench: &Bench<'_>, table: &Table, groups: u32, trips: u32) -> Result<Launch> {
        let vectors = (table.bytes() / 16) as u32;
        let params = bench.params(&[trips, vectors])?;
        let launch = bench.launch(&self.stream, &[(0, &self.results), (1, &params), (2, &table.buffer)], groups);
        let workgroup = bench.workgroup();
        let stride = (groups + 33) * workgroup;
        // All words of a line are alike, and so are the four of a vector.
        let word = |at: u32| table.after((at % vectors) / (LINE_BYTES / 16) as u32, 1);
        let expected = |index: u32| {
            if index >= groups * workgroup {
                return 0;
            }
            let at = |i: u32, load: u32| word(index.wrapping_add(stride.wrapping_mul(4 * i + load)));
            let sum = (0..trips)
                .fold(0u32, |sum, i| sum.wrapping_add((at(i, 0) ^ at(i, 1)).wrapping_add(at(i, 2) ^ at(i, 3))));
            sum.wrapping_mul(4)
        };
        bench.verify("stream", &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }

    fn stream(&self, bench: &Bench<'_>, table: &Table) -> Result<Pair> {
        let launch = |trips: u32| self.stream_launch(bench, table, STREAMING, trips);
        Ok(Pair {
            name: format!("stream over {}", in_bytes(table.bytes())),
            trips: STREAM,
            launches: [launch(STREAM.short)?, launch(STREAM.long)?],
            before: Before::Nothing,
        })
    }

    fn registers(&self, bench: &Bench<'_>) -> Result<Pair> {
        self.alone(bench, "registers".into(), &self.registers, None, Before::Nothing, arm_a)
    }

    fn workgroup_memory(&self, bench: &Bench<'_>) -> Result<Pair> {
        let next = |place: u32| place.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % PLACES;
        let end = |_: u32, steps: u32| (0..steps).fold(0, |place, _| next(place));
        self.alone(bench, "workgroup memory".into(), &self.workgroup_memory, None, Before::Nothing, end)
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let band = rung();
    let prediction = format!("Each rung takes {} to {} times as long as the one above it.", band.low, band.high);
    let method = format!(
        "Latency: one subgroup alone follows one chain of dependent steps, in arithmetic, in workgroup memory, or through a ring \
         of {LINE_BYTES}-byte lines; before each sample a ring of the last cache is read, and what is to lie in memory is pushed \
         out by writing {}. Bandwidth: {STREAMING} workgroups with four 16-byte loads a lane in flight, over a footprint again \
         and again. Slopes over two trip counts.",
        in_bytes(FLUSH)
    );
    let kernels = Kernels::new(bench)?;
    let near = Table::new(bench, NEAR)?;
    if bench.gpu.is_cpu() {
        kernels.registers(bench)?;
        kernels.workgroup_memory(bench)?;
        kernels.chain(bench, &near, Before::Nothing)?;
        kernels.stream_launch(bench, &near, 2, 3)?;
        return Ok(not_here(prediction, method, "memory over the last cache", "latency ratio", CPU_GRID));
    }
    let (smallest, far, memory) = (Table::new(bench, SMALLEST)?, Table::new(bench, FAR)?, Table::new(bench, MEMORY)?);
    let flush_bytes = FLUSH.min(bench.gpu.limits().max_buffer_size);
    let flush = bench.gpu.buffer("flush", flush_bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST)?;
    bench.ready()?;
    let warm =
        |table: &Table| -> Result<Before> { Ok(Before::Warm(kernels.stream_launch(bench, table, STREAMING, 4)?)) };
    let mut pairs = vec![
        kernels.registers(bench)?,
        kernels.workgroup_memory(bench)?,
        kernels.chain(bench, &smallest, Before::Nothing)?,
        kernels.chain(bench, &near, Before::Nothing)?,
        kernels.chain(bench, &far, warm(&far)?)?,
        kernels.chain(bench, &memory, Before::Flush(flush.clone()))?,
        kernels.stream(bench, &near)?,
        kernels.stream(bench, &far)?,
        kernels.stream(bench, &memory)?,
    ];
    let judged = pairs.len();
    // The rest of the curve, for the plot.
    let between: &[u32] =
        if bench.effort == Effort::Quick { &[10, 13] } else { &[9, 10, 11, 12, 13, 14, 15, 17, 18, 19] };
    for log in between {
        let table = Table::new(bench, *log)?;
        pairs.push(kernels.chain(bench, &table, warm(&table)?)?);
    }
    let (names, contenders): (Vec<_>, Vec<_>) = pairs.iter().flat_map(Pair::contenders).unzip();
    let samples = bench.sampler.sample(&contenders)?;
    drop(contenders);
    let mut rows: Vec<_> = names.iter().zip(&samples).map(|(name, samples)| Row::time(name, samples)).collect();
    let slopes: Vec<Samples> = pairs
        .iter()
        .zip(samples.chunks_exact(2))
        .map(|(pair, ends)| slope(&ends[0], &ends[1], pair.trips.short.into(), pair.trips.long.into()))
        .collect();
    let [registers, local, smallest_slope, near_slope, far_slope, memory_slope, near_stream, far_stream, memory_stream] =
        &slopes[..judged]
    else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let instruction =
        Samples { ns: registers.ns.iter().map(|ns| ns / STEP_INSTRUCTIONS).collect(), clock: registers.clock };
    rows.push(Row::duration("one instruction in registers", "latency", &instruction));
    let latencies = [
        ("workgroup memory".to_string(), local),
        (in_bytes(near.bytes()), near_slope),
        (in_bytes(far.bytes()), far_slope),
        (in_bytes(memory.bytes()), memory_slope),
    ];
    for (name, slope) in &latencies {
        rows.push(Row::duration(name, "latency", slope));
    }
    let ratio = |cell: String, quantity: &str, below: &Samples, above: &Samples| {
        Row::ratio(cell, quantity, &below.ns, &above.ns, below.clock)
    };
    let [_, (near_name, _), (far_name, _), (memory_name, _)] = &latencies;
    let steps = [
        ratio("workgroup memory over registers".into(), "latency ratio", local, &instruction),
        ratio(format!("{far_name} over {near_name}"), "latency ratio", far_slope, near_slope),
        ratio(format!("{memory_name} over {far_name}"), "latency ratio", memory_slope, far_slope),
        ratio(format!("{far_name} over {near_name}"), "time ratio of streams", far_stream, near_stream),
        ratio(format!("{memory_name} over {far_name}"), "time ratio of streams", memory_stream, far_stream),
    ]
    .map(|row| row.predicted(band));
    let beside = ratio(format!("{near_name} over workgroup memory"), "latency ratio", near_slope, local)
        .noted("not judged: on many devices both are the same memory");
    let no_step =
        ratio(format!("{near_name} over {}", in_bytes(smallest.bytes())), "latency ratio", near_slope, smallest_slope);
    let control = control("two footprints in the same cache, judged as if a rung lay between them", &no_step, band);
    let trip_bytes = f64::from(TRIP_BYTES) * f64::from(STREAMING * bench.workgroup());
    let gb = |slope: &Samples| trip_bytes / slope.median();
    let finding = format!(
        "Latency: {:.1} ns an instruction in registers, {:.0} ns in workgroup memory, {:.0} ns in a first cache ({near_name}), {:.0} \
         ns in the last ({far_name}), {:.0} ns in memory: steps of {}, {} and {}. Streams reach {:.0}, {:.0} and {:.0} GB/s over \
         {near_name}, {far_name} and {memory_name}: steps of {} and {}.",
        instruction.median(),
        local.median(),
        near_slope.median(),
        far_slope.median(),
        memory_slope.median(),
        steps[0].against_model(),
        steps[1].against_model(),
        steps[2].against_model(),
        gb(near_stream),
        gb(far_stream),
        gb(memory_stream),
        steps[3].against_model(),
        steps[4].against_model(),
    );
    let logs = [SMALLEST, NEAR, FAR, memory.lines.ilog2()];
    let mut points: Vec<_> = logs.iter().zip(&slopes[2..]).chain(between.iter().zip(&slopes[judged..])).collect();
    points.sort_by_key(|(log, _)| **log);
    let kib = |log: u32| (LINE_BYTES as f64 / 1024.0) * f64::from(1u32 << log);
    let latency_plot = line_plot(
        "Latency of a dependent load",
        axis("footprint (KiB)", true),
        axis("ns a step", true),
        vec![measured("one chain", points.iter().map(|(log, slope)| [kib(**log), slope.median().max(0.01)]))],
    );
    let streams = [(NEAR, near_stream), (FAR, far_stream), (memory.lines.ilog2(), memory_stream)];
    let stream_plot = line_plot(
        "Bandwidth of streams",
        axis("footprint (KiB)", true),
        axis("GB/s", true),
        vec![measured("four vec4 in flight", streams.map(|(log, slope)| [kib(log), gb(slope)]))],
    );
    rows.extend(steps);
    rows.extend([beside, no_step]);
    Ok(Outcome {
        prediction,
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![latency_plot, stream_plot],
        control: Some(control),
    })
}
