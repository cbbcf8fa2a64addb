//! Waves of workgroups, and what the last one wastes.

use super::grid::{CPU_GRID, not_here};
use super::kernel::Launch;
use super::model::{DATA, TIME, wave_efficiency};
use super::oracle::arm_a;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::residency::{multiprocessors, residency};
use super::timing::{Pair, Slope, Trips, slopes};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "wave-quantisation",
    group: "workgroups",
    title: "The last wave of workgroups",
    claim: "A little over one wave of workgroups costs almost two: the efficiency of a grid is its waves over the waves \
            rounded up. That is serious below three or four waves. A kernel bound by issue has no wave of its residency, \
            since workgroups beside each other share the multiprocessor.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Grids in waves. A grid of one workgroup more than a wave stands beside them.
const WAVES: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 4.01, 15.45];
/// Invocations of the roomy workgroups: few, so that one on a multiprocessor is bound by latency.
const ROOMY: u32 = 64;
const TRIPS: Trips = Trips { short: 512, long: 2560 };

struct Kernel {
    pipeline: wgpu::ComputePipeline,
    results: wgpu::Buffer,
    workgroup: u32,
}

impl Kernel {
    fn new(bench: &Bench<'_>, entry: &str, workgroup: u32, bytes: u32, most_groups: u32) -> Result<Self> {
        let prelude = format!("const PAD_WORDS = {}u;", (bytes / 4).max(1));
        let text = include_str!("../../shaders/lab/waves.wgsl");
        Ok(Self {
            pipeline: bench.pipeline_of(workgroup, entry, &prelude, text)?,
            results: bench.words("waves", most_groups * workgroup)?,
            workgroup,
        })
    }

