//! Tuning: the sizes of plans that are fastest on this adapter.
//!
//! Two sweeps for each primitive. The first takes workgroup size and loads a lane at the default grid. The second takes
//! the winner's and varies the grid: around whole waves, which are multiples of the workgroups that the device holds at
//! once as the lab measures them, or over a few fixed grids on a CPU driver. Each candidate's result is compared with the
//! host's, item by item, before it is timed.
//!
//! The best of many medians is low by luck too, so the winner meets the default once more, in samples of their own. It is
//! taken only where it is clearly faster over all numbers of items together and loses over none of them; whatever is inside
//! the noise stays as it was.

use std::time::Instant;

use super::residency::residency;
use super::{Bench, adapter_record, seconds_since_1970};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Gpu;
use crate::measure::{
    Comparison, Contender, Effort, ITEM_ADDEND, ITEM_FACTOR, Sampler, Samples, interval, median, paired_ratio,
};
use crate::op;
use crate::primitive::{Count, Predicate, Prepared, Reduce, Scan, ScanOptions, Select, Tuning};
use crate::report::{PrimitiveTuning, SCHEMA, SizeTuning, TuningRecord};

/// What is swept: the values of each size, by effort and kind of device.
struct Sweep {
    workgroups: &'static [u32],
    rows: &'static [u32],
    /// Workgroups on a CPU driver, quarters of a wave on a GPU.
    grids: &'static [u32],
}

impl Sweep {
    fn new(effort: Effort, is_cpu: bool) -> Self {
        match (effort, is_cpu) {
            // A CPU driver builds a pipeline in a second and gains nothing from large shapes.
            (Effort::Quick, true) => Self { workgroups: &[128, 256], rows: &[2, 4, 8], grids: &[16, 256] },
            (Effort::Full, true) => {
                Self { workgroups: &[128, 256, 512], rows: &[1, 2, 4, 8, 16], grids: &[4, 16, 64, 256, 1024] }
            }
            (Effort::Quick, false) => {
                Self { workgroups: &[128, 256, 512, 1024], rows: &[2, 4, 8, 16], grids: &[2, 4, 8, 16, 32] }
            }
            (Effort::Full, false) => Self {
                workgroups: &[128, 256, 512, 1024],
                rows: &[1, 2, 4, 8, 16, 32],
                grids: &[1, 2, 4, 6, 8, 12, 16, 24, 32, 64],
            },
        }
    }
}

/// Numbers of items that a run takes unless told otherwise, as powers of two: one call that is mostly overhead, and one
/// that is mostly work.
pub fn default_sizes(gpu: &Gpu) -> [u32; 2] {
    if gpu.is_cpu() { [14, 20] } else { [20, 24] }
}

/// The largest of the sizes, as a power of two.
pub const MAX_SIZE: u32 = 28;

/// Measures the sizes of all plans over these numbers of items (powers of two: 20 is 2^20). Blocks. `progress` is told
/// what is measured next.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for no size or one above [`MAX_SIZE`], [`ErrorKind::WrongResult`] where a candidate
/// computes something else than the host, [`ErrorKind::LimitTooSmall`] for more items than one binding of the device
/// holds, and whatever keeps the device from working.
pub fn tune(gpu: &Gpu, effort: Effort, sizes: &[u32], mut progress: impl FnMut(&str)) -> Result<TuningRecord> {
    if sizes.is_empty() {
        return Err(Error::argument("sizes are tuned over at least one number of items"));
    }
    if let Some(size) = sizes.iter().find(|size| **size > MAX_SIZE) {
        return Err(Error::argument(format!("sizes are tuned over at most 2^{MAX_SIZE} items, not 2^{size}")));
    }
    let started = Instant::now();
    let created_s = seconds_since_1970();
    let sampler = Sampler::new(gpu, effort)?;
    let bench = Bench::new(gpu, &sampler, effort);
    let data = sizes.iter().map(|size| Data::new(gpu, 1 << size)).collect::<Result<Vec<_>>>()?;
    let mut primitive = |primitive: Primitive| {
        progress(primitive.name());
        primitive.tune(&bench, &data)
    };
    let (reduce, scan, select) =
        (primitive(Primitive::Reduce)?, primitive(Primitive::Scan)?, primitive(Primitive::Select)?);
    Ok(TuningRecord {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        created_s,
        adapter: adapter_record(gpu),
        effort: effort.name().into(),
        wall_s: started.elapsed().as_secs_f64(),
        reduce,
        scan,
        select,
    })
}

