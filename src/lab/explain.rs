//! Questions that the model answers, for the adapter of a record.
//!
//! An [`Answer`] writes the model's arithmetic out for this adapter's width, says what the record's experiments measured,
//! and concludes. It measures nothing: what the record does not hold is said to be missing.
//!
//! ```no_run
//! use wavelane::{Gpu, lab::{self, explain}, measure::Effort};
//!
//! let gpu = Gpu::open()?;
//! let question = explain::find("tree-sum")?;
//! let record = lab::run(&gpu, Effort::Quick, question.experiments, |_| {})?;
//! println!("{}", question.answer(&record).conclusion);
//! # Ok::<(), wavelane::Error>(())
//! ```

use super::model::{Model, SECTOR_BYTES, sectors, wave_efficiency};
use super::outcome::in_counts;
use crate::error::Result;
use crate::report::{ExperimentRecord, Record, Row, Unit, Verdict};

/// A question that the model answers.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Short name, the argument of `wavelane explain`.
    pub id: &'static str,
    /// The question.
    pub text: &'static str,
    /// The experiments whose measurements the answer uses.
    pub experiments: &'static [&'static str],
    reason: fn(&Model, &mut Evidence<'_>) -> Reasoning,
}

/// An answer for one adapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What the model says, with the arithmetic written out.
    pub model: String,
    /// What each lane holds, step by step, where that is the answer.
    pub steps: Vec<Step>,
    /// What was measured, or why not, an experiment each.
    pub measured: Vec<Measured>,
    /// What follows.
    pub conclusion: String,
}

/// A step of a subgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What every lane did.
    pub name: String,
    /// How many lanes' values each lane holds afterwards.
    pub lanes: Vec<u32>,
}

/// What one experiment says of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Id of the experiment.
    pub experiment: &'static str,
    /// Its verdict; none where the record does not hold it.
    pub verdict: Option<Verdict>,
    /// The figures in sentences, or why there are none.
    pub text: String,
}

/// Every question.
const QUESTIONS: &[Question] = &[
    Question {
        id: "random-half",
        text: "How many lanes work where a branch splits random data in halves, and what does compacting first gain?",
        experiments: &["random-half", "remedy"],
        reason: random_half,
    },
    Question {
        id: "divergent-barrier",
        text: "Why is a barrier in a branch that only some lanes take undefined?",
        experiments: &["barrier-uniformity"],
        reason: divergent_barrier,
    },
    Question {
        id: "tree-sum",
        text: "How does a subgroup sum its lanes as a tree, step by step?",
        experiments: &["tree-sum"],
        reason: tree_sum,
    },
    Question {
        id: "tiny-workgroups",
        text: "What do a million workgroups of one subgroup do?",
        experiments: &["tiny-workgroups", "residency"],
        reason: tiny_workgroups,
    },
    Question {
        id: "grid-stride",
        text: "Why is the stride of a loop over many elements the whole grid?",
        experiments: &["grid-stride"],
        reason: grid_stride,
    },
    Question {
        id: "image-waves",
        text: "How many waves does a 1920 x 1080 image in tiles of 16 x 16 take, and what does the last one waste?",
        experiments: &["residency"],
        reason: image_waves,
    },
];

/// Every question.
pub fn questions() -> &'static [Question] {
    QUESTIONS
}

/// The question with this id.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an unknown id; the message names the ids near it,
/// or all.
pub fn find(id: &str) -> Result<&'static Question> {
    QUESTIONS.iter().find(|question| question.id == id).ok_or_else(|| {
        let known: Vec<_> = QUESTIONS.iter().map(|question| question.id).collect();
        super::unknown("question", id, &known)
    })
}

impl Question {
    /// The answer for this record's adapter.
    pub fn answer(&self, record: &Record) -> Answer {
        let mut evidence = Evidence { record, measured: Vec::new() };
        let Reasoning { model, steps, conclusion } = (self.reason)(&model(record), &mut evidence);
        Answer { model, steps, measured: evidence.measured, conclusion }
    }
}

