//! The device: makes resources.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wgpu::wgt;
use wgpu_hal::{DeviceError, Label, MemoryRange, PipelineError, ShaderError};

use super::command::Encoder;
use super::resource::{
    Absent, BindGroup, BindGroupLayout, Buffer, ComputePipeline, Entry, EntryKind, EntryLayout, Fence, Pipeline,
    PipelineLayout, QuerySet, Sampler, ShaderModule, Texture, TextureView, bound_memory,
};
use super::{Api, queue::Queue, state::State};
use crate::simt::machine::Resource;
use crate::simt::memory::Memory;
use crate::simt::program::Program;
use crate::simt::texture;

/// How the labels of what wgpu-core makes for itself begin.
const INTERNAL: &str = "(wgpu internal)";

#[derive(Debug)]
pub(super) struct Device(Arc<State>);

impl Device {
    pub(super) fn new(state: Arc<State>) -> Self {
        Self(state)
    }

    pub(super) fn state(&self) -> &State {
        &self.0
    }
}

/// An error for what wgpu-core does not ask for, since the adapter offers no feature that leads to it.
fn not_simulated<T>(what: &str) -> Result<T, DeviceError> {
    log::error!("the simulator has no {what}");
    Err(DeviceError::Unexpected)
}

impl wgpu_hal::Device for Device {
    type A = Api;

    unsafe fn create_buffer(&self, desc: &wgpu_hal::BufferDescriptor<'_>) -> Result<Buffer, DeviceError> {
        Ok(Buffer(Arc::new(Memory::zeroed(desc.size))))
    }

    unsafe fn destroy_buffer(&self, _: Buffer) {}

    unsafe fn add_raw_buffer(&self, _: &Buffer) {}

    unsafe fn map_buffer(&self, buffer: &Buffer, range: MemoryRange) -> Result<wgpu_hal::BufferMapping, DeviceError> {
        assert!(range.start <= range.end && range.end <= buffer.0.bytes(), "a mapping lies inside its buffer");
        // SAFETY: the range lies inside the memory. Whoever writes through the pointer may: the words are atomic, so
        // nothing relies on their staying the same; and wgpu-core lets no dispatch touch a buffer while it is mapped.
        let at = unsafe { buffer.0.as_ptr().add(range.start as usize) };
        let ptr = NonNull::new(at.cast_mut()).expect("memory does not begin at zero");
        Ok(wgpu_hal::BufferMapping { ptr, is_coherent: true })
    }

    unsafe fn unmap_buffer(&self, _: &Buffer) {}

    unsafe fn flush_mapped_ranges<I: Iterator<Item = MemoryRange>>(&self, _: &Buffer, _: I) {}

    unsafe fn invalidate_mapped_ranges<I: Iterator<Item = MemoryRange>>(&self, _: &Buffer, _: I) {}

    unsafe fn create_texture(&self, desc: &wgpu_hal::TextureDescriptor<'_>) -> Result<Texture, DeviceError> {
        let Some(format) = texture::Format::of(desc.format) else {
            return not_simulated("texture of this format");
        };
        let texture = texture::Texture::new(format, desc.size, desc.dimension, desc.mip_level_count);
        texture.map(|texture| Texture(Arc::new(texture))).ok_or(DeviceError::OutOfMemory)
    }

    unsafe fn destroy_texture(&self, _: Texture) {}

    unsafe fn add_raw_texture(&self, _: &Texture) {}

    unsafe fn create_texture_view(
        &self,
        texture: &Texture,
        desc: &wgpu_hal::TextureViewDescriptor<'_>,
    ) -> Result<TextureView, DeviceError> {
        let Texture(texture) = texture.clone();
        Ok(TextureView(Arc::new(texture::View::new(texture, &desc.range))))
    }

    unsafe fn destroy_texture_view(&self, _: TextureView) {}

    unsafe fn create_sampler(&self, desc: &wgpu_hal::SamplerDescriptor<'_>) -> Result<Sampler, DeviceError> {
        let filters = [desc.mag_filter, desc.min_filter].contains(&wgpu::FilterMode::Linear);
        Ok(Sampler(Arc::new(texture::Sampler {
            label: desc.label.unwrap_or_default().into(),
            modes: desc.address_modes,
            levels: [desc.lod_clamp.start, desc.lod_clamp.end],
            is_linear: filters || desc.mipmap_filter == wgpu::MipmapFilterMode::Linear,
        })))
    }

