//! Sweeps the sizes of our plans.

use wavelane::primitive::{Count, Prepared, Reduce, Tuning};
use wavelane::{ErrorKind, op};

use crate::Result;
use crate::case::{Case, Primitive, read};
use crate::item::{Item, Keep};
use crate::timer::{Contender, Timer, Work};

const WORKGROUPS: [u32; 4] = [128, 256, 512, 1024];
const ROWS: [u32; 5] = [1, 2, 4, 8, 16];
const MAX_GROUPS: [u32; 6] = [256, 512, 1024, 2048, 4096, 8192];
/// Items of four bytes that a lane takes at a time.
const PACK: u32 = 4;

/// Times every combination of sizes that makes a difference and gives the rows
/// `primitive,items,workgroup,rows,max_groups,ns,share_of_best`.
pub(crate) fn rows(timer: &Timer, case: &Case<u32>, primitive: Primitive) -> Result<Vec<String>> {
    let mut points = Vec::new();
    for tuning in tunings(case.items) {
        match case.ours(primitive, Keep::High, Some(tuning)) {
            Ok(call) => points.push((tuning, call)),
            Err(error) if error.kind() == ErrorKind::LimitTooSmall => {}
            Err(error) => return Err(error.into()),
        }
    }
    let expected = Checksum::expected(case, primitive);
    let summer = Reduce::<u32>::new(&case.gpu, op::Add)?;
    for (tuning, call) in &points {
        let found = Checksum::of(case, primitive, call, &summer, expected.items)?;
        if found != expected {
            return Err(format!("WRONG RESULT: {primitive:?} with {tuning:?}: {found:x?}, not {expected:x?}").into());
        }
    }
    let mut contenders: Vec<_> = points
        .iter()
        .map(|(_, call)| Contender {
            name: primitive.name().into(),
            work: Work::Pass(Box::new(|pass| call.record(pass))),
        })
        .collect();
    let times = timer.medians(&mut contenders)?;
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(points
        .iter()
        .zip(times)
        .map(|((tuning, _), ns)| {
            let Tuning { workgroup, rows, max_groups, .. } = *tuning;
            let (name, items) = (primitive.name(), case.items);
            format!("{name},{items},{workgroup},{rows},{max_groups},{ns:.0},{:.3}", best / ns)
        })
        .collect())
}

/// The sweep, without the larger of two `max_groups` where the items do not fill either: the dispatch is the same.
fn tunings(items: u32) -> impl Iterator<Item = Tuning> {
    WORKGROUPS.into_iter().flat_map(move |workgroup| {
        ROWS.into_iter().flat_map(move |rows| {
            let tiles = items.div_ceil(workgroup * rows * PACK);
            let cut = MAX_GROUPS.iter().position(|most| *most >= tiles).map_or(MAX_GROUPS.len(), |at| at + 1);
            MAX_GROUPS[..cut].iter().map(move |most| Tuning::new(workgroup, rows, *most))
        })
    })
}

/// What a result is known by without reading all of it: how many items it has, their sum, and the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Checksum {
    items: u32,
    sum: u32,
    last: u32,
}

impl Checksum {
    fn expected(case: &Case<u32>, primitive: Primitive) -> Self {
        let mut result = Self { items: 0, sum: 0, last: 0 };
        let mut push = |item: u32| {
            result = Self { items: result.items + 1, sum: result.sum.wrapping_add(item), last: item };
        };
        let mut total = 0u32;
        for item in (0..case.items).map(u32::at) {
            total = total.wrapping_add(item);
            match primitive {
                Primitive::Scan => push(total),
                Primitive::Select if item.is_high() => push(item),
                _ => {}
            }
        }
        if primitive == Primitive::Reduce {
            push(total);
        }
        result
    }

    /// Runs the call on wiped buffers. `items` is how many there should be.
    fn of(case: &Case<u32>, primitive: Primitive, call: &Prepared, summer: &Reduce<u32>, items: u32) -> Result<Self> {
        let gpu = &case.gpu;
        let sum = crate::case::storage(gpu, "checksum", 16);
        let source = if primitive == Primitive::Reduce { &case.single } else { &case.output };
        let summing = summer.prepare(source.slice(..), sum.slice(..), Count::Host(items))?;
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        encoder.clear_buffer(&case.output, 0, None);
        encoder.clear_buffer(&case.single, 0, None);
        call.encode(&mut encoder);
        summing.encode(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
        let word =
            |buffer, at| -> Result<u32> { Ok(bytemuck::pod_read_unaligned(&read(gpu, buffer, 4 * u64::from(at), 4)?)) };
        Ok(Self {
            items: if primitive == Primitive::Select { word(&case.single, 0)? } else { items },
            sum: word(&sum, 0)?,
            last: if items == 0 { 0 } else { word(source, items - 1)? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_right_results_are_as_expected() {
        let Ok(gpu) = wavelane::Gpu::open() else { return eprintln!("skipped: no adapter") };
        let case = Case::<u32>::new(&gpu, 5_000).expect("a small case fits");
        let summer = Reduce::<u32>::new(&gpu, op::Add).expect("the plan is built");
        for primitive in Primitive::ALL {
            let call = case.ours(primitive, Keep::High, None).expect("the plan is built");
            let expected = Checksum::expected(&case, primitive);
            let found = Checksum::of(&case, primitive, &call, &summer, expected.items).expect("the device works");
            assert_eq!(found, expected, "{primitive:?}");
        }
    }

    #[test]
    fn small_inputs_leave_out_equal_dispatches() {
        assert_eq!(tunings(1 << 28).count(), 120);
        assert_eq!(tunings(1 << 10).count(), 20);
    }
}
