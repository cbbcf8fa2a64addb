//! `wavelane emit`: the text of a shader variant, as it is or translated to what a backend takes.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wavelane::shader::{Assembled, catalog, reflect};
use wavelane::wgpu::Features;

use super::output::Destination;
use super::translate::{Language, translate};
use super::{Failure, Result, checks};

/// Prints a shader variant as it is assembled, or translated as wgpu translates it
///
/// Translations leave wgpu's run-time checks out, as the library does, unless --checked is given. Variants whose name
/// begins with `block/` are functions for one's own kernel, without entry points.
#[derive(Debug, Args)]
pub(super) struct EmitArgs {
    /// The variant: a name of `wavelane list`
    variant: String,
    /// What to emit
    #[arg(long, default_value = "wgsl")]
    target: Target,
    /// Writes to this file instead of standard output
    #[arg(long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Keeps wgpu's run-time checks in a translation
    #[arg(long)]
    checked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// WGSL as wgpu takes it
    Wgsl,
    /// WGSL as browsers take it
    Web,
    /// SPIR-V 1.3, binary (Vulkan)
    Spirv,
    /// Metal shading language 3.0 (Metal)
    Msl,
    /// HLSL for shader model 6.6 (DX12)
    Hlsl,
}

pub(super) fn run(args: &EmitArgs) -> Result {
    let variant = catalog::find(&args.variant).map_err(|error| Failure::usage(error.to_string()))?;
    let to_terminal = args.output == Path::new("-") && std::io::stdout().is_terminal();
    if args.target == Target::Spirv && to_terminal {
        return Err(Failure::usage("SPIR-V is binary: choose a file with --output, or pipe it into spirv-dis"));
    }
    let output = Destination::open(&args.output)?;
    let assembled = variant.assemble()?;
    let language = match args.target {
        Target::Wgsl => return output.write(assembled.text().as_bytes()),
        Target::Web => return output.write(web(&assembled)?.as_bytes()),
        Target::Spirv => Language::Spirv,
        Target::Msl => Language::Msl,
        Target::Hlsl => Language::Hlsl,
    };
    let (module, info) = assembled.validate()?;
    output.write(&translate(&module, &info, language, checks(args.checked))?)
}

/// The text with the directive that browsers ask for, which naga does not take.
fn web(assembled: &Assembled) -> Result<String> {
    let needs = reflect::features(assembled.text());
    if needs.intersects(Features::SHADER_INT64 | Features::SHADER_F64) {
        return Err(Failure::working("browsers have no 64-bit numbers, which this variant needs"));
    }
    let directive = if needs.contains(Features::SUBGROUP) { "enable subgroups;\n" } else { "" };
    Ok(format!("{directive}{}", assembled.text()))
}
