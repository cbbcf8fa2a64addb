//! The buffers of one size and element type, and the check of what a primitive left in them.

use std::marker::PhantomData;

use wavelane::Gpu;
use wavelane::op::Add;
use wavelane::primitive::{Count, Predicate, Prepared, Reduce, Scan, Select};

use crate::Result;
use crate::item::{Item, Keep};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primitive {
    Reduce,
    Scan,
    Select,
}

impl Primitive {
    pub(crate) const ALL: [Self; 3] = [Self::Reduce, Self::Scan, Self::Select];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Select => "select",
        }
    }
}

/// Bytes that go to and come from the device at a time.
const CHUNK_BYTES: u64 = 64 << 20;

/// Buffers for one size and element type, the input filled. Results of every contender go to the same buffers, which
/// are wiped between them.
pub(crate) struct Case<T> {
    pub(crate) gpu: Gpu,
    pub(crate) items: u32,
    pub(crate) input: wgpu::Buffer,
    pub(crate) output: wgpu::Buffer,
    /// The result of a reduction, or how many were selected.
    pub(crate) single: wgpu::Buffer,
    element: PhantomData<T>,
}

impl<T: Item> Case<T> {
    /// Makes and fills the buffers. Tells why where this device has no room for them.
    pub(crate) fn new(gpu: &Gpu, items: u32) -> Result<Self> {
        let bytes = u64::from(items) * size_of::<T>() as u64;
        let limits = gpu.limits();
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        if bytes > most {
            return Err(format!("{bytes} bytes are more than the {most} of one binding of this device").into());
        }
        let case = Self {
            gpu: gpu.clone(),
            items,
            input: storage(gpu, "input", bytes),
            output: storage(gpu, "output", bytes),
            single: storage(gpu, "single", 16),
            element: PhantomData,
        };
        let chunk = (CHUNK_BYTES / size_of::<T>() as u64) as u32;
        let mut at = 0;
        while at < items {
            let end = at.saturating_add(chunk).min(items);
            let values: Vec<T> = (at..end).map(T::at).collect();
            gpu.queue().write_buffer(&case.input, u64::from(at) * size_of::<T>() as u64, bytemuck::cast_slice(&values));
            // Frees the staging memory before the next chunk takes some.
            gpu.queue().submit([]);
            wait(gpu)?;
            at = end;
        }
        Ok(case)
    }

    /// Our call.
    pub(crate) fn ours(&self, primitive: Primitive, keep: Keep) -> wavelane::Result<Prepared> {
        let count = Count::Host(self.items);
        let (input, output) = (self.input.slice(..), self.output.slice(..));
        match primitive {
            Primitive::Reduce => Reduce::<T>::new(&self.gpu, Add)?.prepare(input, self.single.slice(..), count),
            Primitive::Scan => Scan::<T>::inclusive(&self.gpu, Add)?.prepare(input, output, count),
            Primitive::Select => {
                let predicate = Predicate::wgsl(match keep {
                    Keep::High => T::HIGH,
                    Keep::Odd => "(x & 1u) == 1u",
                });
                Select::<T>::new(&self.gpu, predicate)?.prepare(input, output, self.single.slice(..4), count)
            }
        }
    }

