//! Which lane an invocation is: counted for workgroups of one, two and three dimensions.

use super::model::{Model, exactly};
use super::outcome::{Outcome, bar_plot, control, overall};
use super::{Bench, Experiment, Simulated};
use crate::error::Result;
use crate::gpu::LaneMap;
use crate::report::{Row, Unit};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "lane-map",
    group: "lanes",
    title: "Which lane an invocation is",
    claim: "A workgroup is cut into subgroups in the order of the linear index, x fastest: subgroup = index / width, \
            lane = index mod width, and the last subgroup holds what remains.",
    simulated: Simulated::Issues,
    run,
};

/// Workgroups of one, two and three dimensions: some that every width divides, some whose last subgroup is partly
/// filled, some whose rows are no multiple of a width.
const SHAPES: [[u32; 3]; 9] =
    [[64, 1, 1], [100, 1, 1], [8, 8, 1], [16, 16, 1], [4, 16, 1], [33, 3, 1], [100, 2, 1], [5, 3, 2], [4, 4, 4]];

fn name([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => format!("{x}"),
        (_, 1) => format!("{x} x {y}"),
        _ => format!("{x} x {y} x {z}"),
    }
}

/// The share of invocations that are where the linear rule puts them.
fn linear_share(map: &LaneMap, width: u32) -> f64 {
    1.0 - map.exceptions(width).len() as f64 / map.places.len() as f64
}

fn run(bench: &Bench<'_>) -> Result<Outcome> {
    let prediction =
        |lanes: &str| format!("Every invocation of every shape is where the linear rule puts it, at {lanes} lanes.");
    let method =
        "One workgroup of each shape: every invocation asks for the local index of its subgroup's first lane, \
                  a running count and the total, which needs no built-in value. Counts; nothing is timed."
            .to_string();
    if !bench.has_subgroups() {
        let reason = bench.gpu.probe().reason();
        let row = Row::not_measurable("every shape", "invocations in linear order", Unit::Share, &reason);
        return Ok(Outcome::not_measurable(prediction("any number of"), method, vec![row], &reason));
    }
    let limits = bench.gpu.limits();
    let fits = |[x, y, z]: &[u32; 3]| {
        x * y * z <= limits.max_compute_invocations_per_workgroup
            && *x <= limits.max_compute_workgroup_size_x
            && *y <= limits.max_compute_workgroup_size_y
            && *z <= limits.max_compute_workgroup_size_z
    };
    let maps = SHAPES.iter().filter(|shape| fits(shape)).map(|shape| LaneMap::measure(bench.gpu, *shape));
    let maps = maps.collect::<Result<Vec<_>>>()?;
    // From the widest subgroup of all: a small or oddly shaped workgroup may hold none that is full.
    let lanes = maps.iter().map(LaneMap::width).max().unwrap_or(1);
    let model = Model { lanes, cpu: bench.gpu.is_cpu() };
    let mut rows = Vec::new();
    let mut linear = Vec::new();
    let mut others = Vec::new();
    for map in &maps {
        let cell = name(map.workgroup);
        let invocations = map.places.len() as u32;
        let share = linear_share(map, lanes);
        if share == 1.0 { &mut linear } else { &mut others }.push(map);
        rows.push(Row::count(&cell, "invocations in linear order", Unit::Share, share).predicted(exactly(1u32)));
        let mut firsts: Vec<_> = map.places.iter().map(|place| place[0]).collect();
        firsts.sort_unstable();
        firsts.dedup();
        rows.push(
            Row::count(&cell, "subgroups", Unit::Count, firsts.len() as u32)
                .predicted(exactly(model.subgroups(invocations))),
        );
        let last = map.places[map.places.len() - 1][2];
        rows.push(
            Row::count(&cell, "lanes of the last subgroup", Unit::Lanes, last)
                .predicted(exactly(model.last_lanes(invocations))),
        );
    }
    let names = |maps: &[&LaneMap]| maps.iter().map(|map| name(map.workgroup)).collect::<Vec<_>>().join(", ");
    let finding = if others.is_empty() {
        format!(
            "Invocations fill subgroups of {lanes} lanes in the order of the linear index in all {} shapes, of one, two \
             and three dimensions; in the workgroup of 100 the last subgroup holds {} lanes.",
            maps.len(),
            model.last_lanes(100)
        )
    } else {
        let by_row = |map: &&&LaneMap| {
            (0..).zip(&map.places).all(|(index, place)| *place == model.row_by_row(map.workgroup, index))
        };
        let rule = if others.iter().filter(by_row).count() == others.len() {
            ": there each row along x is cut into subgroups of its own, so a row that is no multiple of the width \
             leaves lanes empty in every row"
        } else {
            ""
        };
        let cpu = if bench.gpu.is_cpu() {
            " This is a driver that runs on the CPU's vector unit; GPUs were found to follow the linear order."
        } else {
            ""
        };
        format!(
            "At {lanes} lanes the linear rule holds for {}, but not for {}{rule}. A program that needs to know its lane \
             uses one-dimensional workgroups, or asks.{cpu}",
            names(&linear),
            names(&others)
        )
    };
    // A rule for twice the width puts every other full subgroup into the one before; a small workgroup may have one only.
    let wrong = maps.iter().max_by_key(|map| map.places.len()).map(|map| {
        let share = linear_share(map, 2 * lanes);
        let row = Row::count(name(map.workgroup), "invocations in linear order", Unit::Share, share);
        control("the rule for twice the width, on the largest shape", &row, exactly(1u32))
    });
    let shares = rows.iter().filter(|row| row.unit == Unit::Share);
    Ok(Outcome {
        prediction: prediction(&lanes.to_string()),
        finding,
        method,
        verdict: overall(&rows),
        plots: vec![bar_plot("Invocations where the linear rule puts them", "share", shares)],
        rows,
        control: wrong,
    })
}
