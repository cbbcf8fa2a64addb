//! Recording: the encoder, and the commands that it leaves for the queue.

use std::ops::Range;
use std::sync::Arc;

use wgpu_hal::{BufferCopy, BufferTextureCopy, DeviceError, Label, MemoryRange, TextureCopy};

use super::Api;
use super::resource::{
    Absent, BindGroup, Buffer, ComputePipeline, Entry, EntryKind, Pipeline, PipelineLayout, QuerySet, Texture,
    TextureView,
};
use crate::simt::machine::{Bound, Resource};
use crate::simt::memory::Memory;
use crate::simt::texture;

/// One thing for the queue to do.
pub(super) enum Command {
    Clear { memory: Arc<Memory>, range: MemoryRange },
    Copy { from: Arc<Memory>, to: Arc<Memory>, region: BufferCopy },
    Upload { from: Arc<Memory>, to: Arc<texture::Texture>, region: BufferTextureCopy },
    Download { from: Arc<texture::Texture>, to: Arc<Memory>, region: BufferTextureCopy },
    CopyTexels { from: Arc<texture::Texture>, to: Arc<texture::Texture>, region: TextureCopy },
    Dispatch(Dispatch),
    Timestamp { set: QuerySet, index: u32 },
    Resolve { set: QuerySet, queries: Range<u32>, to: Arc<Memory>, offset: u64, stride: u64 },
}

/// A dispatch with what was set when it was recorded.
pub(super) struct Dispatch {
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) workgroups: Workgroups,
    pub(super) bindings: Vec<Bound>,
    pub(super) immediates: Vec<u8>,
}

/// How many workgroups, or where that stands when the dispatch is executed.
pub(super) enum Workgroups {
    Direct([u32; 3]),
    Indirect { memory: Arc<Memory>, offset: u64 },
}

/// A command buffer.
pub(super) struct Commands(pub(super) Vec<Command>);

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Commands({})", self.0.len())
    }
}

#[derive(Debug)]
pub(super) struct Encoder {
    commands: Commands,
    pass: Pass,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { commands: Commands(Vec::new()), pass: Pass::default() }
    }
}

/// What is set in the compute pass.
#[derive(Debug, Default)]
struct Pass {
    pipeline: Option<ComputePipeline>,
    groups: [Option<(BindGroup, Vec<wgpu::DynamicOffset>)>; wgpu_hal::MAX_BIND_GROUPS],
    immediates: Vec<u8>,
    /// The timestamp to write when it ends.
    end: Option<(QuerySet, u32)>,
}

impl Pass {
    fn bindings(&self) -> Vec<Bound> {
        let mut bindings = Vec::new();
        for (group, set) in self.groups.iter().enumerate() {
            let Some((entries, offsets)) = set else { continue };
            let mut offsets = offsets.iter();
            for Entry { layout, resource } in entries.0.iter() {
                let mut resource = resource.clone();
                if let (EntryKind::Buffer { dynamic: true }, Resource::Buffer { offset, .. }) =
                    (layout.kind, &mut resource)
                {
                    *offset += u64::from(offsets.next().copied().unwrap_or_default());
                }
                bindings.push(Bound { group: group as u32, binding: layout.binding, resource });
            }
        }
        bindings
    }
}

impl Encoder {
    fn push(&mut self, command: Command) {
        self.commands.0.push(command);
    }

    fn dispatch(&mut self, workgroups: Workgroups) {
        let pipeline = self.pass.pipeline.as_ref().expect("wgpu-core sets a pipeline before it dispatches").0.clone();
        let (bindings, immediates) = (self.pass.bindings(), self.pass.immediates.clone());
        self.push(Command::Dispatch(Dispatch { pipeline, workgroups, bindings, immediates }));
    }
}

impl wgpu_hal::CommandEncoder for Encoder {
    type A = Api;