/// Item `i`: half of them are even in no pattern that a lane or a workgroup would share.
fn item(i: u32) -> u32 {
    let x = ITEM_FACTOR.wrapping_mul(i).wrapping_add(ITEM_ADDEND);
    (x ^ x >> 15).wrapping_mul(ITEM_FACTOR) >> 7
}

const KEPT: &str = "(x & 1u) == 0u";

/// One number of items, with the buffers that all candidates share.
struct Data {
    items: Vec<u32>,
    input: wgpu::Buffer,
    output: wgpu::Buffer,
    /// The sum, or the number of items kept.
    single: wgpu::Buffer,
}

impl Data {
    fn new(gpu: &Gpu, count: u32) -> Result<Self> {
        let items: Vec<u32> = (0..count).map(item).collect();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        Ok(Self {
            input: gpu.upload(&items, wgpu::BufferUsages::STORAGE)?,
            output: gpu.buffer("tune output", u64::from(count) * 4, usage)?,
            single: gpu.buffer("tune single", 4, usage)?,
            items,
        })
    }

    fn count(&self) -> Count<'static> {
        Count::Host(self.items.len() as u32)
    }
}

/// What a call leaves in the output and in the single word; nothing where it writes neither.
#[derive(Debug, PartialEq)]
struct Expected {
    output: Vec<u32>,
    single: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Primitive {
    Reduce,
    Scan,
    Select,
}

impl Primitive {
    fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Select => "select",
        }
    }

    fn default_tuning(self, gpu: &Gpu) -> Tuning {
        match self {
            Self::Reduce => Reduce::<u32>::default_tuning(gpu),
            Self::Scan => Scan::<u32>::default_tuning(gpu),
            Self::Select => Select::<u32>::default_tuning(gpu),
        }
    }

    fn expected(self, items: &[u32]) -> Expected {
        let mut sum = 0u32;
        match self {
            Self::Reduce => Expected { output: vec![], single: Some(items.iter().fold(0, |a, b| a.wrapping_add(*b))) },
            Self::Scan => {
                let prefix = |item: &u32| {
                    sum = sum.wrapping_add(*item);
                    sum
                };
                Expected { output: items.iter().map(prefix).collect(), single: None }
            }
            Self::Select => {
                let output: Vec<u32> = items.iter().copied().filter(|item| item % 2 == 0).collect();
                Expected { single: Some(output.len() as u32), output }
            }
        }
    }

    /// The calls of a plan of these sizes, one for each number of items.
    fn calls(self, gpu: &Gpu, tuning: Tuning, data: &[Data]) -> Result<Vec<Prepared>> {
        match self {
            Self::Reduce => {
                let plan = Reduce::<u32>::with_tuning(gpu, op::Add, tuning)?;
                let call = |d: &Data| plan.prepare(d.input.slice(..), d.single.slice(..), d.count());
                data.iter().map(call).collect()
            }
            Self::Scan => {
                let plan = Scan::<u32>::with_options(gpu, op::Add, ScanOptions::inclusive().tuning(tuning))?;
                let call = |d: &Data| plan.prepare(d.input.slice(..), d.output.slice(..), d.count());
                data.iter().map(call).collect()
            }
            Self::Select => {
                let plan = Select::<u32>::with_tuning(gpu, Predicate::wgsl(KEPT), tuning)?;
                let call =
                    |d: &Data| plan.prepare(d.input.slice(..), d.output.slice(..), d.single.slice(..), d.count());
                data.iter().map(call).collect()
            }
        }
    }

    /// Both sweeps, and the winner against the default once more.
    fn tune(self, bench: &Bench<'_>, data: &[Data]) -> Result<PrimitiveTuning> {
        let gpu = bench.gpu;
        let sweep = Sweep::new(bench.effort, gpu.is_cpu());
        let default = self.default_tuning(gpu);
        let expected: Vec<_> = data.iter().map(|data| self.expected(&data.items)).collect();
        let round = |wanted: Vec<Tuning>| -> Result<Round> {
            let mut candidates = Vec::new();
            for tuning in wanted {
                let calls = match self.calls(gpu, tuning, data) {
                    // Too large a shape for this device. Where it is the default that does not fit, nothing would.
                    Err(error) if error.kind() == ErrorKind::LimitTooSmall && tuning != default => continue,
                    calls => calls?,
                };
                for ((call, data), expected) in calls.iter().zip(data).zip(&expected) {
                    self.verify(gpu, tuning, call, data, expected)?;
                }
                candidates.push((tuning, calls));
            }
            sample(bench, candidates, data.len())
        };
        let shapes = sweep
            .workgroups
            .iter()
            .flat_map(|&workgroup| sweep.rows.iter().map(move |&rows| Tuning { workgroup, rows, ..default }));
        let first = round(distinct(default, shapes))?;
        let shaped = first.fastest();
        let grids = grids(bench, shaped, sweep.grids)?;
        let second = round(distinct(default, [shaped].into_iter().chain(grids)))?;
        let fastest = second.fastest();
        // The default and the first sweep's winner are in both.
        let candidates = first.candidates.len() + second.candidates.len() - if shaped == default { 1 } else { 2 };
        let last = round(distinct(default, [fastest]))?;
        let samples: Vec<_> = match last.candidates.as_slice() {
            [default, fastest] => {
                let pair = |(default, fastest): (&Samples, &Samples)| (default.ns.clone(), fastest.ns.clone());
                default.samples.iter().zip(&fastest.samples).map(pair).collect()
            }
            _ => vec![],
        };
        let items: Vec<_> = data.iter().map(|data| data.items.len() as u32).collect();
        Ok(judged(default, fastest, candidates, &items, &samples))
    }

    /// Runs the call over wiped buffers and compares what it leaves with the host's answer.
    fn verify(self, gpu: &Gpu, tuning: Tuning, call: &Prepared, data: &Data, expected: &Expected) -> Result<()> {
        gpu.submit(|encoder| {
            encoder.clear_buffer(&data.output, 0, None);
            encoder.clear_buffer(&data.single, 0, None);
            call.encode(encoder);
        });
        let words = |buffer: &wgpu::Buffer, count: usize| -> Result<Vec<u32>> {
            match count {
                0 => Ok(vec![]),
                _ => Ok(bytemuck::pod_collect_to_vec(&gpu.read(buffer, 0, count as u64 * 4)?)),
            }
        };
        let output = words(&data.output, expected.output.len())?;
        let single = match expected.single {
            Some(_) => words(&data.single, 1)?.first().copied(),
            None => None,
        };
        let found = Expected { output, single };
        if found == *expected {
            return Ok(());
        }
        let place = found.output.iter().zip(&expected.output).position(|(a, b)| a != b);
        let differs = match place {
            Some(at) => format!("item {at} is {:#x}, not {:#x}", found.output[at], expected.output[at]),
            None => format!("the result is {:x?}, not {:x?}", found.single, expected.single),
        };
        let (name, count) = (self.name(), data.items.len());
        Err(Error::new(ErrorKind::WrongResult, format!("{name} of {count} items with {tuning:?}: {differs}")))
    }
}

