//! The simulator as a backend of wgpu: what wgpu-core asks of a driver, answered by the machine.
//!
//! wgpu-core has checked everything before it calls here. Work runs inside `submit`, so a fence is at its value when
//! the call returns, and whatever is waited for is there. The functions of wgpu-hal's traits are all unsafe since a
//! driver trusts its caller; of those here only the mapping of a buffer relies on more than safe Rust does.

mod adapter;
mod command;
mod device;
mod queue;
mod resource;
mod state;

pub(crate) use state::State;

use super::Setup;

/// The backend.
#[derive(Clone, Debug)]
struct Api;

impl wgpu_hal::Api for Api {
    // A variant of wgpu's enum must be named, and only this one belongs to nobody's hardware.
    const VARIANT: wgpu::Backend = wgpu::Backend::Noop;

    type Instance = adapter::Instance;
    type Surface = adapter::Surface;
    type Adapter = adapter::Adapter;
    type Device = device::Device;

    type Queue = queue::Queue;
    type CommandEncoder = command::Encoder;
    type CommandBuffer = command::Commands;

    type Buffer = resource::Buffer;
    type Texture = resource::Texture;
    type SurfaceTexture = resource::Absent;
    type TextureView = resource::TextureView;
    type Sampler = resource::Sampler;
    type QuerySet = resource::QuerySet;
    type Fence = resource::Fence;

    type BindGroupLayout = resource::BindGroupLayout;
    type BindGroup = resource::BindGroup;
    type PipelineLayout = resource::PipelineLayout;
    type ShaderModule = resource::ShaderModule;
    type ComputePipeline = resource::ComputePipeline;
    type RenderPipeline = resource::Absent;
    type RayTracingPipeline = resource::Absent;
    type PipelineCache = resource::Absent;

    type AccelerationStructure = resource::Absent;
}

/// What wgpu-hal's own backends have by a macro that it does not export.
macro_rules! dyn_resource {
    ($($type:ty $(: $marker:path)*;)*) => { $(
        impl wgpu_hal::DynResource for $type {
            fn as_any(&self) -> &dyn std::any::Any {
                self
            }

            fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
                self
            }
        }
        $(impl $marker for $type {})*
    )* };
}

dyn_resource! {
    adapter::Instance;
    adapter::Surface;
    adapter::Adapter;
    device::Device;
    queue::Queue;
    command::Encoder;
    command::Commands: wgpu_hal::DynCommandBuffer;
    resource::Buffer: wgpu_hal::DynBuffer;
    resource::Texture: wgpu_hal::DynTexture;
    resource::TextureView: wgpu_hal::DynTextureView;
    resource::Sampler: wgpu_hal::DynSampler;
    resource::QuerySet: wgpu_hal::DynQuerySet;
    resource::Fence: wgpu_hal::DynFence;
    resource::BindGroupLayout: wgpu_hal::DynBindGroupLayout;
    resource::BindGroup: wgpu_hal::DynBindGroup;
    resource::PipelineLayout: wgpu_hal::DynPipelineLayout;
    resource::ShaderModule: wgpu_hal::DynShaderModule;
    resource::ComputePipeline: wgpu_hal::DynComputePipeline;
}

/// A wgpu instance whose only adapter is this.
pub(crate) fn instance(setup: Setup) -> wgpu::Instance {
    // SAFETY: the instance is whole: it has nothing to initialise.
    unsafe { wgpu::Instance::from_hal::<Api>(adapter::Instance(setup)) }
}

/// Reads the state of a device; none where the device is another backend's.
pub(crate) fn with_state<T>(device: &wgpu::Device, read: impl FnOnce(&State) -> T) -> Option<T> {
    // SAFETY: the handle is only read from, and dropped before this returns.
    let device = unsafe { device.as_hal::<Api>() }?;
    Some(read(device.state()))
}
