//! A record as tests need it: several experiments of different kinds, with names that every view must escape.

use std::collections::HashSet;

use super::*;

fn row(cell: &str, quantity: &str, unit: Unit, value: f64) -> Row {
    // Fifteen samples within 1 % of the value, in no order.
    let samples: Vec<f64> = (0..15).map(|i| value * (1.0 + f64::from(i * 7 % 15 - 7) / 700.0)).collect();
    Row {
        cell: cell.into(),
        quantity: quantity.into(),
        unit,
        value,
        interval: [value * (1.0 - 4.0 / 700.0), value * (1.0 + 4.0 / 700.0)],
        samples,
        path: "native".into(),
        checks: "trusted".into(),
        clock: "gpu".into(),
        prediction: None,
        verdict: None,
        note: None,
    }
}

fn count(cell: &str, quantity: &str, unit: Unit, value: f64) -> Row {
    Row { samples: vec![value], interval: [value; 2], clock: "none".into(), ..row(cell, quantity, unit, value) }
}

fn judged(row: Row, value: f64, verdict: Verdict) -> Row {
    let prediction = Prediction { value, low: 0.95 * value, high: 1.05 * value };
    Row { prediction: Some(prediction), verdict: Some(verdict), ..row }
}

fn axis(label: &str, log2: bool) -> Axis {
    Axis { label: label.into(), log2, categories: Vec::new() }
}

fn series(name: &str, predicted: bool, points: impl IntoIterator<Item = [f64; 2]>) -> Series {
    Series { name: name.into(), predicted, points: points.into_iter().collect() }
}

fn experiment(id: &str, group: &str, title: &str, verdict: Verdict) -> ExperimentRecord {
    ExperimentRecord {
        id: id.into(),
        group: group.into(),
        title: title.into(),
        claim: "Lanes of one subgroup that take different arms of a branch wait for each other.".into(),
        prediction: "2.00 times one arm for two arms, linear up to 32 arms.".into(),
        finding: "31.9 times one arm at 32 arms: linear within 1 %.".into(),
        verdict,
        method: "Slope over two trip counts (256 and 1,280 steps), 15 rounds, contenders interleaved; every arm timed \
                 alone first."
            .into(),
        rows: Vec::new(),
        plots: Vec::new(),
        control: None,
        reference_drift: Some(1.002),
        reference_ns: Some([500_000.0, 501_000.0]),
        wall_s: 1.73,
    }
}

