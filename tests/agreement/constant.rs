//! naga's constant evaluator against the simulator: the same expression, folded by naga in a `const`, and at run time of
//! values from a buffer.
//!
//! Where naga refuses arguments (an overflow, a root of a negative number) the expression has no constant value, and there
//! is nothing to compare.

use naga::Literal;

use crate::device::{Device, Job, parse};
use crate::program::Dice;
use crate::ulps;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F32,
    F16,
    I32,
    U32,
    I64,
    U64,
    Bool,
}

use Kind::{Bool, F16, F32, I32, I64, U32, U64};

const FLOATS: [Kind; 2] = [F32, F16];
const WORDS: [Kind; 2] = [I32, U32];
const NARROW: [Kind; 4] = [F32, F16, I32, U32];
const NUMBERS: [Kind; 6] = [F32, F16, I32, U32, I64, U64];

/// An expression of `x`, `y` and `z`, with the types that these can have, and how many ulps of its own type a float may be
/// away. Where that is none, what is compared are the bits: the function is exact, or the host's own on both sides.
const EXPRESSIONS: &[(&str, &[Kind], u32)] = &[
    // Operators.
    ("x + y", &NARROW, 0),
    ("x - y", &NARROW, 0),
    ("x * y", &NARROW, 0),
    ("x / y", &NARROW, 0),
    ("x % y", &NARROW, 0),
    ("-x", &[F32, F16, I32, I64], 0),
    ("~x", &[I32, U32, I64, U64], 0),
    ("x & y", &WORDS, 0),
    ("x | y", &WORDS, 0),
    ("x ^ y", &WORDS, 0),
    ("x << (u32(y) & 31u)", &WORDS, 0),
    ("x >> (u32(y) & 31u)", &WORDS, 0),
    ("x == y", &NUMBERS, 0),
    ("x != y", &NUMBERS, 0),
    ("x < y", &NUMBERS, 0),
    ("x <= y", &NUMBERS, 0),
    ("x > y", &NUMBERS, 0),
    ("x >= y", &NUMBERS, 0),
    ("x && y", &[Bool], 0),
    ("x || y", &[Bool], 0),
    ("!x", &[Bool], 0),
    ("select(x, y, z > x)", &NUMBERS, 0),
    // Conversions.
    ("f32(x)", &[F16, I32, U32, Bool], 0),
    ("f16(x)", &[F32, I32, U32, Bool], 0),
    ("i32(x)", &[F32, F16, U32, Bool], 0),
    ("u32(x)", &[F32, F16, I32, Bool], 0),
    ("i64(x)", &[F32, I32, U32, U64, Bool], 0),
    ("u64(x)", &[F32, I32, U32, I64, Bool], 0),
    ("bool(x)", &[F32, I32, U32], 0),
    // Functions of numbers.
    ("abs(x)", &NUMBERS, 0),
    ("min(x, y)", &NUMBERS, 0),
    ("max(x, y)", &NUMBERS, 0),
    ("clamp(x, y, z)", &NUMBERS, 0),
    ("sign(x)", &[F32, F16, I32], 0),
    // Functions of floats.
    ("saturate(x)", &FLOATS, 0),
    ("ceil(x)", &FLOATS, 0),
    ("floor(x)", &FLOATS, 0),
    ("round(x)", &FLOATS, 0),
    ("fract(x)", &FLOATS, 0),
    ("trunc(x)", &FLOATS, 0),
    ("step(x, y)", &FLOATS, 0),
    ("sqrt(x)", &FLOATS, 0),
    ("fma(x, y, z)", &FLOATS, 0),
    ("inverseSqrt(x)", &FLOATS, 1),
    ("radians(x)", &FLOATS, 1),
    ("degrees(x)", &FLOATS, 1),
    ("cos(x)", &FLOATS, 1),
    ("cosh(x)", &FLOATS, 1),
    ("sin(x)", &FLOATS, 1),
    ("sinh(x)", &FLOATS, 1),
    ("tan(x)", &FLOATS, 1),
    ("tanh(x)", &FLOATS, 1),
    ("acos(x)", &FLOATS, 1),
    ("asin(x)", &FLOATS, 1),
    ("atan(x)", &FLOATS, 1),
    ("atan2(x, y)", &FLOATS, 1),
    ("asinh(x)", &FLOATS, 1),
    ("acosh(x)", &FLOATS, 1),
    ("atanh(x)", &FLOATS, 1),
    ("exp(x)", &FLOATS, 1),
    ("exp2(x)", &FLOATS, 1),
    ("log(x)", &FLOATS, 1),
    ("log2(x)", &FLOATS, 1),
    ("pow(x, y)", &FLOATS, 1),
    // Functions of bits.
    ("countTrailingZeros(x)", &WORDS, 0),
    ("countLeadingZeros(x)", &WORDS, 0),
    ("countOneBits(x)", &WORDS, 0),
    ("reverseBits(x)", &WORDS, 0),
    ("firstTrailingBit(x)", &WORDS, 0),
    ("firstLeadingBit(x)", &WORDS, 0),
    ("dot4I8Packed(x, y)", &[U32], 0),
    ("dot4U8Packed(x, y)", &[U32], 0),
    // Functions of vectors.
    ("dot(vec3(x, y, z), vec3(z, x, y))", &[F32, F16, I32, U32], 0),
    ("cross(vec3(x, y, z), vec3(z, x, y)).x", &FLOATS, 0),
    ("cross(vec3(x, y, z), vec3(z, x, y)).z", &FLOATS, 0),
    ("length(x)", &FLOATS, 0),
    ("length(vec3(x, y, z))", &FLOATS, 1),
    ("distance(x, y)", &FLOATS, 0),
    ("distance(vec2(x, y), vec2(y, z))", &FLOATS, 1),
    ("normalize(vec3(x, y, z)).y", &FLOATS, 1),
];

