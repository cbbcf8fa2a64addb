//! Scan: all prefixes.

use std::marker::PhantomData;

use super::kernel::{self, Binding, Held, KernelTarget, KernelText, Tuning};
use super::prepared::{self, Count, Params, ParamsBuffer, Prepared, Range, Step, WORKSPACE_HEAD, Workspace};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::op::{Operator, OperatorKind};
use crate::shader::module::Piece;
use crate::shader::{Checks, fragment};

/// Combines each item with all before it.
///
/// Shape: n items in, n items out. Inclusive: item i of the output combines the items 0 to i of the input. Exclusive:
/// 0 to i - 1, beginning with the identity. Either begins with a value of the caller's if one is given, and overwrites
/// its input if asked to ([`ScanOptions`]).
///
/// Reduce, then scan (Dotsenko et al. 2008; Merrill and Grimshaw 2009): two dispatches, which read the input twice and
/// write the output once; one dispatch, which reads it once, where a single workgroup has room for all. The operator
/// need not commute. Bits repeat from run to run for the same plan, tuning, capacity, count and place of the ranges
/// within 16 bytes, also of floats. n = 0 writes nothing.
///
/// ```no_run
/// use wavelane::{Gpu, op, primitive::{Count, Scan}, wgpu};
/// # fn offsets(gpu: &Gpu, lengths: &wgpu::Buffer, offsets: &wgpu::Buffer, n: u32, pass: &mut wgpu::ComputePass<'_>) -> Result<(), wavelane::Error> {
/// let plan = Scan::<u32>::exclusive(gpu, op::Add)?;
/// let call = plan.prepare(lengths.slice(..), offsets.slice(..), Count::Host(n))?;
/// call.record(pass);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Scan<T> {
    gpu: Gpu,
    tuning: Tuning,
    kind: Kind,
    operator: OperatorKind,
    initial: Option<wgpu::Buffer>,
    packs: Pipelines,
    element: PhantomData<fn(T)>,
}

/// Which scan a plan does.
///
/// ```no_run
/// use wavelane::{Gpu, op, primitive::{Scan, ScanOptions}};
/// # fn plan(gpu: &Gpu) -> Result<Scan<u32>, wavelane::Error> {
/// Scan::with_options(gpu, op::Add, ScanOptions::exclusive().initial(100).in_place())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanOptions<T> {
    inclusive: bool,
    in_place: bool,
    initial: Option<T>,
    tuning: Option<Tuning>,
}

impl<T> ScanOptions<T> {
    /// Output item i combines the input items 0 to i.
    pub const fn inclusive() -> Self {
        Self { inclusive: true, in_place: false, initial: None, tuning: None }
    }

    /// Output item i combines the input items 0 to i - 1.
    pub const fn exclusive() -> Self {
        Self { inclusive: false, in_place: false, initial: None, tuning: None }
    }

    /// With this value before the first item.
    #[must_use]
    pub fn initial(self, value: T) -> Self {
        Self { initial: Some(value), ..self }
    }

    /// Overwriting the input: prepare with [`Scan::prepare_in_place`].
    #[must_use]
    pub fn in_place(self) -> Self {
        Self { in_place: true, ..self }
    }

    /// With sizes of the caller's, instead of [`Scan::default_tuning`].
    #[must_use]
    pub fn tuning(self, tuning: Tuning) -> Self {
        Self { tuning: Some(tuning), ..self }
    }
}

/// What a scan's text is made from, besides type and operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) inclusive: bool,
    pub(crate) in_place: bool,
    pub(crate) initial: bool,
}

/// How one call differs from the usual: pipelines of its own, built by the first that does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    /// Items are moved one by one, since input and output do not begin alike.
    single_items: bool,
    /// The number of items is in a buffer.
    gpu_count: bool,
}

#[derive(Clone, Debug)]
struct Pipelines {
    reduce: wgpu::ComputePipeline,
    apply: wgpu::ComputePipeline,
    pack: u32,
    register_bytes: u32,
    bindings: Vec<Binding>,
}

fn bindings(kind: Kind, count: Binding) -> [Binding; 8] {
    let input = if kind.in_place { Binding::Unused } else { Binding::Read };
    let initial = if kind.initial { Binding::Read } else { Binding::Unused };
    [Binding::Uniform, count, input, input, Binding::Write, Binding::Write, Binding::Write, initial]
}

impl<T: Element> Scan<T> {
    /// A plan whose output item i combines the input items 0 to i.
    ///
    /// # Errors
    /// As [`Reduce::new`](super::Reduce::new).
    pub fn inclusive(gpu: &Gpu, operator: impl Into<Operator<T>>) -> Result<Self> {
        Self::with_options(gpu, operator, ScanOptions::inclusive())
    }

