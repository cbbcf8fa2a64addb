//! Plans without a GPU: on wgpu's noop backend, which makes buffers and runs nothing, for devices that report every
//! range of subgroup sizes. What is tested is what the host decides: whether a plan is built or refused, how much
//! scratch memory a call takes, how many dispatches, which ranges are accepted.

use std::sync::LazyLock;

use proptest::prelude::*;
use wavelane::primitive::{Count, DispatchArgs, Predicate, Reduce, Scan, ScanOptions, Select, Tuning, Workspace};
use wavelane::{ErrorKind, Gpu, Op, Operator, Probe, SubgroupPath, op, requirements, wgpu};

/// A device that runs nothing, and reports this.
fn device(subgroups: (u32, u32), features: wgpu::Features, limits: wgpu::Limits) -> (wgpu::Adapter, Gpu) {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop = wgpu::NoopBackendOptions {
        enable: true,
        limits: Some(limits),
        features: Some(features),
        device_type: Some(wgpu::DeviceType::DiscreteGpu),
        subgroup_min_size: Some(subgroups.0),
        subgroup_max_size: Some(subgroups.1),
    };
    let instance = wgpu::Instance::new(descriptor);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("the noop adapter");
    let (device, queue) = open(&adapter);
    let gpu = Gpu::with_probe(&adapter, &device, &queue, probe(subgroups, features)).expect("enough limits");
    (adapter, gpu)
}

fn open(adapter: &wgpu::Adapter) -> (wgpu::Device, wgpu::Queue) {
    let needs = requirements(adapter);
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: needs.features,
        required_limits: needs.limits,
        ..Default::default()
    }))
    .expect("the noop device")
}

/// What the probe would find on an honest device whose kernels run at the widest size.
fn probe((min, max): (u32, u32), features: wgpu::Features) -> Probe {
    let mut words = vec![1, min, max, features.contains(wgpu::Features::SUBGROUP).into()];
    if max > 0 {
        for workgroup in [128, 100, 13] {
            let last = (workgroup - 1) % max + 1;
            words.extend([workgroup, max, max.min(workgroup), last, 1, 1]);
        }
    }
    Probe::from_words(&words).expect("words of the documented form")
}

const SUBGROUP: wgpu::Features = wgpu::Features::SUBGROUP;

/// The ranges that devices report, and the narrowest subgroup that kernels are then made for.
const RANGES: [((u32, u32), u32); 8] = [
    ((4, 4), 4),
    ((8, 8), 8),
    ((16, 16), 16),
    ((32, 32), 32),
    ((64, 64), 64),
    ((128, 128), 128),
    ((4, 128), 4),
    ((8, 32), 4),
];

fn limits() -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffers_per_shader_stage: 8,
        max_compute_workgroup_size_x: 1024,
        max_compute_invocations_per_workgroup: 1024,
        max_compute_workgroup_storage_size: 32_768,
        max_storage_buffer_binding_size: 1 << 27,
        max_buffer_size: 1 << 28,
        ..wgpu::Limits::defaults()
    }
}

fn buffer(gpu: &Gpu, bytes: u64) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
        mapped_at_creation: false,
    })
}

/// Builds one plan of each kind and prepares it.
fn build(gpu: &Gpu) {
    let (input, output, count) = (buffer(gpu, 40_000), buffer(gpu, 40_000), buffer(gpu, 64));
    let n = Count::Host(10_000);
    let reduce = Reduce::<u32>::new(gpu, op::Add).expect("reduce");
    let call = reduce.prepare(input.slice(..), output.slice(..4), n).expect("reduce");
    assert_eq!(call.dispatches(), 1);
    let reduce = Reduce::<[f32; 2]>::new(gpu, op::Min).expect("reduce of vectors");
    reduce.prepare(input.slice(..), output.slice(..8), Count::Host(5000)).expect("reduce of vectors");
    let scan = Scan::<f32>::exclusive(gpu, op::Max).expect("scan");
    assert_eq!(scan.prepare(input.slice(..), output.slice(..), n).expect("scan").dispatches(), 2);
    assert_eq!(scan.prepare(input.slice(..0), output.slice(..0), Count::Host(0)).expect("nothing").dispatches(), 0);
    let apart = scan.prepare(input.slice(4..400), output.slice(8..404), Count::Host(99)).expect("single items");
    assert_eq!(apart.dispatches(), 1, "a single workgroup has room for all");
    let in_place = ScanOptions::exclusive().initial(1.0).in_place();
    let in_place = Scan::<f32>::with_options(gpu, op::Max, in_place).expect("scan in place");
    in_place.prepare_in_place(input.slice(..), n).expect("scan in place");
    let gcd = Operator::<u32>::wgsl(
        "fn identity() -> u32 { return 0u; }
         fn combine(a: u32, b: u32) -> u32 {
           var x = a; var y = b;
           while y != 0u { let r = x % y; x = y; y = r; }
           return x;
         }",
    );
    Scan::<u32>::inclusive(gpu, gcd.expect("a valid operator")).expect("an operator of one's own");
    let select = Select::<i32>::new(gpu, Predicate::wgsl("x > 3 && i > 7u")).expect("select");
    let args = DispatchArgs { args: count.slice(16..28), items_per_workgroup: 256 };
    let call = select.prepare_with_args(input.slice(..), output.slice(..), count.slice(4..8), args, n);
    assert_eq!(call.expect("select").dispatches(), 2);
}

