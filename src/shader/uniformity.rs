//! Which barriers and subgroup operations can be reached by some invocations only.
//!
//! naga accepts both anywhere; browsers refuse them, and on a GPU a barrier that some invocations do not reach is
//! undefined. This is an analysis of a module's text, not of a run: it follows every path, so it can warn of one that no
//! data takes, and it trusts read-only buffers and uniforms to hold one value for all.
//!
//! Values and control flow have one of three levels: the same in the workgroup, the same in each subgroup, different
//! from lane to lane. What a branch on a value of some level assigns or jumps over takes that level over. Functions are
//! followed at each call, with the levels of their arguments. The rules are those of the WGSL specification's
//! uniformity analysis, with the level of the subgroup beside that of the workgroup.

use std::collections::HashMap;

use naga::{
    AddressSpace, Arena, Barrier, Binding, Block, BuiltIn, Expression, Function, GatherMode, GlobalVariable, Handle,
    LocalVariable, Module, Span, Statement, StorageAccess, SubgroupOperation, TypeInner,
};

/// How far a value or the control flow is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// In the whole workgroup.
    #[default]
    Workgroup,
    /// In each subgroup.
    Subgroup,
    /// Not at all.
    Lane,
}

/// Something that needs uniform control flow and may not have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub operation: Operation,
    /// How far control flow is the same there.
    pub level: Level,
    /// Where it is in the text.
    pub span: Span,
    /// The branch or loop that splits the invocations.
    pub cause: Option<Span>,
    /// The entry point from which it is reached.
    pub entry: String,
}

/// What needs uniform control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// `workgroupBarrier`, `storageBarrier` or another barrier.
    Barrier,
    /// `workgroupUniformLoad`, which has two barriers in it.
    WorkgroupUniformLoad,
    /// A subgroup operation: only the lanes that arrive together take part.
    Subgroup,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Barrier => "a barrier",
            Self::WorkgroupUniformLoad => "workgroupUniformLoad",
            Self::Subgroup => "a subgroup operation",
        })
    }
}

/// Checks every compute entry point of a valid module. Cost: each function is followed once for each combination of its
/// arguments' levels that occurs.
pub fn check(module: &Module) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in module.entry_points.iter().filter(|entry| entry.stage == naga::ShaderStage::Compute) {
        let mut analysis = Analysis {
            module,
            entry: &entry.name,
            privates: HashMap::new(),
            calls: HashMap::new(),
            findings: Vec::new(),
        };
        let arguments: Vec<Value> =
            entry.function.arguments.iter().map(|argument| analysis.argument(argument)).collect();
        // What a private variable holds can depend on what a later call stores: repeat until nothing rises.
        loop {
            let before = analysis.privates.clone();
            analysis.calls.clear();
            analysis.findings.clear();
            analysis.function(&entry.function, arguments.clone(), Flow::default());
            if analysis.privates == before {
                break;
            }
        }
        findings.append(&mut analysis.findings);
    }
    findings
}

/// Levels of a value: one for each member of a struct, or one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Value(Vec<Level>);

impl Value {
    fn of(level: Level) -> Self {
        Self(vec![level])
    }

    fn level(&self) -> Level {
        self.0.iter().copied().max().unwrap_or_default()
    }

    fn member(&self, index: u32) -> Self {
        match self.0.len() {
            0 | 1 => self.clone(),
            _ => Self::of(self.0.get(index as usize).copied().unwrap_or_default()),
        }
    }

    /// Raises the whole, or one member, to at least `by`; a struct's levels are kept apart.
    fn raise(&mut self, member: Option<u32>, by: &Value, members: usize) {
        if self.0.len() < members {
            self.0.resize(members, self.level());
        }
        for (i, level) in self.0.iter_mut().enumerate() {
            let by = match member {
                Some(member) if members > 1 && member as usize != i => continue,
                Some(_) => by.level(),
                None if by.0.len() == members => by.0[i],
                None => by.level(),
            };
            *level = (*level).max(by);
        }
    }

    fn at_least(mut self, level: Level) -> Self {
        for own in &mut self.0 {
            *own = (*own).max(level);
        }
        self
    }
}

/// Control flow: how far it is the same, and what split it.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    level: Level,
    cause: Option<Span>,
}

