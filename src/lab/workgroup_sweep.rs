//! Workgroups of many sizes.

use super::kernel::{Launch, fold};
use super::model::{FREE, LATENCY, Model, TIME};
use super::oracle::{arm_a, scramble};
use super::outcome::{Outcome, axis, control, line_plot, measured, overall};
use super::residency::{CPU_REASON, Probe, residency};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Effort, Samples};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "workgroup-sweep",
    group: "workgroups",
    title: "The size of a workgroup",
    claim: "A sensible size lies between 128 and 512 invocations: workgroups of one subgroup leave places for others \
            empty, and one of 1,024 holds its places until its slowest subgroup is done. The fullest device is not always \
            the fastest.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Words that a lane of the copy takes.
const COPY_WORDS: u32 = 8;
/// One subgroup in so many is long in the uneven kernel.
const LONG_IN: u32 = 8;
/// Steps of even arithmetic, and of a short and a long subgroup.
const EVEN: u32 = 512;
const SHORT: u32 = 16;
const LONG: u32 = 2048;

/// What a kernel spends its time on.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Copy,
    Arithmetic,
    Uneven,
    Loads,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Copy, Self::Arithmetic, Self::Uneven, Self::Loads];

    fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Arithmetic => "arithmetic",
            Self::Uneven => "uneven arithmetic",
            Self::Loads => "dependent loads",
        }
    }
}

/// What the kernels of every size share.
struct Shared {
    copied: wgpu::Buffer,
    input: wgpu::Buffer,
    count: u32,
    results: wgpu::Buffer,
    invocations: u32,
    lanes: u32,
}

/// One kernel in workgroups of one size.
struct Case {
    kind: Kind,
    workgroup: u32,
    launch: Launch,
    /// Words or invocations: what its time is divided by.
    work: f64,
    groups: u32,
}

impl Shared {
    fn new(bench: &Bench<'_>, model: &Model, invocations: u32) -> Result<Self> {
        let count = bench.memory_words();
        Ok(Self {
            copied: bench.words("copied", count)?,
            input: bench.filled_words("input", count, u32::MAX)?,
            count,
            results: bench.words("workgroup_sweep", invocations)?,
            invocations,
            lanes: model.lanes,
        })
    }

    fn pipeline(&self, bench: &Bench<'_>, entry: &str, workgroup: u32) -> Result<wgpu::ComputePipeline> {
        let text = include_str!("../../shaders/lab/workgroup_sweep.wgsl");
        bench.pipeline_of(workgroup, entry, &format!("const LANES = {}u;", self.lanes), text)
    }

    fn case(&self, bench: &Bench<'_>, kind: Kind, workgroup: u32) -> Result<Case> {
        let groups = self.invocations / workgroup;
        match kind {
            Kind::Copy => self.copy(bench, workgroup),
            Kind::Arithmetic => self.arithmetic(bench, kind, workgroup, [EVEN, EVEN]),
            Kind::Uneven => self.arithmetic(bench, kind, workgroup, [SHORT, LONG]),
            Kind::Loads => {
                let probe = Probe::dependent_loads(bench, workgroup, 0)?;
                probe.verify(bench, groups)?;
                let work = f64::from(groups * workgroup);
                Ok(Case { kind, workgroup, launch: probe.launch(bench, groups), work, groups })
            }
        }
    }

    fn copy(&self, bench: &Bench<'_>, workgroup: u32) -> Result<Case> {
        let pipeline = self.pipeline(bench, "copy", workgroup)?;
        let params = bench.params(&[self.count])?;
        let groups = self.count / (workgroup * COPY_WORDS);
        let grid = fold(groups, bench.gpu.limits().max_compute_workgroups_per_dimension);
        let launch = bench.launch_grid(&pipeline, &[(0, &self.copied), (1, &params), (2, &self.input)], grid);
        let copied = groups * workgroup * COPY_WORDS;
        let what = format!("copy, workgroups of {workgroup}");
        bench.verify_stretches(
            &what,
            &self.copied,
            |pass| launch.record(pass),
            |index| {
                if index < copied { scramble(index) } else { 0 }
            },
        )?;
        Ok(Case { kind: Kind::Copy, workgroup, launch, work: f64::from(copied), groups })
    }

