//! How fast this device moves memory at best.

use super::{Contender, Sampler, Samples};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Gpu;
use crate::shader::Checks;

/// The copy ceiling and the read ceiling of a device, for figures to be shares of.
///
/// Each is the best of a fixed sweep of kernels (four or eight vec4 loads in flight, at a stride of the whole grid or
/// in one span a workgroup, workgroups of 256 to 1,024, grids of different sizes; on a CPU driver the smaller of them),
/// timed in the same way as everything else here: the whole pass, overhead included. The results of every kernel of the
/// sweep are verified before it is timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// Items of four bytes that were read, or copied: what was asked for, cut to what fits into one binding of this
    /// device.
    pub items: u64,
    /// Reading: the kernels store one word a workgroup.
    pub read: Ceiling,
    /// Copying: bytes read and bytes written are both counted.
    pub copy: Ceiling,
}

/// The fastest kernel of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Which kernel (`read8`: eight loads in flight), over which grid.
    pub kernel: String,
    /// Bytes moved a run.
    pub bytes: u64,
    /// Its times, sampled again after it had won the sweep.
    pub samples: Samples,
}

impl Ceiling {
    /// Median throughput in 10^9 bytes a second.
    pub fn gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.samples.median()
    }

    /// The throughput of each sample.
    pub fn gb_per_s_samples(&self) -> Vec<f64> {
        self.samples.ns.iter().map(|ns| self.bytes as f64 / ns).collect()
    }
}

/// Item i is `ITEM_FACTOR * i + ITEM_ADDEND`.
pub(crate) const ITEM_FACTOR: u32 = 0x9e37_79b1;
pub(crate) const ITEM_ADDEND: u32 = 0x85eb_ca77;

const WORKGROUPS: [u32; 3] = [256, 512, 1_024];
/// Invocations of the grids: from what fills a CPU driver to several times what a large GPU holds at once.
const GRIDS: [u32; 5] = [1 << 12, 1 << 16, 1 << 18, 1 << 19, 1 << 20];
/// A grid that is good enough everywhere, for what is not timed.
const PLAIN: Shape = Shape { workgroup: WORKGROUPS[0], workgroups: 256 };

impl Ceilings {
    /// Measures both ceilings over `items` items of four bytes, fewer where the device's buffers are smaller. Takes
    /// twice their memory while it runs.
    ///
    /// Ask for at least four times the last cache's size to measure memory, for less to measure the cache.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for fewer than four items, [`ErrorKind::LimitTooSmall`] where workgroups of 256
    /// are too large, [`ErrorKind::OutOfMemory`] where the device has no room, [`ErrorKind::WrongResult`] where a
    /// kernel did not move what it should.
    pub fn measure(sampler: &Sampler, items: u64) -> Result<Self> {
        let sweep = Sweep::new(sampler.gpu(), items)?;
        sweep.verify(sampler.gpu())?;
        let all: Vec<_> = sweep.reads.iter().chain(&sweep.copies).map(Kernel::contender).collect();
        let times = sampler.sample(&all)?;
        let (read_times, copy_times) = times.split_at(sweep.reads.len());
        let (read, copy) = (fastest(&sweep.reads, read_times), fastest(&sweep.copies, copy_times));
        // The best of many medians is low by luck too: the winners' figures come from samples of their own.
        let again = sampler.sample(&[read.contender(), copy.contender()])?;
        let ceiling = |kernel: &Kernel, bytes, samples: &Samples| Ceiling {
            kernel: kernel.name.clone(),
            bytes,
            samples: samples.clone(),
        };
        let bytes = 4 * sweep.items;
        Ok(Self {
            items: sweep.items,
            read: ceiling(read, bytes, &again[0]),
            copy: ceiling(copy, 2 * bytes, &again[1]),
        })
    }
}

fn fastest<'a>(kernels: &'a [Kernel], times: &[Samples]) -> &'a Kernel {
    let medians: Vec<f64> = times.iter().map(Samples::median).collect();
    let best = (0..kernels.len()).min_by(|a, b| medians[*a].total_cmp(&medians[*b])).unwrap_or(0);
    &kernels[best]
}

