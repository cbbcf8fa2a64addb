//! What a dispatch issued.

/// What a dispatch issued.
///
/// An issue is one instruction that one subgroup executes, for however many of its lanes are active. Counted are
/// arithmetic (one for each component of a vector), comparisons and conversions; loads, stores and atomics (one for up
/// to 16 bytes that lie together); subgroup operations (one for each word); barriers; and conditional branches. Not
/// counted is what a GPU need not issue or hides in something else: moves, constants, swizzles, bit casts, the
/// arithmetic of addresses, and unconditional jumps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions that subgroups issued.
    pub issues: u64,
    /// The sum, over the issues, of the lanes that were active.
    pub active_lanes: u64,
}

impl Counts {
    /// Adds what another part of the dispatch issued.
    pub(crate) fn add(&mut self, other: &Self) {
        self.issues += other.issues;
        self.active_lanes += other.active_lanes;
    }
}
