//! `wavelane list`: what can be measured, and what can be emitted.

use clap::Args;
use wavelane::lab;
use wavelane::shader::catalog;

use super::{Failure, Result, output};

/// Lists the experiments, for `measure`, and the shader variants, for `emit`
///
/// With TEXT, prints the names that contain it, one a line and nothing else: `wavelane list /` gives all variants.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Part of the names to list
    text: Option<String>,
}

pub(super) fn run(args: &ListArgs) -> Result {
    output::print(match &args.text {
        None => overview(),
        Some(text) => names(text)?,
    })
}

/// Every experiment, and for each kind of variant how many there are and one of them.
fn overview() -> String {
    let mut experiments = output::table();
    for experiment in lab::experiments() {
        experiments.add_row([format!("  {}", experiment.id), experiment.group.into(), experiment.title.into()]);
    }
    let variants = catalog::variants();
    let mut kinds: Vec<(&str, usize, &str)> = Vec::new();
    for name in variants.iter().map(catalog::Variant::name) {
        let kind = name.split('/').next().unwrap_or(name);
        match kinds.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, count, _)) => *count += 1,
            None => kinds.push((kind, 1, name)),
        }
    }
    let mut shaders = output::table();
    for (kind, count, example) in kinds {
        shaders.add_row([format!("  {kind}"), count.to_string(), format!("as {example}")]);
    }
    format!(
        "experiments: wavelane measure ID\n{}\nshader variants, {}: wavelane emit VARIANT, wavelane list TEXT for more names\n{}",
        output::lines(&experiments),
        variants.len(),
        output::lines(&shaders)
    )
}

fn names(text: &str) -> Result<String> {
    let experiments = lab::experiments().iter().map(|experiment| experiment.id.to_owned());
    let variants = catalog::variants().into_iter().map(|variant| variant.name().to_owned());
    let found: Vec<_> = experiments.chain(variants).filter(|name| name.contains(text)).collect();
    match found.is_empty() {
        true => Err(Failure::usage(format!("no experiment and no shader variant has '{text}' in its name"))),
        false => Ok(found.join("\n") + "\n"),
    }
}
