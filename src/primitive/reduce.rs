//! Reduce: one value from many.

use std::marker::PhantomData;

use super::kernel::{self, Binding, Held, KernelTarget, KernelText, Tuning};
use super::prepared::{self, Count, Params, ParamsBuffer, Prepared, Range, Step, Workspace};
use crate::element::Element;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::op::{Operator, OperatorKind};
use crate::shader::module::{Piece, from_words, printed, words};
use crate::shader::{Checks, fragment};

/// Combines all items of a range into one.
///
/// Shape: n items in, one item out. Reads each item once; one dispatch (two on Metal). The operator need not commute:
/// items are combined in their order unless it says that it does. Bits repeat from run to run for the same plan, tuning,
/// capacity, count and place of the range within 16 bytes, also of floats. n = 0 gives the identity.
///
/// Each workgroup reduces a contiguous share: lanes gather, subgroups and then the workgroup combine (Harris 2007, with
/// shuffles for his last levels). The workgroup that finishes last combines the parts, as in CUDA's sample
/// `threadFenceReduction`; nobody waits.
///
/// ```no_run
/// use wavelane::{Gpu, op, primitive::{Count, Reduce}};
/// # fn main() -> Result<(), wavelane::Error> {
/// # let (gpu, input, output, n) = (Gpu::open()?, todo!() as wavelane::wgpu::Buffer, todo!() as wavelane::wgpu::Buffer, 0);
/// let sum = Reduce::<f32>::new(&gpu, op::Add)?;
/// let call = sum.prepare(input.slice(..), output.slice(..4), Count::Host(n))?;
/// let mut encoder = gpu.device().create_command_encoder(&Default::default());
/// call.encode(&mut encoder);
/// gpu.queue().submit([encoder.finish()]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Reduce<T> {
    gpu: Gpu,
    tuning: Tuning,
    operator: OperatorKind,
    held: Held,
    host: Pipelines,
    element: PhantomData<fn(T)>,
}

#[derive(Clone, Debug)]
struct Pipelines {
    reduce: wgpu::ComputePipeline,
    /// Where the parts are reduced in a dispatch of their own.
    finish: Option<wgpu::ComputePipeline>,
    bindings: Vec<Binding>,
}

/// Words of the state before the parts: `DEV_PARTS` in reduce.wgsl.
const STATE_HEAD: u64 = 4;

impl<T: Element> Reduce<T> {
    /// Builds the plan.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) where the operator is not defined for `T`,
    /// [`MissingFeature`](crate::ErrorKind::MissingFeature) where the device lacks what `T` or the text needs.
    pub fn new(gpu: &Gpu, operator: impl Into<Operator<T>>) -> Result<Self> {
        Self::with_tuning(gpu, operator, Self::default_tuning(gpu))
    }

    /// Builds the plan with sizes of the caller's.
    ///
    /// # Errors
    /// As [`new`](Self::new), [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for sizes out of range, and
    /// [`LimitTooSmall`](crate::ErrorKind::LimitTooSmall) for sizes over the device's limits.
    pub fn with_tuning(gpu: &Gpu, operator: impl Into<Operator<T>>, tuning: Tuning) -> Result<Self> {
        let operator = operator.into();
        operator.check()?;
        kernel::check_element::<T>(gpu)?;
        let held = Held::new(T::TYPE, Some(&operator.kind), false);
        let host = Self::pipelines(gpu, tuning, &held, &operator.kind, false)?;
        Ok(Self { gpu: gpu.clone(), tuning, operator: operator.kind, held, host, element: PhantomData })
    }

    fn pipelines(
        gpu: &Gpu,
        tuning: Tuning,
        held: &Held,
        operator: &OperatorKind,
        gpu_count: bool,
    ) -> Result<Pipelines> {
        // On Metal a storage barrier does not order memory between workgroups.
        let finish_apart = gpu.info().backend == wgpu::Backend::Metal;
        let text = text(&KernelTarget::new(gpu, tuning, gpu_count)?, held, operator, finish_apart);
        text.check(gpu)?;
        Ok(Pipelines {
            reduce: text.pipeline(gpu, "dev_reduce")?,
            finish: finish_apart.then(|| text.pipeline(gpu, "dev_reduce_finish")).transpose()?,
            bindings: text.bindings,
        })
    }

    /// The sizes that [`new`](Self::new) takes.
    pub fn default_tuning(gpu: &Gpu) -> Tuning {
        Tuning::default_for(gpu, Tuning::new(256, 16, 4096).deepened(256, 4))
    }

    /// Scratch memory of a call with this capacity, in bytes.
    pub fn workspace_bytes(&self, capacity: u32) -> u64 {
        let groups = kernel::most_groups(capacity, self.held.pack, self.tuning);
        (STATE_HEAD + u64::from(groups) * u64::from(self.held.register.words())) * 4
    }

