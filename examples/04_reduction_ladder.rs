//! One sum up a ladder of kernels, and the share of this device's read ceiling that each rung reaches.
//!
//! `cargo run --release --example 04_reduction_ladder`

use wavelane::measure::{Ceilings, Contender, Effort, Sampler};
use wavelane::primitive::{Count, Reduce};
use wavelane::shader::{self, block};
use wavelane::{Gpu, op, wgpu};

const KERNELS: &str = "
@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;
var<workgroup> parts: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP) // every item is added to one word of memory
fn atomics(place: Place) { atomicAdd(&total, items[place.workgroup.x * WORKGROUP + place.index]); }

@compute @workgroup_size(WORKGROUP) // a tree in workgroup memory: a barrier for each of its levels
fn tree(place: Place) {
  let i = place.index;
  parts[i] = items[place.workgroup.x * WORKGROUP + i];
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if i < half { parts[i] += parts[i + half]; }
  }
  if i == 0u { atomicAdd(&total, parts[0]); }
}

@compute @workgroup_size(WORKGROUP) // sums by subgroup, and two barriers
fn subgroups(place: Place) {
  sg_begin(place);
  let sum = wg_reduce_add_u32(items[place.workgroup.x * WORKGROUP + wg_index]);
  if wg_index == 0u { atomicAdd(&total, sum); }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    let count: u32 = if gpu.is_cpu() { 1 << 20 } else { 1 << 23 }; // at most 65,535 workgroups of 256
    let items: Vec<u32> = (0..count).map(|i| i.wrapping_mul(0x9E37_79B1)).collect();
    let expected = items.iter().copied().fold(0, u32::wrapping_add);
    let items = gpu.upload(&items, wgpu::BufferUsages::STORAGE)?;
    let total = gpu.upload(&[0u32], wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;

    let library = shader::library(&gpu, 256, &[block::workgroup_reduce::<u32>(op::Add)])?;
    let kernels = library.with_kernel("ladder.wgsl", KERNELS)?;
    let mut rungs = Vec::new();
    for entry in ["atomics", "tree", "subgroups"] {
        let pipeline = gpu.compute_pipeline(&kernels, entry)?;
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(entry),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: items.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: total.as_entire_binding() },
            ],
        });
        rungs.push(Contender::new(entry, move |pass| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(count / 256, 1, 1);
        }));
    }
    let call = Reduce::<u32>::new(&gpu, op::Add)?.prepare(items.slice(..), total.slice(..), Count::Host(count))?;
    rungs.push(Contender::new("Reduce", move |pass| call.record(pass)));

    let sampler = Sampler::new(&gpu, Effort::Quick)?;
    let ceiling = Ceilings::measure(&sampler, count.into())?.read.gb_per_s();
    println!("{}: {count} items; this device reads them at {ceiling:.1} GB/s at best", gpu.info().name);
    for rung in rungs {
        let rung = rung.before(|encoder| encoder.clear_buffer(&total, 0, None)); // outside what is timed
        let ns = sampler.sample(std::slice::from_ref(&rung))?[0].median();
        let gb_per_s = 4.0 * f64::from(count) / ns;
        println!("  {:10} {gb_per_s:8.2} GB/s, {:5.1} % of it", rung.name(), 100.0 * gb_per_s / ceiling);
        if gpu.download::<u32>(total.slice(..))? != [expected] {
            return Err(format!("{}: the sum is wrong", rung.name()).into());
        }
    }
    Ok(())
}
