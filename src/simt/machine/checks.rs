//! Looks for what a GPU hides: races, indices out of bounds, memory that nobody wrote, lanes that are not there.

use std::collections::HashMap;
use std::ops::Range;

use super::groups::{Group, Mask, lanes};
use super::watch::{Access, Touch, Watch};
use crate::simt::program::{OUT_OF_BOUNDS, Program, Source, WORKGROUP};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Two invocations touch a word, one of them writes, not both by atomics, and nothing puts them in order.
    Race,
    /// An index beyond the end.
    OutOfBounds,
    /// A word is read that nobody wrote.
    NeverWritten,
    /// A lane reads another that does not take part.
    InactiveLane,
    /// A barrier of the subgroup that not all its lanes reach together.
    SplitBarrier,
}

/// An invocation of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) workgroup: [u32; 3],
    /// Its local invocation index.
    pub(crate) local: u32,
}

/// Something that was found, the first time.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    /// The instruction that was executed when it was found, and by whom.
    pub(crate) at: (u32, Who),
    /// The instruction on the other side of a race, or where one is that is missing at a barrier, and who that is.
    pub(crate) other: Option<(u32, Who)>,
    pub(crate) detail: Detail,
    /// How often it was found between these instructions.
    pub(crate) times: u64,
}

/// What else there is to say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail {
    /// How both sides of a race touch a byte of a slot.
    Race {
        slot: u16,
        byte: u32,
        access: Access,
        other: Access,
    },
    Index {
        index: u32,
        length: u32,
    },
    /// A level or a coordinate of a texel.
    Texel {
        axis: &'static str,
        index: u32,
        length: u32,
    },
    Byte {
        slot: u16,
        byte: u32,
    },
    Lane {
        from: u32,
    },
    Barrier,
}

/// One invocation's access of a word, in eight bytes: the epoch, the instruction and the local index. Zero is nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen(u64);

/// Bits of a local index: no workgroup has more invocations.
const LOCAL: u32 = 11;
/// Bits of an instruction's index.
const AT: u32 = 21;

impl Seen {
    fn new(epoch: u32, at: u32, local: u32) -> Self {
        Self(u64::from(epoch) << (LOCAL + AT) | u64::from(at & ((1 << AT) - 1)) << LOCAL | u64::from(local))
    }

    fn is_nobody(self) -> bool {
        self.0 == 0
    }

    fn epoch(self) -> u32 {
        (self.0 >> (LOCAL + AT)) as u32
    }

    fn at(self) -> u32 {
        (self.0 >> LOCAL) as u32 & ((1 << AT) - 1)
    }

    fn local(self) -> u32 {
        self.0 as u32 & ((1 << LOCAL) - 1)
    }
}

/// The last accesses of one kind in a workgroup, as many as it takes to tell a race with whoever comes next: the last one,
/// the last one by another invocation of the same subgroup, which a barrier of the subgroup may put in order with it, and
/// the last one by another subgroup, which no such barrier does. What is older is in order wherever these are.
#[derive(Clone, Copy, Debug, Default)]
struct Last([Seen; 3]);

impl Last {
    /// Keeps an access. Those before `since` are in order with all that comes, where they are of this workgroup.
    #[inline(always)]
    fn remember(&mut self, now: Seen, since: Seen, subgroup: Range<u32>) {
        let [last, ..] = self.0;
        if last.0 >= since.0 && last.local() != now.local() {
            if subgroup.contains(&last.local()) {
                self.0[1] = last;
            } else {
                self.0 = [last, Seen::default(), last];
            }
        }
        self.0[0] = now;
    }
}

/// The last plain accesses of a word.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    reads: Last,
    write: Seen,
}

/// The last accesses of a word by atomics.
#[derive(Clone, Copy, Debug, Default)]
struct AtomicWord {
    reads: Last,
    writes: Last,
}

/// Accesses of a word by workgroups before this one, which no barrier puts in order: the last of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Elsewhere {
    reads: Seen,
    atomic_reads: Seen,
    atomic_writes: Seen,
}

