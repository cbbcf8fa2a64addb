//! The result record, and what is made of it.
//!
//! A run gives one [`Record`]. [`terminal`], [`json`], [`csv`] and [`html`] are views of it, and
//! [`compare_records`] compares two of them row by row.

mod record;

#[cfg(feature = "cli")]
mod compare;
#[cfg(feature = "cli")]
pub mod csv;
mod format;
#[cfg(feature = "cli")]
pub mod html;
#[cfg(feature = "cli")]
pub mod json;
#[cfg(all(test, feature = "cli"))]
mod sample;
#[cfg(feature = "cli")]
mod svg;
#[cfg(feature = "cli")]
pub mod terminal;

#[cfg(feature = "cli")]
pub use compare::{Change, RecordComparison, RowComparison, RunId, compare_records};
pub use record::*;
