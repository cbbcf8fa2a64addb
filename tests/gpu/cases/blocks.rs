//! The building blocks, each in a kernel of the caller's: workgroups that every width divides, with a partly filled last
//! subgroup, and smaller than most subgroups. Blocks are called twice in a row, so that memory which is free too late
//! shows.

use wavelane::shader::{self, Block, block};
use wavelane::{ErrorKind, F16, Op, Operator, wgpu};

use crate::algebra::{self, Affine, Algebra, Item, Moments};
use crate::harness::{Env, Paths, Rng, Table, assert_items, assert_refused};
use crate::oracle;

const WORKGROUPS: [usize; 3] = [128, 100, 13];
/// Workgroups of a dispatch.
const GROUPS: usize = 3;

pub(crate) fn rows(table: &mut Table) {
    table.add("block/place", place);
    table.add("block/vote", vote);
    table.add("block/multisplit", multisplit);
    table.add("block/workgroup_select", workgroup_select);
    table.add("block/workgroup_rank", workgroup_rank);
    of_type(table, || algebra::builtin::<u32>(Op::Add));
    of_type(table, || algebra::builtin::<i32>(Op::Add));
    of_type(table, || algebra::builtin::<f32>(Op::Add));
    of_type(table, || algebra::builtin::<u64>(Op::Add));
    of_type(table, || algebra::builtin::<i64>(Op::Add));
    of_type(table, || algebra::builtin::<[f32; 2]>(Op::Add));
    of_type(table, || algebra::builtin::<[u32; 4]>(Op::Add));
    of_type(table, algebra::affine);
    of_type(table, algebra::moments);
    for op in Op::ALL {
        of_operator(table, op.name(), move || algebra::builtin::<u32>(op));
        of_operator(table, op.name(), move || algebra::builtin::<i64>(op));
    }
    for op in [Op::Add, Op::Mul, Op::Min, Op::Max] {
        of_operator(table, op.name(), move || algebra::builtin::<f32>(op));
    }
    of_operator(table, "min", || algebra::builtin::<i32>(Op::Min));
    of_operator(table, "max", || algebra::builtin::<[f32; 2]>(Op::Max));
    of_operator(table, "affine", algebra::affine);
    of_operator(table, "matrix", algebra::matrix);
    of_operator(table, "moments", algebra::moments);
    of_operator(table, "gcd", algebra::gcd);
    of_operator(table, "last_nonzero", algebra::last_nonzero);
    let half = wgpu::Features::SHADER_F16;
    table.push("block/f16/shuffle", Paths::Every, half, |env| {
        f16(env, &[block::shuffle::<F16>()], "sg_shuffle_f16(h, control % sg_count)", |at| {
            at.subgroup[at.group[at.index] as usize % at.subgroup.len()]
        });
    });
    table.push("block/f16/broadcast", Paths::Every, half, |env| {
        f16(env, &[block::shuffle::<F16>()], "sg_broadcast_f16(h, sg_count - 1u)", |at| {
            *at.subgroup.last().expect("a lane")
        });
    });
    table.push("block/f16/scan", Paths::Every, half, |env| {
        let blocks = [block::subgroup_scan::<F16>(Op::Add)];
        f16(env, &blocks, "sg_scan_inclusive_add_f16(h)", |at| at.subgroup[..=at.lane].iter().sum());
    });
    table.push("block/f16/max", Paths::Every, half, |env| {
        let blocks = [block::workgroup_reduce::<F16>(Op::Max)];
        f16(env, &blocks, "wg_reduce_max_f16(h)", |at| *at.group.iter().max().expect("an item"));
    });
    table.add("block/together", together);
    table.add_main("errors/library", errors);
}

