//! `wavelane report`: saved records, shown again without measuring.

use std::path::PathBuf;

use clap::Args;
use wavelane::report::{self, Record};

use super::output::{self, Destination};
use super::{Failure, Result, input};

/// Shows records that `measure --json` wrote: as a table, as a page, or several side by side on one page
///
/// Nothing is measured, so no device is needed. Without an option each record's table is printed. The page of one record is
/// that of `measure --html`; the page of several has a column for each, with the same rows beside each other. A FILE of `-`
/// is standard output.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The records
    #[arg(value_name = "RECORD.json", required = true)]
    records: Vec<PathBuf>,
    /// Writes one self-contained page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Writes a row for each measured quantity of one record as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

type Render = fn(&[(String, Record)]) -> String;

pub(super) fn run(args: &ReportArgs) -> Result {
    if args.csv.is_some() && args.records.len() > 1 {
        return Err(Failure::usage("--csv takes one record: its rows do not say which record they are of"));
    }
    for to in [&args.html, &args.csv].into_iter().flatten() {
        if args.records.iter().any(|record| output::is_same_file(record, to)) {
            return Err(Failure::usage(format!("{} is the record itself, which would be lost", to.display())));
        }
    }
    let named = |path: &PathBuf| Ok((path.display().to_string(), input::record(path)?));
    let records = args.records.iter().map(named).collect::<Result<Vec<_>>>()?;
    let views: [(_, Render); 2] = [(&args.html, html), (&args.csv, csv)];
    let views = Destination::open_all(views)?;
    if views.is_empty() {
        let tables: Vec<_> =
            records.iter().map(|(_, record)| report::terminal::summary(record, output::columns())).collect();
        return output::print(tables.join("\n"));
    }
    for (to, render) in views {
        to.write(render(&records).as_bytes())?;
    }
    Ok(())
}

fn html(records: &[(String, Record)]) -> String {
    match records {
        [(_, record)] => report::html::write(record),
        records => report::side_by_side::write(records),
    }
}

fn csv(records: &[(String, Record)]) -> String {
    records.iter().map(|(_, record)| report::csv::write(record)).collect()
}
