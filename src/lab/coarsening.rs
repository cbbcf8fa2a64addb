//! Several items an invocation.

use super::kernel::{Launch, fold};
use super::memory::float_at;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall};
use super::residency::CPU_REASON;
use super::{Bench, Experiment, LATENCY, Simulated};
use crate::error::{Error, Result};
use crate::measure::Effort;
use crate::report::{Prediction, Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "coarsening",
    group: "workgroups",
    title: "Several items a lane",
    claim: "Several items a lane and loads of 16 bytes keep more memory under way and spread the cost of starting a \
            workgroup over more work. It helps until the registers that hold the items run out.",
    simulated: Simulated::Nothing(LATENCY),
    run,
};

/// The largest value of an item.
const MASK: u32 = 1023;
/// Items of a lane that the claim is judged at: enough under way, and far from what registers hold.
const SOME: u32 = 4;
/// Items of a lane at which registers should have run out: with four words each, half of all that a lane can have.
const MANY: u32 = 32;

/// How an invocation's items lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    /// At the distance of a workgroup, so that a subgroup's accesses are side by side.
    Apart,
    /// Next to each other.
    Adjacent,
}

/// A kernel: words an item, items a lane, and how they lie.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    words: u32,
    items: u32,
    layout: Layout,
}

impl Case {
    fn name(&self) -> String {
        let item = if self.words == 1 { "words" } else { "vec4" };
        let adjacent = if self.layout == Layout::Adjacent { ", adjacent" } else { "" };
        format!("{} {item} a lane{adjacent}", self.items)
    }

    fn groups(&self, count: u32, workgroup: u32) -> u32 {
        count / (workgroup * self.items * self.words)
    }
}

/// The sweep; scalars at one item first, which is what the others are compared with.
fn cases(effort: Effort) -> Vec<Case> {
    let mut cases = Vec::new();
    for words in [1, 4] {
        for items in [1, 2, SOME, 8, 16, MANY] {
            cases.push(Case { words, items, layout: Layout::Apart });
        }
    }
    let adjacent: &[u32] = if effort == Effort::Full { &[2, 4, 8, 16, MANY] } else { &[8] };
    cases.extend(adjacent.iter().map(|items| Case { words: 1, items: *items, layout: Layout::Adjacent }));
    cases
}

struct Kernel {
    case: Case,
    pipeline: wgpu::ComputePipeline,
}

impl Kernel {
    fn new(bench: &Bench<'_>, case: Case, workgroup: u32) -> Result<Self> {
        let item = if case.words == 1 { "f32" } else { "vec4<f32>" };
        let place = match case.layout {
            Layout::Apart => "k * WORKGROUP + local",
            Layout::Adjacent => "local * ITEMS + k",
        };
        let prelude = format!(
            "alias Item = {item};\nconst ITEMS = {}u;\nfn place(local: u32, k: u32) -> u32 {{ return {place}; }}",
            case.items
        );
        let text = include_str!("../../shaders/lab/coarsening.wgsl");
        Ok(Self { case, pipeline: bench.pipeline_of(workgroup, "coarsening", &prelude, text)? })
    }
}

/// Helps: by more than noise, and by no more than the whole of what one item a lane may be short of (a lane's word
/// against the 64 bytes and more that saturate memory).
fn helps() -> Prediction {
    Prediction { value: 2.0, low: 1.05, high: 16.0 }
}

