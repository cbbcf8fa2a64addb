//! From WGSL to what the backends take, with the same writers and settings that wgpu uses.

use clap::ValueEnum;
use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;
use wavelane::shader::Checks;

use super::{Failure, Result};

/// A language that naga translates to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    /// SPIR-V 1.3, binary (Vulkan)
    Spirv,
    /// Metal shading language 3.0 (Metal)
    Msl,
    /// HLSL for shader model 6.6 (DX12)
    Hlsl,
}

/// Translates a valid module; `checks` as in the library's kernels.
pub(super) fn translate(module: &naga::Module, info: &ModuleInfo, to: Language, checks: Checks) -> Result<Vec<u8>> {
    let checked = checks == Checks::Checked;
    match to {
        Language::Spirv => spirv(module, info, checked).map_err(|error| fault(&error)),
        Language::Msl => metal(module, info, checked).map_err(|error| fault(&error)),
        Language::Hlsl => hlsl(module, info, checked).map_err(|error| fault(&error)),
    }
}

fn fault(error: &dyn std::fmt::Display) -> Failure {
    Failure::working(format!("naga cannot translate this: {error}"))
}

fn policies(checked: bool) -> BoundsCheckPolicies {
    let policy = if checked { BoundsCheckPolicy::Restrict } else { BoundsCheckPolicy::Unchecked };
    BoundsCheckPolicies { index: policy, buffer: policy, image_load: policy, binding_array: policy }
}

fn spirv(module: &naga::Module, info: &ModuleInfo, checked: bool) -> Result<Vec<u8>, spv::Error> {
    let options = spv::Options {
        lang_version: (1, 3),
        // Names, which make a disassembly readable.
        flags: spv::WriterFlags::DEBUG,
        bounds_check_policies: policies(checked),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: checked,
        emit_int_div_checks: checked,
        ..Default::default()
    };
    let words = spv::write_vec(module, info, &options, None)?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

fn metal(module: &naga::Module, info: &ModuleInfo, checked: bool) -> Result<Vec<u8>, msl::Error> {
    let options = msl::Options {
        lang_version: (3, 0),
        per_entry_point_map: module.entry_points.iter().map(|entry| (entry.name.clone(), slots(module))).collect(),
        fake_missing_bindings: false,
        bounds_check_policies: policies(checked),
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: checked,
        emit_int_div_checks: checked,
        ..Default::default()
    };
    let (text, _) = msl::write_string(module, info, &options, &msl::PipelineOptions::default())?;
    Ok(text.into_bytes())
}

/// Metal's buffer slots: the bindings one after the other, then the buffer of the sizes of those before it.
fn slots(module: &naga::Module) -> msl::EntryPointResources {
    let mut bindings: Vec<_> = module.global_variables.iter().filter_map(|(_, global)| global.binding).collect();
    bindings.sort();
    bindings.dedup();
    let sizes = u8::try_from(bindings.len()).ok();
    let target = |slot| msl::BindTarget { buffer: Some(slot), mutable: true, ..Default::default() };
    msl::EntryPointResources {
        resources: bindings.into_iter().zip(0..).map(|(binding, slot)| (binding, target(slot))).collect(),
        immediates_buffer: None,
        sizes_buffer: sizes,
    }
}

fn hlsl(module: &naga::Module, info: &ModuleInfo, checked: bool) -> Result<Vec<u8>, hlsl::Error> {
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_6,
        restrict_indexing: checked,
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: checked,
        ..Default::default()
    };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default()).write(module, info, None)?;
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
@group(0) @binding(0) var<storage> input: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(64)
fn sum(@builtin(local_invocation_index) index: u32, @builtin(subgroup_id) subgroup: u32) {
    var total = 0u;
    for (var i = index; i < arrayLength(&input); i += 64u) {
        total += input[i];
    }
    sums[subgroup] = subgroupAdd(total);
}
";

    fn translated(to: Language, checks: Checks) -> Vec<u8> {
        let module = naga::front::wgsl::parse_str(TEXT).expect("the text is WGSL");
        let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
            .validate(&module)
            .expect("the text is valid");
        translate(&module, &info, to, checks).expect("the text can be translated")
    }

    #[test]
    fn every_variant_that_ships_can_be_translated() {
        for variant in wavelane::shader::catalog::variants() {
            let (module, info) = variant.assemble().and_then(|text| text.validate()).expect("variants are valid");
            for to in [Language::Spirv, Language::Msl, Language::Hlsl] {
                let output = translate(&module, &info, to, Checks::Trusted);
                assert!(output.is_ok_and(|bytes| !bytes.is_empty()), "{} to {to:?}", variant.name());
            }
        }
    }

    fn text(to: Language, checks: Checks) -> String {
        String::from_utf8(translated(to, checks)).expect("this language is text")
    }

    #[test]
    fn spirv_has_its_magic_number_and_version() {
        let bytes = translated(Language::Spirv, Checks::Trusted);
        assert_eq!(bytes[..8], [0x03, 0x02, 0x23, 0x07, 0, 3, 1, 0]);
    }

    #[test]
    fn metal_buffers_have_slots() {
        let text = text(Language::Msl, Checks::Trusted);
        assert!(text.contains("simd_sum") && text.contains("[[buffer(0)]]"), "{text}");
        assert!(text.contains("sums [[buffer(1)]]") && text.contains("[[buffer(2)]]"), "{text}");
        assert!(!text.contains("[[user("), "{text}");
    }

    #[test]
    fn hlsl_has_wave_operations() {
        assert!(text(Language::Hlsl, Checks::Trusted).contains("WaveActiveSum"));
    }

    #[test]
    fn checks_are_left_out_unless_asked_for() {
        for language in [Language::Spirv, Language::Msl, Language::Hlsl] {
            let (trusted, checked) = (translated(language, Checks::Trusted), translated(language, Checks::Checked));
            assert!(trusted.len() < checked.len(), "{language:?}");
        }
    }
}
