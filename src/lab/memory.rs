//! Large buffers for the experiments about memory: their size, contents and verification.

use super::Bench;
use super::oracle::scramble;
use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Effort, Samples};
use crate::report::Row;

/// Workgroups of the kernel that fills a buffer.
const FILL_GROUPS: u32 = 1024;

/// The share of a time that the start of workgroups may take before the time says nothing about anything else.
const MOST_LAUNCH_SHARE: f64 = 1.0 / 3.0;

impl Bench<'_> {
    /// Words of a buffer that is several times larger than any last-level cache, a power of two; small on a CPU
    /// driver, where no figure of memory is judged.
    pub(super) fn memory_words(&self) -> u32 {
        let limits = self.gpu.limits();
        let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) / 4;
        let wanted: u64 = match (self.gpu.info().device_type, self.effort) {
            (wgpu::DeviceType::Cpu, _) => 1 << 16,
            // 1 GiB or 512 MiB: four times 100 MiB and more.
            (wgpu::DeviceType::DiscreteGpu, Effort::Full) => 1 << 28,
            (wgpu::DeviceType::DiscreteGpu, Effort::Quick) => 1 << 27,
            // Shares the host's memory, and has a small cache.
            _ => 1 << 25,
        };
        1 << wanted.min(room.max(1)).ilog2()
    }

    /// A buffer of `count` words, of which word i is `scramble(i) & mask`.
    pub(super) fn filled_words(&self, label: &str, count: u32, mask: u32) -> Result<wgpu::Buffer> {
        self.filled("fill_words", label, count, mask)
    }

    /// A buffer of `count` floats, of which number i is [`float_at`].
    pub(super) fn filled_floats(&self, label: &str, count: u32, mask: u32) -> Result<wgpu::Buffer> {
        self.filled("fill_floats", label, count, mask)
    }

    fn filled(&self, entry: &str, label: &str, count: u32, mask: u32) -> Result<wgpu::Buffer> {
        let pipeline = self.pipeline(entry, "", include_str!("../../shaders/lab/fill.wgsl"))?;
        let buffer = self.words(label, count)?;
        let params = self.params(&[count, mask])?;
        let launch = self.launch(&pipeline, &[(0, &buffer), (1, &params)], FILL_GROUPS);
        self.run_once(|pass| launch.record(pass))?;
        Ok(buffer)
    }

    /// As [`verify`](Self::verify), for buffers too large to be read in whole: compares stretches at both ends and
    /// between.
    pub(super) fn verify_stretches(
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
        for (first, length) in stretches(count) {
            let bytes = self.gpu.read(results, u64::from(first) * 4, u64::from(length) * 4)?;
            let got: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
            for (index, got) in (first..).zip(got) {
                let want = expected(index);
                if got != want {
                    return Err(Error::new(
                        ErrorKind::WrongResult,
                        format!(
                            "{what}: word {index} of {count} is {got:#010x} on {}, the host computes {want:#010x}",
                            self.gpu.info().name
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// What share of these times the start of `groups` workgroups takes by itself.
    pub(super) fn launch_share(&self, groups: u32, samples: &Samples) -> Result<f64> {
        Ok(self.sampler.launch_ns_per_workgroup()? * f64::from(groups) / samples.median())
    }
}

/// Number i of a buffer of floats: whole, from 0 to the mask.
pub(super) fn float_at(index: u32, mask: u32) -> f32 {
    (scramble(index) & mask) as f32
}

/// The start and the length of the stretches that are compared of `count` words.
fn stretches(count: u32) -> impl Iterator<Item = (u32, u32)> {
    const STRETCHES: u32 = 8;
    let length = count.clamp(1, 64);
    let last = count - length;
    // Between the ends at places that are no multiple of anything.
    (0..=STRETCHES).map(move |i| {
        let at = u64::from(last) * u64::from(i) / u64::from(STRETCHES);
        (if i == 0 || i == STRETCHES { at as u32 } else { (at as u32).saturating_sub(i * 7) }, length)
    })
}

impl Row {
    /// Keeps this row from being judged where the start of the workgroups takes too large a share of its times.
    pub(super) fn unless_launch_bound(self, share: f64) -> Self {
        if share > MOST_LAUNCH_SHARE {
            self.missing(&format!(
                "the start of the workgroups alone takes {:.0} % of this time, so it says little of anything else",
                100.0 * share
            ))
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_in_range_and_reach_both_ends() {
        for count in [1, 63, 64, 65, 1000, 1 << 28] {
            let all: Vec<_> = stretches(count).collect();
            assert!(all.iter().all(|(first, length)| first + length <= count), "{count} {all:?}");
            assert_eq!(all[0].0, 0);
            assert!(all.iter().any(|(first, length)| first + length == count), "{count}");
        }
    }
}
