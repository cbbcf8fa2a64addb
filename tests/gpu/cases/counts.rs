//! Counts that the host does not know: read from a buffer when the call runs, clamped to the capacity.

use wavelane::Op;
use wavelane::primitive::{Count, Predicate, Reduce, Scan, ScanOptions, Select};

use super::scan::{self, Shape};
use crate::algebra::{self, Algebra, Item};
use crate::harness::{Env, Table, assert_items, is_untouched};
use crate::oracle;

pub(crate) fn rows(table: &mut Table) {
    table.add("count/reduce/u32", |env| reduce(env, &algebra::builtin::<u32>(Op::Add)));
    table.add("count/reduce/affine", |env| reduce(env, &algebra::affine()));
    table.add("count/scan/u32", |env| scan(env, &algebra::builtin::<u32>(Op::Add), Shape::default()));
    table.add("count/scan_in_place/affine", |env| {
        scan(env, &algebra::affine(), Shape { in_place: true, exclusive: true, ..Default::default() });
    });
    table.add("count/scan_apart/last_nonzero", |env| {
        scan(env, &algebra::last_nonzero(), Shape { apart: true, ..Default::default() });
    });
    table.add("count/select/u32", select);
    table.add("count/chained", chained);
    table.add("count/changes_between_runs", changes);
}

/// The counts that are tried with a capacity, and the byte at which each lies.
fn counts(capacity: u32) -> Vec<(u32, u64)> {
    let counts = [0, 1, 7, capacity / 2 + 1, capacity - 1, capacity, capacity + 1, capacity + 1000, u32::MAX];
    let places = [0, 4, 12, 252, 256, 260, 1020, 500, 8];
    counts.into_iter().zip(places).collect()
}

fn reduce<T: Item>(env: &Env, algebra: &Algebra<T>) {
    let plan = Reduce::with_tuning(&env.gpu, algebra.operator.clone(), env.tight()).expect("a valid plan");
    // One workgroup alone, and more tiles than workgroups.
    for capacity in [100u32, 7000] {
        let items = algebra.items(capacity as usize + 2000);
        let input = env.input(5, &items);
        for (n, place) in counts(capacity) {
            let (output, count) = (env.output::<T>(1, 1), env.count(place, n));
            let count = Count::Gpu { count: count.slice(), capacity };
            env.submit(&[&plan.prepare(input.slice(), output.slice(), count).expect("a valid call")]);
            let used = n.min(capacity) as usize;
            let want = oracle::reduce(algebra.identity, &algebra.combine, &items[..used]);
            assert_items(&env.read::<T>(&output), &[want], || format!("count {n} of {capacity} at byte {place}"));
        }
    }
}

fn scan<T: Item>(env: &Env, algebra: &Algebra<T>, shape: Shape) {
    let plan = scan::plan(env, algebra, shape, env.tight());
    for capacity in [100u32, 7000] {
        let items = algebra.items(capacity as usize);
        let input = env.input(5, &items);
        for (n, place) in counts(capacity) {
            let count_room = env.count(place, n);
            let count = Count::Gpu { count: count_room.slice(), capacity };
            let used = n.min(capacity) as usize;
            let mut want = scan::want(algebra, shape, &items[..used]);
            let what = || format!("count {n} of {capacity} at byte {place}, {shape:?}");
            if shape.in_place {
                let output = env.input(2, &items);
                env.submit(&[&plan.prepare_in_place(output.slice(), count).expect("a valid call")]);
                // What lies behind the count stays as it was.
                want.extend(&items[used..]);
                assert_items(&env.read::<T>(&output), &want, what);
            } else {
                let output = env.output::<T>(if shape.apart { 6 } else { 5 }, items.len());
                env.submit(&[&plan.prepare(input.slice(), output.slice(), count).expect("a valid call")]);
                let got = env.read_bytes(&output);
                let (got, rest) = got.split_at(used * size_of::<T>());
                assert_items(&bytemuck::pod_collect_to_vec::<u8, T>(got), &want, what);
                assert!(is_untouched(rest), "something was written behind {}", what());
            }
        }
    }
}

