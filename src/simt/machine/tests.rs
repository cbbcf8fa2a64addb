//! Shaders against what WGSL says of them, computed in plain Rust.

use super::*;

/// A device for a test: the buffers of group 0, by binding.
struct Case<'a> {
    source: &'a str,
    lanes: u32,
    workgroups: [u32; 3],
    constants: &'a [(&'a str, f64)],
    immediates: &'a [u8],
}

impl<'a> Case<'a> {
    fn new(source: &'a str, lanes: u32) -> Self {
        Self { source, lanes, workgroups: [1, 1, 1], constants: &[], immediates: &[] }
    }

    fn program(&self) -> Result<Program, String> {
        let all = naga::valid::Capabilities::all();
        let mut options = naga::front::wgsl::Options::new();
        options.capabilities = all;
        let module = naga::front::wgsl::Frontend::new_with_options(options)
            .parse(self.source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(self.source)));
        let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), all)
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(self.source)));
        let mut constants = naga::back::PipelineConstants::default();
        constants.extend(self.constants.iter().map(|(name, value)| ((*name).to_string(), *value)));
        Program::compile(&module, &info, "main", &constants, self.lanes, Some(self.source))
    }

    fn run(&self, buffers: &mut [Vec<u32>]) -> Result<Counts, String> {
        self.run_within(buffers, MAX_ITERATIONS)
    }

    fn run_within(&self, buffers: &mut [Vec<u32>], iterations: u32) -> Result<Counts, String> {
        let program = self.program()?;
        let bindings: Vec<Bound> = (0..)
            .zip(buffers.iter())
            .map(|(binding, words)| {
                let size = 4 * words.len() as u64;
                let memory = Arc::new(Memory::zeroed(size));
                memory.write(0, bytemuck::cast_slice(words));
                Bound { group: 0, binding, resource: Resource::Buffer { memory, offset: 0, size } }
            })
            .collect();
        let Self { workgroups, immediates, .. } = *self;
        let dispatch = Dispatch { program: &program, workgroups, bindings: &bindings, immediates };
        let how = How { iterations, ..How::in_step(2) };
        let counts = run(&dispatch, how).map_err(|fault| fault.to_string())?;
        for (bound, words) in bindings.iter().zip(buffers) {
            words.copy_from_slice(bytemuck::cast_slice(&bound.resource.contents()));
        }
        Ok(counts)
    }
}

/// What a shader writes to `out`, one word for each of `count` invocations of a workgroup.
fn output(source: &str, lanes: u32, count: usize) -> Vec<u32> {
    let source = format!("@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{source}");
    let mut buffers = [vec![0; count]];
    Case::new(&source, lanes).run(&mut buffers).unwrap_or_else(|error| panic!("{error}"));
    let [out] = buffers;
    out
}

const ALL_LANES: [u32; 6] = [4, 8, 16, 32, 64, 128];

/// The subgroups of a workgroup of 100, as ranges of invocations: the last is not full at most widths.
fn subgroups(lanes: u32) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..100).step_by(lanes as usize).map(move |first| first..(first + lanes as usize).min(100))
}

#[test]
fn arithmetic_of_integers() {
    let source = "
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            let xs = array<i32, 8>(7, -7, 7, -7, -2147483647 - 1, 5, 1, -1);
            let ys = array<i32, 8>(2, 2, -2, -2, -1, 0, 33, 31);
            let x = xs[i];
            let y = ys[i];
            let u = u32(x);
            let v = u32(y);
            out[i * 10] = u32(x + y);
            out[i * 10 + 1] = u32(x - y);
            out[i * 10 + 2] = u32(x * y);
            out[i * 10 + 3] = u32(x / y);
            out[i * 10 + 4] = u32(x % y);
            out[i * 10 + 5] = u / v;
            out[i * 10 + 6] = u % v;
            out[i * 10 + 7] = u << v;
            out[i * 10 + 8] = u32(x >> v);
            out[i * 10 + 9] = u32(x < y) | (u32(u < v) << 1u) | (u32(x >= y) << 2u);
        }";
    let xs = [7, -7, 7, -7, i32::MIN, 5, 1, -1];
    let ys = [2, 2, -2, -2, -1, 0, 33, 31];
    let mut expected = Vec::new();
    for (x, y) in xs.into_iter().zip(ys) {
        let (u, v) = (x as u32, y as u32);
        expected.extend([
            x.wrapping_add(y) as u32,
            x.wrapping_sub(y) as u32,
            x.wrapping_mul(y) as u32,
            if y == 0 { u } else { x.wrapping_div(y) as u32 },
            if y == 0 { 0 } else { x.wrapping_rem(y) as u32 },
            u.checked_div(v).unwrap_or(u),
            u.checked_rem(v).unwrap_or(0),
            u << (v % 32),
            (x >> (v % 32)) as u32,
            u32::from(x < y) | u32::from(u < v) << 1 | u32::from(x >= y) << 2,
        ]);
    }
    assert_eq!(output(source, 4, 80), expected);
}

