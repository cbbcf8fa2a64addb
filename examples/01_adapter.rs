//! Every adapter of this machine: how wide its subgroups are said to be, how wide they were counted to be, and which
//! path follows. A small sum on each shows that it works.
//!
//! `cargo run --example 01_adapter`

use wavelane::{Adapters, Gpu, op};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let adapters = Adapters::find(None); // WGPU_BACKEND narrows the search
    let best = adapters.best()?.get_info(); // where there is none, this error says what to install
    let mut unusable = 0;
    for adapter in adapters.iter() {
        let info = adapter.get_info();
        println!("{} ({}, {})", info.name, info.backend, info.driver_info);
        // Opening runs the probe kernel, which counts the lanes that really vote together.
        let gpu = match Gpu::options().open_adapter(adapter) {
            Ok(gpu) => gpu,
            Err(error) => {
                println!("  cannot be used: {error}");
                unusable += 1;
                continue;
            }
        };
        let probe = gpu.probe();
        match probe.reported() {
            (0, 0) => println!("  reports no subgroups"),
            (least, most) if least == most => println!("  reports subgroups of {least} lanes"),
            (least, most) => println!("  reports subgroups of {least} to {most} lanes"),
        }
        for shape in probe.shapes() {
            println!(
                "  in workgroups of {:3}: {} lanes counted, {} in the last subgroup",
                shape.workgroup, shape.counted_lanes, shape.last_lanes
            );
        }
        println!("  path: {}, because {}", gpu.path(), probe.reason());

        let items: Vec<u32> = (1..=1_000).collect();
        let sum = gpu.reduce(&items, op::Add)?;
        println!("  the sum of 1 to 1000 is {sum}");
        if sum != 500_500 {
            return Err(format!("{}: the sum of 1 to 1000 is 500500, not {sum}", info.name).into());
        }
    }
    println!(
        "{} of {} adapters can be used; Gpu::open() takes {}",
        adapters.len() - unusable,
        adapters.len(),
        best.name
    );
    if unusable == adapters.len() {
        return Err("no adapter can be used".into());
    }
    Ok(())
}