/// Words, in pages: what is never touched takes no memory.
#[derive(Debug)]
struct Pages<T>(Vec<Box<[T]>>);

/// Words of a page.
const PAGE: usize = 1024;

impl<T: Clone + Default> Pages<T> {
    #[inline(always)]
    fn at(&mut self, index: u32) -> &mut T {
        let (page, place) = (index as usize / PAGE, index as usize % PAGE);
        if self.0.get(page).is_none_or(|page| page.is_empty()) {
            self.begin(page);
        }
        &mut self.0[page][place]
    }

    #[cold]
    fn begin(&mut self, page: usize) {
        if page >= self.0.len() {
            self.0.resize_with(page + 1, Box::default);
        }
        self.0[page] = vec![T::default(); PAGE].into();
    }
}

/// What was seen of every word of a slot.
#[derive(Debug)]
struct Shadow {
    words: Pages<Word>,
    atomics: Pages<AtomicWord>,
    /// Of workgroup memory, which ends with its workgroup, this stays empty.
    elsewhere: Pages<Elsewhere>,
    /// Whether that holds anything.
    has_elsewhere: bool,
    /// Whether anybody writes to it: without that, nothing races.
    is_written: bool,
    /// Whether atomics touch it.
    has_atomics: bool,
    /// Whether its words hold nothing before the dispatch.
    is_empty: bool,
}

/// The checks of one dispatch. It runs on one thread, so that everything has one order.
#[derive(Debug)]
pub(crate) struct Checks {
    lanes: u32,
    /// Of a workgroup.
    invocations: u32,
    /// Of the words of each slot and the texels of each texture, and then of the halves.
    shadows: Vec<Shadow>,
    /// The slot of the texels of the first texture.
    texels: u16,
    pub(crate) found: Vec<Found>,
    places: HashMap<(Kind, u32, u32), usize>,
    /// The workgroups in the order in which they ran, each with its first epoch.
    workgroups: Vec<(u32, [u32; 3])>,
    /// The last epoch that was given out. Each barrier begins one.
    epoch: u32,
    /// Since when accesses of this workgroup's memory, of storage and of texels are not in order.
    workgroup_since: u32,
    storage_since: u32,
    texels_since: u32,
    /// The subgroup that executes, and for each its epoch and since when its own accesses are not in order.
    subgroup: u32,
    subgroups: Vec<(u32, u32)>,
    /// Which lanes took part in operations of the subgroup: by workgroup, local index and instruction, each time.
    pub(crate) together: HashMap<([u32; 3], u32, u32), Vec<Mask>>,
    remembered: usize,
    /// Where others waited when these lanes of a subgroup met, the first time: by workgroup, subgroup and who met where.
    pub(crate) apart: HashMap<([u32; 3], u32, Group), Vec<Group>>,
    /// Jumps backwards that each subgroup of the workgroup did, and the most that any of a workgroup did.
    jumps: Vec<u32>,
    pub(crate) most_jumps: u32,
}

/// Masks that are remembered of operations of subgroups.
const MOST_MASKS: usize = 1 << 20;

impl Checks {
    /// Checks for a dispatch of this program. `empty` says of a slot whether its words hold nothing before.
    pub(crate) fn new(program: &Program, empty: impl Fn(usize) -> bool) -> Self {
        let shadow = |slot| Shadow {
            words: Pages(vec![]),
            atomics: Pages(vec![]),
            elsewhere: Pages(vec![]),
            has_elsewhere: false,
            is_written: program.writes(slot as u16),
            has_atomics: program.has_atomics(slot as u16),
            is_empty: empty(slot),
        };
        let invocations: u32 = program.workgroup_size.iter().product();
        Self {
            lanes: program.lanes,
            invocations,
            shadows: (0..2).flat_map(|_| (0..program.slots.len() + program.textures.len()).map(&shadow)).collect(),
            texels: program.texels(0),
            found: Vec::new(),
            places: HashMap::new(),
            workgroups: Vec::new(),
            epoch: 0,
            workgroup_since: 0,
            storage_since: 0,
            texels_since: 0,
            subgroup: 0,
            subgroups: vec![(0, 0); invocations.div_ceil(program.lanes) as usize],
            together: HashMap::new(),
            remembered: 0,
            apart: HashMap::new(),
            jumps: vec![0; invocations.div_ceil(program.lanes) as usize],
            most_jumps: 0,
        }
    }

