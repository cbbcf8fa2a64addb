//! Every variant of a shader that ships, by name.

use super::library::{Block, assemble, block};
use super::module::Target;
use super::{Assembled, Checks, MAX_LANES, MIN_LANES};
use crate::element::{Element, ElementType, F16};
use crate::error::{Error, Result};
use crate::gpu::SubgroupPath;
use crate::op::{Op, Operator, OperatorKind};
use crate::primitive::{self, Binding, Held, KernelTarget, ScanKind, Tuning};

/// A variant: which shader, for which type, operator and path.
#[derive(Clone, Debug)]
pub struct Variant {
    name: String,
    make: Make,
}

#[derive(Clone, Debug)]
enum Make {
    Block(Target, Block),
    Reduce(KernelTarget, Held, OperatorKind, bool),
    Scan(KernelTarget, Held, OperatorKind, ScanKind),
    Select(KernelTarget, ElementType, &'static str),
}

impl Variant {
    /// Its name: `reduce/u32/add/native`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Assembles its text.
    ///
    /// # Errors
    /// None for a variant of the catalogue; the type is shared with texts of a caller's.
    pub fn assemble(&self) -> Result<Assembled> {
        Ok(self.parts()?.0)
    }

    /// The text, and how the host binds it: a building block has no bindings.
    pub(crate) fn parts(&self) -> Result<(Assembled, Vec<Binding>)> {
        Ok(match &self.make {
            Make::Block(target, block) => (assemble(*target, std::slice::from_ref(block))?, Vec::new()),
            Make::Reduce(target, held, operator, apart) => {
                let text = primitive::reduce_text(target, held, operator, *apart);
                (text.text, text.bindings)
            }
            Make::Scan(target, held, operator, kind) => {
                let text = primitive::scan_text(target, held, operator, *kind);
                (text.text, text.bindings)
            }
            Make::Select(target, element, predicate) => {
                let user = super::user::check_predicate(predicate, element)?;
                let text = primitive::select_text(target, &Held::new(*element, None, false), &user);
                (text.text, text.bindings)
            }
        })
    }

