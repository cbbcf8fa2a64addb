//! Instance, adapter and surface: what the simulator says of itself.

use std::sync::Arc;
use std::time::Duration;

use wgpu::{Features, Limits, wgt};
use wgpu_hal::{DeviceError, InstanceError, SurfaceError};

use super::resource::{Absent, Fence};
use super::{Api, device::Device, queue::Queue, state::State};
use crate::simt::{Setup, texture};

/// What programs may ask for. A feature is listed once the machine executes it: a program shall learn of the others from
/// the adapter, not from a kernel that fails.
fn features() -> Features {
    Features::SUBGROUP
        | Features::SUBGROUP_BARRIER
        | Features::SHADER_INT64
        | Features::SHADER_INT64_ATOMIC_MIN_MAX
        | Features::SHADER_INT64_ATOMIC_ALL_OPS
        | Features::SHADER_F16
        | Features::SHADER_F64
        | Features::SHADER_I16
        | Features::SHADER_FLOAT32_ATOMIC
        | Features::IMMEDIATES
        | Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES
        | Features::TEXTURE_FORMAT_16BIT_NORM
        | Features::BGRA8UNORM_STORAGE
        | Features::CLEAR_TEXTURE
        | Features::TIMESTAMP_QUERY
        | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | Features::TIMESTAMP_QUERY_INSIDE_PASSES
        | Features::MAPPABLE_PRIMARY_BUFFERS
}

/// Workgroups that a dispatch may have in each dimension.
pub(super) const MAX_WORKGROUPS: u32 = 65_535;

/// Those of a large GPU where the simulator is concerned, and wgpu's defaults for what it has not.
fn limits() -> Limits {
    Limits {
        max_bind_groups: wgpu_hal::MAX_BIND_GROUPS as u32,
        max_dynamic_uniform_buffers_per_pipeline_layout: 64,
        max_dynamic_storage_buffers_per_pipeline_layout: 64,
        max_sampled_textures_per_shader_stage: 64,
        max_samplers_per_shader_stage: 64,
        max_storage_textures_per_shader_stage: 64,
        max_storage_buffers_per_shader_stage: 64,
        max_uniform_buffers_per_shader_stage: 64,
        max_storage_buffer_binding_size: 256 << 20,
        max_buffer_size: 1 << 30,
        min_uniform_buffer_offset_alignment: 32,
        min_storage_buffer_offset_alignment: 32,
        max_compute_workgroup_storage_size: 48 << 10,
        max_compute_invocations_per_workgroup: 1024,
        max_compute_workgroup_size_x: 1024,
        max_compute_workgroup_size_y: 1024,
        max_compute_workgroup_size_z: 64,
        max_compute_workgroups_per_dimension: MAX_WORKGROUPS,
        max_immediate_size: 128,
        ..Limits::default()
    }
}

#[derive(Debug)]
pub(super) struct Instance(pub(super) Setup);

impl wgpu_hal::Instance for Instance {
    type A = Api;

    unsafe fn init(_: &wgpu_hal::InstanceDescriptor<'_>) -> Result<Self, InstanceError> {
        unreachable!("wgpu makes instances of its own backends only")
    }

    unsafe fn create_surface(
        &self,
        _: wgpu::rwh::RawDisplayHandle,
        _: wgpu::rwh::RawWindowHandle,
    ) -> Result<Surface, InstanceError> {
        // An InstanceError cannot be made outside wgpu-hal; the adapter says that it has no use for the surface.
        Ok(Surface)
    }

