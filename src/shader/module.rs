//! What a module is made of: pieces with their needs, for one or several element types.

use super::assemble::{Assembled, Assembler, Fragment, Renames, fragment};
use super::user::operator_calls;
use crate::element::{ElementType, Scalar, Vector};
use crate::gpu::SubgroupPath;
use crate::op::{Op, OperatorKind};

/// What the text is made for, besides types and operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) path: SubgroupPath,
    /// The narrowest and widest subgroups that can come.
    pub(crate) lanes: (u32, u32),
    /// Invocations a workgroup.
    pub(crate) workgroup: u32,
    /// Whether short loops are written out.
    pub(crate) unroll: bool,
}

/// A part of a module. Each names its needs; adding one adds those first, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    /// Lane masks.
    Ballot,
    /// Match and rank on the bits of a bucket.
    Multisplit,
    /// Places of the invocations that keep something.
    WgSelect,
    /// Places of the invocations by bucket; buckets are a power of two.
    WgRank { buckets: u32 },
    /// The type itself, with its words and limits.
    Type(Instance),
    /// Shuffles of a type.
    Shuffle(Instance),
    /// Broadcast and rotation of a type.
    Broadcast(Instance),
    /// Match-any and match-all of a type.
    Match(Instance),
    /// Broadcast over the workgroup.
    WgBroadcast(Instance),
    /// Exchange between blocked and striped items.
    WgExchange { instance: Instance, items: u32 },
    /// An operator: `op_identity`, `op_combine`.
    Operator(Instance),
    /// Reduction over a subgroup.
    Reduce(Instance),
    /// Scans over a subgroup.
    Scan(Instance),
    /// Segmented scans and reduction over a subgroup.
    Segmented(Instance),
    /// Reduction over a workgroup.
    WgReduce(Instance),
    /// Scans over a workgroup.
    WgScan(Instance),
}

/// Index of a type, or of a type with an operator, in a [`ModuleBuilder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Instance(usize);

#[derive(Debug)]
struct InstanceInfo {
    element: ElementType,
    operator: Option<OperatorKind>,
    /// Appended to names that belong to the type, and to those that belong to the operator over it.
    type_suffix: String,
    op_suffix: String,
}

/// Collects pieces and prints them.
#[derive(Debug)]
pub(crate) struct ModuleBuilder {
    target: Target,
    instances: Vec<InstanceInfo>,
    pieces: Vec<Piece>,
    assembler: Assembler,
    declared_structs: Vec<&'static str>,
}

impl ModuleBuilder {
    /// A module that begins with these directives.
    pub(crate) fn new(target: Target, directives: &str) -> Self {
        let mut assembler = Assembler::new(target.unroll);
        assembler.printed(directives);
        let Target { path, lanes: (min_lanes, max_lanes), workgroup, .. } = target;
        assembler.constant("WORKGROUP", workgroup);
        assembler.constant("SG_PARTS", workgroup.div_ceil(min_lanes));
        assembler.bound("LANE_STEPS", max_lanes.ilog2());
        let lanes = match path {
            SubgroupPath::Native => fragment!("subgroup/native.wgsl"),
            SubgroupPath::Emulated { lanes } => {
                assembler.constant("SG_LANES", lanes);
                assembler.constant("SG_VOTES", workgroup.div_ceil(lanes) * 4);
                fragment!("subgroup/emulated.wgsl")
            }
        };
        assembler.fragment(&lanes, &Renames::default());
        Self { target, instances: Vec::new(), pieces: Vec::new(), assembler, declared_structs: Vec::new() }
    }

    /// A type with an operator, or without. The names that belong to it get the suffixes.
    pub(crate) fn instance(
        &mut self,
        element: ElementType,
        operator: Option<OperatorKind>,
        type_suffix: &str,
        op_suffix: &str,
    ) -> Instance {
        let same = self.instances.iter().position(|i| {
            (i.element, &i.operator, &*i.type_suffix, &*i.op_suffix) == (element, &operator, type_suffix, op_suffix)
        });
        Instance(same.unwrap_or_else(|| {
            let (type_suffix, op_suffix) = (type_suffix.into(), op_suffix.into());
            self.instances.push(InstanceInfo { element, operator, type_suffix, op_suffix });
            self.instances.len() - 1
        }))
    }

