//! What the cases stand on: a device, guarded buffers, sizes, random numbers.

use std::fmt::Debug;

use wavelane::primitive::{Prepared, Tuning};
use wavelane::{Error, ErrorKind, Gpu};

use crate::algebra::Item;

/// A row of the table.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) paths: Paths,
    /// Features of the device without which the row is ignored.
    pub(crate) needs: wgpu::Features,
    pub(crate) run: Box<dyn Fn(&Env) + Send + Sync>,
}

/// On which paths a row runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paths {
    Every,
    /// The path that the probe chose, and the others in a full run only.
    Full,
    /// The path that the probe chose only: what does not depend on the path.
    Main,
    /// The path that the probe chose, unless it is the emulated one on a CPU: what takes long.
    Large,
}

/// The rows.
#[derive(Default)]
pub(crate) struct Table(pub(crate) Vec<Case>);

impl Table {
    pub(crate) fn add(&mut self, name: impl Into<String>, run: impl Fn(&Env) + Send + Sync + 'static) {
        self.push(name, Paths::Every, wgpu::Features::empty(), run);
    }

    pub(crate) fn add_main(&mut self, name: impl Into<String>, run: impl Fn(&Env) + Send + Sync + 'static) {
        self.push(name, Paths::Main, wgpu::Features::empty(), run);
    }

    pub(crate) fn add_large(&mut self, name: impl Into<String>, run: impl Fn(&Env) + Send + Sync + 'static) {
        self.push(name, Paths::Large, wgpu::Features::empty(), run);
    }

    pub(crate) fn add_full(&mut self, name: impl Into<String>, run: impl Fn(&Env) + Send + Sync + 'static) {
        self.push(name, Paths::Full, wgpu::Features::empty(), run);
    }

    /// For rows of which every `step`th runs on every path: emulated kernels take long to compile, and the same
    /// fragments meet the same types in other rows.
    pub(crate) fn paths(&self, step: usize) -> Paths {
        if self.0.len().is_multiple_of(step) { Paths::Every } else { Paths::Full }
    }

    pub(crate) fn push(
        &mut self,
        name: impl Into<String>,
        paths: Paths,
        needs: wgpu::Features,
        run: impl Fn(&Env) + Send + Sync + 'static,
    ) {
        self.0.push(Case { name: name.into(), paths, needs, run: Box::new(run) });
    }
}

/// Why a row says nothing here.
pub(crate) struct Skipped(pub(crate) String);

/// Ends a row that cannot say anything on this device, with the reason.
pub(crate) fn skip(reason: impl Into<String>) -> ! {
    std::panic::resume_unwind(Box::new(Skipped(reason.into())))
}

/// Where a case runs. All cases of an adapter share its device and pipelines.
pub(crate) struct Env {
    /// What the device was opened on, for cases that open another.
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) gpu: Gpu,
    /// Whether this is the path that the probe chose. The others take smaller sizes.
    pub(crate) main: bool,
}

/// Opens a device as a caller would, so that an error that wgpu reports by callback panics where it happens.
pub(crate) fn open(adapter: &wgpu::Adapter) -> Result<Gpu, String> {
    let needs = wavelane::requirements(adapter);
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("tests"),
        required_features: needs.features,
        required_limits: needs.limits,
        ..Default::default()
    }))
    .map_err(|error| error.to_string())?;
    pollster::block_on(Gpu::from_device(adapter, &device, &queue)).map_err(|error| error.to_string())
}

/// What surrounds every range.
const SENTINEL: u8 = 0xa5;
/// Bytes of it behind a range.
const TRAIL: u64 = 272;

/// A range in a buffer whose other bytes are all the sentinel.
pub(crate) struct Guarded {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) first: u64,
    pub(crate) bytes: u64,
}

impl Guarded {
    pub(crate) fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer.slice(self.first..self.first + self.bytes)
    }

    /// The first `bytes` of the range.
    pub(crate) fn first(&self, bytes: u64) -> wgpu::BufferSlice<'_> {
        assert!(bytes <= self.bytes);
        self.buffer.slice(self.first..self.first + bytes)
    }
}

pub(crate) const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::INDIRECT);

