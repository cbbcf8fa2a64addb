//! `wavelane tune`: the sizes of plans that are fastest on this adapter.

use std::path::PathBuf;

use clap::Args;
use wavelane::lab::tune;
use wavelane::measure::Effort;
use wavelane::report;

use super::output::{self, Destination};
use super::{DeviceArgs, Result, measure};

/// Measures the sizes of reduce, scan and select that are fastest on this adapter
///
/// Swept are the workgroup size and the loads a lane, then the grid around whole waves of the device. Each candidate's
/// result is compared with the host's before it is timed. Sizes are taken only where they are clearly faster than the
/// default over all numbers of items together, in samples taken anew; the default stays otherwise.
///
/// A program reads the JSON with `wavelane::report::Tunings::from_json` and gives its sizes to its plans. It is one object:
/// `schema` (1; fields are only ever added), `version`, `created_s`, `adapter`, `effort`, `wall_s`, and for each of
/// `reduce`, `scan` and `select` the sizes to take (`tuning`), `default` and `fastest`, the number of `candidates`, and
/// `gain` with `interval`: how many times as fast as the default the fastest is, over all and over each of `sizes`.
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
}

pub(super) fn run(device: &DeviceArgs, args: &TuneArgs) -> Result {
    let json = args.json.as_deref().map(Destination::open).transpose()?;
    let gpu = measure::open(device)?;
    let effort = if args.full { Effort::Full } else { Effort::Quick };
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
    if table { output::print(report::terminal::tuning(&record)) } else { Ok(()) }
}
