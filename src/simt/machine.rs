//! Executes programs: workgroups on threads of the host, subgroups of a workgroup in turns, lanes of a subgroup in step.

mod groups;
mod subgroup;
mod view;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::counts::Counts;
use super::memory::Memory;
use super::program::{Program, Slot};
use subgroup::{Launch, Subgroup};
use view::View;

/// A buffer, where a program finds it.
pub(crate) struct Bound {
    pub(crate) group: u32,
    pub(crate) binding: u32,
    pub(crate) memory: Arc<Memory>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
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
    message: String,
}

impl Fault {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// A fault of an instruction.
    fn at(program: &Program, at: u32, what: &str) -> Self {
        Self::new(format!("{what}: {}", program.place(at)))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Jumps backwards that a subgroup may do in a workgroup: a loop that has not ended after them is taken to be endless.
const MAX_ITERATIONS: u32 = 1 << 26;

/// Executes a dispatch on so many threads.
pub(crate) fn run(dispatch: &Dispatch<'_>, workers: usize) -> Result<Counts, Fault> {
    run_within(dispatch, workers, MAX_ITERATIONS)
}

/// As [`run`], with so many jumps backwards for each subgroup of a workgroup.
fn run_within(dispatch: &Dispatch<'_>, workers: usize, iterations: u32) -> Result<Counts, Fault> {
    // Rows of lanes have a length that the compiler knows, so that loops over them become vector instructions.
    match dispatch.program.lanes {
        4 => run_at::<4>(dispatch, workers, iterations),
        8 => run_at::<8>(dispatch, workers, iterations),
        16 => run_at::<16>(dispatch, workers, iterations),
        32 => run_at::<32>(dispatch, workers, iterations),
        64 => run_at::<64>(dispatch, workers, iterations),
        128 => run_at::<128>(dispatch, workers, iterations),
        lanes => Err(Fault::new(format!("a subgroup of {lanes} lanes is not simulated"))),
    }
}

fn run_at<const W: usize>(dispatch: &Dispatch<'_>, workers: usize, iterations: u32) -> Result<Counts, Fault> {
    let [x, y, z] = dispatch.workgroups.map(u64::from);
    let total = x * y * z;
    let immediates = Memory::zeroed(dispatch.immediates.len() as u64);
    immediates.write(0, dispatch.immediates);
    // Workgroups start in order, so that one may wait for those before it.
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let work = || -> Result<Counts, Fault> {
        let mut workgroup = Workgroup::<W>::new(dispatch, &immediates)?;
        let mut counts = Counts::default();
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= total {
                break;
            }
            let id = [index % x, index / x % y, index / (x * y)].map(|i| i as u32);
            if let Err(fault) = workgroup.run(id, iterations, &mut counts) {
                stop.store(true, Ordering::Relaxed);
                return Err(fault);
            }
        }
        Ok(counts)
    };
    let workers = workers.min(usize::try_from(total).unwrap_or(usize::MAX));
    if workers < 2 {
        return work();
    }
    let outcome = Mutex::new(Ok(Counts::default()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let counts = work();
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                match (outcome.as_mut(), counts) {
                    (Ok(sum), Ok(counts)) => sum.add(&counts),
                    (Ok(_), Err(fault)) => *outcome = Err(fault),
                    (Err(_), _) => {}
                }
            });
        }
    });
    outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A workgroup that is executed again and again, so that its registers are allocated once.
struct Workgroup<'a, const W: usize> {
    dispatch: &'a Dispatch<'a>,
    memory: Memory,
    views: Vec<View<'a>>,
    subgroups: Vec<Subgroup<W>>,
}

impl<'a, const W: usize> Workgroup<'a, W> {
    fn new(dispatch: &'a Dispatch<'a>, immediates: &'a Memory) -> Result<Self, Fault> {
        let program = dispatch.program;
        let mut views = Vec::new();
        for slot in &program.slots {
            views.push(match slot {
                // Its own memory takes this place when it runs.
                Slot::Workgroup => View::empty(),
                Slot::Immediates => View::new(immediates, 0, immediates.bytes()),
                Slot::Binding { group, binding } => dispatch
                    .bindings
                    .iter()
                    .find(|bound| (bound.group, bound.binding) == (*group, *binding))
                    .map(|bound| View::new(&bound.memory, bound.offset, bound.size))
                    .ok_or_else(|| Fault::new(format!("nothing is bound to group {group}, binding {binding}")))?,
            });
        }
        let invocations: u32 = program.workgroup_size.iter().product();
        let count = invocations.div_ceil(W as u32);
        let subgroups =
            (0..count).map(|id| Subgroup::new(program, id, (invocations - id * W as u32).min(W as u32))).collect();
        Ok(Self { dispatch, memory: Memory::zeroed(program.workgroup_bytes.into()), views, subgroups })
    }

    fn run(&mut self, id: [u32; 3], iterations: u32, counts: &mut Counts) -> Result<(), Fault> {
        let program = self.dispatch.program;
        for word in self.memory.words() {
            word.store(0, Ordering::Relaxed);
        }
        let mut views = self.views.clone();
        views[0] = View::new(&self.memory, 0, self.memory.bytes());
        let launch = Launch { workgroup: id, workgroups: self.dispatch.workgroups, iterations };
        for subgroup in &mut self.subgroups {
            subgroup.launch(program, &launch);
        }
        loop {
            // In turns until all of them wait or have ended.
            while self.subgroups.iter().any(Subgroup::is_running) {
                for subgroup in self.subgroups.iter_mut().filter(|subgroup| subgroup.is_running()) {
                    subgroup.turn(program, &views, counts)?;
                }
            }
            let Some(barrier) = self.subgroups.iter().find_map(Subgroup::barrier) else { return Ok(()) };
            if self.subgroups.iter().any(|subgroup| subgroup.barrier() != Some(barrier)) {
                return Err(Fault::at(program, barrier, NOT_UNIFORM));
            }
            std::sync::atomic::fence(Ordering::SeqCst);
            for subgroup in &mut self.subgroups {
                subgroup.pass();
            }
        }
    }
}

const NOT_UNIFORM: &str = "a barrier that not all invocations of the workgroup reach";

#[cfg(test)]
mod tests;