#[test]
fn plans_are_built_for_every_range_of_subgroups() {
    for (range, narrowest) in RANGES {
        let (_, gpu) = device(range, SUBGROUP, limits());
        assert_eq!(gpu.path(), SubgroupPath::Native, "{range:?}: {}", gpu.probe().reason());
        assert_eq!((gpu.lanes(), gpu.min_lanes()), (range.1, narrowest), "{range:?}");
        build(&gpu);
    }
}

#[test]
fn plans_are_built_without_subgroups() {
    // Reported as none; and as some by an adapter whose device has not the feature.
    for (range, features) in
        [((0, 0), wgpu::Features::empty()), ((32, 32), wgpu::Features::empty()), ((0, 0), SUBGROUP)]
    {
        let (_, gpu) = device(range, features, limits());
        assert_eq!(gpu.path(), SubgroupPath::DEFAULT_EMULATED, "{range:?}");
        let native = gpu.with_path(SubgroupPath::Native).expect_err("there is nothing to rely on");
        assert_eq!(native.kind(), ErrorKind::MissingFeature);
        build(&gpu);
    }
}

#[test]
fn plans_are_built_for_every_emulated_width() {
    let (_, gpu) = device((0, 0), wgpu::Features::empty(), limits());
    for lanes in [1, 2, 4, 8, 16, 32, 64, 128] {
        let gpu = gpu.with_path(SubgroupPath::Emulated { lanes }).expect("a power of two");
        assert_eq!((gpu.lanes(), gpu.min_lanes()), (lanes, lanes));
        build(&gpu);
    }
}

#[test]
fn a_probe_that_reads_nothing_is_no_reason_to_rely_on_subgroups() {
    // On this device the probe's kernel does not run, so it reads zeros.
    let (adapter, _) = device((32, 32), SUBGROUP, limits());
    let (device, queue) = open(&adapter);
    let gpu = pollster::block_on(Gpu::from_device(&adapter, &device, &queue)).expect("a device");
    assert_eq!(gpu.path(), SubgroupPath::DEFAULT_EMULATED, "{}", gpu.probe().reason());
    assert!(gpu.probe().warning().is_some());
    build(&gpu);
}

#[test]
fn limits_that_are_too_small_are_named() {
    let refused = |limits: wgpu::Limits| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::NOOP;
        descriptor.backend_options.noop =
            wgpu::NoopBackendOptions { enable: true, limits: Some(limits), ..Default::default() };
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("the noop adapter");
        let (device, queue) = open(&adapter);
        let gpu = Gpu::with_probe(&adapter, &device, &queue, probe((32, 32), SUBGROUP));
        let error = gpu.expect_err("too small");
        assert_eq!(error.kind(), ErrorKind::LimitTooSmall);
        error.to_string()
    };
    let error = refused(wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..limits() });
    assert!(error.contains("needs 8") && error.contains("allows 4"), "{error}");
    let error = refused(wgpu::Limits { max_compute_invocations_per_workgroup: 32, ..limits() });
    assert!(error.contains("needs 128") && error.contains("allows 32"), "{error}");
    let error = refused(wgpu::Limits { max_compute_workgroup_size_x: 16, ..limits() });
    assert!(error.contains("needs 128") && error.contains("allows 16"), "{error}");
}