    /// Lanes of the subgroup that have an invocation.
    fn launched(&self) -> u32 {
        self.lanes.min(self.invocations - self.first_lane())
    }

    fn first_lane(&self) -> u32 {
        self.subgroup * self.lanes
    }

    /// Whose access this was.
    fn who(&self, seen: Seen) -> Who {
        let run = self.workgroups.partition_point(|(first, _)| *first <= seen.epoch());
        let workgroup = run.checked_sub(1).map_or([0; 3], |run| self.workgroups[run].1);
        Who { workgroup, local: seen.local() }
    }

    fn report(&mut self, kind: Kind, at: Seen, other: Option<Seen>, detail: Detail) {
        // Both orders of a race are one. Who is missing at a barrier may be anywhere.
        let two = other.filter(|_| kind == Kind::Race).unwrap_or(at);
        let (one, two) = (at.at(), two.at());
        match self.places.get(&(kind, one.min(two), one.max(two))) {
            Some(place) => self.found[*place].times += 1,
            None => {
                self.places.insert((kind, one.min(two), one.max(two)), self.found.len());
                let place = |seen: Seen| (seen.at(), self.who(seen));
                let found = Found { kind, at: place(at), other: other.map(place), detail, times: 1 };
                self.found.push(found);
            }
        }
    }

    /// The epoch that the workgroup began with.
    fn first_of_workgroup(&self) -> u32 {
        self.workgroups.last().map_or(0, |(first, _)| *first)
    }

    fn workgroup_id(&self) -> [u32; 3] {
        self.workgroups.last().map_or([0; 3], |(_, id)| *id)
    }

    /// Since when accesses of the workgroup to this slot are not in order.
    fn since(&self, slot: u16) -> u32 {
        match slot {
            WORKGROUP => self.workgroup_since,
            _ if slot >= self.texels => self.texels_since,
            _ => self.storage_since,
        }
    }

    /// Whether nothing puts the access `before` in front of this one.
    fn races(&self, slot: u16, before: Seen, now: Seen) -> bool {
        if before.is_nobody() {
            return false;
        }
        if before.epoch() < self.first_of_workgroup() {
            // Of another workgroup: its own memory is gone, storage is shared with it.
            return slot != WORKGROUP;
        }
        let same_subgroup = before.local() / self.lanes == self.subgroup;
        before.local() != now.local()
            && before.epoch() >= self.since(slot)
            && !(same_subgroup && before.epoch() < self.subgroups[self.subgroup as usize].1)
    }

