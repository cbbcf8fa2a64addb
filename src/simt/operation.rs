//! What the arithmetic instructions compute: a value for one lane, from values of that lane.
//!
//! Words carry every type: a bool is 0 or 1, an f32 is its bits, an f16 is the f32 of the same value, and i16 and u16 are the
//! i32 and u32. Wide words carry i64, u64 and f64.

/// Defines operations with their meaning, for a lane and for a row of lanes. The row's loop is inside the match, so that
/// each operation has a loop of its own that the compiler can vectorise.
macro_rules! operations {
    ($(#[$about:meta])* $name:ident($words:tt: [$from:ty; $count:literal]) -> $to:ty {
        $($variant:ident => $value:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),* }

        impl $name {
            #[inline(always)]
            pub(crate) fn row<const W: usize>(self, rows: [&[$from; W]; $count]) -> [$to; W] {
                let mut row = [<$to>::default(); W];
                match self {
                    $(Self::$variant => {
                        for lane in 0..W {
                            let $words = rows.map(|row| row[lane]);
                            row[lane] = $value;
                        }
                    })*
                }
                row
            }

            #[allow(dead_code, reason = "only some are applied to single lanes too")]
            pub(crate) fn lane(self, words: [$from; $count]) -> $to {
                let $words = words;
                match self { $(Self::$variant => $value),* }
            }
        }
    };
}

// The largest values that an integer type shares with a float type.
const MOST_U32: f32 = 4_294_967_040.0;
const MOST_I32: f32 = 2_147_483_520.0;
const MOST_U64: f32 = 18_446_742_974_197_923_840.0;
const MOST_I64: f32 = 9_223_371_487_098_961_920.0;
const MOST_U64_WIDE: f64 = 18_446_744_073_709_549_568.0;
const MOST_I64_WIDE: f64 = 9_223_372_036_854_774_784.0;

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

