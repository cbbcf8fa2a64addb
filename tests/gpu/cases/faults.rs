//! What goes wrong outside any call: a lost device, no memory, no end. Every call tells it by its kind, and none panics.

use std::time::Duration;

use wavelane::primitive::{Count, Predicate, Reduce, Scan, ScanOptions, Workspace};
use wavelane::{Error, ErrorKind, Gpu, LaneMap, Op, requirements, shader, wgpu};

use crate::harness::{Env, Table, USAGE, assert_refused, skip};

pub(crate) fn rows(table: &mut Table) {
    table.add_main("faults/device_destroyed", device_destroyed);
    table.add_main("faults/own_device_destroyed", own_device_destroyed);
    table.add_main("faults/over_the_buffer_limit", over_the_buffer_limit);
    table.add_main("faults/out_of_memory", out_of_memory);
    table.add_main("faults/timeout", timeout);
}

/// A device of a caller's, with these limits.
fn device(adapter: &wgpu::Adapter, required_limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    let required_features = requirements(adapter).features;
    let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
    pollster::block_on(adapter.request_device(&descriptor)).expect("a device within the adapter's limits")
}

/// Calls every function that works with the device.
fn every_call_is_refused(gpu: &Gpu, buffer: &wgpu::Buffer, plan: &Reduce<u32>, kind: ErrorKind) {
    let (items, none) = ([1u32; 1000], [""; 0]);
    assert_refused(gpu.reduce(&items, Op::Add), kind, &none);
    assert_refused(gpu.scan_inclusive(&items, Op::Add), kind, &none);
    assert_refused(gpu.scan_exclusive(&items, Op::Add), kind, &none);
    assert_refused(gpu.select(&items, Predicate::wgsl("x > 0u")), kind, &none);
    assert_refused(gpu.download::<u32>(buffer.slice(..)), kind, &none);
    assert_refused(pollster::block_on(gpu.download_async::<u32>(buffer.slice(..))), kind, &none);
    assert_refused(LaneMap::measure(gpu, [64, 1, 1]), kind, &none);
    // These wait for nothing: they tell what another call has come to know.
    assert_refused(gpu.upload(&items, wgpu::BufferUsages::STORAGE), kind, &none);
    assert_refused(Workspace::new(gpu, 1000), kind, &none);
    assert_refused(plan.prepare(buffer.slice(..), buffer.slice(..4), Count::Host(1)), kind, &none);
    assert_refused(Reduce::<u32>::new(gpu, Op::Mul), kind, &none);
    let kernel = "@compute @workgroup_size(WORKGROUP) fn own(place: Place) { sg_begin(place); }";
    let kernel = shader::library(gpu, 64, &[]).and_then(|library| library.with_kernel("own.wgsl", kernel));
    assert_refused(gpu.compute_pipeline(&kernel.expect("valid"), "own"), kind, &none);
}

