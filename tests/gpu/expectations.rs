//! Failures that a driver's bug explains, pinned: the case must fail, and with this message. A pass is red, so that the
//! list cannot go stale.

/// A case that fails on a driver.
#[derive(Debug)]
pub struct Expectation {
    /// Where the case's name begins so.
    pub case: &'static str,
    /// Where the adapter's name or its driver's contains this.
    pub driver: &'static str,
    /// `native` or `emulated-32` and the like; all paths where it is empty.
    pub path: &'static str,
    /// What the failure's message contains.
    pub message: &'static str,
    /// Which bug explains it, with a link.
    pub reason: &'static str,
}

const EXPECTED: &[Expectation] = &[];

/// The expectation that covers a trial.
pub fn find(case: &str, info: &wgpu::AdapterInfo, path: &str) -> Option<&'static Expectation> {
    EXPECTED.iter().find(|expected| {
        case.starts_with(expected.case)
            && (info.name.contains(expected.driver) || info.driver.contains(expected.driver))
            && (expected.path.is_empty() || expected.path == path)
    })
}
