//! Loads in flight: how many subgroups, and how many chains a lane, hide the latency of memory.

use super::grid::{CPU_GRID, LINE_BYTES, Table, in_bytes, not_here};
use super::kernel::Launch;
use super::model::DATA;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::MAX_TRIPS;
use super::{Bench, Experiment, LATENCY, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Effort, Samples};
use crate::report::{Plot, Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "latency-hiding",
    group: "workgroups",
    title: "Hiding latency",
    claim: "The throughput of dependent loads grows with the subgroups in flight until it saturates; independent chains in a \
            lane count like more subgroups.",
    simulated: Simulated::Nothing(LATENCY),
    run,
};

/// Subgroups of a workgroup: two, so that a multiprocessor's places for workgroups are not what limits.
const SUBGROUPS: u32 = 2;
const CHAINS: [u32; 4] = [1, 2, 4, 8];
/// Workgroups of a grid, in factors of eight among those that are judged.
const GROUPS: [u32; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// Steps of a chain in cache.
const STEPS: u32 = 1024;
/// Line visits of a grid over memory: 256 MiB of lines, four times the largest last-level cache known of a GPU, so that
/// nothing is left in cache of the sample before.
const VISITS: u32 = 1 << 21;

struct Kernels {
    pipelines: Vec<wgpu::ComputePipeline>,
    results: wgpu::Buffer,
    lanes: u32,
}

impl Kernels {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let lanes = bench.model()?.lanes;
        let text = include_str!("../../shaders/lab/chase.wgsl");
        let prelude = Table::prelude(bench)?;
        let pipeline = |chains: &u32| bench.pipeline_of(SUBGROUPS * lanes, &format!("chase_{chains}"), &prelude, text);
        Ok(Self {
            pipelines: CHAINS.iter().map(pipeline).collect::<Result<_>>()?,
            results: bench.words("chase", GROUPS[GROUPS.len() - 1] * SUBGROUPS * lanes)?,
            lanes,
        })
    }

    fn launch(&self, bench: &Bench<'_>, table: &Table, chains: u32, groups: u32, steps: u32) -> Result<Launch> {
        let at = CHAINS.iter().position(|known| *known == chains).unwrap_or(0);
        let params = bench.params(&[steps, table.lines])?;
        let buffers = [(0, &self.results), (1, &params), (2, &table.buffer)];
        let launch = bench.launch(&self.pipelines[at], &buffers, groups);
        let end = |index: u32| -> u32 {
            let first = index / self.lanes * chains;
            (first..first + chains).fold(0, |sum, chain| sum + table.after(table.start(chain), steps))
        };
        let expected = |index: u32| if index < groups * SUBGROUPS * self.lanes { end(index) } else { 0 };
        bench.verify(&format!("chase_{chains}"), &self.results, |pass| launch.record(pass), expected)?;
        Ok(launch)
    }
}

/// One grid, measured.
struct Point {
    chains: u32,
    groups: u32,
    steps: u32,
    samples: Samples,
}

impl Point {
    fn visits(&self) -> f64 {
        f64::from(self.chains) * f64::from(self.groups * SUBGROUPS) * f64::from(self.steps)
    }

    /// Line visits a nanosecond of each sample.
    fn throughput(&self) -> Vec<f64> {
        self.samples.ns.iter().map(|ns| self.visits() / ns).collect()
    }

    fn gb_per_s(&self) -> f64 {
        self.visits() * LINE_BYTES as f64 / self.samples.median()
    }
}

/// Samples these grids over one table.
fn sweep(bench: &Bench<'_>, kernels: &Kernels, table: &Table, grids: &[(u32, u32, u32)]) -> Result<Vec<Point>> {
    let launch = |&(chains, groups, steps): &(u32, u32, u32)| {
        Ok((format!("{chains} chains, {groups} workgroups"), kernels.launch(bench, table, chains, groups, steps)?))
    };
    let launches = grids.iter().map(launch).collect::<Result<Vec<_>>>()?;
    let samples = bench.sample(&launches)?;
    let point = |(&(chains, groups, steps), samples)| Point { chains, groups, steps, samples };
    Ok(grids.iter().zip(samples).map(point).collect())
}

/// The subgroups of the first grid that reaches nine tenths of the most that its chains reach, in one round.
fn knee(points: &[&Point], round: usize) -> Option<f64> {
    let rates: Vec<_> = points.iter().map(|point| point.throughput().get(round).copied().unwrap_or(0.0)).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let first = rates.iter().position(|rate| *rate >= 0.9 * most)?;
    points.get(first).map(|point| f64::from(point.groups * SUBGROUPS))
}