    /// Wipes the results, runs `record`, and compares what it leaves with the host's answer.
    pub(crate) fn verify(
        &self,
        primitive: Primitive,
        keep: Keep,
        record: &mut dyn FnMut(&mut wgpu::CommandEncoder) -> Result<()>,
    ) -> Result<()> {
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.output, 0, None);
        encoder.clear_buffer(&self.single, 0, None);
        record(&mut encoder)?;
        self.gpu.queue().submit([encoder.finish()]);
        match primitive {
            Primitive::Reduce => {
                let expected = (0..self.items).fold(T::ZERO, |sum, i| sum.plus(T::at(i)));
                let found = self.first_of_single::<T>()?;
                check(found == expected, || format!("the sum is {found:?}, not {expected:?}"))
            }
            Primitive::Scan => {
                let (mut sum, mut i) = (T::ZERO, 0);
                self.each_output(self.items, |found| {
                    sum = sum.plus(T::at(i));
                    check(found == sum, || format!("prefix {i} is {found:?}, not {sum:?}"))?;
                    i += 1;
                    Ok(())
                })
            }
            Primitive::Select => {
                let kept = |i: &u32| match keep {
                    Keep::High => T::at(*i).is_high(),
                    Keep::Odd => bytemuck::bytes_of(&T::at(*i))[0] & 1 == 1,
                };
                let expected = (0..self.items).filter(kept).count() as u32;
                let found = self.first_of_single::<u32>()?;
                check(found == expected, || format!("the count is {found}, not {expected}"))?;
                let mut indices = (0..self.items).filter(kept);
                self.each_output(expected, |found| {
                    let expected = indices.next().map(T::at);
                    check(Some(found) == expected, || format!("a kept item is {found:?}, not {expected:?}"))
                })
            }
        }
    }

    fn first_of_single<U: bytemuck::Pod>(&self) -> Result<U> {
        let bytes = read(&self.gpu, &self.single, 0, 16)?;
        Ok(bytemuck::pod_read_unaligned(&bytes[..size_of::<U>()]))
    }

    /// Reads the first `items` items of the output, and stops at the first error.
    fn each_output(&self, items: u32, mut look: impl FnMut(T) -> Result<()>) -> Result<()> {
        let bytes = u64::from(items) * size_of::<T>() as u64;
        let mut at = 0;
        while at < bytes {
            let chunk = CHUNK_BYTES.min(bytes - at);
            let values = read(&self.gpu, &self.output, at, chunk)?;
            for value in bytemuck::allocation::pod_collect_to_vec::<u8, T>(&values) {
                look(value)?;
            }
            at += chunk;
        }
        Ok(())
    }
}

fn check(right: bool, message: impl FnOnce() -> String) -> Result<()> {
    if right { Ok(()) } else { Err(format!("WRONG RESULT: {}", message()).into()) }
}

/// A storage buffer that can be filled and read.
pub(crate) fn storage(gpu: &Gpu, label: &str, bytes: u64) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Waits until the device has nothing left to do.
pub(crate) fn wait(gpu: &Gpu) -> Result<()> {
    let timeout = Some(Gpu::DEFAULT_TIMEOUT);
    gpu.device().poll(wgpu::PollType::Wait { submission_index: None, timeout })?;
    Ok(())
}

/// Copies a range of a buffer to the host.
pub(crate) fn read(gpu: &Gpu, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>> {
    let staging = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size: bytes,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes);
    gpu.queue().submit([encoder.finish()]);
    let (sender, receiver) = std::sync::mpsc::channel();
    staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
        let _ = sender.send(mapped);
    });
    wait(gpu)?;
    receiver.try_recv()??;
    Ok(staging.get_mapped_range(..)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_right_results_pass() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let case = Case::<u32>::new(&gpu, 5_000).expect("a small case fits");
        let short = Case::<u32> { items: 4_999, ..Case::new(&gpu, 5_000).expect("a small case fits") };
        for primitive in Primitive::ALL {
            for keep in [Keep::High, Keep::Odd] {
                let call = case.ours(primitive, keep).expect("the plan is built");
                let mut encode = |encoder: &mut wgpu::CommandEncoder| {
                    call.encode(encoder);
                    Ok(())
                };
                case.verify(primitive, keep, &mut encode).expect("the result is right");
                assert!(case.verify(primitive, keep, &mut |_| Ok(())).is_err(), "{primitive:?} that does nothing");
                // The last item left out: of a selection only where it is one that is kept.
                let missing = short.ours(primitive, keep).expect("the plan is built");
                let mut encode = |encoder: &mut wgpu::CommandEncoder| {
                    missing.encode(encoder);
                    encoder.copy_buffer_to_buffer(&short.output, 0, &case.output, 0, 4 * 5_000);
                    encoder.copy_buffer_to_buffer(&short.single, 0, &case.single, 0, 16);
                    Ok(())
                };
                let last = u32::at(4_999);
                let kept = if keep == Keep::High { last.is_high() } else { last % 2 == 1 };
                let right = primitive == Primitive::Select && !kept;
                assert_eq!(case.verify(primitive, keep, &mut encode).is_ok(), right, "{primitive:?} of one item less");
            }
        }
    }
}
