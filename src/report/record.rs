//! One result record, of which the terminal table, JSON, CSV and the HTML page are views.
//!
//! The schema is additive: a field or a verdict may be added, none changes its meaning. A reader refuses another
//! [`SCHEMA`].

use serde::{Deserialize, Serialize};

/// The version of the schema that this crate writes and reads.
pub const SCHEMA: u32 = 1;

/// Everything that one run measured on one adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a record")]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of this crate.
    pub version: String,
    /// When the run began: seconds since 1970, UTC.
    pub created_s: u64,
    /// What it ran on.
    pub adapter: AdapterRecord,
    /// `quick` or `full`.
    pub effort: String,
    /// The options of `wavelane measure` that run it so once more, as `--simulate 64 --full`; empty where there are none.
    #[serde(default)]
    pub options: String,
    /// How long the whole run took.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub wall_s: f64,
    /// The experiments, in the order in which they ran.
    pub experiments: Vec<ExperimentRecord>,
}

impl Record {
    /// The command that repeats this experiment as the run had it.
    #[cfg(feature = "cli")]
    pub(super) fn repeat(&self, id: &str) -> String {
        format!("wavelane measure {id} {}", self.options).trim_end().into()
    }

    /// What is to be said of all times of the run; nothing where none of them came out other than predicted.
    #[cfg(feature = "cli")]
    pub(super) fn caution(&self) -> &'static str {
        let is_off = |e: &ExperimentRecord| matches!(e.verdict, Verdict::Differs | Verdict::Ambiguous);
        let is_timed = |e: &ExperimentRecord| e.reference_drift.is_some();
        if self.adapter.kind == AdapterRecord::CPU_DRIVER && self.experiments.iter().any(|e| is_timed(e) && is_off(e)) {
            "Times on a CPU driver double whenever another program takes a core: repeat what differs or is ambiguous on an \
             idle machine, with lavapipe on one thread (LP_NUM_THREADS=1)."
        } else {
            ""
        }
    }
}

/// The adapter of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an adapter's record")]
pub struct AdapterRecord {
    /// Name, as the driver gives it.
    pub name: String,
    /// Backend: vulkan, metal, dx12, or simt for the simulator.
    pub backend: String,
    /// Discrete GPU, integrated GPU, virtual GPU, [`CPU driver`](Self::CPU_DRIVER), [`simulator`](Self::SIMULATOR) or other.
    pub kind: String,
    /// Driver name and version, as the driver gives them.
    pub driver: String,
    /// Smallest and largest subgroup size reported.
    pub reported_lanes: [u32; 2],
    /// Subgroup width counted by the probe; 1 without subgroups.
    pub counted_lanes: u32,
    /// Path that the library takes: native, or emulated at a width.
    pub path: String,
    /// Why.
    pub path_reason: String,
    /// Nanoseconds a tick of the GPU's timestamps; none without timestamps, where times are wall-clock times.
    pub timestamp_period_ns: Option<f64>,
}

impl AdapterRecord {
    /// The kind of a driver that runs on the CPU.
    pub const CPU_DRIVER: &'static str = "CPU driver";
    /// The kind of this crate's simulator.
    pub const SIMULATOR: &'static str = "simulator";

    /// Where the times of the run come from, for a reader.
    #[cfg(feature = "cli")]
    pub(super) fn clock(&self) -> String {
        match self.timestamp_period_ns {
            Some(ns) => format!("GPU timestamps, {} ns a tick", super::format::number(ns)),
            None if self.kind == Self::SIMULATOR => {
                "none: instructions issued, or sectors touched, are counted in place of times".into()
            }
            None => "wall clock: the device has no usable timestamps".into(),
        }
    }
}

/// One experiment: the claim, what the model predicts, what was measured, and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an experiment's record")]
pub struct ExperimentRecord {
    /// Short name, also the argument that repeats it: `wavelane measure ID`.
    pub id: String,
    /// Group of the experiment: `lanes`, `primitives`, `workgroups`.
    pub group: String,
    /// A heading.
    pub title: String,
    /// The claim of the SIMT model, for someone who has not read the code.
    pub claim: String,
    /// What the model predicts for this adapter, in a sentence with numbers.
    pub prediction: String,
    /// What was found, in a sentence with numbers; where it differs, why.
    pub finding: String,
    /// Whether the claim holds here.
    pub verdict: Verdict,
    /// How it was measured.
    pub method: String,
    /// The measured rows.
    pub rows: Vec<Row>,
    /// Plots of the rows.
    pub plots: Vec<Plot>,
    /// The negative control: a case built so that the same judgement must come out as [`Verdict::Differs`].
    pub control: Option<Control>,
    /// How far a fixed reference kernel moved between the experiment's start and end (1 = not at all).
    pub reference_drift: Option<f64>,
    /// Nanoseconds of that kernel at the start and at the end.
    #[serde(default)]
    pub reference_ns: Option<[f64; 2]>,
    /// How long the experiment took.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub wall_s: f64,
}

