//! The same masked kernel on a CPU's vectors and on the lanes of the adapter.

use std::hint::black_box;
use std::time::Instant;

use super::model::{FREE, Model, TIME};
use super::oracle::{arm_a, arm_b};
use super::outcome::{Outcome, bar_plot, control, overall};
use super::timing::{MAX_TRIPS, Pair, Trips, slopes};
use super::two_arms::{Pattern, TwoArms};
use super::{Bench, Experiment, HOST, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Clock, Effort, Samples};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "lanes-against-vectors",
    group: "workgroups",
    title: "Lanes against vectors",
    claim: "Lanes are a vector unit with masks: two arms in one vector of a CPU cost their sum, as in a subgroup, and one arm \
            where all elements agree. Scalar code pays for the arm that each element takes and for no other.",
    simulated: Simulated::Nothing(HOST),
    run,
};

/// Elements of a vector: what the widest vector units of CPUs hold of 32-bit numbers, and so a small subgroup.
const WIDTH: usize = 8;
type Vector = [u32; WIDTH];
type Mask = [bool; WIDTH];

/// `trips` steps of one arm in the elements that the mask holds, the others unchanged: how a vector unit runs a branch.
/// An arm that no element wants is skipped.
fn masked_arm(x: &mut Vector, mask: Mask, trips: u32, multiplier: u32, addend: u32, shift: u32) {
    if mask == [false; WIDTH] {
        return;
    }
    // All ones where the element takes part. Words that the compiler cannot see through: it must not make a branch of them,
    // or loops of their own for each mask.
    let keep: Vector = black_box(mask.map(|here| u32::from(here).wrapping_neg()));
    for _ in 0..trips {
        for (x, keep) in x.iter_mut().zip(keep) {
            let y = x.wrapping_mul(multiplier).wrapping_add(addend);
            let y = y ^ (y >> shift);
            *x = (y & keep) | (*x & !keep);
        }
    }
}

/// Which of the elements, `run` at a time, take arm A.
fn takes_a(index: u32, run: u32) -> bool {
    (index / run).is_multiple_of(2)
}

/// The kernel in vectors.
fn in_vectors(results: &mut [Vector], run: u32, trips: u32) {
    for (at, results) in (0u32..).step_by(WIDTH).zip(results) {
        let mut x: Vector = std::array::from_fn(|lane| at + lane as u32);
        let mask: Mask = x.map(|index| takes_a(index, run));
        masked_arm(&mut x, mask, trips, 0x9E37_79B1, 0x7F4A_7C15, 15);
        masked_arm(&mut x, mask.map(|here| !here), trips, 0x85EB_CA6B, 0xC2B2_AE35, 13);
        *results = x;
    }
}

/// The kernel an element at a time.
fn in_scalars(results: &mut [Vector], run: u32, trips: u32) {
    for (index, result) in (0u32..).zip(results.as_flattened_mut()) {
        *result = if takes_a(index, run) { arm_a(index, trips) } else { arm_b(index, trips) };
    }
}

type Kernel = fn(&mut [Vector], u32, u32);

/// Patterns: runs of elements that take the arms in turn.
const DIVERGENT: u32 = 1;
const UNIFORM: u32 = WIDTH as u32;

/// Times of one case each round, all cases in turn.
fn on_this_cpu(bench: &Bench<'_>, cases: &[(Kernel, u32)], vectors: usize, trips: u32) -> Result<Vec<Samples>> {
    let mut results = vec![[0; WIDTH]; vectors];
    for (kernel, run) in cases {
        kernel(&mut results, *run, trips);
        let expected = |index| if takes_a(index, *run) { arm_a(index, trips) } else { arm_b(index, trips) };
        // A sample: the vectors are alike.
        let words = (0u32..).zip(results.as_flattened());
        if let Some((index, got)) = words.step_by(7).find(|(index, got)| **got != expected(*index)) {
            return Err(Error::new(
                ErrorKind::WrongResult,
                format!("element {index} in runs of {run} gave {got:#010x}, not {:#010x}", expected(index)),
            ));
        }
    }
    let rounds = if bench.effort == Effort::Quick { 11 } else { 41 };
    let mut times = vec![vec![]; cases.len()];
    for _ in 0..rounds {
        for (times, (kernel, run)) in times.iter_mut().zip(cases) {
            let began = Instant::now();
            kernel(black_box(&mut results), black_box(*run), black_box(trips));
            times.push(began.elapsed().as_secs_f64() * 1e9);
        }
    }
    Ok(times.into_iter().map(|ns| Samples { ns, clock: Clock::Wall }).collect())
}

