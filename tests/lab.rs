//! Runs every experiment of the lab on the adapter that is found, and checks the form of what it records. Times are not
//! judged here: a machine that runs tests has other things to do.
#![cfg(feature = "lab")]

use std::collections::HashSet;

use wavelane::lab::{self, Progress};
use wavelane::measure::Effort;
use wavelane::report::{ExperimentRecord, Row, SCHEMA, Unit, Verdict};
use wavelane::{Adapters, ErrorKind, Gpu, requirements, wgpu};

/// The best adapter; or none, said aloud, unless `WAVELANE_REQUIRE_ADAPTER` is set: then its absence is a failure.
fn gpu() -> Option<Gpu> {
    Gpu::open().map_err(absent).ok()
}

fn absent(error: wavelane::Error) {
    assert!(std::env::var_os("WAVELANE_REQUIRE_ADAPTER").is_none(), "an adapter is required here: {error}");
    eprintln!("skipped: {error}");
}

fn assert_row(id: &str, row: &Row) {
    let what = format!("{id}, {}, {}", row.cell, row.quantity);
    if row.verdict == Some(Verdict::NotMeasurable) {
        assert!(row.note.as_ref().is_some_and(|note| !note.is_empty()), "{what}: no reason");
    } else {
        assert!(!row.samples.is_empty(), "{what}: no samples");
        assert_eq!(row.prediction.is_some(), row.verdict.is_some(), "{what}");
    }
    // Also in absent rows: JSON has no NaN.
    let figures = row.samples.iter().chain(&row.interval).chain([&row.value]);
    assert!(figures.into_iter().all(|figure| figure.is_finite()), "{what}: {row:?}");
    assert!(row.interval[0] <= row.value && row.value <= row.interval[1], "{what}: {:?}", row.interval);
    if let Some(prediction) = row.prediction {
        assert!(prediction.low <= prediction.value && prediction.value <= prediction.high, "{what}: {prediction:?}");
    }
    assert!(["native", "emulated"].contains(&&*row.path), "{what}: {}", row.path);
    assert_eq!(row.checks, "trusted", "{what}");
    let timed = matches!(row.unit, Unit::Ns | Unit::Ratio | Unit::GbPerS | Unit::GopsPerS);
    assert!(!timed || row.samples.is_empty() || row.clock != "none", "{what}: {}", row.clock);
}

fn assert_form(record: &ExperimentRecord) {
    let id = &record.id;
    assert_ne!(record.verdict, Verdict::Failed, "{id}: {}", record.finding);
    for (what, text) in [
        ("title", &record.title),
        ("claim", &record.claim),
        ("prediction", &record.prediction),
        ("finding", &record.finding),
        ("method", &record.method),
    ] {
        assert!(!text.is_empty(), "{id}: no {what}");
        assert!(!text.contains("NaN") && !text.contains("inf "), "{id}: {what}: {text}");
        assert!(!text.contains("  "), "{id}: {what} has a gap: {text}");
    }
    assert!(!record.rows.is_empty(), "{id}: no rows");
    record.rows.iter().for_each(|row| assert_row(id, row));
    let cells: HashSet<_> = record.rows.iter().map(|row| (&row.cell, &row.quantity)).collect();
    assert_eq!(cells.len(), record.rows.len(), "{id}: two rows of one cell and quantity");
    if record.verdict == Verdict::NotMeasurable {
        assert!(record.rows.iter().any(|row| row.verdict == Some(Verdict::NotMeasurable)), "{id}: no reason");
        return;
    }
    assert!(record.rows.iter().any(|row| row.verdict.is_some()), "{id}: nothing was judged");
    let control = record.control.as_ref().unwrap_or_else(|| panic!("{id}: no control"));
    assert!(!control.what.is_empty(), "{id}");
    let excused = record.verdict == Verdict::Ambiguous && record.finding.contains("negative control");
    assert!(control.verdict == Verdict::Differs || excused, "{id}: no teeth, and no word of it: {control:?}");
    assert!(!record.plots.is_empty(), "{id}: no plot");
    for plot in &record.plots {
        let points: Vec<_> = plot.series.iter().flat_map(|series| &series.points).collect();
        assert!(!points.is_empty() && points.iter().all(|[x, y]| x.is_finite() && y.is_finite()), "{id}: {plot:?}");
        for (axis, at) in [(&plot.x, 0), (&plot.y, 1)] {
            let positive = points.iter().all(|point| point[at] > 0.0);
            assert!(positive || !axis.log2, "{id}: a logarithmic axis without zero: {}", axis.label);
        }
        let bars = plot.series.iter().all(|series| series.points.len() == plot.x.categories.len());
        assert!(bars || plot.x.categories.is_empty(), "{id}: a category without a bar");
    }
}