    /// Whether it is a library of functions, without entry points.
    pub fn is_block(&self) -> bool {
        matches!(self.make, Make::Block(..))
    }
}

/// The variant with this name.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) with names that are like it.
pub fn find(name: &str) -> Result<Variant> {
    let all = variants();
    if let Some(found) = all.iter().find(|variant| variant.name == name) {
        return Ok(found.clone());
    }
    let like: Vec<_> = all.iter().filter(|variant| variant.name.contains(name)).map(Variant::name).take(6).collect();
    let hint = if like.is_empty() { "see wavelane list".into() } else { format!("like it are {}", like.join(", ")) };
    Err(Error::argument(format!("no shader variant is called '{name}'; {hint}")))
}

/// All variants.
///
/// Native ones are made for any width from 4 to 128; plans make them for one width where the device is known to have
/// one. Elements and operators of a caller's are represented by an affine map: a struct, and not commutative.
pub fn variants() -> Vec<Variant> {
    let mut all = Vec::new();
    for path in [SubgroupPath::Native, SubgroupPath::DEFAULT_EMULATED] {
        devices(&mut all, path);
        blocks(&mut all, path);
    }
    all
}

fn lanes(path: SubgroupPath) -> (u32, u32) {
    match path {
        SubgroupPath::Native => (MIN_LANES, MAX_LANES),
        SubgroupPath::Emulated { lanes } => (lanes, lanes),
    }
}

fn devices(all: &mut Vec<Variant>, path: SubgroupPath) {
    let target = KernelTarget {
        path,
        lanes: lanes(path),
        checks: Checks::Trusted,
        tuning: Tuning::new(256, 4, 1024),
        unroll: true,
        gpu_count: false,
    };
    let push = |all: &mut Vec<Variant>, parts: &[&str], make: Make| {
        all.push(Variant { name: format!("{}/{}", parts.join("/"), path.name()), make });
    };
    let mut cases: Vec<(ElementType, OperatorKind, &str)> = Vec::new();
    for element in [u32::TYPE, i32::TYPE, f32::TYPE, u64::TYPE, i64::TYPE, <[f32; 2]>::TYPE, <[u32; 4]>::TYPE] {
        cases.extend(
            Op::ALL
                .into_iter()
                .filter(|op| op.is_defined_for(&element))
                .map(|op| (element, OperatorKind::Builtin(op), op.name())),
        );
    }
    let affine = affine();
    cases.push((Affine::TYPE, affine.kind.clone(), "user"));
    for (element, operator, name) in &cases {
        let ident = element.ident();
        let held = Held::new(*element, Some(operator), false);
        push(all, &["reduce", &ident, name], Make::Reduce(target, held, operator.clone(), false));
        for inclusive in [true, false] {
            let kind = ScanKind { inclusive, in_place: false, initial: false };
            let word = if inclusive { "scan-inclusive" } else { "scan-exclusive" };
            push(all, &[word, &ident, name], Make::Scan(target, held, operator.clone(), kind));
        }
    }
    // What differs by a flag rather than by type, once.
    let add = OperatorKind::Builtin(Op::Add);
    let held = Held::new(u32::TYPE, Some(&add), false);
    push(all, &["reduce-finish-apart", "u32", "add"], Make::Reduce(target, held, add.clone(), true));
    for (word, in_place, initial, single) in [
        ("scan-in-place", true, false, false),
        ("scan-initial", false, true, false),
        ("scan-in-place-initial", true, true, false),
        ("scan-single-items", false, false, true),
    ] {
        let kind = ScanKind { inclusive: true, in_place, initial };
        let held = Held::new(u32::TYPE, Some(&add), single);
        push(all, &[word, "u32", "add"], Make::Scan(target, held, add.clone(), kind));
    }
    let counted = KernelTarget { gpu_count: true, ..target };
    let kind = ScanKind { inclusive: true, in_place: false, initial: false };
    push(all, &["reduce-gpu-count", "u32", "add"], Make::Reduce(counted, held, add.clone(), false));
    push(all, &["scan-gpu-count", "u32", "add"], Make::Scan(counted, held, add.clone(), kind));
    push(all, &["select-gpu-count", "u32"], Make::Select(counted, u32::TYPE, "(x & 1u) == 1u"));
    for (element, predicate) in [
        (u32::TYPE, "(x & 1u) == 1u"),
        (i32::TYPE, "x < 0"),
        (f32::TYPE, "x > 0.5"),
        (Affine::TYPE, "x.a != 0u && i != 0u"),
    ] {
        push(all, &["select", &element.ident()], Make::Select(target, element, predicate));
    }
}

fn blocks(all: &mut Vec<Variant>, path: SubgroupPath) {
    // An odd size: the last subgroup is partly filled.
    let target = Target { path, lanes: lanes(path), workgroup: 100, unroll: true };
    let mut push = |name: String, block: Block| {
        all.push(Variant { name: format!("{name}/{}", path.name()), make: Make::Block(target, block) });
    };
    push("block/vote".into(), block::vote());
    push("block/multisplit".into(), block::multisplit());
    push("block/workgroup-select".into(), block::workgroup_select());
    push("block/workgroup-rank".into(), block::workgroup_rank(16));
    macro_rules! types {
        ($($ty:ty),*) => {$({
            let ident = <$ty>::TYPE.ident();
            push(format!("block/shuffle/{ident}"), block::shuffle::<$ty>());
            push(format!("block/match-any/{ident}"), block::match_any::<$ty>());
            push(format!("block/workgroup-broadcast/{ident}"), block::workgroup_broadcast::<$ty>());
            push(format!("block/workgroup-exchange/{ident}"), block::workgroup_exchange::<$ty>(4));
            let mut operators: Vec<(Operator<$ty>, &str)> = Op::ALL
                .into_iter()
                .filter(|op| op.is_defined_for(&<$ty>::TYPE))
                .map(|op| (op.into(), op.name()))
                .collect();
            operators.extend(user_operator::<$ty>().map(|operator| (operator, "user")));
            for (operator, name) in operators {
                push(format!("block/subgroup-reduce/{ident}/{name}"), block::subgroup_reduce(operator.clone()));
                push(format!("block/subgroup-scan/{ident}/{name}"), block::subgroup_scan(operator.clone()));
                push(format!("block/segmented/{ident}/{name}"), block::segmented(operator.clone()));
                push(format!("block/workgroup-reduce/{ident}/{name}"), block::workgroup_reduce(operator.clone()));
                push(format!("block/workgroup-scan/{ident}/{name}"), block::workgroup_scan(operator));
            }
        })*};
    }
    types!(u32, i32, f32, u64, i64, F16, [f32; 2], [u32; 4], Affine);
}

/// The map x -> a * x + b, as an element and with composition as an operator: what stands for a caller's own.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Affine {
    a: u32,
    b: u32,
}

