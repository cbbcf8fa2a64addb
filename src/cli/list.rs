//! `wavelane list`: what can be measured, and what can be emitted.

use clap::Args;
use wavelane::lab;
use wavelane::shader::catalog;

use super::{Result, output};

/// Lists the experiments, for `measure`, and the shader variants, for `emit`
#[derive(Debug, Args)]
pub(super) struct ListArgs {}

pub(super) fn run(_: &ListArgs) -> Result {
    let mut text = experiments();
    text += "\nshader variants\n";
    for variant in catalog::variants() {
        text += &format!("  {}\n", variant.name());
    }
    output::print(text)
}

fn experiments() -> String {
    let mut table = output::table();
    for experiment in lab::experiments() {
        table.add_row([format!("  {}", experiment.id), experiment.group.into(), experiment.title.into()]);
    }
    format!("experiments\n{}", output::lines(&table))
}