    unsafe fn enumerate_adapters(&self, _: Option<&Surface>) -> Vec<wgpu_hal::ExposedAdapter<Api>> {
        let byte = wgpu::BufferSize::MIN;
        vec![wgpu_hal::ExposedAdapter {
            adapter: Adapter(self.0),
            info: wgpu::AdapterInfo {
                name: format!("wavelane simulator, {} lanes", self.0.lanes),
                driver: "wavelane".into(),
                driver_info: env!("CARGO_PKG_VERSION").into(),
                subgroup_min_size: self.0.lanes,
                subgroup_max_size: self.0.lanes,
                ..wgpu::AdapterInfo::new(wgpu::DeviceType::Cpu, wgpu::Backend::Noop)
            },
            features: features(),
            capabilities: wgpu_hal::Capabilities {
                limits: limits(),
                alignments: wgpu_hal::Alignments {
                    buffer_copy_offset: byte,
                    buffer_copy_pitch: byte,
                    uniform_bounds_check_alignment: byte,
                    raw_tlas_instance_size: 0,
                    ray_tracing_scratch_buffer_alignment: 1,
                    ray_tracing_pipeline_group_data_size: 1,
                    ray_tracing_pipeline_group_data_alignment: 1,
                    ray_tracing_pipeline_data_offset_alignment: 1,
                },
                downlevel: wgpu::DownlevelCapabilities {
                    // Without this flag wgpu asks which texture formats there are, and what they are good for.
                    flags: wgpu::DownlevelFlags::compliant() - wgpu::DownlevelFlags::WEBGPU_TEXTURE_FORMAT_SUPPORT,
                    ..Default::default()
                },
                cooperative_matrix_properties: Vec::new(),
            },
        }]
    }
}

#[derive(Debug)]
pub(super) struct Adapter(Setup);

impl wgpu_hal::Adapter for Adapter {
    type A = Api;

    unsafe fn open(
        &self,
        _: Features,
        _: &Limits,
        _: &wgpu::MemoryHints,
    ) -> Result<wgpu_hal::OpenDevice<Api>, DeviceError> {
        let state = Arc::new(State::new(self.0));
        Ok(wgpu_hal::OpenDevice { device: Device::new(state.clone()), queue: Queue::new(state) })
    }

    unsafe fn texture_format_capabilities(&self, format: wgpu::TextureFormat) -> wgpu_hal::TextureFormatCapabilities {
        use wgpu_hal::TextureFormatCapabilities as Can;
        match texture::Format::of(format) {
            Some(_) => {
                Can::SAMPLED
                    | Can::STORAGE_READ_ONLY
                    | Can::STORAGE_WRITE_ONLY
                    | Can::STORAGE_READ_WRITE
                    | Can::COPY_SRC
                    | Can::COPY_DST
            }
            None => Can::empty(),
        }
    }

    unsafe fn surface_capabilities(&self, _: &Surface) -> Option<wgpu_hal::SurfaceCapabilities> {
        None
    }

    unsafe fn get_presentation_timestamp(&self) -> wgpu::PresentationTimestamp {
        wgpu::PresentationTimestamp::INVALID_TIMESTAMP
    }

    fn get_ordered_buffer_usages(&self) -> wgt::BufferUses {
        wgt::BufferUses::INCLUSIVE | wgt::BufferUses::MAP_WRITE
    }

    fn get_ordered_texture_usages(&self) -> wgt::TextureUses {
        wgt::TextureUses::INCLUSIVE | wgt::TextureUses::COLOR_TARGET | wgt::TextureUses::DEPTH_STENCIL_WRITE
    }
}

/// A window that nothing can be shown in.
#[derive(Debug)]
pub(super) struct Surface;

impl wgpu_hal::Surface for Surface {
    type A = Api;

    unsafe fn configure(&self, _: &Device, _: &wgpu_hal::SurfaceConfiguration) -> Result<(), SurfaceError> {
        Err(SurfaceError::Other("the simulator shows nothing"))
    }

    unsafe fn unconfigure(&self, _: &Device) {}

    unsafe fn acquire_texture(
        &self,
        _: Option<Duration>,
        _: &Fence,
    ) -> Result<wgpu_hal::AcquiredSurfaceTexture<Api>, SurfaceError> {
        Err(SurfaceError::Other("the simulator shows nothing"))
    }

    unsafe fn discard_texture(&self, texture: Absent) {
        match texture {}
    }
}