/// The model of a record's adapter: its width as it was counted or, without subgroups, as the experiment on it shows.
fn model(record: &Record) -> Model {
    let adapter = &record.adapter;
    let shown = || {
        let width = record.experiments.iter().find(|e| e.id == "width")?;
        row(width, "shown by the knee", "lanes a subgroup").map(|row| row.value as u32)
    };
    let lanes = if adapter.counted_lanes > 1 { adapter.counted_lanes } else { shown().unwrap_or(1) };
    Model { lanes, cpu: adapter.kind == "CPU driver" }
}

/// The part of an answer that is not measured.
struct Reasoning {
    model: String,
    steps: Vec<Step>,
    conclusion: String,
}

impl Reasoning {
    fn new(model: String, conclusion: String) -> Self {
        Self { model, steps: Vec::new(), conclusion }
    }
}

/// A record, and what was said of it so far.
struct Evidence<'a> {
    record: &'a Record,
    measured: Vec<Measured>,
}

impl<'a> Evidence<'a> {
    /// Says what `tell` makes of an experiment's rows, or why there is nothing to say, and hands the experiment on.
    fn say<const N: usize>(
        &mut self,
        id: &'static str,
        tell: impl FnOnce(&'a ExperimentRecord) -> [Option<String>; N],
    ) -> Option<&'a ExperimentRecord> {
        let experiment = self.record.experiments.iter().find(|e| e.id == id);
        let verdict = experiment.map(|e| e.verdict);
        let text = match experiment {
            None => format!("Not in this record: wavelane measure {id}"),
            Some(e) if e.verdict == Verdict::NotMeasurable => e.finding.clone(),
            Some(e) => match tell(e).into_iter().flatten().collect::<Vec<_>>().join(" ") {
                text if text.is_empty() => NO_ROWS.into(),
                text => counted(e, &text),
            },
        };
        self.measured.push(Measured { experiment: id, verdict, text });
        experiment.filter(|e| e.verdict != Verdict::NotMeasurable)
    }
}

/// Of an experiment whose record is without the rows that an answer uses.
const NO_ROWS: &str = "The record holds none of the rows that this answer uses.";

/// The first row of this quantity whose cell begins so, where it was measured.
fn row<'a>(e: &'a ExperimentRecord, cell: &str, quantity: &str) -> Option<&'a Row> {
    let measured = |row: &&Row| row.verdict != Some(Verdict::NotMeasurable) && row.value.is_finite();
    let named = |row: &&Row| row.quantity == in_counts(quantity, &row.clock) && row.cell.starts_with(cell);
    e.rows.iter().filter(measured).find(named)
}

/// What is said of an experiment's times, or of the counts that it has in place of them.
fn counted(e: &ExperimentRecord, text: &str) -> String {
    let clock = e.rows.iter().map(|row| &*row.clock).find(|clock| *clock != "none").unwrap_or_default();
    in_counts(text, clock)
}

fn value(e: &ExperimentRecord, cell: &str, quantity: &str) -> Option<f64> {
    row(e, cell, quantity).map(|row| row.value)
}

fn whole(count: u32) -> String {
    Unit::Count.format(count.into())
}

fn share(of_one: f64) -> String {
    Unit::Share.format(of_one)
}

fn ratio(value: f64) -> String {
    Unit::Ratio.format(value)
}

