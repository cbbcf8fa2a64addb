//! naga's tree to bytecode.

use std::collections::HashMap;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, AtomicFunction, Binding, Block, CollectiveOperation, Expression, Function, GatherMode, Handle,
    ImageClass, ImageDimension, ImageQuery, Literal, Module, Scalar, ScalarKind, Span, Statement, SubgroupOperation,
    SwitchValue, TypeInner,
};

use super::layout::{self, Leaf, LeafKind};
use super::{
    Address, Instruction, Length, Loop, Op, Port, Program, Query, Reg, RuntimeArray, Sampling, Site, Slot, Source,
    SwitchTable, Update, Variable, WORKGROUP, place,
};
use crate::simt::operation::{Binary, Ternary, Unary, WideBinary};

pub(super) type Result<T> = std::result::Result<T, String>;

/// Marks the register of a constant until it is known how many others there are.
const CONSTANT: Reg = 1 << 31;
/// More registers than this are a mistake rather than a kernel.
const MAX_REGISTERS: u32 = 1 << 20;

/// A variable or a part of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    space: Space,
    /// Registers or bytes, as the space has it.
    offset: u32,
    dynamic: Option<Reg>,
}

#[derive(Clone, Copy, Debug)]
enum Space {
    /// Registers of each lane.
    Rows,
    /// Workgroup memory: as in registers, without padding.
    Packed,
    /// A buffer, laid out as the host sees it.
    Host(u16),
}

#[derive(Clone, Debug)]
enum Value {
    /// A register for each scalar component. Values never change, so they share registers freely.
    Rows(Vec<Reg>),
    Place(Place),
    /// A texture or a sampler, by its index among the program's.
    Handle(u16),
}

/// A function while its body is compiled.
struct Frame<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    name: u16,
    values: Vec<Option<Value>>,
    arguments: Vec<Value>,
    locals: Vec<Reg>,
    /// Where the result goes; none in an entry point.
    result: Option<Vec<Reg>>,
    returns: Vec<usize>,
    breaks: Vec<Vec<usize>>,
    continues: Vec<Vec<usize>>,
}

pub(super) struct Lowerer<'a> {
    pub(super) module: &'a Module,
    info: &'a ModuleInfo,
    source: Option<&'a str>,
    program: Program,
    pool: HashMap<(u32, Option<u32>), Reg>,
    globals: Vec<Option<Value>>,
    /// Variables in registers that are in scope, with their names.
    in_registers: Vec<(std::ops::Range<Reg>, String)>,
    /// The next free register. A block's registers are free again after it.
    next: Reg,
    most: Reg,
    span: Span,
    frame: Frame<'a>,
}

pub(super) fn lower(
    module: &Module,
    info: &ModuleInfo,
    entry: usize,
    lanes: u32,
    source: Option<&str>,
) -> Result<Program> {
    let point = &module.entry_points[entry];
    let mut lowerer = Lowerer {
        module,
        info,
        source,
        program: Program {
            code: Vec::new(),
            sites: Vec::new(),
            functions: vec![point.name.clone()],
            names: vec![String::new()],
            source: source.map(Into::into),
            tables: Vec::new(),
            loops: Vec::new(),
            registers: 0,
            constants: Vec::new(),
            builtins: Vec::new(),
            slots: vec![Slot::Workgroup],
            variables: Vec::new(),
            textures: Vec::new(),
            samplers: Vec::new(),
            workgroup_bytes: 0,
            workgroup_size: point.workgroup_size,
            lanes,
        },
        pool: HashMap::new(),
        globals: Vec::new(),
        in_registers: Vec::new(),
        next: 0,
        most: 0,
        span: Span::default(),
        frame: Frame::new(&point.function, info.get_entry_point(entry), 0, Vec::new(), None),
    };
    lowerer.entry().map_err(|error| format!("{error} ({})", lowerer.place()))?;
    Ok(lowerer.finish())
}

impl<'a> Frame<'a> {
    fn new(
        function: &'a Function,
        info: &'a FunctionInfo,
        name: u16,
        arguments: Vec<Value>,
        result: Option<Vec<Reg>>,
    ) -> Self {
        Self {
            function,
            info,
            name,
            values: vec![None; function.expressions.len()],
            arguments,
            locals: Vec::new(),
            result,
            returns: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
        }
    }
}

impl<'a> Lowerer<'a> {
    fn place(&self) -> String {
        place(self.span, self.source, &self.program.functions[usize::from(self.frame.name)])
    }

    /// Variables and arguments of the entry point, and its body.
    fn entry(&mut self) -> Result<()> {
        for (handle, variable) in self.module.global_variables.iter() {
            let is_used = !self.frame.info[handle].is_empty();
            self.span = self.module.global_variables.get_span(handle);
            let value = match variable.space {
                _ if !is_used => None,
                AddressSpace::Handle => Some(self.handle(variable)?),
                _ => Some(Value::Place(self.global(variable)?)),
            };
            self.globals.push(value);
        }
        self.span = Span::default();
        for argument in &self.frame.function.arguments {
            let inner = layout::inner(self.module, argument.ty);
            let rows = self.allocate(layout::words(self.module, inner)?)?;
            let len = layout::words(self.module, inner)?;
            match (&argument.binding, inner) {
                (Some(Binding::BuiltIn(builtin)), _) => self.program.builtins.push((*builtin, rows)),
                (None, TypeInner::Struct { members, .. }) => {
                    for (i, member) in members.iter().enumerate() {
                        let Some(Binding::BuiltIn(builtin)) = member.binding else {
                            return Err("an argument that is not a built-in value is not simulated".into());
                        };
                        let at = layout::member(self.module, inner, i as u32)?.words;
                        self.program.builtins.push((builtin, rows + at));
                    }
                }
                _ => return Err("an argument that is not a built-in value is not simulated".into()),
            }
            self.frame.arguments.push(Value::Rows((rows..rows + len).collect()));
        }
        self.body()
    }