crate::element!(Affine { a: u32, b: u32 });

fn affine() -> Operator<Affine> {
    Operator::wgsl(include_str!("../../shaders/op/affine.wgsl")).expect("the affine operator is valid")
}

/// An operator in WGSL for the one type that has no built-in ones.
fn user_operator<T: Element>() -> Option<Operator<T>> {
    (T::TYPE == Affine::TYPE)
        .then(|| Operator::wgsl(include_str!("../../shaders/op/affine.wgsl")).expect("the affine operator is valid"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::shader::reflect::{self, Use};

    #[test]
    fn every_variant_validates_and_agrees_with_the_host() {
        let mut names = HashSet::new();
        for variant in variants() {
            assert!(names.insert(variant.name.clone()), "{} is there twice", variant.name);
            let (text, bindings) = variant.parts().unwrap_or_else(|error| panic!("{}: {error}", variant.name));
            let (module, info) = text.validate().unwrap_or_else(|error| panic!("{}: {error}", variant.name));
            let entries = reflect::entries(&module, &info).expect("layouts are known");
            assert_eq!(entries.is_empty(), variant.is_block(), "{}", variant.name);
            let mut used = vec![false; bindings.len()];
            for entry in entries {
                assert_eq!(entry.workgroup, [256, 1, 1], "{}", variant.name);
                // What every device grants.
                assert!(entry.workgroup_bytes <= 16_384, "{}: {} bytes", variant.name, entry.workgroup_bytes);
                for (group, binding, how) in entry.bindings {
                    assert_eq!(group, 0, "{}", variant.name);
                    let host = match bindings.get(binding as usize) {
                        Some(Binding::Uniform) => Some(Use::Uniform),
                        Some(Binding::Read) => Some(Use::Read),
                        Some(Binding::Write) => Some(Use::Write),
                        Some(Binding::Unused) | None => None,
                    };
                    assert_eq!(Some(how), host, "{} binding {binding}", variant.name);
                    used[binding as usize] = true;
                }
            }
            for (binding, kind) in bindings.iter().enumerate() {
                let expected = *kind != Binding::Unused;
                assert_eq!(
                    used[binding], expected,
                    "{} binding {binding}: a binding that no kernel uses",
                    variant.name
                );
            }
        }
        assert!(names.len() > 400, "{} variants", names.len());
    }

    #[test]
    fn parameters_have_one_layout() {
        let variant = find("select/u32/native").expect("it ships");
        let (module, _) = variant.assemble().expect("assembles").validate().expect("valid");
        let params = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("DevParams"));
        let Some(naga::TypeInner::Struct { members, .. }) = params.map(|(_, ty)| &ty.inner) else {
            panic!("DevParams is a struct");
        };
        let wgsl: Vec<_> = members.iter().map(|m| (m.name.clone().expect("named"), m.offset)).collect();
        macro_rules! rust {
            ($($field:ident),*) => {
                vec![$((stringify!($field).to_string(), std::mem::offset_of!(crate::primitive::Params, $field) as u32)),*]
            };
        }
        let rust = rust!(in_start, out_start, capacity, count_at, groups, count_out_at, args_at, args_items, zero);
        assert_eq!(wgsl, rust);
    }

    #[test]
    fn loops_and_expanded_text_are_both_valid() {
        for unroll in [true, false] {
            let mut target = KernelTarget {
                path: SubgroupPath::Native,
                lanes: (4, 128),
                checks: Checks::Trusted,
                tuning: Tuning::new(256, 8, 1024),
                unroll,
                gpu_count: false,
            };
            let affine = affine().kind;
            let held = Held::new(Affine::TYPE, Some(&affine), false);
            let kind = ScanKind { inclusive: true, in_place: false, initial: false };
            let expanded = primitive::scan_text(&target, &held, &affine, kind).text;
            expanded.validate().expect("valid");
            assert_eq!(expanded.text().contains("const r = 7u;"), unroll);
            target.path = SubgroupPath::DEFAULT_EMULATED;
            primitive::reduce_text(&target, &held, &affine, false).text.validate().expect("valid");
        }
    }

    #[test]
    fn unknown_names_are_answered_with_names_like_it() {
        let error = find("reduce/u32").expect_err("the path is missing").to_string();
        assert!(error.contains("reduce/u32/add/native"), "{error}");
        assert!(find("nonsense").expect_err("no such").to_string().contains("wavelane list"));
    }
}
