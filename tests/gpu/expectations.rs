//! Failures that a driver's bug explains, pinned: the case must fail, and with this message. A pass is red, so that the
//! list cannot go stale.

/// A case that fails on a driver.
#[derive(Debug)]
pub(crate) struct Expectation {
    /// Where the case's name begins so.
    pub(crate) case: &'static str,
    /// Where the adapter's name or its driver's contains this.
    pub(crate) driver: &'static str,
    /// `native` or `emulated-32` and the like; all paths where it is empty.
    pub(crate) path: &'static str,
    /// What the failure's message contains.
    pub(crate) message: &'static str,
    /// Which bug explains it, with a link.
    pub(crate) reason: &'static str,
}

const EXPECTED: &[Expectation] = &[];

/// Cases in which a driver ends the process: they cannot be run, so nobody notices when they would pass. `message` is
/// what the driver prints.
const CRASHES: &[Expectation] = &[Expectation {
    case: "block/f16/max",
    driver: "llvmpipe",
    path: "native",
    message: "LLVM ERROR: Cannot select: f32 = and",
    reason: "LLVM 15 cannot compile f16 made of the bits of an f32 where the processor has AVX512-FP16",
}];

fn covers(expected: &Expectation, case: &str, info: &wgpu::AdapterInfo, path: &str) -> bool {
    case.starts_with(expected.case)
        && (info.name.contains(expected.driver) || info.driver.contains(expected.driver))
        && (expected.path.is_empty() || expected.path == path)
}

/// The expectation that covers a trial.
pub(crate) fn find(case: &str, info: &wgpu::AdapterInfo, path: &str) -> Option<&'static Expectation> {
    EXPECTED.iter().find(|expected| covers(expected, case, info, path))
}

/// Why a trial is not run.
pub(crate) fn crash(case: &str, info: &wgpu::AdapterInfo, path: &str) -> Option<String> {
    let crash = CRASHES.iter().find(|expected| covers(expected, case, info, path))?;
    Some(format!("{} ('{}')", crash.reason, crash.message))
}
