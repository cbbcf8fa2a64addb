//! Operators as the table has them: host and device side in one object, with items that tell wrong orders apart.

use std::fmt::Debug;

use wavelane::{Element, Op, Operator};

use crate::harness::Rng;
use crate::oracle::Builtin;

/// An element that results can be compared of.
pub(crate) trait Item: Element + Debug {
    /// The same bits, or both NaN.
    fn same(&self, other: &Self) -> bool {
        bytemuck::bytes_of(self) == bytemuck::bytes_of(other)
    }
}

impl Item for u32 {}
impl Item for i32 {}
impl Item for u64 {}
impl Item for i64 {}
impl Item for [u32; 2] {}
impl Item for [u32; 4] {}
impl Item for f32 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
    }
}
impl Item for [f32; 2] {
    fn same(&self, other: &Self) -> bool {
        self.iter().zip(other).all(|(a, b)| a.same(b))
    }
}

/// A function x -> a x + b of words that wrap. Composing them does not commute.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Affine {
    pub(crate) a: u32,
    pub(crate) b: u32,
}
wavelane::element!(Affine { a: u32, b: u32 });
impl Item for Affine {}

/// Count, sum and sum of squares: 12 bytes, of which no power of two is a multiple.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Moments {
    pub(crate) count: u32,
    pub(crate) sum: f32,
    pub(crate) squares: f32,
}
wavelane::element!(Moments { count: u32, sum: f32, squares: f32 });
impl Item for Moments {}

/// A rectangle, two fields that are vectors.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Bounds {
    pub(crate) low: [f32; 2],
    pub(crate) high: [f32; 2],
}
wavelane::element!(Bounds { low: [f32; 2], high: [f32; 2] });
impl Item for Bounds {}

/// Sequences repeat after so many items, a prime: making millions takes long without optimisation.
const PERIOD: usize = 65_521;

/// An operator on both sides.
pub(crate) struct Algebra<T: Item> {
    pub(crate) name: String,
    pub(crate) operator: Operator<T>,
    pub(crate) identity: T,
    pub(crate) combine: Box<dyn Fn(T, T) -> T + Send + Sync>,
    sample: fn(&mut Rng, usize) -> T,
}

impl<T: Item> Algebra<T> {
    /// The first items of this algebra's sequence: the same ones on every call.
    pub(crate) fn items(&self, count: usize) -> Vec<T> {
        let mut rng = Rng::new(self.name.bytes().map(u64::from).sum());
        let mut items: Vec<T> = (0..count.min(PERIOD)).map(|i| (self.sample)(&mut rng, i)).collect();
        while items.len() < count {
            items.extend_from_within(..PERIOD.min(count - items.len()));
        }
        items
    }

    fn wgsl(name: &str, text: &str, identity: T, combine: fn(T, T) -> T, sample: fn(&mut Rng, usize) -> T) -> Self {
        Self {
            name: name.into(),
            operator: Operator::wgsl(text).expect("the table's operators are valid"),
            identity,
            combine: Box::new(combine),
            sample,
        }
    }

    /// The same operator, said to commute.
    pub(crate) fn commutative(mut self) -> Self {
        self.operator = self.operator.commutative();
        self.name += "_commutative";
        self
    }
}

/// Items for the built-in operators that keep results telling: products that do not vanish, sums of floats that are
/// exact whatever their order.
pub(crate) trait Sample: Builtin + Item {
    fn sample(op: Op, rng: &mut Rng, i: usize) -> Self;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Sample for $ty {
            fn sample(op: Op, rng: &mut Rng, _: usize) -> Self {
                let word = rng.next() as $ty;
                let rare_bit = if rng.below(64) == 0 { 1 << rng.below($ty::BITS) } else { 0 };
                match op {
                    Op::Mul => word | 1,
                    Op::And => !rare_bit,
                    Op::Or => rare_bit,
                    _ => word,
                }
            }
        }
    )*};
}

