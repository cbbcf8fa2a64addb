//! Runs a shader on the simulator and looks for what a GPU hides.
//!
//! ```
//! use wavelane::simt::check::{self, CheckOptions, FindingKind, Run};
//!
//! # fn main() -> Result<(), wavelane::Error> {
//! let text = "
//!     var<workgroup> tile: array<u32, 64>;
//!     @group(0) @binding(0) var<storage, read_write> out: array<u32>;
//!     @compute @workgroup_size(64) fn reverse(@builtin(local_invocation_index) i: u32) {
//!         tile[i] = i;
//!         out[i] = tile[63u - i];
//!     }";
//! let report = check::check(text, &Run::reflect(text, None)?, &CheckOptions::default())?;
//! let race = &report.findings[0];
//! assert_eq!((race.kind, race.at.line), (FindingKind::DataRace, Some(5)));
//! assert_eq!(race.other.as_ref().and_then(|other| other.line), Some(6));
//! # Ok(()) }
//! ```
//!
//! # What is found
//!
//! Every [`FindingKind`], by execution: what a run does not reach is not seen. A race is told from the order that
//! barriers give, not from what happened to be read, so one run in lockstep finds races that no GPU shows. Storage is put
//! in order by `storageBarrier`, workgroup memory by `workgroupBarrier`, texels by `textureBarrier`; workgroups of one
//! dispatch are in no order, and atomics of WGSL put nothing else in order.
//!
//! The shader runs in lockstep first, then under schedules in which lanes and subgroups go on independently of each
//! other, one for each seed, and workgroups start in another order. The same seed gives the same schedule. Where neither
//! lockstep nor the first of these ends a loop, no more are tried, but whether it ends where all workgroups go on at once.
//!
//! # What is not found
//!
//! Values are not followed: a lane that reads another that does not take part may well leave the value alone, and zeros of
//! workgroup memory that nobody wrote may be meant. Such findings are of [`Level::Warning`].
//!
//! Components of a vector are places of their own. WGSL lets an implementation access the whole vector where a shader
//! writes one component, so that by its letter two invocations which write `v.x` and `v.y` have to be put in order; naga
//! writes the component alone.

mod run;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

pub use run::{Buffer, Fill, Run, Sampler, Texture};

use super::machine::checks::{Checks, Detail, Found, Kind, Who};
use super::machine::groups::{Group, Mask, lanes};
use super::machine::watch::Access;
use super::machine::{self, Bound, Cause, Dispatch, Fault, How, Missing};
use super::program::{Program, Slot, WORKGROUP, layout};
use super::{Counts, SimtOptions};
use crate::error::{Error, Result};
use crate::shader::{MAX_LANES, MIN_LANES};

/// How a shader is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Lanes of a subgroup: a power of two from 4 to 128.
    pub lanes: u32,
    /// Schedules of independent lanes that are tried behind the one in lockstep.
    pub schedules: u32,
    /// The seed of the first of them; the others follow.
    pub seed: u64,
    /// Rounds of a loop, counted from where an invocation enters it, after which it is taken to be endless.
    pub iterations: u32,
    /// Whether independent lanes wait for each other at operations of the subgroup, as WGSL has it in uniform control flow.
    /// Without, one takes part with whom it meets there: as on a device that brings lanes together nowhere.
    pub rendezvous: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { lanes: SimtOptions::DEFAULT_LANES, schedules: 8, seed: 1, iterations: 1 << 18, rendezvous: true }
    }
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Each once, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// The schedules, lockstep first: fewer than were asked for where the first two do not end a loop.
    pub schedules: Vec<Outcome>,
}

/// What became of one schedule.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed; none for lockstep.
    pub seed: Option<u64>,
    /// What was issued; none where the run could not go on.
    pub counts: Option<Counts>,
    /// Whether every buffer held the same bytes at the end as after lockstep.
    pub same_as_lockstep: bool,
}

