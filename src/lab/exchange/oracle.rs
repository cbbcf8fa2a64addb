//! What the exchanges of shaders/lab/exchange.wgsl give, by their definitions, and the loop around them.

use crate::error::{Error, ErrorKind, Result};
use crate::lab::oracle::scramble;

/// One subgroup: a value for each lane that takes part, `None` for one that does not.
pub(super) type Lanes = [Option<u32>];

/// One exchange: the values of a subgroup, and `Params::argument`, to the values afterwards.
pub(super) type Oracle = fn(&Lanes, u32) -> Vec<Option<u32>>;

/// What `result` says of each lane that takes part, by lane and value.
fn each(lanes: &Lanes, result: impl Fn(usize, u32) -> u32) -> Vec<Option<u32>> {
    (0..).zip(lanes).map(|(lane, x)| x.map(|x| result(lane, x))).collect()
}

/// The value of a lane, if there is one.
fn at(lanes: &Lanes, lane: usize) -> Option<u32> {
    lanes.get(lane).copied().flatten()
}

pub(super) fn nothing(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    lanes.to_vec()
}

pub(super) fn shuffle(lanes: &Lanes, argument: u32) -> Vec<Option<u32>> {
    each(lanes, |lane, x| at(lanes, (lane + argument as usize) % lanes.len()).unwrap_or(x))
}

pub(super) fn shuffle_up(lanes: &Lanes, argument: u32) -> Vec<Option<u32>> {
    each(lanes, |lane, x| lane.checked_sub(argument as usize).and_then(|source| at(lanes, source)).unwrap_or(x))
}

pub(super) fn shuffle_down(lanes: &Lanes, argument: u32) -> Vec<Option<u32>> {
    each(lanes, |lane, x| at(lanes, lane + argument as usize).unwrap_or(x))
}

pub(super) fn shuffle_xor(lanes: &Lanes, argument: u32) -> Vec<Option<u32>> {
    each(lanes, |lane, x| at(lanes, lane ^ argument as usize).unwrap_or(x))
}

pub(super) fn broadcast(lanes: &Lanes, argument: u32) -> Vec<Option<u32>> {
    each(lanes, |_, x| at(lanes, (argument as usize).min(lanes.len() - 1)).unwrap_or(x))
}

pub(super) fn broadcast_first(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let first = lanes.iter().copied().flatten().next();
    each(lanes, |_, x| first.unwrap_or(x))
}

/// `folded` of exchange.wgsl, of the mask of the lanes that `vote`.
fn mask(lanes: &Lanes, vote: impl Fn(u32) -> bool) -> u32 {
    let voting = (0u32..).zip(lanes).filter(|(_, x)| x.is_some_and(&vote));
    voting.fold(0, |sum, (lane, _)| sum.wrapping_add((2 * (lane / 32) + 1) << (lane % 32)))
}

pub(super) fn ballot(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let odd = mask(lanes, |x| x & 1 == 1);
    each(lanes, |_, x| x ^ odd)
}

/// What a vote that was won is mixed in with.
const WON: u32 = 0x9E37_79B1;

pub(super) fn vote_all(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let all = lanes.iter().flatten().all(|x| x & 63 != 0);
    each(lanes, |_, x| if all { x ^ WON } else { x })
}

pub(super) fn vote_any(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let any = lanes.iter().flatten().any(|x| x & 63 == 0);
    each(lanes, |_, x| if any { x ^ WON } else { x })
}

pub(super) fn active_mask(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let all = mask(lanes, |_| true);
    each(lanes, |_, x| x ^ all)
}

pub(super) fn odd_mask(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let odd = mask(lanes, |x| x & 1 == 1);
    each(lanes, |_, x| if x & 1 == 1 { x ^ odd } else { x })
}

pub(super) fn match_any(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let peers: Vec<_> = (0..8).map(|key| mask(lanes, |x| x & 7 == key)).collect();
    each(lanes, |_, x| x ^ peers[(x & 7) as usize])
}

fn sum(lanes: &Lanes) -> u32 {
    lanes.iter().flatten().fold(0, |sum, x| sum.wrapping_add(*x))
}

pub(super) fn reduce(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let sum = sum(lanes);
    each(lanes, |_, _| sum)
}

pub(super) fn reduce_float(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let floats = lanes.iter().flatten().map(|x| f32::from_bits((x & 0x007f_8000) | 0x3f80_0000));
    let sum = floats.sum::<f32>().to_bits();
    each(lanes, |_, _| sum)
}

/// The sum of the lanes below this one.
fn below(lanes: &Lanes, lane: usize) -> u32 {
    sum(&lanes[..lane])
}

pub(super) fn scan_inclusive(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    let mut running = 0u32;
    let add = |x: &Option<u32>| {
        running = running.wrapping_add(x.unwrap_or(0));
        x.map(|_| running)
    };
    lanes.iter().map(add).collect()
}

