//! Every refusal of the device-level primitives: its kind, and the numbers in its message.

use wavelane::primitive::{Count, DispatchArgs, Predicate, Reduce, Scan, ScanOptions, Select, Tuning, Workspace};
use wavelane::{Error, ErrorKind, F16, Gpu, Op, Operator, SubgroupPath, wgpu};

use crate::algebra::{Affine, Moments};
use crate::harness::{Env, Guarded, Paths, Table, USAGE, assert_refused, skip};

pub(crate) fn rows(table: &mut Table) {
    table.add_main("errors/usage", usage);
    table.add_main("errors/too_small", too_small);
    table.add_main("errors/misaligned", misaligned);
    table.add_main("errors/read_and_written", read_and_written);
    table.add_main("errors/in_place", in_place);
    table.add_main("errors/dispatch_args", dispatch_args);
    table.add_main("errors/over_the_binding_limit", over_the_binding_limit);
    table.add_main("errors/too_many_items", too_many_items);
    table.add_main("errors/workspace_too_large", workspace_too_large);
    table.add_main("errors/operator_undefined", operator_undefined);
    table.add_main("errors/missing_feature", missing_feature);
    table.push("errors/element_of_two_bytes", Paths::Main, wgpu::Features::SHADER_F16, element_of_two_bytes);
    table.add_main("errors/huge_element", huge_element);
    table.add_main("errors/tuning", tuning);
    table.add_main("errors/path", path);
    table.add_main("errors/operator_text", operator_text);
    table.add_main("errors/predicate_text", predicate_text);
    table.add_main("errors/layout", layout);
    table.add_main("errors/workgroup_memory", workgroup_memory);
}

const ARGUMENT: ErrorKind = ErrorKind::InvalidArgument;

/// Plans whose pipelines other cases build too.
struct Plans {
    reduce: Reduce<u32>,
    scan: Scan<u32>,
    select: Select<u32>,
    /// A count's room, for the calls of `select`.
    kept_count: Guarded,
}

impl Plans {
    fn new(env: &Env) -> Self {
        Self {
            reduce: Reduce::new(&env.gpu, Op::Add).expect("a valid plan"),
            scan: Scan::inclusive(&env.gpu, Op::Add).expect("a valid plan"),
            select: Select::new(&env.gpu, Predicate::wgsl("true")).expect("a valid plan"),
            kept_count: env.room(0, 4),
        }
    }

    fn select(&self, input: wgpu::BufferSlice<'_>, kept: wgpu::BufferSlice<'_>, count: Count<'_>) -> Result<(), Error> {
        self.select.prepare(input, kept, self.kept_count.slice(), count).map(drop)
    }
}

fn usage(env: &Env) {
    let plans = Plans::new(env);
    let good = env.room(0, 400);
    let bad = env.buffer(400, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::UNIFORM);
    let count = Count::Host(100);
    let other = env.room(0, 400);
    for (role, refused) in [
        ("the input", plans.reduce.prepare(bad.slice(..), good.first(4), count).map(drop)),
        ("the output", plans.reduce.prepare(good.slice(), bad.slice(..4), count).map(drop)),
        ("the input", plans.scan.prepare(bad.slice(..), good.slice(), count).map(drop)),
        ("the output", plans.scan.prepare(good.slice(), bad.slice(..), count).map(drop)),
        ("the input", plans.select(bad.slice(..), good.slice(), count)),
        ("the output of kept items", plans.select(good.slice(), bad.slice(..), count)),
        ("the output of the count", plans.select.prepare(good.slice(), other.slice(), bad.slice(..4), count).map(drop)),
        (
            "the count",
            plans
                .reduce
                .prepare(good.slice(), other.first(4), Count::Gpu { count: bad.slice(..4), capacity: 100 })
                .map(drop),
        ),
    ] {
        assert_refused(refused, ARGUMENT, &[role, "without usage STORAGE", "COPY_DST | UNIFORM"]);
    }
}

