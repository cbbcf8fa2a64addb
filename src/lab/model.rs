//! What the SIMT model predicts, as numbers with bands: everything here is computed before anything is measured.
//!
//! The model (Nickolls and others, *Scalable parallel programming with CUDA*, 2008; the execution model of every
//! vendor's programming guide): the invocations of a workgroup form subgroups of `lanes` consecutive invocations; a
//! subgroup issues one instruction at a time for all its lanes; where its lanes want different instructions it issues
//! each of them in turn with the other lanes switched off; a loop runs until the last lane leaves it. Time is issued
//! instructions.
//!
//! Assumptions: work is bound by issue (the lab's arms are dependent arithmetic with thousands of invocations to hide
//! latency), all arms cost alike a step, and a one-dimensional workgroup is cut into subgroups in order of the local
//! index. A driver that runs on the CPU's vector unit obeys the same arithmetic as long as the arms are loops: it can
//! skip a loop that no lane wants, but executes every straight line with masks.
//!
//! # Bands
//!
//! Fixed before measuring, from trials on an H200 and on lavapipe at 4, 8 and 16 lanes:
//!
//! | kind | GPU | CPU driver | why |
//! | --- | --- | --- | --- |
//! | count | exact | exact | nothing is uncertain in a count |
//! | time ratio, [`TIME`] | 5 % | 15 % | on the H200 slopes lay within 1 % of the model and plain ratios 1 to 2.5 % below it (the pass around them); lavapipe lay 1 to 11 % off, with its worker threads sharing cores with other programs. Either leaves a factor of 2 far outside |
//! | 'costs nothing', [`FREE`] | 3 % | 15 % | the H200 lay within 0.4 %; lavapipe within 4 %, and 7 to 11 % above a kernel without any branch, which needs no mask. Anything that does cost shows as 25 % or more |
//! | memory, [`MEMORY`] | 25 % | 30 % | caches keep part of what the model counts and rows of memory are opened at a cost of their own: the H200 lay 7 to 20 % below the count of sectors where it followed it at all, and a factor of 2 above where it did not |
//! | latency, [`LATENCY`] | 20 % | 30 % | loads take longer the more of them are under way: on the H200 twice the resident subgroups gave 1.81 times the throughput |
//! | uneven work, [`DATA`] | 10 % | 20 % | subgroups of unequal length leave some idle at the end (1 to 8 % on the H200, 5 to 10 % on lavapipe), and a gather adds memory traffic to the arithmetic |
//! | 'no slower than', [`NO_SLOWER`] | up to 5 % more | up to 15 % more | one-sided, from the spread of equal kernels: the f32 tree and the built-in f32 sum, a tie on the H200, read 1.04; factors of 2 and more separate an exchange by registers from one through memory |
//! | share of a ceiling, [`Model::reaches_ceiling`] | 90 to 125 % | not judged | the best kernels of the trial read 97 to 100 % of the read ceiling; a 'share' far above 1 would mean that the ceiling is none |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::report::{Prediction, Verdict};

/// The model of one adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Width of a subgroup.
    pub lanes: u32,
    /// Whether the adapter is a driver that runs on the CPU, where times are noisier.
    pub cpu: bool,
}

/// How far a value may lie from its prediction, as a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    gpu: f64,
    cpu: f64,
}

/// Ratios of times bound by arithmetic; see the [module](self) for the sizes.
pub const TIME: Tolerance = Tolerance { gpu: 0.05, cpu: 0.15 };
/// Ratios that should be 1, because something costs nothing.
pub const FREE: Tolerance = Tolerance { gpu: 0.03, cpu: 0.15 };
/// Ratios of times of work that differs from subgroup to subgroup, as random data makes it.
pub const DATA: Tolerance = Tolerance { gpu: 0.10, cpu: 0.20 };
/// Ratios of times bound by memory.
pub const MEMORY: Tolerance = Tolerance { gpu: 0.25, cpu: 0.30 };
/// Ratios of times bound by latency, predicted from how many subgroups are resident.
pub const LATENCY: Tolerance = Tolerance { gpu: 0.20, cpu: 0.30 };

/// Ratios that should be at most 1, because one thing is no slower than another.
pub const NO_SLOWER: Tolerance = Tolerance { gpu: 0.05, cpu: 0.15 };

/// Instructions that a loop around a branch has of its own, more or less: counting, comparing, the condition's bit.
pub const LOOP_INSTRUCTIONS: u32 = 10;

impl Model {
    /// This value, with a band of this tolerance on either side.
    pub fn around(&self, value: f64, tolerance: Tolerance) -> Prediction {
        let share = if self.cpu { tolerance.cpu } else { tolerance.gpu };
        Prediction { value, low: value * (1.0 - share), high: value * (1.0 + share) }
    }

    /// The time of something over the time of what it is no slower than: any ratio up to 1, and [`NO_SLOWER`] above it.
    pub fn no_slower(&self) -> Prediction {
        Prediction { low: 0.0, ..self.around(1.0, NO_SLOWER) }
    }

    /// The time of a sum with this share of the atomic additions, over its time with all of them, where they wait for
    /// one another at one address: no less than the share, and clearly less than 1.
    pub fn fewer_atomics(&self, share: f64) -> Prediction {
        let no_slower = self.no_slower();
        Prediction { value: share.min(2.0 - no_slower.high), low: 0.0, high: 2.0 - no_slower.high }
    }

    /// The throughput of a kernel that moves memory as fast as it goes, over the ceiling measured beside it.
    pub fn reaches_ceiling(&self) -> Prediction {
        Prediction { value: 1.0, low: 0.9, high: 1.25 }
    }

