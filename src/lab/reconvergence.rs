//! Whether lanes that a branch has parted are together again behind it.

use super::kernel::Launch;
use super::model::{TIME, exactly};
use super::oracle::{arm_a, arm_b};
use super::outcome::{Outcome, bar_plot, control, overall};
use super::timing::{MAX_TRIPS, Pair, Trips, slopes};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "reconvergence",
    group: "lanes",
    title: "Together again after a branch",
    claim: "Behind a branch the lanes of a subgroup meet again. Nothing promises it: lanes may be scheduled apart and may \
            interleave, so what has to be together needs a subgroup operation in uniform flow or a barrier, whatever is \
            observed.",
    simulated: Simulated::Issues,
    run,
};

/// The constructs of reconvergence.wgsl, in its order, behind which all lanes should meet.
const MEETINGS: [&str; 7] =
    ["if", "if and else", "loop of unequal trips", "switch", "break", "return from a function", "atomic in an if"];
/// Stretches of the results behind those: lanes inside a branch, lanes after the odd ones returned, what was computed.
const INSIDE: usize = 7;
const AFTER_RETURN: usize = 8;
const COMPUTED: usize = 9;
const STRETCHES: usize = 10;

/// What invocation `index`, in this lane, computes on its way.
fn computed(index: u32, lane: u32) -> u32 {
    let odd = lane % 2 == 1;
    let mut x = index;
    if odd {
        x = arm_a(x, 7);
    }
    x = if odd { arm_a(x, 7) } else { arm_b(x, 9) };
    x = arm_a(x, lane);
    x = match lane % 4 {
        0 => arm_a(x, 3),
        1 => arm_b(x, 4),
        2 => x ^ 77,
        _ => arm_a(x, 11),
    };
    x = arm_b(x, if odd { 6 } else { 16 });
    if odd { arm_b(x, 3) } else { arm_a(x, 5) }
}

/// Rows of lanes that met, each the least over all subgroups.
fn meetings(bench: &Bench<'_>, lanes: u32) -> Result<Vec<Row>> {
    let pipeline = bench.pipeline("reconvergence", "", include_str!("../../shaders/lab/reconvergence.wgsl"))?;
    // A few workgroups show what thousands would.
    let groups = 64;
    let invocations = bench.workgroup() * groups;
    let results = bench.words("reconvergence", STRETCHES as u32 * invocations)?;
    let counter = bench.words_with("reconvergence_counter", &[0])?;
    let params = bench.params(&[0, invocations])?;
    let launch = bench.launch(&pipeline, &[(0, &results), (1, &params), (2, &counter)], groups);
    bench.run_once(|pass| launch.record(pass))?;
    let words = bench.read_words(&results, STRETCHES as u32 * invocations)?;
    let stretches: Vec<_> = words.chunks_exact(invocations as usize).collect();
    for (index, got) in (0..).zip(stretches[COMPUTED]) {
        let want = computed(index, index % lanes);
        if *got != want {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!("reconvergence: invocation {index} computed {got:#010x}, the host {want:#010x}"),
            ));
        }
    }
    let least = |stretch: usize, of: fn(u32) -> bool| {
        let met = (0..).zip(stretches[stretch]).filter(|(index, _)| of(index % lanes));
        met.map(|(_, lanes)| *lanes).min().unwrap_or(0)
    };
    let mut rows = Vec::new();
    for (stretch, name) in MEETINGS.iter().enumerate() {
        let row = Row::count(format!("after {name}"), "least lanes that met", Unit::Lanes, least(stretch, |_| true));
        rows.push(row.predicted(exactly(lanes)));
    }
    let odd: fn(u32) -> bool = |lane| lane % 2 == 1;
    let even: fn(u32) -> bool = |lane| lane.is_multiple_of(2);
    for (stretch, name, of) in
        [(INSIDE, "inside a branch of the odd lanes", odd), (AFTER_RETURN, "after the odd lanes left the kernel", even)]
    {
        let row = Row::count(name, "least lanes that met", Unit::Lanes, least(stretch, of));
        rows.push(row.predicted(exactly(lanes / 2)));
    }
    Ok(rows)
}

/// The case of two arms in a subgroup that has the device for itself.
const OVERLAP: &str = "one subgroup alone, two arms";

/// What the time of two arms in one subgroup says of its lanes, in a sentence.
fn conclusion(overlap: &Row) -> String {
    let said = match overlap.verdict {
        Some(Verdict::NotMeasurable) => return String::new(),
        Some(Verdict::Holds) => "so its lanes do not overlap their arms",
        Some(Verdict::Differs) if overlap.value < 1.0 => "so its lanes overlap their arms, at least in part",
        Some(Verdict::Differs) => "more than they should",
        _ => "so whether its lanes overlap their arms cannot be said",
    };
    format!(
        " Two arms in one subgroup that has the device for itself take {} times the sum of both, {said}.",
        overlap.against_model()
    )
}

