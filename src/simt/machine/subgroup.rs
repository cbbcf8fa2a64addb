//! A subgroup: registers for its lanes, and the execution of instructions on them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use naga::{BuiltIn, CollectiveOperation, ScalarKind};

use super::groups::{Group, Groups, Mask, Random, first_lanes, lanes};
use super::rounds::Rounds;
use super::view::View;
use super::watch::{Access, Touch, Watch};
use super::{MAX_ITERATIONS, Resources};
use crate::simt::counts::Counts;
use crate::simt::operation::Unary;
use crate::simt::program::{
    Address, Instruction, Length, Loop, OUT_OF_BOUNDS, Op, Program, Query, Reg, Sampling, Source, Update,
};
use crate::simt::texture::Spot;

/// Jumps backwards after which another subgroup has its turn, for the case that this one waits for it.
pub(super) const TURN: u32 = 4096;

/// The same where all workgroups are there, so that those that wait use up little of the jumps that they may do.
pub(super) const SHORT_TURN: u32 = 64;

/// The most groups that go on in a turn, where lanes are independent.
const GROUPS_A_TURN: usize = 16;

/// One unit of two bytes.
const HALF: (u32, u32) = (1, 2);

/// A word for every lane.
type Row<const W: usize> = [u32; W];

/// The workgroup that a subgroup is started in.
pub(super) struct Launch {
    pub(super) workgroup: [u32; 3],
    pub(super) workgroups: [u32; 3],
    /// Rounds that a loop may go from where it is entered.
    pub(super) iterations: u32,
    /// Jumps backwards in a turn, in step.
    pub(super) turn: u32,
    /// Where lanes are independent: what their order comes from.
    pub(super) seed: Option<u64>,
    /// Whether they wait for each other at operations of the subgroup even so.
    pub(super) rendezvous: bool,
}

/// A subgroup of a workgroup.
pub(super) struct Subgroup<const W: usize> {
    id: u32,
    registers: Vec<Row<W>>,
    /// The lanes that have an invocation.
    launched: Mask,
    /// Those of them that have not returned.
    live: Mask,
    groups: Groups,
    /// Whether independent lanes wait for each other at operations of the subgroup.
    rendezvous: bool,
    /// Those that do, until no others can go on.
    together: Vec<Group>,
    /// The lanes that wait at barriers: at one in the same rounds of its loops, or the program is wrong.
    arrived: Vec<Group>,
    /// Where lanes returned.
    returned: Vec<Group>,
    rounds: Rounds<W>,
    /// Rounds that a loop may go.
    iterations: u32,
    /// Jumps backwards that are left, whatever the loops.
    jumps: u64,
    /// Those of them until it is another subgroup's turn.
    turn: u32,
    /// As many of them make a turn, in step.
    a_turn: u32,
    /// The operation of the subgroup at which lanes have met and now go on.
    met: Option<u32>,
    active: Active<W>,
}

/// The lanes that execute an instruction.
struct Active<const W: usize> {
    mask: Mask,
    /// No other lane's registers matter, so that whole rows can be written.
    is_full: bool,
    /// All bits set for the lanes of the mask.
    select: Row<W>,
}

/// A loop that used up its iterations, and the local indices of those who go round.
#[derive(Clone, Debug)]
pub(super) struct Endless {
    pub(super) at: u32,
    pub(super) running: Vec<u32>,
}

/// Invocations that wait at a barrier, by their local indices, in these rounds of the loops around it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    pub(super) at: u32,
    pub(super) rounds: Vec<u32>,
    pub(super) invocations: Vec<u32>,
}

/// What an instruction does to the flow of control.
enum Flow {
    On,
    To(u32),
    /// The lanes wait elsewhere, or are no more.
    Left,
}

impl<const W: usize> Subgroup<W> {
    pub(super) fn new(program: &Program, id: u32, invocations: u32) -> Self {
        let mut registers = vec![[0; W]; program.registers as usize];
        for (reg, word) in &program.constants {
            registers[*reg as usize] = [*word; W];
        }
        Self {
            id,
            registers,
            launched: first_lanes(invocations),
            live: 0,
            groups: Groups::default(),
            together: Vec::new(),
            rendezvous: true,
            arrived: Vec::new(),
            returned: Vec::new(),
            rounds: Rounds::new(&program.loops),
            iterations: 0,
            jumps: 0,
            turn: 0,
            a_turn: TURN,
            met: None,
            active: Active { mask: 0, is_full: false, select: [0; W] },
        }
    }