/// What kind of mistake a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// Two invocations touch a word, at least one writes, not both by atomics, and nothing puts them in order.
    DataRace,
    /// A barrier that only some invocations of a workgroup reach, or that some reach at another line or in another round
    /// of a loop; a barrier of the subgroup that not all its lanes reach together.
    DivergentBarrier,
    /// An operation of the subgroup in which other lanes take part under another schedule.
    DivergentSubgroupOperation,
    /// An index beyond the end. WGSL leaves open what is read, and drops what is written or puts it elsewhere.
    OutOfBounds,
    /// A word is read that nobody wrote. Workgroup memory begins as zeros, so this is defined there, and a warning.
    NeverWritten,
    /// A lane reads the value of a lane that does not take part, which is a warning. Shifts beyond the ends of a subgroup do not count: a scan
    /// leaves what they read alone.
    InactiveLane,
    /// A loop that does not end.
    EndlessLoop,
    /// A loop that ends under another schedule only: lanes in step, or workgroups in another order or one after the other,
    /// wait for ever.
    ScheduleDependentLoop,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::DataRace,
        Self::DivergentBarrier,
        Self::DivergentSubgroupOperation,
        Self::OutOfBounds,
        Self::NeverWritten,
        Self::InactiveLane,
        Self::EndlessLoop,
        Self::ScheduleDependentLoop,
    ];

    /// Its name: `data-race`.
    pub fn name(self) -> &'static str {
        match self {
            Self::DataRace => "data-race",
            Self::DivergentBarrier => "divergent-barrier",
            Self::DivergentSubgroupOperation => "divergent-subgroup-operation",
            Self::OutOfBounds => "out-of-bounds",
            Self::NeverWritten => "never-written",
            Self::InactiveLane => "inactive-lane",
            Self::EndlessLoop => "endless-loop",
            Self::ScheduleDependentLoop => "schedule-dependent-loop",
        }
    }

    /// What it is, in a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::DataRace => {
                "Two invocations touch a word, at least one writes, not both by atomics, and nothing puts them in order."
            }
            Self::DivergentBarrier => {
                "A barrier that only some invocations of a workgroup or subgroup reach, or that some reach at another line or in \
                 another round of a loop."
            }
            Self::DivergentSubgroupOperation => {
                "An operation of the subgroup in which other lanes take part under another schedule."
            }
            Self::OutOfBounds => "An index beyond the end, or memory beyond the end of a buffer.",
            Self::NeverWritten => "A word is read that nobody wrote.",
            Self::InactiveLane => "A lane reads the value of a lane that does not take part.",
            Self::EndlessLoop => "A loop that does not end.",
            Self::ScheduleDependentLoop => {
                "A loop that ends under another schedule only: lanes in step, or workgroups in another order or one after the \
                 other, wait for ever."
            }
        }
    }
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// It may be what is meant: zeros of workgroup memory that nobody wrote, or a value of a lane that does not take part,
    /// which the reader may leave alone.
    Warning,
    /// Results rest on what is not defined, or on the schedule.
    Error,
}

impl Level {
    /// Its name: `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which.
    pub kind: FindingKind,
    /// How grave it is.
    pub level: Level,
    /// In a sentence.
    pub message: String,
    /// Where it shows, and for whom.
    pub at: Place,
    /// The other side: of a race, of a barrier; where other lanes wait meanwhile, of an operation of the subgroup.
    pub other: Option<Place>,
    /// The variable whose end an index is beyond.
    pub variable: Option<String>,
    /// How often it was seen under the schedule that showed it first.
    pub times: u64,
    /// That schedule's seed; none for lockstep.
    pub seed: Option<u64>,
}

/// A line of the shader, and the invocations that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The line, from 1.
    pub line: Option<u32>,
    /// The function it stands in.
    pub function: String,
    /// The line's text.
    pub text: String,
    /// What the invocations do there.
    pub what: String,
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// Local invocation indices.
    pub invocations: Vec<u32>,
}

