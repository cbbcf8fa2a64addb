//! Exchanges between the lanes of a subgroup: whether they are right, and what they cost beside the same exchange
//! through workgroup memory. One implementation for all of them, driven by a [table].

mod contest;
mod oracle;
mod table;

use self::contest::{Kernel, Load, WORKGROUP};
use self::oracle::{Divergence, Oracle};
use self::table::{PRIMITIVES, Primitive};
use super::model::{Model, exactly};
use super::outcome::{Outcome, control, overall, said};
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::gpu::{Gpu, SubgroupPath};
use crate::report::{Control, Row, Unit};

pub(super) use self::contest::{Contest, Times, library};
pub(super) use self::table::{BUILT_IN_U32, Form, SERIAL_U32, TREE_U32};

const fn experiment(
    id: &'static str,
    title: &'static str,
    claim: &'static str,
    run: fn(&Bench<'_>) -> Result<Outcome>,
) -> Experiment {
    Experiment { id, group: "primitives", title, claim, simulated: Simulated::Issues, run }
}

pub(super) const SHUFFLE: Experiment = experiment(
    "shuffle",
    "Shuffle: a value from any lane",
    "A lane can read a register of any other lane of its subgroup, without memory and without a barrier, faster than \
     through workgroup memory.",
    |bench| run(bench, &table::SHUFFLE),
);
pub(super) const SHUFFLE_UP: Experiment = experiment(
    "shuffle-up",
    "Shuffle up: a value from a lower lane",
    "A lane can read a register of the lane a fixed distance below it without memory and without a barrier: the step \
     that running sums are made of.",
    |bench| run(bench, &table::SHUFFLE_UP),
);
pub(super) const SHUFFLE_DOWN: Experiment = experiment(
    "shuffle-down",
    "Shuffle down: a value from a higher lane",
    "A lane can read a register of the lane a fixed distance above it without memory and without a barrier: the step \
     that sums are made of.",
    |bench| run(bench, &table::SHUFFLE_DOWN),
);
pub(super) const SHUFFLE_XOR: Experiment = experiment(
    "shuffle-xor",
    "Shuffle xor: lanes swap in pairs",
    "Lanes whose numbers differ in chosen bits can swap registers without memory and without a barrier: the step of a \
     butterfly.",
    |bench| run(bench, &table::SHUFFLE_XOR),
);
pub(super) const BROADCAST: Experiment = experiment(
    "broadcast",
    "Broadcast: one lane's value in all",
    "All lanes of a subgroup can read a register of one of them without memory and without a barrier.",
    |bench| run(bench, &table::BROADCAST),
);
pub(super) const BALLOT: Experiment = experiment(
    "ballot",
    "Ballot: one bit of every lane",
    "Every lane learns in one operation how each lane of its subgroup votes, as a mask with a bit a lane, without \
     memory and without a barrier.",
    |bench| run(bench, &table::BALLOT),
);
pub(super) const ALL: Experiment = experiment(
    "all",
    "Vote: whether all lanes agree",
    "Every lane learns in one operation whether a condition holds in all lanes of its subgroup, without memory and \
     without a barrier.",
    |bench| run(bench, &table::ALL),
);
pub(super) const ANY: Experiment = experiment(
    "any",
    "Vote: whether any lane agrees",
    "Every lane learns in one operation whether a condition holds in any lane of its subgroup, without memory and \
     without a barrier.",
    |bench| run(bench, &table::ANY),
);
pub(super) const ACTIVE_MASK: Experiment = experiment(
    "active-mask",
    "Active mask: which lanes are here",
    "Inside a branch a lane can learn which lanes of its subgroup took the same branch: there is no mask argument, those \
     who take part in an operation are the lanes that reach it.",
    |bench| run(bench, &table::ACTIVE_MASK),
);
pub(super) const MATCH_ANY: Experiment = experiment(
    "match-any",
    "Match: which lanes hold the same value",
    "Lanes can find those of their subgroup that hold the same 32-bit value by one ballot a bit, without memory and \
     without a barrier, faster than by comparing all values in workgroup memory.",
    |bench| run(bench, &table::MATCH_ANY),
);
pub(super) const REDUCE: Experiment = experiment(
    "reduce",
    "Reduce: the sum over all lanes",
    "The sum over a subgroup takes no memory and no barrier. For integers the built-in sum is one operation and beats a \
     tree of shuffles; for floats the tree does as well.",
    |bench| run(bench, &table::REDUCE),
);
pub(super) const SCANS: Experiment = experiment(
    "scans",
    "Scans: running sums over the lanes",
    "Running sums over a subgroup take no memory and no barrier, and log2(width) shuffles written by hand beat the \
     built-in scans.",
    |bench| run(bench, &table::SCANS),
);

/// Workgroups of a check.
const CHECKED_GROUPS: u32 = 4;
/// Invocations of a workgroup whose last subgroup is partly filled at every width above 4.
const PARTIAL: u32 = 100;
/// Trips of the loop that is checked: 24 exchanges, one after the other.
const CHECKED_TRIPS: u32 = 3;

/// Distances, masks and lanes of a check.
fn arguments(lanes: u32) -> Vec<u32> {
    let mut arguments = vec![1, 2, lanes / 2, lanes - 1];
    arguments.sort_unstable();
    arguments.dedup();
    arguments
}

/// Values of one case, and how many of them are right.
struct Counted {
    cell: String,
    path: SubgroupPath,
    right: u32,
    values: u32,
    /// How many would be right if the lanes were as [`oracle::moved`] has them.
    right_if_moved: u32,
}

impl Counted {
    /// Runs the kernel with each argument and compares all its results with what `expected` says of the invocations of
    /// a subgroup, in lane order, and the argument.
    fn new(
        bench: &Bench<'_>,
        cell: String,
        gpu: &Gpu,
        kernel: &Kernel,
        params: impl Fn(u32) -> [u32; 4],
        expected: impl Fn(&[u32], u32) -> Vec<u32>,
    ) -> Result<Self> {
        let mut counted = Self { cell, path: gpu.path(), right: 0, values: 0, right_if_moved: 0 };
        for argument in arguments(gpu.lanes()) {
            let launch = kernel.launch(bench, params(argument))?;
            bench.run_once(|pass| launch.record(pass))?;
            for workgroup in kernel.read(bench, 0)? {
                let expected = |indices: &[u32]| expected(indices, argument);
                counted.values += workgroup.places.len() as u32;
                counted.right += workgroup.right(&workgroup.places, expected)?;
                counted.right_if_moved += workgroup.right(&oracle::moved(&workgroup.places), expected)?;
            }
        }
        Ok(counted)
    }

    fn row(&self) -> Row {
        Row::count(&self.cell, "values right", Unit::Count, self.right).predicted(exactly(self.values)).on(self.path)
    }
}

/// Every case once more, judged with a lane map that is wrong.
fn wrong_map(counted: &[Counted]) -> Control {
    let sum = |count: fn(&Counted) -> u32| counted.iter().map(count).sum::<u32>();
    let row = Row::count("all cases", "values right", Unit::Count, sum(|counted| counted.right_if_moved));
    let values = exactly(sum(|counted| counted.values));
    control(
        "every invocation taken for its neighbour and the last one for a subgroup, judged as if they were not",
        &row,
        values,
    )
}

/// Counts right values in uniform control flow, through the library's blocks on the path of the device.
fn count_in_uniform_flow(bench: &Bench<'_>, primitive: &Primitive) -> Result<Vec<Counted>> {
    let gpu = bench.gpu;
    let count = |workgroup: u32| {
        let kernel = Kernel::new(bench, gpu, primitive.blocks, workgroup, CHECKED_GROUPS)?;
        let expected =
            |indices: &[u32], argument| oracle::exchanges(primitive.blocks.oracle, indices, CHECKED_TRIPS, argument);
        let cell = match workgroup % gpu.lanes() {
            0 => format!("workgroups of {workgroup}, full subgroups"),
            rest => format!("workgroups of {workgroup}, the last subgroup with {rest} of {} lanes", gpu.lanes()),
        };
        Counted::new(bench, cell, gpu, &kernel, |argument| [CHECKED_TRIPS, argument, 0, 0], expected)
    };
    [WORKGROUP, PARTIAL].into_iter().map(count).collect()
}

/// Counts right values under divergence, in native kernels; none without subgroups.
fn count_under_divergence(bench: &Bench<'_>, primitive: &Primitive) -> Result<Vec<Counted>> {
    let Ok(native) = bench.gpu.with_path(SubgroupPath::Native) else { return Ok(vec![]) };
    let cases = (0..).zip(PRIMITIVES).map(|(number, of)| format!("const {} = {number}u;\n", of.active.name));
    let text = format!(
        "{}\n{}const BRANCH = {}u;\n{}\n{}\nfn exchange(x: u32, source: u32) -> u32 {{\n  return x;\n}}\n",
        library(&native, PARTIAL)?,
        cases.collect::<String>(),
        Divergence::Branch.number(),
        include_str!("../../../shaders/lab/exchange.wgsl"),
        include_str!("../../../shaders/lab/exchange_active.wgsl"),
    );
    let kernel = Kernel::from_text(bench, &text, "exchanges_active", PARTIAL, CHECKED_GROUPS)?;
    let number = PRIMITIVES.iter().position(|of| of.active.name == primitive.active.name).unwrap_or_default() as u32;
    let count = |divergence: Divergence| {
        let oracle: Oracle = primitive.active.oracle;
        let expected = |indices: &[u32], argument| divergence.exchanges(oracle, indices, argument);
        let params = |argument| [0, argument, number, divergence.number()];
        Counted::new(bench, divergence.name().into(), &native, &kernel, params, expected)
    };
    Divergence::ALL.into_iter().map(count).collect()
}

/// What is predicted of times: of an exchange, and of one that the library can do in several ways.
const NO_SLOWER: &str = "; and registers are no slower than workgroup memory with its barriers, with one subgroup alone and \
                         on the full device.";
const NO_SLOWER_BY_CHOICE: &str = "; and registers are no slower than workgroup memory with its barriers, with one subgroup \
                                   alone and on the full device. What the library chooses (see the ratios) is no slower \
                                   than its alternative.";

fn run(bench: &Bench<'_>, primitive: &Primitive) -> Result<Outcome> {
    let contest = Contest::new(bench, primitive.forms)?;
    let mut counted = count_in_uniform_flow(bench, primitive)?;
    counted.extend(count_under_divergence(bench, primitive)?);
    bench.ready()?;
    // How many instructions an exchange is, is the hardware's own: the simulator has values only to say.
    let times = if bench.gpu.is_simulated() { None } else { Some(contest.times(bench)?) };
    let mut rows: Vec<_> = counted.iter().map(Counted::row).collect();
    if !counted.iter().any(|counted| counted.cell == Divergence::Branch.name()) {
        let reason = bench.gpu.probe().reason();
        let missing = |of: Divergence| Row::not_measurable(of.name(), "values right", Unit::Count, &reason);
        rows.extend(Divergence::ALL.map(missing));
    }
    rows.extend(times.iter().flat_map(|times| times.rows(primitive.no_slower)));
    let Model { lanes, .. } = contest.model;
    Ok(Outcome {
        prediction: format!(
            "Every value right, at {lanes} lanes{}",
            match (&times, primitive.no_slower.len()) {
                (None, _) => ".",
                (Some(_), 1) => NO_SLOWER,
                (Some(_), _) => NO_SLOWER_BY_CHOICE,
            }
        ),
        finding: match &times {
            Some(times) => format!("{} {}", count_finding(&counted), time_finding(bench, primitive, times)),
            None => format!("{} How fast is the hardware's own, and not counted here.", count_finding(&counted)),
        },
        method: format!(
            "Right: {} exchanges in a row in each invocation, compared with a host that is told the lane of every \
             invocation; under divergence those take part who reach the operation. Fast: a loop of 8 exchanges, each \
             fed by the last result and, in turn, a sum or an exclusive or with a word of the lane's own; slopes over \
             two trip counts, which are verified. Throughput: {} workgroups of {WORKGROUP}, the plain instruction \
             between two exchanges included; latency: one workgroup of one subgroup, that instruction subtracted; \
             ratios are of whole loops. Through memory: every lane stores, all meet at a barrier, each loads, all meet \
             again; the same result.",
            8 * CHECKED_TRIPS,
            contest.full_groups(),
        ),
        verdict: overall(&rows),
        plots: times.map_or_else(Vec::new, |times| times.plots()),
        rows,
        control: Some(wrong_map(&counted)),
    })
}

/// What the counts of right values come to.
fn count_finding(counted: &[Counted]) -> String {
    let sum = |count: fn(&Counted) -> u32| counted.iter().map(count).sum::<u32>();
    let (right, values) = (sum(|counted| counted.right), sum(|counted| counted.values));
    let under_divergence = match counted.iter().any(|counted| counted.cell == Divergence::Branch.name()) {
        true => ", and where only some lanes take part (under an if on data, and in loops of different lengths)",
        false => "",
    };
    if right == values {
        return format!("All {values} values are right, in full and in partly filled subgroups{under_divergence}.");
    }
    let wrong = counted.iter().filter(|counted| counted.right < counted.values);
    let wrong =
        wrong.map(|counted| format!("{} of {} {}", counted.values - counted.right, counted.values, counted.cell));
    format!("Values are wrong: {}.", wrong.collect::<Vec<_>>().join(", "))
}

/// What the times come to.
fn time_finding(bench: &Bench<'_>, primitive: &Primitive, times: &Times<'_>) -> String {
    let memory = primitive.no_slower[0][1];
    let ns = |form| said(&times.latency(form), "ns");
    let rate = |form| said(&times.throughput(form), "x 10^9");
    if let Some(reason) = times.missing() {
        return format!(
            "Subgroup operations cannot be timed here: {reason}. Through workgroup memory, with its barriers, it takes {} \
             with one subgroup's worth of lanes alone, and the full device does {} lane-operations a second.",
            ns(memory),
            rate(memory),
        );
    }
    let [full, alone] = Load::ALL.map(|load| said(&times.ratio([memory, 0], load), "times"));
    let mut finding = format!(
        "{} takes {}, and the full device does {} lane-operations a second. Through workgroup memory, with its barriers, \
         that is {} and {}: the whole loop takes {alone} as long with one subgroup alone, {full} on the full device.",
        capital(primitive.noun),
        ns(0),
        rate(0),
        ns(memory),
        rate(memory),
    );
    for &[chosen, other] in &primitive.no_slower[1..] {
        finding.push_str(&format!(
            " {} against {}: {} against {} lane-operations a second, {} against {}.",
            capital(primitive.forms[chosen].name),
            primitive.forms[other].name,
            rate(chosen),
            rate(other),
            ns(chosen),
            ns(other),
        ));
    }
    if bench.gpu.is_cpu() {
        finding.push_str(
            " On this CPU driver the lanes are elements of vector registers, and at a barrier the worker thread switches to \
             the next subgroup.",
        );
        if primitive.no_slower.len() > 2 {
            finding.push_str(" Its built-in sums go lane by lane.");
        }
    }
    finding
}

fn capital(name: &str) -> String {
    let mut name = name.to_string();
    name[..1].make_ascii_uppercase();
    name
}