fn plot(title: String, points: &[Point], chains: &[u32]) -> Plot {
    let line = |chains: &u32| {
        let mine = points.iter().filter(|point| point.chains == *chains);
        let name = if *chains == 1 { "1 chain a lane".into() } else { format!("{chains} chains a lane") };
        measured(&name, mine.map(|point| [f64::from(point.groups * SUBGROUPS), point.gb_per_s()]))
    };
    let mut series: Vec<_> = chains.iter().map(line).collect();
    if let Some(first) = points.iter().find(|point| point.chains == 1) {
        // Linear from the first point on.
        let unit = first.gb_per_s() / f64::from(first.groups);
        let ends = [GROUPS[0], GROUPS[GROUPS.len() - 1]];
        series.push(predicted(
            "1 chain a lane, every load hidden",
            ends.map(|groups| [f64::from(groups * SUBGROUPS), unit * f64::from(groups)]),
        ));
    }
    line_plot(&title, axis("subgroups in the grid", true), axis("lines fetched (GB/s)", true), series)
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction = "Eight times the subgroups fetch 8.00 times as much, as long as nothing saturates; eight chains a lane in an \
                      eighth of the subgroups fetch the same, 1.00.";
    let kernels = Kernels::new(bench)?;
    let is_cpu = bench.gpu.is_cpu();
    let cached = Table::new(bench, if is_cpu { 10 } else { 17 })?;
    let method = format!(
        "Chains of dependent loads through rings of {LINE_BYTES}-byte lines, all lanes of a subgroup on one line, in workgroups \
         of {SUBGROUPS} subgroups: through {}, in cache, and through what memory one binding can hold, with at least {VISITS} \
         visits a grid so that a sample finds nothing of the last one in cache. Plain times.",
        in_bytes(cached.bytes())
    );
    if is_cpu {
        for chains in CHAINS {
            kernels.launch(bench, &cached, chains, 4, 100)?;
        }
        return Ok(not_here(prediction.into(), method, "8 times the subgroups", "throughput ratio", CPU_GRID));
    }
    let far = Table::new(bench, 23)?;
    let model = bench.model()?;
    bench.ready()?;
    let all = |groups: &[u32], chains: &[u32], steps: fn(u32) -> u32| -> Vec<_> {
        let of = |chains: u32| groups.iter().map(move |groups| (chains, *groups, steps(*groups * SUBGROUPS * chains)));
        chains.iter().flat_map(|chains| of(*chains)).collect()
    };
    let near_points = sweep(bench, &kernels, &cached, &all(&GROUPS, &CHAINS, |_| STEPS))?;
    let (far_groups, far_chains): (&[u32], &[u32]) = match bench.effort {
        Effort::Quick => (&[64, 512, 4096], &[1, 8]),
        Effort::Full => (&GROUPS, &CHAINS),
    };
    let far_steps = |chains: u32| (VISITS / chains).clamp(256, MAX_TRIPS);
    let far_points = sweep(bench, &kernels, &far, &all(far_groups, far_chains, far_steps))?;
    let names = [in_bytes(cached.bytes()), in_bytes(far.bytes())];
    let mut rows = Vec::new();
    for (name, points) in names.iter().zip([&near_points, &far_points]) {
        for point in points {
            let cell = format!("{name}, {} chains a lane, {} subgroups", point.chains, point.groups * SUBGROUPS);
            rows.push(Row::time(cell, &point.samples));
        }
    }
    let find = |chains: u32, groups: u32| {
        near_points
            .iter()
            .find(|point| point.chains == chains && point.groups == groups)
            .ok_or_else(|| Error::internal("a grid was not sampled"))
    };
    let gain = |cell: &str, more: &Point, less: &Point| {
        Row::ratio(cell, "throughput ratio", &more.throughput(), &less.throughput(), more.samples.clock)
    };
    let linear = gain("in cache, 1 chain, 2,048 over 256 subgroups", find(1, 1024)?, find(1, 128)?)
        .predicted(model.around(8.0, DATA));
    let swapped = gain("in cache, 8 chains in 256 over 1 chain in 2,048 subgroups", find(8, 128)?, find(1, 1024)?)
        .predicted(model.around(1.0, DATA));
    let saturated = gain("in cache, 8 chains, 8,192 over 1,024 subgroups", find(8, 4096)?, find(8, 512)?);
    let control = control(
        "eight chains a lane in all the subgroups that fit, judged as if nothing saturated",
        &saturated,
        model.around(8.0, DATA),
    );
    let mut said = Vec::new();
    for (name, points, chains) in [(&names[0], &near_points, &CHAINS[..]), (&names[1], &far_points, far_chains)] {
        for chains in chains {
            let points: Vec<_> = points.iter().filter(|point| point.chains == *chains).collect();
            let Some(first) = points.first() else { continue };
            let row = Row::onset(
                format!("{name}, {chains} chains a lane"),
                "subgroups for nine tenths of its most",
                Unit::Count,
                (0..first.samples.ns.len()).map(|round| knee(&points, round)),
                first.samples.clock,
                "no grid reaches it",
            );
            let most = points.iter().map(|point| point.gb_per_s()).fold(0.0, f64::max);
            said.push(format!("{chains} in {name}: {most:.0} GB/s from {:.0} subgroups on", row.value));
            rows.push(row);
        }
    }
    let latency =
        |points: &[Point]| points.first().map_or(0.0, |point| point.samples.median() / f64::from(point.steps));
    let finding = format!(
        "Eight times the subgroups of one chain a lane fetch {} times as much; eight chains a lane in an eighth of the subgroups \
         fetch {} times what those do. Then it saturates: with eight chains eight times the subgroups gain only {:.2}. A step \
         takes {:.0} ns in {} and {:.0} ns in {} with few subgroups. The most by chains a lane: {}. Where the last count is the \
         greatest tried, there may be no knee yet.",
        linear.against_model(),
        swapped.against_model(),
        saturated.value,
        latency(&near_points),
        names[0],
        latency(&far_points),
        names[1],
        said.join("; ")
    );
    rows.extend([linear, swapped, saturated]);
    let plots = vec![
        plot(format!("In cache, {}", names[0]), &near_points, &CHAINS),
        plot(format!("Over {}", names[1]), &far_points, far_chains),
    ];
    Ok(Outcome {
        prediction: prediction.into(),
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots,
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Clock;

    #[test]
    fn the_knee_is_the_first_grid_near_the_most() {
        let point =
            |groups, ns| Point { chains: 1, groups, steps: 1, samples: Samples { ns: vec![ns], clock: Clock::Gpu } };
        // Throughputs 64, 128, 240, 256 in some unit.
        let points = [point(64, 1.0), point(128, 1.0), point(256, 256.0 / 240.0), point(512, 2.0)];
        assert_eq!(knee(&points.iter().collect::<Vec<_>>(), 0), Some(512.0));
        assert_eq!(knee(&[], 0), None);
    }
}
