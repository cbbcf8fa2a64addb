//! Arithmetic of scalars, vectors and matrices, out of instructions for scalars.

use naga::{BinaryOperator, Expression, Handle, MathFunction as Math, Scalar, ScalarKind, TypeInner, UnaryOperator};

use super::layout;
use super::lower::{Lowerer, Result};
use super::{Op, Reg};
use crate::simt::operation::{Binary, Narrow, Ternary, Unary, WideBinary, WideCompare, WideUnary, Widen};

/// Arithmetic that every number type has.
#[derive(Clone, Copy, Debug)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
}

/// Picks an operation by the kind of number.
macro_rules! by_kind {
    ($kind:expr, $operation:ident, $float:ident, $int:ident, $uint:ident) => {
        match $kind {
            ScalarKind::Float => $operation::$float,
            ScalarKind::Sint => $operation::$int,
            _ => $operation::$uint,
        }
    };
}

/// Picks an operation by the kind of number, of words or of wide words alike.
macro_rules! arithmetic {
    ($operation:ident, $op:expr, $kind:expr) => {
        match $op {
            Arithmetic::Add => by_kind!($kind, $operation, AddFloat, AddInt, AddInt),
            Arithmetic::Sub => by_kind!($kind, $operation, SubFloat, SubInt, SubInt),
            Arithmetic::Mul => by_kind!($kind, $operation, MulFloat, MulInt, MulInt),
            Arithmetic::Div => by_kind!($kind, $operation, DivFloat, DivInt, DivUint),
            Arithmetic::Rem => by_kind!($kind, $operation, RemFloat, RemInt, RemUint),
            Arithmetic::Min => by_kind!($kind, $operation, MinFloat, MinInt, MinUint),
            Arithmetic::Max => by_kind!($kind, $operation, MaxFloat, MaxInt, MaxUint),
        }
    };
}

macro_rules! comparison {
    ($operation:ident, $op:expr, $kind:expr) => {
        match $op {
            Comparison::Equal => by_kind!($kind, $operation, EqualFloat, Equal, Equal),
            Comparison::NotEqual => by_kind!($kind, $operation, NotEqualFloat, NotEqual, NotEqual),
            Comparison::Less => by_kind!($kind, $operation, LessFloat, LessInt, LessUint),
            Comparison::LessEqual => by_kind!($kind, $operation, LessEqualFloat, LessEqualInt, LessEqualUint),
        }
    };
}

