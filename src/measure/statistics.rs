//! Robust statistics of samples.

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
        todo!()
    }

    /// A 95 % interval of the median, from order statistics (the binomial distribution of ranks).
    pub fn interval(&self) -> [f64; 2] {
        todo!()
    }
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

/// Compares `b` with `a`.
pub fn compare(a: &[f64], b: &[f64]) -> Comparison {
    let _ = (a, b);
    todo!()
}