/// Runs `body` in a kernel behind the blocks: it reads `x` (this invocation's item) and `control` (its word), and calls
/// `put(j, value)` for each of its `results`. Returns the results of each invocation, in order of workgroup and
/// `wg_index`.
#[track_caller]
fn run<T: Item, R: Item>(
    env: &Env,
    workgroup: usize,
    blocks: &[Block],
    results: usize,
    body: &str,
    items: &[T],
    control: &[u32],
) -> Vec<Vec<R>> {
    let library = shader::library(&env.gpu, workgroup as u32, blocks).expect("a valid library");
    let kernel = format!(
        "@group(0) @binding(0) var<storage, read> items: array<{}>;
         @group(0) @binding(1) var<storage, read> controls: array<u32>;
         @group(0) @binding(2) var<storage, read_write> results: array<{}>;
         var<private> first_result: u32;
         fn put(j: u32, value: {}) {{ results[first_result + j] = value; }}
         @compute @workgroup_size(WORKGROUP)
         fn kernel(place: Place) {{
           sg_begin(place);
           let at = place.workgroup.x * WORKGROUP + wg_index;
           first_result = at * {results}u;
           let x = items[at];
           let control = controls[at];
           {body}
         }}",
        T::TYPE.wgsl(),
        R::TYPE.wgsl(),
        R::TYPE.wgsl()
    );
    let text = library.with_kernel("blocks.rs", &kernel).unwrap_or_else(|error| panic!("{error}"));
    let device = env.gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("blocks"),
        source: wgpu::ShaderSource::Wgsl(text.text().into()),
    });
    let entry = |binding, read_only| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("blocks"),
        entries: &[entry(0, true), entry(1, true), entry(2, false)],
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("blocks"),
        layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("blocks"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        })),
        module: &module,
        entry_point: Some("kernel"),
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    let total = GROUPS * workgroup;
    assert!(items.len() >= total && control.len() >= total, "an item for every invocation");
    let (input, controls) = (env.input(0, &items[..total]), env.input(0, &control[..total]));
    let output = env.output::<R>(0, total * results);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("blocks"),
        layout: &layout,
        entries: &[&input, &controls, &output]
            .map(|room| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &room.buffer,
                    offset: room.first,
                    size: wgpu::BufferSize::new(room.bytes),
                })
            })
            .into_iter()
            .zip(0..)
            .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
            .collect::<Vec<_>>(),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(GROUPS as u32, 1, 1);
    }
    env.gpu.queue().submit([encoder.finish()]);
    env.read::<R>(&output).chunks_exact(results).map(<[R]>::to_vec).collect()
}

/// The places of a workgroup's invocations in subgroups of this many lanes: the first invocation of the subgroup, the
/// lane, the lanes that the subgroup has.
fn places(workgroup: usize, lanes: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..workgroup).map(move |i| {
        let first = i / lanes * lanes;
        (first, i - first, lanes.min(workgroup - first))
    })
}

/// Compares result `j` of every invocation with what `want` says for it: of its workgroup's items, its place there, and
/// its subgroup's items and lane.
#[track_caller]
fn compare<T: Item, R: Item>(
    env: &Env,
    workgroup: usize,
    what: &str,
    (results, j): (&[Vec<R>], usize),
    items: &[T],
    want: impl Fn(&Invocation<'_, T>) -> Option<R>,
) {
    let lanes = env.gpu.lanes() as usize;
    for group in 0..GROUPS {
        let start = group * workgroup;
        let group_items = &items[start..start + workgroup];
        for (i, (first, lane, count)) in places(workgroup, lanes).enumerate() {
            let subgroup = &group_items[first..first + count];
            let invocation = Invocation { group: group_items, index: i, subgroup, lane };
            let Some(want) = want(&invocation) else { continue };
            let got = results[start + i][j];
            assert!(
                got.same(&want),
                "{what}, workgroup of {workgroup}: invocation {i} of group {group} (lane {lane} of {count}) has \
                 {got:?}, not {want:?}"
            );
        }
    }
}

struct Invocation<'a, T> {
    group: &'a [T],
    index: usize,
    subgroup: &'a [T],
    lane: usize,
}

fn controls() -> Vec<u32> {
    let mut rng = Rng::new(77);
    (0..GROUPS * 128).map(|_| rng.next() as u32).collect()
}

fn mask(lanes: impl Iterator<Item = usize>) -> [u32; 4] {
    let bits = lanes.fold(0u128, |bits, lane| bits | 1 << lane);
    std::array::from_fn(|word| (bits >> (32 * word)) as u32)
}

