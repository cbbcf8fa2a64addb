//! A program with an instance, adapter, device and buffers of its own: the crate says what it wants of the device, and
//! records into the program's encoder. Everything that waits is async here.
//!
//! `cargo run --example 09_own_device`

use std::sync::atomic::{AtomicBool, Ordering};

use wavelane::primitive::{Count, Reduce};
use wavelane::{Gpu, op, wgpu};

async fn run(adapter: &wgpu::Adapter) -> Result<(), Box<dyn std::error::Error>> {
    // What this crate can use of the adapter, merged with what the program itself asks for.
    let needs = wavelane::requirements(adapter);
    let own = wgpu::Limits { max_bind_groups: 4, ..wgpu::Limits::downlevel_defaults() };
    let request = wgpu::DeviceDescriptor {
        label: Some("the program's device"),
        required_features: needs.features | wgpu::Features::empty(), // the program's own features
        required_limits: needs.limits.or_better_values_from(&own),
        ..Default::default()
    };
    let (device, queue) = adapter.request_device(&request).await?;
    let gpu = Gpu::from_device(adapter, &device, &queue).await?; // counts the lanes
    // The next start of the program need not count them again.
    let saved = gpu.probe().to_words();
    let probe = wavelane::Probe::from_words(&saved).ok_or("a probe comes back from its words")?;
    let gpu = Gpu::with_probe(adapter, &device, &queue, probe)?;
    println!("{}, {}", gpu.info().name, gpu.path());

    let samples: Vec<f32> = (0..50_000).map(|i| (i % 100) as f32 * 0.25).collect();
    let storage = wgpu::BufferUsages::STORAGE;
    let usage = storage | wgpu::BufferUsages::COPY_DST;
    let size = 64 + 4 * samples.len() as u64;
    let descriptor = wgpu::BufferDescriptor { label: Some("samples"), size, usage, mapped_at_creation: false };
    let input = device.create_buffer(&descriptor);
    queue.write_buffer(&input, 64, bytemuck::cast_slice(&samples)); // behind a header of the program's
    let usage = storage | wgpu::BufferUsages::COPY_SRC;
    let descriptor = wgpu::BufferDescriptor { label: Some("sum"), size: 4, usage, mapped_at_creation: false };
    let sum = device.create_buffer(&descriptor);

    let plan = Reduce::<f32>::new(&gpu, op::Add)?;
    let call = plan.prepare(input.slice(64..), sum.slice(..), Count::Host(samples.len() as u32))?;
    let mut encoder = device.create_command_encoder(&Default::default());
    call.encode(&mut encoder); // a pass of its own; `record` takes the program's pass
    queue.submit([encoder.finish()]);

    // The async calls never poll the device: a program that renders polls it anyway, this one has a thread for it.
    let done = AtomicBool::new(false);
    let (sum, largest) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = device.poll(wgpu::PollType::Poll);
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let results = pollster::block_on(async {
            Ok::<_, wavelane::Error>((
                gpu.download_async::<f32>(sum.slice(..)).await?[0],
                gpu.reduce_async(&samples, op::Max).await?,
            ))
        });
        done.store(true, Ordering::Relaxed);
        results
    })?;
    println!("  {} samples: sum {sum}, largest {largest}", samples.len());
    let expected: f64 = samples.iter().map(|x| f64::from(*x)).sum();
    if (f64::from(sum) - expected).abs() > 1e-5 * expected || largest != 24.75 {
        return Err(format!("the sum is {expected} and the largest 24.75").into());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
        .map_err(|error| format!("no adapter: {error}"))?;
    pollster::block_on(run(&adapter))
}
