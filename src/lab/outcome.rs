//! What an experiment hands back, and the rows, plots and controls that it is made of.

use super::kernel::CHECKS;
use super::model::judge;
use super::timing::ratios;
use crate::gpu::SubgroupPath;
use crate::measure::{Clock, Samples, interval, median};
use crate::report::{Axis, Control, Plot, PlotKind, Prediction, Row, Series, Unit, Verdict};

/// What an experiment found; the framework adds what it is called and how long it took.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) prediction: String,
    pub(super) finding: String,
    pub(super) method: String,
    pub(super) verdict: Verdict,
    pub(super) rows: Vec<Row>,
    pub(super) plots: Vec<Plot>,
    pub(super) control: Option<Control>,
}

impl Outcome {
    /// An experiment that this adapter cannot do, or not tell the result of.
    pub(super) fn not_measurable(prediction: String, method: String, rows: Vec<Row>, reason: &str) -> Self {
        let finding = format!("Not measurable here: {reason}.");
        Self { prediction, finding, method, verdict: Verdict::NotMeasurable, rows, plots: vec![], control: None }
    }

    /// The same, where what the experiment calls times are the simulator's counts.
    pub(super) fn counted(mut self, clock: Clock) -> Self {
        let plots = self.plots.iter_mut().flat_map(|plot| [&mut plot.title, &mut plot.x.label, &mut plot.y.label]);
        let texts = [&mut self.prediction, &mut self.finding].into_iter().chain(plots);
        for text in texts.chain(self.control.iter_mut().map(|control| &mut control.what)) {
            *text = in_counts(text, clock.name());
        }
        self.method += match clock {
            Clock::Sectors => {
                " On the simulator a time is a count: the sectors of 32 bytes that all accesses to storage buffers \
                 touched."
            }
            _ => " On the simulator a time is a count: the instructions that all subgroups issued.",
        };
        self
    }
}

/// The verdict that the judged rows give together: a claim differs where any of its rows does, and holds only where
/// all of them do. Rows that cannot be measured here count for nothing unless there are no others.
pub(super) fn overall(rows: &[Row]) -> Verdict {
    let has = |verdict| rows.iter().any(|row| row.verdict == Some(verdict));
    if has(Verdict::Differs) {
        Verdict::Differs
    } else if has(Verdict::Ambiguous) {
        Verdict::Ambiguous
    } else if has(Verdict::Holds) {
        Verdict::Holds
    } else {
        Verdict::NotMeasurable
    }
}

/// The unit of what is read from this clock.
fn unit(clock: Clock) -> Unit {
    match clock {
        Clock::Gpu | Clock::Wall => Unit::Ns,
        Clock::Issues => Unit::Issues,
        Clock::Sectors => Unit::Sectors,
    }
}

/// The median of these samples in a sentence, with its unit.
pub(super) fn median_said(samples: &Samples) -> String {
    unit(samples.clock).format(samples.median())
}

/// What is said of times, by this clock: where that is `issues`, `time over one arm` is `issues over one arm`, and what
/// took 2 times as long took 2 times as many issues. Texts of the lab come here, so that they need not know the clock.
pub(super) fn in_counts(text: &str, clock: &str) -> String {
    let Some(one) = [Clock::Issues, Clock::Sectors]
        .iter()
        .find_map(|count| (count.name() == clock).then(|| count.name().trim_end_matches('s')))
    else {
        return text.into();
    };
    let capital = format!("{}{}s", one[..1].to_uppercase(), &one[1..]);
    let mut said: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        let mut last = said.iter().rev().map(String::as_str);
        let before = last.next().unwrap_or_default();
        let factor = last.next().is_some_and(|word| ["times", "twice"].contains(&word));
        let counted = match letters {
            // Not `one at a time`.
            "time" if !["a", "any"].contains(&before) => format!("{one}s"),
            "Time" | "Times" => capital.clone(),
            // Not `2 times`.
            "times" if ["their", "its", "plain"].contains(&before) => format!("{one}s"),
            "ratio" if before == format!("{one}s") => {
                said.pop();
                format!("{one} ratio")
            }
            "long" if before == "as" && factor => format!("many {one}s"),
            "ns" if before == format!("{one}s") => continue,
            _ => letters.into(),
        };
        said.push(word.replacen(letters, &counted, 1));
    }
    said.join(" ")
}