/// Checks a shader.
///
/// # Errors
/// [`ErrorKind::InvalidShader`](crate::ErrorKind::InvalidShader) for text that is not valid WGSL, or uses what the
/// simulator does not execute; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an entry point, a
/// width, a grid or a binding that does not fit. What the shader does wrong is no error but a finding.
pub fn check(text: &str, run: &Run, options: &CheckOptions) -> Result<Report> {
    let lanes = options.lanes;
    if !lanes.is_power_of_two() || !(MIN_LANES..=MAX_LANES).contains(&lanes) {
        return Err(Error::argument(format!(
            "a simulated subgroup has a power of two from {MIN_LANES} to {MAX_LANES} lanes, not {lanes}"
        )));
    }
    let (module, info) = validated(text)?;
    let (_, entry) = find_entry(&module, Some(&run.entry))?;
    if options.iterations == 0 || options.seed.checked_add(options.schedules.into()).is_none() {
        return Err(Error::argument("a loop may go round once at least, and no seed is beyond 2^64 - 1"));
    }
    // Values that do not fit are the run's mistake, everything else that cannot be compiled is the shader's.
    for (name, value) in &run.overrides {
        let constant = module.overrides.iter().map(|(_, constant)| constant).find(|constant| key(constant) == *name);
        let Some(ty) = constant.map(|constant| layout::inner(&module, constant.ty)) else { continue };
        let range = match ty.scalar() {
            Some(naga::Scalar::U32) => 0.0..=f64::from(u32::MAX),
            Some(naga::Scalar::I32) => f64::from(i32::MIN)..=f64::from(i32::MAX),
            _ => continue,
        };
        if value.fract() != 0.0 || !range.contains(value) {
            let (from, to) = range.into_inner();
            return Err(Error::argument(format!("{name} is a whole number from {from} to {to}, not {value}")));
        }
    }
    with_overrides(&module, &info, &entry.name, &run.overrides)?;
    let program = Program::compile(&module, &info, &entry.name, &constants(&run.overrides), lanes, Some(text))
        .map_err(Error::shader)?;
    let invocations: u64 = program.workgroup_size.iter().map(|size| u64::from(*size)).product();
    if invocations > MOST_INVOCATIONS {
        return Err(Error::argument(format!(
            "a workgroup has at most {MOST_INVOCATIONS} invocations, not {invocations}"
        )));
    }
    if let Some(count) = run.workgroups.iter().find(|count| !(1..=MOST_WORKGROUPS).contains(*count)) {
        return Err(Error::argument(format!(
            "a grid has from 1 to {MOST_WORKGROUPS} workgroups a dimension, not {count}"
        )));
    }
    let rendezvous = options.rendezvous;
    let mut checker = Checker { module: &module, program: &program, run, rendezvous, findings: Vec::new() };
    let lockstep = checker.schedule(None, options.iterations)?;
    let is_endless = |ran: &Ran| matches!(&ran.counts, Err(Fault { cause: Cause::Endless { .. }, .. }));
    // An independent lane that waits goes round while the others jump one by one. Where those in step did not end, a few
    // rounds more tell whether the others pass each other.
    let alone = lanes.min(invocations as u32);
    let iterations = match is_endless(&lockstep) {
        false => options.iterations.saturating_add(lockstep.most_jumps.saturating_mul(alone)),
        true => options.iterations.saturating_mul(2),
    };
    // The most jumps with which a schedule ended.
    let mut enough = 0;
    let mut schedules = vec![Outcome { seed: None, counts: lockstep.counts.clone().ok(), same_as_lockstep: true }];
    let mut ended = lockstep.counts.is_ok();
    for seed in (0..u64::from(options.schedules)).map(|nth| options.seed + nth) {
        let one = checker.schedule(Some(seed), iterations)?;
        if let Some(finding) = checker.other_lanes(seed, &lockstep.together, &one) {
            keep(&mut checker.findings, finding);
        }
        if one.counts.is_ok() {
            ended = true;
            enough = enough.max(one.most_jumps);
        }
        let both_endless = is_endless(&lockstep) && is_endless(&one) && !ended;
        let same_as_lockstep = one.contents == lockstep.contents;
        schedules.push(Outcome { seed: Some(seed), counts: one.counts.ok(), same_as_lockstep });
        if both_endless {
            break;
        }
    }
    let mut findings = std::mem::take(&mut checker.findings);
    without_consequences(&mut findings);
    // Lockstep must not end either where it may go round as often as the schedule that ended.
    let ends_otherwise = ended
        && is_endless(&lockstep)
        && (enough <= options.iterations || is_endless(&checker.schedule(None, enough)?));
    // WGSL does not promise that workgroups go on beside each other, but they do on a GPU that has room for all.
    let ends_resident = !ended && is_endless(&lockstep) && checker.ends_resident(options.iterations)?;
    for finding in findings.iter_mut().filter(|finding| finding.kind == FindingKind::EndlessLoop) {
        let message = match finding.seed {
            None if ends_otherwise => {
                "a loop that does not end while the lanes of a subgroup are in step, and ends otherwise"
            }
            Some(_) if ended => "a loop that does not end under this schedule, and ends under another",
            _ if ends_resident => "a loop that ends only while all workgroups run at once, which WGSL does not promise",
            _ => continue,
        };
        finding.kind = FindingKind::ScheduleDependentLoop;
        finding.message = message.into();
    }
    Ok(Report { findings, schedules })
}