/// Two arms in the lanes of one subgroup that has the device for itself, so that it is bound by latency and both arms
/// would fit beside each other if their lanes interleaved: over the sum of both arms.
fn overlap(bench: &Bench<'_>, lanes: u32) -> Result<(Vec<Row>, Row)> {
    let pipeline = bench.pipeline_of(lanes, "two_way", "", include_str!("../../shaders/lab/two_way.wgsl"))?;
    let results = bench.words("overlap", lanes)?;
    bench.ready()?;
    let trips = Trips::up_to(MAX_TRIPS);
    // `mask` and `flip` of two_way.wgsl.
    let launch = |mask: u32, flip: u32, trips: u32| -> Result<Launch> {
        let params = bench.params(&[1, 0, mask, flip, trips, trips])?;
        let launch = bench.launch(&pipeline, &[(0, &results), (1, &params)], 1);
        let expected = |index: u32| match (index & mask) ^ flip {
            0 => arm_a(index, trips),
            _ => arm_b(index, trips),
        };
        bench.verify("one subgroup, two arms", &results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    };
    let pairs = vec![
        Pair::new("one subgroup, A", trips, |trips| launch(0, 0, trips))?,
        Pair::new("one subgroup, B", trips, |trips| launch(0, 1, trips))?,
        Pair::new("one subgroup, A and B", trips, |trips| launch(1, 0, trips))?,
    ];
    let slopes = slopes(bench, pairs)?;
    let [a, b, both] = slopes.as_slice() else {
        return Err(Error::internal("a slope is missing"));
    };
    let sum: Vec<_> = a.trip.ns.iter().zip(&b.trip.ns).map(|(a, b)| a + b).collect();
    let rows = vec![
        Row::trip("one subgroup, A", &a.trip),
        Row::trip("one subgroup, B", &b.trip),
        Row::trip("one subgroup, A and B", &both.trip),
    ];
    let ratio = Row::ratio(OVERLAP, "time over the sum of both", &both.trip.ns, &sum, both.long.clock);
    Ok((rows, ratio.predicted(bench.model()?.around(1.0, TIME))))
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction = "All lanes meet behind every construct, half of them inside a branch and after the other half has left \
                      the kernel. Two arms of one subgroup take the sum of their times, 1.00, unless lanes interleave.";
    let method = "Ballots behind control flow that parts odd and even lanes; the least that met in any subgroup. Then one \
                  subgroup alone on the device, bound by latency, with one arm and with two: slopes over two trip counts.";
    if !bench.has_subgroups() || !bench.counts_lanes() {
        let reason = bench.gpu.probe().reason();
        let row = Row::not_measurable("after if", "least lanes that met", Unit::Lanes, &reason);
        return Ok(Outcome::not_measurable(prediction.into(), method.into(), vec![row], &reason));
    }
    let lanes = bench.model()?.lanes;
    let mut rows = meetings(bench, lanes)?;
    let (times, overlap) = if bench.gpu.is_cpu() {
        let reason = "the lanes of a CPU driver are parts of one vector, which has one instruction at a time";
        (vec![], Row::not_measurable(OVERLAP, "time over the sum of both", Unit::Ratio, reason))
    } else {
        overlap(bench, lanes)?
    };
    let apart: Vec<_> =
        rows.iter().take(MEETINGS.len()).filter(|row| row.value < f64::from(lanes)).map(|row| &*row.cell).collect();
    let met = if apart.is_empty() {
        format!("all {lanes} lanes met in every subgroup behind each of {} constructs", MEETINGS.len())
    } else {
        format!("lanes stayed apart {}", apart.join(", "))
    };
    let finding = format!(
        "With this compiler, on this day, {met}; inside a branch of the odd lanes {:.0} met, and after the odd lanes had \
         left {:.0}.{} None of this is a guarantee: another driver may schedule lanes apart.",
        rows[INSIDE].value,
        rows[AFTER_RETURN].value,
        conclusion(&overlap),
    );
    let control = control("inside a branch, judged as if all lanes met there", &rows[INSIDE], exactly(lanes));
    let plot = bar_plot("Lanes that met", "lanes", &rows);
    rows.extend(times);
    rows.push(overlap);
    Ok(Outcome {
        prediction: prediction.into(),
        finding,
        method: method.into(),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
