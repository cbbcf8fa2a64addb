//! Building blocks for a caller's own kernel.

use std::collections::{HashMap, HashSet};

use super::assemble::{Assembled, Assembler, Fragment, Renames};
use super::module::{ModuleBuilder, Piece, Target, U32};
use super::{MAX_LANES, lex, reflect};
use crate::element::{Element, ElementType, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Gpu;
use crate::op::{Op, Operator, OperatorKind};
use crate::primitive::lanes;

/// One building block: see [`block`] for what there is.
#[derive(Clone, Debug)]
pub struct Block {
    pub(crate) kind: Kind,
    /// What was wrong with the operator, told when the block is used.
    error: Option<Error>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Vote,
    Multisplit,
    WorkgroupSelect,
    WorkgroupRank { buckets: u32 },
    OfType(OfType, ElementType),
    OfOperator(OfOperator, ElementType, OperatorKind, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfType {
    Shuffle,
    Match,
    WorkgroupBroadcast,
    WorkgroupExchange { items: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfOperator {
    Reduce,
    Scan,
    Segmented,
    WorkgroupReduce,
    WorkgroupScan,
}

/// The building blocks. `_T` in a function's name stands for the element ([`ElementType::ident`]): `_u32`,
/// `_vec2_f32`, `_Moments`; `_op` for the operator's name: `_add`, or what [`Operator::named`] says.
///
/// Subgroup blocks order lanes by their number; workgroup blocks order invocations by subgroup, then lane, which is
/// `wg_index`. All are right in a last subgroup that is partly filled. All are called in workgroup-uniform control
/// flow.
pub mod block {
    use super::*;

    fn plain(kind: Kind) -> Block {
        Block { kind, error: None }
    }

    fn of_operator<T: Element>(kind: OfOperator, operator: impl Into<Operator<T>>) -> Block {
        let operator = operator.into();
        let error = operator.check().err();
        // A block combines in order, whether the operator commutes or not.
        Block { kind: Kind::OfOperator(kind, T::TYPE, operator.kind.in_order(), operator.name), error }
    }

    /// `sg_ballot(bool) -> vec4<u32>`, `sg_all`, `sg_any`, `sg_elect() -> bool`, `sg_active_mask()`,
    /// `sg_active_count()`; masks `sg_mask_lt/le/gt/ge/eq()`; of a mask `sg_ballot_count`, `sg_ballot_first`,
    /// `sg_ballot_last`, `sg_ballot_rank` (lanes of it below this one), `sg_mask_has(mask, lane)`.
    pub fn vote() -> Block {
        plain(Kind::Vote)
    }

    /// `sg_multisplit(bucket: u32, bits: u32) -> SgSplit { peers, rank, count }`: which lanes have this lane's bucket, how
    /// many of them are below it, how many there are; `sg_match_bits(bucket, bits) -> vec4<u32>`: the peers alone. Only
    /// the lowest `bits` bits count, a ballot each (Ashkiani et al. 2016); `bits` is the same in the whole workgroup.
    pub fn multisplit() -> Block {
        plain(Kind::Multisplit)
    }

    /// `sg_shuffle_T(x, lane)`, `sg_shuffle_up_T(x, delta)`, `sg_shuffle_down_T`, `sg_shuffle_xor_T(x, mask)`,
    /// `sg_broadcast_T(x, lane)` from any lane, `sg_broadcast_first_T(x)`, `sg_rotate_T(x, delta)`. The value from a lane
    /// that the subgroup does not have is unspecified.
    pub fn shuffle<T: Element>() -> Block {
        plain(Kind::OfType(OfType::Shuffle, T::TYPE))
    }

    /// `sg_match_any_T(x) -> vec4<u32>`, the lanes that hold the same bits (32 ballots a word), and
    /// `sg_match_all_T(x) -> bool`.
    pub fn match_any<T: Element>() -> Block {
        plain(Kind::OfType(OfType::Match, T::TYPE))
    }

    /// `sg_reduce_op_T(x)`, in all lanes: the hardware's instruction where it has one (`u32` and `i32` on the native path,
    /// without `Mul`), else `sg_reduce_tree_op_T(x)`, a tree of log2(width) shuffles that leaves its number of steps in
    /// `sg_tree_steps_op_T`.
    pub fn subgroup_reduce<T: Element>(operator: impl Into<Operator<T>>) -> Block {
        of_operator(OfOperator::Reduce, operator)
    }

    /// `sg_scan_inclusive_op_T(x)`, `sg_scan_exclusive_op_T(x)`: the lanes up to this one, with it or without it. log2(width)
    /// shuffles (Hillis and Steele 1986), one more for the exclusive form, which gives lane 0 the identity.
    pub fn subgroup_scan<T: Element>(operator: impl Into<Operator<T>>) -> Block {
        of_operator(OfOperator::Scan, operator)
    }

    /// `sg_segmented_scan_inclusive_op_T(x, head: bool)`, `sg_segmented_scan_exclusive_op_T`,
    /// `sg_segmented_reduce_op_T`: a segment begins at each lane that raises `head`, and at lane 0, and ends before the
    /// next one or with the subgroup. log2(width) shuffles and one or two ballots.
    pub fn segmented<T: Element>(operator: impl Into<Operator<T>>) -> Block {
        of_operator(OfOperator::Segmented, operator)
    }

    /// `wg_reduce_op_T(x)`, in all invocations: two subgroup reductions and two barriers, on the emulated path those of the
    /// subgroup operations besides.
    pub fn workgroup_reduce<T: Element>(operator: impl Into<Operator<T>>) -> Block {
        of_operator(OfOperator::WorkgroupReduce, operator)
    }

    /// `wg_scan_inclusive_op_T(x)`, `wg_scan_exclusive_op_T(x)`; afterwards `wg_total_op_T` holds the whole. Two barriers.
    pub fn workgroup_scan<T: Element>(operator: impl Into<Operator<T>>) -> Block {
        of_operator(OfOperator::WorkgroupScan, operator)
    }

    /// `wg_broadcast_T(x, index)`: the value of the invocation with that `wg_index`, in all. Two barriers.
    pub fn workgroup_broadcast<T: Element>() -> Block {
        plain(Kind::OfType(OfType::WorkgroupBroadcast, T::TYPE))
    }

    /// `wg_striped_to_blocked_T(&items)`, `wg_blocked_to_striped_T(&items)` on a variable `items: array<T, ITEMS>` of each
    /// invocation. Striped: it holds the items `i`, `i + WORKGROUP`, …, as coalesced loads give them; blocked: `i * ITEMS`
    /// and following, as a scan wants them. `items` is 1 to 64. Two barriers.
    pub fn workgroup_exchange<T: Element>(items: u32) -> Block {
        plain(Kind::OfType(OfType::WorkgroupExchange { items }, T::TYPE))
    }

    /// `wg_select(keep: bool) -> WgSelected { rank, count }`: how many before this one keep something, and how many do. Two
    /// barriers.
    pub fn workgroup_select() -> Block {
        plain(Kind::WorkgroupSelect)
    }

    /// `wg_rank(bucket: u32) -> WgRanked { place, rank }`: the place in a stable sort by bucket, and within the bucket.
    /// `buckets` is a power of two from 2 to 256, and `bucket` is below it: nobody checks. Six barriers, and a word of
    /// workgroup memory for each bucket of each subgroup.
    pub fn workgroup_rank(buckets: u32) -> Block {
        plain(Kind::WorkgroupRank { buckets })
    }
}

/// WGSL of the chosen building blocks, to stand before a kernel of the caller's.
#[derive(Clone, Debug)]
pub struct Library {
    assembled: Assembled,
    workgroup: u32,
    limits: wgpu::Limits,
}

/// Assembles building blocks for a kernel with this many invocations a workgroup (one-dimensional), on the path of
/// `gpu`.
///
/// The kernel takes one argument of the type `Place` and calls `sg_begin` on it first. Then it knows `sg_lane`,
/// `sg_size`, `sg_id`, `sg_count` (lanes of this subgroup), `sg_groups` and `wg_index`, and `WORKGROUP`; of the argument
/// `place.index`, `place.workgroup` and `place.workgroups`. Names that begin with `sg_`, `wg_` and `op_` are taken.
/// Build the pipeline with [`Gpu::compute_pipeline`], or with one's own descriptor and
/// `zero_initialize_workgroup_memory: false`: the blocks initialise what they read. Without blocks there are `Place`,
/// `sg_begin` and what it sets.
///
/// ```no_run
/// use wavelane::{Gpu, op, shader::{self, block}};
/// # fn main() -> Result<(), wavelane::Error> {
/// let gpu = Gpu::open()?;
/// let library = shader::library(&gpu, 128, &[block::subgroup_scan::<u32>(op::Add), block::match_any::<u32>()])?;
/// let kernel = library.with_kernel("ranks.wgsl", "
///     @group(0) @binding(0) var<storage, read_write> items: array<u32>;
///     @compute @workgroup_size(WORKGROUP)
///     fn ranks(place: Place) {
///       sg_begin(place);
///       let at = place.workgroup.x * WORKGROUP + wg_index;
///       items[at] = sg_scan_exclusive_add_u32(items[at]);
///     }")?;
/// # let _ = kernel.text(); Ok(()) }
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for an operator that is not defined for its type, for two operators or elements that
/// differ and have one name, or for sizes out of range,
/// [`ErrorKind::MissingFeature`] for a type that the device lacks, [`ErrorKind::LimitTooSmall`] for a workgroup over the
/// limits.
pub fn library(gpu: &Gpu, workgroup: u32, blocks: &[Block]) -> Result<Library> {
    let limits = gpu.limits();
    let allowed = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    if workgroup == 0 {
        return Err(Error::argument("a workgroup has at least one invocation"));
    }
    if workgroup > allowed {
        return Err(Error::limit(
            "a workgroup",
            workgroup.into(),
            allowed.into(),
            "max_compute_invocations_per_workgroup",
        ));
    }
    for block in blocks {
        let missing = block.features() - gpu.features();
        if !missing.is_empty() {
            return Err(Error::new(
                ErrorKind::MissingFeature,
                format!("a building block needs the device feature {}", reflect::feature_names(missing)),
            ));
        }
    }
    let target = Target { path: gpu.path(), lanes: lanes(gpu), workgroup, unroll: true };
    Ok(Library { assembled: assemble(target, blocks)?, workgroup, limits: limits.clone() })
}

impl Library {
    /// The WGSL text: a kernel's own text goes behind it, its directives before.
    pub fn text(&self) -> &str {
        self.assembled.text()
    }

    /// The text with a kernel behind it, validated: errors in the kernel are shown at `file` and the kernel's own line.
    /// Directives that begin the kernel (`enable f16;`) come before everything.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidShader`], also for a kernel that declares a name of WGSL that the blocks use (`max`, say) or an
    /// entry point with a `Place` whose workgroup is not the library's, and [`ErrorKind::LimitTooSmall`] for workgroup memory over the limit, which wgpu does
    /// not check.
    pub fn with_kernel(&self, file: &str, kernel: &str) -> Result<Assembled> {
        if let Some(name) = lex::declared(kernel).into_iter().find(|name| super::user::hides_wgsl(name)) {
            return Err(Error::shader(format!(
                "{file}: '{name}' hides what the building blocks call; choose another name"
            )));
        }
        // Directives begin a module. Blanks stand where they were, so that every place in the kernel is its own.
        let (head, rest) = kernel.split_at(lex::head(kernel));
        let blank: String = head.chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        let mut assembler = Assembler::new(false);
        let own = |text| Fragment { file: file.into(), text };
        assembler.fragment(&own(head.into()), &Renames::default());
        assembler.assembled(&self.assembled);
        assembler.fragment(&own(blank + rest), &Renames::default());
        let assembled = assembler.finish();
        let (module, info) = assembled.validate()?;
        let facts = reflect::entries(&module, &info)?;
        for (entry, facts) in module.entry_points.iter().zip(&facts) {
            let takes_place = entry
                .function
                .arguments
                .iter()
                .any(|argument| module.types[argument.ty].name.as_deref() == Some("Place"));
            let is_fixed = entry.workgroup_size_overrides.is_none();
            if takes_place && (facts.workgroup != [self.workgroup, 1, 1] || !is_fixed) {
                let [x, y, z] = facts.workgroup;
                let is = if is_fixed { format!("is {x} x {y} x {z}") } else { "depends on an override".into() };
                return Err(Error::shader(format!(
                    "{file}: the workgroup of '{}' {is}, the library was made for {} x 1 x 1: write \
                     @workgroup_size(WORKGROUP)",
                    entry.name, self.workgroup
                )));
            }
        }
        reflect::check_workgroup_bytes(&facts, &self.limits, file)?;
        Ok(assembled)
    }
}

impl Block {
    fn features(&self) -> wgpu::Features {
        match &self.kind {
            Kind::OfType(_, element) | Kind::OfOperator(_, element, ..) => element.features(),
            _ => wgpu::Features::empty(),
        }
    }
}

/// The blocks' text for any target.
pub(crate) fn assemble(target: Target, blocks: &[Block]) -> Result<Assembled> {
    check_clashes(blocks)?;
    let f16 = blocks.iter().any(|block| block.features().contains(Scalar::F16.feature()));
    let mut builder = ModuleBuilder::new(target, if f16 { "enable f16;\n" } else { "" });
    let (mut items_before, mut buckets_before) = (None, None);
    for block in blocks {
        if let Some(error) = &block.error {
            return Err(error.clone());
        }
        let piece = match &block.kind {
            Kind::Vote => Piece::Ballot,
            Kind::Multisplit => Piece::Multisplit,
            Kind::WorkgroupSelect => Piece::WgSelect,
            &Kind::WorkgroupRank { buckets } => {
                if !buckets.is_power_of_two() || !(2..=256).contains(&buckets) {
                    return Err(Error::argument(format!("buckets are a power of two from 2 to 256, not {buckets}")));
                }
                one_size(&mut buckets_before, buckets, "buckets")?;
                Piece::WgRank { buckets }
            }
            Kind::OfType(kind, element) => {
                super::user::check_layout(element)?;
                let instance = builder.named_type(*element);
                match *kind {
                    OfType::Shuffle => Piece::Broadcast(instance),
                    OfType::Match => Piece::Match(instance),
                    OfType::WorkgroupBroadcast => Piece::WgBroadcast(instance),
                    OfType::WorkgroupExchange { items } => {
                        if !(1..=64).contains(&items) {
                            return Err(Error::argument(format!("an invocation exchanges 1 to 64 items, not {items}")));
                        }
                        one_size(&mut items_before, items, "items an invocation")?;
                        Piece::WgExchange { instance, items }
                    }
                }
            }
            Kind::OfOperator(kind, element, operator, name) => {
                super::user::check_layout(element)?;
                let instance = builder.named_operator(*element, operator.clone(), name);
                match kind {
                    OfOperator::Reduce => Piece::Reduce(instance),
                    OfOperator::Scan => Piece::Scan(instance),
                    OfOperator::Segmented => Piece::Segmented(instance),
                    OfOperator::WorkgroupReduce => Piece::WgReduce(instance),
                    OfOperator::WorkgroupScan => Piece::WgScan(instance),
                }
            }
        };
        builder.add(piece);
    }
    let assembled = builder.finish();
    // Names are put together: `reduce_tree` of `add` is `reduce` of an operator that is called `tree_add`.
    let mut names = HashSet::new();
    if let Some(twice) = lex::declared(assembled.text()).into_iter().find(|name| !names.insert(*name)) {
        return Err(Error::argument(format!(
            "two functions or variables are called {twice}; give the operator another name with Operator::named"
        )));
    }
    Ok(assembled)
}

/// Refuses two operators, or two structs, that differ and whose functions have the same names.
fn check_clashes(blocks: &[Block]) -> Result<()> {
    let add = OperatorKind::Builtin(Op::Add);
    let mut operators = HashMap::new();
    let mut structs = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        let operator = match &block.kind {
            Kind::OfOperator(_, element, operator, name) => Some((*element, operator, &**name)),
            // These add up counts.
            Kind::WorkgroupSelect | Kind::WorkgroupRank { .. } => Some((U32, &add, Op::Add.name())),
            _ => None,
        };
        if let Some((element, operator, name)) = operator {
            let suffix = format!("{name}_{}", element.ident());
            let (first, known) = *operators.entry(suffix.clone()).or_insert((at, (element, operator)));
            if known != (element, operator) {
                return Err(Error::argument(format!(
                    "blocks {first} and {at} have different operators, and functions of the same names ({suffix}); \
                     give one of them a name with Operator::named"
                )));
            }
        }
        if let Kind::OfType(_, ElementType::Struct(s)) | Kind::OfOperator(_, ElementType::Struct(s), ..) = &block.kind {
            let (first, known) = *structs.entry(s.name).or_insert((at, s));
            if known != s {
                return Err(Error::argument(format!(
                    "blocks {first} and {at} have different elements that are both called {}; rename one",
                    s.name
                )));
            }
        }
    }
    Ok(())
}

/// One library has one number of items and of buckets: they are constants of its text.
fn one_size(before: &mut Option<u32>, size: u32, what: &str) -> Result<()> {
    match *before.get_or_insert(size) {
        first if first != size => {
            Err(Error::argument(format!("one library has one number of {what}; it was asked for {first} and {size}")))
        }
        _ => Ok(()),
    }
}

const _: () = assert!(MAX_LANES == 128, "lane masks have four words");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::SubgroupPath;
    use crate::op;

    fn library(blocks: &[Block]) -> Library {
        let target = Target { path: SubgroupPath::Native, lanes: (4, 128), workgroup: 128, unroll: true };
        let assembled = assemble(target, blocks).expect("blocks that go together");
        Library { assembled, workgroup: 128, limits: wgpu::Limits::default() }
    }

    fn refused(library: &Library, kernel: &str, part: &str) {
        let error = library.with_kernel("own.wgsl", kernel).expect_err(kernel);
        assert_eq!(error.kind(), ErrorKind::InvalidShader);
        assert!(error.to_string().contains(part), "{error}");
    }

    #[test]
    fn a_workgroup_of_another_size_is_refused() {
        let kernel = |size: &str| {
            format!(
                "override n: u32 = 64; @compute @workgroup_size({size}) fn own(place: Place) {{ sg_begin(place); }}"
            )
        };
        let library = library(&[block::vote()]);
        refused(&library, &kernel("96"), "the workgroup of 'own' is 96 x 1 x 1");
        refused(&library, &kernel("n"), "the workgroup of 'own' depends on an override");
    }

    #[test]
    fn two_types_exchange_as_many_items() {
        let blocks = [block::workgroup_exchange::<u32>(2), block::workgroup_exchange::<f32>(2)];
        let kernel = "@compute @workgroup_size(WORKGROUP) fn own(place: Place) { sg_begin(place); }";
        library(&blocks).with_kernel("own.wgsl", kernel).expect("valid");
    }

    #[test]
    fn operators_of_one_name_are_refused_unless_they_are_the_same() {
        let user = |body: &str| {
            let text =
                format!("fn identity() -> u32 {{ return 0u; }} fn combine(a: u32, b: u32) -> u32 {{ return {body}; }}");
            Operator::<u32>::wgsl(text).expect("valid")
        };
        let target = Target { path: SubgroupPath::Native, lanes: (4, 128), workgroup: 128, unroll: true };
        let (scan, reduce) = (block::subgroup_scan::<u32>, block::workgroup_reduce::<u32>);
        let refused = |blocks: &[Block], part: &str| {
            let error = assemble(target, blocks).expect_err(part);
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(part), "{error}");
        };
        let (a, b) = (user("a + b"), user("a * b"));
        let both = "blocks 1 and 2 have different operators, and functions of the same names (user_u32)";
        refused(&[block::vote(), scan(a.clone()), reduce(b.clone())], both);
        let add = "blocks 0 and 1 have different operators, and functions of the same names (add_u32)";
        refused(&[scan(op::Add.into()), reduce(b.clone().named("add"))], add);
        refused(&[block::workgroup_select(), reduce(b.clone().named("add"))], add);
        // What the two declare beside the functions that are asked for: a tree of shuffles, a combination of parts.
        let apart = |name: &str| [reduce(op::Add.into()), reduce(b.clone().named(name))];
        refused(&apart("tree_add"), "two functions or variables are called sg_reduce_tree_add_u32");
        refused(&apart("parts_add"), "two functions or variables are called wg_reduce_parts_add_u32");
        let pair = block::workgroup_reduce::<[f32; 2]>(op::Max);
        let float = block::workgroup_reduce(Operator::<f32>::from(op::Max).named("max_vec2"));
        refused(&[pair, float], "(max_vec2_f32)");
        for blocks in [
            [scan(a.clone()), reduce(a.clone().commutative())],
            [scan(a.clone()), reduce(b.clone().named("product"))],
            [block::workgroup_select(), scan(op::Add.into())],
        ] {
            assemble(target, &blocks).expect("they go together").validate().expect("valid");
        }
    }

    #[test]
    fn elements_of_one_name_are_refused_unless_they_are_the_same() {
        macro_rules! pair {
            ($module:ident: $ty:ty) => {
                mod $module {
                    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
                    #[repr(C)]
                    pub(super) struct Pair {
                        a: $ty,
                    }
                    crate::element!(Pair { a: $ty });
                }
            };
        }
        pair!(words: u32);
        pair!(floats: f32);
        let blocks =
            [block::shuffle::<words::Pair>(), block::match_any::<words::Pair>(), block::shuffle::<floats::Pair>()];
        let target = Target { path: SubgroupPath::Native, lanes: (4, 128), workgroup: 128, unroll: true };
        assemble(target, &blocks[..2]).expect("one element").validate().expect("valid");
        let error = assemble(target, &blocks).expect_err("two elements");
        assert!(
            error.to_string().contains("blocks 0 and 2 have different elements that are both called Pair"),
            "{error}"
        );
    }

    #[test]
    fn a_kernel_of_another_workgroup_is_refused() {
        let library = library(&[block::workgroup_reduce::<u32>(op::Add)]);
        refused(&library, "@compute @workgroup_size(64) fn own(place: Place) { sg_begin(place); }", "64 x 1 x 1");
        // One that has nothing to do with the library may have any.
        library.with_kernel("own.wgsl", "@compute @workgroup_size(64) fn own() {}").expect("valid");
    }

    #[test]
    fn a_kernels_directives_come_first_and_its_places_stay() {
        let library = library(&[block::workgroup_reduce::<u32>(op::Add)]);
        let kernel = "// half\nenable f16; fn half(x: f16) -> f16 { return x; }\nfn more() -> u32 { return MORE; }";
        refused(&library, kernel, "own.wgsl:3:27: ");
        let text = library.with_kernel("own.wgsl", &kernel.replace("MORE", "2u")).expect("valid");
        assert!(text.text().starts_with("// half\nenable f16;\n"), "{}", text.text());
        assert_eq!((text.locate(2), text.text().matches("enable f16").count()), (Some(("own.wgsl", 2)), 1));
        refused(&library, "fn f() {}\nenable f16;", "own.wgsl:2:1: ");
    }

    #[test]
    fn a_kernel_that_hides_what_the_blocks_call_is_refused() {
        let library = library(&[block::workgroup_scan::<u32>(op::Max)]);
        for kernel in ["fn max(a: u32, b: u32) -> u32 { return 9u; }", "const max = 9;", "alias max = f32;"] {
            refused(&library, kernel, "'max' hides");
        }
        for name in ["workgroup", "private", "atomic"] {
            refused(&library, &format!("fn {name}() {{}}"), &format!("'{name}' hides"));
        }
        library
            .with_kernel("own.wgsl", "fn f() -> u32 { let max = 9u; return max; } // const max")
            .expect("a local name");
    }
}
