//! How often the lanes of a subgroup have gone round loops: which of them are behind, in the order of the text.

use std::cmp::Ordering;

use super::groups::{Group, Mask, lanes};
use crate::simt::program::Loop;

/// For each loop, the times that each lane jumped back in it since it was entered.
#[derive(Clone, Debug)]
pub(super) struct Rounds<const W: usize>(Vec<[u32; W]>);

impl<const W: usize> Rounds<W> {
    pub(super) fn new(loops: &[Loop]) -> Self {
        Self(vec![[0; W]; loops.len()])
    }

    pub(super) fn reset(&mut self) {
        self.0.fill([0; W]);
    }

    /// These lanes jump back at an instruction. Gives the most rounds of any of them.
    pub(super) fn again(&mut self, loops: &[Loop], at: u32, mask: Mask) -> u32 {
        let Ok(this) = loops.binary_search_by_key(&at, |one| one.back) else { return 0 };
        let is_inside = |one: &&Loop| one.start >= loops[this].start;
        let inside = loops[..this].iter().rev().take_while(is_inside).count();
        // What stands inside begins anew.
        for row in &mut self.0[this - inside..this] {
            each(row, mask, |rounds| *rounds = 0);
        }
        let mut most = 0;
        each(&mut self.0[this], mask, |rounds| {
            *rounds = rounds.saturating_add(1);
            most = most.max(*rounds);
        });
        most
    }

    /// Which of two lanes, each at an instruction, is behind the other: it has gone round a loop that both are in less
    /// often, or stands in front of the other.
    pub(super) fn compare(&self, loops: &[Loop], one: (u32, usize), two: (u32, usize)) -> Ordering {
        let around = |one: &Loop, at: u32| (one.start..=one.back).contains(&at);
        let mut both = loops.iter().zip(&self.0).rev().filter(|(this, _)| around(this, one.0) && around(this, two.0));
        let differs = both.find_map(|(_, row)| Some(row[one.1].cmp(&row[two.1])).filter(|order| order.is_ne()));
        differs.unwrap_or_else(|| one.0.cmp(&two.0))
    }

    /// Which of two groups is behind. The lanes of each are in the same rounds.
    pub(super) fn compare_groups(&self, loops: &[Loop], one: &Group, two: &Group) -> Ordering {
        let first = |group: &Group| (group.at, group.mask.trailing_zeros() as usize);
        self.compare(loops, first(one), first(two))
    }

    /// The rounds that a lane is in at an instruction, from the outermost loop on.
    pub(super) fn of(&self, loops: &[Loop], at: u32, lane: usize) -> impl Iterator<Item = u32> {
        let around = loops.iter().zip(&self.0).rev().filter(move |(one, _)| (one.start..=one.back).contains(&at));
        around.map(move |(_, row)| row[lane])
    }

    /// Adds lanes at an instruction to groups: to those that are there in the same rounds.
    pub(super) fn gather(&self, loops: &[Loop], at: u32, mask: Mask, groups: &mut Vec<Group>) {
        for lane in lanes(mask) {
            let alone = Group { at, mask: 1 << lane };
            match groups.iter_mut().find(|group| group.at == at && self.compare_groups(loops, group, &alone).is_eq()) {
                Some(group) => group.mask |= alone.mask,
                None => groups.push(alone),
            }
        }
    }
}

/// Visits the words of some lanes.
fn each<const W: usize>(row: &mut [u32; W], mask: Mask, mut visit: impl FnMut(&mut u32)) {
    if mask.count_ones() as usize == W {
        row.iter_mut().for_each(visit);
    } else {
        lanes(mask).for_each(|lane| visit(&mut row[lane]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 { 1 2 { 3 } 4 { 5 } 6 } 7, where each brace jumps back to the one that it closes.
    const LOOPS: [Loop; 3] = [Loop { start: 2, back: 3 }, Loop { start: 4, back: 5 }, Loop { start: 0, back: 6 }];

    #[test]
    fn rounds_are_counted_from_where_a_loop_is_entered() {
        let mut rounds = Rounds::<4>::new(&LOOPS);
        assert_eq!((rounds.again(&LOOPS, 3, 0b0011), rounds.again(&LOOPS, 3, 0b0001)), (1, 2));
        assert_eq!((rounds.again(&LOOPS, 5, 0b1111), rounds.0[0]), (1, [2, 1, 0, 0]));
        assert_eq!((rounds.again(&LOOPS, 6, 0b0101), rounds.0[0]), (1, [0, 1, 0, 0]));
        assert_eq!(rounds.0[1..], [[0, 1, 0, 1], [1, 0, 1, 0]]);
        assert_eq!(rounds.of(&LOOPS, 5, 1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(rounds.of(&LOOPS, 7, 1).count(), 0);
    }

    #[test]
    fn the_lane_of_an_earlier_round_is_behind() {
        let mut rounds = Rounds::<4>::new(&LOOPS);
        rounds.again(&LOOPS, 3, 0b0001);
        rounds.again(&LOOPS, 6, 0b0001);
        // Lane 0 is in the next round of the outer loop, in front in the text.
        assert_eq!(rounds.compare(&LOOPS, (1, 0), (5, 1)), Ordering::Greater);
        assert_eq!(rounds.compare(&LOOPS, (1, 0), (7, 1)), Ordering::Less);
        assert_eq!(rounds.compare(&LOOPS, (1, 2), (5, 1)), Ordering::Less);
        let mut groups = Vec::new();
        rounds.gather(&LOOPS, 1, 0b0111, &mut groups);
        assert_eq!(groups, [Group { at: 1, mask: 0b0001 }, Group { at: 1, mask: 0b0110 }]);
    }
}
