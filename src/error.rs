//! The one error type of the crate.
//!
//! [`Error`] is opaque: match on [`Error::kind`], show the message. Every message names the cause, what was needed,
//! what was there, and what to do.

use std::fmt;

/// What went wrong, in a word that a program can match on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No adapter was found, or none matches the choice.
    NoAdapter,
    /// The adapter was found but refused to give a device.
    NoDevice,
    /// The device lacks a feature, or it was not asked for when the device was made.
    MissingFeature,
    /// A limit of the device is smaller than the work needs.
    LimitTooSmall,
    /// A buffer, range or count that was passed in does not fit the call.
    InvalidArgument,
    /// WGSL text that was passed in is not valid here.
    InvalidShader,
    /// Text that was passed in is no result record that this version can read.
    InvalidRecord,
    /// The device was lost while working.
    DeviceLost,
    /// The device has no memory left for what was asked.
    OutOfMemory,
    /// The device did not finish in the time allowed.
    Timeout,
    /// A result was checked and is wrong.
    WrongResult,
    /// The driver or wgpu refused something that this crate believed valid; please report it.
    Internal,
}

/// An error of this crate: a [kind](ErrorKind) and a message with the numbers.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn shader(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidShader, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// A limit that is too small: its WGSL or wgpu name, what the work needs and what the device allows.
    pub(crate) fn limit(what: &str, needs: u64, allows: u64, limit: &str) -> Self {
        Self::new(ErrorKind::LimitTooSmall, format!("{what} needs {needs}, this device allows {allows} ({limit})"))
    }

    /// The kind, for matching.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Error {}
