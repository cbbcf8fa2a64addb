//! What a device makes: buffers, layouts, bind groups, modules, pipelines, query sets and fences.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use crate::simt::machine::Resource;
use crate::simt::memory::Memory;
use crate::simt::program::Program;
use crate::simt::texture;

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

impl std::borrow::Borrow<Texture> for Absent {
    fn borrow(&self) -> &Texture {
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

/// A texture: a share of it, as of a buffer.
#[derive(Clone)]
pub(super) struct Texture(pub(super) Arc<texture::Texture>);

impl fmt::Debug for Texture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Texture({:?})", self.0.format())
    }
}

pub(super) struct TextureView(pub(super) Arc<texture::View>);

impl fmt::Debug for TextureView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextureView({:?})", self.0.size(0))
    }
}

/// A sampler of any kind: to refuse one here would cost the device before anything is sampled.
#[derive(Debug)]
pub(super) struct Sampler(pub(super) Arc<texture::Sampler>);

#[derive(Debug)]
pub(super) struct BindGroupLayout {
    pub(super) entries: Vec<EntryLayout>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EntryLayout {
    pub(super) binding: u32,
    pub(super) kind: EntryKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum EntryKind {
    Buffer { dynamic: bool },
    Texture,
    Sampler,
}

/// Resources in the order of their bindings, which is the order of dynamic offsets too.
#[derive(Clone, Debug)]
pub(super) struct BindGroup(pub(super) Arc<[Entry]>);

#[derive(Clone)]
pub(super) struct Entry {
    pub(super) layout: EntryLayout,
    pub(super) resource: Resource,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.layout)
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