/// The kernels of the sweep, neither list empty.
struct Sweep {
    items: u64,
    output: wgpu::Buffer,
    sums: wgpu::Buffer,
    /// Writes the items.
    fill: Kernel,
    reads: Vec<Kernel>,
    copies: Vec<Kernel>,
    /// Reads what the copies wrote.
    read_back: Kernel,
}

impl Sweep {
    fn new(gpu: &Gpu, items: u64) -> Result<Self> {
        let limits = gpu.limits();
        let largest = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        if largest < WORKGROUPS[0] {
            return Err(Error::limit(
                "the smallest workgroup of the sweep",
                WORKGROUPS[0].into(),
                largest.into(),
                "max_compute_invocations_per_workgroup",
            ));
        }
        // Below 2^31 items, so that indices with a few strides added stay below 2^32.
        let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(1 << 32);
        let vectors = (items / 4).min(room / 16);
        if vectors == 0 {
            return Err(Error::argument(format!("a ceiling needs at least 4 items, not {items}")));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let params = gpu.buffer_with("ceiling", bytemuck::bytes_of(&(vectors as u32)), wgpu::BufferUsages::UNIFORM)?;
        let input = gpu.buffer("ceiling input", vectors * 16, storage)?;
        let output = gpu.buffer("ceiling output", vectors * 16, storage | wgpu::BufferUsages::COPY_DST)?;
        let sums = gpu.buffer(
            "ceiling sums",
            u64::from(GRIDS[GRIDS.len() - 1] / WORKGROUPS[0]) * 4,
            storage | wgpu::BufferUsages::COPY_SRC,
        )?;
        let reading = [(0, &params), (1, &input), (3, &sums)];
        let copying = [(0, &params), (1, &input), (2, &output)];
        let (mut reads, mut copies) = (Vec::new(), Vec::new());
        // A CPU driver gains nothing from larger shapes, and takes seconds for the whole sweep.
        let (sizes, grids) = if gpu.is_cpu() { (&WORKGROUPS[..1], &GRIDS[..2]) } else { (&WORKGROUPS[..], &GRIDS[..]) };
        for &workgroup in sizes.iter().filter(|size| **size <= largest) {
            for &grid in grids {
                // More invocations than vectors would idle; the smallest grid is always there.
                if grid == GRIDS[0] || u64::from(grid) <= vectors {
                    let shape = Shape { workgroup, workgroups: grid / workgroup };
                    for entry in ["read4", "read8", "read_span8"] {
                        reads.push(Kernel::new(gpu, entry, shape, &reading)?);
                    }
                    for entry in ["copy4", "copy8", "copy_span8"] {
                        copies.push(Kernel::new(gpu, entry, shape, &copying)?);
                    }
                }
            }
        }
        Ok(Self {
            items: 4 * vectors,
            fill: Kernel::new(gpu, "fill", PLAIN, &[(0, &params), (2, &input)])?,
            reads,
            copies,
            read_back: Kernel::new(gpu, "read4", PLAIN, &[(0, &params), (1, &output), (3, &sums)])?,
            output,
            sums,
        })
    }

    /// Runs every kernel once and compares the sum of what it moved with the sum of all items.
    fn verify(&self, gpu: &Gpu) -> Result<()> {
        gpu.submit(|encoder| self.fill.record(&mut encoder.begin_compute_pass(&Default::default())));
        for read in &self.reads {
            gpu.submit(|encoder| read.record(&mut encoder.begin_compute_pass(&Default::default())));
            self.verify_sums(gpu, read, read)?;
        }
        for copy in &self.copies {
            gpu.submit(|encoder| {
                encoder.clear_buffer(&self.output, 0, None);
                let mut pass = encoder.begin_compute_pass(&Default::default());
                copy.record(&mut pass);
                self.read_back.record(&mut pass);
            });
            self.verify_sums(gpu, copy, &self.read_back)?;
        }
        Ok(())
    }

    /// Compares the sums that `reader` stored of what `kernel` moved.
    fn verify_sums(&self, gpu: &Gpu, kernel: &Kernel, reader: &Kernel) -> Result<()> {
        let bytes = gpu.read(&self.sums, 0, 4 * u64::from(reader.workgroups))?;
        let sum = bytemuck::pod_collect_to_vec::<u8, u32>(&bytes).into_iter().fold(0, u32::wrapping_add);
        let expected = sum_of_items(self.items);
        if sum == expected {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::WrongResult,
            format!(
                "{} over {} items moved items that sum to {sum:#010x}, not to {expected:#010x}",
                kernel.name, self.items
            ),
        ))
    }
}