operations! {
    /// From one word.
    Unary([x]: [u32; 1]) -> u32 {
        NotBool => x ^ 1,
        Not => !x,
        NegInt => x.wrapping_neg(),
        AbsInt => (x as i32).wrapping_abs() as u32,
        SignInt => (x as i32).signum() as u32,
        NegFloat => x ^ 0x8000_0000,
        AbsFloat => x & 0x7fff_ffff,
        SignFloat => if f(x) > 0.0 { 1_f32.to_bits() } else if f(x) < 0.0 { (-1_f32).to_bits() } else { 0 },
        IntToBool => u32::from(x != 0),
        FloatToBool => u32::from(f(x) != 0.0),
        BoolToFloat => if x == 0 { 0 } else { 1_f32.to_bits() },
        // Towards zero, and where it is out of range to the nearest value that both types have: not to the last integer.
        FloatToUint => f(x).clamp(0.0, MOST_U32) as u32,
        FloatToInt => f(x).clamp(i32::MIN as f32, MOST_I32) as i32 as u32,
        UintToFloat => (x as f32).to_bits(),
        IntToFloat => (x as i32 as f32).to_bits(),
        RoundToHalf => round_to_half(f(x)).to_bits(),
        HalfToFloat => half_to_float(x as u16).to_bits(),
        FloatToHalf => u32::from(float_to_half(f(x))),
        ToInt16 => x as i16 as u32,
        ToUint16 => x & 0xffff,
        IsNan => u32::from(f(x).is_nan()),
        IsInf => u32::from(f(x).is_infinite()),
        Saturate => f(x).clamp(0.0, 1.0).to_bits(),
        Cos => f(x).cos().to_bits(),
        Cosh => f(x).cosh().to_bits(),
        Sin => f(x).sin().to_bits(),
        Sinh => f(x).sinh().to_bits(),
        Tan => f(x).tan().to_bits(),
        Tanh => f(x).tanh().to_bits(),
        Acos => f(x).acos().to_bits(),
        Asin => f(x).asin().to_bits(),
        Atan => f(x).atan().to_bits(),
        // In doubles, where the square of a large number does not overflow.
        Asinh => (f64::from(f(x)).asinh() as f32).to_bits(),
        Acosh => (f64::from(f(x)).acosh() as f32).to_bits(),
        Atanh => f(x).atanh().to_bits(),
        Radians => f(x).to_radians().to_bits(),
        Degrees => f(x).to_degrees().to_bits(),
        Ceil => f(x).ceil().to_bits(),
        Floor => f(x).floor().to_bits(),
        Round => f(x).round_ties_even().to_bits(),
        Fract => (f(x) - f(x).floor()).to_bits(),
        Trunc => f(x).trunc().to_bits(),
        FrexpFraction => frexp(f(x)).0.to_bits(),
        FrexpExponent => frexp(f(x)).1 as u32,
        Exp => f(x).exp().to_bits(),
        Exp2 => f(x).exp2().to_bits(),
        Log => f(x).ln().to_bits(),
        Log2 => f(x).log2().to_bits(),
        Sqrt => f(x).sqrt().to_bits(),
        InverseSqrt => (1.0 / f(x).sqrt()).to_bits(),
        CountTrailingZeros => x.trailing_zeros(),
        CountLeadingZeros => x.leading_zeros(),
        CountOneBits => x.count_ones(),
        ReverseBits => x.reverse_bits(),
        FirstTrailingBit => if x == 0 { !0 } else { x.trailing_zeros() },
        FirstLeadingBitUint => 31_u32.wrapping_sub(x.leading_zeros()),
        FirstLeadingBitInt => 31_u32.wrapping_sub((x ^ ((x as i32 >> 31) as u32)).leading_zeros()),
        Snorm8 => (f(x).clamp(-1.0, 1.0) * 127.0 + 0.5).floor() as i32 as u32,
        Unorm8 => (f(x).clamp(0.0, 1.0) * 255.0 + 0.5).floor() as u32,
        Snorm16 => (f(x).clamp(-1.0, 1.0) * 32767.0 + 0.5).floor() as i32 as u32,
        Unorm16 => (f(x).clamp(0.0, 1.0) * 65535.0 + 0.5).floor() as u32,
        FromSnorm8 => (x as i32 as f32 / 127.0).max(-1.0).to_bits(),
        FromUnorm8 => (x as f32 / 255.0).to_bits(),
        FromSnorm16 => (x as i32 as f32 / 32767.0).max(-1.0).to_bits(),
        FromUnorm16 => (x as f32 / 65535.0).to_bits(),
    }
}

