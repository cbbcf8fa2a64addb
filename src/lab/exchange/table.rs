//! The exchanges between lanes that the lab knows, each with the functions of shaders/lab/exchange*.wgsl that carry it
//! out and the host's definition of it.

use super::oracle::{self, Oracle};

/// One primitive.
#[derive(Debug)]
pub(super) struct Primitive {
    /// What one does with it: 'a shuffle'.
    pub(super) noun: &'static str,
    /// How it is checked in uniform control flow: a function of exchange.wgsl, by the library's building blocks.
    pub(super) blocks: Function,
    /// How it is checked under divergence: a case of exchange_active.wgsl.
    pub(super) active: Case,
    /// How it is timed. The first is what the others are compared with.
    pub(super) forms: &'static [Form],
    /// Pairs of forms of which the first is predicted to be no slower than the second.
    pub(super) no_slower: &'static [[usize; 2]],
}

/// A function of WGSL, and what it computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) oracle: Oracle,
}

/// A case of exchange_active.wgsl: its constant, and what it computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) oracle: Oracle,
}

/// One way to carry a primitive out.
#[derive(Clone, Copy, Debug)]
pub(in crate::lab) struct Form {
    pub(super) name: &'static str,
    pub(super) function: Function,
    pub(super) through: Through,
    /// Iterations of loops inside one exchange, at most, with the one that ends each: a CPU driver silently leaves all
    /// loops of an invocation after 65,535 in all.
    pub(super) iterations: u32,
}

/// What carries the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// The hardware's subgroup operations.
    Subgroup,
    /// Workgroup memory, with barriers.
    Memory,
}

const fn function(name: &'static str, oracle: Oracle) -> Function {
    Function { name, oracle }
}

const fn case(name: &'static str, oracle: Oracle) -> Case {
    Case { name, oracle }
}

const fn subgroup(name: &'static str, function: Function) -> Form {
    Form { name, function, through: Through::Subgroup, iterations: 0 }
}

/// The same blocks, emulated: votes are cleared in a loop.
const fn memory(function: Function) -> Form {
    Form { name: MEMORY, function, through: Through::Memory, iterations: 2 }
}

impl Form {
    const fn iterations(self, iterations: u32) -> Self {
        Self { iterations, ..self }
    }
}

const MEMORY: &str = "exchange through workgroup memory";

/// A primitive that the same function carries out natively and emulated.
const fn alike(noun: &'static str, blocks: Function, active: Case, forms: &'static [Form]) -> Primitive {
    Primitive { noun, blocks, active, forms, no_slower: &[[0, 1]] }
}

const SHUFFLE_BLOCKS: Function = function("shuffle", oracle::shuffle);
pub(super) const SHUFFLE: Primitive = alike(
    "a shuffle",
    SHUFFLE_BLOCKS,
    case("SHUFFLE", oracle::shuffle),
    &[subgroup("shuffle", SHUFFLE_BLOCKS), memory(SHUFFLE_BLOCKS)],
);

const UP_BLOCKS: Function = function("shuffle_up", oracle::shuffle_up);
pub(super) const SHUFFLE_UP: Primitive = alike(
    "a shuffle up",
    UP_BLOCKS,
    case("SHUFFLE_UP", oracle::shuffle_up),
    &[subgroup("shuffle up", UP_BLOCKS), memory(UP_BLOCKS)],
);

const DOWN_BLOCKS: Function = function("shuffle_down", oracle::shuffle_down);
pub(super) const SHUFFLE_DOWN: Primitive = alike(
    "a shuffle down",
    DOWN_BLOCKS,
    case("SHUFFLE_DOWN", oracle::shuffle_down),
    &[subgroup("shuffle down", DOWN_BLOCKS), memory(DOWN_BLOCKS)],
);

const XOR_BLOCKS: Function = function("shuffle_xor", oracle::shuffle_xor);
pub(super) const SHUFFLE_XOR: Primitive = alike(
    "a shuffle xor",
    XOR_BLOCKS,
    case("SHUFFLE_XOR", oracle::shuffle_xor),
    &[subgroup("shuffle xor", XOR_BLOCKS), memory(XOR_BLOCKS)],
);

const BROADCAST_BLOCKS: Function = function("broadcast", oracle::broadcast);
pub(super) const BROADCAST: Primitive = alike(
    "a broadcast",
    BROADCAST_BLOCKS,
    // Under divergence WGSL has the broadcast of the first lane that is there.
    case("BROADCAST", oracle::broadcast_first),
    &[subgroup("broadcast", BROADCAST_BLOCKS), memory(BROADCAST_BLOCKS)],
);

const BALLOT_BLOCKS: Function = function("ballot", oracle::ballot);
pub(super) const BALLOT: Primitive = alike(
    "a ballot",
    BALLOT_BLOCKS,
    case("BALLOT", oracle::ballot),
    &[subgroup("ballot", BALLOT_BLOCKS), memory(BALLOT_BLOCKS)],
);

const ALL_BLOCKS: Function = function("vote_all", oracle::vote_all);
pub(super) const ALL: Primitive = alike(
    "a vote by all",
    ALL_BLOCKS,
    case("ALL", oracle::vote_all),
    &[subgroup("vote by all", ALL_BLOCKS), memory(ALL_BLOCKS)],
);

const ANY_BLOCKS: Function = function("vote_any", oracle::vote_any);
pub(super) const ANY: Primitive = alike(
    "a vote by any",
    ANY_BLOCKS,
    case("ANY", oracle::vote_any),
    &[subgroup("vote by any", ANY_BLOCKS), memory(ANY_BLOCKS)],
);

