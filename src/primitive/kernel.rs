//! What the device-level kernels have in common: their text, bindings and sizes.

use crate::element::{Element, ElementType, Scalar, Vector};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::{Gpu, SubgroupPath};
use crate::op::{Op, OperatorKind};
use crate::shader::module::{Instance, ModuleBuilder, Piece, Target, key_types, printed};
use crate::shader::{Assembled, Checks, Fragment, MAX_LANES, Renames, fragment, reflect};

/// Sizes of a plan's kernels. The defaults are chosen by measurement; a plan takes others with `with_tuning`, such as those
/// that `wavelane tune` measured on an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "lab", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Tuning {
    /// Invocations a workgroup: a power of two from 128 to 1,024.
    pub workgroup: u32,
    /// Loads of a lane that are issued together, each of up to 16 bytes: 1 to 32. A tile is what a workgroup loads so.
    pub rows: u32,
    /// The most workgroups that share the work out: 1 to 65,535.
    pub max_groups: u32,
    /// Workgroups that keep the device busy: up to so many, each takes one tile. At least 1.
    pub fill_groups: u32,
    /// Tiles that a workgroup takes at least where there are more than `fill_groups` of them. At least 1.
    pub tiles_per_group: u32,
}

impl Tuning {
    /// A tuning with these sizes, of one tile a workgroup up to `max_groups`.
    pub const fn new(workgroup: u32, rows: u32, max_groups: u32) -> Self {
        Self { workgroup, rows, max_groups, fill_groups: max_groups, tiles_per_group: 1 }
    }

    /// The same with more than one tile a workgroup beyond `fill_groups` workgroups.
    #[must_use]
    pub const fn deepened(self, fill_groups: u32, tiles_per_group: u32) -> Self {
        Self { fill_groups, tiles_per_group, ..self }
    }

    /// What a plan has unless told otherwise: these sizes on a GPU, and few workgroups on a CPU driver.
    pub(crate) fn default_for(gpu: &Gpu, on_gpu: Self) -> Self {
        // SwiftShader's compiler takes 0.1 s for a select of one row and 23 s for one of two.
        let rows = if gpu.info().name.starts_with("SwiftShader") { 1 } else { 4 };
        if gpu.is_cpu() { Self::new(128, rows, 64) } else { on_gpu }.fitting(gpu)
    }

    /// This tuning with workgroups that the device can have, and with as many as it can.
    fn fitting(self, gpu: &Gpu) -> Self {
        let limits = gpu.limits();
        let allowed = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        Self {
            // A device is refused from the start where it has fewer than MAX_LANES.
            workgroup: self.workgroup.min(1 << allowed.max(MAX_LANES).ilog2()),
            max_groups: self.max_groups.min(limits.max_compute_workgroups_per_dimension),
            ..self
        }
    }

    fn check(&self, gpu: &Gpu) -> Result<()> {
        let Self { workgroup, rows, max_groups, fill_groups, tiles_per_group } = *self;
        if !workgroup.is_power_of_two() || !(MAX_LANES..=1024).contains(&workgroup) {
            return Err(Error::argument(format!(
                "a workgroup has a power of two from 128 to 1024 invocations, not {workgroup}"
            )));
        }
        if !(1..=32).contains(&rows) {
            return Err(Error::argument(format!("a lane loads 1 to 32 rows, not {rows}")));
        }
        if !(1..=65_535).contains(&max_groups) {
            return Err(Error::argument(format!("1 to 65535 workgroups share the work, not {max_groups}")));
        }
        if fill_groups == 0 || tiles_per_group == 0 {
            return Err(Error::argument(format!(
                "at least 1 workgroup fills the device, and takes at least 1 tile beyond that, not {fill_groups} and \
                 {tiles_per_group}"
            )));
        }
        let limits = gpu.limits();
        let allowed = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        if workgroup > allowed {
            return Err(Error::limit(
                "a workgroup",
                workgroup.into(),
                allowed.into(),
                "max_compute_invocations_per_workgroup",
            ));
        }
        let groups = limits.max_compute_workgroups_per_dimension;
        if max_groups > groups {
            return Err(Error::limit(
                "a dispatch",
                max_groups.into(),
                groups.into(),
                "max_compute_workgroups_per_dimension",
            ));
        }
        Ok(())
    }
}