/// The default, then those of the others that are not there yet.
fn distinct(default: Tuning, others: impl IntoIterator<Item = Tuning>) -> Vec<Tuning> {
    let mut all = vec![default];
    for tuning in others {
        if !all.contains(&tuning) {
            all.push(tuning);
        }
    }
    all
}

/// This shape over other grids.
fn grids(bench: &Bench<'_>, shape: Tuning, grids: &[u32]) -> Result<Vec<Tuning>> {
    let limit = bench.gpu.limits().max_compute_workgroups_per_dimension.min(65_535);
    let groups: Vec<u32> = match residency(bench, shape.workgroup, 0)? {
        // Registers and workgroup memory may let fewer stay than the probe's workgroups: hence parts of a wave as well.
        Some(residency) => grids.iter().map(|quarters| residency.groups_per_wave * quarters / 4).collect(),
        // On a GPU whose residency does not show, around the workgroups that fill the device by default.
        None if !bench.gpu.is_cpu() => grids.iter().map(|quarters| shape.fill_groups * quarters / 4).collect(),
        None => grids.to_vec(),
    };
    Ok(groups
        .into_iter()
        .filter(|groups| (1..=limit).contains(groups))
        .flat_map(|groups| {
            // So many that share whatever there is, or so many before each takes more than one tile.
            let shared = Tuning { max_groups: groups, fill_groups: groups, tiles_per_group: 1, ..shape };
            let deepened = (groups < shape.max_groups).then(|| shape.deepened(groups, 4));
            [Some(shared), deepened].into_iter().flatten()
        })
        .collect())
}