fn too_small(env: &Env) {
    let plans = Plans::new(env);
    let (good, other) = (env.room(0, 400), env.room(0, 400));
    let count = Count::Host(100);
    let small = ["has 396 bytes", "100 elements of 4 bytes need 400"];
    assert_refused(plans.reduce.prepare(good.first(396), other.first(4), count), ARGUMENT, &small);
    assert_refused(plans.scan.prepare(good.first(396), other.slice(), count), ARGUMENT, &small);
    assert_refused(plans.scan.prepare(good.slice(), other.first(396), count), ARGUMENT, &small);
    assert_refused(plans.select(good.first(396), other.slice(), count), ARGUMENT, &small);
    assert_refused(plans.select(good.slice(), other.first(396), count), ARGUMENT, &small);
    let empty = ["has 0 bytes", "1 elements of 4 bytes need 4"];
    assert_refused(plans.reduce.prepare(good.slice(), other.first(0), count), ARGUMENT, &empty);
    let call = plans.select.prepare(good.slice(), other.slice(), plans.kept_count.first(0), count);
    assert_refused(call, ARGUMENT, &["the output of the count", "has 0 bytes"]);
    let unread = env.room(0, 4);
    let capacity = Count::Gpu { count: unread.slice(), capacity: 101 };
    let call = plans.reduce.prepare(good.slice(), other.first(4), capacity);
    assert_refused(call, ARGUMENT, &["has 400 bytes", "101 elements of 4 bytes need 404"]);
    let nowhere = Count::Gpu { count: unread.first(0), capacity: 100 };
    assert_refused(plans.reduce.prepare(good.slice(), other.first(4), nowhere), ARGUMENT, &["the count", "0 bytes"]);
    // Nothing is needed for nothing.
    plans.scan.prepare(good.first(0), other.first(0), Count::Host(0)).expect("an empty scan");
    plans.reduce.prepare(good.first(0), other.first(4), Count::Host(0)).expect("an empty reduction");
}

fn misaligned(env: &Env) {
    let plans = Plans::new(env);
    let (buffer, other) = (env.buffer(8192, USAGE), env.buffer(8192, USAGE));
    let count = Count::Host(10);
    for first in [1, 2, 3, 257] {
        let place = format!("begins at byte {first}, which is no multiple of 4");
        let range = buffer.slice(first..first + 40);
        assert_refused(plans.reduce.prepare(range, other.slice(..4), count), ARGUMENT, &["the input", &place]);
        assert_refused(plans.scan.prepare(range, other.slice(..), count), ARGUMENT, &["the input", &place]);
        assert_refused(plans.scan.prepare(other.slice(..), range, count), ARGUMENT, &["the output", &place]);
        let counted = Count::Gpu { count: buffer.slice(first..), capacity: 10 };
        assert_refused(plans.scan.prepare(other.slice(..), other.slice(..), counted), ARGUMENT, &[&place]);
    }
    // Elements that are no whole number of which away from any offset at which a binding may begin.
    let quads = Reduce::<[u32; 4]>::new(&env.gpu, Op::Add).expect("a valid plan");
    let call = quads.prepare(buffer.slice(8..8 + 160), other.slice(..16), count);
    assert_refused(call, ARGUMENT, &["begins at byte 8", "multiple of 256", "16-byte elements", "multiple of 16"]);
    let triples = triples(env);
    let call = triples.prepare(buffer.slice(4..4 + 120), other.slice(..12), count);
    assert_refused(call, ARGUMENT, &["begins at byte 4", "12-byte elements"]);
    // Byte 520 is 22 elements of 12 bytes away from byte 256.
    triples.prepare(buffer.slice(520..640), other.slice(..12), count).expect("a range between two offsets");
}

fn triples(env: &Env) -> Reduce<Moments> {
    let moments = crate::algebra::moments();
    Reduce::with_tuning(&env.gpu, moments.operator, env.tight()).expect("a valid plan")
}

