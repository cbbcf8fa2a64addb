//! Random programs: structured WGSL whose results are defined, whatever executes it.
//!
//! Loops end, shifts are within the word, barriers are in uniform flow, cells of atomics see one operation each, and no
//! result of theirs is used. Floats are multiples of an eighth of at most 128 (of a quarter and 64 where they have 16
//! bits), so that sums and products of two are exact, and neither fusion nor another order shows; those that are rounded
//! are rounded by one operation. Their zeros have a sign that is never looked at, since lavapipe does not keep it
//! (`f32(i32(-0.75))` gives -0). No constant stands on the right of `&` and `|`: lavapipe may get a merge by a constant
//! mask wrong (tests/corpus/masked_merge.wgsl). Pointers go to whole variables only: naga 30.0.2 cannot write others as
//! SPIR-V.

use std::fmt::Write;

/// Numbers without a pattern, the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, most: u32) -> u32 {
        self.word() % most
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u32) as usize]
    }
}

/// A statement: its text up to the first part that can be left out, and such parts, each with the text behind it.
#[derive(Clone)]
pub(crate) struct Node {
    opening: String,
    parts: Vec<(Vec<Node>, String)>,
}

impl Node {
    fn line(text: String) -> Self {
        Self { opening: text, parts: Vec::new() }
    }

    fn print(nodes: &[Self], to: &mut String, depth: usize) {
        let lines = |text: &str, to: &mut String| {
            for line in text.lines() {
                writeln!(to, "{:1$}{line}", "", 2 * depth).expect("a string takes all");
            }
        };
        for node in nodes {
            lines(&node.opening, to);
            for (part, closing) in &node.parts {
                Self::print(part, to, depth + 1);
                lines(closing, to);
            }
        }
    }

    fn count(nodes: &[Self]) -> usize {
        nodes.iter().map(|node| 1 + node.parts.iter().map(|(part, _)| Self::count(part)).sum::<usize>()).sum()
    }

    /// Removes the statement with this number, counted from the first with those within.
    fn remove(nodes: &mut Vec<Self>, at: &mut usize) -> bool {
        for i in 0..nodes.len() {
            if *at == 0 {
                nodes.remove(i);
                return true;
            }
            *at -= 1;
            if nodes[i].parts.iter_mut().any(|(part, _)| Self::remove(part, at)) {
                return true;
            }
        }
        false
    }
}

/// The bodies of two functions, of the uniform part of the entry point, and of its rest.
#[derive(Clone)]
pub(crate) struct Program {
    bodies: [Vec<Node>; 4],
}

/// Which subgroup operations a program has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subgroups {
    /// Those whose results do not depend on the width, in uniform flow.
    Quads,
    /// All of them, wherever a statement stands: of the lanes that are there, as far as lanes stay together.
    Everywhere,
}

pub(crate) const INVOCATIONS: usize = 64;
/// Words of each buffer: what is read, what each invocation writes, and what atomics count.
pub(crate) const BUFFERS: [usize; 3] = [64, 16 * INVOCATIONS, 24];

const VARIABLES: &str = "
  var u0 = a;
  var u1 = ~a * 3u;
  var u2 = 7u;
  var i0 = b;
  var i1 = bitcast<i32>(a) >> 3u;
  var f0 = c;
  var f1 = tame(f32(b & 63) - 20.0);
  var v0 = vec4u(a, a >> 8u, 5u, ~a);
  var v1 = v0.wxzy * 77u;
  var list: array<u32, 5>;
  var pair: Pair;
  var w0 = u64(a) * 0x9e3779b97f4a7c15lu;
  var w1 = u64(a) << 20u;
  var k0 = i64(b) * -77777777777li;
  var t0 = u16(a);
  var s0 = i16(b);
  var h0 = tame16(f16(b & 31));
  var longs: array<u64, 3>;
  var shorts: array<i16, 3>;
";

const RESULT: &str = "u0 ^ u1 * 5u ^ u2 * 7u ^ bitcast<u32>(i0 ^ i1 * 3) ^ u32(i32(f0 * 8.0) + i32(f1 * 8.0)) ^ v0.x ^ v0[1] ^ v1.z ^ v1.w ^ list[0] ^ list[4] ^ pair.a ^ u32(w0 ^ w1 >> 32u) ^ u32(u64(k0) >> 9u) ^ u32(t0) ^ u32(i32(s0)) * 3u ^ u32(i32(h0 * 4.0h)) ^ u32(longs[1] >> 7u) ^ u32(i32(shorts[2]))";