    /// Prepares a call: `input` holds the items, `output` takes the result (one item).
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a range that is too small, misaligned or without
    /// usage `STORAGE`, and for one buffer that is both read and written;
    /// [`LimitTooSmall`](crate::ErrorKind::LimitTooSmall) for a range past one binding.
    ///
    /// The first call with a [`Count::Gpu`] builds a pipeline of its own.
    pub fn prepare(
        &self,
        input: wgpu::BufferSlice<'_>,
        output: wgpu::BufferSlice<'_>,
        count: Count<'_>,
    ) -> Result<Prepared> {
        let workspace = Workspace::new(&self.gpu, self.workspace_bytes(count.capacity()))?;
        self.prepare_in(input, output, count, &workspace)
    }

    /// As [`prepare`](Self::prepare), with scratch memory of the caller's.
    pub fn prepare_in(
        &self,
        input: wgpu::BufferSlice<'_>,
        output: wgpu::BufferSlice<'_>,
        count: Count<'_>,
        workspace: &Workspace,
    ) -> Result<Prepared> {
        let gpu = &self.gpu;
        let capacity = count.capacity();
        kernel::check_reach(capacity, self.held.pack, self.tuning)?;
        let bytes = T::TYPE.bytes();
        let input = Range::new(gpu, "input", input, bytes, capacity)?;
        let output = Range::new(gpu, "output", output, bytes, 1)?;
        let pack = self.held.pack;
        let groups = kernel::groups(capacity, input.start % pack, pack, self.tuning);
        let params = ParamsBuffer::new(
            gpu,
            &count,
            Params { in_start: input.start, out_start: output.start, groups, ..Default::default() },
        )?;
        let state = workspace.binding(0, self.workspace_bytes(capacity))?;
        prepared::check_roles(
            &[("input", &input)].into_iter().chain(params.count_range().map(|r| ("count", r))).collect::<Vec<_>>(),
            &[("output", &output)],
        )?;
        let [read, write] = gpu.placeholders()?;
        let buffers = [
            Some(params.params()),
            params.count(),
            Some(input.units(bytes * pack, read)),
            Some(input.units(bytes, read)),
            Some(output.units(bytes, write)),
            Some(state),
        ];
        let pipelines = match count.is_gpu() {
            true => Self::pipelines(gpu, self.tuning, &self.held, &self.operator, true)?,
            false => self.host.clone(),
        };
        let step = |pipeline: &wgpu::ComputePipeline, groups| Step {
            pipeline: pipeline.clone(),
            bind_group: prepared::bind(gpu, "reduce", pipeline, &pipelines.bindings, &buffers),
            groups,
        };
        let mut steps = vec![step(&pipelines.reduce, groups)];
        // A single workgroup writes the result itself.
        steps.extend(pipelines.finish.iter().filter(|_| groups > 1).map(|finish| step(finish, 1)));
        Ok(Prepared { steps, label: "reduce" })
    }
}

/// The kernels' text.
pub(crate) fn text(target: &KernelTarget, held: &Held, operator: &OperatorKind, finish_apart: bool) -> KernelText {
    let (mut builder, instance) = kernel::begin(target, held, Some(operator));
    builder.add(Piece::WgReduce(instance));
    let fold = match operator.is_commutative() {
        true => fragment!("device/fold_commutative.wgsl"),
        false => fragment!("device/fold_ordered.wgsl"),
    };
    kernel::add_fragments(
        &mut builder,
        [
            fragment!("device/input.wgsl"),
            fragment!("device/span.wgsl"),
            fold,
            fragment!("device/reduce_span.wgsl"),
            printed(publish_text(held)),
            printed(format!("const FINISH_APART = {finish_apart};\n")),
            fragment!("device/reduce.wgsl"),
        ],
    );
    let bindings =
        vec![Binding::Uniform, target.count_binding(), Binding::Read, Binding::Read, Binding::Write, Binding::Write];
    let checks = if operator.needs_checks() { Checks::Checked } else { target.checks };
    KernelText { name: "reduce", text: builder.finish(), bindings, checks }
}

/// A value to the state's atomic words and back.
fn publish_text(held: &Held) -> String {
    let stores: String = (0..)
        .zip(words(&held.register))
        .map(|(i, word)| format!("  atomicStore(&dev_state[at + {i}u], {word});\n"))
        .collect();
    let loads: Vec<String> = (0..held.register.words()).map(|i| format!("atomicLoad(&dev_state[at + {i}u])")).collect();
    format!(
        "fn dev_publish(at: u32, x: T) {{\n{stores}}}\nfn dev_fetch(at: u32) -> T {{\n  return {};\n}}\n",
        from_words(&held.register, &loads)
    )
}
