//! A switch with many arms, all taken inside one subgroup.

use std::fmt::Write;

use super::kernel::Launch;
use super::model::{DATA, TIME};
use super::oracle::{scramble, steps};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::{Pair, Trips, calibrate, slopes};
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::measure::Effort;
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "k-way",
    group: "lanes",
    title: "A switch with k arms in one subgroup",
    claim: "A switch whose k arms are all taken inside one subgroup costs k times one arm, up to the width; with as many \
            arms as lanes, one lane works at a time.",
    simulated: Simulated::Issues,
    run,
};

/// Multiplier, addend and shift of an arm: large and odd multipliers, so that all arms are equally long and none is
/// merged with another.
pub(super) fn constants(arm: u32) -> (u32, u32, u32) {
    (scramble(2 * arm + 1) | 0x1000_0001, scramble(2 * arm + 2) | 0x1000_0000, 11 + arm % 8)
}

/// `take_arm` of k_way.wgsl: a function with a loop for each arm, and the switch between them.
pub(super) fn arms_text(arms: u32) -> String {
    let mut text = String::new();
    let mut cases = String::new();
    for arm in 0..arms {
        let (multiplier, addend, shift) = constants(arm);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "fn arm_{arm}(start: u32, trips: u32) -> u32 {{\n  var x = start;\n  \
             for (var i = 0u; i < trips; i++) {{\n    x = x * {multiplier}u + {addend}u;\n    x ^= x >> {shift}u;\n  \
             }}\n  return x;\n}}\n"
        );
        let label = if arm + 1 == arms { "default".to_string() } else { format!("case {arm}u") };
        let _ = writeln!(cases, "    {label}: {{ return arm_{arm}(x, trips); }}");
    }
    format!("{text}fn take_arm(arm: u32, x: u32, trips: u32) -> u32 {{\n  switch arm {{\n{cases}  }}\n}}\n")
}

/// `Params` of k_way.wgsl, the trips aside.
#[derive(Clone, Copy, Debug)]
struct Choice {
    run: u32,
    arms: u32,
    random: bool,
    first: u32,
}

impl Choice {
    /// Only this arm.
    fn alone(arm: u32) -> Self {
        Self { run: 1, arms: 1, random: false, first: arm }
    }

    /// `arms` arms in turn, changing every `run` invocations.
    fn turns(arms: u32, run: u32) -> Self {
        Self { run, arms, random: false, first: 0 }
    }

    /// One of `arms` arms at random.
    fn random(arms: u32) -> Self {
        Self { random: true, ..Self::turns(arms, 1) }
    }

    fn expected(&self, index: u32, trips: u32) -> u32 {
        let turn = if self.random { scramble(index) } else { index / self.run };
        let (multiplier, addend, shift) = constants(turn % self.arms + self.first);
        steps(index, trips, multiplier, addend, shift)
    }
}

