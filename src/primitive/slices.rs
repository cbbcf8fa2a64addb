//! Slices in, values out: blocking and async calls on top of the plans.

use super::{Count, Predicate, Prepared, Reduce, Scan, Select};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Gpu;
use crate::op::Operator;

/// The usages of buffers that the slice calls make.
const INPUT: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE;
const OUTPUT: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

/// A call on slices that was submitted, and what is to be read.
struct Submitted {
    outputs: wgpu::Buffer,
    bytes: u64,
}

impl Gpu {
    /// The combination of all items; the identity of none. Uploads, runs, reads back; blocks.
    ///
    /// ```no_run
    /// use wavelane::{Gpu, op};
    /// let gpu = Gpu::open()?;
    /// assert_eq!(gpu.reduce(&[1u32, 2, 3, 4], op::Add)?, 10);
    /// # Ok::<(), wavelane::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LimitTooSmall`] for more items than one binding holds, and whatever [`Reduce::new`] and the device
    /// report.
    pub fn reduce<T: Element>(&self, items: &[T], operator: impl Into<Operator<T>>) -> Result<T> {
        let call = self.submit_reduce(items, operator.into())?;
        Ok(self.read_items(&call)?[0])
    }

    /// As [`reduce`](Self::reduce), for an async program: never polls the device, so something else must.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub async fn reduce_async<T: Element>(&self, items: &[T], operator: impl Into<Operator<T>>) -> Result<T> {
        let call = self.submit_reduce(items, operator.into())?;
        Ok(self.read_items_async(&call).await?[0])
    }

    /// All prefixes, each with its own item. Uploads, runs, reads back; blocks.
    ///
    /// ```no_run
    /// use wavelane::{Gpu, op};
    /// let gpu = Gpu::open()?;
    /// assert_eq!(gpu.scan_inclusive(&[1u32, 2, 3, 4], op::Add)?, [1, 3, 6, 10]);
    /// # Ok::<(), wavelane::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn scan_inclusive<T: Element>(&self, items: &[T], operator: impl Into<Operator<T>>) -> Result<Vec<T>> {
        let call = self.submit_scan(items, Scan::inclusive(self, operator)?)?;
        self.read_items(&call)
    }

    /// As [`scan_inclusive`](Self::scan_inclusive), for an async program: never polls the device.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub async fn scan_inclusive_async<T: Element>(
        &self,
        items: &[T],
        operator: impl Into<Operator<T>>,
    ) -> Result<Vec<T>> {
        let call = self.submit_scan(items, Scan::inclusive(self, operator)?)?;
        self.read_items_async(&call).await
    }

    /// All prefixes, each without its own item: the first is the identity. Uploads, runs, reads back; blocks.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn scan_exclusive<T: Element>(&self, items: &[T], operator: impl Into<Operator<T>>) -> Result<Vec<T>> {
        let call = self.submit_scan(items, Scan::exclusive(self, operator)?)?;
        self.read_items(&call)
    }

    /// As [`scan_exclusive`](Self::scan_exclusive), for an async program: never polls the device.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub async fn scan_exclusive_async<T: Element>(
        &self,
        items: &[T],
        operator: impl Into<Operator<T>>,
    ) -> Result<Vec<T>> {
        let call = self.submit_scan(items, Scan::exclusive(self, operator)?)?;
        self.read_items_async(&call).await
    }

    /// The items for which the predicate holds, in their order. Uploads, runs, reads back; blocks.
    ///
    /// ```no_run
    /// use wavelane::{Gpu, primitive::Predicate};
    /// let gpu = Gpu::open()?;
    /// assert_eq!(gpu.select(&[5u32, 50, 7, 70], Predicate::wgsl("x > 10u"))?, [50, 70]);
    /// # Ok::<(), wavelane::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce), and [`ErrorKind::InvalidShader`] for the predicate.
    pub fn select<T: Element>(&self, items: &[T], predicate: Predicate) -> Result<Vec<T>> {
        let (kept, count) = self.submit_select(items, predicate)?;
        let count = self.read_items::<u32>(&count)?[0];
        self.read_items(&self.first(kept, count, size_of::<T>()))
    }

    /// As [`select`](Self::select), for an async program: never polls the device.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn select_async<T: Element>(&self, items: &[T], predicate: Predicate) -> Result<Vec<T>> {
        let (kept, count) = self.submit_select(items, predicate)?;
        let count = self.read_items_async::<u32>(&count).await?[0];
        self.read_items_async(&self.first(kept, count, size_of::<T>())).await
    }

    fn submit_reduce<T: Element>(&self, items: &[T], operator: Operator<T>) -> Result<Submitted> {
        let plan = Reduce::new(self, operator)?;
        let input = self.upload(items, INPUT)?;
        let outputs = self.buffer("reduce output", size_of::<T>() as u64, OUTPUT)?;
        self.submit_call(&plan.prepare(input.slice(..), outputs.slice(..), count(items)?)?);
        Ok(Submitted { outputs, bytes: size_of::<T>() as u64 })
    }

    fn submit_scan<T: Element>(&self, items: &[T], plan: Scan<T>) -> Result<Submitted> {
        let input = self.upload(items, INPUT)?;
        let bytes = size_of_val(items) as u64;
        let outputs = self.buffer("scan output", bytes, OUTPUT)?;
        self.submit_call(&plan.prepare(input.slice(..), outputs.slice(..), count(items)?)?);
        Ok(Submitted { outputs, bytes })
    }

    fn submit_select<T: Element>(&self, items: &[T], predicate: Predicate) -> Result<(Submitted, Submitted)> {
        let plan = Select::<T>::new(self, predicate)?;
        let input = self.upload(items, INPUT)?;
        let bytes = size_of_val(items) as u64;
        let kept = self.buffer("select output", bytes, OUTPUT)?;
        let kept_count = self.buffer("select count", 4, OUTPUT)?;
        self.submit_call(&plan.prepare(input.slice(..), kept.slice(..), kept_count.slice(..), count(items)?)?);
        Ok((Submitted { outputs: kept, bytes }, Submitted { outputs: kept_count, bytes: 4 }))
    }

    fn submit_call(&self, call: &Prepared) {
        self.submit(|encoder| call.encode(encoder));
    }

    fn first(&self, kept: Submitted, count: u32, item_bytes: usize) -> Submitted {
        Submitted { bytes: u64::from(count) * item_bytes as u64, ..kept }
    }

    fn read_items<T: Element>(&self, call: &Submitted) -> Result<Vec<T>> {
        match call.bytes {
            0 => Ok(Vec::new()),
            bytes => Ok(bytemuck::pod_collect_to_vec(&self.read(&call.outputs, 0, bytes)?)),
        }
    }

    async fn read_items_async<T: Element>(&self, call: &Submitted) -> Result<Vec<T>> {
        match call.bytes {
            0 => Ok(Vec::new()),
            bytes => Ok(bytemuck::pod_collect_to_vec(&self.read_async(&call.outputs, 0, bytes).await?)),
        }
    }
}

fn count<T>(items: &[T]) -> Result<Count<'static>> {
    u32::try_from(items.len()).map(Count::Host).map_err(|_| {
        Error::new(ErrorKind::LimitTooSmall, format!("{} items are more than one call takes", items.len()))
    })
}
