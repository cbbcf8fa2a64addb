//! Comparing two records row by row.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{ExperimentRecord, Record, Row, SCHEMA, Unit};
use crate::measure::{self, Comparison};

/// Two records, compared row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordComparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What the first record is of.
    pub before: RunId,
    /// What the second record is of.
    pub after: RunId,
    /// Every row of the first record in its order, then those of the second that the first has not.
    pub rows: Vec<RowComparison>,
}

/// Which run a record is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunId {
    /// Name of the adapter.
    pub adapter: String,
    /// Driver.
    pub driver: String,
    /// Version of the crate.
    pub version: String,
    /// When the run began: seconds since 1970, UTC.
    pub created_s: u64,
}

/// One row, or what one of the records has of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowComparison {
    /// Id of the experiment.
    pub experiment: String,
    /// The row's case.
    pub cell: String,
    /// What is measured.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// The first record's value.
    pub before: Option<f64>,
    /// The second record's value.
    pub after: Option<f64>,
    /// What the comparison says.
    pub change: Change,
}

/// How the second record's row compares with the first's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// No difference beyond the noise, and the noise is small; counts are equal.
    Same,
    /// The second is faster: less time, more throughput.
    Faster,
    /// The second is slower.
    Slower,
    /// The two differ, in a unit that is neither time nor throughput.
    Changed,
    /// The noise is too large to say.
    Ambiguous,
    /// Only one of the records has the row or a figure of it, or they have it in different units.
    Missing,
}

impl Change {
    /// Every change, in the order in which they are counted.
    pub const ALL: [Self; 6] = [Self::Same, Self::Faster, Self::Slower, Self::Changed, Self::Ambiguous, Self::Missing];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Changed => "changed",
            Self::Ambiguous => "ambiguous",
            Self::Missing => "missing",
        }
    }
}

impl RecordComparison {
    /// How many rows there are of this change.
    pub fn count(&self, change: Change) -> usize {
        self.rows.iter().filter(|row| row.change == change).count()
    }
}

/// Compares `after` with `before`, row by row: rows are the same if experiment, cell and quantity are.
///
/// Rows with samples are compared by [`measure::compare`]; rows derived from others by their intervals; counts must be
/// equal. What is measured twice in one run sees one state of the machine, so its samples do not tell how far two runs lie
/// apart: a difference that the device's own speed may explain is ambiguous. How far that moved, the reference kernel
/// tells, which was timed at the start and at the end of the row's experiment in both runs: by its square, since on a CPU
/// that other programs use too, a kernel loses more than the short reference kernel shows.
pub fn compare_records(before: &Record, after: &Record) -> RecordComparison {
    let after_rows = rows(after);
    let after_by_key: HashMap<_, _> = after_rows.iter().copied().collect();
    let before_rows = rows(before);
    let before_by_key: HashMap<_, _> = before_rows.iter().copied().collect();
    let both = before_rows.iter().map(|(key, row)| (key, Some(*row), after_by_key.get(key).copied()));
    let moved = moved(before, after);
    let new = after_rows.iter().filter(|(key, _)| !before_by_key.contains_key(key));
    let rows = both
        .chain(new.map(|(key, row)| (key, None, Some(*row))))
        .filter_map(|(&(experiment, cell, quantity), before, after)| {
            Some(RowComparison {
                experiment: experiment.into(),
                cell: cell.into(),
                quantity: quantity.into(),
                unit: before.or(after)?.unit,
                before: before.map(|row| row.value),
                after: after.map(|row| row.value),
                change: before.zip(after).map_or(Change::Missing, |(before, after)| {
                    change(before, after, moved.get(experiment).copied().unwrap_or(1.0))
                }),
            })
        })
        .collect();
    RecordComparison { schema: SCHEMA, before: run_id(before), after: run_id(after), rows }
}

type Key<'a> = (&'a str, &'a str, &'a str);

fn rows(record: &Record) -> Vec<(Key<'_>, &Row)> {
    record
        .experiments
        .iter()
        .flat_map(|e| e.rows.iter().map(|row| ((e.id.as_str(), row.cell.as_str(), row.quantity.as_str()), row)))
        .collect()
}

fn run_id(record: &Record) -> RunId {
    RunId {
        adapter: record.adapter.name.clone(),
        driver: record.adapter.driver.clone(),
        version: record.version.clone(),
        created_s: record.created_s,
    }
}

