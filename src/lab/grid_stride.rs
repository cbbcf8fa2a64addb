//! Loops over more elements than the grid has invocations.

use super::kernel::{Launch, fold};
use super::memory::float_at;
use super::model::{FREE, exactly, sectors};
use super::outcome::{Outcome, bar_plot, control, overall};
use super::residency::CPU_REASON;
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::report::{Prediction, Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "grid-stride",
    group: "workgroups",
    title: "Strides of the whole grid",
    claim: "An invocation that goes on at a distance of the whole grid keeps its subgroup's accesses side by side; one \
            that takes a contiguous chunk does not. Any grid then gives the right answer, one invocation alone too, \
            while a stride of one workgroup does work again and again.",
    simulated: Simulated::Sectors,
    run,
};

/// The largest value of the elements: small whole numbers, so that the sums are exact.
const MASK: u32 = 1023;
/// Elements of the counting runs, no multiple of anything.
const COUNTED: u32 = 5_003;

/// A form of the loop.
#[derive(Clone, Copy, PartialEq)]
struct Form {
    entry: &'static str,
    name: &'static str,
}

const PLAIN: Form = Form { entry: "plain", name: "one element an invocation" };
const STRIDED: Form = Form { entry: "strided", name: "stride of the grid" };
const FOUR_WIDE: Form = Form { entry: "four_wide", name: "stride of the grid, four wide" };
const CHUNKED: Form = Form { entry: "chunked", name: "a chunk an invocation, four wide" };
const WRONG: Form = Form { entry: "workgroup_strided", name: "stride of one workgroup" };
const TIMED: [Form; 4] = [PLAIN, STRIDED, FOUR_WIDE, CHUNKED];

fn pipeline(bench: &Bench<'_>, form: Form, workgroup: u32, counts: bool) -> Result<wgpu::ComputePipeline> {
    let element = if counts {
        include_str!("../../shaders/lab/grid_stride_visits.wgsl")
    } else {
        include_str!("../../shaders/lab/grid_stride_saxpy.wgsl")
    };
    bench.pipeline_of(workgroup, form.entry, element, include_str!("../../shaders/lab/grid_stride.wgsl"))
}

/// Elements of one invocation's chunk, so that the grid covers all.
fn chunk(count: u32, invocations: u32) -> u32 {
    count.div_ceil(invocations)
}

/// How often each of [`COUNTED`] elements is visited by `groups` workgroups: the least and the most.
fn visits(bench: &Bench<'_>, form: Form, workgroup: u32, groups: u32) -> Result<[u32; 2]> {
    let pipeline = pipeline(bench, form, workgroup, true)?;
    let visits = bench.words("visits", COUNTED)?;
    let params = bench.params(&[COUNTED, chunk(COUNTED, groups * workgroup)])?;
    let launch = bench.launch(&pipeline, &[(1, &params), (4, &visits)], groups);
    bench.run_once(|pass| launch.record(pass))?;
    let visits = bench.read_words(&visits, COUNTED)?;
    Ok([visits.iter().min(), visits.iter().max()].map(|end| end.copied().unwrap_or(0)))
}

/// saxpy over all the memory that the bench allows.
struct Saxpy {
    count: u32,
    x: wgpu::Buffer,
    y: wgpu::Buffer,
    z: wgpu::Buffer,
}

impl Saxpy {
    fn new(bench: &Bench<'_>, count: u32) -> Result<Self> {
        Ok(Self {
            count,
            x: bench.filled_floats("x", count, MASK)?,
            y: bench.filled_floats("y", count, MASK / 4)?,
            z: bench.words("z", count)?,
        })
    }

    fn launch(&self, bench: &Bench<'_>, form: Form, workgroup: u32, groups: u32) -> Result<Launch> {
        let pipeline = pipeline(bench, form, workgroup, false)?;
        let invocations = u64::from(groups) * u64::from(workgroup);
        let params = bench.params(&[self.count, chunk(self.count, invocations.min(u32::MAX.into()) as u32)])?;
        let buffers = [(0, &self.z), (1, &params), (2, &self.x), (3, &self.y)];
        let limit = bench.gpu.limits().max_compute_workgroups_per_dimension;
        let launch = bench.launch_grid(&pipeline, &buffers, fold(groups, limit));
        bench.verify_stretches(
            form.name,
            &self.z,
            |pass| launch.record(pass),
            |index| (3.0 * float_at(index, MASK) + float_at(index, MASK / 4)).to_bits(),
        )?;
        Ok(launch)
    }

    /// Bytes read and written a run.
    fn bytes(&self) -> f64 {
        12.0 * f64::from(self.count)
    }
}