/// The lines that make a finding another: both of a race, elsewhere the one where it shows.
fn sides(finding: &Finding) -> impl Iterator<Item = (Option<u32>, String)> {
    let other = finding.other.as_ref().filter(|_| finding.kind == FindingKind::DataRace);
    [Some(&finding.at), other].into_iter().flatten().map(|place| (place.line, place.function.clone()))
}

/// As wgpu limits them on the simulated device.
const MOST_INVOCATIONS: u64 = 1024;
const MOST_WORKGROUPS: u32 = 65_535;

/// Workgroups that are executed at once, where a loop may wait for any of them: more than a GPU holds.
const MOST_RESIDENT: u64 = 4096;

/// A shader without the word `subgroups` in its directives: WGSL wants it for operations of a subgroup, naga takes them
/// without it and refuses it. Everything stays in its line and column.
fn without_subgroups_directive(text: &str) -> String {
    const WORD: &str = "subgroups";
    let one = |line: &str| {
        let Some(list) = line.trim_start().strip_prefix("enable ") else { return line.to_string() };
        let Some((list, rest)) = list.split_once(';') else { return line.to_string() };
        let others: Vec<_> = list.split(',').filter(|name| name.trim() != WORD).collect();
        let directive = if others.is_empty() { String::new() } else { format!("enable {};", others.join(",")) };
        format!("{directive:width$}{rest}", width = line.len() - rest.len())
    };
    text.split_inclusive('\n').map(one).collect()
}

fn validated(text: &str) -> Result<(naga::Module, naga::valid::ModuleInfo)> {
    let text = &without_subgroups_directive(text);
    let capabilities = naga::valid::Capabilities::all();
    let mut options = naga::front::wgsl::Options::new();
    options.capabilities = capabilities;
    let module = naga::front::wgsl::Frontend::new_with_options(options)
        .parse(text)
        .map_err(|error| Error::shader(error.emit_to_string(text)))?;
    let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|error| Error::shader(error.emit_to_string(text)))?;
    Ok((module, info))
}

type Overridden<'a> = (Cow<'a, naga::Module>, Cow<'a, naga::valid::ModuleInfo>);

/// An entry point with all it uses, where overrides have these values or their own.
fn with_overrides<'a>(
    module: &'a naga::Module,
    info: &'a naga::valid::ModuleInfo,
    entry: &str,
    values: &BTreeMap<String, f64>,
) -> Result<Overridden<'a>> {
    let entry = Some((naga::ShaderStage::Compute, entry));
    naga::back::pipeline_constants::process_overrides(module, info, entry, &constants(values))
        .map_err(|error| Error::argument(error.to_string()))
}

fn constants(values: &BTreeMap<String, f64>) -> naga::back::PipelineConstants {
    values.iter().map(|(name, value)| (name.clone(), *value)).collect()
}

/// By what a value is given to an override: its number if it has one.
fn key(constant: &naga::Override) -> String {
    constant.id.map(|id| id.to_string()).or_else(|| constant.name.clone()).unwrap_or_default()
}