fn device_destroyed(env: &Env) {
    let adapter = &env.adapter;
    let open = || Gpu::options().open_adapter(adapter).expect("the adapter opens");
    let ready = |gpu: &Gpu| {
        let buffer = gpu.upload(&[1u32; 1000], USAGE - wgpu::BufferUsages::COPY_DST).expect("memory");
        (buffer, Reduce::<u32>::new(gpu, Op::Add).expect("a valid plan"))
    };
    let gpu = open();
    let (buffer, plan) = ready(&gpu);
    gpu.device().destroy();
    for _ in 0..2 {
        every_call_is_refused(&gpu, &buffer, &plan, ErrorKind::DeviceLost);
    }
    // A call that polls nothing may be the first.
    let gpu = open();
    let (buffer, _) = ready(&gpu);
    gpu.device().destroy();
    let read = pollster::block_on(gpu.download_async::<u32>(buffer.slice(..)));
    assert_refused(read, ErrorKind::DeviceLost, &["the device was destroyed"]);
    // With work under way, and calls that were prepared before.
    let gpu = open();
    let (buffer, plan) = ready(&gpu);
    let output = gpu.upload(&[0u32], USAGE).expect("memory");
    let call = plan.prepare(buffer.slice(..), output.slice(..), Count::Host(1000)).expect("a valid call");
    let submit = || {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        call.encode(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
    };
    submit();
    gpu.device().destroy();
    submit();
    assert_refused(gpu.download::<u32>(output.slice(..)), ErrorKind::DeviceLost, &["the device was destroyed"]);
}

/// A caller's device keeps the caller's handlers, so only what a call sees itself is told.
fn own_device_destroyed(env: &Env) {
    let adapter = &env.adapter;
    let (device, queue) = device(adapter, requirements(adapter).limits);
    device.on_uncaptured_error(std::sync::Arc::new(|_| {}));
    let gpu = pollster::block_on(Gpu::from_device(adapter, &device, &queue)).expect("the adapter opens");
    device.destroy();
    let items = [1u32; 1000];
    let none = [""; 0];
    assert_refused(gpu.reduce(&items, Op::Add), ErrorKind::DeviceLost, &none);
    assert_refused(gpu.scan_inclusive(&items, Op::Add), ErrorKind::DeviceLost, &none);
    assert_refused(gpu.select(&items, Predicate::wgsl("x > 0u")), ErrorKind::DeviceLost, &none);
}

fn over_the_buffer_limit(env: &Env) {
    let adapter = &env.adapter;
    let allowed = 1 << 20;
    let limits = wgpu::Limits {
        max_buffer_size: allowed,
        max_storage_buffer_binding_size: allowed,
        ..requirements(adapter).limits
    };
    let (device, queue) = device(adapter, limits);
    let gpu = pollster::block_on(Gpu::from_device(adapter, &device, &queue)).expect("enough for the probe");
    let items = vec![1u32; (allowed / 4) as usize + 1];
    let numbers = [format!("needs {}", allowed + 4), format!("allows {allowed}"), "max_buffer_size".into()];
    let limit = ErrorKind::LimitTooSmall;
    assert_refused(gpu.upload(&items, wgpu::BufferUsages::STORAGE), limit, &numbers);
    assert_refused(gpu.reduce(&items, Op::Add), limit, &numbers);
    assert_refused(gpu.scan_inclusive(&items, Op::Add), limit, &numbers);
    assert_refused(gpu.select(&items, Predicate::wgsl("x > 0u")), limit, &numbers);
    assert_refused(Workspace::new(&gpu, allowed + 4), limit, &numbers);
    assert_eq!(gpu.reduce(&items[1..], Op::Add).expect("as much as the limit allows"), (allowed / 4) as u32);
}

/// Memory ends at a small part of what the driver has, and all of that is taken.
fn out_of_memory(env: &Env) {
    if env.gpu.is_cpu() {
        skip("the driver tells no memory budget, and nothing else runs out of memory cheaply");
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.memory_budget_thresholds.for_resource_creation = Some(5);
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let name = &env.gpu.info().name;
    let adapter = adapters.iter().find(|adapter| adapter.get_info().name == *name).expect("the adapter of this case");
    let (device, queue) = device(adapter, requirements(adapter).limits);
    let usage = wgpu::BufferUsages::STORAGE;
    let take = |size| {
        let scope = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = device.create_buffer(&descriptor);
        pollster::block_on(scope.pop()).is_none().then_some(buffer)
    };
    let mut taken = Vec::new();
    let mut fill = || {
        for size in (2..=28).rev().map(|log2| 1u64 << log2) {
            taken.extend(std::iter::repeat_with(|| take(size)).take(64).map_while(|buffer| buffer));
        }
    };
    // The probe would need memory.
    let gpu = Gpu::with_probe(adapter, &device, &queue, env.gpu.probe().clone()).expect("nothing runs");
    let (items, none) = ([1u32; 1000], ErrorKind::OutOfMemory);
    // Other cases give memory back meanwhile: then it is taken again.
    let mut refused = |call: &dyn Fn() -> Result<(), Error>, parts: &[&str]| {
        let results = std::iter::repeat_with(|| {
            fill();
            call()
        });
        let first = results.take(100).find(Result::is_err).expect("one of 100 calls meets no memory");
        assert_refused(first, none, parts);
    };
    refused(&|| Workspace::new(&gpu, 1 << 20).map(drop), &["no device memory for 1048576 bytes", "workspace"]);
    refused(&|| gpu.upload(&items, wgpu::BufferUsages::STORAGE).map(drop), &["4000 bytes"]);
    refused(&|| gpu.reduce(&items, Op::Add).map(drop), &["no device memory"]);
    refused(&|| gpu.scan_inclusive(&items, Op::Add).map(drop), &["no device memory"]);
    refused(&|| gpu.select(&items, Predicate::wgsl("x > 0u")).map(drop), &["no device memory"]);
    let initial = ScanOptions::inclusive().initial(1);
    refused(&|| Scan::<u32>::with_options(&gpu, Op::Add, initial).map(drop), &["no device memory", "initial value"]);
}

/// A caller's kernel that takes much longer than calls may wait. Its loop is short, since lavapipe ends longer ones.
fn timeout(env: &Env) {
    let long = "@group(0) @binding(0) var<storage, read_write> words: array<atomic<u32>, 2>;
        @compute @workgroup_size(128) fn long() {
          var x = atomicLoad(&words[0]);
          for (var i = 0u; i < 50000u; i++) { x = x * 1664525u + i; }
          atomicMax(&words[1], x);
        }";
    if env.gpu.info().backend == wgpu::Backend::Noop {
        skip("a simulated device has finished when the submission returns");
    }
    let groups = if env.gpu.is_cpu() { 256 } else { 65_535 };
    let adapter = &env.adapter;
    for ms in [4, 16, 64] {
        let gpu = match Gpu::options().timeout(Duration::from_millis(ms)).open_adapter(adapter) {
            Ok(gpu) => gpu,
            // A busy machine did not even count the lanes.
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
                continue;
            }
        };
        let words = gpu.upload(&[1u32, 0], USAGE).expect("memory");
        let kernel = shader::library(&gpu, 32, &[]).and_then(|library| library.with_kernel("long.wgsl", long));
        let pipeline = gpu.compute_pipeline(&kernel.expect("valid"), "long").expect("a valid pipeline");
        let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }],
        });
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        gpu.queue().submit([encoder.finish()]);
        let parts = [gpu.info().name.clone(), format!("did not finish within {} s", ms as f64 / 1e3)];
        assert_refused(gpu.download::<u32>(words.slice(..)), ErrorKind::Timeout, &parts);
        // Nothing is lost: the kernel comes to its end, and the device works.
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).expect("the kernel ends");
        let want = (0..50_000u32).fold(1u32, |x, i| x.wrapping_mul(1_664_525).wrapping_add(i));
        assert_eq!(gpu.download::<u32>(words.slice(..)).expect("a copy of 8 bytes"), [1, want]);
        return;
    }
    skip("the machine is too busy to count lanes within 64 ms");
}