impl Flow {
    fn raised(self, level: Level, cause: Span) -> Self {
        if level > self.level { Self { level, cause: Some(cause) } } else { self }
    }

    fn join(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.level > self.level => other,
            _ => self,
        }
    }
}

/// Jumps out of a block: the control flow under which each kind happens.
#[derive(Clone, Copy, Debug, Default)]
struct Jumps {
    breaks: Option<Flow>,
    continues: Option<Flow>,
    returns: Option<Flow>,
}

impl Jumps {
    fn merge(&mut self, other: Self) {
        let most = |a: &mut Option<Flow>, b: Option<Flow>| {
            *a = match (*a, b) {
                (Some(a), b) => Some(a.join(b)),
                (None, b) => b,
            }
        };
        most(&mut self.breaks, other.breaks);
        most(&mut self.continues, other.continues);
        most(&mut self.returns, other.returns);
    }
}

struct Analysis<'m> {
    module: &'m Module,
    entry: &'m str,
    privates: HashMap<Handle<GlobalVariable>, Value>,
    calls: HashMap<(Handle<Function>, Vec<Value>, Level), Value>,
    findings: Vec<Finding>,
}

struct Frame<'m> {
    function: &'m Function,
    arguments: Vec<Value>,
    locals: HashMap<Handle<LocalVariable>, Value>,
    /// Values of expressions in this pass over the body; results of calls and operations are put in by statements.
    values: HashMap<Handle<Expression>, Value>,
    entry_level: Level,
    returned: Value,
}

impl<'m> Analysis<'m> {
    /// The levels of an entry point's argument: a built-in value, or a struct of them.
    fn argument(&self, argument: &naga::FunctionArgument) -> Value {
        let level = |binding: Option<&Binding>| match binding {
            Some(Binding::BuiltIn(BuiltIn::WorkGroupId | BuiltIn::NumWorkGroups | BuiltIn::WorkGroupSize)) => {
                Level::Workgroup
            }
            Some(Binding::BuiltIn(BuiltIn::SubgroupSize | BuiltIn::NumSubgroups)) => Level::Workgroup,
            Some(Binding::BuiltIn(BuiltIn::SubgroupId)) => Level::Subgroup,
            _ => Level::Lane,
        };
        match &self.module.types[argument.ty].inner {
            TypeInner::Struct { members, .. } => Value(members.iter().map(|m| level(m.binding.as_ref())).collect()),
            _ => Value::of(level(argument.binding.as_ref())),
        }
    }

    /// Follows a function until the levels of its variables no longer rise; the levels of what it returns.
    fn function(&mut self, function: &'m Function, arguments: Vec<Value>, flow: Flow) -> Value {
        let mut frame = Frame {
            function,
            arguments,
            locals: HashMap::new(),
            values: HashMap::new(),
            entry_level: flow.level,
            returned: Value::of(Level::Workgroup),
        };
        loop {
            let before = (frame.locals.clone(), frame.returned.clone());
            frame.values.clear();
            self.block(&mut frame, &function.body, flow);
            if (&frame.locals, &frame.returned) == (&before.0, &before.1) {
                return frame.returned;
            }
        }
    }

    fn block(&mut self, frame: &mut Frame<'m>, block: &'m Block, mut flow: Flow) -> Jumps {
        let mut jumps = Jumps::default();
        for (statement, span) in block.span_iter() {
            let inner = self.statement(frame, statement, *span, flow);
            jumps.merge(inner);
            // Who jumped away under a split does not come to the next statement.
            flow = flow.join(inner.breaks).join(inner.continues).join(inner.returns);
        }
        jumps
    }