integers! { u32 i32 u64 i64 }

impl Sample for f32 {
    fn sample(op: Op, rng: &mut Rng, i: usize) -> Self {
        match op {
            // A million of these stay below 2^24.
            Op::Add => rng.below(17) as f32 - 8.0,
            // Now and then a two, next time a half: their product stays near one in any order of strides.
            Op::Mul => match (i % 997, i / 997 % 2) {
                (0, 0) => 2.0,
                (0, _) => 0.5,
                _ => {
                    if rng.below(2) == 0 {
                        1.0
                    } else {
                        -1.0
                    }
                }
            },
            // Any bits: infinities, both zeros, subnormal numbers and NaN among them.
            _ => match rng.below(16) {
                0 => f32::NAN,
                1 => -0.0,
                2 => 0.0,
                3 => f32::from_bits(rng.next() as u32 & 0x807f_ffff),
                4 if rng.below(64) == 0 => f32::INFINITY,
                5 if rng.below(64) == 0 => f32::NEG_INFINITY,
                _ => f32::from_bits(rng.next() as u32),
            },
        }
    }
}

impl<T: Sample, const N: usize> Sample for [T; N]
where
    [T; N]: Item,
{
    fn sample(op: Op, rng: &mut Rng, i: usize) -> Self {
        std::array::from_fn(|_| T::sample(op, rng, i))
    }
}

/// A built-in operator.
pub(crate) fn builtin<T: Sample>(op: Op) -> Algebra<T> {
    let sample: fn(&mut Rng, usize) -> T = match op {
        Op::Add => |rng, i| T::sample(Op::Add, rng, i),
        Op::Mul => |rng, i| T::sample(Op::Mul, rng, i),
        Op::Min => |rng, i| T::sample(Op::Min, rng, i),
        Op::Max => |rng, i| T::sample(Op::Max, rng, i),
        Op::And => |rng, i| T::sample(Op::And, rng, i),
        Op::Or => |rng, i| T::sample(Op::Or, rng, i),
        Op::Xor => |rng, i| T::sample(Op::Xor, rng, i),
    };
    Algebra {
        name: format!("{}/{}", op.name(), T::TYPE.ident()),
        operator: op.into(),
        identity: T::identity(op),
        combine: Box::new(move |a, b| T::combine(op, a, b)),
        sample,
    }
}

/// First f, then g: the order shows in every result.
pub(crate) fn affine() -> Algebra<Affine> {
    Algebra::wgsl(
        "affine",
        "fn identity() -> Affine { return Affine(1u, 0u); }
         fn combine(f: Affine, g: Affine) -> Affine { return Affine(g.a * f.a, g.a * f.b + g.b); }",
        Affine { a: 1, b: 0 },
        |f, g| Affine { a: g.a.wrapping_mul(f.a), b: g.a.wrapping_mul(f.b).wrapping_add(g.b) },
        |rng, _| Affine { a: rng.next() as u32 | 1, b: rng.next() as u32 },
    )
}

/// Products of 2 x 2 matrices over a vector of four.
pub(crate) fn matrix() -> Algebra<[u32; 4]> {
    Algebra::wgsl(
        "matrix",
        "fn identity() -> vec4<u32> { return vec4<u32>(1u, 0u, 0u, 1u); }
         fn combine(m: vec4<u32>, n: vec4<u32>) -> vec4<u32> { return m.xxzz * n.xyxy + m.yyww * n.zwzw; }",
        [1, 0, 0, 1],
        |m, n| {
            let dot = |a: u32, b: u32, c: u32, d: u32| a.wrapping_mul(b).wrapping_add(c.wrapping_mul(d));
            [
                dot(m[0], n[0], m[1], n[2]),
                dot(m[0], n[1], m[1], n[3]),
                dot(m[2], n[0], m[3], n[2]),
                dot(m[2], n[1], m[3], n[3]),
            ]
        },
        // Triangular ones of determinant one: products never collapse.
        |rng, _| match rng.below(2) {
            0 => [1, rng.next() as u32, 0, 1],
            _ => [1, 0, rng.next() as u32, 1],
        },
    )
}

