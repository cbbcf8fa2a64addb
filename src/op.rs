//! Operators: what a reduction or scan combines with.

use std::marker::PhantomData;

use crate::element::{Element, ElementType, Vector};
use crate::error::{Error, Result};
use crate::shader::user::UserText;

pub use Op::*;

/// The built-in operators. All are associative and commutative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Sum; integers wrap. The identity is 0.
    Add,
    /// Product; integers wrap. The identity is 1.
    Mul,
    /// Smallest. Floats follow `f32::min` (NaN only where all are NaN) with -0 below +0. The identity is the type's
    /// largest value, and NaN for floats, since that is what `f32::min` ignores.
    Min,
    /// Largest. Floats follow `f32::max` (NaN only where all are NaN) with -0 below +0. The identity is the type's
    /// smallest value, and NaN for floats.
    Max,
    /// Bits that all have; integers. The identity is all ones.
    And,
    /// Bits that any has; integers. The identity is 0.
    Or,
    /// Bits that an odd number have; integers. The identity is 0.
    Xor,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 7] = [Add, Mul, Min, Max, And, Or, Xor];

    /// Its name in files, identifiers and variants.
    pub const fn name(self) -> &'static str {
        match self {
            Add => "add",
            Mul => "mul",
            Min => "min",
            Max => "max",
            And => "and",
            Or => "or",
            Xor => "xor",
        }
    }

    /// Whether it is defined for elements of this type: the bitwise ones for integers only, none for structs.
    pub fn is_defined_for(self, element: &ElementType) -> bool {
        match element {
            ElementType::Vector(vector) => !(vector.scalar.is_float() && matches!(self, And | Or | Xor)),
            ElementType::Struct(_) => false,
        }
    }

    /// Whether the work is done on order-preserving keys: min and max of floats.
    pub(crate) fn uses_keys(self, vector: Vector) -> bool {
        vector.scalar.is_float() && matches!(self, Min | Max)
    }
}

/// What a plan combines elements of `T` with: a built-in [`Op`], or WGSL of one's own.
///
/// It must be associative. Combination keeps the order of the elements, so it need not commute.
#[derive(Clone, Debug)]
pub struct Operator<T> {
    pub(crate) kind: OperatorKind,
    pub(crate) name: String,
    element: PhantomData<fn() -> T>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OperatorKind {
    Builtin(Op),
    User { user: UserText, commutative: bool },
}

impl<T: Element> From<Op> for Operator<T> {
    fn from(op: Op) -> Self {
        Self { kind: OperatorKind::Builtin(op), name: op.name().into(), element: PhantomData }
    }
}

impl<T: Element> Operator<T> {
    /// An operator in WGSL: functions `identity() -> T` and `combine(a: T, b: T) -> T`, where T is the WGSL name of
    /// the element (`f32`, `vec2<u32>`, or the struct's name, which need not be declared again). Further functions,
    /// constants and types may stand beside them.
    ///
    /// ```
    /// use wavelane::Operator;
    /// let gcd = Operator::<u32>::wgsl(
    ///     "fn identity() -> u32 { return 0u; }
    ///      fn combine(a: u32, b: u32) -> u32 {
    ///        var x = a; var y = b;
    ///        while y != 0u { let r = x % y; x = y; y = r; }
    ///        return x;
    ///      }",
    /// )?;
    /// # Ok::<(), wavelane::Error>(())
    /// ```
    ///
    /// Text with loops, dynamic indices or private variables runs with wgpu's run-time checks; other text does not
    /// need them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) with the place in the text: it does not parse, a
    /// function is missing or has other types, it declares bindings, workgroup variables or entry points, or a name
    /// that the kernels use.
    pub fn wgsl(text: impl Into<String>) -> Result<Self> {
        let user = crate::shader::user::check_operator(&text.into(), &T::TYPE)?;
        Ok(Self { kind: OperatorKind::User { user, commutative: false }, name: "user".into(), element: PhantomData })
    }

    /// The operator's name in the functions of [`shader::library`](crate::shader::library): `user` unless said here, as
    /// in `sg_reduce_user_u32`. Letters, digits and underscores; another name is refused when a plan or a library is built.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Says that the operator commutes. A reduction then lets each lane gather by itself and combines the lanes once, at
    /// the end of a subgroup's share, where it otherwise combines them after every load. Built-in operators commute; for
    /// one of one's own nobody checks, and a wrong promise gives a result in a wrong order.
    #[must_use]
    pub fn commutative(mut self) -> Self {
        if let OperatorKind::User { commutative, .. } = &mut self.kind {
            *commutative = true;
        }
        self
    }

    /// Refuses a built-in operator that is not defined for the type.
    pub(crate) fn check(&self) -> Result<()> {
        let is_ident = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_ident(&self.name) {
            return Err(Error::argument(format!(
                "'{}' is no name for an operator: letters, digits, underscores",
                self.name
            )));
        }
        match self.kind {
            OperatorKind::Builtin(op) if !op.is_defined_for(&T::TYPE) => {
                Err(Error::argument(format!("the operator {} is not defined for {}", op.name(), T::TYPE.wgsl())))
            }
            _ => Ok(()),
        }
    }
}

impl OperatorKind {
    /// Whether its text may do what wgpu's run-time checks guard against.
    pub(crate) fn needs_checks(&self) -> bool {
        matches!(self, Self::User { user, .. } if user.needs_checks)
    }

    /// The same operator without the promise that it commutes.
    pub(crate) fn in_order(self) -> Self {
        match self {
            Self::User { user, .. } => Self::User { user, commutative: false },
            builtin => builtin,
        }
    }

    pub(crate) fn is_commutative(&self) -> bool {
        match self {
            Self::Builtin(_) => true,
            Self::User { commutative, .. } => *commutative,
        }
    }
}
