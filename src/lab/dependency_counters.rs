//! Fine dependencies between tiles in one persistent kernel, against a dispatch for each stage.

use super::grid::{not_here, why_not_waiting};
use super::kernel::{Launch, record_all};
use super::model::cheaper;
use super::oracle::arm_a;
use super::outcome::{Outcome, bar_plot, control, overall};
use super::residency::residency;
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::Contender;
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "dependency-counters",
    group: "workgroups",
    title: "Dependencies instead of barriers",
    claim: "One persistent kernel, whose tiles wait for the few tiles that they need by counters, avoids the barriers between \
            stages and beats a dispatch for each.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

const STAGES: u32 = 3;
/// Tiles of a stage for each resident workgroup: two and a half, so that the last wave of a stage is half empty, as the
/// barrier between dispatches leaves it.
const TILES: [u32; 2] = [5, 2];
const TRIPS: u32 = 128;
/// The most polls for a tile.
const POLLS: u32 = 4096;

struct Kernel {
    by_stage: wgpu::ComputePipeline,
    at_once: wgpu::ComputePipeline,
    values: wgpu::Buffer,
    state: wgpu::Buffer,
    done: wgpu::Buffer,
    tiles: u32,
    resident: u32,
}

impl Kernel {
    fn new(bench: &Bench<'_>, tiles: u32, resident: u32) -> Result<Self> {
        let prelude = format!("const STAGES = {STAGES}u;");
        let text = include_str!("../../shaders/lab/dependencies.wgsl");
        Ok(Self {
            by_stage: bench.pipeline("one_stage", &prelude, text)?,
            at_once: bench.pipeline("all_stages", &prelude, text)?,
            values: bench.words("tile values", STAGES * tiles * bench.workgroup())?,
            state: bench.words("tile tickets", 2)?,
            done: bench.words("tiles done", STAGES * tiles)?,
            tiles,
            resident,
        })
    }

    fn reset(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.state, 0, None);
        encoder.clear_buffer(&self.done, 0, None);
    }

    fn value(&self, stage: u32, tile: u32, local: u32, workgroup: u32) -> u32 {
        let x = match stage.checked_sub(1) {
            None => tile * workgroup + local,
            Some(before) => [tile + self.tiles - 1, tile, tile + 1]
                .map(|tile| self.value(before, tile % self.tiles, local, workgroup))
                .into_iter()
                .fold(0, u32::wrapping_add),
        };
        arm_a(x, TRIPS)
    }

    /// A dispatch for each stage, and the one for all, with their results compared.
    fn launches(&self, bench: &Bench<'_>) -> Result<[Vec<Launch>; 2]> {
        let params = |stage: u32| bench.params(&[self.tiles, TRIPS, stage, POLLS]);
        let mut stages = Vec::new();
        for stage in 0..STAGES {
            stages.push(bench.launch(&self.by_stage, &[(0, &self.values), (1, &params(stage)?)], self.tiles));
        }
        let buffers = [(0, &self.values), (1, &params(0)?), (2, &self.state), (3, &self.done)];
        let ways = [stages, vec![bench.launch(&self.at_once, &buffers, self.resident)]];
        let workgroup = bench.workgroup();
        let expected = |index: u32| {
            let (place, local) = (index / workgroup, index % workgroup);
            self.value(place / self.tiles, place % self.tiles, local, workgroup)
        };
        for (what, launches) in ["a dispatch a stage", "one kernel with counters"].into_iter().zip(&ways) {
            bench.gpu.submit(|encoder| self.reset(encoder));
            bench.verify(what, &self.values, |pass| record_all(launches, pass), expected)?;
        }
        self.check(bench)?;
        Ok(ways)
    }

    /// Sees that no workgroup of the last run gave up.
    fn check(&self, bench: &Bench<'_>) -> Result<()> {
        match bench.read_words(&self.state, 2)?[1] {
            0 => Ok(()),
            count => Err(Error::new(
                ErrorKind::WrongResult,
                format!("dependency-counters: {count} tiles were given up after {POLLS} polls"),
            )),
        }
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction = "One kernel with counters takes less time than a dispatch for each stage.";
    let method = format!(
        "{STAGES} stages of tiles, each of one workgroup's arithmetic of {TRIPS} trips on three tiles of the stage before: a dispatch \
         a stage in one pass, or one kernel of as many workgroups as are resident, which take tiles in order by tickets and poll, \
         at most {POLLS} times, for the three that they need. Values are passed by atomics. Plain times, a round each."
    );
    let refuse = |reason: &str| {
        Ok(not_here(prediction.into(), method.clone(), "counters over dispatches", "time ratio", reason))
    };
    if let Some(reason) = why_not_waiting(bench) {
        return refuse(reason);
    }
    let Some(resident) = residency(bench, bench.workgroup(), 8)? else {
        return refuse("how many workgroups are resident could not be measured, so any number may be too many");
    };
    let resident = resident.groups_per_wave;
    let tiles = (resident * TILES[0] / TILES[1]).max(3);
    let kernel = Kernel::new(bench, tiles, resident)?;
    bench.ready()?;
    let [stages, at_once] = kernel.launches(bench)?;
    let ways = [
        ("a dispatch a stage", &stages),
        ("one kernel with counters", &at_once),
        ("a dispatch a stage, again", &stages),
    ];
    let contenders: Vec<_> = ways
        .iter()
        .map(|(name, launches)| {
            Contender::new(*name, |pass| record_all(launches, pass)).before(|encoder| kernel.reset(encoder))
        })
        .collect();
    let samples = bench.sampler.sample(&contenders)?;
    drop(contenders);
    kernel.check(bench)?;
    let mut rows: Vec<_> = ways.iter().zip(&samples).map(|((name, _), samples)| Row::time(*name, samples)).collect();
    let [stages, at_once, again] = samples.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let ratio = Row::ratio("counters over dispatches", "time ratio", &at_once.ns, &stages.ns, at_once.clock)
        .predicted(cheaper());
    let same = Row::ratio("dispatches over themselves", "time ratio", &again.ns, &stages.ns, again.clock);
    let control = control("dispatches against themselves, judged as if they had counters", &same, cheaper());
    let finding = format!(
        "{STAGES} stages of {tiles} tiles take {} by dispatches and {} in one kernel of {resident} workgroups with counters, {:.2} \
         times as long. {}",
        Unit::Ns.format(stages.median()),
        Unit::Ns.format(at_once.median()),
        ratio.value,
        match ratio.verdict {
            Some(Verdict::Holds) => "What a barrier leaves idle at the end of a stage, the next stage's tiles fill.",
            _ =>
                "The ticket, the polls and the barriers of each tile cost about what the end of a dispatch does: a stage of so \
                 much work has little to gain.",
        }
    );
    let plot = bar_plot("Counters over dispatches", "time ratio", [&ratio]);
    rows.extend([ratio, same, Row::count("one kernel", "resident workgroups", Unit::Count, resident)]);
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