operations! {
    /// From two words.
    Binary([x, y]: [u32; 2]) -> u32 {
        AddInt => x.wrapping_add(y),
        SubInt => x.wrapping_sub(y),
        MulInt => x.wrapping_mul(y),
        DivUint => x.checked_div(y).unwrap_or(x),
        RemUint => x.checked_rem(y).unwrap_or(0),
        DivInt => if y == 0 { x } else { (x as i32).wrapping_div(y as i32) as u32 },
        RemInt => if y == 0 { 0 } else { (x as i32).wrapping_rem(y as i32) as u32 },
        And => x & y,
        Or => x | y,
        Xor => x ^ y,
        Shl => x.wrapping_shl(y),
        ShrUint => x.wrapping_shr(y),
        ShrInt => (x as i32).wrapping_shr(y) as u32,
        MinUint => x.min(y),
        MaxUint => x.max(y),
        MinInt => (x as i32).min(y as i32) as u32,
        MaxInt => (x as i32).max(y as i32) as u32,
        Equal => u32::from(x == y),
        NotEqual => u32::from(x != y),
        LessUint => u32::from(x < y),
        LessEqualUint => u32::from(x <= y),
        LessInt => u32::from((x as i32) < y as i32),
        LessEqualInt => u32::from(x as i32 <= y as i32),
        AddFloat => (f(x) + f(y)).to_bits(),
        SubFloat => (f(x) - f(y)).to_bits(),
        MulFloat => (f(x) * f(y)).to_bits(),
        DivFloat => (f(x) / f(y)).to_bits(),
        RemFloat => (f(x) % f(y)).to_bits(),
        MinFloat => f(x).min(f(y)).to_bits(),
        MaxFloat => f(x).max(f(y)).to_bits(),
        EqualFloat => u32::from(f(x) == f(y)),
        NotEqualFloat => u32::from(f(x) != f(y)),
        LessFloat => u32::from(f(x) < f(y)),
        LessEqualFloat => u32::from(f(x) <= f(y)),
        Pow => f(x).powf(f(y)).to_bits(),
        Atan2 => f(x).atan2(f(y)).to_bits(),
        Ldexp => ((f64::from(f(x)) * 2_f64.powi((y as i32).clamp(-400, 400))) as f32).to_bits(),
        // The edge comes first.
        Step => if f(x) <= f(y) { 1_f32.to_bits() } else { 0 },
        Dot4Int => dot4(x, y, |x, i| i32::from((x >> (8 * i)) as i8) as u32),
        Dot4Uint => dot4(x, y, |x, i| x >> (8 * i) & 0xff),
        // The bits from one offset, as many as the second word says.
        BitMask => bit_mask(x, y),
        ShlAll => x.checked_shl(y).unwrap_or(0),
    }
}

operations! {
    /// From three words.
    Ternary([x, y, z]: [u32; 3]) -> u32 {
        // The condition comes first, then what it accepts.
        Select => if x == 0 { z } else { y },
        BitSelect => x & y | !x & z,
        Fma => f(x).mul_add(f(y), f(z)).to_bits(),
        SmoothStep => smooth_step(f(x), f(y), f(z)).to_bits(),
        ExtractUint => extract_uint(x, y, z),
        ExtractInt => extract_int(x, y, z),
    }
}

operations! {
    /// From one wide word.
    WideUnary([x]: [u64; 1]) -> u64 {
        Not => !x,
        NegInt => x.wrapping_neg(),
        AbsInt => (x as i64).wrapping_abs() as u64,
        SignInt => (x as i64).signum() as u64,
        NegFloat => x ^ 1 << 63,
        AbsFloat => x & !(1 << 63),
        SignFloat => if d(x) > 0.0 { 1_f64.to_bits() } else if d(x) < 0.0 { (-1_f64).to_bits() } else { 0 },
        FloatToUint => d(x).clamp(0.0, MOST_U64_WIDE) as u64,
        FloatToInt => d(x).clamp(i64::MIN as f64, MOST_I64_WIDE) as i64 as u64,
        UintToFloat => (x as f64).to_bits(),
        IntToFloat => (x as i64 as f64).to_bits(),
        Saturate => d(x).clamp(0.0, 1.0).to_bits(),
        Ceil => d(x).ceil().to_bits(),
        Floor => d(x).floor().to_bits(),
        Round => d(x).round_ties_even().to_bits(),
        Fract => (d(x) - d(x).floor()).to_bits(),
        Trunc => d(x).trunc().to_bits(),
        Sqrt => d(x).sqrt().to_bits(),
        InverseSqrt => (1.0 / d(x).sqrt()).to_bits(),
        Cos => d(x).cos().to_bits(),
        Cosh => d(x).cosh().to_bits(),
        Sin => d(x).sin().to_bits(),
        Sinh => d(x).sinh().to_bits(),
        Tan => d(x).tan().to_bits(),
        Tanh => d(x).tanh().to_bits(),
        Acos => d(x).acos().to_bits(),
        Asin => d(x).asin().to_bits(),
        Atan => d(x).atan().to_bits(),
        Asinh => d(x).asinh().to_bits(),
        Acosh => d(x).acosh().to_bits(),
        Atanh => d(x).atanh().to_bits(),
        Radians => d(x).to_radians().to_bits(),
        Degrees => d(x).to_degrees().to_bits(),
        Exp => d(x).exp().to_bits(),
        Exp2 => d(x).exp2().to_bits(),
        Log => d(x).ln().to_bits(),
        Log2 => d(x).log2().to_bits(),
        CountTrailingZeros => u64::from(x.trailing_zeros()),
        CountLeadingZeros => u64::from(x.leading_zeros()),
        CountOneBits => u64::from(x.count_ones()),
        ReverseBits => x.reverse_bits(),
        FirstTrailingBit => if x == 0 { !0 } else { u64::from(x.trailing_zeros()) },
        FirstLeadingBitUint => 63_u64.wrapping_sub(u64::from(x.leading_zeros())),
        FirstLeadingBitInt => 63_u64.wrapping_sub(u64::from((x ^ (x as i64 >> 63) as u64).leading_zeros())),
    }
}