fn random_half(model: &Model, evidence: &mut Evidence<'_>) -> Reasoning {
    let lanes = model.lanes;
    let divided = model.mixed_at_random(0.5);
    let arms = 1.0 + divided;
    let gain = model.compaction_gain(0.5);
    let branch = |e| value(e, "0.5 in A, over one arm", "time over one arm");
    let measured = evidence.say("random-half", |e| {
        let counts = value(e, "half in A", "subgroups").zip(value(e, "half in A", "subgroups of one mind"));
        [
            counts.map(|(all, alike)| {
                let divided = Unit::Count.format(all - alike);
                let all_text = Unit::Count.format(all);
                format!("{divided} of {all_text} subgroups were divided, {}.", share((all - alike) / all))
            }),
            branch(e).map(|r| {
                format!("The branch took {} times one arm, so {} of the lanes worked.", ratio(r), share(1.0 / r))
            }),
            value(e, "half in A, sorted, over one arm", "time over one arm")
                .map(|r| format!("With the same data sorted it took {} times.", ratio(r))),
        ]
    });
    let works = measured.and_then(branch).map_or(1.0 / arms, |r| 1.0 / r);
    let remedy = evidence.say("remedy", |e| {
        [
            value(e, "1/2 selected", "gain on the work alone")
                .map(|r| format!("Compacting gains a factor of {} on the work alone.", ratio(r))),
            value(e, "1/2 selected, longest work", "gain with the extra pass")
                .map(|gain| format!("With its pass counted it gains {} at the longest work.", ratio(gain))),
        ]
    });
    let pays = remedy.and_then(|e| value(e, "1/2 selected", "trips from which it pays"));
    let gained = remedy.and_then(|e| value(e, "1/2 selected", "gain on the work alone"));
    Reasoning::new(
        format!(
            "The {lanes} lanes of a subgroup agree on a random half with a chance of 2 x 0.5^{lanes} = {}. So {:.3} of the \
             subgroups are divided and issue both arms: 1 + {divided:.3} = {arms:.3} arms, of which each lane wants one, and \
             1 / {arms:.3} = {} of the lanes work. Where only one half needs work, a subgroup is spared only if none of its \
             lanes does: 1 - 0.5^{lanes} = {:.3} of the subgroups go on, on a dense list 0.5 of them, {:.3} / 0.5 = {gain:.3} \
             times fewer.",
            chance(1.0 - divided),
            divided,
            share(1.0 / arms),
            gain / 2.0,
            gain / 2.0,
        ),
        format!(
            "{} of the lanes work. Compacting first wins a factor of {}{}",
            share(works),
            ratio(gained.unwrap_or(gain)),
            match pays {
                Some(trips) => format!(
                    " and pays from some {} trips of work an item on; shorter work is better left divided.",
                    Unit::Count.format(trips.round())
                ),
                None => " on the work alone, and pays once the work is longer than the extra pass.".into(),
            }
        ),
    )
}

/// A chance, without a row of zeros.
fn chance(chance: f64) -> String {
    if chance < 1e-4 { format!("{chance:.1e}") } else { share(chance) }
}

/// The size of an ordinary workgroup.
const WORKGROUP: u32 = 256;

fn divergent_barrier(model: &Model, evidence: &mut Evidence<'_>) -> Reasoning {
    let lanes = model.lanes;
    let subgroups = model.subgroups(WORKGROUP);
    evidence.say("barrier-uniformity", |e| {
        let found = row(e, "all", "findings at the right line, with the right cause");
        let accepted = value(e, "all", "kernels with a split barrier that naga's validator accepts");
        [
            found.and_then(|row| {
                let all = Unit::Count.format(row.prediction?.value);
                let found = Unit::Count.format(row.value);
                Some(format!("From the text alone, {found} of {all} such barriers in small kernels were found, each with its cause."))
            }),
            accepted.map(|n| {
                format!(
                    "naga's validator accepts {} of these kernels, so nothing warns outside a browser. They are never \
                     dispatched: what they would do is undefined.",
                    Unit::Count.format(n)
                )
            }),
        ]
    });
    let half = WORKGROUP / 2;
    Reasoning::new(
        format!(
            "A barrier opens when everybody has arrived. A workgroup of {WORKGROUP} has {WORKGROUP} / {lanes} = {subgroups} \
             subgroups. Every second lane takes the arm: all {subgroups} subgroups arrive, each with half of its lanes, {half} \
             of {WORKGROUP} invocations. Hardware that counts subgroups opens at once, before the other {half} have written \
             what is waited for; hardware that counts invocations waits for {half} that stand at the end of the arm and wait \
             for those at the barrier. Either is allowed, since nothing says in which order a subgroup takes its arms."
        ),
        format!(
            "{half} of {WORKGROUP} invocations arrive and the other {half} never do, and a device may open the barrier early or \
             never. It belongs where the whole workgroup passes: a guard around the work alone, `if (i < n) {{ work }}` and then \
             the barrier, not a return before it. WGSL calls anything else an error."
        ),
    )
}

