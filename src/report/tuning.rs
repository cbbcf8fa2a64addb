//! What `wavelane tune` found: the sizes that suit an adapter, and how much they gain.

use serde::{Deserialize, Serialize};

use super::AdapterRecord;
use super::record::null_is_nan;
use crate::gpu::Gpu;
use crate::lab;
use crate::measure::{Comparison, TOLERANCE, judge_ratio};
use crate::primitive::Tuning;

/// Everything that one run of `wavelane tune` found on one adapter. Additive, as the [record](super::Record) is: a
/// reader refuses another [`SCHEMA`](super::SCHEMA).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningRecord {
    /// [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Version of this crate.
    pub version: String,
    /// When the run began: seconds since 1970, UTC.
    pub created_s: u64,
    /// What it ran on.
    pub adapter: AdapterRecord,
    /// `quick` or `full`.
    pub effort: String,
    /// How long the whole run took.
    pub wall_s: f64,
    /// Sums of `u32`.
    pub reduce: PrimitiveTuning,
    /// Inclusive scans of `u32` under addition.
    pub scan: PrimitiveTuning,
    /// Selections that keep half of their `u32` items.
    pub select: PrimitiveTuning,
}

impl TuningRecord {
    /// The primitives by name.
    pub fn primitives(&self) -> [(&'static str, &PrimitiveTuning); 3] {
        [("reduce", &self.reduce), ("scan", &self.scan), ("select", &self.select)]
    }
}

/// The sizes of one primitive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveTuning {
    /// The sizes to take: those of the fastest candidate where it is [clearly faster](Self::comparison) and
    /// [loses](Self::loses) over no number of items, else the default's.
    pub tuning: Tuning,
    /// The sizes that a plan has unless told otherwise.
    pub default: Tuning,
    /// The fastest candidate of the sweep.
    pub fastest: Tuning,
    /// How many candidates there were, the default among them.
    pub candidates: usize,
    /// How many times as fast as the default the fastest is: the geometric mean over the numbers of items, of samples
    /// that were taken anew after it had won the sweep. 1 where it is the default.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub gain: f64,
    /// A 95 % interval of the gain.
    #[serde(deserialize_with = "null_is_nan::pair")]
    pub interval: [f64; 2],
    /// The same for each number of items; empty where the fastest is the default.
    pub sizes: Vec<SizeTuning>,
}

impl PrimitiveTuning {
    /// How the fastest candidate compares with the default, by the rule of [`compare`](crate::measure::compare).
    pub fn comparison(&self) -> Comparison {
        let [low, high] = self.interval;
        judge_ratio(1.0 / self.gain, [1.0 / high, 1.0 / low])
    }

    /// A number of items over which the fastest candidate took longer than the default, by more than the
    /// [tolerance](crate::measure::TOLERANCE).
    pub fn loses(&self) -> Option<&SizeTuning> {
        self.sizes.iter().find(|size| size.gain * (1.0 + TOLERANCE) < 1.0)
    }
}

/// The fastest candidate against the default over one number of items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeTuning {
    /// Items.
    pub items: u32,
    /// Median nanoseconds of the default.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub default_ns: f64,
    /// Median nanoseconds of the fastest candidate.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub fastest_ns: f64,
    /// How many times as fast as the default the fastest is: the ratio of the two medians.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub gain: f64,
    /// A 95 % interval of the gain.
    #[serde(deserialize_with = "null_is_nan::pair")]
    pub interval: [f64; 2],
}

/// Measured sizes for the plans, as `wavelane tune --json` wrote them.
///
/// ```no_run
/// use wavelane::{Gpu, op, primitive::{Reduce, Scan, ScanOptions}, report::Tunings};
/// # #[cfg(feature = "cli")]
/// # fn plans(gpu: &Gpu) -> Result<(), Box<dyn std::error::Error>> {
/// let tunings = Tunings::from_json(&std::fs::read_to_string("tuning.json")?)?;
/// if tunings.is_for(gpu) {
///     let sum = Reduce::<u32>::with_tuning(gpu, op::Add, tunings.reduce)?;
///     let sums = Scan::<u32>::with_options(gpu, op::Add, ScanOptions::inclusive().tuning(tunings.scan))?;
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tunings {
    /// For [`Reduce::with_tuning`](crate::primitive::Reduce::with_tuning).
    pub reduce: Tuning,
    /// For [`ScanOptions::tuning`](crate::primitive::ScanOptions::tuning).
    pub scan: Tuning,
    /// For [`Select::with_tuning`](crate::primitive::Select::with_tuning).
    pub select: Tuning,
    /// What they were measured on.
    pub adapter: AdapterRecord,
}

impl Tunings {
    /// Reads the text that `wavelane tune --json` wrote. Sizes that no plan can have are refused when a plan is built
    /// with them: what a device allows is the device's to say.
    ///
    /// # Errors
    /// As [`json::read_tuning`](super::json::read_tuning).
    #[cfg(feature = "cli")]
    pub fn from_json(text: &str) -> crate::Result<Self> {
        Ok(Self::from(&super::json::read_tuning(text)?))
    }

    /// Whether they were measured on this adapter, by this driver and at this width of subgroups. Elsewhere results are
    /// as right, but nothing says that they are as fast.
    pub fn is_for(&self, gpu: &Gpu) -> bool {
        let here = lab::adapter_record(gpu);
        let key = |adapter: &AdapterRecord| {
            let AdapterRecord { name, backend, driver, counted_lanes, path, .. } = adapter;
            (name.clone(), backend.clone(), driver.clone(), *counted_lanes, path.clone())
        };
        key(&self.adapter) == key(&here)
    }
}