    /// Starts it at the first instruction.
    pub(super) fn launch(&mut self, program: &Program, launch: &Launch) {
        self.live = self.launched;
        self.groups.random = launch.seed.map(|seed| Random::new(seed.wrapping_add(self.id.into())));
        self.rendezvous = launch.rendezvous;
        self.groups.add(0, self.launched);
        self.arrived.clear();
        self.returned.clear();
        self.rounds.reset();
        self.iterations = launch.iterations;
        // Independent lanes jump one by one.
        let one_by_one = if launch.seed.is_some() { W as u64 } else { 1 };
        self.jumps = u64::from(MAX_ITERATIONS) * one_by_one;
        self.a_turn = launch.turn;
        let size = program.workgroup_size;
        let subgroups = size.iter().product::<u32>().div_ceil(W as u32);
        for (builtin, reg) in &program.builtins {
            for lane in 0..W {
                let index = self.id * W as u32 + lane as u32;
                let local = [index % size[0], index / size[0] % size[1], index / (size[0] * size[1])];
                let global = [0, 1, 2].map(|i| launch.workgroup[i].wrapping_mul(size[i]).wrapping_add(local[i]));
                let value: &[u32] = match builtin {
                    BuiltIn::GlobalInvocationId => &global,
                    BuiltIn::LocalInvocationId => &local,
                    BuiltIn::WorkGroupId => &launch.workgroup,
                    BuiltIn::NumWorkGroups => &launch.workgroups,
                    BuiltIn::WorkGroupSize => &size,
                    BuiltIn::LocalInvocationIndex => &[index],
                    BuiltIn::NumSubgroups => &[subgroups],
                    BuiltIn::SubgroupId => &[self.id],
                    BuiltIn::SubgroupSize => &[W as u32],
                    BuiltIn::SubgroupInvocationId => &[lane as u32],
                    _ => &[],
                };
                for (word, row) in value.iter().zip(*reg as usize..) {
                    self.registers[row][lane] = *word;
                }
            }
        }
    }

    pub(super) fn is_running(&self) -> bool {
        !self.groups.is_empty() || !self.together.is_empty()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.live == 0
    }

    /// The barrier at which all its invocations wait together.
    pub(super) fn barrier(&self) -> Option<u32> {
        match self.arrived.as_slice() {
            [only] if only.mask == self.launched => Some(only.at),
            _ => None,
        }
    }

    /// Whether it waits at the same barrier as another, in the same rounds of loops.
    pub(super) fn is_beside(&self, other: &Self, loops: &[Loop]) -> bool {
        let (here, there) = (self.barrier(), other.barrier());
        here == there && here.is_some_and(|at| self.rounds.of(loops, at, 0).eq(other.rounds.of(loops, at, 0)))
    }

    /// The invocations that wait at barriers.
    pub(super) fn waiting(&self, loops: &[Loop]) -> impl Iterator<Item = Waiting> {
        self.arrived.iter().map(|group| {
            let rounds = self.rounds.of(loops, group.at, group.mask.trailing_zeros() as usize).collect();
            Waiting { at: group.at, rounds, invocations: self.local(group.mask).collect() }
        })
    }

    /// The instructions at which invocations returned, with their local indices.
    pub(super) fn returned(&self) -> impl Iterator<Item = (u32, Vec<u32>)> {
        self.returned.iter().map(|group| (group.at, self.local(group.mask).collect()))
    }

    fn local(&self, mask: Mask) -> impl Iterator<Item = u32> + use<W> {
        let first = self.id * W as u32;
        lanes(mask).map(move |lane| first + lane as u32)
    }

    /// Goes on behind the barrier.
    pub(super) fn pass(&mut self) {
        for Group { at, mask } in self.arrived.drain(..) {
            self.groups.add(at + 1, mask);
        }
    }