fn place(env: &Env) {
    for workgroup in WORKGROUPS {
        let zeros = controls();
        let body = "put(0, vec4<u32>(sg_size, sg_lane, sg_id, sg_count));
                    put(1, vec4<u32>(sg_groups, wg_index, place.workgroup.x, place.workgroups.x));
                    put(2, vec4<u32>(WORKGROUP, x - x, 0u, 0u));";
        let got = run::<u32, [u32; 4]>(env, workgroup, &[], 3, body, &zeros, &zeros);
        let lanes = env.gpu.lanes() as usize;
        for (i, result) in got.iter().enumerate() {
            let (group, index) = (i / workgroup, i % workgroup);
            let (first, lane, count) = places(workgroup, lanes).nth(index).expect("in the workgroup");
            assert_eq!(result[0].map(|x| x as usize), [lanes, lane, first / lanes, count], "{workgroup}: {index}");
            let want = [workgroup.div_ceil(lanes), index, group, GROUPS];
            assert_eq!(result[1].map(|x| x as usize), want, "{workgroup}: {index}");
            assert_eq!(result[2][0] as usize, workgroup);
        }
    }
}

fn vote(env: &Env) {
    for workgroup in WORKGROUPS {
        // Votes of all kinds: many, few, none of a subgroup, and in the first workgroup all.
        let items: Vec<u32> =
            controls().iter().enumerate().map(|(i, x)| u32::from(i < workgroup || x % 5 == 0)).collect();
        let body = "
            let vote = x == 1u;
            let ballot = sg_ballot(vote);
            let other = sg_ballot(!vote);
            put(0, ballot);
            put(1, other);
            put(2, sg_mask_lt());
            put(3, sg_mask_le());
            put(4, sg_mask_gt());
            put(5, sg_mask_ge());
            put(6, sg_mask_eq());
            put(7, sg_active_mask());
            put(8, vec4<u32>(sg_ballot_count(ballot), sg_ballot_rank(ballot), sg_ballot_first(ballot), sg_ballot_last(ballot)));
            let all = sg_all(vote);
            let any = sg_any(vote);
            let one = sg_elect();
            put(9, vec4<u32>(u32(all), u32(any), u32(one), u32(sg_mask_has(ballot, sg_lane))));
            put(10, vec4<u32>(sg_active_count(), sg_ballot_first(vec4<u32>()), sg_ballot_last(vec4<u32>()), 0u));";
        let got = run::<u32, [u32; 4]>(env, workgroup, &[block::vote()], 11, body, &items, &items);
        let is = |j, what: &str, want: fn(&Invocation<'_, u32>) -> [u32; 4]| {
            compare(env, workgroup, what, (&got, j), &items, |at| Some(want(at)));
        };
        fn voters(at: &Invocation<'_, u32>) -> Vec<usize> {
            (0..at.subgroup.len()).filter(|lane| at.subgroup[*lane] == 1).collect()
        }
        is(0, "sg_ballot", |at| mask(voters(at).into_iter()));
        is(1, "sg_ballot of the others", |at| mask((0..at.subgroup.len()).filter(|lane| at.subgroup[*lane] == 0)));
        is(2, "sg_mask_lt", |at| mask(0..at.lane));
        is(3, "sg_mask_le", |at| mask(0..at.lane + 1));
        is(4, "sg_mask_gt", |at| mask(at.lane + 1..at.subgroup.len()));
        is(5, "sg_mask_ge", |at| mask(at.lane..at.subgroup.len()));
        is(6, "sg_mask_eq", |at| mask(at.lane..at.lane + 1));
        is(7, "sg_active_mask", |at| mask(0..at.subgroup.len()));
        is(8, "sg_ballot_count, rank, first, last", |at| {
            let voters = voters(at);
            let lane = |lane: Option<&usize>| lane.map_or(u32::MAX, |lane| *lane as u32);
            let below = voters.iter().filter(|lane| **lane < at.lane).count();
            [voters.len() as u32, below as u32, lane(voters.first()), lane(voters.last())]
        });
        is(9, "sg_all, sg_any, sg_elect, sg_mask_has", |at| {
            let voters = voters(at);
            let all = voters.len() == at.subgroup.len();
            [all.into(), (!voters.is_empty()).into(), (at.lane == 0).into(), at.subgroup[at.lane]]
        });
        is(10, "sg_active_count, and of an empty mask", |at| [at.subgroup.len() as u32, u32::MAX, u32::MAX, 0]);
    }
}