    unsafe fn destroy_sampler(&self, _: Sampler) {}

    unsafe fn create_command_encoder(
        &self,
        _: &wgpu_hal::CommandEncoderDescriptor<'_, Queue>,
    ) -> Result<Encoder, DeviceError> {
        Ok(Encoder::default())
    }

    unsafe fn create_bind_group_layout(
        &self,
        desc: &wgpu_hal::BindGroupLayoutDescriptor<'_>,
    ) -> Result<BindGroupLayout, DeviceError> {
        let entries = desc.entries.iter().filter_map(|entry| {
            let kind = match entry.ty {
                wgpu::BindingType::Buffer { has_dynamic_offset: dynamic, .. } => EntryKind::Buffer { dynamic },
                wgpu::BindingType::Texture { .. } | wgpu::BindingType::StorageTexture { .. } => EntryKind::Texture,
                wgpu::BindingType::Sampler(_) => EntryKind::Sampler,
                // The adapter offers no feature that leads to these.
                wgpu::BindingType::AccelerationStructure { .. } | wgpu::BindingType::ExternalTexture => return None,
            };
            Some(EntryLayout { binding: entry.binding, kind })
        });
        Ok(BindGroupLayout { entries: entries.collect() })
    }

    unsafe fn destroy_bind_group_layout(&self, _: BindGroupLayout) {}

    unsafe fn create_pipeline_layout(
        &self,
        desc: &wgpu_hal::PipelineLayoutDescriptor<'_, BindGroupLayout>,
    ) -> Result<PipelineLayout, DeviceError> {
        Ok(PipelineLayout { immediate_bytes: desc.immediate_size })
    }

    unsafe fn destroy_pipeline_layout(&self, _: PipelineLayout) {}