operations! {
    /// From two wide words.
    WideBinary([x, y]: [u64; 2]) -> u64 {
        AddInt => x.wrapping_add(y),
        SubInt => x.wrapping_sub(y),
        MulInt => x.wrapping_mul(y),
        DivUint => x.checked_div(y).unwrap_or(x),
        RemUint => x.checked_rem(y).unwrap_or(0),
        DivInt => if y == 0 { x } else { (x as i64).wrapping_div(y as i64) as u64 },
        RemInt => if y == 0 { 0 } else { (x as i64).wrapping_rem(y as i64) as u64 },
        And => x & y,
        Or => x | y,
        Xor => x ^ y,
        Shl => x.wrapping_shl(y as u32),
        ShrUint => x.wrapping_shr(y as u32),
        ShrInt => (x as i64).wrapping_shr(y as u32) as u64,
        MinUint => x.min(y),
        MaxUint => x.max(y),
        MinInt => (x as i64).min(y as i64) as u64,
        MaxInt => (x as i64).max(y as i64) as u64,
        AddFloat => (d(x) + d(y)).to_bits(),
        SubFloat => (d(x) - d(y)).to_bits(),
        MulFloat => (d(x) * d(y)).to_bits(),
        DivFloat => (d(x) / d(y)).to_bits(),
        RemFloat => (d(x) % d(y)).to_bits(),
        MinFloat => d(x).min(d(y)).to_bits(),
        MaxFloat => d(x).max(d(y)).to_bits(),
        Atan2 => d(x).atan2(d(y)).to_bits(),
        Pow => d(x).powf(d(y)).to_bits(),
        Step => f64::from(u8::from(d(x) <= d(y))).to_bits(),
        Ldexp => ldexp_wide(d(x), y as i64 as i32).to_bits(),
    }
}

operations! {
    /// A bool from two wide words.
    WideCompare([x, y]: [u64; 2]) -> u32 {
        Equal => u32::from(x == y),
        NotEqual => u32::from(x != y),
        LessUint => u32::from(x < y),
        LessEqualUint => u32::from(x <= y),
        LessInt => u32::from((x as i64) < y as i64),
        LessEqualInt => u32::from(x as i64 <= y as i64),
        EqualFloat => u32::from(d(x) == d(y)),
        NotEqualFloat => u32::from(d(x) != d(y)),
        LessFloat => u32::from(d(x) < d(y)),
        LessEqualFloat => u32::from(d(x) <= d(y)),
    }
}

operations! {
    /// A wide word from a word.
    Widen([x]: [u32; 1]) -> u64 {
        UintToInt => u64::from(x),
        IntToInt => x as i32 as u64,
        FloatToUint => f(x).clamp(0.0, MOST_U64) as u64,
        FloatToInt => f(x).clamp(i64::MIN as f32, MOST_I64) as i64 as u64,
        UintToFloat => f64::from(x).to_bits(),
        IntToFloat => f64::from(x as i32).to_bits(),
        FloatToFloat => f64::from(f(x)).to_bits(),
    }
}