impl Lowerer<'_> {
    /// One operation on every component.
    pub(super) fn map(&mut self, op: Unary, rows: &[Reg]) -> Result<Vec<Reg>> {
        let first = self.allocate(rows.len() as u32)?;
        for (to, x) in (first..).zip(rows) {
            self.emit(Op::Unary { op, to, x: *x });
        }
        Ok((first..first + rows.len() as Reg).collect())
    }

    /// As [`map`](Self::map), on components that are words or wide words.
    fn map_any(&mut self, scalar: Scalar, narrow: Unary, wide: WideUnary, rows: &[Reg]) -> Result<Vec<Reg>> {
        if scalar.width != 8 {
            let to = self.map(narrow, rows)?;
            return self.rounded(scalar, to);
        }
        let first = self.allocate(rows.len() as u32)?;
        for (to, x) in (first..).zip(rows).step_by(2) {
            self.emit(Op::WideUnary { op: wide, to, x: *x });
        }
        Ok((first..first + rows.len() as Reg).collect())
    }

    /// One operation on every pair of components; a single one meets all of the other side's.
    fn zip(&mut self, op: Binary, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        let count = xs.len().max(ys.len());
        let first = self.allocate(count as u32)?;
        for i in 0..count {
            self.emit(Op::Binary { op, to: first + i as Reg, x: xs[i % xs.len()], y: ys[i % ys.len()] });
        }
        Ok((first..first + count as Reg).collect())
    }

    fn zip_wide(&mut self, op: WideBinary, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        let count = xs.len().max(ys.len());
        let first = self.allocate(count as u32)?;
        for i in (0..count).step_by(2) {
            self.emit(Op::WideBinary { op, to: first + i as Reg, x: xs[i % xs.len()], y: ys[i % ys.len()] });
        }
        Ok((first..first + count as Reg).collect())
    }

    /// As [`zip`](Self::zip), on floats that are words or wide words.
    fn zip_any(
        &mut self,
        scalar: Scalar,
        narrow: Binary,
        wide: WideBinary,
        xs: &[Reg],
        ys: &[Reg],
    ) -> Result<Vec<Reg>> {
        if scalar.width == 8 {
            return self.zip_wide(wide, xs, ys);
        }
        let to = self.zip(narrow, xs, ys)?;
        self.rounded(scalar, to)
    }

    fn zip3(&mut self, op: Ternary, xs: &[Reg], ys: &[Reg], zs: &[Reg]) -> Result<Vec<Reg>> {
        let count = xs.len().max(ys.len()).max(zs.len());
        let first = self.allocate(count as u32)?;
        for i in 0..count {
            let (x, y, z) = (xs[i % xs.len()], ys[i % ys.len()], zs[i % zs.len()]);
            self.emit(Op::Ternary { op, to: first + i as Reg, x, y, z });
        }
        Ok((first..first + count as Reg).collect())
    }

    /// An f16 is an f32 that is rounded after every operation, which gives the same as rounding once; i16 and u16 are an
    /// i32 and a u32 that keep their lower half.
    pub(super) fn rounded(&mut self, scalar: Scalar, rows: Vec<Reg>) -> Result<Vec<Reg>> {
        let op = match scalar {
            Scalar::F16 => Unary::RoundToHalf,
            Scalar::I16 => Unary::ToInt16,
            Scalar::U16 => Unary::ToUint16,
            _ => return Ok(rows),
        };
        for row in &rows {
            self.emit(Op::Unary { op, to: *row, x: *row });
        }
        Ok(rows)
    }

    /// The same bits as another type of the same width.
    pub(super) fn bit_cast(&mut self, from: Scalar, kind: ScalarKind, rows: Vec<Reg>) -> Result<Vec<Reg>> {
        if from.width != 2 || from.kind == kind {
            return Ok(rows);
        }
        match (from.kind, kind) {
            (ScalarKind::Float, ScalarKind::Sint) => {
                let halves = self.map(Unary::FloatToHalf, &rows)?;
                self.map(Unary::ToInt16, &halves)
            }
            (ScalarKind::Float, _) => self.map(Unary::FloatToHalf, &rows),
            (_, ScalarKind::Float) => self.map(Unary::HalfToFloat, &rows),
            (_, ScalarKind::Sint) => self.map(Unary::ToInt16, &rows),
            _ => self.map(Unary::ToUint16, &rows),
        }
    }

    /// Whole numbers from floats, which become the nearest that a type of 16 bits has.
    fn saturated(&mut self, to: Scalar, rows: Vec<Reg>) -> Result<Vec<Reg>> {
        match to {
            Scalar::I16 => {
                let (low, high) = ([self.word(i16::MIN as u32)], [self.word(i16::MAX as u32)]);
                let above = self.zip(Binary::MaxInt, &rows, &low)?;
                self.zip(Binary::MinInt, &above, &high)
            }
            Scalar::U16 => {
                let high = [self.word(u16::MAX.into())];
                self.zip(Binary::MinUint, &rows, &high)
            }
            _ => Ok(rows),
        }
    }

    fn arithmetic(&mut self, op: Arithmetic, scalar: Scalar, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        if scalar.width == 8 {
            return self.zip_wide(arithmetic!(WideBinary, op, scalar.kind), xs, ys);
        }
        let rows = self.zip(arithmetic!(Binary, op, scalar.kind), xs, ys)?;
        self.rounded(scalar, rows)
    }

    fn compare(&mut self, op: Comparison, scalar: Scalar, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        if scalar.width != 8 {
            return self.zip(comparison!(Binary, op, scalar.kind), xs, ys);
        }
        let op = comparison!(WideCompare, op, scalar.kind);
        let first = self.allocate(xs.len() as u32 / 2)?;
        for (i, to) in (0..xs.len()).step_by(2).zip(first..) {
            self.emit(Op::WideCompare { op, to, x: xs[i], y: ys[i] });
        }
        Ok((first..first + xs.len() as Reg / 2).collect())
    }

    /// Operations on bits that are alike for words and wide words.
    fn bits(&mut self, scalar: Scalar, narrow: Binary, wide: WideBinary, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        if scalar.width == 8 { self.zip_wide(wide, xs, ys) } else { self.zip(narrow, xs, ys) }
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, of: Handle<Expression>) -> Result<Vec<Reg>> {
        let scalar = layout::scalar(self.inner(of));
        let rows = self.rows(of)?;
        match op {
            UnaryOperator::LogicalNot => self.map(Unary::NotBool, &rows),
            UnaryOperator::BitwiseNot => self.map_any(scalar, Unary::Not, WideUnary::Not, &rows),
            UnaryOperator::Negate if scalar.kind == ScalarKind::Float => {
                self.map_any(scalar, Unary::NegFloat, WideUnary::NegFloat, &rows)
            }
            UnaryOperator::Negate => self.map_any(scalar, Unary::NegInt, WideUnary::NegInt, &rows),
        }
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Vec<Reg>> {
        let (l, r) = (self.inner(left), self.inner(right));
        let scalar = layout::scalar(l);
        let (xs, ys) = (self.rows(left)?, self.rows(right)?);
        match op {
            BinaryOperator::Add => self.arithmetic(Arithmetic::Add, scalar, &xs, &ys),
            BinaryOperator::Subtract => self.arithmetic(Arithmetic::Sub, scalar, &xs, &ys),
            BinaryOperator::Multiply => self.multiply(l, r, &xs, &ys),
            BinaryOperator::Divide => self.arithmetic(Arithmetic::Div, scalar, &xs, &ys),
            BinaryOperator::Modulo => self.arithmetic(Arithmetic::Rem, scalar, &xs, &ys),
            BinaryOperator::Equal => self.compare(Comparison::Equal, scalar, &xs, &ys),
            BinaryOperator::NotEqual => self.compare(Comparison::NotEqual, scalar, &xs, &ys),
            BinaryOperator::Less => self.compare(Comparison::Less, scalar, &xs, &ys),
            BinaryOperator::LessEqual => self.compare(Comparison::LessEqual, scalar, &xs, &ys),
            BinaryOperator::Greater => self.compare(Comparison::Less, scalar, &ys, &xs),
            BinaryOperator::GreaterEqual => self.compare(Comparison::LessEqual, scalar, &ys, &xs),
            BinaryOperator::And | BinaryOperator::LogicalAnd => {
                self.bits(scalar, Binary::And, WideBinary::And, &xs, &ys)
            }
            BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => {
                self.bits(scalar, Binary::Or, WideBinary::Or, &xs, &ys)
            }
            BinaryOperator::ExclusiveOr => self.bits(scalar, Binary::Xor, WideBinary::Xor, &xs, &ys),
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                let left = op == BinaryOperator::ShiftLeft;
                let signed = scalar.kind == ScalarKind::Sint;
                if scalar.width != 8 {
                    let right = if signed { Binary::ShrInt } else { Binary::ShrUint };
                    let op = if left { Binary::Shl } else { right };
                    let bits = match scalar.width {
                        2 => {
                            let most = self.word(15);
                            self.zip(Binary::And, &ys, &[most])?
                        }
                        _ => ys,
                    };
                    let shifted = self.zip(op, &xs, &bits)?;
                    return self.rounded(scalar, shifted);
                }
                // The number of bits is a word.
                let mut bits = Vec::new();
                for y in ys {
                    let to = self.allocate(2)?;
                    self.emit(Op::Copy { to, from: y, count: 1 });
                    bits.extend([to, to + 1]);
                }
                let right = if signed { WideBinary::ShrInt } else { WideBinary::ShrUint };
                self.zip_wide(if left { WideBinary::Shl } else { right }, &xs, &bits)
            }
        }
    }

    fn multiply(&mut self, l: &TypeInner, r: &TypeInner, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        let scalar = layout::scalar(l);
        let words = layout::scalar_words(scalar) as usize;
        match (l, r) {
            (TypeInner::Matrix { rows, .. }, TypeInner::Vector { .. } | TypeInner::Matrix { .. }) => {
                // A column of the result: the columns of the left side, weighted by those of the right.
                let height = *rows as usize * words;
                let inner = xs.len() / height;
                let mut all = Vec::new();
                for column in ys.chunks(inner * words) {
                    let mut sum: Option<Vec<Reg>> = None;
                    for (left, weight) in xs.chunks(height).zip(column.chunks(words)) {
                        let product = self.arithmetic(Arithmetic::Mul, scalar, left, weight)?;
                        sum = Some(match sum {
                            Some(sum) => self.arithmetic(Arithmetic::Add, scalar, &sum, &product)?,
                            None => product,
                        });
                    }
                    all.extend(sum.unwrap_or_default());
                }
                Ok(all)
            }
            (TypeInner::Vector { .. }, TypeInner::Matrix { .. }) => {
                let mut all = Vec::new();
                for column in ys.chunks(xs.len()) {
                    all.extend(self.dot(scalar, xs, column)?);
                }
                Ok(all)
            }
            _ => self.arithmetic(Arithmetic::Mul, scalar, xs, ys),
        }
    }

    fn dot(&mut self, scalar: Scalar, xs: &[Reg], ys: &[Reg]) -> Result<Vec<Reg>> {
        let words = layout::scalar_words(scalar) as usize;
        let products = self.arithmetic(Arithmetic::Mul, scalar, xs, ys)?;
        let mut sum = products[..words].to_vec();
        for product in products.chunks(words).skip(1) {
            sum = self.arithmetic(Arithmetic::Add, scalar, &sum, product)?;
        }
        Ok(sum)
    }

    fn length(&mut self, scalar: Scalar, xs: &[Reg]) -> Result<Vec<Reg>> {
        // The square of a number may overflow where its length does not.
        if xs.len() == layout::scalar_words(scalar) as usize {
            return self.map_any(scalar, Unary::AbsFloat, WideUnary::AbsFloat, xs);
        }
        let square = self.dot(scalar, xs, xs)?;
        self.map_any(scalar, Unary::Sqrt, WideUnary::Sqrt, &square)
    }

    /// A constant of a float type.
    fn number(&mut self, scalar: Scalar, value: f32) -> Vec<Reg> {
        if scalar.width == 8 { self.wide_word(f64::from(value).to_bits()).into() } else { vec![self.float(value)] }
    }

    pub(super) fn convert(&mut self, from: Scalar, to: Scalar, rows: &[Reg]) -> Result<Vec<Reg>> {
        use ScalarKind::{Bool, Float, Sint};
        if from == to {
            return Ok(rows.to_vec());
        }
        match (from.width == 8, to.width == 8) {
            (false, false) => match (from.kind, to.kind) {
                (Float, Float) => {
                    if to.width == 2 {
                        self.map(Unary::RoundToHalf, rows)
                    } else {
                        Ok(rows.to_vec())
                    }
                }
                (Float, Bool) => self.map(Unary::FloatToBool, rows),
                (Float, Sint) => {
                    let whole = self.map(Unary::FloatToInt, rows)?;
                    self.saturated(to, whole)
                }
                (Float, _) => {
                    let whole = self.map(Unary::FloatToUint, rows)?;
                    self.saturated(to, whole)
                }
                (kind, Float) => {
                    let op = match kind {
                        Bool => Unary::BoolToFloat,
                        Sint => Unary::IntToFloat,
                        _ => Unary::UintToFloat,
                    };
                    let floats = self.map(op, rows)?;
                    self.rounded(to, floats)
                }
                (_, Bool) => self.map(Unary::IntToBool, rows),
                (_, Sint) if to.width == 2 => self.map(Unary::ToInt16, rows),
                _ if to.width == 2 => self.map(Unary::ToUint16, rows),
                _ => Ok(rows.to_vec()),
            },
            (false, true) => {
                let op = match (from.kind, to.kind) {
                    (Float, Float) => Widen::FloatToFloat,
                    (Float, Sint) => Widen::FloatToInt,
                    (Float, _) => Widen::FloatToUint,
                    (Sint, Float) => Widen::IntToFloat,
                    (_, Float) => Widen::UintToFloat,
                    (Sint, _) => Widen::IntToInt,
                    _ => Widen::UintToInt,
                };
                let first = self.allocate(2 * rows.len() as u32)?;
                for (to, x) in (first..).step_by(2).zip(rows) {
                    self.emit(Op::Widen { op, to, x: *x });
                }
                Ok((first..first + 2 * rows.len() as Reg).collect())
            }
            (true, false) => {
                let op = match (from.kind, to.kind) {
                    (Float, Float) => Narrow::FloatToFloat,
                    (Float, Bool) => Narrow::FloatToBool,
                    (Float, Sint) => Narrow::FloatToInt,
                    (Float, _) => Narrow::FloatToUint,
                    (Sint, Float) => Narrow::IntToFloat,
                    (_, Float) => Narrow::UintToFloat,
                    (_, Bool) => Narrow::IntToBool,
                    _ => Narrow::IntToInt,
                };
                let first = self.allocate(rows.len() as u32 / 2)?;
                for (to, x) in (first..).zip(rows.iter().step_by(2)) {
                    self.emit(Op::Narrow { op, to, x: *x });
                }
                let converted = (first..first + rows.len() as Reg / 2).collect();
                match from.kind {
                    Float if to.kind != Float => self.saturated(to, converted),
                    _ => self.rounded(to, converted),
                }
            }
            (true, true) => {
                let op = match (from.kind, to.kind) {
                    (Float, Sint) => WideUnary::FloatToInt,
                    (Float, _) => WideUnary::FloatToUint,
                    (Sint, Float) => WideUnary::IntToFloat,
                    (_, Float) => WideUnary::UintToFloat,
                    _ => return Ok(rows.to_vec()),
                };
                self.map_any(to, Unary::Not, op, rows)
            }
        }
    }

    pub(super) fn math(
        &mut self,
        fun: Math,
        arg: Handle<Expression>,
        others: [Option<Handle<Expression>>; 3],
    ) -> Result<Vec<Reg>> {
        let inner = self.inner(arg);
        let s = layout::scalar(inner);
        let words = layout::scalar_words(s) as usize;
        let float = s.kind == ScalarKind::Float;
        let signed = s.kind == ScalarKind::Sint;
        let a = self.rows(arg)?;
        let [mut b, mut c, mut d] = [const { Vec::new() }; 3];
        for (rows, other) in [&mut b, &mut c, &mut d].into_iter().zip(others) {
            if let Some(other) = other {
                *rows = self.rows(other)?;
            }
        }
        if s.width == 2
            && !float
            && let Some(rows) = self.bits_of_16(fun, &a)?
        {
            return self.rounded(s, rows);
        }
        if let Some((narrow, wide)) = unary_function(fun, float, signed) {
            return match (s.width, wide) {
                (8, Some(wide)) => self.map_any(s, narrow, wide, &a),
                (8, None) => Err(format!("the function {fun:?} of 64-bit numbers is not simulated")),
                _ => {
                    let rows = self.map(narrow, &a)?;
                    self.rounded(s, rows)
                }
            };
        }
        match fun {
            Math::Abs | Math::Sign => return Ok(a),
            Math::Min => return self.arithmetic(Arithmetic::Min, s, &a, &b),
            Math::Max => return self.arithmetic(Arithmetic::Max, s, &a, &b),
            Math::Clamp => {
                let low = self.arithmetic(Arithmetic::Max, s, &a, &b)?;
                return self.arithmetic(Arithmetic::Min, s, &low, &c);
            }
            Math::Dot => return self.dot(s, &a, &b),
            Math::Length => return self.length(s, &a),
            Math::Distance => {
                let difference = self.arithmetic(Arithmetic::Sub, s, &a, &b)?;
                return self.length(s, &difference);
            }
            Math::Normalize => {
                let length = self.length(s, &a)?;
                return self.arithmetic(Arithmetic::Div, s, &a, &length);
            }
            Math::Cross => {
                let [a1, b2, a2, b1] = [(&a, 1), (&b, 2), (&a, 2), (&b, 1)].map(|(rows, by)| {
                    let mut turned = rows.clone();
                    turned.rotate_left(by * words);
                    turned
                });
                let plus = self.arithmetic(Arithmetic::Mul, s, &a1, &b2)?;
                let minus = self.arithmetic(Arithmetic::Mul, s, &a2, &b1)?;
                return self.arithmetic(Arithmetic::Sub, s, &plus, &minus);
            }
            Math::Mix => {
                let one = self.number(s, 1.0);
                let rest = self.arithmetic(Arithmetic::Sub, s, &one, &c)?;
                let left = self.arithmetic(Arithmetic::Mul, s, &a, &rest)?;
                let right = self.arithmetic(Arithmetic::Mul, s, &b, &c)?;
                return self.arithmetic(Arithmetic::Add, s, &left, &right);
            }
            Math::Reflect => {
                // a - 2 * dot(b, a) * b
                let two = self.number(s, 2.0);
                let dot = self.dot(s, &b, &a)?;
                let twice = self.arithmetic(Arithmetic::Mul, s, &two, &dot)?;
                let along = self.arithmetic(Arithmetic::Mul, s, &b, &twice)?;
                return self.arithmetic(Arithmetic::Sub, s, &a, &along);
            }
            Math::Transpose | Math::Determinant => return self.matrix(fun, inner, &a),
            Math::Fma if s.width == 8 => {
                let product = self.arithmetic(Arithmetic::Mul, s, &a, &b)?;
                return self.arithmetic(Arithmetic::Add, s, &product, &c);
            }
            Math::SmoothStep if s.width == 8 => {
                // t * t * (3 - 2 * t), where t goes from 0 at a to 1 at b
                let way = self.arithmetic(Arithmetic::Sub, s, &c, &a)?;
                let whole = self.arithmetic(Arithmetic::Sub, s, &b, &a)?;
                let part = self.arithmetic(Arithmetic::Div, s, &way, &whole)?;
                let t = self.map_any(s, Unary::Saturate, WideUnary::Saturate, &part)?;
                let (two, three) = (self.number(s, 2.0), self.number(s, 3.0));
                let twice = self.arithmetic(Arithmetic::Mul, s, &two, &t)?;
                let rest = self.arithmetic(Arithmetic::Sub, s, &three, &twice)?;
                let square = self.arithmetic(Arithmetic::Mul, s, &t, &t)?;
                return self.arithmetic(Arithmetic::Mul, s, &square, &rest);
            }
            Math::Modf => {
                let whole = self.map_any(s, Unary::Trunc, WideUnary::Trunc, &a)?;
                let mut rows = self.arithmetic(Arithmetic::Sub, s, &a, &whole)?;
                rows.extend(whole);
                return Ok(rows);
            }
            Math::FaceForward => {
                // a where dot(b, c) is negative, -a elsewhere
                let dot = self.dot(s, &b, &c)?;
                let zero = self.number(s, 0.0);
                let negative = self.compare(Comparison::Less, s, &dot, &zero)?;
                let other = self.map_any(s, Unary::NegFloat, WideUnary::NegFloat, &a)?;
                return self.zip3(Ternary::Select, &negative, &a, &other);
            }
            Math::Refract => return self.refract(s, &a, &b, &c),
            Math::Atan2 => return self.zip_any(s, Binary::Atan2, WideBinary::Atan2, &a, &b),
            Math::Pow => return self.zip_any(s, Binary::Pow, WideBinary::Pow, &a, &b),
            Math::Step => return self.zip_any(s, Binary::Step, WideBinary::Step, &a, &b),
            Math::Ldexp => {
                let exponent = if s.width == 8 { self.convert(Scalar::I32, Scalar::I64, &b)? } else { b };
                return self.zip_any(s, Binary::Ldexp, WideBinary::Ldexp, &a, &exponent);
            }
            _ => {}
        }
        if s.width == 8 {
            return Err(format!("the function {fun:?} of 64-bit numbers is not simulated"));
        }
        let rows = match fun {
            Math::Dot4I8Packed => self.zip(Binary::Dot4Int, &a, &b)?,
            Math::Dot4U8Packed => self.zip(Binary::Dot4Uint, &a, &b)?,
            Math::Fma => self.zip3(Ternary::Fma, &a, &b, &c)?,
            Math::SmoothStep => self.zip3(Ternary::SmoothStep, &a, &b, &c)?,
            Math::ExtractBits => {
                if s.width == 2 {
                    // No more bits than there are.
                    let all = [self.word(16)];
                    b = self.zip(Binary::MinUint, &b, &all)?;
                    let rest = self.zip(Binary::SubInt, &all, &b)?;
                    c = self.zip(Binary::MinUint, &c, &rest)?;
                }
                self.zip3(if signed { Ternary::ExtractInt } else { Ternary::ExtractUint }, &a, &b, &c)?
            }
            Math::InsertBits => {
                let mask = self.zip(Binary::BitMask, &c, &d)?;
                let moved = self.zip(Binary::ShlAll, &b, &c)?;
                self.zip3(Ternary::BitSelect, &mask, &moved, &a)?
            }
            Math::Frexp => {
                let mut rows = self.map(Unary::FrexpFraction, &a)?;
                rows.extend(self.map(Unary::FrexpExponent, &a)?);
                return Ok(rows);
            }
            Math::Pack4x8snorm => return self.pack(Some(Unary::Snorm8), &a, 8),
            Math::Pack4x8unorm => return self.pack(Some(Unary::Unorm8), &a, 8),
            Math::Pack2x16snorm => return self.pack(Some(Unary::Snorm16), &a, 16),
            Math::Pack2x16unorm => return self.pack(Some(Unary::Unorm16), &a, 16),
            Math::Pack2x16float => return self.pack(Some(Unary::FloatToHalf), &a, 16),
            Math::Pack4xI8 | Math::Pack4xU8 => return self.pack(None, &a, 8),
            Math::Pack4xI8Clamp | Math::Pack4xU8Clamp => {
                let [low, high] = if fun == Math::Pack4xI8Clamp { [-128_i32 as u32, 127] } else { [0, 255] };
                let (low, high) = ([self.word(low)], [self.word(high)]);
                let above = self.arithmetic(Arithmetic::Max, s, &a, &low)?;
                let clamped = self.arithmetic(Arithmetic::Min, s, &above, &high)?;
                return self.pack(None, &clamped, 8);
            }
            Math::Unpack4x8snorm => return self.unpack(Some(Unary::FromSnorm8), Ternary::ExtractInt, a[0], 8),
            Math::Unpack4x8unorm => return self.unpack(Some(Unary::FromUnorm8), Ternary::ExtractUint, a[0], 8),
            Math::Unpack2x16snorm => return self.unpack(Some(Unary::FromSnorm16), Ternary::ExtractInt, a[0], 16),
            Math::Unpack2x16unorm => return self.unpack(Some(Unary::FromUnorm16), Ternary::ExtractUint, a[0], 16),
            Math::Unpack2x16float => return self.unpack(Some(Unary::HalfToFloat), Ternary::ExtractUint, a[0], 16),
            Math::Unpack4xI8 => return self.unpack(None, Ternary::ExtractInt, a[0], 8),
            Math::Unpack4xU8 => return self.unpack(None, Ternary::ExtractUint, a[0], 8),
            other => return Err(format!("the function {other:?} is not simulated")),
        };
        self.rounded(if float || s.width == 2 { s } else { Scalar::U32 }, rows)
    }

    /// Functions that count the bits of a number of 16.
    fn bits_of_16(&mut self, fun: Math, rows: &[Reg]) -> Result<Option<Vec<Reg>>> {
        let op = match fun {
            Math::CountTrailingZeros => Unary::CountTrailingZeros,
            Math::CountLeadingZeros => Unary::CountLeadingZeros,
            Math::CountOneBits => Unary::CountOneBits,
            Math::ReverseBits => Unary::ReverseBits,
            _ => return Ok(None),
        };
        let sixteen = [self.word(16)];
        let rows = self.map(Unary::ToUint16, rows)?;
        let rows = self.map(op, &rows)?;
        Ok(Some(match fun {
            Math::CountTrailingZeros => self.zip(Binary::MinUint, &rows, &sixteen)?,
            Math::CountLeadingZeros => self.zip(Binary::SubInt, &rows, &sixteen)?,
            Math::ReverseBits => self.zip(Binary::ShrUint, &rows, &sixteen)?,
            _ => rows,
        }))
    }

    fn matrix(&mut self, fun: Math, inner: &TypeInner, a: &[Reg]) -> Result<Vec<Reg>> {
        let TypeInner::Matrix { columns, rows, scalar } = *inner else {
            return Err(format!("the function {fun:?} of what is no matrix"));
        };
        let words = layout::scalar_words(scalar) as usize;
        let height = rows as usize;
        let at = |column: usize, row: usize| a[(column * height + row) * words..][..words].to_vec();
        if fun == Math::Transpose {
            return Ok((0..height)
                .flat_map(|row| (0..columns as usize).flat_map(move |column| at(column, row)))
                .collect());
        }
        let all: Vec<usize> = (0..height).collect();
        self.determinant(scalar, &at, 0, &all)
    }

    /// Of the columns from one on, without the rows that are used up; expanded along the column.
    fn determinant(
        &mut self,
        scalar: Scalar,
        at: &dyn Fn(usize, usize) -> Vec<Reg>,
        column: usize,
        rows: &[usize],
    ) -> Result<Vec<Reg>> {
        let mut sum: Option<Vec<Reg>> = None;
        for (i, row) in rows.iter().enumerate() {
            let mut term = at(column, *row);
            if rows.len() > 1 {
                let rest: Vec<usize> = rows.iter().copied().filter(|other| other != row).collect();
                let minor = self.determinant(scalar, at, column + 1, &rest)?;
                term = self.arithmetic(Arithmetic::Mul, scalar, &term, &minor)?;
            }
            sum = Some(match sum {
                Some(sum) if i % 2 == 1 => self.arithmetic(Arithmetic::Sub, scalar, &sum, &term)?,
                Some(sum) => self.arithmetic(Arithmetic::Add, scalar, &sum, &term)?,
                None => term,
            });
        }
        sum.ok_or_else(|| "a matrix has no rows".into())
    }

    /// WGSL: k = 1 - c * c * (1 - dot(b, a)^2); zero where k < 0, else c * a - (c * dot(b, a) + sqrt(k)) * b.
    fn refract(&mut self, s: Scalar, a: &[Reg], b: &[Reg], c: &[Reg]) -> Result<Vec<Reg>> {
        let (one, zero) = (self.number(s, 1.0), self.number(s, 0.0));
        let dot = self.dot(s, b, a)?;
        let square = self.arithmetic(Arithmetic::Mul, s, &dot, &dot)?;
        let rest = self.arithmetic(Arithmetic::Sub, s, &one, &square)?;
        let ratio = self.arithmetic(Arithmetic::Mul, s, c, c)?;
        let product = self.arithmetic(Arithmetic::Mul, s, &ratio, &rest)?;
        let k = self.arithmetic(Arithmetic::Sub, s, &one, &product)?;
        let total = self.compare(Comparison::Less, s, &k, &zero)?;
        let root = self.map_any(s, Unary::Sqrt, WideUnary::Sqrt, &k)?;
        let scaled = self.arithmetic(Arithmetic::Mul, s, c, &dot)?;
        let along = self.arithmetic(Arithmetic::Add, s, &scaled, &root)?;
        let across = self.arithmetic(Arithmetic::Mul, s, a, c)?;
        let down = self.arithmetic(Arithmetic::Mul, s, b, &along)?;
        let refracted = self.arithmetic(Arithmetic::Sub, s, &across, &down)?;
        self.zip3(Ternary::Select, &total, &zero, &refracted)
    }

    fn pack(&mut self, op: Option<Unary>, rows: &[Reg], bits: u32) -> Result<Vec<Reg>> {
        let rows = match op {
            Some(op) => self.map(op, rows)?,
            None => rows.to_vec(),
        };
        let mut word = vec![self.word(0)];
        for (i, row) in rows.iter().enumerate() {
            let at = self.word(i as u32 * bits);
            let ones = ((1_u32 << bits) - 1) << (i as u32 * bits);
            let mask = self.word(ones);
            let moved = self.zip(Binary::Shl, &[*row], &[at])?;
            word = self.zip3(Ternary::BitSelect, &[mask], &moved, &word)?;
        }
        Ok(word)
    }

    fn unpack(&mut self, op: Option<Unary>, extract: Ternary, word: Reg, bits: u32) -> Result<Vec<Reg>> {
        let count = self.word(bits);
        let at: Vec<Reg> = (0..32 / bits).map(|i| self.word(i * bits)).collect();
        let rows = self.zip3(extract, &[word], &at, &[count])?;
        match op {
            Some(op) => self.map(op, &rows),
            None => Ok(rows),
        }
    }
}