pub(super) const ACTIVE_MASK: Primitive = alike(
    "asking inside a branch which lanes are there",
    function("active_mask", oracle::active_mask),
    case("ACTIVE_MASK", oracle::active_mask),
    &[
        subgroup("mask inside a branch", function("odd_mask_in_branch", oracle::odd_mask)),
        memory(function("odd_mask", oracle::odd_mask)),
    ],
);

const MATCH_BLOCKS: Function = function("match_any", oracle::match_any);
pub(super) const MATCH_ANY: Primitive = Primitive {
    noun: "a match of 32 bits by ballots",
    blocks: MATCH_BLOCKS,
    active: case("MATCH_ANY", oracle::match_any),
    forms: &[
        subgroup("match of 32 bits", MATCH_BLOCKS).iterations(35),
        subgroup("match of 5 bits", function("match_5_bits", oracle::match_any)).iterations(6),
        memory(function("match_any_memory", oracle::match_any)).iterations(129),
    ],
    no_slower: &[[0, 2], [1, 2]],
};

const REDUCE_BLOCKS: Function = function("reduce", oracle::reduce);
pub(in crate::lab) const TREE_U32: Form =
    subgroup("tree of shuffles, u32", function("reduce_tree", oracle::reduce)).iterations(8);
pub(in crate::lab) const BUILT_IN_U32: Form = subgroup("built-in sum, u32", REDUCE_BLOCKS);
pub(super) const REDUCE: Primitive = Primitive {
    noun: "a sum of u32 over the lanes",
    blocks: REDUCE_BLOCKS,
    active: case("REDUCE", oracle::reduce),
    forms: &[
        BUILT_IN_U32,
        TREE_U32,
        subgroup("tree of shuffles, f32", function("reduce_tree_float", oracle::reduce_float)).iterations(8),
        subgroup("built-in sum, f32", function("reduce_float_built_in", oracle::reduce_float)),
        memory(function("reduce_memory", oracle::reduce)).iterations(8),
    ],
    no_slower: &[[0, 4], [0, 1], [2, 3]],
};

pub(super) const SCANS: Primitive = Primitive {
    noun: "a running sum of u32 over the lanes, by shuffles,",
    blocks: function("scan_both", oracle::scan_both),
    active: case("SCANS", oracle::scan_both),
    forms: &[
        subgroup("inclusive scan by shuffles", function("scan_inclusive", oracle::scan_inclusive)).iterations(8),
        subgroup("built-in inclusive scan", function("scan_inclusive_built_in", oracle::scan_inclusive)),
        subgroup("exclusive scan by shuffles", function("scan_exclusive", oracle::scan_exclusive)).iterations(8),
        subgroup("built-in exclusive scan", function("scan_exclusive_built_in", oracle::scan_exclusive)),
        memory(function("scan_inclusive_memory", oracle::scan_inclusive)).iterations(8),
    ],
    no_slower: &[[0, 4], [0, 1], [2, 3]],
};

/// The serial sum of tree-sum.
pub(in crate::lab) const SERIAL_U32: Form =
    subgroup("one lane after the other", function("reduce_serial", oracle::reduce)).iterations(129);

/// The loop without any exchange.
pub(super) const NOTHING: Function = function("nothing", oracle::nothing);

/// All of them: the position is the number of the case in exchange_active.wgsl.
pub(super) const PRIMITIVES: [&Primitive; 12] = [
    &SHUFFLE,
    &SHUFFLE_UP,
    &SHUFFLE_DOWN,
    &SHUFFLE_XOR,
    &BROADCAST,
    &BALLOT,
    &ALL,
    &ANY,
    &ACTIVE_MASK,
    &MATCH_ANY,
    &REDUCE,
    &SCANS,
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_function_and_case_is_in_the_shaders() {
        let functions = [
            include_str!("../../../shaders/lab/exchange.wgsl"),
            include_str!("../../../shaders/lab/exchange_native.wgsl"),
            include_str!("../../../shaders/lab/exchange_memory.wgsl"),
        ]
        .concat();
        let cases = include_str!("../../../shaders/lab/exchange_active.wgsl");
        for primitive in PRIMITIVES {
            let names = primitive.forms.iter().map(|form| form.function.name).chain([primitive.blocks.name]);
            for name in names {
                let declared = format!("fn {name}(x: u32, source: u32) -> u32 {{");
                assert_eq!(functions.matches(&declared).count(), 1, "{name}");
            }
            assert_eq!(cases.matches(&format!("case {}: {{", primitive.active.name)).count(), 1);
        }
        assert_eq!(cases.matches("case ").count(), PRIMITIVES.len());
    }

    #[test]
    fn forms_of_a_primitive_have_names_of_their_own_and_a_rival() {
        for primitive in PRIMITIVES {
            let names: HashSet<_> = primitive.forms.iter().map(|form| form.name).collect();
            assert_eq!(names.len(), primitive.forms.len(), "{}", primitive.noun);
            assert_eq!(primitive.forms[0].through, Through::Subgroup, "{}", primitive.noun);
            let last = primitive.forms.len() - 1;
            assert_eq!(primitive.forms[last].through, Through::Memory, "{}", primitive.noun);
            assert_eq!(primitive.no_slower[0], [0, last], "{}", primitive.noun);
            assert!(primitive.no_slower.iter().flatten().all(|form| *form <= last), "{}", primitive.noun);
        }
    }
}
