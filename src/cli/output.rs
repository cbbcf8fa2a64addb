//! Writing results: to standard output, or to a file that is opened before the work begins.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Failure, Result};

/// Writes a result to standard output. A reader that went away (`wavelane info | head -1`) has what it wanted.
pub(super) fn print(text: &str) -> Result {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::working(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// A file that a result goes to. It is opened at once, so that a path that cannot be written is told before a minute
/// of measuring, and keeps what it holds until the result is there.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    file: File,
    /// Whether the file is new and still without its result.
    unused: bool,
}

impl OutputFile {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let unused = !path.exists();
        match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
            Ok(file) => Ok(Self { path: path.into(), file, unused }),
            Err(error) => Err(Failure::working(format!("cannot write {}: {error}", path.display()))),
        }
    }

    /// Replaces what the file holds.
    pub(super) fn write(mut self, bytes: &[u8]) -> Result {
        self.unused = false;
        self.replace(bytes).map_err(|error| Failure::working(format!("cannot write {}: {error}", self.path.display())))
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        // A pipe or a device (/dev/stdout) has no length to set.
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
