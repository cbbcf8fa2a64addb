//! `wavelane tune`: the sizes of plans that are fastest on this adapter.

use std::path::{Path, PathBuf};

use clap::Args;
use wavelane::lab::{tune, tune_kernel};
use wavelane::measure::Effort;
use wavelane::report;

use super::output::{self, Destination};
use super::{DeviceArgs, Failure, Result, measure};

/// Measures the sizes of reduce, scan and select that are fastest on this adapter
///
/// Swept are the workgroup size and the loads a lane, then the grid around whole waves of the device. Each candidate's
/// result is compared with the host's before it is timed. Sizes are taken only where they are clearly faster than the
/// default over all numbers of items together, in samples taken anew, and more than 5 % slower over none of them; the
/// default stays otherwise.
///
/// A program reads the JSON with `wavelane::report::Tunings::from_json` and gives its sizes to its plans. It is one object:
/// `schema` (1; fields are only ever added), `version`, `created_s`, `adapter`, `effort`, `wall_s`, and for each of
/// `reduce`, `scan` and `select` the sizes to take (`tuning`), `default` and `fastest`, the number of `candidates`, and
/// `gain` with `interval`: how many times as fast as the default the fastest is, over all and over each of `sizes`.
///
/// With --kernel it is a compute shader of one's own whose `override` constants are tried, in all combinations. Each
/// storage buffer of the entry point holds N words of which word i is i (other bindings are refused), and N over the
/// invocations of a workgroup, rounded up, are dispatched in x. Results are compared with each other, bit by bit, since
/// nobody knows the right one: a combination that differs from most is told, and is not the fastest.
#[derive(Debug, Args)]
pub(super) struct TuneArgs {
    /// Numbers of items, as powers of two: 20,24 are 2^20 and 2^24 [default: 20,24; 14,20 on a CPU driver]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(..=i64::from(tune::MAX_SIZE)))]
    sizes: Vec<u32>,
    /// More candidates and more samples
    #[arg(long)]
    full: bool,
    /// Writes what was found as JSON; a FILE of `-` is standard output, which then gets no table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Tunes this compute shader instead
    #[arg(long, value_name = "FILE.wgsl", requires = "entry", requires = "overrides", conflicts_with_all = ["sizes", "json"])]
    kernel: Option<PathBuf>,
    /// The shader's entry point
    #[arg(long, value_name = "NAME", requires = "kernel")]
    entry: Option<String>,
    /// Tries these values of an override constant; may be given several times
    #[arg(long = "override", value_name = "NAME=V,...", requires = "kernel", value_parser = values)]
    overrides: Vec<(String, Vec<f64>)>,
    /// Words of each storage buffer
    #[arg(long, value_name = "N", requires = "kernel", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    items: u32,
    #[command(flatten)]
    device: DeviceArgs,
}

fn values(text: &str) -> Result<(String, Vec<f64>), String> {
    let parsed = text.split_once('=').and_then(|(name, values)| {
        let values = values.split(',').map(|value| value.trim().parse().ok()).collect::<Option<Vec<f64>>>()?;
        Some((name.to_string(), values))
    });
    parsed.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "a name and numbers are needed: WIDTH=64,128".into())
}

pub(super) fn run(args: &TuneArgs) -> Result {
    let device = &args.device;
    if device.simulate.is_some() {
        return Err(Failure::usage("the simulator has no times to tune by"));
    }
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    if let (Some(path), Some(entry)) = (&args.kernel, &args.entry) {
        return kernel(device, effort, path, entry, args);
    }
    let json = args.json.as_deref().map(Destination::open).transpose()?;
    let gpu = device.open()?;
    measure::tell(&gpu);
    let default_sizes = tune::default_sizes(&gpu);
    let sizes = if args.sizes.is_empty() { &default_sizes[..] } else { &args.sizes };
    let bar = measure::progress_bar();
    bar.set_length(3);
    let mut begun = 0;
    let record = tune::tune(&gpu, effort, sizes, |primitive| {
        bar.set_position(begun);
        bar.set_message(primitive.to_owned());
        begun += 1;
    });
    bar.finish_and_clear();
    let record = record?;
    let table = !matches!(json, Some(Destination::Stdout));
    if let Some(to) = json {
        to.write(report::json::write_tuning(&record).as_bytes())?;
    }
    if table { output::print(report::terminal::tuning(&record, output::columns())) } else { Ok(()) }
}

fn kernel(device: &DeviceArgs, effort: Effort, path: &Path, entry: &str, args: &TuneArgs) -> Result {
    let file = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::working(format!("cannot read {file}: {error}")))?;
    let gpu = device.open()?;
    measure::tell(&gpu);
    let kernel = tune_kernel::Kernel { file: &file, text: &text, entry, overrides: &args.overrides, items: args.items };
    output::print(report::terminal::kernel_tuning(&tune_kernel::candidates(&gpu, effort, &kernel)?, output::columns()))
}
