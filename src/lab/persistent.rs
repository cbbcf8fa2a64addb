//! A persistent kernel fed by a queue, against grids that are split beforehand.

use super::grid::{CPU_GRID, not_here, unless_launch_bound};
use super::kernel::Launch;
use super::model::{DATA, FIXED_SHARE_LOSES};
use super::oracle::{arm_a, scramble};
use super::outcome::{Outcome, axis, control, measured, overall, predicted};
use super::packages::Packages;
use super::residency::residency;
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Contender, Samples};
use crate::report::{Axis, Plot, PlotKind, Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "persistent",
    group: "workgroups",
    title: "Persistent workgroups and a queue",
    claim: "Persistent workgroups that take items from a queue lose nothing on even work, and on skewed work they beat \
            persistent workgroups with fixed shares. A grid of one workgroup an item is such a queue already, the device's \
            own.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Trips of a short item, and how many times longer a long one is; one item in `LONG_EVERY` is long.
const SHORT: u32 = 256;
const LONGER: u32 = 32;
const LONG_EVERY: u32 = 64;
/// Entries of a real graph's row that are a short item together: about the mean of the rows.
const ROW_ENTRIES: u32 = 4;

/// How the lengths of the items lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skew {
    Even,
    Scattered,
    AtTheEnd,
    /// The rows of a real graph, as they lie there.
    Packages,
    /// The same, the longest first.
    PackagesSorted,
}

impl Skew {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Even, "even work"),
        (Self::Scattered, "long items scattered"),
        (Self::AtTheEnd, "long items at the end"),
        (Self::Packages, "packages in their order"),
        (Self::PackagesSorted, "packages, longest first"),
    ];

    fn lengths(self, items: u32, short: u32) -> Vec<u32> {
        let long = |is_long: &dyn Fn(u32) -> bool| {
            (0..items).map(|item| if is_long(item) { LONGER * short } else { short }).collect()
        };
        match self {
            Self::Even => long(&|_| false),
            Self::Scattered => long(&|item| scramble(item).is_multiple_of(LONG_EVERY)),
            Self::AtTheEnd => long(&|item| item >= items - items / LONG_EVERY),
            Self::Packages => real_rows(items).into_iter().map(|entries| entries * short / ROW_ENTRIES).collect(),
            Self::PackagesSorted => {
                let mut lengths = Self::Packages.lengths(items, short);
                lengths.sort_unstable_by(|a, b| b.cmp(a));
                lengths
            }
        }
    }
}

/// So many of the graph's rows, taken evenly from all of them.
fn real_rows(items: u32) -> Vec<u32> {
    let rows = Packages::debian().rows();
    let from = |item: u32| (u64::from(item) * rows.len() as u64 / u64::from(items)) as usize;
    (0..items).map(|item| rows[from(item)]).collect()
}

/// Entry points of persistent.wgsl, and what they are called.
const WAYS: [(&str, &str); 4] = [
    ("an_item_each", "a workgroup an item"),
    ("from_a_queue", "persistent, from a queue"),
    ("every_nth", "persistent, every n-th item"),
    ("a_stretch_each", "persistent, a stretch each"),
];
const QUEUE: usize = 1;

struct Kernels {
    pipelines: Vec<wgpu::ComputePipeline>,
    queue: wgpu::Buffer,
    results: wgpu::Buffer,
    items: u32,
    /// Workgroups of the persistent grids.
    resident: u32,
}

impl Kernels {
    /// The four ways over items of these lengths, in the order of [`WAYS`], with their results compared.
    fn launches(&self, bench: &Bench<'_>, name: &str, lengths: &[u32]) -> Result<Vec<(String, Launch)>> {
        let params = bench.params(&[self.items])?;
        let buffer = bench.words_with("item lengths", lengths)?;
        let mut launches = Vec::new();
        for (at, (pipeline, (_, way))) in self.pipelines.iter().zip(WAYS).enumerate() {
            let mut buffers = vec![(0, &self.results), (2, &buffer)];
            if at != 0 {
                buffers.push((1, &params));
            }
            if at == QUEUE {
                buffers.push((3, &self.queue));
            }
            let launch = bench.launch(pipeline, &buffers, if at == 0 { self.items } else { self.resident });
            self.reset_now(bench);
            let expected = |index: u32| arm_a(index, lengths[(index / bench.workgroup()) as usize]);
            let what = format!("{name}, {way}");
            bench.verify(&what, &self.results, |pass| launch.record(pass), expected)?;
            launches.push((what, launch));
        }
        Ok(launches)
    }