    unsafe fn begin_encoding(&mut self, _: Label<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    unsafe fn discard_encoding(&mut self) {
        *self = Self::default();
    }

    unsafe fn end_encoding(&mut self) -> Result<Commands, DeviceError> {
        Ok(std::mem::take(self).commands)
    }

    unsafe fn reset_all<I: Iterator<Item = Commands>>(&mut self, command_buffers: I) {
        command_buffers.for_each(drop);
    }

    unsafe fn transition_buffers<'a, T>(&mut self, _: T)
    where
        T: Iterator<Item = wgpu_hal::BufferBarrier<'a, Buffer>>,
    {
        // One command ends before the next one begins.
    }

    unsafe fn transition_textures<'a, T>(&mut self, _: T)
    where
        T: Iterator<Item = wgpu_hal::TextureBarrier<'a, Texture>>,
    {
    }

    unsafe fn clear_buffer(&mut self, buffer: &Buffer, range: MemoryRange) {
        self.push(Command::Clear { memory: buffer.0.clone(), range });
    }

    unsafe fn copy_buffer_to_buffer<T: Iterator<Item = BufferCopy>>(&mut self, src: &Buffer, dst: &Buffer, regions: T) {
        for region in regions {
            self.push(Command::Copy { from: src.0.clone(), to: dst.0.clone(), region });
        }
    }

    unsafe fn copy_texture_to_texture<T: Iterator<Item = TextureCopy>>(
        &mut self,
        src: &Texture,
        _: wgpu::wgt::TextureUses,
        dst: &Texture,
        regions: T,
    ) {
        for region in regions {
            self.push(Command::CopyTexels { from: src.0.clone(), to: dst.0.clone(), region });
        }
    }

    unsafe fn copy_buffer_to_texture<T: Iterator<Item = BufferTextureCopy>>(
        &mut self,
        src: &Buffer,
        dst: &Texture,
        regions: T,
    ) {
        for region in regions {
            self.push(Command::Upload { from: src.0.clone(), to: dst.0.clone(), region });
        }
    }

    unsafe fn copy_texture_to_buffer<T: Iterator<Item = BufferTextureCopy>>(
        &mut self,
        src: &Texture,
        _: wgpu::wgt::TextureUses,
        dst: &Buffer,
        regions: T,
    ) {
        for region in regions {
            self.push(Command::Download { from: src.0.clone(), to: dst.0.clone(), region });
        }
    }

    unsafe fn copy_acceleration_structure_to_acceleration_structure(
        &mut self,
        src: &Absent,
        _: &Absent,
        _: wgpu::wgt::AccelerationStructureCopy,
    ) {
        match *src {}
    }

    unsafe fn set_bind_group(
        &mut self,
        _: &PipelineLayout,
        index: u32,
        group: &BindGroup,
        dynamic_offsets: &[wgpu::DynamicOffset],
    ) {
        self.pass.groups[index as usize] = Some((group.clone(), dynamic_offsets.to_vec()));
    }

    unsafe fn set_immediates(&mut self, layout: &PipelineLayout, offset_bytes: u32, data: &[u32]) {
        let immediates = &mut self.pass.immediates;
        let begin = offset_bytes as usize;
        let end = begin + size_of_val(data);
        immediates.resize(immediates.len().max(end).max(layout.immediate_bytes as usize), 0);
        immediates[begin..end].copy_from_slice(bytemuck::cast_slice(data));
    }

    unsafe fn insert_debug_marker(&mut self, _: &str) {}

    unsafe fn begin_debug_marker(&mut self, _: &str) {}

    unsafe fn end_debug_marker(&mut self) {}

    unsafe fn begin_query(&mut self, _: &QuerySet, _: u32) {}

    unsafe fn end_query(&mut self, _: &QuerySet, _: u32) {}

    unsafe fn write_timestamp(&mut self, set: &QuerySet, index: u32) {
        self.push(Command::Timestamp { set: set.clone(), index });
    }

    unsafe fn reset_queries(&mut self, _: &QuerySet, _: Range<u32>) {
        // A query that is written again is overwritten.
    }

    unsafe fn copy_query_results(
        &mut self,
        set: &QuerySet,
        queries: Range<u32>,
        buffer: &Buffer,
        offset: wgpu::BufferAddress,
        stride: wgpu::BufferSize,
    ) {
        let (set, to) = (set.clone(), buffer.0.clone());
        self.push(Command::Resolve { set, queries, to, offset, stride: stride.get() });
    }

    unsafe fn begin_compute_pass(&mut self, desc: &wgpu_hal::ComputePassDescriptor<'_, QuerySet>) {
        self.pass = Pass::default();
        if let Some(writes) = &desc.timestamp_writes {
            if let Some(index) = writes.beginning_of_pass_write_index {
                self.push(Command::Timestamp { set: writes.query_set.clone(), index });
            }
            self.pass.end = writes.end_of_pass_write_index.map(|index| (writes.query_set.clone(), index));
        }
    }

    unsafe fn end_compute_pass(&mut self) {
        if let Some((set, index)) = std::mem::take(&mut self.pass).end {
            self.push(Command::Timestamp { set, index });
        }
    }

    unsafe fn set_compute_pipeline(&mut self, pipeline: &ComputePipeline) {
        self.pass.pipeline = Some(pipeline.clone());
    }

    unsafe fn dispatch_workgroups(&mut self, count: [u32; 3]) {
        self.dispatch(Workgroups::Direct(count));
    }

    unsafe fn dispatch_workgroups_indirect(&mut self, buffer: &Buffer, offset: wgpu::BufferAddress) {
        self.dispatch(Workgroups::Indirect { memory: buffer.0.clone(), offset });
    }

    // Rendering: without textures to draw to there is no pass to record it in, and without a pass wgpu-core records none of it.

    unsafe fn begin_render_pass(
        &mut self,
        _: &wgpu_hal::RenderPassDescriptor<'_, QuerySet, TextureView>,
    ) -> Result<(), DeviceError> {
        log::error!("the simulator renders nothing");
        Err(DeviceError::Unexpected)
    }

    unsafe fn end_render_pass(&mut self) {}

    unsafe fn set_render_pipeline(&mut self, pipeline: &Absent) {
        match *pipeline {}
    }

    unsafe fn set_index_buffer<'a>(&mut self, _: wgpu_hal::BufferBinding<'a, Buffer>, _: wgpu::IndexFormat) {}