impl Env {
    /// A buffer with these usages, full of sentinels.
    pub(crate) fn buffer(&self, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("test"),
            size: bytes.next_multiple_of(4),
            usage,
            mapped_at_creation: true,
        });
        buffer.get_mapped_range_mut(..).expect("mapped at creation").copy_from_slice(&vec![
            SENTINEL;
            bytes.next_multiple_of(4)
                as usize
        ]);
        buffer.unmap();
        buffer
    }

    /// Room for `bytes` bytes from byte `first` on.
    pub(crate) fn room(&self, first: u64, bytes: u64) -> Guarded {
        Guarded { buffer: self.buffer(first + bytes + TRAIL, USAGE), first, bytes }
    }

    /// Room for `items` items from the item `lead` on.
    pub(crate) fn output<T: Item>(&self, lead: usize, items: usize) -> Guarded {
        self.room((lead * size_of::<T>()) as u64, (items * size_of::<T>()) as u64)
    }

    /// A buffer that holds these items from the item `lead` on.
    pub(crate) fn input<T: Item>(&self, lead: usize, items: &[T]) -> Guarded {
        let room = self.output::<T>(lead, items.len());
        if !items.is_empty() {
            self.gpu.queue().write_buffer(&room.buffer, room.first, bytemuck::cast_slice(items));
        }
        room
    }

    /// A count in a buffer, at this byte.
    pub(crate) fn count(&self, first: u64, count: u32) -> Guarded {
        let room = self.room(first, 4);
        self.gpu.queue().write_buffer(&room.buffer, first, bytemuck::bytes_of(&count));
        room
    }

    /// Records the calls one after another into one pass, and submits it.
    #[track_caller]
    pub(crate) fn submit(&self, calls: &[&Prepared]) {
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for call in calls {
                call.record(&mut pass);
            }
        }
        self.gpu.queue().submit([encoder.finish()]);
    }

    /// The whole buffer.
    pub(crate) fn read_all(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        let device = self.gpu.device();
        let staging = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("test readback"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        let submission = self.gpu.queue().submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("a staging buffer can be mapped"));
        device
            .poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(Gpu::DEFAULT_TIMEOUT) })
            .expect("the device finishes");
        staging.get_mapped_range(..).expect("mapped").to_vec()
    }

    /// The bytes of a range; asserts that those around it are still sentinels.
    #[track_caller]
    pub(crate) fn read_bytes(&self, room: &Guarded) -> Vec<u8> {
        let mut all = self.read_all(&room.buffer);
        let (first, end) = (room.first as usize, (room.first + room.bytes) as usize);
        if let Some(at) = all[..first].iter().rposition(|byte| *byte != SENTINEL) {
            panic!("byte {at} was overwritten; the range begins at {first}");
        }
        if let Some(at) = all[end..].iter().position(|byte| *byte != SENTINEL) {
            panic!("byte {} was overwritten; the range ends at {end}", end + at);
        }
        all.truncate(end);
        all.split_off(first)
    }

    /// The items of a range; asserts that the bytes around it are still sentinels.
    #[track_caller]
    pub(crate) fn read<T: Item>(&self, room: &Guarded) -> Vec<T> {
        bytemuck::pod_collect_to_vec(&self.read_bytes(room))
    }

    /// A tuning with few, small workgroups: every boundary is near.
    pub(crate) fn tight(&self) -> Tuning {
        Tuning::new(128, 2, 5)
    }

    /// Sizes around every boundary of a plan with this tuning for items of `item_bytes`.
    pub(crate) fn sizes(&self, tuning: Tuning, item_bytes: usize) -> Vec<usize> {
        let pack = if item_bytes == 4 { 4 } else { 1 };
        let row = self.gpu.lanes() as usize * pack;
        let tile = (tuning.workgroup * tuning.rows) as usize * pack;
        let groups = tuning.max_groups as usize;
        let mut sizes = vec![0, 1, 2, 3, 5];
        for edge in [pack, row, row * tuning.rows as usize, tile, groups * tile] {
            sizes.extend([edge - 1, edge, edge + 1]);
        }
        sizes.extend([2 * tile + 3, groups * tile + 2 * tile + 7]);
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// Whether a result has not changed from the sentinel.
pub(crate) fn is_untouched(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == SENTINEL)
}

/// Compares item by item and names the first that differs.
#[track_caller]
pub(crate) fn assert_items<T: Item>(got: &[T], want: &[T], what: impl FnOnce() -> String) {
    assert_eq!(got.len(), want.len(), "{}: number of items", what());
    if let Some(i) = (0..got.len()).find(|&i| !got[i].same(&want[i])) {
        let wrong = (0..got.len()).filter(|&i| !got[i].same(&want[i])).count();
        let n = got.len();
        panic!("{}: item {i} of {n} is {:?}, not {:?}; {wrong} are wrong", what(), got[i], want[i]);
    }
}

/// Asserts that a call was refused: the kind, and parts of the message.
#[track_caller]
pub(crate) fn assert_refused<T: Debug>(result: Result<T, Error>, kind: ErrorKind, parts: &[impl AsRef<str>]) {
    let error = result.expect_err("this must be refused");
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        let part = part.as_ref();
        assert!(error.to_string().contains(part), "'{part}' is missing in: {error}");
    }
}

/// Steele, Lea and Flood's SplitMix64.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }
}
