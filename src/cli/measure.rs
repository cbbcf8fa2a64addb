//! `wavelane measure`, and `wavelane` alone: runs experiments and shows their record.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use wavelane::Gpu;
use wavelane::lab::{self, Options, Progress};
use wavelane::measure::Effort;
use wavelane::report::{self, Record};

use super::output::{self, Destination};
use super::{DeviceArgs, Failure, Result};

/// Runs experiments and shows claim, prediction, measurement and verdict
///
/// Experiments that are named are shown in full, otherwise each in one line. Results are verified before they are
/// timed. An experiment that fails is recorded as failed, and the others run; the exit code is then that of the first such
/// error. A FILE of `-` is standard output, which then gets no tables.
#[derive(Debug, Default, Args)]
pub(super) struct MeasureArgs {
    /// Runs these experiments: ids of `wavelane list` [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Full sweeps and more samples
    #[arg(long)]
    full: bool,
    /// Also runs experiments whose workgroups wait for each other: they are bounded, but nothing promises that they end
    #[arg(long)]
    waiting: bool,
    /// Writes the record with every sample as JSON, which `wavelane compare` reads
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a row for each measured quantity as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Writes one self-contained page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    pub(super) device: DeviceArgs,
}

/// A quick run of everything on this device.
impl From<DeviceArgs> for MeasureArgs {
    fn from(device: DeviceArgs) -> Self {
        Self { device, ..Self::default() }
    }
}

type Render = fn(&Record) -> String;

pub(super) fn run(args: &MeasureArgs) -> Result {
    // All that can be wrong with the command line is told before a minute of measuring.
    for id in &args.ids {
        lab::find(id).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let views: [(_, Render); 3] =
        [(&args.json, report::json::write), (&args.csv, report::csv::write), (&args.html, report::html::write)];
    let views = Destination::open_all(views)?;
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let (record, failed) = record(&args.device, Options { effort, waiting: args.waiting }, &args.ids)?;

    let tables = !views.iter().any(|(to, _)| matches!(to, Destination::Stdout));
    for (to, render) in views {
        to.write(render(&record).as_bytes())?;
    }
    if tables {
        // Whoever names experiments wants all of them; otherwise one line each is enough.
        let text = if args.ids.is_empty() { report::terminal::summary } else { report::terminal::in_full };
        output::print(text(&record, output::columns()))?;
    }
    // What did not fail is told all the same.
    failed.map_or(Ok(()), Err)
}

/// Runs these experiments, or all of them where none is named, on the device that the options choose, and tells the person
/// at the terminal on which and how far it is. Beside the record, the first failure of an experiment.
pub(super) fn record(
    device: &DeviceArgs,
    options: Options,
    ids: &[impl AsRef<str>],
) -> Result<(Record, Option<Failure>)> {
    let gpu = device.open_or_simulate()?;
    tell(&gpu);
    let bar = progress_bar();
    let mut failed = None;
    let record = lab::run(&gpu, options, ids, |progress| {
        if let Progress::Failed { experiment, error } = progress {
            failed.get_or_insert_with(|| Failure::from(error.clone()).of(experiment.id));
        }
        show(&bar, progress);
    });
    bar.finish_and_clear();
    Ok((record?, failed))
}

/// Tells the person at the terminal which device is measured.
pub(super) fn tell(gpu: &Gpu) {
    let _ = writeln!(
        std::io::stderr(),
        "{} ({}): {} lanes, {}",
        gpu.info().name,
        gpu.backend_name(),
        gpu.lanes(),
        gpu.path().name()
    );
}

/// A bar on standard error; invisible where that is no terminal.
pub(super) fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg} ({elapsed})") {
        bar.set_style(style.progress_chars("■■□"));
    }
    // Often enough for the seconds; drawing takes time from a driver that runs on the CPU.
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

fn show(bar: &ProgressBar, progress: Progress<'_>) {
    match progress {
        Progress::Started { experiment, done, total } => {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(experiment.title);
        }
        Progress::Failed { .. } => {}
        Progress::Finished(_) => bar.inc(1),
    }
}