    /// One unit of an access: reports what is wrong with it, and remembers it.
    #[cold]
    fn touch_unit(&mut self, touch: &Touch<'_>, shadow: usize, unit: u32, now: Seen) {
        let Touch { slot, access, bytes, .. } = *touch;
        let byte = unit * bytes;
        let Shadow { words, atomics, elsewhere, is_empty, has_atomics, has_elsewhere, .. } = &mut self.shadows[shadow];
        let is_empty = *is_empty;
        let word = *words.at(unit);
        let atomic = if *has_atomics { *atomics.at(unit) } else { AtomicWord::default() };
        let elsewhere = if *has_elsewhere { *elsewhere.at(unit) } else { Elsewhere::default() };
        let written = word.write.epoch().max(atomic.writes.0[0].epoch());
        let is_unwritten =
            if slot == WORKGROUP { written < self.first_of_workgroup() } else { is_empty && written == 0 };
        // WGSL lets workgroup memory begin as zeros, and counters rely on it.
        let reads = match access {
            Access::Read => true,
            Access::AtomicRead | Access::AtomicUpdate => slot != WORKGROUP,
            Access::Write | Access::AtomicWrite => false,
        };
        if reads && is_unwritten {
            self.report(Kind::NeverWritten, now, None, Detail::Byte { slot, byte });
        }
        let all = |Last([a, b, c]), elsewhere| [a, b, c, elsewhere];
        let none = [Seen::default(); 4];
        let plain_writes = all(Last([word.write, Seen::default(), Seen::default()]), Seen::default());
        let (reads, atomic_reads) = match access {
            Access::Write => (all(word.reads, elsewhere.reads), all(atomic.reads, elsewhere.atomic_reads)),
            Access::AtomicWrite | Access::AtomicUpdate => (all(word.reads, elsewhere.reads), none),
            Access::Read | Access::AtomicRead => (none, none),
        };
        let atomic_writes = match access {
            Access::Read | Access::Write => all(atomic.writes, elsewhere.atomic_writes),
            Access::AtomicRead | Access::AtomicWrite | Access::AtomicUpdate => none,
        };
        let against = [
            (Access::Write, plain_writes),
            (Access::AtomicWrite, atomic_writes),
            (Access::Read, reads),
            (Access::AtomicRead, atomic_reads),
        ];
        // Each instruction once: whoever executed it.
        let mut told = [Seen::default(); 12];
        let mut count = 0;
        for (other, before) in against.iter().flat_map(|(other, seen)| seen.iter().map(move |seen| (*other, *seen))) {
            if self.races(slot, before, now) && !told[..count].iter().any(|seen| seen.at() == before.at()) {
                told[count] = before;
                count += 1;
                self.report(Kind::Race, now, Some(before), Detail::Race { slot, byte, access, other });
            }
        }
        let (first, since, subgroup) = (self.first_of_workgroup(), Seen::new(self.since(slot), 0, 0), self.locals());
        let Shadow { words, atomics, elsewhere, has_elsewhere, .. } = &mut self.shadows[shadow];
        let last = match access {
            Access::Write => {
                words.at(unit).write = now;
                return;
            }
            Access::Read => &mut words.at(unit).reads,
            Access::AtomicRead => &mut atomics.at(unit).reads,
            Access::AtomicWrite | Access::AtomicUpdate => &mut atomics.at(unit).writes,
        };
        let before = last.0[0];
        last.remember(now, since, subgroup);
        if slot != WORKGROUP && !before.is_nobody() && before.epoch() < first {
            *has_elsewhere = true;
            let elsewhere = elsewhere.at(unit);
            match access {
                Access::Read => elsewhere.reads = before,
                Access::AtomicRead => elsewhere.atomic_reads = before,
                Access::AtomicWrite | Access::AtomicUpdate | Access::Write => elsewhere.atomic_writes = before,
            }
        }
    }

    /// The local indices of the subgroup that executes.
    fn locals(&self) -> Range<u32> {
        self.first_lane()..self.first_lane() + self.lanes
    }

    /// Reads by lanes, each of a unit, up to the first that needs a closer look.
    #[inline(always)]
    fn quick_reads(
        &mut self,
        slot: u16,
        shadow: usize,
        mask: Mask,
        unit: impl Fn(usize) -> Option<u32>,
        now: impl Fn(usize) -> Seen,
    ) -> Option<usize> {
        let (first, since) = (Seen::new(self.first_of_workgroup(), 0, 0), Seen::new(self.since(slot), 0, 0));
        let subgroup = self.locals();
        let Shadow { words, is_empty, .. } = &mut self.shadows[shadow];
        let alone = slot == WORKGROUP;
        let may_be_unwritten = !alone && !*is_empty;
        first_where(mask, |lane| {
            let Some(unit) = unit(lane) else { return false };
            let (word, now) = (words.at(unit), now(lane));
            let (write, read) = (word.write, word.reads.0[0]);
            let in_order = write.0 < since.0 || write.local() == now.local();
            let is_right = if write.0 >= first.0 { in_order } else { may_be_unwritten && write.is_nobody() };
            if !is_right || !alone && read.0 < first.0 && !read.is_nobody() {
                return true;
            }
            word.reads.remember(now, since, subgroup.clone());
            false
        })
    }

