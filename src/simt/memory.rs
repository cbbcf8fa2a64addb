//! Bytes of a buffer.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bytes of a buffer, in words that invocations on several threads read and write.
pub(crate) struct Memory {
    words: Box<[AtomicU32]>,
    bytes: u64,
}

impl Memory {
    pub(crate) fn zeroed(bytes: u64) -> Self {
        Self { words: (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect(), bytes }
    }
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
    pub(crate) fn words(&self) -> &[AtomicU32] {
        &self.words
    }
    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) {
        for (i, byte) in to.iter_mut().enumerate() {
            let at = offset as usize + i;
            *byte = self.words[at / 4].load(Relaxed).to_ne_bytes()[at % 4];
        }
    }
    pub(crate) fn write(&self, offset: u64, from: &[u8]) {
        for (i, byte) in from.iter().enumerate() {
            let at = offset as usize + i;
            let mut word = self.words[at / 4].load(Relaxed).to_ne_bytes();
            word[at % 4] = *byte;
            self.words[at / 4].store(u32::from_ne_bytes(word), Relaxed);
        }
    }
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }
}
