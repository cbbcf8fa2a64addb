//! A branch against a select, as the arms grow.

use super::kernel::Launch;
use super::model::{FREE, LOOP_INSTRUCTIONS};
use super::oracle::scramble;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::timing::calibrate;
use super::{Bench, COMPILED, Experiment, Simulated};
use crate::error::{Error, Result};
use crate::measure::{Effort, Samples};
use crate::report::{Row, Unit, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "predication",
    group: "lanes",
    title: "Short branches are no branches",
    claim: "Short arms of a branch are predicated: every lane runs both and keeps one result, which costs no more than a \
            select. That is right for two instructions and ruinous for two hundred, where lanes that agree should pay for \
            one arm only.",
    simulated: Simulated::Nothing(COMPILED),
    run,
};

/// Instructions of the short arm that the claim speaks of, and of the long one. A CPU driver takes seconds to compile such
/// long lines, and treats all lengths alike.
const SHORT: u32 = 2;
const LONG: u32 = 200;
const LONG_CPU: u32 = 64;

/// Multiply-adds and exclusive ors with constants, in turn: one instruction each, and no two of them fold.
#[derive(Clone, Copy, Debug)]
enum Instruction {
    MultiplyAdd(u32, u32),
    Xor(u32),
}

impl Instruction {
    /// Instruction `at` of arm `arm`.
    fn new(arm: u32, at: u32) -> Self {
        let constant = scramble(0x1000 * (arm + 1) + at);
        // The arms begin with different kinds, since two arms of one operation become a select of constants.
        if (arm + at).is_multiple_of(2) {
            Self::MultiplyAdd(constant | 0x1000_0001, scramble(constant))
        } else {
            Self::Xor(constant | 0x2000_0000)
        }
    }

    fn text(self) -> String {
        match self {
            Self::MultiplyAdd(factor, addend) => format!("  x = x * {factor}u + {addend}u;\n"),
            Self::Xor(mask) => format!("  x = x ^ {mask}u;\n"),
        }
    }

    fn apply(self, x: u32) -> u32 {
        match self {
            Self::MultiplyAdd(factor, addend) => x.wrapping_mul(factor).wrapping_add(addend),
            Self::Xor(mask) => x ^ mask,
        }
    }
}

/// `side_a` and `side_b` with so many instructions.
fn sides_text(instructions: u32) -> String {
    let side = |arm: u32, name: &str| {
        let body: String = (0..instructions).map(|at| Instruction::new(arm, at).text()).collect();
        format!("fn {name}(start: u32) -> u32 {{\n  var x = start;\n{body}  return x;\n}}\n")
    };
    side(0, "side_a") + &side(1, "side_b")
}

/// Who agrees with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// Every lane has conditions of its own.
    Lanes,
    /// The lanes of a workgroup agree.
    Workgroups,
    /// All take arm A.
    AllA,
}

/// Both kernels with arms of one length.
struct Kernels {
    instructions: u32,
    branch: wgpu::ComputePipeline,
    select: wgpu::ComputePipeline,
}

impl Kernels {
    fn new(bench: &Bench<'_>, instructions: u32) -> Result<Self> {
        let (prelude, text) = (sides_text(instructions), include_str!("../../shaders/lab/predication.wgsl"));
        Ok(Self {
            instructions,
            branch: bench.pipeline("by_branch", &prelude, text)?,
            select: bench.pipeline("by_select", &prelude, text)?,
        })
    }

    fn unverified(
        &self,
        bench: &Bench<'_>,
        results: &wgpu::Buffer,
        pipeline: &wgpu::ComputePipeline,
        who: Who,
        trips: u32,
    ) -> Result<Launch> {
        let params = bench.params(&[trips, shift(bench, who), u32::from(who == Who::AllA)])?;
        Ok(bench.launch(pipeline, &[(0, results), (1, &params)], bench.groups()))
    }

    fn launch(
        &self,
        bench: &Bench<'_>,
        results: &wgpu::Buffer,
        pipeline: &wgpu::ComputePipeline,
        who: Who,
        trips: u32,
    ) -> Result<Launch> {
        let launch = self.unverified(bench, results, pipeline, who, trips)?;
        let what = format!("predication, arms of {}, {who:?}", self.instructions);
        let shift = shift(bench, who);
        let sides =
            [0, 1].map(|arm| -> Vec<_> { (0..self.instructions).map(|at| Instruction::new(arm, at)).collect() });
        bench.verify(
            &what,
            results,
            |pass| launch.record(pass),
            |index| {
                let bits = if who == Who::AllA { u32::MAX } else { scramble(index >> shift) };
                (0..trips).fold(index, |x, trip| {
                    let arm = 1 - ((bits >> (trip & 31)) & 1);
                    sides[arm as usize].iter().fold(x, |x, instruction| instruction.apply(x))
                })
            },
        )?;
        Ok(launch)
    }
}

