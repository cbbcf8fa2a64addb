//! Timing forms of a primitive against each other: on the full device, and with one subgroup alone.

use super::oracle::{self, COPIES};
use super::table::{Form, Function, NOTHING, Through};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::{Gpu, SubgroupPath};
use crate::lab::Bench;
use crate::lab::kernel::{CHECKS, Launch};
use crate::lab::model::Model;
use crate::lab::outcome::{axis, bars, measured};
use crate::lab::timing::{MAX_TRIPS, Pair, Slope, Trips, calibrate, slopes};
use crate::op;
use crate::report::{Plot, Row, Unit};
use crate::shader::{self, block};

/// Invocations of a workgroup on the full device; every width divides it.
pub(super) const WORKGROUP: u32 = 128;

/// Workgroups of a dispatch that fills the device: few on a CPU driver, where the slowest exchanges take microseconds.
fn full_groups(bench: &Bench<'_>) -> u32 {
    if bench.gpu.is_cpu() { 16 } else { bench.groups() }
}

/// The text that goes before a kernel of exchanges: the library's blocks on this path, and arms.wgsl.
pub(in crate::lab) fn library(gpu: &Gpu, workgroup: u32) -> Result<String> {
    let blocks = [
        block::vote(),
        block::shuffle::<u32>(),
        block::match_any::<u32>(),
        block::subgroup_reduce::<u32>(op::Add),
        block::subgroup_reduce::<f32>(op::Add),
        block::subgroup_scan::<u32>(op::Add),
    ];
    let library = shader::library(gpu, workgroup, &blocks)?;
    Ok(format!("{}\n{}", library.text(), include_str!("../../../shaders/lab/arms.wgsl")))
}

/// The kernel `exchanges` of exchange.wgsl around one function.
#[derive(Debug)]
pub(super) struct Kernel {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    workgroup: u32,
    groups: u32,
}

impl Kernel {
    pub(super) fn new(bench: &Bench<'_>, gpu: &Gpu, function: Function, workgroup: u32, groups: u32) -> Result<Self> {
        let special = match gpu.path() {
            SubgroupPath::Native => include_str!("../../../shaders/lab/exchange_native.wgsl"),
            SubgroupPath::Emulated { .. } => include_str!("../../../shaders/lab/exchange_memory.wgsl"),
        };
        let text = format!(
            "{}\n{}\n{special}\nfn exchange(x: u32, source: u32) -> u32 {{\n  return {}(x, source);\n}}\n",
            library(gpu, workgroup)?,
            include_str!("../../../shaders/lab/exchange.wgsl"),
            function.name,
        );
        Self::from_text(bench, &text, "exchanges", workgroup, groups)
    }

    /// A kernel with the results and parameters of exchange.wgsl.
    pub(super) fn from_text(bench: &Bench<'_>, text: &str, entry: &str, workgroup: u32, groups: u32) -> Result<Self> {
        Ok(Self {
            pipeline: bench.gpu.pipeline("exchange", text, entry, CHECKS)?,
            results: bench.words("exchange", 2 * workgroup * groups)?,
            workgroup,
            groups,
        })
    }

    /// A dispatch with these `Params`.
    pub(super) fn launch(&self, bench: &Bench<'_>, params: [u32; 4]) -> Result<Launch> {
        let params = bench.params(&params)?;
        Ok(bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], self.groups))
    }

    /// What the workgroups from `first` on left: for each of them the values and the places of its invocations.
    pub(super) fn read(&self, bench: &Bench<'_>, first: u32) -> Result<Vec<Workgroup>> {
        let bytes = u64::from(self.workgroup) * 8;
        let read = bench.gpu.read(&self.results, u64::from(first) * bytes, u64::from(self.groups - first) * bytes)?;
        let words: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(&read);
        let of_workgroup = |(number, words): (u32, &[[u32; 2]])| Workgroup {
            first: number * self.workgroup,
            values: words.iter().map(|[value, _]| *value).collect(),
            places: words.iter().map(|[_, place]| *place).collect(),
        };
        Ok((first..).zip(words.chunks(self.workgroup as usize)).map(of_workgroup).collect())
    }
}

