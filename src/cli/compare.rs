//! `wavelane compare`: two records, row by row.

use std::path::{Path, PathBuf};

use clap::Args;
use wavelane::report::{self, Record};

use super::{Failure, Result, output};

/// Compares two records that `measure --json` wrote: same, faster, slower or ambiguous, row by row
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
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let comparison = report::compare_records(&a, &b);
    output::print(match args.json {
        true => report::json::write_comparison(&comparison),
        false => report::terminal::comparison(&comparison, output::columns()),
    })
}

fn read(path: &Path) -> Result<Record> {
    let fault = |error: &dyn std::fmt::Display| Failure::working(format!("cannot read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
    report::json::read(&text).map_err(|error| fault(&error))
}
