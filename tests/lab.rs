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
