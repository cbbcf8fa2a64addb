//! Lanes of a subgroup that are at one instruction together, and which of them go on first.

/// A set of lanes: the bit of each.
pub(crate) type Mask = u128;

/// The lanes of a mask, in order.
pub(crate) fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    // In halves, which are words of the host.
    let half = |mut bits: u64, first: usize| {
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                first + lane
            })
        })
    };
    half(mask as u64, 0).chain(half((mask >> 64) as u64, 64))
}

/// The first lanes, so many.
pub(super) fn first_lanes(count: u32) -> Mask {
    Mask::MAX.checked_shr(Mask::BITS - count).unwrap_or(0)
}

/// Lanes that are at one instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    pub(crate) at: u32,
    pub(crate) mask: Mask,
}

/// Numbers that nobody foresees, the same for the same seed: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    /// Some lanes of a mask, and the others: by chance all, or a part.
    pub(super) fn split(&mut self, mask: Mask) -> (Mask, Mask) {
        let some = Mask::from(self.word()) | Mask::from(self.word()) << 64;
        let (now, later) = (mask & some, mask & !some);
        if self.below(4) > 0 || now == 0 { (mask, 0) } else { (now, later) }
    }

    /// One of the numbers below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.word() % count.max(1) as u64) as usize
    }
}

/// The most instructions that a group executes before another may go on, where lanes are independent: few, so that they
/// come apart.
const MOST_FUEL: usize = 12;

/// The groups of a subgroup that wait for their turn. In lockstep no two of them are at the same instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    waiting: Vec<Group>,
    /// Where lanes are independent: who goes on, how far, and who goes together.
    pub(super) random: Option<Random>,
}

impl Groups {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Group> {
        self.waiting.iter()
    }

    /// Lets lanes wait at an instruction, together with those that are there: by chance where lanes are independent.
    pub(super) fn add(&mut self, at: u32, mask: Mask) {
        let alone = self.random.as_mut().is_some_and(|random| random.below(2) == 0);
        match self.waiting.iter_mut().find(|group| group.at == at).filter(|_| !alone) {
            Some(group) => group.mask |= mask,
            None => self.waiting.push(Group { at, mask }),
        }
    }

    /// In lockstep the group that is furthest behind goes on, so that lanes that went apart meet where the branches
    /// of the text meet: bytecode is laid out in the order of the text. Where lanes are independent, any group does, or
    /// a part of it.
    pub(super) fn take(&mut self) -> Option<Group> {
        if let Some(random) = &mut self.random {
            if self.waiting.is_empty() {
                return None;
            }
            let Group { at, mask } = self.waiting.swap_remove(random.below(self.waiting.len()));
            let (now, later) = random.split(mask);
            if later != 0 {
                self.waiting.push(Group { at, mask: later });
            }
            return Some(Group { at, mask: now });
        }
        let (place, _) = self.waiting.iter().enumerate().min_by_key(|(_, group)| group.at)?;
        Some(self.waiting.swap_remove(place))
    }

    /// How many instructions the group that was taken executes before another may go on.
    pub(super) fn fuel(&mut self) -> usize {
        self.random.as_mut().map_or(usize::MAX, |random| 1 + random.below(MOST_FUEL))
    }

    /// The instruction at which the group that was taken has to stop for another.
    pub(super) fn next_stop(&self) -> u32 {
        match self.random {
            Some(_) => u32::MAX,
            None => self.waiting.iter().map(|group| group.at).min().unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_is_behind_goes_first_and_meets_the_others() {
        let mut groups = Groups::default();
        groups.add(9, 0b0001);
        groups.add(3, 0b0010);
        groups.add(9, 0b0100);
        assert_eq!(groups.take(), Some(Group { at: 3, mask: 0b0010 }));
        assert_eq!(groups.next_stop(), 9);
        groups.add(9, 0b0010);
        assert_eq!(groups.take(), Some(Group { at: 9, mask: 0b0111 }));
        assert!(groups.is_empty() && groups.take().is_none());
    }

    #[test]
    fn masks_of_lanes() {
        assert_eq!([0, 1, 32, 128].map(first_lanes), [0, 1, 0xffff_ffff, Mask::MAX]);
        assert_eq!(lanes(0b1001 | 1 << 127).collect::<Vec<_>>(), [0, 3, 127]);
    }
}