    fn global(&mut self, variable: &naga::GlobalVariable) -> Result<Place> {
        let inner = layout::inner(self.module, variable.ty);
        let (space, offset) = match variable.space {
            AddressSpace::Private => {
                let count = layout::words(self.module, inner)?;
                let rows = self.allocate(count)?;
                self.in_registers.push((rows..rows + count, variable.name.clone().unwrap_or_default()));
                match variable.init {
                    Some(init) => {
                        let value = self.constant(init)?;
                        self.copy(rows, &value);
                    }
                    None => self.fill(rows, count),
                }
                (Space::Rows, rows)
            }
            AddressSpace::WorkGroup => {
                let offset = self.program.workgroup_bytes;
                self.program.workgroup_bytes = layout::words(self.module, inner)?
                    .checked_mul(4)
                    .and_then(|bytes| bytes.checked_add(offset))
                    .ok_or("workgroup memory of 4 GiB is not simulated")?;
                (Space::Packed, offset)
            }
            AddressSpace::Storage { .. } | AddressSpace::Uniform => {
                if matches!(inner, TypeInner::BindingArray { .. }) {
                    return Err("an array of bindings is not simulated".into());
                }
                let binding = variable.binding.as_ref().ok_or("a buffer variable has no binding")?;
                (Space::Host(self.slot(Slot::Binding { group: binding.group, binding: binding.binding })), 0)
            }
            AddressSpace::Immediate => (Space::Host(self.slot(Slot::Immediates)), 0),
            other => return Err(format!("the address space {other:?} is not simulated")),
        };
        if let Space::Packed | Space::Host(_) = space {
            let slot = Self::address(Place { space, offset, dynamic: None }).slot;
            let name = variable.name.clone().unwrap_or_default();
            let is_storage = matches!(variable.space, AddressSpace::Storage { .. });
            self.program.variables.push(Variable { slot, offset, name, is_storage });
        }
        Ok(Place { space, offset, dynamic: None })
    }

    /// A texture or a sampler.
    fn handle(&mut self, variable: &naga::GlobalVariable) -> Result<Value> {
        let name = variable.name.clone().unwrap_or_default();
        let ports = match *layout::inner(self.module, variable.ty) {
            TypeInner::Sampler { comparison: false } => &mut self.program.samplers,
            TypeInner::Image { dim, class, .. } => match (dim, class) {
                (ImageDimension::Cube, _) => return Err(not_simulated(&name, "a cube texture")),
                (_, ImageClass::Depth { .. }) => return Err(not_simulated(&name, "a depth texture")),
                (_, ImageClass::External) => return Err(not_simulated(&name, "an external texture")),
                (_, ImageClass::Sampled { multi: true, .. }) => {
                    return Err(not_simulated(&name, "a multisampled texture"));
                }
                (_, ImageClass::Storage { format: naga::StorageFormat::R64Uint, .. }) => {
                    return Err(not_simulated(&name, "a texture of 64-bit integers"));
                }
                _ => &mut self.program.textures,
            },
            TypeInner::Sampler { comparison: true } => return Err(not_simulated(&name, "a comparison sampler")),
            TypeInner::BindingArray { .. } => return Err(not_simulated(&name, "an array of bindings")),
            _ => return Err(not_simulated(&name, "neither a texture nor a sampler")),
        };
        let &naga::ResourceBinding { group, binding } =
            variable.binding.as_ref().ok_or("a texture or a sampler has no binding")?;
        ports.push(Port { group, binding, name });
        Ok(Value::Handle(ports.len() as u16 - 1))
    }

    fn slot(&mut self, slot: Slot) -> u16 {
        let slots = &mut self.program.slots;
        let at = slots.iter().position(|have| *have == slot).unwrap_or_else(|| {
            slots.push(slot);
            slots.len() - 1
        });
        at as u16
    }

    /// Locals, statements, and what returns from them.
    fn body(&mut self) -> Result<()> {
        let function = self.frame.function;
        let others = self.in_registers.len();
        for (_, local) in function.local_variables.iter() {
            let count = layout::words(self.module, layout::inner(self.module, local.ty))?;
            let rows = self.allocate(count)?;
            self.frame.locals.push(rows);
            self.in_registers.push((rows..rows + count, local.name.clone().unwrap_or_default()));
            match local.init {
                Some(init) => {
                    let value = self.rows(init)?;
                    self.copy(rows, &value);
                }
                None => self.fill(rows, count),
            }
        }
        self.statements(&function.body)?;
        self.in_registers.truncate(others);
        let returns = std::mem::take(&mut self.frame.returns);
        self.land(&returns);
        if self.frame.result.is_none() {
            self.emit(Op::Return);
        }
        Ok(())
    }

    /// Puts the constants behind all other registers.
    fn finish(mut self) -> Program {
        let most = self.most;
        for instruction in &mut self.program.code {
            instruction.op.each_register(|reg| {
                if *reg & CONSTANT != 0 {
                    *reg = (*reg & !CONSTANT) + most;
                }
            });
        }
        for (reg, _) in &mut self.program.constants {
            *reg += most;
        }
        self.program.registers = most + self.program.constants.len() as u32;
        self.program
    }

    // Registers and instructions.

    pub(super) fn allocate(&mut self, count: u32) -> Result<Reg> {
        let at = self.next;
        self.next = at.checked_add(count).filter(|next| *next <= MAX_REGISTERS).ok_or("its variables are too large")?;
        self.most = self.most.max(self.next);
        Ok(at)
    }

    pub(super) fn word(&mut self, word: u32) -> Reg {
        let constants = &mut self.program.constants;
        *self.pool.entry((word, None)).or_insert_with(|| {
            constants.push((constants.len() as Reg, word));
            (constants.len() as Reg - 1) | CONSTANT
        })
    }

    pub(super) fn float(&mut self, value: f32) -> Reg {
        self.word(value.to_bits())
    }

    pub(super) fn wide_word(&mut self, word: u64) -> [Reg; 2] {
        let (low, high) = (word as u32, (word >> 32) as u32);
        let constants = &mut self.program.constants;
        let reg = *self.pool.entry((low, Some(high))).or_insert_with(|| {
            let at = constants.len() as Reg;
            constants.extend([(at, low), (at + 1, high)]);
            at | CONSTANT
        });
        [reg, reg + 1]
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.program.code.push(Instruction { op, is_issue: op.is_issue() });
        self.program.sites.push(Site { span: self.span, function: self.frame.name, indexes: 0 });
        self.program.code.len() - 1
    }