impl Program {
    pub(crate) fn random(seed: u64, subgroups: Subgroups) -> Self {
        let mut generator = Generator { dice: Dice::new(seed), subgroups, names: 0, functions: 0, loops: 0 };
        let function = |generator: &mut Generator| {
            let body = generator.block(4, 2, Flow { returns: Some("return"), ..Flow::default() });
            generator.functions += 1;
            body
        };
        let (first, second) = (function(&mut generator), function(&mut generator));
        let uniform = generator.block(8, 3, Flow { uniform: true, ..Flow::default() });
        let rest = generator.block(9, 3, Flow { returns: Some("finish"), ..Flow::default() });
        Self { bodies: [first, second, uniform, rest] }
    }

    pub(crate) fn text(&self) -> String {
        let [first, second, uniform, rest] = self.bodies.each_ref().map(|nodes| {
            let mut text = String::new();
            Node::print(nodes, &mut text, 1);
            text
        });
        let variables = VARIABLES.trim_start_matches('\n');
        format!(
            "enable f16;
enable wgpu_int16;

struct Pair {{
  a: u32,
  list: array<i32, 4>,
}}

@group(0) @binding(0) var<storage, read> input: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 16>, {INVOCATIONS}>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>, 24>;

var<private> hidden: u32 = 3u;
var<workgroup> tile: array<u32, {INVOCATIONS}>;
var<workgroup> bins: array<atomic<u32>, 8>;

fn tame(x: f32) -> f32 {{
  return clamp(floor(x * 8.0) * 0.125, -128.0, 128.0);
}}

fn tame16(x: f16) -> f16 {{
  return clamp(floor(x * 4.0h) * 0.25h, -64.0h, 64.0h);
}}

fn touch(to: ptr<function, Pair>, at: u32, by: i32) -> u32 {{
  let place = &(*to).list[at % 4u];
  *place = *place * 3 + by;
  (*to).a ^= bitcast<u32>(*place);
  return (*to).a;
}}

fn call0(a: u32, b: i32, c: f32) -> u32 {{
{variables}{first}  return {RESULT};
}}

fn call1(a: u32, b: i32, c: f32) -> u32 {{
{variables}{second}  return {RESULT};
}}

@compute @workgroup_size({INVOCATIONS})
fn main(@builtin(local_invocation_index) local: u32) {{
  let a = input[local];
  let b = bitcast<i32>(a * 747796405u) >> 9u;
  let c = tame(f32(b & 1023) * 0.125 - 60.0);
{variables}{uniform}  workgroupBarrier();
  out[local][1] = atomicLoad(&bins[local % 8u]);
{rest}  out[local][0] = {RESULT};
  out[local][2] = hidden;
}}
"
        )
    }

    /// The smallest program that `fails` by leaving out statements one after the other.
    pub(crate) fn shrunk(mut self, fails: impl Fn(&Self) -> bool) -> Self {
        loop {
            let mut smaller = false;
            for body in 0..self.bodies.len() {
                let mut at = 0;
                while at < Node::count(&self.bodies[body]) {
                    let mut less = self.clone();
                    Node::remove(&mut less.bodies[body], &mut at.clone());
                    if fails(&less) {
                        self = less;
                        smaller = true;
                    } else {
                        at += 1;
                    }
                }
            }
            if !smaller {
                return self;
            }
        }
    }
}

/// What may stand where a statement goes.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// All invocations of the workgroup are here, and stay together.
    uniform: bool,
    /// The innermost loop can be left or gone on with.
    breaks: bool,
    continues: bool,
    /// How the function can be left.
    returns: Option<&'static str>,
}

struct Generator {
    dice: Dice,
    subgroups: Subgroups,
    names: u32,
    /// Functions that can be called by now.
    functions: u32,
    /// Loops around.
    loops: u32,
}

impl Generator {
    fn block(&mut self, most: u32, depth: u32, flow: Flow) -> Vec<Node> {
        let count = 1 + self.dice.below(most);
        (0..count).map(|_| self.statement(depth, flow)).collect()
    }