    unsafe fn create_bind_group(
        &self,
        desc: &wgpu_hal::BindGroupDescriptor<'_, BindGroupLayout, Buffer, Sampler, TextureView, Absent>,
    ) -> Result<BindGroup, DeviceError> {
        let entries = desc.entries.iter().filter_map(|entry| {
            let layout = *desc.layout.entries.iter().find(|layout| layout.binding == entry.binding)?;
            let index = entry.resource_index as usize;
            let resource = match layout.kind {
                EntryKind::Buffer { .. } => {
                    let binding = &desc.buffers[index];
                    let memory = bound_memory(binding);
                    let size = binding.size.map_or(memory.bytes() - binding.offset, |size| size.get());
                    Resource::Buffer { memory, offset: binding.offset, size }
                }
                EntryKind::Texture => Resource::Texture(desc.textures[index].view.0.clone()),
                EntryKind::Sampler => Resource::Sampler(desc.samplers[index].0.clone()),
            };
            Some(Entry { layout, resource })
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|entry| entry.layout.binding);
        Ok(BindGroup(entries.into()))
    }

    unsafe fn destroy_bind_group(&self, _: BindGroup) {}

    unsafe fn create_shader_module(
        &self,
        _: &wgpu_hal::ShaderModuleDescriptor<'_>,
        shader: wgpu_hal::ShaderInput<'_>,
    ) -> Result<ShaderModule, ShaderError> {
        match shader {
            wgpu_hal::ShaderInput::Naga(wgpu_hal::NagaShader { module, info, debug_source }) => {
                Ok(ShaderModule { module, info, text: debug_source.map(|source| source.source_code) })
            }
            _ => Err(ShaderError::Compilation("the simulator executes no shader that was passed through".into())),
        }
    }

    unsafe fn destroy_shader_module(&self, _: ShaderModule) {}

    unsafe fn create_render_pipeline(
        &self,
        _: &wgpu_hal::RenderPipelineDescriptor<'_, PipelineLayout, ShaderModule, Absent>,
    ) -> Result<Absent, PipelineError> {
        Err(PipelineError::Linkage(wgpu::ShaderStages::VERTEX, "the simulator executes compute shaders only".into()))
    }

    unsafe fn destroy_render_pipeline(&self, pipeline: Absent) {
        match pipeline {}
    }

    unsafe fn create_compute_pipeline(
        &self,
        desc: &wgpu_hal::ComputePipelineDescriptor<'_, PipelineLayout, ShaderModule, Absent>,
    ) -> Result<ComputePipeline, PipelineError> {
        let stage = &desc.stage;
        let ShaderModule { module, info, text } = stage.module;
        let program =
            Program::compile(module, info, stage.entry_point, stage.constants, self.0.setup.lanes, text.as_deref())
                .map_err(|message| PipelineError::Linkage(wgpu::ShaderStages::COMPUTE, message))?;
        let label = desc.label.unwrap_or_default();
        let name = if label.is_empty() { stage.entry_point } else { label };
        Ok(ComputePipeline(Arc::new(Pipeline { program, name: name.into(), internal: label.starts_with(INTERNAL) })))
    }

    unsafe fn destroy_compute_pipeline(&self, _: ComputePipeline) {}

    unsafe fn create_ray_tracing_pipeline(
        &self,
        _: &wgpu_hal::RayTracingPipelineDescriptor<'_, PipelineLayout, ShaderModule, Absent>,
    ) -> Result<Absent, PipelineError> {
        Ok(not_simulated("ray tracing")?)
    }

    unsafe fn destroy_ray_tracing_pipeline(&self, pipeline: Absent) {
        match pipeline {}
    }

    unsafe fn get_raytracing_pipeline_group_data(
        &self,
        pipeline: &Absent,
        _: std::ops::Range<u32>,
    ) -> Result<Vec<u8>, DeviceError> {
        match *pipeline {}
    }

    unsafe fn create_pipeline_cache(
        &self,
        _: &wgpu_hal::PipelineCacheDescriptor<'_>,
    ) -> Result<Absent, wgpu_hal::PipelineCacheError> {
        Ok(not_simulated("pipeline cache")?)
    }

    unsafe fn destroy_pipeline_cache(&self, cache: Absent) {
        match cache {}
    }

    unsafe fn create_query_set(&self, desc: &wgt::QuerySetDescriptor<Label<'_>>) -> Result<QuerySet, DeviceError> {
        Ok(QuerySet(Arc::new(Mutex::new(vec![0; desc.count as usize]))))
    }

    unsafe fn destroy_query_set(&self, _: QuerySet) {}

    unsafe fn create_fence(&self) -> Result<Fence, DeviceError> {
        Ok(Fence(AtomicU64::new(0)))
    }

    unsafe fn destroy_fence(&self, _: Fence) {}

    unsafe fn get_fence_value(&self, fence: &Fence) -> Result<wgpu_hal::FenceValue, DeviceError> {
        Ok(fence.0.load(Ordering::Acquire))
    }

    unsafe fn wait(
        &self,
        fence: &Fence,
        value: wgpu_hal::FenceValue,
        _: Option<Duration>,
    ) -> Result<bool, DeviceError> {
        // What was submitted is done; what failed never will be.
        Ok(fence.0.load(Ordering::Acquire) >= value)
    }

    unsafe fn start_graphics_debugger_capture(&self) -> bool {
        false
    }

    unsafe fn stop_graphics_debugger_capture(&self) {}

    unsafe fn create_acceleration_structure(
        &self,
        _: &wgpu_hal::AccelerationStructureDescriptor<'_>,
    ) -> Result<Absent, DeviceError> {
        not_simulated("acceleration structures")
    }

    unsafe fn get_acceleration_structure_build_sizes(
        &self,
        _: &wgpu_hal::GetAccelerationStructureBuildSizesDescriptor<'_, Buffer>,
    ) -> wgpu_hal::AccelerationStructureBuildSizes {
        Default::default()
    }

    unsafe fn get_acceleration_structure_device_address(&self, structure: &Absent) -> wgpu::BufferAddress {
        match *structure {}
    }

    unsafe fn destroy_acceleration_structure(&self, structure: Absent) {
        match structure {}
    }

    fn tlas_instance_to_bytes(&self, _: wgpu_hal::TlasInstance) -> Vec<u8> {
        Vec::new()
    }

    fn get_internal_counters(&self) -> wgt::HalCounters {
        Default::default()
    }

    fn check_if_oom(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