#[test]
fn vectors_matrices_structs_and_packing() {
    let source = "
        struct Inner { a: vec3<f32>, b: f32 }
        struct Outer { first: u32, list: array<Inner, 2>, m: mat3x2<f32> }
        @group(0) @binding(1) var<storage, read> input: Outer;
        @compute @workgroup_size(1) fn main() {
            var o = input;
            o.list[1].a.y += 1.0;
            let v = o.list[1].a.zyx;
            out[0] = u32(dot(v, o.list[0].a));
            out[1] = u32(cross(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0)).z);
            let p = o.m * v;
            out[2] = u32(p.x);
            out[3] = u32(p.y);
            out[4] = u32((vec2f(1.0, 2.0) * o.m).z);
            out[5] = u32(determinant(mat3x3f(2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 4.0)));
            out[6] = u32((transpose(o.m) * vec2f(1.0, 1.0)).y);
            out[7] = pack4x8unorm(vec4f(0.0, 0.5, 1.0, 2.0));
            out[8] = pack4x8snorm(vec4f(-1.0, 0.0, 1.0, -3.0));
            out[9] = pack2x16float(vec2f(1.0, -2.0));
            out[10] = u32(unpack2x16float(out[9]).x);
            out[11] = pack4xI8(vec4i(1, -1, 2, -2));
            out[12] = bitcast<u32>(unpack4xI8(out[11]).w);
            out[13] = insertBits(0xffffffffu, 0u, 4u, 8u);
            out[14] = u32(all(vec2(true, false))) + 2u * u32(any(vec2(true, false)));
            out[15] = u32(length(vec2f(3.0, 4.0))) + u32(clamp(9i, 1, 5)) + select(0u, 100u, o.first == 9u);
            let f = frexp(f32(o.first));
            out[16] = u32(f.fract * 100.0) + 1000u * u32(f.exp);
            out[17] = u32(dot4I8Packed(0x01ff02feu, 0x01010101u));
            out[18] = arrayLength(&out);
        }";
    let mut input = vec![0_f32; 20];
    input[0] = f32::from_bits(9);
    input[4..8].copy_from_slice(&[1.0, 2.0, 3.0, 0.0]);
    input[8..12].copy_from_slice(&[4.0, 5.0, 6.0, 7.0]);
    input[12..18].copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let source = format!("@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{source}");
    let mut buffers = [vec![0; 19], input.into_iter().map(f32::to_bits).collect()];
    Case::new(&source, 4).run(&mut buffers).expect("runs");
    // v = (6, 6, 4); the columns of m are (1, 2), (3, 4), (5, 6).
    let expected = [
        6 + 12 + 12,
        1,
        6 + 18 + 20,
        12 + 24 + 24,
        5 + 12,
        2 * 12 - 3,
        7,
        0xffff_8000,
        0x817f_0081,
        0xc000_3c00,
        1,
        0xfe02_ff01,
        -2_i32 as u32,
        0xffff_f00f,
        2,
        5 + 5 + 100,
        4056,
        0,
        19,
    ];
    assert_eq!(buffers[0], expected);
}

#[test]
fn loops_switches_calls_and_pointers() {
    let source = "
        var<private> calls: u32;
        fn step(p: ptr<function, u32>, by: u32) -> u32 {
            calls += 1u;
            if by == 3u { return 1000u; }
            *p += by;
            var fresh: u32;
            fresh += by;
            return fresh;
        }
        fn twice(p: ptr<function, array<u32, 3>>, i: u32) -> u32 {
            let a = step(&(*p)[i], i);
            return a + step(&(*p)[2], 5u);
        }
        @compute @workgroup_size(100) fn main(@builtin(local_invocation_index) i: u32) {
            var sum = 0u;
            for (var k = 0u; k < i; k++) {
                if k % 3u == 1u { continue; }
                if k > 50u { break; }
                switch k % 7u {
                    case 0u, 2u: { sum += 1u; }
                    case 3u: { if i % 2u == 0u { break; } sum += 10u; }
                    case 5u: { continue; }
                    default: { sum += 100u; }
                }
                sum += 1000u;
            }
            var n = 0u;
            loop {
                let old = n;
                continuing {
                    n += 1u + (old & 1u);
                    break if n >= i;
                }
            }
            var list: array<u32, 3>;
            let got = twice(&list, i % 4u);
            out[i] = sum * 31u + n * 7u + list[0] + list[1] * 2u + list[2] * 3u + got + calls;
        }";
    let expected: Vec<u32> = (0..100_u32)
        .map(|i| {
            let mut sum = 0;
            for k in 0..i {
                if k % 3 == 1 {
                    continue;
                }
                if k > 50 {
                    break;
                }
                match k % 7 {
                    0 | 2 => sum += 1,
                    3 => {
                        if i % 2 == 1 {
                            sum += 10;
                        }
                    }
                    5 => continue,
                    _ => sum += 100,
                }
                sum += 1000;
            }
            let mut n = 0;
            loop {
                n += 1 + (n & 1);
                if n >= i {
                    break;
                }
            }
            let mut list = [0; 3];
            let by = i % 4;
            if by != 3 {
                list[by as usize] += by;
            }
            list[2] += 5;
            let got = 5 + if by == 3 { 1000 } else { by };
            sum * 31 + n * 7 + list[0] + list[1] * 2 + list[2] * 3 + got + 2
        })
        .collect();
    for lanes in ALL_LANES {
        assert_eq!(output(source, lanes, 100), expected, "{lanes} lanes");
    }
}

/// Runs a subgroup operation where only the invocations of a pattern are active, and compares with an oracle, which is
/// given the active values of a subgroup with their lanes.
#[track_caller]
fn check_subgroup(expression: &str, oracle: impl Fn(&[(usize, u32)], usize, u32) -> u32) {
    let source = format!(
        "@compute @workgroup_size(100)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {{
            let x = (i * 2654435761u) >> 7u;
            if i % 3u != 1u {{ out[i] = {expression}; }} else {{ out[i] = 7u; }}
        }}"
    );
    for lanes in ALL_LANES {
        let got = output(&source, lanes, 100);
        for subgroup in subgroups(lanes) {
            let first = subgroup.start;
            let value = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 7;
            let active: Vec<(usize, u32)> =
                subgroup.clone().filter(|i| i % 3 != 1).map(|i| (i - first, value(i))).collect();
            for i in subgroup {
                let expected = if i % 3 == 1 { 7 } else { oracle(&active, i - first, value(i)) };
                assert_eq!(got[i], expected, "{expression} at {lanes} lanes, invocation {i}");
            }
        }
    }
}