/// What naga 30.0.2 does not fold: once it does, this belongs above.
const NOT_FOLDED: &[&str] = &[
    "modf(1.5f).fract",
    "frexp(1.5f).fract",
    "ldexp(1.5f, 2i)",
    "faceForward(vec2f(1f), vec2f(1f), vec2f(1f))",
    "reflect(vec2f(1f), vec2f(1f))",
    "refract(vec2f(1f), vec2f(1f), 1f)",
    "mix(1f, 2f, 0.5f)",
    "smoothstep(1f, 2f, 1.5f)",
    "transpose(mat2x2f(1f, 2f, 3f, 4f))",
    "determinant(mat2x2f(1f, 2f, 3f, 4f))",
    "quantizeToF16(1.5f)",
    "extractBits(5u, 1u, 2u)",
    "insertBits(5u, 1u, 1u, 2u)",
    "pack4x8snorm(vec4f(1f))",
    "pack4x8unorm(vec4f(1f))",
    "pack2x16snorm(vec2f(1f))",
    "pack2x16unorm(vec2f(1f))",
    "pack2x16float(vec2f(1f))",
    "pack4xI8(vec4i(1i))",
    "pack4xU8(vec4u(1u))",
    "pack4xI8Clamp(vec4i(1i))",
    "pack4xU8Clamp(vec4u(1u))",
    "unpack4x8snorm(5u)",
    "unpack4x8unorm(5u)",
    "unpack2x16snorm(5u)",
    "unpack2x16unorm(5u)",
    "unpack2x16float(5u)",
    "unpack4xI8(5u)",
    "unpack4xU8(5u)",
    "bitcast<u32>(1f)",
];

/// A value, as the words that the simulator is given: of an f16, those of the f32 of the same value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Value {
    kind: Kind,
    bits: u64,
}

impl Value {
    fn text(self) -> String {
        let float = f32::from_bits(self.bits as u32);
        match self.kind {
            F32 => format!("({float:e}f)"),
            F16 => format!("({float:e}h)"),
            U32 => format!("{}u", self.bits),
            U64 => format!("{}lu", self.bits),
            // The least have no literal of their own.
            I32 if self.bits as i32 == i32::MIN => "(-2147483647i - 1i)".into(),
            I64 if self.bits as i64 == i64::MIN => "(-9223372036854775807li - 1li)".into(),
            I32 => format!("({}i)", self.bits as i32),
            I64 => format!("({}li)", self.bits as i64),
            Bool => (self.bits == 1).to_string(),
        }
    }