#[test]
fn every_experiment_records_what_it_found() {
    let Some(gpu) = gpu() else { return };
    let (mut started, mut finished) = (vec![], vec![]);
    let record = lab::run(&gpu, Effort::Quick, &[] as &[&str], |progress| match progress {
        Progress::Started { experiment, done, total } => {
            assert_eq!((done, total), (started.len(), lab::experiments().len()));
            started.push(experiment.id.to_string());
        }
        Progress::Failed { experiment, error } => panic!("{}: {error}", experiment.id),
        Progress::Finished(record) => {
            println!("{}: {:?}. {}", record.id, record.verdict, record.finding);
            finished.push(record.id.clone());
        }
    })
    .expect("the lab runs on an adapter that opens");
    let ids: Vec<_> = lab::experiments().iter().map(|experiment| experiment.id).collect();
    assert_eq!(started, ids);
    assert_eq!(finished, ids);
    assert_eq!((record.schema, &*record.effort), (SCHEMA, "quick"));
    assert_eq!(record.adapter.name, gpu.info().name);
    assert_eq!(record.adapter.counted_lanes, gpu.probe().width());
    record.experiments.iter().for_each(assert_form);
    // Those that took times, that is.
    for experiment in record.experiments.iter().filter(|e| e.rows.iter().any(|row| row.clock != "none")) {
        assert!(experiment.reference_drift.is_some_and(|drift| drift > 0.0), "{}", experiment.id);
    }
    // Questions find their rows by what these are called.
    for question in lab::explain::questions() {
        for measured in question.answer(&record).measured {
            let found = measured.verdict.is_some() && !measured.text.contains("none of the rows");
            assert!(found, "{}: {measured:?}", question.id);
        }
    }
}

#[test]
fn counts_are_exact() {
    let Some(gpu) = gpu() else { return };
    let record = lab::run(&gpu, Effort::Quick, &["lane-map", "random-half"], |_| {}).expect("both run");
    let rows = record.experiments.iter().flat_map(|experiment| &experiment.rows);
    for row in rows.filter(|row| row.clock == "none" && row.verdict != Some(Verdict::NotMeasurable)) {
        assert_eq!((&*row.samples, row.interval), (&[row.value][..], [row.value; 2]), "{row:?}");
    }
    // What a random half does to the subgroups is arithmetic, whatever the times are.
    for row in record.experiments[1].rows.iter().filter(|row| matches!(row.unit, Unit::Count | Unit::Lanes)) {
        assert!(matches!(row.verdict, Some(Verdict::Holds | Verdict::NotMeasurable)), "{row:?}");
    }
}

/// Whatever the times are: every exchange is right, and the wrong lane map is not.
#[test]
fn exchanges_between_lanes_are_right() {
    let Some(gpu) = gpu() else { return };
    let primitives = lab::experiments().iter().filter(|experiment| experiment.group == "primitives");
    let ids: Vec<_> = primitives.map(|experiment| experiment.id).filter(|id| *id != "reduction-ladder").collect();
    let record = lab::run(&gpu, Effort::Quick, &ids, |_| {}).expect("they run");
    assert_eq!(record.experiments.len(), 13);
    for experiment in &record.experiments {
        let counts: Vec<_> = experiment.rows.iter().filter(|row| row.clock == "none").collect();
        assert!(counts.len() >= 4, "{}", experiment.id);
        for row in counts {
            assert!(matches!(row.verdict, Some(Verdict::Holds | Verdict::NotMeasurable)), "{}: {row:?}", experiment.id);
        }
        let control = experiment.control.as_ref().expect("a control");
        assert_eq!(control.verdict, Verdict::Differs, "{}: {control:?}", experiment.id);
    }
}

#[test]
fn ids_run_in_the_labs_order_and_unknown_ones_run_nothing() {
    let Some(gpu) = gpu() else { return };
    let record = lab::run(&gpu, Effort::Quick, &["guard", "lane-map", "guard"], |_| {}).expect("both run");
    let ids: Vec<_> = record.experiments.iter().map(|experiment| &*experiment.id).collect();
    assert_eq!(ids, ["lane-map", "guard"]);
    let mut reported = 0;
    let error = lab::run(&gpu, Effort::Quick, &["guard", "gard"], |_| reported += 1).expect_err("no such experiment");
    assert_eq!((error.kind(), reported), (ErrorKind::InvalidArgument, 0));
    assert!(error.to_string().contains("did you mean guard?"), "{error}");
}

