//! A million workgroups of one subgroup.

use super::grid::{CPU_GRID, not_here};
use super::kernel::Launch;
use super::model::{DATA, TIME};
use super::oracle::arm_a;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "tiny-workgroups",
    group: "workgroups",
    title: "A million workgroups of one subgroup",
    claim: "Workgroups start at a fixed rate, whatever their size: a million of one subgroup with little work take as many \
            times longer than fewer of 256 invocations as there are more of them, and equally long once the work is longer \
            than the starts.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Invocations in all: a million workgroups of 32.
const INVOCATIONS: u32 = 1 << 25;
/// Workgroups of a row of the grid.
const ROW: u32 = 1 << 14;
/// Trips of the work, from nearly none.
const TRIPS: [u32; 5] = [1, 8, 64, 256, 512];

fn launch(
    bench: &Bench<'_>,
    pipeline: &wgpu::ComputePipeline,
    results: &wgpu::Buffer,
    [groups, rows]: [u32; 2],
    trips: u32,
) -> Result<Launch> {
    let params = bench.params(&[trips])?;
    let launch = bench.launch_grid(pipeline, &[(0, results), (1, &params)], [groups, rows, 1]);
    bench.verify("tiny", results, |pass| launch.record(pass), |index| arm_a(index, trips))?;
    Ok(launch)
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let lanes = bench.model()?.lanes;
    let large = bench.workgroup();
    let factor = f64::from(large) / f64::from(lanes);
    let prediction = format!(
        "{factor:.2} times as many workgroups take {factor:.2} times as long at {} trip of work, and 1.00 times at {}.",
        TRIPS[0],
        TRIPS[TRIPS.len() - 1]
    );
    let is_cpu = bench.gpu.is_cpu();
    let invocations = if is_cpu { 1 << 14 } else { INVOCATIONS };
    let stored = invocations.min(1 << 20);
    let grid = |workgroup: u32| {
        let groups = invocations / workgroup;
        let row = groups.min(ROW);
        [row, groups / row]
    };
    let method = format!(
        "{invocations} invocations in workgroups of {lanes} or of {large}, each with the same arithmetic; the grid is folded into \
         rows. Plain times. The rate at which workgroups start is the slope over grids of empty workgroups."
    );
    let text = include_str!("../../shaders/lab/tiny.wgsl");
    let prelude = format!("const STORED = {stored}u;");
    let sizes = [lanes, large];
    let pipelines =
        [bench.pipeline_of(lanes, "tiny", &prelude, text)?, bench.pipeline_of(large, "tiny", &prelude, text)?];
    let results = bench.words("tiny", stored)?;
    let counts: &[u32] = if is_cpu { &TRIPS[..1] } else { &TRIPS };
    let mut launches = Vec::new();
    for trips in counts {
        for (workgroup, pipeline) in sizes.iter().zip(&pipelines) {
            let name = format!("workgroups of {workgroup}, {trips} trips");
            launches.push((name, launch(bench, pipeline, &results, grid(*workgroup), *trips)?));
        }
    }
    if is_cpu {
        return Ok(not_here(prediction, method, "1 trip", "time ratio", CPU_GRID));
    }
    let model = bench.model()?;
    bench.ready()?;
    let start = bench.sampler.launch_ns_per_workgroup()?;
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> = launches.iter().zip(&samples).map(|((name, _), samples)| Row::time(name, samples)).collect();
    let pairs: Vec<_> = samples.chunks_exact(2).collect();
    let [shortest, .., longest] = pairs.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let million = f64::from(invocations / lanes);
    let starts = vec![start * million; shortest[0].ns.len()];
    let ratios: Vec<_> = counts
        .iter()
        .zip(&pairs)
        .map(|(trips, pair)| {
            let cell = format!("{trips} trips, workgroups of {lanes} over {large}");
            let row = Row::ratio(cell, "time ratio", &pair[0].ns, &pair[1].ns, pair[0].clock);
            match *trips {
                trips if trips == TRIPS[0] => row.predicted(model.around(factor, DATA)),
                trips if trips == TRIPS[TRIPS.len() - 1] => row.predicted(model.around(1.0, TIME)),
                _ => row,
            }
        })
        .collect();
    let started = Row::ratio(
        format!("{} trip, workgroups of {lanes}, over their starts", TRIPS[0]),
        "time ratio",
        &shortest[0].ns,
        &starts,
        shortest[0].clock,
    )
    .predicted(model.around(1.0, DATA));
    let control = control(
        "work longer than the starts, judged as if it were hardly any",
        &ratios[ratios.len() - 1],
        model.around(factor, DATA),
    );
    let finding = format!(
        "{million:.0} workgroups of {lanes} take {} times as long as {} of {large} at {} trip of work, and {} times at {} trips. \
         A workgroup starts every {start:.2} ns, so their starts alone take {}; the shortest work took {} times that.",
        ratios[0].against_model(),
        invocations / large,
        TRIPS[0],
        ratios[ratios.len() - 1].against_model(),
        TRIPS[TRIPS.len() - 1],
        Unit::Ns.format(starts[0]),
        started.against_model(),
    );
    // The longer of the starts and the work, with the work as the longest case shows it.
    let work = longest[1].median() / f64::from(TRIPS[TRIPS.len() - 1]);
    let expected = |trips: f64| {
        let time = |workgroup: u32| (start * f64::from(invocations / workgroup)).max(work * trips);
        time(lanes) / time(large)
    };
    let plot = line_plot(
        "Workgroups of one subgroup over workgroups of 256",
        axis("trips of work", true),
        axis("time ratio", true),
        vec![
            measured("measured", counts.iter().zip(&ratios).map(|(trips, row)| [f64::from(*trips), row.value])),
            predicted(
                "the longer of starts and work",
                counts.iter().map(|trips| [f64::from(*trips), expected(f64::from(*trips))]),
            ),
        ],
    );
    rows.push(Row::duration("workgroups of 256", "time of one more start", bench.sampler.launches()?));
    rows.extend(ratios);
    rows.push(started);
    Ok(Outcome {
        prediction,
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
