//! Reading saved records.

use std::fmt::Display;
use std::path::Path;

use wavelane::report::{self, Record};

use super::{Failure, Result};

/// The record in this file.
pub(super) fn record(path: &Path) -> Result<Record> {
    let fault = |error: &dyn Display| Failure::working(format!("cannot read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
    report::json::read(&text).map_err(|error| fault(&error))
}
