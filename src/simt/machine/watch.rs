//! What looks on while a dispatch is executed.

use super::groups::{Group, Mask};
#[cfg(doc)]
use crate::simt::program::Program;
use crate::simt::program::Source;

/// How an instruction touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    /// By an atomic, of what depends on what was there.
    AtomicUpdate,
}

/// An access of some lanes: so many units of `bytes` each, 4 or 2, from a byte address on, each lane its own; a place out
/// of bounds is [`OUT_OF_BOUNDS`](crate::simt::program::OUT_OF_BOUNDS).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch<'a> {
    pub(super) at: u32,
    pub(super) slot: u16,
    pub(super) access: Access,
    pub(super) mask: Mask,
    pub(super) addresses: &'a [u32],
    pub(super) units: u32,
    pub(super) bytes: u32,
}

/// What looks on while a dispatch is executed. The machine is compiled once for each, so that looking on costs nothing
/// where nobody does.
pub(crate) trait Watch: Send {
    /// Whether lanes may be independent of each other, rather than in step.
    const INDEPENDENT: bool;
    /// Whether [`touch`](Self::touch) does anything.
    const LOOKS_AT_MEMORY: bool;

    /// One for another thread, which [`join`](Self::join) takes back.
    fn fork(&self) -> Self;
    fn join(&mut self, other: Self);
    /// A workgroup starts.
    fn workgroup(&mut self, _id: [u32; 3]) {}
    /// It goes on behind a barrier that orders these kinds of memory.
    fn barrier(&mut self, _orders: naga::Barrier) {}
    /// A workgroup has ended.
    fn ended(&mut self) {}
    /// The subgroup that the next calls are of.
    fn subgroup(&mut self, _id: u32) {}
    /// These lanes of the subgroup meet, while one that is missing is elsewhere: if there is none, all have met.
    fn subgroup_barrier(&mut self, _here: Group, _missing: Option<(u32, usize)>) {}
    /// An instruction is executed by these lanes.
    fn issue(&mut self, _at: u32, _mask: Mask, _is_issue: bool) {}
    /// These lanes jump backwards.
    fn again(&mut self, _at: u32, _mask: Mask) {}
    /// Lanes access memory.
    fn touch(&mut self, _touch: &Touch<'_>) {}
    /// Lanes access texels, each of one unit at four times its number; [`Program::texels`] is their slot.
    fn texels(&mut self, _touch: &Touch<'_>) {}
    /// An index is held against a length.
    fn index(&mut self, _at: u32, _mask: Mask, _index: &[u32], _length: u32) {}
    /// A lane's level or coordinate of a texel, as `axis` says, is beyond the end.
    fn beyond(&mut self, _at: u32, _lane: usize, _axis: &'static str, _index: u32, _length: u32) {}
    /// These lanes go on together at an operation of the subgroup, while others wait elsewhere.
    fn apart(&mut self, _here: Group, _others: impl Iterator<Item = Group>) {}
    /// A subgroup operation is executed by these lanes.
    fn subgroup_operation(&mut self, _at: u32, _mask: Mask) {}
    /// These lanes read others, as the source and the row say.
    fn gather(&mut self, _at: u32, _mask: Mask, _source: Source, _row: &[u32]) {}
}

/// Nobody.
pub(super) struct Nobody;

impl Watch for Nobody {
    const INDEPENDENT: bool = false;
    const LOOKS_AT_MEMORY: bool = false;

    fn fork(&self) -> Self {
        Self
    }

    fn join(&mut self, _: Self) {}
}