fn read_and_written(env: &Env) {
    let plans = Plans::new(env);
    let (one, other) = (env.room(0, 4096), env.room(0, 4096));
    let halves = (one.buffer.slice(..400), one.buffer.slice(2048..2448));
    let count = Count::Host(100);
    let refused = |result: Result<(), Error>, read: &str, written: &str| {
        let parts = [format!("both the {read} and the {written}"), "even at disjoint ranges".into()];
        assert_refused(result, ARGUMENT, &parts);
    };
    refused(plans.reduce.prepare(halves.0, halves.1, count).map(drop), "input", "output");
    refused(plans.scan.prepare(halves.0, halves.1, count).map(drop), "input", "output");
    refused(plans.select(halves.0, halves.1, count), "input", "output of kept items");
    refused(plans.select.prepare(halves.0, other.slice(), halves.1, count).map(drop), "input", "output of the count");
    let counted = Count::Gpu { count: halves.1, capacity: 100 };
    refused(plans.scan.prepare(other.slice(), halves.0, counted).map(drop), "count", "output");
    let args = DispatchArgs { args: halves.1, items_per_workgroup: 1 };
    let call = plans.select.prepare_with_args(halves.0, other.slice(), plans.kept_count.slice(), args, count);
    refused(call.map(drop), "input", "dispatch arguments");
    // Outputs that overlap.
    let count_room = one.buffer.slice(396..400);
    let call = plans.select.prepare(other.slice(), halves.0, count_room, count);
    assert_refused(
        call,
        ARGUMENT,
        &["output of kept items (bytes 0 to 400)", "output of the count (bytes 396 to 400)", "overlap"],
    );
    let args = DispatchArgs { args: one.buffer.slice(392..), items_per_workgroup: 1 };
    let call = plans.select.prepare_with_args(other.slice(), halves.0, halves.1, args, count);
    assert_refused(call, ARGUMENT, &["output of kept items (bytes 0 to 400)", "(bytes 392 to 404)", "overlap"]);
    // Input and count may share a buffer, and so may outputs.
    plans.scan.prepare(halves.0, other.slice(), counted).expect("one buffer that is only read");
    let args = DispatchArgs { args: one.buffer.slice(3000..), items_per_workgroup: 1 };
    plans
        .select
        .prepare_with_args(other.slice(), halves.0, halves.1, args, count)
        .expect("one buffer that is only written");
}

fn in_place(env: &Env) {
    let plans = Plans::new(env);
    let (one, other) = (env.room(0, 400), env.room(0, 400));
    let count = Count::Host(100);
    let call = plans.scan.prepare_in_place(one.slice(), count);
    assert_refused(call, ARGUMENT, &["does not work in place", "ScanOptions::in_place"]);
    let plan = Scan::<u32>::with_options(&env.gpu, Op::Add, ScanOptions::inclusive().in_place()).expect("a valid plan");
    assert_refused(plan.prepare(one.slice(), other.slice(), count), ARGUMENT, &["works in place", "prepare_in_place"]);
}

fn dispatch_args(env: &Env) {
    let plans = Plans::new(env);
    let (one, other) = (env.room(0, 400), env.room(0, 400));
    let count = Count::Host(100);
    let args = |args, items_per_workgroup| {
        let args = DispatchArgs { args, items_per_workgroup };
        plans.select.prepare_with_args(one.slice(), other.slice(), plans.kept_count.slice(), args, count)
    };
    let room = env.room(0, 12);
    assert_refused(args(room.slice(), 0), ARGUMENT, &["0 items a workgroup", "at least 1"]);
    assert_refused(args(room.first(8), 1), ARGUMENT, &["dispatch arguments", "has 8 bytes", "need 12"]);
    assert_refused(args(room.buffer.slice(2..), 1), ARGUMENT, &["dispatch arguments", "byte 2"]);
    let direct = env.buffer(12, wgpu::BufferUsages::STORAGE);
    assert_refused(args(direct.slice(..), 1), ARGUMENT, &["without usage INDIRECT", "STORAGE"]);
    let indirect = env.buffer(12, wgpu::BufferUsages::INDIRECT);
    assert_refused(args(indirect.slice(..), 1), ARGUMENT, &["without usage STORAGE", "INDIRECT"]);
}