    /// A type under the names that the building blocks have for it: `sg_shuffle_u32`.
    pub(crate) fn named_type(&mut self, element: ElementType) -> Instance {
        self.instance(element, None, &format!("_{}", element.ident()), "")
    }

    /// A built-in or own operator under the names that the building blocks have for it: `sg_reduce_add_u32`.
    pub(crate) fn named_operator(&mut self, element: ElementType, operator: OperatorKind, name: &str) -> Instance {
        let ident = element.ident();
        self.instance(element, Some(operator), &format!("_{ident}"), &format!("_{name}_{ident}"))
    }

    /// Adds a piece and what it needs.
    pub(crate) fn add(&mut self, piece: Piece) {
        if self.pieces.contains(&piece) {
            return;
        }
        self.pieces.push(piece);
        for need in self.needs(piece) {
            self.add(need);
        }
        self.print(piece);
    }

    fn needs(&mut self, piece: Piece) -> Vec<Piece> {
        let add_u32 = |builder: &mut Self| builder.named_operator(U32, OperatorKind::Builtin(Op::Add), Op::Add.name());
        // The type of an operator over it, as an instance of its own: two operators over one type share its shuffles.
        let of_type = |builder: &mut Self, instance: Instance| {
            let InstanceInfo { element, type_suffix, .. } = &builder.instances[instance.0];
            let (element, suffix) = (*element, type_suffix.clone());
            builder.instance(element, None, &suffix, "")
        };
        match piece {
            Piece::Ballot => vec![],
            Piece::Multisplit => vec![Piece::Ballot],
            Piece::WgSelect => vec![Piece::Ballot, Piece::WgScan(add_u32(self))],
            Piece::WgRank { .. } => vec![Piece::Multisplit, Piece::WgScan(add_u32(self))],
            Piece::Type(_) => vec![],
            Piece::Shuffle(i) | Piece::WgBroadcast(i) => vec![Piece::Type(i)],
            Piece::WgExchange { instance, .. } => vec![Piece::Type(instance)],
            Piece::Broadcast(i) => vec![Piece::Shuffle(i)],
            Piece::Match(i) => vec![Piece::Multisplit, Piece::Shuffle(i)],
            Piece::Operator(i) => vec![Piece::Type(of_type(self, i))],
            Piece::Reduce(i) | Piece::Scan(i) => vec![Piece::Operator(i), Piece::Broadcast(of_type(self, i))],
            Piece::Segmented(i) => vec![Piece::Ballot, Piece::Operator(i), Piece::Shuffle(of_type(self, i))],
            Piece::WgReduce(i) => vec![Piece::Reduce(i)],
            Piece::WgScan(i) => vec![Piece::Scan(i), Piece::Reduce(i)],
        }
    }