fn tree_sum(model: &Model, evidence: &mut Evidence<'_>) -> Reasoning {
    let lanes = model.lanes;
    let (tree, serial) = (model.tree_steps(), model.serial_steps());
    let steps = (0..=tree).map(|step| Step {
        name: match step {
            0 => "each its own".into(),
            step => format!("+ lane + {}", 1 << (step - 1)),
        },
        lanes: (0..lanes).map(|lane| model.tree_partial(lane, step)).collect(),
    });
    let times = |e, over: &str| value(e, &format!("{over}, one subgroup alone"), "time ratio");
    let over_serial = |e| times(e, "tree of shuffles, u32 over one lane after the other");
    let built_in = |e| times(e, "built-in sum, u32 over tree of shuffles, u32");
    let experiment = evidence.say("tree-sum", |e| {
        let counted = value(e, "tree", "steps").zip(value(e, "one lane after the other", "steps"));
        let lane_by_lane: Vec<_> =
            e.rows.iter().filter(|row| row.quantity == "lanes that hold what the tree says").collect();
        [
            counted.map(|(tree, serial)| {
                format!(
                    "The tree took {}, one lane after the other {}.",
                    Unit::Steps.format(tree),
                    Unit::Count.format(serial)
                )
            }),
            (!lane_by_lane.is_empty()).then(|| {
                match lane_by_lane.iter().all(|row| row.verdict == Some(Verdict::Holds)) {
                    true => "After every step every lane held what the table says.".into(),
                    false => "Some lanes held something else than the table says.".into(),
                }
            }),
            over_serial(e).map(|r| format!("In time the tree takes {} of the serial sum.", ratio(r))),
            built_in(e).map(|r| format!("The built-in sum takes {} of the tree.", ratio(r))),
        ]
    });
    let time = experiment.and_then(over_serial).map_or_else(String::new, |r| {
        let steps = ratio(f64::from(tree) / f64::from(serial.max(1)));
        format!(
            " Steps are not times: the tree takes {} of the serial sum's, where the steps alone say {steps}.",
            ratio(r)
        )
    });
    Reasoning {
        model: format!(
            "In each step a lane adds what the lane so far above it holds, and the distance doubles, so what lane 0 has summed \
             doubles too: {}. log2({lanes}) = {tree} steps reach all {lanes} lanes, where one lane after the other takes \
             {lanes} - 1 = {serial}. Lanes near the upper end have fewer above them.",
            (0..=tree).map(|step| model.tree_partial(0, step).to_string()).collect::<Vec<_>>().join(", "),
        ),
        steps: steps.collect(),
        conclusion: format!(
            "{tree} steps instead of {serial}, without memory and without a barrier.{time} subgroupAdd does the same in one call."
        ),
    }
}

fn tiny_workgroups(model: &Model, evidence: &mut Evidence<'_>) -> Reasoning {
    const MILLION: u32 = 1 << 20;
    let lanes = model.lanes;
    let factor = f64::from(WORKGROUP) / f64::from(lanes);
    let invocations = MILLION * lanes;
    let large = invocations / WORKGROUP;
    let starts = |e| value(e, "workgroups of", "time of one more start").map(|ns| 1000.0 / ns);
    let started = evidence.say("tiny-workgroups", |e| {
        [
            value(e, "1 trips, workgroups of", "time ratio")
                .map(|r| format!("With hardly any work the tiny workgroups took {} times as long.", ratio(r))),
            value(e, "512 trips, workgroups of", "time ratio")
                .map(|r| format!("With much work they took {} times as long.", ratio(r))),
            starts(e).map(|rate| format!("{} workgroups start a microsecond.", ratio(rate))),
        ]
    });
    evidence.say("residency", |e| {
        let held = |invocations| value(e, &format!("{invocations} invocations"), "subgroups a multiprocessor");
        [held(lanes).zip(held(WORKGROUP)).map(|(tiny, large)| {
            format!(
                "A multiprocessor holds {} subgroups in workgroups of one, {} in workgroups of {WORKGROUP}.",
                ratio(tiny),
                ratio(large)
            )
        })]
    });
    let waiting = started.and_then(starts).filter(|rate| *rate > 0.0).map_or_else(String::new, |rate| {
        let ns = |count: u32| Unit::Ns.format(1e3 * f64::from(count) / rate);
        format!(" Here {} starts alone take {}, {} take {}.", whole(MILLION), ns(MILLION), whole(large), ns(large))
    });
    Reasoning::new(
        format!(
            "{0} workgroups of {lanes} are {0} x {lanes} = {1} invocations, for which {1} / {WORKGROUP} = {2} workgroups of \
             {WORKGROUP} do: {WORKGROUP} / {lanes} = {3} times fewer. Workgroups start at a fixed rate whatever their size. So \
             with hardly any work the million takes {3} times as long, and equally long once the work is longer than the \
             starts.",
            whole(MILLION),
            whole(invocations),
            whole(large),
            ratio(factor),
        ),
        format!(
            "They mostly start.{waiting} Workgroups of several subgroups, or more work an invocation, pay for the start once \
             instead of {} times.",
            ratio(factor)
        ),
    )
}