pub(super) fn scan_exclusive(lanes: &Lanes, argument: u32) -> Vec<Option<u32>> {
    let inclusive = scan_inclusive(lanes, argument);
    lanes.iter().zip(inclusive).map(|(x, with)| Some(with?.wrapping_sub((*x)?))).collect()
}

pub(super) fn scan_both(lanes: &Lanes, _: u32) -> Vec<Option<u32>> {
    each(lanes, |lane, x| below(lanes, lane).wrapping_add(x) ^ below(lanes, lane).wrapping_mul(3))
}

/// The exchanges of a trip.
pub(super) const COPIES: u32 = 8;

/// What the kernel `exchanges` leaves in each lane of the subgroup of these invocations.
pub(super) fn exchanges(oracle: Oracle, indices: &[u32], trips: u32, argument: u32) -> Vec<u32> {
    let words: Vec<_> = indices.iter().map(|index| (scramble(*index), scramble(!index))).collect();
    let mut lanes: Vec<_> = indices.iter().map(|index| Some(*index)).collect();
    for copy in 0..trips * COPIES {
        lanes = oracle(&lanes, argument);
        for (x, (sum, bits)) in lanes.iter_mut().flatten().zip(&words) {
            *x = if copy % 2 == 0 { x.wrapping_add(*sum) } else { *x ^ bits };
        }
    }
    lanes.into_iter().flatten().collect()
}

/// Which lanes take part in exchange_active.wgsl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Divergence {
    /// Those with an odd word.
    Branch,
    /// Those whose own number of trips, 0 to 4, is not over.
    Loop,
}

impl Divergence {
    pub(super) const ALL: [Self; 2] = [Self::Branch, Self::Loop];

    /// The number of the case in the shader.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Branch => 0,
            Self::Loop => 1,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Branch => "under an if on data",
            Self::Loop => "in loops of different lengths",
        }
    }

    /// What the kernel `exchanges_active` leaves in each lane of the subgroup of these invocations.
    pub(super) fn exchanges(self, oracle: Oracle, indices: &[u32], argument: u32) -> Vec<u32> {
        let words: Vec<_> = indices.iter().map(|index| scramble(*index)).collect();
        let mut values = indices.to_vec();
        let mut pass = |takes_part: &dyn Fn(u32) -> bool, adds: bool| {
            let lanes: Vec<_> = values.iter().zip(&words).map(|(x, word)| takes_part(*word).then_some(*x)).collect();
            for ((value, word), x) in values.iter_mut().zip(&words).zip(oracle(&lanes, argument)) {
                if let Some(x) = x {
                    *value = if adds { x.wrapping_add(*word) } else { x };
                }
            }
        };
        match self {
            Self::Branch => pass(&|word| word & 1 == 1, false),
            Self::Loop => (0..4).for_each(|trip| pass(&|word| trip < word % 5, true)),
        }
        values
    }
}

/// The lanes of one workgroup as its invocations report them: for each subgroup the local indices of its lanes, in
/// lane order.
///
/// # Errors
/// [`ErrorKind::WrongResult`] where two invocations claim one lane, or a lane is missing below another.
pub(super) fn subgroups(places: &[u32]) -> Result<Vec<Vec<u32>>> {
    let mut by_place: Vec<_> = (0u32..).zip(places).map(|(index, place)| (*place, index)).collect();
    by_place.sort_unstable();
    let mut subgroups: Vec<Vec<u32>> = Vec::new();
    let mut before = None;
    for (place, index) in by_place {
        let (subgroup, lane) = (place >> 16, place & 0xffff);
        match subgroups.last_mut().filter(|_| before == Some(subgroup)) {
            Some(lanes) if lanes.len() == lane as usize => lanes.push(index),
            None if lane == 0 => subgroups.push(vec![index]),
            _ => {
                return Err(Error::new(
                    ErrorKind::WrongResult,
                    format!(
                        "invocation {index} reports lane {lane} of subgroup {subgroup}, which does not fit the others"
                    ),
                ));
            }
        }
        before = Some(subgroup);
    }
    Ok(subgroups)
}

