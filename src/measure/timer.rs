//! Timing one pass.

/// Where a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The GPU's timestamps at the two ends of a compute pass.
    Gpu,
    /// The host's clock around submission and wait, where the device has no usable timestamps.
    Wall,
}
