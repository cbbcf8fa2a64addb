//! In which order workgroups start.

use super::kernel::{Launch, record_all};
use super::model::some_of;
use super::outcome::{Outcome, axis, control, line_plot, measured, overall, predicted};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "order",
    group: "workgroups",
    title: "In which order workgroups start",
    claim: "Workgroups start in no promised order: a ticket that each takes when it starts is not its index, and another \
            run gives other tickets.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Runs of the dispatch: each has another order.
const RUNS: usize = 5;

/// Dispatches of the control, of one workgroup each.
const ONE_BY_ONE: u32 = 64;

/// Workgroups of the dispatch, and trips of the work of each.
const GROUPS: u32 = 4096;
const TRIPS: u32 = 16;

struct Kernel {
    pipeline: wgpu::ComputePipeline,
    tickets: wgpu::Buffer,
    counter: wgpu::Buffer,
    results: wgpu::Buffer,
}

impl Kernel {
    fn launch(&self, bench: &Bench<'_>, first: u32, groups: u32) -> Result<Launch> {
        let params = bench.params(&[first, TRIPS])?;
        let buffers = [(0, &self.tickets), (1, &params), (2, &self.counter), (3, &self.results)];
        Ok(bench.launch(&self.pipeline, &buffers, groups))
    }

    /// The tickets of workgroups 0 to `groups`, all of them different.
    fn tickets(&self, bench: &Bench<'_>, launches: &[Launch], groups: u32) -> Result<Vec<u32>> {
        bench.gpu.submit(|encoder| encoder.clear_buffer(&self.counter, 0, None));
        bench.run_once(|pass| record_all(launches, pass))?;
        let tickets = bench.read_words(&self.tickets, groups)?;
        let mut sorted = tickets.clone();
        sorted.sort_unstable();
        if sorted.iter().copied().eq(0..groups) {
            return Ok(tickets);
        }
        Err(Error::new(
            ErrorKind::WrongResult,
            format!("order: {groups} workgroups did not take the tickets from 0 to {}", groups - 1),
        ))
    }
}

/// Workgroups whose ticket is not their index.
fn displaced(tickets: &[u32]) -> u32 {
    (0..).zip(tickets).filter(|(index, ticket)| index != *ticket).count() as u32
}

/// How far the ticket furthest from its index is from it.
fn furthest(tickets: &[u32]) -> u32 {
    (0u32..).zip(tickets).map(|(index, ticket)| index.abs_diff(*ticket)).max().unwrap_or(0)
}

/// Workgroups whose ticket is another one in the other run.
fn changed(tickets: &[u32], others: &[u32]) -> u32 {
    tickets.iter().zip(others).filter(|(a, b)| a != b).count() as u32
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let groups = GROUPS;
    let kernel = Kernel {
        pipeline: bench.pipeline("order", "", include_str!("../../shaders/lab/order.wgsl"))?,
        tickets: bench.words("tickets", groups)?,
        counter: bench.words("ticket counter", 1)?,
        results: bench.words("order results", groups * bench.workgroup())?,
    };
    let whole = [kernel.launch(bench, 0, groups)?];
    let runs = (0..RUNS).map(|_| kernel.tickets(bench, &whole, groups)).collect::<Result<Vec<_>>>()?;
    let first = &runs[0];
    let singly = (0..ONE_BY_ONE).map(|index| kernel.launch(bench, index, 1)).collect::<Result<Vec<_>>>()?;
    let one_by_one = kernel.tickets(bench, &singly, ONE_BY_ONE)?;
    let count = |cell: &str, quantity: &str, runs: &[u32]| Row::varying(cell, quantity, Unit::Count, runs);
    let of_each = |figure: fn(&[u32]) -> u32| runs.iter().map(|tickets| figure(tickets)).collect::<Vec<_>>();
    // One run in order says nothing: a promise cannot be seen to be missing.
    let judged = |row: Row| match row.interval[1] {
        0.0 => row.predicted(some_of(groups)).missing("all of them were in order in these runs, which is no promise"),
        _ => row.predicted(some_of(groups)),
    };
    let not_their_index = "workgroups whose ticket is not their index";
    let in_one = judged(count("one dispatch", not_their_index, &of_each(displaced)));
    let furthest = count("one dispatch", "furthest from its place", &of_each(furthest));
    let changed: Vec<_> = runs.windows(2).map(|pair| changed(&pair[0], &pair[1])).collect();
    let changed = judged(count("two runs", "workgroups with another ticket", &changed));
    let alone = count("a dispatch for each", not_their_index, &[displaced(&one_by_one)]);
    let finding = format!(
        "Of {groups} workgroups of one dispatch, {:.0} took a ticket that is not their index, the furthest {:.0} places away; \
         from one run to the next {:.0} took another ticket. {} {ONE_BY_ONE} dispatches of one workgroup each \
         started in order but for {:.0}.",
        in_one.value,
        furthest.value,
        changed.value,
        if furthest.value < f64::from(groups) / 8.0 {
            "The order is near the order of the indices, which tempts a program to rely on it; it must not."
        } else {
            "Nothing of the order of the indices is left."
        },
        alone.value
    );
    let control =
        control("dispatches of one workgroup each, judged as if they had no order", &alone, some_of(ONE_BY_ONE));
    let thinned = (0..groups).step_by(16);
    let points = thinned.clone().map(|index| [f64::from(index), f64::from(first[index as usize])]);
    let plot = line_plot(
        "Ticket against workgroup index",
        axis("workgroup index", false),
        axis("ticket", false),
        vec![
            measured("one run", points),
            predicted("in order", thinned.map(|index| [f64::from(index), f64::from(index)])),
        ],
    );
    let rows = vec![in_one, furthest, changed, alone];
    Ok(Outcome {
        prediction: format!(
            "Some of {groups} workgroups have a ticket other than their index, and another one in the next run."
        ),
        finding,
        method: format!(
            "The first lane of every workgroup takes a ticket from one atomic counter. That the tickets are those from 0 \
             on, each once, is checked. Medians of {RUNS} runs; nothing is timed."
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
    fn displaced_tickets_are_counted() {
        assert_eq!(displaced(&[0, 1, 2]), 0);
        assert_eq!(displaced(&[0, 2, 1]), 2);
        assert_eq!(furthest(&[3, 1, 2, 0]), 3);
        assert_eq!(changed(&[0, 2, 1], &[0, 1, 2]), 2);
    }
}