/// Whether a claim holds on this adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Measured inside the band around the prediction.
    Holds,
    /// Measured outside the band by more than the noise.
    Differs,
    /// The noise is too large to say.
    Ambiguous,
    /// Cannot be measured on this adapter; the finding says why.
    NotMeasurable,
    /// The experiment broke off: a kernel gave a wrong result, or the driver refused it. The finding is the error.
    Failed,
}

/// A negative control of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a control")]
pub struct Control {
    /// What was run instead.
    pub what: String,
    /// The prediction that it was judged against.
    pub prediction: Prediction,
    /// What came out.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub value: f64,
    /// The verdict, which must be [`Verdict::Differs`] for the experiment to have teeth.
    pub verdict: Verdict,
}

/// One measured quantity of one cell of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a row")]
pub struct Row {
    /// The case, unique within the experiment together with `quantity`: `k=8`, `2^24 items, tree`.
    pub cell: String,
    /// What is measured: `time`, `time ratio`, `throughput`, `latency`, `active lanes`.
    pub quantity: String,
    /// Its unit.
    pub unit: Unit,
    /// The samples, in the order in which they were taken; one value for a count.
    #[serde(deserialize_with = "null_is_nan::list")]
    pub samples: Vec<f64>,
    /// Median of the samples.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub value: f64,
    /// 95 % interval of the median, from order statistics; twice the value for a count.
    #[serde(deserialize_with = "null_is_nan::pair")]
    pub interval: [f64; 2],
    /// `native`, `emulated` or `simulated`.
    pub path: String,
    /// `trusted` or `checked`.
    pub checks: String,
    /// `gpu` for timestamps, `wall` for the host's clock; on the simulator `issues` for what it issued, `sectors` for what its
    /// accesses touched; `none` for other counts.
    pub clock: String,
    /// What the model predicts, if anything.
    pub prediction: Option<Prediction>,
    /// The verdict of this row, where it has a prediction.
    pub verdict: Option<Verdict>,
    /// What a reader should know of this row.
    pub note: Option<String>,
}

/// A predicted value with its band, both fixed before measuring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a prediction")]
pub struct Prediction {
    /// The value.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub value: f64,
    /// Low end of the band.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub low: f64,
    /// High end of the band.
    #[serde(deserialize_with = "null_is_nan::number")]
    pub high: f64,
}

/// The unit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// 10^9 bytes a second.
    GbPerS,
    /// 10^9 lane-operations a second, all lanes counted.
    GopsPerS,
    /// A ratio of two values of one unit.
    Ratio,
    /// A share of one.
    Share,
    /// Lanes.
    Lanes,
    /// Steps.
    Steps,
    /// Items.
    Items,
    /// Instructions issued.
    Issues,
    /// Memory sectors of 32 bytes.
    Sectors,
    /// A count of something that the quantity names.
    Count,
}

/// A plot of measured points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a plot")]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Points joined by lines, or bars a category.
    pub kind: PlotKind,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// Points joined by lines.
    Line,
    /// One bar a series for each category of the x axis.
    Bars,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an axis")]
pub struct Axis {
    /// Label, with the unit.
    pub label: String,
    /// Logarithmic (base 2).
    pub log2: bool,
    /// Names of the x positions 0, 1, 2, … of bars; empty for numbers.
    pub categories: Vec<String>,
}

/// One line, or one bar a category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a series")]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Whether this is the model's prediction (drawn apart from what was measured).
    pub predicted: bool,
    /// Points: x, y.
    #[serde(deserialize_with = "null_is_nan::pairs")]
    pub points: Vec<[f64; 2]>,
}

/// JSON has no NaN and no infinities: `null` is written for them, and read as NaN.
pub(super) mod null_is_nan {
    use serde::{Deserialize, Deserializer};

    fn or_nan(value: Option<f64>) -> f64 {
        value.unwrap_or(f64::NAN)
    }

    pub(in super::super) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Option::deserialize(from).map(or_nan)
    }

    pub(in super::super) fn pair<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
        <[Option<f64>; 2]>::deserialize(from).map(|pair| pair.map(or_nan))
    }

    pub(in super::super) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        Vec::<Option<f64>>::deserialize(from).map(|list| list.into_iter().map(or_nan).collect())
    }

    pub(in super::super) fn pairs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[f64; 2]>, D::Error> {
        Vec::<[Option<f64>; 2]>::deserialize(from).map(|list| list.into_iter().map(|pair| pair.map(or_nan)).collect())
    }
}