    fn reset_now(&self, bench: &Bench<'_>) {
        bench.gpu.submit(|encoder| encoder.clear_buffer(&self.queue, 0, None));
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let is_cpu = bench.gpu.is_cpu();
    let (items, short) = if is_cpu { (256, 8) } else { (1 << 14, SHORT) };
    let text = include_str!("../../shaders/lab/persistent.wgsl");
    let mut kernels = Kernels {
        pipelines: WAYS.iter().map(|(entry, _)| bench.pipeline(entry, "", text)).collect::<Result<_>>()?,
        queue: bench.words("queue", 1)?,
        results: bench.words("persistent", items * bench.workgroup())?,
        items,
        resident: 16,
    };
    let lengths = Skew::ALL.map(|(skew, _)| skew.lengths(items, short));
    let prediction = |resident: u32| {
        let [_, scattered, end, ..] = lengths.each_ref();
        format!(
            "A queue takes as long as the device's own, 1.00, whatever the skew. Fixed shares take longer on skewed work: at \
             most {:.1} times with every n-th item of the scattered ones, {:.1} times with stretches and the long items at \
             the end, if each of {resident} workgroups worked at a pace of its own.",
            model.share_over_queue(scattered, resident, false),
            model.share_over_queue(end, resident, true),
        )
    };
    let method = format!(
        "{items} items of one workgroup's arithmetic each, {short} trips or, one in {LONG_EVERY}, {LONGER} times as many, or \
         as many as a row of a real graph asks for, handed out in four ways; the persistent grids have as many workgroups as the device was found to hold. The queue is one \
         atomic counter, reset before each sample. Plain times over those of a workgroup an item, a round each."
    );
    if is_cpu {
        for (lengths, (_, name)) in lengths.iter().zip(Skew::ALL) {
            kernels.launches(bench, name, lengths)?;
        }
        return Ok(not_here(prediction(kernels.resident), method, "even work", "time ratio", CPU_GRID));
    }
    bench.ready()?;
    kernels.resident = residency(bench, bench.workgroup(), 0)?.map_or(1024, |found| found.groups_per_wave);
    let mut launches = Vec::new();
    for (lengths, (_, name)) in lengths.iter().zip(Skew::ALL) {
        launches.extend(kernels.launches(bench, name, lengths)?);
    }
    let contenders: Vec<_> = launches
        .iter()
        .map(|(name, launch)| {
            Contender::new(name, |pass| launch.record(pass))
                .before(|encoder| encoder.clear_buffer(&kernels.queue, 0, None))
        })
        .collect();
    let samples = bench.sampler.sample(&contenders)?;
    drop(contenders);
    let mut rows: Vec<_> = launches.iter().zip(&samples).map(|((name, _), samples)| Row::time(name, samples)).collect();
    let mut ratios = Vec::new();
    for ((lengths, (skew, name)), samples) in lengths.iter().zip(Skew::ALL).zip(samples.chunks_exact(WAYS.len())) {
        let [grid, queue, nth, stretch] = samples else { return Err(Error::internal("a contender was not sampled")) };
        let ratio = |way: &str, a: &Samples, b: &Samples| {
            Row::ratio(format!("{name}, {way}"), "time ratio", &a.ns, &b.ns, a.clock)
        };
        let row = ratio("queue over a workgroup an item", queue, grid).predicted(model.around(1.0, DATA));
        ratios.push(unless_launch_bound(bench, row, items, &grid.ns)?);
        let shares = [(nth, "every n-th over queue", false), (stretch, "stretches over queue", true)];
        for (share, way, stretches) in shares {
            let row = ratio(way, share, queue);
            let most = model.share_over_queue(lengths, kernels.resident, stretches);
            ratios.push(match (skew, stretches) {
                (Skew::Even, _) => row.predicted(model.around(1.0, DATA)),
                (Skew::Scattered, false) | (Skew::AtTheEnd, true) | (Skew::Packages | Skew::PackagesSorted, _) => {
                    row.predicted(model.loses_up_to(most))
                }
                _ => row.noted(format!("not judged: {most:.1} if each workgroup worked at a pace of its own")),
            });
        }
    }
    let control = control(
        "stretches with all long items in the last ones, judged as if they were a queue",
        &ratios[8],
        model.around(1.0, DATA),
    );
    let finding = format!(
        "Against a workgroup an item, the queue takes {} times as long on even work, {} with long items scattered and {} with \
         them at the end. Against the queue, fixed shares of every n-th item take {:.2}, {} and {:.2} times as long, stretches \
         {:.2}, {:.2} and {}. {} Workgroups that are left alone on a multiprocessor have it for themselves and run faster, \
         which is why fixed shares lose less than if each had a pace of its own. With the rows of a real graph (Debian's \
         packages and what each depends on), the queue takes {} times as long as a workgroup an item; against the queue, every \
         n-th item takes {} and stretches take {}; with the longest rows first, every n-th takes {}.",
        ratios[0].against_model(),
        ratios[3].against_model(),
        ratios[6].against_model(),
        ratios[1].value,
        ratios[4].against_model(),
        ratios[7].value,
        ratios[2].value,
        ratios[5].value,
        ratios[8].against_model(),
        if [0, 3, 6, 9].iter().all(|at| ratios[*at].verdict == Some(Verdict::Holds)) {
            "The device hands out workgroups as others end, so it needs no queue of the program's."
        } else {
            "The program's queue is not the device's equal here."
        },
        ratios[9].against_model(),
        ratios[10].against_model(),
        ratios[11].against_model(),
        ratios[13].against_model(),
    );
    let series = |at: usize| ratios.iter().skip(at).step_by(3).enumerate().map(|(x, row)| [x as f64, row.value]);
    let plot = Plot {
        title: "Time of persistent workgroups".into(),
        kind: PlotKind::Bars,
        x: Axis {
            label: "work".into(),
            log2: false,
            categories: Skew::ALL.iter().map(|(_, name)| (*name).to_string()).collect(),
        },
        y: axis("time ratio", false),
        series: vec![
            measured("queue over a workgroup an item", series(0)),
            measured("every n-th over queue", series(1)),
            measured("stretches over queue", series(2)),
            predicted("queue, model", (0..Skew::ALL.len()).map(|x| [x as f64, 1.0])),
        ],
    };
    rows.extend(ratios);
    rows.push(Row::count("persistent grids", "workgroups", Unit::Count, kernels.resident));
    Ok(Outcome {
        prediction: format!("{} Judged to lose from {FIXED_SHARE_LOSES:.2} on.", prediction(kernels.resident)),
        finding,
        method,
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
    fn one_item_in_so_many_is_long() {
        for (skew, _) in &Skew::ALL[..3] {
            let lengths = skew.lengths(1 << 14, 1);
            let long = lengths.iter().filter(|length| **length == LONGER).count();
            let expected = if *skew == Skew::Even { 0 } else { (1 << 14) / LONG_EVERY as usize };
            assert!(long.abs_diff(expected) <= expected / 4, "{skew:?}: {long}");
        }
    }

    #[test]
    fn real_items_are_about_as_long_as_short_ones_and_much_less_even() {
        let lengths = Skew::Packages.lengths(1 << 14, SHORT);
        let mean = lengths.iter().sum::<u32>() / (1 << 14);
        assert!((SHORT * 3 / 4..SHORT * 5 / 4).contains(&mean), "{mean}");
        assert_eq!(lengths.iter().max(), Some(&(16 * SHORT)));
        let sorted = Skew::PackagesSorted.lengths(1 << 14, SHORT);
        assert!(sorted.is_sorted_by(|a, b| a >= b) && sorted.iter().sum::<u32>() == lengths.iter().sum::<u32>());
    }
}