    fn print(&mut self, piece: Piece) {
        let none = Renames::default();
        match piece {
            Piece::Ballot => self.assembler.fragment(&fragment!("subgroup/ballot.wgsl"), &none),
            Piece::Multisplit => self.assembler.fragment(&fragment!("subgroup/multisplit.wgsl"), &none),
            Piece::WgSelect => self.assembler.fragment(&fragment!("workgroup/select.wgsl"), &none),
            Piece::WgRank { buckets } => {
                self.assembler.constant("BUCKETS", buckets);
                self.assembler.constant("BUCKET_BITS", buckets.ilog2());
                let parts = self.target.workgroup.div_ceil(self.target.lanes.0);
                self.assembler.constant("WG_SHARES", buckets * parts);
                self.assembler.fragment(&fragment!("workgroup/rank.wgsl"), &none);
            }
            Piece::Type(i) => {
                let element = self.instances[i.0].element;
                if let ElementType::Struct(s) = element
                    && !self.declared_structs.contains(&s.name)
                {
                    self.declared_structs.push(s.name);
                    self.assembler.printed(&element.declaration());
                }
                let text = type_text(&element);
                // Under a name of its own the type is called what WGSL calls it: an alias would be a type of its own to
                // naga, whose arrays are not those of the type itself.
                self.typed(
                    i,
                    printed(match self.instances[i.0].type_suffix.is_empty() {
                        true => text,
                        false => text.lines().skip(1).map(|line| format!("{line}\n")).collect(),
                    }),
                );
            }
            Piece::Shuffle(i) => {
                let fragment = match self.target.path {
                    SubgroupPath::Native => printed(shuffle_text(&self.instances[i.0].element)),
                    SubgroupPath::Emulated { .. } => fragment!("subgroup/shuffle_emulated.wgsl"),
                };
                self.typed(i, fragment);
            }
            Piece::Broadcast(i) => self.typed(i, fragment!("subgroup/broadcast.wgsl")),
            Piece::Match(i) => {
                self.typed(i, printed(word_text(&self.instances[i.0].element)));
                self.typed(i, fragment!("subgroup/match.wgsl"));
            }
            Piece::WgBroadcast(i) => self.typed(i, fragment!("workgroup/broadcast.wgsl")),
            Piece::WgExchange { instance, items } => {
                // One number for all types of a module: the callers see to that.
                if !self.assembler.has_bound("ITEMS") {
                    self.assembler.bound("ITEMS", items);
                    self.assembler.constant("WG_ITEMS", items * self.target.workgroup);
                }
                self.typed(instance, fragment!("workgroup/exchange.wgsl"));
            }
            Piece::Operator(i) => {
                for fragment in self.operator_fragments(i) {
                    self.operated(i, fragment);
                }
            }
            Piece::Reduce(i) => {
                self.operated(i, fragment!("subgroup/reduce.wgsl"));
                let text = self.reduce_text(i);
                self.operated(i, printed(text));
            }
            Piece::Scan(i) => self.operated(i, fragment!("subgroup/scan.wgsl")),
            Piece::Segmented(i) => self.operated(i, fragment!("subgroup/segmented.wgsl")),
            Piece::WgReduce(i) => self.operated(i, fragment!("workgroup/reduce.wgsl")),
            Piece::WgScan(i) => self.operated(i, fragment!("workgroup/scan.wgsl")),
        }
    }

    /// The subgroup's reduction: the hardware's where it is one instruction (integers), the tree elsewhere.
    fn reduce_text(&self, i: Instance) -> String {
        let info = &self.instances[i.0];
        let builtin = match (self.target.path, &info.operator, info.element) {
            (
                SubgroupPath::Native,
                Some(OperatorKind::Builtin(op)),
                ElementType::Vector(Vector { scalar: Scalar::U32 | Scalar::I32, .. }),
            ) => match op {
                Op::Add => Some("subgroupAdd"),
                Op::Min => Some("subgroupMin"),
                Op::Max => Some("subgroupMax"),
                Op::And => Some("subgroupAnd"),
                Op::Or => Some("subgroupOr"),
                Op::Xor => Some("subgroupXor"),
                Op::Mul => None,
            },
            _ => None,
        };
        format!("fn sg_reduce(x: T) -> T {{\n  return {}(x);\n}}\n", builtin.unwrap_or("sg_reduce_tree"))
    }

    fn operator_fragments(&self, i: Instance) -> Vec<Fragment> {
        let info = &self.instances[i.0];
        let operator = info.operator.as_ref().expect("an operator piece has an operator");
        match operator {
            OperatorKind::User { user, .. } => vec![user.fragment(USER_OPERATOR), printed(operator_calls("T"))],
            OperatorKind::Builtin(op) => match (op, info.element) {
                (Op::Min, ElementType::Vector(v)) if v.scalar.is_float() => {
                    vec![
                        printed(key_types(v.components)),
                        fragment!("op/float_key.wgsl"),
                        fragment!("op/min_float.wgsl"),
                    ]
                }
                (Op::Max, ElementType::Vector(v)) if v.scalar.is_float() => {
                    vec![
                        printed(key_types(v.components)),
                        fragment!("op/float_key.wgsl"),
                        fragment!("op/max_float.wgsl"),
                    ]
                }
                (Op::Add, _) => vec![fragment!("op/add.wgsl")],
                (Op::Mul, _) => vec![fragment!("op/mul.wgsl")],
                (Op::Min, _) => vec![fragment!("op/min.wgsl")],
                (Op::Max, _) => vec![fragment!("op/max.wgsl")],
                (Op::And, _) => vec![fragment!("op/and.wgsl")],
                (Op::Or, _) => vec![fragment!("op/or.wgsl")],
                (Op::Xor, _) => vec![fragment!("op/xor.wgsl")],
            },
        }
    }