    fn statement(&mut self, frame: &mut Frame<'m>, statement: &'m Statement, span: Span, flow: Flow) -> Jumps {
        let mut jumps = Jumps::default();
        match statement {
            Statement::Emit(range) => {
                for expression in range.clone() {
                    let value = self.evaluate(frame, expression);
                    frame.values.insert(expression, value);
                }
            }
            Statement::Block(block) => jumps.merge(self.block(frame, block, flow)),
            Statement::If { condition, accept, reject } => {
                let level = self.evaluate(frame, *condition).level();
                let inner = flow.raised(level, self.place(frame, *condition, span));
                jumps.merge(self.block(frame, accept, inner));
                jumps.merge(self.block(frame, reject, inner));
            }
            Statement::Switch { selector, cases } => {
                let level = self.evaluate(frame, *selector).level();
                let inner = flow.raised(level, self.place(frame, *selector, span));
                for case in cases {
                    jumps.merge(self.block(frame, &case.body, inner));
                }
                // A break leaves the switch, where all meet again.
                jumps.breaks = None;
            }
            Statement::Loop { body, continuing, break_if } => {
                // Who leaves in one round is missing in the next.
                let mut round = flow;
                loop {
                    let mut inner = self.block(frame, body, round);
                    let rest = round.join(inner.breaks).join(inner.continues).join(inner.returns);
                    inner.merge(self.block(frame, continuing, rest));
                    let mut next = rest.join(inner.breaks).join(inner.returns);
                    if let Some(condition) = break_if {
                        let level = self.evaluate(frame, *condition).level();
                        next = next.raised(level, self.place(frame, *condition, span));
                    }
                    if next.level == round.level {
                        jumps.returns = inner.returns;
                        break;
                    }
                    round = next;
                }
            }
            Statement::Break => jumps.breaks = Some(flow),
            Statement::Continue => jumps.continues = Some(flow),
            Statement::Return { value } => {
                if let Some(value) = value {
                    let mut value = self.evaluate(frame, *value);
                    if flow.level > frame.entry_level {
                        value = value.at_least(flow.level);
                    }
                    let members = value.0.len();
                    frame.returned.raise(None, &value, members);
                }
                jumps.returns = Some(flow);
            }
            Statement::Kill => jumps.returns = Some(flow),
            Statement::ControlBarrier(barrier) => {
                let allowed = if *barrier == Barrier::SUB_GROUP { Level::Subgroup } else { Level::Workgroup };
                self.need(Operation::Barrier, allowed, span, flow);
            }
            Statement::Store { pointer, value } => {
                let value = self.evaluate(frame, *value).at_least(flow.level);
                self.store(frame, *pointer, &value);
            }
            Statement::WorkGroupUniformLoad { result, .. } => {
                self.need(Operation::WorkgroupUniformLoad, Level::Workgroup, span, flow);
                frame.values.insert(*result, Value::of(Level::Workgroup));
            }
            Statement::Atomic { result: Some(result), .. } => {
                frame.values.insert(*result, Value::of(Level::Lane));
            }
            Statement::Call { function, arguments, result } => {
                let values: Vec<Value> = arguments.iter().map(|argument| self.evaluate(frame, *argument)).collect();
                let value = self.call(*function, values, flow);
                // A function can store through pointers to the caller's variables: it may store anything.
                for argument in arguments {
                    if self.variable(frame, *argument).is_some() {
                        self.store(frame, *argument, &Value::of(Level::Lane));
                    }
                }
                if let Some(result) = result {
                    frame.values.insert(*result, value);
                }
            }
            Statement::SubgroupBallot { result, .. } => {
                self.need(Operation::Subgroup, Level::Subgroup, span, flow);
                frame.values.insert(*result, Value::of(Level::Subgroup));
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.need(Operation::Subgroup, Level::Subgroup, span, flow);
                let own = self.evaluate(frame, *argument).level();
                let level = match (op, collective_op) {
                    // A vote on what all know is what all know.
                    (SubgroupOperation::All | SubgroupOperation::Any, _) => own.min(Level::Subgroup),
                    (_, naga::CollectiveOperation::Reduce) => Level::Subgroup,
                    _ => Level::Lane,
                };
                frame.values.insert(*result, Value::of(level));
            }
            Statement::SubgroupGather { mode, argument, result } => {
                self.need(Operation::Subgroup, Level::Subgroup, span, flow);
                let own = self.evaluate(frame, *argument).level();
                let level = match *mode {
                    GatherMode::BroadcastFirst | GatherMode::Broadcast(_) => own.min(Level::Subgroup),
                    GatherMode::Shuffle(lane) if self.evaluate(frame, lane).level() <= Level::Subgroup => {
                        own.min(Level::Subgroup)
                    }
                    // The value of one's own lane or another's: as different as the values are.
                    _ => own,
                };
                frame.values.insert(*result, Value::of(level));
            }
            // Nothing that a value or the flow of a compute shader here depends on.
            _ => {}
        }
        jumps
    }

