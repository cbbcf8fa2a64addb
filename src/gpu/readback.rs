//! Waiting for the device, and reading from it.

use super::Gpu;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};

impl Gpu {
    /// Submits what `record` records.
    pub(crate) fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> wgpu::SubmissionIndex {
        let mut encoder =
            self.shared.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("wavelane") });
        record(&mut encoder);
        self.shared.queue.submit([encoder.finish()])
    }

    /// Waits for everything submitted so far, or until the time-out.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`], [`ErrorKind::DeviceLost`], or what wgpu reported since the last call.
    pub(crate) fn wait(&self) -> Result<()> {
        let timeout = self.shared.timeout;
        let polled = self.shared.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(timeout) });
        self.fault()?;
        match polled {
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(Error::new(
                ErrorKind::Timeout,
                format!("{} did not finish within {} s", self.shared.info.name, timeout.as_secs_f64()),
            )),
            Err(error) => Err(Error::internal(format!("waiting for the device: {error}"))),
        }
    }

    /// A new buffer that holds these items, with these usages and `COPY_DST`: what a plan reads wants `STORAGE`. No items
    /// make a buffer of 4 bytes, since a binding may not be empty.
    ///
    /// # Errors
    /// [`ErrorKind::LimitTooSmall`] over `max_buffer_size`, [`ErrorKind::OutOfMemory`],
    /// [`ErrorKind::InvalidArgument`] for usages that do not go together, and [`ErrorKind::DeviceLost`] once a call that
    /// waits has met it.
    pub fn upload<T: Element>(&self, items: &[T], usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        self.buffer_with("items", bytemuck::cast_slice(items), usage)
    }

    /// Reads a range of a buffer back as items, after everything that was submitted so far. Blocks.
    ///
    /// ```no_run
    /// # use wavelane::{Gpu, wgpu};
    /// # fn results(gpu: &Gpu, sums: &wgpu::Buffer) -> Result<(), wavelane::Error> {
    /// let sums: Vec<f32> = gpu.download(sums.slice(..))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a buffer without usage `COPY_SRC`, or a range that does not begin at a multiple
    /// of 4 bytes or is no whole number of items and of 32-bit words; [`ErrorKind::Timeout`],
    /// [`ErrorKind::DeviceLost`], or what wgpu reported since the last call.
    pub fn download<T: Element>(&self, range: wgpu::BufferSlice<'_>) -> Result<Vec<T>> {
        check_download::<T>(&range)?;
        Ok(bytemuck::pod_collect_to_vec(&self.read(range.buffer(), range.offset(), range.size())?))
    }

    /// As [`download`](Self::download), for an async program: never polls the device, so something else must.
    ///
    /// # Errors
    /// As [`download`](Self::download).
    pub async fn download_async<T: Element>(&self, range: wgpu::BufferSlice<'_>) -> Result<Vec<T>> {
        check_download::<T>(&range)?;
        Ok(bytemuck::pod_collect_to_vec(&self.read_async(range.buffer(), range.offset(), range.size()).await?))
    }

    /// Copies `bytes` from `offset` of `buffer` (usage `COPY_SRC`) to the host. Blocks.
    pub(crate) fn read(&self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        if self.is_cpu() {
            // lavapipe holds a submission up until the one before it has ended, for longer than the time-out.
            self.wait()?;
        }
        let staging = self.start_read(buffer, offset, bytes)?;
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
            let _ = sender.send(mapped);
        });
        self.wait()?;
        // Another thread that polls may have taken the callback, and not called it yet.
        match receiver.recv_timeout(self.shared.timeout) {
            Ok(Ok(())) => finish_read(&staging, bytes),
            Ok(Err(error)) => Err(lost(error)),
            Err(_) => Err(Error::internal("a buffer was not mapped though the device is idle")),
        }
    }

    /// As [`read`](Self::read), but waits for whoever polls the device.
    pub(crate) async fn read_async(&self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        let staging = self.start_read(buffer, offset, bytes)?;
        let (sender, receiver) = oneshot();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| sender.send(mapped));
        let mapped = receiver.await;
        if mapped.is_err() {
            // A device that was destroyed says so when it is polled.
            let _ = self.shared.device.poll(wgpu::PollType::Poll);
        }
        self.fault()?;
        mapped.map_err(lost)?;
        finish_read(&staging, bytes)
    }

    fn start_read(&self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<wgpu::Buffer> {
        let staging = self.buffer("readback", bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?;
        self.submit(|encoder| encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes.next_multiple_of(4)));
        Ok(staging)
    }
}

fn check_download<T: Element>(range: &wgpu::BufferSlice<'_>) -> Result<()> {
    let (usage, offset, bytes) = (range.buffer().usage(), range.offset(), range.size());
    if size_of::<T>() == 0 {
        return Err(Error::argument(format!("{} has no bytes to be read", T::TYPE.wgsl())));
    }
    if !usage.contains(wgpu::BufferUsages::COPY_SRC) {
        return Err(Error::argument(format!("the buffer was made without usage COPY_SRC (it has {usage:?})")));
    }
    if offset % 4 != 0 {
        return Err(Error::argument(format!("the range begins at byte {offset}, which is no multiple of 4")));
    }
    if bytes % size_of::<T>() as u64 != 0 || bytes % 4 != 0 {
        return Err(Error::argument(format!(
            "the range has {bytes} bytes, which is no whole number of {} of {} bytes, or of 32-bit words",
            T::TYPE.wgsl(),
            size_of::<T>()
        )));
    }
    Ok(())
}

