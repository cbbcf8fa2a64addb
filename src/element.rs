//! The types that the primitives work on, on both sides.

use std::fmt::Write as _;

/// A scalar of WGSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scalar {
    /// 32-bit unsigned integer.
    U32,
    /// 32-bit signed integer.
    I32,
    /// 32-bit float.
    F32,
    /// 64-bit unsigned integer (feature `SHADER_INT64`).
    U64,
    /// 64-bit signed integer (feature `SHADER_INT64`).
    I64,
    /// 16-bit float (feature `SHADER_F16`). Building blocks only: it has no place in the device-level buffers here.
    F16,
}

impl Scalar {
    /// Its name in WGSL.
    pub const fn wgsl(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 => 8,
            Self::F16 => 2,
        }
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16)
    }

    /// 32-bit words that carry it through a shuffle.
    pub(crate) const fn words(self) -> u32 {
        match self {
            Self::U64 | Self::I64 => 2,
            _ => 1,
        }
    }

    /// The device feature that it needs.
    pub(crate) const fn feature(self) -> wgpu::Features {
        match self {
            Self::U64 | Self::I64 => wgpu::Features::SHADER_INT64,
            Self::F16 => wgpu::Features::SHADER_F16,
            _ => wgpu::Features::empty(),
        }
    }
}

/// A scalar or a vector of two or four of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// The scalar.
    pub scalar: Scalar,
    /// 1, 2 or 4. Three are left out: a WGSL `vec3` takes the room of four, which no array of Rust does.
    pub components: u32,
}

impl Vector {
    /// Its name in WGSL.
    pub fn wgsl(self) -> String {
        match self.components {
            1 => self.scalar.wgsl().into(),
            n => format!("vec{n}<{}>", self.scalar.wgsl()),
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u32 {
        self.scalar.bytes() * self.components
    }

    pub(crate) const fn words(self) -> u32 {
        self.scalar.words() * self.components
    }
}

/// A field of a [`Struct`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub ty: Vector,
    /// Bytes from the beginning of the struct, in Rust; checked against WGSL's layout.
    pub offset: u32,
}

/// A flat struct of scalars and vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Struct {
    /// Name, also in WGSL.
    pub name: &'static str,
    /// Fields in order.
    pub fields: &'static [Field],
    /// Size in bytes, in Rust; checked against WGSL's.
    pub bytes: u32,
}

/// The type of an element, as both sides see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// A scalar or vector.
    Vector(Vector),
    /// A flat struct.
    Struct(Struct),
}

impl ElementType {
    /// Its name in WGSL.
    pub fn wgsl(&self) -> String {
        match self {
            Self::Vector(vector) => vector.wgsl(),
            Self::Struct(s) => s.name.into(),
        }
    }

    /// A name for it inside identifiers: `u32`, `vec2_f32`, `Moments`.
    pub fn ident(&self) -> String {
        match self {
            Self::Vector(Vector { scalar, components: 1 }) => scalar.wgsl().into(),
            Self::Vector(Vector { scalar, components }) => format!("vec{components}_{}", scalar.wgsl()),
            Self::Struct(s) => s.name.into(),
        }
    }

    /// Size in bytes, which is also the distance of two in a buffer.
    pub const fn bytes(&self) -> u32 {
        match self {
            Self::Vector(vector) => vector.bytes(),
            Self::Struct(s) => s.bytes,
        }
    }

    /// The declaration that WGSL needs of it; empty for scalars and vectors.
    pub(crate) fn declaration(&self) -> String {
        let Self::Struct(s) = self else { return String::new() };
        let mut text = format!("struct {} {{\n", s.name);
        for field in s.fields {
            let _ = writeln!(text, "  {}: {},", field.name, field.ty.wgsl());
        }
        text + "}\n"
    }