fn multisplit(env: &Env) {
    for workgroup in WORKGROUPS {
        let items: Vec<u32> = controls().iter().map(|x| x % 6).collect();
        let body = "
            let split = sg_multisplit(x, 3u);
            put(0, split.peers);
            put(1, vec4<u32>(split.rank, split.count, 0u, 0u));
            put(2, sg_match_bits(x, 1u));
            put(3, sg_match_bits(x, 0u));";
        let got = run::<u32, [u32; 4]>(env, workgroup, &[block::multisplit()], 4, body, &items, &items);
        let peers = |at: &Invocation<'_, u32>, bits: u32| -> Vec<usize> {
            let low = |x: u32| x & ((1 << bits) - 1);
            (0..at.subgroup.len()).filter(|lane| low(at.subgroup[*lane]) == low(at.subgroup[at.lane])).collect()
        };
        for (j, bits) in [(0, 3), (2, 1), (3, 0)] {
            compare(env, workgroup, "peers", (&got, j), &items, |at| Some(mask(peers(at, bits).into_iter())));
        }
        compare(env, workgroup, "rank and count", (&got, 1), &items, |at| {
            let peers = peers(at, 3);
            Some([peers.iter().filter(|lane| **lane < at.lane).count() as u32, peers.len() as u32, 0, 0])
        });
    }
}

fn workgroup_select(env: &Env) {
    for workgroup in WORKGROUPS {
        let items: Vec<u32> = controls().iter().map(|x| u32::from(x % 3 == 0)).collect();
        let body = "
            let kept = wg_select(x == 1u);
            let others = wg_select(x == 0u);
            put(0, vec4<u32>(kept.rank, kept.count, others.rank, others.count));";
        let got = run::<u32, [u32; 4]>(env, workgroup, &[block::workgroup_select()], 1, body, &items, &items);
        compare(env, workgroup, "wg_select", (&got, 0), &items, |at| {
            let ones = |items: &[u32]| items.iter().sum::<u32>();
            let (before, all) = (ones(&at.group[..at.index]), ones(at.group));
            Some([before, all, at.index as u32 - before, workgroup as u32 - all])
        });
    }
}

fn workgroup_rank(env: &Env) {
    for (buckets, workgroup) in [(2, 128), (8, 128), (8, 100), (16, 13), (256, 100)] {
        let items: Vec<u32> = controls().iter().map(|x| x % buckets).collect();
        let body = format!(
            "let ranked = wg_rank(x);
             let reversed = wg_rank({}u - x);
             put(0, vec4<u32>(ranked.place, ranked.rank, reversed.place, reversed.rank));",
            buckets - 1
        );
        let blocks = [block::workgroup_rank(buckets)];
        let got = run::<u32, [u32; 4]>(env, workgroup, &blocks, 1, &body, &items, &items);
        compare(env, workgroup, "wg_rank", (&got, 0), &items, |at| {
            let mine = at.group[at.index];
            let rank = at.group[..at.index].iter().filter(|x| **x == mine).count() as u32;
            let lower = at.group.iter().filter(|x| **x < mine).count() as u32;
            let higher = at.group.iter().filter(|x| **x > mine).count() as u32;
            Some([lower + rank, rank, higher + rank, rank])
        });
    }
}

/// Shuffles, match, broadcast and exchange of a type.
fn of_type<T: Item>(table: &mut Table, algebra: fn() -> Algebra<T>) {
    let ident = T::TYPE.ident();
    let needs = match &*ident {
        "u64" | "i64" => wgpu::Features::SHADER_INT64,
        _ => wgpu::Features::empty(),
    };
    table.push(format!("block/shuffle/{ident}"), Paths::Every, needs, move |env| shuffle(env, &algebra()));
    table.push(format!("block/match/{ident}"), Paths::Every, needs, move |env| matching(env, &algebra()));
    table.push(format!("block/exchange/{ident}"), Paths::Every, needs, move |env| exchange(env, &algebra()));
}

