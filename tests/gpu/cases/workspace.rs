//! Scratch memory and prepared calls that are used again.

use wavelane::primitive::{Count, Predicate, Reduce, Scan, ScanOptions, Select, Workspace};
use wavelane::{ErrorKind, Op};

use super::scan::{self, Shape};
use crate::algebra::{self, Affine};
use crate::harness::{Env, Table, assert_items, assert_refused, skip};
use crate::oracle;

pub(crate) fn rows(table: &mut Table) {
    table.add("workspace/large_small_large", large_small_large);
    table.add("workspace/shared", shared);
    table.add("workspace/reset", reset);
    table.add("workspace/too_small", too_small);
    table.add_main("workspace/larger_than_a_binding", larger_than_a_binding);
    table.add("prepared/many_times_in_one_pass", many_times);
    table.add("prepared/in_place_again_and_again", in_place_again);
    table.add("prepared/outlives_its_plan", outlives);
}

/// One workspace, more workgroups and fewer in turn: what one call leaves must not reach the next.
fn large_small_large(env: &Env) {
    let algebra = algebra::affine();
    let items = algebra.items(9000);
    let input = env.input(2, &items);
    let reduce = Reduce::with_tuning(&env.gpu, algebra.operator.clone(), env.tight()).expect("a valid plan");
    let plan = scan::plan(env, &algebra, Shape::default(), env.tight());
    let reduce_space = Workspace::new(&env.gpu, reduce.workspace_bytes(9000)).expect("memory");
    let scan_space = Workspace::new(&env.gpu, plan.workspace_bytes(9000)).expect("memory");
    for n in [9000usize, 100, 1, 0, 300, 9000, 257, 8999] {
        let (output, scanned) = (env.output::<Affine>(1, 1), env.output::<Affine>(1, n));
        let (range, count) = (input.first((n * 8) as u64), Count::Host(n as u32));
        let calls = [
            reduce.prepare_in(range, output.slice(), count, &reduce_space).expect("a valid call"),
            plan.prepare_in(range, scanned.slice(), count, &scan_space).expect("a valid call"),
        ];
        env.submit(&calls.each_ref());
        let want = oracle::reduce(algebra.identity, &algebra.combine, &items[..n]);
        assert_items(&env.read(&output), &[want], || format!("reduce of {n}"));
        let want = oracle::scan_inclusive(algebra.identity, &algebra.combine, &items[..n]);
        assert_items(&env.read(&scanned), &want, || format!("scan of {n}"));
    }
}

/// One workspace for calls of different plans, in every order, in one pass.
fn shared(env: &Env) {
    let n = 7001usize;
    let algebra = algebra::builtin::<u32>(Op::Add);
    let items = algebra.items(n);
    let input = env.input(2, &items);
    let reduce = Reduce::<u32>::with_tuning(&env.gpu, Op::Add, env.tight()).expect("a valid plan");
    let plan = scan::plan(env, &algebra, Shape::default(), env.tight());
    let in_place = scan::plan(env, &algebra, Shape { in_place: true, ..Default::default() }, env.tight());
    let select = Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("(x & 1u) == 1u"), env.tight());
    let select = select.expect("a valid plan");
    let count = Count::Host(n as u32);
    let bytes = [reduce.workspace_bytes(n as u32), plan.workspace_bytes(n as u32), select.workspace_bytes(n as u32)];
    let bytes = bytes.into_iter().max().unwrap_or(0).max(in_place.workspace_bytes(n as u32));
    let space = Workspace::new(&env.gpu, bytes).expect("memory");
    let output = env.output::<u32>(1, 1);
    let scanned = env.output::<u32>(2, n);
    let overwritten = env.input(3, &items);
    let (kept, kept_count) = (env.output::<u32>(0, n), env.room(4, 4));
    let reduce = reduce.prepare_in(input.slice(), output.slice(), count, &space).expect("a valid call");
    let plan = plan.prepare_in(input.slice(), scanned.slice(), count, &space).expect("a valid call");
    let select =
        select.prepare_in(input.slice(), kept.slice(), kept_count.slice(), None, count, &space).expect("a valid call");
    let in_place = in_place.prepare_in_place_in(overwritten.slice(), count, &space).expect("a valid call");
    let want_sum = oracle::reduce(0, &algebra.combine, &items);
    let want_scan = oracle::scan_inclusive(0, &algebra.combine, &items);
    let want_kept = oracle::select(|x, _| x & 1 == 1, &items);
    for order in [
        [&reduce, &plan, &in_place, &select],
        [&in_place, &plan, &reduce, &select],
        [&select, &plan, &reduce, &in_place],
    ] {
        env.gpu.queue().write_buffer(&overwritten.buffer, overwritten.first, bytemuck::cast_slice(&items));
        for room in [&output, &scanned, &kept_count] {
            env.gpu.queue().write_buffer(&room.buffer, room.first, &vec![0xa5; room.bytes as usize]);
        }
        env.submit(&order);
        assert_eq!(env.read::<u32>(&output), [want_sum]);
        assert_items(&env.read(&scanned), &want_scan, || "scan".into());
        assert_items(&env.read(&overwritten), &want_scan, || "scan in place".into());
        assert_eq!(env.read::<u32>(&kept_count), [want_kept.len() as u32]);
        assert_items(&env.read::<u32>(&kept)[..want_kept.len()], &want_kept, || "select".into());
    }
}