fn find_entry<'a>(module: &'a naga::Module, name: Option<&str>) -> Result<(usize, &'a naga::EntryPoint)> {
    let points = module.entry_points.iter().enumerate();
    let points: Vec<_> = points.filter(|(_, point)| point.stage == naga::ShaderStage::Compute).collect();
    let known: Vec<_> = points.iter().map(|(_, point)| point.name.as_str()).collect();
    match (name, points.as_slice()) {
        (_, []) => Err(Error::argument("the shader has no compute entry point")),
        (None, [only]) => Ok(*only),
        (None, _) => {
            Err(Error::argument(format!("the shader has several entry points, name one: {}", known.join(", "))))
        }
        (Some(name), _) => points.iter().copied().find(|(_, point)| point.name == name).ok_or_else(|| {
            Error::argument(format!("the shader has no compute entry point {name}, but {}", known.join(", ")))
        }),
    }
}

/// Which lanes took part in operations of the subgroup: by workgroup, local index and instruction, each time.
type Together = HashMap<([u32; 3], u32, u32), Vec<Mask>>;

/// Where other lanes waited when some met at an operation: by workgroup, subgroup, and those who met.
type Apart = HashMap<([u32; 3], u32, Group), Vec<Group>>;

struct Checker<'a> {
    module: &'a naga::Module,
    program: &'a Program,
    run: &'a Run,
    rendezvous: bool,
    findings: Vec<Finding>,
}

/// What one schedule left.
struct Ran {
    counts: Result<Counts, Fault>,
    contents: Vec<Vec<u8>>,
    together: Together,
    apart: Apart,
    most_jumps: u32,
}

impl Checker<'_> {
    /// Runs under one schedule, with so many rounds of its loops, and keeps what is found.
    fn schedule(&mut self, seed: Option<u64>, iterations: u32) -> Result<Ran> {
        let program = self.program;
        let bindings = self.run.bind(self.module)?;
        let is_empty = |slot: usize| match program.slots.get(slot) {
            Some(&Slot::Binding { group, binding }) => {
                let buffer = self.run.buffers.iter().find(|buffer| (buffer.group, buffer.binding) == (group, binding));
                buffer.is_some_and(|buffer| buffer.fill == Fill::Empty)
            }
            _ => false,
        };
        let mut checks = Checks::new(program, is_empty);
        let how = How { workers: 1, iterations, seed, rendezvous: self.rendezvous, resident: false };
        let dispatch = self.dispatch(&bindings);
        let counts = machine::run_watched(&dispatch, how, &mut checks);
        let tell = Teller(program);
        for found in &checks.found {
            keep(&mut self.findings, tell.finding(found, seed));
        }
        match &counts {
            Err(Fault { cause: Cause::Refused(message), .. }) => return Err(Error::argument(message.clone())),
            Err(fault) => keep(&mut self.findings, tell.fault(&fault.cause, seed)),
            Ok(_) => {}
        }
        let contents = bindings.iter().map(|bound| bound.resource.contents()).collect();
        let Checks { together, apart, most_jumps, .. } = checks;
        Ok(Ran { counts, contents, together, apart, most_jumps })
    }

    fn dispatch<'b>(&'b self, bindings: &'b [Bound]) -> Dispatch<'b> {
        Dispatch { program: self.program, workgroups: self.run.workgroups, bindings, immediates: &[0; 256] }
    }

    /// Whether it ends where all workgroups are there at once.
    fn ends_resident(&self, iterations: u32) -> Result<bool> {
        let workgroups: u64 = self.run.workgroups.into_iter().map(u64::from).product();
        let how = How { resident: true, iterations, ..How::in_step(1) };
        Ok((2..=MOST_RESIDENT).contains(&workgroups)
            && machine::run(&self.dispatch(&self.run.bind(self.module)?), how).is_ok())
    }

    /// The first operation of a subgroup in which other lanes took part than in lockstep.
    fn other_lanes(&self, seed: u64, lockstep: &Together, ran: &Ran) -> Option<Finding> {
        let differs = |(key, masks): &(&([u32; 3], u32, u32), &Vec<Mask>)| {
            let before = lockstep.get(*key)?;
            let nth = before.iter().zip(*masks).position(|(before, now)| before != now)?;
            Some((**key, before[nth], masks[nth]))
        };
        let width = self.program.lanes;
        // Those who are missing may wait elsewhere.
        let elsewhere = |&((workgroup, local, at), before, now): &(([u32; 3], u32, u32), Mask, Mask)| {
            let groups = ran.apart.get(&(workgroup, local / width, Group { at, mask: now }))?;
            groups.iter().find(|group| group.mask & before & !now != 0)
        };
        let all = ran.together.iter().filter_map(|entry| differs(&entry));
        let first = all.min_by_key(|one| {
            let (workgroup, local, at) = one.0;
            (at, elsewhere(one).is_none(), workgroup, local)
        })?;
        let elsewhere = elsewhere(&first);
        let ((workgroup, local, at), before, now) = first;
        let other = elsewhere.map(|group| {
            let missing = lanes(group.mask & before & !now).map(|lane| local / width * width + lane as u32);
            Teller(self.program).place(group.at, "wait meanwhile", workgroup, missing.collect())
        });
        Some(Finding {
            kind: FindingKind::DivergentSubgroupOperation,
            level: Level::Error,
            message: format!(
                "other lanes take part under another schedule: {} in lockstep, {} under seed {seed}",
                lanes_of(before),
                lanes_of(now)
            ),
            at: Teller(self.program).place(at, "takes part", workgroup, vec![local]),
            other,
            variable: None,
            times: 1,
            seed: Some(seed),
        })
    }
}