/// One candidate's samples, for each number of items.
struct Candidate {
    tuning: Tuning,
    samples: Vec<Samples>,
}

/// Candidates that were timed against each other, the default first.
struct Round {
    candidates: Vec<Candidate>,
}

impl Round {
    fn fastest(&self) -> Tuning {
        let medians: Vec<Vec<f64>> =
            self.candidates.iter().map(|one| one.samples.iter().map(Samples::median).collect()).collect();
        self.candidates[fastest(&medians)].tuning
    }
}

/// Samples all candidates against each other, one number of items after the other.
fn sample(bench: &Bench<'_>, candidates: Vec<(Tuning, Vec<Prepared>)>, sizes: usize) -> Result<Round> {
    let mut timed: Vec<_> = candidates
        .iter()
        .map(|(tuning, _)| Candidate { tuning: *tuning, samples: Vec::with_capacity(sizes) })
        .collect();
    for size in 0..sizes {
        let contender = |(_, calls): &(_, Vec<Prepared>)| {
            let call = calls[size].clone();
            Contender::new("tune", move |pass| call.record(pass))
        };
        // One more ahead of each round, for nothing: the first pass after a pause is slower on a CPU driver.
        let contenders: Vec<_> = candidates.first().into_iter().chain(&candidates).map(contender).collect();
        let samples = bench.sampler.sample(&contenders)?;
        timed.iter_mut().zip(samples.into_iter().skip(1)).for_each(|(one, samples)| one.samples.push(samples));
    }
    Ok(Round { candidates: timed })
}

