//! Facts that naga tells about a module: what the host must agree with, and what wgpu does not check.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, StorageAccess};
use wgpu::Features;

use crate::error::{Error, Result};

/// What an entry point uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFacts {
    /// Name.
    pub name: String,
    /// Workgroup size in x, y and z.
    pub workgroup: [u32; 3],
    /// Bytes of workgroup memory; `u32::MAX` of more.
    pub workgroup_bytes: u32,
    /// Bindings that it uses: group, binding, how.
    pub bindings: Vec<(u32, u32, Use)>,
}

/// How an entry point uses a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer that is read.
    Read,
    /// A storage buffer that is declared as written.
    Write,
    /// Something else: a texture or sampler.
    Other,
}

/// The facts of each entry point of a validated module.
///
/// # Errors
/// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) for a type whose layout naga cannot tell.
pub fn entries(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Result<Vec<EntryFacts>> {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).map_err(|error| Error::shader(format!("no layout: {error}")))?;
    let facts = module.entry_points.iter().enumerate().map(|(i, entry)| {
        let uses = info.get_entry_point(i);
        let mut facts = EntryFacts { name: entry.name.clone(), workgroup: entry.workgroup_size, ..Default::default() };
        for (handle, global) in module.global_variables.iter() {
            if uses[handle].is_empty() {
                continue;
            }
            if global.space == AddressSpace::WorkGroup {
                let layout = layouter[global.ty];
                let before = u64::from(facts.workgroup_bytes).next_multiple_of((layout.alignment * 1).into());
                facts.workgroup_bytes = u32::try_from(before + u64::from(layout.size)).unwrap_or(u32::MAX);
            }
            if let Some(binding) = &global.binding {
                let how = match global.space {
                    AddressSpace::Uniform => Use::Uniform,
                    AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => Use::Write,
                    AddressSpace::Storage { .. } => Use::Read,
                    _ => Use::Other,
                };
                facts.bindings.push((binding.group, binding.binding, how));
            }
        }
        facts.bindings.sort_by_key(|(group, binding, _)| (*group, *binding));
        facts
    });
    Ok(facts.collect())
}

/// What naga takes only where it is told that the device has it, and the feature that says so.
const NEEDS: [(Capabilities, Features); 14] = [
    (Capabilities::SHADER_FLOAT16, Features::SHADER_F16),
    (Capabilities::FLOAT64, Features::SHADER_F64),
    (Capabilities::SHADER_INT16, Features::SHADER_I16),
    (Capabilities::SHADER_INT64, Features::SHADER_INT64),
    // All operations before two of them: whoever has all needs no more.
    (Capabilities::SHADER_INT64_ATOMIC_ALL_OPS, Features::SHADER_INT64_ATOMIC_ALL_OPS),
    (Capabilities::SHADER_INT64_ATOMIC_MIN_MAX, Features::SHADER_INT64_ATOMIC_MIN_MAX),
    (Capabilities::SHADER_FLOAT32_ATOMIC, Features::SHADER_FLOAT32_ATOMIC),
    (Capabilities::TEXTURE_ATOMIC, Features::TEXTURE_ATOMIC),
    (Capabilities::TEXTURE_INT64_ATOMIC, Features::TEXTURE_INT64_ATOMIC),
    (Capabilities::SUBGROUP, Features::SUBGROUP),
    (Capabilities::SUBGROUP_BARRIER, Features::SUBGROUP_BARRIER),
    (Capabilities::IMMEDIATES, Features::IMMEDIATES),
    (Capabilities::RAY_QUERY, Features::EXPERIMENTAL_RAY_QUERY),
    (Capabilities::COOPERATIVE_MATRIX, Features::EXPERIMENTAL_COOPERATIVE_MATRIX),
];

/// What naga takes on a device with these features.
pub(crate) fn capabilities(mut has: Features) -> Capabilities {
    if has.contains(Features::SHADER_INT64_ATOMIC_ALL_OPS) {
        has |= Features::SHADER_INT64_ATOMIC_MIN_MAX;
    }
    let lacking = NEEDS.into_iter().filter(|(_, feature)| !has.contains(*feature));
    lacking.fold(Capabilities::all(), |all, (capability, _)| all - capability)
}