    fn statement(&mut self, depth: u32, flow: Flow) -> Node {
        let inner = Flow { uniform: false, ..flow };
        if self.subgroups == Subgroups::Everywhere && self.dice.below(5) == 0 {
            return self.collective();
        }
        match self.dice.below(if depth == 0 { 10 } else { 17 }) {
            0..4 => self.assignment(),
            4 => {
                let (at, value) = (self.unsigned(1), self.unsigned(2));
                match self.dice.below(4) {
                    0 => Node::line(format!("list[{at} % 5u] = {value};")),
                    2 => Node::line(format!("pair = Pair({value}, array<i32, 4>(i0, i1, pair.list[{at} % 4u], b));")),
                    1 => Node::line(format!("v0[{at} % 4u] ^= {value};")),
                    _ => Node::line(format!("v1.{} = {value};", self.dice.one(&["x", "y", "z", "w"]))),
                }
            }
            5 => {
                let (cell, value) = (self.unsigned(1), self.unsigned(1));
                Node::line(match self.dice.below(4) {
                    0 => format!("atomicAdd(&counts[{cell} % 8u], {value});"),
                    1 => format!("atomicXor(&counts[8u + {cell} % 8u], {value});"),
                    2 => format!("atomicMax(&counts[16u + {cell} % 8u], {value});"),
                    // Read once all have come to the barrier behind the uniform part.
                    _ if flow.uniform => format!("atomicAdd(&bins[{cell} % 8u], {value});"),
                    _ => format!("hidden = hidden * 5u + {value};"),
                })
            }
            6 => {
                let (at, by) = (self.unsigned(1), self.signed(1));
                Node::line(format!("u2 ^= touch(&pair, {at}, {by});"))
            }
            7 | 8 if flow.uniform => self.exchange(),
            7 | 8 if flow.breaks || flow.continues || flow.returns.is_some() => {
                let condition = self.condition(1);
                let mut ways = Vec::new();
                if flow.breaks {
                    ways.push("break;".to_string());
                }
                if flow.continues {
                    ways.push("continue;".to_string());
                }
                match flow.returns {
                    Some("return") => ways.push(format!("return {};", self.unsigned(2))),
                    Some(_) => ways.push(format!("out[local][3] = {RESULT};\n  return;")),
                    None => {}
                }
                let way = &ways[self.dice.below(ways.len() as u32) as usize];
                Node::line(format!("if {condition} {{\n  {way}\n}}"))
            }
            7..10 => {
                let (value, other) = (self.unsigned(2), self.vector(1));
                Node::line(format!("{{\n  let held = {value};\n  v0 = v0 * held + {other};\n  u1 ^= held;\n}}"))
            }
            10 | 11 => {
                let condition = self.condition(2);
                let then = self.block(3, depth - 1, inner);
                let otherwise = self.block(2, depth - 1, inner);
                let parts = match self.dice.below(2) {
                    0 => vec![(then, "}".to_string())],
                    _ => vec![(then, "} else {".to_string()), (otherwise, "}".to_string())],
                };
                Node { opening: format!("if {condition} {{"), parts }
            }
            12 => self.switch(depth, inner),
            13 if flow.uniform => {
                let name = self.name();
                let count = 2 + self.dice.below(2);
                let body = self.in_loop(3, depth, Flow { uniform: true, ..Flow::default() });
                let opening = format!("for (var {name} = 0u; {name} < {count}u; {name}++) {{");
                Node { opening, parts: vec![(body, "}".into())] }
            }
            _ if self.loops < 2 => self.repetition(depth, inner),
            _ => self.assignment(),
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn in_loop(&mut self, most: u32, depth: u32, flow: Flow) -> Vec<Node> {
        self.loops += 1;
        let body = self.block(most, depth - 1, flow);
        self.loops -= 1;
        body
    }

    fn switch(&mut self, depth: u32, flow: Flow) -> Node {
        let selector = match self.dice.below(2) {
            0 => format!("bitcast<i32>({} & 7u) - 3", self.unsigned(2)),
            _ => format!("{} % 6u", self.unsigned(2)),
        };
        let suffix = if selector.ends_with('u') { "u" } else { "" };
        let flow = Flow { breaks: true, ..flow };
        let mut bodies = [0; 3].map(|_| self.block(2, depth - 1, flow)).into_iter();
        let mut body = || bodies.next().expect("there are three");
        let opening = format!("switch {selector} {{\n  case 1{suffix}, 4{suffix}: {{");
        let parts = vec![
            (body(), "}\n  default: {".to_string()),
            (body(), format!("}}\n  case 3{suffix}: {{")),
            (body(), "}\n}".to_string()),
        ];
        Node { opening, parts }
    }

    fn repetition(&mut self, depth: u32, flow: Flow) -> Node {
        let name = self.name();
        let flow = Flow { breaks: true, continues: true, ..flow };
        match self.dice.below(3) {
            0 => {
                let count = self.unsigned(1);
                let opening = format!("for (var {name} = 0u; {name} < ({count}) % 6u; {name}++) {{");
                Node { opening, parts: vec![(self.in_loop(3, depth, flow), "}".into())] }
            }
            1 => {
                let condition = self.condition(1);
                let opening = format!("var {name} = 0u;\nwhile {name} < 5u && {condition} {{\n  {name}++;");
                Node { opening, parts: vec![(self.in_loop(3, depth, flow), "}".into())] }
            }
            _ => {
                let (condition, value) = (self.condition(1), self.unsigned(1));
                let opening = format!("var {name} = 0u;\nloop {{\n  {name}++;");
                let body = self.in_loop(3, depth, flow);
                let closing = format!(
                    "  continuing {{\n    u0 += {value};\n    break if {name} >= 4u || ({condition});\n  }}\n}}"
                );
                Node { opening, parts: vec![(body, closing)] }
            }
        }
    }

    fn assignment(&mut self) -> Node {
        Node::line(match self.dice.below(8) {
            5 => {
                let to = self.dice.one(&["w0", "w1", "longs[u0 % 3u]"]);
                let op = self.dice.one(&["=", "+=", "-=", "*=", "^="]);
                format!("{to} {op} {};", self.wide(2))
            }
            6 => match self.dice.below(2) {
                0 => format!("k0 {} {};", self.dice.one(&["=", "+=", "-=", "*=", "^="]), self.wide_signed(2)),
                _ => format!("h0 = {};", self.half(2)),
            },
            7 => match self.dice.below(2) {
                0 => format!("t0 {} {};", self.dice.one(&["=", "+=", "-=", "*=", "^="]), self.short(2)),
                _ => {
                    let to = self.dice.one(&["s0", "shorts[u1 % 3u]"]);
                    format!("{to} {} {};", self.dice.one(&["=", "+=", "-=", "*="]), self.short_signed(2))
                }
            },
            0 | 1 => {
                let to = self.dice.one(&["u0", "u1", "u2"]);
                let op = self.dice.one(&["=", "+=", "-=", "*=", "^=", "|=", "&="]);
                format!("{to} {op} {};", self.unsigned(3))
            }
            2 => {
                let to = self.dice.one(&["i0", "i1"]);
                let op = self.dice.one(&["=", "+=", "-=", "*=", "^="]);
                format!("{to} {op} {};", self.signed(3))
            }
            3 => {
                let to = self.dice.one(&["f0", "f1"]);
                format!("{to} = {};", self.float(3))
            }
            _ => {
                let to = self.dice.one(&["v0", "v1"]);
                format!("{to} = {};", self.vector(3))
            }
        })
    }

    /// Invocations tell each other something.
    fn exchange(&mut self) -> Node {
        let value = self.unsigned(1);
        let by = 1 + self.dice.below(63);
        Node::line(match self.dice.below(4) {
            0 => format!("u0 ^= subgroupShuffleXor({value}, {}u);", 1 + self.dice.below(3)),
            1 => format!("u1 += {}({value});", self.dice.one(&["quadSwapX", "quadSwapY", "quadSwapDiagonal"])),
            // The first barrier keeps the tile from those who still read it.
            _ => format!(
                "workgroupBarrier();\ntile[local] = {value};\nworkgroupBarrier();\nu2 = tile[(local + {by}u) % 64u] ^ u2;"
            ),
        })
    }

    /// The lanes of a subgroup that are here tell each other something.
    fn collective(&mut self) -> Node {
        let (value, number) = (self.unsigned(1), self.signed(1));
        Node::line(match self.dice.below(7) {
            0 => {
                let names =
                    ["Add", "Mul", "And", "Or", "Xor", "Min", "Max", "ExclusiveAdd", "InclusiveAdd", "InclusiveMul"];
                format!("u0 ^= subgroup{}({value});", self.dice.one(&names))
            }
            1 => format!("i1 -= subgroup{}({number});", self.dice.one(&["Min", "Max", "Add", "ExclusiveAdd"])),
            2 => format!("v0 ^= subgroupBallot({});", self.condition(1)),
            3 => format!("u2 += u32(subgroup{}({}));", self.dice.one(&["All", "Any"]), self.condition(1)),
            4 => format!("u1 ^= subgroupBroadcastFirst({value});"),
            5 => format!("v1 += subgroup{}({});", self.dice.one(&["Add", "Max", "BroadcastFirst"]), self.vector(1)),
            _ => format!("f0 = tame(subgroup{}({}));", self.dice.one(&["Min", "Max", "Add"]), self.float(1)),
        })
    }

    // Expressions. None is constant: naga would fold it, and refuse what overflows.

    fn literal(&mut self) -> u32 {
        match self.dice.below(4) {
            0 => [0, u32::MAX, 1 << 31, i32::MAX as u32, 0xffff, 0x8000_0001][self.dice.below(6) as usize],
            1 => self.dice.word(),
            _ => self.dice.below(20),
        }
    }

    fn unsigned(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return self.dice.one(&["u0", "u1", "u2", "a", "hidden", "v0.x", "v1.w", "pair.a", "u0"]).into();
        }
        let x = self.unsigned(depth - 1);
        let y = if self.dice.below(4) == 0 { format!("{}u", self.literal()) } else { self.unsigned(depth - 1) };
        match self.dice.below(25) {
            22 => format!("u32({})", self.wide(depth - 1)),
            23 => format!("u32({} >> 32u)", self.wide(depth - 1)),
            24 => format!("u32({})", self.short(depth - 1)),
            0..5 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "^"])),
            5 | 6 => format!("({x} {} {})", self.dice.one(&["&", "|"]), self.unsigned(depth - 1)),
            7 => format!("({x} {} ({} | 1u))", self.dice.one(&["/", "%"]), self.unsigned(depth - 1)),
            8 => format!("({x} {} {})", self.dice.one(&["/", "%"]), self.unsigned(depth - 1)),
            9 | 10 => format!("({x} {} ({y} & 31u))", self.dice.one(&["<<", ">>"])),
            11 => {
                let name = self.dice.one(&[
                    "countOneBits",
                    "reverseBits",
                    "firstLeadingBit",
                    "firstTrailingBit",
                    "countLeadingZeros",
                    "countTrailingZeros",
                    "~",
                ]);
                format!("{name}({x})")
            }
            12 => match self.dice.below(3) {
                0 => format!("{}({})", self.dice.one(&["pack4xU8", "pack4xU8Clamp"]), self.vector(depth - 1)),
                _ => format!("{}({x}, {y})", self.dice.one(&["min", "max", "dot4U8Packed"])),
            },
            13 => format!("extractBits({x}, {}u, {}u)", self.dice.below(20), 1 + self.dice.below(12)),
            14 => format!("insertBits({x}, {y}, {}u, {}u)", self.dice.below(20), 1 + self.dice.below(12)),
            15 => format!("select({x}, {y}, {})", self.condition(depth - 1)),
            16 => format!("bitcast<u32>({})", self.signed(depth - 1)),
            17 => format!("u32(i32({} * 8.0))", self.float(depth - 1)),
            18 => format!("input[{x} % 64u]"),
            19 => format!("list[{x} % 5u]"),
            20 => format!("v0[{x} % 4u]"),
            _ if self.functions > 0 && self.loops < 2 => {
                let function = self.dice.below(self.functions);
                format!("call{function}({x}, {}, {})", self.signed(depth - 1), self.float(depth - 1))
            }
            _ => format!("dot(v0, {})", self.vector(depth - 1)),
        }
    }

    fn signed(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return self.dice.one(&["i0", "i1", "b", "pair.list[1]"]).into();
        }
        let x = self.signed(depth - 1);
        let y = match self.dice.below(4) {
            // The least has no literal of its own.
            0 => format!("i32({})", (self.literal() as i32).max(-i32::MAX)),
            _ => self.signed(depth - 1),
        };
        match self.dice.below(18) {
            16 => format!("i32({})", self.wide_signed(depth - 1)),
            17 => format!("i32({})", self.short_signed(depth - 1)),
            0..4 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "^"])),
            4..8 => format!("({x} {} {})", self.dice.one(&["/", "%", "&", "|"]), self.signed(depth - 1)),
            8 | 9 => format!("({x} {} ({} & 31u))", self.dice.one(&["<<", ">>"]), self.unsigned(depth - 1)),
            10 => {
                let name = self.dice.one(&["abs", "sign", "-", "~", "firstLeadingBit", "countOneBits", "reverseBits"]);
                format!("{name}({x})")
            }
            11 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            12 => format!("extractBits({x}, {}u, {}u)", self.dice.below(20), 1 + self.dice.below(12)),
            13 => format!("select({x}, {y}, {})", self.condition(depth - 1)),
            14 => format!("bitcast<i32>({})", self.unsigned(depth - 1)),
            _ => format!("i32({} * 8.0)", self.float(depth - 1)),
        }
    }

    /// A u64.
    fn wide(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return self.dice.one(&["w0", "w1", "longs[2]"]).into();
        }
        let (x, y) = (self.wide(depth - 1), self.wide(depth - 1));
        match self.dice.below(12) {
            0..4 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "^", "&", "|"])),
            4 => format!("({x} {} ({y} | 1lu))", self.dice.one(&["/", "%"])),
            5 => format!("({x} {} ({} & 63u))", self.dice.one(&["<<", ">>"]), self.unsigned(depth - 1)),
            6 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            7 => format!("select({x}, {y}, {x} {} {y})", self.dice.one(&["<", "<=", "==", "!="])),
            8 => format!("u64({})", self.unsigned(depth - 1)),
            9 => format!("bitcast<u64>({})", self.wide_signed(depth - 1)),
            10 => format!("~{x}"),
            _ => format!("longs[{} % 3u]", self.unsigned(depth - 1)),
        }
    }

    /// An i64.
    fn wide_signed(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return "k0".into();
        }
        let (x, y) = (self.wide_signed(depth - 1), self.wide_signed(depth - 1));
        match self.dice.below(9) {
            0..3 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "^", "&"])),
            3 => format!("({x} {} ({y} | 1li))", self.dice.one(&["/", "%"])),
            4 => format!("({x} {} ({} & 63u))", self.dice.one(&["<<", ">>"]), self.unsigned(depth - 1)),
            5 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            6 => format!("i64({})", self.signed(depth - 1)),
            7 => format!("bitcast<i64>({})", self.wide(depth - 1)),
            _ => format!("{}({x})", self.dice.one(&["abs", "sign", "-", "~"])),
        }
    }

    /// A u16.
    fn short(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return "t0".into();
        }
        let (x, y) = (self.short(depth - 1), self.short(depth - 1));
        match self.dice.below(9) {
            0..3 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "^", "&", "|"])),
            3 => format!("({x} {} ({y} | u16(1)))", self.dice.one(&["/", "%"])),
            4 => format!("({x} {} ({} & 15u))", self.dice.one(&["<<", ">>"]), self.unsigned(depth - 1)),
            5 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            6 => format!("u16({})", self.unsigned(depth - 1)),
            7 => format!("u16({})", self.short_signed(depth - 1)),
            _ => format!("select({x}, {y}, {x} {} {y})", self.dice.one(&["<", "<=", "==", "!="])),
        }
    }

    /// An i16.
    fn short_signed(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return self.dice.one(&["s0", "shorts[1]"]).into();
        }
        let (x, y) = (self.short_signed(depth - 1), self.short_signed(depth - 1));
        match self.dice.below(8) {
            0..3 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "^", "&"])),
            3 => format!("({x} >> ({} & 15u))", self.unsigned(depth - 1)),
            4 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            5 => format!("i16({})", self.signed(depth - 1)),
            6 => format!("i16({})", self.short(depth - 1)),
            _ => format!("{}({x})", self.dice.one(&["abs", "-", "~"])),
        }
    }

    /// An f16.
    fn half(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return "h0".into();
        }
        let (x, y) = (self.half(depth - 1), self.half(depth - 1));
        match self.dice.below(7) {
            0..3 => format!("tame16({x} {} {y})", self.dice.one(&["+", "-", "*"])),
            3 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            4 => format!("{}({x})", self.dice.one(&["abs", "floor", "ceil", "trunc", "-"])),
            5 => format!("tame16(f16({}))", self.float(depth - 1)),
            _ => format!("select({x}, {y}, {x} < {y})"),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(6) == 0 {
            return self.dice.one(&["f0", "f1", "c"]).into();
        }
        let (x, y) = (self.float(depth - 1), self.float(depth - 1));
        match self.dice.below(15) {
            12 => format!("f32({})", self.half(depth - 1)),
            // Rounded, but once: no two operations here could be fused.
            13 => format!("tame({x} * {})", self.dice.one(&["0.37", "-1.7"])),
            14 => format!("tame({x} + {})", self.dice.one(&["0.1", "-33.3"])),
            0..4 => format!("tame({x} {} {y})", self.dice.one(&["+", "-", "*"])),
            4 => format!("tame(fma({x}, {y}, {}))", self.float(depth - 1)),
            5 => format!("{}({x}, {y})", self.dice.one(&["min", "max", "step"])),
            6 | 7 => {
                format!("{}({x})", self.dice.one(&["abs", "floor", "ceil", "trunc", "round", "fract", "sign", "-"]))
            }
            8 => format!("select({x}, {y}, {})", self.condition(depth - 1)),
            9 => format!("f32({} & 63)", self.signed(depth - 1)),
            10 => match self.dice.below(2) {
                0 => format!("tame(dot(vec2f({x}, {y}), vec2f(f1, f0)))"),
                _ => format!(
                    "tame((mat2x2f({x}, f0, {y}, f1) * vec2f({y}, 2.0))[{}])",
                    self.unsigned(depth - 1) + " & 1u"
                ),
            },
            _ => format!("tame({x} / {})", self.dice.one(&["2.0", "0.5", "-4.0"])),
        }
    }

    fn vector(&mut self, depth: u32) -> String {
        if depth == 0 || self.dice.below(5) == 0 {
            return self.dice.one(&["v0", "v1", "v0.wzyx", "v1.yyxw", "v0.zwxz"]).into();
        }
        let (x, y) = (self.vector(depth - 1), self.vector(depth - 1));
        match self.dice.below(10) {
            0..2 => format!("({x} {} {y})", self.dice.one(&["+", "-", "*", "&", "|", "^"])),
            2 => format!("unpack4xU8({})", self.unsigned(depth - 1)),
            8 => format!("bitcast<vec4u>(vec4i({x}) {} vec4i({y}))", self.dice.one(&["/", "%", "*", "-"])),
            3 => format!("({x} {} {y})", self.dice.one(&["/", "%"])),
            4 => format!("({x} {} ({y} & vec4u(31u)))", self.dice.one(&["<<", ">>"])),
            5 => format!("({x} {} {})", self.dice.one(&["+", "*"]), self.unsigned(depth - 1)),
            6 => format!("{}({x}, {y})", self.dice.one(&["min", "max"])),
            7 => format!("select({x}, {y}, {x} {} {y})", self.dice.one(&["<", ">=", "=="])),
            _ => format!("vec4u({}, {x}.yz, {})", self.unsigned(depth - 1), self.unsigned(depth - 1)),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let compare = self.dice.one(&["<", "<=", ">", ">=", "==", "!="]);
        match self.dice.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => format!("({} & 7u) {compare} {}u", self.unsigned(depth), self.dice.below(8)),
            2 => format!("{} {compare} {}", self.signed(depth), self.signed(depth)),
            3 => format!("{} {compare} {}", self.float(depth), self.float(depth)),
            4 => format!("({} && {})", self.condition_of_many(depth), self.condition_of_many(depth)),
            5 => format!("({} || {})", self.condition_of_many(depth), self.condition_of_many(depth)),
            6 => format!("!({})", self.condition(depth - 1)),
            _ => {
                let (x, y) = (self.vector(depth - 1), self.vector(depth - 1));
                format!("{}({x} {compare} {y})", self.dice.one(&["any", "all"]))
            }
        }
    }

    fn condition_of_many(&mut self, depth: u32) -> String {
        format!("({})", self.condition(depth - 1))
    }
}

#[test]
fn what_does_not_matter_is_left_out() {
    let program = (0..)
        .map(|seed| Program::random(seed, Subgroups::Quads))
        .find(|program| program.text().contains("reverseBits") && program.text().contains("continuing"))
        .expect("most have both");
    let fails = |program: &Program| program.text().contains("reverseBits");
    let shrunk = program.clone().shrunk(fails);
    assert!(fails(&shrunk));
    let statements = |program: &Program| program.bodies.iter().map(|nodes| Node::count(nodes)).sum::<usize>();
    assert!(statements(&shrunk) <= 4 && statements(&shrunk) < statements(&program), "{}", shrunk.text());
}