/// Whether a row with this clock is of counts in place of times.
fn is_count(clock: &str) -> bool {
    [Clock::Issues, Clock::Sectors].iter().any(|count| count.name() == clock)
}

/// Why a row without samples has none.
const ONLY_NOISE: &str = "the noise of every sample is larger than the time itself";

impl Row {
    fn unjudged(cell: String, quantity: &str, unit: Unit, samples: Vec<f64>, clock: &str) -> Self {
        // Absent figures are zero in the record, since JSON knows no NaN; the verdict says that they are absent.
        let (value, interval) = match samples.as_slice() {
            [] => (0.0, [0.0; 2]),
            samples => (median(samples), interval(samples)),
        };
        Self {
            cell,
            quantity: in_counts(quantity, clock),
            unit,
            samples,
            value,
            interval,
            path: if is_count(clock) { "simulated" } else { "native" }.into(),
            checks: CHECKS.name().into(),
            clock: clock.into(),
            prediction: None,
            verdict: None,
            note: None,
        }
    }

    /// The times of one case.
    pub(super) fn time(cell: impl Into<String>, samples: &Samples) -> Self {
        Self::duration(cell, "time", samples)
    }

    /// Nanoseconds a trip of one case: its slope.
    pub(super) fn trip(cell: impl Into<String>, trip: &Samples) -> Self {
        Self::duration(cell, "time of one more trip", trip)
    }

    /// The times of one case that takes a number of trips chosen by measuring: nanoseconds a trip, so that runs which
    /// chose differently compare. The pass and the dispatch around the trips are among it.
    pub(super) fn each_trip(cell: impl Into<String>, samples: &Samples, trips: u32) -> Self {
        let ns = samples.ns.iter().map(|ns| ns / f64::from(trips)).collect();
        Self::duration(cell, "time a trip", &Samples { ns, clock: samples.clock }).noted(format!("over {trips} trips"))
    }

    /// Nanoseconds of something that the quantity names.
    pub(super) fn duration(cell: impl Into<String>, quantity: &str, samples: &Samples) -> Self {
        Self::unjudged(cell.into(), quantity, unit(samples.clock), samples.ns.clone(), samples.clock.name())
    }

    /// The times or slopes `a` over `b`, round by round.
    ///
    /// The interval also reaches to the ratio of the least of each: other programs only ever add time, so what the
    /// median says must show in the least disturbed samples too. On a quiet device that changes nothing.
    pub(super) fn ratio(cell: impl Into<String>, quantity: &str, a: &[f64], b: &[f64], clock: Clock) -> Self {
        let mut row = Self::unjudged(cell.into(), quantity, Unit::Ratio, ratios(a, b), clock.name());
        if row.samples.is_empty() {
            return row.missing(ONLY_NOISE);
        }
        for ratio in ratios(&[least(a)], &[least(b)]) {
            row.interval = [row.interval[0].min(ratio), row.interval[1].max(ratio)];
        }
        row
    }

    /// The times of one case as the bytes that it moves a nanosecond, or a count.
    pub(super) fn bytes_moved(cell: impl Into<String>, samples: &Samples, bytes: f64) -> Self {
        Self::throughput(cell, "bytes", Unit::GbPerS, bytes, samples)
    }

    /// The times of one case as the operations that all its lanes together do a nanosecond, or a count.
    pub(super) fn operations(cell: impl Into<String>, samples: &Samples, operations: f64) -> Self {
        Self::throughput(cell, "operations", Unit::GopsPerS, operations, samples)
    }

    fn throughput(cell: impl Into<String>, what: &str, unit: Unit, amount: f64, samples: &Samples) -> Self {
        if samples.clock.is_count() {
            let quantity = format!("{what} {}", an(samples.clock.name().trim_end_matches('s')));
            return Self::rate(cell, &quantity, Unit::Count, amount, samples);
        }
        Self::rate(cell, "throughput", unit, amount, samples)
    }

    /// The value of a throughput in a sentence: `4,251 GB/s`, or `32 bytes a sector`.
    pub(super) fn throughput_said(&self) -> String {
        match self.unit {
            Unit::Count => format!("{} {}", figure(self.value), self.quantity),
            unit => unit.format(self.value),
        }
    }