/// The device features that a valid text needs: those without which naga refuses it.
pub fn features(text: &str) -> Features {
    let is_valid_with = |capabilities| {
        let mut options = naga::front::wgsl::Options::new();
        options.capabilities = capabilities;
        let module = naga::front::wgsl::Frontend::new_with_options(options).parse(text);
        module.is_ok_and(|module| Validator::new(ValidationFlags::all(), capabilities).validate(&module).is_ok())
    };
    let (mut granted, mut needed) = (Capabilities::all(), Features::empty());
    for (capability, feature) in NEEDS {
        match is_valid_with(granted - capability) {
            true => granted -= capability,
            false => needed |= feature,
        }
    }
    needed
}

/// `SHADER_F16, SHADER_INT64`
pub(crate) fn feature_names(features: Features) -> String {
    let names: Vec<_> = features.iter_names().map(|(name, _)| name).collect();
    names.join(", ")
}

/// Refuses workgroup memory over the limit: wgpu lets it through.
pub(crate) fn check_workgroup_bytes(facts: &[EntryFacts], limits: &wgpu::Limits, what: &str) -> Result<()> {
    let needs = facts.iter().map(|entry| entry.workgroup_bytes).max().unwrap_or(0);
    let allows = limits.max_compute_workgroup_storage_size;
    if needs > allows {
        return Err(Error::limit(
            &format!("{what} (bytes of workgroup memory)"),
            needs.into(),
            allows.into(),
            "max_compute_workgroup_storage_size",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroup_memory_past_32_bits_is_over_every_limit() {
        let gibibyte = |name: char| format!("var<workgroup> {name}: array<vec4<u32>, 67108864>; ");
        let text: String = ('a'..='d').map(gibibyte).collect();
        let text = text
            + "var<workgroup> e: u32;
            @compute @workgroup_size(1) fn f() { a[0] = a[1]; b[0] = b[1]; c[0] = c[1]; d[0] = d[1]; e = 1u; }";
        let module = naga::front::wgsl::parse_str(&text).expect("it parses");
        let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).expect("it is valid");
        let facts = entries(&module, &info).expect("it has a layout");
        assert_eq!(facts[0].workgroup_bytes, u32::MAX);
        check_workgroup_bytes(&facts, &wgpu::Limits::default(), "f").expect_err("4 GiB and 4 bytes");
    }

    #[test]
    fn a_text_needs_the_features_of_what_it_uses() {
        const ATOMIC: &str = "@group(0) @binding(0) var<storage, read_write> word: atomic";
        let atomic = |ty: &str, call: &str| format!("{ATOMIC}<{ty}>; fn f() {{ {call}; }}");
        for (text, needs) in [
            ("fn f() -> u32 { return 1u; } // f16".into(), Features::empty()),
            ("enable f16; fn f() {}".into(), Features::SHADER_F16),
            ("enable f16; fn f() -> f16 { return 1.0h; }".into(), Features::SHADER_F16),
            ("fn f(x: u32) -> u32 { return u32(u64(x) >> 1u); }".into(), Features::SHADER_INT64),
            ("fn f() -> i64 { return 1li; }".into(), Features::SHADER_INT64),
            ("fn f() -> f64 { return 1.0lf; }".into(), Features::SHADER_F64),
            (atomic("u64", "atomicMax(&word, 1lu)"), Features::SHADER_INT64 | Features::SHADER_INT64_ATOMIC_MIN_MAX),
            (atomic("u64", "atomicAdd(&word, 1lu)"), Features::SHADER_INT64 | Features::SHADER_INT64_ATOMIC_ALL_OPS),
            (atomic("f32", "atomicAdd(&word, 1.0)"), Features::SHADER_FLOAT32_ATOMIC),
            (atomic("u32", "atomicAdd(&word, 1u)"), Features::empty()),
            ("fn f(x: u32) -> u32 { return subgroupAdd(x); }".into(), Features::SUBGROUP),
            ("fn f() { subgroupBarrier(); }".into(), Features::SUBGROUP | Features::SUBGROUP_BARRIER),
        ] {
            let text: String = text;
            assert_eq!(features(&text), needs, "{text}");
        }
    }
}
