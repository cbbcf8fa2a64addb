//! The lab: each experiment asks whether a claim of the SIMT model holds on this adapter.
//!
//! An experiment states a claim, computes what the [model] predicts for the width measured on this adapter, measures,
//! and judges: the claim holds, differs, is ambiguous, or cannot be measured here. An experiment that breaks off (a wrong
//! result, a kernel that the driver refuses) is recorded as failed, and the others run all the same. Every prediction has a band that
//! was fixed before measuring, and every timed experiment a negative control: a case built so that the same judgement
//! must come out as *differs*.
//!
//! ```no_run
//! use wavelane::{Gpu, lab, measure::Effort};
//!
//! let gpu = Gpu::open()?;
//! let record = lab::run(&gpu, Effort::Quick, &["two-way", "k-way"], |_| {})?;
//! for experiment in &record.experiments {
//!     println!("{}: {:?}. {}", experiment.id, experiment.verdict, experiment.finding);
//! }
//! # Ok::<(), wavelane::Error>(())
//! ```
//!
//! The kernels are the lab's own (shaders/lab), run natively whatever path the [`Gpu`] takes, and without wgpu's
//! run-time checks, which cost up to three times the arithmetic: their indices are in range by construction. Each
//! result is compared with one computed on the host, at the trip counts that are timed, before anything is timed.

mod access_stride;
mod aligned;
mod barrier_cost;
mod barrier_uniformity;
mod coarsening;
mod cross_read;
mod dependency_counters;
mod dimensions;
mod dispatch_boundary;
mod exchange;
pub mod explain;
mod grid;
mod grid_barrier;
mod grid_fill;
mod grid_stride;
mod guard;
mod k_way;
mod kernel;
mod ladder;
mod lane_map;
mod lanes_against_vectors;
mod latency_hiding;
mod memory;
mod memory_ladder;
pub mod model;
mod occupancy;
mod oracle;
mod order;
mod outcome;
mod packages;
mod partial_workgroup;
mod persistent;
mod picture;
mod predication;
mod random_half;
mod reconvergence;
mod register_tile;
mod remedy;
mod residency;
mod sort_by_category;
mod stencil;
mod tile_shape;
mod timing;
mod tiny_workgroups;
mod tree_sum;
mod trip_count;
pub mod tune;
// naga resolves overrides where one of its writers is built.
#[cfg(feature = "cli")]
pub mod tune_kernel;
mod two_arms;
mod two_way;
mod uniform;
mod wave_quantisation;
mod width;
mod workgroup_sweep;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use self::model::Model;
use self::outcome::Outcome;
use self::residency::Residency;
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::{Gpu, SubgroupPath};
use crate::measure::{Clock, Effort, Sampler};
use crate::report::{AdapterRecord, ExperimentRecord, Record, Row, SCHEMA, Verdict};
use crate::shader::Checks;

/// One experiment of the lab.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Short name, the argument of `wavelane measure`.
    pub id: &'static str,
    /// `lanes`, `primitives` or `workgroups`.
    pub group: &'static str,
    /// A heading.
    pub title: &'static str,
    /// The claim.
    pub claim: &'static str,
    /// What the simulator counts in place of its times.
    pub simulated: Simulated,
    run: fn(&Bench<'_>) -> Result<Outcome>,
}

/// What stands for the times of an experiment on the simulator, which has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// The instructions that all subgroups issued.
    Issues,
    /// The sectors of 32 bytes that all accesses to storage buffers touched: the claim is about traffic.
    Sectors,
    /// Nothing: why no count can answer.
    Nothing(&'static str),
}

/// Why the simulator has no answer.
const LATENCY: &str = "it rests on how fast memory and caches answer; the simulator counts what is asked of memory, and has \
                       neither latency nor caches";
const SCHEDULED: &str = "it rests on what a device runs at once and when each of it starts or waits; the simulator counts \
                         the same in whatever order its workgroups run";
const COMPILED: &str =
    "it rests on what a driver makes of a short branch; the simulator executes the text as it is written";
const HOST: &str = "it compares with the time of this machine's own vectors, and the simulator has counts only";

