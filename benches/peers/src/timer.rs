//! Times contenders against each other.

use std::time::{Duration, Instant};

use wavelane::measure::{Clock, Sampler, median};

use crate::Result;
use crate::case::{read, wait};

/// Something to be timed. It has been verified.
pub(crate) struct Contender<'a> {
    pub(crate) name: String,
    pub(crate) work: Work<'a>,
}

/// How it is recorded, and between which timestamps.
pub(crate) enum Work<'a> {
    /// Into an open pass, which takes its timestamps at its ends.
    Pass(Box<dyn Fn(&mut wgpu::ComputePass<'_>) + 'a>),
    /// Into an encoder, whatever it takes: passes, clears, copies. A timestamp before, a timestamp after.
    Encoder(Box<Encode<'a>>),
}

pub(crate) type Encode<'a> = dyn FnMut(&mut wgpu::CommandEncoder) -> Result<()> + 'a;

/// Takes samples in rounds.
pub(crate) struct Timer {
    sampler: Sampler,
    set: Option<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    /// Exactly so many rounds, where the caller says so.
    rounds: Option<usize>,
}

/// Contenders of a submission at most, by the queries of a set (4,096 in WebGPU).
const CONTENDERS: usize = 1_024;
const STAMP_BYTES: u64 = 8;
/// Without a number of rounds from the caller: the fewest, the most, and the time after which no further one begins.
const FEWEST: usize = 9;
const MOST: usize = 101;
/// Rounds with a timestamp that is zero or goes backward, in one call.
const BAD_ROUNDS: usize = 8;

impl Timer {
    /// Takes GPU timestamps where the device has them in encoders, and the host's clock elsewhere.
    pub(crate) fn new(sampler: Sampler, rounds: Option<usize>) -> Self {
        let gpu = sampler.gpu();
        let inside = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let usable = gpu.features().contains(inside) && sampler.clock() == Clock::Gpu;
        let count = 2 * CONTENDERS as u32;
        let set = usable.then(|| {
            gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timer"),
                ty: wgpu::QueryType::Timestamp,
                count,
            })
        });
        let resolved = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("timer"),
            size: u64::from(count) * STAMP_BYTES,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Self { sampler, set, resolved, rounds }
    }

    pub(crate) fn sampler(&self) -> &Sampler {
        &self.sampler
    }

    /// Where the times come from, in words.
    pub(crate) fn clock(&self) -> &'static str {
        match self.set {
            Some(_) => "GPU timestamps",
            None => "wall clock around submission and wait",
        }
    }

    /// The median nanoseconds of each contender. Warms the device up, runs each once unsampled, then takes rounds: each
    /// contender once a round, another one first every time.
    pub(crate) fn medians(&self, contenders: &mut [Contender<'_>]) -> Result<Vec<f64>> {
        let gpu = self.sampler.gpu();
        assert!(contenders.len() <= CONTENDERS, "{} contenders in a round", contenders.len());
        let budget = Duration::from_millis(if gpu.is_cpu() { 4_000 } else { 1_500 });
        self.sampler.warm_up()?;
        self.round(contenders, 0)?;
        let began = Instant::now();
        let mut times = vec![Vec::new(); contenders.len()];
        let (mut taken, mut bad) = (0, 0);
        loop {
            match self.round(contenders, taken)? {
                Some(round) => {
                    times.iter_mut().zip(round).for_each(|(times, ns)| times.push(ns));
                    taken += 1;
                }
                None if bad < BAD_ROUNDS => bad += 1,
                None => return Err("timestamps are zero or go backward time and again".into()),
            }
            let enough = match self.rounds {
                Some(rounds) => taken >= rounds,
                None => taken >= MOST || (taken >= FEWEST && began.elapsed() >= budget),
            };
            if enough {
                return Ok(times.iter().map(|ns| median(ns)).collect());
            }
        }
    }

    /// Runs each contender once, beginning with the one whose turn it is.
    fn round(&self, contenders: &mut [Contender<'_>], turn: usize) -> Result<Option<Vec<f64>>> {
        let count = contenders.len();
        let order = (0..count).map(|i| (turn + i) % count);
        match &self.set {
            Some(set) => self.by_timestamps(set, contenders, order),
            None => self.by_wall_clock(contenders, order).map(Some),
        }
    }

    fn by_timestamps(
        &self,
        set: &wgpu::QuerySet,
        contenders: &mut [Contender<'_>],
        order: impl Iterator<Item = usize>,
    ) -> Result<Option<Vec<f64>>> {
        let gpu = self.sampler.gpu();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        for i in order {
            let Contender { name, work } = &mut contenders[i];
            let [begin, end] = [2 * i as u32, 2 * i as u32 + 1];
            match work {
                Work::Pass(record) => {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                        label: Some(name),
                        timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                            query_set: set,
                            beginning_of_pass_write_index: Some(begin),
                            end_of_pass_write_index: Some(end),
                        }),
                    });
                    record(&mut pass);
                }
                Work::Encoder(record) => {
                    encoder.write_timestamp(set, begin);
                    record(&mut encoder)?;
                    encoder.write_timestamp(set, end);
                }
            }
        }
        let stamps = 2 * contenders.len() as u32;
        encoder.resolve_query_set(set, 0..stamps, &self.resolved, 0);
        gpu.queue().submit([encoder.finish()]);
        let bytes = read(gpu, &self.resolved, 0, u64::from(stamps) * STAMP_BYTES)?;
        let ticks: Vec<u64> = bytemuck::allocation::pod_collect_to_vec(&bytes);
        let ns_a_tick = f64::from(gpu.queue().get_timestamp_period());
        // A timestamp may be zero, which is none, or go backward.
        let span = |ends: &[u64]| (ends[0] != 0).then(|| ends[1].checked_sub(ends[0])).flatten();
        Ok(ticks.chunks_exact(2).map(|ends| span(ends).map(|ticks| ticks as f64 * ns_a_tick)).collect())
    }

    fn by_wall_clock(&self, contenders: &mut [Contender<'_>], order: impl Iterator<Item = usize>) -> Result<Vec<f64>> {
        let gpu = self.sampler.gpu();
        let mut times = vec![f64::NAN; contenders.len()];
        for i in order {
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            match &mut contenders[i].work {
                Work::Pass(record) => record(&mut encoder.begin_compute_pass(&Default::default())),
                Work::Encoder(record) => record(&mut encoder)?,
            }
            let commands = encoder.finish();
            let began = Instant::now();
            gpu.queue().submit([commands]);
            wait(gpu)?;
            times[i] = began.elapsed().as_secs_f64() * 1e9;
        }
        Ok(times)
    }
}
