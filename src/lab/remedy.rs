//! Compact first, then run dense: what it gains, what it costs, and from which work on it pays.

use super::kernel::{Launch, record_all};
use super::model::{DATA, Model};
use super::oracle::{WORD_LIMIT, arm_a, random_words, threshold};
use super::outcome::{Outcome, axis, control, line_plot, measured, median_said, overall, predicted};
use super::packages::Packages;
use super::timing::{MAX_TRIPS, calibrate, ratios};
use super::{Bench, Experiment, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Contender, Samples, median};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "remedy",
    group: "lanes",
    title: "Compact first, then run dense",
    claim: "Where only some items need work, listing them first and working on the dense list gives the idle lanes \
            something to do: near a factor of 2 at one half, and it pays as soon as the work is expensive enough to \
            cover the extra pass.",
    simulated: Simulated::Issues,
    run,
};

/// Shares of the items that need work, and what they are called.
const SHARES: [(f64, &str); 2] = [(0.5, "1/2"), (0.125, "1/8")];

/// Between which two points of the sweep the gain on the work alone is taken: the longest work and a quarter of it.
const LEVER: u32 = 4;

/// What is worked on: words, of which those below a threshold are selected.
struct Words {
    host: Vec<u32>,
    buffer: wgpu::Buffer,
}

impl Words {
    fn new(bench: &Bench<'_>, host: Vec<u32>) -> Result<Self> {
        Ok(Self { buffer: bench.words_with("remedy", &host)?, host })
    }

    /// Random words, of which a threshold of one half selects these.
    fn selected(bench: &Bench<'_>, selected: &[bool]) -> Result<Self> {
        let word = |(word, selected): (u32, &bool)| word / 2 + if *selected { 0 } else { WORD_LIMIT / 2 };
        Self::new(bench, random_words(selected.len() as u32).into_iter().zip(selected).map(word).collect())
    }
}

/// The kernels, and the buffers that they hand to each other.
struct Remedy {
    direct: wgpu::ComputePipeline,
    compact: wgpu::ComputePipeline,
    arguments: wgpu::ComputePipeline,
    dense: wgpu::ComputePipeline,
    random: Words,
    list: wgpu::Buffer,
    /// The number of listed items, then the dispatch arguments.
    selected: wgpu::Buffer,
    results: wgpu::Buffer,
    items: u32,
}

impl Remedy {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let compact = include_str!("../../shaders/lab/remedy_compact.wgsl");
        let items = 2 * bench.invocations();
        Ok(Self {
            direct: bench.pipeline("remedy_direct", "", include_str!("../../shaders/lab/remedy_direct.wgsl"))?,
            compact: bench.pipeline("remedy_compact", "", compact)?,
            arguments: bench.pipeline("remedy_arguments", "", compact)?,
            dense: bench.pipeline("remedy_dense", "", include_str!("../../shaders/lab/remedy_dense.wgsl"))?,
            random: Words::new(bench, random_words(items))?,
            list: bench.words("remedy_list", items)?,
            selected: bench.gpu.buffer_with(
                "remedy_selected",
                &[0; 16],
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_SRC,
            )?,
            results: bench.words("remedy_results", items)?,
            items,
        })
    }

    fn groups(&self, bench: &Bench<'_>) -> u32 {
        self.items / bench.workgroup()
    }

    /// The work where the items lie.
    fn direct(&self, bench: &Bench<'_>, words: &Words, share: f64, trips: u32) -> Result<Launch> {
        let params = bench.params(&[threshold(share), trips])?;
        let buffers = [(0, &self.results), (1, &params), (2, &words.buffer)];
        Ok(bench.launch(&self.direct, &buffers, self.groups(bench)))
    }

    /// The list, and the arguments of the dense dispatch.
    fn compaction(&self, bench: &Bench<'_>, words: &Words, share: f64) -> Result<[Launch; 2]> {
        let params = bench.params(&[threshold(share), 0])?;
        let buffers = [(1, &params), (2, &words.buffer), (3, &self.list), (4, &self.selected)];
        Ok([
            bench.launch(&self.compact, &buffers, self.groups(bench)),
            bench.launch(&self.arguments, &[(4, &self.selected)], 1),
        ])
    }

    /// The work on the list.
    fn dense(&self, bench: &Bench<'_>, words: &Words, share: f64, trips: u32) -> Result<Launch> {
        let params = bench.params(&[threshold(share), trips])?;
        let buffers = [(0, &self.results), (1, &params), (2, &words.buffer), (3, &self.list), (4, &self.selected)];
        Ok(bench.launch(&self.dense, &buffers, 0).indirect(&self.selected, 4))
    }

    /// Forgets the list: before each compaction.
    fn reset(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.selected, 0, None);
    }

    /// Both ways of working, at one share and one length of work, with their results compared with the host's.
    fn case(&self, bench: &Bench<'_>, words: &Words, share: f64, trips: u32) -> Result<Case> {
        let direct = self.direct(bench, words, share, trips)?;
        let [compact, arguments] = self.compaction(bench, words, share)?;
        let remedy = [compact, arguments, self.dense(bench, words, share, trips)?];
        let limit = threshold(share);
        let expected = |index: u32| match words.host[index as usize] {
            word if word < limit => arm_a(word, trips),
            _ => 0,
        };
        bench.verify("remedy_direct", &self.results, |pass| direct.record(pass), expected)?;
        bench.gpu.submit(|encoder| self.reset(encoder));
        bench.verify("remedy_dense", &self.results, |pass| record_all(&remedy, pass), expected)?;
        let listed = bench.read_words(&self.selected, 1)?[0];
        let wanted = words.host.iter().filter(|word| **word < limit).count() as u32;
        if listed != wanted {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!("the compaction listed {listed} items, the host counts {wanted} below {limit}"),
            ));
        }
        Ok(Case { trips, direct, remedy })
    }
}