#[test]
fn subgroup_reductions_and_scans_take_active_lanes() {
    let before = |active: &[(usize, u32)], lane: usize| -> Vec<u32> {
        active.iter().filter(|(other, _)| *other < lane).map(|(_, x)| *x).collect()
    };
    check_subgroup("subgroupAdd(x)", |active, _, _| active.iter().fold(0, |sum, (_, x)| sum.wrapping_add(*x)));
    check_subgroup("subgroupExclusiveAdd(x)", |active, lane, _| {
        before(active, lane).into_iter().fold(0, u32::wrapping_add)
    });
    check_subgroup("subgroupInclusiveAdd(x)", |active, lane, _| {
        before(active, lane + 1).into_iter().fold(0, u32::wrapping_add)
    });
    check_subgroup("subgroupMul(x)", |active, _, _| active.iter().fold(1, |all, (_, x)| all.wrapping_mul(*x)));
    check_subgroup("subgroupExclusiveMul(x)", |active, lane, _| {
        before(active, lane).into_iter().fold(1, u32::wrapping_mul)
    });
    check_subgroup("subgroupInclusiveMul(x)", |active, lane, _| {
        before(active, lane + 1).into_iter().fold(1, u32::wrapping_mul)
    });
    check_subgroup("subgroupMin(x)", |active, _, _| active.iter().map(|(_, x)| *x).min().expect("one is active"));
    check_subgroup("subgroupMax(x)", |active, _, _| active.iter().map(|(_, x)| *x).max().expect("one is active"));
    check_subgroup("u32(subgroupMax(-i32(x)))", |active, _, _| {
        active.iter().map(|(_, x)| -(*x as i32)).max().expect("one is active") as u32
    });
    check_subgroup("u32(subgroupMin(f32(x & 0xffu)))", |active, _, _| {
        active.iter().map(|(_, x)| x & 0xff).min().expect("one is active")
    });
    check_subgroup("subgroupAnd(x)", |active, _, _| active.iter().fold(!0, |all, (_, x)| all & x));
    check_subgroup("subgroupOr(x)", |active, _, _| active.iter().fold(0, |all, (_, x)| all | x));
    check_subgroup("subgroupXor(x)", |active, _, _| active.iter().fold(0, |all, (_, x)| all ^ x));
    check_subgroup("u32(subgroupAll(x % 8u != 0u))", |active, _, _| active.iter().all(|(_, x)| x % 8 != 0).into());
    check_subgroup("u32(subgroupAny(x % 8u == 0u))", |active, _, _| active.iter().any(|(_, x)| x % 8 == 0).into());
    for word in 0..4 {
        check_subgroup(&format!("subgroupBallot((x & 1u) == 1u)[{word}]"), |active, _, _| {
            let odd = active.iter().filter(|(_, x)| x & 1 == 1);
            odd.filter(|(lane, _)| lane / 32 == word).fold(0, |bits, (lane, _)| bits | 1 << (lane % 32))
        });
    }
}

#[test]
fn subgroup_reads_of_other_lanes() {
    // Zero where the other lane is not active: WGSL leaves that open.
    let at = |active: &[(usize, u32)], lane: i64| {
        active.iter().find(|(other, _)| *other as i64 == lane).map_or(0, |(_, x)| *x)
    };
    check_subgroup("subgroupBroadcastFirst(x)", |active, _, _| active[0].1);
    check_subgroup("subgroupBroadcast(x, 2u)", |active, _, _| at(active, 2));
    check_subgroup("subgroupShuffle(x, (lane * 5u) % 128u)", |active, lane, _| at(active, lane as i64 * 5 % 128));
    check_subgroup("subgroupShuffleXor(x, 3u)", |active, lane, _| at(active, lane as i64 ^ 3));
    check_subgroup("subgroupShuffleUp(x, 2u)", |active, lane, _| at(active, lane as i64 - 2));
    check_subgroup("subgroupShuffleDown(x, 3u)", |active, lane, _| at(active, lane as i64 + 3));
    check_subgroup("quadBroadcast(x, 1u)", |active, lane, _| at(active, (lane as i64 & !3) + 1));
    check_subgroup("quadSwapX(x)", |active, lane, _| at(active, lane as i64 ^ 1));
    check_subgroup("quadSwapY(x)", |active, lane, _| at(active, lane as i64 ^ 2));
    check_subgroup("quadSwapDiagonal(x)", |active, lane, _| at(active, lane as i64 ^ 3));
}

#[test]
fn built_in_values_in_three_dimensions() {
    let source = "
        struct Ids { @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32> }
        @group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
        @compute @workgroup_size(3, 2, 5)
        fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>,
                @builtin(local_invocation_index) i: u32, ids: Ids, @builtin(subgroup_size) size: u32) {
            let all = ids.workgroups * vec3(3u, 2u, 5u);
            let at = (g.z * all.y + g.y) * all.x + g.x;
            out[at * 2u] = vec4(l, i);
            out[at * 2u + 1u] = vec4(ids.workgroup, size);
        }";
    for lanes in ALL_LANES {
        let mut buffers = [vec![0; 30 * 6 * 8]];
        let mut case = Case::new(source, lanes);
        case.workgroups = [2, 1, 3];
        case.run(&mut buffers).expect("runs");
        for (at, words) in buffers[0].chunks(8).enumerate() {
            let at = at as u32;
            let (x, y, z) = (at % 6, at / 6 % 2, at / 12);
            let local = [x % 3, y, z % 5];
            let index = local[0] + 3 * local[1] + 6 * local[2];
            let expected = [local[0], local[1], local[2], index, x / 3, 0, z / 5, lanes];
            assert_eq!(words, expected, "{lanes} lanes");
        }
    }
}

#[test]
fn subgroups_are_numbered_and_their_number_is_rounded_up() {
    let source = "@compute @workgroup_size(100)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) id: u32,
                @builtin(num_subgroups) count: u32) {
            out[i] = id * 1000u + count;
        }";
    for lanes in ALL_LANES {
        let expected: Vec<u32> = (0..100).map(|i| i / lanes * 1000 + 100_u32.div_ceil(lanes)).collect();
        assert_eq!(output(source, lanes, 100), expected);
    }
}