    /// Adds a fragment that belongs to a type.
    fn typed(&mut self, i: Instance, fragment: Fragment) {
        let renames = self.renames(i);
        self.assembler.fragment(&fragment, &renames);
    }

    /// Adds a fragment that belongs to an operator over a type, under the names of both.
    pub(crate) fn operated(&mut self, i: Instance, fragment: Fragment) {
        let mut renames = self.renames(i);
        renames.suffix_declared(&fragment.text, &self.instances[i.0].op_suffix);
        if fragment.file == USER_OPERATOR {
            // A caller's text may have a variable with this name.
            renames.keep("T");
        }
        self.assembler.fragment(&fragment, &renames);
    }

    fn renames(&self, i: Instance) -> Renames {
        let info = &self.instances[i.0];
        let mut renames = Renames::default();
        for fragment in [
            printed(type_text(&info.element)),
            printed(shuffle_text(&info.element)),
            printed(word_text(&info.element)),
            fragment!("subgroup/shuffle_emulated.wgsl"),
            fragment!("subgroup/broadcast.wgsl"),
            fragment!("subgroup/match.wgsl"),
            fragment!("workgroup/broadcast.wgsl"),
            fragment!("workgroup/exchange.wgsl"),
        ] {
            renames.suffix_declared(&fragment.text, &info.type_suffix);
        }
        if !info.type_suffix.is_empty() {
            renames.rename("T", info.element.wgsl());
        }
        if let Some(operator) = &info.operator {
            if let OperatorKind::User { user, .. } = operator {
                renames.suffix_names(&user.names, &info.op_suffix);
            }
            for fragment in self.operator_fragments(i).into_iter().chain([
                printed(self.reduce_text(i)),
                fragment!("subgroup/reduce.wgsl"),
                fragment!("subgroup/scan.wgsl"),
                fragment!("subgroup/segmented.wgsl"),
                fragment!("workgroup/reduce.wgsl"),
                fragment!("workgroup/scan.wgsl"),
            ]) {
                renames.suffix_declared(&fragment.text, &info.op_suffix);
            }
        }
        renames
    }

    /// The assembler, for what comes after the pieces.
    pub(crate) fn assembler(&mut self) -> &mut Assembler {
        &mut self.assembler
    }

    pub(crate) fn finish(self) -> Assembled {
        self.assembler.finish()
    }
}

/// The element `u32`.
pub(crate) const U32: ElementType = ElementType::Vector(Vector { scalar: Scalar::U32, components: 1 });

/// The file name of a caller's operator in messages.
const USER_OPERATOR: &str = "(operator)";

pub(crate) fn printed(text: String) -> Fragment {
    Fragment { file: "(prelude)".into(), text }
}

/// The type's alias, and its limits where it has an order.
fn type_text(element: &ElementType) -> String {
    let mut text = format!("alias T = {};\nconst T_WORDS = {}u;\n", element.wgsl(), element.words());
    if let ElementType::Vector(vector) = element {
        let limits = match vector.scalar {
            Scalar::U32 => Some(("0u", "0xffffffffu")),
            // The smallest has no literal of its own.
            Scalar::I32 => Some(("(-2147483647i - 1i)", "2147483647i")),
            Scalar::U64 => Some(("0lu", "0xfffffffffffffffflu")),
            Scalar::I64 => Some(("~9223372036854775807li", "9223372036854775807li")),
            Scalar::F32 | Scalar::F16 => None,
        };
        if let Some((low, high)) = limits {
            text += &format!("const T_LOW = {low};\nconst T_HIGH = {high};\n");
        }
    }
    text
}

/// The float type that keys are made of, and the keys' own.
pub(crate) fn key_types(components: u32) -> String {
    let name = |scalar| Vector { scalar, components }.wgsl();
    format!("alias Wide = {};\nalias Key = {};\n", name(Scalar::F32), name(Scalar::U32))
}