/// How a kernel binds a buffer; the index in the list is the binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binding {
    Uniform,
    Read,
    Write,
    /// The text does not have this binding.
    Unused,
}

/// A module of kernels that share bindings.
#[derive(Debug)]
pub(crate) struct KernelText {
    pub(crate) name: &'static str,
    pub(crate) text: Assembled,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) checks: Checks,
}

/// What a plan's kernels are made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelTarget {
    pub(crate) path: SubgroupPath,
    pub(crate) lanes: (u32, u32),
    pub(crate) checks: Checks,
    pub(crate) tuning: Tuning,
    pub(crate) unroll: bool,
    /// Whether the number of items is read from a buffer.
    pub(crate) gpu_count: bool,
}

impl KernelTarget {
    pub(crate) fn new(gpu: &Gpu, tuning: Tuning, gpu_count: bool) -> Result<Self> {
        tuning.check(gpu)?;
        Ok(Self { path: gpu.path(), lanes: lanes(gpu), checks: gpu.checks(), tuning, unroll: true, gpu_count })
    }

    /// How the count is bound.
    pub(crate) fn count_binding(&self) -> Binding {
        if self.gpu_count { Binding::Read } else { Binding::Unused }
    }

    fn builder(&self, element: &ElementType) -> ModuleBuilder {
        let Self { path, lanes, tuning: Tuning { workgroup, .. }, unroll, .. } = *self;
        ModuleBuilder::new(Target { path, lanes, workgroup, unroll }, element.directives())
    }
}

/// The narrowest and the widest subgroup that a kernel can meet.
pub(crate) fn lanes(gpu: &Gpu) -> (u32, u32) {
    match gpu.path() {
        SubgroupPath::Emulated { lanes } => (lanes, lanes),
        SubgroupPath::Native => {
            let (min, max) = gpu.probe().reported();
            if min == max && gpu.probe().min_width() == min { (min, max) } else { (gpu.min_lanes(), MAX_LANES) }
        }
    }
}

/// The element type as the kernels hold it in registers, and how it comes from and goes to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) memory: ElementType,
    pub(crate) register: ElementType,
    /// Items of a pack; 1 where single items are read because the ranges do not begin alike.
    pub(crate) pack: u32,
    keys: Option<Op>,
}

impl Held {
    /// `T` under an operator: min and max of floats are worked out on keys.
    pub(crate) fn new(memory: ElementType, operator: Option<&OperatorKind>, single_items: bool) -> Self {
        let keys = match (operator, memory) {
            (Some(OperatorKind::Builtin(op)), ElementType::Vector(vector)) if op.uses_keys(vector) => Some(*op),
            _ => None,
        };
        let register = match (keys, memory) {
            (Some(_), ElementType::Vector(Vector { components, .. })) => {
                ElementType::Vector(Vector { scalar: Scalar::U32, components })
            }
            _ => memory,
        };
        let pack = match memory {
            ElementType::Vector(Vector { scalar, components: 1 }) if scalar.bytes() == 4 && !single_items => 4,
            _ => 1,
        };
        Self { memory, register, pack, keys }
    }

