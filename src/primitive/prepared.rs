//! A prepared call, and what is checked before there is one.

use super::kernel::Binding;
use crate::error::{Error, Result};
use crate::gpu::Gpu;

/// How many items a prepared call works on.
#[derive(Clone, Copy, Debug)]
pub enum Count<'a> {
    /// This many, fixed when the call is prepared.
    Host(u32),
    /// As many as a `u32` in a buffer says when the call runs, at most `capacity`: a larger number counts as
    /// `capacity`.
    Gpu {
        /// Where the number is: at any multiple of 4 bytes, usage `STORAGE`.
        count: wgpu::BufferSlice<'a>,
        /// The most items that there can be: what buffers are checked and workspace is made for.
        capacity: u32,
    },
}

impl From<u32> for Count<'_> {
    fn from(items: u32) -> Self {
        Self::Host(items)
    }
}

impl Count<'_> {
    /// Whether the number is in a buffer.
    pub(crate) fn is_gpu(&self) -> bool {
        matches!(self, Self::Gpu { .. })
    }

    pub(crate) fn capacity(&self) -> u32 {
        match *self {
            Self::Host(items) => items,
            Self::Gpu { capacity, .. } => capacity,
        }
    }
}

/// A call that is ready to be recorded: pipelines, bind groups and sizes. Holds its buffers alive.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) steps: Vec<Step>,
    pub(crate) label: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) bind_group: wgpu::BindGroup,
    pub(crate) groups: u32,
}

impl Prepared {
    /// Records the dispatches into an open pass. Allocates nothing, submits nothing, waits for nothing. May be recorded
    /// again and again: each run reads what the buffers hold by then.
    ///
    /// Sets the pipeline and bind group 0; bind groups and pipelines that the pass had before must be set again.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.bind_group, &[]);
            pass.dispatch_workgroups(step.groups, 1, 1);
        }
    }

    /// Records the dispatches into a pass of their own.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(self.label), timestamp_writes: None });
        self.record(&mut pass);
    }

    /// How many dispatches the call takes.
    pub fn dispatches(&self) -> usize {
        self.steps.len()
    }
}

/// Where the scratch memory of a call begins that leaves something in it: behind the counters of others, which are
/// zero between calls, so that calls of different plans can share a workspace.
pub(crate) const WORKSPACE_HEAD: u64 = BINDING_ALIGNMENT;

/// Scratch memory of a prepared call, for a caller who wants to share one among several.
///
/// wgpu orders dispatches that write one buffer, so calls recorded for one queue may share it in any order, also in one
/// pass; they then run one after another.
///
/// The calls leave their counters in it at zero, so it is zeroed once, when it is made; [`reset`](Self::reset) does so again
/// after a device was interrupted in the middle of a call.
#[derive(Clone, Debug)]
pub struct Workspace {
    buffer: wgpu::Buffer,
}

impl Workspace {
    /// A workspace of this size (a plan's `workspace_bytes`, or the largest of several).
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory), [`LimitTooSmall`](crate::ErrorKind::LimitTooSmall).
    pub fn new(gpu: &Gpu, bytes: u64) -> Result<Self> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        // wgpu zeroes a buffer before its first use.
        Ok(Self { buffer: gpu.buffer("wavelane workspace", bytes, usage)? })
    }

    /// Zeroes it. A clear ends a compute pass, so this is not part of a call.
    pub fn reset(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.buffer, 0, None);
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.buffer.size()
    }

    /// The bytes from `first` to `needs_bytes`: no more, since a workspace may be larger than a binding can be.
    pub(crate) fn binding(&self, first: u64, needs_bytes: u64) -> Result<wgpu::BufferBinding<'_>> {
        if self.bytes() < needs_bytes {
            return Err(Error::argument(format!(
                "the workspace has {} bytes, this call needs {needs_bytes}",
                self.bytes()
            )));
        }
        let size = wgpu::BufferSize::new(needs_bytes - first);
        Ok(wgpu::BufferBinding { buffer: &self.buffer, offset: first, size })
    }
}

/// Offsets of storage bindings are multiples of this on every device (`min_storage_buffer_offset_alignment`).
const BINDING_ALIGNMENT: u64 = 256;

/// A range of elements, as a binding that begins at an aligned offset and an index into it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Byte of the buffer at which the range begins; it ends with the binding.
    begin: u64,
    /// Index of the first element in the binding.
    pub(crate) start: u32,
}

