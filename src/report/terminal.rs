//! The record as text: plain, without colour, as wide as the caller says (60 columns or more).

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, presets};

use super::format::{date, number};
use super::{Change, ExperimentRecord, Record, RecordComparison, Row, RunId, TuningRecord, Unit, Verdict};
use crate::lab::tune_kernel::{self, Candidate};
use crate::measure::{self, Comparison};
use crate::primitive::Tuning;

/// What a run found: the adapter, the verdicts counted, one line an experiment, and what is to be said of several.
pub fn summary(record: &Record, columns: u16) -> String {
    let more = "wavelane measure ID shows one of them in full, --html FILE all of them with plots.";
    let notes = facts(columns, &[("note", record.caution()), ("more", more)]);
    header(record, columns) + "\n" + &lines(record, columns) + "\n" + &notes
}

/// What a run found: the adapter, the verdicts counted, and each experiment in full.
pub fn in_full(record: &Record, columns: u16) -> String {
    let mut text = header(record, columns);
    for e in &record.experiments {
        text += "\n";
        text += &experiment(e, &record.repeat(&e.id), columns);
    }
    if !record.caution().is_empty() {
        text += "\n";
        text += &facts(columns, &[("note", record.caution())]);
    }
    text
}

/// The adapter, the run, and the verdicts counted.
fn header(record: &Record, columns: u16) -> String {
    let adapter = &record.adapter;
    let mut text = format!("{} ({}, {})\n", adapter.name, adapter.backend, adapter.kind);
    let [min, max] = adapter.reported_lanes;
    let reported = if min == max { min.to_string() } else { format!("{min} to {max}") };
    let run = format!(
        "wavelane {}, {}, {} s, {}",
        record.version,
        record.effort,
        number(record.wall_s),
        date(record.created_s)
    );
    text += &facts(
        columns,
        &[
            ("driver", &adapter.driver),
            ("lanes", &format!("{} counted, {reported} reported", adapter.counted_lanes)),
            ("path", &format!("{}: {}", adapter.path, adapter.path_reason)),
            ("clock", &adapter.clock()),
            ("run", &run),
            ("verdicts", &verdict_counts(record)),
        ],
    );
    text
}

/// One line an experiment. Why some cannot be measured is said below, once for all of them.
fn lines(record: &Record, columns: u16) -> String {
    let mut table = table(columns, ["experiment", "verdict", "measured (predicted): of what"]);
    let mut reasons: Vec<&str> = Vec::new();
    for e in &record.experiments {
        let measured = match e.verdict {
            Verdict::NotMeasurable => {
                let number = reasons.iter().position(|reason| *reason == e.finding).unwrap_or_else(|| {
                    reasons.push(&e.finding);
                    reasons.len() - 1
                });
                format!("see {}", number + 1)
            }
            Verdict::Failed => e.finding.clone(),
            _ => decisive(e).map_or_else(|| e.title.clone(), measured),
        };
        let mut line = comfy_table::Row::from([&e.id, e.verdict.word(), &measured.replace('\n', " ")]);
        line.max_height(1);
        table.add_row(line);
    }
    for column in table.column_iter_mut().take(2) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let numbers: Vec<_> = (1..=reasons.len()).map(|number| number.to_string()).collect();
    let numbered: Vec<_> = numbers.iter().zip(&reasons).map(|(number, reason)| (&**number, *reason)).collect();
    match reasons.is_empty() {
        true => print(&table),
        false => print(&table) + "\n" + &facts(columns, &numbered),
    }
}

/// The first row that came out as the experiment did.
fn decisive(e: &ExperimentRecord) -> Option<&Row> {
    e.rows.iter().find(|row| row.prediction.is_some() && row.verdict == Some(e.verdict))
}

/// What was measured, the band that was predicted, and of what.
fn measured(row: &Row) -> String {
    let band = row.prediction.map_or_else(String::new, |p| format!(" ({})", row.unit.format_range([p.low, p.high])));
    format!("{}{band}: {}, {}", row.unit.format(row.value), row.cell, row.quantity)
}