    unsafe fn set_vertex_buffer<'a>(&mut self, _: u32, _: wgpu_hal::BufferBinding<'a, Buffer>) {}

    unsafe fn set_viewport(&mut self, _: &wgpu_hal::Rect<f32>, _: Range<f32>) {}

    unsafe fn set_scissor_rect(&mut self, _: &wgpu_hal::Rect<u32>) {}

    unsafe fn set_stencil_reference(&mut self, _: u32) {}

    unsafe fn set_blend_constants(&mut self, _: &[f32; 4]) {}

    unsafe fn draw(&mut self, _: u32, _: u32, _: u32, _: u32) {}

    unsafe fn draw_indexed(&mut self, _: u32, _: u32, _: i32, _: u32, _: u32) {}

    unsafe fn draw_indirect(&mut self, _: &Buffer, _: wgpu::BufferAddress, _: u32) {}

    unsafe fn draw_indexed_indirect(&mut self, _: &Buffer, _: wgpu::BufferAddress, _: u32) {}

    unsafe fn draw_indirect_count(
        &mut self,
        _: &Buffer,
        _: wgpu::BufferAddress,
        _: &Buffer,
        _: wgpu::BufferAddress,
        _: u32,
    ) {
    }

    unsafe fn draw_indexed_indirect_count(
        &mut self,
        _: &Buffer,
        _: wgpu::BufferAddress,
        _: &Buffer,
        _: wgpu::BufferAddress,
        _: u32,
    ) {
    }

    unsafe fn draw_mesh_tasks(&mut self, _: u32, _: u32, _: u32) {}

    unsafe fn draw_mesh_tasks_indirect(&mut self, _: &Buffer, _: wgpu::BufferAddress, _: u32) {}

    unsafe fn draw_mesh_tasks_indirect_count(
        &mut self,
        _: &Buffer,
        _: wgpu::BufferAddress,
        _: &Buffer,
        _: wgpu::BufferAddress,
        _: u32,
    ) {
    }

    // Ray tracing: the adapter does not offer it.

    unsafe fn begin_ray_tracing_pass(&mut self, _: &wgpu_hal::RayTracingPassDescriptor<'_>) {}

    unsafe fn end_ray_tracing_pass(&mut self) {}

    unsafe fn set_ray_tracing_pipeline(&mut self, pipeline: &Absent) {
        match *pipeline {}
    }

    unsafe fn trace_rays<'a>(
        &mut self,
        _: [u32; 3],
        _: wgpu_hal::PipelineGroupData<'a, Buffer>,
        _: wgpu_hal::PipelineGroupData<'a, Buffer>,
        _: wgpu_hal::PipelineGroupData<'a, Buffer>,
    ) {
    }

    unsafe fn build_acceleration_structures<'a, T>(&mut self, _: u32, _: T)
    where
        T: IntoIterator<Item = wgpu_hal::BuildAccelerationStructureDescriptor<'a, Buffer, Absent>>,
    {
    }

    unsafe fn place_acceleration_structure_barrier(&mut self, _: wgpu_hal::AccelerationStructureBarrier) {}

    unsafe fn read_acceleration_structure_compact_size(&mut self, structure: &Absent, _: &Buffer) {
        match *structure {}
    }

    unsafe fn set_acceleration_structure_dependencies(_: &[&Commands], _: &[&Absent]) {}
}
