//! Lanes of a subgroup that are at one instruction together, and which of them go on first.

/// A set of lanes: the bit of each.
pub(super) type Mask = u128;

/// The lanes of a mask, in order.
pub(super) fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

/// The first lanes, so many.
pub(super) fn first_lanes(count: u32) -> Mask {
    Mask::MAX.checked_shr(Mask::BITS - count).unwrap_or(0)
}

/// Lanes that are at one instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) at: u32,
    pub(super) mask: Mask,
}

/// The groups of a subgroup that wait for their turn, no two of them at the same instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    waiting: Vec<Group>,
}

impl Groups {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Lets lanes wait at an instruction, together with those that are there.
    pub(super) fn add(&mut self, at: u32, mask: Mask) {
        match self.waiting.iter_mut().find(|group| group.at == at) {
            Some(group) => group.mask |= mask,
            None => self.waiting.push(Group { at, mask }),
        }
    }

    /// In lockstep the group that is furthest behind goes on, so that lanes that went apart meet where the branches
    /// of the text meet: bytecode is laid out in the order of the text.
    pub(super) fn take(&mut self) -> Option<Group> {
        let (place, _) = self.waiting.iter().enumerate().min_by_key(|(_, group)| group.at)?;
        Some(self.waiting.swap_remove(place))
    }

    /// The instruction at which the group that was taken has to stop for another.
    pub(super) fn next_stop(&self) -> u32 {
        self.waiting.iter().map(|group| group.at).min().unwrap_or(u32::MAX)
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
