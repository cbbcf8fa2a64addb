//! Executes programs: workgroups on threads of the host, subgroups of a workgroup in turns, lanes of a subgroup in step.

pub(crate) mod checks;
pub(crate) mod groups;
pub(crate) mod profile;
mod rounds;
mod subgroup;
mod view;
pub(crate) mod watch;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::counts::Counts;
use super::memory::Memory;
use super::program::{Op, Port, Program, Slot};
use super::texture::{self, Sampler};
use groups::Random;
use subgroup::{Endless, Launch, SHORT_TURN, Subgroup, TURN, Waiting};
use view::View;
use watch::{Nobody, Watch};

/// A resource, where a program finds it.
pub(crate) struct Bound {
    pub(crate) group: u32,
    pub(crate) binding: u32,
    pub(crate) resource: Resource,
}

/// What can be bound.
#[derive(Clone)]
pub(crate) enum Resource {
    Buffer { memory: Arc<Memory>, offset: u64, size: u64 },
    Texture(Arc<texture::View>),
    Sampler(Arc<Sampler>),
}

impl Resource {
    /// The bytes of a buffer that are bound, or all of the texture.
    pub(crate) fn contents(&self) -> Vec<u8> {
        match self {
            Self::Buffer { memory, offset, size } => {
                let mut bytes = vec![0; *size as usize];
                memory.read(*offset, &mut bytes);
                bytes
            }
            Self::Texture(view) => view.contents(),
            Self::Sampler(_) => Vec::new(),
        }
    }

    fn view(&self) -> Option<View<'_>> {
        match self {
            Self::Buffer { memory, offset, size } => Some(View::new(memory, *offset, *size)),
            _ => None,
        }
    }

    fn texture(&self) -> Option<&texture::View> {
        match self {
            Self::Texture(view) => Some(view),
            _ => None,
        }
    }

    fn sampler(&self) -> Option<&Sampler> {
        match self {
            Self::Sampler(sampler) => Some(sampler),
            _ => None,
        }
    }
}

/// What a program refers to by index.
#[derive(Clone)]
struct Resources<'a> {
    views: Vec<View<'a>>,
    textures: Vec<&'a texture::View>,
    samplers: Vec<&'a Sampler>,
}

impl<'a> Resources<'a> {
    fn new(dispatch: &'a Dispatch<'a>, immediates: &'a Memory) -> Result<Self, Fault> {
        let program = dispatch.program;
        let refused = |message| Fault::new(Cause::Refused(message), program);
        let bound = |group: u32, binding: u32| {
            let mut bindings = dispatch.bindings.iter();
            bindings
                .find(|bound| (bound.group, bound.binding) == (group, binding))
                .map(|bound| &bound.resource)
                .ok_or_else(|| refused(format!("nothing is bound to group {group}, binding {binding}")))
        };
        let other = |group: u32, binding: u32| {
            refused(format!("what is bound to group {group}, binding {binding} is of another kind"))
        };
        let mut resources = Self { views: Vec::new(), textures: Vec::new(), samplers: Vec::new() };
        for slot in &program.slots {
            resources.views.push(match *slot {
                // Its own memory takes this place when it runs.
                Slot::Workgroup => View::empty(),
                Slot::Immediates => View::new(immediates, 0, immediates.bytes()),
                Slot::Binding { group, binding } => {
                    bound(group, binding)?.view().ok_or_else(|| other(group, binding))?
                }
            });
        }
        for &Port { group, binding, .. } in &program.textures {
            resources.textures.push(bound(group, binding)?.texture().ok_or_else(|| other(group, binding))?);
        }
        for Port { group, binding, name } in &program.samplers {
            let sampler = bound(*group, *binding)?.sampler().ok_or_else(|| other(*group, *binding))?;
            if sampler.is_linear {
                let label = &sampler.label;
                return Err(refused(format!(
                    "the sampler {name} (group {group}, binding {binding}, label '{label}') filters linearly, which is not \
                     simulated"
                )));
            }
            resources.samplers.push(sampler);
        }
        Ok(resources)
    }
}

/// What is to be executed.
pub(crate) struct Dispatch<'a> {
    pub(crate) program: &'a Program,
    pub(crate) workgroups: [u32; 3],
    pub(crate) bindings: &'a [Bound],
    pub(crate) immediates: &'a [u8],
}