    /// Executes until all lanes wait at a barrier or have returned, or it is another subgroup's turn.
    pub(super) fn turn<O: Watch>(
        &mut self,
        program: &Program,
        resources: &Resources<'_>,
        counts: &mut Counts,
        watch: &mut O,
    ) -> Result<(), Endless> {
        watch.subgroup(self.id);
        self.turn = match &mut self.groups.random {
            Some(random) => 1 + random.below(GROUPS_A_TURN) as u32,
            None => self.a_turn,
        };
        while self.turn > 0 {
            let Some(group) = self.groups.take().or_else(|| self.meet(program, watch)) else { break };
            self.run(group, program, resources, counts, watch)?;
        }
        Ok(())
    }

    /// Where no lanes can go on but those that wait for each other at operations of the subgroup: those that are behind
    /// the others. Only where all lanes have come is it sure that they go on together: in divergent flow a part of them may.
    fn meet<O: Watch>(&mut self, program: &Program, watch: &mut O) -> Option<Group> {
        let random = self.groups.random.as_mut()?;
        let groups = self.together.iter().enumerate();
        let (place, _) = groups.min_by(|(_, one), (_, two)| self.rounds.compare_groups(&program.loops, one, two))?;
        let mut group = self.together.swap_remove(place);
        let is_barrier = matches!(program.code[group.at as usize].op, Op::SubgroupBarrier);
        if group.mask != self.launched && !is_barrier {
            let (now, later) = random.split(group.mask);
            if later != 0 {
                self.together.push(Group { mask: later, ..group });
                group.mask = now;
            }
        }
        self.met = Some(group.at);
        watch.apart(group, self.together.iter().chain(&self.arrived).copied());
        Some(group)
    }

    /// Where the first lane is that is not among these: an instruction, or none where all are here.
    fn missing(&self, mask: Mask) -> Option<(u32, usize)> {
        let lane = lanes(self.launched & !mask).next()?;
        let mut elsewhere = self.groups.iter().chain(&self.together).chain(&self.arrived).chain(&self.returned);
        elsewhere.find(|group| group.mask >> lane & 1 == 1).map(|group| (group.at, lane))
    }

    /// Executes one group until it has to stop for another.
    fn run<O: Watch>(
        &mut self,
        group: Group,
        program: &Program,
        resources: &Resources<'_>,
        counts: &mut Counts,
        watch: &mut O,
    ) -> Result<(), Endless> {
        let Group { mut at, mask } = group;
        self.activate(mask);
        let mut issues = 0_u64;
        let stop = self.groups.next_stop();
        let mut fuel = self.groups.fuel();
        let outcome = loop {
            if at >= stop {
                self.groups.add(at, self.active.mask);
                break Ok(());
            }
            let Instruction { op, is_issue } = program.code[at as usize];
            if O::INDEPENDENT && self.groups.random.is_some() {
                if fuel == 0 {
                    self.turn = self.turn.saturating_sub(1);
                    self.groups.add(at, self.active.mask);
                    break Ok(());
                }
                fuel -= 1;
                let waits = self.rendezvous && op.is_of_subgroup() || matches!(op, Op::SubgroupBarrier);
                if waits && self.met.take() != Some(at) {
                    self.rounds.gather(&program.loops, at, self.active.mask, &mut self.together);
                    break Ok(());
                }
            }
            issues += u64::from(is_issue);
            watch.issue(at, self.active.mask, is_issue);
            match self.execute(at, op, program, resources, watch) {
                Flow::On => at += 1,
                Flow::Left => break Ok(()),
                Flow::To(target) => {
                    if target <= at {
                        let rounds = self.rounds.again(&program.loops, at, self.active.mask);
                        if rounds > self.iterations || self.jumps == 0 {
                            break Err(Endless { at, running: self.local(self.active.mask).collect() });
                        }
                        self.jumps -= 1;
                        self.turn = self.turn.saturating_sub(1);
                        watch.again(at, self.active.mask);
                    }
                    // The lanes may be others now.
                    if self.active.mask != mask || self.turn == 0 {
                        self.groups.add(target, self.active.mask);
                        break Ok(());
                    }
                    at = target;
                }
            }
        };
        counts.issues += issues;
        counts.active_lanes += issues * u64::from(mask.count_ones());
        outcome
    }