    /// Writes by lanes, as [`quick_reads`](Self::quick_reads).
    #[inline(always)]
    fn quick_writes(
        &mut self,
        slot: u16,
        shadow: usize,
        mask: Mask,
        unit: impl Fn(usize) -> Option<u32>,
        now: impl Fn(usize) -> Seen,
    ) -> Option<usize> {
        let (first, since) = (Seen::new(self.first_of_workgroup(), 0, 0), Seen::new(self.since(slot), 0, 0));
        let Shadow { words, elsewhere, has_elsewhere, .. } = &mut self.shadows[shadow];
        let alone = slot == WORKGROUP;
        first_where(mask, |lane| {
            let Some(unit) = unit(lane) else { return false };
            let (word, now) = (words.at(unit), now(lane));
            let of_others = |seen: Seen| !alone && seen.0 < first.0 && !seen.is_nobody();
            let in_order = |seen: Seen| (seen.0 < since.0 || seen.local() == now.local()) && !of_others(seen);
            let Last([last, same_subgroup, other_subgroup]) = word.reads;
            // Where the last read is in order because of a barrier, all before it are.
            let is_right = in_order(word.write)
                && in_order(last)
                && (last.0 < since.0 || same_subgroup.0 < since.0 && other_subgroup.0 < since.0)
                && (!*has_elsewhere || elsewhere.at(unit).reads.is_nobody());
            if is_right {
                word.write = now;
            }
            !is_right
        })
    }

    fn now(&self, at: u32, lane: usize) -> Seen {
        Seen::new(self.subgroups[self.subgroup as usize].0, at, self.first_lane() + lane as u32)
    }
}

/// The first lane of a mask of which this holds.
#[inline(always)]
fn first_where(mask: Mask, mut holds: impl FnMut(usize) -> bool) -> Option<usize> {
    // A row without gaps is the rule.
    let (first, end) = (mask.trailing_zeros() as usize, (Mask::BITS - mask.leading_zeros()) as usize);
    if mask.count_ones() as usize + first == end {
        return (first..end).find(|lane| holds(*lane));
    }
    lanes(mask).find(|lane| holds(*lane))
}

impl Watch for Checks {
    const INDEPENDENT: bool = true;
    const LOOKS_AT_MEMORY: bool = true;

    fn fork(&self) -> Self {
        unreachable!("checks run on one thread")
    }

    fn join(&mut self, _: Self) {}

    fn workgroup(&mut self, id: [u32; 3]) {
        self.epoch += 1;
        self.workgroups.push((self.epoch, id));
        (self.workgroup_since, self.storage_since, self.texels_since) = (self.epoch, self.epoch, self.epoch);
        self.subgroups.fill((self.epoch, 0));
        self.jumps.fill(0);
    }

    fn barrier(&mut self, orders: naga::Barrier) {
        self.epoch += 1;
        if orders.contains(naga::Barrier::WORK_GROUP) {
            self.workgroup_since = self.epoch;
        }
        if orders.contains(naga::Barrier::STORAGE) {
            self.storage_since = self.epoch;
        }
        if orders.contains(naga::Barrier::TEXTURE) {
            self.texels_since = self.epoch;
        }
        self.subgroups.iter_mut().for_each(|(epoch, _)| *epoch = self.epoch);
    }

    fn subgroup(&mut self, id: u32) {
        self.subgroup = id;
    }

    fn again(&mut self, _at: u32, _mask: Mask) {
        let jumps = &mut self.jumps[self.subgroup as usize];
        *jumps += 1;
        self.most_jumps = self.most_jumps.max(*jumps);
    }

    fn apart(&mut self, here: Group, others: impl Iterator<Item = Group>) {
        if self.apart.len() < MOST_MASKS {
            let mut others = others.peekable();
            if others.peek().is_some() {
                let workgroup = self.workgroup_id();
                self.apart.entry((workgroup, self.subgroup, here)).or_insert_with(|| others.collect());
            }
        }
    }

