//! `wavelane explain`: the model's questions, answered for the adapter at hand.

use std::path::PathBuf;

use clap::Args;
use comfy_table::{Attribute, Cell};
use wavelane::lab::Options;
use wavelane::lab::explain::{self, Answer, Question};
use wavelane::report::Record;

use super::{DeviceArgs, Failure, Result, input, measure, output};

/// Answers questions about lanes and workgroups with the numbers of this adapter
///
/// With an ID the model's arithmetic is written out for the adapter's width, beside what was measured. Without one, every
/// question is answered in short. The experiments that the answer needs are measured first, unless --from names a record
/// that has them.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    #[arg(value_name = "ID", help = help())]
    id: Option<String>,
    /// Takes the measurements from this record, which `measure --json` wrote; no device is opened then
    #[arg(long, value_name = "RECORD.json", conflicts_with_all = ["adapter", "backend", "simulate", "emulate", "checked", "timeout"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
}

fn help() -> String {
    let ids: Vec<_> = explain::questions().iter().map(|question| question.id).collect();
    format!("The question, all in short if none is named: {}", ids.join(", "))
}

pub(super) fn run(args: &ExplainArgs) -> Result {
    let questions = match &args.id {
        Some(id) => std::slice::from_ref(explain::find(id).map_err(|error| Failure::usage(error.to_string()))?),
        None => explain::questions(),
    };
    let (record, failed) = match &args.from {
        Some(path) => (input::record(path)?, None),
        None => {
            let needed: Vec<_> = questions.iter().flat_map(|question| question.experiments).copied().collect();
            measure::record(&args.device, Options::default(), &needed)?
        }
    };
    let mut text = adapter(&record);
    for question in questions {
        let answer = question.answer(&record);
        text += "\n";
        text += &match args.id {
            Some(_) => in_full(question, &answer),
            None => in_short(question, &answer),
        };
    }
    if args.id.is_none() {
        text += "\nwavelane explain ID shows the arithmetic and the measurements.\n";
    }
    output::print(text)?;
    // What did not fail is answered all the same.
    failed.map_or(Ok(()), Err)
}

fn adapter(record: &Record) -> String {
    format!("{}, {} lanes\n", record.adapter.name, record.adapter.counted_lanes)
}

fn in_short(question: &Question, answer: &Answer) -> String {
    let mut table = output::table();
    let longest = explain::questions().iter().map(|question| question.id.len()).max().unwrap_or(0);
    table.add_row([Cell::new(format!("{:longest$}", question.id)), Cell::new(question.text)]);
    table.add_row([Cell::new(""), Cell::new(&answer.conclusion)]);
    output::lines(&table)
}

fn in_full(question: &Question, answer: &Answer) -> String {
    let mut table = output::table();
    let name = |name: &str| Cell::new(name).add_attribute(Attribute::Dim);
    table.add_row([name("model"), Cell::new(&answer.model)]);
    for steps in lane_tables(answer) {
        table.add_row([name(""), Cell::new(steps)]);
    }
    for measured in &answer.measured {
        let verdict = measured.verdict.map_or_else(String::new, |verdict| format!(" ({})", verdict.word()));
        let experiment = measured.experiment;
        table.add_row([name("measured"), Cell::new(format!("{experiment}{verdict}: {}", measured.text))]);
    }
    table.add_row([name("conclusion"), Cell::new(&answer.conclusion)]);
    format!("{}\n\n{}", question.text, output::lines(&table))
}

/// Lanes beside each other, so that their numbers fit a terminal.
const LANES_A_LINE: usize = 16;

/// What each lane holds after each step, so many lanes at a time.
fn lane_tables(answer: &Answer) -> Vec<String> {
    let Some(first) = answer.steps.first() else { return vec![] };
    let names = answer.steps.iter().map(|step| step.name.as_str()).chain(["lane"]);
    let longest = names.map(str::len).max().unwrap_or(0);
    let line = |name: &str, numbers: &mut dyn Iterator<Item = usize>| {
        let numbers: String = numbers.map(|number| format!("{number:>4}")).collect();
        format!("{name:<longest$}{numbers}")
    };
    (0..first.lanes.len())
        .step_by(LANES_A_LINE)
        .map(|from| {
            let to = (from + LANES_A_LINE).min(first.lanes.len());
            let mut lines = vec![line("lane", &mut (from..to))];
            for step in &answer.steps {
                lines.push(line(&step.name, &mut step.lanes[from..to].iter().map(|held| *held as usize)));
            }
            lines.join("\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavelane::lab::explain::Step;

    #[test]
    fn lanes_stand_in_columns_that_fit() {
        let step = |name: &str, lanes: u32| Step { name: name.into(), lanes: (0..lanes).collect() };
        let answer = |lanes| Answer {
            model: String::new(),
            steps: vec![step("each its own", lanes), step("+ lane + 1", lanes)],
            measured: vec![],
            conclusion: String::new(),
        };
        assert_eq!(lane_tables(&answer(2)), ["lane           0   1\neach its own   0   1\n+ lane + 1     0   1"]);
        let tables = lane_tables(&answer(64));
        assert_eq!(tables.len(), 4);
        assert!(tables[3].starts_with("lane          48  49"), "{}", tables[3]);
        assert!(tables.iter().flat_map(|table| table.lines()).all(|line| line.len() <= 80));
        assert!(lane_tables(&Answer { steps: vec![], ..answer(2) }).is_empty());
    }
}