struct Kernel {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl Kernel {
    fn unverified(&self, bench: &Bench<'_>, choice: Choice, trips: u32) -> Result<Launch> {
        let params = bench.params(&[choice.run, choice.arms, choice.random.into(), choice.first, trips])?;
        Ok(bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], bench.groups()))
    }

    fn launch(&self, bench: &Bench<'_>, choice: Choice, trips: u32) -> Result<Launch> {
        let launch = self.unverified(bench, choice, trips)?;
        let what = format!("k_way, {choice:?}, {trips} trips");
        let expected = |index| choice.expected(index, trips);
        bench.verify(&what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let lanes = model.lanes;
    // At least 32, so that narrow subgroups show that the cost stops growing at the width; no more than 64, since
    // each arm costs time to compile.
    let most = lanes.next_power_of_two().clamp(32, 64);
    let kernel = Kernel {
        pipeline: bench.pipeline("k_way", &arms_text(most), include_str!("../../shaders/lab/k_way.wgsl"))?,
        results: bench.words("k_way", bench.invocations())?,
    };
    bench.ready()?;
    let long = calibrate(bench, |trips| kernel.unverified(bench, Choice::alone(0), trips))?;
    // With all its arms taken a dispatch is up to `lanes` times longer than what was calibrated, and on a CPU driver
    // time is short.
    let trips = Trips::up_to(if bench.gpu.is_cpu() { long / 2 } else { long });
    let mut counts: Vec<_> = (1..=most.ilog2()).map(|power| 1u32 << power).collect();
    if bench.effort == Effort::Full {
        counts.extend([3, 6, 12, 24]);
        counts.sort_unstable();
    }
    let alone = [0, most / 2, most - 1];
    let by_subgroup = [4, most];
    let cases: Vec<_> = alone
        .iter()
        .map(|arm| (format!("arm {arm} alone"), Choice::alone(*arm)))
        .chain(counts.iter().map(|k| (format!("k={k}, by lane"), Choice::turns(*k, 1))))
        .chain(by_subgroup.iter().map(|k| (format!("k={k}, by subgroup"), Choice::turns(*k, lanes))))
        .chain(by_subgroup.iter().map(|k| (format!("k={k}, at random"), Choice::random(*k))))
        .collect();
    let pairs = cases.iter().map(|(name, choice)| Pair::new(name, trips, |trips| kernel.launch(bench, *choice, trips)));
    let slopes = slopes(bench, pairs.collect::<Result<Vec<_>>>()?)?;
    let mut rows = Vec::new();
    for ((name, _), slope) in cases.iter().zip(&slopes) {
        rows.push(Row::each_trip(name, &slope.long, trips.long));
        rows.push(Row::trip(name, &slope.trip));
    }
    // One arm: the mean of three, so that a difference between arms does not show as one between counts.
    let rounds = slopes.iter().map(|slope| slope.trip.ns.len()).min().unwrap_or(0);
    let (single, several) = slopes.split_at(alone.len());
    let one: Vec<f64> =
        (0..rounds).map(|round| single.iter().map(|s| s.trip.ns[round]).sum::<f64>() / alone.len() as f64).collect();
    let mut judged = Vec::new();
    for ((name, choice), slope) in cases[alone.len()..].iter().zip(several) {
        let (value, tolerance) = match choice {
            Choice { random: true, arms, .. } => (model.k_way_random(*arms), DATA),
            Choice { run: 1, arms, .. } => (model.k_way(*arms), TIME),
            _ => (1.0, TIME),
        };
        judged.push(
            Row::ratio(format!("{name}, over one arm"), "time ratio", &slope.trip.ns, &one, slope.long.clock)
                .predicted(model.around(value, tolerance)),
        );
    }
    for (arm, slope) in alone.iter().zip(single).skip(1) {
        let cell = format!("arm {arm} alone, over arm 0 alone");
        rows.push(
            Row::ratio(cell, "time ratio", &slope.trip.ns, &single[0].trip.ns, slope.long.clock)
                .noted("not judged: how far equal arms differ, whatever the subgroups do"),
        );
    }
    let (by_lane, rest) = judged.split_at(counts.len());
    let (grouped, random) = rest.split_at(by_subgroup.len());
    let at = |k: u32| counts.iter().position(|count| *count == k).map_or(String::new(), |i| by_lane[i].against_model());
    let wide = lanes.min(most);
    let beyond = if most > wide { format!("; with {most} arms it takes {}", at(most)) } else { String::new() };
    let finding = format!(
        "A switch of {wide} arms taken in turn by neighbouring lanes takes {} times one arm, so {:.1} % of the lanes work \
         at a time{beyond}. {most} arms chosen by subgroup take {} times one arm, chosen at random {}.",
        at(wide),
        counts.iter().position(|k| *k == wide).map_or(0.0, |i| 100.0 / by_lane[i].value.max(1.0)),
        grouped[1].against_model(),
        random[1].against_model(),
    );
    let control = control(
        "arms chosen by subgroup, judged as if they were chosen by lane",
        &grouped[1],
        model.around(model.k_way(most), TIME),
    );
    let points = counts.iter().zip(by_lane).map(|(k, row)| [f64::from(*k), row.value]);
    let expected = counts.iter().map(|k| [f64::from(*k), model.k_way(*k)]);
    let agreed = by_subgroup.iter().zip(grouped).map(|(k, row)| [f64::from(*k), row.value]);
    let plot = line_plot(
        "Time of a switch against its arms",
        axis("arms taken", true),
        axis("time over one arm", true),
        vec![measured("by lane", points), predicted("model, by lane", expected), measured("by subgroup", agreed)],
    );
    rows.extend(judged);
    Ok(Outcome {
        prediction: format!(
            "k times one arm up to the {lanes} lanes of a subgroup and {lanes} times from there on; once where subgroups \
             agree; {:.2} times for {most} arms at random.",
            model.k_way_random(most)
        ),
        finding,
        method: format!(
            "{most} functions with a loop each, of distinct constants, behind one switch; which are taken and by whom \
             is read from a uniform buffer, so one pipeline serves all cases. Slopes between {} and {} trips over the \
             mean slope of three arms alone, a round each.",
            trips.short, trips.long
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn arms_have_large_odd_multipliers_of_their_own() {
        let multipliers: HashSet<_> = (0..64).map(|arm| constants(arm).0).collect();
        assert_eq!(multipliers.len(), 64);
        assert!(multipliers.iter().all(|multiplier| multiplier % 2 == 1 && *multiplier > 1 << 16));
    }
}
