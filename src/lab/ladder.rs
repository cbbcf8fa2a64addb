//! The sum of many items, from the form that one writes first to the library's.

use super::kernel::{CHECKS, Launch};
use super::model::Model;
use super::outcome::{Outcome, axis, control, figure, line_plot, measured, overall};
use super::{Bench, Experiment, LATENCY, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::SubgroupPath;
use crate::measure::{Ceilings, Contender, Effort, ITEM_ADDEND, ITEM_FACTOR, Samples, median, sum_of_items};
use crate::op;
use crate::primitive::{Count, Prepared, Reduce};
use crate::report::{Row, Unit};
use crate::shader::{self, block};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "reduction-ladder",
    group: "primitives",
    title: "A sum of many items, rung by rung",
    claim: "Every atomic addition to one address waits for the last, so a sum gets faster as more items are added up \
            before: in a subgroup, in a workgroup, in the registers of a lane. With several loads of 16 bytes in flight \
            in each lane it moves memory as fast as it goes.",
    simulated: Simulated::Nothing(LATENCY),
    run,
};

/// A rung: an entry point of ladder.wgsl.
struct Rung {
    name: &'static str,
    entry: &'static str,
    grid: Grid,
    /// Whether the rung is judged by its subgroup operations, which it may have to emulate.
    subgroups: bool,
    /// Where the rung is there to make fewer atomic additions than the one below: their share, of lanes and workgroup.
    atomics: Option<fn(u32, u32) -> f64>,
}

/// How a rung spreads over the items.
#[derive(Clone, Copy)]
enum Grid {
    /// This many items an invocation.
    Items(u32),
    /// A fixed number of workgroups, fewer where not all would have work.
    Stride,
}

/// In the order of fewer and fewer atomics to one address, then of more and more bytes in flight.
const RUNGS: [Rung; 6] = [
    Rung { name: "one atomic an item", entry: "item_atomics", grid: Grid::Items(1), subgroups: false, atomics: None },
    Rung {
        name: "one atomic a subgroup",
        entry: "subgroup_atomics",
        grid: Grid::Items(1),
        subgroups: true,
        atomics: Some(|lanes, _| 1.0 / f64::from(lanes)),
    },
    Rung {
        name: "workgroup tree in memory",
        entry: "workgroup_tree",
        grid: Grid::Items(1),
        subgroups: false,
        atomics: Some(|lanes, workgroup| f64::from(lanes) / f64::from(workgroup)),
    },
    Rung {
        name: "subgroups, then workgroup",
        entry: "subgroups_workgroup",
        grid: Grid::Items(1),
        subgroups: true,
        atomics: None,
    },
    Rung { name: "8 vec4 a lane", entry: "vectors_8", grid: Grid::Items(32), subgroups: true, atomics: None },
    Rung {
        name: "grid stride, 4 vec4 in flight",
        entry: "grid_stride",
        grid: Grid::Stride,
        subgroups: true,
        atomics: None,
    },
];
const PLAN: &str = "the library's plan";

/// Numbers of items, as powers of two.
fn powers(effort: Effort, is_cpu: bool) -> Vec<u32> {
    match (effort, is_cpu) {
        (Effort::Quick, false) => vec![12, 16, 20, 24],
        (Effort::Quick, true) => vec![12, 16, 20],
        (Effort::Full, false) => (10..=28).step_by(2).collect(),
        // One atomic an item takes a CPU driver half a second at 2^24.
        (Effort::Full, true) => (10..=24).step_by(2).collect(),
    }
}

/// Workgroups in x and y: as many as a dimension allows in x, all rows full.
fn folded(groups: u32, limit: u32) -> [u32; 2] {
    // A power of two, so that powers of two fold without a rest.
    let most = 1 << limit.max(1).ilog2();
    let x = groups.clamp(1, most);
    [x, groups.max(1).div_ceil(x)]
}

/// The buffers and pipelines.
struct Ladder {
    items: wgpu::Buffer,
    total: wgpu::Buffer,
    pipelines: Vec<wgpu::ComputePipeline>,
    plan: Reduce<u32>,
    workgroup: u32,
    /// The largest power of two that there is room for.
    most: u32,
}

