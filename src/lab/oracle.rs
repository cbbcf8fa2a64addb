//! What shaders/lab/arms.wgsl computes, computed on the host.

/// `arm_a` of arms.wgsl.
pub(super) fn arm_a(start: u32, trips: u32) -> u32 {
    steps(start, trips, 0x9E37_79B1, 0x7F4A_7C15, 15)
}

/// `arm_b` of arms.wgsl.
pub(super) fn arm_b(start: u32, trips: u32) -> u32 {
    steps(start, trips, 0x85EB_CA6B, 0xC2B2_AE35, 13)
}

/// `trips` steps: a multiply-add, then an exclusive or with a shift of itself.
pub(super) fn steps(start: u32, trips: u32, multiplier: u32, addend: u32, shift: u32) -> u32 {
    (0..trips).fold(start, |x, _| {
        let x = x.wrapping_mul(multiplier).wrapping_add(addend);
        x ^ (x >> shift)
    })
}

/// `scramble` of arms.wgsl.
pub(super) fn scramble(index: u32) -> u32 {
    let mut x = index.wrapping_mul(0x9E37_79B1);
    x ^= x >> 15;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

/// One more than the largest of [`random_words`].
pub(super) const WORD_LIMIT: u32 = 1 << 31;

/// Words below [`WORD_LIMIT`] that look random, so that a threshold of p x `WORD_LIMIT` selects the share p of them,
/// and a threshold of `WORD_LIMIT` all.
pub(super) fn random_words(count: u32) -> Vec<u32> {
    (0..count).map(|index| scramble(index) >> 1).collect()
}

/// The threshold that selects this share of [`random_words`].
pub(super) fn threshold(share: f64) -> u32 {
    (share * f64::from(WORD_LIMIT)) as u32
}
