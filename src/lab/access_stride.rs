//! Loads at a distance from each other.

use super::kernel::Launch;
use super::model::{MEMORY, lines, sectors};
use super::oracle::scramble;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::residency::CPU_REASON;
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::measure::Samples;
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "access-stride",
    group: "workgroups",
    title: "How the loads of a subgroup merge",
    claim: "The loads of a subgroup merge into as few transactions as the memory that they touch needs: one of 32 bytes \
            for every eight words side by side, one for each lane where the lanes are 32 bytes or more apart, or \
            scattered.",
    simulated: Simulated::Sectors,
    run,
};

/// Distances of neighbouring lanes, in words.
const STRIDES: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Loads of an invocation a trip, as the kernel has them written out.
const LOADS: u32 = 16;
/// Words that fit into the last cache and not into those before it: 16 MiB.
const CACHED_WORDS: u32 = 1 << 22;

/// An order of the loads.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Stride(u32),
    Random,
}

impl Order {
    fn name(self) -> String {
        match self {
            Self::Stride(stride) => format!("stride {stride}"),
            Self::Random => "random".into(),
        }
    }

    /// The word that load number `number` reads of `1 << bits` words.
    fn word(self, number: u32, bits: u32) -> u32 {
        let mask = (1 << bits) - 1;
        let number = number & mask;
        match self {
            Self::Stride(stride) => {
                let at = u64::from(number) * u64::from(stride);
                (at % (1 << bits) + at / (1 << bits)) as u32
            }
            Self::Random => scramble(number) & mask,
        }
    }
}

fn orders() -> impl Iterator<Item = Order> {
    STRIDES.into_iter().map(Order::Stride).chain([Order::Random])
}

/// A buffer and the loads over it.
struct Footprint {
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    words: wgpu::Buffer,
    results: wgpu::Buffer,
    bits: u32,
    groups: u32,
    workgroup: u32,
    trips: u32,
}

impl Footprint {
    /// Loads of `count` words (a power of two), each `rounds` times in a launch.
    fn new(bench: &Bench<'_>, name: &'static str, count: u32, groups: u32, rounds: u32) -> Result<Self> {
        let bits = count.ilog2();
        let workgroup = bench.workgroup();
        let prelude = format!("const MASK = {}u;\nconst MASK_BITS = {bits}u;", count - 1);
        Ok(Self {
            name,
            pipeline: bench.pipeline(
                "access_stride",
                &prelude,
                include_str!("../../shaders/lab/access_stride.wgsl"),
            )?,
            words: bench.filled_words("access_stride", count, u32::MAX)?,
            results: bench.words("access_stride_results", groups * workgroup)?,
            bits,
            groups,
            workgroup,
            trips: (u64::from(count) * u64::from(rounds) / u64::from(groups * workgroup * LOADS)).max(1) as u32,
        })
    }

    fn expected(&self, order: Order, index: u32) -> u32 {
        let all = self.groups * self.workgroup;
        let (group, local) = (index / self.workgroup, index % self.workgroup);
        let mut sum = 0u32;
        for trip in 0..self.trips {
            let group = (group + trip * 977) & (self.groups - 1);
            for load in 0..LOADS {
                let first = (trip * LOADS + load).wrapping_mul(all);
                let number = first.wrapping_add(group * self.workgroup + local);
                sum = sum.wrapping_add(scramble(order.word(number, self.bits)));
            }
        }
        sum
    }

    fn launch(&self, bench: &Bench<'_>, order: Order) -> Result<Launch> {
        let (stride, random) = match order {
            Order::Stride(stride) => (stride, 0),
            Order::Random => (1, 1),
        };
        let params = bench.params(&[self.trips, stride, stride.ilog2(), random])?;
        let buffers = [(0, &self.results), (1, &params), (2, &self.words)];
        let launch = bench.launch(&self.pipeline, &buffers, self.groups);
        let what = format!("access_stride, {}, {}", self.name, order.name());
        bench.verify(&what, &self.results, |pass| launch.record(pass), |index| self.expected(order, index))?;
        Ok(launch)
    }

    /// Bytes that the invocations ask for in a launch.
    fn bytes(&self) -> f64 {
        4.0 * f64::from(LOADS) * f64::from(self.trips) * f64::from(self.groups * self.workgroup)
    }

    /// The mean over some accesses of how many blocks one of them touches.
    fn mean_touched(&self, order: Order, lanes: u32, touched: impl Fn(&[u32]) -> u32) -> f64 {
        let accesses = 64;
        let sum: u32 = (0..accesses)
            .map(|access| {
                let addresses: Vec<_> =
                    (0..lanes).map(|lane| order.word(access * lanes + lane, self.bits).wrapping_mul(4)).collect();
                touched(&addresses)
            })
            .sum();
        f64::from(sum) / f64::from(accesses)
    }
}

/// Rows of one footprint, with the ratio of the largest stride for the control and points for the plot.
struct Swept {
    rows: Vec<Row>,
    ratios: Vec<Row>,
}

