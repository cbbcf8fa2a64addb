//! Counts what each instruction does.

use std::collections::BTreeMap;

use super::groups::lanes;
use super::watch::{Access, Touch, Watch};
use crate::simt::counts::{Counts, LineProfile, LoopProfile, MemoryCounts, Profile};
use crate::simt::program::{OUT_OF_BOUNDS, Program, WORKGROUP};

/// Bytes of a sector: what memory moves at least.
const SECTOR: u32 = 32;

/// What each instruction of a program did, so far.
#[derive(Debug)]
pub(crate) struct Profiler {
    lanes: u32,
    banks: u32,
    counts: Vec<Counts>,
    memory: Vec<MemoryCounts>,
    subgroup: u32,
    invocations: u32,
    /// By slot: whether it is a storage buffer.
    is_storage: Vec<bool>,
    /// By the instruction that jumps backwards: how often each invocation of the workgroup did, and what ended ones did.
    trips: BTreeMap<u32, (Vec<u32>, Trips)>,
    /// What lanes address, kept so that it is allocated once.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Trips {
    least: u32,
    most: u32,
    sum: u64,
    issued: u64,
}

impl Trips {
    const NONE: Self = Self { least: u32::MAX, most: 0, sum: 0, issued: 0 };

    fn add(&mut self, other: &Self) {
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.sum += other.sum;
        self.issued += other.issued;
    }
}

impl Profiler {
    /// For workgroup memory of so many banks.
    pub(crate) fn new(program: &Program, banks: u32) -> Self {
        Self {
            lanes: program.lanes,
            banks,
            counts: vec![Counts::default(); program.code.len()],
            memory: vec![MemoryCounts::default(); program.code.len()],
            subgroup: 0,
            invocations: program.workgroup_size.iter().product(),
            is_storage: (0..program.slots.len()).map(|slot| program.is_storage(slot as u16)).collect(),
            trips: BTreeMap::new(),
            places: Vec::new(),
        }
    }

    /// What was counted, by the lines of the text.
    pub(crate) fn profile(&self, program: &Program) -> Profile {
        let mut lines: BTreeMap<(Option<u32>, &str), (Counts, MemoryCounts)> = BTreeMap::new();
        let mut memory = MemoryCounts::default();
        for (at, (counts, here)) in (0..).zip(self.counts.iter().zip(&self.memory)) {
            memory.add(here);
            if counts.issues > 0 {
                let line = lines.entry(program.line(at)).or_default();
                line.0.add(counts);
                line.1.add(here);
            }
        }
        let text = |line: Option<u32>| line.map_or(String::new(), |line| program.text(line).into());
        let line = |((line, function), (counts, memory)): ((Option<u32>, &str), _)| LineProfile {
            line,
            function: function.into(),
            text: text(line),
            counts,
            memory,
        };
        let each_loop = |(at, (_, trips)): (&u32, &(Vec<u32>, Trips))| {
            let (line, function) = program.line(*at);
            let Trips { least, most, sum, issued } = *trips;
            LoopProfile { line, function: function.into(), text: text(line), least, most, trips: sum, issued }
        };
        Profile {
            memory,
            lines: lines.into_iter().map(line).collect(),
            loops: self.trips.iter().map(each_loop).collect(),
        }
    }

    /// How many different places the lanes of an access have, of so many bytes each.
    fn different(&mut self, touch: &Touch<'_>, bytes: u32) -> u64 {
        self.places.clear();
        let addresses = lanes(touch.mask).map(|lane| touch.addresses[lane]);
        self.places.extend(addresses.filter(|address| *address != OUT_OF_BOUNDS).map(|address| address / bytes));
        // Nearly always they are in order.
        if !self.places.is_sorted() {
            if self.places.is_sorted_by(|a, b| a >= b) {
                self.places.reverse();
            } else {
                self.places.sort_unstable();
            }
        }
        self.places.dedup();
        self.places.len() as u64
    }

