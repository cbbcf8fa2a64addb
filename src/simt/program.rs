//! The flat bytecode that the machine executes, and its making.
//!
//! A register is one word for every lane of a subgroup. A value has one register for each scalar component, two for a
//! 64-bit one. Local and private variables are ranges of registers; all other variables lie in slots of memory, at byte
//! offsets. Calls are inlined: WGSL has no recursion, and a pointer argument is then a place like any other.

pub(crate) mod layout;
mod lower;
mod math;

use naga::{BuiltIn, CollectiveOperation, Span};

use super::operation::{Binary, Narrow, Ternary, Unary, WideBinary, WideCompare, WideUnary, Widen};

/// The index of a register.
pub(crate) type Reg = u32;

/// What the arithmetic of addresses gives for an index out of bounds. It stays so through further indices; loads from it
/// give zero, and stores to it do nothing.
pub(crate) const OUT_OF_BOUNDS: u32 = u32::MAX;

/// The number of elements that an index is held against.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    Fixed(u32),
    /// As many as the memory holds.
    Runtime(RuntimeArray),
}

/// An array that fills the rest of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeArray {
    pub(crate) slot: u16,
    pub(crate) offset: u32,
    pub(crate) stride: u32,
}

/// A place in a slot: a constant number of bytes, and a register with more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) slot: u16,
    pub(crate) constant: u32,
    pub(crate) dynamic: Option<Reg>,
}

/// How a subgroup's lanes choose whom to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    First,
    Lane(Reg),
    Up(Reg),
    Down(Reg),
    Xor(Reg),
    /// The lane with this index in the quad.
    Quad(Reg),
    /// The lane of the quad whose index differs in these bits.
    QuadSwap(u32),
}

/// How an atomic instruction updates a word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Update<B> {
    Exchange,
    Combine(B),
}

/// What a shader asks of a texture.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Query {
    /// Its extent in so many dimensions, at a level.
    Size {
        axes: u32,
        level: Option<Reg>,
    },
    Levels,
    Layers,
}

/// How a texture is sampled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sampling {
    /// A texel of the level that a register says.
    Level(Reg),
    /// A component of four texels.
    Gather(u32),
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Copy {
        to: Reg,
        from: Reg,
        count: u32,
    },
    Fill {
        to: Reg,
        from: Reg,
        count: u32,
    },
    Unary {
        op: Unary,
        to: Reg,
        x: Reg,
    },
    Binary {
        op: Binary,
        to: Reg,
        x: Reg,
        y: Reg,
    },
    Ternary {
        op: Ternary,
        to: Reg,
        x: Reg,
        y: Reg,
        z: Reg,
    },
    WideUnary {
        op: WideUnary,
        to: Reg,
        x: Reg,
    },
    WideBinary {
        op: WideBinary,
        to: Reg,
        x: Reg,
        y: Reg,
    },
    WideCompare {
        op: WideCompare,
        to: Reg,
        x: Reg,
        y: Reg,
    },
    Widen {
        op: Widen,
        to: Reg,
        x: Reg,
    },
    Narrow {
        op: Narrow,
        to: Reg,
        x: Reg,
    },
    Index {
        to: Reg,
        base: Option<Reg>,
        index: Reg,
        stride: u32,
        length: Length,
    },
    LoadRows {
        to: Reg,
        rows: Reg,
        dynamic: Reg,
        count: u32,
    },
    StoreRows {
        rows: Reg,
        dynamic: Reg,
        from: Reg,
        count: u32,
    },
    Load {
        to: Reg,
        address: Address,
        count: u32,
        atomic: bool,
    },
    Store {
        address: Address,
        from: Reg,
        count: u32,
        atomic: bool,
    },
    LoadHalf {
        to: Reg,
        address: Address,
        kind: naga::ScalarKind,
    },
    StoreHalf {
        address: Address,
        from: Reg,
        kind: naga::ScalarKind,
    },
    ArrayLength {
        to: Reg,
        array: RuntimeArray,
    },
    Atomic {
        update: Update<Binary>,
        /// Whether anything depends on the old value.
        is_read: bool,
        old: Reg,
        address: Address,
        value: Reg,
    },
    CompareExchange {
        old: Reg,
        exchanged: Reg,
        address: Address,
        compare: Reg,
        value: Reg,
    },
    WideAtomic {
        update: Update<WideBinary>,
        is_read: bool,
        old: Reg,
        address: Address,
        value: Reg,
    },
    WideCompareExchange {
        old: Reg,
        exchanged: Reg,
        address: Address,
        compare: Reg,
        value: Reg,
    },
    WideAtomicLoad {
        to: Reg,
        address: Address,
    },
    TextureQuery {
        to: Reg,
        texture: u16,
        query: Query,
    },
    /// Four registers, from the texel that three say: column, row, and slice or layer.
    TextureLoad {
        to: Reg,
        texture: u16,
        at: Reg,
        level: Option<Reg>,
    },
    TextureStore {
        texture: u16,
        at: Reg,
        from: Reg,
    },
    /// Four registers, from the place that three say, of which so many are floats, and three more move by texels.
    TextureSample {
        to: Reg,
        texture: u16,
        sampler: u16,
        at: Reg,
        axes: u32,
        offset: Option<Reg>,
        how: Sampling,
    },
    Ballot {
        to: Reg,
        predicate: Option<Reg>,
    },
    Vote {
        all: bool,
        to: Reg,
        x: Reg,
    },
    Collective {
        op: Binary,
        kind: CollectiveOperation,
        identity: u32,
        to: Reg,
        x: Reg,
    },
    WideCollective {
        op: WideBinary,
        kind: CollectiveOperation,
        identity: u64,
        to: Reg,
        x: Reg,
    },
    Gather {
        source: Source,
        to: Reg,
        x: Reg,
    },
    /// All invocations of the workgroup meet, and what they did to these kinds of memory is in order.
    Barrier(naga::Barrier),
    /// The lanes of the subgroup meet.
    SubgroupBarrier,
    /// Lanes whose condition is zero go elsewhere.
    Branch {
        condition: Reg,
        otherwise: u32,
    },
    Switch {
        selector: Reg,
        table: u32,
    },
    Jump(u32),
    Return,
}