#[test]
fn a_plan_that_the_device_has_no_room_for_is_refused() {
    // A workgroup of the default size does not fit: an error with both numbers, and a tuning that does is taken.
    let small = wgpu::Limits { max_compute_invocations_per_workgroup: 128, ..limits() };
    let (_, gpu) = device((32, 32), SUBGROUP, small);
    let error = Reduce::<u32>::with_tuning(&gpu, op::Add, Tuning::new(256, 4, 64)).expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::LimitTooSmall);
    assert!(error.to_string().contains("needs 256") && error.to_string().contains("allows 128"), "{error}");
    Reduce::<u32>::with_tuning(&gpu, op::Add, Tuning::new(128, 4, 64)).expect("a tuning that fits");
    // The sizes that the plans choose themselves must fit every device that is accepted.
    Reduce::<u32>::new(&gpu, op::Add).expect("a default that fits");
    Scan::<u32>::inclusive(&gpu, op::Add).expect("a default that fits");
    Select::<u32>::new(&gpu, Predicate::wgsl("true")).expect("a default that fits");
    let (_, gpu) = device((32, 32), SUBGROUP, wgpu::Limits { max_compute_workgroup_storage_size: 512, ..limits() });
    let gpu = gpu.with_path(SubgroupPath::DEFAULT_EMULATED).expect("a valid width");
    let error = Reduce::<[u32; 4]>::new(&gpu, op::Add).expect_err("no room for shuffles");
    assert_eq!(error.kind(), ErrorKind::LimitTooSmall);
    assert!(error.to_string().contains("allows 512"), "{error}");
}

#[test]
fn scratch_memory_follows_the_number_of_workgroups() {
    let (_, gpu) = device((32, 32), SUBGROUP, limits());
    let tuning = Tuning::new(128, 2, 10);
    let reduce = Reduce::<u32>::with_tuning(&gpu, op::Add, tuning).expect("a plan");
    let wide = Reduce::<[u32; 4]>::with_tuning(&gpu, op::Add, tuning).expect("a plan");
    // A tile is 128 x 2 packs of 4 items, of which a misaligned start can take one more.
    let tile = 128 * 2 * 4;
    let one = reduce.workspace_bytes(1);
    for (capacity, groups) in
        [(0, 1), (1, 1), (tile - 3, 1), (tile - 2, 2), (5 * tile, 6), (10 * tile, 10), (u32::MAX, 10)]
    {
        assert_eq!(reduce.workspace_bytes(capacity), one + (groups - 1) * 4, "{capacity}");
    }
    assert_eq!(wide.workspace_bytes(u32::MAX) - wide.workspace_bytes(1), 9 * 16);
    let scan = Scan::<u32>::with_options(&gpu, op::Add, ScanOptions::inclusive().tuning(tuning)).expect("a plan");
    let select = Select::<u32>::with_tuning(&gpu, Predicate::wgsl("true"), tuning).expect("a plan");
    assert_eq!(scan.workspace_bytes(u32::MAX) - scan.workspace_bytes(1), 9 * 4);
    assert_eq!(select.workspace_bytes(u32::MAX) - select.workspace_bytes(1), 9 * 4);
    // A call takes exactly as much as it says.
    let (input, output) = (buffer(&gpu, 400_000), buffer(&gpu, 4));
    let bytes = reduce.workspace_bytes(100_000);
    let space = Workspace::new(&gpu, bytes).expect("memory");
    reduce.prepare_in(input.slice(..), output.slice(..), Count::Host(100_000), &space).expect("enough");
    let space = Workspace::new(&gpu, bytes - 4).expect("memory");
    let error = reduce.prepare_in(input.slice(..), output.slice(..), Count::Host(100_000), &space);
    assert!(error.expect_err("too little").to_string().contains(&format!("needs {bytes}")));
}

/// One device for all properties: making one takes longer than a case.
static GPU: LazyLock<Gpu> = LazyLock::new(|| device((32, 32), SUBGROUP, limits()).1);

/// Plans of one small tuning, for elements of 4, 8 and 16 bytes.
struct Plans {
    words: Reduce<u32>,
    pairs: Scan<[u32; 2]>,
    quads: Select<[u32; 4]>,
    scan: Scan<u32>,
}

static PLANS: LazyLock<Plans> = LazyLock::new(|| {
    let tuning = Tuning::new(128, 1, 64);
    Plans {
        words: Reduce::with_tuning(&GPU, Op::Add, tuning).expect("a plan"),
        pairs: Scan::with_options(&GPU, Op::Add, ScanOptions::inclusive().tuning(tuning)).expect("a plan"),
        quads: Select::with_tuning(&GPU, Predicate::wgsl("true"), tuning).expect("a plan"),
        scan: Scan::with_options(&GPU, Op::Add, ScanOptions::exclusive().tuning(tuning)).expect("a plan"),
    }
});