impl From<&TuningRecord> for Tunings {
    fn from(record: &TuningRecord) -> Self {
        Self {
            reduce: record.reduce.tuning,
            scan: record.scan.tuning,
            select: record.select.tuning,
            adapter: record.adapter.clone(),
        }
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::op;
    use crate::primitive::Reduce;
    use crate::report::{json, sample, terminal};

    fn record() -> TuningRecord {
        let (default, fastest) = (Tuning::new(256, 16, 4096).deepened(256, 4), Tuning::new(512, 8, 4224));
        let found = |tuning, gain: f64, interval| PrimitiveTuning {
            tuning,
            default,
            fastest,
            candidates: 26,
            gain,
            interval,
            sizes: vec![SizeTuning { items: 1 << 20, default_ns: 8_000.0 * gain, fastest_ns: 8_000.0, gain, interval }],
        };
        let sample = sample::record();
        TuningRecord {
            schema: 1,
            version: sample.version,
            created_s: sample.created_s,
            adapter: sample.adapter,
            effort: "quick".into(),
            wall_s: 12.0,
            reduce: found(fastest, 1.5, [1.4, 1.6]),
            scan: found(default, 1.02, [0.99, 1.05]),
            select: PrimitiveTuning { fastest: default, sizes: vec![], ..found(default, 1.0, [1.0; 2]) },
        }
    }

    #[test]
    fn a_record_comes_back_and_gives_its_tunings() {
        let record = record();
        let text = json::write_tuning(&record);
        assert_eq!(json::read_tuning(&text), Ok(record.clone()));
        let tunings = Tunings::from_json(&text).expect("it was written by this version");
        assert_eq!(tunings.reduce, Tuning::new(512, 8, 4224));
        assert_eq!((tunings.scan, tunings.select), (record.scan.default, record.select.default));
        assert_eq!(tunings.adapter, record.adapter);
    }

    #[test]
    fn another_schema_and_what_is_no_tuning_are_refused() {
        let text = json::write_tuning(&record());
        let refused = |text: &str| {
            let error = Tunings::from_json(text).expect_err("it is refused");
            assert_eq!(error.kind(), ErrorKind::InvalidRecord);
            error.to_string()
        };
        let other = refused(&text.replacen("\"schema\": 1", "\"schema\": 2", 1));
        assert_eq!(other, "the record has schema 2, this version reads schema 1");
        assert!(refused(&json::write(&sample::record())).contains("missing field `reduce`"));
        assert!(refused(&text.replacen("\"rows\": 8", "\"rows\": -8", 1)).contains("-8"));
    }

    #[test]
    fn numbers_that_are_none_come_back_as_nan_and_are_ambiguous() {
        let mut record = record();
        (record.reduce.gain, record.reduce.interval) = (f64::NAN, [f64::INFINITY, f64::NAN]);
        let back = json::read_tuning(&json::write_tuning(&record)).expect("null stands for a number that is none");
        assert!(back.reduce.gain.is_nan() && back.reduce.interval[0].is_nan());
        assert_eq!(back.reduce.comparison(), Comparison::Ambiguous);
    }

    #[test]
    fn sizes_out_of_range_are_refused_by_the_plan_with_both_numbers() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let text = json::write_tuning(&record());
        for (from, to, says) in [
            ("\"workgroup\": 512", "\"workgroup\": 2048", "from 128 to 1024 invocations, not 2048"),
            ("\"rows\": 8", "\"rows\": 33", "1 to 32 rows, not 33"),
            ("\"max_groups\": 4224", "\"max_groups\": 70000", "1 to 65535 workgroups share the work, not 70000"),
        ] {
            let tunings = Tunings::from_json(&text.replace(from, to)).expect("the numbers are numbers");
            let error = Reduce::<u32>::with_tuning(&gpu, op::Add, tunings.reduce).expect_err("no plan has these sizes");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn another_adapter_driver_or_width_is_told() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let here = Tunings { adapter: lab::adapter_record(&gpu), ..Tunings::from(&record()) };
        assert!(here.is_for(&gpu));
        let moved = |change: fn(&mut AdapterRecord)| {
            let mut there = here.clone();
            change(&mut there.adapter);
            there.is_for(&gpu)
        };
        assert!(!moved(|adapter| adapter.name.push('+')));
        assert!(!moved(|adapter| adapter.driver.push('+')));
        assert!(!moved(|adapter| adapter.counted_lanes *= 2));
        assert!(!moved(|adapter| adapter.path.push('+')));
        assert!(moved(|adapter| adapter.path_reason.push('+')), "words change nothing");
    }

    #[test]
    fn the_table_says_what_was_chosen_and_why() {
        let text = terminal::tuning(&record(), 100);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for part in [
            "workgroups of 512 with 8 loads a lane, at most 4,224 of them\n",
            "at most 4,096 of them, 4 tiles each beyond 256\n",
            "candidates  26",
            "clearly faster than the default",
            "inside the noise",
            "the default, the fastest of the sweep",
            "1,048,576",
            "1.40 to 1.60",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let mut record = record();
        record.reduce.sizes[0].gain = 0.807;
        let text = terminal::tuning(&record, 100);
        assert!(text.contains("the default: the fastest is slower over 1,048,576 items"), "{text}");
    }
}
