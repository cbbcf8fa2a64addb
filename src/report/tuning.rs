//! What `wavelane tune` found: the sizes that suit an adapter, and how much they gain.

use serde::{Deserialize, Serialize};

use super::AdapterRecord;
use super::record::null_is_nan;
use crate::gpu::Gpu;
use crate::lab;
use crate::measure::{Comparison, judge_ratio};
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
    /// The sizes to take: those of the fastest candidate where it is [clearly faster](Self::comparison), else the
    /// default's.
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
    /// How many times as fast as the default the fastest is.
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
