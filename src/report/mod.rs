//! The result record, and what is made of it.

mod record;

pub use record::*;