impl<'a> Range<'a> {
    /// Checks that `slice` holds `items` elements of `element_bytes` and can be bound.
    pub(crate) fn new(
        gpu: &Gpu,
        role: &str,
        slice: wgpu::BufferSlice<'a>,
        element_bytes: u32,
        items: u32,
    ) -> Result<Self> {
        let buffer = slice.buffer();
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::argument(format!(
                "the {role} buffer was made without usage STORAGE (it has {:?})",
                buffer.usage()
            )));
        }
        let element = u64::from(element_bytes);
        if slice.offset() % 4 != 0 {
            return Err(Error::argument(format!(
                "the {role} begins at byte {}, which is no multiple of 4",
                slice.offset()
            )));
        }
        let needs = u64::from(items) * element;
        if slice.size() < needs {
            return Err(Error::argument(format!(
                "the {role} has {} bytes, but {items} elements of {element} bytes need {needs}",
                slice.size()
            )));
        }
        // The binding begins at the last aligned offset from which the range is a whole number of elements away.
        let offset = (0..=slice.offset() / BINDING_ALIGNMENT)
            .rev()
            .take(element_bytes as usize)
            .map(|step| step * BINDING_ALIGNMENT)
            .find(|offset| (slice.offset() - offset) % element == 0)
            .ok_or_else(|| {
                Error::argument(format!(
                    "the {role} begins at byte {}, from which no binding offset (a multiple of {BINDING_ALIGNMENT}) is \
                     a whole number of {element}-byte elements away; begin at a multiple of {element}",
                    slice.offset()
                ))
            })?;
        let start = ((slice.offset() - offset) / element) as u32;
        let bytes = slice.offset() - offset + needs;
        let allowed = gpu.limits().max_storage_buffer_binding_size;
        if bytes > allowed {
            return Err(Error::limit(
                &format!("the {role} ({items} elements of {element} bytes)"),
                bytes,
                allowed,
                "max_storage_buffer_binding_size",
            ));
        }
        if offset + bytes > buffer.size() {
            return Err(Error::argument(format!(
                "the {role} ends at byte {}, its buffer has {}",
                offset + bytes,
                buffer.size()
            )));
        }
        Ok(Self { buffer, offset, bytes, begin: slice.offset(), start })
    }

    /// The binding of whole units of `bytes` each (items, or packs of them). Where the range does not hold one, `other`
    /// stands in, since none is touched then.
    pub(crate) fn units(&self, bytes: u32, other: &'a wgpu::Buffer) -> wgpu::BufferBinding<'a> {
        let unit = u64::from(bytes);
        match wgpu::BufferSize::new(self.bytes / unit * unit) {
            None => other.as_entire_buffer_binding(),
            size => wgpu::BufferBinding { buffer: self.buffer, offset: self.offset, size },
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let end = |range: &Self| range.offset + range.bytes;
        self.buffer == other.buffer && self.begin.max(other.begin) < end(self).min(end(other))
    }
}

/// Refuses a buffer that a call would both read and write, and ranges that it would write twice.
pub(crate) fn check_roles(read: &[(&str, &Range<'_>)], written: &[(&str, &Range<'_>)]) -> Result<()> {
    for (reads, r) in read {
        for (writes, w) in written {
            if r.buffer == w.buffer {
                return Err(Error::argument(format!(
                    "one buffer is both the {reads} and the {writes}: wgpu refuses to read and write one buffer in a \
                     dispatch, even at disjoint ranges; use two buffers, or a plan that works in place where there is one"
                )));
            }
        }
    }
    for (i, (one, a)) in written.iter().enumerate() {
        if let Some((other, b)) = written[i + 1..].iter().find(|(_, b)| a.overlaps(b)) {
            return Err(Error::argument(format!(
                "the {one} (bytes {} to {}) and the {other} (bytes {} to {}) overlap in one buffer",
                a.begin,
                a.offset + a.bytes,
                b.begin,
                b.offset + b.bytes
            )));
        }
    }
    Ok(())
}

/// The words of `DevParams` in params.wgsl.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Params {
    pub(crate) in_start: u32,
    pub(crate) out_start: u32,
    pub(crate) capacity: u32,
    pub(crate) count_at: u32,
    pub(crate) groups: u32,
    pub(crate) count_out_at: u32,
    pub(crate) args_at: u32,
    pub(crate) args_items: u32,
    pub(crate) zero: u32,
}

/// The parameters of a call as a buffer, and the binding of its count.
#[derive(Debug)]
pub(crate) struct ParamsBuffer<'a> {
    params: wgpu::Buffer,
    count: Option<Range<'a>>,
}

impl<'a> ParamsBuffer<'a> {
    pub(crate) fn new(gpu: &Gpu, count: &Count<'a>, mut params: Params) -> Result<Self> {
        let range = match *count {
            Count::Host(_) => None,
            Count::Gpu { count, .. } => {
                let range = Range::new(gpu, "count", count, 4, 1)?;
                params.count_at = range.start;
                Some(range)
            }
        };
        params.capacity = count.capacity();
        let buffer =
            gpu.buffer_with("wavelane parameters", bytemuck::bytes_of(&params), wgpu::BufferUsages::UNIFORM)?;
        Ok(Self { params: buffer, count: range })
    }

    pub(crate) fn params(&self) -> wgpu::BufferBinding<'_> {
        self.params.as_entire_buffer_binding()
    }

    /// The binding of the count, where a buffer holds it.
    pub(crate) fn count(&self) -> Option<wgpu::BufferBinding<'_>> {
        self.count.as_ref().map(|range| range.units(4, &self.params))
    }

    pub(crate) fn count_range(&self) -> Option<&Range<'a>> {
        self.count.as_ref()
    }
}

/// Makes the bind group of a kernel: one buffer a binding, in order, leaving out the unused.
pub(crate) fn bind(
    gpu: &Gpu,
    label: &str,
    pipeline: &wgpu::ComputePipeline,
    bindings: &[Binding],
    buffers: &[Option<wgpu::BufferBinding<'_>>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(bindings.iter().zip(buffers))
        .filter_map(|(binding, (kind, buffer))| match (kind, buffer) {
            (Binding::Unused, _) => None,
            (_, Some(buffer)) => {
                Some(wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer.clone()) })
            }
            (_, None) => unreachable!("binding {binding} of {label} has no buffer"),
        })
        .collect();
    gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}
