//! What fewer resident workgroups lose.

use super::grid::{CPU_GRID, Table, not_here, unless_launch_bound};
use super::kernel::Launch;
use super::model::DATA;
use super::oracle::arm_a;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::residency::residency;
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "occupancy",
    group: "workgroups",
    title: "Fewer resident workgroups",
    claim: "Fewer resident subgroups, since each workgroup holds more workgroup memory, lose throughput only where latency is \
            not hidden otherwise: a kernel that waits for memory loses in proportion, one with independent work in its \
            lanes hardly at all.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

const WORKGROUP: u32 = 128;
const GROUPS: u32 = 8192;
/// Shares of all workgroup memory that a workgroup holds.
const PARTS: [u32; 6] = [1, 2, 3, 4, 8, 12];
/// Up to here the throughput of waiting is judged: with more resident workgroups the latency itself grows.
const JUDGED: f64 = 4.5;
/// Trips of the kernel that waits, and of the one that works.
const WAITING: u32 = 128;
const WORKING: u32 = 256;

struct Kernels {
    waiting: wgpu::ComputePipeline,
    working: wgpu::ComputePipeline,
}

impl Kernels {
    fn new(bench: &Bench<'_>, bytes: u32) -> Result<Self> {
        let prelude = format!("{}\nconst PAD_WORDS = {}u;", Table::prelude(bench)?, (bytes / 4).max(1));
        let text = include_str!("../../shaders/lab/occupancy.wgsl");
        Ok(Self {
            waiting: bench.pipeline_of(WORKGROUP, "waiting", &prelude, text)?,
            working: bench.pipeline_of(WORKGROUP, "working", &prelude, text)?,
        })
    }