/// Without subgroup operations the width shows by itself, and what cannot be counted says why.
#[test]
fn a_device_without_subgroups_is_measured_all_the_same() {
    let adapters = Adapters::find(None);
    let adapter = match adapters.best() {
        Ok(adapter) => adapter,
        Err(error) => return absent(error),
    };
    let needs = requirements(adapter);
    let request = adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: needs.features - wgpu::Features::SUBGROUP,
        required_limits: needs.limits,
        ..Default::default()
    });
    let (device, queue) = pollster::block_on(request).expect("fewer features than the adapter has");
    let gpu = pollster::block_on(Gpu::from_device(adapter, &device, &queue)).expect("the emulated path needs nothing");
    let ids = ["lane-map", "width", "k-way", "random-half", "remedy", "active-mask", "tree-sum", "reduction-ladder"];
    let record = lab::run(&gpu, Effort::Quick, &ids, |_| {}).expect("the lab runs without subgroups");
    record.experiments.iter().for_each(assert_form);
    let [map, width, _, random_half, _, primitives @ ..] = record.experiments.as_slice() else {
        panic!("{} experiments", record.experiments.len())
    };
    assert_eq!(map.verdict, Verdict::NotMeasurable);
    assert!(map.finding.contains("SUBGROUP"), "{}", map.finding);
    for (experiment, quantity) in [(width, "lanes a subgroup"), (random_half, "subgroups of one mind")] {
        let missing = experiment.rows.iter().find(|row| row.quantity == quantity && row.samples.is_empty());
        let note = missing.and_then(|row| row.note.as_ref()).expect("a row that says why it is absent");
        assert!(note.contains("SUBGROUP"), "{}: {note}", experiment.id);
        assert_ne!(experiment.verdict, Verdict::NotMeasurable, "{}", experiment.id);
    }
    // What is counted is right on the emulated path too, and what only the hardware could do says why it is absent.
    for experiment in primitives {
        let counted = experiment.rows.iter().filter(|row| row.clock == "none" && !row.samples.is_empty());
        for row in counted {
            assert_eq!((row.verdict, &*row.path), (Some(Verdict::Holds), "emulated"), "{}: {row:?}", experiment.id);
        }
        let missing = experiment.rows.iter().filter(|row| row.samples.is_empty());
        for row in missing {
            assert!(row.note.as_ref().is_some_and(|note| note.contains("SUBGROUP")), "{}: {row:?}", experiment.id);
        }
        assert_ne!(experiment.verdict, Verdict::NotMeasurable, "{}", experiment.id);
    }
    let knee = width.rows.iter().find(|row| row.cell == "shown by the knee").expect("the knee");
    assert!(knee.value >= 1.0 && (knee.value as u32).is_power_of_two(), "{knee:?}");
}

/// What the simulator counts in place of times.
#[cfg(feature = "simt")]
mod simulated {
    use super::*;
    use wavelane::simt::{self, SimtOptions};

    fn measured(lanes: u32, ids: &[&str]) -> Vec<ExperimentRecord> {
        let adapter = simt::adapter(&SimtOptions::default().lanes(lanes)).expect("a width that there is");
        let gpu = Gpu::options().open_adapter(&adapter).expect("the simulator opens");
        lab::run(&gpu, Effort::Quick, ids, |_| {}).expect("the lab runs on it").experiments
    }