fn shuffle<T: Item>(env: &Env, algebra: &Algebra<T>) {
    let t = T::TYPE.ident();
    for workgroup in WORKGROUPS {
        let (items, control) = (algebra.items(GROUPS * workgroup), controls());
        let body = format!(
            "put(0, sg_shuffle_{t}(x, control % sg_count));
             put(1, sg_shuffle_up_{t}(x, 1u));
             put(2, sg_shuffle_up_{t}(x, 3u));
             put(3, sg_shuffle_down_{t}(x, 1u));
             put(4, sg_shuffle_down_{t}(x, 2u));
             put(5, sg_shuffle_xor_{t}(x, 1u));
             put(6, sg_shuffle_xor_{t}(x, 3u));
             put(7, sg_broadcast_{t}(x, sg_count - 1u));
             put(8, sg_broadcast_first_{t}(x));
             put(9, sg_rotate_{t}(x, 3u));
             put(10, wg_broadcast_{t}(x, 0u));
             put(11, wg_broadcast_{t}(x, WORKGROUP - 1u));
             put(12, wg_broadcast_{t}(x, WORKGROUP / 2u));
             put(13, sg_rotate_{t}(x, 0xffffffffu));"
        );
        let blocks = [block::shuffle::<T>(), block::workgroup_broadcast::<T>()];
        let got = run::<T, T>(env, workgroup, &blocks, 14, &body, &items, &control);
        let is = |j, what: &str, want: &dyn Fn(&Invocation<'_, T>) -> Option<T>| {
            compare(env, workgroup, what, (&got, j), &items, want);
        };
        for (j, delta) in [(1, 1), (2, 3)] {
            is(j, "up", &|at| at.lane.checked_sub(delta).map(|lane| at.subgroup[lane]));
        }
        for (j, delta) in [(3, 1), (4, 2)] {
            is(j, "down", &|at| at.subgroup.get(at.lane + delta).copied());
        }
        for (j, mask) in [(5, 1), (6, 3)] {
            is(j, "xor", &|at| at.subgroup.get(at.lane ^ mask).copied());
        }
        is(7, "broadcast", &|at| at.subgroup.last().copied());
        is(8, "broadcast_first", &|at| at.subgroup.first().copied());
        is(9, "rotate", &|at| Some(at.subgroup[(at.lane + 3) % at.subgroup.len()]));
        is(13, "rotate by much", &|at| {
            let delta = u32::MAX as usize % at.subgroup.len();
            Some(at.subgroup[(at.lane + delta) % at.subgroup.len()])
        });
        for (j, index) in [(10, 0), (11, workgroup - 1), (12, workgroup / 2)] {
            is(j, "wg_broadcast", &|at| Some(at.group[index]));
        }
        // The source comes from the control words, which `compare` does not know.
        for group in 0..GROUPS {
            for (i, (first, _, count)) in places(workgroup, env.gpu.lanes() as usize).enumerate() {
                let at = group * workgroup;
                let want = items[at + first + control[at + i] as usize % count];
                assert!(got[at + i][0].same(&want), "shuffle, workgroup of {workgroup}: invocation {i} of {group}");
            }
        }
    }
}

fn matching<T: Item>(env: &Env, algebra: &Algebra<T>) {
    let t = T::TYPE.ident();
    for workgroup in WORKGROUPS {
        let lanes = env.gpu.lanes() as usize;
        // Five values, and in the last workgroup one a subgroup.
        let values = algebra.items(64);
        let items: Vec<T> = (0..GROUPS * workgroup)
            .map(|i| match i / workgroup {
                2 => values[i % workgroup / lanes % 5],
                _ => values[controls()[i] as usize % 5],
            })
            .collect();
        let body = format!(
            "put(0, sg_match_any_{t}(x));
             put(1, vec4<u32>(u32(sg_match_all_{t}(x)), u32(sg_match_all_{t}(items[0])), 0u, 0u));"
        );
        let got = run::<T, [u32; 4]>(env, workgroup, &[block::match_any::<T>()], 2, &body, &items, &controls());
        let same = |a: &T, b: &T| bytemuck::bytes_of(a) == bytemuck::bytes_of(b);
        compare(env, workgroup, "match_any", (&got, 0), &items, |at| {
            let mine = &at.subgroup[at.lane];
            Some(mask((0..at.subgroup.len()).filter(|lane| same(&at.subgroup[*lane], mine))))
        });
        compare(env, workgroup, "match_all", (&got, 1), &items, |at| {
            Some([at.subgroup.iter().all(|x| same(x, &at.subgroup[0])).into(), 1, 0, 0])
        });
    }
}

