//! How values lie in registers, and variables in memory.

use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, Type, TypeInner};

/// One register of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    /// The byte in a buffer.
    pub(super) offset: u32,
    pub(super) kind: LeafKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafKind {
    Word,
    /// 16 bits in a buffer; an f32, an i32 or a u32 of the same value in a register.
    Half(ScalarKind),
    /// The halves of a wide word; they follow each other.
    Low,
    High,
}

/// Registers of a scalar.
pub(super) fn scalar_words(scalar: Scalar) -> u32 {
    if scalar.width == 8 { 2 } else { 1 }
}

/// Elements of an array; none where the array fills the rest of a buffer.
pub(super) fn array_length(module: &Module, size: ArraySize) -> Result<Option<u32>, String> {
    match size.resolve(module.to_ctx()).map_err(|error| error.to_string())? {
        naga::proc::IndexableLength::Known(length) => Ok(Some(length)),
        naga::proc::IndexableLength::Dynamic => Ok(None),
    }
}

/// Registers of a value, or words of a variable in workgroup memory.
pub(super) fn words(module: &Module, inner: &TypeInner) -> Result<u32, String> {
    Ok(match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar_words(scalar),
        TypeInner::Vector { size, scalar } => size as u32 * scalar_words(scalar),
        TypeInner::Matrix { columns, rows, scalar } => columns as u32 * rows as u32 * scalar_words(scalar),
        TypeInner::Array { base, size, .. } => {
            let length = array_length(module, size)?.ok_or("a value cannot be an array of unknown length")?;
            length
                .checked_mul(words(module, &module.types[base].inner)?)
                .ok_or("an array is larger than memory can be")?
        }
        TypeInner::Struct { ref members, .. } => members
            .iter()
            .try_fold(0, |sum, member| Ok::<_, String>(sum + words(module, &module.types[member.ty].inner)?))?,
        ref other => return Err(format!("a variable of the type {other:?} is not simulated")),
    })
}

/// Bytes from a matrix column to the next, in a buffer.
pub(super) fn column_stride(rows: naga::VectorSize, scalar: Scalar) -> u32 {
    u32::from(scalar.width) * if rows == naga::VectorSize::Bi { 2 } else { 4 }
}

/// All registers of a value, in order.
pub(super) fn leaves(module: &Module, inner: &TypeInner) -> Result<Vec<Leaf>, String> {
    let mut all = Vec::new();
    collect(module, inner, 0, &mut all)?;
    Ok(all)
}

fn collect(module: &Module, inner: &TypeInner, at: u32, all: &mut Vec<Leaf>) -> Result<(), String> {
    match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => collect_scalar(scalar, at, all)?,
        TypeInner::Vector { size, scalar } => {
            for i in 0..size as u32 {
                collect_scalar(scalar, at + i * u32::from(scalar.width), all)?;
            }
        }
        TypeInner::Matrix { columns, rows, scalar } => {
            for i in 0..columns as u32 {
                let column = TypeInner::Vector { size: rows, scalar };
                collect(module, &column, at + i * column_stride(rows, scalar), all)?;
            }
        }
        TypeInner::Array { base, size, stride } => {
            let length = array_length(module, size)?.ok_or("a value cannot be an array of unknown length")?;
            for i in 0..length {
                collect(module, &module.types[base].inner, at + i * stride, all)?;
            }
        }
        TypeInner::Struct { ref members, .. } => {
            for member in members {
                collect(module, &module.types[member.ty].inner, at + member.offset, all)?;
            }
        }
        ref other => return Err(format!("a value of the type {other:?} is not simulated")),
    }
    Ok(())
}

fn collect_scalar(scalar: Scalar, offset: u32, all: &mut Vec<Leaf>) -> Result<(), String> {
    match (scalar.kind, scalar.width) {
        (kind, 2) => all.push(Leaf { offset, kind: LeafKind::Half(kind) }),
        // A bool has one byte for naga; buffers hold none.
        (_, 1 | 4) => all.push(Leaf { offset, kind: LeafKind::Word }),
        (_, 8) => all.extend([Leaf { offset, kind: LeafKind::Low }, Leaf { offset: offset + 4, kind: LeafKind::High }]),
        (_, width) => return Err(format!("numbers of {width} bytes are not simulated")),
    }
    Ok(())
}

/// What an index steps over.
pub(super) struct Element {
    /// Registers, or words of workgroup memory, before it, for a constant index; from one to the next otherwise.
    pub(super) words: u32,
    /// Bytes of a buffer, likewise.
    pub(super) bytes: u32,
    /// How many there are; none where they fill the rest of a buffer.
    pub(super) length: Option<u32>,
}