    /// Steps of a tree over the lanes of a subgroup: each doubles what a lane has gathered.
    pub fn tree_steps(&self) -> u32 {
        self.lanes.next_power_of_two().ilog2()
    }

    /// Steps of a sum that takes one lane after the other.
    pub fn serial_steps(&self) -> u32 {
        self.lanes - 1
    }

    /// How many of a subgroup's lanes `lane` has summed after `steps` steps of a tree: its own and those above it,
    /// doubled at each step, as far as there are any.
    pub fn tree_partial(&self, lane: u32, steps: u32) -> u32 {
        (1 << steps).min(self.lanes - lane)
    }

    /// How many subgroups a one-dimensional workgroup has: a rounded-up quotient.
    pub fn subgroups(&self, invocations: u32) -> u32 {
        invocations.div_ceil(self.lanes)
    }

    /// Lanes of the last subgroup: what remains.
    pub fn last_lanes(&self, invocations: u32) -> u32 {
        invocations - (self.subgroups(invocations) - 1) * self.lanes
    }

    /// The share of lanes at work where every workgroup has so many invocations: its last subgroup is issued as a whole
    /// however few lanes it has.
    pub fn filled_lanes(&self, invocations: u32) -> f64 {
        f64::from(invocations) / f64::from(self.lanes * self.subgroups(invocations))
    }

    /// How many workgroups of so many invocations and bytes of workgroup memory one multiprocessor holds: as many as
    /// all of its limits allow. Registers are not among them: the kernels that this is compared with need few.
    pub fn resident_groups(&self, capacity: Capacity, invocations: u32, workgroup_bytes: u32) -> u32 {
        let by_subgroups = capacity.subgroups / self.subgroups(invocations);
        let by_memory = match (capacity.workgroup_bytes, workgroup_bytes) {
            (None, _) | (_, 0) => u32::MAX,
            (Some(all), each) => all / each,
        };
        capacity.groups.min(by_subgroups).min(by_memory)
    }

    /// For how long a workgroup of so many invocations holds its places, over the time of a long subgroup, where each
    /// subgroup is long with chance `share` and otherwise takes `short` of a long one's time: until the last is done.
    pub fn held_places(&self, invocations: u32, share: f64, short: f64) -> f64 {
        let none_long = (1.0 - share).powf(f64::from(self.subgroups(invocations)));
        none_long * short + (1.0 - none_long)
    }

    /// Where a driver puts an invocation that cuts a workgroup row by row along x instead of by linear index: the
    /// local index of its subgroup's first lane, its lane, the lanes of its subgroup (the form of
    /// [`LaneMap::places`](crate::LaneMap)).
    pub fn row_by_row(&self, workgroup: [u32; 3], index: u32) -> [u32; 3] {
        let x = index % workgroup[0];
        let first = x / self.lanes * self.lanes;
        [index - x + first, x - first, self.lanes.min(workgroup[0] - first)]
    }

    /// The share of subgroups that hold both sides of a pattern that changes sides every `run` invocations, moved by
    /// `shift`: 1 for runs shorter than a subgroup, 0 for unmoved multiples of it, between for the rest.
    pub fn mixed_share(&self, run: u32, shift: u32) -> f64 {
        let period = lowest_common_multiple(run, self.lanes);
        let mixed = (0..period / self.lanes).filter(|subgroup| {
            let first = subgroup * self.lanes + shift;
            first / run != (first + self.lanes - 1) / run
        });
        mixed.count() as f64 / f64::from(period / self.lanes)
    }

    /// Time of two equal arms taken in turn by runs of invocations, over the time of one arm: a mixed subgroup issues
    /// both.
    pub fn runs(&self, run: u32, shift: u32) -> f64 {
        1.0 + self.mixed_share(run, shift)
    }

    /// Time of two arms that alternate lane by lane, over the time of the longer one: (tA + tB) / max(tA, tB), with
    /// the trip counts as times.
    pub fn two_way(&self, trips_a: u32, trips_b: u32) -> f64 {
        f64::from(trips_a + trips_b) / f64::from(trips_a.max(trips_b))
    }

    /// Arms that a subgroup issues where consecutive lanes take `arms` arms in turn: there are never more than lanes.
    pub fn k_way(&self, arms: u32) -> f64 {
        f64::from(arms.min(self.lanes))
    }

    /// Arms that a subgroup issues, on average, where each lane takes one of `arms` at random: an arm is spared with
    /// the chance (1 - 1/k)^lanes that nobody takes it, so it is k (1 - (1 - 1/k)^lanes).
    pub fn k_way_random(&self, arms: u32) -> f64 {
        let arms = f64::from(arms);
        arms * (1.0 - (1.0 - 1.0 / arms).powf(f64::from(self.lanes)))
    }

    /// The share of subgroups that hold both sides of a branch which each lane takes with chance `share`: all but
    /// those where every lane does or none does.
    pub fn mixed_at_random(&self, share: f64) -> f64 {
        let lanes = f64::from(self.lanes);
        1.0 - share.powf(lanes) - (1.0 - share).powf(lanes)
    }

    /// How many of `subgroups` subgroups a random half leaves undivided: 2 x 0.5^lanes of them. The band is four
    /// standard deviations of the binomial distribution and one, the chance to miss it below one in ten thousand.
    pub fn undivided_halves(&self, subgroups: u32) -> Prediction {
        let chance = 1.0 - self.mixed_at_random(0.5);
        let value = f64::from(subgroups) * chance;
        let spread = 4.0 * (value * (1.0 - chance)).sqrt() + 1.0;
        Prediction { value, low: (value - spread).max(0.0), high: value + spread }
    }

