//! Select: what is kept, how many, and the dispatch arguments.

use wavelane::primitive::{Count, DispatchArgs, Predicate, Select, Tuning};
use wavelane::{Op, wgpu};

use crate::algebra::{self, Affine, Algebra, Item, Moments};
use crate::harness::{Env, Paths, Table, assert_items, is_untouched};
use crate::oracle;

pub(crate) fn rows(table: &mut Table) {
    fn row<T: Item>(
        table: &mut Table,
        name: &str,
        needs: wgpu::Features,
        algebra: fn() -> Algebra<T>,
        predicate: fn() -> Predicate,
        keep: fn(T, u32) -> bool,
    ) {
        table.push(format!("select/{name}/{}", T::TYPE.ident()), Paths::Every, needs, move |env| {
            let tuning = if env.main { Select::<T>::default_tuning(&env.gpu) } else { env.tight() };
            check(env, &algebra(), predicate(), keep, tuning, &env.sizes(tuning, size_of::<T>()));
        });
    }
    let none = wgpu::Features::empty();
    let words = || algebra::builtin::<u32>(Op::Add);
    row(table, "half", none, words, || Predicate::wgsl("x >= 0x80000000u"), |x: u32, _| x >= 0x8000_0000);
    row(table, "all", none, words, || Predicate::wgsl("true"), |_: u32, _| true);
    row(table, "none", none, words, || Predicate::wgsl("false"), |_: u32, _| false);
    row(table, "few", none, words, || Predicate::wgsl("x < 0x01000000u"), |x: u32, _| x < 0x100_0000);
    row(table, "by_index", none, words, || Predicate::wgsl("(i & 7u) == 5u"), |_: u32, i| i & 7 == 5);
    row(
        table,
        "remainder",
        none,
        words,
        || Predicate::wgsl("x % 3u == 1u || i % 5u == 0u"),
        |x: u32, i| x % 3 == 1 || i.is_multiple_of(5),
    );
    let floats = || algebra::builtin::<f32>(Op::Add);
    row(table, "positive", none, floats, || Predicate::wgsl("x > 0.0"), |x: f32, _| x > 0.0);
    let signed = || algebra::builtin::<i32>(Op::Add);
    row(table, "negative", none, signed, || Predicate::wgsl("x < 0"), |x: i32, _| x < 0);
    let pairs = || algebra::builtin::<[f32; 2]>(Op::Add);
    row(table, "ordered", none, pairs, || Predicate::wgsl("x.x < x.y"), |x: [f32; 2], _| x[0] < x[1]);
    let quads = || algebra::builtin::<[u32; 4]>(Op::Add);
    row(
        table,
        "any_low",
        none,
        quads,
        || Predicate::wgsl("any(x < vec4<u32>(0x20000000u))"),
        |x: [u32; 4], _| x.iter().any(|x| *x < 0x2000_0000),
    );
    let longs = || algebra::builtin::<u64>(Op::Add);
    row(
        table,
        "long",
        wgpu::Features::SHADER_INT64,
        longs,
        || Predicate::wgsl("x > 0x4000000000000000lu"),
        |x: u64, _| x > 0x4000_0000_0000_0000,
    );
    row(
        table,
        "field",
        none,
        algebra::affine,
        || Predicate::wgsl("x.b > x.a && i != 0u"),
        |x: Affine, i| x.b > x.a && i != 0,
    );
    row(
        table,
        "function",
        none,
        algebra::moments,
        || {
            Predicate::function(
                "const limit = 2.0;
                 fn energy(x: Moments) -> f32 { return x.squares; }
                 fn predicate(x: Moments, i: u32) -> bool {
                   if (i & 1u) == 0u { return energy(x) > limit; }
                   return x.sum < 0.0;
                 }",
            )
        },
        |x: Moments, i| if i & 1 == 0 { x.squares > 2.0 } else { x.sum < 0.0 },
    );
    table.add("select/dispatch_args", dispatch_args);
    table.add_main("select/dispatch_args_many", dispatch_args_many);
    table.add("select/dispatch_args_run", dispatch_args_run);
}