fn shift(bench: &Bench<'_>, who: Who) -> u32 {
    if who == Who::Workgroups { bench.workgroup().ilog2() } else { 0 }
}

/// What was measured at one length.
struct Point {
    instructions: u32,
    /// The branch where the lanes do not agree, over the branch where they do.
    divergent: Row,
    /// The select over the branch, where the lanes agree.
    agreed: Row,
    /// The same where they do not.
    disagreed: Row,
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let long_length = if bench.gpu.is_cpu() { LONG_CPU } else { LONG };
    let lengths: &[u32] = match bench.effort {
        _ if bench.gpu.is_cpu() => &[SHORT, 16, LONG_CPU],
        Effort::Quick => &[1, SHORT, 3, 4, 5, 6, 8, 16, LONG],
        Effort::Full => &[1, SHORT, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32, 64, LONG],
    };
    let kernels = lengths.iter().map(|length| Kernels::new(bench, *length)).collect::<Result<Vec<_>>>()?;
    let results = bench.words("predication", bench.invocations())?;
    bench.ready()?;
    let mut launches = Vec::new();
    let mut trip_counts = Vec::new();
    for kernel in &kernels {
        let trips = calibrate(bench, |trips| {
            kernel.unverified(bench, &results, &kernel.branch, Who::Lanes, trips.min(most_trips(kernel.instructions)))
        })?
        .min(most_trips(kernel.instructions));
        for (name, pipeline) in [("branch", &kernel.branch), ("select", &kernel.select)] {
            for who in [Who::Lanes, Who::Workgroups] {
                let name = format!("{name} of {}, by {}", kernel.instructions, plural(who));
                launches.push((name, kernel.launch(bench, &results, pipeline, who, trips)?));
                trip_counts.push(trips);
            }
        }
    }
    let missing = || Error::internal("a contender was not sampled");
    let (last, last_trips) = (kernels.last().ok_or_else(missing)?, *trip_counts.last().ok_or_else(missing)?);
    launches.push((
        format!("branch of {long_length}, all in A"),
        last.launch(bench, &results, &last.branch, Who::AllA, last_trips)?,
    ));
    trip_counts.push(last_trips);
    let samples = bench.sample(&launches)?;
    let mut rows: Vec<_> = launches
        .iter()
        .zip(&samples)
        .zip(&trip_counts)
        .map(|(((name, _), samples), trips)| Row::each_trip(name, samples, *trips))
        .collect();
    let ratio = |cell: String, a: &Samples, b: &Samples| Row::ratio(cell, "time ratio", &a.ns, &b.ns, a.clock);
    let mut points = Vec::new();
    for (kernel, samples) in kernels.iter().zip(samples.chunks_exact(4)) {
        let [branch_lanes, branch_agreed, select_lanes, select_agreed] = samples else { return Err(missing()) };
        let length = kernel.instructions;
        points.push(Point {
            instructions: length,
            divergent: ratio(format!("branch of {length}, by lanes over by workgroups"), branch_lanes, branch_agreed),
            agreed: ratio(format!("{length}, select over branch, lanes agree"), select_agreed, branch_agreed),
            disagreed: ratio(format!("{length}, select over branch, lanes differ"), select_lanes, branch_lanes),
        });
    }
    for point in &mut points {
        if point.instructions == SHORT {
            point.divergent = point.divergent.clone().predicted(model.around(1.0, FREE));
            point.agreed = point.agreed.clone().predicted(model.select_at_most());
        } else if point.instructions == long_length {
            point.divergent = point.divergent.clone().predicted(model.both_arms(long_length));
            point.agreed = point.agreed.clone().predicted(model.both_arms(long_length));
        }
    }
    let [.., agreed, _, _, one_sided] = samples.as_slice() else { return Err(missing()) };
    let one_sided = ratio(format!("branch of {long_length}, all in A, over by workgroups"), one_sided, agreed);
    let control = control(
        "all lanes take one long arm, judged as if their subgroup took both",
        &one_sided,
        model.both_arms(long_length),
    );
    let knee = points.iter().find(|point| point.divergent.interval[0] > BRANCHES).map(|point| point.instructions);
    let wins = points.iter().find(|point| point.agreed.interval[0] > WINS).map(|point| point.instructions);
    let at = |length: u32| points.iter().find(|point| point.instructions == length).ok_or_else(missing);
    let (short, long) = (at(SHORT)?, at(long_length)?);
    let finding = format!(
        "With arms of {SHORT} instructions, lanes that differ take {} times as long as lanes that agree, so {}; with \
         arms of {long_length}, {}. {} A select, which always pays for both, takes {:.2} times as long as the branch at {SHORT} \
         instructions and {:.2} times at {long_length} where lanes agree, {:.2} times at {long_length} where they differ; {}.",
        short.divergent.against_model(),
        match short.divergent.verdict {
            Some(Verdict::Holds) => "every lane runs both arms",
            Some(Verdict::Differs) if short.divergent.value > 1.0 => "it is a real branch",
            _ => "what becomes of it cannot be said",
        },
        long.divergent.against_model(),
        match knee {
            Some(length) => format!("The first length at which agreement pays is {length} instructions an arm."),
            None => "Agreement pays at no length: this driver never branches over a straight line, it runs both arms \
                     with masks and keeps one result (loops inside arms it can skip)."
                .into(),
        },
        short.agreed.value,
        long.agreed.value,
        long.disagreed.value,
        match wins {
            Some(length) => format!("where lanes agree the branch wins from {length} instructions on"),
            None => "the branch wins at no length".into(),
        }
    );
    let series = |pick: fn(&Point) -> &Row| points.iter().map(move |p| [f64::from(p.instructions), pick(p).value]);
    let plot = line_plot(
        "Time ratios against the length of the arms",
        axis("instructions an arm", true),
        axis("time ratio", false),
        vec![
            measured("branch, lanes that differ over lanes that agree", series(|p| &p.divergent)),
            measured("select over branch, lanes agree", series(|p| &p.agreed)),
            measured("select over branch, lanes differ", series(|p| &p.disagreed)),
            predicted(
                "both arms over one",
                points.iter().map(|p| [f64::from(p.instructions), model.both_arms(p.instructions).value]),
            ),
        ],
    );
    for (quantity, length) in [("first length that branches", knee), ("first length at which the branch wins", wins)] {
        rows.push(match length {
            Some(length) => Row::count("straight arms", quantity, Unit::Steps, length),
            None => Row::not_measurable("straight arms", quantity, Unit::Steps, "no length that was tried does"),
        });
    }
    rows.extend(points.into_iter().flat_map(|point| [point.divergent, point.agreed, point.disagreed]));
    rows.push(one_sided);
    let verdict = match overall(&rows) {
        // The two rows above count nothing.
        Verdict::NotMeasurable => Verdict::Ambiguous,
        verdict => verdict,
    };
    Ok(Outcome {
        prediction: format!(
            "At {SHORT} instructions both arms are paid whoever takes them: 1.00 between lanes that differ and lanes that \
             agree. At {long_length} lanes that differ take {:.2} times as long, and so does a select.",
            model.both_arms(long_length).value
        ),
        finding,
        method: format!(
            "A loop whose condition is another random bit at each trip, with {LOOP_INSTRUCTIONS} instructions or so of its \
             own; arms are straight lines of multiply-adds and exclusive ors in turn. Bits by invocation or by workgroup, \
             from one pipeline a length. Plain times."
        ),
        verdict,
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}

/// Above this ratio of lanes that differ to lanes that agree, there is a branch: agreeing has been worth something.
const BRANCHES: f64 = 1.1;
/// Above this ratio of select to branch the branch has won by more than noise.
const WINS: f64 = 1.1;

/// Trips after which a host has computed enough to compare with.
fn most_trips(instructions: u32) -> u32 {
    (16_384 / instructions).clamp(64, super::timing::MAX_TRIPS)
}

fn plural(who: Who) -> &'static str {
    match who {
        Who::Lanes => "lanes",
        Who::Workgroups => "workgroups",
        Who::AllA => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_sides_are_what_the_host_applies() {
        let text = sides_text(3);
        for arm in 0..2 {
            for at in 0..3 {
                assert!(text.contains(&Instruction::new(arm, at).text()), "{arm} {at}");
            }
        }
        // Neither arm is a run of one kind, and they begin differently.
        assert!(matches!(
            (Instruction::new(0, 0), Instruction::new(0, 1), Instruction::new(1, 0)),
            (Instruction::MultiplyAdd(..), Instruction::Xor(_), Instruction::Xor(_))
        ));
    }
}