impl Op {
    /// Whether it is an issue: see [`Counts`](super::Counts).
    fn is_issue(&self) -> bool {
        !matches!(
            self,
            Self::Copy { .. }
                | Self::Fill { .. }
                | Self::Index { .. }
                | Self::LoadRows { .. }
                | Self::StoreRows { .. }
                | Self::Unary { op: Unary::RoundToHalf | Unary::ToInt16 | Unary::ToUint16, .. }
                | Self::Jump(_)
                | Self::Return
        )
    }

    /// Applies a function to every register that is named.
    fn each_register(&mut self, mut f: impl FnMut(&mut Reg)) {
        let mut address_of = None;
        match self {
            Self::Copy { to, from, .. } | Self::Fill { to, from, .. } => [to, from].into_iter().for_each(f),
            Self::Unary { to, x, .. }
            | Self::WideUnary { to, x, .. }
            | Self::Widen { to, x, .. }
            | Self::Narrow { to, x, .. }
            | Self::Vote { to, x, .. }
            | Self::Collective { to, x, .. }
            | Self::WideCollective { to, x, .. } => [to, x].into_iter().for_each(f),
            Self::Binary { to, x, y, .. } | Self::WideBinary { to, x, y, .. } | Self::WideCompare { to, x, y, .. } => {
                [to, x, y].into_iter().for_each(f);
            }
            Self::Ternary { to, x, y, z, .. } => [to, x, y, z].into_iter().for_each(f),
            Self::Index { to, base, index, .. } => [to, index].into_iter().chain(base).for_each(f),
            Self::LoadRows { to: value, rows, dynamic, .. } | Self::StoreRows { from: value, rows, dynamic, .. } => {
                [value, rows, dynamic].into_iter().for_each(f);
            }
            Self::Load { to: value, address, .. }
            | Self::Store { from: value, address, .. }
            | Self::LoadHalf { to: value, address, .. }
            | Self::StoreHalf { from: value, address, .. }
            | Self::WideAtomicLoad { to: value, address } => {
                f(value);
                address_of = Some((address, f));
            }
            Self::Atomic { old, address, value, .. } | Self::WideAtomic { old, address, value, .. } => {
                [old, value].into_iter().for_each(&mut f);
                address_of = Some((address, f));
            }
            Self::CompareExchange { old, exchanged, address, compare, value }
            | Self::WideCompareExchange { old, exchanged, address, compare, value } => {
                [old, exchanged, compare, value].into_iter().for_each(&mut f);
                address_of = Some((address, f));
            }
            Self::ArrayLength { to, .. } => f(to),
            Self::TextureQuery { to, query, .. } => {
                f(to);
                if let Query::Size { level: Some(level), .. } = query {
                    f(level);
                }
            }
            Self::TextureLoad { to, at, level, .. } => [to, at].into_iter().chain(level).for_each(f),
            Self::TextureStore { at, from, .. } => [at, from].into_iter().for_each(f),
            Self::TextureSample { to, at, offset, how, .. } => {
                [to, at].into_iter().chain(offset).for_each(&mut f);
                if let Sampling::Level(level) = how {
                    f(level);
                }
            }
            Self::Ballot { to, predicate } => [to].into_iter().chain(predicate).for_each(f),
            Self::Gather { source, to, x } => {
                [to, x].into_iter().for_each(&mut f);
                match source {
                    Source::Lane(lane)
                    | Source::Up(lane)
                    | Source::Down(lane)
                    | Source::Xor(lane)
                    | Source::Quad(lane) => f(lane),
                    Source::First | Source::QuadSwap(_) => {}
                }
            }
            Self::Branch { condition: x, .. } | Self::Switch { selector: x, .. } => f(x),
            Self::Barrier(_) | Self::SubgroupBarrier | Self::Jump(_) | Self::Return => {}
        }
        if let Some((Address { dynamic: Some(dynamic), .. }, mut f)) = address_of {
            f(dynamic);
        }
    }