/// Runs out: slower than at the best number of items by more than noise.
fn runs_out() -> Prediction {
    Prediction { value: 1.5, low: 1.1, high: 16.0 }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let limits = bench.gpu.limits();
    // Large workgroups, since with one item a lane it is the start of the workgroups that takes the time.
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(1024);
    let workgroup = if bench.gpu.is_cpu() { 64 } else { 1 << most.max(1).ilog2() };
    let count = bench.memory_words();
    let input = bench.filled_floats("coarsening", count, MASK)?;
    let results = bench.words("coarsening_results", count)?;
    let mut kernels = Vec::new();
    // On a CPU driver only the results are checked, and unrolled kernels take long to build.
    let left_out = |case: &Case| bench.gpu.is_cpu() && ![1, SOME, MANY].contains(&case.items);
    for case in cases(bench.effort).into_iter().filter(|case| !left_out(case)) {
        kernels.push(Kernel::new(bench, case, workgroup)?);
    }
    let mut launches: Vec<(String, Launch)> = Vec::new();
    for Kernel { case, pipeline } in &kernels {
        let grid = fold(case.groups(count, workgroup), limits.max_compute_workgroups_per_dimension);
        let launch = bench.launch_grid(pipeline, &[(0, &results), (2, &input)], grid);
        bench.verify_stretches(
            &case.name(),
            &results,
            |pass| launch.record(pass),
            |index| (float_at(index, MASK) * 2.0 + 1.0).to_bits(),
        )?;
        launches.push((case.name(), launch));
    }
    let prediction = format!(
        "Faster than one word a lane with {SOME} words and with one vec4; slower again at {MANY} vec4, {} registers.",
        4 * MANY
    );
    let method = format!(
        "Each item is loaded, changed and stored, over {} MiB, in workgroups of {workgroup}, all of a lane's loads before \
         its stores; whole passes.",
        count >> 18
    );
    if bench.gpu.is_cpu() {
        let row = Row::not_measurable("all numbers of items", "time ratio", Unit::Ratio, CPU_REASON);
        return Ok(Outcome::not_measurable(prediction, method, vec![row], CPU_REASON));
    }
    bench.ready()?;
    let samples = bench.sample(&launches)?;
    let timed = || kernels.iter().map(|kernel| kernel.case).zip(&samples);
    let at = |words, items, layout| {
        let wanted = Case { words, items, layout };
        timed().find(|(case, _)| *case == wanted).ok_or_else(|| Error::internal("a case was not sampled"))
    };
    let (one_case, one) = at(1, 1, Layout::Apart)?;
    let launch_share = bench.launch_share(one_case.groups(count, workgroup), one)?;

    let mut rows = Vec::new();
    let bytes = 8.0 * f64::from(count);
    let mut lines: [Vec<[f64; 2]>; 3] = Default::default();
    for (case, samples) in timed() {
        rows.push(Row::time(case.name(), samples));
        let rate = Row::bytes_moved(case.name(), samples, bytes);
        let line = match (case.words, case.layout) {
            (1, Layout::Apart) => 0,
            (_, Layout::Apart) => 1,
            (_, Layout::Adjacent) => 2,
        };
        lines[line].push([f64::from(case.items), rate.value]);
        rows.push(rate);
    }
    let quantity = "time of one word a lane over this";
    let gain = |words, items, layout| -> Result<Row> {
        let (case, samples) = at(words, items, layout)?;
        Ok(Row::ratio(case.name(), quantity, &one.ns, &samples.ns, one.clock).unless_launch_bound(launch_share))
    };
    let scalars = gain(1, SOME, Layout::Apart)?.predicted(helps());
    let vectors = gain(4, 1, Layout::Apart)?.predicted(helps());
    let adjacent = gain(1, 8, Layout::Adjacent)?;
    let fastest = timed()
        .filter(|(case, _)| case.words == 4)
        .min_by(|(_, a), (_, b)| a.median().total_cmp(&b.median()))
        .ok_or_else(|| Error::internal("no case was sampled"))?;
    let (many_case, many) = at(4, MANY, Layout::Apart)?;
    let cliff = Row::ratio(many_case.name(), "time over the best vec4", &many.ns, &fastest.1.ns, many.clock)
        .predicted(runs_out());
    let finding = format!(
        "{SOME} words a lane are {} times as fast as one, one vec4 {}. The best vec4 has {} a lane; with {MANY} a pass takes \
         {} times as long. {:.0} % of the time with one word a lane is the start of its workgroups; adjacent items are no \
         substitute: eight of them are {:.2} times as fast as one.",
        scalars.against_model(),
        vectors.against_model(),
        fastest.0.items,
        cliff.against_model(),
        100.0 * launch_share,
        adjacent.value,
    );
    let control = control("eight adjacent items a lane, judged as if they helped as well", &adjacent, helps());
    rows.extend([scalars, vectors, cliff, adjacent]);
    let [scalar_line, vector_line, adjacent_line] = lines;
    Ok(Outcome {
        prediction,
        finding,
        method,
        verdict: overall(&rows),
        rows,
        plots: vec![line_plot(
            "Throughput by the items of a lane",
            axis("items a lane", true),
            axis("GB/s", false),
            vec![
                measured("words", scalar_line),
                measured("vec4", vector_line),
                measured("words, adjacent", adjacent_line),
            ],
        )],
        control: Some(control),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_that_are_judged_are_in_every_sweep() {
        for effort in [Effort::Quick, Effort::Full] {
            let cases = cases(effort);
            for (words, items, layout) in [
                (1, 1, Layout::Apart),
                (1, SOME, Layout::Apart),
                (4, 1, Layout::Apart),
                (4, MANY, Layout::Apart),
                (1, 8, Layout::Adjacent),
            ] {
                assert!(cases.contains(&Case { words, items, layout }), "{effort:?}");
            }
            // Every case divides the smallest buffer.
            assert!(cases.iter().all(|case| (1u32 << 16).is_multiple_of(64 * case.items * case.words)));
        }
    }
}