/// One experiment in full: the claim, what was predicted and measured, how, how to repeat it, and every row.
fn experiment(e: &ExperimentRecord, repeat: &str, columns: u16) -> String {
    let control = e.control.as_ref().map_or_else(String::new, |c| {
        format!(
            "{}: {}, judged against {}: {}, {} it must",
            c.what,
            number(c.value),
            Unit::Ratio.format_range([c.prediction.low, c.prediction.high]),
            c.verdict.word(),
            if c.verdict == Verdict::Differs { "as" } else { "but differ" }
        )
    });
    let reference = e.reference_drift.map_or_else(String::new, drift);
    let mut text = format!("{}\n", e.title);
    text += &facts(
        columns,
        &[
            ("verdict", e.verdict.word()),
            ("claim", &e.claim),
            ("predicted", &e.prediction),
            ("measured", &e.finding),
            ("method", &e.method),
            ("control", &control),
            ("reference", &reference),
            ("repeat", repeat),
        ],
    );
    if !e.rows.is_empty() {
        let mut table =
            table(columns, ["case", "quantity", "measured", "95 % interval", "predicted (band)", "verdict"]);
        for row in &e.rows {
            let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
            table.add_row([
                Cell::new(&row.cell),
                Cell::new(&row.quantity),
                right(row.unit.format(row.value)),
                right(row.spread()),
                right(row.predicted_text()),
                Cell::new(row.verdict.map_or("", Verdict::word)),
            ]);
        }
        text += "\n";
        text += &print(&table);
        for row in &e.rows {
            if let Some(note) = &row.note {
                text += &facts(columns, &[(&row.cell, note)]);
            }
        }
    }
    text
}