/// The candidate with the least geometric mean over the numbers of items; of equals the first.
fn fastest(medians: &[Vec<f64>]) -> usize {
    let means: Vec<f64> = medians.iter().map(|of_sizes| geometric_mean(of_sizes)).collect();
    (0..means.len()).min_by(|a, b| means[*a].total_cmp(&means[*b])).unwrap_or(0)
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The decision on the winner: `samples` are the default's and the winner's, for each number of items; none where the
/// default won.
fn judged(
    default: Tuning,
    fastest: Tuning,
    candidates: usize,
    items: &[u32],
    samples: &[(Vec<f64>, Vec<f64>)],
) -> PrimitiveTuning {
    let mut found =
        PrimitiveTuning { tuning: default, default, fastest, candidates, gain: 1.0, interval: [1.0; 2], sizes: vec![] };
    if samples.is_empty() {
        return found;
    }
    let size = |(&items, (default, fastest)): (&u32, &(Vec<f64>, Vec<f64>))| {
        let (default_ns, fastest_ns) = (median(default), median(fastest));
        let gain = default_ns / fastest_ns;
        // Of the ratios of the rounds, whose median may be another one than the medians' ratio.
        let [low, high] = interval(&paired_ratio(default, fastest));
        SizeTuning { items, default_ns, fastest_ns, gain, interval: [low.min(gain), high.max(gain)] }
    };
    found.sizes = items.iter().zip(samples).map(size).collect();
    (found.gain, found.interval) = together(&found.sizes);
    if found.comparison() == Comparison::Faster && found.loses().is_none() {
        found.tuning = fastest;
    }
    found
}

/// The geometric mean of the gains, with the interval that independent errors leave of it: in logarithms, the distances
/// to the ends of the intervals add up as squares.
fn together(sizes: &[SizeTuning]) -> (f64, [f64; 2]) {
    let gain = geometric_mean(&sizes.iter().map(|size| size.gain).collect::<Vec<_>>());
    let [low, high] = [0, 1].map(|end| {
        let squares: f64 = sizes.iter().map(|size| (size.interval[end] / size.gain).ln().powi(2)).sum();
        (squares.sqrt() / sizes.len() as f64).exp()
    });
    (gain, [gain / low, gain * high])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Tuning = Tuning::new(128, 4, 64);
    const OTHER: Tuning = Tuning::new(256, 8, 64);

    /// Seven samples around `ns` that spread by this share to either side.
    fn samples(ns: f64, share: f64) -> Vec<f64> {
        [-1.0, 0.6, -0.3, 0.0, 0.3, -0.6, 1.0].map(|at| ns * (1.0 + share * at)).into()
    }

    #[test]
    fn a_candidate_that_is_clearly_faster_is_chosen() {
        // Twice as fast over few items, as fast over many: 1.41 times in the geometric mean.
        let pairs = [(vec![200.0; 7], samples(100.0, 0.01)), (vec![900.0; 7], samples(900.0, 0.01))];
        let found = judged(DEFAULT, OTHER, 9, &[16, 64], &pairs);
        assert_eq!((found.tuning, found.candidates, found.comparison()), (OTHER, 9, Comparison::Faster));
        assert!((found.gain - 2f64.sqrt()).abs() < 1e-9, "{}", found.gain);
        assert_eq!(found.sizes.iter().map(|size| size.items).collect::<Vec<_>>(), [16, 64]);
        assert_eq!((found.sizes[0].default_ns, found.sizes[0].fastest_ns, found.sizes[0].gain), (200.0, 100.0, 2.0));
    }

    #[test]
    fn a_candidate_inside_the_noise_is_not_chosen() {
        for (gain, share) in [(1.02, 0.001), (1.2, 0.3), (1.0, 0.0), (0.5, 0.01)] {
            let found = judged(DEFAULT, OTHER, 9, &[16], &[(vec![100.0 * gain; 7], samples(100.0, share))]);
            assert_eq!((found.tuning, found.fastest), (DEFAULT, OTHER), "{gain} times, spread by {share}");
            assert!((found.gain - gain).abs() < 1e-9, "{}", found.gain);
        }
        // What one number of items gains, another loses.
        let pairs = [(vec![200.0; 7], vec![100.0; 7]), (vec![100.0; 7], vec![200.0; 7])];
        assert_eq!(judged(DEFAULT, OTHER, 9, &[16, 64], &pairs).tuning, DEFAULT);
        // What gains over all of them together may still lose over one.
        let pairs = [(vec![900.0; 7], samples(100.0, 0.01)), (vec![80.7; 7], samples(100.0, 0.01))];
        let found = judged(DEFAULT, OTHER, 9, &[16, 64], &pairs);
        assert_eq!((found.comparison(), found.tuning), (Comparison::Faster, DEFAULT));
        assert_eq!(found.loses().map(|size| size.items), Some(64));
        // A clock that does not move says nothing.
        assert_eq!(judged(DEFAULT, OTHER, 9, &[16], &[(vec![0.0; 7], vec![0.0; 7])]).tuning, DEFAULT);
    }

    #[test]
    fn a_gain_is_the_ratio_of_the_times_beside_it() {
        // Of these the median of the ratios, 2, is not the ratio of the medians.
        let pairs = [(vec![10.0, 20.0, 30.0], vec![5.0, 16.0, 15.0])];
        let SizeTuning { default_ns, fastest_ns, gain, interval, .. } =
            judged(DEFAULT, OTHER, 9, &[16], &pairs).sizes[0];
        assert_eq!((default_ns, fastest_ns, gain), (20.0, 15.0, 20.0 / 15.0));
        assert!(interval[0] <= gain && gain <= interval[1], "{interval:?}");
    }

    #[test]
    fn errors_over_several_numbers_of_items_partly_cancel() {
        let size = |gain: f64, factor: f64| SizeTuning {
            items: 1,
            default_ns: gain,
            fastest_ns: 1.0,
            gain,
            interval: [gain / factor, gain * factor],
        };
        let (gain, [low, high]) = together(&[size(3.0, 1.2)]);
        assert!([gain - 3.0, low - 2.5, high - 3.6].iter().all(|off| off.abs() < 1e-9), "{gain} {low} {high}");
        // Two errors of 20 % each: of the mean of the two, 1.2 to the power of one over the root of 2.
        let (gain, [low, high]) = together(&[size(1.0, 1.2), size(4.0, 1.2)]);
        assert!((gain - 2.0).abs() < 1e-9 && (high - 2.0 * 1.137_6).abs() < 1e-3, "{gain} {high}");
        assert!((low * high - 4.0).abs() < 1e-9, "{low}");
    }

    #[test]
    fn the_default_that_wins_stays() {
        let found = judged(DEFAULT, DEFAULT, 9, &[16], &[]);
        assert_eq!((found.tuning, found.gain, found.interval), (DEFAULT, 1.0, [1.0; 2]));
        assert!(found.sizes.is_empty());
    }

    #[test]
    fn the_fastest_has_the_least_geometric_mean() {
        // In the arithmetic mean the last would win.
        assert_eq!(fastest(&[vec![10.0, 1_000.0], vec![2.0, 1_500.0], vec![20.0, 900.0]]), 1);
        assert_eq!(fastest(&[vec![5.0], vec![5.0]]), 0);
    }

    #[test]
    fn results_by_hand() {
        let of = |primitive: Primitive| primitive.expected(&[3, 4, u32::MAX, 8]);
        assert_eq!(of(Primitive::Reduce), Expected { output: vec![], single: Some(14) });
        assert_eq!(of(Primitive::Scan), Expected { output: vec![3, 7, 6, 14], single: None });
        assert_eq!(of(Primitive::Select), Expected { output: vec![4, 8], single: Some(2) });
        // A selection keeps about half.
        let kept = (0..4_096).map(item).filter(|item| item % 2 == 0).count();
        assert!((1_900..2_200).contains(&kept), "{kept}");
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        for (sizes, says) in [(&[][..], "at least one"), (&[10, 29], "2^28 items, not 2^29")] {
            let error = tune(&gpu, Effort::Quick, sizes, |_| {}).expect_err("nothing is measured");
            assert!(error.kind() == ErrorKind::InvalidArgument && error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn a_wrong_result_is_caught() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let data = [Data::new(&gpu, 5_000).expect("a small case fits")];
        for primitive in [Primitive::Reduce, Primitive::Scan, Primitive::Select] {
            let tuning = primitive.default_tuning(&gpu);
            let calls = primitive.calls(&gpu, tuning, &data).expect("the plan is built");
            let mut expected = primitive.expected(&data[0].items);
            primitive.verify(&gpu, tuning, &calls[0], &data[0], &expected).expect("the result is right");
            match expected.output.last_mut() {
                Some(last) => *last ^= 1,
                None => expected.single = Some(0),
            }
            let error = primitive.verify(&gpu, tuning, &calls[0], &data[0], &expected).expect_err("one item is off");
            assert_eq!(error.kind(), ErrorKind::WrongResult);
            assert!(error.to_string().contains(primitive.name()), "{error}");
        }
    }
}