    /// Both kernels, with their results compared.
    fn launches(
        &self,
        bench: &Bench<'_>,
        table: &Table,
        results: &wgpu::Buffer,
        groups: u32,
        name: &str,
    ) -> Result<[(String, Launch); 2]> {
        let lanes = bench.model()?.lanes;
        let waiting = [bench.params(&[WAITING, table.lines, 0])?, bench.params(&[WORKING, table.lines, 0])?];
        let [waiting, working] = [
            bench.launch(&self.waiting, &[(0, results), (1, &waiting[0]), (2, &table.buffer)], groups),
            bench.launch(&self.working, &[(0, results), (1, &waiting[1])], groups),
        ];
        bench.verify(
            "waiting",
            results,
            |pass| waiting.record(pass),
            |index| table.after(table.start(index / lanes), WAITING),
        )?;
        bench.verify(
            "working",
            results,
            |pass| working.record(pass),
            |index| (0..4).fold(0, |all, chain| all ^ arm_a(index + chain, WORKING)),
        )?;
        Ok([(format!("waiting, {name}"), waiting), (format!("working, {name}"), working)])
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction = "Against one resident workgroup, r of them wait r times as fast; with four independent chains a lane, a \
                      third as many resident workgroups as fit work as fast, 1.00.";
    let method = format!(
        "Workgroups of {WORKGROUP} that hold different amounts of workgroup memory and use the same little of it, {GROUPS} of \
         them: dependent loads within 2 MiB, or four independent chains of arithmetic a lane. How many are resident is \
         measured for each amount. Plain times."
    );
    let bytes = bench.gpu.limits().max_compute_workgroup_storage_size;
    let table = Table::new(bench, 14)?;
    if bench.gpu.is_cpu() {
        let results = bench.words("occupancy", 4 * WORKGROUP)?;
        Kernels::new(bench, bytes)?.launches(bench, &table, &results, 4, "few")?;
        return Ok(not_here(prediction.into(), method, "waiting", "throughput ratio", CPU_GRID));
    }
    let model = bench.model()?;
    let mut held = Vec::new();
    for part in PARTS {
        let bytes = bytes / part / 16 * 16;
        // Without multiprocessors to count, a wave against that of the largest amount says as much.
        if let Some(found) = residency(bench, WORKGROUP, bytes)? {
            held.push((bytes, found.groups_per_wave));
        }
    }
    let Some(&(_, one)) = held.first().filter(|_| held.len() == PARTS.len()) else {
        let reason = "no step showed in the time over the number of workgroups, so how many are resident is unknown";
        return Ok(not_here(prediction.into(), method, "waiting", "throughput ratio", reason));
    };
    let results = bench.words("occupancy", GROUPS * WORKGROUP)?;
    let kernels = held.iter().map(|(bytes, _)| Kernels::new(bench, *bytes)).collect::<Result<Vec<_>>>()?;
    bench.ready()?;
    let mut launches = Vec::new();
    for (kernels, (bytes, _)) in kernels.iter().zip(&held) {
        launches.extend(kernels.launches(bench, &table, &results, GROUPS, &format!("{bytes} bytes each"))?);
    }
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> = launches.iter().zip(&samples).map(|((name, _), samples)| Row::time(name, samples)).collect();
    let pairs: Vec<_> = samples.chunks_exact(2).collect();
    let (first, last) = match pairs.as_slice() {
        [first, .., last] => (*first, *last),
        _ => return Err(Error::internal("a contender was not sampled")),
    };
    let (mut waits, mut works) = (Vec::new(), Vec::new());
    for ((bytes, wave), pair) in held.iter().zip(&pairs) {
        let resident = f64::from(*wave) / f64::from(one);
        let gain = |at: usize| {
            let cell = format!("{}, {bytes} bytes each", ["waiting", "working"][at]);
            Row::ratio(cell, "throughput ratio", &first[at].ns, &pair[at].ns, pair[at].clock)
                .noted(format!("{resident:.2} times as many resident"))
        };
        let row = gain(0);
        let row = match resident {
            r if r > 1.0 && r <= JUDGED => row.predicted(model.around(r, DATA)),
            r if r > JUDGED => {
                row.noted(format!("not judged: the model says {r:.2}, but so many loads in flight wait for each other"))
            }
            _ => row,
        };
        waits.push((resident, unless_launch_bound(bench, row, GROUPS, &pair[0].ns)?));
        works.push((resident, gain(1)));
    }
    // The amount with a third of what the least one lets be resident, or the nearest above.
    let most = waits.last().map_or(1.0, |(resident, _)| *resident);
    let third = works.iter().position(|(resident, _)| *resident >= most / 3.0).unwrap_or(0);
    let part = format!("{:.2} over {most:.2} times as many resident", works[third].0);
    let working = Row::ratio(
        "working, a third of the residency over all of it",
        "time ratio",
        &pairs[third][1].ns,
        &last[1].ns,
        last[1].clock,
    )
    .noted(&part)
    .predicted(model.around(1.0, DATA));
    let waiting = Row::ratio(
        "waiting, a third of the residency over all of it",
        "time ratio",
        &pairs[third][0].ns,
        &last[0].ns,
        last[0].clock,
    )
    .noted(&part);
    let control =
        control("a kernel that waits, judged as if its latency were hidden", &waiting, model.around(1.0, DATA));
    let judged: Vec<_> = waits
        .iter()
        .filter(|(_, row)| row.verdict.is_some_and(|verdict| verdict != Verdict::NotMeasurable))
        .map(|(resident, row)| {
            format!("{resident:.1} times as many resident wait {} times as fast", row.against_model())
        })
        .collect();
    let finding = format!(
        "Against {one} workgroups on the whole device, {}; {most:.1} times as many {:.1} times. With independent work in the \
         lanes a third of the residency takes {} times as long as all of it, where waiting takes {:.2}.",
        judged.join(", "),
        waits.last().map_or(0.0, |(_, row)| row.value),
        working.against_model(),
        waiting.value,
    );
    let points = |rows: &[(f64, Row)]| rows.iter().map(|(resident, row)| [*resident, row.value]).collect::<Vec<_>>();
    let plot = line_plot(
        "Throughput against resident workgroups",
        axis("resident workgroups, over those with all workgroup memory", false),
        axis("throughput ratio", false),
        vec![
            measured("waiting for memory", points(&waits)),
            measured("independent work", points(&works)),
            predicted("in proportion", [[1.0, 1.0], [most, most]]),
        ],
    );
    for (bytes, wave) in &held {
        rows.push(Row::count(format!("{bytes} bytes each"), "resident workgroups", Unit::Count, *wave));
    }
    rows.extend(waits.into_iter().chain(works).map(|(_, row)| row));
    rows.extend([working, waiting]);
    Ok(Outcome {
        prediction: prediction.into(),
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
