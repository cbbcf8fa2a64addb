//! Measuring: a timer, a sampler that interleaves contenders, robust statistics, and comparison.
//!
//! The method: every pipeline is built first; then a second of full load, since an idle GPU is several times slower
//! for most of a second; one compute pass a measured thing, with timestamps at its ends; contenders take turns round
//! by round, so that a drifting clock hits all of them; raw samples are kept.

mod ceilings;
mod sampler;
mod statistics;
mod timer;

pub use ceilings::{Ceiling, Ceilings};
pub(crate) use ceilings::{ITEM_ADDEND, ITEM_FACTOR, sum_of_items};
pub use sampler::{Contender, Effort, Sampler};
pub(crate) use statistics::judge_ratio;
pub use statistics::{
    Comparison, Samples, TOLERANCE, compare, interval, median, paired_ratio, quartiles, ratio_interval, slope,
};
pub use timer::Clock;