    fn row<'a>(record: &'a ExperimentRecord, cell: &str, quantity: &str) -> &'a Row {
        let found = record.rows.iter().find(|row| row.cell == cell && row.quantity == quantity);
        found.unwrap_or_else(|| panic!("{}: no {quantity} of {cell}: {:#?}", record.id, record.rows))
    }

    /// How many sectors of 32 bytes these words lie in, a subgroup after the other.
    fn sectors(lanes: u32, words: impl Iterator<Item = u64>) -> f64 {
        let words: Vec<_> = words.collect();
        let of = |subgroup: &[u64]| subgroup.iter().map(|word| word * 4 / 32).collect::<HashSet<_>>().len();
        words.chunks(lanes as usize).map(of).sum::<usize>() as f64
    }

    fn assert_counted(record: &ExperimentRecord, clock: &str) {
        assert_eq!(record.verdict, Verdict::Holds, "{}: {} {:#?}", record.id, record.finding, record.rows);
        assert_eq!(record.control.as_ref().map(|control| control.verdict), Some(Verdict::Differs), "{}", record.id);
        let texts =
            [&record.prediction, &record.finding].into_iter().chain(record.rows.iter().map(|row| &row.quantity));
        for text in texts.chain(record.plots.iter().flat_map(|plot| [&plot.title, &plot.y.label])) {
            for word in ["times as long", "Time", "time ", "GB/s", "FLOP"] {
                assert!(!text.contains(word), "{}: '{word}' in: {text}", record.id);
            }
        }
        for row in record.rows.iter().filter(|row| row.clock != "none") {
            assert_eq!((&*row.clock, &*row.path), (clock, "simulated"), "{}: {row:?}", record.id);
            assert_ne!(row.unit, Unit::Ns, "{}: {row:?}", record.id);
        }
    }

    #[test]
    fn strides_touch_the_sectors_of_their_definition() {
        for lanes in [4, 32, 128] {
            let [record] = &measured(lanes, &["access-stride"])[..] else { panic!("one experiment") };
            assert_counted(record, "sectors");
            // 65,536 words, of which each is loaded four times, and a result of each of 2,048 invocations.
            let words = 1 << 16;
            let results = sectors(lanes, 0..2048);
            for stride in [1, 2, 4, 8, 16, 32] {
                // A round begins one word later whenever it has gone through the buffer.
                let loads = sectors(lanes, (0..words).map(|at| at * stride % words + at * stride / words));
                let cell = format!("stride {stride}, from memory");
                assert_eq!(
                    row(record, &cell, "sectors").value,
                    4.0 * loads + results,
                    "{lanes} lanes, stride {stride}"
                );
                let (one, expected) = (sectors(lanes, 0..words), f64::from(lanes.min(8).min(stride as u32)));
                let ratio = row(record, &cell, "sectors over stride 1").value;
                assert!(
                    (ratio / (loads / one) - 1.0).abs() < 0.05 && ratio <= expected,
                    "{lanes} lanes, {stride}: {ratio}"
                );
            }
        }
    }

    #[test]
    fn chunks_touch_a_sector_a_lane() {
        for lanes in [8, 32, 128] {
            let [record] = &measured(lanes, &["grid-stride"])[..] else { panic!("one experiment") };
            assert_counted(record, "sectors");
            // Two loads and a store of each of 65,536 elements; a chunk is 32 of them.
            let words = 1 << 16;
            let together = 3.0 * sectors(lanes, 0..words);
            let apart = 3.0 * sectors(lanes, (0..32).flat_map(|k| (0..2048).map(move |at| at * 32 + k)));
            assert_eq!(row(record, "stride of the grid", "sectors").value, together, "{lanes} lanes");
            assert_eq!(row(record, "a chunk an invocation, four wide", "sectors").value, apart, "{lanes} lanes");
            let ratio = row(record, "a chunk an invocation, over a stride of the grid", "sector ratio");
            assert_eq!(ratio.value, 8.0, "{lanes} lanes");
            assert_eq!(row(record, "stride of the grid", "bytes a sector").value, 32.0);
        }
    }

    #[test]
    fn tiles_touch_the_sectors_of_their_rows() {
        for lanes in [8, 64] {
            let [record] = &measured(lanes, &["tile-shape"])[..] else { panic!("one experiment") };
            assert_counted(record, "sectors");
            // 256 x 2,048 pixels, rows 320 words apart; a square of 3 x 3 is loaded and its middle stored.
            let touched = |[width, height]: [u64; 2]| -> f64 {
                let offsets = (0..3u64).flat_map(|y| (0..3).map(move |x| y * 320 + x)).chain([321]);
                // Every row of tiles touches as many: 320 words are whole sectors.
                let (tiles, rows) = ((0..256 / width).map(|x| [x * width, 0]), (2048 / height) as f64);
                let of_tile = |[left, top]: [u64; 2], offset: u64| {
                    let places = (0..height).flat_map(|y| (0..width).map(move |x| (top + y) * 320 + left + x + offset));
                    sectors(lanes, places)
                };
                offsets.map(|offset| tiles.clone().map(|tile| of_tile(tile, offset)).sum::<f64>() * rows).sum()
            };
            for shape @ [x, y] in [[32, 8], [16, 16], [1, 256]] {
                let cell = format!("sum of 3 x 3, {x} x {y}");
                assert_eq!(row(record, &cell, "sectors").value, touched(shape), "{lanes} lanes, {shape:?}");
            }
        }
    }

    /// Of the others the claim is one of loads: by instructions, or by what a tile spares.
    #[test]
    fn loads_are_spared_by_registers_and_by_tiles() {
        for lanes in [8, 64] {
            let [product, stencil] = &measured(lanes, &["register-tile", "stencil"])[..] else { panic!("two") };
            assert_counted(product, "issues");
            assert_counted(stencil, "sectors");
        }
    }

    #[test]
    fn what_rests_on_time_says_so() {
        let ids = ["memory-ladder", "coarsening", "workgroup-sweep", "predication", "lanes-against-vectors"];
        let mut records = measured(8, &ids);
        records.sort_by_key(|record| ids.iter().position(|id| *id == record.id));
        for (record, reason) in records.iter().zip(["memory", "memory", "at once", "driver", "vectors"]) {
            assert_eq!(record.verdict, Verdict::NotMeasurable, "{}", record.id);
            assert!(record.finding.contains(reason), "{}: {}", record.id, record.finding);
        }
    }
}
