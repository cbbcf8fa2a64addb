//! Robust statistics of samples: order statistics only, so that one disturbed sample moves nothing.

use super::Clock;

/// The samples of one contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Nanoseconds, in the order in which they were taken: sample i of every contender is from round i.
    pub ns: Vec<f64>,
    /// Where the times come from.
    pub clock: Clock,
}

impl Samples {
    /// The median.
    pub fn median(&self) -> f64 {
        median(&self.ns)
    }

    /// A 95 % interval of the median, from order statistics (the binomial distribution of ranks).
    pub fn interval(&self) -> [f64; 2] {
        interval(&self.ns)
    }

    /// The quartiles: a quarter, half and three quarters of the samples lie below them.
    pub fn quartiles(&self) -> [f64; 3] {
        quartiles(&self.ns)
    }
}

/// The median; the mean of the two middle ones for an even number of samples, NaN for none.
pub fn median(samples: &[f64]) -> f64 {
    quantile(&sorted(samples), 0.5)
}

/// The three quartiles, linear between neighbouring samples; NaN for none.
pub fn quartiles(samples: &[f64]) -> [f64; 3] {
    let sorted = sorted(samples);
    [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share))
}

/// A 95 % interval of the median, whatever the distribution: from the k-th smallest to the k-th largest sample, where
/// k is the largest rank whose chance of missing the median is at most 2.5 % at either end.
///
/// Fewer than six samples cannot give 95 %: the answer is their whole range. NaN for none.
pub fn interval(samples: &[f64]) -> [f64; 2] {
    let sorted = sorted(samples);
    ends(&sorted, median_rank(sorted.len()))
}

/// Per-round ratios of two contenders of one [`sample`](super::Sampler::sample) call, whose samples i are both from
/// round i: a drift of the clock hits both and cancels. Take [`median`] and [`interval`] of the answer.
pub fn paired_ratio(numerator: &[f64], denominator: &[f64]) -> Vec<f64> {
    numerator.iter().zip(denominator).map(|(n, d)| n / d).collect()
}

/// Per-round nanoseconds a step, of one kernel timed at two trip counts in one [`sample`](super::Sampler::sample)
/// call: what a pass costs besides its steps is in both times and cancels.
pub fn slope(short: &Samples, long: &Samples, short_steps: f64, long_steps: f64) -> Samples {
    let ns = short.ns.iter().zip(&long.ns).map(|(s, l)| (l - s) / (long_steps - short_steps)).collect();
    Samples { ns, clock: short.clock }
}

/// What can be said of two sets of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// No difference beyond the noise, and the noise is small.
    Same,
    /// The second is faster.
    Faster,
    /// The second is slower.
    Slower,
    /// The noise is too large to say.
    Ambiguous,
}

/// Differences of less than this share mean nothing: two runs of one program on one device differ by up to it.
pub const TOLERANCE: f64 = 0.05;

/// Compares `b` with `a`: times, or other positive quantities of which less is faster.
///
/// The judgement is on the ratio b / a and its [95 % interval](ratio_interval):
/// - `Slower`, `Faster`: the ratio is beyond [`TOLERANCE`], and all of its interval on that side of 1;
/// - `Same`: the ratio is within the tolerance, and its interval rules out a difference of twice the tolerance;
/// - `Ambiguous`: otherwise, and where a sample is not positive.
///
/// Two single values are counts: they are equal or they are not.
pub fn compare(a: &[f64], b: &[f64]) -> Comparison {
    if let ([a], [b]) = (a, b) {
        return match a.partial_cmp(b) {
            Some(std::cmp::Ordering::Equal) => Comparison::Same,
            Some(std::cmp::Ordering::Less) => Comparison::Slower,
            Some(std::cmp::Ordering::Greater) => Comparison::Faster,
            None => Comparison::Ambiguous,
        };
    }
    if !a.iter().chain(b).all(|value| *value > 0.0 && value.is_finite()) {
        return Comparison::Ambiguous;
    }
    let ratios = pair_ratios(a, b);
    judge_ratio(quantile(&ratios, 0.5), ends(&ratios, pair_rank(a.len(), b.len())))
}