fn over_the_binding_limit(env: &Env) {
    let limits = env.gpu.limits();
    let allowed = limits.max_storage_buffer_binding_size;
    let bytes = allowed + 256;
    if bytes > limits.max_buffer_size || bytes > 1 << 30 {
        skip(format!("no buffer is larger than a binding here, or one takes {bytes} bytes"));
    }
    let plans = Plans::new(env);
    let buffer = |usage| {
        env.gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("larger than a binding"),
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    };
    let large = buffer(wgpu::BufferUsages::STORAGE);
    let small = env.room(0, 400);
    let most = (allowed / 4) as u32;
    let parts = [
        format!("({} elements of 4 bytes)", most + 1),
        format!("needs {}", allowed + 4),
        format!("allows {allowed}"),
        "max_storage_buffer_binding_size".to_string(),
    ];
    let count = Count::Host(most + 1);
    assert_refused(plans.reduce.prepare(large.slice(..), small.first(4), count), ErrorKind::LimitTooSmall, &parts);
    let call = plans.reduce.prepare(large.slice(4..), small.first(4), Count::Host(most));
    let numbers = [format!("needs {}", allowed + 4), format!("allows {allowed}")];
    assert_refused(call, ErrorKind::LimitTooSmall, &numbers);
    plans.reduce.prepare(large.slice(..), small.first(4), Count::Host(most)).expect("as much as a binding holds");
    // A range that begins at an offset of its own counts from there.
    plans.reduce.prepare(large.slice(256..), small.first(4), Count::Host(most)).expect("as much as a binding holds");
}

fn too_many_items(env: &Env) {
    let plans = Plans::new(env);
    let (one, other) = (env.room(0, 400), env.room(0, 400));
    let parts = [u32::MAX.to_string(), "too many for one call".into(), "past 2^32 - 1".into()];
    let (count, limit) = (Count::Host(u32::MAX), ErrorKind::LimitTooSmall);
    assert_refused(plans.reduce.prepare(one.slice(), other.first(4), count), limit, &parts);
    assert_refused(plans.select(one.slice(), other.slice(), count), limit, &parts);
    assert_refused(plans.scan.prepare(one.slice(), other.slice(), count), limit, &parts);
    let counted = Count::Gpu { count: plans.kept_count.slice(), capacity: u32::MAX };
    assert_refused(plans.reduce.prepare(one.slice(), other.first(4), counted), limit, &parts);
}

fn workspace_too_large(env: &Env) {
    let allowed = env.gpu.limits().max_buffer_size;
    let Some(bytes) = allowed.checked_add(4) else { skip("no buffer is over the limit of this device") };
    let parts = [format!("needs {bytes}"), format!("allows {allowed}"), "max_buffer_size".into()];
    assert_refused(Workspace::new(&env.gpu, bytes), ErrorKind::LimitTooSmall, &parts);
}

fn operator_undefined(env: &Env) {
    for op in [Op::And, Op::Or, Op::Xor] {
        let parts = [op.name(), "not defined for f32"];
        assert_refused(Reduce::<f32>::new(&env.gpu, op), ARGUMENT, &parts);
        assert_refused(Scan::<f32>::inclusive(&env.gpu, op), ARGUMENT, &parts);
        assert_refused(Scan::<f32>::exclusive(&env.gpu, op), ARGUMENT, &parts);
        assert_refused(env.gpu.reduce(&[1.0f32], op), ARGUMENT, &parts);
        assert_refused(Reduce::<[f32; 2]>::new(&env.gpu, op), ARGUMENT, &[op.name(), "not defined for vec2<f32>"]);
    }
    for op in Op::ALL {
        assert_refused(Reduce::<Affine>::new(&env.gpu, op), ARGUMENT, &[op.name(), "not defined for Affine"]);
    }
}

