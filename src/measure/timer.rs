//! Timing one pass.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Contender;
use crate::error::Result;
use crate::gpu::Gpu;

/// Where a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The GPU's timestamps at the two ends of a compute pass.
    Gpu,
    /// The host's clock around submission and wait, where the device has no usable timestamps.
    Wall,
    /// No time: the instructions that a simulated device issued, which are the same in every run.
    Issues,
    /// No time: the sectors of 32 bytes that all accesses to storage buffers touched on a simulated device.
    Sectors,
}

impl Clock {
    /// `gpu`, `wall`, `issues` or `sectors`, as written in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Wall => "wall",
            Self::Issues => "issues",
            Self::Sectors => "sectors",
        }
    }

    /// Whether it gives counts of a simulated device, and no times.
    pub fn is_count(self) -> bool {
        matches!(self, Self::Issues | Self::Sectors)
    }
}

/// Passes a submission; each takes two timestamps of the query set.
const PASSES: usize = 64;
/// Bytes of a resolved timestamp.
const STAMP_BYTES: u64 = 8;

/// Times compute passes, each by timestamps at its two ends, or by the host's clock where the device has none.
#[derive(Debug)]
pub(super) struct Timer {
    gpu: Gpu,
    stamps: Option<Stamps>,
    /// What a simulated device's timestamps count.
    counted: Clock,
    /// Set for good once the device's timestamps have proved useless.
    refused: AtomicBool,
}

#[derive(Debug)]
struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    ns_a_tick: f64,
}

impl Timer {
    /// A timer on this device. `work` is something that surely takes time: timestamps that do not show it, or that
    /// show more than the host saw go by, are not used.
    pub(super) fn new(gpu: &Gpu, work: &Contender<'_>) -> Result<Self> {
        let stamps = if gpu.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            let count = 2 * PASSES as u32;
            Some(Stamps {
                set: gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("timer"),
                    ty: wgpu::QueryType::Timestamp,
                    count,
                }),
                resolved: gpu.buffer(
                    "timer",
                    u64::from(count) * STAMP_BYTES,
                    wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                )?,
                ns_a_tick: f64::from(gpu.queue().get_timestamp_period()),
            })
        } else {
            None
        };
        let timer = Self { gpu: gpu.clone(), stamps, counted: Clock::Issues, refused: AtomicBool::new(false) };
        if let Some(stamps) = &timer.stamps
            && !gpu.is_simulated()
        {
            let began = Instant::now();
            let times = timer.by_timestamps(stamps, std::slice::from_ref(work))?;
            let elapsed_ns = began.elapsed().as_secs_f64() * 1e9;
            match times.as_deref() {
                Some([ns]) if *ns > 0.0 && *ns <= elapsed_ns => {}
                _ => timer.refuse(&format!("a kernel of {elapsed_ns:.0} ns reads {times:?}")),
            }
        }
        Ok(timer)
    }

    /// The same, with this count in place of times where the device is simulated.
    pub(super) fn counting(self, counted: Clock) -> Self {
        Self { counted, ..self }
    }

    /// The clock that the next times come from.
    pub(super) fn clock(&self) -> Clock {
        match self.stamps {
            Some(_) if self.refused.load(Ordering::Relaxed) => Clock::Wall,
            Some(_) if self.gpu.is_simulated() => self.counted,
            Some(_) => Clock::Gpu,
            None => Clock::Wall,
        }
    }

    /// Runs each contender once, in order, and gives the nanoseconds of each with the clock that all of them are from.
    pub(super) fn time(&self, contenders: &[Contender<'_>]) -> Result<(Clock, Vec<f64>)> {
        if let Some(stamps) = &self.stamps
            && let clock = self.clock()
            && clock != Clock::Wall
        {
            // Once more before the timestamps are given up: a counter of few bits may wrap inside a pass.
            for _ in 0..2 {
                // Only for what is sampled: counting sectors is slow.
                let by_sectors = clock == Clock::Sectors;
                if by_sectors {
                    self.gpu.count_sectors(true);
                }
                let times = self.by_timestamps(stamps, contenders);
                if by_sectors {
                    self.gpu.count_sectors(false);
                }
                if let Some(times) = times? {
                    return Ok((clock, times));
                }
            }
            self.refuse("twice in a row a timestamp was zero or went backward");
        }
        Ok((Clock::Wall, self.by_wall_clock(contenders)?))
    }

    /// Takes wall-clock times from now on.
    pub(super) fn refuse(&self, why: &str) {
        self.refused.store(true, Ordering::Relaxed);
        log::warn!("{}: timestamps are not usable, times are wall-clock times: {why}", self.gpu.info().name);
    }

    /// `None` where a timestamp is zero or goes backward.
    fn by_timestamps(&self, stamps: &Stamps, contenders: &[Contender<'_>]) -> Result<Option<Vec<f64>>> {
        let mut times = Vec::with_capacity(contenders.len());
        for chunk in contenders.chunks(PASSES) {
            self.gpu.submit(|encoder| {
                for (contender, first) in chunk.iter().zip((0..).step_by(2)) {
                    contender.prepare(encoder);
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                        label: Some(contender.name()),
                        timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                            query_set: &stamps.set,
                            beginning_of_pass_write_index: Some(first),
                            end_of_pass_write_index: Some(first + 1),
                        }),
                    });
                    contender.record(&mut pass);
                }
                encoder.resolve_query_set(&stamps.set, 0..2 * chunk.len() as u32, &stamps.resolved, 0);
            });
            let bytes = self.gpu.read(&stamps.resolved, 0, 2 * STAMP_BYTES * chunk.len() as u64)?;
            let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
            for ends in ticks.chunks_exact(2) {
                match span(ends[0], ends[1]) {
                    Some(ticks) => times.push(ticks as f64 * stamps.ns_a_tick),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(times))
    }

    fn by_wall_clock(&self, contenders: &[Contender<'_>]) -> Result<Vec<f64>> {
        let mut times = Vec::with_capacity(contenders.len());
        for contender in contenders {
            self.gpu.submit(|encoder| contender.prepare(encoder));
            self.gpu.wait()?;
            let began = Instant::now();
            self.gpu.submit(|encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(contender.name()),
                    timestamp_writes: None,
                });
                contender.record(&mut pass);
            });
            self.gpu.wait()?;
            times.push(began.elapsed().as_secs_f64() * 1e9);
        }
        Ok(times)
    }
}

/// Ticks from `begin` to `end`; `None` where they are no timestamps.
fn span(begin: u64, end: u64) -> Option<u64> {
    if begin == 0 || end == 0 { None } else { end.checked_sub(begin) }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn zero_and_backward_timestamps_are_none() {
        assert_eq!(span(5, 9), Some(4));
        assert_eq!(span(5, 5), Some(0));
        assert_eq!(span(9, 5), None);
        assert_eq!(span(0, 5), None);
        assert_eq!(span(5, 0), None);
    }
}
