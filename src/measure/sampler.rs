//! Taking samples.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::statistics::{Samples, is_stable, median};
use super::timer::{Clock, Timer};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Gpu;
use crate::shader::Checks;

/// How much time a run may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effort {
    /// The least that gives a stable median: all experiments together in under a minute on a GPU.
    #[default]
    Quick,
    /// Full sweeps and more samples.
    Full,
}

impl Effort {
    /// `quick` or `full`, as written in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }

    /// The fewest and the most rounds of a call, and the time after which it stops between them.
    fn rounds(self, gpu: &Gpu) -> (usize, usize, Duration) {
        let ms = Duration::from_millis;
        match (self, gpu.is_cpu()) {
            // Every round would count the same.
            _ if gpu.is_simulated() => (1, 1, Duration::ZERO),
            (Self::Quick, false) => (7, 15, ms(400)),
            (Self::Quick, true) => (7, 15, ms(1_200)),
            (Self::Full, false) => (15, 101, ms(2_000)),
            (Self::Full, true) => (15, 101, ms(4_000)),
        }
    }
}

/// One of the things that are timed against each other.
pub struct Contender<'a> {
    name: String,
    before: Option<Box<Before<'a>>>,
    record: Box<Record<'a>>,
}

type Before<'a> = dyn Fn(&mut wgpu::CommandEncoder) + 'a;
type Record<'a> = dyn Fn(&mut wgpu::ComputePass<'_>) + 'a;

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Contender<'a> {
    /// What `record` records into an open pass is timed.
    pub fn new(name: impl Into<String>, record: impl Fn(&mut wgpu::ComputePass<'_>) + 'a) -> Self {
        Self { name: name.into(), before: None, record: Box::new(record) }
    }

    /// Runs before each sample, outside what is timed: to reset state.
    #[must_use]
    pub fn before(self, before: impl Fn(&mut wgpu::CommandEncoder) + 'a) -> Self {
        Self { before: Some(Box::new(before)), ..self }
    }

    /// The name, which is also the label of its passes.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn prepare(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(before) = &self.before {
            before(encoder);
        }
    }

    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        (self.record)(pass);
    }
}

/// Takes samples on one device.
///
/// Build every pipeline of an experiment first: compiling is idleness for the device, and an idle GPU needs most of a
/// second of load to come back to its full clock. The calls that time warm the device up again where their last work
/// is more than a second ago.
#[derive(Debug)]
pub struct Sampler {
    gpu: Gpu,
    effort: Effort,
    timer: Timer,
    load: Load,
    empty: wgpu::ComputePipeline,
    empty_pass_ns: OnceLock<f64>,
    launches: OnceLock<Samples>,
    /// When the device was last known to be at work.
    worked: Mutex<Option<Instant>>,
    /// The least that the reference kernel ever took: its time at the device's full clock.
    full_clock_ns: Mutex<f64>,
}

/// After this much idleness a GPU has lowered its clock (one kept it for 1.5 s, none is known to do so for less).
const IDLE: Duration = Duration::from_secs(1);
/// Runs of the reference kernel a reading.
const REFERENCE_RUNS: usize = 7;
/// How much longer than ever before the reference kernel may take before the clock counts as lowered.
const LOWERED: f64 = 1.02;
/// Invocations a workgroup of the kernels here.
const WORKGROUP: u32 = 256;

