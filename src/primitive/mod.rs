//! Device-level primitives: plans that are built once, prepared for buffers, and recorded into a compute pass.
//!
//! Three steps. A plan ([`Reduce`], [`Scan`], [`Select`]) builds its pipelines. `prepare` checks buffers, ranges and
//! counts, and makes what the call needs. [`Prepared::record`] only records dispatches: it allocates nothing, submits
//! nothing and waits for nothing, so one prepared call can be recorded as often as one likes.

mod kernel;
mod prepared;
mod reduce;
mod scan;
mod select;
mod slices;

pub use kernel::Tuning;
pub use prepared::{Count, Prepared, Workspace};
pub use reduce::Reduce;
pub use scan::{Scan, ScanOptions};
pub use select::{DispatchArgs, Predicate, Select};

pub(crate) use kernel::{Binding, Held, KernelTarget, MAX_ELEMENT_BYTES, lanes};
pub(crate) use prepared::Params;
pub(crate) use reduce::text as reduce_text;
pub(crate) use scan::{Kind as ScanKind, text as scan_text};
pub(crate) use select::text as select_text;