/// Item k of invocation i is its own item combined with k, so that every one of them is known.
fn exchange<T: Item>(env: &Env, algebra: &Algebra<T>) {
    const ITEMS: usize = 3;
    let t = T::TYPE.ident();
    for workgroup in WORKGROUPS {
        let items = algebra.items(GROUPS * workgroup);
        let body = format!(
            "var own: array<{}, ITEMS>;
             let first = place.workgroup.x * WORKGROUP;
             for (var k = 0u; k < ITEMS; k++) {{ own[k] = items[first + (wg_index + k * 5u) % WORKGROUP]; }}
             var there = own;
             wg_striped_to_blocked_{t}(&there);
             put(0, there[0]); put(1, there[1]); put(2, there[2]);
             wg_blocked_to_striped_{t}(&own);
             put(3, own[0]); put(4, own[1]); put(5, own[2]);
             wg_blocked_to_striped_{t}(&there);
             put(6, there[0]); put(7, there[1]); put(8, there[2]);",
            T::TYPE.wgsl()
        );
        let blocks = [block::workgroup_exchange::<T>(ITEMS as u32)];
        let got = run::<T, T>(env, workgroup, &blocks, 9, &body, &items, &controls());
        let own = |at: &Invocation<'_, T>, i: usize, k: usize| Some(at.group[(i + k * 5) % workgroup]);
        for k in 0..ITEMS {
            compare(env, workgroup, "striped to blocked", (&got, k), &items, |at| {
                // Striped, item n is slot n / W of invocation n % W.
                let n = at.index * ITEMS + k;
                own(at, n % workgroup, n / workgroup)
            });
            compare(env, workgroup, "blocked to striped", (&got, 3 + k), &items, |at| {
                let n = k * workgroup + at.index;
                own(at, n / ITEMS, n % ITEMS)
            });
            compare(env, workgroup, "there and back", (&got, 6 + k), &items, |at| own(at, at.index, k));
        }
    }
}

/// Reductions and scans, plain and segmented, of subgroups and workgroups.
fn of_operator<T: Item>(table: &mut Table, op: &str, algebra: impl Fn() -> Algebra<T> + Send + Sync + 'static) {
    let ident = T::TYPE.ident();
    let needs = match &*ident {
        "u64" | "i64" => wgpu::Features::SHADER_INT64,
        _ => wgpu::Features::empty(),
    };
    let name = op.to_string();
    // Emulated, these take seconds each to compile.
    let paths = match &*format!("{op}/{ident}") {
        "affine/Affine" | "moments/Moments" | "add/i64" | "max/vec2_f32" => Paths::Every,
        _ => Paths::Full,
    };
    table.push(format!("block/operator/{op}/{ident}"), paths, needs, move |env| {
        let mut algebra = algebra();
        algebra.operator = algebra.operator.named(&name);
        operator(env, &algebra, &name);
    });
}