/// Every experiment, in the order in which a run takes them.
const EXPERIMENTS: &[Experiment] = &[
    lane_map::EXPERIMENT,
    width::EXPERIMENT,
    two_way::EXPERIMENT,
    k_way::EXPERIMENT,
    uniform::EXPERIMENT,
    aligned::EXPERIMENT,
    guard::EXPERIMENT,
    trip_count::EXPERIMENT,
    random_half::EXPERIMENT,
    remedy::EXPERIMENT,
    predication::EXPERIMENT,
    sort_by_category::EXPERIMENT,
    reconvergence::EXPERIMENT,
    barrier_uniformity::EXPERIMENT,
    exchange::SHUFFLE,
    exchange::SHUFFLE_UP,
    exchange::SHUFFLE_DOWN,
    exchange::SHUFFLE_XOR,
    exchange::BROADCAST,
    exchange::BALLOT,
    exchange::ALL,
    exchange::ANY,
    exchange::ACTIVE_MASK,
    exchange::MATCH_ANY,
    exchange::REDUCE,
    exchange::SCANS,
    tree_sum::EXPERIMENT,
    ladder::EXPERIMENT,
    partial_workgroup::EXPERIMENT,
    workgroup_sweep::EXPERIMENT,
    residency::EXPERIMENT,
    grid_stride::EXPERIMENT,
    access_stride::EXPERIMENT,
    grid_fill::EXPERIMENT,
    tile_shape::EXPERIMENT,
    dimensions::EXPERIMENT,
    coarsening::EXPERIMENT,
    register_tile::EXPERIMENT,
    dispatch_boundary::EXPERIMENT,
    order::EXPERIMENT,
    cross_read::EXPERIMENT,
    grid_barrier::EXPERIMENT,
    dependency_counters::EXPERIMENT,
    persistent::EXPERIMENT,
    wave_quantisation::EXPERIMENT,
    occupancy::EXPERIMENT,
    tiny_workgroups::EXPERIMENT,
    latency_hiding::EXPERIMENT,
    memory_ladder::EXPERIMENT,
    stencil::EXPERIMENT,
    barrier_cost::EXPERIMENT,
    lanes_against_vectors::EXPERIMENT,
];

/// Every experiment, in the order in which a run takes them.
pub fn experiments() -> &'static [Experiment] {
    EXPERIMENTS
}

/// The experiment with this id.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for an unknown id; the message names the ids
/// near it.
pub fn find(id: &str) -> Result<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.id == id).ok_or_else(|| {
        let known: Vec<_> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
        unknown("experiment", id, &known)
    })
}

/// The error for an id that nothing has, with those near it or else all.
fn unknown(what: &str, id: &str, known: &[&str]) -> Error {
    let near: Vec<_> = known.iter().copied().filter(|known| is_near(id, known)).collect();
    let hint = match near.as_slice() {
        [] => format!("there are {}", known.join(", ")),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Error::argument(format!("no {what} is called '{id}'; {hint}"))
}

/// Whether somebody who wrote `wish` may have meant `known`: one contains the other, or few letters differ.
fn is_near(wish: &str, known: &str) -> bool {
    let wish = wish.to_lowercase().replace('_', "-");
    let contained = wish.len() >= 3 && (known.contains(&wish) || wish.contains(known));
    contained || distance(&wish, known) <= (known.len() / 3).max(2)
}

/// The least number of letters to insert, remove or replace between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// What an experiment works with.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// Takes samples.
    pub sampler: &'a Sampler,
    /// How much time may be spent.
    pub effort: Effort,
    /// Whether workgroups may wait for each other: as [`Options::waiting`].
    pub waiting: bool,
    /// The reference kernel's time at the start of the experiment that runs now.
    reference_ns: Cell<Option<f64>>,
    /// The width that the knee shows, where it had to be measured.
    knee: OnceCell<u32>,
    /// The number of multiprocessors, once it was measured; none inside where it does not show.
    multiprocessors: OnceCell<Option<u32>>,
    /// The residencies measured so far, by workgroup size and bytes of workgroup memory.
    residencies: RefCell<HashMap<(u32, u32), Option<Residency>>>,
}

impl<'a> Bench<'a> {
    /// A bench on this device.
    pub fn new(gpu: &'a Gpu, sampler: &'a Sampler, effort: Effort) -> Self {
        Self {
            gpu,
            sampler,
            effort,
            waiting: false,
            reference_ns: Cell::new(None),
            knee: OnceCell::new(),
            multiprocessors: OnceCell::new(),
            residencies: RefCell::default(),
        }
    }

