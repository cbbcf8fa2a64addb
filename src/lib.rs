//! Computing with the lanes of a GPU through wgpu.

mod element;
mod error;
mod gpu;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "lab")]
pub mod measure;
pub mod op;
pub mod primitive;
#[cfg(feature = "lab")]
pub mod report;
pub mod shader;

pub use element::{Element, ElementType, F16, Field, Scalar, Struct, Vector, VectorElement};
pub use error::{Error, ErrorKind, Result};
pub use gpu::{Adapters, Gpu, GpuOptions, LaneMap, Probe, Requirements, ShapeProbe, SubgroupPath, requirements};
pub use op::{Op, Operator};
pub use wgpu;