    /// Whether lanes of the subgroup do it together.
    pub(crate) fn is_of_subgroup(&self) -> bool {
        matches!(
            self,
            Self::Ballot { .. }
                | Self::Vote { .. }
                | Self::Collective { .. }
                | Self::WideCollective { .. }
                | Self::Gather { .. }
                | Self::SubgroupBarrier
        )
    }

    /// The slot that it touches by an atomic.
    fn touches_atomically(&self) -> Option<u16> {
        match self {
            Self::Load { address, atomic: true, .. }
            | Self::Store { address, atomic: true, .. }
            | Self::Atomic { address, .. }
            | Self::CompareExchange { address, .. }
            | Self::WideAtomic { address, .. }
            | Self::WideCompareExchange { address, .. }
            | Self::WideAtomicLoad { address, .. } => Some(address.slot),
            _ => None,
        }
    }

    /// The slot where it may find what another invocation left, or leave what depends on who came last.
    fn communicates(&self) -> Option<u16> {
        match self {
            Self::Atomic { update: Update::Combine(_), is_read: false, .. }
            | Self::WideAtomic { update: Update::Combine(_), is_read: false, .. } => None,
            _ => self.touches_atomically(),
        }
    }

    /// The slot that it writes to.
    fn writes(&self) -> Option<u16> {
        match self {
            Self::Store { address, .. }
            | Self::StoreHalf { address, .. }
            | Self::Atomic { address, .. }
            | Self::CompareExchange { address, .. }
            | Self::WideAtomic { address, .. }
            | Self::WideCompareExchange { address, .. } => Some(address.slot),
            _ => None,
        }
    }

    /// The register of a result of one word.
    fn result(&mut self) -> Option<&mut Reg> {
        match self {
            Self::Unary { to, .. }
            | Self::Binary { to, .. }
            | Self::Ternary { to, .. }
            | Self::WideCompare { to, .. }
            | Self::Narrow { to, .. } => Some(to),
            _ => None,
        }
    }
}

/// An instruction, with what the machine wants to know of it at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    pub(crate) is_issue: bool,
}

/// Where the lanes of a switch go.
#[derive(Clone, Debug)]
pub(crate) struct SwitchTable {
    pub(crate) cases: Vec<(u32, u32)>,
    pub(crate) default: u32,
}

/// A loop: its first instruction, and the one that jumps back to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) start: u32,
    pub(crate) back: u32,
}

/// The slot of workgroup memory.
pub(crate) const WORKGROUP: u16 = 0;

/// What a slot of memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Workgroup,
    Immediates,
    Binding { group: u32, binding: u32 },
}

/// A variable in a slot: a range of its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) slot: u16,
    pub(crate) offset: u32,
    pub(crate) name: String,
    /// Whether it is a storage buffer.
    pub(crate) is_storage: bool,
}

/// A texture or a sampler, where it is bound.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) group: u32,
    pub(crate) binding: u32,
    pub(crate) name: String,
}

/// An entry point as bytecode.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) code: Vec<Instruction>,
    /// Where in the text each instruction comes from, and in which function.
    sites: Vec<Site>,
    functions: Vec<String>,
    /// Names of variables that are indexed.
    names: Vec<String>,
    source: Option<String>,
    pub(crate) tables: Vec<SwitchTable>,
    /// In the order of the jumps: a loop stands before those around it.
    pub(crate) loops: Vec<Loop>,
    pub(crate) registers: u32,
    pub(crate) constants: Vec<(Reg, u32)>,
    pub(crate) builtins: Vec<(BuiltIn, Reg)>,
    pub(crate) slots: Vec<Slot>,
    /// The variables of the slots, in the order of their offsets.
    pub(crate) variables: Vec<Variable>,
    pub(crate) textures: Vec<Port>,
    pub(crate) samplers: Vec<Port>,
    pub(crate) workgroup_bytes: u32,
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) lanes: u32,
}