fn select(env: &Env) {
    let plan =
        Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("(x & 1u) == 1u"), env.tight()).expect("a valid plan");
    for capacity in [100u32, 7000] {
        let items = algebra::builtin::<u32>(Op::Add).items(capacity as usize + 2000);
        let input = env.input(1, &items);
        for (n, place) in counts(capacity) {
            let (kept, kept_count) = (env.output::<u32>(3, capacity as usize), env.room(12, 4));
            let count = env.count(place, n);
            let count = Count::Gpu { count: count.slice(), capacity };
            let call = plan.prepare(input.slice(), kept.slice(), kept_count.slice(), count).expect("a valid call");
            env.submit(&[&call]);
            let want = oracle::select(|x, _| x & 1 == 1, &items[..n.min(capacity) as usize]);
            assert_eq!(env.read::<u32>(&kept_count), [want.len() as u32], "count {n} of {capacity} at byte {place}");
            let got = env.read_bytes(&kept);
            let (got, rest) = got.split_at(want.len() * 4);
            assert_items(&bytemuck::pod_collect_to_vec::<u8, u32>(got), &want, || format!("count {n} of {capacity}"));
            assert!(is_untouched(rest), "count {n} of {capacity}");
        }
    }
}

/// What one call writes is the count of the next, in one pass.
fn chained(env: &Env) {
    let select = Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("(x & 3u) == 2u"), env.tight());
    let scan = Scan::<u32>::with_options(&env.gpu, Op::Add, ScanOptions::inclusive().tuning(env.tight()));
    let reduce = Reduce::<u32>::with_tuning(&env.gpu, Op::Add, env.tight());
    let (select, scan, reduce) =
        (select.expect("a valid plan"), scan.expect("a valid plan"), reduce.expect("a valid plan"));
    let n = 6001;
    let items = algebra::builtin::<u32>(Op::Add).items(n);
    let input = env.input(3, &items);
    let (kept, count) = (env.output::<u32>(1, n), env.room(20, 4));
    let (scanned, sum) = (env.output::<u32>(5, n), env.output::<u32>(0, 1));
    let after = Count::Gpu { count: count.slice(), capacity: n as u32 };
    let calls = [
        select.prepare(input.slice(), kept.slice(), count.slice(), Count::Host(n as u32)).expect("a valid call"),
        scan.prepare(kept.slice(), scanned.slice(), after).expect("a valid call"),
        reduce.prepare(scanned.slice(), sum.slice(), after).expect("a valid call"),
    ];
    env.submit(&calls.each_ref());
    let add = |a: u32, b: u32| a.wrapping_add(b);
    let want = oracle::scan_inclusive(0, add, &oracle::select(|x, _| x & 3 == 2, &items));
    assert_eq!(env.read::<u32>(&sum), [oracle::reduce(0, add, &want)]);
    let got = env.read_bytes(&scanned);
    let (got, rest) = got.split_at(want.len() * 4);
    assert_items(&bytemuck::pod_collect_to_vec::<u8, u32>(got), &want, || "scan of the kept items".into());
    assert!(is_untouched(rest), "something was written behind the scan");
}

/// One prepared call follows its count from run to run, up and down.
fn changes(env: &Env) {
    let algebra = algebra::affine();
    let plan = Reduce::with_tuning(&env.gpu, algebra.operator.clone(), env.tight()).expect("a valid plan");
    let items = algebra.items(5000);
    let (input, output, count) = (env.input(1, &items), env.output::<algebra::Affine>(1, 1), env.count(4, 0));
    let call = plan
        .prepare(input.slice(), output.slice(), Count::Gpu { count: count.slice(), capacity: 5000 })
        .expect("a valid call");
    for n in [5000u32, 0, 1, 4999, 130, 9999, 2000] {
        env.gpu.queue().write_buffer(&count.buffer, 4, bytemuck::bytes_of(&n));
        env.submit(&[&call]);
        let want = oracle::reduce(algebra.identity, &algebra.combine, &items[..(n as usize).min(5000)]);
        assert_items(&env.read(&output), &[want], || format!("count {n}"));
    }
}
