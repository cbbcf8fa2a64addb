//! Trip counts, slopes and ratios: how times become figures that do not depend on the pass around a kernel.

use std::time::{Duration, Instant};

use super::Bench;
use super::kernel::Launch;
use crate::error::{Error, Result};
use crate::measure::{Clock, Samples, slope};

/// The most trips that one invocation takes in any timed kernel. A CPU driver silently ends loops after 65,535
/// iterations; the cap lies well below, so that a kernel may hold a few of these loops.
pub(super) const MAX_TRIPS: u32 = 16_384;

/// Trips of a kernel of the longer kind on the simulator.
const SIMULATED_TRIPS: u32 = 160;

/// The trip count at which the dispatch that `launch` makes takes long enough for its time to be much more than the
/// pass around it: on a GPU some 400 us, where pass and timestamps cost 5; on a CPU driver 6 ms, which is several time
/// slices of the threads that share its cores; and where only the host's clock is there, 8 ms, since submitting and
/// waiting cost up to 100 us.
///
/// On the simulator, where two trip counts have the slope of any two, few are enough.
///
/// Told from wall-clock times of doubled trip counts, less the time of a single trip.
pub(super) fn calibrate(bench: &Bench<'_>, launch: impl Fn(u32) -> Result<Launch>) -> Result<u32> {
    let target = match (bench.gpu.is_cpu(), bench.sampler.clock()) {
        (_, Clock::Issues | Clock::Sectors) => return Ok(SIMULATED_TRIPS),
        (true, _) => Duration::from_millis(6),
        (false, Clock::Gpu) => Duration::from_micros(400),
        (false, Clock::Wall) => Duration::from_millis(8),
    };
    let wall = |trips: u32| -> Result<Duration> {
        let launch = launch(trips)?;
        let mut shortest = Duration::MAX;
        // The first run may still pay for buffers that are touched for the first time.
        for _ in 0..3 {
            let started = Instant::now();
            bench.run_once(|pass| launch.record(pass))?;
            shortest = shortest.min(started.elapsed());
        }
        Ok(shortest)
    };
    let overhead = wall(1)?;
    let mut trips = 16;
    while trips < MAX_TRIPS && wall(trips)?.saturating_sub(overhead) < target {
        trips *= 2;
    }
    Ok(trips)
}

/// Two trip counts, between which a slope is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trips {
    pub(super) short: u32,
    pub(super) long: u32,
}

impl Trips {
    /// `long`, and a fifth of it.
    pub(super) fn up_to(long: u32) -> Self {
        Self { short: (long / 5).max(1), long: long.max(2) }
    }
}

/// One thing, launched at two trip counts.
#[derive(Debug)]
pub(super) struct Pair {
    name: String,
    trips: Trips,
    short: Launch,
    long: Launch,
}

impl Pair {
    /// The launches that `launch` makes for the two trip counts.
    pub(super) fn new(name: impl Into<String>, trips: Trips, launch: impl Fn(u32) -> Result<Launch>) -> Result<Self> {
        Ok(Self { name: name.into(), trips, short: launch(trips.short)?, long: launch(trips.long)? })
    }
}

/// What was measured of a [`Pair`].
#[derive(Debug)]
pub(super) struct Slope {
    /// Times at the shorter trip count.
    pub(super) short: Samples,
    /// Times at the longer one.
    pub(super) long: Samples,
    /// Nanoseconds that one more trip of all invocations together takes, a round each: free of what a pass and a
    /// dispatch cost.
    pub(super) trip: Samples,
}

/// Samples the pairs against each other, and takes their slopes.
pub(super) fn slopes(bench: &Bench<'_>, pairs: Vec<Pair>) -> Result<Vec<Slope>> {
    let mut launches = Vec::new();
    let mut all_trips = Vec::new();
    for Pair { name, trips, short, long } in pairs {
        launches.push((format!("{name}, {} trips", trips.short), short));
        launches.push((format!("{name}, {} trips", trips.long), long));
        all_trips.push(trips);
    }
    let mut samples = bench.sample(&launches)?.into_iter();
    let mut slopes = Vec::new();
    for trips in all_trips {
        let (Some(short), Some(long)) = (samples.next(), samples.next()) else {
            return Err(Error::internal("a contender was not sampled"));
        };
        let trip = slope(&short, &long, trips.short.into(), trips.long.into());
        slopes.push(Slope { short, long, trip });
    }
    Ok(slopes)
}

/// `a` over `b`, round by round, so that whatever both rounds shared drops out. Rounds in which the noise of a slope
/// left nothing to divide by are left out.
pub(super) fn ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).filter(|(a, b)| **a > 0.0 && **b > 0.0).map(|(a, b)| a / b).collect()
}

/// The mean of `a` and `b`, round by round.
pub(super) fn means(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (a + b) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_leave_out_rounds_without_a_time() {
        assert_eq!(ratios(&[2.0, 3.0, -1.0, 4.0], &[1.0, 0.0, 1.0, 2.0]), [2.0, 2.0]);
    }

    #[test]
    fn trips_are_never_equal_nor_zero() {
        for long in [0, 1, 2, 5, 64, MAX_TRIPS] {
            let trips = Trips::up_to(long);
            assert!(0 < trips.short && trips.short < trips.long, "{trips:?}");
        }
    }
}