/// A device that was not asked for 64-bit integers, nor for subgroups.
fn missing_feature(env: &Env) {
    let (adapter, name) = (&env.adapter, &env.gpu.info().name);
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: wavelane::requirements(adapter).limits,
        ..Default::default()
    }))
    .expect("a device without features");
    let gpu = pollster::block_on(Gpu::from_device(adapter, &device, &queue)).expect("no feature is mandatory");
    let missing = ErrorKind::MissingFeature;
    assert_eq!(gpu.path(), SubgroupPath::DEFAULT_EMULATED);
    assert_refused(gpu.with_path(SubgroupPath::Native), missing, &["native subgroups", name, "SUBGROUP"]);
    assert_refused(Reduce::<u64>::new(&gpu, Op::Add), missing, &["u64", "SHADER_INT64"]);
    assert_refused(Scan::<i64>::inclusive(&gpu, Op::Max), missing, &["i64", "SHADER_INT64"]);
    assert_refused(Select::<u64>::new(&gpu, Predicate::wgsl("true")), missing, &["u64", "SHADER_INT64"]);
    assert_refused(Reduce::<F16>::new(&gpu, Op::Add), missing, &["f16", "SHADER_F16"]);
    missing_for_text(&gpu);
    assert_eq!(gpu.reduce(&[1u32, 2, 3], Op::Add).expect("the emulated path"), 6);
    smallest_limits(adapter);
    // A device with wgpu's smallest limits is enough or is refused with the numbers; it is no panic.
    let downlevel = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits::downlevel_defaults(),
        ..Default::default()
    }));
    let (device, queue) = downlevel.expect("a device with small limits");
    let refused = pollster::block_on(Gpu::from_device(adapter, &device, &queue));
    let parts = ["storage bindings needs 8", "allows 4", "requirements(&adapter)"];
    assert_refused(refused, ErrorKind::LimitTooSmall, &parts);
}

/// A device of each limit that the kernels need, at the least that they need and one below.
fn smallest_limits(adapter: &wgpu::Adapter) {
    type Set = fn(&mut wgpu::Limits, u32);
    let cases: [(&str, u32, Set); 5] = [
        ("max_bind_groups", 1, |limits, n| limits.max_bind_groups = n),
        ("max_bindings_per_bind_group", 8, |limits, n| limits.max_bindings_per_bind_group = n),
        ("max_uniform_buffers_per_shader_stage", 1, |limits, n| limits.max_uniform_buffers_per_shader_stage = n),
        ("max_uniform_buffer_binding_size", 36, |limits, n| limits.max_uniform_buffer_binding_size = n.into()),
        ("max_compute_workgroups_per_dimension", 3, |limits, n| limits.max_compute_workgroups_per_dimension = n),
    ];
    for (name, least, set) in cases {
        let open = |n| {
            let mut required_limits = wavelane::requirements(adapter).limits;
            set(&mut required_limits, n);
            let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
            let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("small limits");
            pollster::block_on(Gpu::from_device(adapter, &device, &queue))
        };
        let items = vec![1u32; 100_000];
        assert_eq!(open(least).and_then(|gpu| gpu.reduce(&items, Op::Add)), Ok(100_000), "{name} of {least}");
        let parts = [format!("needs {least}"), format!("allows {}", least - 1), name.into()];
        assert_refused(open(least - 1), ErrorKind::LimitTooSmall, &parts);
    }
}

/// What a caller's text needs of a device without features.
fn missing_for_text(gpu: &Gpu) {
    let missing = ErrorKind::MissingFeature;
    let product = Operator::<u32>::wgsl(
        "fn identity() -> u32 { return 1u; }
         fn combine(a: u32, b: u32) -> u32 { return u32((u64(a) * u64(b)) % 65521lu); }",
    )
    .expect("valid where the device has the type");
    let parts = ["(operator):2:", "needs the device feature SHADER_INT64"];
    assert_refused(Reduce::new(gpu, product.clone()), missing, &parts);
    assert_refused(Scan::inclusive(gpu, product), missing, &parts);
    let predicate = Predicate::wgsl("u64(x) * u64(x) > 0x100000000lu");
    assert_refused(Select::<u32>::new(gpu, predicate), missing, &["(predicate):1:", "feature SHADER_INT64"]);
    let library = wavelane::shader::library(gpu, 32, &[]).expect("no blocks");
    let buffer = "@group(0) @binding(0) var<storage, read_write>";
    for (head, word, statement, feature) in [
        ("enable f16;", "u32", "word = u32(f16(word));", "SHADER_F16"),
        ("enable f16;", "u32", "", "SHADER_F16"),
        ("", "u32", "word = u32(i64(word) >> 1u);", "SHADER_INT64"),
        ("", "u32", "word = u32(f64(word));", "SHADER_F64"),
        ("", "atomic<u64>", "atomicMax(&word, 1lu);", "SHADER_INT64_ATOMIC_MIN_MAX"),
        ("", "atomic<u64>", "atomicAdd(&word, 1lu);", "SHADER_INT64_ATOMIC_ALL_OPS"),
        ("", "atomic<f32>", "atomicAdd(&word, 1.0);", "SHADER_FLOAT32_ATOMIC"),
        ("", "u32", "word = subgroupAdd(word);", "SUBGROUP"),
    ] {
        let kernel = format!("{head}\n{buffer} word: {word};\n@compute @workgroup_size(32) fn own() {{ {statement} }}");
        let kernel = library.with_kernel("own.wgsl", &kernel).expect("valid where the device has it");
        assert_refused(gpu.compute_pipeline(&kernel, "own"), missing, &["needs the device feature", feature]);
    }
}

