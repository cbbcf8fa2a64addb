//! Building, launching and checking the lab's kernels.

use super::Bench;
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Contender, Samples};
use crate::shader::Checks;

/// The checks of the lab's own kernels, as their rows say.
pub(super) const CHECKS: Checks = Checks::Trusted;

impl Bench<'_> {
    /// Invocations of a workgroup of the lab's kernels.
    pub(super) fn workgroup(&self) -> u32 {
        let limits = self.gpu.limits();
        let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        // The largest power of two: patterns of runs then never cross a workgroup in the middle of a run.
        256.min(1 << most.max(1).ilog2())
    }

    /// Workgroups of a timed dispatch: enough to fill any GPU many times over, so that no tail shows; few on a CPU
    /// driver, whose two to a hundred threads are filled by less.
    pub(super) fn groups(&self) -> u32 {
        if self.gpu.is_cpu() { 64 } else { 4096 }
    }

    /// Invocations of a timed dispatch.
    pub(super) fn invocations(&self) -> u32 {
        self.workgroup() * self.groups()
    }

    /// The pipeline of a kernel of shaders/lab: arms.wgsl and what `prelude` declares go before its text.
    pub(super) fn pipeline(&self, entry: &str, prelude: &str, text: &str) -> Result<wgpu::ComputePipeline> {
        self.pipeline_of(self.workgroup(), entry, prelude, text)
    }

    /// As [`pipeline`](Self::pipeline), with workgroups of another size.
    pub(super) fn pipeline_of(
        &self,
        workgroup: u32,
        entry: &str,
        prelude: &str,
        text: &str,
    ) -> Result<wgpu::ComputePipeline> {
        let arms = include_str!("../../shaders/lab/arms.wgsl");
        let text = format!("const WORKGROUP = {workgroup}u;\n{arms}\n{prelude}\n{text}");
        self.gpu.pipeline(entry, &text, entry, CHECKS)
    }

    /// A buffer of one word for each of `count` invocations.
    pub(super) fn words(&self, label: &str, count: u32) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        self.gpu.buffer(label, u64::from(count) * 4, usage)
    }

    /// A buffer that holds these words.
    pub(super) fn words_with(&self, label: &str, words: &[u32]) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        self.gpu.buffer_with(label, bytemuck::cast_slice(words), usage)
    }

    /// A uniform buffer that holds a kernel's `Params`.
    pub(super) fn params(&self, params: &[u32]) -> Result<wgpu::Buffer> {
        let mut padded = params.to_vec();
        padded.resize(params.len().next_multiple_of(4), 0);
        self.gpu.buffer_with("params", bytemuck::cast_slice(&padded), wgpu::BufferUsages::UNIFORM)
    }

    /// A dispatch of `groups` workgroups with these buffers at these bindings.
    pub(super) fn launch(
        &self,
        pipeline: &wgpu::ComputePipeline,
        buffers: &[(u32, &wgpu::Buffer)],
        groups: u32,
    ) -> Launch {
        self.launch_grid(pipeline, buffers, [groups, 1, 1])
    }

    /// A dispatch of a grid of up to three dimensions with these buffers at these bindings.
    pub(super) fn launch_grid(
        &self,
        pipeline: &wgpu::ComputePipeline,
        buffers: &[(u32, &wgpu::Buffer)],
        grid: [u32; 3],
    ) -> Launch {
        let entries: Vec<_> = buffers
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = self.gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("lab"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Launch { pipeline: pipeline.clone(), group, size: Size::Groups(grid) }
    }

    /// Runs `record` once in a pass of its own and waits.
    pub(super) fn run_once(&self, record: impl FnOnce(&mut wgpu::ComputePass<'_>)) -> Result<()> {
        self.gpu.submit(|encoder| record(&mut encoder.begin_compute_pass(&Default::default())));
        self.gpu.wait()
    }

    /// The first `count` words of a buffer.
    pub(super) fn read_words(&self, buffer: &wgpu::Buffer, count: u32) -> Result<Vec<u32>> {
        Ok(bytemuck::pod_collect_to_vec(&self.gpu.read(buffer, 0, u64::from(count) * 4)?))
    }

    /// Runs `record` once over zeroed `results` and compares a sample of them (both ends and the stretch between)
    /// with `expected`, which gives 0 for what must stay untouched. The sample is small because the comparison runs
    /// at the trip counts that are timed.
    pub(super) fn verify(
        &self,
        what: &str,
        results: &wgpu::Buffer,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>),
        expected: impl Fn(u32) -> u32,
    ) -> Result<()> {
        self.gpu.submit(|encoder| {
            encoder.clear_buffer(results, 0, None);
            record(&mut encoder.begin_compute_pass(&Default::default()));
        });
        let count = (results.size() / 4) as u32;
        let got = self.read_words(results, count)?;
        for index in sampled(count) {
            let (got, want) = (got[index as usize], expected(index));
            if got != want {
                return Err(Error::new(
                    ErrorKind::WrongResult,
                    format!(
                        "{what}: invocation {index} of {count} gave {got:#010x} on {}, the host computes {want:#010x}",
                        self.gpu.info().name
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Samples these launches against each other.
    ///
    /// The first launch also runs once more ahead of each round, for nothing: after the pause in which a round's times
    /// are read, the first pass of the next is up to a tenth slower on a CPU driver.
    pub(super) fn sample(&self, launches: &[(String, Launch)]) -> Result<Vec<Samples>> {
        let Some(first) = launches.first() else { return Ok(vec![]) };
        let ahead = std::iter::once(first).chain(launches);
        let contenders: Vec<_> = ahead.map(|(name, launch)| Contender::new(name, |pass| launch.record(pass))).collect();
        let mut samples = self.sampler.sample(&contenders)?;
        samples.remove(0);
        Ok(samples)
    }
}

/// A grid of at least `groups` workgroups of which no dimension is longer than `limit`: one row while it fits, else
/// rows as equal as possible.
pub(super) fn fold(groups: u32, limit: u32) -> [u32; 3] {
    let rows = groups.div_ceil(limit.max(1)).max(1);
    [groups.div_ceil(rows), rows, 1]
}

/// The invocations whose results are compared: the first 64, the last 128 (where a guard cuts) and 64 between.
fn sampled(count: u32) -> impl Iterator<Item = u32> {
    let step = (count / 64).max(1);
    // An odd offset inside each stretch, so that not all of them are a subgroup's first lane.
    let between = (0..count).step_by(step as usize).enumerate().map(move |(i, at)| at + (i as u32 * 7 + 3) % step);
    // The last stretch may be cut short.
    let between = between.filter(move |index| *index < count);
    (0..count.min(64)).chain(between).chain(count.saturating_sub(128)..count)
}

/// A kernel with its buffers and the size of its grid: what is dispatched.
#[derive(Debug)]
pub(super) struct Launch {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    size: Size,
}

#[derive(Debug)]
enum Size {
    Groups([u32; 3]),
    /// Dispatch arguments at this byte offset.
    Indirect(wgpu::Buffer, u64),
}

impl Launch {
    /// The same kernel, with the size of its grid read from the device's memory.
    pub(super) fn indirect(self, arguments: &wgpu::Buffer, offset: u64) -> Self {
        Self { size: Size::Indirect(arguments.clone(), offset), ..self }
    }

    /// Records the dispatch.
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        match &self.size {
            Size::Groups([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Size::Indirect(arguments, offset) => pass.dispatch_workgroups_indirect(arguments, *offset),
        }
    }
}

/// Records these dispatches one after the other.
pub(super) fn record_all(launches: &[Launch], pass: &mut wgpu::ComputePass<'_>) {
    for launch in launches {
        launch.record(pass);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_grid_holds_every_workgroup_and_few_more() {
        for (groups, limit) in [(1, 65_535), (65_535, 65_535), (65_536, 65_535), (1 << 20, 65_535), (1000, 7)] {
            let [x, y, z] = fold(groups, limit);
            assert!(x <= limit && z == 1, "{groups}");
            assert!((groups..groups + y).contains(&(x * y)), "{groups}: {x} x {y}");
        }
    }

    #[test]
    fn the_sample_is_in_range_and_holds_both_ends() {
        for count in [1, 64, 100, 4096, 11_594, 1 << 20] {
            let sample: Vec<_> = sampled(count).collect();
            assert!(sample.iter().all(|index| *index < count), "{count}");
            assert!(sample.contains(&0) && sample.contains(&(count - 1)), "{count}");
        }
    }
}