    fn activate(&mut self, mask: Mask) {
        self.active.mask = mask;
        self.active.is_full = mask == self.live;
        if !self.active.is_full {
            for (lane, select) in self.active.select.iter_mut().enumerate() {
                *select = if mask >> lane & 1 == 0 { 0 } else { u32::MAX };
            }
        }
    }

    #[inline(always)]
    fn row(&self, reg: Reg) -> &Row<W> {
        &self.registers[reg as usize]
    }

    /// Writes the lanes that are active.
    #[inline(always)]
    fn set(&mut self, reg: Reg, row: &Row<W>) {
        let to = &mut self.registers[reg as usize];
        if self.active.is_full {
            *to = *row;
        } else {
            for lane in 0..W {
                let select = self.active.select[lane];
                to[lane] = row[lane] & select | to[lane] & !select;
            }
        }
    }

    #[inline(always)]
    fn wide_row(&self, reg: Reg) -> [u64; W] {
        let (low, high) = (self.row(reg), self.row(reg + 1));
        std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
    }

    #[inline(always)]
    fn set_wide(&mut self, reg: Reg, row: &[u64; W]) {
        self.set(reg, &row.map(|word| word as u32));
        self.set(reg + 1, &row.map(|word| (word >> 32) as u32));
    }

    /// The bytes that each lane addresses.
    #[inline(always)]
    fn addresses(&self, address: Address) -> Row<W> {
        match address.dynamic {
            // Out of bounds stays so.
            Some(dynamic) => self.row(dynamic).map(|bytes| bytes.saturating_add(address.constant)),
            None => [address.constant; W],
        }
    }