fn element_of_two_bytes(env: &Env) {
    let parts = ["f16", "2 bytes", "whole 32-bit words"];
    assert_refused(Reduce::<F16>::new(&env.gpu, Op::Add), ARGUMENT, &parts);
    assert_refused(Select::<F16>::new(&env.gpu, Predicate::wgsl("true")), ARGUMENT, &parts);
}

fn tuning(env: &Env) {
    let limits = env.gpu.limits();
    let plan = |workgroup, rows, groups| {
        Reduce::<u32>::with_tuning(&env.gpu, Op::Add, Tuning::new(workgroup, rows, groups)).map(drop)
    };
    for workgroup in [0, 1, 64, 127, 129, 192, 2048, u32::MAX] {
        assert_refused(plan(workgroup, 1, 1), ARGUMENT, &["from 128 to 1024", &format!("not {workgroup}")]);
    }
    for rows in [0, 33, u32::MAX] {
        assert_refused(plan(128, rows, 1), ARGUMENT, &["1 to 32 rows", &format!("not {rows}")]);
    }
    for groups in [0, 65_536, u32::MAX] {
        assert_refused(plan(128, 1, groups), ARGUMENT, &["1 to 65535 workgroups", &format!("not {groups}")]);
    }
    for (fill, tiles) in [(0, 1), (1, 0)] {
        let tuning = Tuning::new(128, 1, 1).deepened(fill, tiles);
        let refused = Reduce::<u32>::with_tuning(&env.gpu, Op::Add, tuning);
        assert_refused(refused, ARGUMENT, &[format!("not {fill} and {tiles}")]);
    }
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    if most < 1024 {
        let parts = ["needs 1024", &format!("allows {most}"), "max_compute_invocations_per_workgroup"];
        assert_refused(plan(1024, 1, 1), ErrorKind::LimitTooSmall, &parts);
    }
    let scan = ScanOptions::inclusive().tuning(Tuning::new(100, 1, 1));
    assert_refused(Scan::<u32>::with_options(&env.gpu, Op::Add, scan), ARGUMENT, &["not 100"]);
    let select = Select::<u32>::with_tuning(&env.gpu, Predicate::wgsl("true"), Tuning::new(128, 40, 1));
    assert_refused(select, ARGUMENT, &["not 40"]);
}

fn path(env: &Env) {
    for lanes in [0, 3, 12, 256, u32::MAX] {
        let parts = ["a power of two from 1 to 128", &format!("not {lanes}")];
        assert_refused(env.gpu.with_path(SubgroupPath::Emulated { lanes }), ARGUMENT, &parts);
    }
}

fn operator_text(env: &Env) {
    let shader = ErrorKind::InvalidShader;
    let identity = "fn identity() -> u32 { return 0u; }\n";
    let combine = "fn combine(a: u32, b: u32) -> u32 { return a + b; }\n";
    for (text, parts) in [
        (identity.to_string(), &["(operator)", "'combine' is missing", "fn combine(a: u32, b: u32) -> u32"][..]),
        (combine.to_string(), &["(operator)", "'identity' is missing"]),
        (format!("{identity}fn combine(a: u32, b: u32) -> u32 {{ return c; }}"), &["(operator):2:", "return c"]),
        (format!("{identity}fn combine(a: f32, b: f32) -> f32 {{ return a; }}"), &["(operator)", "expected"]),
        (format!("{identity}{combine}var<workgroup> shared_word: u32;"), &["shared_word", "address space"]),
        (format!("{identity}{combine}fn wg_reduce() {{}}"), &["'wg_reduce'"]),
        (String::new(), &["'identity' is missing"]),
        (format!("{identity}{combine}fn wait() {{ workgroupBarrier(); }}"), &["barriers have no place"]),
        (format!("{identity}{combine}alias Pack = u32;"), &["'Pack'"]),
    ] {
        assert_refused(Operator::<u32>::wgsl(text), shader, parts);
    }
    // What another text declares does not reach this one.
    let plan = Reduce::new(&env.gpu, Operator::<u32>::wgsl(format!("{identity}{combine}")).expect("valid"));
    plan.expect("a valid plan");
}