/// Rows of how often each form visits an element, and the mistake's, which is the control.
fn counted(bench: &Bench<'_>) -> Result<(Vec<Row>, Row, u32)> {
    let workgroup = bench.workgroup();
    let groups = 8;
    let mut rows = Vec::new();
    let mut cases: Vec<_> = TIMED.map(|form| (form, workgroup, groups)).into();
    cases[0].2 = COUNTED.div_ceil(workgroup);
    cases.push((STRIDED, 1, 1));
    cases.push((FOUR_WIDE, 1, 1));
    for (form, workgroup, groups) in cases {
        let [least, most] = visits(bench, form, workgroup, groups)?;
        let cell = format!("{}, {groups} x {workgroup}", form.name);
        rows.push(Row::count(&cell, "fewest visits of an element", Unit::Count, least).predicted(exactly(1u32)));
        rows.push(Row::count(&cell, "most visits of an element", Unit::Count, most).predicted(exactly(1u32)));
    }
    let [_, most] = visits(bench, WRONG, workgroup, groups)?;
    let cell = format!("{}, {groups} x {workgroup}", WRONG.name);
    Ok((rows, Row::count(cell, "most visits of an element", Unit::Count, most), most))
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let model = bench.model()?;
    let lanes = model.lanes;
    let side_by_side = sectors((0..lanes).map(|lane| lane * 4));
    // Chunks are longer than a sector in every timed case.
    let apart = sectors((0..lanes).map(|lane| lane * 4096));
    let worst = f64::from(apart) / f64::from(side_by_side);
    let (mut rows, wrong, most) = counted(bench)?;
    rows.push(Row::count(STRIDED.name, "sectors a subgroup access", Unit::Sectors, side_by_side));
    rows.push(Row::count(CHUNKED.name, "sectors a subgroup access", Unit::Sectors, apart));
    let ratio_cell = "a chunk an invocation, over a stride of the grid";
    let mut finding = format!(
        "Every right form visits each element once, one workgroup of one invocation too; a stride of one workgroup \
         visits some {most} times."
    );
    let saxpy = Saxpy::new(bench, bench.memory_words())?;
    let workgroup = bench.workgroup();
    // Enough to fill any GPU, few enough to leave each invocation many elements.
    let groups = if bench.gpu.is_cpu() { 8 } else { 2048 };
    let groups_of = |form: Form| if form == PLAIN { saxpy.count.div_ceil(workgroup) } else { groups };
    let mut launches = Vec::new();
    for form in TIMED {
        launches.push((form.name.to_string(), saxpy.launch(bench, form, workgroup, groups_of(form))?));
    }
    if bench.is_cpu_driver() {
        rows.push(Row::not_measurable(ratio_cell, "time ratio", Unit::Ratio, CPU_REASON));
        finding.push_str(" Which form is fastest is not measurable here: ");
        finding.push_str(CPU_REASON);
        finding.push('.');
    } else {
        bench.ready()?;
        let samples = bench.sample(&launches)?;
        let mut said = Vec::new();
        for (form, samples) in TIMED.iter().zip(&samples) {
            let share = bench.launch_share(groups_of(*form), samples)?;
            let row = Row::bytes_moved(form.name, samples, saxpy.bytes());
            said.push(format!("{} {}", form.name, row.throughput_said()));
            rows.push(Row::time(form.name, samples));
            rows.push(if share > 0.1 {
                row.noted(format!("the start of its workgroups alone takes {:.0} % of the time", 100.0 * share))
            } else {
                row
            });
        }
        if let [_, _, four, chunked] = samples.as_slice() {
            // A line that stays in the cache for the invocation's next elements saves some of the sectors, never all.
            let prediction = match bench.counts_sectors() {
                // There is no cache.
                true => model.around(worst, FREE),
                false => Prediction { value: worst, low: worst.min(2.0), high: worst.max(2.0) * 1.05 },
            };
            let row = Row::ratio(ratio_cell, "time ratio", &chunked.ns, &four.ns, four.clock).predicted(prediction);
            finding.push_str(&format!(
                " saxpy: {}. Chunks take {} times as long.",
                said.join(", "),
                row.against_model()
            ));
            rows.push(row);
        }
    }
    let visited = rows.iter().filter(|row| row.quantity == "most visits of an element").chain([&wrong]);
    let wrong_predicted = wrong.clone().predicted(exactly(1u32));
    let plot_rows: Vec<_> = visited.filter(|row| row.prediction.is_some()).cloned().chain([wrong_predicted]).collect();
    let plot = bar_plot("How often an element is visited at most", "visits", &plot_rows);
    let control =
        control("a stride of one workgroup, judged as if it visited every element once", &wrong, exactly(1u32));
    let verdict = overall(&rows);
    rows.push(wrong);
    let taken = if bench.counts_sectors() { "" } else { "up to " };
    let helped = if bench.counts_sectors() { "" } else { ", at least twice where caches help" };
    Ok(Outcome {
        prediction: format!(
            "One visit an element. A subgroup's access of {lanes} words touches {side_by_side} sectors of 32 bytes side by \
             side and {apart} in chunks, so chunks take {taken}{worst:.0} times as long{helped}."
        ),
        finding,
        method: format!(
            "Visits counted by atomics over {COUNTED} elements. saxpy over {} elements in workgroups of {workgroup}, \
             {groups} of them where the form has a loop; times are of whole passes.",
            saxpy.count
        ),
        verdict,
        rows,
        plots: vec![plot],
        control: Some(control),
    })
}
