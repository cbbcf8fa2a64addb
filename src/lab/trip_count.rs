//! Loops of different lengths in one subgroup.

use super::kernel::Launch;
use super::model::{DATA, TIME};
use super::oracle::{arm_a, scramble};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::packages::{LONGEST_ROW, Packages};
use super::timing::{MAX_TRIPS, calibrate};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "trip-count",
    group: "lanes",
    title: "One long loop in a subgroup",
    claim: "Lanes whose loops differ cost as much as the longest: one lane that loops a hundred times longer makes \
            its whole subgroup wait, so the share of lanes at work is the mean over the maximum of the trip counts.",
    simulated: Simulated::Issues,
    run,
};

/// How many times longer the long loops are.
const LONGER: u32 = 100;

/// `Params` of trip_count.wgsl.
#[derive(Clone, Copy, Debug)]
struct Loops {
    spacing: u32,
    random: bool,
    long: u32,
    short: u32,
}

impl Loops {
    /// One in `spacing` invocations loops `long` times.
    fn spaced(spacing: u32, long: u32) -> Self {
        Self { spacing, random: false, long, short: (long / LONGER).max(2) }
    }

    /// Each invocation loops a random number of times, from 1 to `long`.
    fn random(long: u32) -> Self {
        Self { random: true, ..Self::spaced(1, long) }
    }

    fn trips(&self, index: u32) -> u32 {
        match (self.random, index % self.spacing) {
            (true, _) => scramble(index) % self.long + 1,
            (false, 0) => self.long,
            (false, _) => self.short,
        }
    }
}