/// One length of work, done both ways.
struct Case {
    trips: u32,
    direct: Launch,
    remedy: [Launch; 3],
}

/// The times of a [`Case`].
struct Timed {
    trips: u32,
    direct: Samples,
    remedy: Samples,
}

impl Timed {
    fn gain(&self) -> Vec<f64> {
        ratios(&self.direct.ns, &self.remedy.ns)
    }

    fn gain_with_pass(&self, cell: &str) -> Row {
        Row::ratio(cell, "gain with the extra pass", &self.direct.ns, &self.remedy.ns, self.direct.clock)
    }
}

/// The longest work of a sweep.
fn longest_of(points: &[Timed]) -> Result<&Timed> {
    points.last().ok_or_else(|| Error::internal("the sweep is empty"))
}

/// The trip count at which the gain passes 1, between the points of a sweep on a logarithmic scale; none where every
/// point lies on one side.
fn crossover(points: &[[f64; 2]]) -> Option<f64> {
    points.windows(2).find_map(|pair| {
        let ([from, low], [to, high]) = (pair[0], pair[1]);
        (low < 1.0 && high >= 1.0).then(|| from * (to / from).powf((1.0 - low) / (high - low)))
    })
}

/// Lengths of work, from what no compaction pays for to four times what suffices for a time: the work must be long beside
/// the compaction too. Powers of two, so that both ends of the lever are among them, and runs which find another longest
/// work share all of the shorter ones.
fn sweep(suffices: u32) -> Vec<u32> {
    let longest = 4 * suffices.next_power_of_two().clamp(LEVER * LEVER, MAX_TRIPS / 4);
    (LEVER.ilog2()..=longest.ilog2()).map(|power| 1 << power).collect()
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let remedy = Remedy::new(bench)?;
    let random = &remedy.random;
    let depended_on: Vec<_> = Packages::debian().dependents.into_iter().map(|dependents| dependents > 0).collect();
    let depended_on: Vec<_> = depended_on.into_iter().cycle().take(remedy.items as usize).collect();
    let packages = Words::selected(bench, &depended_on)?;
    let model = bench.model()?;
    bench.ready()?;
    let sweep = sweep(calibrate(bench, |trips| remedy.direct(bench, &remedy.random, 0.5, trips))?);
    let longest = sweep.last().copied().unwrap_or(LEVER);
    let mut groups = Vec::new();
    for (share, _) in &SHARES {
        groups.push(sweep.iter().map(|trips| remedy.case(bench, random, *share, *trips)).collect::<Result<Vec<_>>>()?);
    }
    // The control: every item needs work, so the list gains nothing.
    let lever = [longest / LEVER, longest];
    groups.push(lever.iter().map(|trips| remedy.case(bench, random, 1.0, *trips)).collect::<Result<Vec<_>>>()?);
    // Real data: the packages that others depend on.
    groups.push(lever.iter().map(|trips| remedy.case(bench, &packages, 0.5, *trips)).collect::<Result<Vec<_>>>()?);
    let compaction = remedy.compaction(bench, random, 0.5)?;

    let mut contenders = vec![
        Contender::new("compaction", |pass| record_all(&compaction, pass)).before(|encoder| remedy.reset(encoder)),
    ];
    for case in groups.iter().flatten() {
        contenders.push(Contender::new(format!("in place, {}", case.trips), |pass| case.direct.record(pass)));
        let dense = Contender::new(format!("compacted, {}", case.trips), |pass| record_all(&case.remedy, pass));
        contenders.push(dense.before(|encoder| remedy.reset(encoder)));
    }
    let mut samples = bench.sampler.sample(&contenders)?.into_iter();
    drop(contenders);
    let missing = || Error::internal("a contender was not sampled");
    let compaction = samples.next().ok_or_else(missing)?;
    let mut timed = Vec::new();
    for group in &groups {
        let mut points = Vec::new();
        for case in group {
            let (direct, remedy) = (samples.next().ok_or_else(missing)?, samples.next().ok_or_else(missing)?);
            points.push(Timed { trips: case.trips, direct, remedy });
        }
        timed.push(points);
    }

    let mut rows = vec![
        Row::time("compaction, 1/2 selected", &compaction)
            .noted("the list and the dispatch arguments, without the work; part of every 'compacted' time"),
    ];
    let mut series = Vec::new();
    let mut findings = Vec::new();
    for ((share, name), points) in SHARES.iter().zip(&timed) {
        for point in points {
            rows.push(Row::time(format!("{name} selected, {} trips, in place", point.trips), &point.direct));
            rows.push(Row::time(format!("{name} selected, {} trips, compacted", point.trips), &point.remedy));
        }
        let gains: Vec<_> = points.iter().map(|p| [f64::from(p.trips), median(&p.gain())]).collect();
        for point in points {
            rows.push(point.gain_with_pass(&format!("{name} selected, {} trips", point.trips)));
        }
        // Only the most expensive work is claimed to gain.
        rows.push(
            longest_of(points)?
                .gain_with_pass(&format!("{name} selected, longest work"))
                .noted(format!("{longest} trips"))
                .predicted(model.compaction_pays(model.compaction_gain(*share))),
        );
        let rounds: Vec<_> = points.iter().map(Timed::gain).collect();
        let pays = Row::onset(
            format!("{name} selected"),
            "trips from which it pays",
            Unit::Steps,
            (0..rounds.iter().map(Vec::len).min().unwrap_or(0)).map(|round| {
                let gain = |(point, gains): (&Timed, &Vec<f64>)| [f64::from(point.trips), gains[round]];
                crossover(&points.iter().zip(&rounds).map(gain).collect::<Vec<_>>())
            }),
            compaction.clock,
            "the gain passes 1 nowhere between the least and the longest work",
        );
        let on_work = gain_on_work(&format!("{name} selected"), points, longest)?
            .predicted(model.around(model.compaction_gain(*share), DATA));
        let total = gains.last().map_or(0.0, |[_, gain]| *gain);
        let from = match pays.samples.as_slice() {
            [_, ..] => format!("pays from about {:.0} trips of work an item on", pays.value),
            [] if total >= 1.0 => {
                format!("pays from {} trips of work an item on, the least that was tried", sweep[0])
            }
            [] => "does not pay at any length of work that was tried".into(),
        };
        findings.push(format!(
            "With {name} of the items selected, compacting first {from}; at {longest} trips it gains a factor of \
             {total:.2}, and on the work alone, without the extra pass, {}.",
            on_work.against_model()
        ));
        rows.extend([pays, on_work]);
        series.push(measured(&format!("{name} selected"), gains));
        let limit = model.compaction_gain(*share);
        series.push(predicted(
            &format!("limit, {name} selected"),
            [[f64::from(sweep[0]), limit], [f64::from(longest), limit]],
        ));
    }
    let all = gain_on_work("all selected", &timed[SHARES.len()], longest)?;
    let one_half = model.around(model.compaction_gain(SHARES[0].0), DATA);
    let control = control("every item selected, judged as if it were one half", &all, one_half);
    rows.push(all);
    let (real, said) = real_rows(&model, &timed[SHARES.len() + 1], &depended_on)?;
    rows.extend(real);
    findings.push(said);
    Ok(Outcome {
        prediction: format!(
            "At {} lanes the work alone gains {:.2} at one half and {:.2} at one eighth; with the extra pass, more than 1 \
             once the work is long.",
            model.lanes,
            model.compaction_gain(0.5),
            model.compaction_gain(0.125)
        ),
        finding: format!(
            "{} Listing the items takes {} for {} items.",
            findings.join(" "),
            median_said(&compaction),
            remedy.items
        ),
        method: format!(
            "{} hashed words, those below a threshold get work of a given number of trips: where they lie, or after \
             their indices were listed (an atomic counter a workgroup) and the dense dispatch was sized on the device. \
             'Compacted' times hold all three dispatches. The gain on the work alone is the ratio of slopes between {} \
             and {longest} trips. The order of the list varies; the results do not. The packages are those of a real graph, in \
             its order, at the same two lengths of work.",
            remedy.items, lever[0]
        ),
        verdict: overall(&rows),
        rows,
        plots: vec![line_plot(
            "Gain of compacting first against the length of the work",
            axis("trips an item", true),
            axis("time in place over time compacted", false),
            series,
        )],
        control: Some(control),
    })
}