    /// The directives that a text needs before anything else.
    pub(crate) fn directives(&self) -> &'static str {
        if self.features().contains(Scalar::F16.feature()) { "enable f16;\n" } else { "" }
    }

    /// The features that a device needs for it.
    pub(crate) fn features(&self) -> wgpu::Features {
        match self {
            Self::Vector(vector) => vector.scalar.feature(),
            Self::Struct(s) => {
                s.fields.iter().fold(wgpu::Features::empty(), |all, field| all | field.ty.scalar.feature())
            }
        }
    }

    /// The parts that are shuffled one by one: how to reach each in a value `x`, and its type.
    pub(crate) fn parts(&self) -> Vec<(String, Vector)> {
        match self {
            Self::Vector(vector) => vec![("x".into(), *vector)],
            Self::Struct(s) => s.fields.iter().map(|field| (format!("x.{}", field.name), field.ty)).collect(),
        }
    }

    /// 32-bit words that carry a value.
    pub(crate) fn words(&self) -> u32 {
        self.parts().iter().map(|(_, vector)| vector.words()).sum()
    }
}

/// A type that the primitives work on. Implemented for `u32`, `i32`, `f32`, `u64`, `i64`, [`F16`], arrays of two or
/// four of the 32-bit ones (WGSL vectors), and by [`element!`](crate::element) for flat structs of those.
pub trait Element: bytemuck::Pod + Send + Sync {
    /// How WGSL sees it.
    const TYPE: ElementType;
}

/// The bits of a 16-bit float, for building blocks of `f16`. Turn it into numbers with a crate of your choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct F16(pub u16);

/// A type that is a scalar or vector of WGSL, and so can be a field of a struct element.
pub trait VectorElement: Element {
    /// How WGSL sees it.
    const VECTOR: Vector;
}

macro_rules! vectors {
    ($($rust:ty: $scalar:ident $components:literal),* $(,)?) => {$(
        impl VectorElement for $rust {
            const VECTOR: Vector = Vector { scalar: Scalar::$scalar, components: $components };
        }
        impl Element for $rust {
            const TYPE: ElementType = ElementType::Vector(<$rust as VectorElement>::VECTOR);
        }
    )*};
}

vectors! {
    u32: U32 1, i32: I32 1, f32: F32 1, u64: U64 1, i64: I64 1, F16: F16 1,
    [u32; 2]: U32 2, [i32; 2]: I32 2, [f32; 2]: F32 2,
    [u32; 4]: U32 4, [i32; 4]: I32 4, [f32; 4]: F32 4,
}

/// Makes a flat `#[repr(C)]` struct an [`Element`]: names its fields for WGSL.
///
/// The struct must be `bytemuck::Pod`; its name, which begins with a capital letter, and those of its fields are also
/// their names in WGSL, so none may be a word that WGSL reserves. The fields are
/// scalars and vectors, named in order, without nested structs or arrays. Their offsets are compared with WGSL's when a
/// plan is built: WGSL wants a `vec2` at a multiple of 8 bytes and a `vec4` at a multiple of 16, and rounds the size up to
/// the largest of these. A struct that differs is refused then, with both offsets.
///
/// ```
/// # use wavelane::wgpu;
/// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Moments {
///     count: f32,
///     mean: f32,
///     m2: f32,
/// }
/// wavelane::element!(Moments { count: f32, mean: f32, m2: f32 });
/// ```
#[macro_export]
macro_rules! element {
    ($name:ident { $($field:ident: $ty:ty),+ $(,)? }) => {
        impl $crate::Element for $name {
            const TYPE: $crate::ElementType = $crate::ElementType::Struct($crate::Struct {
                name: stringify!($name),
                bytes: ::core::mem::size_of::<$name>() as u32,
                fields: &[$($crate::Field {
                    name: stringify!($field),
                    ty: <$ty as $crate::VectorElement>::VECTOR,
                    offset: ::core::mem::offset_of!($name, $field) as u32,
                }),+],
            });
        }
    };
}