    fn of(literal: Literal) -> Option<Self> {
        let (kind, bits) = match literal {
            Literal::F32(value) => (F32, value.to_bits().into()),
            Literal::F16(value) => (F16, value.to_f32().to_bits().into()),
            Literal::I32(value) => (I32, (value as u32).into()),
            Literal::U32(value) => (U32, value.into()),
            Literal::I64(value) => (I64, value as u64),
            Literal::U64(value) => (U64, value),
            Literal::Bool(value) => (Bool, value.into()),
            _ => return None,
        };
        Some(Self { kind, bits })
    }

    /// Whether two are at most so many of their type's ulps apart.
    fn is_near(self, other: Self, most: u32) -> bool {
        // An f16 has 13 bits less than the f32 that stands for it.
        let scale = if self.kind == F16 { 1 << 13 } else { 1 };
        self == other || most > 0 && ulps::apart(self.bits as u32, other.bits as u32) <= scale * most
    }
}

/// Edges, and some numbers without a pattern.
fn samples(kind: Kind) -> Vec<Value> {
    let mut dice = Dice::new(5);
    let mut bits: Vec<u64> = match kind {
        F32 | F16 => {
            let mut floats = vec![
                0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, 0.25, 3.0, -7.0, 10.0, 0.125, 0.75, -0.875, 100.0,
                2047.0, -1023.5,
            ];
            if kind == F32 {
                floats.extend([
                    0.1,
                    -0.3,
                    0.999_999_94,
                    1e-40,
                    -1e-30,
                    1e9,
                    -3e9,
                    5e9,
                    16_777_217.0,
                    1e30,
                    3.4e38,
                    88.0,
                    1e-3,
                ]);
            }
            floats.into_iter().map(|float: f32| float.to_bits().into()).collect()
        }
        I32 => [0, 1, -1, 2, -7, 31, 255, i32::MAX, i32::MIN].map(|x| u64::from(x as u32)).to_vec(),
        U32 => [0, 1, 2, 7, 31, 32, 0xffff, 1 << 31, u32::MAX].map(u64::from).to_vec(),
        I64 => [0, 1, -1, 2, -7, 63, 1 << 40, i64::MAX, i64::MIN].map(|x| x as u64).to_vec(),
        U64 => vec![0, 1, 2, 7, 63, 0xffff_ffff, 1 << 63, u64::MAX],
        Bool => vec![0, 1],
    };
    let words = || dice.word();
    match kind {
        Bool => {}
        I64 | U64 => {
            let halves: Vec<u32> = std::iter::repeat_with(words).take(10).collect();
            bits.extend(halves.chunks(2).map(|pair| u64::from(pair[0]) << 32 | u64::from(pair[1])));
        }
        // Eighths, which every float type has.
        F32 | F16 => {
            let eighth = |word: u32| ((word >> 20) as f32 / 8.0 - 256.0).to_bits();
            bits.extend(std::iter::repeat_with(words).take(8).map(|word| u64::from(eighth(word))));
        }
        _ => bits.extend(std::iter::repeat_with(words).take(6).map(u64::from)),
    }
    bits.into_iter().map(|bits| Value { kind, bits }).collect()
}

/// The arguments that an expression meets: each sample, or each pair, or some triples.
fn arguments(expression: &str, kind: Kind) -> Vec<[Value; 3]> {
    let uses = |name: &str| {
        let mut words = expression.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| word == name)
    };
    let all = samples(kind);
    if !uses("y") {
        return all.into_iter().map(|x| [x; 3]).collect();
    }
    let pairs = all.iter().flat_map(|x| all.iter().map(|y| (*x, *y)));
    if !uses("z") {
        // Of the many, every seventh: the edges come in all positions.
        let step = if all.len() > 12 { 7 } else { 1 };
        return pairs.step_by(step).map(|(x, y)| [x, y, y]).collect();
    }
    let mut dice = Dice::new(6);
    let mut any = || all[dice.word() as usize % all.len()];
    (0..60).map(|_| [any(), any(), any()]).collect()
}

/// What naga makes of a constant expression; nothing where it refuses.
fn folded(expression: &str) -> Result<Value, String> {
    let module = parse(&format!("enable f16;\nconst folded = {expression};"))?;
    let (_, constant) = module.constants.iter().next().ok_or("no constant")?;
    match module.global_expressions[constant.init] {
        naga::Expression::Literal(literal) => Value::of(literal).ok_or_else(|| format!("{literal:?}")),
        ref other => Err(format!("{other:?}")),
    }
}