#[derive(Clone, Copy)]
struct Shape {
    workgroup: u32,
    workgroups: u32,
}

/// One kernel with its buffers bound.
struct Kernel {
    name: String,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    workgroups: u32,
}

impl Kernel {
    fn new(gpu: &Gpu, entry: &str, shape: Shape, bindings: &[(u32, &wgpu::Buffer)]) -> Result<Self> {
        let Shape { workgroup, workgroups } = shape;
        let text = format!(
            "const WORKGROUP = {workgroup}u;\nconst ITEM_FACTOR = {ITEM_FACTOR}u;\nconst ITEM_ADDEND = {ITEM_ADDEND}u;\n{}",
            include_str!("../../shaders/measure/ceiling.wgsl")
        );
        let pipeline = gpu.pipeline("ceiling", &text, entry, Checks::Trusted)?;
        let entries: Vec<_> = bindings
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("ceiling"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Ok(Self { name: format!("{entry}, {workgroups} workgroups of {workgroup}"), pipeline, group, workgroups })
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.workgroups, 1, 1);
    }

    fn contender(&self) -> Contender<'_> {
        Contender::new(&self.name, |pass| self.record(pass))
    }
}

/// The wrapped sum of `ITEM_FACTOR * i + ITEM_ADDEND` over i below `items`.
pub(crate) fn sum_of_items(items: u64) -> u32 {
    let indices = (u128::from(items) * u128::from(items.saturating_sub(1)) / 2) as u32;
    ITEM_FACTOR.wrapping_mul(indices).wrapping_add(ITEM_ADDEND.wrapping_mul(items as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Effort;

    #[test]
    fn the_sum_of_items_by_definition() {
        for items in [0u64, 1, 2, 3, 1_000, 65_537] {
            let sum = (0..items as u32)
                .fold(0u32, |sum, i| sum.wrapping_add(ITEM_FACTOR.wrapping_mul(i).wrapping_add(ITEM_ADDEND)));
            assert_eq!(sum_of_items(items), sum, "{items}");
        }
    }

    #[test]
    fn kernels_move_every_item_at_awkward_counts() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        for items in [4, 4 * 4_095, 4 * 4_097, 4 * 65_537, 1_000_003] {
            let sweep = Sweep::new(&gpu, items).expect("a small sweep fits");
            assert_eq!(sweep.items, items / 4 * 4);
            sweep.verify(&gpu).expect("every kernel moves every item");
        }
        assert_eq!(Sweep::new(&gpu, 3).err().map(|e| e.kind()), Some(ErrorKind::InvalidArgument));
    }

    #[test]
    fn a_kernel_that_misses_an_item_is_caught() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let mut sweep = Sweep::new(&gpu, 4 * 5_000).expect("a small sweep fits");
        sweep.verify(&gpu).expect("every kernel moves every item");
        sweep.items -= 1;
        assert_eq!(sweep.verify(&gpu).map_err(|e| e.kind()), Err(ErrorKind::WrongResult));
    }

    #[test]
    fn both_ceilings_come_out() {
        let Ok(gpu) = Gpu::open() else { return eprintln!("skipped: no adapter") };
        let sampler = Sampler::new(&gpu, Effort::Quick).expect("a device that opens runs the load kernel");
        let ceilings = Ceilings::measure(&sampler, 1 << 16).expect("a small sweep fits");
        assert_eq!((ceilings.read.bytes, ceilings.copy.bytes), (1 << 18, 1 << 19));
        for ceiling in [&ceilings.read, &ceilings.copy] {
            assert!(ceiling.gb_per_s() > 0.0 && ceiling.gb_per_s().is_finite(), "{ceiling:?}");
            assert_eq!(ceiling.gb_per_s_samples().len(), ceiling.samples.ns.len());
        }
        assert!(ceilings.read.kernel.starts_with("read") && ceilings.copy.kernel.starts_with("copy"));
    }
}