fn operator<T: Item>(env: &Env, algebra: &Algebra<T>, name: &str) {
    let suffix = format!("{name}_{}", T::TYPE.ident());
    let workgroups: &[usize] = if env.main { &WORKGROUPS } else { &[100] };
    for &workgroup in workgroups {
        let items = algebra.items(GROUPS * workgroup);
        // Heads of segments: some, none in the first workgroup, all in the last.
        let control: Vec<u32> = controls()
            .iter()
            .take(GROUPS * workgroup)
            .enumerate()
            .map(|(i, x)| [0, u32::from(x % 3 == 0), 1][i / workgroup])
            .collect();
        let operator = || algebra.operator.clone();
        let subgroup = [block::subgroup_reduce::<T>(operator()), block::subgroup_scan::<T>(operator())];
        let segmented = [block::segmented::<T>(operator())];
        let whole = [block::workgroup_reduce::<T>(operator()), block::workgroup_scan::<T>(operator())];
        // Three kernels: the time that lavapipe takes for one grows much faster than the number of its barriers.
        let parts: [(&[Block], String); 3] = [
            (
                &subgroup,
                format!(
                    "put(0, sg_reduce_{suffix}(x));
                     put(1, sg_reduce_tree_{suffix}(x));
                     put(2, sg_scan_inclusive_{suffix}(x));
                     put(3, sg_scan_exclusive_{suffix}(x));"
                ),
            ),
            (
                &segmented,
                format!(
                    "let head = control == 1u;
                     put(0, sg_segmented_scan_inclusive_{suffix}(x, head));
                     put(1, sg_segmented_scan_exclusive_{suffix}(x, head));
                     put(2, sg_segmented_reduce_{suffix}(x, head));"
                ),
            ),
            (
                &whole,
                format!(
                    "put(0, wg_reduce_{suffix}(x));
                     put(1, wg_scan_inclusive_{suffix}(x));
                     put(2, wg_total_{suffix});
                     put(3, wg_scan_exclusive_{suffix}(x));
                     // Once more with other values: what the first calls left must not show.
                     put(4, wg_reduce_{suffix}(items[place.workgroup.x * WORKGROUP + WORKGROUP - 1u - wg_index]));
                     put(5, wg_total_{suffix});"
                ),
            ),
        ];
        let [subgroup, segmented, whole] = parts.map(|(blocks, body)| {
            let results = body.matches("put(").count();
            run::<T, T>(env, workgroup, blocks, results, &body, &items, &control)
        });
        let fold = |items: &[T]| oracle::reduce(algebra.identity, &algebra.combine, items);
        type Results<T> = [Vec<T>];
        let is = |got: &Results<T>, j, what: &str, want: &dyn Fn(&Invocation<'_, T>) -> T| {
            compare(env, workgroup, &format!("{what}_{suffix}"), (got, j), &items, |at| Some(want(at)));
        };
        is(&subgroup, 0, "sg_reduce", &|at| fold(at.subgroup));
        is(&subgroup, 1, "sg_reduce_tree", &|at| fold(at.subgroup));
        is(&subgroup, 2, "sg_scan_inclusive", &|at| fold(&at.subgroup[..=at.lane]));
        is(&subgroup, 3, "sg_scan_exclusive", &|at| fold(&at.subgroup[..at.lane]));
        is(&whole, 0, "wg_reduce", &|at| fold(at.group));
        is(&whole, 1, "wg_scan_inclusive", &|at| fold(&at.group[..=at.index]));
        is(&whole, 2, "wg_total", &|at| fold(at.group));
        is(&whole, 3, "wg_scan_exclusive", &|at| fold(&at.group[..at.index]));
        is(&whole, 4, "wg_reduce of the reversed", &|at| fold(&at.group.iter().rev().copied().collect::<Vec<_>>()));
        is(&whole, 5, "wg_total", &|at| fold(at.group));
        // The segment of each lane, from the heads.
        for group in 0..GROUPS {
            let start = group * workgroup;
            for (i, (first, lane, count)) in places(workgroup, env.gpu.lanes() as usize).enumerate() {
                let subgroup = &items[start + first..start + first + count];
                let heads = &control[start + first..start + first + count];
                let begin = (0..=lane).rev().find(|l| heads[*l] == 1).unwrap_or(0);
                let end = (lane + 1..count).find(|l| heads[*l] == 1).unwrap_or(count);
                let want = [fold(&subgroup[begin..=lane]), fold(&subgroup[begin..lane]), fold(&subgroup[begin..end])];
                assert_items(&segmented[start + i], &want, || {
                    format!("segmented {suffix}, workgroup of {workgroup}: invocation {i} of group {group}")
                });
            }
        }
    }
}