/// Trips at which the vectors take some 2 ms, the divergent ones twice that: much more than a clock's tick, and little
/// enough for several in a time slice.
fn calibrated_trips(vectors: usize) -> u32 {
    let mut results = vec![[0; WIDTH]; vectors];
    let mut shortest = |trips: u32| {
        let time = |_| {
            let began = Instant::now();
            in_vectors(black_box(&mut results), black_box(UNIFORM), black_box(trips));
            began.elapsed()
        };
        (0..3).map(time).min().unwrap_or_default()
    };
    let mut trips = 64;
    while trips < MAX_TRIPS && shortest(trips).as_micros() < 1500 {
        trips *= 2;
    }
    trips
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let lanes_model = bench.model()?;
    // The vectors run on this CPU, whatever the adapter is.
    let vectors_model = Model { lanes: WIDTH as u32, cpu: true };
    let vectors = 64;
    let cpu_trips = calibrated_trips(vectors);
    let cases: [(Kernel, u32); 4] =
        [(in_vectors, DIVERGENT), (in_vectors, UNIFORM), (in_scalars, DIVERGENT), (in_scalars, UNIFORM)];
    let on_cpu = on_this_cpu(bench, &cases, vectors, cpu_trips)?;
    let arms = TwoArms::new(bench)?;
    bench.ready()?;
    let trips = Trips::up_to(arms.calibrate(bench)?);
    let pair = |name: &str, run: u32| Pair::new(name, trips, |trips| arms.launch(bench, Pattern::runs(run, trips)));
    let lanes = lanes_model.lanes;
    let pairs = vec![pair("lanes, divergent", 1)?, pair("lanes, agreed", lanes)?];
    let lane_slopes = slopes(bench, pairs)?;
    let ([vector_divergent, vector_agreed, scalar_divergent, scalar_agreed], [lane_divergent, lane_agreed]) =
        (on_cpu.as_slice(), lane_slopes.as_slice())
    else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let names = ["vectors, divergent", "vectors, agreed", "scalars, divergent", "scalars, agreed"];
    let mut rows: Vec<_> =
        names.iter().zip(&on_cpu).map(|(name, samples)| Row::each_trip(*name, samples, cpu_trips)).collect();
    rows.push(Row::trip("lanes, divergent", &lane_divergent.trip));
    rows.push(Row::trip("lanes, agreed", &lane_agreed.trip));
    let ratio =
        |cell: String, a: &Samples, b: &Samples| Row::ratio(cell, "divergent over agreed", &a.ns, &b.ns, a.clock);
    let two = |model: Model| model.around(model.two_way(1, 1), TIME);
    let in_vectors =
        ratio(format!("vectors of {WIDTH} on this CPU"), vector_divergent, vector_agreed).predicted(two(vectors_model));
    let in_lanes = ratio(format!("lanes of the adapter, {lanes}"), &lane_divergent.trip, &lane_agreed.trip)
        .predicted(two(lanes_model));
    let in_scalars =
        ratio("scalars on this CPU".into(), scalar_divergent, scalar_agreed).predicted(vectors_model.around(1.0, FREE));
    let control = control("scalar code, judged as if its elements were in one vector", &in_scalars, two(vectors_model));
    // Steps of elements a nanosecond, each element taking one arm.
    let elements = (vectors * WIDTH) as f64 * f64::from(cpu_trips);
    let rate = |samples: &Samples| elements / samples.median();
    let lane_rate = |samples: &Samples| f64::from(bench.invocations()) / samples.median();
    let finding = format!(
        "Two arms in turn cost vectors of {WIDTH} on this CPU {} times what agreed ones cost, the {lanes} lanes of a subgroup {} \
         times, scalar code {} times. In 10^9 useful steps a second, agreed and divergent: vectors on one core {:.2} and {:.2}, \
         scalars on one core {:.2} and {:.2}, lanes on the whole adapter {:.1} and {:.1}.{}",
        in_vectors.against_model(),
        in_lanes.against_model(),
        in_scalars.against_model(),
        rate(vector_agreed),
        rate(vector_divergent),
        rate(scalar_agreed),
        rate(scalar_divergent),
        lane_rate(&lane_agreed.trip),
        lane_rate(&lane_divergent.trip),
        if cfg!(debug_assertions) {
            " This program was built without optimisation, so its rates on the CPU say nothing; the ratios do."
        } else {
            ""
        }
    );
    let plot = bar_plot("Divergent over agreed", "time ratio", [&in_vectors, &in_lanes, &in_scalars]);
    rows.extend([in_vectors, in_lanes, in_scalars]);
    Ok(Outcome {
        prediction: "2.00 in vectors and in lanes, 1.00 in scalars.".into(),
        finding,
        method: format!(
            "Two arms of dependent integer arithmetic, taken in turn by neighbouring elements or by whole vectors. On the CPU one \
             thread of plain Rust over arrays of {WIDTH}, with masks and without branches inside a vector, which the compiler \
             turns into the CPU's vector instructions; an arm that no element wants is skipped. Times of {cpu_trips} trips by the \
             host's clock; on the adapter slopes between {} and {} trips.",
            trips.short, trips.long
        ),
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
    fn vectors_and_scalars_compute_the_same() {
        for run in [1, 3, UNIFORM] {
            let (mut vectors, mut scalars) = ([[0; WIDTH]; 5], [[0; WIDTH]; 5]);
            in_vectors(&mut vectors, run, 9);
            in_scalars(&mut scalars, run, 9);
            assert_eq!(vectors, scalars, "{run}");
        }
    }
}