fn grid_stride(model: &Model, evidence: &mut Evidence<'_>) -> Reasoning {
    const GROUPS: u32 = 8;
    const WORD_BYTES: u32 = 4;
    let lanes = model.lanes;
    let beside = sectors((0..lanes).map(|lane| lane * WORD_BYTES));
    // Any chunk of a sector and more.
    let apart = sectors((0..lanes).map(|lane| lane * SECTOR_BYTES));
    let most = |e, form: &str| value(e, form, "most visits of an element");
    let chunks = |e| value(e, "a chunk an invocation, over a stride of the grid", "time ratio");
    let experiment = evidence.say("grid-stride", |e| {
        let visits = most(e, "stride of the grid, 8 x").zip(most(e, "stride of the grid, 1 x 1"));
        [
            visits.map(|(many, one)| {
                format!(
                    "With a stride of the grid the most visits of an element were {} in a grid of {GROUPS} workgroups and {} in \
                     one of a single invocation.",
                    ratio(many),
                    ratio(one)
                )
            }),
            most(e, "stride of one workgroup").map(|n| format!("With a stride of one workgroup they were {}.", ratio(n))),
            chunks(e).map(|r| format!("A chunk an invocation took {} times as long.", ratio(r))),
        ]
    });
    Reasoning::new(
        format!(
            "An access of a subgroup is {lanes} words of {WORD_BYTES} bytes. Side by side they are {lanes} x {WORD_BYTES} = {} \
             bytes, {beside} x {SECTOR_BYTES}, the size of a sector; where each invocation has a chunk of its own they lie in \
             {apart} sectors, {} times the traffic. A stride of the whole grid keeps neighbours beside each other in every round, and \
             any number of workgroups visits each element once. With a stride of one workgroup each of {GROUPS} workgroups \
             goes over everything: {GROUPS} visits an element.",
            lanes * WORD_BYTES,
            ratio(f64::from(apart) / f64::from(beside)),
        ),
        format!(
            "Each element is visited once whatever the size of the grid, and an access touches 1 / {} of the sectors that it \
             would touch in chunks.{}",
            apart / beside,
            experiment
                .and_then(|e| Some(counted(e, &format!(" Chunks take {} times as long here.", ratio(chunks(e)?)))))
                .unwrap_or_default(),
        ),
    )
}

