//! A simulated device: a CPU that executes compute shaders as a GPU of a chosen width would.

mod counts;
mod machine;
mod memory;
mod operation;
mod program;

pub use counts::Counts;
