//! What the end of a dispatch costs, as the only barrier between workgroups.

use super::grid::not_here;
use super::kernel::Launch;
use super::model::boundary_ns;
use super::outcome::{Outcome, bar_plot, control, overall};
use super::{Bench, Experiment, SCHEDULED, Simulated};
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Clock, Contender, Effort, Samples, slope};
use crate::report::Row;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "dispatch-boundary",
    group: "workgroups",
    title: "The end of a dispatch",
    claim: "The end of a dispatch is the only barrier between workgroups, and costs microseconds: 1.3 to 5 on one vendor \
            for a dispatch that depends on the one before it in the same pass.",
    simulated: Simulated::Nothing(SCHEDULED),
    run,
};

/// Grids: one workgroup, and one that fills a large device.
const GROUPS: [u32; 2] = [1, 1024];

/// Dispatches of the two ends of a slope, where they are cheap and where they are not.
const IN_ONE_PASS: [u32; 2] = [100, 500];
const APART: [u32; 2] = [10, 50];

/// How dispatches that cannot share a pass follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    Passes,
    Submissions,
}

/// Two timestamps that may lie in different submissions.
struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    ns_a_tick: f64,
}

impl Stamps {
    fn new(bench: &Bench<'_>) -> Result<Self> {
        let gpu = bench.gpu;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        Ok(Self {
            set: gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("dispatch-boundary"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: gpu.buffer("dispatch-boundary", 16, usage)?,
            ns_a_tick: gpu.queue().get_timestamp_period().into(),
        })
    }

    /// Runs the launch `count` times, each in a pass or a submission of its own; nanoseconds from the begin of the
    /// first to the end of the last, on the device.
    fn time(&self, bench: &Bench<'_>, launch: &Launch, count: u32, apart: Apart) -> Result<f64> {
        let record = |encoder: &mut wgpu::CommandEncoder, at: u32| {
            let (first, last) = (at == 0, at + 1 == count);
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("dispatch-boundary"),
                timestamp_writes: (first || last).then(|| wgpu::ComputePassTimestampWrites {
                    query_set: &self.set,
                    beginning_of_pass_write_index: first.then_some(0),
                    end_of_pass_write_index: last.then_some(1),
                }),
            });
            launch.record(&mut pass);
        };
        match apart {
            Apart::Passes => {
                bench.gpu.submit(|encoder| (0..count).for_each(|at| record(encoder, at)));
            }
            Apart::Submissions => {
                for at in 0..count {
                    bench.gpu.submit(|encoder| record(encoder, at));
                }
            }
        }
        bench.gpu.submit(|encoder| encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0));
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bench.gpu.read(&self.resolved, 0, 16)?);
        Ok(ticks[1].saturating_sub(ticks[0]) as f64 * self.ns_a_tick)
    }

    /// The slope over two counts, a round each.
    fn slope(&self, bench: &Bench<'_>, launch: &Launch, apart: Apart) -> Result<Samples> {
        let rounds = if bench.effort == Effort::Quick { 9 } else { 25 };
        let mut times = [vec![], vec![]];
        for _ in 0..rounds {
            for (times, count) in times.iter_mut().zip(APART) {
                times.push(self.time(bench, launch, count, apart)?);
            }
        }
        let [short, long] = times.map(|ns| Samples { ns, clock: Clock::Gpu });
        Ok(slope(&short, &long, APART[0].into(), APART[1].into()))
    }
}