#[test]
fn workgroup_scan_with_barriers() {
    let source = "
        var<workgroup> sums: array<u32, 100>;
        var<workgroup> total: u32;
        @compute @workgroup_size(100) fn main(@builtin(local_invocation_index) i: u32) {
            sums[i] = i * i;
            for (var step = 1u; step < 100u; step *= 2u) {
                workgroupBarrier();
                var add = 0u;
                if i >= step { add = sums[i - step]; }
                workgroupBarrier();
                sums[i] += add;
            }
            if i == 99u { total = sums[i]; }
            out[i] = sums[i] + workgroupUniformLoad(&total);
        }";
    let total: u32 = (0..100).map(|i| i * i).sum();
    let expected: Vec<u32> = (0..100).map(|i| (0..=i).map(|i| i * i).sum::<u32>() + total).collect();
    for lanes in ALL_LANES {
        assert_eq!(output(source, lanes, 100), expected, "{lanes} lanes");
    }
}

#[test]
fn a_barrier_that_some_do_not_reach_is_a_fault() {
    for body in [
        "if i < 3u { return; }\n workgroupBarrier();",
        "if i < 50u { return; }\n workgroupBarrier();",
        "if i < 3u {\n workgroupBarrier(); }",
        "if out[i] + i < 3u { storageBarrier(); } else {\n workgroupBarrier(); }",
    ] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(100) fn main(@builtin(local_invocation_index) i: u32) {{ {body} out[i] = 1u; }}"
        );
        let fault = Case::new(&source, 32).run(&mut [vec![0; 100]]).expect_err("not all arrive");
        assert!(fault.contains("a barrier") && fault.contains("line "), "{fault}");
    }
}

#[test]
fn a_loop_without_an_end_is_a_fault() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4) fn main() {
            loop { if out[0] == 1u { break; } }
        }";
    let fault = Case::new(source, 4).run_within(&mut [vec![0]], 10_000).expect_err("it does not end");
    assert!(fault.contains("does not end") && fault.contains("fn main"), "{fault}");
}

#[test]
fn subgroups_of_a_workgroup_can_wait_for_each_other() {
    let source = "
        var<workgroup> turn: atomic<u32>;
        @compute @workgroup_size(32) fn main(@builtin(subgroup_id) id: u32, @builtin(local_invocation_index) i: u32) {
            while atomicLoad(&turn) != 7u - id { }
            out[i] = atomicLoad(&turn);
            atomicStore(&turn, 8u - id);
        }";
    assert_eq!(output(source, 4, 32), (0..32).map(|i| 7 - i / 4).collect::<Vec<_>>());
}

#[test]
fn atomics() {
    let source = "
        var<workgroup> w: atomic<i32>;
        var<workgroup> last: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> a: array<atomic<u32>>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
            out[atomicAdd(&a[0], 1u)] += 1u;
            atomicSub(&a[1], 1u);
            atomicMax(&a[2], g.x);
            atomicMin(&a[3], g.x);
            atomicAnd(&a[4], ~(1u << (g.x % 32u)));
            atomicOr(&a[5], 1u << (g.x % 32u));
            atomicXor(&a[6], g.x);
            atomicMin(&w, -i32(g.x));
            let old = atomicExchange(&last, g.x);
            let swapped = atomicCompareExchangeWeak(&a[7], 5u, 6u);
            if swapped.exchanged { atomicAdd(&a[8], 1u); }
            if swapped.old_value == 6u { atomicAdd(&a[9], 1u); }
            atomicAdd(&a[100], 1u);
            workgroupBarrier();
            if g.x == 64u { atomicStore(&a[10], u32(-atomicLoad(&w))); }
        }";
    let source = format!("@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{source}");
    let mut buffers = [vec![0; 128], vec![0, 128, 0, 9999, !0, 0, 0, 5, 0, 0, 0]];
    let mut case = Case::new(&source, 8);
    case.workgroups = [2, 1, 1];
    case.run(&mut buffers).expect("runs");
    assert_eq!(buffers[0], [1; 128]);
    assert_eq!(buffers[1], [128, 0, 127, 0, 0, !0, 0, 6, 1, 127, 127]);
}

#[test]
fn atomics_of_wide_words_and_floats() {
    let source = "
        struct All {
            add: atomic<u64>, sub: atomic<i64>, min: atomic<i64>, max: atomic<u64>, and: atomic<u64>, or: atomic<u64>,
            xor: atomic<u64>, last: atomic<u64>, lock: atomic<u64>, stored: atomic<u64>,
        }
        @group(0) @binding(0) var<storage, read_write> a: All;
        @group(0) @binding(1) var<storage, read_write> f: atomic<f32>;
        @group(0) @binding(2) var<storage, read_write> won: atomic<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
            let x = u64(g.x) << 32u;
            atomicAdd(&a.add, x + 0xfffffffflu);
            atomicSub(&a.sub, 1li);
            atomicMin(&a.min, -i64(x));
            atomicMax(&a.max, x);
            atomicAnd(&a.and, ~(1lu << g.x));
            atomicOr(&a.or, 1lu << (63u - g.x));
            atomicXor(&a.xor, x);
            if atomicExchange(&a.last, 5lu) != 5lu { atomicAdd(&won, 100u); }
            if atomicCompareExchangeWeak(&a.lock, 0lu, x + 1lu).exchanged { atomicAdd(&won, 1u); }
            atomicAdd(&f, 0.5);
            storageBarrier();
            if g.x == 0u { atomicStore(&a.stored, atomicLoad(&a.max) + 1lu); }
        }";
    let mut initial = [0_u64; 10];
    initial[4] = !0;
    let mut buffers = [bytemuck::cast_slice(&initial).to_vec(), vec![1_f32.to_bits()], vec![0]];
    Case::new(source, 16).run(&mut buffers).expect("runs");
    let sum: u64 = (0..64).map(|x| (x << 32) + 0xffff_ffff).sum();
    let xor = (0..64).fold(0, |all, x| all ^ x << 32);
    let expected = [sum, -64_i64 as u64, (-63_i64 << 32) as u64, 63 << 32, 0, !0, xor, 5, 1, (63 << 32) + 1];
    assert_eq!(bytemuck::cast_slice::<u32, u64>(&buffers[0]), expected);
    assert_eq!(f32::from_bits(buffers[1][0]), 33.0);
    assert_eq!(buffers[2], [101]);
}