    /// Begins to measure: times the reference kernel, on a device that is under load or was a moment ago. An
    /// experiment calls it once all its pipelines are built, since building is idleness to the device.
    fn ready(&self) -> Result<()> {
        if self.reference_ns.get().is_none() && !self.gpu.is_simulated() {
            self.reference_ns.set(Some(self.sampler.reference_ns()?));
        }
        Ok(())
    }

    /// The model of this adapter: its width as the probe counted it or, where subgroup operations are missing or not
    /// to be relied on, as the knee of the run-length sweep shows it.
    fn model(&self) -> Result<Model> {
        let lanes = if self.counts_lanes() {
            self.gpu.probe().width()
        } else if let Some(&lanes) = self.knee.get() {
            lanes
        } else {
            let lanes = width::measure_knee(self)?;
            *self.knee.get_or_init(|| lanes)
        };
        Ok(Model { lanes, cpu: self.is_cpu_driver() })
    }

    /// Whether a driver runs the kernels on the CPU: not the simulator, which counts as a GPU would.
    fn is_cpu_driver(&self) -> bool {
        self.gpu.is_cpu() && !self.gpu.is_simulated()
    }

    /// Whether what the experiment calls times are sectors.
    fn counts_sectors(&self) -> bool {
        self.sampler.clock() == Clock::Sectors
    }

    /// Whether the width was counted by subgroup operations.
    fn counts_lanes(&self) -> bool {
        self.gpu.probe().path() == SubgroupPath::Native
    }

    /// Whether kernels may use subgroup operations at all.
    fn has_subgroups(&self) -> bool {
        self.gpu.features().contains(wgpu::Features::SUBGROUP)
    }
}

/// How far the reference kernel may move before an experiment's times are not to be trusted. On a GPU a steady clock
/// keeps it within a few tenths of a percent, and a step of the clock is tens of percent. On a CPU driver the reference
/// is as noisy as everything else, and only a large move says that the machine was not the experiment's own.
const MAX_DRIFT: f64 = 0.03;
const MAX_DRIFT_CPU: f64 = 0.3;

/// Takes back a verdict that the circumstances do not bear out, and says why.
fn distrust(outcome: &mut Outcome, drift: Option<f64>, is_cpu: bool) {
    if outcome.verdict == Verdict::NotMeasurable {
        return;
    }
    let moved = drift.filter(|drift| (drift - 1.0).abs() > if is_cpu { MAX_DRIFT_CPU } else { MAX_DRIFT });
    // Noise that comes and goes can push a median out of its band, but hardly every interval into one.
    let clock = moved.filter(|_| !is_cpu || outcome.verdict == Verdict::Differs).map(|drift| {
        format!(
            "The clock did not hold still: a fixed reference kernel took {drift:.2} times as long at the end of the \
             experiment as at its start, so its times say little. "
        )
    });
    let teeth = outcome.control.as_ref().filter(|control| control.verdict != Verdict::Differs).map(|control| {
        format!(
            "This run had no teeth: the negative control ({}) gave {:.2} and did not come out as different from {:.2}, so \
             the measurement cannot tell one from the other. ",
            control.what, control.value, control.prediction.value
        )
    });
    // Before the finding, which draws its conclusion as if all had gone well.
    let doubts: String = [clock, teeth].into_iter().flatten().collect();
    if !doubts.is_empty() {
        outcome.verdict = Verdict::Ambiguous;
        outcome.finding.insert_str(0, &doubts);
    }
}

impl Experiment {
    /// Runs the experiment. Blocks.
    ///
    /// # Errors
    /// [`ErrorKind::WrongResult`] where a kernel computes something else than the
    /// host, and whatever keeps the device from working. What this adapter cannot do is no error: the verdict is
    /// [`Verdict::NotMeasurable`].
    pub fn run(&self, bench: &Bench<'_>) -> Result<ExperimentRecord> {
        let started = Instant::now();
        match self.simulated {
            _ if !bench.gpu.is_simulated() => self.run_on(bench, started),
            Simulated::Issues => self.run_on(bench, started),
            Simulated::Sectors => {
                let sampler = Sampler::new(bench.gpu, bench.effort)?.counting(Clock::Sectors);
                let bench = Bench { waiting: bench.waiting, ..Bench::new(bench.gpu, &sampler, bench.effort) };
                self.run_on(&bench, started)
            }
            Simulated::Nothing(why) => {
                Ok(self.without_result(Verdict::NotMeasurable, format!("Not measurable here: {why}."), started))
            }
        }
    }