    fn need(&mut self, operation: Operation, allowed: Level, span: Span, flow: Flow) {
        if flow.level > allowed {
            // One place can be come to again, in a later round or by another call: the first cause is enough.
            if !self.findings.iter().any(|finding| finding.span == span && finding.operation == operation) {
                let entry = self.entry.to_string();
                self.findings.push(Finding { operation, level: flow.level, span, cause: flow.cause, entry });
            }
        }
    }

    fn call(&mut self, function: Handle<Function>, arguments: Vec<Value>, flow: Flow) -> Value {
        let key = (function, arguments.clone(), flow.level);
        if let Some(value) = self.calls.get(&key) {
            return value.clone();
        }
        let value = self.function(&self.module.functions[function], arguments, flow);
        self.calls.insert(key, value.clone());
        value
    }

    /// Where a condition stands, or the statement that has it.
    fn place(&self, frame: &Frame<'_>, condition: Handle<Expression>, statement: Span) -> Span {
        let span = frame.function.expressions.get_span(condition);
        if span.is_defined() { span } else { statement }
    }

    fn store(&mut self, frame: &mut Frame<'m>, pointer: Handle<Expression>, value: &Value) {
        let Some((variable, member)) = self.variable(frame, pointer) else { return };
        match variable {
            Variable::Local(local) => {
                let members = self.members(frame.function.local_variables[local].ty);
                frame.locals.entry(local).or_insert_with(|| Value::of(Level::Workgroup)).raise(member, value, members);
            }
            Variable::Private(global) => {
                let members = self.members(self.module.global_variables[global].ty);
                self.privates
                    .entry(global)
                    .or_insert_with(|| Value::of(Level::Workgroup))
                    .raise(member, value, members);
            }
        }
    }

    fn members(&self, ty: Handle<naga::Type>) -> usize {
        match &self.module.types[ty].inner {
            TypeInner::Struct { members, .. } => members.len().max(1),
            _ => 1,
        }
    }

    /// The variable that a pointer leads to, and the member of it, for variables that are followed.
    fn variable(&self, frame: &Frame<'_>, pointer: Handle<Expression>) -> Option<(Variable, Option<u32>)> {
        match frame.function.expressions[pointer] {
            Expression::LocalVariable(local) => Some((Variable::Local(local), None)),
            Expression::GlobalVariable(global) => (self.module.global_variables[global].space == AddressSpace::Private)
                .then_some((Variable::Private(global), None)),
            Expression::AccessIndex { base, index } => {
                let (variable, member) = self.variable(frame, base)?;
                Some((variable, Some(member.unwrap_or(index))))
            }
            Expression::Access { base, .. } => self.variable(frame, base),
            _ => None,
        }
    }

