//! The items that are reduced, scanned and selected, each a function of its index: the host needs no copy of them.

use wavelane::Element;

/// An element type of the benchmark.
pub(crate) trait Item: Element + PartialEq + std::fmt::Debug {
    const NAME: &'static str;
    const ZERO: Self;
    /// What a device needs for it.
    const FEATURES: wgpu::Features = wgpu::Features::empty();
    /// [`Self::is_high`] as a predicate in WGSL.
    const HIGH: &'static str;

    /// Item `i`.
    fn at(i: u32) -> Self;
    /// The sum; integers wrap.
    fn plus(self, other: Self) -> Self;
    /// Whether [`Keep::High`] keeps it: half of the items.
    fn is_high(self) -> bool;
}

/// What a selection keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Integers with the highest bit set, positive floats.
    High,
    /// Odd ones, u32 only.
    Odd,
}

/// A hash of 32 bits, the same as in ../cub/cub.cu.
pub(crate) fn hash(i: u32) -> u32 {
    let mut x = i.wrapping_add(0x9e37_79b9);
    x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

impl Item for u32 {
    const NAME: &'static str = "u32";
    const ZERO: Self = 0;
    const HIGH: &'static str = "x >= 0x80000000u";

    fn at(i: u32) -> Self {
        hash(i)
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn is_high(self) -> bool {
        self >= 1 << 31
    }
}

impl Item for i32 {
    const NAME: &'static str = "i32";
    const ZERO: Self = 0;
    const HIGH: &'static str = "x < 0";

    fn at(i: u32) -> Self {
        hash(i) as i32
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn is_high(self) -> bool {
        self < 0
    }
}

impl Item for f32 {
    const NAME: &'static str = "f32";
    const ZERO: Self = 0.0;
    const HIGH: &'static str = "x > 0.0";

    /// A whole number from -8 to 8, but 0. Sums of neighbours stay far below 2^24 at every size here, so that they are
    /// exact in whatever order they are added, and results are compared as they are.
    fn at(i: u32) -> Self {
        let x = (hash(i) >> 28) as i32 - 8;
        (if x < 0 { x } else { x + 1 }) as f32
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn is_high(self) -> bool {
        self > 0.0
    }
}

impl Item for u64 {
    const NAME: &'static str = "u64";
    const ZERO: Self = 0;
    const FEATURES: wgpu::Features = wgpu::Features::SHADER_INT64;
    const HIGH: &'static str = "(x >> 63u) == 1lu";

    fn at(i: u32) -> Self {
        u64::from(hash(i)) << 32 | u64::from(hash(!i))
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn is_high(self) -> bool {
        self >> 63 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_floats_are_exact() {
        let (mut sum, mut least, mut most) = (0i64, 0i64, 0i64);
        for i in 0..1u32 << 24 {
            sum += f32::at(i) as i64;
            (least, most) = (least.min(sum), most.max(sum));
        }
        assert!(most - least < 1 << 22, "{least} to {most}");
    }

    #[test]
    fn half_of_the_items_are_kept() {
        fn kept<T: Item>() -> usize {
            (0..1 << 16).filter(|i| T::at(*i).is_high()).count()
        }
        for kept in [kept::<u32>(), kept::<i32>(), kept::<f32>(), kept::<u64>()] {
            assert!(kept.abs_diff(1 << 15) < 1_000, "{kept}");
        }
    }
}