impl Ladder {
    fn new(bench: &Bench<'_>, most: u32) -> Result<Self> {
        let gpu = bench.gpu;
        let workgroup = bench.workgroup();
        let blocks = [block::subgroup_reduce::<u32>(op::Add), block::workgroup_reduce::<u32>(op::Add)];
        let text = format!(
            "{}\nconst ITEM_FACTOR = {ITEM_FACTOR}u;\nconst ITEM_ADDEND = {ITEM_ADDEND}u;\n{}",
            shader::library(gpu, workgroup, &blocks)?.text(),
            include_str!("../../shaders/lab/ladder.wgsl")
        );
        let pipeline = |entry: &str| gpu.pipeline("ladder", &text, entry, CHECKS);
        let limits = gpu.limits();
        let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let most = most.min((room / 4).max(1).ilog2());
        // The ceilings take two more of these.
        let (most, items) = (10..=most)
            .rev()
            .find_map(|power| {
                let buffer = gpu.buffer("ladder items", 4 << power, wgpu::BufferUsages::STORAGE);
                match buffer {
                    Err(error) if error.kind() == ErrorKind::OutOfMemory => None,
                    other => Some(other.map(|buffer| (power, buffer))),
                }
            })
            .unwrap_or_else(|| Err(Error::new(ErrorKind::OutOfMemory, "no device memory for 4096 bytes")))?;
        let ladder = Self {
            items,
            total: bench.words("ladder total", 1)?,
            pipelines: RUNGS.iter().map(|rung| pipeline(rung.entry)).collect::<Result<_>>()?,
            plan: Reduce::new(gpu, op::Add)?,
            workgroup,
            most,
        };
        let params = bench.params(&[1 << most])?;
        let fill = bench.launch(&pipeline("fill")?, &[(0, &params), (4, &ladder.items)], bench.groups());
        bench.run_once(|pass| fill.record(pass))?;
        Ok(ladder)
    }

    /// A rung's dispatch over the first 2^power items.
    fn launch(&self, bench: &Bench<'_>, rung: usize, power: u32) -> Result<Launch> {
        let count = 1u32 << power;
        let params = bench.params(&[count])?;
        let of_items = match RUNGS[rung].grid {
            Grid::Items(1) => 1,
            _ => 2,
        };
        let buffers = [(0, &params), (of_items, &self.items), (3, &self.total)];
        let groups = match RUNGS[rung].grid {
            Grid::Items(items) => count.div_ceil(self.workgroup * items),
            Grid::Stride => count.div_ceil(self.workgroup * 16).min(bench.groups()),
        };
        let limit = bench.gpu.limits().max_compute_workgroups_per_dimension;
        let [x, y] = folded(groups, limit);
        Ok(bench.launch_grid(&self.pipelines[rung], &buffers, [x, y, 1]))
    }

    /// Runs `record` once and compares the total.
    fn verify(
        &self,
        bench: &Bench<'_>,
        name: &str,
        power: u32,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) -> Result<()> {
        bench.gpu.submit(|encoder| {
            encoder.clear_buffer(&self.total, 0, None);
            record(&mut encoder.begin_compute_pass(&Default::default()));
        });
        let (total, expected) = (bench.read_words(&self.total, 1)?[0], sum_of_items(1 << power));
        if total == expected {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::WrongResult,
            format!(
                "{name}, 2^{power} items: the sum on {} is {total:#010x}, the host computes {expected:#010x}",
                bench.gpu.info().name
            ),
        ))
    }

    /// Times all rungs and the plan on the first 2^power items.
    fn times(&self, bench: &Bench<'_>, power: u32) -> Result<Vec<Samples>> {
        let launches = (0..RUNGS.len()).map(|rung| self.launch(bench, rung, power)).collect::<Result<Vec<_>>>()?;
        let plan = self.plan.prepare(self.items.slice(..4 << power), self.total.slice(..4), Count::Host(1 << power))?;
        for (rung, launch) in RUNGS.iter().zip(&launches) {
            self.verify(bench, rung.name, power, |pass| launch.record(pass))?;
        }
        self.verify(bench, PLAN, power, |pass| plan.record(pass))?;
        let contender = |name, work| {
            let record = move |pass: &mut wgpu::ComputePass<'_>| match work {
                Work::Rung(launch) => Launch::record(launch, pass),
                Work::Plan(plan) => Prepared::record(plan, pass),
            };
            Contender::new(name, record).before(|encoder| encoder.clear_buffer(&self.total, 0, None))
        };
        // The plan also runs ahead of each round, for nothing: the first pass after a pause is slower.
        let mut contenders = vec![contender(PLAN, Work::Plan(&plan))];
        contenders.extend(RUNGS.iter().zip(&launches).map(|(rung, launch)| contender(rung.name, Work::Rung(launch))));
        contenders.push(contender(PLAN, Work::Plan(&plan)));
        let mut samples = bench.sampler.sample(&contenders)?;
        samples.remove(0);
        Ok(samples)
    }
}

