//! What a branch costs when the lanes of a subgroup disagree: one kernel, one branch, three ways to draw the border.
//!
//! `cargo run --release --example 03_divergence`

use wavelane::measure::{Contender, Effort, Sampler, median, paired_ratio};
use wavelane::{Gpu, shader, wgpu};

const TRIPS: u32 = 1_000;
const KERNEL: &str = "
struct Params { run: u32, trips: u32 } // neighbours that take the same arm; steps of an arm
@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn branch(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = id.x;
  if (id.x / params.run) % 2u == 0u {
    for (var i = 0u; i < params.trips; i++) { x = x * 0x9E3779B1u + 1u; x ^= x >> 15u; }
  } else {
    for (var i = 0u; i < params.trips; i++) { x = x * 0x85EBCA6Bu + 2u; x ^= x >> 13u; }
  }
  results[id.x] = x;
}";

/// The same on the host.
fn expected(index: u32, run: u32) -> u32 {
    let (factor, addend, shift) = [(0x9E37_79B1, 1, 15), (0x85EB_CA6B, 2, 13)][(index / run % 2) as usize];
    (0..TRIPS).fold(index, |x: u32, _| {
        let x = x.wrapping_mul(factor).wrapping_add(addend);
        x ^ (x >> shift)
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::open()?;
    let device = gpu.device();
    let kernel = shader::library(&gpu, 128, &[])?.with_kernel("branch.wgsl", KERNEL)?; // no blocks: WORKGROUP only
    let pipeline = gpu.compute_pipeline(&kernel, "branch")?;
    let workgroups: u32 = if gpu.is_cpu() { 64 } else { 4_096 };
    let lanes = gpu.probe().width(); // this kernel runs on the hardware's subgroups, whatever the path
    let mut cases = Vec::new();
    for (name, run) in [("all take one arm", u32::MAX), ("by subgroup", lanes), ("by lane", 1)] {
        let params = gpu.upload(&[run, TRIPS], wgpu::BufferUsages::UNIFORM)?;
        let size = u64::from(workgroups) * 128 * 4;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let results =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(name),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: results.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: params.as_entire_binding() },
            ],
        });
        cases.push((name, run, group, results));
    }
    let mut contenders = Vec::new();
    for (name, _, group, _) in &cases {
        let pipeline = &pipeline;
        contenders.push(Contender::new(*name, move |pass| {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        }));
    }
    let samples = Sampler::new(&gpu, Effort::Quick)?.sample(&contenders)?; // warms up, then takes turns

    println!("{}: {lanes} lanes a subgroup; times by the {} clock", gpu.info().name, samples[0].clock.name());
    for ((name, run, _, results), times) in cases.iter().zip(&samples) {
        let ratio = median(&paired_ratio(&times.ns, &samples[0].ns)); // round by round: a drifting clock cancels
        println!("  {name:16} {:9.1} us, {ratio:.2} times one arm", times.median() / 1e3);
        let results: Vec<u32> = gpu.download(results.slice(..))?;
        if let Some(at) = (0..results.len()).find(|&at| results[at] != expected(at as u32, *run)) {
            return Err(format!("{name}: invocation {at} computed {:#x}", results[at]).into());
        }
    }
    Ok(())
}