    fn here(&self) -> u32 {
        self.program.code.len() as u32
    }

    /// Sends jumps to the next instruction.
    fn land(&mut self, jumps: &[usize]) {
        let here = self.here();
        for &jump in jumps {
            match &mut self.program.code[jump].op {
                Op::Jump(to) | Op::Branch { otherwise: to, .. } => *to = here,
                other => unreachable!("{other:?} does not jump"),
            }
        }
    }

    /// Copies runs of registers.
    fn copy(&mut self, to: Reg, from: &[Reg]) {
        let mut at = 0;
        while at < from.len() {
            let same = from[at..].iter().take_while(|reg| **reg == from[at]).count();
            if same > 1 {
                self.emit(Op::Fill { to: to + at as Reg, from: from[at], count: same as u32 });
                at += same;
                continue;
            }
            let run = from[at..].iter().zip(from[at]..).take_while(|(have, want)| **have == *want).count();
            self.emit(Op::Copy { to: to + at as Reg, from: from[at], count: run as u32 });
            at += run;
        }
    }

    fn fill(&mut self, to: Reg, count: u32) {
        let from = self.word(0);
        if count > 0 {
            self.emit(Op::Fill { to, from, count });
        }
    }

    /// The same value in registers that follow each other.
    fn contiguous(&mut self, rows: &[Reg]) -> Result<Reg> {
        let first = *rows.first().ok_or("a value has no component")?;
        if rows.iter().zip(first..).all(|(have, want)| *have == want) {
            return Ok(first);
        }
        let to = self.allocate(rows.len() as u32)?;
        self.copy(to, rows);
        Ok(to)
    }

    // Values.