    /// A plan whose output item i combines the input items 0 to i - 1.
    ///
    /// # Errors
    /// As [`Reduce::new`](super::Reduce::new).
    pub fn exclusive(gpu: &Gpu, operator: impl Into<Operator<T>>) -> Result<Self> {
        Self::with_options(gpu, operator, ScanOptions::exclusive())
    }

    /// A plan for a scan of the caller's choice.
    ///
    /// # Errors
    /// As [`Reduce::with_tuning`](super::Reduce::with_tuning), and [`OutOfMemory`](crate::ErrorKind::OutOfMemory): an
    /// initial value is kept in a small buffer.
    pub fn with_options(gpu: &Gpu, operator: impl Into<Operator<T>>, options: ScanOptions<T>) -> Result<Self> {
        let operator = operator.into();
        operator.check()?;
        kernel::check_element::<T>(gpu)?;
        let ScanOptions { inclusive, in_place, initial, tuning } = options;
        let tuning = tuning.unwrap_or_else(|| Self::default_tuning(gpu));
        let kind = Kind { inclusive, in_place, initial: initial.is_some() };
        let packs = Self::pipelines(gpu, &operator.kind, kind, tuning, Way::default())?;
        let keep = |value: T| {
            gpu.buffer_with("wavelane initial value", bytemuck::bytes_of(&value), wgpu::BufferUsages::STORAGE)
        };
        let initial = initial.map(keep).transpose()?;
        Ok(Self { gpu: gpu.clone(), tuning, kind, operator: operator.kind, initial, packs, element: PhantomData })
    }

    /// The sizes that a plan has unless told otherwise.
    pub fn default_tuning(gpu: &Gpu) -> Tuning {
        Tuning::default_for(gpu, Tuning::new(256, 8, 8192).deepened(512, 4))
    }

    fn pipelines(gpu: &Gpu, operator: &OperatorKind, kind: Kind, tuning: Tuning, way: Way) -> Result<Pipelines> {
        let target = KernelTarget::new(gpu, tuning, way.gpu_count)?;
        let held = Held::new(T::TYPE, Some(operator), way.single_items);
        let text = text(&target, &held, operator, kind);
        text.check(gpu)?;
        Ok(Pipelines {
            reduce: text.pipeline(gpu, "dev_scan_reduce")?,
            apply: text.pipeline(gpu, "dev_scan_apply")?,
            pack: held.pack,
            register_bytes: held.register.bytes(),
            bindings: text.bindings,
        })
    }

    /// Scratch memory of a call with this capacity, in bytes.
    pub fn workspace_bytes(&self, capacity: u32) -> u64 {
        // Single items make the most workgroups.
        let groups = u64::from(kernel::most_groups(capacity, 1, self.tuning));
        WORKSPACE_HEAD + groups * u64::from(self.packs.register_bytes)
    }

    /// Prepares a call from `input` to `output`, both of at least the count's capacity.
    ///
    /// Where the two do not begin at the same place within 16 bytes, items are moved one by one, which is slower. The
    /// first such call, and the first with a [`Count::Gpu`], build pipelines of their own.
    ///
    /// # Errors
    /// As [`Reduce::prepare`](super::Reduce::prepare); a plan that works in place is refused here.
    pub fn prepare(
        &self,
        input: wgpu::BufferSlice<'_>,
        output: wgpu::BufferSlice<'_>,
        count: Count<'_>,
    ) -> Result<Prepared> {
        self.prepare_in(input, output, count, &Workspace::new(&self.gpu, self.workspace_bytes(count.capacity()))?)
    }

