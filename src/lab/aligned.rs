//! A branch whose sides lie along the borders of subgroups, and the same branch moved off them.

use super::model::{FREE, TIME};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::means;
use super::two_arms::{Pattern, TwoArms};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "aligned",
    group: "lanes",
    title: "A branch along subgroup borders",
    claim: "A branch on (index / width) mod 2 costs nothing, because each subgroup is of one mind; a branch on \
            index mod 2, or the first one moved by a single lane, costs both arms.",
    simulated: Simulated::Issues,
    run,
};

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let arms = TwoArms::new(bench)?;
    let model = bench.model()?;
    bench.ready()?;
    let trips = arms.calibrate(bench)?;
    let lanes = model.lanes;
    let mut shifts = vec![0, 1, lanes / 4, lanes / 2, lanes - 1, lanes];
    shifts.sort_unstable();
    shifts.dedup();
    let mut launches = vec![
        ("A alone".to_string(), arms.launch(bench, Pattern::all_a(trips))?),
        ("B alone".to_string(), arms.launch(bench, Pattern::all_b(trips))?),
        ("by lane".to_string(), arms.launch(bench, Pattern::runs(1, trips))?),
    ];
    for shift in &shifts {
        let pattern = Pattern::runs(lanes, trips).shifted(*shift);
        launches.push((format!("by subgroup, moved by {shift}"), arms.launch(bench, pattern)?));
    }
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> =
        launches.iter().zip(&samples).map(|((name, _), samples)| Row::each_trip(name, samples, trips)).collect();
    let [a, b, by_lane, moved @ ..] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let one = means(&a.ns, &b.ns);
    let band = |value: f64| model.around(value, if value == 1.0 { FREE } else { TIME });
    let ratio = |cell: String, ns: &[f64], value: f64| {
        Row::ratio(cell, "time over one arm", ns, &one, by_lane.clock).predicted(band(value))
    };
    let by_lane = ratio("by lane, over one arm".into(), &by_lane.ns, model.runs(1, 0));
    let moved: Vec<_> = shifts
        .iter()
        .zip(moved)
        .map(|(shift, samples)| {
            let cell = format!("by subgroup, moved by {shift}, over one arm");
            ratio(cell, &samples.ns, model.runs(lanes, *shift))
        })
        .collect();
    let points = shifts.iter().zip(&moved).map(|(shift, row)| [f64::from(*shift), row.value]);
    let expected = shifts.iter().map(|shift| [f64::from(*shift), model.runs(lanes, *shift)]);
    let plot = line_plot(
        "Time of a branch by subgroup, moved off the borders",
        axis("moved by (invocations)", false),
        axis("time over one arm", false),
        vec![measured("measured", points), predicted("model", expected)],
    );
    let by_one = shifts.iter().position(|shift| *shift == 1).map(|at| moved[at].against_model());
    let finding = format!(
        "Subgroups of {lanes} lanes that take two arms in turn need {} times the time of one arm{}. Lanes that take them \
         in turn need {}.",
        moved[0].against_model(),
        by_one.map_or_else(String::new, |ratio| format!("; with the border moved by one invocation, {ratio}")),
        by_lane.against_model(),
    );
    let control = control("the branch by lane, judged as if it followed the borders", &by_lane, band(1.0));
    rows.push(by_lane);
    rows.extend(moved);
    Ok(Outcome {
        prediction: format!(
            "1.00 along the borders of {lanes} lanes, {:.2} lane by lane and one lane off the borders.",
            model.runs(lanes, 1)
        ),
        finding,
        method: format!(
            "Two arms of {trips} trips on ((index + shift) / {lanes}) mod 2 and on index mod 2: the same pipeline, the \
             pattern in a uniform buffer. Compared with the mean of each arm alone; plain times, a round each."
        ),
        verdict: overall(&rows),
        plots: vec![plot],
        rows,
        control: Some(control),
    })
}
