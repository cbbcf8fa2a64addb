//! The part of a buffer that a program sees.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::simt::memory::Memory;

/// The part of a buffer that a program sees: reads outside of it give zero, writes do nothing.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    words: &'a [AtomicU32],
    bytes: u32,
}

impl<'a> View<'a> {
    pub(super) fn empty() -> Self {
        Self { words: &[], bytes: 0 }
    }

    pub(super) fn new(memory: &'a Memory, offset: u64, size: u64) -> Self {
        let all = memory.words();
        let first = (offset / 4).min(all.len() as u64) as usize;
        let count = size.div_ceil(4).min((all.len() - first) as u64) as usize;
        Self { words: &all[first..first + count], bytes: size.min(u32::MAX.into()) as u32 }
    }

    /// Elements of an array that fills the rest.
    pub(super) fn length(&self, offset: u32, stride: u32) -> u32 {
        self.bytes.saturating_sub(offset) / stride
    }

    pub(super) fn word(&self, index: u32) -> Option<&'a AtomicU32> {
        self.words.get(index as usize)
    }

    #[inline(always)]
    pub(super) fn read(&self, index: u32) -> u32 {
        self.words.get(index as usize).map_or(0, |word| word.load(Relaxed))
    }

    pub(super) fn write(&self, index: u32, value: u32) {
        if let Some(word) = self.words.get(index as usize) {
            word.store(value, Relaxed);
        }
    }
}
