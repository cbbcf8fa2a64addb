//! The queue: executes what was recorded, at once.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

use wgpu_hal::{BufferTextureCopy, CopyExtent, DeviceError, SurfaceError, TextureCopy, TextureCopyBase};

use super::adapter::{MAX_WORKGROUPS, Surface};
use super::command::{Command, Commands, Dispatch, Workgroups};
use super::resource::{Absent, Fence, QuerySet};
use super::{Api, state::State};
use crate::simt::machine::{self, Fault, How, checks::Checks, profile::Profiler};
use crate::simt::{Dispatched, Observe, Setup, check, memory::Memory, texture::Texture};

#[derive(Debug)]
pub(super) struct Queue(Arc<State>);

impl Queue {
    pub(super) fn new(state: Arc<State>) -> Self {
        Self(state)
    }

    fn execute(&self, command: &Command) -> Result<(), Fault> {
        match command {
            Command::Clear { memory, range } => {
                words(memory, range.start, range.end - range.start).iter().for_each(|word| word.store(0, Relaxed));
            }
            Command::Copy { from, to, region } => {
                let from = words(from, region.src_offset, region.size.get());
                let to = words(to, region.dst_offset, region.size.get());
                from.iter().zip(to).for_each(|(from, to)| to.store(from.load(Relaxed), Relaxed));
            }
            Command::Upload { from, to, region } => each_row(to, region, |place, offset, row| {
                from.read(offset, row);
                to.write_row(region.texture_base.mip_level, place, row);
            }),
            Command::Download { from, to, region } => each_row(from, region, |place, offset, row| {
                from.read_row(region.texture_base.mip_level, place, row);
                to.write(offset, row);
            }),
            Command::CopyTexels { from, to, region } => {
                let TextureCopy { src_base, dst_base, size } = region;
                let mut row = vec![0; size.width as usize * from.format().bytes()];
                for (y, z) in rows(size) {
                    from.read_row(src_base.mip_level, place(src_base, y, z), &mut row);
                    to.write_row(dst_base.mip_level, place(dst_base, y, z), &row);
                }
            }
            Command::Dispatch(dispatch) => self.dispatch(dispatch)?,
            Command::Timestamp { set, index } => with_queries(set, |queries| queries[*index as usize] = self.0.now()),
            Command::Resolve { set, queries, to, offset, stride } => with_queries(set, |values| {
                for (value, at) in values[queries.start as usize..queries.end as usize].iter().zip(0..) {
                    to.write(offset + at * stride, &value.to_ne_bytes());
                }
            }),
        }
        Ok(())
    }

    fn dispatch(&self, dispatch: &Dispatch) -> Result<(), Fault> {
        let pipeline = &dispatch.pipeline;
        let workgroups = match &dispatch.workgroups {
            Workgroups::Direct(count) => *count,
            Workgroups::Indirect { memory, offset } => {
                let mut count = [0; 3];
                memory.read(*offset, bytemuck::bytes_of_mut(&mut count));
                count
            }
        };
        // Only a grid from a buffer can be too large here. WebGPU lets such a dispatch do nothing, and so does wgpu where it
        // checks the buffer, which it leaves out of release builds.
        if workgroups.iter().any(|count| *count == 0 || *count > MAX_WORKGROUPS) {
            return Ok(());
        }
        let program = &pipeline.program;
        let (bindings, immediates) = (&dispatch.bindings, &dispatch.immediates);
        let work = machine::Dispatch { program, workgroups, bindings, immediates };
        let Setup { workers, seed, observe, banks, .. } = self.0.setup;
        if pipeline.internal {
            return machine::run(&work, How::in_step(workers)).map(drop);
        }
        let by_sectors = self.0.counts_sectors();
        let (counts, mut profile) = match if by_sectors { Observe::Profile } else { observe } {
            Observe::Counts if seed.is_none() => (machine::run(&work, How::in_step(workers))?, None),
            Observe::Profile => {
                let mut profiler = Profiler::new(program, banks);
                let counts = machine::run_watched(&work, How::in_step(workers), &mut profiler)?;
                (counts, Some(profiler.profile(program)))
            }
            // Only who looks for mistakes lets lanes be independent.
            Observe::Checks | Observe::Counts => {
                let mut checks = Checks::new(program, |_| false);
                let counts = machine::run_watched(&work, How { seed, ..How::in_step(1) }, &mut checks);
                if observe == Observe::Checks {
                    self.0.keep_findings(check::findings(program, &checks.found, seed));
                }
                (counts?, None)
            }
        };
        if by_sectors {
            self.0.pass(profile.as_ref().map_or(0, |profile| profile.memory.sectors));
            // Nobody asked for the rest of it.
            profile = profile.filter(|_| observe == Observe::Profile);
        } else {
            self.0.pass(counts.issues);
        }
        self.0.keep_dispatch(Dispatched { pipeline: pipeline.name.clone(), workgroups, counts, profile });
        Ok(())
    }
}

/// The words of a range: WebGPU aligns what is copied and cleared to four bytes.
fn words(memory: &Memory, offset: u64, bytes: u64) -> &[std::sync::atomic::AtomicU32] {
    &memory.words()[offset as usize / 4..(offset + bytes) as usize / 4]
}

/// The rows of a region, by their numbers in a slice and the slice's.
fn rows(size: &CopyExtent) -> impl Iterator<Item = (u32, u32)> + use<> {
    let CopyExtent { height, depth, .. } = *size;
    (0..depth).flat_map(move |z| (0..height).map(move |y| (y, z)))
}

/// Where a row of a region begins: column, row, and slice or layer, of which a texture has one only.
fn place(base: &TextureCopyBase, y: u32, z: u32) -> [u32; 3] {
    [base.origin.x, base.origin.y + y, base.array_layer + base.origin.z + z]
}

/// Visits the rows of a region: where each begins in the texture and in the buffer, and room for its bytes.
fn each_row(texture: &Texture, region: &BufferTextureCopy, mut visit: impl FnMut([u32; 3], u64, &mut [u8])) {
    let BufferTextureCopy { buffer_layout, texture_base, size } = region;
    let mut row = vec![0; size.width as usize * texture.format().bytes()];
    let row_pitch = buffer_layout.bytes_per_row.map_or(row.len() as u64, u64::from);
    let slice_pitch = row_pitch * u64::from(buffer_layout.rows_per_image.unwrap_or(size.height));
    for (y, z) in rows(size) {
        let offset = buffer_layout.offset + u64::from(z) * slice_pitch + u64::from(y) * row_pitch;
        visit(place(texture_base, y, z), offset, &mut row);
    }
}

fn with_queries(set: &QuerySet, act: impl FnOnce(&mut Vec<u64>)) {
    act(&mut set.0.lock().unwrap_or_else(|e| e.into_inner()));
}

impl wgpu_hal::Queue for Queue {
    type A = Api;

    unsafe fn submit(
        &self,
        command_buffers: &[&Commands],
        _: &[&Absent],
        (fence, value): (&Fence, wgpu_hal::FenceValue),
    ) -> Result<(), DeviceError> {
        for command in command_buffers.iter().flat_map(|commands| &commands.0) {
            self.execute(command).map_err(|fault| {
                log::error!("{fault}");
                self.0.keep_fault(fault.to_string());
                DeviceError::Lost
            })?;
        }
        fence.0.store(value, Release);
        Ok(())
    }

    unsafe fn present(&self, _: &Surface, texture: Absent) -> Result<(), SurfaceError> {
        match texture {}
    }

    unsafe fn wait_for_idle(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    unsafe fn get_timestamp_period(&self) -> f32 {
        1.0
    }
}