    #[inline(always)]
    fn execute<O: Watch>(
        &mut self,
        at: u32,
        op: Op,
        program: &Program,
        resources: &Resources<'_>,
        watch: &mut O,
    ) -> Flow {
        let views = &resources.views;
        if op.is_of_subgroup() {
            watch.subgroup_operation(at, self.active.mask);
        }
        match op {
            Op::Copy { to, from, count } => {
                for i in 0..count {
                    let row = *self.row(from + i);
                    self.set(to + i, &row);
                }
            }
            Op::Fill { to, from, count } => {
                let row = *self.row(from);
                for i in 0..count {
                    self.set(to + i, &row);
                }
            }
            Op::Unary { op, to, x } => self.set(to, &op.row([self.row(x)])),
            Op::Binary { op, to, x, y } => self.set(to, &op.row([self.row(x), self.row(y)])),
            Op::Ternary { op, to, x, y, z } => self.set(to, &op.row([self.row(x), self.row(y), self.row(z)])),
            Op::WideUnary { op, to, x } => self.set_wide(to, &op.row([&self.wide_row(x)])),
            Op::WideBinary { op, to, x, y } => self.set_wide(to, &op.row([&self.wide_row(x), &self.wide_row(y)])),
            Op::WideCompare { op, to, x, y } => self.set(to, &op.row([&self.wide_row(x), &self.wide_row(y)])),
            Op::Widen { op, to, x } => self.set_wide(to, &op.row([self.row(x)])),
            Op::Narrow { op, to, x } => self.set(to, &op.row([&self.wide_row(x)])),
            Op::Index { to, base, index, stride, length } => {
                let length = match length {
                    Length::Fixed(length) => length,
                    Length::Runtime(array) => views[usize::from(array.slot)].length(array.offset, array.stride),
                };
                let base = base.map_or([0; W], |base| *self.row(base));
                let index = self.row(index);
                watch.index(at, self.active.mask, index, length);
                let row = std::array::from_fn(|lane| {
                    let step = index[lane].wrapping_mul(stride);
                    if index[lane] < length { base[lane].saturating_add(step) } else { OUT_OF_BOUNDS }
                });
                self.set(to, &row);
            }
            Op::LoadRows { to, rows, dynamic, count } => {
                let dynamic = *self.row(dynamic);
                for i in 0..count {
                    let mut row = [0; W];
                    for lane in lanes(self.active.mask).filter(|lane| dynamic[*lane] != OUT_OF_BOUNDS) {
                        row[lane] = self.registers[(rows + dynamic[lane] + i) as usize][lane];
                    }
                    self.set(to + i, &row);
                }
            }
            Op::StoreRows { rows, dynamic, from, count } => {
                let dynamic = *self.row(dynamic);
                for i in 0..count {
                    let row = *self.row(from + i);
                    for lane in lanes(self.active.mask).filter(|lane| dynamic[*lane] != OUT_OF_BOUNDS) {
                        self.registers[(rows + dynamic[lane] + i) as usize][lane] = row[lane];
                    }
                }
            }
            Op::Load { to, address, count, atomic } => {
                let view = views[usize::from(address.slot)];
                self.tell(watch, at, address, (count, 4), if atomic { Access::AtomicRead } else { Access::Read });
                if address.dynamic.is_none() {
                    for i in 0..count {
                        self.set(to + i, &[view.read(address.constant / 4 + i); W]);
                    }
                } else {
                    let addresses = self.addresses(address);
                    for i in 0..count {
                        self.set(to + i, &addresses.map(|byte| view.read(byte / 4 + i)));
                    }
                }
            }
            Op::Store { address, from, count, atomic } => {
                let view = views[usize::from(address.slot)];
                self.tell(watch, at, address, (count, 4), if atomic { Access::AtomicWrite } else { Access::Write });
                let addresses = self.addresses(address);
                for i in 0..count {
                    let row = self.row(from + i);
                    for lane in lanes(self.active.mask) {
                        view.write(addresses[lane] / 4 + i, row[lane]);
                    }
                }
            }
            Op::LoadHalf { to, address, kind } => {
                let view = views[usize::from(address.slot)];
                self.tell(watch, at, address, HALF, Access::Read);
                let row = self.addresses(address).map(|byte| view.read(byte / 4) >> (8 * (byte & 2)) & 0xffff);
                self.set(
                    to,
                    &match kind {
                        ScalarKind::Float => Unary::HalfToFloat.row([&row]),
                        ScalarKind::Sint => Unary::ToInt16.row([&row]),
                        _ => row,
                    },
                );
            }
            Op::StoreHalf { address, from, kind } => {
                let view = views[usize::from(address.slot)];
                self.tell(watch, at, address, HALF, Access::Write);
                let addresses = self.addresses(address);
                let row = match kind {
                    ScalarKind::Float => Unary::FloatToHalf.row([self.row(from)]),
                    _ => Unary::ToUint16.row([self.row(from)]),
                };
                for lane in lanes(self.active.mask) {
                    let shift = 8 * (addresses[lane] & 2);
                    if let Some(word) = view.word(addresses[lane] / 4) {
                        update(word, |old| old & !(0xffff << shift) | row[lane] << shift);
                    }
                }
            }
            Op::ArrayLength { to, array } => {
                let length = views[usize::from(array.slot)].length(array.offset, array.stride);
                self.set(to, &[length; W]);
            }
            Op::Atomic { update: how, is_read, old, address, value } => {
                self.tell(watch, at, address, (1, 4), how.access(is_read));
                let value = *self.row(value);
                self.each_word(views, address, |this, lane, word| {
                    this.registers[old as usize][lane] = match how {
                        Update::Exchange => word.map_or(0, |word| word.swap(value[lane], SeqCst)),
                        Update::Combine(op) => {
                            word.map_or(0, |word| update(word, |before| op.lane([before, value[lane]])))
                        }
                    };
                });
            }
            Op::CompareExchange { old, exchanged, address, compare, value } => {
                self.tell(watch, at, address, (1, 4), Access::AtomicUpdate);
                let (compare, value) = (*self.row(compare), *self.row(value));
                self.each_word(views, address, |this, lane, word| {
                    let result =
                        word.map_or(Err(0), |word| word.compare_exchange(compare[lane], value[lane], SeqCst, SeqCst));
                    this.registers[exchanged as usize][lane] = result.is_ok().into();
                    this.registers[old as usize][lane] = result.unwrap_or_else(|before| before);
                });
            }
            Op::WideAtomic { update: how, is_read, old, address, value } => {
                self.tell(watch, at, address, (2, 4), how.access(is_read));
                let value = self.wide_row(value);
                self.each_wide_word(views, address, old, |_, lane, before| {
                    Some(match how {
                        Update::Exchange => value[lane],
                        Update::Combine(op) => op.lane([before, value[lane]]),
                    })
                });
            }
            Op::WideCompareExchange { old, exchanged, address, compare, value } => {
                self.tell(watch, at, address, (2, 4), Access::AtomicUpdate);
                let (compare, value) = (self.wide_row(compare), self.wide_row(value));
                self.each_wide_word(views, address, old, |this, lane, before| {
                    let equal = before == compare[lane];
                    this.registers[exchanged as usize][lane] = equal.into();
                    equal.then_some(value[lane])
                });
            }
            Op::WideAtomicLoad { to, address } => {
                self.tell(watch, at, address, (2, 4), Access::AtomicRead);
                self.each_wide_word(views, address, to, |_, _, _| None);
            }
            Op::TextureQuery { to, texture, query } => {
                let view = resources.textures[usize::from(texture)];
                match query {
                    Query::Levels => self.set(to, &[view.levels(); W]),
                    Query::Layers => self.set(to, &[view.size(0)[2]; W]),
                    Query::Size { axes, level } => {
                        let sizes = level.map_or([0; W], |level| *self.row(level)).map(|level| view.size(level));
                        for axis in 0..axes {
                            self.set(to + axis, &sizes.map(|size| size[axis as usize]));
                        }
                    }
                }
            }
            Op::TextureLoad { to, texture, at: place, level } => {
                let view = resources.textures[usize::from(texture)];
                let mut numbers = [OUT_OF_BOUNDS; W];
                self.each_texel(to, |this, lane| {
                    let (level, place) = (level.map_or(0, |level| this.row(level)[lane]), this.three(place, lane));
                    if let Some((axis, index, length)) = view.beyond(level, place) {
                        watch.beyond(at, lane, axis, index, length);
                        return [0; 4];
                    }
                    numbers[lane] = view.number(level, place);
                    view.load(level, place)
                });
                self.tell_texels(watch, at, program.texels(texture), &mut numbers, Access::Read);
            }
            Op::TextureStore { texture, at: place, from } => {
                let view = resources.textures[usize::from(texture)];
                let mut numbers = [OUT_OF_BOUNDS; W];
                for lane in lanes(self.active.mask) {
                    let place = self.three(place, lane);
                    if let Some((axis, index, length)) = view.beyond(0, place) {
                        watch.beyond(at, lane, axis, index, length);
                        continue;
                    }
                    numbers[lane] = view.number(0, place);
                    view.store(place, std::array::from_fn(|i| self.row(from + i as Reg)[lane]));
                }
                self.tell_texels(watch, at, program.texels(texture), &mut numbers, Access::Write);
            }
            Op::TextureSample { to, texture, sampler, at, axes, offset, how } => {
                let view = resources.textures[usize::from(texture)];
                let sampler = resources.samplers[usize::from(sampler)];
                self.each_texel(to, |this, lane| {
                    let offset = offset.map_or([0; 3], |offset| this.three(offset, lane)).map(|word| word as i32);
                    let spot = Spot { at: this.three(at, lane), axes, offset };
                    match how {
                        Sampling::Level(level) => view.sample(sampler, &spot, f32::from_bits(this.row(level)[lane])),
                        Sampling::Gather(component) => view.gather(sampler, &spot, component as usize),
                    }
                });
            }
            Op::Ballot { to, predicate } => {
                let ballot = self.active.mask & predicate.map_or(Mask::MAX, |predicate| !zeros(self.row(predicate)));
                for word in 0..4 {
                    self.set(to + word, &[(ballot >> (32 * word)) as u32; W]);
                }
            }
            Op::Vote { all, to, x } => {
                let against = zeros(self.row(x)) & self.active.mask;
                let vote = if all { against == 0 } else { against != self.active.mask };
                self.set(to, &[vote.into(); W]);
            }
            Op::Collective { op, kind, identity, to, x } => {
                let row = collective(self.active.mask, kind, identity, self.row(x), |x, y| op.lane([x, y]));
                self.set(to, &row);
            }
            Op::WideCollective { op, kind, identity, to, x } => {
                let row = collective(self.active.mask, kind, identity, &self.wide_row(x), |x, y| op.lane([x, y]));
                self.set_wide(to, &row);
            }
            Op::Gather { source, to, x } => {
                match source {
                    Source::Lane(reg) | Source::Up(reg) | Source::Down(reg) | Source::Xor(reg) | Source::Quad(reg) => {
                        watch.gather(at, self.active.mask, source, self.row(reg));
                    }
                    Source::QuadSwap(bits) => watch.gather(at, self.active.mask, source, &[bits; W]),
                    Source::First => {}
                }
                let row = self.gather(source, self.row(x));
                self.set(to, &row);
            }
            Op::Barrier(_) => {
                self.rounds.gather(&program.loops, at, self.active.mask, &mut self.arrived);
                return Flow::Left;
            }
            Op::SubgroupBarrier => {
                if O::INDEPENDENT {
                    let mask = self.active.mask;
                    watch.subgroup_barrier(Group { at, mask }, self.missing(mask));
                }
            }
            Op::Branch { condition, otherwise } => {
                let leave = zeros(self.row(condition)) & self.active.mask;
                if leave == 0 {
                    return Flow::On;
                }
                if leave != self.active.mask {
                    let stay = self.active.mask & !leave;
                    // The group that is behind goes on: the others wait.
                    self.groups.add(at + 1, stay);
                    self.active.mask = leave;
                }
                return Flow::To(otherwise);
            }
            Op::Switch { selector, table } => {
                let selector = *self.row(selector);
                let table = &program.tables[table as usize];
                for lane in lanes(self.active.mask) {
                    let case = table.cases.iter().find(|(value, _)| *value == selector[lane]);
                    self.groups.add(case.map_or(table.default, |(_, target)| *target), 1 << lane);
                }
                return Flow::Left;
            }
            Op::Jump(target) => return Flow::To(target),
            Op::Return => {
                self.live &= !self.active.mask;
                self.returned.push(Group { at, mask: self.active.mask });
                return Flow::Left;
            }
        }
        Flow::On
    }