/// What a contender records.
#[derive(Clone, Copy)]
enum Work<'a> {
    Rung(&'a Launch),
    Plan(&'a Prepared),
}

/// What was measured at one size, and the read ceiling there; `None` where the device had no room to measure it.
struct Size {
    power: u32,
    times: Vec<Samples>,
    read: Option<f64>,
}

impl Size {
    fn bytes(&self) -> f64 {
        4.0 * f64::from(1u32 << self.power)
    }

    /// Median throughput of a rung, or of the plan behind them.
    fn gb_per_s(&self, rung: usize) -> f64 {
        self.bytes() / median(&self.times[rung].ns)
    }

    fn share(&self, rung: usize, name: &str) -> Row {
        let cell = format!("2^{} items, {name}", self.power);
        let quantity = "throughput over the read ceiling";
        match self.read {
            Some(read) => {
                let times = &self.times[rung];
                let shares = times.ns.iter().map(|ns| self.bytes() / ns / read);
                Row::derived(cell, quantity, Unit::Ratio, shares, times.clock)
            }
            None => Row::not_measurable(cell, quantity, Unit::Ratio, NO_ROOM),
        }
    }
}

const NO_ROOM: &str = "the device has no memory for the kernels that measure the ceiling";

/// All rungs and the plan, in the order of the times.
fn names() -> impl Iterator<Item = &'static str> {
    RUNGS.iter().map(|rung| rung.name).chain([PLAN])
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let gpu = bench.gpu;
    let model = Model { lanes: gpu.lanes(), cpu: gpu.is_cpu() };
    let powers = powers(bench.effort, gpu.is_cpu());
    let ladder = Ladder::new(bench, powers.iter().copied().max().unwrap_or(10))?;
    bench.ready()?;
    let mut rows = Vec::new();
    let mut sizes = Vec::new();
    for power in powers.into_iter().filter(|power| *power <= ladder.most) {
        let read = match Ceilings::measure(bench.sampler, 1 << power) {
            Ok(ceilings) => {
                for (quantity, ceiling) in [("read ceiling", &ceilings.read), ("copy ceiling", &ceilings.copy)] {
                    let cell = format!("2^{power} items");
                    let row = Row::rate(cell, quantity, Unit::GbPerS, ceiling.bytes as f64, &ceiling.samples);
                    rows.push(row.noted(format!("the best kernel: {}", ceiling.kernel)));
                }
                Some(ceilings.read.gb_per_s())
            }
            Err(error) if error.kind() == ErrorKind::OutOfMemory => None,
            Err(error) => return Err(error),
        };
        let times = ladder.times(bench, power)?;
        sizes.push(Size { power, times, read });
    }
    let Some(largest) = sizes.last() else {
        return Err(Error::internal("no size of the ladder fits"));
    };
    let path_of = |rung: usize| match RUNGS.get(rung) {
        Some(rung) if !rung.subgroups => SubgroupPath::Native,
        _ => gpu.path(),
    };
    let plan = RUNGS.len();
    let mut control_row = None;
    for size in &sizes {
        let is_largest = size.power == largest.power;
        for (rung, name) in names().enumerate() {
            let cell = format!("2^{} items, {name}", size.power);
            rows.push(Row::rate(cell, "throughput", Unit::GbPerS, size.bytes(), &size.times[rung]).on(path_of(rung)));
            let share = size.share(rung, name).on(path_of(rung));
            if is_largest && rung == 0 {
                control_row = Some(share.clone());
            }
            rows.push(match is_largest && rung == plan && !model.cpu {
                true => share.predicted(model.reaches_ceiling()),
                false => share,
            });
        }
    }
    for rung in 1..RUNGS.len() {
        let cell = format!("2^{} items, {} over {}", largest.power, RUNGS[rung].name, RUNGS[rung - 1].name);
        let [above, below] = [&largest.times[rung], &largest.times[rung - 1]];
        let row = Row::ratio(cell, "time ratio", &above.ns, &below.ns, above.clock);
        let prediction = match RUNGS[rung].atomics {
            Some(share) => model.fewer_atomics(share(model.lanes, ladder.workgroup)),
            None => model.no_slower(),
        };
        rows.push(row.predicted(prediction).on(path_of(rung)));
    }
    let control = control_row.map(|row| {
        control("one atomic an item, judged as if it were the library's plan", &row, model.reaches_ceiling())
    });
    let x = |size: &Size| f64::from(1u32 << size.power);
    let mut series: Vec<_> = names()
        .enumerate()
        .map(|(rung, name)| measured(name, sizes.iter().map(|size| [x(size), size.gb_per_s(rung)])))
        .collect();
    let ceiling: Vec<_> = sizes.iter().filter_map(|size| Some([x(size), size.read?])).collect();
    if !ceiling.is_empty() {
        series.push(measured("read ceiling", ceiling));
    }
    Ok(Outcome {
        prediction: format!(
            "At the largest size, fewer atomic additions to one address take less time: one for each item, for each \
             subgroup of {} items, for each workgroup of {} items. From there on no rung is slower than the one below \
             it: sums by subgroups instead of memory, then 16-byte loads, several in flight.{}",
            model.lanes,
            ladder.workgroup,
            if model.cpu { "" } else { " The library's plan reaches nine tenths of what reading alone reaches." }
        ),
        finding: finding(bench, &sizes, largest),
        method: format!(
            "Sums of u32, workgroups of {}; the total is set back outside what is timed, and every sum is verified before. \
             Plain times of a whole pass, so a small size shows what a pass costs. The read ceiling is the best of a sweep \
             of kernels that only read, over as many items in the same run. Samples read the same items again: what \
             fits into a cache comes from it.",
            ladder.workgroup
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![line_plot("Throughput of a sum", axis("items", true), axis("10^9 bytes a second", false), series)],
        control,
    })
}

/// Ladder, shares and sizes in sentences.
fn finding(bench: &Bench<'_>, sizes: &[Size], largest: &Size) -> String {
    let rungs = names().enumerate().map(|(rung, name)| format!("{name} {}", figure(largest.gb_per_s(rung))));
    let mib = largest.bytes() / f64::from(1 << 20);
    let mut finding = format!(
        "Summing 2^{} items ({mib} MiB), in 10^9 bytes a second: {}.",
        largest.power,
        rungs.collect::<Vec<_>>().join(", ")
    );
    let plan = RUNGS.len();
    if let Some(read) = largest.read {
        finding.push_str(&format!(
            " Reading alone reaches {}, so the library's plan is at {:.0} % of the ceiling.",
            figure(read),
            100.0 * largest.gb_per_s(plan) / read
        ));
    }
    let faster_below: Vec<_> = (1..RUNGS.len())
        .filter(|rung| largest.gb_per_s(*rung) < 0.95 * largest.gb_per_s(*rung - 1))
        .map(|rung| format!("{} is slower than {}", RUNGS[rung].name, RUNGS[rung - 1].name))
        .collect();
    if !faster_below.is_empty() {
        finding.push_str(&format!(" Against the model, {}.", faster_below.join(", and ")));
    }
    let [items, subgroups] = [largest.gb_per_s(0), largest.gb_per_s(1)];
    if !bench.gpu.is_cpu() && subgroups < 1.5 * items {
        finding.push_str(
            " One atomic an item is as good as one a subgroup: the hardware adds up what the lanes of a subgroup send to \
             one address.",
        );
    }
    if bench.gpu.is_cpu() {
        finding.push_str(
            " On a CPU driver a barrier costs more than an atomic addition, since the worker thread switches between \
             the subgroups of a workgroup at each; few workgroups with long loops are what it likes best.",
        );
    }
    if let Some(smallest) = sizes.first().filter(|size| size.power < largest.power) {
        let rates: Vec<_> = (0..=plan).map(|rung| smallest.gb_per_s(rung)).collect();
        let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        finding.push_str(&format!(
            " At 2^{} items all lie between {} and {}: there the pass itself takes most of the time.",
            smallest.power,
            figure(low),
            figure(high)
        ));
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_fold_without_a_rest_and_within_the_limit() {
        for limit in [65_535, 65_536, 1 << 20] {
            for power in 0..=20 {
                let [x, y] = folded(1 << power, limit);
                assert!(x <= limit && y <= limit, "{x} x {y}");
                assert_eq!(u64::from(x) * u64::from(y), 1 << power);
            }
        }
        assert_eq!(folded(0, 65_535), [1, 1]);
    }

    #[test]
    fn sizes_grow_and_stay_in_range() {
        for effort in [Effort::Quick, Effort::Full] {
            for is_cpu in [false, true] {
                let powers = powers(effort, is_cpu);
                assert!(powers.is_sorted() && powers.iter().all(|power| (10..=28).contains(power)));
            }
        }
    }

    #[test]
    fn every_rung_is_in_the_shader() {
        let text = include_str!("../../shaders/lab/ladder.wgsl");
        for rung in &RUNGS {
            assert_eq!(text.matches(&format!("fn {}(place: Place)", rung.entry)).count(), 1, "{}", rung.entry);
        }
    }
}