fn with_arguments(expression: &str, arguments: &[Value; 3]) -> String {
    let mut text = String::new();
    for (at, letter) in expression.char_indices() {
        let alone = |at: Option<char>| !at.is_some_and(char::is_alphanumeric);
        let is_name = alone(expression[..at].chars().last()) && alone(expression[at + 1..].chars().next());
        match "xyz".find(letter).filter(|_| is_name && !expression[..at].ends_with('.')) {
            Some(name) => text += &arguments[name].text(),
            None => text.push(letter),
        }
    }
    text
}

/// What the simulator makes of an expression of these arguments.
fn simulated(device: &Device, expression: &str, arguments: &[[Value; 3]], result: Kind) -> Vec<Value> {
    let argument = |name: usize| {
        let words = format!("arguments[i][{name}]");
        match arguments[0][name].kind {
            F32 => format!("bitcast<f32>({words}.x)"),
            F16 => format!("f16(bitcast<f32>({words}.x))"),
            I32 => format!("bitcast<i32>({words}.x)"),
            U32 => format!("{words}.x"),
            I64 => format!("i64((u64({words}.y) << 32u) | u64({words}.x))"),
            U64 => format!("(u64({words}.y) << 32u) | u64({words}.x)"),
            Bool => format!("{words}.x == 1u"),
        }
    };
    let words = match result {
        F32 | I32 => "vec2u(bitcast<u32>(result), 0u)",
        F16 => "vec2u(bitcast<u32>(f32(result)), 0u)",
        U32 | Bool => "vec2u(u32(result), 0u)",
        I64 | U64 => "vec2u(u32(u64(result)), u32(u64(result) >> 32u))",
    };
    let [x, y, z] = [0, 1, 2].map(argument);
    let source = format!(
        "enable f16;
        @group(0) @binding(0) var<storage, read> arguments: array<array<vec2u, 3>>;
        @group(0) @binding(1) var<storage, read_write> results: array<vec2u>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3u) {{
            let i = id.x;
            if i >= arrayLength(&results) {{ return; }}
            let x = {x};
            let y = {y};
            let z = {z};
            let result = {expression};
            results[i] = {words};
        }}"
    );
    let given = arguments.iter().flatten().flat_map(|value| [value.bits as u32, (value.bits >> 32) as u32]).collect();
    let runs = [("main".to_string(), [arguments.len().div_ceil(64) as u32, 1, 1])];
    let buffers = [given, vec![0; 2 * arguments.len()]];
    let results = device.run(&Job {
        source: &source,
        runs: &runs,
        overrides: &[],
        buffers: &buffers,
        others: &Default::default(),
    });
    let value = |words: &[u32]| Value { kind: result, bits: u64::from(words[1]) << 32 | u64::from(words[0]) };
    results[1].chunks(2).map(value).collect()
}

#[test]
fn what_naga_folds_is_what_the_simulator_computes() {
    let device = Device::simulated(8);
    let mut failures = Vec::new();
    let mut compared = 0;
    for (expression, kinds, most) in EXPRESSIONS {
        for kind in *kinds {
            let folded: Vec<_> = arguments(expression, *kind)
                .into_iter()
                .filter_map(|arguments| Some((arguments, folded(&with_arguments(expression, &arguments)).ok()?)))
                .collect();
            assert!(folded.len() >= 2, "{expression} of {kind:?}: naga folds next to nothing");
            let (arguments, expected): (Vec<_>, Vec<_>) = folded.into_iter().unzip();
            let got = simulated(&device, expression, &arguments, expected[0].kind);
            for ((arguments, expected), got) in arguments.iter().zip(&expected).zip(got) {
                compared += 1;
                if !got.is_near(*expected, *most) {
                    let text = with_arguments(expression, arguments);
                    failures.push(format!("{text}: naga {}, simulator {}", expected.text(), got.text()));
                }
            }
        }
    }
    println!("{} expressions, {compared} values", EXPRESSIONS.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_naga_does_not_fold_is_known() {
    for expression in NOT_FOLDED {
        let error = folded(expression).expect_err(expression);
        assert!(error.contains("Not implemented") || error.contains("not implemented"), "{expression}: {error}");
    }
}
