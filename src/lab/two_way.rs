//! Two arms taken by alternating lanes: the sum of both, or the longer one?

use super::model::{Model, TIME};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall};
use super::timing::{Pair, Slope, Trips, slopes};
use super::two_arms::{Pattern, TwoArms};
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "two-way",
    group: "lanes",
    title: "Two arms in one subgroup",
    claim: "Lanes of a subgroup that alternate between two arms of a branch pay for both, one after the other: the \
            sum of the arms' times and not the longer of them.",
    simulated: Simulated::Issues,
    run,
};

/// How many times longer arm A is in the unequal case.
const UNEQUAL: u32 = 4;

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let arms = TwoArms::new(bench)?;
    let model = bench.model()?;
    bench.ready()?;
    let trips = Trips::up_to(arms.calibrate(bench)?);
    let pair = |name: &str, pattern: &dyn Fn(u32) -> Pattern| {
        Pair::new(name, trips, |trips| arms.launch(bench, pattern(trips)))
    };
    let names = ["A alone", "B alone", "A and B", "B alone, a quarter", "A and a quarter of B", "A on both sides"];
    let pairs = vec![
        pair(names[0], &Pattern::all_a)?,
        pair(names[1], &Pattern::all_b)?,
        pair(names[2], &|trips| Pattern::runs(1, trips))?,
        pair(names[3], &|trips| Pattern::all_b(trips).trips_b(trips / UNEQUAL))?,
        pair(names[4], &|trips| Pattern::runs(1, trips).trips_b(trips / UNEQUAL))?,
        pair(names[5], &Pattern::all_a)?,
    ];
    let slopes = slopes(bench, pairs)?;
    let mut rows = Vec::new();
    for (name, slope) in names.iter().zip(&slopes) {
        rows.push(Row::each_trip(*name, &slope.long, trips.long));
        rows.push(Row::trip(*name, &slope.trip));
    }
    let [a, b, mixed, short_b, unequal, one_sided] = slopes.as_slice() else {
        return Err(crate::Error::internal(format!("{} slopes of 6 pairs", slopes.len())));
    };
    let against = |cell: &str, a: &Slope, b: &[f64]| Row::ratio(cell, "time ratio", &a.trip.ns, b, a.long.clock);
    // The longer arm is the slower of the two where both have as many trips.
    let longer: Vec<_> = a.trip.ns.iter().zip(&b.trip.ns).map(|(a, b)| a.max(*b)).collect();
    let sum = |a: &Slope, b: &Slope| -> Vec<_> { a.trip.ns.iter().zip(&b.trip.ns).map(|(a, b)| a + b).collect() };
    let Model { lanes, .. } = model;
    let equal_arms = model.around(model.two_way(UNEQUAL, UNEQUAL), TIME);
    let unequal_arms = model.around(model.two_way(UNEQUAL, 1), TIME);
    let equal = against("equal arms, over the longer arm", mixed, &longer).predicted(equal_arms);
    let fourth = against("4 to 1, over the longer arm", unequal, &a.trip.ns).predicted(unequal_arms);
    let sums = [
        against("equal arms, over the sum of both", mixed, &sum(a, b)).predicted(model.around(1.0, TIME)),
        against("4 to 1, over the sum of both", unequal, &sum(a, short_b)).predicted(model.around(1.0, TIME)),
    ];
    let one_sided = against("A on both sides, over A", one_sided, &a.trip.ns);
    let finding = format!(
        "Where neighbouring lanes take two arms of equal length in turn, the branch takes {} times as long as one arm; \
         with one arm four times the other, {} times the longer one. Over the sum of both arms, each timed alone, that \
         is {:.2} and {:.2}: {}.",
        equal.against_model(),
        fourth.against_model(),
        sums[0].value,
        sums[1].value,
        if equal.value > 1.5 {
            "the lanes of a subgroup wait while the others take their arm"
        } else {
            "both arms do not cost their sum here"
        },
    );
    let control = control("both sides of the branch take arm A, judged as if they were two", &one_sided, equal_arms);
    rows.extend([equal, fourth, one_sided]);
    rows.extend(sums);
    let points =
        |slope: &Slope| [[f64::from(trips.short), slope.short.median()], [f64::from(trips.long), slope.long.median()]];
    let lines = names.iter().zip(&slopes).take(5).map(|(name, slope)| measured(name, points(slope))).collect();
    Ok(Outcome {
        prediction: format!(
            "At {lanes} lanes: (tA + tB) / max(tA, tB), so {:.2} times one arm where both are equal and {:.2} times \
             the longer one at four to one.",
            equal_arms.value, unequal_arms.value
        ),
        finding,
        method: format!(
            "Arms are loops of dependent integer arithmetic; even invocations take A, odd ones B. One pipeline for \
             all cases, the pattern and the trip counts in a uniform buffer. Times are slopes between {} and {} trips, \
             so that what a pass costs drops out; ratios are taken round by round.",
            trips.short, trips.long
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![line_plot("Time against trips", axis("trips of arm A", false), axis("time (ns)", false), lines)],
        control: Some(control),
    })
}