/// A record of an imagined adapter.
pub(crate) fn record() -> Record {
    let arms = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let cost = |k: f64| k.min(32.0) * 0.997;
    let mut k_way = experiment("k-way", "lanes", "A switch with k arms", Verdict::Holds);
    k_way.rows = arms
        .iter()
        .flat_map(|&k| {
            let ratio = judged(row(&format!("k={k}"), "time ratio", Unit::Ratio, cost(k)), k.min(32.0), Verdict::Holds);
            [row(&format!("k={k}"), "time", Unit::Ns, 163_800.0 * cost(k)), ratio]
        })
        .collect();
    k_way.plots = vec![Plot {
        title: "Time against one arm".into(),
        kind: PlotKind::Line,
        x: axis("arms taken by one subgroup", true),
        y: axis("time, arms = 1", true),
        series: vec![
            series("predicted", true, arms.map(|k| [k, k.min(32.0)])),
            series("inside a subgroup", false, arms.map(|k| [k, cost(k)])),
            series("by subgroup", false, arms.map(|k| [k, 1.003])),
        ],
    }];
    k_way.control = Some(Control {
        what: "the same arms, all lanes in one".into(),
        prediction: Prediction { value: 32.0, low: 30.4, high: 33.6 },
        value: 1.003,
        verdict: Verdict::Differs,
    });

    let mut ladder = experiment("reduction-ladder", "primitives", "Six ways to sum", Verdict::Differs);
    ladder.claim = "Each rung of the ladder is faster than the one below it.".into();
    ladder.prediction = "Six rungs in order, the last at 95 % of the read ceiling.".into();
    ladder.finding = "Differs in one rung: the hardware already merges a subgroup's atomics to one address, so the \
                      first and the third rung are equal. The last reaches 4,523 GB/s, 99 % of the read ceiling."
        .into();
    let rungs = [
        ("one atomic an item", 164.0),
        ("workgroup tree", 856.0),
        ("subgroup + one atomic a subgroup", 164.0),
        ("subgroup + workgroup + one atomic", 912.0),
        ("8 vec4 a lane", 4_512.0),
        ("grid stride, 4 vec4 in flight", 4_523.0),
    ];
    ladder.rows =
        rungs.iter().map(|(name, gb)| row(&format!("2^28 items, {name}"), "throughput", Unit::GbPerS, *gb)).collect();
    let sizes: Vec<f64> = (10..=28).step_by(2).map(|log| f64::from(1 << log)).collect();
    ladder.plots = vec![
        Plot {
            title: "2^28 items".into(),
            kind: PlotKind::Bars,
            x: Axis { label: "rung".into(), log2: false, categories: rungs.map(|(name, _)| name.into()).to_vec() },
            y: axis("GB/s", false),
            series: vec![
                series("sum of u32", false, (0..6).map(|i| [f64::from(i), rungs[i as usize].1])),
                series("read ceiling", true, (0..6).map(|i| [f64::from(i), 4_560.0])),
            ],
        },
        Plot {
            title: "Every size".into(),
            kind: PlotKind::Line,
            x: axis("items", true),
            y: axis("GB/s", true),
            series: rungs
                .iter()
                .map(|(name, gb)| series(name, false, sizes.iter().map(|n| [*n, 4.0 * n / (5_500.0 + 4.0 * n / gb)])))
                .collect(),
        },
    ];

    let mut shuffle = experiment("shuffle", "primitives", "Registers are exchanged without memory", Verdict::Holds);
    shuffle.rows = vec![
        row("shuffle", "throughput", Unit::GopsPerS, 8_400.0),
        row("through workgroup memory", "throughput", Unit::GopsPerS, 2_000.0),
        judged(row("shuffle against memory", "throughput ratio", Unit::Ratio, 4.2), 4.0, Verdict::Holds),
    ];
    shuffle.plots = vec![Plot {
        title: "Lane-operations a second".into(),
        kind: PlotKind::Bars,
        x: Axis { label: "way".into(), log2: false, categories: vec!["shuffle".into(), "workgroup memory".into()] },
        y: axis("Gop/s", false),
        series: vec![
            series("u32", false, [[0.0, 8_400.0], [1.0, 2_000.0]]),
            series("vec4", false, [[0.0, 8_350.0], [1.0, 1_950.0]]),
        ],
    }];

    let mut lane_map = experiment("lane-map", "lanes", "Where an invocation's lane is", Verdict::Holds);
    lane_map.rows = vec![
        judged(count("100x1x1", "active lanes", Unit::Lanes, 4.0), 4.0, Verdict::Holds),
        count("5x3x2", "exceptions", Unit::Count, 0.0),
    ];
    lane_map.reference_drift = None;
    lane_map.reference_ns = None;

    let mut odd =
        experiment("a<b>&\"c\", é", "workgroups", "Names, \"quoted\" & <marked>: größer, 数", Verdict::Ambiguous);
    odd.finding = "The noise (± 12 %) hides <script>alert(1)</script>.".into();
    odd.rows = vec![
        Row { note: Some("a note, with a comma".into()), ..row("x < 3, \"y\" = 数", "latency", Unit::Ns, 35.2) },
        judged(row("line\nbreak", "share of the ceiling", Unit::Share, 0.781), 0.78, Verdict::Ambiguous),
    ];
    odd.plots = vec![Plot {
        title: "Scattered <points> & \"more\"".into(),
        kind: PlotKind::Line,
        x: axis("workgroups <n>", false),
        y: axis("ns", false),
        series: vec![
            // A point that a view cannot draw, and one alone.
            series(
                "odd & \"even\" <1>",
                false,
                [[0.0, 3.0], [132.0, 1_000.0], [264.0, f64::MAX.sqrt()], [300.0, -5.0]],
            ),
            series("alone", false, [[132.0, 40.0]]),
        ],
    }];

    let mut grid_barrier =
        experiment("grid-barrier", "workgroups", "A barrier of the whole grid", Verdict::NotMeasurable);
    grid_barrier.finding = "Not measured: opt in with --waiting.".into();
    grid_barrier.method = String::new();

    let mut guard = experiment("guard", "lanes", "A guard costs what it guards", Verdict::Failed);
    guard.finding = "the kernel of 'guard' gave 3 instead of 2 in lane 7 <of 32>".into();
    guard.rows = vec![Row {
        samples: Vec::new(),
        verdict: Some(Verdict::Failed),
        note: Some(guard.finding.clone()),
        ..count("experiment", "result", Unit::Count, 0.0)
    }];

    Record {
        schema: SCHEMA,
        version: "0.1.0".into(),
        created_s: 1_796_083_199,
        adapter: AdapterRecord {
            name: "NVIDIA H200".into(),
            backend: "vulkan".into(),
            kind: "discrete GPU".into(),
            driver: "NVIDIA 580.159".into(),
            reported_lanes: [32, 32],
            counted_lanes: 32,
            path: "native".into(),
            path_reason: "subgroups of 32 lanes were counted, as the kernels are told".into(),
            timestamp_period_ns: Some(1.0),
        },
        effort: "quick".into(),
        options: String::new(),
        wall_s: 48.23,
        experiments: vec![lane_map, k_way, shuffle, ladder, odd, grid_barrier, guard],
    }
}

/// Asserts that the ids of a page are unique, and that every link within it leads to one of them.
pub(super) fn assert_links(page: &str) {
    let ids: Vec<_> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&link), "{link}");
    }
    let unique: HashSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "an id that is there twice");
}