    fn arithmetic(&self, bench: &Bench<'_>, kind: Kind, workgroup: u32, [short, long]: [u32; 2]) -> Result<Case> {
        let pipeline = self.pipeline(bench, "arithmetic", workgroup)?;
        let params = bench.params(&[0, short, long])?;
        let groups = self.invocations / workgroup;
        let launch = bench.launch(&pipeline, &[(0, &self.results), (1, &params)], groups);
        let done = groups * workgroup;
        let expected = |index: u32| {
            let is_long = scramble(index / self.lanes).is_multiple_of(LONG_IN);
            if index < done { arm_a(index, if is_long { long } else { short }) } else { 0 }
        };
        let what = format!("{}, workgroups of {workgroup}", kind.name());
        bench.verify(&what, &self.results, |pass| launch.record(pass), expected)?;
        Ok(Case { kind, workgroup, launch, work: f64::from(done), groups })
    }
}

/// The sizes: powers of two in subgroups, and three quarters of them.
fn sizes(bench: &Bench<'_>, lanes: u32) -> Vec<u32> {
    let limits = bench.gpu.limits();
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(1024);
    let mut sizes: Vec<_> = [1, 2, 4, 8, 16, 32].map(|subgroups| subgroups * lanes).into();
    if bench.effort == Effort::Full {
        sizes.extend([3, 6, 12, 24].map(|subgroups| subgroups * lanes));
    }
    sizes.retain(|size| *size <= most);
    sizes.sort_unstable();
    sizes
}