/// Why a dispatch could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) cause: Cause,
    /// The cause, and the place in the text.
    message: String,
}

/// What went wrong: at which instruction, in which workgroup, and for which invocations by their local indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The program cannot be executed as it is bound.
    Refused(String),
    /// A barrier at which only some invocations of the workgroup wait, and where others are meanwhile.
    NotUniform { at: u32, workgroup: [u32; 3], reached: Vec<u32>, missing: Missing },
    /// A loop that was still running when its iterations were used up.
    Endless { at: u32, workgroup: [u32; 3], running: Vec<u32> },
}

/// What keeps invocations, by their local indices, from a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They wait at another barrier.
    At(u32, Vec<u32>),
    /// They wait at the same in other rounds of a loop.
    OtherRound(Vec<u32>),
    /// They have returned.
    Returned(u32, Vec<u32>),
}

impl Fault {
    fn new(cause: Cause, program: &Program) -> Self {
        let message = match &cause {
            Cause::Refused(message) => message.clone(),
            Cause::NotUniform { at, .. } => {
                format!("a barrier that not all invocations of the workgroup reach: {}", program.place(*at))
            }
            Cause::Endless { at, .. } => format!("a loop that does not end: {}", program.place(*at)),
        };
        Self { cause, message }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Jumps backwards that the lanes of a subgroup may do in a workgroup: what has not ended after them is taken to be endless.
pub(crate) const MAX_ITERATIONS: u32 = 1 << 26;

/// How a dispatch is executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Threads of the host.
    pub(crate) workers: usize,
    /// Rounds of a loop, from where a lane enters it, after which it is taken to be endless.
    pub(crate) iterations: u32,
    /// Where the lanes of a subgroup are independent of each other: what the order comes from in which they and the
    /// workgroups go on.
    pub(crate) seed: Option<u64>,
    /// Whether they wait for each other at operations of the subgroup even so, until no others can go on.
    pub(crate) rendezvous: bool,
    /// Whether all workgroups are there at once and go on in turns, rather than one after the other. Nobody looks on then.
    pub(crate) resident: bool,
}

impl How {
    /// In step, on so many threads.
    pub(crate) fn in_step(workers: usize) -> Self {
        Self { workers, iterations: MAX_ITERATIONS, seed: None, rendezvous: true, resident: false }
    }
}

/// Executes a dispatch.
pub(crate) fn run(dispatch: &Dispatch<'_>, how: How) -> Result<Counts, Fault> {
    run_watched(dispatch, how, &mut Nobody)
}

/// Executes a dispatch, and lets somebody look on.
pub(crate) fn run_watched<O: Watch>(dispatch: &Dispatch<'_>, how: How, watch: &mut O) -> Result<Counts, Fault> {
    // Rows of lanes have a length that the compiler knows, so that loops over them become vector instructions.
    match dispatch.program.lanes {
        4 => run_at::<4, O>(dispatch, how, watch),
        8 => run_at::<8, O>(dispatch, how, watch),
        16 => run_at::<16, O>(dispatch, how, watch),
        32 => run_at::<32, O>(dispatch, how, watch),
        64 => run_at::<64, O>(dispatch, how, watch),
        128 => run_at::<128, O>(dispatch, how, watch),
        lanes => {
            Err(Fault::new(Cause::Refused(format!("a subgroup of {lanes} lanes is not simulated")), dispatch.program))
        }
    }
}

fn run_at<const W: usize, O: Watch>(dispatch: &Dispatch<'_>, how: How, watch: &mut O) -> Result<Counts, Fault> {
    let [x, y, z] = dispatch.workgroups.map(u64::from);
    let total = x * y * z;
    let order = Order::new(total, how.seed);
    let immediates = Memory::zeroed(dispatch.immediates.len() as u64);
    immediates.write(0, dispatch.immediates);
    let id = |index| [index % x, index / x % y, index / (x * y)].map(|i: u64| i as u32);
    if how.resident {
        let started = (0..total).map(|index| {
            let mut workgroup = Workgroup::<W>::new(dispatch, how, &immediates)?;
            workgroup.launch(id(index), index);
            Ok(workgroup)
        });
        return in_turns(started.collect::<Result<_, _>>()?);
    }
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let work = |watch: &mut O| -> Result<Counts, Fault> {
        let mut workgroup = Workgroup::<W>::new(dispatch, how, &immediates)?;
        let mut counts = Counts::default();
        while !stop.load(Ordering::Relaxed) {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            if turn >= total {
                break;
            }
            let index = order.at(turn);
            if let Err(fault) = workgroup.run(id(index), index, &mut counts, watch) {
                stop.store(true, Ordering::Relaxed);
                return Err(fault);
            }
        }
        Ok(counts)
    };
    // What passes between workgroups must not depend on threads.
    let workers = if dispatch.program.communicates() { 1 } else { how.workers };
    let workers = workers.min(usize::try_from(total).unwrap_or(usize::MAX));
    if workers < 2 {
        return work(watch);
    }
    let outcome = Mutex::new((Ok(Counts::default()), watch));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut mine = outcome.lock().unwrap_or_else(PoisonError::into_inner).1.fork();
                let counts = work(&mut mine);
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                outcome.1.join(mine);
                match (outcome.0.as_mut(), counts) {
                    (Ok(sum), Ok(counts)) => sum.add(&counts),
                    (Ok(_), Err(fault)) => outcome.0 = Err(fault),
                    (Err(_), _) => {}
                }
            });
        }
    });
    outcome.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