/// Runs `record` over a zeroed buffer of counts and sees that each came to `count`.
fn verify(
    bench: &Bench<'_>,
    counts: &wgpu::Buffer,
    what: &str,
    count: u32,
    record: impl FnOnce() -> Result<()>,
) -> Result<()> {
    bench.gpu.submit(|encoder| encoder.clear_buffer(counts, 0, None));
    record()?;
    let words = bench.read_words(counts, bench.workgroup())?;
    match words.iter().find(|word| **word != count) {
        None => Ok(()),
        Some(word) => {
            Err(Error::new(ErrorKind::WrongResult, format!("{what}: {count} dependent dispatches counted to {word}")))
        }
    }
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let band = boundary_ns();
    let prediction = format!(
        "{:.1} to {:.1} us for each dependent dispatch in one pass; more in passes and submissions of their own.",
        band.low / 1e3,
        band.high / 1e3
    );
    let method = format!(
        "Dispatches that increment one buffer, so that each must wait for the one before: the slope between {} and {} of \
         them in one pass, {} and {} in passes or submissions of their own, by timestamps on the device. wgpu puts a \
         barrier between dispatches that write one buffer; dispatches that only read it have none.",
        IN_ONE_PASS[0], IN_ONE_PASS[1], APART[0], APART[1]
    );
    let text = include_str!("../../shaders/lab/dispatch_boundary.wgsl");
    let (increment, look) = (bench.pipeline("increment", "", text)?, bench.pipeline("look", "", text)?);
    let most = GROUPS[GROUPS.len() - 1];
    let counts = bench.words("counts", most * bench.workgroup())?;
    let words = bench.words("words", most * bench.workgroup())?;
    let dependent = GROUPS.map(|groups| bench.launch(&increment, &[(0, &counts)], groups));
    let reading = bench.launch(&look, &[(1, &words)], GROUPS[0]);
    let repeat = |launch: &Launch, count: u32, pass: &mut wgpu::ComputePass<'_>| {
        (0..count).for_each(|_| launch.record(pass));
    };
    for launch in &dependent {
        verify(bench, &counts, "in one pass", IN_ONE_PASS[0], || {
            bench.run_once(|pass| repeat(launch, IN_ONE_PASS[0], pass))
        })?;
    }
    if bench.gpu.is_cpu() {
        let reason =
            "a CPU driver has no queue on a device to drain: what a dispatch costs there is the driver's own work";
        return Ok(not_here(prediction, method, "dependent, in one pass", "time a dispatch", reason));
    }
    bench.ready()?;
    let mut contenders = Vec::new();
    for launch in dependent.iter().chain([&reading]) {
        for count in IN_ONE_PASS {
            contenders.push(Contender::new(format!("{count} dispatches"), move |pass| repeat(launch, count, pass)));
        }
    }
    let samples = bench.sampler.sample(&contenders)?;
    let slopes: Vec<_> = samples
        .chunks_exact(2)
        .map(|pair| slope(&pair[0], &pair[1], IN_ONE_PASS[0].into(), IN_ONE_PASS[1].into()))
        .collect();
    let [one, many, free] = slopes.as_slice() else {
        return Err(Error::internal("a contender was not sampled"));
    };
    let row = |cell: &str, slope: &Samples| Row::duration(cell, "time a dispatch", slope);
    let one = row("dependent, in one pass, 1 workgroup", one).predicted(band);
    let many = row(&format!("dependent, in one pass, {most} workgroups"), many).predicted(band);
    let free = row("only reading, in one pass, 1 workgroup", free);
    let mut apart_rows = Vec::new();
    let ways = [(Apart::Passes, "dependent, a pass each"), (Apart::Submissions, "dependent, a submission each")];
    for (apart, cell) in ways {
        apart_rows.push(if bench.sampler.clock() == Clock::Gpu {
            let stamps = Stamps::new(bench)?;
            verify(bench, &counts, cell, APART[0], || stamps.time(bench, &dependent[0], APART[0], apart).map(|_| ()))?;
            row(cell, &stamps.slope(bench, &dependent[0], apart)?)
        } else {
            Row::not_measurable(
                cell,
                "time a dispatch",
                crate::report::Unit::Ns,
                "the device has no timestamps to rely on",
            )
        });
    }
    let us = |row: &Row| row.value / 1e3;
    let finding = format!(
        "A dependent dispatch costs {:.2} us in one pass with one workgroup and {:.2} us with {most}; {:.1} us in a pass of \
         its own and {:.1} us in a submission of its own, where the host's recording is in it. Dispatches that only read follow each other in {:.2} us{}.",
        us(&one),
        us(&many),
        us(&apart_rows[0]),
        us(&apart_rows[1]),
        us(&free),
        if us(&free) < us(&one) / 2.0 { ": it is the waiting that costs, not the dispatch" } else { "" },
    );
    let control = control("dispatches that only read, judged as if each waited for the one before", &free, band);
    let plot_rows =
        [&one, &many, &free, &apart_rows[0], &apart_rows[1]].map(|row| Row { prediction: Some(band), ..row.clone() });
    let plot = bar_plot("Time of one more dispatch", "time (ns)", &plot_rows);
    let mut rows = vec![one, many, free];
    rows.extend(apart_rows);
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
