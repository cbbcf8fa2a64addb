//! From fragments to WGSL text: assembling, checking, listing.

mod assemble;
pub mod catalog;
mod lex;
mod library;
pub(crate) mod module;
pub mod reflect;
pub(crate) mod trusted;
pub mod uniformity;
pub(crate) mod user;

pub use assemble::Assembled;
pub(crate) use assemble::{Fragment, Renames, fragment};
pub use library::{Block, Library, block, library};

/// The widest subgroup that the crate is written for: a ballot has four words.
pub const MAX_LANES: u32 = 128;

/// The narrowest subgroup that the crate is written for.
pub const MIN_LANES: u32 = 4;

/// Whether wgpu's run-time checks (bounds, loop bounding, division) stay in a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checks {
    /// Without checks: for this crate's own text, whose indices are in range by construction.
    #[default]
    Trusted,
    /// With all of wgpu's checks.
    Checked,
}

impl Checks {
    /// `trusted` or `checked`, as written in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Checked => "checked",
        }
    }
}