#[test]
fn variables_of_the_host_have_its_layout() {
    let source = "
        struct Part { v: vec3<f32>, n: u32, m: mat2x3<f32> }
        @group(0) @binding(0) var<uniform> parts: array<Part, 2>;
        @group(0) @binding(1) var<storage, read_write> list: array<vec3<u32>>;
        @group(0) @binding(2) var<storage, read_write> copied: array<Part, 2>;
        var<private> kept: array<Part, 2>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
            kept[i] = parts[1u - i];
            kept[i].m[i].y += 100.0;
            list[i] = vec3(u32(parts[i].m[1][i]), parts[i].n, arrayLength(&list));
            copied[i] = kept[i];
        }";
    // 4 words of v and n, two columns of 4 words.
    let word = |i: usize| if i % 12 == 3 { i as u32 } else { (i as f32).to_bits() };
    let mut buffers = [(0..24).map(word).collect(), vec![7; 8], vec![0; 24]];
    Case::new(source, 4).run(&mut buffers).expect("runs");
    assert_eq!(buffers[1], [8, 3, 2, 7, 21, 15, 2, 7]);
    let expected: Vec<u32> = (0..24)
        .map(|to| {
            let from = (to + 12) % 24;
            match to {
                // The padding behind a column is left alone.
                7 | 11 | 19 | 23 => 0,
                5 | 21 => (from as f32 + 100.0).to_bits(),
                _ => word(from),
            }
        })
        .collect();
    assert_eq!(buffers[2], expected);
}

#[test]
fn overrides_and_immediates() {
    let source = "
        override size: u32 = 8u;
        @id(3) override scale: f32 = 2.0;
        override twice: u32 = size * 2u;
        var<workgroup> list: array<u32, twice>;
        struct Push { add: u32, more: vec2<u32> }
        var<immediate> push: Push;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn other() { }
        @compute @workgroup_size(size) fn main(@builtin(local_invocation_index) i: u32) {
            list[i + size] = i;
            workgroupBarrier();
            out[i] = u32(f32(list[twice - 1u - i]) * scale) + push.add + push.more.y;
        }";
    let mut case = Case::new(source, 4);
    case.constants = &[("size", 16.0), ("3", 3.0)];
    let immediates: Vec<u8> = [100_u32, 0, 1000, 2000].iter().flat_map(|word| word.to_le_bytes()).collect();
    case.immediates = &immediates;
    let mut buffers = [vec![0; 16]];
    case.run(&mut buffers).expect("runs");
    assert_eq!(buffers[0], (0..16).map(|i| (15 - i) * 3 + 2100).collect::<Vec<_>>());
    assert_eq!(case.program().expect("compiles").workgroup_size, [16, 1, 1]);
}

#[test]
fn indices_out_of_bounds_read_zero_and_write_nothing() {
    let source = "
        var<workgroup> w: array<u32, 4>;
        var<workgroup> guard: u32;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            var local: array<vec2<u32>, 2>;
            guard = 5u;
            local[i] = vec2(i + 1u);
            w[i] = i + 1u;
            out[i * 4u] = i + 1u;
            out[i * 4u + 1u] = local[i].y;
            out[i * 4u + 2u] = w[i];
            out[i * 4u + 3u] = guard + out[1000u + i] + local[i][i];
        }";
    let mut expected = Vec::new();
    for i in 0..8 {
        let inside = |length: u32| if i < length { i + 1 } else { 0 };
        expected.extend([i + 1, inside(2), inside(4), 5 + inside(2)]);
    }
    expected.truncate(30);
    assert_eq!(output(source, 4, 30), expected);
}

#[test]
fn wide_and_half_numbers() {
    let source = "
        enable f16;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> wide: array<u64>;
        @group(0) @binding(2) var<storage, read_write> total: atomic<u64>;
        @group(0) @binding(3) var<storage, read_write> half: array<f16>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            let x = wide[i];
            let y = i64(x) * -3li;
            wide[i] = u64(y >> 1u) + subgroupAdd(u64(i));
            atomicAdd(&total, 0x100000001lu);
            out[i] = u32(y < 0li) + u32(f32(i64(i) - 4li) + 10.0) * 10u;
            half[i] = half[i] * 2.0h + f16(i) + 0.0001h;
            out[i + 8u] = u32(f64(i) * 1.5lf);
        }";
    let wide: Vec<u64> = (0..8).map(|i| i * 0x1_2345_6789).collect();
    // 1.0 and 2.0
    let mut buffers = [vec![0; 16], bytemuck::cast_slice(&wide).to_vec(), vec![0; 2], vec![0x4000_3c00; 4]];
    Case::new(source, 8).run(&mut buffers).expect("runs");
    let expected: Vec<u64> = wide.iter().map(|x| ((*x as i64 * -3) >> 1) as u64).map(|x| x.wrapping_add(28)).collect();
    assert_eq!(bytemuck::cast_slice::<u32, u64>(&buffers[1]), expected);
    assert_eq!(buffers[2], [8, 8]);
    for i in 0..8 {
        let half = buffers[3][i / 2] >> (16 * (i % 2)) & 0xffff;
        // 2 or 4 and the index, as f16: a ten-thousandth is less than half of their last place.
        let value = 2.0 * (1.0 + (i % 2) as f32) + i as f32;
        let read = crate::simt::operation::Unary::HalfToFloat.lane([half]);
        assert_eq!(f32::from_bits(read), value, "{i}");
        assert_eq!(buffers[0][i], u32::from(i > 0) + (i as u32 + 6) * 10);
        assert_eq!(buffers[0][i + 8], (i as f64 * 1.5) as u32);
    }
}

