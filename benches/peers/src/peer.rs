//! lampshade, at its fastest.
//!
//! Its recording calls (`record_reduce`, `record_scan`, `record_mask`, `record_compact`) go into an encoder of ours, so
//! that only the GPU's work is timed; scratch memory grows in the first, unsampled call. It works on u32 only.
//!
//! Its scan has a subgroup path and a portable one, and which is faster depends on the device: both are verified and
//! timed, and the faster is reported. Its reduction has one path, by workgroup memory. It selects by a mask: making the
//! mask and compacting by it is the work that our selection does; compacting by a mask that is already there is less.

use std::cell::RefCell;

use lampshade::{Compactor, Context, MaskGenerator, Reducer, Scanner, U32Predicate, U32Reduction};
use wavelane::Gpu;

use crate::Result;
use crate::case::{Case, Primitive, storage};
use crate::timer::Encode;

const NAME: &str = "lampshade 0.13";

/// One way of the peer's to do the work.
pub(crate) struct Way<'a> {
    /// Ways that do the same work: of these the fastest is reported.
    pub(crate) group: &'static str,
    pub(crate) name: String,
    pub(crate) record: Box<Encode<'a>>,
}

/// Every way there is.
pub(crate) fn ways<'a>(case: &'a Case<u32>, primitive: Primitive) -> Result<Vec<Way<'a>>> {
    let gpu = &case.gpu;
    let context =
        Context { adapter_info: gpu.info().clone(), device: gpu.device().clone(), queue: gpu.queue().clone() };
    let way = |group, name: &str, record| Way { group, name: format!("{NAME} ({name})"), record };
    let mut ways = Vec::new();
    match primitive {
        Primitive::Reduce => {
            let mut reducer = Reducer::from_context(&context);
            let record: Box<Encode<'a>> = Box::new(move |encoder| {
                Ok(reducer.record_reduce(encoder, &case.input, &case.single, case.items, U32Reduction::Sum)?)
            });
            ways.push(way("reduce", "reduce by workgroup memory", record));
        }
        Primitive::Scan => {
            let scanners = [
                ("scan; portable path", Some(Scanner::new(&context.device, &context.queue))),
                ("scan; subgroup path", has_subgroup_path(gpu).then(|| Scanner::from_context(&context))),
            ];
            for (name, scanner) in scanners {
                let Some(mut scanner) = scanner else { continue };
                let record: Box<Encode<'a>> =
                    Box::new(move |encoder| Ok(scanner.record_scan(encoder, &case.input, &case.output, case.items)?));
                ways.push(way("scan", name, record));
            }
        }
        Primitive::Select => {
            let mask = storage(gpu, "mask", MaskGenerator::mask_buffer_size(case.items)?);
            let high = U32Predicate::GreaterThanOrEqual(1 << 31);
            let generator = std::rc::Rc::new(MaskGenerator::from_context(&context));
            // Fills the mask once: it stays as it is, for the ways that take it as given.
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            generator.record_mask(&mut encoder, &case.input, &mask, case.items, high)?;
            gpu.queue().submit([encoder.finish()]);
            let compactors = [
                ("portable path", Some(Compactor::new(&context.device, &context.queue))),
                ("subgroup path", has_subgroup_path(gpu).then(|| Compactor::from_context(&context))),
            ];
            for (path, compactor) in compactors {
                let Some(compactor) = compactor else { continue };
                // One compactor for both ways: it keeps as much scratch memory as the mask takes.
                let compactor = std::rc::Rc::new(RefCell::new(compactor));
                for masked in [true, false] {
                    let (compactor, mask, generator) = (compactor.clone(), mask.clone(), generator.clone());
                    let record: Box<Encode<'a>> = Box::new(move |encoder| {
                        if masked {
                            generator.record_mask(encoder, &case.input, &mask, case.items, high)?;
                        }
                        let mut compactor = compactor.borrow_mut();
                        let (output, count) = (&case.output, &case.single);
                        Ok(compactor.record_compact(encoder, &case.input, &mask, output, count, case.items)?)
                    });
                    let group = if masked { "mask and compact" } else { "compact by a mask given" };
                    ways.push(way(group, &format!("{group}; {path}"), record));
                }
            }
        }
    }
    Ok(ways)
}

/// Where `from_context` chooses subgroups: lampshade keeps them off on integrated NVIDIA devices under Vulkan.
fn has_subgroup_path(gpu: &Gpu) -> bool {
    let info = gpu.info();
    let integrated_nvidia = info.backend == wgpu::Backend::Vulkan
        && info.vendor == 0x10de
        && info.device_type == wgpu::DeviceType::IntegratedGpu;
    gpu.features().contains(wgpu::Features::SUBGROUP) && !integrated_nvidia
}