    fn launch(&self, bench: &Bench<'_>, groups: u32, trips: u32) -> Result<Launch> {
        let params = bench.params(&[trips, 0])?;
        let launch = bench.launch(&self.pipeline, &[(0, &self.results), (1, &params)], groups);
        let expected = |index: u32| if index < groups * self.workgroup { arm_a(index, trips) } else { 0 };
        bench.verify(&format!("waves, {groups} workgroups"), &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }

    /// Slopes of grids of these sizes.
    fn slopes(&self, bench: &Bench<'_>, sizes: &[u32]) -> Result<Vec<Slope>> {
        let pair =
            |groups: &u32| Pair::new(format!("{groups} workgroups"), TRIPS, |trips| self.launch(bench, *groups, trips));
        slopes(bench, sizes.iter().map(pair).collect::<Result<_>>()?)
    }
}

/// Throughput of a grid over that of one wave, by the slopes of both.
fn efficiency(cell: String, groups: u32, slope: &Slope, wave: u32, full: &Slope) -> Row {
    let work = f64::from(groups) / f64::from(wave);
    let scaled: Vec<_> = full.trip.ns.iter().map(|ns| ns * work).collect();
    Row::ratio(cell, "efficiency", &scaled, &slope.trip.ns, slope.long.clock)
}

/// So many workgroups in waves, in words that do not depend on how many a wave has.
fn waves(groups: u32, wave: u32) -> String {
    match groups {
        groups if groups == wave + 1 => "a wave and a workgroup".into(),
        groups => format!("{:.2} waves", f64::from(groups) / f64::from(wave)),
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction = |wave: Option<u32>| {
        let over = wave.map_or_else(
            || "0.50 to 0.51 at one workgroup more than a wave".into(),
            |wave| format!("{:.3} at {} workgroups, one more than a wave", wave_efficiency(wave + 1, wave), wave + 1),
        );
        format!("{over}; 0.75 at 1.5 waves, 1.00 at 2 and 3, 0.80 at a little over 4, 0.97 at 15.45.")
    };
    let method = format!(
        "Workgroups that hold all the workgroup memory of a multiprocessor, so that a wave is few of them, and each loops \
         on dependent arithmetic. The wave is found by a step in the time of dependent loads, with the same workgroup \
         memory. Efficiency is work over time, against one full wave; times are slopes between {} and {} trips, so that the \
         pass drops out.",
        TRIPS.short, TRIPS.long
    );
    let bytes = bench.gpu.limits().max_compute_workgroup_storage_size;
    if bench.gpu.is_cpu() {
        Kernel::new(bench, "roomy", ROOMY, bytes, 4)?.launch(bench, 3, TRIPS.short)?;
        return Ok(not_here(prediction(None), method, "1.01 waves", "efficiency", CPU_GRID));
    }
    let model = bench.model()?;
    let Some(found) = residency(bench, ROOMY, bytes)? else {
        return Ok(not_here(
            prediction(None),
            method,
            "1.01 waves",
            "efficiency",
            "no step showed in the time over the number of workgroups, so the size of a wave is unknown",
        ));
    };
    let wave = found.groups_per_wave;
    // A wave of the kernel bound by issue, if it had one: as many as are resident.
    let workgroup = bench.workgroup();
    let busy_wave = residency(bench, workgroup, 0)?.map(|found| found.groups_per_wave);
    let mut sizes: Vec<u32> = WAVES.iter().map(|waves| (waves * f64::from(wave)).round() as u32).collect();
    sizes.insert(1, wave + 1);
    let most = sizes.iter().copied().max().unwrap_or(wave);
    let roomy = Kernel::new(bench, "roomy", ROOMY, bytes, most)?;
    let busy = busy_wave.map(|wave| Kernel::new(bench, "busy", workgroup, 4, 2 * wave)).transpose()?;
    bench.ready()?;
    let times = roomy.slopes(bench, &sizes)?;
    let full = times.first().ok_or_else(|| Error::internal("no slope was taken"))?;
    let mut rows = Vec::new();
    for (groups, slope) in sizes.iter().zip(&times) {
        rows.push(Row::trip(waves(*groups, wave), &slope.trip).noted(format!("{groups} workgroups")));
    }
    let judged: Vec<_> = sizes
        .iter()
        .zip(&times)
        .skip(1)
        .map(|(groups, slope)| {
            efficiency(waves(*groups, wave), *groups, slope, wave, full)
                .noted(format!("{groups} workgroups"))
                .predicted(model.around(wave_efficiency(*groups, wave), TIME))
        })
        .collect();
    let over = &judged[0];
    let mut issue = String::new();
    let mut control_row = None;
    if let (Some(busy), Some(wave)) = (&busy, busy_wave) {
        let sizes = [wave, wave + 1, wave + wave / 2, 2 * wave];
        let times = busy.slopes(bench, &sizes)?;
        let units = multiprocessors(bench)?;
        let full = &times[0];
        let mut values = Vec::new();
        for (groups, slope) in sizes.iter().zip(&times).skip(1) {
            let cell = format!("bound by issue, {}", waves(*groups, wave));
            let row = efficiency(cell, *groups, slope, wave, full).noted(format!("{groups} workgroups"));
            let row = match units {
                // Its steps come with every workgroup a multiprocessor, not with every wave.
                Some(units) => {
                    row.predicted(model.around(wave_efficiency(*groups, units) / wave_efficiency(wave, units), DATA))
                }
                None => row,
            };
            values.push(row.against_model());
            control_row.get_or_insert_with(|| row.clone());
            rows.push(row);
        }
        issue = format!(
            " A kernel bound by issue, of which {wave} workgroups are resident, reaches {} at one workgroup more, {} at 1.5 and \
             {} at 2 waves of that number: workgroups beside each other share the multiprocessor, so its steps come with \
             every workgroup a multiprocessor{}.",
            values[0],
            values[1],
            values[2],
            units.map_or_else(String::new, |units| format!(", {units} here")),
        );
    }
    // Where the second kernel is missing, a grid of whole waves has to do.
    let control_row = control_row.unwrap_or_else(|| judged[2].clone());
    let control = control(
        "a grid without a nearly empty last wave, judged as if it had one",
        &control_row,
        model.around(wave_efficiency(wave + 1, wave), TIME),
    );
    let at = |index: usize| judged[index].against_model();
    let finding = format!(
        "A wave is {wave} workgroups here{}. At {} workgroups the efficiency is {}, at 1.5 waves {}, at 2 {}, at 3 {}, at a \
         little over 4 {} and at 15.45 {}.{issue}",
        found.groups_per_multiprocessor().map_or_else(String::new, |each| format!(", {each:.0} a multiprocessor")),
        wave + 1,
        over.against_model(),
        at(1),
        at(2),
        at(3),
        at(4),
        at(5),
    );
    let points = sizes.iter().skip(1).zip(&judged).map(|(groups, row)| [f64::from(*groups), row.value]);
    let curve = (wave / 4..=most).step_by((wave / 16).max(1) as usize);
    let plot = line_plot(
        "Efficiency against the size of the grid",
        axis("workgroups", true),
        axis("efficiency", false),
        vec![
            measured("measured", std::iter::once([f64::from(wave), 1.0]).chain(points)),
            predicted("model", curve.map(|groups| [f64::from(groups), wave_efficiency(groups, wave)])),
        ],
    );
    rows.push(Row::count("workgroups with all the workgroup memory", "a wave", Unit::Count, wave));
    rows.extend(judged);
    Ok(Outcome {
        prediction: prediction(Some(wave)),
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