operations! {
    /// A word from a wide word.
    Narrow([x]: [u64; 1]) -> u32 {
        IntToInt => x as u32,
        IntToBool => u32::from(x != 0),
        UintToFloat => (x as f32).to_bits(),
        IntToFloat => (x as i64 as f32).to_bits(),
        FloatToUint => d(x) as u32,
        FloatToInt => d(x) as i32 as u32,
        FloatToFloat => (d(x) as f32).to_bits(),
        FloatToBool => u32::from(d(x) != 0.0),
    }
}

fn dot4(x: u32, y: u32, byte: impl Fn(u32, u32) -> u32) -> u32 {
    (0..4).fold(0, |sum: u32, i| sum.wrapping_add(byte(x, i).wrapping_mul(byte(y, i))))
}

/// WGSL clamps both, so that the bits lie within the word.
fn bit_mask(offset: u32, count: u32) -> u32 {
    let offset = offset.min(32);
    let count = count.min(32 - offset);
    let ones = 1_u32.checked_shl(count).map_or(!0, |power| power.wrapping_sub(1));
    ones.checked_shl(offset).unwrap_or(0)
}

fn extract_uint(x: u32, offset: u32, count: u32) -> u32 {
    (x & bit_mask(offset, count)).checked_shr(offset).unwrap_or(0)
}

fn extract_int(x: u32, offset: u32, count: u32) -> u32 {
    let count = count.min(32 - offset.min(32));
    if count == 0 { 0 } else { ((x << (32 - count - offset)) as i32 >> (32 - count)) as u32 }
}

fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A fraction of at least a half and below one, and the power of two that it is multiplied by.
fn frexp(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // As a double every f32 is normal.
    let bits = f64::from(x).to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52) as f32, exponent)
}

/// In steps, whose powers of two are finite.
fn ldexp_wide(x: f64, exponent: i32) -> f64 {
    let exponent = exponent.clamp(-2200, 2200);
    let third = exponent / 3;
    x * 2_f64.powi(third) * 2_f64.powi(third) * 2_f64.powi(exponent - 2 * third)
}

/// The nearest f16, of two equally near ones the even.
pub(super) fn float_to_half(x: f32) -> u16 {
    let sign = (x.to_bits() >> 16 & 0x8000) as u16;
    let x = x.abs();
    let magnitude = if x.is_nan() {
        0x7e00
    } else if x >= 65520.0 {
        0x7c00
    } else if x < 6.103_515_6e-5 {
        // Subnormal: a whole number of 2^-24.
        (x * 16_777_216.0).round_ties_even() as u16
    } else {
        let bits = x.to_bits();
        // What is cut off is 13 bits long; half of it, less one where the last bit that stays is even, rounds.
        ((bits + 0xfff + (bits >> 13 & 1) - (112 << 23)) >> 13) as u16
    };
    sign | magnitude
}

fn half_to_float(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = u32::from(bits & 0x3ff);
    sign * match u32::from(bits >> 10 & 0x1f) {
        0 => fraction as f32 / 16_777_216.0,
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        exponent => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    }
}

