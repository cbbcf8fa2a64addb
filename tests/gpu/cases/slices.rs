//! Slices in, values out: blocking, and async with another thread that polls.

use std::sync::atomic::{AtomicBool, Ordering};

use wavelane::Op;
use wavelane::primitive::Predicate;

use crate::algebra::{self, Affine};
use crate::harness::{Env, Table, assert_items};
use crate::oracle;

pub(crate) fn rows(table: &mut Table) {
    table.add("slices/blocking", blocking);
    table.add_main("slices/threads", threads);
    table.add_full("slices/async", |env| {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    env.gpu.device().poll(wgpu::PollType::Poll).expect("the device can be polled");
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
            });
            // A failed assertion must stop the polling, or the scope never ends.
            struct Done<'a>(&'a AtomicBool);
            impl Drop for Done<'_> {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Relaxed);
                }
            }
            let _done = Done(&done);
            pollster::block_on(not_blocking(env));
        });
    });
}

fn blocking(env: &Env) {
    let gpu = &env.gpu;
    let (words, functions) = (algebra::builtin::<u32>(Op::Add), algebra::affine());
    for n in [0, 1, 3, 1000, 10_007] {
        let items = words.items(n);
        assert_eq!(gpu.reduce(&items, Op::Add).expect("reduce"), oracle::reduce(0, &words.combine, &items));
        let inclusive = gpu.scan_inclusive(&items, Op::Add).expect("scan");
        assert_eq!(inclusive, oracle::scan_inclusive(0, &words.combine, &items));
        let exclusive = gpu.scan_exclusive(&items, Op::Add).expect("scan");
        assert_eq!(exclusive, oracle::scan_exclusive(0, &words.combine, &items));
        let kept = gpu.select(&items, Predicate::wgsl("x > 0x70000000u")).expect("select");
        assert_eq!(kept, oracle::select(|x, _| x > 0x7000_0000, &items));
        assert_eq!(gpu.select(&items, Predicate::wgsl("false")).expect("select"), [0u32; 0]);
        let items = functions.items(n);
        let got = gpu.reduce(&items, functions.operator.clone()).expect("reduce");
        assert_eq!(got, oracle::reduce(functions.identity, &functions.combine, &items));
    }
}

/// Threads that share a device poll it for each other.
fn threads(env: &Env) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..200 {
                    let items = [thread, number, 1];
                    let buffer = env.input(0, &items);
                    assert_eq!(env.gpu.download::<u32>(buffer.slice()).expect("three words"), items);
                }
            });
        }
    });
}

async fn not_blocking(env: &Env) {
    let gpu = &env.gpu;
    let functions = algebra::affine();
    for n in [0, 1, 10_007] {
        let items = functions.items(n);
        let operator = || functions.operator.clone();
        let got: Affine = gpu.reduce_async(&items, operator()).await.expect("reduce");
        assert_eq!(got, oracle::reduce(functions.identity, &functions.combine, &items));
        let got = gpu.scan_inclusive_async(&items, operator()).await.expect("scan");
        let want = oracle::scan_inclusive(functions.identity, &functions.combine, &items);
        assert_items(&got, &want, || "inclusive".into());
        let got = gpu.scan_exclusive_async(&items, operator()).await.expect("scan");
        let want = oracle::scan_exclusive(functions.identity, &functions.combine, &items);
        assert_items(&got, &want, || "exclusive".into());
        let got = gpu.select_async(&items, Predicate::wgsl("x.b > x.a")).await.expect("select");
        assert_items(&got, &oracle::select(|x: Affine, _| x.b > x.a, &items), || "select".into());
    }
}