    /// Figures that were computed from times, one a sample; those that are not finite are left out.
    pub(super) fn derived(
        cell: impl Into<String>,
        quantity: &str,
        unit: Unit,
        figures: impl IntoIterator<Item = f64>,
        clock: Clock,
    ) -> Self {
        let samples: Vec<_> = figures.into_iter().filter(|figure| figure.is_finite()).collect();
        let missing = samples.is_empty();
        let row = Self::unjudged(cell.into(), quantity, unit, samples, clock.name());
        if missing { row.missing(ONLY_NOISE) } else { row }
    }

    /// Where on a sweep something begins, as each round shows it. The row is there in every run, and says why it has no
    /// figure where fewer than half of the rounds have one.
    pub(super) fn onset(
        cell: impl Into<String>,
        quantity: &str,
        unit: Unit,
        rounds: impl IntoIterator<Item = Option<f64>>,
        clock: Clock,
        otherwise: &str,
    ) -> Self {
        let rounds: Vec<_> = rounds.into_iter().collect();
        let figures: Vec<_> = rounds.iter().copied().flatten().collect();
        let mostly = 2 * figures.len() >= rounds.len();
        let row = Self::derived(cell, quantity, unit, figures.into_iter().filter(|_| mostly), clock);
        if row.samples.is_empty() { row.missing(otherwise) } else { row }
    }

    /// `amount` of something over the times in which it was done. Rounds in which the noise of a slope left no time are
    /// left out.
    pub(super) fn rate(cell: impl Into<String>, quantity: &str, unit: Unit, amount: f64, times: &Samples) -> Self {
        let rates = times.ns.iter().filter(|ns| **ns > 0.0).map(|ns| amount / ns);
        Self::derived(cell, quantity, unit, rates, times.clock)
    }

    /// A count, or a share of counts.
    pub(super) fn count(cell: impl Into<String>, quantity: &str, unit: Unit, value: impl Into<f64>) -> Self {
        let row = Self::unjudged(cell.into(), quantity, unit, vec![value.into()], "none");
        Self { interval: [row.value; 2], ..row }
    }

    /// A count that is another one in each run, since it depends on scheduling.
    pub(super) fn varying(cell: impl Into<String>, quantity: &str, unit: Unit, runs: &[u32]) -> Self {
        Self::unjudged(cell.into(), quantity, unit, runs.iter().map(|count| f64::from(*count)).collect(), "none")
    }

    /// What cannot be measured here, with the reason.
    pub(super) fn not_measurable(cell: impl Into<String>, quantity: &str, unit: Unit, reason: &str) -> Self {
        Self::unjudged(cell.into(), quantity, unit, vec![], "none").missing(reason)
    }

    /// All that is left of an experiment without results, so that views of rows show it too.
    pub(super) fn no_result(verdict: Verdict, reason: &str) -> Self {
        let row = Self::not_measurable("experiment", "result", Unit::Count, reason);
        Self { verdict: Some(verdict), ..row }
    }

    /// The same without a verdict, for this reason.
    pub(super) fn missing(self, reason: &str) -> Self {
        Self { verdict: Some(Verdict::NotMeasurable), note: Some(reason.into()), ..self }
    }

    /// Judges the row by this prediction.
    pub(super) fn predicted(self, prediction: Prediction) -> Self {
        let verdict = match self.verdict {
            Some(Verdict::NotMeasurable) => Verdict::NotMeasurable,
            _ => judge(prediction, self.value, self.interval),
        };
        Self { prediction: Some(prediction), verdict: Some(verdict), ..self }
    }

    /// Adds what a reader should know.
    pub(super) fn noted(self, note: impl Into<String>) -> Self {
        let note = note.into();
        Self { note: Some(self.note.map_or_else(|| note.clone(), |before| format!("{before}; {note}"))), ..self }
    }

    /// Says by which path the subgroup operations of the row were carried out, where that is not natively.
    pub(super) fn on(self, path: SubgroupPath) -> Self {
        Self { path: path.name().into(), ..self }
    }

    /// The value beside what the model says of it, for a finding.
    pub(super) fn against_model(&self) -> String {
        match (&self.prediction, self.verdict) {
            (_, Some(Verdict::NotMeasurable)) | (None, _) => format!("{:.2}", self.value),
            (Some(prediction), verdict) => {
                let said = match verdict {
                    Some(Verdict::Differs) => ", so it differs",
                    Some(Verdict::Ambiguous) => ", but too noisy to say",
                    _ => "",
                };
                format!("{:.2} (the model says {:.2}{said})", self.value, prediction.value)
            }
        }
    }
}