/// Selects from ranges of these sizes that begin at the elements 0 to 7, in turn, and compares.
pub(crate) fn check<T: Item>(
    env: &Env,
    algebra: &Algebra<T>,
    predicate: Predicate,
    keep: impl Fn(T, u32) -> bool,
    tuning: Tuning,
    sizes: &[usize],
) {
    let plan = Select::<T>::with_tuning(&env.gpu, predicate, tuning).expect("a valid plan");
    let most = sizes.iter().max().expect("some sizes");
    let items = algebra.items(most + 8);
    let input = env.input(3, &items);
    let item = size_of::<T>();
    let mut calls = Vec::new();
    for (i, &n) in sizes.iter().enumerate() {
        let begin = i % 8;
        let first = input.first + (begin * item) as u64;
        let kept = env.output::<T>((i * 3) % 7, n);
        let count = env.room(4 * (i as u64 % 67), 4);
        let args = env.room(4 * (i as u64 % 5), 12);
        let range = input.buffer.slice(first..first + (n * item) as u64);
        let each = [1, 3, 64, 1000][i % 4];
        let dispatch = DispatchArgs { args: args.slice(), items_per_workgroup: each };
        let call = plan
            .prepare_with_args(range, kept.slice(), count.slice(), dispatch, Count::Host(n as u32))
            .expect("a valid call");
        calls.push((call, kept, count, args, each, begin, n));
    }
    env.submit(&calls.iter().map(|(call, ..)| call).collect::<Vec<_>>());
    for (_, kept, count, args, each, begin, n) in &calls {
        let want = oracle::select(&keep, &items[*begin..begin + n]);
        let what = || format!("{n} items from element {begin}, {tuning:?}");
        assert_eq!(env.read::<u32>(count), [want.len() as u32], "count of {}", what());
        let got = env.read_bytes(kept);
        let (got, rest) = got.split_at(want.len() * item);
        assert_items(&bytemuck::pod_collect_to_vec::<u8, T>(got), &want, what);
        assert!(is_untouched(rest), "something was written behind the kept items of {}", what());
        let want_args = oracle::dispatch_args(want.len() as u32, *each);
        assert_eq!(env.read::<u32>(args), want_args, "{each} items a workgroup, {}", what());
    }
}

/// Counts that are, or are next to, multiples of the items a workgroup; and the largest of these.
fn dispatch_args(env: &Env) {
    let plan = Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("true"), env.tight()).expect("a valid plan");
    let input = env.input(0, &[7u32; 300]);
    for each in [1, 2, 99, 100, 101, u32::MAX - 1, u32::MAX] {
        for n in [0, 1, 99, 100, 101, 300] {
            let (kept, count, args) = (env.output::<u32>(0, 300), env.room(0, 4), env.room(8, 12));
            let dispatch = DispatchArgs { args: args.slice(), items_per_workgroup: each };
            let call = plan
                .prepare_with_args(input.slice(), kept.slice(), count.slice(), dispatch, Count::Host(n))
                .expect("a valid call");
            env.submit(&[&call]);
            let want = oracle::dispatch_args(n, each);
            assert_eq!(env.read::<u32>(&args), want, "{n} items, {each} a workgroup");
        }
    }
}

/// More workgroups than one dimension of a dispatch holds.
fn dispatch_args_many(env: &Env) {
    let plan = Select::<u32>::new(&env.gpu, Predicate::wgsl("true")).expect("a valid plan");
    let items = vec![1u32; 3 * 65_535];
    let input = env.input(0, &items);
    for n in [65_534, 65_535, 65_536, 2 * 65_535, 2 * 65_535 + 1, 3 * 65_535] {
        let (kept, count, args) = (env.output::<u32>(0, items.len()), env.room(0, 4), env.room(4, 12));
        let dispatch = DispatchArgs { args: args.slice(), items_per_workgroup: 1 };
        let call = plan
            .prepare_with_args(input.slice(), kept.slice(), count.slice(), dispatch, Count::Host(n))
            .expect("a valid call");
        env.submit(&[&call]);
        let got = env.read::<u32>(&args);
        assert_eq!(got, oracle::dispatch_args(n, 1), "{n} workgroups");
        assert!(got[0] * got[1] >= n && got[0] <= 65_535 && got[1] <= 65_535, "{n} workgroups");
    }
}

/// The arguments are what an indirect dispatch wants: a kernel of the caller's counts its workgroups.
fn dispatch_args_run(env: &Env) {
    let device = env.gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("caller's kernel"),
        source: wgpu::ShaderSource::Wgsl(
            "@group(0) @binding(0) var<storage, read_write> groups: atomic<u32>;
             @compute @workgroup_size(1) fn caller() { atomicAdd(&groups, 1u); }"
                .into(),
        ),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("caller's kernel"),
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let plan = Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("x > 10u"), env.tight()).expect("a valid plan");
    for (items, want) in [(vec![50u32; 1000], 16), (vec![0; 1000], 0), (vec![11], 1)] {
        let (input, kept) = (env.input(1, &items), env.output::<u32>(2, items.len()));
        let (count, args) = (env.room(0, 4), env.room(4, 12));
        let groups = env.input(0, &[0u32]);
        let dispatch = DispatchArgs { args: args.slice(), items_per_workgroup: 64 };
        let call = plan
            .prepare_with_args(input.slice(), kept.slice(), count.slice(), dispatch, Count::Host(items.len() as u32))
            .expect("a valid call");
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &groups.buffer,
                    offset: 0,
                    size: wgpu::BufferSize::new(4),
                }),
            }],
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            call.record(&mut pass);
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups_indirect(&args.buffer, 4);
        }
        env.gpu.queue().submit([encoder.finish()]);
        assert_eq!(env.read::<u32>(&groups), [want], "{} items", items.len());
    }
}