impl Sampler {
    /// A sampler on this device; builds its load and reference kernels.
    ///
    /// # Errors
    /// Where the device has no memory for them, or does not run them; [`ErrorKind::MissingFeature`] for a simulated device
    /// that was made without timestamps, which are its counts.
    pub fn new(gpu: &Gpu, effort: Effort) -> Result<Self> {
        if gpu.is_simulated() && !gpu.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Err(Error::new(
                ErrorKind::MissingFeature,
                "the simulator counts by timestamps: its device needs the feature TIMESTAMP_QUERY",
            ));
        }
        let load = Load::new(gpu)?;
        let empty = gpu.pipeline(
            "empty",
            &format!("const WORKGROUP = {}u;\n{}", load.workgroup, include_str!("../../shaders/measure/empty.wgsl")),
            "empty",
            Checks::Trusted,
        )?;
        let timer = Timer::new(gpu, &load.contender())?;
        Ok(Self {
            gpu: gpu.clone(),
            effort,
            timer,
            load,
            empty,
            empty_pass_ns: OnceLock::new(),
            launches: OnceLock::new(),
            worked: Mutex::new(None),
            full_clock_ns: Mutex::new(f64::INFINITY),
        })
    }

    /// The same, with this count in place of times where the device is simulated: issues unless said here, or sectors.
    pub(crate) fn counting(self, counted: Clock) -> Self {
        Self { timer: self.timer.counting(counted), ..self }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// How much time the calls may take.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Where times come from on this device, as far as is known: [`Clock::Wall`] where it has no timestamps, or has
    /// shown some that are zero or go backward.
    pub fn clock(&self) -> Clock {
        self.timer.clock()
    }

    /// Puts a full load on the device until its clock is steady: at least a second on a GPU.
    ///
    /// On a GPU the load goes on, up to three seconds, until two quarters of a second in a row agree within 2 %. A CPU
    /// driver gets a short load only, for its worker threads.
    ///
    /// # Errors
    /// As everything that waits for the device: a time-out, or a lost device.
    pub fn warm_up(&self) -> Result<()> {
        let (window, least, most) = match self.gpu.is_cpu() {
            true => (Duration::from_millis(150), 1, 1),
            false => (Duration::from_millis(250), 4, 12),
        };
        let mut dispatches = 1;
        let mut last_ns = f64::INFINITY;
        for windows in 1.. {
            let began = Instant::now();
            let mut done = 0u32;
            while began.elapsed() < window {
                let submitted = Instant::now();
                self.gpu.submit(|encoder| {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    (0..dispatches).for_each(|_| self.load.record(&mut pass));
                });
                self.gpu.wait()?;
                done += dispatches;
                // Submissions long enough that the gaps between them are nothing, short enough to end in time.
                if submitted.elapsed() < window / 20 {
                    dispatches *= 2;
                }
            }
            let ns = began.elapsed().as_secs_f64() * 1e9 / f64::from(done);
            let steady = (ns / last_ns - 1.0).abs() < 0.02;
            last_ns = ns;
            if windows >= most || (windows >= least && steady) {
                break;
            }
        }
        self.note_work();
        Ok(())
    }

    /// Samples each contender until the medians are stable or the effort's time is spent, taking turns round by
    /// round. One run of each goes before, unsampled. The answer has the contenders' order.
    ///
    /// All times are from one clock. Where the device's timestamps prove useless on the way, all is sampled again by
    /// the wall clock.
    ///
    /// # Errors
    /// As everything that waits for the device: a time-out, or a lost device.
    ///
    /// A GPU that was given little to do (one subgroup alone, say) lowers its clock as an idle one does. So the
    /// reference kernel is asked before and after: a lowered clock is warmed up again, and what was sampled on the way
    /// down is sampled once more.
    pub fn sample(&self, contenders: &[Contender<'_>]) -> Result<Vec<Samples>> {
        self.restore_clock()?;
        let samples = self.sample_now(contenders)?;
        match self.restore_clock()? {
            true => self.sample_now(contenders),
            false => Ok(samples),
        }
    }

    fn sample_now(&self, contenders: &[Contender<'_>]) -> Result<Vec<Samples>> {
        let (least, most, budget) = self.effort.rounds(&self.gpu);
        // The simulator has nothing that a first run would warm up.
        let clock = if self.gpu.is_simulated() { self.clock() } else { self.timer.time(contenders)?.0 };
        let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(most); contenders.len()];
        let began = Instant::now();
        for round in 1.. {
            let (now, round_times) = self.timer.time(contenders)?;
            if now != clock {
                return self.sample_now(contenders);
            }
            times.iter_mut().zip(round_times).for_each(|(times, ns)| times.push(ns));
            if round >= most || (round >= least && (began.elapsed() >= budget || times.iter().all(|t| is_stable(t)))) {
                break;
            }
        }
        self.note_work();
        Ok(times.into_iter().map(|ns| Samples { ns, clock }).collect())
    }

    /// Nanoseconds of the fixed reference kernel now: to be compared at both ends of an experiment.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn reference_ns(&self) -> Result<f64> {
        self.restore_clock()?;
        self.reference_now()
    }

    fn reference_now(&self) -> Result<f64> {
        let runs: Vec<Contender<'_>> = (0..REFERENCE_RUNS).map(|_| self.load.contender()).collect();
        let (_, times) = self.timer.time(&runs)?;
        self.note_work();
        Ok(median(&times))
    }

    /// Nanoseconds that a pass of one empty workgroup reads: what every time here contains besides the work. Measured
    /// once.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn empty_pass_ns(&self) -> Result<f64> {
        if let Some(ns) = self.empty_pass_ns.get() {
            return Ok(*ns);
        }
        let samples = self.sample(&[self.empty_pass(1)])?;
        Ok(*self.empty_pass_ns.get_or_init(|| samples[0].median()))
    }

    /// Nanoseconds that the start of one workgroup of 256 takes, however little it does: a kernel of many short
    /// workgroups measures this. The slope over two grids of empty workgroups, measured once; never below 0.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn launch_ns_per_workgroup(&self) -> Result<f64> {
        // An empty workgroup issues next to nothing there, and 65,535 of them take a while.
        if self.gpu.is_simulated() {
            return Ok(0.0);
        }
        Ok(self.launches()?.median().max(0.0))
    }

    /// The samples of [`launch_ns_per_workgroup`](Self::launch_ns_per_workgroup).
    pub(crate) fn launches(&self) -> Result<&Samples> {
        if let Some(launches) = self.launches.get() {
            return Ok(launches);
        }
        let long = self.gpu.limits().max_compute_workgroups_per_dimension.min(65_535);
        let short = long / 4;
        let samples = self.sample(&[self.empty_pass(short), self.empty_pass(long)])?;
        Ok(self.launches.get_or_init(|| super::slope(&samples[0], &samples[1], short.into(), long.into())))
    }

    fn empty_pass(&self, workgroups: u32) -> Contender<'_> {
        Contender::new(format!("{workgroups} empty workgroups"), move |pass| {
            pass.set_pipeline(&self.empty);
            pass.dispatch_workgroups(workgroups, 1, 1);
        })
    }

    /// Warms the device up where it was idle or its clock is lowered, and says whether that was so. The clock of a CPU
    /// is not this crate's to wake: its driver is warmed up once.
    fn restore_clock(&self) -> Result<bool> {
        if self.gpu.is_simulated() {
            return Ok(false);
        }
        let worked = *self.worked.lock().unwrap_or_else(|e| e.into_inner());
        let idle = worked.is_none_or(|at| !self.gpu.is_cpu() && at.elapsed() >= IDLE);
        if idle {
            self.warm_up()?;
        }
        if self.gpu.is_cpu() {
            return Ok(idle);
        }
        let now = self.reference_now()?;
        let full = *self.full_clock_ns.lock().unwrap_or_else(|e| e.into_inner());
        let lowered = now > LOWERED * full;
        let full = if lowered {
            self.warm_up()?;
            // Where that did not bring it back (a hot device), this is the full clock from now on.
            self.reference_now()?
        } else {
            full.min(now)
        };
        *self.full_clock_ns.lock().unwrap_or_else(|e| e.into_inner()) = full;
        Ok(idle || lowered)
    }

    fn note_work(&self) {
        *self.worked.lock().unwrap_or_else(|e| e.into_inner()) = Some(Instant::now());
    }
}

