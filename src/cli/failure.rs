//! Why the tool stops, and its exit code.

use std::fmt;
use std::process::ExitCode;

use wavelane::{Error, ErrorKind};

/// A message for the person, and the exit code that belongs to it.
#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Something that went wrong while working.
    pub(super) fn working(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// What was looked for was found, and is already told.
    pub(super) fn findings() -> Self {
        Self::working("")
    }

    /// Something wrong in the command line that clap cannot know.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, message: message.into() }
    }

    /// The same, said of an experiment.
    pub(super) fn of(self, id: &str) -> Self {
        Self { message: format!("{id} failed: {}", self.message), ..self }
    }

    /// Whether the person knows what there is to know.
    pub(super) fn is_told(&self) -> bool {
        self.message.is_empty()
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::NoAdapter | ErrorKind::NoDevice => 3,
            ErrorKind::MissingFeature | ErrorKind::LimitTooSmall => 4,
            _ => 1,
        };
        Self { code, message: error.to_string() }
    }
}