    /// Turns that banks need beyond the first: each gives one word a turn, to however many lanes want it.
    fn conflicts(&mut self, touch: &Touch<'_>) -> u64 {
        let different = self.different(touch, 4);
        let banks = self.banks;
        if let [first, .., last] = self.places[..]
            && u64::from(last - first) + 1 == different
        {
            // Neighbours take the banks in turn.
            return (different.div_ceil(banks.into()) - 1) * u64::from(touch.units);
        }
        self.places.sort_unstable_by_key(|word| word % banks);
        let turns = self.places.chunk_by(|a, b| a % banks == b % banks).map(<[u32]>::len).max();
        // A wider access takes as many turns again for each of its words.
        turns.map_or(0, |turns| (turns as u64 - 1) * u64::from(touch.units))
    }
}

impl Watch for Profiler {
    const INDEPENDENT: bool = false;
    const LOOKS_AT_MEMORY: bool = true;

    fn fork(&self) -> Self {
        Self {
            counts: vec![Counts::default(); self.counts.len()],
            memory: vec![MemoryCounts::default(); self.memory.len()],
            is_storage: self.is_storage.clone(),
            trips: BTreeMap::new(),
            places: Vec::new(),
            ..*self
        }
    }

    fn join(&mut self, other: Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, counts)| sum.add(counts));
        self.memory.iter_mut().zip(&other.memory).for_each(|(sum, counts)| sum.add(counts));
        for (at, (_, trips)) in other.trips {
            self.trips.entry(at).or_insert((Vec::new(), Trips::NONE)).1.add(&trips);
        }
    }

    fn subgroup(&mut self, id: u32) {
        self.subgroup = id;
    }

    fn issue(&mut self, at: u32, mask: u128, is_issue: bool) {
        if is_issue {
            let counts = &mut self.counts[at as usize];
            counts.issues += 1;
            counts.active_lanes += u64::from(mask.count_ones());
        }
    }

    fn again(&mut self, at: u32, mask: u128) {
        let invocations = self.invocations as usize;
        let (trips, _) = self.trips.entry(at).or_insert_with(|| (Vec::new(), Trips::NONE));
        trips.resize(invocations, 0);
        lanes(mask).for_each(|lane| trips[(self.subgroup * self.lanes) as usize + lane] += 1);
    }

    fn ended(&mut self) {
        let went_round = |(trips, _): &&mut (Vec<u32>, Trips)| trips.iter().any(|trips| *trips > 0);
        for (trips, sum) in self.trips.values_mut().filter(went_round) {
            for subgroup in trips.chunks(self.lanes as usize) {
                let most = subgroup.iter().copied().max().unwrap_or(0);
                sum.add(&Trips {
                    least: subgroup.iter().copied().min().unwrap_or(0),
                    most,
                    sum: subgroup.iter().map(|trips| u64::from(*trips)).sum(),
                    issued: u64::from(most) * subgroup.len() as u64,
                });
            }
            trips.fill(0);
        }
    }

    fn touch(&mut self, touch: &Touch<'_>) {
        let accesses = u64::from(touch.mask.count_ones());
        let at = touch.at as usize;
        if let Access::AtomicRead | Access::AtomicWrite | Access::AtomicUpdate = touch.access {
            let different = self.different(touch, 4);
            let inside = lanes(touch.mask).filter(|lane| touch.addresses[*lane] != OUT_OF_BOUNDS).count() as u64;
            self.memory[at].atomics += accesses;
            self.memory[at].atomic_collisions += inside - different;
        }
        if touch.slot == WORKGROUP {
            let conflicts = self.conflicts(touch);
            let counts = &mut self.memory[at];
            counts.workgroup_accesses += accesses;
            counts.bank_conflicts += conflicts;
        } else if self.is_storage[usize::from(touch.slot)] {
            // A vector of 16 bytes lies in one sector.
            let sectors = self.different(touch, SECTOR);
            let counts = &mut self.memory[at];
            counts.accesses += accesses;
            counts.sectors += sectors;
        }
    }
}