/// The fixed arithmetic kernel: the load of the warm-up, and the reference.
#[derive(Debug)]
struct Load {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    workgroup: u32,
    workgroups: u32,
    #[cfg(test)]
    results: wgpu::Buffer,
}

impl Load {
    /// Workgroups and steps an invocation: about 0.1 ms on a large GPU, 1 ms on two CPU cores.
    fn size(gpu: &Gpu) -> (u32, u32) {
        if gpu.is_cpu() { (64, 64) } else { (4_096, 512) }
    }

    fn new(gpu: &Gpu) -> Result<Self> {
        let limits = gpu.limits();
        let workgroup =
            WORKGROUP.min(limits.max_compute_invocations_per_workgroup).min(limits.max_compute_workgroup_size_x);
        let (workgroups, steps) = Self::size(gpu);
        let text = format!("const WORKGROUP = {workgroup}u;\n{}", include_str!("../../shaders/measure/load.wgsl"));
        let pipeline = gpu.pipeline("load", &text, "load", Checks::Trusted)?;
        let params = gpu.buffer_with("load", bytemuck::bytes_of(&steps), wgpu::BufferUsages::UNIFORM)?;
        let results = gpu.buffer(
            "load",
            u64::from(workgroups) * u64::from(workgroup) * 4,
            wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        )?;
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("load"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: results.as_entire_binding() },
            ],
        });
        Ok(Self {
            pipeline,
            group,
            workgroup,
            workgroups,
            #[cfg(test)]
            results,
        })
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.workgroups, 1, 1);
    }

    fn contender(&self) -> Contender<'_> {
        Contender::new("reference", |pass| self.record(pass))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sampler on the best adapter, or none where there is no adapter.
    fn sampler() -> Option<Sampler> {
        match Gpu::open() {
            Ok(gpu) => Some(Sampler::new(&gpu, Effort::Quick).expect("a device that opens runs the load kernel")),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn the_load_kernel_does_its_steps() {
        let Some(sampler) = sampler() else { return };
        sampler.gpu.submit(|encoder| sampler.load.record(&mut encoder.begin_compute_pass(&Default::default())));
        let bytes = sampler.gpu.read(&sampler.load.results, 0, 4_096).expect("results are readable");
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        let (_, steps) = Load::size(&sampler.gpu);
        for (index, word) in words.iter().enumerate() {
            let expected = (0..steps).fold(index as u32, |x, _| {
                let x = x.wrapping_mul(0x9e37_79b1).wrapping_add(0x85eb_ca77);
                x ^ x >> 15
            });
            assert_eq!(*word, expected, "invocation {index}");
        }
    }

    #[test]
    fn twice_the_work_takes_longer_by_either_clock() {
        let Some(sampler) = sampler() else { return };
        for clock in [sampler.clock(), Clock::Wall] {
            if clock == Clock::Wall {
                sampler.timer.refuse("the test wants the wall clock");
            }
            let contenders = [1, 8].map(|runs| {
                let load = &sampler.load;
                Contender::new(format!("{runs} runs"), move |pass| (0..runs).for_each(|_| load.record(pass)))
            });
            let samples = sampler.sample(&contenders).expect("sampling succeeds");
            assert_eq!(samples.len(), 2);
            let (least, most, _) = sampler.effort.rounds(&sampler.gpu);
            for samples in &samples {
                assert_eq!(samples.clock, clock);
                assert!((least..=most).contains(&samples.ns.len()), "{samples:?}");
                assert!(samples.ns.iter().all(|ns| *ns > 0.0), "{samples:?}");
            }
            assert!(samples[1].median() > 2.0 * samples[0].median(), "{samples:?}");
        }
    }

    #[test]
    fn timestamps_are_used_where_they_are_known_to_be_good() {
        let Some(sampler) = sampler() else { return };
        // lavapipe and SwiftShader have good ones; what a GPU's driver has is not this test's to say.
        if sampler.gpu.is_cpu() && sampler.gpu.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            let samples =
                sampler.sample(&[sampler.load.contender(), sampler.empty_pass(1)]).expect("sampling succeeds");
            assert!(samples.iter().all(|samples| samples.clock == Clock::Gpu), "{samples:?}");
        }
    }

    #[test]
    fn before_runs_ahead_of_every_run_and_once_more_unsampled() {
        let Some(sampler) = sampler() else { return };
        let (prepared, recorded) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        let contender = Contender::new("counted", |pass| {
            recorded.set(recorded.get() + 1);
            assert_eq!(prepared.get(), recorded.get());
            sampler.load.record(pass);
        })
        .before(|_| prepared.set(prepared.get() + 1));
        let samples = sampler.sample(&[contender]).expect("sampling succeeds");
        assert_eq!(recorded.get(), samples[0].ns.len() + 1);
    }

    #[test]
    fn more_contenders_than_a_submission_holds_keep_their_order() {
        let Some(sampler) = sampler() else { return };
        let order = std::cell::RefCell::new(Vec::new());
        let contenders: Vec<_> = (0..70)
            .map(|i| {
                Contender::new(format!("{i}"), {
                    let order = &order;
                    move |_| order.borrow_mut().push(i)
                })
            })
            .collect();
        let samples = sampler.sample(&contenders).expect("sampling succeeds");
        assert_eq!(samples.len(), 70);
        let rounds = order.borrow();
        assert_eq!(rounds.len(), 70 * (samples[0].ns.len() + 1));
        assert!(rounds.chunks(70).all(|round| round.iter().copied().eq(0..70)));
    }

    #[test]
    fn overheads_are_measured_once() {
        let Some(sampler) = sampler() else { return };
        let pass = sampler.empty_pass_ns().expect("an empty pass runs");
        let launch = sampler.launch_ns_per_workgroup().expect("empty workgroups run");
        assert!(pass >= 0.0 && launch >= 0.0);
        assert_eq!(sampler.empty_pass_ns(), Ok(pass));
        assert_eq!(sampler.launch_ns_per_workgroup(), Ok(launch));
        assert!(sampler.reference_ns().expect("the reference runs") > 0.0);
    }
}