/// The rows of the packages that others depend on, and what they show in a sentence.
fn real_rows(model: &Model, points: &[Timed], selected: &[bool]) -> Result<(Vec<Row>, String)> {
    let long = longest_of(points)?;
    let cell = "packages that others depend on";
    let mut rows = vec![
        Row::each_trip(format!("{cell}, in place"), &long.direct, long.trips),
        Row::each_trip(format!("{cell}, compacted"), &long.remedy, long.trips),
    ];
    let gain = model.compaction_gain_of(selected);
    let whole = long
        .gain_with_pass(&format!("{cell}, longest work"))
        .noted(format!("{} trips", long.trips))
        .predicted(model.compaction_pays(gain));
    let on_work = gain_on_work(cell, points, long.trips)?.predicted(model.around(gain, DATA));
    let share = selected.iter().filter(|selected| **selected).count() as f64 / selected.len() as f64;
    let said = format!(
        "In a real graph (Debian's packages in their order) others depend on {:.0} % of the packages: listing those gains a \
         factor of {:.2} at {} trips, and on the work alone {}, where the same share at random would gain {:.2}.",
        100.0 * share,
        whole.value,
        long.trips,
        on_work.against_model(),
        model.compaction_gain(share),
    );
    rows.extend([whole, on_work]);
    Ok((rows, said))
}