/// Whether a size is between 128 and 512.
fn is_sensible(size: u32) -> bool {
    (128..=512).contains(&size)
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let lanes = model.lanes;
    let sizes = sizes(bench, lanes);
    let prediction = format!(
        "No size beats the best between 128 and 512. Dependent loads in workgroups of {lanes} take longer by what the \
         residency says that they leave empty. Uneven work takes longer in workgroups of 1,024 than of 256, by the time \
         for which they hold places: {:.2} times.",
        model.held_places(1024, 1.0 / f64::from(LONG_IN), f64::from(SHORT) / f64::from(LONG))
            / model.held_places(256, 1.0 / f64::from(LONG_IN), f64::from(SHORT) / f64::from(LONG))
    );
    let method = format!(
        "A copy of {COPY_WORDS} words a lane, arithmetic, arithmetic of which one subgroup in {LONG_IN} is {} times longer, \
         and dependent loads, each the same work in workgroups of every size; whole passes. Residency is measured for \
         each size.",
        LONG / SHORT
    );
    if bench.gpu.is_cpu() {
        let shared = Shared::new(bench, &model, 4096)?;
        for kind in Kind::ALL {
            shared.case(bench, kind, sizes.first().copied().unwrap_or(1))?;
            shared.case(bench, kind, sizes.last().copied().unwrap_or(1))?;
        }
        let row = Row::not_measurable("all sizes", "time ratio", Unit::Ratio, CPU_REASON);
        return Ok(Outcome::not_measurable(prediction, method, vec![row], CPU_REASON));
    }
    let Some(typical) = residency(bench, 256.min(sizes.last().copied().unwrap_or(1)), 0)? else {
        let reason = "how many workgroups fill the device does not show in any time";
        let row = Row::not_measurable("all sizes", "time ratio", Unit::Ratio, reason);
        return Ok(Outcome::not_measurable(prediction, method, vec![row], reason));
    };
    // Four times what fills the device, or what the probe and one dimension of the smallest workgroups have room for.
    let in_a_row = bench.gpu.limits().max_compute_workgroups_per_dimension.min(65_535) * lanes;
    let invocations = typical.groups_per_wave.saturating_mul(4 * 256).min(1 << 21).min(in_a_row);
    let shared = Shared::new(bench, &model, invocations)?;
    let mut cases = Vec::new();
    for kind in Kind::ALL {
        for size in &sizes {
            cases.push(shared.case(bench, kind, *size)?);
        }
    }
    let mut resident = Vec::new();
    for size in &sizes {
        resident.push(residency(bench, *size, 0)?.map(|residency| residency.groups_per_wave * size / lanes));
    }
    bench.ready()?;
    let (names, launches): (Vec<_>, Vec<_>) =
        cases.into_iter().map(|case| ((case.kind, case.workgroup, case.work, case.groups), case.launch)).unzip();
    let named: Vec<_> = names.iter().map(|(kind, size, ..)| format!("{}, {size}", kind.name())).zip(launches).collect();
    let samples = bench.sample(&named)?;
    let timed = |kind: Kind| {
        names.iter().zip(&samples).filter(move |((of, ..), _)| *of == kind).map(|((_, size, work, groups), samples)| {
            let ns: Vec<f64> = samples.ns.iter().map(|ns| ns / work).collect();
            (*size, *groups, Samples { ns, clock: samples.clock }, samples)
        })
    };

    let mut rows = Vec::new();
    let mut series = Vec::new();
    let mut best_sizes = Vec::new();
    for kind in Kind::ALL {
        let all: Vec<_> = timed(kind).collect();
        let fastest = |sensible: bool| {
            let among = all.iter().filter(|(size, ..)| !sensible || is_sensible(*size));
            among.min_by(|(_, _, a, _), (_, _, b, _)| a.median().total_cmp(&b.median()))
        };
        let (Some(best), Some(sensible)) = (fastest(false), fastest(true)) else {
            return Err(Error::internal("no size between 128 and 512 was sampled"));
        };
        for (size, groups, _, samples) in &all {
            let cell = format!("{}, workgroups of {size}", kind.name());
            let share = bench.launch_share(*groups, samples)?;
            let row = Row::time(cell, samples);
            rows.push(if share > 0.1 {
                row.noted(format!("the start of its workgroups alone takes {:.0} % of the time", 100.0 * share))
            } else {
                row
            });
        }
        let points = all.iter().map(|(size, _, ns, _)| [f64::from(*size), ns.median() / best.2.median()]);
        series.push(measured(kind.name(), points));
        best_sizes.push(format!("{} {}", kind.name(), best.0));
        let cell = format!("{}, best between 128 and 512 over best of all", kind.name());
        rows.push(
            Row::ratio(cell, "time ratio", &sensible.2.ns, &best.2.ns, best.2.clock).predicted(model.around(1.0, FREE)),
        );
    }
    for (size, resident) in sizes.iter().zip(&resident) {
        if let Some(resident) = resident {
            rows.push(Row::count(format!("workgroups of {size}"), "resident subgroups", Unit::Count, *resident));
        }
    }
    let at = |kind: Kind, wanted: u32| timed(kind).find(|(size, ..)| *size == wanted).map(|(_, _, ns, _)| ns);
    let resident_at =
        |wanted: u32| sizes.iter().position(|size| *size == wanted).and_then(|at| resident.get(at).copied().flatten());
    let mut said = Vec::new();
    let mut control_row = None;
    let typical_size = sizes.iter().copied().filter(|size| is_sensible(*size)).min_by_key(|size| size.abs_diff(256));
    let typical_size = typical_size.unwrap_or(256);
    if let (Some(one), Some(typical)) = (at(Kind::Loads, lanes), at(Kind::Loads, typical_size)) {
        let row = Row::ratio(
            format!("dependent loads, workgroups of {lanes} over {typical_size}"),
            "time ratio",
            &one.ns,
            &typical.ns,
            one.clock,
        );
        control_row = Some(row.clone());
        let row = match (resident_at(lanes), resident_at(typical_size)) {
            (Some(few), Some(many)) => row.predicted(model.around(f64::from(many) / f64::from(few), LATENCY)),
            _ => row.noted("not judged: the residency of one of the two does not show"),
        };
        said.push(format!(
            "dependent loads take {} times as long in workgroups of {lanes} as of {typical_size}",
            row.against_model()
        ));
        rows.push(row);
    }
    if let (Some(coarse), Some(typical)) = (at(Kind::Uneven, 1024), at(Kind::Uneven, typical_size)) {
        let share = 1.0 / f64::from(LONG_IN);
        let short = f64::from(SHORT) / f64::from(LONG);
        let expected = model.held_places(1024, share, short) / model.held_places(typical_size, share, short);
        let row = Row::ratio(
            format!("uneven arithmetic, workgroups of 1024 over {typical_size}"),
            "time ratio",
            &coarse.ns,
            &typical.ns,
            coarse.clock,
        )
        .predicted(model.around(expected, LATENCY));
        said.push(format!("uneven arithmetic takes {} times as long in workgroups of 1,024", row.against_model()));
        if row.verdict == Some(Verdict::Differs) && row.value < expected {
            said.push(
                "the places that a large workgroup holds cost little here, because the arithmetic of the subgroups that \
                 are still at work fills the multiprocessor"
                    .into(),
            );
        }
        rows.push(row);
    }
    let control = control_row.map(|row| {
        control(
            "dependent loads in workgroups of one subgroup, judged as if they were as fast",
            &row,
            model.around(1.0, TIME),
        )
    });
    Ok(Outcome {
        prediction,
        finding: if said.is_empty() {
            format!("Fastest sizes: {}.", best_sizes.join(", "))
        } else {
            format!("Fastest sizes: {}. {}.", best_sizes.join(", "), capitalised(&said.join("; ")))
        },
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![line_plot(
            "Time by the size of a workgroup",
            axis("invocations a workgroup", true),
            axis("time over the fastest size", false),
            series,
        )],
        control,
    })
}

/// The same with a capital letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