    /// The type of an expression.
    pub(super) fn inner(&self, expression: Handle<Expression>) -> &'a TypeInner {
        self.frame.info[expression].ty.inner_with(&self.module.types)
    }

    pub(super) fn rows(&mut self, expression: Handle<Expression>) -> Result<Vec<Reg>> {
        match self.value(expression)? {
            Value::Rows(rows) => Ok(rows),
            Value::Place(_) | Value::Handle(_) => Err("a pointer stands where a value should".into()),
        }
    }

    pub(super) fn scalar(&mut self, expression: Handle<Expression>) -> Result<Reg> {
        Ok(self.rows(expression)?[0])
    }

    fn pointer(&mut self, expression: Handle<Expression>) -> Result<Place> {
        match self.value(expression)? {
            Value::Place(place) => Ok(place),
            Value::Rows(_) | Value::Handle(_) => Err("a value stands where a pointer should".into()),
        }
    }

    /// The index of a texture or a sampler.
    fn port(&mut self, expression: Handle<Expression>) -> Result<u16> {
        match self.value(expression)? {
            Value::Handle(index) => Ok(index),
            Value::Rows(_) | Value::Place(_) => Err("a value stands where a texture or a sampler should".into()),
        }
    }

    fn value(&mut self, expression: Handle<Expression>) -> Result<Value> {
        if let Some(value) = &self.frame.values[expression.index()] {
            return Ok(value.clone());
        }
        // Constants and variables are in no `Emit`.
        let value = match self.frame.function.expressions[expression] {
            Expression::FunctionArgument(index) => self.frame.arguments[index as usize].clone(),
            Expression::GlobalVariable(variable) => {
                self.globals[variable.index()].clone().ok_or("a variable is not known to be used")?
            }
            Expression::LocalVariable(local) => {
                Value::Place(Place { space: Space::Rows, offset: self.frame.locals[local.index()], dynamic: None })
            }
            _ => Value::Rows(self.constant_in(&self.frame.function.expressions, expression)?),
        };
        self.frame.values[expression.index()] = Some(value.clone());
        Ok(value)
    }

    fn constant(&mut self, expression: Handle<Expression>) -> Result<Vec<Reg>> {
        self.constant_in(&self.module.global_expressions, expression)
    }

    fn constant_in(&mut self, arena: &'a naga::Arena<Expression>, expression: Handle<Expression>) -> Result<Vec<Reg>> {
        Ok(match arena[expression] {
            Expression::Literal(literal) => self.literal(literal)?,
            Expression::Constant(constant) => self.constant(self.module.constants[constant].init)?,
            Expression::ZeroValue(ty) => self.zero(layout::inner(self.module, ty))?,
            Expression::Splat { size, value } => self.constant_in(arena, value)?.repeat(size as usize),
            Expression::Compose { ref components, .. } => {
                let mut rows = Vec::new();
                for component in components {
                    rows.extend(self.constant_in(arena, *component)?);
                }
                rows
            }
            ref other => return Err(format!("the constant expression {other:?} is not simulated")),
        })
    }

    fn literal(&mut self, literal: Literal) -> Result<Vec<Reg>> {
        let word = match literal {
            Literal::F32(value) => value.to_bits(),
            Literal::F16(value) => value.to_f32().to_bits(),
            Literal::U32(value) => value,
            Literal::I32(value) => value as u32,
            Literal::Bool(value) => value.into(),
            Literal::AbstractInt(value) => value as u32,
            Literal::AbstractFloat(value) => (value as f32).to_bits(),
            Literal::F64(value) => return Ok(self.wide_word(value.to_bits()).into()),
            Literal::U64(value) => return Ok(self.wide_word(value).into()),
            Literal::I64(value) => return Ok(self.wide_word(value as u64).into()),
            Literal::U16(value) => value.into(),
            Literal::I16(value) => value as u32,
        };
        Ok(vec![self.word(word)])
    }

    fn zero(&mut self, inner: &TypeInner) -> Result<Vec<Reg>> {
        let zero = self.word(0);
        let [low, high] = self.wide_word(0);
        Ok(layout::leaves(self.module, inner)?
            .iter()
            .map(|leaf| match leaf.kind {
                LeafKind::Word | LeafKind::Half(_) => zero,
                LeafKind::Low => low,
                LeafKind::High => high,
            })
            .collect())
    }

    // Variables.

    fn address(place: Place) -> Address {
        let slot = match place.space {
            Space::Host(slot) => slot,
            Space::Packed | Space::Rows => WORKGROUP,
        };
        Address { slot, constant: place.offset, dynamic: place.dynamic }
    }

    /// Runs of leaves that one instruction moves: up to four words that lie together.
    fn runs(leaves: &[Leaf], space: Space) -> Vec<(usize, usize, u32)> {
        let mut runs: Vec<(usize, usize, u32)> = Vec::new();
        for (i, leaf) in leaves.iter().enumerate() {
            let offset = if matches!(space, Space::Packed) { 4 * i as u32 } else { leaf.offset };
            match runs.last_mut() {
                Some((start, count, at))
                    if *count < 4
                        && offset == *at + 4 * *count as u32
                        && (matches!(space, Space::Packed)
                            || ![leaf.kind, leaves[*start].kind]
                                .iter()
                                .any(|kind| matches!(kind, LeafKind::Half(_)))) =>
                {
                    *count += 1;
                }
                _ => runs.push((i, 1, offset)),
            }
        }
        runs
    }

    /// Loads a value of this type, from an atomic one or not.
    fn load(&mut self, place: Place, inner: &TypeInner, atomic: bool) -> Result<Vec<Reg>> {
        let leaves = layout::leaves(self.module, inner)?;
        let count = leaves.len() as u32;
        let to = self.allocate(count)?;
        match (place.space, place.dynamic) {
            (Space::Rows, None) => {
                self.emit(Op::Copy { to, from: place.offset, count });
            }
            (Space::Rows, Some(dynamic)) => {
                self.emit(Op::LoadRows { to, rows: place.offset, dynamic, count });
            }
            _ => {
                for (start, count, offset) in Self::runs(&leaves, place.space) {
                    let address = Self::address(Place { offset: place.offset + offset, ..place });
                    let to = to + start as Reg;
                    self.emit(match (place.space, leaves[start].kind) {
                        (Space::Host(_), LeafKind::Half(kind)) => Op::LoadHalf { to, address, kind },
                        _ => Op::Load { to, address, count: count as u32, atomic },
                    });
                }
            }
        }
        Ok((to..to + count).collect())
    }

    fn store(&mut self, place: Place, rows: &[Reg], inner: &TypeInner, atomic: bool) -> Result<()> {
        match (place.space, place.dynamic) {
            (Space::Rows, None) => self.copy(place.offset, rows),
            (Space::Rows, Some(dynamic)) => {
                let from = self.contiguous(rows)?;
                self.emit(Op::StoreRows { rows: place.offset, dynamic, from, count: rows.len() as u32 });
            }
            _ => {
                let leaves = layout::leaves(self.module, inner)?;
                for (start, count, offset) in Self::runs(&leaves, place.space) {
                    let address = Self::address(Place { offset: place.offset + offset, ..place });
                    let from = self.contiguous(&rows[start..start + count])?;
                    self.emit(match (place.space, leaves[start].kind) {
                        (Space::Host(_), LeafKind::Half(kind)) => Op::StoreHalf { address, from, kind },
                        _ => Op::Store { address, from, count: count as u32, atomic },
                    });
                }
            }
        }
        Ok(())
    }

    /// Steps in the unit of a place.
    fn unit(space: Space, element: &layout::Element) -> u32 {
        match space {
            Space::Rows => element.words,
            Space::Packed => 4 * element.words,
            Space::Host(_) => element.bytes,
        }
    }

    fn index(&mut self, place: Place, inner: &TypeInner, index: Reg) -> Result<Place> {
        let element = layout::element(self.module, layout::pointee(self.module, inner))?;
        let stride = Self::unit(place.space, &element);
        let length = match (element.length, place.space) {
            (Some(length), _) => Length::Fixed(length),
            (None, Space::Host(slot)) => Length::Runtime(RuntimeArray { slot, offset: place.offset, stride }),
            (None, _) => return Err("an array of unknown length lies outside of a buffer".into()),
        };
        let to = self.allocate(1)?;
        let at = self.emit(Op::Index { to, base: place.dynamic, index, stride, length });
        self.program.sites[at].indexes = self.name_of(place);
        Ok(Place { dynamic: Some(to), ..place })
    }

    /// The name of the variable that a place lies in, by its number.
    fn name_of(&mut self, place: Place) -> u16 {
        let name = match place.space {
            Space::Rows => {
                self.in_registers.iter().rfind(|(rows, _)| rows.contains(&place.offset)).map(|(_, name)| name.as_str())
            }
            Space::Packed | Space::Host(_) => {
                Some(self.program.variable(Self::address(place).slot, place.offset).0).filter(|name| *name != "memory")
            }
        };
        let name = name.unwrap_or_default().to_string();
        let names = &mut self.program.names;
        let at = names.iter().position(|have| *have == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        u16::try_from(at).unwrap_or(0)
    }

    // Statements.

    fn block(&mut self, block: &'a Block) -> Result<()> {
        let mark = self.next;
        self.statements(block)?;
        self.next = mark;
        Ok(())
    }

    fn statements(&mut self, block: &'a Block) -> Result<()> {
        for (statement, span) in block.span_iter() {
            self.span = *span;
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<()> {
        match *statement {
            Statement::Emit(ref range) => {
                let span = self.span;
                for expression in range.clone() {
                    self.span = self.frame.function.expressions.get_span(expression);
                    let value = self.evaluate(expression, range)?;
                    self.frame.values[expression.index()] = Some(value);
                }
                self.span = span;
            }
            Statement::Block(ref block) => self.block(block)?,
            Statement::If { condition, ref accept, ref reject } => {
                let condition = self.scalar(condition)?;
                let otherwise = self.emit(Op::Branch { condition, otherwise: 0 });
                self.block(accept)?;
                if reject.is_empty() {
                    self.land(&[otherwise]);
                } else {
                    let end = self.emit(Op::Jump(0));
                    self.land(&[otherwise]);
                    self.block(reject)?;
                    self.land(&[end]);
                }
            }
            Statement::Switch { selector, ref cases } => self.switch(selector, cases)?,
            Statement::Loop { ref body, ref continuing, break_if } => {
                let mark = self.next;
                let span = self.span;
                let start = self.here();
                self.frame.breaks.push(Vec::new());
                self.frame.continues.push(Vec::new());
                self.statements(body)?;
                let continues = self.frame.continues.pop().unwrap_or_default();
                self.land(&continues);
                self.statements(continuing)?;
                // What goes round is the loop.
                self.span = span;
                let back = match break_if {
                    Some(condition) => {
                        let condition = self.scalar(condition)?;
                        self.emit(Op::Branch { condition, otherwise: start })
                    }
                    None => self.emit(Op::Jump(start)),
                };
                self.program.loops.push(Loop { start, back: back as u32 });
                let breaks = self.frame.breaks.pop().unwrap_or_default();
                self.land(&breaks);
                self.next = mark;
            }
            Statement::Break => {
                let jump = self.emit(Op::Jump(0));
                self.frame.breaks.last_mut().ok_or("a break stands outside of a loop")?.push(jump);
            }
            Statement::Continue => {
                let jump = self.emit(Op::Jump(0));
                self.frame.continues.last_mut().ok_or("a continue stands outside of a loop")?.push(jump);
            }
            Statement::Return { value } => {
                if let Some(to) = self.frame.result.clone() {
                    if let (Some(value), Some(first)) = (value, to.first()) {
                        let value = self.rows(value)?;
                        self.copy(*first, &value);
                    }
                    let jump = self.emit(Op::Jump(0));
                    self.frame.returns.push(jump);
                } else {
                    self.emit(Op::Return);
                }
            }
            Statement::ControlBarrier(flags) => {
                self.emit(match flags {
                    naga::Barrier::SUB_GROUP => Op::SubgroupBarrier,
                    flags => Op::Barrier(flags),
                });
            }
            Statement::MemoryBarrier(_) => {}
            Statement::Store { pointer, value } => self.store_statement(pointer, value)?,
            Statement::Atomic { pointer, ref fun, value, result } => self.atomic(pointer, fun, value, result)?,
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let place = self.pointer(pointer)?;
                let inner = layout::loaded(self.module, self.inner(pointer));
                self.emit(Op::Barrier(naga::Barrier::WORK_GROUP));
                let rows = self.load(place, &inner, self.is_atomic(pointer))?;
                self.emit(Op::Barrier(naga::Barrier::WORK_GROUP));
                self.set(result, rows);
            }
            Statement::ImageStore { image, coordinate, array_index, value } => {
                let texture = self.port(image)?;
                let at = self.coordinates(coordinate, array_index)?;
                let rows = self.rows(value)?;
                let from = self.contiguous(&rows)?;
                self.emit(Op::TextureStore { texture, at, from });
            }
            Statement::Call { function, ref arguments, result } => self.call(function, arguments, result)?,
            Statement::SubgroupBallot { result, predicate } => {
                let predicate = predicate.map(|predicate| self.scalar(predicate)).transpose()?;
                let to = self.allocate(4)?;
                self.emit(Op::Ballot { to, predicate });
                self.set(result, (to..to + 4).collect());
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let source = self.source(mode)?;
                let rows = self.rows(argument)?;
                let to = self.allocate(rows.len() as u32)?;
                for (to, x) in (to..).zip(&rows) {
                    self.emit(Op::Gather { source, to, x: *x });
                }
                self.set(result, (to..to + rows.len() as Reg).collect());
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                let scalar = layout::scalar(self.inner(argument));
                let rows = self.rows(argument)?;
                let rows = self.collective(op, collective_op, scalar, &rows)?;
                self.set(result, rows);
            }
            ref other => {
                let text = format!("{other:?}");
                let name = text.split([' ', '(', '{']).next().unwrap_or_default();
                return Err(format!("the statement {name} is not simulated"));
            }
        }
        Ok(())
    }

    fn set(&mut self, result: Handle<Expression>, rows: Vec<Reg>) {
        self.frame.values[result.index()] = Some(Value::Rows(rows));
    }

    fn store_statement(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) -> Result<()> {
        let place = self.pointer(pointer)?;
        let rows = self.rows(value)?;
        let inner = layout::loaded(self.module, self.inner(pointer));
        if let TypeInner::Atomic(Scalar { width: 8, .. }) = inner {
            let old = self.allocate(2)?;
            let value = self.contiguous(&rows)?;
            self.emit(Op::WideAtomic {
                update: Update::Exchange,
                is_read: false,
                old,
                address: Self::address(place),
                value,
            });
            return Ok(());
        }
        // The instruction that computed the value for this alone can as well put it where it goes.
        if let (Space::Rows, None, [row]) = (place.space, place.dynamic, rows.as_slice())
            && self.frame.info[value].ref_count == 1
            && self.is_computed(value)
            && let Some(last) = self.program.code.last_mut()
            && let Some(to) = last.op.result().filter(|to| *to == row)
        {
            *to = place.offset;
            return Ok(());
        }
        self.store(place, &rows, &inner, self.is_atomic(pointer))
    }

    /// Whether a pointer points to an atomic.
    fn is_atomic(&self, pointer: Handle<Expression>) -> bool {
        matches!(layout::pointee(self.module, self.inner(pointer)), TypeInner::Atomic(_))
    }

    /// Whether an expression has registers of its own rather than those of its operands.
    fn is_computed(&self, expression: Handle<Expression>) -> bool {
        matches!(
            self.frame.function.expressions[expression],
            Expression::Binary { .. } | Expression::Unary { .. } | Expression::Select { .. } | Expression::Math { .. }
        )
    }

    fn switch(&mut self, selector: Handle<Expression>, cases: &'a [naga::SwitchCase]) -> Result<()> {
        let selector = self.scalar(selector)?;
        let at = self.program.tables.len();
        self.program.tables.push(SwitchTable { cases: Vec::new(), default: 0 });
        self.emit(Op::Switch { selector, table: at as u32 });
        self.frame.breaks.push(Vec::new());
        let mut table = Vec::new();
        let mut default = None;
        let mut ends = Vec::new();
        for case in cases {
            let here = self.here();
            match case.value {
                SwitchValue::I32(value) => table.push((value as u32, here)),
                SwitchValue::U32(value) => table.push((value, here)),
                SwitchValue::Default => default = Some(here),
            }
            self.block(&case.body)?;
            if !case.fall_through {
                ends.push(self.emit(Op::Jump(0)));
            }
        }
        ends.extend(self.frame.breaks.pop().unwrap_or_default());
        self.land(&ends);
        let default = default.unwrap_or(self.here());
        self.program.tables[at] = SwitchTable { cases: table, default };
        Ok(())
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let callee = &self.module.functions[function];
        let arguments = arguments.iter().map(|argument| self.value(*argument)).collect::<Result<Vec<_>>>()?;
        let count = match &callee.result {
            Some(result) => layout::words(self.module, layout::inner(self.module, result.ty))?,
            None => 0,
        };
        let first = self.allocate(count)?;
        let to: Vec<Reg> = (first..first + count).collect();
        let mark = self.next;
        let name = callee.name.clone().unwrap_or_default();
        let functions = &mut self.program.functions;
        let name = functions.iter().position(|have| *have == name).unwrap_or_else(|| {
            functions.push(name);
            functions.len() - 1
        });
        let frame = Frame::new(callee, &self.info[function], name as u16, arguments, Some(to.clone()));
        let caller = std::mem::replace(&mut self.frame, frame);
        let span = self.span;
        self.body()?;
        self.span = span;
        self.frame = caller;
        self.next = mark;
        if let Some(result) = result {
            self.set(result, to);
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        fun: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let address = Self::address(self.pointer(pointer)?);
        let scalar = layout::scalar(self.inner(value));
        let wide = scalar.width == 8;
        let rows = self.rows(value)?;
        let value = self.contiguous(&rows)?;
        let old = self.allocate(layout::scalar_words(scalar))?;
        let mut results: Vec<Reg> = (old..self.next).collect();
        let is_read = result.is_some_and(|result| self.frame.info[result].ref_count > 0);
        if let AtomicFunction::Exchange { compare: Some(compare) } = *fun {
            let rows = self.rows(compare)?;
            let compare = self.contiguous(&rows)?;
            let exchanged = self.allocate(1)?;
            results.push(exchanged);
            self.emit(if wide {
                Op::WideCompareExchange { old, exchanged, address, compare, value }
            } else {
                Op::CompareExchange { old, exchanged, address, compare, value }
            });
        } else if wide {
            let update = match *fun {
                AtomicFunction::Exchange { .. } => Update::Exchange,
                _ => Update::Combine(wide_update(fun, scalar.kind)),
            };
            self.emit(Op::WideAtomic { update, is_read, old, address, value });
        } else {
            let update = match *fun {
                AtomicFunction::Exchange { .. } => Update::Exchange,
                _ => Update::Combine(update(fun, scalar.kind)),
            };
            self.emit(Op::Atomic { update, is_read, old, address, value });
        }
        if let Some(result) = result {
            self.set(result, results);
        }
        Ok(())
    }

    fn source(&mut self, mode: GatherMode) -> Result<Source> {
        Ok(match mode {
            GatherMode::BroadcastFirst => Source::First,
            GatherMode::Broadcast(lane) | GatherMode::Shuffle(lane) => Source::Lane(self.scalar(lane)?),
            GatherMode::ShuffleDown(delta) => Source::Down(self.scalar(delta)?),
            GatherMode::ShuffleUp(delta) => Source::Up(self.scalar(delta)?),
            GatherMode::ShuffleXor(mask) => Source::Xor(self.scalar(mask)?),
            GatherMode::QuadBroadcast(lane) => Source::Quad(self.scalar(lane)?),
            GatherMode::QuadSwap(naga::Direction::X) => Source::QuadSwap(1),
            GatherMode::QuadSwap(naga::Direction::Y) => Source::QuadSwap(2),
            GatherMode::QuadSwap(naga::Direction::Diagonal) => Source::QuadSwap(3),
        })
    }

    fn collective(
        &mut self,
        op: SubgroupOperation,
        kind: CollectiveOperation,
        scalar: Scalar,
        rows: &[Reg],
    ) -> Result<Vec<Reg>> {
        if let SubgroupOperation::All | SubgroupOperation::Any = op {
            let to = self.allocate(1)?;
            self.emit(Op::Vote { all: op == SubgroupOperation::All, to, x: rows[0] });
            return Ok(vec![to]);
        }
        let to = self.allocate(rows.len() as u32)?;
        if scalar.width == 8 {
            let (op, identity) = wide_collective(op, scalar.kind);
            for (to, x) in (to..).zip(rows).step_by(2) {
                self.emit(Op::WideCollective { op, kind, identity, to, x: *x });
            }
        } else {
            let (op, identity) = collective(op, scalar);
            for (to, x) in (to..).zip(rows) {
                self.emit(Op::Collective { op, kind, identity, to, x: *x });
            }
            return self.rounded(scalar, (to..self.next).collect());
        }
        Ok((to..self.next).collect())
    }

    // Expressions.

    fn evaluate(&mut self, expression: Handle<Expression>, range: &naga::Range<Expression>) -> Result<Value> {
        let function = self.frame.function;
        Ok(Value::Rows(match function.expressions[expression] {
            Expression::Compose { ref components, .. } => {
                let mut rows = Vec::new();
                for component in components {
                    rows.extend(self.rows(*component)?);
                }
                rows
            }
            Expression::Access { base, index } => {
                let index = self.scalar(index)?;
                let inner = self.inner(base);
                match self.value(base)? {
                    Value::Place(place) => return Ok(Value::Place(self.index(place, inner, index)?)),
                    Value::Rows(rows) => {
                        let rows = self.contiguous(&rows)?;
                        let place = Place { space: Space::Rows, offset: rows, dynamic: None };
                        let place = self.index(place, inner, index)?;
                        self.load(place, self.inner(expression), false)?
                    }
                    Value::Handle(_) => return Err("an array of bindings is not simulated".into()),
                }
            }
            Expression::AccessIndex { base, index } => {
                let inner = self.inner(base);
                match self.value(base)? {
                    Value::Place(place) => {
                        // An array that fills the rest of a buffer may end before a constant index too.
                        if layout::is_unsized(self.module, layout::pointee(self.module, inner))? {
                            let index = self.word(index);
                            return Ok(Value::Place(self.index(place, inner, index)?));
                        }
                        let step = layout::member(self.module, layout::pointee(self.module, inner), index)?;
                        let offset = place
                            .offset
                            .checked_add(Self::unit(place.space, &step))
                            .ok_or("an offset beyond 4 GiB is not simulated")?;
                        return Ok(Value::Place(Place { offset, ..place }));
                    }
                    Value::Rows(rows) => {
                        let start = layout::member(self.module, inner, index)?.words as usize;
                        let count = layout::words(self.module, self.inner(expression))? as usize;
                        rows[start..start + count].to_vec()
                    }
                    Value::Handle(_) => return Err("an array of bindings is not simulated".into()),
                }
            }
            Expression::Splat { size, value } => self.rows(value)?.repeat(size as usize),
            Expression::Swizzle { size, vector, pattern } => {
                let words = layout::scalar_words(layout::scalar(self.inner(vector))) as usize;
                let rows = self.rows(vector)?;
                pattern[..size as usize]
                    .iter()
                    .flat_map(|component| &rows[*component as usize * words..][..words])
                    .copied()
                    .collect()
            }
            Expression::Load { pointer } => {
                let place = self.pointer(pointer)?;
                let inner = layout::loaded(self.module, self.inner(pointer));
                match (place.space, place.dynamic, &inner) {
                    (Space::Rows, None, _) if self.is_used_at_once(expression, range) => {
                        let count = layout::words(self.module, &inner)?;
                        (place.offset..place.offset + count).collect()
                    }
                    (_, _, TypeInner::Atomic(Scalar { width: 8, .. })) => {
                        let to = self.allocate(2)?;
                        self.emit(Op::WideAtomicLoad { to, address: Self::address(place) });
                        vec![to, to + 1]
                    }
                    _ => self.load(place, &inner, self.is_atomic(pointer))?,
                }
            }
            Expression::Unary { op, expr } => self.unary(op, expr)?,
            Expression::Binary { op, left, right } => self.binary(op, left, right)?,
            Expression::Select { condition, accept, reject } => {
                let (condition, accept, reject) = (self.rows(condition)?, self.rows(accept)?, self.rows(reject)?);
                let to = self.allocate(accept.len() as u32)?;
                let words = accept.len() / condition.len();
                for i in 0..accept.len() {
                    let (x, y, z) = (condition[i / words], accept[i], reject[i]);
                    self.emit(Op::Ternary { op: Ternary::Select, to: to + i as Reg, x, y, z });
                }
                (to..self.next).collect()
            }
            Expression::Relational { fun, argument } => {
                let rows = self.rows(argument)?;
                match fun {
                    naga::RelationalFunction::All => self.fold(Binary::And, &rows)?,
                    naga::RelationalFunction::Any => self.fold(Binary::Or, &rows)?,
                    naga::RelationalFunction::IsNan => self.map(Unary::IsNan, &rows)?,
                    naga::RelationalFunction::IsInf => self.map(Unary::IsInf, &rows)?,
                }
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => self.math(fun, arg, [arg1, arg2, arg3])?,
            Expression::As { expr, kind, convert } => {
                let (rows, from) = (self.rows(expr)?, layout::scalar(self.inner(expr)));
                match convert {
                    Some(width) => self.convert(from, Scalar { kind, width }, &rows)?,
                    None => self.bit_cast(from, kind, rows)?,
                }
            }
            Expression::ArrayLength(array) => {
                let place = self.pointer(array)?;
                let Space::Host(slot) = place.space else {
                    return Err("an array of unknown length lies outside of a buffer".into());
                };
                let pointee = layout::pointee(self.module, self.inner(array));
                let stride = layout::element(self.module, pointee)?.bytes;
                let to = self.allocate(1)?;
                self.emit(Op::ArrayLength { to, array: RuntimeArray { slot, offset: place.offset, stride } });
                vec![to]
            }
            Expression::ImageLoad { image, coordinate, array_index, sample: None, level } => {
                let texture = self.port(image)?;
                let at = self.coordinates(coordinate, array_index)?;
                let level = level.map(|level| self.scalar(level)).transpose()?;
                let to = self.allocate(4)?;
                self.emit(Op::TextureLoad { to, texture, at, level });
                (to..to + 4).collect()
            }
            Expression::ImageQuery { image, query } => {
                let texture = self.port(image)?;
                let axes = layout::words(self.module, self.inner(expression))?;
                let query = match query {
                    ImageQuery::Size { level } => {
                        Query::Size { axes, level: level.map(|level| self.scalar(level)).transpose()? }
                    }
                    ImageQuery::NumLevels => Query::Levels,
                    ImageQuery::NumLayers => Query::Layers,
                    ImageQuery::NumSamples => return Err("the number of samples is not simulated".into()),
                };
                let to = self.allocate(axes)?;
                self.emit(Op::TextureQuery { to, texture, query });
                (to..to + axes).collect()
            }
            Expression::ImageSample { .. } => self.sample(&function.expressions[expression])?,
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => self.rows(expression)?,
            ref other => {
                let text = format!("{other:?}");
                let name = text.split([' ', '(', '{']).next().unwrap_or_default();
                return Err(format!("the expression {name} is not simulated"));
            }
        }))
    }

    /// Three registers that say where in a texture.
    fn coordinates(&mut self, at: Handle<Expression>, layer: Option<Handle<Expression>>) -> Result<Reg> {
        let mut rows = self.rows(at)?;
        if let Some(layer) = layer {
            rows.push(self.scalar(layer)?);
        }
        rows.resize(3, self.word(0));
        self.contiguous(&rows)
    }

    fn sample(&mut self, expression: &Expression) -> Result<Vec<Reg>> {
        let Expression::ImageSample {
            image,
            sampler,
            gather,
            coordinate,
            array_index,
            offset,
            level,
            depth_ref: None,
            clamp_to_edge: false,
        } = *expression
        else {
            return Err("sampling that compares or clamps is not simulated".into());
        };
        let (texture, sampler) = (self.port(image)?, self.port(sampler)?);
        let axes = layout::words(self.module, self.inner(coordinate))?;
        let at = self.coordinates(coordinate, array_index)?;
        let offset = offset.map(|offset| self.coordinates(offset, None)).transpose()?;
        let how = match (gather, level) {
            (Some(component), _) => Sampling::Gather(component as u32),
            (None, naga::SampleLevel::Exact(level)) => Sampling::Level(self.scalar(level)?),
            (None, naga::SampleLevel::Zero) => Sampling::Level(self.word(0)),
            (None, _) => return Err("sampling at a level that gradients choose is not simulated".into()),
        };
        let to = self.allocate(4)?;
        self.emit(Op::TextureSample { to, texture, sampler, at, axes, offset, how });
        Ok((to..to + 4).collect())
    }

    /// Whether a value of a local variable is used only by arithmetic of the same `Emit`, so that nothing can store
    /// between, and it need not be copied.
    fn is_used_at_once(&self, expression: Handle<Expression>, range: &naga::Range<Expression>) -> bool {
        let is = |other: Handle<Expression>| usize::from(other == expression);
        let uses: usize = range
            .clone()
            .map(|user| match self.frame.function.expressions[user] {
                Expression::Binary { left, right, .. } => is(left) + is(right),
                Expression::Unary { expr, .. } => is(expr),
                Expression::Select { condition, accept, reject } => is(condition) + is(accept) + is(reject),
                _ => 0,
            })
            .sum();
        uses == self.frame.info[expression].ref_count
    }

    fn fold(&mut self, op: Binary, rows: &[Reg]) -> Result<Vec<Reg>> {
        let mut sum = rows[0];
        for y in &rows[1..] {
            let to = self.allocate(1)?;
            self.emit(Op::Binary { op, to, x: sum, y: *y });
            sum = to;
        }
        Ok(vec![sum])
    }
}

fn not_simulated(name: &str, what: &str) -> String {
    format!("the variable {name} is {what}, which is not simulated")
}

fn update(fun: &AtomicFunction, kind: ScalarKind) -> Binary {
    let (float, signed) = (kind == ScalarKind::Float, kind == ScalarKind::Sint);
    match fun {
        AtomicFunction::Add if float => Binary::AddFloat,
        AtomicFunction::Add => Binary::AddInt,
        AtomicFunction::Subtract if float => Binary::SubFloat,
        AtomicFunction::Subtract => Binary::SubInt,
        AtomicFunction::And => Binary::And,
        AtomicFunction::ExclusiveOr => Binary::Xor,
        AtomicFunction::InclusiveOr | AtomicFunction::Exchange { .. } => Binary::Or,
        AtomicFunction::Min if float => Binary::MinFloat,
        AtomicFunction::Min if signed => Binary::MinInt,
        AtomicFunction::Min => Binary::MinUint,
        AtomicFunction::Max if float => Binary::MaxFloat,
        AtomicFunction::Max if signed => Binary::MaxInt,
        AtomicFunction::Max => Binary::MaxUint,
    }
}

fn wide_update(fun: &AtomicFunction, kind: ScalarKind) -> WideBinary {
    let signed = kind == ScalarKind::Sint;
    match fun {
        AtomicFunction::Add => WideBinary::AddInt,
        AtomicFunction::Subtract => WideBinary::SubInt,
        AtomicFunction::And => WideBinary::And,
        AtomicFunction::ExclusiveOr => WideBinary::Xor,
        AtomicFunction::InclusiveOr | AtomicFunction::Exchange { .. } => WideBinary::Or,
        AtomicFunction::Min if signed => WideBinary::MinInt,
        AtomicFunction::Min => WideBinary::MinUint,
        AtomicFunction::Max if signed => WideBinary::MaxInt,
        AtomicFunction::Max => WideBinary::MaxUint,
    }
}

/// The operation of a reduction or scan, and what it starts from.
fn collective(op: SubgroupOperation, scalar: Scalar) -> (Binary, u32) {
    let (float, signed) = (scalar.kind == ScalarKind::Float, scalar.kind == ScalarKind::Sint);
    match op {
        SubgroupOperation::Add if float => (Binary::AddFloat, 0),
        SubgroupOperation::Add => (Binary::AddInt, 0),
        SubgroupOperation::Mul if float => (Binary::MulFloat, 1_f32.to_bits()),
        SubgroupOperation::Mul => (Binary::MulInt, 1),
        SubgroupOperation::Min if float => (Binary::MinFloat, f32::INFINITY.to_bits()),
        SubgroupOperation::Min if signed => (Binary::MinInt, i32::MAX as u32),
        SubgroupOperation::Min => (Binary::MinUint, u32::MAX),
        SubgroupOperation::Max if float => (Binary::MaxFloat, f32::NEG_INFINITY.to_bits()),
        SubgroupOperation::Max if signed => (Binary::MaxInt, i32::MIN as u32),
        SubgroupOperation::Max => (Binary::MaxUint, 0),
        SubgroupOperation::And | SubgroupOperation::All => (Binary::And, u32::MAX),
        SubgroupOperation::Or | SubgroupOperation::Any => (Binary::Or, 0),
        SubgroupOperation::Xor => (Binary::Xor, 0),
    }
}

fn wide_collective(op: SubgroupOperation, kind: ScalarKind) -> (WideBinary, u64) {
    let (float, signed) = (kind == ScalarKind::Float, kind == ScalarKind::Sint);
    match op {
        SubgroupOperation::Add if float => (WideBinary::AddFloat, 0),
        SubgroupOperation::Add => (WideBinary::AddInt, 0),
        SubgroupOperation::Mul if float => (WideBinary::MulFloat, 1_f64.to_bits()),
        SubgroupOperation::Mul => (WideBinary::MulInt, 1),
        SubgroupOperation::Min if float => (WideBinary::MinFloat, f64::INFINITY.to_bits()),
        SubgroupOperation::Min if signed => (WideBinary::MinInt, i64::MAX as u64),
        SubgroupOperation::Min => (WideBinary::MinUint, u64::MAX),
        SubgroupOperation::Max if float => (WideBinary::MaxFloat, f64::NEG_INFINITY.to_bits()),
        SubgroupOperation::Max if signed => (WideBinary::MaxInt, i64::MIN as u64),
        SubgroupOperation::Max => (WideBinary::MaxUint, 0),
        SubgroupOperation::And | SubgroupOperation::All => (WideBinary::And, u64::MAX),
        SubgroupOperation::Or | SubgroupOperation::Any => (WideBinary::Or, 0),
        SubgroupOperation::Xor => (WideBinary::Xor, 0),
    }
}
