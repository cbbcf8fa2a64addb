//! Barriers that not every invocation reaches, found in the text.

use naga::Module;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::model::exactly;
use super::outcome::{Outcome, bar_plot, control, overall};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit};
use crate::shader::uniformity::{Finding, check};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "barrier-uniformity",
    group: "lanes",
    title: "A barrier that some never reach",
    claim: "A barrier that is reached by some of the lanes of a workgroup is an error, and one can see it in the text: the \
            branch or loop around or before it depends on something that differs from lane to lane.",
    simulated: Simulated::Issues,
    run,
};

const TEXT: &str = include_str!("../../shaders/lab/barrier_uniformity.wgsl");

/// Entry points of barrier_uniformity.wgsl, what they are, and the barriers of each that are in split flow.
const CASES: [(&str, &str, u32); 12] = [
    ("behind_a_return", "behind the guard's return", 1),
    ("behind_a_guard", "behind a guard around the work", 0),
    ("in_an_arm", "in an arm by lane", 1),
    ("in_both_arms", "one in each arm by lane", 2),
    ("in_an_arm_by_workgroup", "in an arm by workgroup", 0),
    ("in_a_loop_over_data", "in a loop over data", 1),
    ("in_a_loop_over_a_uniform", "in a loop over a uniform", 0),
    ("behind_a_break", "behind a break by lane", 1),
    ("called_by_some", "in a function that some call", 1),
    ("called_by_all", "in a function that all call", 0),
    ("by_a_shared_value", "in an arm by workgroupUniformLoad", 0),
    ("load_in_an_arm", "workgroupUniformLoad in an arm by lane", 1),
];

/// The line of this span, counted from 1.
fn line(span: naga::Span) -> usize {
    span.location(TEXT).line_number as usize
}

/// Whether the comment at the end of this line begins with `mark`.
fn is_marked(line: usize, mark: &str) -> bool {
    let text = line.checked_sub(1).and_then(|at| TEXT.lines().nth(at));
    text.is_some_and(|text| text.split_once("// ").is_some_and(|(_, comment)| comment.starts_with(mark)))
}

/// Where a finding is and why, in words.
fn place(finding: &Finding) -> String {
    let cause =
        finding.cause.map_or_else(|| "nothing that was found".to_string(), |span| format!("line {}", line(span)));
    format!("{} in line {}, because of {cause}", finding.operation, line(finding.span))
}

/// Whether the finding's place and cause are the lines that the text itself marks.
fn is_where_marked(finding: &Finding) -> bool {
    is_marked(line(finding.span), "split") && finding.cause.is_some_and(|span| is_marked(line(span), "cause"))
}

fn module() -> Result<Module> {
    naga::front::wgsl::parse_str(TEXT)
        .map_err(|error| Error::internal(format!("barrier_uniformity.wgsl: {}", error.message())))
}

fn run(_bench: &Bench<'_>) -> Result<Outcome> {
    let module = module()?;
    let accepted = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).is_ok();
    let findings = check(&module);
    let mut rows = Vec::new();
    for (entry, name, expected) in CASES {
        let here: Vec<_> = findings.iter().filter(|finding| finding.entry == entry).collect();
        let row =
            Row::count(name, "barriers in split flow", Unit::Count, here.len() as u32).predicted(exactly(expected));
        rows.push(match here.as_slice() {
            [] => row,
            here => row.noted(here.iter().map(|finding| place(finding)).collect::<Vec<_>>().join("; ")),
        });
    }
    let marked = findings.iter().filter(|finding| is_where_marked(finding)).count() as u32;
    type Case = (&'static str, &'static str, u32);
    let (split, uniform): (Vec<Case>, Vec<Case>) = CASES.into_iter().partition(|(.., expected)| *expected > 0);
    let total: u32 = CASES.iter().map(|(.., expected)| expected).sum();
    rows.push(
        Row::count("all", "findings at the right line, with the right cause", Unit::Count, marked)
            .predicted(exactly(total)),
    );
    rows.push(
        Row::count(
            "all",
            "kernels with a split barrier that naga's validator accepts",
            Unit::Count,
            if accepted { split.len() as u32 } else { 0 },
        )
        .noted("naga validates a module as a whole, and these kernels are one module"),
    );
    let control = control(
        "a guard around the work alone, judged as if its barrier were behind a return",
        &rows[1],
        exactly(1u32),
    );
    let finding = format!(
        "{} barriers in split flow were found in {} of {} small kernels, {marked} of them with the line and the cause that \
         were expected; of {} kernels without, {} were left in peace. naga's own validator {}, and a browser would refuse \
         it. These kernels are never dispatched: what they would do is undefined.",
        findings.len(),
        split.iter().filter(|(entry, ..)| findings.iter().any(|finding| finding.entry == *entry)).count(),
        CASES.len(),
        uniform.len(),
        uniform.iter().filter(|(entry, ..)| findings.iter().all(|finding| finding.entry != *entry)).count(),
        if accepted { "accepts all of it" } else { "refuses it" },
    );
    let plot = bar_plot("Barriers in split flow", "found", &rows[..CASES.len()]);
    Ok(Outcome {
        prediction: format!(
            "{total} barriers of {} kernels in split flow, each with its line and what splits; none in the other {}.",
            split.len(),
            uniform.len()
        ),
        finding,
        method: "Static: levels of uniformity (workgroup, subgroup, lane) are followed through naga's representation of the \
                 text, with every call at the levels of its arguments. It follows every path, so it can warn of one that \
                 no data takes."
            .into(),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_point_is_a_case_and_every_mark_is_found() {
        let module = module().expect("the text parses");
        let entries: Vec<_> = module.entry_points.iter().map(|entry| &*entry.name).collect();
        assert_eq!(entries, CASES.map(|(entry, ..)| entry));
        let findings = check(&module);
        for (line, text) in (1..).zip(TEXT.lines()) {
            // The comments at the top speak of the marks.
            if !text.starts_with("//") && is_marked(line, "split") {
                assert!(findings.iter().any(|finding| super::line(finding.span) == line), "line {line}: {text}");
            }
        }
        for finding in &findings {
            assert!(is_where_marked(finding), "{}: {}", finding.entry, place(finding));
        }
    }
}