    fn evaluate(&mut self, frame: &mut Frame<'m>, handle: Handle<Expression>) -> Value {
        if let Some(value) = frame.values.get(&handle) {
            return value.clone();
        }
        let expressions: &'m Arena<Expression> = &frame.function.expressions;
        match &expressions[handle] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Override(_)
            | Expression::ZeroValue(_)
            | Expression::ArrayLength(_) => Value::of(Level::Workgroup),
            Expression::FunctionArgument(index) => frame.arguments[*index as usize].clone(),
            Expression::GlobalVariable(_) | Expression::LocalVariable(_) => Value::of(Level::Workgroup),
            Expression::Compose { ty, components } => {
                let values: Vec<Level> = components.iter().map(|c| self.evaluate(frame, *c).level()).collect();
                match &self.module.types[*ty].inner {
                    TypeInner::Struct { .. } => Value(values),
                    _ => Value::of(values.into_iter().max().unwrap_or_default()),
                }
            }
            Expression::AccessIndex { base, index } => self.evaluate(frame, *base).member(*index),
            Expression::Access { base, index } => {
                let index = self.evaluate(frame, *index).level();
                Value::of(self.evaluate(frame, *base).level().max(index))
            }
            Expression::Load { pointer } => self.load(frame, *pointer),
            other => {
                // Whatever is made from operands is as different as they are.
                let mut level = match other {
                    // A statement gives these their values; one that did not come yet may give any.
                    Expression::CallResult(_)
                    | Expression::AtomicResult { .. }
                    | Expression::SubgroupOperationResult { .. }
                    | Expression::SubgroupBallotResult => Level::Lane,
                    _ => Level::Workgroup,
                };
                for operand in operands(other) {
                    level = level.max(self.evaluate(frame, operand).level());
                }
                Value::of(level)
            }
        }
    }

    fn load(&mut self, frame: &mut Frame<'m>, pointer: Handle<Expression>) -> Value {
        // The level of the address: a dynamic index anywhere in it.
        let address = self.evaluate(frame, pointer).level();
        if let Some((variable, member)) = self.variable(frame, pointer) {
            let held = match variable {
                Variable::Local(local) => frame.locals.get(&local),
                Variable::Private(global) => self.privates.get(&global),
            };
            let mut held = held.cloned().unwrap_or_else(|| Value::of(Level::Workgroup));
            if let Variable::Local(local) = variable
                && let Some(init) = frame.function.local_variables[local].init
            {
                let init = self.evaluate(frame, init);
                let members = held.0.len().max(init.0.len());
                held.raise(None, &init, members);
            }
            return match member {
                Some(member) => held.member(member),
                None => held,
            }
            .at_least(address);
        }
        let level = match self.global(frame, pointer).map(|global| self.module.global_variables[global].space) {
            Some(AddressSpace::Uniform | AddressSpace::Immediate) => Level::Workgroup,
            Some(AddressSpace::Storage { access }) if !access.contains(StorageAccess::STORE) => Level::Workgroup,
            _ => Level::Lane,
        };
        Value::of(level.max(address))
    }

    fn global(&self, frame: &Frame<'_>, pointer: Handle<Expression>) -> Option<Handle<GlobalVariable>> {
        match frame.function.expressions[pointer] {
            Expression::GlobalVariable(global) => Some(global),
            Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => self.global(frame, base),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Variable {
    Local(Handle<LocalVariable>),
    Private(Handle<GlobalVariable>),
}

/// The expressions that a value is computed from.
fn operands(expression: &Expression) -> Vec<Handle<Expression>> {
    match *expression {
        Expression::Splat { value, .. } => vec![value],
        Expression::Swizzle { vector, .. } => vec![vector],
        Expression::Unary { expr, .. } | Expression::As { expr, .. } => vec![expr],
        Expression::Binary { left, right, .. } => vec![left, right],
        Expression::Select { condition, accept, reject } => vec![condition, accept, reject],
        Expression::Derivative { expr, .. } => vec![expr],
        Expression::Relational { argument, .. } => vec![argument],
        Expression::Math { arg, arg1, arg2, arg3, .. } => [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect(),
        Expression::ImageLoad { coordinate, array_index, sample, level, .. } => {
            [Some(coordinate), array_index, sample, level].into_iter().flatten().collect()
        }
        Expression::ImageSample { coordinate, array_index, .. } => {
            [Some(coordinate), array_index].into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(body: &str) -> Vec<(Operation, Level)> {
        let text = format!(
            "@group(0) @binding(0) var<storage, read> limits: array<u32>;
             @group(0) @binding(1) var<storage, read_write> data: array<u32>;
             var<workgroup> shared_words: array<u32, 64>;
             var<workgroup> flag: u32;
             var<private> kept: u32;
             struct Pair {{ same: u32, own: u32 }}
             fn meet() {{ workgroupBarrier(); }}
             fn clamped(x: u32) -> u32 {{ if x > 5u {{ return 5u; }} return x; }}
             @compute @workgroup_size(64)
             fn main(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>,
                     @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) subgroup: u32,
                     @builtin(subgroup_size) size: u32) {{
               {body}
             }}"
        );
        let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{body}: {e:?}"));
        check(&module).into_iter().map(|f| (f.operation, f.level)).collect()
    }

    #[test]
    fn uniform_flow_is_left_alone() {
        for body in [
            "workgroupBarrier();",
            "if group.x == 0u { workgroupBarrier(); }",
            "for (var i = 0u; i < limits[3]; i++) { workgroupBarrier(); }",
            "if index == 0u { data[0] = 1u; } workgroupBarrier();",
            "if limits[group.x] > 2u { return; } workgroupBarrier();",
            "if index == 0u { flag = 1u; } if workgroupUniformLoad(&flag) == 1u { workgroupBarrier(); }",
            "for (var d = size / 2u; d > 0u; d = d >> 1u) { workgroupBarrier(); }",
            "kept = size; if kept > 4u { workgroupBarrier(); }",
            "let p = Pair(size, lane); if p.same > 4u { workgroupBarrier(); }",
            "var p: Pair; p.own = lane; p.same = group.x; if p.same > 4u { workgroupBarrier(); }",
            "if clamped(group.x) == 5u { meet(); }",
            "for (var i = lane; i < 60u; i += size) { data[i] = 0u; } workgroupBarrier();",
            "for (var i = 0u; i < 9u; i++) { if lane == i { continue; } data[lane] = i; } workgroupBarrier();",
            "switch lane { case 0u: { data[0] = 1u; break; } default: {} } workgroupBarrier();",
            "if subgroup == 0u { data[lane] = subgroupAdd(lane); }",
            "if subgroupAll(lane > 3u) { data[lane] = subgroupAdd(lane); }",
        ] {
            assert_eq!(findings(body), [], "{body}");
        }
    }

    #[test]
    fn split_flow_is_found() {
        use Level::{Lane, Subgroup};
        use Operation::{Barrier, WorkgroupUniformLoad};
        for (body, expected) in [
            ("if index < 10u { workgroupBarrier(); }", (Barrier, Lane)),
            ("if index < 10u { return; } workgroupBarrier();", (Barrier, Lane)),
            ("if data[group.x] > 2u { workgroupBarrier(); }", (Barrier, Lane)),
            ("if shared_words[0] > 2u { meet(); }", (Barrier, Lane)),
            ("for (var i = 0u; i < index; i++) { workgroupBarrier(); }", (Barrier, Lane)),
            ("for (var i = 0u; i < 9u; i++) { if lane == i { break; } workgroupBarrier(); }", (Barrier, Lane)),
            ("loop { workgroupBarrier(); if lane == 3u { break; } }", (Barrier, Lane)),
            ("for (var i = 0u; i < 9u; i++) { if lane == i { continue; } workgroupBarrier(); }", (Barrier, Lane)),
            ("var x = 0u; if lane == 0u { x = 1u; } if x == 1u { workgroupBarrier(); }", (Barrier, Lane)),
            ("kept = lane; if kept > 4u { workgroupBarrier(); }", (Barrier, Lane)),
            ("let p = Pair(size, lane); if p.own > 4u { workgroupBarrier(); }", (Barrier, Lane)),
            ("if clamped(index) == 5u { meet(); }", (Barrier, Lane)),
            ("switch lane { case 0u: { workgroupBarrier(); } default: {} }", (Barrier, Lane)),
            ("if subgroup == 0u { workgroupBarrier(); }", (Barrier, Subgroup)),
            ("if subgroupAny(lane > 3u) { workgroupBarrier(); }", (Barrier, Subgroup)),
            ("if lane == 0u { data[0] = workgroupUniformLoad(&flag); }", (WorkgroupUniformLoad, Lane)),
            ("if lane == 0u { data[0] = subgroupAdd(1u); }", (Operation::Subgroup, Lane)),
            ("if lane < 4u && subgroupAny(true) { data[0] = 1u; }", (Operation::Subgroup, Lane)),
        ] {
            assert_eq!(findings(body), [expected], "{body}");
        }
    }

    #[test]
    fn a_private_variable_that_a_later_round_changes_is_followed() {
        let body = "for (var i = 0u; i < 2u; i++) { if kept > 4u { workgroupBarrier(); } kept = lane; }";
        assert_eq!(findings(body), [(Operation::Barrier, Level::Lane)]);
    }

    #[test]
    fn no_variant_that_ships_has_a_finding() {
        for variant in crate::shader::catalog::variants() {
            let text = variant.assemble().expect("assembles");
            let (module, _) = text.validate().expect("valid");
            if let Some(finding) = check(&module).into_iter().next() {
                let at = finding.span.location(text.text());
                let cause = finding.cause.map(|cause| cause.location(text.text()).line_number);
                panic!(
                    "{}: {} at {:?}, split at {:?}",
                    variant.name(),
                    finding.operation,
                    text.locate(at.line_number),
                    cause.and_then(|l| text.locate(l))
                );
            }
        }
    }
}
