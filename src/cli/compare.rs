//! `wavelane compare`: two records, row by row.

use std::path::PathBuf;

use clap::Args;
use wavelane::report;

use super::{Result, input, output};

/// Compares two records that `measure --json` wrote: same, faster, slower or ambiguous, row by row
///
/// Rows that are not times say changed instead of faster or slower. Ambiguous: the noise is too large to say, or the
/// reference kernel beside the experiment moved as much. Missing: only one of the records has the row, or a figure of it.
///
/// The table leaves out rows that are the same, the JSON has every row. The exit code is 0 whatever comes out.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The earlier record
    #[arg(value_name = "A.json")]
    a: PathBuf,
    /// The later record
    #[arg(value_name = "B.json")]
    b: PathBuf,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CompareArgs) -> Result {
    let (a, b) = (input::record(&args.a)?, input::record(&args.b)?);
    let comparison = report::compare_records(&a, &b);
    output::print(match args.json {
        true => report::json::write_comparison(&comparison),
        false => report::terminal::comparison(&comparison, output::columns()),
    })
}
