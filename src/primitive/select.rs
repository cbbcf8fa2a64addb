//! Select: the items that a predicate keeps.

use std::marker::PhantomData;

use super::kernel::{self, Binding, Held, KernelTarget, KernelText, Tuning};
use super::prepared::{self, Count, Params, ParamsBuffer, Prepared, Range, Step, WORKSPACE_HEAD, Workspace};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::op::{Op, OperatorKind};
use crate::shader::module::{Piece, U32, printed};
use crate::shader::user::{self, UserText};
use crate::shader::{Checks, fragment};

/// Which items are kept, in WGSL. Checked when a plan is built with it.
///
/// It depends on the item and its index alone. Comparisons of floats with NaN are as the device has them.
#[derive(Clone, Debug)]
pub struct Predicate {
    text: String,
    is_function: bool,
}

impl Predicate {
    /// An expression of `x`, the item, and `i: u32`, its index in the input: `x > 10u`, `x.weight > 0.5 && i != 0u`.
    pub fn wgsl(expression: impl Into<String>) -> Self {
        Self { text: expression.into(), is_function: false }
    }

    /// A function `predicate(x: T, i: u32) -> bool`, where T is the element's WGSL name, with whatever else it needs
    /// beside it.
    pub fn function(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_function: true }
    }

    fn check<T: Element>(&self) -> Result<UserText> {
        match self.is_function {
            true => user::check_predicate_function(&self.text, &T::TYPE),
            false => user::check_predicate(&self.text, &T::TYPE),
        }
    }
}

/// Where the dispatch arguments for the caller's next kernel go.
#[derive(Clone, Copy, Debug)]
pub struct DispatchArgs<'a> {
    /// 12 bytes: workgroups in x, y and z, as `dispatch_workgroups_indirect` reads them (the buffer needs the usages
    /// `STORAGE` and `INDIRECT`). z is 1; y is 1 unless x would pass 65,535, then x * y covers the items with some
    /// workgroups too many. No items: 0, 0, 1.
    pub args: wgpu::BufferSlice<'a>,
    /// Items that a workgroup of that kernel takes; at least 1.
    pub items_per_workgroup: u32,
}

/// Keeps the items of a range for which a predicate holds, in their order, and tells how many.
///
/// Shape: n items in, k <= n items out, k itself as a `u32`, and k as dispatch arguments. The output range holds as many
/// items as the capacity; what lies behind k stays as it was. Two dispatches, which read the input twice and write what
/// is kept once; one dispatch, which reads it once, where a single workgroup has room for all. Results do not depend on
/// timing. n = 0 gives k = 0, and dispatch arguments of 0 workgroups.
///
/// Every workgroup counts what it keeps of its share; then every workgroup adds up the counts before its own and writes
/// behind them: a scan of the flags (Blelloch 1990) that is never stored. The predicate is asked twice for each item.
///
/// ```no_run
/// use wavelane::{Gpu, primitive::{Count, Predicate, Select}, wgpu};
/// # fn large(gpu: &Gpu, items: &wgpu::Buffer, kept: &wgpu::Buffer, number: &wgpu::Buffer, n: u32, pass: &mut wgpu::ComputePass<'_>) -> Result<(), wavelane::Error> {
/// let plan = Select::<f32>::new(gpu, Predicate::wgsl("x > 0.5"))?;
/// let call = plan.prepare(items.slice(..), kept.slice(..), number.slice(..), Count::Host(n))?;
/// call.record(pass);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Select<T> {
    gpu: Gpu,
    tuning: Tuning,
    predicate: UserText,
    held: Held,
    host: Pipelines,
    element: PhantomData<fn(T)>,
}

#[derive(Clone, Debug)]
struct Pipelines {
    count: wgpu::ComputePipeline,
    write: wgpu::ComputePipeline,
    bindings: Vec<Binding>,
}