/// Lets workgroups go on in turns until all have ended.
fn in_turns<const W: usize>(mut workgroups: Vec<Workgroup<'_, W>>) -> Result<Counts, Fault> {
    let mut counts = Counts::default();
    while !workgroups.is_empty() {
        let mut outcome = Ok(());
        workgroups.retain_mut(|workgroup| match workgroup.go_on(&mut counts, &mut Nobody) {
            Ok(goes_on) => goes_on,
            Err(fault) => {
                outcome = Err(fault);
                false
            }
        });
        outcome?;
    }
    Ok(counts)
}

/// The order in which workgroups start.
struct Order {
    total: u64,
    first: u64,
    step: u64,
}

impl Order {
    /// In the order of their indices, so that one may wait for those before it; from a seed, another order.
    fn new(total: u64, seed: Option<u64>) -> Self {
        let Some(seed) = seed.filter(|_| total > 1) else { return Self { total, first: 0, step: 1 } };
        let mut random = Random::new(seed);
        let coprime = |step: &u64| gcd(*step, total) == 1;
        let mut steps = std::iter::repeat_with(|| 1 + random.word() % (total - 1)).filter(coprime);
        // Every other number is one, or one in few is.
        let step = steps.next().unwrap_or(1);
        Self { total, first: Random::new(!seed).word() % total, step }
    }

    /// The workgroup that starts at this turn.
    fn at(&self, turn: u64) -> u64 {
        ((u128::from(self.first) + u128::from(turn) * u128::from(self.step)) % u128::from(self.total)) as u64
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A workgroup that is executed again and again, so that its registers are allocated once.
struct Workgroup<'a, const W: usize> {
    dispatch: &'a Dispatch<'a>,
    how: How,
    id: [u32; 3],
    /// Where lanes are independent: which subgroup goes on.
    random: Option<Random>,
    memory: Memory,
    resources: Resources<'a>,
    subgroups: Vec<Subgroup<W>>,
}

impl<'a, const W: usize> Workgroup<'a, W> {
    fn new(dispatch: &'a Dispatch<'a>, how: How, immediates: &'a Memory) -> Result<Self, Fault> {
        let program = dispatch.program;
        let resources = Resources::new(dispatch, immediates)?;
        let invocations: u32 = program.workgroup_size.iter().product();
        let count = invocations.div_ceil(W as u32);
        let subgroups =
            (0..count).map(|id| Subgroup::new(program, id, (invocations - id * W as u32).min(W as u32))).collect();
        let memory = Memory::zeroed(program.workgroup_bytes.into());
        Ok(Self { dispatch, how, id: [0; 3], random: None, memory, resources, subgroups })
    }

    fn run<O: Watch>(&mut self, id: [u32; 3], index: u64, counts: &mut Counts, watch: &mut O) -> Result<(), Fault> {
        self.launch(id, index);
        watch.workgroup(id);
        self.go_on(counts, watch)?;
        watch.ended();
        Ok(())
    }

