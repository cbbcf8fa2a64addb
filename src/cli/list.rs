//! `wavelane list`: what can be measured, and what can be emitted.

use clap::Args;
use comfy_table::{Attribute, Cell};
use wavelane::lab;

use super::{Result, output};

/// Lists the experiments, for `measure`, and the shader variants, for `emit`
#[derive(Debug, Args)]
pub(super) struct ListArgs {}

pub(super) fn run(_: &ListArgs) -> Result {
    output::print(experiments())
}

fn experiments() -> String {
    let mut table = output::table();
    let mut group = "";
    for experiment in lab::experiments() {
        if experiment.group != group {
            group = experiment.group;
            table.add_row([Cell::new(group).add_attribute(Attribute::Bold)]);
        }
        table.add_row([Cell::new(format!("  {}", experiment.id)), Cell::new(experiment.title)]);
    }
    output::lines(&table)
}
