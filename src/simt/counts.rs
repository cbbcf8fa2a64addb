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

/// What accesses to memory cost, as counts. Texels of textures are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Accesses of invocations to storage buffers, up to 16 bytes each. Uniform buffers are not counted: devices read
    /// them by a way of their own, one value for all lanes.
    pub accesses: u64,
    /// Sectors of 32 bytes that those touched: different ones within each issue.
    pub sectors: u64,
    /// Accesses of invocations to workgroup memory.
    pub workgroup_accesses: u64,
    /// Turns that the banks of workgroup memory needed beyond the first of each issue.
    pub bank_conflicts: u64,
    /// Accesses by atomics, of those above.
    pub atomics: u64,
    /// Those of them to a word that another lane had in the same issue.
    pub atomic_collisions: u64,
}

impl MemoryCounts {
    /// Adds what another part of the dispatch did.
    pub(crate) fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.sectors += other.sectors;
        self.workgroup_accesses += other.workgroup_accesses;
        self.bank_conflicts += other.bank_conflicts;
        self.atomics += other.atomics;
        self.atomic_collisions += other.atomic_collisions;
    }
}

/// What a dispatch did, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Memory accesses of all lines.
    pub memory: MemoryCounts,
    /// The lines that issued anything.
    pub lines: Vec<LineProfile>,
    /// The loops that went round.
    pub loops: Vec<LoopProfile>,
}

/// What a line of a shader did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineProfile {
    /// The line, from 1; none where wgpu keeps no text (it does where `wgpu::InstanceFlags::DEBUG` is set, as in debug
    /// builds), and the whole function is one entry.
    pub line: Option<u32>,
    /// The function it stands in.
    pub function: String,
    /// Its text.
    pub text: String,
    /// What it issued.
    pub counts: Counts,
    /// Its memory accesses.
    pub memory: MemoryCounts,
}

/// How often a loop went round.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopProfile {
    /// The line that the loop begins at.
    pub line: Option<u32>,
    /// The function it stands in.
    pub function: String,
    /// The line's text.
    pub text: String,
    /// The fewest trips of an invocation of the workgroups in which it went round.
    pub least: u32,
    /// The most.
    pub most: u32,
    /// Trips of all invocations together.
    pub trips: u64,
    /// What their subgroups issued for them: each lane as often as the lane that went round most. Over `trips`, what the
    /// spread costs.
    pub issued: u64,
}