    /// Goes on to the end; where all workgroups are there, for a turn. Whether it has not ended.
    fn go_on<O: Watch>(&mut self, counts: &mut Counts, watch: &mut O) -> Result<bool, Fault> {
        let program = self.dispatch.program;
        let mut resources = self.resources.clone();
        resources.views[0] = View::new(&self.memory, 0, self.memory.bytes());
        loop {
            let turn = turn(&mut self.subgroups, &mut self.random, program, &resources, counts, watch);
            let is_running = turn.map_err(|Endless { at, running }| {
                Fault::new(Cause::Endless { at, workgroup: self.id, running }, program)
            })?;
            if is_running {
                if self.how.resident {
                    return Ok(true);
                }
                continue;
            }
            if self.subgroups.iter().all(Subgroup::has_ended) {
                return Ok(false);
            }
            let Some(barrier) = self.barrier() else {
                return Err(Fault::new(self.not_uniform(), program));
            };
            std::sync::atomic::fence(Ordering::SeqCst);
            if let Op::Barrier(orders) = program.code[barrier as usize].op {
                watch.barrier(orders);
            }
            for subgroup in &mut self.subgroups {
                subgroup.pass();
            }
        }
    }

    /// The barrier at which all invocations wait together.
    fn barrier(&self) -> Option<u32> {
        let first = &self.subgroups[0];
        let loops = &self.dispatch.program.loops;
        first.barrier().filter(|_| self.subgroups.iter().all(|subgroup| subgroup.is_beside(first, loops)))
    }

    /// Who waits at the first barrier, and what keeps the others from it.
    fn not_uniform(&self) -> Cause {
        let loops = &self.dispatch.program.loops;
        let mut waiting: Vec<_> = self.subgroups.iter().flat_map(|subgroup| subgroup.waiting(loops)).collect();
        waiting.sort();
        let (at, rounds) = waiting.first().map(|first| (first.at, first.rounds.clone())).unwrap_or_default();
        let those = |which: &dyn Fn(&Waiting) -> bool| -> Vec<u32> {
            waiting.iter().filter(|one| which(one)).flat_map(|one| one.invocations.clone()).collect()
        };
        let reached = those(&|one| one.at == at && one.rounds == rounds);
        let other_round = those(&|one| one.at == at && one.rounds != rounds);
        let missing = if let Some(other) = waiting.iter().map(|one| one.at).find(|other| *other != at) {
            Missing::At(other, those(&|one| one.at == other))
        } else if !other_round.is_empty() {
            Missing::OtherRound(other_round)
        } else {
            let returned = || self.subgroups.iter().flat_map(Subgroup::returned);
            let end = returned().map(|(at, _)| at).min().unwrap_or(at);
            let there = returned().filter(|(at, _)| *at == end).flat_map(|(_, invocations)| invocations);
            Missing::Returned(end, there.collect())
        };
        Cause::NotUniform { at, workgroup: self.id, reached, missing }
    }

    /// Starts it anew.
    fn launch(&mut self, id: [u32; 3], index: u64) {
        self.id = id;
        for word in self.memory.words() {
            word.store(0, Ordering::Relaxed);
        }
        // Subgroups of different workgroups are in different orders.
        let seed = self.how.seed.map(|seed| Random::new(seed ^ index.rotate_left(32)).word());
        self.random = seed.map(Random::new);
        let How { iterations, rendezvous, resident, .. } = self.how;
        let turn = if resident { SHORT_TURN } else { TURN };
        let launch = Launch { workgroup: id, workgroups: self.dispatch.workgroups, iterations, turn, seed, rendezvous };
        for subgroup in &mut self.subgroups {
            subgroup.launch(self.dispatch.program, &launch);
        }
    }
}

/// Lets each subgroup that can go on have a turn, or where their order is random one of them. Whether there was any.
fn turn<const W: usize, O: Watch>(
    subgroups: &mut [Subgroup<W>],
    random: &mut Option<Random>,
    program: &Program,
    resources: &Resources<'_>,
    counts: &mut Counts,
    watch: &mut O,
) -> Result<bool, Endless> {
    let running = subgroups.iter().filter(|subgroup| subgroup.is_running()).count();
    if running == 0 {
        return Ok(false);
    }
    let (skip, take) = random.as_mut().map_or((0, running), |random| (random.below(running), 1));
    let subgroups = subgroups.iter_mut().filter(|subgroup| subgroup.is_running());
    for subgroup in subgroups.skip(skip).take(take) {
        subgroup.turn(program, resources, counts, watch)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