/// The judgement of [`compare`] on a ratio with its interval; `Ambiguous` where they are NaN.
pub(crate) fn judge_ratio(ratio: f64, [low, high]: [f64; 2]) -> Comparison {
    let (most, ruled_out) = (1.0 + TOLERANCE, 1.0 + 2.0 * TOLERANCE);
    if ratio > most && low > 1.0 {
        Comparison::Slower
    } else if ratio < 1.0 / most && high < 1.0 {
        Comparison::Faster
    } else if ratio >= 1.0 / most && ratio <= most && low > 1.0 / ruled_out && high < ruled_out {
        Comparison::Same
    } else {
        Comparison::Ambiguous
    }
}

/// A 95 % interval of the ratio b / a of two independent sets of positive samples: order statistics of all pairwise
/// ratios (Hodges and Lehmann), with the ranks of Mann and Whitney's test. Their whole range where they are too few,
/// NaN where one is empty.
pub fn ratio_interval(a: &[f64], b: &[f64]) -> [f64; 2] {
    ends(&pair_ratios(a, b), pair_rank(a.len(), b.len()))
}

/// Every b / a, sorted.
fn pair_ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    let ratios: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b / a)).collect();
    sorted(&ratios)
}

/// An interval of the median within this share of it, to either side, is stable.
const STABLE: f64 = 0.01;