/// How far the speed of the device may have moved between the two runs of each experiment: the most that a reading of
/// the reference kernel in one run is over a reading in the other, at least 1, squared.
fn moved<'a>(before: &'a Record, after: &Record) -> HashMap<&'a str, f64> {
    let readings: HashMap<_, _> = after.experiments.iter().map(|e| (e.id.as_str(), e.reference_ns)).collect();
    let most = |before: [f64; 2], after: [f64; 2]| {
        let ratios = before.iter().flat_map(|before| after.map(|after| (after / before).max(before / after)));
        ratios.filter(|ratio| ratio.is_finite()).fold(1.0, f64::max).powi(2)
    };
    let of = |e: &'a ExperimentRecord| {
        let after = readings.get(e.id.as_str()).copied().flatten()?;
        Some((e.id.as_str(), most(e.reference_ns?, after)))
    };
    before.experiments.iter().filter_map(of).collect()
}

fn change(before: &Row, after: &Row, moved: f64) -> Change {
    // A row that could not be measured holds no figure.
    if before.unit != after.unit || before.samples.is_empty() != after.samples.is_empty() {
        return Change::Missing;
    }
    if before.samples == after.samples && before.value == after.value {
        return Change::Same;
    }
    // What is neither sampled nor timed is a count.
    let untimed = before.clock == "none" && after.clock == "none";
    let comparison = if before.samples.len() > 1 && after.samples.len() > 1 {
        measure::compare(&before.samples, &after.samples)
    } else if untimed {
        measure::compare(&[before.value], &[after.value])
    } else {
        measure::judge_ratio(
            after.value / before.value,
            [after.interval[0] / before.interval[1], after.interval[1] / before.interval[0]],
        )
    };
    let ratio = after.value / before.value;
    let comparison = match comparison {
        Comparison::Faster | Comparison::Slower if !untimed && ratio <= moved && ratio >= 1.0 / moved => {
            Comparison::Ambiguous
        }
        judged => judged,
    };
    let (less, more) = match before.unit {
        Unit::Ns | Unit::Issues | Unit::Sectors => (Change::Faster, Change::Slower),
        Unit::GbPerS | Unit::GopsPerS => (Change::Slower, Change::Faster),
        Unit::Ratio | Unit::Share | Unit::Lanes | Unit::Steps | Unit::Items | Unit::Count => {
            (Change::Changed, Change::Changed)
        }
    };
    match comparison {
        Comparison::Same => Change::Same,
        Comparison::Faster => less,
        Comparison::Slower => more,
        Comparison::Ambiguous => Change::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn first_ns_row(record: &mut Record) -> &mut Row {
        let rows = record.experiments.iter_mut().flat_map(|e| &mut e.rows);
        rows.into_iter().find(|row| row.unit == Unit::Ns).expect("the sample has a time")
    }

    #[test]
    fn a_record_is_the_same_as_itself() {
        let record = sample::record();
        let comparison = compare_records(&record, &record);
        assert_eq!(comparison.rows.len(), record.experiments.iter().map(|e| e.rows.len()).sum::<usize>());
        assert_eq!(comparison.count(Change::Same), comparison.rows.len(), "{comparison:#?}");
    }

    /// The record with everything that was timed a tenth larger.
    fn a_tenth_more(record: &Record) -> Record {
        let mut after = record.clone();
        for row in after.experiments.iter_mut().flat_map(|e| &mut e.rows).filter(|row| row.clock != "none") {
            row.value *= 1.1;
            row.interval = row.interval.map(|end| end * 1.1);
            row.samples.iter_mut().for_each(|sample| *sample *= 1.1);
        }
        after
    }

    #[test]
    fn a_tenth_more_time_is_slower_and_a_tenth_more_throughput_is_faster() {
        let before = sample::record();
        let after = a_tenth_more(&before);
        let comparison = compare_records(&before, &after);
        let mut seen = Vec::new();
        for row in &comparison.rows {
            let expected = match row.unit {
                Unit::Ns => Change::Slower,
                Unit::GbPerS | Unit::GopsPerS => Change::Faster,
                Unit::Ratio | Unit::Share => Change::Changed,
                _ => Change::Same,
            };
            assert_eq!(row.change, expected, "{row:?}");
            seen.push(expected);
        }
        assert!(Change::ALL[..4].iter().all(|change| seen.contains(change)), "the sample has all of these");
    }

    #[test]
    fn what_differs_by_no_more_than_the_reference_kernel_did_is_ambiguous() {
        let before = sample::record();
        let mut after = a_tenth_more(&before);
        // Every other experiment met a device that had become a fifth slower, or as much faster.
        let slowed = |at: usize| at.is_multiple_of(2);
        for (at, experiment) in after.experiments.iter_mut().enumerate().filter(|(at, _)| slowed(*at)) {
            let factor = if at.is_multiple_of(4) { 1.2 } else { 1.0 / 1.2 };
            experiment.reference_ns = experiment.reference_ns.map(|ns| ns.map(|ns| ns * factor));
        }
        let comparison = compare_records(&before, &after);
        let mut seen = [0; 2];
        for row in comparison.rows.iter().filter(|row| row.before != row.after) {
            let at = after.experiments.iter().position(|e| e.id == row.experiment).expect("both have the experiment");
            assert_eq!(row.change == Change::Ambiguous, slowed(at), "{row:?}");
            seen[usize::from(slowed(at))] += 1;
        }
        assert!(seen.iter().all(|count| *count > 0), "the sample has rows of both kinds");
    }

    #[test]
    fn a_row_without_a_figure_is_missing_beside_one_that_has_it() {
        let before = sample::record();
        let mut after = before.clone();
        let row = first_ns_row(&mut after);
        let key = (row.cell.clone(), row.quantity.clone());
        (row.samples, row.value, row.interval) = (vec![], 0.0, [0.0; 2]);
        let change = |before: &Record, after: &Record| {
            let rows = compare_records(before, after).rows;
            rows.into_iter().find(|row| (&row.cell, &row.quantity) == (&key.0, &key.1)).map(|row| row.change)
        };
        assert_eq!(change(&before, &after), Some(Change::Missing));
        assert_eq!(change(&after, &after), Some(Change::Same));
    }

    #[test]
    fn counts_of_several_runs_are_judged_by_all_of_them() {
        let mut before = sample::record();
        let row = first_ns_row(&mut before);
        row.clock = "none".into();
        let mut after = before.clone();
        let change = |before: &mut Record, after: &mut Record, a: &[f64], b: &[f64]| {
            first_ns_row(before).samples = a.to_vec();
            first_ns_row(after).samples = b.to_vec();
            let rows = compare_records(before, after).rows;
            rows.into_iter().find(|row| row.unit == Unit::Ns).map(|row| row.change)
        };
        let mut judge = |a: &[f64], b: &[f64]| change(&mut before, &mut after, a, b);
        assert_eq!(judge(&[4090.0, 4091.0, 4089.0], &[4091.0, 4089.0, 4092.0]), Some(Change::Same));
        assert_eq!(judge(&[10.0, 500.0, 90.0], &[400.0, 20.0, 100.0]), Some(Change::Ambiguous));
        assert_eq!(judge(&[0.0, 0.0, 0.0], &[0.0, 0.0, 0.0]), Some(Change::Same));
    }

    #[test]
    fn counts_must_be_equal() {
        let before = sample::record();
        let mut after = before.clone();
        let row = after.experiments.iter_mut().flat_map(|e| &mut e.rows).find(|row| row.unit == Unit::Lanes);
        row.expect("the sample counts lanes").value += 1.0;
        let comparison = compare_records(&before, &after);
        assert_eq!(comparison.count(Change::Changed), 1);
        assert_eq!(comparison.count(Change::Same), comparison.rows.len() - 1);
    }

    #[test]
    fn a_derived_time_is_judged_by_its_interval() {
        let mut before = sample::record();
        let row = first_ns_row(&mut before);
        (row.samples, row.value, row.interval) = (vec![100.0], 100.0, [99.0, 101.0]);
        let mut after = before.clone();
        let change = |before: &Record, after: &mut Record, value: f64, interval: [f64; 2]| {
            let row = first_ns_row(after);
            (row.samples, row.value, row.interval) = (vec![value], value, interval);
            let rows = compare_records(before, after).rows;
            rows.into_iter().find(|row| row.unit == Unit::Ns).map(|row| row.change)
        };
        assert_eq!(change(&before, &mut after, 102.0, [101.0, 103.0]), Some(Change::Same));
        assert_eq!(change(&before, &mut after, 110.0, [109.0, 111.0]), Some(Change::Slower));
        assert_eq!(change(&before, &mut after, 110.0, [90.0, 130.0]), Some(Change::Ambiguous));
        assert_eq!(change(&before, &mut after, f64::NAN, [f64::NAN; 2]), Some(Change::Ambiguous));
    }

    #[test]
    fn rows_of_one_record_only_are_missing_in_the_other() {
        let before = sample::record();
        let mut after = before.clone();
        let gone = after.experiments[0].rows.remove(0);
        let mut new = gone.clone();
        new.cell = "new".into();
        after.experiments[0].rows.push(new);
        let comparison = compare_records(&before, &after);
        assert_eq!(comparison.count(Change::Missing), 2);
        assert_eq!((&*comparison.rows[0].cell, comparison.rows[0].after), (&*gone.cell, None));
        let last = comparison.rows.last().expect("there are rows");
        assert_eq!((&*last.cell, last.before), ("new", None));
    }
}