    /// Tells of an access of the active lanes to so many units of so many bytes.
    #[inline(always)]
    fn tell<O: Watch>(&self, watch: &mut O, at: u32, address: Address, (units, bytes): (u32, u32), access: Access) {
        if O::LOOKS_AT_MEMORY {
            let addresses = &self.addresses(address);
            let (slot, mask) = (address.slot, self.active.mask);
            watch.touch(&Touch { at, slot, access, mask, addresses, units, bytes });
        }
    }

    /// Tells of an access of the active lanes to texels of these numbers.
    fn tell_texels<O: Watch>(&self, watch: &mut O, at: u32, slot: u16, numbers: &mut [u32; W], access: Access) {
        if O::LOOKS_AT_MEMORY {
            for number in numbers.iter_mut().filter(|number| **number != OUT_OF_BOUNDS) {
                *number *= 4;
            }
            let mask = self.active.mask;
            watch.texels(&Touch { at, slot, access, mask, addresses: &*numbers, units: 1, bytes: 4 });
        }
    }

    /// A lane's words in three registers.
    fn three(&self, first: Reg, lane: usize) -> [u32; 3] {
        std::array::from_fn(|i| self.row(first + i as Reg)[lane])
    }

    /// Puts four words for each active lane into registers.
    fn each_texel(&mut self, to: Reg, mut texel: impl FnMut(&Self, usize) -> [u32; 4]) {
        let mut rows = [[0; W]; 4];
        for lane in lanes(self.active.mask) {
            for (row, word) in rows.iter_mut().zip(texel(self, lane)) {
                row[lane] = word;
            }
        }
        for (reg, row) in (to..).zip(&rows) {
            self.set(reg, row);
        }
    }

