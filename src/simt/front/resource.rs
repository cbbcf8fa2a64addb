//! What a device makes: buffers, layouts, bind groups, modules, pipelines, query sets and fences.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use crate::simt::memory::Memory;
use crate::simt::program::Program;

/// A buffer: a share of its memory, so that commands outlive the handle.
pub(super) struct Buffer(pub(super) Arc<Memory>);

thread_local! {
    /// The memory of the buffer that was last formatted on this thread: see [`bound_memory`].
    static FORMATTED: RefCell<Option<Arc<Memory>>> = const { RefCell::new(None) };
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            FORMATTED.set(Some(self.0.clone()));
        }
        write!(f, "Buffer({} bytes)", self.0.bytes())
    }
}

/// The memory of the buffer in `binding`.
///
/// wgpu-hal 30 keeps the field to its own backends. What it does show of it is its `Debug` form: that calls the buffer's
/// `Debug`, and the buffer takes the chance to say which one it is. Safe code, and no word on how wgpu-hal lays its
/// struct out; a release that opens the field or changes the form makes the function shorter or the tests fail.
pub(super) fn bound_memory(binding: &wgpu_hal::BufferBinding<'_, Buffer>) -> Arc<Memory> {
    let _ = format!("{binding:#?}");
    FORMATTED.take().expect("the Debug form of a binding shows its buffer")
}

/// What the simulator never makes. There is no value of this type, so nothing has to be written for one.
#[derive(Debug)]
pub(super) enum Absent {}

impl wgpu_hal::DynResource for Absent {
    fn as_any(&self) -> &dyn std::any::Any {
        match *self {}
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        match *self {}
    }
}

impl std::borrow::Borrow<dyn wgpu_hal::DynTexture> for Absent {
    fn borrow(&self) -> &dyn wgpu_hal::DynTexture {
        match *self {}
    }
}

impl wgpu_hal::DynAccelerationStructure for Absent {}
impl wgpu_hal::DynPipelineCache for Absent {}
impl wgpu_hal::DynRayTracingPipeline for Absent {}
impl wgpu_hal::DynRenderPipeline for Absent {}
impl wgpu_hal::DynSurfaceTexture for Absent {}
impl wgpu_hal::DynTexture for Absent {}
impl wgpu_hal::DynTextureView for Absent {}

/// A sampler without textures to sample: it can be made, since refusing it would cost the device.
#[derive(Debug)]
pub(super) struct Sampler;

#[derive(Debug)]
pub(super) struct BindGroupLayout {
    /// The bindings that are buffers.
    pub(super) buffers: Vec<BufferLayout>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BufferLayout {
    pub(super) binding: u32,
    pub(super) dynamic: bool,
}

/// Buffers in the order of their bindings, which is the order of dynamic offsets too.
#[derive(Clone, Debug)]
pub(super) struct BindGroup(pub(super) Arc<[BoundBuffer]>);

#[derive(Clone)]
pub(super) struct BoundBuffer {
    pub(super) layout: BufferLayout,
    pub(super) memory: Arc<Memory>,
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl fmt::Debug for BoundBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}, {} bytes", self.layout, self.offset, self.size)
    }
}

#[derive(Debug)]
pub(super) struct PipelineLayout {
    pub(super) immediate_bytes: u32,
}

/// A module as wgpu-core validated it. It is compiled with the pipeline, which knows the entry point and the overrides.
pub(super) struct ShaderModule {
    pub(super) module: Cow<'static, naga::Module>,
    pub(super) info: naga::valid::ModuleInfo,
    /// The WGSL text, where wgpu-core kept it.
    pub(super) text: Option<Cow<'static, str>>,
}

impl fmt::Debug for ShaderModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShaderModule")
    }
}

#[derive(Clone)]
pub(super) struct ComputePipeline(pub(super) Arc<Pipeline>);

pub(super) struct Pipeline {
    pub(super) program: Program,
    pub(super) name: String,
    /// Whether wgpu-core made it for itself: its dispatches are none of the program's.
    pub(super) internal: bool,
}

impl fmt::Debug for ComputePipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComputePipeline({})", self.0.name)
    }
}

/// Queries, of which only timestamps are ever written.
#[derive(Clone, Debug)]
pub(super) struct QuerySet(pub(super) Arc<Mutex<Vec<u64>>>);

#[derive(Debug)]
pub(super) struct Fence(pub(super) AtomicU64);
