//! Comparing two records row by row.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Record, Row, SCHEMA, Unit};
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
    /// Only one of the records has the row, or they have it in different units.
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
/// apart: a difference that is less than the speed of the device moved during the two runs
/// ([`Record::unsteadiness`]) is ambiguous.
pub fn compare_records(before: &Record, after: &Record) -> RecordComparison {
    let after_rows = rows(after);
    let after_by_key: HashMap<_, _> = after_rows.iter().copied().collect();
    let before_rows = rows(before);
    let before_by_key: HashMap<_, _> = before_rows.iter().copied().collect();
    let both = before_rows.iter().map(|(key, row)| (key, Some(*row), after_by_key.get(key).copied()));
    let unsteady = before.unsteadiness() * after.unsteadiness();
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
                change: before.zip(after).map_or(Change::Missing, |(before, after)| change(before, after, unsteady)),
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

fn change(before: &Row, after: &Row, unsteady: f64) -> Change {
    if before.unit != after.unit {
        return Change::Missing;
    }
    // What is neither sampled nor timed is a count.
    let counted = before.clock == "none" && after.clock == "none";
    let comparison = if counted {
        measure::compare(&[before.value], &[after.value])
    } else if before.samples.len() > 1 && after.samples.len() > 1 {
        measure::compare(&before.samples, &after.samples)
    } else {
        measure::judge_ratio(
            after.value / before.value,
            [after.interval[0] / before.interval[1], after.interval[1] / before.interval[0]],
        )
    };
    let ratio = after.value / before.value;
    let comparison = match comparison {
        Comparison::Faster | Comparison::Slower if !counted && ratio < unsteady && ratio > 1.0 / unsteady => {
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
    fn what_differs_by_less_than_the_device_did_is_ambiguous() {
        let before = sample::record();
        let mut after = a_tenth_more(&before);
        for (at, experiment) in after.experiments.iter_mut().enumerate() {
            experiment.reference_ns = Some(if at % 2 == 0 { [500.0, 500.0] } else { [600.0, 600.0] });
        }
        assert_eq!(after.unsteadiness(), 1.2);
        let comparison = compare_records(&before, &after);
        for row in &comparison.rows {
            let timed = !matches!(row.unit, Unit::Lanes | Unit::Steps | Unit::Items | Unit::Count);
            let expected = if timed && row.before != row.after { Change::Ambiguous } else { Change::Same };
            assert_eq!(row.change, expected, "{row:?}");
        }
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