/// The report of invocations that are each taken for their neighbour, and the last lane of all for a subgroup of its own:
/// a deliberately wrong lane map. Where a workgroup is one subgroup, its sum does not show which lane is whose, but who is
/// missing.
pub(super) fn moved(places: &[u32]) -> Vec<u32> {
    let mut places = places.to_vec();
    places.rotate_left(1);
    if let Some(last) = places.iter_mut().max()
        && *last & 0xffff > 0
    {
        *last = ((*last >> 16) + 1) << 16;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(values: [i64; 6]) -> Vec<Option<u32>> {
        values.map(|value| u32::try_from(value).ok()).to_vec()
    }

    #[test]
    fn exchanges_by_hand() {
        // Six lanes of which the third and the last take no part.
        let some = lanes([10, 11, -1, 64, 14, -1]);
        let cases: [(&str, Oracle, u32, [i64; 6]); 15] = [
            ("nothing", nothing, 0, [10, 11, -1, 64, 14, -1]),
            ("shuffle", shuffle, 3, [64, 14, -1, 10, 11, -1]),
            ("shuffle by 1", shuffle, 1, [11, 11, -1, 14, 14, -1]),
            ("up", shuffle_up, 1, [10, 10, -1, 64, 64, -1]),
            ("down", shuffle_down, 1, [11, 11, -1, 14, 14, -1]),
            ("xor", shuffle_xor, 1, [11, 10, -1, 64, 14, -1]),
            ("broadcast", broadcast, 4, [14, 14, -1, 14, 14, -1]),
            ("broadcast from nobody", broadcast, 9, [10, 11, -1, 64, 14, -1]),
            ("broadcast first", broadcast_first, 4, [10, 10, -1, 10, 10, -1]),
            ("ballot", ballot, 0, [10 ^ 2, 11 ^ 2, -1, 64 ^ 2, 14 ^ 2, -1]),
            ("active mask", active_mask, 0, [10 ^ 27, 11 ^ 27, -1, 64 ^ 27, 14 ^ 27, -1]),
            ("odd mask", odd_mask, 0, [10, 11 ^ 2, -1, 64, 14, -1]),
            ("reduce", reduce, 0, [99, 99, -1, 99, 99, -1]),
            ("inclusive", scan_inclusive, 0, [10, 21, -1, 85, 99, -1]),
            ("exclusive", scan_exclusive, 0, [0, 10, -1, 21, 85, -1]),
        ];
        for (name, oracle, argument, expected) in cases {
            assert_eq!(oracle(&some, argument), lanes(expected), "{name}");
        }
        assert_eq!(vote_all(&some, 0), some);
        assert_eq!(vote_any(&some, 0)[0], Some(10 ^ WON));
        let both = scan_both(&some, 0);
        assert_eq!(both, lanes([10, 21 ^ 30, -1, 85 ^ 63, 99 ^ 255, -1]));
    }

    #[test]
    fn lanes_match_where_their_keys_do() {
        let matched = match_any(&lanes([8, 1, 16, 9, 7, -1]), 0);
        assert_eq!(matched, lanes([8 ^ 5, 1 ^ 10, 16 ^ 5, 9 ^ 10, 7 ^ 16, -1]));
        // Lane 32 counts three times the first bit, lane 127 seven times the last.
        let mut wide = vec![Some(0); 128];
        wide[32] = Some(1);
        wide[127] = Some(2);
        assert_eq!(match_any(&wide, 0)[32], Some(1 ^ 3));
        assert_eq!(match_any(&wide, 0)[127], Some(2 ^ (7 << 31)));
    }

    #[test]
    fn float_sums_are_exact_in_any_order() {
        let mut values: Vec<_> = (0..128).map(|index| Some(scramble(index))).collect();
        let sum = reduce_float(&values, 0);
        values.reverse();
        assert_eq!(reduce_float(&values, 0), sum);
        let by_hand = values.iter().flatten().map(|x| 1.0 + f64::from((x >> 15) & 255) / 256.0).sum::<f64>();
        assert_eq!(f64::from(f32::from_bits(sum[0].expect("a lane"))), by_hand);
    }

    #[test]
    fn reports_become_subgroups_or_an_error() {
        let place = |subgroup: u32, lane: u32| (subgroup << 16) | lane;
        let report = [place(0, 1), place(0, 0), place(1, 0), place(0, 2)];
        assert_eq!(subgroups(&report), Ok(vec![vec![1, 0, 3], vec![2]]));
        assert_eq!(subgroups(&moved(&report)), Ok(vec![vec![0, 3, 2], vec![1]]));
        let one = [place(0, 0), place(0, 1), place(0, 2)];
        assert_eq!(subgroups(&moved(&one)), Ok(vec![vec![2, 0], vec![1]]));
        for wrong in [vec![place(0, 1)], vec![place(0, 0), place(0, 0)], vec![place(0, 0), place(0, 2)]] {
            assert_eq!(subgroups(&wrong).map_err(|error| error.kind()), Err(ErrorKind::WrongResult), "{wrong:?}");
        }
    }

    #[test]
    fn divergence_leaves_the_others_as_they_are() {
        let indices: Vec<_> = (0..32).collect();
        let branch = Divergence::Branch.exchanges(active_mask, &indices, 0);
        let odd = |index: u32| scramble(index) & 1 == 1;
        let mask = indices.iter().filter(|index| odd(**index)).fold(0, |mask, index| mask | 1 << index);
        for (index, value) in indices.iter().zip(branch) {
            assert_eq!(value, if odd(*index) { index ^ mask } else { *index });
        }
        // A lane that exchanges nothing has added its word once a trip.
        for (index, value) in indices.iter().zip(Divergence::Loop.exchanges(nothing, &indices, 0)) {
            let word = scramble(*index);
            assert_eq!(value, index.wrapping_add(word.wrapping_mul(word % 5)));
        }
    }
}