/// What one workgroup left.
#[derive(Debug)]
pub(super) struct Workgroup {
    /// The index of its first invocation.
    first: u32,
    values: Vec<u32>,
    pub(super) places: Vec<u32>,
}

impl Workgroup {
    /// How many of the values are what `expected` says of their subgroup's invocations, if the lanes are as `places`
    /// has them.
    pub(super) fn right(&self, places: &[u32], expected: impl Fn(&[u32]) -> Vec<u32>) -> Result<u32> {
        let mut right = 0;
        for subgroup in oracle::subgroups(places)? {
            let indices: Vec<_> = subgroup.iter().map(|local| self.first + local).collect();
            let values = subgroup.iter().map(|local| self.values[*local as usize]);
            right += values.zip(expected(&indices)).filter(|(got, want)| got == want).count() as u32;
        }
        Ok(right)
    }

    /// As it would be with the lanes of its last subgroup only: the comparison at the trip counts that are timed takes
    /// its time on the host.
    fn last_subgroup(&self, expected: impl Fn(&[u32]) -> Vec<u32>) -> Result<bool> {
        let subgroups = oracle::subgroups(&self.places)?;
        let Some(last) = subgroups.last() else { return Ok(false) };
        let indices: Vec<_> = last.iter().map(|local| self.first + local).collect();
        let values: Vec<_> = last.iter().map(|local| self.values[*local as usize]).collect();
        Ok(values == expected(&indices))
    }
}

/// One form, ready to be timed.
#[derive(Debug)]
struct Contender {
    name: &'static str,
    function: Function,
    iterations: u32,
    /// The full device, and one subgroup alone.
    kernels: [Kernel; 2],
    path: SubgroupPath,
}

impl Contender {
    fn pair(&self, bench: &Bench<'_>, load: Load) -> Result<Pair> {
        let kernel = &self.kernels[load as usize];
        let most = MAX_TRIPS.min(60_000 / (1 + COPIES * self.iterations));
        let launch = |trips: u32| kernel.launch(bench, [trips.min(most), ARGUMENT, 0, 0]);
        let trips = Trips::up_to(calibrate(bench, launch)?.min(most));
        // At the larger count only: the smaller one is the same loop.
        let long = launch(trips.long)?;
        bench.run_once(|pass| long.record(pass))?;
        let expected = |indices: &[u32]| oracle::exchanges(self.function.oracle, indices, trips.long, ARGUMENT);
        for workgroup in kernel.read(bench, kernel.groups - 1)? {
            if !workgroup.last_subgroup(expected)? {
                return Err(Error::new(
                    ErrorKind::WrongResult,
                    format!(
                        "{} ({}), {}, {} trips: the last subgroup's values on {} are not those that the host computes",
                        self.name,
                        self.function.name,
                        load.name(),
                        trips.long,
                        bench.gpu.info().name
                    ),
                ));
            }
        }
        Pair::new(format!("{}, {}", self.name, load.name()), trips, launch)
    }
}

/// `Params::argument` of timed exchanges: distance, mask or lane 1.
const ARGUMENT: u32 = 1;

/// What runs beside a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Full,
    Alone,
}

impl Load {
    pub(super) const ALL: [Self; 2] = [Self::Full, Self::Alone];

    fn name(self) -> &'static str {
        match self {
            Self::Full => "full device",
            Self::Alone => "one subgroup alone",
        }
    }
}

/// Forms of a primitive with all their pipelines built.
#[derive(Debug)]
pub(in crate::lab) struct Contest {
    forms: &'static [Form],
    /// In the order of the forms; `None` where the device has no subgroups for it.
    contenders: Vec<Option<Contender>>,
    /// The loop without any exchange.
    nothing: Contender,
    /// Lanes of the subgroups, native or emulated.
    pub(in crate::lab) model: Model,
    /// Why forms are missing.
    reason: String,
    full_invocations: u32,
}