fn swept(bench: &Bench<'_>, footprint: &Footprint, samples: &[Samples]) -> Result<Swept> {
    let model = bench.model()?;
    let Some(one) = samples.first() else { return Err(Error::internal("a contender was not sampled")) };
    let mean_sectors =
        |order| footprint.mean_touched(order, model.lanes, |addresses| sectors(addresses.iter().copied()));
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for (order, samples) in orders().zip(samples) {
        let cell = format!("{}, {}", order.name(), footprint.name);
        rows.push(Row::time(&cell, samples));
        rows.push(Row::bytes_moved(&cell, samples, footprint.bytes()));
        rows.push(Row::count(&cell, "sectors a subgroup access", Unit::Sectors, mean_sectors(order)));
        let touched = footprint.mean_touched(order, model.lanes, |addresses| lines(addresses.iter().copied()));
        rows.push(Row::count(&cell, "lines of 128 bytes a subgroup access", Unit::Count, touched));
        let expected = mean_sectors(order) / mean_sectors(Order::Stride(1));
        let ratio = Row::ratio(&cell, "time over stride 1", &samples.ns, &one.ns, samples.clock);
        ratios.push(match order {
            Order::Stride(1) => ratio,
            _ => ratio.predicted(model.around(expected, MEMORY)),
        });
    }
    Ok(Swept { rows, ratios })
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let memory_words = bench.memory_words();
    let is_cpu = bench.is_cpu_driver();
    let by_sectors = bench.counts_sectors();
    let groups = if bench.gpu.is_cpu() { 8 } else { 2048 };
    // Where sectors are counted, so are those of the results: more rounds make them few beside the loads.
    let rounds = if by_sectors { 4 } else { 1 };
    let memory = Footprint::new(bench, "from memory", memory_words, groups, rounds)?;
    let cached_words = CACHED_WORDS.min(memory_words);
    // As many loads as from memory, twice over since the cache is faster.
    let cached = Footprint::new(bench, "in cache", cached_words, groups, 2 * (memory_words / cached_words))?;
    let mut launches = Vec::new();
    // The simulator has no caches.
    let footprints = if by_sectors { vec![&memory] } else { vec![&memory, &cached] };
    for footprint in &footprints {
        for order in orders() {
            launches.push((format!("{}, {}", order.name(), footprint.name), footprint.launch(bench, order)?));
        }
    }
    let mean = |order| memory.mean_touched(order, model.lanes, |addresses| sectors(addresses.iter().copied()));
    let dense = mean(Order::Stride(1));
    let prediction = format!(
        "Time in proportion to the sectors of 32 bytes that a subgroup's access touches: {}.",
        orders().map(|order| format!("{:.2} at {}", mean(order) / dense, order.name())).collect::<Vec<_>>().join(", ")
    );
    let over = if by_sectors {
        format!("{} KiB", memory_words >> 8)
    } else {
        format!("{} MiB from memory and {} MiB in the last cache", memory_words >> 18, cached_words >> 18)
    };
    let method = format!(
        "Sixteen loads under way in each invocation, over {over}, every word read equally often at every stride; whole \
         passes. Sectors a subgroup access are counted from the addresses."
    );
    if is_cpu {
        let rows = orders()
            .map(|order| Row::count(order.name(), "sectors a subgroup access", Unit::Sectors, mean(order)))
            .chain([Row::not_measurable("all strides", "time over stride 1", Unit::Ratio, CPU_REASON)])
            .collect();
        return Ok(Outcome::not_measurable(prediction, method, rows, CPU_REASON));
    }
    bench.ready()?;
    let samples = bench.sample(&launches)?;
    let mut rows = Vec::new();
    let mut series = Vec::new();
    let mut said = Vec::new();
    let mut beyond = None;
    for (footprint, samples) in footprints.into_iter().zip(samples.chunks(orders().count())) {
        let swept = swept(bench, footprint, samples)?;
        let strided = STRIDES.iter().zip(&swept.ratios);
        series.push(measured(footprint.name, strided.clone().map(|(stride, row)| [f64::from(*stride), row.value])));
        let values: Vec<_> = swept.ratios.iter().map(|row| format!("{:.2}", row.value)).collect();
        said.push(format!("{} {}", footprint.name, values.join(", ")));
        let differs = swept.ratios.iter().any(|row| row.verdict == Some(Verdict::Differs));
        if differs {
            let more = swept.ratios.iter().any(|row| row.prediction.is_some_and(|p| row.value > p.high));
            said.push(if more { "(dearer than its sectors)".into() } else { "(cheaper than its sectors)".into() });
        }
        // Stride 8: every lane has a sector of its own.
        beyond = beyond.or_else(|| swept.ratios.get(3).cloned());
        rows.extend(swept.rows);
        rows.extend(swept.ratios);
    }
    series.push(predicted("model", STRIDES.map(|stride| [f64::from(stride), mean(Order::Stride(stride)) / dense])));
    let control = beyond.map(|row| {
        control("stride 8, judged as if its lanes shared their sectors as at stride 1", &row, model.around(1.0, MEMORY))
    });
    let why = match by_sectors {
        true => "",
        false => {
            " Where they lie above the count of sectors, the device moves or looks up more than 32 bytes for a lane: 64 \
             from memory, or a line of 128 in the cache."
        }
    };
    Ok(Outcome {
        prediction,
        finding: format!("Times over stride 1 at strides 1 to 32 and at random: {}.{why}", said.join(" ")),
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![line_plot(
            "Time of a load against the distance of neighbouring lanes",
            axis("words from lane to lane", true),
            axis("time over stride 1", true),
            series,
        )],
        control,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stride_reads_every_word_once() {
        let bits = 10;
        for stride in STRIDES {
            let mut words: Vec<_> = (0..1 << bits).map(|number| Order::Stride(stride).word(number, bits)).collect();
            words.sort_unstable();
            assert!(words.iter().copied().eq(0..1 << bits), "{stride}");
        }
    }
}