fn image_waves(model: &Model, evidence: &mut Evidence<'_>) -> Reasoning {
    const IMAGE: [u32; 2] = [1920, 1080];
    const TILE: u32 = 16;
    let [across, down] = IMAGE.map(|pixels| pixels.div_ceil(TILE));
    let groups = across * down;
    let invocations = groups * WORKGROUP;
    let outside = invocations - IMAGE[0] * IMAGE[1];
    let size = format!("{WORKGROUP} invocations");
    let wave_of = |e| value(e, &size, "workgroups a wave").filter(|wave| *wave >= 1.0);
    let experiment = evidence.say("residency", |e| {
        let multiprocessors = value(e, "multiprocessors", "count");
        [wave_of(e).map(|wave| {
            let each = multiprocessors.map_or_else(String::new, |count| {
                format!(", {} on each of {} multiprocessors", ratio(wave / count), ratio(count))
            });
            format!("The device holds {} workgroups of {WORKGROUP} at once{each}.", Unit::Count.format(wave))
        })]
    });
    let conclusion = match experiment.and_then(wave_of) {
        Some(wave) => {
            let wave = wave as u32;
            let waves = groups.div_ceil(wave);
            let last = groups - (waves - 1) * wave;
            format!(
                "{} / {} = {:.2}, so {waves} waves. The last has {} of {} workgroups: {} of its places stay empty, {} of all. \
                 A kernel that waits for memory loses that much; one bound by issue loses less, since its workgroups share \
                 what the missing ones leave.",
                whole(groups),
                whole(wave),
                f64::from(groups) / f64::from(wave),
                whole(last),
                whole(wave),
                share(1.0 - f64::from(last) / f64::from(wave)),
                share(1.0 - wave_efficiency(groups, wave)),
            )
        }
        None if model.cpu => format!(
            "Not to be told here: a CPU driver holds no workgroups beside those that its threads run, and a record does not \
             say how many threads there are. T threads run {} / T workgroups each.",
            whole(groups)
        ),
        None => "Not to be told here: how many workgroups the device holds at once is not known.".into(),
    };
    Reasoning::new(
        format!(
            "{} / {TILE} = {across} tiles across, {} / {TILE} = {}, so {down} down: {across} x {down} = {} workgroups of \
             {WORKGROUP}. {} of their {} invocations have no pixel, {}. A device that holds W of them at once takes {} / W \
             waves, rounded up.",
            IMAGE[0],
            IMAGE[1],
            ratio(f64::from(IMAGE[1]) / f64::from(TILE)),
            whole(groups),
            whole(outside),
            whole(invocations),
            share(f64::from(outside) / f64::from(invocations)),
            whole(groups),
        ),
        conclusion,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::lab::model::exactly;
    use crate::report::{AdapterRecord, SCHEMA};

    /// A record of an adapter of this width with these rows, given as experiment, cell, quantity and value.
    fn record(lanes: u32, kind: &str, rows: &[(&str, &str, &str, f64)]) -> Record {
        let mut ids: Vec<&str> = rows.iter().map(|(id, ..)| *id).collect();
        ids.dedup();
        let count = |(_, cell, quantity, value): &(&str, &str, &str, f64)| {
            Row::count(*cell, quantity, Unit::Count, *value).predicted(exactly(*value))
        };
        let experiment = |id: &str| ExperimentRecord {
            id: id.into(),
            group: "lanes".into(),
            title: String::new(),
            claim: String::new(),
            prediction: String::new(),
            finding: "Not measurable here: no reason.".into(),
            verdict: Verdict::Holds,
            method: String::new(),
            rows: rows.iter().filter(|(of, ..)| *of == id).map(count).collect(),
            plots: vec![],
            control: None,
            reference_drift: None,
            reference_ns: None,
            wall_s: 0.0,
        };
        Record {
            schema: SCHEMA,
            version: "0.1.0".into(),
            created_s: 0,
            adapter: AdapterRecord {
                name: "an adapter".into(),
                backend: "vulkan".into(),
                kind: kind.into(),
                driver: String::new(),
                reported_lanes: [lanes; 2],
                counted_lanes: lanes,
                path: "native".into(),
                path_reason: String::new(),
                timestamp_period_ns: None,
            },
            effort: "quick".into(),
            options: String::new(),
            wall_s: 0.0,
            experiments: ids.into_iter().map(experiment).collect(),
        }
    }

    fn answer(id: &str, record: &Record) -> Answer {
        find(id).expect("the question is known").answer(record)
    }

    fn says(text: &str, parts: &[&str]) {
        for part in parts {
            assert!(text.contains(part), "no '{part}' in: {text}");
        }
    }

    #[test]
    fn the_experiments_of_every_question_exist() {
        for question in questions() {
            for id in question.experiments {
                assert!(crate::lab::find(id).is_ok(), "{}: {id}", question.id);
            }
        }
    }

    #[test]
    fn an_unknown_question_is_answered_with_those_near_it() {
        let error = find("treesum").expect_err("no such question");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        says(&error.to_string(), &["no question is called 'treesum'", "did you mean tree-sum?"]);
        let error = find("coffee").expect_err("no such question").to_string();
        says(&error, &questions().iter().map(|question| question.id).collect::<Vec<_>>());
    }

    #[test]
    fn a_random_half_at_eight_lanes() {
        let record = record(
            8,
            "discrete GPU",
            &[
                ("random-half", "half in A", "subgroups", 2048.0),
                ("random-half", "half in A", "subgroups of one mind", 18.0),
                ("random-half", "0.5 in A, over one arm", "time over one arm", 2.0),
                ("remedy", "1/2 selected", "gain on the work alone", 1.95),
                ("remedy", "1/2 selected, 64 trips", "gain with the extra pass", 0.8),
                ("remedy", "1/2 selected, 4096 trips", "gain with the extra pass", 1.9),
                ("remedy", "1/2 selected, longest work", "gain with the extra pass", 1.9),
                ("remedy", "1/2 selected", "trips from which it pays", 98.8),
            ],
        );
        let answer = answer("random-half", &record);
        // Of 256 ways in which eight lanes can fall, two leave the subgroup undivided, and one leaves it without work.
        says(&answer.model, &["2 x 0.5^8 = 0.781 %", "0.992", "1.992 arms", "50.2 %", "0.996"]);
        says(&answer.measured[0].text, &["2,030 of 2,048", "99.1 %", "2 times one arm", "50 %"]);
        says(&answer.measured[1].text, &["1.95", "gains 1.90 at the longest work"]);
        says(&answer.conclusion, &["50 % of the lanes", "1.95", "99 trips"]);
    }

    #[test]
    fn a_barrier_in_half_of_the_lanes() {
        let rows = [
            ("barrier-uniformity", "all", "findings at the right line, with the right cause", 8.0),
            ("barrier-uniformity", "all", "kernels with a split barrier that naga's validator accepts", 7.0),
        ];
        let answer = answer("divergent-barrier", &record(32, "discrete GPU", &rows));
        says(&answer.model, &["256 / 32 = 8 subgroups", "128 of 256"]);
        says(&answer.measured[0].text, &["8 of 8", "accepts 7"]);
        says(&answer.conclusion, &["128 of 256 invocations arrive"]);
    }

    #[test]
    fn a_tree_over_eight_lanes_lane_by_lane() {
        let rows = [
            ("tree-sum", "tree", "steps", 3.0),
            ("tree-sum", "one lane after the other", "steps", 7.0),
            ("tree-sum", "after step 1", "lanes that hold what the tree says", 8.0),
            ("tree-sum", "tree of shuffles, u32 over one lane after the other, one subgroup alone", "time ratio", 0.5),
        ];
        let answer = answer("tree-sum", &record(8, "discrete GPU", &rows));
        let held: Vec<_> = answer.steps.iter().map(|step| step.lanes.as_slice()).collect();
        assert_eq!(held, [[1; 8], [2, 2, 2, 2, 2, 2, 2, 1], [4, 4, 4, 4, 4, 3, 2, 1], [8, 7, 6, 5, 4, 3, 2, 1]]);
        let names: Vec<_> = answer.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["each its own", "+ lane + 1", "+ lane + 2", "+ lane + 4"]);
        says(&answer.model, &["1, 2, 4, 8", "log2(8) = 3", "8 - 1 = 7"]);
        says(&answer.measured[0].text, &["3 steps", "other 7", "every lane held"]);
        says(&answer.conclusion, &["3 steps instead of 7", "takes 0.500 of the serial sum's", "alone say 0.429"]);
    }

    #[test]
    fn a_million_workgroups_of_32() {
        let rows = [
            ("tiny-workgroups", "workgroups of 256", "time of one more start", 2.0),
            ("tiny-workgroups", "1 trips, workgroups of 32 over 256", "time ratio", 7.9),
            ("tiny-workgroups", "512 trips, workgroups of 32 over 256", "time ratio", 1.01),
            ("residency", "32 invocations", "subgroups a multiprocessor", 32.0),
            ("residency", "256 invocations", "subgroups a multiprocessor", 64.0),
        ];
        let answer = answer("tiny-workgroups", &record(32, "discrete GPU", &rows));
        says(&answer.model, &["1,048,576 x 32 = 33,554,432", "33,554,432 / 256 = 131,072", "256 / 32 = 8 times"]);
        says(&answer.measured[0].text, &["7.90 times", "1.01 times", "500 workgroups start"]);
        says(&answer.measured[1].text, &["32 subgroups in workgroups of one, 64"]);
        // 1,048,576 / 500 = 2,097 us and 131,072 / 500 = 262 us.
        says(&answer.conclusion, &["1,048,576 starts alone take 2.10 ms", "131,072 take 262 us"]);
    }

    #[test]
    fn strides_at_32_lanes() {
        let rows = [
            ("grid-stride", "stride of the grid, 8 x 256", "most visits of an element", 1.0),
            ("grid-stride", "stride of the grid, 1 x 1", "most visits of an element", 1.0),
            ("grid-stride", "stride of one workgroup, 8 x 256", "most visits of an element", 8.0),
            ("grid-stride", "a chunk an invocation, over a stride of the grid", "time ratio", 3.4),
        ];
        let answer = answer("grid-stride", &record(32, "discrete GPU", &rows));
        says(&answer.model, &["32 x 4 = 128 bytes, 4 x 32", "in 32 sectors, 8 times the traffic"]);
        says(&answer.measured[0].text, &["were 1 in a grid of 8", "one workgroup they were 8", "3.40 times as long"]);
        says(&answer.conclusion, &["1 / 8 of the sectors", "3.40 times"]);
    }

    #[test]
    fn an_image_on_132_multiprocessors_of_eight_workgroups() {
        let rows = [
            ("residency", "multiprocessors", "count", 132.0),
            ("residency", "256 invocations", "workgroups a wave", 1056.0),
        ];
        let answer = answer("image-waves", &record(32, "discrete GPU", &rows));
        says(
            &answer.model,
            &["120 x 68 = 8,160 workgroups", "1080 / 16 = 67.5", "15,360 of their 2,088,960", "0.735 %"],
        );
        says(&answer.measured[0].text, &["1,056 workgroups of 256", "8 on each of 132"]);
        // Seven full waves are 7,392, which leaves 768; eight have room for 8,448.
        says(&answer.conclusion, &["= 7.73, so 8 waves", "has 768 of 1,056", "27.3 %", "3.41 % of all"]);
        let even = record(32, "discrete GPU", &[("residency", "256 invocations", "workgroups a wave", 1020.0)]);
        says(
            &super::find("image-waves").expect("known").answer(&even).conclusion,
            &["8 waves", "1,020 of 1,020", "0 %"],
        );
    }

    #[test]
    fn a_cpu_driver_has_no_waves() {
        let mut record = record(8, "CPU driver", &[("residency", "all sizes", "workgroups a multiprocessor", 0.0)]);
        record.experiments[0].verdict = Verdict::NotMeasurable;
        let answer = answer("image-waves", &record);
        assert_eq!(answer.measured[0].text, "Not measurable here: no reason.");
        says(&answer.conclusion, &["Not to be told here", "CPU driver", "8,160 / T"]);
    }

    #[test]
    fn what_a_record_lacks_is_said_and_the_model_answers_alone() {
        let empty = record(64, "discrete GPU", &[]);
        for question in questions() {
            let answer = question.answer(&empty);
            assert_eq!(answer.measured.len(), question.experiments.len(), "{}", question.id);
            for (measured, id) in answer.measured.iter().zip(question.experiments) {
                assert_eq!(measured.verdict, None);
                assert_eq!(measured.text, format!("Not in this record: wavelane measure {id}"));
            }
            assert!(!answer.conclusion.is_empty() && !answer.model.contains("NaN"));
        }
        says(&answer("random-half", &empty).conclusion, &["50 %", "a factor of 2 on the work alone"]);
        let strange = record(64, "discrete GPU", &[("tree-sum", "no such cell", "no such quantity", 1.0)]);
        assert_eq!(answer("tree-sum", &strange).measured[0].text, NO_ROWS);
    }

    #[test]
    fn without_subgroups_the_width_is_that_of_the_knee() {
        let rows = [("width", "shown by the knee", "lanes a subgroup", 16.0)];
        let mut record = record(1, "discrete GPU", &rows);
        says(&answer("tree-sum", &record).model, &["log2(16) = 4"]);
        record.experiments.clear();
        says(&answer("tree-sum", &record).model, &["log2(1) = 0"]);
    }
}
