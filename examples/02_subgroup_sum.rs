//! A kernel of one's own in which every lane learns the sum of its subgroup, and the host learns from the results how
//! wide the subgroups are: nothing here assumes a width.
//!
//! `cargo run --example 02_subgroup_sum`

use wavelane::shader::{self, block};
use wavelane::{Gpu, op, wgpu};

const WORKGROUP: u32 = 100; // no multiple of most widths: the last subgroup is partly filled
const WORKGROUPS: u32 = 3;

/// `Place`, `sg_begin` and what begins with `sg_` come from the library.
const KERNEL: &str = "
@group(0) @binding(0) var<storage, read_write> seen: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn subgroup_sum(place: Place) {
  sg_begin(place);
  let at = place.workgroup.x * WORKGROUP + wg_index;
  seen[at] = vec4<u32>(sg_reduce_add_u32(at), sg_id, sg_lane, sg_count);
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    let library = shader::library(&gpu, WORKGROUP, &[block::subgroup_reduce::<u32>(op::Add)])?;
    let kernel = library.with_kernel("subgroup_sum.wgsl", KERNEL)?;

    let pipeline = gpu.compute_pipeline(&kernel, "subgroup_sum")?;

    let device = gpu.device();
    let seen = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("seen"),
        size: u64::from(WORKGROUPS * WORKGROUP) * 16,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("subgroup_sum"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: seen.as_entire_binding() }],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(WORKGROUPS, 1, 1);
    drop(pass);
    gpu.queue().submit([encoder.finish()]);

    let seen: Vec<[u32; 4]> = gpu.download(seen.slice(..))?;
    println!("{}, {}", gpu.info().name, gpu.path());
    let mut begin = 0;
    while begin < seen.len() {
        let [sum, subgroup, _, count] = seen[begin];
        let members = seen.get(begin..begin + count as usize).ok_or("a subgroup goes past the last workgroup")?;
        let expected: u32 = (begin as u32..begin as u32 + count).sum();
        if begin < WORKGROUP as usize {
            println!("  subgroup {subgroup:2} of the first workgroup: {count:3} lanes, sum of their indices {sum}");
        }
        for (lane, member) in (0..).zip(members) {
            if *member != [expected, subgroup, lane, count] {
                return Err(format!("lane {lane} saw {member:?}, not the sum {expected} of {count} lanes").into());
            }
        }
        begin += count as usize;
    }
    println!("  in all {WORKGROUPS} workgroups every lane saw the sum of its own subgroup");
    Ok(())
}