    /// As [`prepare`](Self::prepare), with scratch memory of the caller's.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_in(
        &self,
        input: wgpu::BufferSlice<'_>,
        output: wgpu::BufferSlice<'_>,
        count: Count<'_>,
        workspace: &Workspace,
    ) -> Result<Prepared> {
        if self.kind.in_place {
            return Err(Error::argument("this plan works in place; prepare it with prepare_in_place"));
        }
        kernel::check_reach(count.capacity(), self.packs.pack, self.tuning)?;
        let input = Range::new(&self.gpu, "input", input, T::TYPE.bytes(), count.capacity())?;
        self.prepare_ranges(Some(input), output, count, workspace)
    }

    /// Prepares a call that overwrites `items`, for a plan made with [`ScanOptions::in_place`].
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_in_place(&self, items: wgpu::BufferSlice<'_>, count: Count<'_>) -> Result<Prepared> {
        self.prepare_in_place_in(items, count, &Workspace::new(&self.gpu, self.workspace_bytes(count.capacity()))?)
    }

    /// As [`prepare_in_place`](Self::prepare_in_place), with scratch memory of the caller's.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_in_place_in(
        &self,
        items: wgpu::BufferSlice<'_>,
        count: Count<'_>,
        workspace: &Workspace,
    ) -> Result<Prepared> {
        if !self.kind.in_place {
            return Err(Error::argument("this plan does not work in place; make it so with ScanOptions::in_place"));
        }
        self.prepare_ranges(None, items, count, workspace)
    }

    fn prepare_ranges(
        &self,
        input: Option<Range<'_>>,
        output: wgpu::BufferSlice<'_>,
        count: Count<'_>,
        workspace: &Workspace,
    ) -> Result<Prepared> {
        let gpu = &self.gpu;
        let capacity = count.capacity();
        kernel::check_reach(capacity, self.packs.pack, self.tuning)?;
        let bytes = T::TYPE.bytes();
        let output = Range::new(gpu, "output", output, bytes, capacity)?;
        let in_start = input.map_or(output.start, |input| input.start);
        let way = Way {
            single_items: in_start % self.packs.pack != output.start % self.packs.pack,
            gpu_count: count.is_gpu(),
        };
        let pipelines = match way == Way::default() {
            true => self.packs.clone(),
            false => Self::pipelines(gpu, &self.operator, self.kind, self.tuning, way)?,
        };
        let groups = kernel::groups(capacity, in_start % pipelines.pack, pipelines.pack, self.tuning);
        let params =
            ParamsBuffer::new(gpu, &count, Params { in_start, out_start: output.start, groups, ..Default::default() })?;
        let parts = workspace.binding(WORKSPACE_HEAD, self.workspace_bytes(capacity))?;
        prepared::check_roles(
            &input
                .as_ref()
                .map(|r| ("input", r))
                .into_iter()
                .chain(params.count_range().map(|r| ("count", r)))
                .collect::<Vec<_>>(),
            &[("output", &output)],
        )?;
        if capacity == 0 {
            return Ok(Prepared { steps: Vec::new(), label: "scan" });
        }
        let [read, write] = gpu.placeholders()?;
        let pack_bytes = bytes * pipelines.pack;
        let buffers = [
            Some(params.params()),
            params.count(),
            input.map(|input| input.units(pack_bytes, read)),
            input.map(|input| input.units(bytes, read)),
            Some(output.units(pack_bytes, write)),
            Some(output.units(bytes, write)),
            Some(parts),
            self.initial.as_ref().map(wgpu::Buffer::as_entire_buffer_binding),
        ];
        // A single workgroup has nothing before it that it would need the parts for.
        let steps = [(groups > 1).then_some(&pipelines.reduce), Some(&pipelines.apply)]
            .into_iter()
            .flatten()
            .map(|pipeline| Step {
                pipeline: pipeline.clone(),
                bind_group: prepared::bind(gpu, "scan", pipeline, &pipelines.bindings, &buffers),
                groups,
            })
            .collect();
        Ok(Prepared { steps, label: "scan" })
    }
}

/// The kernels' text.
pub(crate) fn text(target: &KernelTarget, held: &Held, operator: &OperatorKind, kind: Kind) -> KernelText {
    let (mut builder, instance) = kernel::begin(target, held, Some(operator));
    builder.add(Piece::WgReduce(instance));
    builder.add(Piece::WgScan(instance));
    let fold = match operator.is_commutative() {
        true => fragment!("device/fold_commutative.wgsl"),
        false => fragment!("device/fold_ordered.wgsl"),
    };
    let input = match kind.in_place {
        true => fragment!("device/input_in_place.wgsl"),
        false => fragment!("device/input.wgsl"),
    };
    let items = match kind.inclusive {
        true => fragment!("device/scan_inclusive.wgsl"),
        false => fragment!("device/scan_exclusive.wgsl"),
    };
    let initial = match kind.initial {
        true => fragment!("device/initial_value.wgsl"),
        false => fragment!("device/initial_identity.wgsl"),
    };
    kernel::add_fragments(
        &mut builder,
        [
            input,
            fragment!("device/output.wgsl"),
            fragment!("device/span.wgsl"),
            fold,
            fragment!("device/reduce_span.wgsl"),
            items,
            initial,
        ],
    );
    builder.operated(instance, fragment!("device/parts_before.wgsl"));
    kernel::add_fragments(&mut builder, [fragment!("device/scan.wgsl")]);
    let checks = if operator.needs_checks() { Checks::Checked } else { target.checks };
    KernelText { name: "scan", text: builder.finish(), bindings: bindings(kind, target.count_binding()).into(), checks }
}