    /// Adds the types `In`, `Pack` and `Items` and the functions between them, after the piece of the register type.
    pub(crate) fn add(&self, builder: &mut ModuleBuilder, tuning: Tuning) {
        let assembler = builder.assembler();
        assembler.printed(&match self.memory {
            // A struct was declared with the register type, which is the same.
            memory if memory == self.register => String::new(),
            memory => memory.declaration(),
        });
        let name = self.memory.wgsl();
        assembler.printed(&format!("alias In = {name};\n"));
        assembler.bound("PACK", self.pack);
        assembler.bound("ROWS", tuning.rows);
        assembler.constant("TILE_PACKS", tuning.workgroup * tuning.rows);
        match self.pack {
            1 => assembler.printed("alias Pack = In;\nalias Items = array<T, 1>;\n"),
            pack => assembler.printed(&format!("alias Pack = vec{pack}<In>;\nalias Items = vec{pack}<T>;\n")),
        }
        let Some(op) = self.keys else {
            let (load, store) = match self.pack {
                1 => ("Items(x)", "x[0]"),
                _ => ("x", "x"),
            };
            assembler.printed(&format!(
                "fn el_load(x: In) -> T {{\n  return x;\n}}\nfn el_store(x: T) -> In {{\n  return x;\n}}\n\
                 fn el_load_pack(x: Pack) -> Items {{\n  return {load};\n}}\nfn el_store_pack(x: Items) -> Pack {{\n  return {store};\n}}\n"
            ));
            return;
        };
        let nan = if op == Op::Min { "0xffffffffu" } else { "0u" };
        let components = match self.memory {
            ElementType::Vector(vector) => vector.components,
            ElementType::Struct(_) => unreachable!("keys are made of floats only"),
        };
        let mut key = |components: u32, suffix: &str| {
            let types = printed(key_types(components));
            let file = fragment!("op/float_key.wgsl");
            let mut renames = Renames::default();
            renames.suffix_declared(&types.text, suffix);
            renames.suffix_declared(&file.text, suffix);
            assembler.fragment(&types, &renames);
            assembler.fragment(&file, &renames);
        };
        key(components, "_item");
        let (load, store) = match self.pack {
            1 => ("Items(el_load(x))".into(), "el_store(x[0])".into()),
            pack => {
                key(pack, "_pack");
                (format!("float_to_key_pack(x, Key_pack({nan}))"), "float_from_key_pack(x)".to_string())
            }
        };
        assembler.printed(&format!(
            "fn el_load(x: In) -> T {{\n  return float_to_key_item(x, Key_item({nan}));\n}}\n\
             fn el_store(x: T) -> In {{\n  return float_from_key_item(x);\n}}\n\
             fn el_load_pack(x: Pack) -> Items {{\n  return {load};\n}}\nfn el_store_pack(x: Items) -> Pack {{\n  return {store};\n}}\n"
        ));
    }

    /// The main instance of a module: the register type with an operator, under plain names.
    pub(crate) fn instance(&self, builder: &mut ModuleBuilder, operator: Option<OperatorKind>) -> Instance {
        builder.instance(self.register, operator, "", "")
    }
}

/// Starts a device-level module: register type, operator, memory types, parameters.
pub(crate) fn begin(target: &KernelTarget, held: &Held, operator: Option<&OperatorKind>) -> (ModuleBuilder, Instance) {
    let mut builder = target.builder(&held.memory);
    let instance = held.instance(&mut builder, operator.cloned());
    match operator {
        Some(_) => builder.add(Piece::Operator(instance)),
        None => builder.add(Piece::Type(instance)),
    }
    held.add(&mut builder, target.tuning);
    let count = match target.gpu_count {
        true => fragment!("device/count_gpu.wgsl"),
        false => fragment!("device/count_host.wgsl"),
    };
    add_fragments(&mut builder, [fragment!("device/params.wgsl"), count]);
    (builder, instance)
}

/// Adds fragments as they stand.
pub(crate) fn add_fragments(builder: &mut ModuleBuilder, fragments: impl IntoIterator<Item = Fragment>) {
    for fragment in fragments {
        builder.assembler().fragment(&fragment, &Renames::default());
    }
}

/// The largest element: what stands in for a binding that is not touched must still hold one.
pub(crate) const MAX_ELEMENT_BYTES: u32 = 256;

/// Checks that the device has what the element type needs.
pub(crate) fn check_element<T: Element>(gpu: &Gpu) -> Result<()> {
    crate::shader::user::check_layout(&T::TYPE)?;
    if size_of::<T>() != T::TYPE.bytes() as usize {
        return Err(Error::argument(format!(
            "an element of {} bytes in Rust cannot be the WGSL type {} of {} bytes",
            size_of::<T>(),
            T::TYPE.wgsl(),
            T::TYPE.bytes()
        )));
    }
    let missing = T::TYPE.features() - gpu.features();
    if !missing.is_empty() {
        return Err(Error::new(
            ErrorKind::MissingFeature,
            format!("{} needs the device feature {}", T::TYPE.wgsl(), reflect::feature_names(missing)),
        ));
    }
    if T::TYPE.bytes() > MAX_ELEMENT_BYTES {
        return Err(Error::argument(format!(
            "{} takes {} bytes; the device-level primitives work on elements of at most {MAX_ELEMENT_BYTES}",
            T::TYPE.wgsl(),
            T::TYPE.bytes()
        )));
    }
    if T::TYPE.bytes() % 4 != 0 {
        return Err(Error::argument(format!(
            "{} takes {} bytes; the device-level primitives work on elements of whole 32-bit words",
            T::TYPE.wgsl(),
            T::TYPE.bytes()
        )));
    }
    Ok(())
}