/// Bytes of the buffers that ranges are cut from.
const BYTES: u64 = 1 << 16;
static BUFFERS: LazyLock<[wgpu::Buffer; 3]> = LazyLock::new(|| std::array::from_fn(|_| buffer(&GPU, BYTES)));

/// Whether a range is accepted: the rules of the documentation, once more.
fn accepts(first: u64, bytes: u64, element: u64, items: u32) -> bool {
    first.is_multiple_of(4) && bytes >= u64::from(items) * element && first.is_multiple_of(element)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// A range is accepted exactly if it is aligned and large enough, whatever its size and place. For elements of a
    /// power of two bytes up to 256, aligned means a multiple of their size.
    #[test]
    fn ranges(first in 0..BYTES, bytes in 0..BYTES, items in 0..5000u32, out in 0..64u64) {
        let bytes = bytes.min(BYTES - first);
        let [a, b, c] = &*BUFFERS;
        let (range, count) = (a.slice(first..first + bytes), Count::Host(items));
        let reduced = PLANS.words.prepare(range, b.slice(out..out + 4), count);
        prop_assert_eq!(reduced.is_ok(), accepts(first, bytes, 4, items) && out.is_multiple_of(4));
        let scanned = PLANS.pairs.prepare(range, b.slice(out * 8..), count);
        prop_assert_eq!(scanned.is_ok(), accepts(first, bytes, 8, items));
        let selected = PLANS.quads.prepare(range, b.slice(..), c.slice(out * 4..out * 4 + 4), count);
        let room = BYTES >= u64::from(items) * 16;
        prop_assert_eq!(selected.is_ok(), accepts(first, bytes, 16, items) && room);
        for error in [reduced.err(), scanned.err(), selected.err()].into_iter().flatten() {
            prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }

    /// A count in a buffer is taken at every multiple of 4 bytes, and its capacity is what the ranges are held against.
    #[test]
    fn counts(at in 0..BYTES - 4, capacity in 0..20_000u32) {
        let [a, b, c] = &*BUFFERS;
        let count = Count::Gpu { count: c.slice(at..at + 4), capacity };
        let call = PLANS.scan.prepare(a.slice(..), b.slice(..), count);
        prop_assert_eq!(call.is_ok(), at.is_multiple_of(4) && u64::from(capacity) * 4 <= BYTES);
        if let Ok(call) = call {
            // A tile of this tuning is 128 packs of four items; the first begins at the range.
            let dispatches = match capacity {
                0 => 0,
                1..=512 => 1,
                _ => 2,
            };
            prop_assert_eq!(call.dispatches(), dispatches);
        }
    }

    /// More items never take less scratch memory, and never more than the most workgroups do.
    #[test]
    fn scratch_memory(less in any::<u32>(), more in any::<u32>()) {
        let (less, more) = (less.min(more), less.max(more));
        for bytes in [
            (|n| PLANS.words.workspace_bytes(n)) as fn(u32) -> u64,
            |n| PLANS.pairs.workspace_bytes(n),
            |n| PLANS.quads.workspace_bytes(n),
            |n| PLANS.scan.workspace_bytes(n),
        ] {
            prop_assert!(bytes(less) <= bytes(more));
            prop_assert!(bytes(more) <= bytes(0) + 64 * 16);
            prop_assert!(bytes(0) > 0 && bytes(more).is_multiple_of(4));
        }
    }

    /// A tuning is taken or refused by its numbers, and never panics.
    #[test]
    fn tunings(exponent in 0..14u32, off in 0..3u32, rows in 0..40u32, groups in 0..70_000u32) {
        let workgroup = (1u32 << exponent) + off;
        let valid = off == 0
            && (128..=1024).contains(&workgroup)
            && (1..=32).contains(&rows)
            && (1..=65_535).contains(&groups);
        // Refused tunings only, and few valid ones: each of those is a pipeline.
        prop_assume!(!valid || groups % 16 == 0);
        let plan = Reduce::<u32>::with_tuning(&GPU, Op::Xor, Tuning::new(workgroup, rows, groups));
        prop_assert_eq!(plan.is_ok(), valid);
    }
}