/// 16-bit floats, from and to words.
fn f16(env: &Env, blocks: &[Block], value: &str, want: fn(&Invocation<'_, u32>) -> u32) {
    for workgroup in WORKGROUPS {
        let items: Vec<u32> = controls().iter().map(|x| x % 4).collect();
        let body = format!("let h = f16(f32(x)); put(0, u32(f32({value})));");
        let got = run::<u32, u32>(env, workgroup, blocks, 1, &body, &items, &items);
        compare(env, workgroup, value, (&got, 0), &items, |at| Some(want(at)));
    }
}

/// Blocks of several types and operators in one library, two operators of one's own over one type among them.
fn together(env: &Env) {
    let workgroup = 100;
    let (affine, first, last) = (algebra::affine(), algebra::first_nonzero(), algebra::last_nonzero());
    let items = last.items(GROUPS * workgroup);
    let blocks = [
        block::subgroup_scan::<u32>(first.operator.clone().named("first")),
        block::workgroup_scan::<u32>(last.operator.clone().named("last")),
        block::workgroup_reduce::<Affine>(affine.operator.clone().named("affine")),
        block::subgroup_reduce::<u32>(Op::Max),
        block::subgroup_reduce::<f32>(Op::Max),
        block::workgroup_reduce::<Moments>(algebra::moments().operator.named("moments")),
        block::workgroup_select(),
        block::workgroup_rank(4),
        block::match_any::<u32>(),
        block::vote(),
        block::multisplit(),
    ];
    let body = "
        put(0, sg_scan_inclusive_first_u32(x));
        put(1, wg_scan_inclusive_last_u32(x));
        put(2, wg_reduce_affine_Affine(Affine(x | 1u, x)).b);
        put(3, sg_reduce_max_u32(x));
        put(4, u32(sg_reduce_max_f32(f32(x & 255u))));
        put(5, wg_reduce_moments_Moments(Moments(1u, 0.0, 0.0)).count);
        put(6, wg_select(x == 0u).rank);
        put(7, wg_rank(x & 3u).place);";
    let got = run::<u32, u32>(env, workgroup, &blocks, 8, body, &items, &controls());
    let is = |j, what: &str, want: &dyn Fn(&Invocation<'_, u32>) -> u32| {
        compare(env, workgroup, what, (&got, j), &items, |at| Some(want(at)));
    };
    is(0, "first", &|at| oracle::reduce(0, &first.combine, &at.subgroup[..=at.lane]));
    is(1, "last", &|at| oracle::reduce(0, &last.combine, &at.group[..=at.index]));
    is(2, "affine", &|at| {
        let maps: Vec<Affine> = at.group.iter().map(|&x| Affine { a: x | 1, b: x }).collect();
        oracle::reduce(affine.identity, &affine.combine, &maps).b
    });
    is(3, "max", &|at| at.subgroup.iter().copied().max().unwrap_or(0));
    is(4, "max of floats", &|at| at.subgroup.iter().map(|x| x & 255).max().unwrap_or(0));
    is(5, "moments", &|_| workgroup as u32);
    is(6, "select", &|at| at.group[..at.index].iter().filter(|x| **x == 0).count() as u32);
    is(7, "rank", &|at| {
        let mine = at.group[at.index] & 3;
        let lower = at.group.iter().filter(|x| **x & 3 < mine).count();
        (lower + at.group[..at.index].iter().filter(|x| **x & 3 == mine).count()) as u32
    });
}

fn errors(env: &Env) {
    let argument = ErrorKind::InvalidArgument;
    let library = |workgroup, blocks: &[Block]| shader::library(&env.gpu, workgroup, blocks);
    assert_refused(library(0, &[]), argument, &["at least one invocation"]);
    let limits = env.gpu.limits();
    let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    let parts = [format!("needs {}", most + 1), format!("allows {most}")];
    assert_refused(library(most + 1, &[]), ErrorKind::LimitTooSmall, &parts);
    for buckets in [0, 1, 3, 100, 512, u32::MAX] {
        let refused = library(64, &[block::workgroup_rank(buckets)]);
        assert_refused(refused, argument, &["from 2 to 256", &format!("not {buckets}")]);
    }
    for items in [0, 65, u32::MAX] {
        let refused = library(64, &[block::workgroup_exchange::<u32>(items)]);
        assert_refused(refused, argument, &["1 to 64 items", &format!("not {items}")]);
    }
    let two = [block::workgroup_exchange::<u32>(2), block::workgroup_exchange::<f32>(4)];
    assert_refused(library(64, &two), argument, &["asked for 2 and 4"]);
    let two = [block::workgroup_rank(2), block::workgroup_rank(4)];
    assert_refused(library(64, &two), argument, &["asked for 2 and 4"]);
    let refused = library(64, &[block::subgroup_scan::<f32>(Op::Xor)]);
    assert_refused(refused, argument, &["xor", "not defined for f32"]);
    for name in ["", "a-b", "a b", "ä"] {
        let named = Operator::<u32>::from(Op::Add).named(name);
        let refused = library(64, &[block::subgroup_scan::<u32>(named)]);
        assert_refused(refused, argument, &["no name for an operator"]);
    }
    let scan = library(64, &[block::subgroup_scan::<u32>(Op::Add)]).expect("a valid library");
    let refused = scan.with_kernel("mine.wgsl", "// one\nfn broken() -> u32 { return sg_scan_inclusive_mul_u32(1u); }");
    assert_refused(refused, ErrorKind::InvalidShader, &["mine.wgsl:2:", "sg_scan_inclusive_mul_u32"]);
    let large = limits.max_compute_workgroup_storage_size / 4 + 1;
    let kernel = format!(
        "var<workgroup> large: array<u32, {large}>;
         @compute @workgroup_size(WORKGROUP) fn kernel(place: Place) {{ large[place.index] = 1u; }}"
    );
    let parts = ["mine.wgsl", &format!("allows {}", limits.max_compute_workgroup_storage_size)];
    assert_refused(scan.with_kernel("mine.wgsl", &kernel), ErrorKind::LimitTooSmall, &parts);
}