impl KernelText {
    /// Checks the text against the device's features, and its workgroup memory against the limit.
    pub(crate) fn check(&self, gpu: &Gpu) -> Result<()> {
        let (module, info) = self.text.validate_for(gpu.features())?;
        reflect::check_workgroup_bytes(&reflect::entries(&module, &info)?, gpu.limits(), self.name)
    }

    /// Builds the pipeline of one entry point.
    pub(crate) fn pipeline(&self, gpu: &Gpu, entry: &str) -> Result<wgpu::ComputePipeline> {
        gpu.pipeline_with_bindings(
            &format!("{} {entry}", self.name),
            self.text.text(),
            entry,
            self.checks,
            &self.bindings,
        )
    }
}

/// Workgroups that share `capacity` items out which begin `before` items into a pack.
pub(crate) fn groups(capacity: u32, before: u32, pack: u32, tuning: Tuning) -> u32 {
    let packs = (u64::from(before) + u64::from(capacity)).div_ceil(pack.into());
    let tiles = packs.div_ceil(u64::from(tuning.workgroup * tuning.rows));
    let deep = (tiles / u64::from(tuning.tiles_per_group)).max(tuning.fill_groups.into());
    tiles.min(deep).clamp(1, tuning.max_groups.into()) as u32
}

/// Refuses more items than the kernels' 32-bit indices reach: those of the last workgroups' spans go past the items.
pub(crate) fn check_reach(capacity: u32, pack: u32, tuning: Tuning) -> Result<()> {
    let tile = u64::from(tuning.workgroup * tuning.rows * pack);
    let spans = (u64::from(most_groups(capacity, pack, tuning)) + 1) * tile;
    // A binding begins less than 256 elements before the range.
    let reach = 256 + u64::from(capacity) + spans;
    if reach > u64::from(u32::MAX) {
        return Err(Error::new(
            ErrorKind::LimitTooSmall,
            format!("{capacity} items are too many for one call: its indices would reach {reach}, past 2^32 - 1"),
        ));
    }
    Ok(())
}

/// The most workgroups that a call with this capacity takes, wherever it begins.
pub(crate) fn most_groups(capacity: u32, pack: u32, tuning: Tuning) -> u32 {
    groups(capacity, pack - 1, pack, tuning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_stay_below_two_to_the_32() {
        let tuning = Tuning::new(256, 16, 4096).deepened(256, 4);
        assert!(check_reach(1 << 31, 4, tuning).is_ok());
        assert!(check_reach(u32::MAX - (1 << 20), 1, tuning).is_err());
        assert!(check_reach(u32::MAX, 4, Tuning::new(128, 1, 1)).is_err());
    }

    #[test]
    fn workgroups_follow_the_tiles() {
        // Tiles of 128 * 2 * 4 = 1,024 items.
        let flat = Tuning::new(128, 2, 100);
        for (capacity, before, expected) in [
            (0, 0, 1),
            (1, 0, 1),
            (1024, 0, 1),
            (1024, 1, 2),
            (1025, 0, 2),
            (1 << 20, 0, 100),
            (u32::MAX - (1 << 20), 3, 100),
        ] {
            assert_eq!(groups(capacity, before, 4, flat), expected, "{capacity} from {before}");
            assert!(most_groups(capacity, 4, flat) >= expected);
        }
        let deep = Tuning::new(128, 2, 100).deepened(8, 4);
        for (tiles, expected) in [(7, 7), (8, 8), (9, 8), (32, 8), (36, 9), (400, 100), (4000, 100)] {
            assert_eq!(groups(tiles * 1024, 0, 4, deep), expected, "{tiles} tiles");
        }
    }
}