fn reset(env: &Env) {
    let items = algebra::builtin::<u32>(Op::Add).items(7000);
    let (input, output) = (env.input(0, &items), env.output::<u32>(0, 1));
    let plan = Reduce::<u32>::with_tuning(&env.gpu, Op::Add, env.tight()).expect("a valid plan");
    let space = Workspace::new(&env.gpu, plan.workspace_bytes(7000) + 100).expect("memory");
    assert!(space.bytes() >= plan.workspace_bytes(7000) + 100);
    let call = plan.prepare_in(input.slice(), output.slice(), Count::Host(7000), &space).expect("a valid call");
    let mut encoder = env.gpu.device().create_command_encoder(&Default::default());
    call.encode(&mut encoder);
    space.reset(&mut encoder);
    call.encode(&mut encoder);
    env.gpu.queue().submit([encoder.finish()]);
    assert_eq!(env.read::<u32>(&output), [items.iter().fold(0, |a: u32, b| a.wrapping_add(*b))]);
}

fn too_small(env: &Env) {
    let (input, output) = (env.room(0, 40_000), env.room(0, 40_000));
    let tuning = env.tight();
    let reduce = Reduce::<u32>::with_tuning(&env.gpu, Op::Add, tuning).expect("a valid plan");
    let needs = reduce.workspace_bytes(10_000);
    let space = Workspace::new(&env.gpu, needs - 4).expect("memory");
    let call = reduce.prepare_in(input.slice(), output.first(4), Count::Host(10_000), &space);
    let numbers = [format!("has {} bytes", needs - 4), format!("needs {needs}")];
    assert_refused(call, ErrorKind::InvalidArgument, &numbers);
    let plan = Scan::<u32>::with_options(&env.gpu, Op::Add, ScanOptions::inclusive().tuning(tuning));
    let plan = plan.expect("a valid plan");
    let needs = plan.workspace_bytes(10_000);
    let space = Workspace::new(&env.gpu, needs - 4).expect("memory");
    let call = plan.prepare_in(input.slice(), output.slice(), Count::Host(10_000), &space);
    assert_refused(call, ErrorKind::InvalidArgument, &["the workspace has", &format!("needs {needs}")]);
    let select = Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("true"), tuning).expect("a valid plan");
    let needs = select.workspace_bytes(10_000);
    let space = Workspace::new(&env.gpu, needs - 4).expect("memory");
    let kept_count = env.room(0, 4);
    let call = select.prepare_in(input.slice(), output.slice(), kept_count.slice(), None, Count::Host(10_000), &space);
    assert_refused(call, ErrorKind::InvalidArgument, &["the workspace has", &format!("needs {needs}")]);
}

/// A workspace may be larger than a binding can be: a call binds what it needs.
fn larger_than_a_binding(env: &Env) {
    let limits = env.gpu.limits();
    let bytes = limits.max_storage_buffer_binding_size + 1024;
    // Not where that would be most of the memory there is.
    if bytes > limits.max_buffer_size || bytes > 1 << 30 {
        skip(format!("no buffer is larger than a binding here, or one takes {bytes} bytes"));
    }
    let space = Workspace::new(&env.gpu, bytes).expect("memory");
    let items = vec![3u32; 5000];
    let (input, output) = (env.input(0, &items), env.output::<u32>(0, 1));
    let plan = Reduce::<u32>::new(&env.gpu, Op::Add).expect("a valid plan");
    let call = plan.prepare_in(input.slice(), output.slice(), Count::Host(5000), &space).expect("a valid call");
    env.submit(&[&call]);
    assert_eq!(env.read::<u32>(&output), [15_000]);
}

/// A prepared call is recorded as often as one likes, also side by side in one pass, and into several submissions.
fn many_times(env: &Env) {
    let algebra = algebra::affine();
    let items = algebra.items(7000);
    let (input, output) = (env.input(2, &items), env.output::<Affine>(1, 1));
    let plan = Reduce::with_tuning(&env.gpu, algebra.operator.clone(), env.tight()).expect("a valid plan");
    let call = plan.prepare(input.slice(), output.slice(), Count::Host(7000)).expect("a valid call");
    let want = oracle::reduce(algebra.identity, &algebra.combine, &items);
    for _ in 0..3 {
        env.gpu.queue().write_buffer(&output.buffer, output.first, &[0xa5; 8]);
        env.submit(&[&call; 20]);
        assert_items(&env.read(&output), &[want], || "20 times in one pass".into());
    }
}

/// Scanning in place twice is the scan of the scan: the second waits for the first.
fn in_place_again(env: &Env) {
    let algebra = algebra::builtin::<u32>(Op::Add);
    let items = algebra.items(7000);
    let plan = scan::plan(env, &algebra, Shape { in_place: true, ..Default::default() }, env.tight());
    let room = env.input(3, &items);
    let call = plan.prepare_in_place(room.slice(), Count::Host(7000)).expect("a valid call");
    env.submit(&[&call; 4]);
    let mut want = items;
    for _ in 0..4 {
        want = oracle::scan_inclusive(0, &algebra.combine, &want);
    }
    assert_items(&env.read(&room), &want, || "four scans".into());
}

/// A call keeps alive what it needs.
fn outlives(env: &Env) {
    let items = algebra::builtin::<u32>(Op::Add).items(3000);
    let (input, output) = (env.input(0, &items), env.output::<u32>(0, 1));
    let call = {
        let plan = Reduce::<u32>::with_tuning(&env.gpu, Op::Add, env.tight()).expect("a valid plan");
        let space = Workspace::new(&env.gpu, plan.workspace_bytes(3000)).expect("memory");
        plan.prepare_in(input.slice(), output.slice(), Count::Host(3000), &space).expect("a valid call")
    };
    assert_eq!(call.dispatches(), 1 + usize::from(env.gpu.info().backend == wgpu::Backend::Metal));
    let call = std::thread::spawn(move || call.clone()).join().expect("a call can be sent to another thread");
    env.submit(&[&call]);
    assert_eq!(env.read::<u32>(&output), [items.iter().fold(0, |a: u32, b| a.wrapping_add(*b))]);
}
