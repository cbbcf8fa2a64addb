//! What the device and its queue share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::simt::check::{self, Finding};
use crate::simt::{Dispatched, Setup};

/// Dispatches that are kept for whoever asks: a program that never does must not fill the memory with them.
const KEPT_DISPATCHES: usize = 4096;

/// A simulated device: its shape, its clock, and what is to be told of it.
#[derive(Debug)]
pub(crate) struct State {
    pub(super) setup: Setup,
    clock: AtomicU64,
    /// Whether the clock counts sectors instead of issues.
    by_sectors: AtomicBool,
    dispatches: Mutex<VecDeque<Dispatched>>,
    findings: Mutex<Vec<Finding>>,
    fault: Mutex<Option<String>>,
}

impl State {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            // From 1: a timestamp of zero means none, to whoever has met drivers without a clock.
            clock: AtomicU64::new(1),
            by_sectors: AtomicBool::new(false),
            dispatches: Mutex::default(),
            findings: Mutex::default(),
            fault: Mutex::default(),
        }
    }

    /// The device's time, which only passes while something is issued: 1, and all that the dispatches so far have issued,
    /// or the sectors that they have touched.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Lets the clock count sectors from now on, or issues.
    #[cfg(feature = "lab")]
    pub(crate) fn count_sectors(&self, sectors: bool) {
        self.by_sectors.store(sectors, Ordering::Relaxed);
    }

    pub(super) fn counts_sectors(&self) -> bool {
        self.by_sectors.load(Ordering::Relaxed)
    }

    /// Lets time pass.
    pub(super) fn pass(&self, ticks: u64) {
        self.clock.fetch_add(ticks, Ordering::Relaxed);
    }

    pub(super) fn keep_dispatch(&self, dispatch: Dispatched) {
        let mut kept = locked(&self.dispatches);
        if kept.len() == KEPT_DISPATCHES {
            kept.pop_front();
        }
        kept.push_back(dispatch);
    }

    pub(super) fn keep_findings(&self, findings: Vec<Finding>) {
        let mut kept = locked(&self.findings);
        findings.into_iter().for_each(|finding| check::keep(&mut kept, finding));
    }

    /// What was found since the last call.
    pub(crate) fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut locked(&self.findings))
    }

    pub(super) fn keep_fault(&self, message: String) {
        locked(&self.fault).get_or_insert(message);
    }

    /// The dispatches since the last call.
    pub(crate) fn take_dispatches(&self) -> Vec<Dispatched> {
        locked(&self.dispatches).drain(..).collect()
    }

    /// The fault that the device was lost by.
    pub(crate) fn fault(&self) -> Option<String> {
        locked(&self.fault).clone()
    }
}

/// A thread that panicked left whole values behind.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