#[derive(Clone, Copy, Debug)]
struct Site {
    span: Span,
    function: u16,
    /// The variable that it indexes, among the names; none is the first.
    indexes: u16,
}

impl Program {
    /// Compiles an entry point of a validated module, whose overrides take these values or their own.
    ///
    /// Given the text of the module, errors and faults name lines. An error names what is not simulated.
    pub(crate) fn compile(
        module: &naga::Module,
        info: &naga::valid::ModuleInfo,
        entry: &str,
        constants: &naga::back::PipelineConstants,
        lanes: u32,
        source: Option<&str>,
    ) -> Result<Self, String> {
        let stage = naga::ShaderStage::Compute;
        let (module, info) =
            naga::back::pipeline_constants::process_overrides(module, info, Some((stage, entry)), constants)
                .map_err(|error| error.to_string())?;
        // Overrides leave one entry point where there were several.
        let index = module
            .entry_points
            .iter()
            .position(|point| point.stage == stage && point.name == entry)
            .ok_or_else(|| format!("there is no compute entry point '{entry}'"))?;
        lower::lower(&module, &info, index, lanes, source)
    }

    /// Where an instruction comes from, in words.
    pub(crate) fn place(&self, at: u32) -> String {
        let site = self.sites[at as usize];
        place(site.span, self.source.as_deref(), &self.functions[usize::from(site.function)])
    }

    /// The line of the text that an instruction comes from, where the text is known, and its function.
    pub(crate) fn line(&self, at: u32) -> (Option<u32>, &str) {
        let Site { span, function, .. } = self.sites[at as usize];
        let line = self.source.as_deref().filter(|_| span.is_defined()).map(|text| span.location(text).line_number);
        (line, &self.functions[usize::from(function)])
    }

    /// The variable that an instruction indexes; none where it is a value without a name.
    pub(crate) fn indexes(&self, at: u32) -> Option<&str> {
        let name = match self.code[at as usize].op {
            Op::TextureLoad { texture, .. } | Op::TextureStore { texture, .. } => {
                &self.textures[usize::from(texture)].name
            }
            _ => &self.names[usize::from(self.sites[at as usize].indexes)],
        };
        (!name.is_empty()).then_some(name)
    }

    /// A line of the text.
    pub(crate) fn text(&self, line: u32) -> &str {
        self.source.as_deref().and_then(|text| text.lines().nth(line as usize - 1)).unwrap_or_default().trim()
    }

    /// The variable that holds this byte of a slot, and how far into it the byte is.
    pub(crate) fn variable(&self, slot: u16, byte: u32) -> (&str, u32) {
        let variables = self.variables.iter().filter(|variable| variable.slot == slot && variable.offset <= byte);
        variables
            .max_by_key(|variable| variable.offset)
            .map_or(("memory", byte), |variable| (&variable.name, byte - variable.offset))
    }

    /// Whether this slot is a storage buffer.
    pub(crate) fn is_storage(&self, slot: u16) -> bool {
        self.variables.iter().any(|variable| variable.slot == slot && variable.is_storage)
    }

    /// Whether any instruction touches this slot by an atomic.
    pub(crate) fn has_atomics(&self, slot: u16) -> bool {
        self.code.iter().any(|instruction| instruction.op.touches_atomically() == Some(slot))
    }

    /// Whether workgroups may depend on each other, without a race: by atomics in storage, other than those that only
    /// collect.
    pub(crate) fn communicates(&self) -> bool {
        let slots = self.code.iter().filter_map(|instruction| instruction.op.communicates());
        slots.into_iter().any(|slot| slot != WORKGROUP)
    }

    /// Whether any instruction writes to this slot.
    pub(crate) fn writes(&self, slot: u16) -> bool {
        self.code.iter().any(|instruction| match instruction.op {
            Op::TextureStore { texture, .. } => self.texels(texture) == slot,
            op => op.writes() == Some(slot),
        })
    }

    /// What stands for the texels of a texture where a slot is asked for: a number behind those of the slots.
    pub(crate) fn texels(&self, texture: u16) -> u16 {
        self.slots.len() as u16 + texture
    }

    /// The texture whose texels this is.
    pub(crate) fn texture(&self, slot: u16) -> Option<&Port> {
        self.textures.get(usize::from(slot).checked_sub(self.slots.len())?)
    }
}

/// A place in the text, in words.
fn place(span: Span, source: Option<&str>, function: &str) -> String {
    match source {
        Some(text) if span.is_defined() => {
            let line = span.location(text).line_number;
            let text = text.lines().nth(line as usize - 1).unwrap_or_default().trim();
            format!("line {line} in fn {function}: {text}")
        }
        _ => format!("fn {function}"),
    }
}
