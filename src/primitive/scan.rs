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
/// 0 to i - 1, beginning with the identity. Either begins with a value of the caller's if one is given
/// ([`initial`](Self::initial)).
///
/// Reduce, then scan (Dotsenko et al. 2008; Merrill and Grimshaw 2009): two dispatches, which read the input twice and
/// write the output once. The operator need not commute. Bits repeat from run to run for the same plan, tuning, capacity,
/// count and place of the ranges within 16 bytes, also of floats. n = 0 writes nothing.
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
        Self::build(gpu, operator.into(), true, Self::default_tuning(gpu))
    }

    /// A plan whose output item i combines the input items 0 to i - 1.
    ///
    /// # Errors
    /// As [`Reduce::new`](super::Reduce::new).
    pub fn exclusive(gpu: &Gpu, operator: impl Into<Operator<T>>) -> Result<Self> {
        Self::build(gpu, operator.into(), false, Self::default_tuning(gpu))
    }

    fn build(gpu: &Gpu, operator: Operator<T>, inclusive: bool, tuning: Tuning) -> Result<Self> {
        operator.check()?;
        kernel::check_element::<T>(gpu)?;
        let kind = Kind { inclusive, in_place: false, initial: false };
        let packs = Self::pipelines(gpu, &operator.kind, kind, tuning, Way::default())?;
        Ok(Self { gpu: gpu.clone(), tuning, kind, operator: operator.kind, initial: None, packs, element: PhantomData })
    }

    fn rebuilt(mut self, kind: Kind, tuning: Tuning) -> Result<Self> {
        self.packs = Self::pipelines(&self.gpu, &self.operator, kind, tuning, Way::default())?;
        Ok(Self { kind, tuning, ..self })
    }

    /// The same plan with this value before the first item.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory): the value is kept in a small buffer.
    pub fn initial(mut self, value: T) -> Result<Self> {
        self.initial = Some(self.gpu.buffer_with(
            "wavelane initial value",
            bytemuck::bytes_of(&value),
            wgpu::BufferUsages::STORAGE,
        )?);
        let (kind, tuning) = (Kind { initial: true, ..self.kind }, self.tuning);
        self.rebuilt(kind, tuning)
    }

    /// The same plan, overwriting its input: prepare with [`prepare_in_place`](Self::prepare_in_place).
    ///
    /// # Errors
    /// As the constructors.
    pub fn in_place(self) -> Result<Self> {
        let (kind, tuning) = (Kind { in_place: true, ..self.kind }, self.tuning);
        self.rebuilt(kind, tuning)
    }

    /// The same plan with sizes of the caller's.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for sizes out of range,
    /// [`LimitTooSmall`](crate::ErrorKind::LimitTooSmall) for sizes over the device's limits.
    pub fn with_tuning(self, tuning: Tuning) -> Result<Self> {
        let kind = self.kind;
        self.rebuilt(kind, tuning)
    }

    /// The sizes that the constructors take.
    pub fn default_tuning(gpu: &Gpu) -> Tuning {
        let tuning = if gpu.is_cpu() { Tuning::new(128, 4, 64) } else { Tuning::new(256, 8, 8192).deepened(512, 4) };
        tuning.fitting(gpu)
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
        prepared::check_items(count.capacity())?;
        let input = Range::new(&self.gpu, "input", input, T::TYPE.bytes(), count.capacity())?;
        self.prepare_ranges(Some(input), output, count, workspace)
    }

    /// Prepares a call that overwrites `items`, for a plan made [`in_place`](Self::in_place).
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_in_place(&self, items: wgpu::BufferSlice<'_>, count: Count<'_>) -> Result<Prepared> {
        if !self.kind.in_place {
            return Err(Error::argument("this plan does not work in place; make it so with Scan::in_place"));
        }
        let workspace = Workspace::new(&self.gpu, self.workspace_bytes(count.capacity()))?;
        self.prepare_ranges(None, items, count, &workspace)
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
        prepared::check_items(capacity)?;
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
        let steps = [&pipelines.reduce, &pipelines.apply]
            .map(|pipeline| Step {
                pipeline: pipeline.clone(),
                bind_group: prepared::bind(gpu, "scan", pipeline, &pipelines.bindings, &buffers),
                groups,
            })
            .into();
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
            fragment!("device/scan.wgsl"),
        ],
    );
    let checks = if operator.needs_checks() { Checks::Checked } else { target.checks };
    KernelText { name: "scan", text: builder.finish(), bindings: bindings(kind, target.count_binding()).into(), checks }
}