#[test]
fn functions_of_floats() {
    type Oracle = fn(f32) -> f32;
    let functions: [(&str, Oracle); 12] = [
        ("sin(x)", f32::sin),
        ("exp(x)", f32::exp),
        ("log2(x)", f32::log2),
        ("sqrt(x)", f32::sqrt),
        ("pow(x, 1.5)", |x| x.powf(1.5)),
        ("floor(x) + fract(x)", |x| x),
        ("round(x)", f32::round_ties_even),
        ("sign(x - 1.0)", |x| {
            if x > 1.0 {
                1.0
            } else if x < 1.0 {
                -1.0
            } else {
                0.0
            }
        }),
        ("atan2(x, 2.0)", |x| x.atan2(2.0)),
        ("mix(x, 10.0, 0.25)", |x| x * 0.75 + 2.5),
        ("smoothstep(0.0, 4.0, x)", |x| {
            let t = (x / 4.0).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        ("ldexp(x, 3) + modf(x).whole + inverseSqrt(x)", |x| x * 8.0 + x.trunc() + 1.0 / x.sqrt()),
    ];
    for (text, oracle) in functions {
        let source = format!(
            "@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {{
                let x = f32(i + 1u) * 0.5;
                out[i] = bitcast<u32>({text});
            }}"
        );
        for (i, bits) in output(&source, 8, 16).into_iter().enumerate() {
            let (got, expected) = (f32::from_bits(bits), oracle((i + 1) as f32 * 0.5));
            assert!((got - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{text}: {got} for {expected}");
        }
    }
}

#[test]
fn integers_of_16_bits() {
    // What is right follows from the types of Rust: (text, what it is of x and y, as a word of 16 bits).
    type Oracle = fn(i16, u16) -> u16;
    let expressions: [(&str, Oracle); 31] = [
        ("u16(x + i16(30000))", |x, _| x.wrapping_add(30000) as u16),
        ("u16(x * x - i16(7))", |x, _| x.wrapping_mul(x).wrapping_sub(7) as u16),
        ("u16(x / i16(-3))", |x, _| (x / -3) as u16),
        ("u16(x % i16(7))", |x, _| (x % 7) as u16),
        ("u16(-x)", |x, _| x.wrapping_neg() as u16),
        ("u16(~x)", |x, _| !x as u16),
        ("~y", |_, y| !y),
        ("y - u16(40000)", |_, y| y.wrapping_sub(40000)),
        ("y / u16(7) + y % u16(9)", |_, y| y / 7 + y % 9),
        ("u16(x << 3u)", |x, _| (x << 3) as u16),
        ("u16(x >> 3u)", |x, _| (x >> 3) as u16),
        ("y << 5u", |_, y| y << 5),
        ("y >> 5u", |_, y| y >> 5),
        ("select(u16(0), u16(1), x < i16(-5)) + select(u16(0), u16(2), y > u16(40000))", |x, y| {
            u16::from(x < -5) + 2 * u16::from(y > 40000)
        }),
        ("u16(abs(x)) + u16(sign(x))", |x, _| x.wrapping_abs().wrapping_add(x.signum()) as u16),
        ("u16(clamp(x, i16(-100), i16(50)))", |x, _| x.clamp(-100, 50) as u16),
        ("min(y, u16(999)) ^ max(y, u16(50000))", |_, y| y.min(999) ^ y.max(50000)),
        ("countOneBits(y) + u16(countOneBits(x))", |x, y| (y.count_ones() + x.count_ones()) as u16),
        ("countLeadingZeros(y) + u16(countTrailingZeros(x))", |x, y| (y.leading_zeros() + x.trailing_zeros()) as u16),
        ("reverseBits(y)", |_, y| y.reverse_bits()),
        ("u16(reverseBits(x))", |x, _| x.reverse_bits() as u16),
        ("firstLeadingBit(y)", |_, y| 15_u16.wrapping_sub(y.leading_zeros() as u16)),
        ("extractBits(y, 4u, 7u) + u16(extractBits(x, 10u, 20u))", |x, y| {
            (y >> 4 & 127).wrapping_add((x >> 10) as u16)
        }),
        ("u16(extractBits(x, 16u, 1u))", |_, _| 0),
        ("insertBits(y, u16(0xffff), 12u, 9u)", |_, y| y | 0xf000),
        ("u16(u32(x) >> 16u)", |x, _| (i32::from(x) >> 16) as u16),
        ("u16(i64(x) >> 20u) + u16(u64(y) >> 4u)", |x, y| ((i64::from(x) >> 20) as u16).wrapping_add(y >> 4)),
        ("u16(i16(f32(x) * 3.0))", |x, _| (f64::from(x) * 3.0).clamp(-32768.0, 32767.0) as i16 as u16),
        ("u16(f32(y) * 3.0 - 9.0) ^ u16(f64(y) * 2.0lf)", |_, y| {
            let times = |by: f64, less: f64| (f64::from(y) * by - less).clamp(0.0, 65535.0) as u16;
            times(3.0, 9.0) ^ times(2.0, 0.0)
        }),
        // Without the highest bit of the exponent no pattern is a NaN.
        ("bitcast<u16>(bitcast<f16>(y & u16(0xbfff)) * 1.0h)", |_, y| y & 0xbfff),
        ("u16(dot(vec2(x), vec2(x)))", |x, _| x.wrapping_mul(x).wrapping_mul(2) as u16),
    ];
    let numbers: [i16; 16] =
        [0, 1, -1, 2, 100, -100, 255, 256, 4095, 12345, -12345, i16::MAX, i16::MIN, -32767, 85, 21845];
    for (text, oracle) in expressions {
        let source = format!(
            "enable f16;
            enable wgpu_int16;
            @group(0) @binding(0) var<storage, read_write> numbers: array<i16>;
            @group(0) @binding(1) var<storage, read_write> out: array<u16>;
            var<workgroup> kept: array<u16, 16>;
            @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {{
                let x = numbers[i];
                kept[i] = u16(x);
                let y = kept[i];
                out[i] = {text};
                numbers[i] = x;
            }}"
        );
        let bytes = |numbers: &[i16]| bytemuck::cast_slice::<i16, u32>(numbers).to_vec();
        let mut buffers = [bytes(&numbers), vec![0; 8]];
        Case::new(&source, 8).run(&mut buffers).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(buffers[0], bytes(&numbers), "{text}: what is stored back");
        for (x, got) in numbers.into_iter().zip(bytemuck::cast_slice::<u32, u16>(&buffers[1])) {
            assert_eq!(*got, oracle(x, x as u16), "{text} of {x}");
        }
    }
}

#[test]
fn functions_of_doubles() {
    type Oracle = fn(f64) -> f64;
    let functions: [(&str, Oracle); 22] = [
        ("sin(x) + cos(x)", |x| x.sin() + x.cos()),
        ("tan(x)", f64::tan),
        ("asin(x / 9.0lf) + acos(x / 9.0lf)", |_| std::f64::consts::FRAC_PI_2),
        ("atan(x)", f64::atan),
        ("sinh(x) + cosh(x)", f64::exp),
        ("tanh(x)", f64::tanh),
        ("asinh(x)", |x| (x + (x * x + 1.0).sqrt()).ln()),
        ("acosh(x + 1.0lf)", |x| (x + 1.0 + (x * (x + 2.0)).sqrt()).ln()),
        ("atanh(x / 9.0lf)", |x| ((9.0 + x) / (9.0 - x)).ln() / 2.0),
        ("degrees(radians(x))", |x| x),
        ("exp(x)", f64::exp),
        ("exp2(x)", |x| 2_f64.powf(x)),
        ("log(x)", f64::ln),
        ("log2(x)", f64::log2),
        ("pow(x, 1.5lf)", |x| x * x.sqrt()),
        ("atan2(x, 2.0lf)", |x| (x / 2.0).atan()),
        ("step(2.0lf, x)", |x| if x >= 2.0 { 1.0 } else { 0.0 }),
        ("ldexp(x, -1030) * 0x1p1000lf", |x| x / f64::from(1 << 30)),
        ("smoothstep(0.0lf, 4.0lf, x)", |x| {
            let t = (x / 4.0).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        ("faceForward(vec2(x), vec2(1.0lf), vec2(3.0lf - x)).y", |x| if x > 3.0 { x } else { -x }),
        // Straight on, and beyond the critical angle.
        ("refract(vec2(0.0lf, -x), vec2(0.0lf, 1.0lf), 1.0lf).y", |x| -(1.0 - (1.0 - x * x)).sqrt()),
        ("refract(vec2(x, 0.0lf), vec2(0.0lf, 1.0lf), 2.0lf).x", |_| 0.0),
    ];
    for (text, oracle) in functions {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<f64>;
            @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {{
                let x = f64(i + 1u) * 0.5lf;
                out[i] = {text};
            }}"
        );
        let mut buffers = [vec![0; 32]];
        Case::new(&source, 8).run(&mut buffers).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        for (i, got) in bytemuck::cast_slice::<u32, f64>(&buffers[0]).iter().enumerate() {
            let expected = oracle((i + 1) as f64 * 0.5);
            assert!((got - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{text}: {got} for {expected}");
        }
    }
}

#[test]
fn a_branch_both_ways_issues_both_sides_with_half_the_lanes() {
    let counts = |condition: &str| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {{
                var x = i;
                if {condition} {{ x = x * 3u + 1u; x = x * 5u; x ^= 9u; }} else {{ x = x * 7u + 2u; x = x * 9u; x ^= 5u; }}
                out[i] = x;
            }}"
        );
        Case::new(&source, 32).run(&mut [vec![0; 32]]).expect("runs")
    };
    let (together, apart) = (counts("i < 32u"), counts("i < 16u"));
    // A comparison, a branch, four instructions of arithmetic, a store.
    assert_eq!(together, Counts { issues: 7, active_lanes: 7 * 32 });
    assert_eq!(apart, Counts { issues: 11, active_lanes: 7 * 32 });
}

#[test]
fn what_is_not_simulated_is_named_with_its_line() {
    for (ty, name) in [
        ("texture_depth_2d", "a depth texture"),
        ("texture_multisampled_2d<f32>", "a multisampled texture"),
        ("texture_cube<f32>", "a cube texture"),
    ] {
        let source = format!(
            "@group(0) @binding(1) var<storage, read_write> out: array<u32>;
            @group(0) @binding(0) var picture: {ty};
            @compute @workgroup_size(1) fn main() {{ out[0] = textureDimensions(picture).x; }}"
        );
        let error = Case::new(&source, 4).program().expect_err("it is not simulated");
        assert!(error.contains(&format!("picture is {name}")) && error.contains("line 2"), "{error}");
    }
}

/// Every kernel that ships compiles.
#[test]
fn the_catalogue_compiles() {
    for variant in crate::shader::catalog::variants().into_iter().filter(|variant| !variant.is_block()) {
        let text = variant.assemble().expect("it ships");
        let (module, info) = text.validate().expect("it is valid");
        for entry in &module.entry_points {
            let constants = naga::back::PipelineConstants::default();
            let program = Program::compile(&module, &info, &entry.name, &constants, 32, Some(text.text()));
            program.unwrap_or_else(|error| panic!("{}: {}: {error}", variant.name(), entry.name));
        }
    }
}

/// So does every building block: a kernel calls each of its functions with zeros, which must not be a fault.
#[test]
fn the_building_blocks_run() {
    let mut called = 0;
    for variant in crate::shader::catalog::variants().into_iter().filter(|variant| variant.is_block()) {
        let text = variant.assemble().expect("it ships");
        let (module, _) = text.validate().expect("it is valid");
        let mut body = String::new();
        for (_, function) in module.functions.iter() {
            let types = function.arguments.iter().map(|argument| type_name(&module, argument.ty));
            let Some(arguments) = types.map(|name| Some(format!("{}()", name?))).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let assign = if function.result.is_some() { "_ = " } else { "" };
            let name = function.name.as_deref().expect("it has a name");
            body += &format!("{assign}{name}({});\n", arguments.join(", "));
            called += 1;
        }
        let source = format!("{}\n@compute @workgroup_size(100) fn main() {{\n{body}}}", text.text());
        let outcome = Case::new(&source, 32).run(&mut []);
        outcome.unwrap_or_else(|error| panic!("{}: {error}", variant.name()));
    }
    assert!(called > 500, "{called} functions");
}

/// How WGSL names a type whose zero can be an argument.
fn type_name(module: &naga::Module, ty: naga::Handle<naga::Type>) -> Option<String> {
    let scalar = |scalar: naga::Scalar| match (scalar.kind, scalar.width) {
        (naga::ScalarKind::Bool, _) => "bool".to_string(),
        (naga::ScalarKind::Float, width) => format!("f{}", 8 * width),
        (naga::ScalarKind::Sint, width) => format!("i{}", 8 * width),
        (_, width) => format!("u{}", 8 * width),
    };
    match module.types[ty].inner {
        naga::TypeInner::Scalar(of) => Some(scalar(of)),
        naga::TypeInner::Vector { size, scalar: of } => Some(format!("vec{}<{}>", size as u32, scalar(of))),
        naga::TypeInner::Array { base, size: naga::ArraySize::Constant(length), .. } => {
            Some(format!("array<{}, {length}>", type_name(module, base)?))
        }
        naga::TypeInner::Struct { .. } => module.types[ty].name.clone(),
        _ => None,
    }
}

/// Lane operations a second on one thread: `cargo test --release --features simt --lib speed -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn speed() {
    let arithmetic = "
        for (var i = 0u; i < 1000u; i++) {
            x = x * 0.5 + y; y = y * 0.25 + x; x = x * 0.75 - y; y = y * 0.5 + 1.0;
            x = x * 0.5 + y; y = y * 0.25 + x; x = x * 0.75 - y; y = y * 0.5 + 1.0;
        }";
    let integers = "
        var h = id.x;
        for (var i = 0u; i < 1000u; i++) {
            h ^= h << 13u; h ^= h >> 17u; h ^= h << 5u; h = h * 747796405u + i;
        }
        x = f32(h);";
    let memory = "for (var i = 0u; i < 1000u; i++) { out[id.x] = out[id.x ^ 1u] + 1.0; }";
    let branches = "
        for (var i = 0u; i < 1000u; i++) {
            if ((id.x + i) & 1u) == 0u { x = x * 0.5 + 1.0; } else { y = y * 0.25 + x; }
        }";
    for (name, body) in [("arithmetic", arithmetic), ("integers", integers), ("memory", memory), ("branches", branches)]
    {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(128) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                var x = f32(id.x);
                var y = 1.0;
                {body}
                out[id.x] = x + y;
            }}"
        );
        for lanes in ALL_LANES {
            let program = Case::new(&source, lanes).program().expect("compiles");
            let size = 4 * 128 * 32;
            let memory = Arc::new(Memory::zeroed(size));
            let bindings = [Bound { group: 0, binding: 0, resource: Resource::Buffer { memory, offset: 0, size } }];
            let workgroups = [32, 1, 1];
            let dispatch = Dispatch { program: &program, workgroups, bindings: &bindings, immediates: &[] };
            let start = std::time::Instant::now();
            let counts = run(&dispatch, How::in_step(1)).expect("runs");
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name} at {lanes} lanes: {:.2} G lane operations/s, {:.0} M issues/s",
                counts.active_lanes as f64 / seconds / 1e9,
                counts.issues as f64 / seconds / 1e6
            );
        }
    }
}