struct Kernel {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl Kernel {
    fn unverified(&self, bench: &Bench<'_>, loops: Loops) -> Result<Launch> {
        let params = bench.params(&[loops.spacing, loops.random.into(), loops.long, loops.short])?;
        Ok(bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], bench.groups()))
    }

    fn launch(&self, bench: &Bench<'_>, loops: Loops) -> Result<Launch> {
        let launch = self.unverified(bench, loops)?;
        let what = format!("trip_count, {loops:?}");
        let expected = |index| arm_a(index, loops.trips(index));
        bench.verify(&what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

/// Workgroups that take the rows of a graph, one an invocation, on a GPU: so many that the longest row is short beside
/// what a multiprocessor does in all.
const ROW_GROUPS: u32 = 1 << 15;

/// A kernel whose invocations take a row of a graph each.
struct Rows {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    /// In the order of the graph.
    lengths: Vec<u32>,
}

impl Rows {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let rows = Packages::debian().rows();
        // Once on a CPU driver, again and again on a GPU.
        let groups = if bench.gpu.is_cpu() { (rows.len() as u32).div_ceil(bench.workgroup()) } else { ROW_GROUPS };
        let invocations = groups * bench.workgroup();
        Ok(Self {
            pipeline: bench.pipeline("row_each", "", include_str!("../../shaders/lab/trip_count.wgsl"))?,
            results: bench.words("row_each", invocations)?,
            lengths: rows.into_iter().cycle().take(invocations as usize).collect(),
        })
    }

    fn mean(&self) -> f64 {
        self.lengths.iter().copied().map(f64::from).sum::<f64>() / self.lengths.len() as f64
    }

    fn unverified(&self, bench: &Bench<'_>, rows: &wgpu::Buffer, trips: u32) -> Result<Launch> {
        let params = bench.params(&[1, 0, trips, 0])?;
        let buffers = [(0, &self.results), (1, &params), (2, rows)];
        Ok(bench.launch(&self.pipeline, &buffers, self.lengths.len() as u32 / bench.workgroup()))
    }

    /// Rows of these lengths at so many trips an entry, their results compared with the host's.
    fn launch(&self, bench: &Bench<'_>, what: &str, lengths: &[u32], trips: u32) -> Result<Launch> {
        let launch = self.unverified(bench, &bench.words_with("rows", lengths)?, trips)?;
        let expected = |index: u32| arm_a(index, lengths[index as usize] * trips);
        bench.verify(what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

/// The same workgroups of rows in another order, which changes no subgroup: those with the longest row first, so that no
/// long one is left alone at the end. A CPU driver's worker threads have fixed parts of the grid instead, so there the
/// long ones are spread over it, evenly at every scale: by multiples of the golden ratio.
fn dealt(lengths: &[u32], workgroup: u32, is_cpu: bool) -> Vec<u32> {
    let mut groups: Vec<_> = lengths.chunks(workgroup as usize).collect();
    groups.sort_by_key(|rows| std::cmp::Reverse(rows.iter().max()));
    let mut ranked: Vec<_> = (0..).zip(groups).collect();
    if is_cpu {
        ranked.sort_by_key(|(rank, _): &(u32, _)| rank.wrapping_mul(0x9E37_79B1));
    }
    ranked.into_iter().flat_map(|(_, rows)| rows.iter().copied()).collect()
}

/// The rows of a real graph, a lane each: the measured rows, and what they show in a sentence.
fn real_rows(bench: &Bench<'_>, rows: &Rows) -> Result<(Vec<Row>, String)> {
    let model = bench.model()?;
    let workgroup = bench.workgroup();
    let ordered = dealt(&rows.lengths, workgroup, model.cpu);
    let mut sorted = rows.lengths.clone();
    sorted.sort_unstable();
    let sorted = dealt(&sorted, workgroup, model.cpu);
    // The same work, spread evenly.
    let even = vec![1; rows.lengths.len()];
    let buffer = bench.words_with("rows", &even)?;
    let trips = calibrate(bench, |trips| rows.unverified(bench, &buffer, trips))?;
    let entry = ((f64::from(trips) / rows.mean()) as u32).clamp(1, MAX_TRIPS / LONGEST_ROW);
    let cells = ["packages, even rows", "packages in their order", "packages sorted by length"];
    let launches = [
        (cells[0].to_string(), rows.launch(bench, cells[0], &even, (rows.mean() * f64::from(entry)).round() as u32)?),
        (cells[1].to_string(), rows.launch(bench, cells[1], &ordered, entry)?),
        (cells[2].to_string(), rows.launch(bench, cells[2], &sorted, entry)?),
    ];
    let samples = bench.sample(&launches)?;
    let mut measured: Vec<_> =
        cells.iter().zip(&samples).map(|(cell, samples)| Row::each_trip(*cell, samples, entry)).collect();
    let [even, rest @ ..] = samples.as_slice() else { return Err(Error::internal("no contender was sampled")) };
    for ((samples, lengths), cell) in rest.iter().zip([&ordered, &sorted]).zip(&cells[1..]) {
        let row = Row::ratio(*cell, "time over even rows", &samples.ns, &even.ns, even.clock);
        measured.push(row.predicted(model.around(1.0 / model.lanes_at_work(lengths), DATA)));
    }
    let [.., ordered_over_even, sorted_over_even] = measured.as_slice() else {
        return Err(Error::internal("no ratio was taken"));
    };
    let said = format!(
        "With the rows of a real graph (Debian's packages and what each depends on, {:.1} packages on average and up to \
         {LONGEST_ROW} a row), {:.0} % of the lane-steps do work: a row a lane takes {} times as long as even rows, and {} \
         once the rows are sorted by length.",
        rows.mean(),
        100.0 * model.lanes_at_work(&ordered),
        ordered_over_even.against_model(),
        sorted_over_even.against_model(),
    );
    Ok((measured, said))
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let kernel = Kernel {
        pipeline: bench.pipeline("trip_count", "", include_str!("../../shaders/lab/trip_count.wgsl"))?,
        results: bench.words("trip_count", bench.invocations())?,
    };
    let real = Rows::new(bench)?;
    let model = bench.model()?;
    let lanes = model.lanes;
    bench.ready()?;
    let long = calibrate(bench, |trips| kernel.unverified(bench, Loops::spaced(1, trips)))?;
    let all_long = Loops::spaced(1, long);
    let all_short = Loops { long: all_long.short, ..all_long };
    let spacings: Vec<_> = (1..=lanes.ilog2() + 3).map(|power| 1u32 << power).collect();
    let mut launches = vec![
        ("all long".to_string(), kernel.launch(bench, all_long)?),
        ("all short".to_string(), kernel.launch(bench, all_short)?),
        ("random".to_string(), kernel.launch(bench, Loops::random(long))?),
    ];
    for spacing in &spacings {
        launches.push((format!("1 long in {spacing}"), kernel.launch(bench, Loops::spaced(*spacing, long))?));
    }
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> = launches
        .iter()
        .zip(&samples)
        .map(|((name, _), samples)| {
            // A row for a trip of the longest loop, whatever the loops of a case are.
            Row::each_trip(name, samples, long)
        })
        .collect();
    let [all, short, random, spaced @ ..] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let ratio = |cell: String, ns: &[f64]| Row::ratio(cell, "time over all long", ns, &all.ns, all.clock);
    let whole = model.around(1.0, TIME);
    let random =
        ratio("random, over all long".into(), &random.ns).predicted(model.around(model.random_loops(long), DATA));
    let short = ratio("all short, over all long".into(), &short.ns);
    let spaced: Vec<_> = spacings
        .iter()
        .zip(spaced)
        .map(|(spacing, samples)| {
            let row = ratio(format!("1 long in {spacing}, over all long"), &samples.ns);
            if *spacing <= lanes {
                row.predicted(model.around(model.spaced_loops(*spacing, long, all_long.short), TIME))
            } else {
                row.noted(format!(
                    "not judged: the model says {:.3}, but with long and short subgroups side by side the time also \
                     depends on how they are scheduled",
                    model.spaced_loops(*spacing, long, all_long.short)
                ))
            }
        })
        .collect();
    let points = spacings.iter().zip(&spaced).map(|(spacing, row)| [f64::from(*spacing), row.value]);
    let expected =
        spacings.iter().map(|spacing| [f64::from(*spacing), model.spaced_loops(*spacing, long, all_long.short)]);
    let plot = line_plot(
        "Time against the distance of the long loops",
        axis("invocations from one long loop to the next", true),
        axis("time over all long", false),
        vec![measured("measured", points), predicted("model", expected)],
    );
    let working = (f64::from(long) + f64::from(lanes - 1) * f64::from(all_long.short)) / f64::from(lanes * long);
    let one = spacings.iter().position(|spacing| *spacing == lanes).map(|at| spaced[at].against_model());
    let finding = format!(
        "One lane in {lanes} that loops {long} times among others that loop {} times takes {} times as long as if all \
         lanes looped {long} times, though only {:.0} % of the lane-steps do work. With random loop lengths it takes {}.",
        all_long.short,
        one.unwrap_or_default(),
        100.0 * working,
        random.against_model(),
    );
    let (real, said) = real_rows(bench, &real)?;
    let finding = format!("{finding} {said}");
    let control = control("no long loop at all, judged as if every subgroup had one", &short, whole);
    rows.push(random);
    rows.extend(spaced);
    rows.push(short);
    rows.extend(real);
    Ok(Outcome {
        prediction: format!(
            "The time of the longest lane: 1.00 with one long loop in up to {lanes} invocations, {:.2} with random \
             lengths.",
            model.random_loops(long)
        ),
        finding,
        method: format!(
            "Loops of {long} and {} trips, chosen by index, or of a hashed number of trips; one pipeline, the pattern in \
             a uniform buffer. Plain times over those of all-long loops, a round each. The real rows are read from a buffer, \
             longer ones than {LONGEST_ROW} entries cut, workgroups with the longest row first; their times are over those of \
             as many trips in all with every loop alike.",
            all_long.short
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dealt_workgroups_keep_their_rows_and_spread_the_long_ones() {
        // 128 workgroups of four rows, longer and longer.
        let rows: Vec<u32> = (0..512).collect();
        let first = dealt(&rows, 4, false);
        assert_eq!(first[..8], [508, 509, 510, 511, 504, 505, 506, 507]);
        let spread = dealt(&rows, 4, true);
        assert!(spread.chunks(4).all(|group| group[0] % 4 == 0 && group.is_sorted()));
        let total = |rows: &[u32]| f64::from(rows.iter().sum::<u32>());
        for part in spread.chunks(128) {
            assert!((total(part) / (total(&rows) / 4.0) - 1.0).abs() < 0.1, "{}", total(part));
        }
    }
}