/// Functions of one argument, component by component, of words and of wide words.
fn unary_function(fun: Math, float: bool, signed: bool) -> Option<(Unary, Option<WideUnary>)> {
    macro_rules! both {
        ($op:ident) => {
            (Unary::$op, Some(WideUnary::$op))
        };
    }
    Some(match fun {
        Math::Abs if float => both!(AbsFloat),
        Math::Abs if signed => both!(AbsInt),
        Math::Sign if float => both!(SignFloat),
        Math::Sign if signed => both!(SignInt),
        Math::Saturate => both!(Saturate),
        Math::Ceil => both!(Ceil),
        Math::Floor => both!(Floor),
        Math::Round => both!(Round),
        Math::Fract => both!(Fract),
        Math::Trunc => both!(Trunc),
        Math::Sqrt => both!(Sqrt),
        Math::InverseSqrt => both!(InverseSqrt),
        Math::CountTrailingZeros => both!(CountTrailingZeros),
        Math::CountLeadingZeros => both!(CountLeadingZeros),
        Math::CountOneBits => both!(CountOneBits),
        Math::ReverseBits => both!(ReverseBits),
        Math::FirstTrailingBit => both!(FirstTrailingBit),
        Math::FirstLeadingBit if signed => both!(FirstLeadingBitInt),
        Math::FirstLeadingBit => both!(FirstLeadingBitUint),
        Math::Cos => both!(Cos),
        Math::Cosh => both!(Cosh),
        Math::Sin => both!(Sin),
        Math::Sinh => both!(Sinh),
        Math::Tan => both!(Tan),
        Math::Tanh => both!(Tanh),
        Math::Acos => both!(Acos),
        Math::Asin => both!(Asin),
        Math::Atan => both!(Atan),
        Math::Asinh => both!(Asinh),
        Math::Acosh => both!(Acosh),
        Math::Atanh => both!(Atanh),
        Math::Radians => both!(Radians),
        Math::Degrees => both!(Degrees),
        Math::Exp => both!(Exp),
        Math::Exp2 => both!(Exp2),
        Math::Log => both!(Log),
        Math::Log2 => both!(Log2),
        Math::QuantizeToF16 => (Unary::RoundToHalf, None),
        _ => return None,
    })
}