/// The steps between the elements of a type.
pub(super) fn element(module: &Module, inner: &TypeInner) -> Result<Element, String> {
    Ok(match *inner {
        TypeInner::Vector { size, scalar } | TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
            Element { words: scalar_words(scalar), bytes: u32::from(scalar.width), length: Some(size as u32) }
        }
        TypeInner::Matrix { columns, rows, scalar } => Element {
            words: rows as u32 * scalar_words(scalar),
            bytes: column_stride(rows, scalar),
            length: Some(columns as u32),
        },
        TypeInner::Array { base, size, stride } => Element {
            words: words(module, &module.types[base].inner)?,
            bytes: stride,
            length: array_length(module, size)?,
        },
        ref other => return Err(format!("an index into the type {other:?} is not simulated")),
    })
}

/// The start and the registers of an element with a constant index.
pub(super) fn member(module: &Module, inner: &TypeInner, index: u32) -> Result<Element, String> {
    if let TypeInner::Struct { ref members, .. } = *inner {
        let before = &members[..index as usize];
        let words = before
            .iter()
            .try_fold(0, |sum, member| Ok::<_, String>(sum + words(module, &module.types[member.ty].inner)?))?;
        return Ok(Element { words, bytes: members[index as usize].offset, length: Some(members.len() as u32) });
    }
    let Element { words, bytes, length } = element(module, inner)?;
    Ok(Element { words: words * index, bytes: bytes * index, length })
}

/// The type that a pointer points to, where it has a handle.
pub(super) fn pointee<'a>(module: &'a Module, inner: &'a TypeInner) -> &'a TypeInner {
    match *inner {
        TypeInner::Pointer { base, .. } => &module.types[base].inner,
        ref other => other,
    }
}

/// The type that a pointer points to.
pub(super) fn loaded(module: &Module, inner: &TypeInner) -> TypeInner {
    match *inner {
        TypeInner::ValuePointer { size: Some(size), scalar, .. } => TypeInner::Vector { size, scalar },
        TypeInner::ValuePointer { size: None, scalar, .. } => TypeInner::Scalar(scalar),
        ref other => pointee(module, other).clone(),
    }
}

/// The scalar of a type's components.
pub(super) fn scalar(inner: &TypeInner) -> Scalar {
    inner.scalar().unwrap_or(Scalar::U32)
}

/// The type of a handle.
pub(crate) fn inner(module: &Module, ty: Handle<Type>) -> &TypeInner {
    &module.types[ty].inner
}

/// The bytes of a buffer of this type, with so many elements in an array that fills the rest of it.
pub(crate) fn bytes(module: &Module, inner: &TypeInner, elements: u64) -> Result<u64, String> {
    match *inner {
        TypeInner::Array { size, stride, .. } if array_length(module, size)?.is_none() => {
            Ok(u64::from(stride) * elements)
        }
        TypeInner::Struct { ref members, span } => match members.last() {
            Some(last) if is_unsized(module, &module.types[last.ty].inner)? => {
                Ok(u64::from(last.offset) + bytes(module, &module.types[last.ty].inner, elements)?)
            }
            _ => Ok(span.into()),
        },
        ref other => Ok(other.size(module.to_ctx()).into()),
    }
}

/// Whether it is an array that fills the rest of a buffer.
pub(super) fn is_unsized(module: &Module, inner: &TypeInner) -> Result<bool, String> {
    match *inner {
        TypeInner::Array { size, .. } => Ok(array_length(module, size)?.is_none()),
        _ => Ok(false),
    }
}

/// Visits every scalar of a variable that lies in a buffer from one byte up to another, with its first byte.
pub(crate) fn each_scalar(
    module: &Module,
    inner: &TypeInner,
    from: u64,
    to: u64,
    visit: &mut dyn FnMut(u64, Scalar),
) -> Result<(), String> {
    match *inner {
        TypeInner::Array { base, size, stride } => {
            let (base, stride) = (&module.types[base].inner, u64::from(stride));
            let length = array_length(module, size)?.map_or((to - from) / stride, u64::from);
            (0..length).try_for_each(|i| each_scalar(module, base, from + i * stride, to, visit))?;
        }
        TypeInner::Struct { ref members, .. } => {
            for member in members {
                each_scalar(module, &module.types[member.ty].inner, from + u64::from(member.offset), to, visit)?;
            }
        }
        ref other => {
            let scalar = scalar(other);
            for Leaf { offset, kind } in leaves(module, other)? {
                if kind != LeafKind::High {
                    visit(from + u64::from(offset), scalar);
                }
            }
        }
    }
    Ok(())
}