/// Native shuffles: the built-in ones for 32-bit scalars and vectors; 64-bit ones by halves, 16-bit ones through 32
/// bits, structs field by field.
fn shuffle_text(element: &ElementType) -> String {
    let functions = [
        ("sg_shuffle", "lane", "subgroupShuffle"),
        ("sg_shuffle_up", "delta", "subgroupShuffleUp"),
        ("sg_shuffle_down", "delta", "subgroupShuffleDown"),
        ("sg_shuffle_xor", "mask", "subgroupShuffleXor"),
        ("sg_broadcast_first", "", "subgroupBroadcastFirst"),
    ];
    let mut text = String::new();
    for (name, argument, builtin) in functions {
        let (parameter, passed) = match argument {
            "" => (String::new(), String::new()),
            argument => (format!(", {argument}: u32"), format!(", {argument}")),
        };
        let parts: Vec<String> = element
            .parts()
            .iter()
            .map(|(part, vector)| {
                let wide = |scalar| Vector { scalar, components: vector.components }.wgsl();
                match vector.scalar {
                    Scalar::U32 | Scalar::I32 | Scalar::F32 => format!("{builtin}({part}{passed})"),
                    Scalar::F16 => {
                        format!("{}({builtin}({}({part}){passed}))", vector.wgsl(), wide(Scalar::F32))
                    }
                    Scalar::U64 | Scalar::I64 => {
                        let (u32s, u64s) = (wide(Scalar::U32), wide(Scalar::U64));
                        let halves = format!(
                            "{u64s}({builtin}({u32s}({part}){passed})) | \
                             ({u64s}({builtin}({u32s}({part} >> {u32s}(32u)){passed})) << {u32s}(32u))"
                        );
                        match vector.scalar {
                            Scalar::I64 => format!("bitcast<{}>({halves})", vector.wgsl()),
                            _ => halves,
                        }
                    }
                }
            })
            .collect();
        let value = match element {
            ElementType::Vector(_) => parts.concat(),
            ElementType::Struct(_) => format!("T({})", parts.join(", ")),
        };
        text += &format!("fn {name}(x: T{parameter}) -> T {{\n  return {value};\n}}\n");
    }
    text
}

/// `sg_word`: the i-th 32-bit word of a value.
fn word_text(element: &ElementType) -> String {
    format!(
        "fn sg_word(x: T, i: u32) -> u32 {{\n  let words = array<u32, {}>({});\n  return words[i];\n}}\n",
        element.words(),
        words(element).join(", ")
    )
}

/// Expressions of the 32-bit words of a value `x`.
pub(crate) fn words(element: &ElementType) -> Vec<String> {
    element
        .parts()
        .iter()
        .flat_map(|(part, vector)| {
            (0..vector.components).flat_map(move |c| {
                let x = match vector.components {
                    1 => part.clone(),
                    _ => format!("{part}[{c}]"),
                };
                match vector.scalar {
                    Scalar::U32 => vec![x],
                    Scalar::I32 | Scalar::F32 => vec![format!("bitcast<u32>({x})")],
                    Scalar::F16 => vec![format!("bitcast<u32>(f32({x}))")],
                    Scalar::U64 | Scalar::I64 => vec![format!("u32({x})"), format!("u32({x} >> 32u)")],
                }
            })
        })
        .collect()
}

/// An expression of the value whose 32-bit words are these.
pub(crate) fn from_words(element: &ElementType, words: &[String]) -> String {
    let mut words = words.iter();
    let parts: Vec<String> = element
        .parts()
        .iter()
        .map(|(_, vector)| {
            let scalars: Vec<String> = (0..vector.components)
                .map(|_| {
                    let mut word = || words.next().expect("as many words as the type has").clone();
                    match vector.scalar {
                        Scalar::U32 => word(),
                        Scalar::I32 => format!("bitcast<i32>({})", word()),
                        Scalar::F32 => format!("bitcast<f32>({})", word()),
                        Scalar::F16 => format!("f16(bitcast<f32>({}))", word()),
                        Scalar::U64 => format!("(u64({}) | (u64({}) << 32u))", word(), word()),
                        Scalar::I64 => format!("bitcast<i64>(u64({}) | (u64({}) << 32u))", word(), word()),
                    }
                })
                .collect();
            match vector.components {
                1 => scalars.concat(),
                _ => format!("{}({})", vector.wgsl(), scalars.join(", ")),
            }
        })
        .collect();
    match element {
        ElementType::Vector(_) => parts.concat(),
        ElementType::Struct(s) => format!("{}({})", s.name, parts.join(", ")),
    }
}
