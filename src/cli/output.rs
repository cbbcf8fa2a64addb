//! Writing results: to standard output, or to a file that is opened before the work begins.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::{Failure, Result};

/// Columns of text for people where no terminal says how many it has.
const COLUMNS: u16 = 100;
/// The fewest in which tables can be read, and the most in which sentences can.
const COLUMNS_RANGE: std::ops::RangeInclusive<u16> = 60..=120;

/// Writes a result to standard output. A reader that went away (`wavelane info | head -1`) has what it wanted.
pub(super) fn print(result: impl AsRef<[u8]>) -> Result {
    let mut out = io::stdout().lock();
    match out.write_all(result.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::working(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// A value as JSON with a line break at its end.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    match serde_json::to_string_pretty(value) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Failure::working(format!("cannot write JSON: {error}"))),
    }
}

/// Whether text for people on standard output may be bold and coloured.
pub(super) fn is_styled() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The columns that text for people may fill: those of the terminal on standard output.
pub(super) fn columns() -> u16 {
    within(Table::new().width())
}

fn within(terminal: Option<u16>) -> u16 {
    terminal.unwrap_or(COLUMNS).clamp(*COLUMNS_RANGE.start(), *COLUMNS_RANGE.end())
}

/// A table without lines that fits the terminal.
pub(super) fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table
}

/// The lines of a table, without the blanks that fill each up to its width.
pub(super) fn lines(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A file that a result goes to, or standard output for `-`. A file is opened at once, so that a path that cannot be
/// written is told before a minute of measuring, and keeps what it holds until the result is there.
#[derive(Debug)]
pub(super) enum Destination {
    Stdout,
    File(OutputFile),
}

impl Destination {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(match path.as_os_str() == "-" {
            true => Self::Stdout,
            false => Self::File(OutputFile::open(path)?),
        })
    }

    /// Opens those of the paths that are given, each with what belongs to it. Two results never go to one path.
    pub(super) fn open_all<'a, T>(
        wanted: impl IntoIterator<Item = (&'a Option<PathBuf>, T)>,
    ) -> Result<Vec<(Self, T)>> {
        let mut paths: Vec<&Path> = Vec::new();
        let mut opened = Vec::new();
        for (path, result) in wanted {
            let Some(path) = path else { continue };
            opened.push((Self::open(path)?, result));
            if paths.iter().any(|other| is_same_file(path, other)) {
                return Err(Failure::usage(format!("two results go to {}", path.display())));
            }
            paths.push(path);
        }
        Ok(opened)
    }

    pub(super) fn write(self, bytes: &[u8]) -> Result {
        match self {
            Self::Stdout => print(bytes),
            Self::File(file) => file.write(bytes),
        }
    }
}

/// Whether two paths lead to one file, however each is written.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    file(one) == file(other)
}

#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    file: File,
    /// Whether the file is new and still without its result.
    unused: bool,
}

impl OutputFile {
    fn open(path: &Path) -> Result<Self> {
        let unused = !path.exists();
        match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
            Ok(file) => Ok(Self { path: path.into(), file, unused }),
            Err(error) => Err(Failure::working(format!("cannot write {}: {error}", path.display()))),
        }
    }

    fn write(mut self, bytes: &[u8]) -> Result {
        self.unused = false;
        self.replace(bytes).map_err(|error| Failure::working(format!("cannot write {}: {error}", self.path.display())))
    }

    /// Replaces what the file holds.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        // A pipe or a device has no length to set.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(bytes)?;
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // A run that failed leaves no empty file behind.
        if self.unused {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminals_width_is_taken_within_reason() {
        let widths = [None, Some(0), Some(59), Some(80), Some(120), Some(250)].map(within);
        assert_eq!(widths, [100, 60, 60, 80, 120, 120]);
    }
}
