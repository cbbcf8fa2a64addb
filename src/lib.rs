//! Computing with the lanes of a GPU through [wgpu]: parallel primitives on any Vulkan, Metal or DX12 device, building
//! blocks for kernels of one's own, and a lab that measures what the lanes really do.
//!
//! # Words
//!
//! A GPU runs a compute shader in *workgroups* (blocks, in CUDA's words) of *invocations* (threads). The hardware takes
//! a workgroup apart into *subgroups* (warps on NVIDIA, wavefronts on AMD, SIMD-groups on Apple) whose *lanes* execute
//! one instruction together: an invocation runs on a lane. Lanes can read each other's registers and vote; where they
//! disagree about a branch, all of them wait for both sides. A subgroup has 32 lanes on NVIDIA, 32 or 64 on AMD, 4 to
//! 128 elsewhere, and what a driver reports of it is a range, or wrong. Hence the first thing that a [`Gpu`] does is to
//! run a small kernel that counts ([`Probe`]). Where the count agrees with the report, subgroup operations are the
//! hardware's; elsewhere they are emulated over workgroup memory ([`SubgroupPath`]). Results are right either way.
//!
//! # Slices in, values out
//!
//! ```no_run
//! use wavelane::{Gpu, op, primitive::Predicate};
//!
//! fn main() -> Result<(), wavelane::Error> {
//!     let gpu = Gpu::open()?; // the best adapter
//!     let items = [3_u32, 1, 4, 1, 5, 9, 2, 6];
//!     assert_eq!(gpu.reduce(&items, op::Add)?, 31);
//!     assert_eq!(gpu.scan_exclusive(&items, op::Add)?, [0, 3, 4, 8, 9, 14, 23, 25]);
//!     assert_eq!(gpu.select(&items, Predicate::wgsl("x > 3u"))?, [4, 5, 9, 6]);
//!     Ok(())
//! }
//! ```
//!
//! These calls upload, run, wait and read back. Each has an async form, which never polls the device: a program without
//! a loop that does so must poll from a thread, or the future never ends.
//!
//! # One's own device, buffers and pass
//!
//! Three steps. A plan ([`Reduce`](primitive::Reduce), [`Scan`](primitive::Scan), [`Select`](primitive::Select)) builds
//! pipelines, once. `prepare` checks buffers, ranges and counts, once for these buffers. `record` writes dispatches into
//! an open pass, as often as one likes: it allocates nothing, submits nothing and waits for nothing.
//!
//! ```no_run
//! use wavelane::{Gpu, op, primitive::{Count, Scan}, wgpu};
//!
//! async fn offsets(adapter: &wgpu::Adapter, lengths: &[u32]) -> Result<Vec<u32>, Box<dyn std::error::Error>> {
//!     let needs = wavelane::requirements(adapter); // merge with what the program itself needs
//!     let (device, queue) = adapter
//!         .request_device(&wgpu::DeviceDescriptor {
//!             required_features: needs.features,
//!             required_limits: needs.limits,
//!             ..Default::default()
//!         })
//!         .await?;
//!     let gpu = Gpu::from_device(adapter, &device, &queue).await?;
//!
//!     let plan = Scan::<u32>::exclusive(&gpu, op::Add)?;
//!     let input = gpu.upload(lengths, wgpu::BufferUsages::STORAGE)?;
//!     let output = gpu.upload(lengths, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;
//!     let call = plan.prepare(input.slice(..), output.slice(..), Count::Host(lengths.len() as u32))?;
//!
//!     let mut encoder = device.create_command_encoder(&Default::default());
//!     let mut pass = encoder.begin_compute_pass(&Default::default());
//!     call.record(&mut pass); // other dispatches may stand before and behind it in the same pass
//!     drop(pass);
//!     queue.submit([encoder.finish()]);
//!     Ok(gpu.download(output.slice(..))?) // waits; download_async leaves the polling to the program
//! }
//! ```
//!
//! A count may also come from a GPU buffer ([`Count::Gpu`](primitive::Count)), and a selection can write the dispatch
//! arguments of the kernel that works on it ([`DispatchArgs`](primitive::DispatchArgs)), so that the host need not wait
//! between them.
//!
//! # An operator of one's own
//!
//! Whatever is associative can be reduced and scanned: an element type, an identity, and WGSL that combines two.
//!
//! ```no_run
//! use wavelane::{Gpu, Operator};
//!
//! /// The map x -> a * x + b.
//! #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
//! #[repr(C)]
//! struct Affine {
//!     a: f32,
//!     b: f32,
//! }
//! wavelane::element!(Affine { a: f32, b: f32 });
//!
//! fn main() -> Result<(), wavelane::Error> {
//!     let gpu = Gpu::open()?;
//!     let then = Operator::<Affine>::wgsl(
//!         "fn identity() -> Affine { return Affine(1.0, 0.0); }
//!          fn combine(f: Affine, g: Affine) -> Affine { return Affine(f.a * g.a, f.b * g.a + g.b); }",
//!     )?;
//!     // A linear recurrence in parallel: all prefixes of a chain of maps.
//!     let chain = gpu.scan_inclusive(&[Affine { a: 0.5, b: 1.0 }; 4], then)?;
//!     assert_eq!(chain[3], Affine { a: 0.0625, b: 1.875 });
//!     Ok(())
//! }
//! ```
//!
//! # Building blocks
//!
//! [`shader::library`] gives a kernel of one's own the subgroup and workgroup functions that the primitives are made of,
//! under the same names on the native and the emulated path: see [`shader::block`] for what there is.
//!
//! ```no_run
//! use wavelane::{Gpu, op, shader::{self, block}};
//!
//! fn main() -> Result<(), wavelane::Error> {
//!     let gpu = Gpu::open()?;
//!     let library = shader::library(&gpu, 128, &[block::subgroup_reduce::<u32>(op::Add)])?;
//!     let kernel = library.with_kernel(
//!         "sums.wgsl",
//!         "@group(0) @binding(0) var<storage, read_write> items: array<u32>;
//!
//!          @compute @workgroup_size(WORKGROUP)
//!          fn sums(place: Place) {
//!            sg_begin(place);
//!            let at = place.workgroup.x * WORKGROUP + wg_index;
//!            items[at] = sg_reduce_add_u32(items[at]); // every lane: the sum of its subgroup
//!          }",
//!     )?;
//!     let pipeline = gpu.compute_pipeline(&kernel, "sums")?; // from here on it is wgpu's
//!     # let _ = pipeline;
//!     Ok(())
//! }
//! ```
//!
//! # The lab
//!
//! With feature `lab`: experiments that compare what the model of lanes and subgroups predicts with what this device
//! does, a sampler for kernels of one's own (`measure`), and the record of a run (`report`). The tool `wavelane` is made
//! of it.
//!
//! ```no_run
//! # #[cfg(feature = "lab")] {
//! use wavelane::{Gpu, lab, measure::Effort};
//!
//! fn main() -> Result<(), wavelane::Error> {
//!     let gpu = Gpu::open()?;
//!     let record = lab::run(&gpu, Effort::Quick, &["two-way", "aligned"], |_| {})?;
//!     for experiment in &record.experiments {
//!         println!("{}: {:?}. {}", experiment.id, experiment.verdict, experiment.finding);
//!     }
//!     Ok(())
//! }
//! # }
//! ```
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `cli` | yes | the tool `wavelane`, `lab`, `simt`, and wgpu's backends Vulkan, Metal and DX12 |
//! | `lab` | with `cli` | `lab`, `measure` and `report` |
//! | `simt` | with `cli` | `simt`: a CPU device behind wgpu's own API, with any subgroup width, that counts what its lanes do |
//! | `static-dxc` | no | the DirectX shader compiler, linked in (Windows): subgroups on DX12 need it, or `dxcompiler.dll` beside the program |
//!
//! Without default features the crate enables no backend of wgpu: the program does, by wgpu's features `vulkan`, `metal`
//! or `dx12`. [`wgpu`] is re-exported, so that both are sure to mean the same release.
//!
//! # What a device needs
//!
//! No feature of wgpu is mandatory. [`requirements`] asks for those that the adapter has of `SUBGROUP` (without it
//! subgroups are emulated), `TIMESTAMP_QUERY` (without it the lab uses the host's clock), `SHADER_INT64`, `SHADER_F16`
//! (without them the types `u64`, `i64` and [`F16`] are refused) and `PIPELINE_CACHE`. The least limits for a
//! [`Gpu`] are 8 storage buffers a stage, one bind group of 8 bindings, one small uniform buffer, workgroups of 128
//! invocations, and grids of a few workgroups; what is missing is named. Plans take workgroups of 256, or of 128 on a CPU
//! driver, unless a [`Tuning`](primitive::Tuning) says otherwise (`wavelane tune` measures one for an adapter).
//!
//! # Limits
//!
//! - A call takes what fits into one binding of the device (`max_storage_buffer_binding_size`, often 128 MiB to 2 GiB), and
//!   fewer than 2^32 - 2^20 items. Grids stay below 65,535 workgroups: each workgroup takes several tiles.
//! - Ranges begin at any element, at a multiple of 4 bytes. Elements are `u32`, `i32`, `f32`, `u64`, `i64`, vectors of two
//!   or four of the 32-bit ones, and flat structs of all these ([`element!`]). A vector of three is none: WGSL stores it as
//!   four.
//! - Subgroups of 4 to 128 lanes; one-dimensional workgroups.
//! - One buffer cannot be read and written in one dispatch, even at disjoint ranges: wgpu refuses it, so `prepare` does,
//!   unless the plan works in place. Buffers that belong to another device, are mapped or were destroyed are the caller's
//!   to avoid.
//! - The web is not supported.
//!
//! # What results can be relied on
//!
//! | | items moved | integers | float `Add`, `Mul` | float `Min`, `Max` | one's own operator |
//! | --- | --- | --- | --- | --- | --- |
//! | reduce | n read | exact, wrapping | repeat | exact | order kept, repeats |
//! | scan | 2n read, n written | exact, wrapping | repeat | exact | order kept, repeats |
//! | select | 2n read, k written | exact, order kept | n/a | n/a | n/a |
//!
//! - *Exact*: the same on every device, path, width and size.
//! - *Repeat*: the same bits from run to run on one device and path, for the same plan, tuning, capacity, count and place of
//!   the range within 16 bytes. On another device, or with another width, the grouping differs and so do the last bits.
//! - *Order kept*: combined in the order of the items, so the operator need not commute. One that
//!   [`Operator::commutative`] names so, and the built-in ones, may be combined in another order, always the same.
//! - Float `Min` and `Max` follow [`f32::min`] and [`f32::max`]: NaN only where all are NaN; -0 is below +0. Infinities are
//!   values like any other. WGSL lets a device flush subnormal numbers to zero, and assume that arithmetic meets neither
//!   infinities nor NaN: what `Add`, `Mul` and text of one's own make of those is the device's choice.
//! - No items: reduce gives the identity, scan writes nothing, select counts 0.
//!
//! # Errors
//!
//! One type, [`Error`]: [`Error::kind`] for programs, the message for people, with what was needed, what was there and
//! what to do. Nothing panics on a caller's input, WGSL text included (but for tens of thousands of operators nested in
//! each other, on which naga's parser runs out of stack). A device that [`Gpu::open`] made reports what goes wrong outside
//! any call (lost, out of memory) from the next call that waits; on a caller's own device the caller's handlers stay in
//! charge.

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
#[cfg(feature = "simt")]
pub mod simt;

pub use element::{Element, ElementType, F16, Field, Scalar, Struct, Vector, VectorElement};
pub use error::{Error, ErrorKind, Result};
pub use gpu::{Adapters, Gpu, GpuOptions, LaneMap, Probe, Requirements, ShapeProbe, SubgroupPath, requirements};
pub use op::{Op, Operator};
pub use wgpu;