    fn subgroup_barrier(&mut self, here: Group, missing: Option<(u32, usize)>) {
        if let Some((at, lane)) = missing {
            let waits = self.now(here.at, here.mask.trailing_zeros() as usize);
            self.report(Kind::SplitBarrier, waits, Some(self.now(at, lane)), Detail::Barrier);
            return;
        }
        self.epoch += 1;
        self.subgroups[self.subgroup as usize] = (self.epoch, self.epoch);
    }

    fn touch(&mut self, touch: &Touch<'_>) {
        // Neighbours in one word are places of their own; what is accessed as a half never is as a word.
        let shadow = usize::from(touch.slot) + if touch.bytes == 4 { 0 } else { self.shadows.len() / 2 };
        let Shadow { is_written, is_empty, has_atomics, .. } = self.shadows[shadow];
        // What is only read cannot race.
        if !is_written && !is_empty {
            return;
        }
        let shift = touch.bytes.trailing_zeros();
        let first_lane = self.now(touch.at, 0);
        let lane_of = |lane: usize| Seen(first_lane.0 + lane as u64);
        for nth in 0..touch.units {
            let unit = |lane: usize| {
                let address = touch.addresses[lane];
                (address != OUT_OF_BOUNDS).then_some((address >> shift) + nth)
            };
            let mut rest = touch.mask;
            // What is surely right needs no closer look.
            while let Some(lane) = match touch.access {
                Access::Read if !has_atomics => self.quick_reads(touch.slot, shadow, rest, unit, lane_of),
                Access::Write if !has_atomics => self.quick_writes(touch.slot, shadow, rest, unit, lane_of),
                _ => (rest != 0).then(|| rest.trailing_zeros() as usize),
            } {
                if let Some(unit) = unit(lane) {
                    self.touch_unit(touch, shadow, unit, lane_of(lane));
                }
                rest &= Mask::MAX.checked_shl(lane as u32 + 1).unwrap_or(0);
            }
        }
    }

    fn texels(&mut self, touch: &Touch<'_>) {
        self.touch(touch);
    }

    fn index(&mut self, at: u32, mask: Mask, index: &[u32], length: u32) {
        // Nearly always all are inside, which the compiler tells of many lanes at once.
        if index.iter().all(|index| *index < length) {
            return;
        }
        for lane in lanes(mask).filter(|lane| index[*lane] >= length) {
            let detail = Detail::Index { index: index[lane], length };
            self.report(Kind::OutOfBounds, self.now(at, lane), None, detail);
        }
    }

    fn beyond(&mut self, at: u32, lane: usize, axis: &'static str, index: u32, length: u32) {
        let detail = Detail::Texel { axis, index, length };
        self.report(Kind::OutOfBounds, self.now(at, lane), None, detail);
    }

    fn subgroup_operation(&mut self, at: u32, mask: Mask) {
        if self.remembered >= MOST_MASKS {
            return;
        }
        let workgroup = self.workgroup_id();
        for lane in lanes(mask) {
            let local = self.first_lane() + lane as u32;
            self.together.entry((workgroup, local, at)).or_default().push(mask);
            self.remembered += 1;
        }
    }

    fn gather(&mut self, at: u32, mask: Mask, source: Source, row: &[u32]) {
        for lane in lanes(mask) {
            let (here, operand) = (lane as u32, row[lane]);
            // Shifts run off the ends of a subgroup in every scan, which then leaves those values alone. The last subgroup of
            // a workgroup may end early.
            let from = match source {
                Source::Up(_) => here.checked_sub(operand),
                Source::Down(_) => here.checked_add(operand).filter(|from| *from < self.launched()),
                Source::Lane(_) => Some(operand),
                Source::Xor(_) => Some(here ^ operand),
                Source::Quad(_) => Some(here & !3 | operand & 3),
                Source::QuadSwap(bits) => Some(here ^ bits),
                Source::First => None,
            };
            if let Some(from) = from.filter(|from| *from >= self.lanes || mask >> from & 1 == 0) {
                self.report(Kind::InactiveLane, self.now(at, lane), None, Detail::Lane { from });
            }
        }
    }
}
