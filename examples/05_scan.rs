//! Records of different lengths, packed without gaps: a scan of the lengths says where each record goes, and a kernel
//! of one's own moves them, all in one pass of the program's own.
//!
//! `cargo run --example 05_scan`

use wavelane::primitive::{Count, Scan};
use wavelane::{Gpu, op, shader, wgpu};

const RECORDS: u32 = 10_000;
const SLOT: u32 = 8; // words that a record has room for before it is packed

const KERNEL: &str = "
const SLOT = 8u;
@group(0) @binding(0) var<storage, read> slots: array<u32>;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> packed: array<u32>;

@compute @workgroup_size(WORKGROUP) // an invocation a record
fn pack(place: Place) {
  let record = place.workgroup.x * WORKGROUP + place.index;
  if record < arrayLength(&lengths) {
    for (var i = 0u; i < lengths[record]; i++) {
      packed[offsets[record] + i] = slots[record * SLOT + i];
    }
  }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    // Once: the plan builds its pipelines.
    let scan = Scan::<u32>::exclusive(&gpu, op::Add)?;
    let pack = gpu.compute_pipeline(&shader::library(&gpu, 128, &[])?.with_kernel("pack.wgsl", KERNEL)?, "pack")?;

    // Once for these buffers: what the call needs is checked and made.
    let lengths: Vec<u32> = (0..RECORDS).map(|record| record * 7 % (SLOT + 1)).collect();
    let words: Vec<u32> = (0..RECORDS * SLOT).map(|word| word ^ 0x5555).collect();
    let total: u32 = lengths.iter().sum();
    let (storage, copied) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::COPY_SRC);
    let slots = gpu.upload(&words, storage)?;
    let input = gpu.upload(&lengths, storage)?;
    let offsets = gpu.upload(&vec![0u32; RECORDS as usize], storage)?;
    let packed = gpu.upload(&vec![0u32; total as usize], storage | copied)?;
    let call = scan.prepare(input.slice(..), offsets.slice(..), Count::Host(RECORDS))?;
    let buffers = [&slots, &input, &offsets, &packed];
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = &pack.get_bind_group_layout(0);
    let group =
        gpu.device().create_bind_group(&wgpu::BindGroupDescriptor { label: Some("pack"), layout, entries: &entries });

    // In every frame: recording allocates nothing and waits for nothing.
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    call.record(&mut pass); // sets a pipeline and bind group 0; one's own are set afterwards
    pass.set_pipeline(&pack);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(RECORDS.div_ceil(128), 1, 1);
    drop(pass);
    gpu.queue().submit([encoder.finish()]);

    let result: Vec<u32> = gpu.download(packed.slice(..))?;
    let slots = words.chunks_exact(SLOT as usize);
    let expected: Vec<u32> =
        slots.zip(&lengths).flat_map(|(slot, length)| &slot[..*length as usize]).copied().collect();
    println!("{}, {}", gpu.info().name, gpu.path());
    println!("  {RECORDS} records of 0 to {SLOT} words, {} words in all", words.len());
    println!("  packed into {total} words; dispatches of the scan: {}", call.dispatches());
    if result != expected {
        return Err("the packed records differ from those that the host packed".into());
    }
    Ok(())
}
