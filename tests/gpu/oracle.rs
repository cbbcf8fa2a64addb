//! What the primitives compute, written from their definitions: one item after another, in order.

use wavelane::Op;

/// The items combined in order, from the identity on.
pub(crate) fn reduce<T: Copy>(identity: T, combine: impl Fn(T, T) -> T, items: &[T]) -> T {
    items.iter().fold(identity, |all, item| combine(all, *item))
}

/// Item i combines `first` and the items 0 to i.
pub(crate) fn scan_inclusive<T: Copy>(first: T, combine: impl Fn(T, T) -> T, items: &[T]) -> Vec<T> {
    items
        .iter()
        .scan(first, |all, item| {
            *all = combine(*all, *item);
            Some(*all)
        })
        .collect()
}

/// Item i combines `first` and the items 0 to i - 1.
pub(crate) fn scan_exclusive<T: Copy>(first: T, combine: impl Fn(T, T) -> T, items: &[T]) -> Vec<T> {
    items
        .iter()
        .scan(first, |all, item| {
            let before = *all;
            *all = combine(before, *item);
            Some(before)
        })
        .collect()
}

/// The items that are kept, in their order.
pub(crate) fn select<T: Copy>(keep: impl Fn(T, u32) -> bool, items: &[T]) -> Vec<T> {
    (0..).zip(items).filter(|(i, item)| keep(**item, *i)).map(|(_, item)| *item).collect()
}

/// The dispatch arguments for `items` items: x workgroups, folded into y past 65,535.
pub(crate) fn dispatch_args(items: u32, items_per_workgroup: u32) -> [u32; 3] {
    match items.div_ceil(items_per_workgroup) {
        0 => [0, 0, 1],
        groups @ ..=65_535 => [groups, 1, 1],
        groups => [65_535, groups.div_ceil(65_535), 1],
    }
}

/// The smaller, as `f32::min` has it, with -0 below +0.
pub(crate) fn f32_min(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

/// The larger, as `f32::max` has it, with -0 below +0.
pub(crate) fn f32_max(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        _ => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

/// The built-in operators, from their definitions.
pub(crate) trait Builtin: Copy {
    /// `a op b`.
    fn combine(op: Op, a: Self, b: Self) -> Self;
    /// What leaves the other operand as it is.
    fn identity(op: Op) -> Self;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Builtin for $ty {
            fn combine(op: Op, a: Self, b: Self) -> Self {
                match op {
                    Op::Add => a.wrapping_add(b),
                    Op::Mul => a.wrapping_mul(b),
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                }
            }

            fn identity(op: Op) -> Self {
                match op {
                    Op::Add | Op::Or | Op::Xor => 0,
                    Op::Mul => 1,
                    Op::Min => $ty::MAX,
                    Op::Max => $ty::MIN,
                    Op::And => !0,
                }
            }
        }
    )*};
}

integers! { u32 i32 u64 i64 }

impl Builtin for f32 {
    fn combine(op: Op, a: Self, b: Self) -> Self {
        match op {
            Op::Add => a + b,
            Op::Mul => a * b,
            Op::Min => f32_min(a, b),
            Op::Max => f32_max(a, b),
            Op::And | Op::Or | Op::Xor => unreachable!("not defined for floats"),
        }
    }

    fn identity(op: Op) -> Self {
        match op {
            Op::Add => 0.0,
            Op::Mul => 1.0,
            Op::Min | Op::Max => f32::NAN,
            Op::And | Op::Or | Op::Xor => unreachable!("not defined for floats"),
        }
    }
}

impl<T: Builtin, const N: usize> Builtin for [T; N] {
    fn combine(op: Op, a: Self, b: Self) -> Self {
        std::array::from_fn(|i| T::combine(op, a[i], b[i]))
    }

    fn identity(op: Op) -> Self {
        [T::identity(op); N]
    }
}
