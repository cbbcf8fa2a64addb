//! Computing with the lanes of a GPU through wgpu.

mod error;
mod gpu;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "lab")]
pub mod measure;
#[cfg(feature = "lab")]
pub mod report;
pub mod shader;

pub use error::{Error, ErrorKind, Result};
pub use gpu::{Adapters, Gpu, GpuOptions, LaneMap, Probe, Requirements, ShapeProbe, SubgroupPath, requirements};
pub use wgpu;