    /// Visits the words that the active lanes address, in the order of the lanes.
    fn each_word(
        &mut self,
        views: &[View<'_>],
        address: Address,
        mut visit: impl FnMut(&mut Self, usize, Option<&AtomicU32>),
    ) {
        let addresses = self.addresses(address);
        let view = views[usize::from(address.slot)];
        for lane in lanes(self.active.mask) {
            visit(self, lane, view.word(addresses[lane] / 4));
        }
    }

    /// Updates the wide words that the active lanes address with what the function gives for the old one, which goes to
    /// a register. One thread at a time does so.
    fn each_wide_word(
        &mut self,
        views: &[View<'_>],
        address: Address,
        old: Reg,
        mut visit: impl FnMut(&mut Self, usize, u64) -> Option<u64>,
    ) {
        let _alone = alone();
        let addresses = self.addresses(address);
        let view = views[usize::from(address.slot)];
        for lane in lanes(self.active.mask) {
            let word = addresses[lane] / 4;
            let before = u64::from(view.read(word)) | u64::from(view.read(word + 1)) << 32;
            if let Some(after) = visit(self, lane, before) {
                view.write(word, after as u32);
                view.write(word + 1, (after >> 32) as u32);
            }
            self.registers[old as usize][lane] = before as u32;
            self.registers[old as usize + 1][lane] = (before >> 32) as u32;
        }
    }

    /// What each lane reads of another's word: zero where the other is not active.
    fn gather(&self, source: Source, x: &Row<W>) -> Row<W> {
        let mask = self.active.mask;
        let from = |lane: u32| if lane < W as u32 && mask >> lane & 1 == 1 { x[lane as usize] } else { 0 };
        let with = |reg: Reg, other: fn(u32, u32) -> u32| -> Row<W> {
            let row = self.row(reg);
            std::array::from_fn(|lane| from(other(lane as u32, row[lane])))
        };
        match source {
            Source::First => [from(mask.trailing_zeros()); W],
            Source::Lane(reg) => with(reg, |_, other| other),
            Source::Up(reg) => with(reg, u32::wrapping_sub),
            Source::Down(reg) => with(reg, u32::wrapping_add),
            Source::Xor(reg) => with(reg, |lane, bits| lane ^ bits),
            Source::Quad(reg) => with(reg, |lane, place| lane & !3 | place & 3),
            Source::QuadSwap(bits) => std::array::from_fn(|lane| from(lane as u32 ^ bits)),
        }
    }
}

impl<B> Update<B> {
    /// How it touches memory. An exchange leaves nothing of what was there, unless that is read.
    fn access(&self, is_read: bool) -> Access {
        match self {
            Self::Exchange if !is_read => Access::AtomicWrite,
            _ => Access::AtomicUpdate,
        }
    }
}

/// The lanes whose word is zero.
fn zeros<const W: usize>(row: &Row<W>) -> Mask {
    row.chunks(32).enumerate().fold(0, |mask, (i, words)| {
        let bits = words.iter().enumerate().fold(0, |bits, (lane, word)| bits | u32::from(*word == 0) << lane);
        mask | Mask::from(bits) << (32 * i)
    })
}

/// A reduction or scan over the active lanes, in their order.
fn collective<T: Copy, const W: usize>(
    mask: Mask,
    kind: CollectiveOperation,
    identity: T,
    x: &[T; W],
    combine: impl Fn(T, T) -> T,
) -> [T; W] {
    let mut row = [identity; W];
    let mut sum = None;
    for lane in lanes(mask) {
        let before = sum;
        let after = before.map_or(x[lane], |before| combine(before, x[lane]));
        sum = Some(after);
        row[lane] = match kind {
            CollectiveOperation::ExclusiveScan => before.unwrap_or(identity),
            _ => after,
        };
    }
    match kind {
        CollectiveOperation::Reduce => [sum.unwrap_or(identity); W],
        _ => row,
    }
}

/// Replaces a word by what the function makes of it, and gives the old one.
fn update(word: &AtomicU32, with: impl Fn(u32) -> u32) -> u32 {
    let mut before = word.load(Relaxed);
    loop {
        match word.compare_exchange_weak(before, with(before), SeqCst, Relaxed) {
            Ok(before) => return before,
            Err(now) => before = now,
        }
    }
}

/// Buffers are made of 32-bit words, so 64-bit atomics exclude each other instead.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