    /// Lanes that take one side of a random half, of `invocations`: half of them, within four standard deviations.
    pub fn half_of(&self, invocations: u32) -> Prediction {
        let value = f64::from(invocations) / 2.0;
        let spread = 4.0 * (f64::from(invocations) / 4.0).sqrt();
        Prediction { value, low: value - spread, high: value + spread }
    }

    /// Time of loops of which one in `spacing` takes `long` trips and the rest `short`, over the time of `long` trips
    /// everywhere: a subgroup waits for its longest lane, and with a spacing above the width only some have one.
    pub fn spaced_loops(&self, spacing: u32, long: u32, short: u32) -> f64 {
        let with_long = (f64::from(self.lanes) / f64::from(spacing)).min(1.0);
        with_long + (1.0 - with_long) * f64::from(short) / f64::from(long)
    }

    /// The mean over subgroups of their longest loop, as a share of `longest`, where each lane takes a random number
    /// of trips from 1 to `longest`: the expectation of the largest of `lanes` uniform numbers.
    pub fn random_loops(&self, longest: u32) -> f64 {
        // The mean of a positive whole number is the sum over m of the chance that it exceeds m.
        let longest = f64::from(longest);
        let exceeds = |m: f64| 1.0 - (m / longest).powf(f64::from(self.lanes));
        (0..longest as u32).map(|m| exceeds(f64::from(m))).sum::<f64>() / longest
    }

    /// The share of lane-steps that do work where each invocation loops so many times: all trips over those of each
    /// subgroup's longest loop, for all its lanes.
    pub fn lanes_at_work(&self, trips: &[u32]) -> f64 {
        let wanted: f64 = trips.iter().copied().map(f64::from).sum();
        let longest = trips.chunks(self.lanes as usize).map(|lanes| lanes.iter().copied().max().unwrap_or(0));
        wanted / (f64::from(self.lanes) * longest.map(f64::from).sum::<f64>()).max(1.0)
    }

    /// Work on a random `share` of the items where they lie, over the same work on a dense list of them: a subgroup
    /// is spared only where none of its lanes has work, 1 - (1 - p)^lanes against p.
    pub fn compaction_gain(&self, share: f64) -> f64 {
        (1.0 - (1.0 - share).powf(f64::from(self.lanes))) / share
    }

    /// As [`compaction_gain`](Self::compaction_gain), for items of which it is known where the selected ones lie: subgroups
    /// with any of them, over the subgroups that a dense list of them fills.
    pub fn compaction_gain_of(&self, selected: &[bool]) -> f64 {
        let issued = selected.chunks(self.lanes as usize).filter(|lanes| lanes.contains(&true)).count();
        let dense = selected.iter().filter(|selected| **selected).count() as f64 / f64::from(self.lanes);
        issued as f64 / dense
    }

    /// Time of both arms of a branch over the time of one, at so many instructions an arm in a loop that has some
    /// [`LOOP_INSTRUCTIONS`] of its own: near 1 for short arms, near 2 for long ones. The band runs from three times as
    /// many of its own to none.
    pub fn both_arms(&self, instructions: u32) -> Prediction {
        let ratio = |own: u32| f64::from(2 * instructions + own) / f64::from(instructions + own);
        let (low, high) = (ratio(3 * LOOP_INSTRUCTIONS), ratio(0));
        Prediction {
            value: ratio(LOOP_INSTRUCTIONS),
            low: self.around(low, FREE).low,
            high: self.around(high, FREE).high,
        }
    }

    /// A select over a branch that is too short to branch: no dearer, and at most half of it spared.
    pub fn select_at_most(&self) -> Prediction {
        Prediction { low: 0.5, ..self.around(1.0, FREE) }
    }

    /// Time of fixed shares of these items over that of a queue, if each worker had a pace of its own: stretches, or every
    /// n-th item. An upper bound where workers share a multiprocessor, since those that are left have it for themselves.
    pub fn share_over_queue(&self, lengths: &[u32], workers: u32, stretches: bool) -> f64 {
        let tasks: Vec<_> = lengths.iter().map(|length| f64::from(*length)).collect();
        shares_end(lengths, workers, stretches) as f64 / makespan(&tasks, workers as usize).max(1.0)
    }

    /// A loss of fixed shares: from [`FIXED_SHARE_LOSES`] to this bound.
    pub fn loses_up_to(&self, most: f64) -> Prediction {
        Prediction { low: FIXED_SHARE_LOSES.min(most), ..self.around(most, DATA) }
    }

    /// The gain of compaction with its pass counted, once the work is expensive: it pays, so above 1, and never more
    /// than the gain on the work alone.
    pub fn compaction_pays(&self, gain_on_work: f64) -> Prediction {
        let limit = self.around(gain_on_work, DATA);
        Prediction { low: 1.0, ..limit }
    }
}

/// What one multiprocessor has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Workgroups, however small.
    pub groups: u32,
    /// Subgroups of all its workgroups.
    pub subgroups: u32,
    /// Bytes of workgroup memory of all its workgroups; none where memory was never what ran out.
    pub workgroup_bytes: Option<u32>,
}

/// Bytes of a sector: what memory moves at least.
pub const SECTOR_BYTES: u32 = 32;
/// Bytes of a line: what the tags of a cache tell apart.
pub const LINE_BYTES: u32 = 128;

/// How many sectors one access of a subgroup touches, from the byte addresses of its lanes (words, so that none
/// straddles two).
pub fn sectors(addresses: impl IntoIterator<Item = u32>) -> u32 {
    blocks(addresses, SECTOR_BYTES)
}