impl Contest {
    /// Builds all pipelines.
    pub(in crate::lab) fn new(bench: &Bench<'_>, forms: &'static [Form]) -> Result<Self> {
        let native = bench.gpu.with_path(SubgroupPath::Native).ok();
        let emulated = match &native {
            Some(native) => bench.gpu.with_path(SubgroupPath::Emulated { lanes: native.lanes() })?,
            None => bench.gpu.with_path(SubgroupPath::DEFAULT_EMULATED)?,
        };
        let lanes = emulated.lanes();
        let full_groups = full_groups(bench);
        let contender = |name, function, iterations, gpu: &Gpu| -> Result<Contender> {
            Ok(Contender {
                name,
                function,
                iterations,
                kernels: [
                    Kernel::new(bench, gpu, function, WORKGROUP, full_groups)?,
                    Kernel::new(bench, gpu, function, lanes, 1)?,
                ],
                path: gpu.path(),
            })
        };
        let contenders = forms.iter().map(|form| {
            let gpu = match form.through {
                Through::Subgroup => native.as_ref(),
                Through::Memory => Some(&emulated),
            };
            gpu.map(|gpu| contender(form.name, form.function, form.iterations, gpu)).transpose()
        });
        Ok(Self {
            forms,
            contenders: contenders.collect::<Result<_>>()?,
            nothing: contender("no exchange", NOTHING, 0, native.as_ref().unwrap_or(&emulated))?,
            model: Model { lanes, cpu: bench.gpu.is_cpu() },
            reason: bench.gpu.probe().reason(),
            full_invocations: WORKGROUP * full_groups,
        })
    }

    /// Workgroups of the full device.
    pub(super) fn full_groups(&self) -> u32 {
        self.full_invocations / WORKGROUP
    }

    /// Times all forms against each other.
    pub(in crate::lab) fn times(&self, bench: &Bench<'_>) -> Result<Times<'_>> {
        let mut pairs = Vec::new();
        for load in Load::ALL {
            pairs.push(self.nothing.pair(bench, load)?);
            for contender in self.contenders.iter().flatten() {
                pairs.push(contender.pair(bench, load)?);
            }
        }
        let mut slopes = slopes(bench, pairs)?.into_iter();
        let mut loads = Vec::new();
        for _ in Load::ALL {
            let nothing = slopes.next().ok_or_else(|| Error::internal("a contender was not sampled"))?;
            let forms = self.contenders.iter().map(|contender| contender.as_ref().and_then(|_| slopes.next()));
            loads.push(Timed { forms: forms.collect(), nothing });
        }
        let [full, alone] = <[Timed; 2]>::try_from(loads).map_err(|_| Error::internal("a load was not timed"))?;
        Ok(Times { contest: self, full, alone })
    }
}

/// The slopes of one load, in the order of the forms.
#[derive(Debug)]
struct Timed {
    forms: Vec<Option<Slope>>,
    nothing: Slope,
}

/// What was timed.
#[derive(Debug)]
pub(in crate::lab) struct Times<'a> {
    contest: &'a Contest,
    full: Timed,
    alone: Timed,
}

const THROUGHPUT: &str = "throughput";
const LATENCY: &str = "latency";