impl<T: Element> Select<T> {
    /// Builds the plan.
    ///
    /// # Errors
    /// [`InvalidShader`](crate::ErrorKind::InvalidShader) with the place in the predicate,
    /// [`MissingFeature`](crate::ErrorKind::MissingFeature) where the device lacks what `T` or the text needs.
    pub fn new(gpu: &Gpu, predicate: Predicate) -> Result<Self> {
        Self::with_tuning(gpu, predicate, Self::default_tuning(gpu))
    }

    /// Builds the plan with sizes of the caller's.
    ///
    /// # Errors
    /// As [`new`](Self::new), [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for sizes out of range, and
    /// [`LimitTooSmall`](crate::ErrorKind::LimitTooSmall) for sizes over the device's limits.
    pub fn with_tuning(gpu: &Gpu, predicate: Predicate, tuning: Tuning) -> Result<Self> {
        kernel::check_element::<T>(gpu)?;
        let predicate = predicate.check::<T>()?;
        let held = Held::new(T::TYPE, None, false);
        let host = Self::pipelines(gpu, tuning, &held, &predicate, false)?;
        Ok(Self { gpu: gpu.clone(), tuning, predicate, held, host, element: PhantomData })
    }

    fn pipelines(gpu: &Gpu, tuning: Tuning, held: &Held, predicate: &UserText, gpu_count: bool) -> Result<Pipelines> {
        let text = text(&KernelTarget::new(gpu, tuning, gpu_count)?, held, predicate);
        text.check(gpu)?;
        Ok(Pipelines {
            count: text.pipeline(gpu, "dev_select_count")?,
            write: text.pipeline(gpu, "dev_select_write")?,
            bindings: text.bindings,
        })
    }

    /// The sizes that [`new`](Self::new) takes.
    pub fn default_tuning(gpu: &Gpu) -> Tuning {
        Tuning::default_for(gpu, Tuning::new(256, 8, 8192).deepened(512, 4))
    }

    /// Scratch memory of a call with this capacity, in bytes.
    pub fn workspace_bytes(&self, capacity: u32) -> u64 {
        WORKSPACE_HEAD + u64::from(kernel::most_groups(capacity, self.held.pack, self.tuning)) * 4
    }

    /// Prepares a call: what is kept of `input` goes to `kept`, how many there are to `kept_count` (4 bytes).
    ///
    /// # Errors
    /// As [`Reduce::prepare`](super::Reduce::prepare).
    pub fn prepare(
        &self,
        input: wgpu::BufferSlice<'_>,
        kept: wgpu::BufferSlice<'_>,
        kept_count: wgpu::BufferSlice<'_>,
        count: Count<'_>,
    ) -> Result<Prepared> {
        let workspace = Workspace::new(&self.gpu, self.workspace_bytes(count.capacity()))?;
        self.prepare_in(input, kept, kept_count, None, count, &workspace)
    }