    fn run_on(&self, bench: &Bench<'_>, started: Instant) -> Result<ExperimentRecord> {
        bench.reference_ns.set(None);
        let mut outcome = (self.run)(bench)?;
        if bench.gpu.is_simulated() {
            outcome = outcome.counted(bench.sampler.clock());
        }
        let reference_ns = match bench.reference_ns.get() {
            Some(before) => Some([before, bench.sampler.reference_ns()?]),
            None => None,
        };
        let reference_drift = reference_ns.map(|[before, after]| after / before);
        distrust(&mut outcome, reference_drift, bench.gpu.is_cpu());
        Ok(ExperimentRecord {
            id: self.id.into(),
            group: self.group.into(),
            title: self.title.into(),
            claim: self.claim.into(),
            prediction: outcome.prediction,
            finding: outcome.finding,
            verdict: outcome.verdict,
            method: outcome.method,
            rows: outcome.rows,
            plots: outcome.plots,
            control: outcome.control,
            reference_drift,
            reference_ns,
            wall_s: started.elapsed().as_secs_f64(),
        })
    }
}

impl Experiment {
    /// The record of an experiment that has no result, for this reason.
    fn without_result(&self, verdict: Verdict, reason: String, started: Instant) -> ExperimentRecord {
        ExperimentRecord {
            id: self.id.into(),
            group: self.group.into(),
            title: self.title.into(),
            claim: self.claim.into(),
            prediction: String::new(),
            rows: vec![Row::no_result(verdict, &reason)],
            finding: reason,
            verdict,
            method: String::new(),
            plots: Vec::new(),
            control: None,
            reference_drift: None,
            reference_ns: None,
            wall_s: started.elapsed().as_secs_f64(),
        }
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// An experiment begins.
    Started {
        /// Which.
        experiment: &'static Experiment,
        /// How many ran before it.
        done: usize,
        /// How many will have run in the end.
        total: usize,
    },
    /// An experiment has failed with this error. Its record follows.
    Failed {
        /// Which.
        experiment: &'static Experiment,
        /// Why.
        error: &'a Error,
    },
    /// An experiment has ended, failed, or was left out after the device was gone.
    Finished(&'a ExperimentRecord),
}

/// What a run may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How much time may be spent.
    pub effort: Effort,
    /// Whether experiments may run in which workgroups wait for each other. Nothing promises that such a kernel ends: the
    /// lab's have bounded polls and refuse grids of which not all workgroups are resident, and never run on a CPU driver.
    pub waiting: bool,
}

impl From<Effort> for Options {
    fn from(effort: Effort) -> Self {
        Self { effort, waiting: false }
    }
}

/// Runs the experiments with these ids, or all of them where none is given, in the lab's order. Blocks.
///
/// An experiment that fails is recorded as [`Verdict::Failed`], told by [`Progress::Failed`], and the next one runs. Where
/// the device is lost or does not come back, the rest is recorded as [`Verdict::NotMeasurable`] instead.
///
/// # Errors
/// As [`find`], before anything runs; and what keeps the device from running the load that all times rest on.
pub fn run(
    gpu: &Gpu,
    options: impl Into<Options>,
    ids: &[impl AsRef<str>],
    mut progress: impl FnMut(Progress<'_>),
) -> Result<Record> {
    let wanted = ids.iter().map(|id| find(id.as_ref()).map(|e| e.id)).collect::<Result<Vec<_>>>()?;
    let chosen: Vec<_> = EXPERIMENTS.iter().filter(|e| wanted.is_empty() || wanted.contains(&e.id)).collect();
    let started = Instant::now();
    let created_s = seconds_since_1970();
    let options = options.into();
    let Options { effort, waiting } = options;
    let sampler = Sampler::new(gpu, effort)?;
    let bench = Bench { waiting, ..Bench::new(gpu, &sampler, effort) };
    let experiments = run_each(&chosen, |experiment| experiment.run(&bench), &mut progress);
    Ok(Record {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        created_s,
        adapter: adapter_record(gpu),
        effort: effort.name().into(),
        options: options_said(gpu, options),
        wall_s: started.elapsed().as_secs_f64(),
        experiments,
    })
}

/// The options of `wavelane measure` that open a device like this one and run experiments like this.
fn options_said(gpu: &Gpu, Options { effort, waiting }: Options) -> String {
    let (_, simulated) = gpu.probe().reported();
    let emulated = gpu.path() != gpu.probe().path();
    let said = [
        gpu.is_simulated().then(|| format!("--simulate {simulated}")),
        emulated.then(|| format!("--emulate {}", gpu.lanes())),
        (gpu.checks() == Checks::Checked).then(|| "--checked".into()),
        (effort == Effort::Full).then(|| "--full".into()),
        waiting.then(|| "--waiting".into()),
    ];
    said.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Now, as records say it.
fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Runs these one after another, whether or not one of them fails, as long as there is a device.
fn run_each(
    chosen: &[&'static Experiment],
    run: impl Fn(&Experiment) -> Result<ExperimentRecord>,
    progress: &mut impl FnMut(Progress<'_>),
) -> Vec<ExperimentRecord> {
    let mut gone: Option<Error> = None;
    let mut records = Vec::new();
    for (done, experiment) in chosen.iter().enumerate() {
        let started = Instant::now();
        let record = match &gone {
            Some(error) => {
                let reason =
                    format!("Not measurable here: the device did not come back from an experiment before ({error}).");
                experiment.without_result(Verdict::NotMeasurable, reason, started)
            }
            None => {
                progress(Progress::Started { experiment, done, total: chosen.len() });
                run(experiment).unwrap_or_else(|error| {
                    progress(Progress::Failed { experiment, error: &error });
                    let record = experiment.without_result(Verdict::Failed, error.to_string(), started);
                    gone = matches!(error.kind(), ErrorKind::DeviceLost | ErrorKind::Timeout).then_some(error);
                    record
                })
            }
        };
        progress(Progress::Finished(&record));
        records.push(record);
    }
    records
}

/// What a record says of the adapter.
pub fn adapter_record(gpu: &Gpu) -> AdapterRecord {
    let (info, probe) = (gpu.info(), gpu.probe());
    let (min, max) = probe.reported();
    AdapterRecord {
        name: info.name.clone(),
        backend: gpu.backend_name(),
        kind: match info.device_type {
            _ if gpu.is_simulated() => AdapterRecord::SIMULATOR,
            wgpu::DeviceType::DiscreteGpu => "discrete GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Cpu => AdapterRecord::CPU_DRIVER,
            wgpu::DeviceType::Other => "other",
        }
        .into(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().into(),
        reported_lanes: [min, max],
        counted_lanes: probe.width(),
        path: gpu.path().to_string(),
        path_reason: match gpu.path() {
            SubgroupPath::Emulated { .. } if probe.path() == SubgroupPath::Native => {
                format!("asked for, although {}", probe.reason())
            }
            _ => probe.reason(),
        },
        timestamp_period_ns: (gpu.features().contains(wgpu::Features::TIMESTAMP_QUERY) && !gpu.is_simulated())
            .then(|| gpu.queue().get_timestamp_period().into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::model::exactly;
    use super::outcome::control;
    use super::*;
    use crate::report::Unit;

    #[test]
    fn every_experiment_has_an_id_of_its_own_and_a_claim() {
        let ids: HashSet<_> = experiments().iter().map(|experiment| experiment.id).collect();
        assert_eq!(ids.len(), experiments().len());
        for experiment in experiments() {
            assert!(!experiment.claim.is_empty() && !experiment.title.is_empty(), "{}", experiment.id);
            assert!(["lanes", "primitives", "workgroups"].contains(&experiment.group), "{}", experiment.id);
            assert_eq!(find(experiment.id).map(|found| found.id), Ok(experiment.id));
        }
    }

    #[test]
    fn an_unknown_id_is_answered_with_those_near_it() {
        for (wish, hint) in [
            ("twoway", "two-way"),
            ("two_wya", "two-way"),
            ("widht", "width"),
            ("trip", "trip-count"),
            ("Random-Half", "random-half"),
        ] {
            let error = find(wish).expect_err(wish);
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(&format!("did you mean {hint}?")), "{error}");
        }
        let error = find("coffee").expect_err("no such experiment");
        assert!(experiments().iter().all(|experiment| error.to_string().contains(experiment.id)), "{error}");
    }

    #[test]
    fn a_verdict_is_taken_back_where_the_clock_moved_or_the_control_has_no_teeth() {
        use Verdict::{Ambiguous, Differs, Holds};
        let row = Row::count("cell", "count", Unit::Count, 1);
        let outcome = |verdict, control_at: u32| Outcome {
            prediction: String::new(),
            finding: "A conclusion.".into(),
            method: String::new(),
            verdict,
            rows: vec![],
            plots: vec![],
            control: Some(control("a case", &row, exactly(control_at))),
        };
        for (verdict, control_at, drift, is_cpu, then, says) in [
            (Holds, 2, Some(1.01), false, Holds, ""),
            (Holds, 2, Some(1.2), false, Ambiguous, "1.20 times as long"),
            (Differs, 2, Some(0.5), false, Ambiguous, "0.50 times as long"),
            (Holds, 2, Some(1.5), true, Holds, ""),
            (Differs, 2, Some(1.5), true, Ambiguous, "1.50 times as long"),
            (Differs, 2, Some(1.2), true, Differs, ""),
            (Differs, 2, None, true, Differs, ""),
            (Holds, 1, Some(1.0), false, Ambiguous, "negative control"),
            (Differs, 1, None, false, Ambiguous, "negative control"),
            (Ambiguous, 2, Some(1.0), true, Ambiguous, ""),
        ] {
            let mut outcome = outcome(verdict, control_at);
            distrust(&mut outcome, drift, is_cpu);
            assert_eq!(outcome.verdict, then, "{verdict:?} {drift:?} {is_cpu}");
            let doubts = outcome.finding.strip_suffix("A conclusion.").expect("doubts come before the conclusion");
            assert!(doubts.contains(says), "{}", outcome.finding);
            assert_eq!(doubts.is_empty(), says.is_empty(), "{}", outcome.finding);
        }
    }

    /// What is recorded, and told, where the second of three experiments fails.
    fn failing(kind: ErrorKind) -> (Vec<ExperimentRecord>, Vec<String>) {
        let chosen: Vec<_> = EXPERIMENTS.iter().take(3).collect();
        let run = |experiment: &Experiment| match experiment.id == chosen[1].id {
            true => Err(Error::new(kind, "it went wrong")),
            false => Ok(experiment.without_result(Verdict::Holds, "as predicted".into(), Instant::now())),
        };
        let mut told = Vec::new();
        let records = run_each(&chosen, run, &mut |progress| {
            told.push(match progress {
                Progress::Started { experiment, done, total } => format!("{} {done}/{total}", experiment.id),
                Progress::Failed { experiment, error } => format!("{} {error}", experiment.id),
                Progress::Finished(record) => format!("{} {}", record.id, record.verdict.word()),
            });
        });
        (records, told)
    }

    #[test]
    fn an_experiment_that_fails_is_recorded_and_the_others_run() {
        for kind in [ErrorKind::WrongResult, ErrorKind::Internal, ErrorKind::OutOfMemory] {
            let (records, told) = failing(kind);
            let [a, b, c] = [0, 1, 2].map(|i| EXPERIMENTS[i].id);
            let verdicts: Vec<_> = records.iter().map(|record| (&*record.id, record.verdict)).collect();
            assert_eq!(verdicts, [(a, Verdict::Holds), (b, Verdict::Failed), (c, Verdict::Holds)]);
            assert_eq!(records[1].finding, "it went wrong");
            let row = &records[1].rows[0];
            assert_eq!((row.verdict, row.note.as_deref()), (Some(Verdict::Failed), Some("it went wrong")));
            assert_eq!(
                told.join(", "),
                format!("{a} 0/3, {a} holds, {b} 1/3, {b} it went wrong, {b} failed, {c} 2/3, {c} holds")
            );
        }
    }

    #[test]
    fn without_the_device_the_rest_is_not_measurable() {
        for kind in [ErrorKind::DeviceLost, ErrorKind::Timeout] {
            let (records, told) = failing(kind);
            let verdicts: Vec<_> = records.iter().map(|record| record.verdict).collect();
            assert_eq!(verdicts, [Verdict::Holds, Verdict::Failed, Verdict::NotMeasurable]);
            assert!(
                records[2].finding.contains("did not come back from an experiment before (it went wrong)"),
                "{}",
                records[2].finding
            );
            assert_eq!(records[2].rows[0].note.as_deref(), Some(&*records[2].finding));
            assert_eq!(told.last(), Some(&format!("{} not measurable", EXPERIMENTS[2].id)));
            assert_eq!(told.len(), 6, "{told:?}");
        }
    }

    #[test]
    fn distances_count_letters() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
