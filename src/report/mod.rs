//! The result record, and what is made of it.
//!
//! A run gives one [`Record`]. [`terminal`], [`json`], [`csv`] and [`html`] are views of it. [`compare_records`]
//! compares two of them row by row, and [`side_by_side`] shows several on one page.

mod record;
mod tuning;

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
pub mod side_by_side;
#[cfg(feature = "cli")]
mod svg;
#[cfg(feature = "cli")]
pub mod terminal;

#[cfg(feature = "cli")]
pub use compare::{Change, RecordComparison, RowComparison, RunId, compare_records};
pub use record::*;
pub use tuning::{PrimitiveTuning, SizeTuning, TuningRecord, Tunings};