/// With its article.
fn an(word: &str) -> String {
    format!("{} {word}", if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

/// The least time of these.
fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// What to add to a finding where a branch that should cost nothing shows on a CPU driver; empty elsewhere.
pub(super) fn mask_remark(is_cpu: bool, over_no_branch: &Row) -> &'static str {
    // Less than this is noise there.
    if is_cpu && over_no_branch.value > 1.05 {
        " That is this CPU driver's own: it keeps the mask of a loop inside a branch with instructions, where a GPU keeps \
         it in hardware."
    } else {
        ""
    }
}

/// A negative control: this row, which is of another case, judged by a prediction of the experiment.
pub(super) fn control(what: &str, row: &Row, prediction: Prediction) -> Control {
    Control {
        what: what.into(),
        prediction,
        value: row.value,
        verdict: match row.verdict {
            Some(Verdict::NotMeasurable) => Verdict::NotMeasurable,
            _ => judge(prediction, row.value, row.interval),
        },
    }
}

/// A horizontal or vertical axis of numbers.
pub(super) fn axis(label: &str, log2: bool) -> Axis {
    Axis { label: label.into(), log2, categories: vec![] }
}

/// A plot of points joined by lines.
pub(super) fn line_plot(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Plot {
    Plot { title: title.into(), kind: PlotKind::Line, x, y, series }
}

/// What was measured, as points.
pub(super) fn measured(name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Series {
    Series { name: name.into(), predicted: false, points: points.into_iter().collect() }
}

/// What the model says, as points.
pub(super) fn predicted(name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Series {
    Series { name: name.into(), predicted: true, points: points.into_iter().collect() }
}

/// Bars of the judged rows among these, with the model's beside them; the rows' cells are the categories.
pub(super) fn bar_plot<'a>(title: &str, y_label: &str, rows: impl IntoIterator<Item = &'a Row>) -> Plot {
    let rows: Vec<_> =
        rows.into_iter().filter(|row| !row.samples.is_empty()).filter_map(|row| Some((row, row.prediction?))).collect();
    let bars = |value: &dyn Fn(&Row, &Prediction) -> f64| -> Vec<[f64; 2]> {
        rows.iter().enumerate().map(|(i, (row, prediction))| [i as f64, value(row, prediction)]).collect()
    };
    let categories = rows.iter().map(|(row, _)| row.cell.clone()).collect();
    Plot {
        title: title.into(),
        kind: PlotKind::Bars,
        x: Axis { label: "case".into(), log2: false, categories },
        y: axis(y_label, false),
        series: vec![
            measured("measured", bars(&|row, _| row.value)),
            predicted("model", bars(&|_, prediction| prediction.value)),
        ],
    }
}

/// A plot of bars, one a category for each series.
pub(super) fn bars(title: &str, x_label: &str, categories: Vec<String>, y: Axis, series: Vec<Series>) -> Plot {
    Plot {
        title: title.into(),
        kind: PlotKind::Bars,
        x: Axis { label: x_label.into(), log2: false, categories },
        y,
        series,
    }
}

/// A figure in a sentence: three digits, or all before the point.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The value of a positive quantity in a sentence, with its unit.
pub(super) fn said(row: &Row, unit: &str) -> String {
    // The noise of a difference can be larger than what is left; and where there is nothing else, the row is empty.
    if row.interval[0] <= 0.0 { "(lost in noise)".into() } else { format!("{} {unit}", figure(row.value)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::model::exactly;

    fn judged(verdict: Verdict) -> Row {
        Row { verdict: Some(verdict), ..Row::count("cell", "count", Unit::Count, 1) }
    }

    #[test]
    fn one_row_that_differs_decides() {
        use Verdict::{Ambiguous, Differs, Holds, NotMeasurable};
        for (rows, verdict) in [
            (vec![Holds, Holds], Holds),
            (vec![Holds, NotMeasurable], Holds),
            (vec![Holds, Ambiguous], Ambiguous),
            (vec![Ambiguous, Differs, Holds], Differs),
            (vec![NotMeasurable], NotMeasurable),
            (vec![], NotMeasurable),
        ] {
            let rows: Vec<_> = rows.into_iter().map(judged).collect();
            assert_eq!(overall(&rows), verdict, "{rows:?}");
        }
    }

    #[test]
    fn a_row_without_samples_says_so_whatever_was_predicted() {
        let row = Row::not_measurable("cell", "count", Unit::Count, "no such thing").predicted(exactly(0u32));
        assert_eq!((row.verdict, row.value), (Some(Verdict::NotMeasurable), 0.0));
        assert_eq!(control("what", &row, exactly(0u32)).verdict, Verdict::NotMeasurable);
        let row = Row::ratio("cell", "ratio", &[-1.0], &[1.0], Clock::Gpu);
        assert_eq!(row.verdict, Some(Verdict::NotMeasurable));
    }

    #[test]
    fn what_only_disturbed_samples_show_is_not_believed() {
        let two = Prediction { value: 2.0, low: 1.9, high: 2.1 };
        let quiet = Row::ratio("cell", "ratio", &[300.0, 302.0, 301.0], &[100.0; 3], Clock::Gpu).predicted(two);
        assert_eq!(quiet.verdict, Some(Verdict::Differs));
        let a = [300.0, 302.0, 301.0, 200.0, 303.0, 301.0, 302.0, 300.0, 301.0];
        let disturbed = Row::ratio("cell", "ratio", &a, &[100.0; 9], Clock::Gpu).predicted(two);
        assert_eq!(disturbed.verdict, Some(Verdict::Ambiguous));
    }

    #[test]
    fn texts_say_what_was_counted() {
        for (text, issues) in [
            ("time over one arm", "issues over one arm"),
            ("issue ratio", "issue ratio"),
            ("At least twice as long.", "At least twice as many issues."),
            ("time ratio of streams", "issue ratio of streams"),
            ("time (ns)", "issues"),
            ("Times over stride 1, 2.00 times.", "Issues over stride 1, 2.00 times."),
            (
                "It takes 2 (the model says 2) times as long as one.",
                "It takes 2 (the model says 2) times as many issues as one.",
            ),
            ("No slower: 1.00 times as long.", "No slower: 1.00 times as many issues."),
            (
                "as long as one lane works at a time, 2 times the time",
                "as long as one lane works at a time, 2 times the issues",
            ),
            ("the sum of their times.", "the sum of their issues."),
        ] {
            assert_eq!(in_counts(text, Clock::Issues.name()), issues);
            assert_eq!(in_counts(text, "gpu"), text);
        }
        assert_eq!(in_counts("2 times as long: time ratio", "sectors"), "2 times as many sectors: sector ratio");
        let samples = Samples { ns: vec![4.0], clock: Clock::Sectors };
        let row = Row::bytes_moved("cell", &samples, 128.0);
        assert_eq!(
            (&*row.quantity, row.unit, row.value, &*row.path),
            ("bytes a sector", Unit::Count, 32.0, "simulated")
        );
        assert_eq!(row.throughput_said(), "32.0 bytes a sector");
    }

    #[test]
    fn rates_leave_out_rounds_without_a_time() {
        let times = Samples { ns: vec![2.0, 0.0, -1.0, 4.0], clock: Clock::Wall };
        let row = Row::rate("cell", "throughput", Unit::GbPerS, 8.0, &times);
        assert_eq!((&*row.samples, &*row.clock, row.verdict), (&[4.0, 2.0][..], "wall", None));
        let none = Samples { ns: vec![0.0], clock: Clock::Gpu };
        let row = Row::rate("cell", "throughput", Unit::GbPerS, 8.0, &none).predicted(exactly(1u32));
        assert_eq!(row.verdict, Some(Verdict::NotMeasurable));
    }

    #[test]
    fn figures_keep_three_digits() {
        let figures = [8412.6, 99.97, 16.04, 9.996, 1.0, 0.0584].map(figure);
        assert_eq!(figures, ["8413", "100", "16.0", "10.0", "1.00", "0.058"]);
        let row = |figures: &[f64]| Row::derived("cell", "latency", Unit::Ns, figures.to_vec(), Clock::Gpu);
        assert_eq!(said(&row(&[2.0, 2.0]), "ns"), "2.00 ns");
        assert_eq!(said(&row(&[-1.0, 2.0]), "ns"), "(lost in noise)");
    }

    #[test]
    fn a_control_is_judged_like_a_row() {
        let row = Row::ratio("cell", "ratio", &[1.0; 9], &[1.0; 9], Clock::Gpu);
        let two = Prediction { value: 2.0, low: 1.9, high: 2.1 };
        assert_eq!(control("one side only", &row, two).verdict, Verdict::Differs);
        assert_eq!(control("one side only", &row, exactly(1u32)).verdict, Verdict::Holds);
    }
}
