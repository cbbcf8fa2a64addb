//! A branch on random data.

use super::kernel::Launch;
use super::model::{DATA, exactly};
use super::oracle::{WORD_LIMIT, arm_a, arm_b, random_words, threshold};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::{calibrate, means};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::Effort;
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "random-half",
    group: "lanes",
    title: "A branch on random data",
    claim: "Where a branch depends on random data and half of it goes either way, nearly every subgroup is divided (all \
            lanes agree with a chance of 2 x 0.5^width), so half of the lanes wait at any time.",
    simulated: Simulated::Issues,
    run,
};

struct Kernel {
    timed: wgpu::ComputePipeline,
    results: wgpu::Buffer,
}

impl Kernel {
    fn unverified(&self, bench: &Bench<'_>, data: &wgpu::Buffer, limit: u32, trips: u32) -> Result<Launch> {
        let params = bench.params(&[limit, trips])?;
        Ok(bench.launch(&self.timed, &[(0, &self.results), (1, &params), (2, data)], bench.groups()))
    }

    fn launch(&self, bench: &Bench<'_>, data: &Data, limit: u32, trips: u32) -> Result<Launch> {
        let launch = self.unverified(bench, &data.buffer, limit, trips)?;
        let expected = |index: u32| {
            let word = data.words[index as usize];
            if word < limit { arm_a(word, trips) } else { arm_b(word, trips) }
        };
        let what = format!("random_half, words below {limit}");
        bench.verify(&what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

/// Words on both sides.
struct Data {
    words: Vec<u32>,
    buffer: wgpu::Buffer,
}

impl Data {
    fn new(bench: &Bench<'_>, words: Vec<u32>) -> Result<Self> {
        Ok(Self { buffer: bench.words_with("random_half", &words)?, words })
    }
}

/// What the counting pass counted.
struct Counts {
    subgroups: u32,
    mixed: u32,
    lanes_in_a: u32,
}

/// Counts by ballot how the half divides the subgroups, and compares the answer with the host's.
fn count(bench: &Bench<'_>, pipeline: &wgpu::ComputePipeline, data: &Data, limit: u32) -> Result<Counts> {
    let counts = bench.words_with("random_half_count", &[0; 3])?;
    let params = bench.params(&[limit])?;
    let buffers = [(0, &counts), (1, &params), (2, &data.buffer)];
    let launch = bench.launch(pipeline, &buffers, bench.groups());
    bench.run_once(|pass| launch.record(pass))?;
    let words = bench.read_words(&counts, 3)?;
    let counts = Counts { subgroups: words[0], mixed: words[1], lanes_in_a: words[2] };
    let below = |words: &[u32]| words.iter().filter(|word| **word < limit).count() as u32;
    let lanes_in_a = below(&data.words);
    if counts.lanes_in_a != lanes_in_a {
        return Err(Error::new(
            ErrorKind::WrongResult,
            format!("ballots counted {} lanes, the host counts {lanes_in_a} words below {limit}", counts.lanes_in_a),
        ));
    }
    // Which words share a subgroup is known only where the probe found lanes in the order of the local index.
    let probe = bench.gpu.probe();
    if probe.shapes().iter().all(|shape| shape.linear && shape.counted_lanes <= probe.width()) {
        let lanes = probe.width();
        let mixed = data.words.chunks(lanes as usize).filter(|words| (1..words.len() as u32).contains(&below(words)));
        let mixed = mixed.count() as u32;
        if counts.mixed != mixed {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!(
                    "ballots counted {} divided subgroups of {lanes} lanes, the host counts {mixed} for the same words",
                    counts.mixed
                ),
            ));
        }
    }
    Ok(counts)
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let kernel = Kernel {
        timed: bench.pipeline("random_half", "", include_str!("../../shaders/lab/random_half.wgsl"))?,
        results: bench.words("random_half", bench.invocations())?,
    };
    let counting = bench
        .counts_lanes()
        .then(|| bench.pipeline("random_half_count", "", include_str!("../../shaders/lab/random_half_count.wgsl")));
    let counting = counting.transpose()?;
    let model = bench.model()?;
    let lanes = model.lanes;
    let invocations = bench.invocations();
    let random = Data::new(bench, random_words(invocations))?;
    let mut words = random.words.clone();
    words.sort_unstable();
    let sorted = Data::new(bench, words)?;
    let half = threshold(0.5);
    let counts = counting.map(|pipeline| count(bench, &pipeline, &random, half)).transpose()?;

    bench.ready()?;
    let trips = calibrate(bench, |trips| kernel.unverified(bench, &random.buffer, WORD_LIMIT, trips))?;
    let mut shares = vec![1.0 / 64.0, 1.0 / 8.0, 1.0 / 4.0, 0.5, 3.0 / 4.0];
    if bench.effort == Effort::Full {
        shares.extend([1.0 / 256.0, 1.0 / 32.0, 1.0 / 16.0, 7.0 / 8.0]);
        shares.sort_by(f64::total_cmp);
    }
    let mut launches = vec![
        ("all in A".to_string(), kernel.launch(bench, &random, WORD_LIMIT, trips)?),
        ("all in B".to_string(), kernel.launch(bench, &random, 0, trips)?),
        ("half in A, sorted".to_string(), kernel.launch(bench, &sorted, half, trips)?),
    ];
    for share in &shares {
        launches.push((format!("{share} in A"), kernel.launch(bench, &random, threshold(*share), trips)?));
    }
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> =
        launches.iter().zip(&samples).map(|((name, _), samples)| Row::each_trip(name, samples, trips)).collect();
    let [all_a, all_b, sorted, shared @ ..] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let one = means(&all_a.ns, &all_b.ns);
    let ratio = |cell: String, ns: &[f64]| Row::ratio(cell, "time over one arm", ns, &one, all_a.clock);
    let at = |share: f64| model.around(1.0 + model.mixed_at_random(share), DATA);
    let sorted = ratio("half in A, sorted, over one arm".into(), &sorted.ns);
    let shared: Vec<_> = shares
        .iter()
        .zip(shared)
        .map(|(share, samples)| ratio(format!("{share} in A, over one arm"), &samples.ns).predicted(at(*share)))
        .collect();
    let halved = shares.iter().position(|share| *share == 0.5).map(|at| &shared[at]);
    let (time, busy) = halved.map_or_else(Default::default, |row| (row.against_model(), 100.0 / row.value.max(1.0)));
    let counted = match &counts {
        Some(counts) => format!(
            "A branch that a random half of the data takes divides {} of {} subgroups of {lanes} lanes. ",
            counts.mixed, counts.subgroups
        ),
        None => format!("Subgroups could not be counted: {}. ", bench.gpu.probe().reason()),
    };
    let finding = format!(
        "{counted}The branch takes {time} times one arm, so {busy:.0} % of the issued lanes do work. With the same data sorted \
         first it takes {:.2} times.",
        sorted.value
    );
    let control = control("the same data, sorted: judged as if it were in random order", &sorted, at(0.5));
    let points = shares.iter().zip(&shared).map(|(share, row)| [*share, row.value]);
    let expected = (0..=64).map(|step| f64::from(step) / 64.0);
    let expected = expected.map(|share| [share, 1.0 + model.mixed_at_random(share)]);
    let plot = line_plot(
        "Time of a branch against the share of the data that takes it",
        axis("share in arm A", false),
        axis("time over one arm", false),
        vec![measured("measured", points), predicted("model", expected)],
    );
    rows.push(sorted);
    rows.extend(shared);
    match &counts {
        Some(counts) => {
            let subgroups = model.subgroups(invocations);
            rows.push(
                Row::count("half in A", "subgroups", Unit::Count, counts.subgroups).predicted(exactly(subgroups)),
            );
            rows.push(
                Row::count("half in A", "subgroups of one mind", Unit::Count, counts.subgroups - counts.mixed)
                    .predicted(model.undivided_halves(counts.subgroups)),
            );
            rows.push(
                Row::count("half in A", "lanes in A", Unit::Lanes, counts.lanes_in_a)
                    .predicted(model.half_of(invocations)),
            );
        }
        None => {
            let reason = bench.gpu.probe().reason();
            rows.push(Row::not_measurable("half in A", "subgroups of one mind", Unit::Count, &reason));
            rows.push(Row::not_measurable("half in A", "lanes in A", Unit::Lanes, &reason));
        }
    }
    Ok(Outcome {
        prediction: format!(
            "{:.4} % of the subgroups divided at {lanes} lanes, so {:.3} times one arm, {:.1} % of the lanes at work.",
            100.0 * model.mixed_at_random(0.5),
            at(0.5).value,
            100.0 / at(0.5).value
        ),
        finding,
        method: format!(
            "{invocations} hashed words; a word below the threshold takes arm A of {trips} trips, the others arm B. \
             Subgroups are counted by ballot in a pass of its own; plain times, over the mean of each arm alone, a round \
             each."
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