/// How many sectors all accesses of a workgroup touch, on average over many side by side, each a tile of `tile` words of an
/// image whose rows are `pitch` words apart. Each invocation accesses a word at each of these distances from its own. No
/// cache: what two accesses have in common counts twice.
pub fn tile_sectors(lanes: u32, tile: [u32; 2], pitch: u32, distances: impl IntoIterator<Item = u32>) -> f64 {
    let words = SECTOR_BYTES / 4;
    // Where tiles begin within a sector: the same again after these.
    let begins: Vec<_> = (0..words.max(tile[0])).step_by(tile[0] as usize).collect();
    let places: Vec<_> = (0..tile[1]).flat_map(|y| (0..tile[0]).map(move |x| y * pitch + x)).collect();
    let each = distances.into_iter().flat_map(|first| begins.iter().map(move |begin| first + begin));
    let touched = each.flat_map(|first| {
        places.chunks(lanes as usize).map(move |s| sectors(s.iter().map(|place| 4 * (first + place))))
    });
    f64::from(touched.sum::<u32>()) / begins.len() as f64
}

/// How many sectors a workgroup of so many invocations touches that loads a tile with a halo of `radius` around it: one
/// word after the other, row by row, each subgroup as many side by side as it has lanes.
pub fn halo_sectors(lanes: u32, tile: [u32; 2], radius: u32, pitch: u32, invocations: u32) -> u32 {
    let [across, down] = tile.map(|side| side + 2 * radius);
    let words: Vec<_> = (0..across * down).map(|word| 4 * (word / across * pitch + word % across)).collect();
    let subgroups = words.chunks(invocations as usize).flat_map(|round| round.chunks(lanes as usize));
    subgroups.map(|addresses| sectors(addresses.iter().copied())).sum()
}

/// How many lines one access of a subgroup touches.
pub fn lines(addresses: impl IntoIterator<Item = u32>) -> u32 {
    blocks(addresses, LINE_BYTES)
}

fn blocks(addresses: impl IntoIterator<Item = u32>, bytes: u32) -> u32 {
    let mut blocks: Vec<_> = addresses.into_iter().map(|address| address / bytes).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() as u32
}

/// A value that admits no doubt, such as a count.
pub fn exactly(value: impl Into<f64>) -> Prediction {
    let value = value.into();
    Prediction { value, low: value, high: value }
}

/// Work of a grid over what the waves that it takes could do: its waves over its waves rounded up.
pub fn wave_efficiency(groups: u32, wave: u32) -> f64 {
    f64::from(groups) / f64::from(groups.div_ceil(wave.max(1)).max(1) * wave.max(1))
}

/// From this ratio on, a fixed share of skewed work is said to lose against a queue.
pub const FIXED_SHARE_LOSES: f64 = 1.05;

/// When the last of these tasks ends, where each of `places` takes the next task in order as soon as it is free: how a
/// device that schedules in order deals workgroups out.
pub fn makespan(tasks: &[f64], places: usize) -> f64 {
    // Times are positive, and the bits of positive floats are in the order of their values.
    let mut free_at: BinaryHeap<Reverse<u64>> = (0..places.max(1)).map(|_| Reverse(0.0f64.to_bits())).collect();
    let mut last = 0.0f64;
    for task in tasks {
        let Some(Reverse(free)) = free_at.pop() else { break };
        let end = f64::from_bits(free) + task.max(0.0);
        last = last.max(end);
        free_at.push(Reverse(end.to_bits()));
    }
    last
}

/// When the last of `workers` ends, each of which has a stretch of the items, or every n-th.
fn shares_end(lengths: &[u32], workers: u32, stretches: bool) -> u64 {
    let workers = workers.max(1) as usize;
    let share = lengths.len().div_ceil(workers).max(1);
    let mut ends = vec![0u64; workers];
    for (item, length) in lengths.iter().enumerate() {
        ends[if stretches { item / share } else { item % workers }] += u64::from(*length);
    }
    ends.into_iter().max().unwrap_or(0)
}

/// A step down the memory ladder: the rung below is slower, by 15 % at least (two levels of one chip), by a factor of 4
/// for instance, by 64 at most (registers against memory, as measured by others on several generations of devices).
pub fn rung() -> Prediction {
    Prediction { value: 4.0, low: 1.15, high: 64.0 }
}

/// The cost of a barrier in the largest workgroup over that in a small one with a `factor` of fewer subgroups: more by a
/// quarter at least, and no more than if every subgroup had to arrive in turn.
pub fn barrier_growth(factor: f64) -> Prediction {
    Prediction { value: factor.sqrt().max(1.25), low: 1.25, high: factor.max(1.25) }
}

/// What a tile in workgroup memory gains over direct reads, at this radius: anything from 5 % to the loads it spares,
/// each of the square's per pixel against those of the tile with its halo.
pub fn tile_gain(radius: u32, tile: [u32; 2]) -> Prediction {
    let square = f64::from((2 * radius + 1).pow(2));
    let halo = f64::from((tile[0] + 2 * radius) * (tile[1] + 2 * radius)) / f64::from(tile[0] * tile[1]);
    let value = (square / halo).max(1.05);
    Prediction { value, low: 1.05, high: value }
}

/// The time of an exchange, or a barrier of the whole grid, over that of something dearer: spared by a tenth at least.
pub fn cheaper() -> Prediction {
    Prediction { value: 0.5, low: 0.01, high: 0.9 }
}

/// Some of `count`, more likely nearly all: what has no order, or no promise, shows in at least one.
pub fn some_of(count: u32) -> Prediction {
    Prediction { value: f64::from(count.saturating_sub(1).max(1)), low: 1.0, high: f64::from(count.max(1)) }
}

