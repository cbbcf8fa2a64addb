//! Bytes of a buffer.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bytes of a buffer, in words that invocations on several threads read and write.
///
/// Relaxed loads and stores are plain moves on every target, so that racing invocations cost nothing and are defined:
/// one of them wins, a word at a time.
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

    /// Copies bytes out, from any offset.
    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) {
        let mut at = offset as usize;
        let mut rest = to;
        while !rest.is_empty() {
            let skip = at % 4;
            let (now, later) = rest.split_at_mut((4 - skip).min(rest.len()));
            let word = self.words[at / 4].load(Relaxed).to_le_bytes();
            now.copy_from_slice(&word[skip..skip + now.len()]);
            at += now.len();
            rest = later;
        }
    }

    /// Copies bytes in, to any offset.
    pub(crate) fn write(&self, offset: u64, from: &[u8]) {
        let mut at = offset as usize;
        let mut rest = from;
        while !rest.is_empty() {
            let skip = at % 4;
            let (now, later) = rest.split_at((4 - skip).min(rest.len()));
            let mut word = self.words[at / 4].load(Relaxed).to_le_bytes();
            word[skip..skip + now.len()].copy_from_slice(now);
            self.words[at / 4].store(u32::from_le_bytes(word), Relaxed);
            at += now.len();
            rest = later;
        }
    }

    /// Where the bytes lie, for a host that maps them: on a little-endian machine, in the order of a GPU.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_any_offset() {
        let memory = Memory::zeroed(11);
        assert_eq!((memory.bytes(), memory.words().len()), (11, 3));
        memory.write(3, &[1, 2, 3, 4, 5, 6]);
        let mut all = [0xff; 11];
        memory.read(0, &mut all);
        assert_eq!(all, [0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0]);
        let mut some = [0; 3];
        memory.read(5, &mut some);
        assert_eq!(some, [3, 4, 5]);
        assert_eq!(memory.words()[1].load(Relaxed), 0x0504_0302);
    }
}