/// What looking on costs: `cargo test --release --features simt --lib cost_of_checks -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn cost_of_checks() {
    let source = "
        var<workgroup> tile: array<u32, 256>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(256) fn main(
            @builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>
        ) {
            var sum = i;
            for (var round = 0u; round < 200u; round++) {
                tile[i] = sum;
                workgroupBarrier();
                sum = sum * 3u + tile[(i + round) % 256u] + tile[255u - i];
                workgroupBarrier();
            }
            out[id.x] = sum;
        }";
    for lanes in ALL_LANES {
        let program = Case::new(source, lanes).program().expect("compiles");
        let size = 4 * 256 * 16;
        let memory = Arc::new(Memory::zeroed(size));
        let bindings = [Bound { group: 0, binding: 0, resource: Resource::Buffer { memory, offset: 0, size } }];
        let dispatch = Dispatch { program: &program, workgroups: [16, 1, 1], bindings: &bindings, immediates: &[] };
        let seconds = |run: &mut dyn FnMut()| {
            let start = std::time::Instant::now();
            run();
            start.elapsed().as_secs_f64()
        };
        let how = How::in_step(1);
        let mut least = [f64::INFINITY; 3];
        for _ in 0..5 {
            let plain = seconds(&mut || assert!(run(&dispatch, how).is_ok()));
            let checked = seconds(&mut || {
                let mut checks = checks::Checks::new(&program, |_| false);
                run_watched(&dispatch, how, &mut checks).expect("runs");
                assert!(checks.found.is_empty());
            });
            let profiled = seconds(&mut || {
                assert!(run_watched(&dispatch, how, &mut profile::Profiler::new(&program, 32)).is_ok());
            });
            least = [least[0].min(plain), least[1].min(checked), least[2].min(profiled)];
        }
        let [plain, checked, profiled] = least;
        println!("{lanes} lanes: checks {:.2} times, profile {:.2} times", checked / plain, profiled / plain);
    }
}