fn lost(error: wgpu::BufferAsyncError) -> Error {
    Error::new(ErrorKind::DeviceLost, format!("a result could not be mapped: {error}"))
}

fn finish_read(staging: &wgpu::Buffer, bytes: u64) -> Result<Vec<u8>> {
    let view = staging
        .get_mapped_range(..)
        .map_err(|error| Error::internal(format!("a mapped buffer could not be read: {error}")))?;
    Ok(view[..bytes as usize].to_vec())
}

/// A channel for one value whose receiver is a future: the one place where the crate needs async without an executor.
fn oneshot<T>() -> (Sender<T>, Receiver<T>) {
    let slot = std::sync::Arc::new(std::sync::Mutex::new(Slot { value: None, waker: None }));
    (Sender(slot.clone()), Receiver(slot))
}

struct Slot<T> {
    value: Option<T>,
    waker: Option<std::task::Waker>,
}

struct Sender<T>(std::sync::Arc<std::sync::Mutex<Slot<T>>>);
struct Receiver<T>(std::sync::Arc<std::sync::Mutex<Slot<T>>>);

impl<T> Sender<T> {
    fn send(self, value: T) {
        let mut slot = self.0.lock().unwrap_or_else(|e| e.into_inner());
        slot.value = Some(value);
        if let Some(waker) = slot.waker.take() {
            waker.wake();
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = T;

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<T> {
        let mut slot = self.0.lock().unwrap_or_else(|e| e.into_inner());
        match slot.value.take() {
            Some(value) => std::task::Poll::Ready(value),
            None => {
                slot.waker = Some(cx.waker().clone());
                std::task::Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader;

    #[test]
    fn uploads_that_do_not_fill_words_or_fit_no_use() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let halves = [crate::F16(1), crate::F16(2), crate::F16(0x7fff)];
        let buffer = gpu.upload(&halves, wgpu::BufferUsages::COPY_SRC).expect("three halves");
        assert_eq!(gpu.download::<u32>(buffer.slice(..)).expect("two words"), [0x0002_0001, 0x7fff]);
        let error =
            gpu.upload(&[1u32], wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE).expect_err("no such");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("MAP_READ"), "{error}");
        assert_eq!(gpu.reduce(&[1u32, 2], crate::op::Add).expect("the device is unharmed"), 3);
    }

    #[test]
    fn what_is_uploaded_comes_back() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let copied = wgpu::BufferUsages::COPY_SRC;
        let buffer = gpu.upload(&[1u32, 2, 3, 4, 5], copied).expect("five words fit");
        assert_eq!(gpu.download::<u32>(buffer.slice(..)).expect("a whole buffer"), [1, 2, 3, 4, 5]);
        assert_eq!(gpu.download::<[u32; 2]>(buffer.slice(4..)).expect("two pairs"), [[2, 3], [4, 5]]);
        let refused = |range, part: &str| {
            let error = gpu.download::<[u32; 2]>(range).expect_err(part);
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(part), "{error}");
        };
        refused(buffer.slice(..), "20 bytes, which is no whole number of vec2<u32> of 8 bytes");
        refused(buffer.slice(2..10), "byte 2");
        let write_only = gpu.upload(&[0u32; 2], wgpu::BufferUsages::STORAGE).expect("two words fit");
        refused(write_only.slice(..), "COPY_SRC");
        assert_eq!(gpu.upload::<u32>(&[], copied).expect("nothing fits").size(), 4);
        let error = gpu.download::<Nothing>(buffer.slice(..)).expect_err("no bytes, no number of items");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }

    /// What a caller can write who implements [`Element`] without the macro.
    #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Nothing;

    impl Element for Nothing {
        const TYPE: crate::ElementType =
            crate::ElementType::Struct(crate::Struct { name: "Nothing", fields: &[], bytes: 0 });
    }

    #[test]
    fn an_entry_point_that_is_not_there_is_named() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let kernel = "@compute @workgroup_size(WORKGROUP) fn here(place: Place) { sg_begin(place); }
            @vertex fn drawn() -> @builtin(position) vec4<f32> { return vec4<f32>(); }";
        let kernel = shader::library(&gpu, 32, &[]).and_then(|l| l.with_kernel("here.wgsl", kernel)).expect("valid");
        assert!(gpu.compute_pipeline(&kernel, "here").is_ok());
        for other in ["there", "drawn"] {
            let error = gpu.compute_pipeline(&kernel, other).expect_err("it has another name, or is none of compute");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(&format!("no entry point '{other}'; it has here")), "{error}");
        }
    }
}