/// A comparison: what was compared, the changes counted, and each row that is not the same.
pub fn comparison(comparison: &RecordComparison, columns: u16) -> String {
    let run =
        |run: &RunId| format!("{}, {}, wavelane {}, {}", run.adapter, run.driver, run.version, date(run.created_s));
    let counts: Vec<_> = Change::ALL
        .iter()
        .map(|change| (comparison.count(*change), change.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {count}"))
        .collect();
    let mut text = facts(
        columns,
        &[
            ("before", &run(&comparison.before)),
            ("after", &run(&comparison.after)),
            ("rows", &if counts.is_empty() { "none".into() } else { counts.join(", ") }),
        ],
    );
    let mut table = table(columns, ["experiment", "case", "quantity", "before", "after", "ratio", "change"]);
    for row in comparison.rows.iter().filter(|row| row.change != Change::Same) {
        let right = |text: Option<String>| Cell::new(text.unwrap_or_default()).set_alignment(CellAlignment::Right);
        let ratio = row.before.zip(row.after).map(|(before, after)| number(after / before));
        table.add_row([
            Cell::new(&row.experiment),
            Cell::new(&row.cell),
            Cell::new(&row.quantity),
            right(row.before.map(|value| row.unit.format(value))),
            right(row.after.map(|value| row.unit.format(value))),
            right(ratio),
            Cell::new(row.change.word()),
        ]);
    }
    if !table.is_empty() {
        text += "\n";
        text += &print(&table);
    }
    text
}

/// What `wavelane tune` found: the sizes of each primitive's plans, and what they gain over each number of items.
pub fn tuning(record: &TuningRecord, columns: u16) -> String {
    let adapter = &record.adapter;
    let run = format!(
        "wavelane {}, {}, {} s, {}",
        record.version,
        record.effort,
        number(record.wall_s),
        date(record.created_s)
    );
    let mut text = format!("{} ({}, {})\n", adapter.name, adapter.backend, adapter.kind);
    let lanes = format!("{} counted, {}", adapter.counted_lanes, adapter.path);
    text += &facts(columns, &[("driver", &adapter.driver), ("lanes", &lanes), ("run", &run)]);
    for (name, found) in record.primitives() {
        let chosen = match (found.comparison(), found.loses()) {
            _ if found.fastest == found.default => "the default, the fastest of the sweep".into(),
            (Comparison::Faster, None) => "the fastest, clearly faster than the default".into(),
            (Comparison::Slower, _) => "the default: the sweep's fastest is slower in samples of its own".into(),
            (_, Some(size)) => {
                format!("the default: the fastest is slower over {} items", number(size.items.into()))
            }
            (Comparison::Same | Comparison::Ambiguous, None) => "the default: the fastest is inside the noise".into(),
        };
        text += &format!("\n{name}\n");
        text += &facts(
            columns,
            &[
                ("default", &sizes(found.default)),
                ("fastest", &sizes(found.fastest)),
                ("chosen", &chosen),
                ("candidates", &found.candidates.to_string()),
            ],
        );
        if found.sizes.is_empty() {
            continue;
        }
        let mut table = table(columns, ["items", "default", "fastest", "gain = default / fastest", "95 % interval"]);
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        for size in &found.sizes {
            table.add_row([
                right(number(size.items.into())),
                right(Unit::Ns.format(size.default_ns)),
                right(Unit::Ns.format(size.fastest_ns)),
                right(Unit::Ratio.format(size.gain)),
                right(Unit::Ratio.format_range(size.interval)),
            ]);
        }
        table.add_row([
            right("geometric mean".into()),
            Cell::new(""),
            Cell::new(""),
            right(Unit::Ratio.format(found.gain)),
            right(Unit::Ratio.format_range(found.interval)),
        ]);
        text += &print(&table);
    }
    text
}

/// What `wavelane tune --kernel` found: every combination with its time, and the fastest.
pub fn kernel_tuning(candidates: &[Candidate], columns: u16) -> String {
    let Some(fastest) = tune_kernel::fastest(candidates) else { return String::new() };
    let mut table =
        table(columns, ["constants", "workgroups", "time", "95 % interval", "over the fastest", "speed", "result"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for candidate in candidates {
        let ratio = candidate.samples.median() / fastest.samples.median();
        let speed = match measure::compare(&fastest.samples.ns, &candidate.samples.ns) {
            _ if std::ptr::eq(candidate, fastest) => "fastest",
            Comparison::Same => "same",
            Comparison::Faster => "faster",
            Comparison::Slower => "slower",
            Comparison::Ambiguous => "ambiguous",
        };
        table.add_row([
            Cell::new(tune_kernel::named(&candidate.constants)),
            right(number(candidate.groups.into())),
            right(Unit::Ns.format(candidate.samples.median())),
            right(Unit::Ns.format_range(candidate.samples.interval())),
            right(Unit::Ratio.format(ratio)),
            Cell::new(speed),
            Cell::new(if candidate.agrees { "as most" } else { "differs" }),
        ]);
    }
    let name = tune_kernel::named(&fastest.constants);
    let compared = "with each other, bit by bit; which of them is right is not known";
    print(&table) + "\n" + &facts(columns, &[("fastest", &name), ("results", compared)])
}

/// A tuning in words.
fn sizes(tuning: Tuning) -> String {
    let Tuning { workgroup, rows, max_groups, fill_groups, tiles_per_group } = tuning;
    let deepened = match tiles_per_group {
        1 => String::new(),
        tiles => format!(", {tiles} tiles each beyond {}", number(fill_groups.into())),
    };
    let most = number(max_groups.into());
    format!("workgroups of {workgroup} with {rows} loads a lane, at most {most} of them{deepened}")
}

/// How far the reference kernel moved, in words.
pub(super) fn drift(ratio: f64) -> String {
    format!("moved by {:.1} % from start to end", (ratio - 1.0).abs() * 100.0)
}

fn verdict_counts(record: &Record) -> String {
    let counts: Vec<_> = Verdict::ALL
        .iter()
        .map(|verdict| (record.experiments.iter().filter(|e| e.verdict == *verdict).count(), verdict.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {count}"))
        .collect();
    if counts.is_empty() { "none".into() } else { counts.join(", ") }
}

/// Names and texts in two columns, without the empty ones.
fn facts(columns: u16, facts: &[(&str, &str)]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    table.force_no_tty();
    table.add_rows(facts.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| [*name, *text]));
    print(&table)
}

fn table<const N: usize>(columns: u16, header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-')));
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns).force_no_tty().set_header(header);
    table
}

fn print(table: &Table) -> String {
    table.trim_fmt() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{compare_records, sample};

    /// The text in the columns of narrow, usual and wide terminals, of which the usual one is handed back.
    fn fitting(view: impl Fn(u16) -> String) -> String {
        [60, 120, 100].map(|columns| {
            let text = view(columns);
            fits(&text, columns);
            text
        })[2]
            .clone()
    }

    fn fits(text: &str, width: u16) {
        for line in text.lines() {
            // The sample's wide characters take two columns each.
            let columns: usize = line.chars().map(|c| if c >= '\u{1100}' && c != '…' { 2 } else { 1 }).sum();
            assert!(columns <= usize::from(width), "{columns} columns: {line}");
            assert!(!line.contains('\u{1b}'), "colour in {line:?}");
        }
    }

    #[test]
    fn a_summary_names_adapter_verdicts_and_every_experiment() {
        let record = sample::record();
        let text = fitting(|columns| summary(&record, columns));
        assert!(text.starts_with("NVIDIA H200 (vulkan, discrete GPU)\n"), "{text}");
        assert!(text.contains("holds 3, differs 1, ambiguous 1, not measurable 1, failed 1"), "{text}");
        assert!(text.contains("32 counted, 32 reported"));
        assert!(text.contains("2026-11-30 23:59 UTC"));
        let lines = text.lines().filter(|line| !line.is_empty()).count();
        assert_eq!(lines, 7 + 2 + record.experiments.len() + 2, "one line an experiment: {text}");
        for experiment in &record.experiments {
            assert!(text.contains(&experiment.id), "{} in {text}", experiment.id);
        }
        assert!(
            text.lines().any(|line| line.contains("k-way") && line.contains("0.997 (0.950 to 1.05): k=1, time")),
            "{text}"
        );
    }

    #[test]
    fn what_several_experiments_share_is_said_once() {
        let mut record = sample::record();
        record.adapter.kind = super::super::AdapterRecord::CPU_DRIVER.into();
        let shared = record.experiments[5].clone();
        record.experiments.push(ExperimentRecord { id: "another".into(), ..shared.clone() });
        record.experiments.push(ExperimentRecord { finding: "No.".into(), ..shared });
        let text = fitting(|columns| summary(&record, columns));
        assert_eq!(text.matches("opt in with --waiting").count(), 1, "{text}");
        assert_eq!((text.matches("see 1").count(), text.matches("see 2").count()), (2, 1), "{text}");
        for text in [&text, &in_full(&record, 100)] {
            assert_eq!(text.matches("Times on a CPU driver double").count(), 1, "{text}");
        }
        record.experiments.retain(|e| e.verdict == Verdict::Holds);
        assert!(!summary(&record, 100).contains("double"), "nothing is off");
    }

    #[test]
    fn an_experiment_shows_every_row_and_how_to_repeat_it() {
        let mut record = sample::record();
        let text = fitting(|columns| in_full(&record, columns));
        for e in &record.experiments {
            assert!(text.contains(&format!("wavelane measure {}\n", e.id)) && text.contains(e.verdict.word()));
        }
        record.options = "--simulate 64 --full".into();
        record.experiments.retain(|e| e.id == "k-way");
        let text = in_full(&record, 100);
        assert!(text.contains("wavelane measure k-way --simulate 64 --full\n"), "{text}");
        assert!(text.contains("k=32"), "{text}");
        assert!(text.contains("31.9"), "{text}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).contains("1.00, judged against 30.4 to 33.6: differs, as it must"), "{text}");
        for e in &mut record.experiments {
            e.control.iter_mut().for_each(|control| control.verdict = Verdict::Ambiguous);
        }
        let text = in_full(&record, 100);
        assert!(words(&text).contains("33.6: ambiguous, but differ it must"), "{text}");
        assert!(text.contains("32 (30.4 to 33.6)"), "{text}");
        assert!(text.contains("moved by 0.2 % from start to end"), "{text}");
    }

    #[test]
    fn a_comparison_shows_what_changed_and_only_that() {
        let before = sample::record();
        let mut after = before.clone();
        after.experiments[1].rows[0].samples.iter_mut().for_each(|ns| *ns *= 1.2);
        after.experiments[1].rows[0].value *= 1.2;
        let changes = compare_records(&before, &after);
        let text = fitting(|columns| comparison(&changes, columns));
        assert!(text.contains("slower 1"), "{text}");
        assert!(
            text.lines().any(|line| line.contains("k-way") && line.contains("1.20") && line.ends_with("slower")),
            "{text}"
        );
        assert!(!text.contains("lane-map"), "{text}");
        let same = comparison(&compare_records(&before, &before), 100);
        assert!(!same.contains("experiment"), "{same}");
    }
}
