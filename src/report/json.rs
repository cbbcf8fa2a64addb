//! The record as JSON, whole: what [`read()`] reads, [`write()`] wrote.

use serde::de::DeserializeOwned;

use super::{Record, RecordComparison, SCHEMA, TuningRecord};
use crate::error::{Error, ErrorKind, Result};

/// The record with all its samples, indented. Numbers that are none (NaN, infinities) are written as `null`.
pub fn write(record: &Record) -> String {
    pretty(record)
}

/// The record of `wavelane tune`, indented, with `null` as [`write()`] has it.
pub fn write_tuning(record: &TuningRecord) -> String {
    pretty(record)
}

/// A comparison of two records, indented.
pub fn write_comparison(comparison: &RecordComparison) -> String {
    pretty(comparison)
}

fn pretty(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("a record is plain data: structures, lists, texts and numbers") + "\n"
}

/// Reads a record that this version, or another of the same schema, wrote. Fields that this version does not know are
/// left out.
///
/// # Errors
/// [`ErrorKind::InvalidRecord`] for text that is not JSON, JSON that is no record, another schema, or a field that is
/// missing or of another type; the message says which, and in which line.
pub fn read(text: &str) -> Result<Record> {
    parse(text)
}

/// Reads what [`write_tuning`] wrote.
///
/// # Errors
/// As [`read()`].
pub fn read_tuning(text: &str) -> Result<TuningRecord> {
    parse(text)
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    let invalid = |message: String| Error::new(ErrorKind::InvalidRecord, message);
    // Some editors write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| invalid(format!("this is no JSON record: {error}")))?;
    if !json.is_object() {
        return Err(invalid(
            "this is no wavelane record: an object was expected, as `measure --json` writes it".into(),
        ));
    }
    match json.get("schema") {
        None => Err(invalid("this is no wavelane record: it has no field `schema`".into())),
        Some(schema) if *schema != SCHEMA => {
            Err(invalid(format!("the record has schema {schema}, this version reads schema {SCHEMA}")))
        }
        Some(_) => serde_json::from_str(text)
            .map_err(|error| invalid(format!("the record of schema {SCHEMA} is broken: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn message(text: &str) -> String {
        let error = read(text).expect_err("the text is no record");
        assert_eq!(error.kind(), ErrorKind::InvalidRecord);
        error.to_string()
    }

    #[test]
    fn a_record_comes_back() {
        let record = sample::record();
        assert!(write(&record).contains("\"verdict\": \"failed\""));
        assert_eq!(read(&write(&record)), Ok(record));
    }

    #[test]
    fn numbers_that_are_none_come_back_as_nan() {
        let mut record = sample::record();
        let row = &mut record.experiments[1].rows[0];
        (row.value, row.interval, row.samples) = (f64::NAN, [f64::INFINITY, 1.0], vec![1.0, f64::NAN]);
        record.experiments[1].plots[0].series[0].points[0] = [2.0, f64::NAN];
        let back = read(&write(&record)).expect("null stands for a number that is none");
        let row = &back.experiments[1].rows[0];
        assert!(row.value.is_nan() && row.interval[0].is_nan() && row.samples[1].is_nan());
        assert_eq!((row.interval[1], row.samples[0]), (1.0, 1.0));
        assert!(back.experiments[1].plots[0].series[0].points[0][1].is_nan());
    }

    #[test]
    fn another_schema_is_refused() {
        let text = write(&sample::record());
        let other = text.replacen("\"schema\": 1", "\"schema\": 2", 1);
        assert_eq!(message(&other), "the record has schema 2, this version reads schema 1");
        let none = text.replacen("\"schema\": 1,", "", 1);
        assert!(message(&none).contains("no field `schema`"));
        let word = text.replacen("\"schema\": 1", "\"schema\": \"one\"", 1);
        assert!(message(&word).contains("schema \"one\""));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(message("").contains("no JSON record"));
        for other in ["[]", "[1, 2]", "1", "null", "\"schema\""] {
            assert!(message(other).contains("no wavelane record: an object was expected"), "{other}");
        }
        let text = write(&sample::record());
        let missing = text.replacen("\"version\": \"0.1.0\",", "", 1);
        assert!(message(&missing).contains("missing field `version`"));
        let list = text.replacen("\"adapter\": {", "\"adapter\": 7, \"was\": {", 1);
        assert!(message(&list).contains("expected an adapter's record"), "{}", message(&list));
        let cut = &text[..text.len() / 2];
        assert!(message(cut).contains("line"), "{}", message(cut));
        let verdict = text.replacen("\"verdict\": \"holds\"", "\"verdict\": \"maybe\"", 1);
        let message = message(&verdict);
        assert!(message.contains("maybe") && message.contains("line"), "{message}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_record() {
        let record = sample::record();
        assert_eq!(read(&format!("\u{feff}{}", write(&record))), Ok(record));
    }

    #[test]
    fn fields_of_a_later_version_are_left_out() {
        let record = sample::record();
        let text = write(&record).replacen("\"schema\": 1", "\"colour\": \"blue\", \"schema\": 1", 1);
        assert_eq!(read(&text), Ok(record));
    }
}