/// The slope in place over the slope compacted, between the two ends of the lever: free of what compaction costs.
fn gain_on_work(cell: &str, points: &[Timed], longest: u32) -> Result<Row> {
    let at = |trips: u32| {
        points
            .iter()
            .find(|point| point.trips == trips)
            .ok_or_else(|| Error::internal(format!("the sweep has no point of {trips} trips")))
    };
    let (short, long) = (at(longest / LEVER)?, at(longest)?);
    let slope = |long: &Samples, short: &Samples| -> Vec<f64> {
        long.ns.iter().zip(&short.ns).map(|(long, short)| long - short).collect()
    };
    let (direct, remedy) = (slope(&long.direct, &short.direct), slope(&long.remedy, &short.remedy));
    Ok(Row::ratio(cell, "gain on the work alone", &direct, &remedy, long.direct.clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_holds_both_ends_of_the_lever() {
        // The simulator has a length of its own, which is no power of two.
        for (suffices, longest) in [(1, 64), (16, 64), (160, 1024), (4096, 16_384), (MAX_TRIPS, 16_384)] {
            let sweep = sweep(suffices);
            assert_eq!((sweep[0], sweep.last()), (LEVER, Some(&longest)));
            assert!(sweep.contains(&(longest / LEVER)) && sweep.is_sorted() && longest <= MAX_TRIPS, "{sweep:?}");
        }
    }

    #[test]
    fn the_crossover_lies_where_the_gain_passes_one() {
        assert_eq!(crossover(&[[4.0, 0.5], [16.0, 1.5]]), Some(8.0));
        assert_eq!(crossover(&[[4.0, 0.5], [16.0, 1.0], [64.0, 2.0]]), Some(16.0));
        assert_eq!(crossover(&[[4.0, 1.5], [16.0, 2.0]]), None);
        assert_eq!(crossover(&[[4.0, 0.5], [16.0, 0.9]]), None);
        assert_eq!(crossover(&[]), None);
    }
}