    /// As [`prepare`](Self::prepare), and writes the dispatch arguments for a kernel that works on what is kept.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_with_args(
        &self,
        input: wgpu::BufferSlice<'_>,
        kept: wgpu::BufferSlice<'_>,
        kept_count: wgpu::BufferSlice<'_>,
        args: DispatchArgs<'_>,
        count: Count<'_>,
    ) -> Result<Prepared> {
        let workspace = Workspace::new(&self.gpu, self.workspace_bytes(count.capacity()))?;
        self.prepare_in(input, kept, kept_count, Some(args), count, &workspace)
    }

    /// As [`prepare`](Self::prepare) or [`prepare_with_args`](Self::prepare_with_args), with scratch memory of the
    /// caller's.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_in(
        &self,
        input: wgpu::BufferSlice<'_>,
        kept: wgpu::BufferSlice<'_>,
        kept_count: wgpu::BufferSlice<'_>,
        args: Option<DispatchArgs<'_>>,
        count: Count<'_>,
        workspace: &Workspace,
    ) -> Result<Prepared> {
        let gpu = &self.gpu;
        let capacity = count.capacity();
        kernel::check_reach(capacity, self.held.pack, self.tuning)?;
        let bytes = T::TYPE.bytes();
        let input = Range::new(gpu, "input", input, bytes, capacity)?;
        let kept = Range::new(gpu, "output of kept items", kept, bytes, capacity)?;
        let kept_count = Range::new(gpu, "output of the count", kept_count, 4, 1)?;
        let args_range = match args {
            None => None,
            Some(DispatchArgs { items_per_workgroup: 0, .. }) => {
                return Err(Error::argument(
                    "dispatch arguments for 0 items a workgroup: a workgroup takes at least 1",
                ));
            }
            Some(DispatchArgs { args, .. }) => {
                if !args.buffer().usage().contains(wgpu::BufferUsages::INDIRECT) {
                    return Err(Error::argument(format!(
                        "the buffer of the dispatch arguments was made without usage INDIRECT (it has {:?})",
                        args.buffer().usage()
                    )));
                }
                Some(Range::new(gpu, "output of the dispatch arguments", args, 4, 3)?)
            }
        };
        let pack = self.held.pack;
        let groups = kernel::groups(capacity, input.start % pack, pack, self.tuning);
        let params = ParamsBuffer::new(
            gpu,
            &count,
            Params {
                in_start: input.start,
                out_start: kept.start,
                groups,
                count_out_at: kept_count.start,
                args_at: args_range.map_or(0, |range| range.start),
                args_items: args.map_or(1, |args| args.items_per_workgroup),
                ..Default::default()
            },
        )?;
        let parts = workspace.binding(WORKSPACE_HEAD, self.workspace_bytes(capacity))?;
        let written = [("output of kept items", &kept), ("output of the count", &kept_count)];
        prepared::check_roles(
            &[("input", &input)].into_iter().chain(params.count_range().map(|r| ("count", r))).collect::<Vec<_>>(),
            &written.into_iter().chain(args_range.as_ref().map(|r| ("dispatch arguments", r))).collect::<Vec<_>>(),
        )?;
        let [read, write] = gpu.placeholders()?;
        let buffers = [
            Some(params.params()),
            params.count(),
            Some(input.units(bytes * pack, read)),
            Some(input.units(bytes, read)),
            Some(kept.units(bytes, write)),
            Some(kept_count.units(4, write)),
            Some(parts),
            Some(args_range.map_or(write.as_entire_buffer_binding(), |range| range.units(4, write))),
        ];
        let pipelines = match count.is_gpu() {
            true => Self::pipelines(gpu, self.tuning, &self.held, &self.predicate, true)?,
            false => self.host.clone(),
        };
        // A single workgroup has nothing before it that would need to be counted.
        let steps = [(groups > 1).then_some(&pipelines.count), Some(&pipelines.write)]
            .into_iter()
            .flatten()
            .map(|pipeline| Step {
                pipeline: pipeline.clone(),
                bind_group: prepared::bind(gpu, "select", pipeline, &pipelines.bindings, &buffers),
                groups,
            })
            .collect();
        Ok(Prepared { steps, label: "select" })
    }
}

/// The kernels' text.
pub(crate) fn text(target: &KernelTarget, held: &Held, predicate: &UserText) -> KernelText {
    let (mut builder, _) = kernel::begin(target, held, None);
    let add = builder.named_operator(U32, OperatorKind::Builtin(Op::Add), Op::Add.name());
    builder.add(Piece::WgReduce(add));
    builder.add(Piece::WgScan(add));
    kernel::add_fragments(
        &mut builder,
        [
            fragment!("device/input.wgsl"),
            fragment!("device/span.wgsl"),
            predicate.fragment("(predicate)"),
            printed(user::predicate_call("In")),
        ],
    );
    builder.operated(add, fragment!("device/parts_before.wgsl"));
    kernel::add_fragments(&mut builder, [fragment!("device/select.wgsl")]);
    let checks = if predicate.needs_checks { Checks::Checked } else { target.checks };
    let count = target.count_binding();
    let mut bindings = vec![Binding::Uniform, count, Binding::Read, Binding::Read];
    bindings.extend([Binding::Write; 4]);
    KernelText { name: "select", text: builder.finish(), bindings, checks }
}
