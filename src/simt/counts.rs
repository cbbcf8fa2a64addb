//! A stub until the machine lands.
/// What a dispatch issued: see the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Issues.
    pub issues: u64,
    /// Lanes that were active in them.
    pub active_lanes: u64,
}