/// Nanoseconds that a dispatch waits for the one before it: 1.3 to 5 us, as measured by others on one vendor (the
/// stream of dependent kernels of NVIDIA's devices since Volta). The value is their geometric mean.
pub fn boundary_ns() -> Prediction {
    let (low, high) = (1300.0f64, 5000.0f64);
    Prediction { value: (low * high).sqrt(), low, high }
}

fn lowest_common_multiple(a: u32, b: u32) -> u32 {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

/// Judges a measured value, with the 95 % interval of its median, by a prediction: it holds where the whole interval
/// is inside the band and differs where the whole interval is outside; an interval that reaches over an edge of the
/// band is too wide to say.
pub fn judge(prediction: Prediction, value: f64, interval: [f64; 2]) -> Verdict {
    let [low, high] = interval;
    if !(value.is_finite() && low <= value && value <= high) {
        return Verdict::Ambiguous;
    }
    if prediction.low <= low && high <= prediction.high {
        Verdict::Holds
    } else if high < prediction.low || prediction.high < low {
        Verdict::Differs
    } else {
        Verdict::Ambiguous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(lanes: u32) -> Model {
        Model { lanes, cpu: false }
    }

    /// The mean of `count` over the subgroups of a long stretch of invocations, each of which does `act`.
    fn mean_over_subgroups(lanes: u32, act: impl Fn(u32) -> u32, count: impl Fn(&[u32]) -> f64) -> f64 {
        let subgroups = 1 << 12;
        let sum: f64 = (0..subgroups)
            .map(|subgroup| {
                let acts: Vec<_> = (0..lanes).map(|lane| act(subgroup * lanes + lane)).collect();
                count(&acts)
            })
            .sum();
        sum / f64::from(subgroups)
    }

    fn distinct(acts: &[u32]) -> f64 {
        let mut acts = acts.to_vec();
        acts.sort_unstable();
        acts.dedup();
        acts.len() as f64
    }

    /// Every way in which `lanes` lanes can each take one of `choices`, as the digits of a number.
    fn every_choice(lanes: u32, choices: u32) -> impl Iterator<Item = Vec<u32>> {
        (0..choices.pow(lanes)).map(move |mut number| {
            (0..lanes)
                .map(|_| {
                    let digit = number % choices;
                    number /= choices;
                    digit
                })
                .collect()
        })
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    }

    fn assert_close(a: f64, b: f64, what: &str) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{what}: {a} against {b}");
    }

    #[test]
    fn runs_cost_the_arms_that_their_subgroups_hold() {
        for lanes in [4, 8, 32, 64] {
            for run in [1, 2, 3, 4, 8, 12, 16, 32, 64, 128, 256] {
                for shift in [0, 1, lanes / 2, lanes] {
                    let counted = mean_over_subgroups(lanes, |index| (index + shift) / run % 2, distinct);
                    let predicted = gpu(lanes).runs(run, shift);
                    // The stretch does not end on a period of every run.
                    assert!((counted - predicted).abs() < 1e-3, "{lanes} {run} {shift}: {counted} {predicted}");
                }
            }
            assert_eq!(gpu(lanes).runs(lanes, 0), 1.0);
            assert_eq!(gpu(lanes).runs(lanes, 1), 2.0);
            assert_eq!(gpu(lanes).runs(1, 0), 2.0);
        }
        // Read off a trial on an H200: runs of 48 and 40 lie between.
        assert_close(gpu(32).runs(48, 0), 4.0 / 3.0, "run of 48");
        assert_close(gpu(32).runs(40, 0), 1.6, "run of 40");
    }

    #[test]
    fn arms_in_turn_are_as_many_as_a_subgroup_holds() {
        for lanes in [4, 8, 16, 32, 64] {
            for arms in [1, 2, 4, 8, 16, 32, 64, 128] {
                let counted = mean_over_subgroups(lanes, |index| index % arms, distinct);
                assert_close(gpu(lanes).k_way(arms), counted, "k-way");
            }
        }
    }

    #[test]
    fn random_arms_are_the_mean_over_every_choice() {
        for (lanes, arms) in [(4, 2), (4, 4), (4, 7), (8, 2), (8, 3), (8, 4), (1, 5)] {
            let counted = mean(every_choice(lanes, arms).map(|acts| distinct(&acts)));
            assert_close(gpu(lanes).k_way_random(arms), counted, "random arms");
        }
    }

    #[test]
    fn a_random_half_is_the_mean_over_every_choice() {
        for lanes in [1, 4, 8, 16] {
            let divided = mean(every_choice(lanes, 2).map(|acts| distinct(&acts) - 1.0));
            assert_close(gpu(lanes).mixed_at_random(0.5), divided, "divided");
        }
        // A quarter: of four equal choices, one.
        let divided = mean(every_choice(8, 4).map(|acts| {
            let taken = acts.iter().filter(|act| **act == 0).count();
            f64::from(u8::from(taken > 0 && taken < 8))
        }));
        assert_close(gpu(8).mixed_at_random(0.25), divided, "a quarter");
        let band = gpu(8).undivided_halves(8192);
        assert_close(band.value, 64.0, "8,192 subgroups of 8");
        assert!(band.low < 61.0 && 61.0 < band.high && band.high < 128.0, "{band:?}");
        assert!(gpu(32).undivided_halves(131_072).high < 2.0);
    }

    #[test]
    fn loops_cost_their_subgroups_longest() {
        let longest = |acts: &[u32]| f64::from(acts.iter().copied().max().unwrap_or(0));
        for lanes in [4, 8, 32] {
            for spacing in [1, 2, 4, 8, 32, 64, 256] {
                let trips = |index: u32| if index.is_multiple_of(spacing) { 1000 } else { 10 };
                let counted = mean_over_subgroups(lanes, trips, longest) / 1000.0;
                assert_close(gpu(lanes).spaced_loops(spacing, 1000, 10), counted, "spaced");
            }
        }
        for (lanes, most) in [(4, 5), (8, 3), (1, 10)] {
            let counted = mean(every_choice(lanes, most).map(|acts| longest(&acts) + 1.0)) / f64::from(most);
            assert_close(gpu(lanes).random_loops(most), counted, "random");
        }
    }

    #[test]
    fn compaction_gains_the_idle_lanes_of_every_choice() {
        for lanes in [4, 8] {
            for choices in [2, 4] {
                // One choice of `choices` is work. In place, a subgroup with any work is issued; dense, a share of one.
                let issued = mean(every_choice(lanes, choices).map(|acts| f64::from(u8::from(acts.contains(&0)))));
                let share = 1.0 / f64::from(choices);
                assert_close(gpu(lanes).compaction_gain(share), issued / share, "gain");
            }
        }
        assert_eq!(gpu(32).compaction_gain(1.0), 1.0);
    }

    #[test]
    fn lanes_at_work_are_those_seen_step_by_step() {
        let trips = [3, 1, 4, 1, 5, 9, 2, 6, 0, 0, 0, 0, 7, 7, 7, 7];
        for lanes in [1, 2, 4, 8] {
            // A subgroup steps as long as any of its lanes has a trip left.
            let (mut working, mut issued) = (0u32, 0u32);
            for subgroup in trips.chunks(lanes as usize) {
                for step in (0..).take_while(|step| subgroup.iter().any(|trips| trips > step)) {
                    working += subgroup.iter().filter(|trips| **trips > step).count() as u32;
                    issued += lanes;
                }
            }
            assert_close(gpu(lanes).lanes_at_work(&trips), f64::from(working) / f64::from(issued), "at work");
        }
        assert_eq!(gpu(4).lanes_at_work(&[]), 0.0);
    }

    #[test]
    fn compaction_of_a_known_selection_spares_its_empty_subgroups() {
        let selected: Vec<_> = [1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0].map(|bit| bit == 1).into();
        // Three subgroups of four are issued for six items, which fill one and a half.
        assert_close(gpu(4).compaction_gain_of(&selected), 2.0, "by hand");
        // What looks random gains what a random share gains.
        let scrambled: Vec<_> = (0..1u32 << 16).map(|i| i.wrapping_mul(0x9e37_79b1).count_ones() % 2 == 1).collect();
        let share = scrambled.iter().filter(|bit| **bit).count() as f64 / f64::from(1 << 16);
        let (known, random) = (gpu(8).compaction_gain_of(&scrambled), gpu(8).compaction_gain(share));
        assert!((known / random - 1.0).abs() < 0.02, "{known} {random}");
    }

    #[test]
    fn a_tree_gathers_what_its_steps_add_up_to() {
        for lanes in [1, 4, 8, 16, 32, 64, 128] {
            let model = gpu(lanes);
            let mut held = vec![1; lanes as usize];
            for step in 0..=model.tree_steps() {
                let predicted: Vec<_> = (0..lanes).map(|lane| model.tree_partial(lane, step)).collect();
                assert_eq!(held, predicted, "{lanes} lanes, step {step}");
                let upper = |lane: usize| held.get(lane + (1 << step)).copied().unwrap_or(0);
                held = (0..held.len()).map(|lane| held[lane] + upper(lane)).collect();
            }
            assert_eq!(held[0], lanes);
            assert_eq!((model.tree_steps(), model.serial_steps()), (lanes.ilog2(), lanes - 1));
        }
    }

    #[test]
    fn no_slower_is_one_sided() {
        let prediction = gpu(32).no_slower();
        for (ratio, verdict) in
            [(0.01, Verdict::Holds), (1.0, Verdict::Holds), (1.04, Verdict::Holds), (1.1, Verdict::Differs)]
        {
            assert_eq!(judge(prediction, ratio, [ratio; 2]), verdict, "{ratio}");
        }
    }

    #[test]
    fn fewer_atomics_must_show() {
        let prediction = gpu(32).fewer_atomics(1.0 / 32.0);
        assert_eq!(prediction.value, 1.0 / 32.0);
        for (ratio, verdict) in [(0.01, Verdict::Holds), (0.5, Verdict::Holds), (1.0, Verdict::Differs)] {
            assert_eq!(judge(prediction, ratio, [ratio; 2]), verdict, "{ratio}");
        }
        // A subgroup as wide as its workgroup spares nothing, and the band still holds its own value.
        let none = gpu(128).fewer_atomics(1.0);
        assert!(none.low <= none.value && none.value <= none.high);
    }

    #[test]
    fn partial_subgroups_hold_what_remains() {
        for lanes in [4, 8, 32, 64] {
            for invocations in 1..=200 {
                let model = gpu(lanes);
                assert!((1..=lanes).contains(&model.last_lanes(invocations)));
                let full = (model.subgroups(invocations) - 1) * lanes;
                assert_eq!(full + model.last_lanes(invocations), invocations);
            }
        }
    }

    #[test]
    fn a_partly_filled_subgroup_is_issued_as_a_whole() {
        for lanes in [4, 8, 32] {
            for invocations in 1..=200u32 {
                // Subgroups that hold any of the invocations, counted one by one.
                let mut issued: Vec<_> = (0..invocations).map(|index| index / lanes).collect();
                issued.dedup();
                let counted = f64::from(invocations) / (issued.len() as f64 * f64::from(lanes));
                assert_close(gpu(lanes).filled_lanes(invocations), counted, "filled");
            }
        }
        assert_eq!(gpu(32).filled_lanes(100), 100.0 / 128.0);
    }

    #[test]
    fn residency_is_what_an_h200_showed() {
        // Read off a trial, which found them by steps in the time: 32 workgroups, 64 subgroups and 48 KiB at most.
        let capacity = Capacity { groups: 32, subgroups: 64, workgroup_bytes: Some(48 << 10) };
        for (invocations, groups) in [
            (32, 32),
            (64, 32),
            (96, 21),
            (128, 16),
            (192, 10),
            (256, 8),
            (320, 6),
            (384, 5),
            (512, 4),
            (768, 2),
            (1024, 2),
        ] {
            assert_eq!(gpu(32).resident_groups(capacity, invocations, 0), groups, "{invocations}");
        }
        for (bytes, groups) in
            [(2 << 10, 24), (3 << 10, 16), (9728, 5), (12 << 10, 4), (24 << 10, 2), (32 << 10, 1), (48 << 10, 1)]
        {
            assert_eq!(gpu(32).resident_groups(capacity, 64, bytes), groups, "{bytes}");
        }
        let unlimited = Capacity { workgroup_bytes: None, ..capacity };
        assert_eq!(gpu(32).resident_groups(unlimited, 64, 48 << 10), 32);
    }

    #[test]
    fn tiles_touch_what_marking_says() {
        let square_sectors = |lanes, tile, pitch, side: u32| {
            let square = (0..side).flat_map(|y| (0..side).map(move |x| y * pitch + x));
            tile_sectors(lanes, tile, pitch, square)
        };
        // One subgroup of 32 in one row: 4 sectors where it begins one, 5 where it does not.
        assert_close(square_sectors(32, [32, 1], 320, 1), 4.0, "aligned");
        assert_close(square_sectors(32, [32, 1], 320, 3), 3.0 * (4.0 + 5.0 + 5.0), "three by three");
        // Two rows of 16: 2 each, or 3.
        assert_close(square_sectors(32, [16, 2], 320, 3), 3.0 * 2.0 * (2.0 + 3.0 + 3.0), "half as wide");
        // A halo of 4 around 8 x 1 is 16 x 9: two sectors a row, a row for each subgroup of 16.
        assert_eq!(halo_sectors(16, [8, 1], 4, 320, 64), 2 * 9);
        // 10 x 3 words, in two sectors a row, by subgroups of 8: the first row; its end and the second row; that one's end in
        // both its sectors and the third row; the rest of it in both of its own.
        assert_eq!(halo_sectors(8, [8, 1], 1, 320, 64), 1 + 2 + 3 + 2);
        // Every lane in a row of its own, wherever the column begins.
        assert_close(square_sectors(8, [1, 16], 320, 3), 9.0 * 16.0, "a column");
        // Four words from 0 or 4 on: one sector, or two from 5 to 7 words into it.
        assert_close(square_sectors(4, [4, 1], 320, 2), 2.0 * (1.0 + (1.0 + 2.0) / 2.0), "narrower than a sector");
    }

    #[test]
    fn sectors_are_counted_by_marking_them() {
        for stride in [1u32, 2, 3, 4, 8, 16, 32, 100] {
            for (bytes, counted) in [
                (SECTOR_BYTES, sectors((0..32).map(|lane| lane * stride * 4))),
                (LINE_BYTES, lines((0..32).map(|lane| lane * stride * 4))),
            ] {
                let mut touched = vec![false; 4096];
                (0..32).for_each(|lane| touched[(lane * stride * 4 / bytes) as usize] = true);
                assert_eq!(counted as usize, touched.iter().filter(|touched| **touched).count(), "{stride}");
            }
        }
        assert_eq!((sectors((0..32).map(|lane| lane * 4)), lines((0..32).map(|lane| lane * 4))), (4, 1));
        assert_eq!(sectors([0, 0, 4, 28]), 1);
    }

    #[test]
    fn tasks_go_to_the_first_free_place() {
        for (tasks, places, end) in [
            (vec![], 3, 0.0),
            (vec![5.0], 3, 5.0),
            (vec![1.0; 6], 3, 2.0),
            (vec![1.0; 7], 3, 3.0),
            // 4 and 1 start; 1 frees its place for 2 and then 3.
            (vec![4.0, 1.0, 2.0, 3.0], 2, 6.0),
            (vec![1.0, 2.0, 3.0], 1, 6.0),
        ] {
            // Independently: the place that is free first, looked for among all.
            let mut free = vec![0.0f64; places];
            for task in &tasks {
                let first = (0..places).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap_or(0);
                free[first] += task;
            }
            assert_eq!(makespan(&tasks, places), free.iter().copied().fold(0.0, f64::max), "{tasks:?}");
            assert_eq!(makespan(&tasks, places), end, "{tasks:?}");
        }
    }

    #[test]
    fn places_are_held_until_the_longest_subgroup_is_done() {
        // Of every way in which 1 to 6 subgroups can be long (one choice in four) or short (a tenth of it).
        for subgroups in 1..=6 {
            let longest = |acts: Vec<u32>| if acts.contains(&0) { 1.0 } else { 0.1 };
            let counted = mean(every_choice(subgroups, 4).map(longest));
            assert_close(gpu(8).held_places(8 * subgroups, 0.25, 0.1), counted, "held");
        }
    }

    #[test]
    fn rows_are_cut_along_x() {
        // 5 x 2 at 4 lanes: each row makes a subgroup of 4 and one of 1.
        let places: Vec<_> = (0..10).map(|index| gpu(4).row_by_row([5, 2, 1], index)).collect();
        assert_eq!(places[..5], [[0, 0, 4], [0, 1, 4], [0, 2, 4], [0, 3, 4], [4, 0, 1]]);
        assert_eq!(places[5..], [[5, 0, 4], [5, 1, 4], [5, 2, 4], [5, 3, 4], [9, 0, 1]]);
    }

    #[test]
    fn a_verdict_needs_the_whole_interval() {
        let prediction = Prediction { value: 2.0, low: 1.9, high: 2.1 };
        for (value, interval, verdict) in [
            (2.0, [1.95, 2.05], Verdict::Holds),
            (1.9, [1.9, 1.9], Verdict::Holds),
            (1.0, [0.9, 1.1], Verdict::Differs),
            (3.0, [2.2, 9.0], Verdict::Differs),
            (2.0, [1.8, 2.05], Verdict::Ambiguous),
            (2.5, [2.05, 3.0], Verdict::Ambiguous),
            (2.0, [1.0, 3.0], Verdict::Ambiguous),
            (f64::NAN, [1.95, 2.05], Verdict::Ambiguous),
            (2.0, [f64::NAN, 2.0], Verdict::Ambiguous),
            (f64::INFINITY, [2.0, f64::INFINITY], Verdict::Ambiguous),
        ] {
            assert_eq!(judge(prediction, value, interval), verdict, "{value} {interval:?}");
        }
        assert_eq!(judge(exactly(3u32), 3.0, [3.0; 2]), Verdict::Holds);
        assert_eq!(judge(exactly(3u32), 4.0, [4.0; 2]), Verdict::Differs);
    }

    #[test]
    fn the_last_wave_is_paid_in_full() {
        // Rounds played by hand: as long as groups are left, a wave of them goes.
        for wave in [1u32, 3, 132] {
            for groups in 1..=5 * wave {
                let (mut left, mut rounds) = (groups, 0u32);
                while left > 0 {
                    left = left.saturating_sub(wave);
                    rounds += 1;
                }
                assert_close(wave_efficiency(groups, wave), f64::from(groups) / f64::from(rounds * wave), "waves");
            }
        }
        assert_close(wave_efficiency(133, 132), 133.0 / 264.0, "one over");
    }

    #[test]
    fn queues_and_shares_end_as_when_played_step_by_step() {
        // Time passes a unit at a time, and idle workers look for work.
        let played = |lengths: &[u32], workers: usize| {
            let (mut busy, mut next, mut time) = (vec![0u32; workers], 0, 0u64);
            loop {
                for left in &mut busy {
                    if *left == 0 && next < lengths.len() {
                        *left = lengths[next];
                        next += 1;
                    }
                }
                if busy.iter().all(|left| *left == 0) {
                    return time;
                }
                busy.iter_mut().for_each(|left| *left = left.saturating_sub(1));
                time += 1;
            }
        };
        for (lengths, workers) in
            [(vec![1; 7], 3), (vec![3, 1, 4, 1, 5, 9, 2, 6], 3), (vec![9, 1, 1, 1], 2), (vec![2], 5)]
        {
            let tasks: Vec<_> = lengths.iter().copied().map(f64::from).collect();
            assert_eq!(makespan(&tasks, workers), played(&lengths, workers) as f64, "{lengths:?}");
        }
        assert_eq!(shares_end(&[1, 2, 3, 4, 5], 2, false), 1 + 3 + 5);
        assert_eq!(shares_end(&[1, 2, 3, 4, 5], 2, true), 4 + 5);
        assert_close(gpu(32).share_over_queue(&[1; 8], 4, true), 1.0, "even");
    }

    #[test]
    fn bands_of_directions_hold_their_value() {
        let bands =
            [rung(), cheaper(), boundary_ns(), barrier_growth(16.0), barrier_growth(1.0), some_of(1), some_of(9)];
        let tiles = (1..=16).map(|radius| tile_gain(radius, [32, 8]));
        let losses = [1.0, 1.3, 9.0].map(|most| gpu(32).loses_up_to(most));
        for band in bands.into_iter().chain(tiles).chain(losses) {
            assert!(band.low <= band.value && band.value <= band.high, "{band:?}");
        }
        // A pixel reads nine words; a tile of 32 x 8 with a halo of one reads 34 x 10 for 256 pixels.
        assert_close(tile_gain(1, [32, 8]).value, 9.0 * 256.0 / 340.0, "loads");
    }

    #[test]
    fn both_arms_count_as_their_instructions() {
        // Instructions issued in a loop of ten of its own, counted one by one.
        let issued = |arms: u32, instructions: u32| {
            f64::from((0..10).chain((0..arms).flat_map(|_| 0..instructions)).count() as u32)
        };
        for instructions in [1, 2, 16, 200] {
            let band = gpu(32).both_arms(instructions);
            assert_close(band.value, issued(2, instructions) / issued(1, instructions), "both arms");
            assert!(band.low <= band.value && band.value <= band.high, "{band:?}");
        }
        // One arm can never pass as both of two hundred instructions, whatever the band.
        let cpu = Model { lanes: 8, cpu: true };
        assert!(cpu.both_arms(200).low > cpu.around(1.0, FREE).high);
    }

    #[test]
    fn bands_are_wider_on_a_cpu_driver() {
        let (gpu, cpu) = (Model { lanes: 8, cpu: false }, Model { lanes: 8, cpu: true });
        for tolerance in [TIME, FREE, DATA, MEMORY, LATENCY] {
            let (narrow, wide) = (gpu.around(2.0, tolerance), cpu.around(2.0, tolerance));
            assert!(wide.low < narrow.low && narrow.high < wide.high);
            // A cost of one whole arm can never pass as none.
            assert!(cpu.around(1.0, tolerance).high < cpu.around(2.0, tolerance).low);
        }
    }
}
