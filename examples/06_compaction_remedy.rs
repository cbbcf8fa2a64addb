//! A remedy for divergence: where few items need much work, the lanes of the others wait for them. Select the few
//! first, then run the same kernel over them, in as many workgroups as the selection itself asks for.
//!
//! `cargo run --example 06_compaction_remedy`

use wavelane::primitive::{Count, DispatchArgs, Predicate, Select};
use wavelane::{Gpu, shader, wgpu};

const ITEMS: u32 = 200_000;
const WORKGROUP: u32 = 128;

/// An item is its value and its place, so that results find their way back.
const KERNEL: &str = "
@group(0) @binding(0) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> count: u32;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn work(place: Place) {
  let i = (place.workgroup.y * place.workgroups.x + place.workgroup.x) * WORKGROUP + place.index;
  if i < count && items[i].x % 16u == 0u {
    var x = items[i].x;
    for (var step = 0u; step < 200u; step++) { x = x * 0x9E3779B1u + 1u; x ^= x >> 15u; }
    results[items[i].y] = x;
  }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    let select = Select::<[u32; 2]>::new(&gpu, Predicate::wgsl("x.x % 16u == 0u"))?;
    let work =
        gpu.compute_pipeline(&shader::library(&gpu, WORKGROUP, &[])?.with_kernel("work.wgsl", KERNEL)?, "work")?;

    let (storage, copied) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::COPY_SRC);
    let items: Vec<[u32; 2]> = (0..ITEMS).map(|i| [i.wrapping_mul(0x9E37_79B1) >> 8, i]).collect();
    let all = (gpu.upload(&items, storage)?, gpu.upload(&[ITEMS], storage)?);
    let kept = (gpu.upload(&items, storage)?, gpu.upload(&[0u32], storage | copied)?); // room for all of them
    let args = gpu.upload(&[0u32; 3], storage | copied | wgpu::BufferUsages::INDIRECT)?;
    let for_work = DispatchArgs { args: args.slice(..), items_per_workgroup: WORKGROUP };
    let (from, to, number) = (all.0.slice(..), kept.0.slice(..), kept.1.slice(..));
    let call = select.prepare_with_args(from, to, number, for_work, Count::Host(ITEMS))?;

    let mut groups = Vec::new();
    for (items, count) in [&all, &kept] {
        let results = gpu.upload(&vec![0u32; ITEMS as usize], storage | copied)?;
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("work"),
            layout: &work.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: items.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: count.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 2, resource: results.as_entire_binding() },
            ],
        });
        groups.push((group, results));
    }
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&work);
    pass.set_bind_group(0, &groups[0].0, &[]);
    pass.dispatch_workgroups(ITEMS.div_ceil(WORKGROUP), 1, 1);
    call.record(&mut pass);
    pass.set_pipeline(&work);
    pass.set_bind_group(0, &groups[1].0, &[]);
    pass.dispatch_workgroups_indirect(&args, 0); // the host need not learn how many were kept
    drop(pass);
    gpu.queue().submit([encoder.finish()]);

    let count = gpu.download::<u32>(kept.1.slice(..))?[0];
    let workgroups: u32 = gpu.download::<u32>(args.slice(..))?.iter().product();
    println!("{}, {}", gpu.info().name, gpu.path());
    println!("  over all {ITEMS} items: {} workgroups, one lane in 16 at work", ITEMS.div_ceil(WORKGROUP));
    println!("  over the {count} selected: {workgroups} workgroups, all lanes at work but for the last one's");
    if gpu.download::<u32>(groups[0].1.slice(..))? != gpu.download::<u32>(groups[1].1.slice(..))? {
        return Err("the kernel over the selected items gives other results than over all".into());
    }
    Ok(())
}
