//! A histogram in which lanes with the same bin agree on one of them to add for all: a kernel of one's own on
//! building blocks of the library (multisplit, reduce), and far fewer atomic additions.
//!
//! `cargo run --example 08_own_shader`

use wavelane::shader::{self, block};
use wavelane::{Gpu, op, wgpu};

const ITEMS: u32 = 100_000;
const BINS: usize = 16;

const KERNEL: &str = "
@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 17>; // the last counts the additions

@compute @workgroup_size(WORKGROUP)
fn histogram(place: Place) {
  sg_begin(place);
  let i = place.workgroup.x * WORKGROUP + wg_index;
  let inside = i < arrayLength(&items);
  // Blocks are called by all invocations alike, so what lies past the end has a bin of its own, the seventeenth.
  var bin = 16u;
  if inside { bin = items[i] % 16u; }
  let split = sg_multisplit(bin, 5u); // which lanes have this bin, and this lane's rank among them
  let adds = inside && split.rank == 0u;
  if adds { atomicAdd(&bins[bin], split.count); }
  let additions = wg_reduce_add_u32(u32(adds));
  if wg_index == 0u { atomicAdd(&bins[16], additions); }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    let blocks = [block::multisplit(), block::workgroup_reduce::<u32>(op::Add)];
    // An error in the kernel would be shown at histogram.wgsl and the kernel's own line.
    let kernel = shader::library(&gpu, 256, &blocks)?.with_kernel("histogram.wgsl", KERNEL)?;
    let pipeline = gpu.compute_pipeline(&kernel, "histogram")?;

    // A smooth signal: neighbours often share a bin.
    let items: Vec<u32> = (0..ITEMS).map(|i| ((f64::from(i) / 40.0).sin() * 1_000.0 + 1_000.0) as u32 / 125).collect();
    let input = gpu.upload(&items, wgpu::BufferUsages::STORAGE)?;
    let bins = gpu.upload(&[0u32; BINS + 1], wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;
    let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("histogram"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: input.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: bins.as_entire_binding() },
        ],
    });
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(ITEMS.div_ceil(256), 1, 1);
    drop(pass);
    gpu.queue().submit([encoder.finish()]);

    let mut expected = [0u32; BINS];
    items.iter().for_each(|item| expected[*item as usize % BINS] += 1);
    let bins: Vec<u32> = gpu.download(bins.slice(..))?;
    let most = expected.iter().copied().max().unwrap_or(1);
    println!("{}, {}", gpu.info().name, gpu.path());
    for (bin, count) in bins[..BINS].iter().enumerate() {
        println!("  {bin:2} {count:6} {}", "#".repeat((count * 40).div_ceil(most) as usize));
    }
    println!("  {ITEMS} items in {} atomic additions, {} lanes a subgroup", bins[BINS], gpu.lanes());
    if bins[..BINS] != expected {
        return Err(format!("the host counted {expected:?}").into());
    }
    Ok(())
}