impl Times<'_> {
    /// 10^9 lane-operations a second of a form on the full device.
    pub(in crate::lab) fn throughput(&self, form: usize) -> Row {
        let Form { name, .. } = self.contest.forms[form];
        let cell = format!("{name}, {}", Load::Full.name());
        match (&self.full.forms[form], &self.contest.contenders[form]) {
            (Some(slope), Some(contender)) => self.rate(cell, slope).on(contender.path),
            _ => Row::not_measurable(cell, THROUGHPUT, Unit::GopsPerS, &self.contest.reason),
        }
    }

    fn rate(&self, cell: String, slope: &Slope) -> Row {
        let operations = f64::from(self.contest.full_invocations * COPIES);
        Row::rate(cell, THROUGHPUT, Unit::GopsPerS, operations, &slope.trip)
    }

    /// Nanoseconds of a form with one subgroup alone, each waiting for the last; the loop around it is subtracted.
    pub(in crate::lab) fn latency(&self, form: usize) -> Row {
        let Form { name, .. } = self.contest.forms[form];
        let cell = format!("{name}, {}", Load::Alone.name());
        match (&self.alone.forms[form], &self.contest.contenders[form]) {
            (Some(slope), Some(contender)) => {
                let trips = slope.trip.ns.iter().zip(&self.alone.nothing.trip.ns);
                let figures = trips.map(|(with, without)| (with - without) / f64::from(COPIES));
                Row::derived(cell, LATENCY, Unit::Ns, figures, slope.trip.clock).on(contender.path)
            }
            _ => Row::not_measurable(cell, LATENCY, Unit::Ns, &self.contest.reason),
        }
    }

    /// The loop without any exchange, on both loads.
    fn nothing(&self) -> [Row; 2] {
        let (name, path) = (self.contest.nothing.name, self.contest.nothing.path);
        let alone = &self.alone.nothing.trip;
        let figures = alone.ns.iter().map(|ns| ns / f64::from(COPIES));
        let cell = format!("{name}, {}", Load::Alone.name());
        [
            self.rate(format!("{name}, {}", Load::Full.name()), &self.full.nothing).on(path),
            Row::derived(cell, "the plain instruction between two exchanges", Unit::Ns, figures, alone.clock).on(path),
        ]
    }

    /// The time of one form over the time of another, the loop around both included.
    pub(super) fn ratio(&self, [a, b]: [usize; 2], load: Load) -> Row {
        let forms = self.contest.forms;
        let cell = format!("{} over {}, {}", forms[a].name, forms[b].name, load.name());
        let timed = match load {
            Load::Full => &self.full,
            Load::Alone => &self.alone,
        };
        match (&timed.forms[a], &timed.forms[b]) {
            (Some(a), Some(b)) => Row::ratio(cell, "time ratio", &a.trip.ns, &b.trip.ns, a.trip.clock),
            _ => Row::not_measurable(cell, "time ratio", Unit::Ratio, &self.contest.reason),
        }
    }

    /// All rows, with ratios of these pairs, the first of each predicted to be no slower than the second.
    pub(in crate::lab) fn rows(&self, no_slower: &[[usize; 2]]) -> Vec<Row> {
        let forms = 0..self.contest.forms.len();
        let mut rows: Vec<_> = forms.clone().map(|form| self.throughput(form)).collect();
        rows.extend(forms.map(|form| self.latency(form)));
        rows.extend(self.nothing());
        let prediction = self.contest.model.no_slower();
        let pairs = no_slower.iter().flat_map(|pair| Load::ALL.map(|load| (*pair, load)));
        rows.extend(pairs.map(|(pair, load)| self.ratio(pair, load).predicted(prediction)));
        rows
    }

    /// Throughput and latency of the forms that were timed.
    pub(in crate::lab) fn plots(&self) -> Vec<Plot> {
        let forms = 0..self.contest.forms.len();
        let plot = |title: &str, label: &str, row: &dyn Fn(usize) -> Row| {
            let timed: Vec<_> = forms.clone().filter(|form| self.full.forms[*form].is_some()).collect();
            let names = timed.iter().map(|form| self.contest.forms[*form].name.to_string()).collect();
            let points = timed.iter().enumerate().map(|(at, form)| [at as f64, row(*form).value]);
            bars(title, "form", names, axis(label, false), vec![measured("measured", points)])
        };
        vec![
            plot("Throughput of the full device", "10^9 lane-operations a second", &|form| self.throughput(form)),
            plot("Latency of one subgroup alone", "ns", &|form| self.latency(form)),
        ]
    }

    /// Why forms by subgroup operations were not timed, if they were not.
    pub(in crate::lab) fn missing(&self) -> Option<&str> {
        self.contest.contenders.iter().any(Option::is_none).then_some(&*self.contest.reason)
    }
}