/// Tells of instructions of a program in words of its text.
#[derive(Clone, Copy)]
struct Teller<'a>(&'a Program);

impl Teller<'_> {
    fn place(&self, at: u32, what: &str, workgroup: [u32; 3], invocations: Vec<u32>) -> Place {
        let (line, function) = self.0.line(at);
        let text = line.map_or(String::new(), |line| self.0.text(line).to_string());
        Place { line, function: function.into(), text, what: what.into(), workgroup, invocations }
    }

    fn by(&self, (at, who): (u32, Who), what: &str) -> Place {
        self.place(at, what, who.workgroup, vec![who.local])
    }

    /// A byte of memory, as the shader calls it.
    fn byte(&self, slot: u16, byte: u32) -> String {
        if let Some(texture) = self.0.texture(slot) {
            return format!("a texel of `{}`", texture.name);
        }
        match self.0.variable(slot, byte) {
            (name, 0) => format!("`{name}`"),
            (name, offset) => format!("byte {offset} of `{name}`"),
        }
    }

    fn fault(&self, cause: &Cause, seed: Option<u64>) -> Finding {
        let (kind, message, at, other) = match cause {
            Cause::NotUniform { at, workgroup, reached, missing } => (
                FindingKind::DivergentBarrier,
                match missing {
                    Missing::OtherRound(_) => {
                        "a barrier that invocations of the workgroup reach in different rounds of a loop"
                    }
                    _ => "a barrier that not all invocations of the workgroup reach",
                },
                self.place(*at, "waits", *workgroup, reached.clone()),
                match missing {
                    Missing::At(other, who) => self.place(*other, "waits", *workgroup, who.clone()),
                    Missing::OtherRound(who) => self.place(*at, "waits in another round", *workgroup, who.clone()),
                    Missing::Returned(end, who) => self.place(*end, "has returned", *workgroup, who.clone()),
                },
            ),
            Cause::Endless { at, workgroup, running } => {
                let place = self.place(*at, "goes round", *workgroup, running.clone());
                let message = "a loop that does not end".into();
                return Finding {
                    kind: FindingKind::EndlessLoop,
                    level: Level::Error,
                    message,
                    at: place,
                    other: None,
                    variable: None,
                    times: 1,
                    seed,
                };
            }
            Cause::Refused(_) => unreachable!("what is refused is no finding"),
        };
        let (level, message) = (Level::Error, message.into());
        Finding { kind, level, message, at, other: Some(other), variable: None, times: 1, seed }
    }

    fn finding(&self, found: &Found, seed: Option<u64>) -> Finding {
        let is_index = matches!(found.detail, Detail::Index { .. } | Detail::Texel { .. });
        let variable = self.0.indexes(found.at.0).filter(|_| is_index).map(str::to_string);
        let level = match (found.kind, found.detail) {
            (Kind::InactiveLane, _) | (Kind::NeverWritten, Detail::Byte { slot: WORKGROUP, .. }) => Level::Warning,
            _ => Level::Error,
        };
        let of = variable.as_ref().map_or(String::new(), |name| format!(" of `{name}`"));
        let (message, what, other) = match found.detail {
            Detail::Race { slot, byte, access, other } => (
                format!("two invocations touch {}, and nothing puts them in order", self.byte(slot, byte)),
                word(access),
                word(other),
            ),
            Detail::Index { index, length } => {
                (format!("index {} of {length} elements{of}", index as i32), "indexes", "")
            }
            Detail::Texel { axis, index, length } => {
                (format!("{axis} {} of {length}{of}", index as i32), "indexes", "")
            }
            Detail::Byte { slot, byte } => {
                (format!("{} is read before anybody writes it", self.byte(slot, byte)), "reads", "")
            }
            Detail::Barrier => {
                ("a barrier of the subgroup that not all its lanes reach together".into(), "waits", "goes on")
            }
            Detail::Lane { from } => (format!("lane {from}, which does not take part, is read"), "reads", ""),
        };
        let (mut at, mut other) = (self.by(found.at, what), found.other.map(|side| self.by(side, other)));
        // Both sides of a race are alike: they stand in the order of the text.
        if let Some(other) = other.as_mut().filter(|other| found.kind == Kind::Race && other.line < at.line) {
            std::mem::swap(&mut at, other);
        }
        Finding {
            kind: match found.kind {
                Kind::Race => FindingKind::DataRace,
                Kind::OutOfBounds => FindingKind::OutOfBounds,
                Kind::NeverWritten => FindingKind::NeverWritten,
                Kind::InactiveLane => FindingKind::InactiveLane,
                Kind::SplitBarrier => FindingKind::DivergentBarrier,
            },
            level,
            message,
            at,
            other,
            variable,
            times: found.times,
            seed,
        }
    }
}