fn predicate_text(env: &Env) {
    let shader = ErrorKind::InvalidShader;
    for (expression, part) in [
        ("x >", "(predicate)"),
        ("y > 1u", "y"),
        ("x > 1.0", "(predicate)"),
        ("true; } fn f() { return", "no single expression"),
        ("dev_params.groups > 1u", "dev_params"),
    ] {
        assert_refused(Select::<u32>::new(&env.gpu, Predicate::wgsl(expression)), shader, &[part]);
    }
    let function = Predicate::function("fn keep(x: u32, i: u32) -> bool { return true; }");
    assert_refused(Select::<u32>::new(&env.gpu, function), shader, &["'predicate' is missing"]);
    let function = Predicate::function("fn predicate(x: f32, i: u32) -> bool { return true; }");
    assert_refused(Select::<u32>::new(&env.gpu, function), shader, &["fn predicate(x: u32, i: u32) -> bool"]);
}

/// Rust packs what WGSL spreads.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Packed {
    id: u32,
    at: [f32; 2],
}
wavelane::element!(Packed { id: u32, at: [f32; 2] });

fn layout(env: &Env) {
    let parts = ["Packed.at", "byte 4 in Rust", "byte 8 in WGSL"];
    assert_refused(Select::<Packed>::new(&env.gpu, Predicate::wgsl("true")), ARGUMENT, &parts);
    let operator = Operator::<Packed>::wgsl("");
    assert_refused(operator, ARGUMENT, &parts);
}

/// 64 bytes: 1,024 invocations that exchange these over workgroup memory need more of it than most devices have.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Large {
    a: [u32; 4],
    b: [u32; 4],
    c: [u32; 4],
    d: [u32; 4],
}
wavelane::element!(Large { a: [u32; 4], b: [u32; 4], c: [u32; 4], d: [u32; 4] });

/// 272 bytes.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Huge {
    a: [[f32; 4]; 17],
}

impl wavelane::Element for Huge {
    const TYPE: wavelane::ElementType = wavelane::ElementType::Struct(wavelane::Struct {
        name: "Huge",
        bytes: 272,
        fields: &{
            let vector = wavelane::Vector { scalar: wavelane::Scalar::F32, components: 4 };
            let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q"];
            let mut fields = [wavelane::Field { name: "a", ty: vector, offset: 0 }; 17];
            let mut i = 0;
            while i < fields.len() {
                fields[i] = wavelane::Field { name: names[i], ty: vector, offset: 16 * i as u32 };
                i += 1;
            }
            fields
        },
    });
}

fn huge_element(env: &Env) {
    let parts = ["Huge takes 272 bytes", "at most 256"];
    assert_refused(Select::<Huge>::new(&env.gpu, Predicate::wgsl("true")), ARGUMENT, &parts);
}

fn workgroup_memory(env: &Env) {
    let limits = env.gpu.limits();
    let allowed = limits.max_compute_workgroup_storage_size;
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    if allowed >= 65_536 || most < 1024 {
        skip(format!("{most} invocations do not fill {allowed} bytes"));
    }
    let gpu = env.gpu.with_path(SubgroupPath::DEFAULT_EMULATED).expect("a valid width");
    let operator = Operator::<Large>::wgsl(
        "fn identity() -> Large { return Large(); }
         fn combine(x: Large, y: Large) -> Large { return Large(x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d); }",
    )
    .expect("a valid operator");
    let parts = [format!("allows {allowed}"), "max_compute_workgroup_storage_size".into()];
    let plan = Reduce::with_tuning(&gpu, operator, Tuning::new(1024, 1, 4));
    assert_refused(plan, ErrorKind::LimitTooSmall, &parts);
}