/// Whether more samples would hardly move the median.
pub(super) fn is_stable(samples: &[f64]) -> bool {
    let [low, high] = interval(samples);
    (high - low) / 2.0 <= STABLE * median(samples)
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

/// The samples of this rank, counted from 1 from either end; the ends themselves for rank 0.
fn ends(sorted: &[f64], rank: usize) -> [f64; 2] {
    let Some(last) = sorted.len().checked_sub(1) else { return [f64::NAN; 2] };
    let from_end = rank.saturating_sub(1);
    [sorted[from_end], sorted[last - from_end]]
}

/// The chance to err at either end of an interval.
const TAIL: f64 = 0.025;
/// The normal distribution's quantile of it.
const TAIL_SIGMAS: f64 = 1.959_964;

/// The largest k with P(B < k) <= [`TAIL`], B binomial of n throws of a coin: how many samples lie below the median.
fn median_rank(n: usize) -> usize {
    if n > 1_000 {
        // 2^-n is not far from the smallest f64; the normal approximation is exact enough by far.
        return ((n as f64 - TAIL_SIGMAS * (n as f64).sqrt()) / 2.0) as usize;
    }
    let mut chance = 0.5f64.powi(n as i32);
    let mut sum = chance;
    let mut k = 0;
    while sum <= TAIL && k < n {
        k += 1;
        chance *= (n - k + 1) as f64 / k as f64;
        sum += chance;
    }
    k
}

/// The largest k with P(U < k) <= [`TAIL`], U Mann and Whitney's count for n and m samples of one distribution.
fn pair_rank(n: usize, m: usize) -> usize {
    let pairs = n * m;
    if n.max(m) > 20 {
        let (n, m) = (n as f64, m as f64);
        let sigma = (n * m * (n + m + 1.0) / 12.0).sqrt();
        return (n * m / 2.0 - TAIL_SIGMAS * sigma + 0.5).max(0.0) as usize;
    }
    // The number of orders with U = u is the coefficient of q^u in the Gaussian binomial coefficient: the product
    // over i = 1 to n of (1 - q^(m + i)) / (1 - q^i). All are whole numbers below 2^53.
    let mut orders = vec![0.0f64; pairs + 1];
    orders[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..=pairs).rev() {
            orders[u] -= orders[u - m - i];
        }
        for u in i..=pairs {
            orders[u] += orders[u - i];
        }
    }
    let all: f64 = orders.iter().sum();
    let mut sum = 0.0;
    orders
        .iter()
        .take_while(|orders| {
            sum += *orders;
            sum <= TAIL * all
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The i-th of a stream of numbers in (0, 1): a counter mixed by splitmix64.
    fn uniform(stream: u64, i: u64) -> f64 {
        let mut x = (stream << 32 | i).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
    }

    fn normal(stream: u64, i: u64) -> f64 {
        let radius = (-2.0 * uniform(stream, 2 * i).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform(stream, 2 * i + 1)).cos()
    }

    /// Samples of a program that takes `ns`, until they are stable, 7 to 15 of them: noise of 1 %, one in 20 disturbed
    /// by up to half, and the run as a whole moved by 1 %.
    fn run(stream: u64, ns: f64) -> Vec<f64> {
        let moved = ns * (0.01 * normal(stream, 1_000_000)).exp();
        let mut samples = Vec::new();
        while samples.len() < 7 || (samples.len() < 15 && !is_stable(&samples)) {
            let i = samples.len() as u64;
            let disturbed = uniform(stream, 2_000_000 + i) < 0.05;
            let factor = if disturbed { 1.0 + uniform(stream, 3_000_000 + i) / 2.0 } else { 1.0 };
            samples.push(moved * factor * (0.01 * normal(stream, i)).exp());
        }
        samples
    }

    #[test]
    fn medians_and_quartiles_by_hand() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
        assert!(median(&[]).is_nan());
        assert_eq!(quartiles(&[5.0, 1.0, 3.0, 2.0, 4.0]), [2.0, 3.0, 4.0]);
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0]), [1.75, 2.5, 3.25]);
        assert!(quartiles(&[])[0].is_nan());
    }

    #[test]
    fn ranks_of_the_median_by_definition() {
        // P(B < k) with whole numbers: the sum of the binomial coefficients below k, over 2^n.
        for n in 1..=100u32 {
            let mut coefficient = 1u128;
            let (mut sum, mut k) = (0.0, 0);
            loop {
                sum += coefficient as f64 / 2f64.powi(n as i32);
                if sum > 0.025 {
                    break;
                }
                k += 1;
                coefficient = coefficient * u128::from(n - k + 1) / u128::from(k);
            }
            assert_eq!(median_rank(n as usize), k as usize, "n = {n}");
        }
        // Known: 5 samples have no 95 % interval, 6 to 8 have their range, 15 have the 4th from either end.
        assert_eq!([5, 6, 8, 9, 15].map(median_rank), [0, 1, 1, 2, 4]);
        // Where the formula changes it does not jump.
        assert!(median_rank(1_001).abs_diff(median_rank(1_000)) <= 1);
    }

    #[test]
    fn intervals_by_hand() {
        let samples: Vec<f64> = (1..=15).map(f64::from).rev().collect();
        assert_eq!(interval(&samples), [4.0, 12.0]);
        assert_eq!(interval(&samples[..7]), [9.0, 15.0]);
        assert_eq!(interval(&[2.0]), [2.0, 2.0]);
        assert!(interval(&[])[0].is_nan());
    }

    #[test]
    fn intervals_hold_the_median_of_skewed_distributions() {
        for n in [7, 15, 40] {
            let held = (0..4_000)
                .filter(|&trial| {
                    // Exponential: its median is ln 2.
                    let samples: Vec<f64> = (0..n).map(|i| -uniform(trial, i).ln()).collect();
                    let [low, high] = interval(&samples);
                    low <= std::f64::consts::LN_2 && std::f64::consts::LN_2 <= high
                })
                .count();
            // At least 95 % by construction; 4,000 trials scatter by 0.35 %.
            assert!(held >= 3_760, "{held} of 4000 at n = {n}");
        }
    }

    #[test]
    fn ranks_of_pairs_by_enumeration_and_table() {
        for n in 1..=6usize {
            for m in 1..=6usize {
                // Every way to place n samples among n + m, as bits; U counts the pairs in which the other is below.
                let mut orders = vec![0u32; n * m + 1];
                for bits in 0u32..1 << (n + m) {
                    if bits.count_ones() as usize == n {
                        let u: u32 = (0..n + m)
                            .filter(|i| bits >> i & 1 == 1)
                            .map(|i| (!bits & ((1 << i) - 1)).count_ones())
                            .sum();
                        orders[u as usize] += 1;
                    }
                }
                let all: u32 = orders.iter().sum();
                let mut below = 0;
                let mut rank = 0;
                while rank < orders.len() {
                    below += orders[rank];
                    if f64::from(below) > 0.025 * f64::from(all) {
                        break;
                    }
                    rank += 1;
                }
                assert_eq!(pair_rank(n, m), rank, "{n} and {m}");
            }
        }
        // Published critical values of U at 5 %, two-sided: 8 for 7 and 7, 23 for 10 and 10, 127 for 20 and 20.
        assert_eq!([pair_rank(7, 7), pair_rank(10, 10), pair_rank(20, 20)], [9, 24, 128]);
        assert!(pair_rank(21, 20).abs_diff(pair_rank(20, 20)) <= 8);
    }

    #[test]
    fn intervals_of_ratios_hold_the_ratio() {
        for (n, m) in [(7, 7), (15, 9), (30, 30)] {
            let held = (0..2_000)
                .filter(|&trial| {
                    let a: Vec<f64> = (0..n).map(|i| (0.2 * normal(2 * trial, i)).exp()).collect();
                    let b: Vec<f64> = (0..m).map(|i| 1.5 * (0.2 * normal(2 * trial + 1, i)).exp()).collect();
                    let [low, high] = ratio_interval(&a, &b);
                    low <= 1.5 && 1.5 <= high
                })
                .count();
            assert!(held >= 1_870, "{held} of 2000 at {n} and {m}");
        }
    }

    #[test]
    fn pairs_cancel_a_drift_and_slopes_an_overhead() {
        let drift = [1.0, 1.5, 2.0];
        let (short, long) = (drift.map(|d| d * 10.0), drift.map(|d| d * 20.0));
        assert_eq!(paired_ratio(&long, &short), [2.0; 3]);
        let samples = |steps: f64| Samples { ns: vec![5.0 + 0.25 * steps; 3], clock: Clock::Wall };
        let slope = slope(&samples(256.0), &samples(1_280.0), 256.0, 1_280.0);
        assert_eq!(slope, Samples { ns: vec![0.25; 3], clock: Clock::Wall });
    }

    #[test]
    fn counts_are_equal_or_not() {
        assert_eq!(compare(&[0.0], &[0.0]), Comparison::Same);
        assert_eq!(compare(&[1_000.0], &[1_001.0]), Comparison::Slower);
        assert_eq!(compare(&[1_001.0], &[1_000.0]), Comparison::Faster);
        assert_eq!(compare(&[f64::NAN], &[1.0]), Comparison::Ambiguous);
    }

    #[test]
    fn what_cannot_be_compared_is_ambiguous() {
        assert_eq!(compare(&[], &[]), Comparison::Ambiguous);
        assert_eq!(compare(&[], &[1.0]), Comparison::Ambiguous);
        assert_eq!(compare(&[1.0, -1.0], &[1.0, 1.0]), Comparison::Ambiguous);
        // The same median, but any difference could hide in this noise.
        assert_eq!(compare(&[1.0, 2.0, 4.0, 8.0], &[1.5, 2.0, 4.0, 7.0]), Comparison::Ambiguous);
        // A difference of the medians inside the noise.
        assert_eq!(compare(&[1.0, 1.2, 1.4, 1.6], &[1.1, 1.3, 1.7, 1.8]), Comparison::Ambiguous);
    }

    #[test]
    fn two_runs_are_the_same_and_a_tenth_more_is_slower() {
        let (mut same, mut slower, mut faster) = (0, 0, 0);
        for trial in 0..2_000 {
            let (a, b) = (run(2 * trial, 1e5), run(2 * trial + 1, 1e5));
            same += u32::from(compare(&a, &b) == Comparison::Same);
            let scaled: Vec<f64> = b.iter().map(|ns| 1.1 * ns).collect();
            slower += u32::from(compare(&a, &scaled) == Comparison::Slower);
            faster += u32::from(compare(&scaled, &a) == Comparison::Faster);
        }
        assert!(same >= 1_900 && slower >= 1_800, "{same} same, {slower} slower of 2000");
        assert_eq!(slower, faster, "the comparison is symmetric");
    }
}
