//! Waiting for the device, and reading from it.

use super::Gpu;
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

    /// Copies `bytes` from `offset` of `buffer` (usage `COPY_SRC`) to the host. Blocks.
    pub(crate) fn read(&self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        let staging = self.start_read(buffer, offset, bytes)?;
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
            let _ = sender.send(mapped);
        });
        self.wait()?;
        match receiver.try_recv() {
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