/// What was found while this program was executed under one schedule.
pub(super) fn findings(program: &Program, found: &[Found], seed: Option<u64>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for found in found {
        keep(&mut findings, Teller(program).finding(found, seed));
    }
    without_consequences(&mut findings);
    findings
}

/// Keeps a finding whose lines and variable none of the same kind is about.
pub(super) fn keep(findings: &mut Vec<Finding>, finding: Finding) {
    let key = |finding: &Finding| {
        let mut sides: Vec<_> = sides(finding).collect();
        sides.sort();
        (finding.kind, sides, finding.variable.clone())
    };
    if findings.iter().all(|have| key(have) != key(&finding)) {
        findings.push(finding);
    }
}

/// Drops what is a race's: words that it leaves unwritten.
fn without_consequences(findings: &mut Vec<Finding>) {
    let raced: Vec<_> =
        findings.iter().filter(|finding| finding.kind == FindingKind::DataRace).flat_map(sides).collect();
    findings.retain(|finding| {
        finding.kind != FindingKind::NeverWritten || !raced.contains(&(finding.at.line, finding.at.function.clone()))
    });
}

/// What an invocation does to memory, in a word.
fn word(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::AtomicRead => "reads by an atomic",
        Access::AtomicWrite => "writes by an atomic",
        Access::AtomicUpdate => "updates by an atomic",
    }
}

/// Lanes in words: `lanes 0 to 7, 12`.
fn lanes_of(mask: Mask) -> String {
    let lanes: Vec<_> = lanes(mask).map(|lane| lane as u32).collect();
    format!("{} {}", if lanes.len() == 1 { "lane" } else { "lanes" }, ranges(&lanes))
}

/// Numbers that grow, in words: `0 to 7, 12`.
pub fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = runs.filter_map(|run| match run {
        [only] => Some(only.to_string()),
        [first, second] => Some(format!("{first}, {second}")),
        [first, .., last] => Some(format!("{first} to {last}")),
        [] => None,
    });
    text.collect::<Vec<_>>().join(", ")
}
