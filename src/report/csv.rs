//! The record's rows as comma-separated values.

use super::Record;

const COLUMNS: [&str; 15] = [
    "experiment",
    "cell",
    "quantity",
    "unit",
    "value",
    "low",
    "high",
    "samples",
    "path",
    "checks",
    "clock",
    "predicted",
    "pred_low",
    "pred_high",
    "verdict",
];

/// One line a measured row, after a line of column names. Fields that hold a comma, a quote or a line break are quoted
/// (RFC 4180); what a row does not have, and numbers that are none, are empty. `samples` is their count: the samples
/// themselves are in the JSON record.
pub fn write(record: &Record) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    for experiment in &record.experiments {
        for row in &experiment.rows {
            let predicted = |part: fn(&super::Prediction) -> f64| row.prediction.as_ref().map_or(f64::NAN, part);
            let fields: [String; COLUMNS.len()] = [
                quoted(&experiment.id),
                quoted(&row.cell),
                quoted(&row.quantity),
                row.unit.name().into(),
                number(row.value),
                number(row.interval[0]),
                number(row.interval[1]),
                row.samples.len().to_string(),
                quoted(&row.path),
                quoted(&row.checks),
                quoted(&row.clock),
                number(predicted(|p| p.value)),
                number(predicted(|p| p.low)),
                number(predicted(|p| p.high)),
                row.verdict.map_or("", super::Verdict::word).into(),
            ];
            text += &fields.join(",");
            text.push('\n');
        }
    }
    text
}

fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// The fields of each line, by the grammar of RFC 4180.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let mut lines = vec![vec![String::new()]];
        let (mut quoted, mut chars) = (false, text.chars().peekable());
        while let Some(c) = chars.next() {
            let line = lines.last_mut().expect("there is a line");
            let field = line.last_mut().expect("there is a field");
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    field.push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => line.push(String::new()),
                '\n' if !quoted => lines.push(vec![String::new()]),
                c => field.push(c),
            }
        }
        assert_eq!(lines.pop(), Some(vec![String::new()]), "the text ends with a line break");
        lines
    }

    #[test]
    fn every_row_comes_back() {
        let record = sample::record();
        let lines = parse(&write(&record));
        assert_eq!(lines[0], COLUMNS);
        let rows: Vec<_> = record.experiments.iter().flat_map(|e| e.rows.iter().map(move |row| (&e.id, row))).collect();
        assert_eq!(lines.len(), rows.len() + 1);
        for (line, (id, row)) in lines[1..].iter().zip(rows) {
            assert_eq!([&line[0], &line[1], &line[2]], [id, &row.cell, &row.quantity]);
            assert_eq!(line.len(), COLUMNS.len());
            assert_eq!(line[3], row.unit.name());
            assert_eq!(line[4].parse().unwrap_or(f64::NAN).to_bits(), row.value.to_bits());
            assert_eq!(line[7], row.samples.len().to_string());
            assert_eq!(line[11].parse().ok(), row.prediction.map(|p| p.value));
            assert_eq!(line[14].is_empty(), row.verdict.is_none());
        }
    }

    #[test]
    fn an_experiment_that_failed_has_its_line() {
        let lines = parse(&write(&sample::record()));
        let failed: Vec<_> = lines.iter().filter(|line| line[14] == "failed").collect();
        assert_eq!(failed.len(), 1);
        assert_eq!((&*failed[0][0], &*failed[0][7]), ("guard", "0"));
    }

    #[test]
    fn awkward_fields_are_quoted_and_others_are_not() {
        assert_eq!(quoted("k=8"), "k=8");
        assert_eq!(quoted("2^24 items, tree"), "\"2^24 items, tree\"");
        assert_eq!(quoted("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }
}