/// Sums field by field, of fields with different types.
pub(crate) fn moments() -> Algebra<Moments> {
    Algebra::wgsl(
        "moments",
        "fn identity() -> Moments { return Moments(0u, 0.0, 0.0); }
         fn combine(a: Moments, b: Moments) -> Moments {
           return Moments(a.count + b.count, a.sum + b.sum, a.squares + b.squares);
         }",
        Moments { count: 0, sum: 0.0, squares: 0.0 },
        |a, b| Moments { count: a.count + b.count, sum: a.sum + b.sum, squares: a.squares + b.squares },
        |rng, _| {
            // The squares of 16 million items add up to less than 2^24: exact in any order.
            let x = rng.below(3) as f32 - 1.0;
            Moments { count: 1, sum: x, squares: x * x }
        },
    )
}

/// The smallest rectangle around two.
pub(crate) fn bounds() -> Algebra<Bounds> {
    Algebra::wgsl(
        "bounds",
        "fn identity() -> Bounds { return Bounds(vec2<f32>(1e30), vec2<f32>(-1e30)); }
         fn combine(a: Bounds, b: Bounds) -> Bounds { return Bounds(min(a.low, b.low), max(a.high, b.high)); }",
        Bounds { low: [1e30; 2], high: [-1e30; 2] },
        |a, b| Bounds {
            low: [a.low[0].min(b.low[0]), a.low[1].min(b.low[1])],
            high: [a.high[0].max(b.high[0]), a.high[1].max(b.high[1])],
        },
        |rng, i| {
            // Wider and wider, so that late items show.
            let mut at = || (rng.below(1000) as f32 - 500.0) * (1.0 + i as f32);
            let low = [at(), at()];
            Bounds { low, high: [low[0] + 1.0, low[1] + 2.0] }
        },
    )
}

/// Greatest common divisor: text with a loop, which runs in a checked module.
pub(crate) fn gcd() -> Algebra<u32> {
    Algebra::wgsl(
        "gcd",
        "fn identity() -> u32 { return 0u; }
         fn combine(a: u32, b: u32) -> u32 {
           var x = a;
           var y = b;
           while y != 0u {
             let r = x % y;
             x = y;
             y = r;
           }
           return x;
         }",
        0,
        |mut x, mut y| {
            while y != 0 {
                (x, y) = (y, x % y);
            }
            x
        },
        // Fewer and fewer factors as the sequence goes on.
        |rng, i| [2 * 3 * 5 * 7 * 11 * 13u32, 2 * 3 * 5 * 7, 2 * 3, 2][(i / 700).min(3)] * (1 + rng.below(97)),
    )
}

/// The first of two that is not zero: associative, does not commute, and keeps most items out of the result.
pub(crate) fn first_nonzero() -> Algebra<u32> {
    Algebra::wgsl(
        "first_nonzero",
        "fn identity() -> u32 { return 0u; }
         fn combine(a: u32, b: u32) -> u32 {
           if a != 0u {
             return a;
           }
           return b;
         }",
        0,
        |a, b| if a != 0 { a } else { b },
        |rng, i| if i < 5 { 0 } else { rng.next() as u32 },
    )
}

/// The last of two that is not zero: prefixes change with every item.
pub(crate) fn last_nonzero() -> Algebra<u32> {
    Algebra::wgsl(
        "last_nonzero",
        "fn identity() -> u32 { return 0u; }
         fn combine(a: u32, b: u32) -> u32 { return select(b, a, b == 0u); }",
        0,
        |a, b| if b == 0 { a } else { b },
        |rng, _| if rng.below(3) == 0 { rng.next() as u32 } else { 0 },
    )
}