pub(crate) fn round_to_half(x: f32) -> f32 {
    half_to_float(float_to_half(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_to_a_float_and_back() {
        for bits in 0..=u16::MAX {
            let float = half_to_float(bits);
            if float.is_nan() {
                assert!(half_to_float(float_to_half(float)).is_nan());
            } else {
                assert_eq!(float_to_half(float), bits);
            }
        }
        for (float, half) in [(1.0, 0x3c00), (65519.9, 0x7bff), (65520.0, 0x7c00), (-2.0, 0xc000), (5.960_464_5e-8, 1)]
        {
            assert_eq!(float_to_half(float), half);
        }
        // Between two halves: to the even one.
        assert_eq!(float_to_half(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(float_to_half(1.0 + 3.0 / 2048.0), 0x3c02);
    }

    #[test]
    fn integers_at_their_edges() {
        let min = i32::MIN as u32;
        assert_eq!(Binary::DivInt.lane([min, -1_i32 as u32]), min);
        assert_eq!(Binary::RemInt.lane([min, -1_i32 as u32]), 0);
        assert_eq!(Binary::DivInt.lane([7, 0]), 7);
        assert_eq!(Binary::RemInt.lane([7, 0]), 0);
        assert_eq!(Binary::DivUint.lane([7, 0]), 7);
        assert_eq!(Binary::RemUint.lane([7, 0]), 0);
        assert_eq!(Binary::Shl.lane([1, 33]), 2);
        assert_eq!(Binary::ShrInt.lane([min, 63]), !0);
        assert_eq!(Unary::FirstLeadingBitInt.lane([!0]), !0);
        assert_eq!(Unary::FirstLeadingBitInt.lane([-3_i32 as u32]), 1);
        assert_eq!(Unary::FirstLeadingBitUint.lane([0]), !0);
        assert_eq!(Unary::FirstLeadingBitUint.lane([1]), 0);
        assert_eq!(Ternary::ExtractUint.lane([0xabcd_1234, 4, 8]), 0x23);
        assert_eq!(Ternary::ExtractInt.lane([0xf0, 4, 4]), !0);
        assert_eq!(Ternary::ExtractInt.lane([5, 32, 4]), 0);
        assert_eq!(Ternary::ExtractUint.lane([5, 0, 32]), 5);
        assert_eq!(Binary::BitMask.lane([28, 9]), 0xf000_0000);
        assert_eq!(WideBinary::DivInt.lane([1 << 63, !0]), 1 << 63);
    }

    #[test]
    fn floats_out_of_range_become_the_last_integer_that_is_a_float() {
        let (float, double) = (3e38_f32.to_bits(), 3e38_f64.to_bits());
        assert_eq!(Unary::FloatToUint.lane([float]), u32::MAX << 8);
        assert_eq!(Unary::FloatToInt.lane([float]), i32::MAX as u32 >> 7 << 7);
        assert_eq!(Unary::FloatToInt.lane([float | 1 << 31]), i32::MIN as u32);
        assert_eq!(Unary::FloatToUint.lane([float | 1 << 31]), 0);
        assert_eq!(Widen::FloatToUint.lane([float]), u64::MAX << 40);
        assert_eq!(Widen::FloatToInt.lane([float]), i64::MAX as u64 >> 39 << 39);
        assert_eq!(WideUnary::FloatToUint.lane([double]), u64::MAX << 11);
        assert_eq!(WideUnary::FloatToInt.lane([double]), i64::MAX as u64 >> 10 << 10);
        // A double has every integer of 32 bits.
        assert_eq!(Narrow::FloatToUint.lane([double]), u32::MAX);
        assert_eq!(Narrow::FloatToInt.lane([double]), i32::MAX as u32);
        assert_eq!(Unary::FloatToInt.lane([f32::NAN.to_bits()]), 0);
    }

    #[test]
    fn large_numbers_have_inverse_hyperbolic_functions() {
        for op in [Unary::Asinh, Unary::Acosh] {
            // The logarithm of twice the number.
            assert!((f(op.lane([3e38_f32.to_bits()])) - 2.0_f32.ln() - 3e38_f32.ln()).abs() < 1e-4);
        }
    }

    #[test]
    fn frexp_takes_apart_what_ldexp_puts_together() {
        for x in [1.0, 0.5, 0.75, -3.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.0] {
            let (fraction, exponent) = frexp(x);
            assert!(x == 0.0 || (0.5..1.0).contains(&fraction.abs()), "{x}: {fraction}");
            assert_eq!(f(Binary::Ldexp.lane([fraction.to_bits(), exponent as u32])), x);
        }
    }
}
