//! The simulator's checks: every kind of mistake is found at its lines, and what is right is left alone.

use wavelane::ErrorKind;
use wavelane::simt::check::{CheckOptions, Fill, Finding, FindingKind, Level, Report, Run, check};
use wavelane::wgpu::{AddressMode, Extent3d, TextureFormat};

const WIDTHS: [u32; 6] = [4, 8, 16, 32, 64, 128];

fn at(lanes: u32) -> CheckOptions {
    CheckOptions { lanes, ..CheckOptions::default() }
}

fn run(text: &str, options: &CheckOptions) -> Report {
    let run = Run::reflect(text, None).unwrap_or_else(|error| panic!("{error}"));
    check(text, &run, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The only finding of a shader; its lines are told by marks in the text: `//!` for where it shows, `//?` for the other
/// side.
fn only(text: &str, options: &CheckOptions, kind: FindingKind) -> Finding {
    let findings = run(text, options).findings;
    let [finding] = findings.as_slice() else { panic!("{} findings: {findings:#?}", findings.len()) };
    let marked = |mark: &str| {
        let lines = text.lines().zip(1_u32..).filter(|(line, _)| line.ends_with(mark));
        lines.map(|(_, number)| number).collect::<Vec<_>>()
    };
    let found = [finding.at.line, finding.other.as_ref().and_then(|other| other.line)];
    let mut expected = [marked("//!").first().copied(), marked("//?").first().copied()];
    if kind == FindingKind::DataRace {
        expected[1] = expected[1].or(expected[0]);
        // Both sides of a race stand in the order of the text.
        expected.sort_unstable();
    }
    assert_eq!((finding.kind, found), (kind, expected), "{finding:#?}");
    finding.clone()
}

fn clean(text: &str, options: &CheckOptions) {
    let report = run(text, options);
    assert_eq!(report.findings, [], "{} lanes", options.lanes);
    assert!(report.schedules.iter().all(|schedule| schedule.same_as_lockstep), "{} lanes", options.lanes);
}

const REVERSED: &str = "
    var<workgroup> tile: array<u32, 64>;
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @compute @workgroup_size(64) fn reverse(
        @builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>
    ) {
        tile[i] = i; //?
        BARRIER
        out[id.x] = tile[63u - i]; //!
    }";

#[test]
fn workgroup_memory_without_a_barrier_is_a_race() {
    for lanes in WIDTHS {
        let finding = only(&REVERSED.replace("BARRIER", ""), &at(lanes), FindingKind::DataRace);
        assert!(finding.message.contains("`tile`"), "{}", finding.message);
        let other = finding.other.expect("two sides");
        assert_eq!((finding.seed, finding.at.workgroup, other.workgroup), (None, [0; 3], [0; 3]));
        assert_ne!(finding.at.invocations, other.invocations);
        clean(&REVERSED.replace("BARRIER", "workgroupBarrier();"), &at(lanes));
    }
}

#[test]
fn each_barrier_orders_its_own_memory() {
    let storage = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn swap(
            @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>
        ) {
            let first = 64u * group.x;
            out[first + i] = i; //?
            BARRIER
            let other = out[first + 63u - i]; //!
            storageBarrier();
            out[first + i] = other;
        }";
    only(&storage.replace("BARRIER", ""), &at(8), FindingKind::DataRace);
    only(&storage.replace("BARRIER", "workgroupBarrier();"), &at(8), FindingKind::DataRace);
    clean(&storage.replace("BARRIER", "storageBarrier();"), &at(8));
    only(&REVERSED.replace("BARRIER", "storageBarrier();"), &at(8), FindingKind::DataRace);
}

#[test]
fn workgroups_are_in_no_order() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4) fn last(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32) {
            if i == 0u {
                out[0] = group.x; //!
            }
        }";
    let finding = only(text, &at(4), FindingKind::DataRace);
    assert_ne!(finding.at.workgroup, finding.other.expect("two sides").workgroup);
    let atomics = "
        @group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
        @compute @workgroup_size(4) fn count(@builtin(workgroup_id) group: vec3<u32>) { atomicAdd(&out[0], 1u); }";
    clean(atomics, &at(4));
}

#[test]
fn halves_of_a_word_are_places_of_their_own() {
    let text = "
        enable f16;
        @group(0) @binding(0) var<storage, read_write> out: array<f16>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { out[PLACE] = f16(id.x); }";
    clean(&text.replace("PLACE", "id.x"), &at(4));
    let findings = run(&text.replace("PLACE", "id.x / 2u"), &at(4)).findings;
    assert_eq!(findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::DataRace]);
}

/// The last workgroup writes what every workgroup read: its own reading hides none of the others'.
#[test]
fn readers_of_other_workgroups_with_the_same_local_index_are_remembered() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u) {
            out[group.x] = x[0]; //!
            if atomicAdd(&count, 1u) == all.x - 1u {
                x[0] = 5u; //?
            }
        }";
    only(text, &CheckOptions { schedules: 0, ..at(8) }, FindingKind::DataRace);
}

/// A barrier orders what its own workgroup did, and nothing that others did before.
#[test]
fn what_other_workgroups_did_is_not_forgotten_behind_a_barrier() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        var<workgroup> last: u32;
        @compute @workgroup_size(64) fn main(
            @builtin(local_invocation_index) i: u32,
            @builtin(global_invocation_id) id: vec3u,
            @builtin(num_workgroups) all: vec3u,
        ) {
            out[id.x] = x[0]; //!
            storageBarrier();
            if i == 0u { last = atomicAdd(&count, 1u); }
            if workgroupUniformLoad(&last) == all.x - 1u && i == 5u {
                x[0] = 5u; //?
            }
        }";
    only(text, &CheckOptions { schedules: 0, ..at(8) }, FindingKind::DataRace);
}

#[test]
fn an_atomic_races_with_a_plain_access_only() {
    let text = "
        var<workgroup> count: atomic<u32>;
        var<workgroup> plain: array<u32, 2>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>) {
            atomicAdd(&count, 1u);
            let now = atomicLoad(&count);
            if i == 0u { plain[0] = now; }
            workgroupBarrier();
            out[id.x] = atomicLoad(&count) + plain[0];
        }";
    assert_eq!(run(text, &at(4)).findings, []);
}

/// The sum as a tree over workgroup memory, as it is written by those who rely on the lanes of a subgroup being in step.
fn tree_sum(barrier: &str) -> String {
    format!(
        "
        var<workgroup> sums: array<u32, 32>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn sum(
            @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>
        ) {{
            sums[i] = i + 1u;
            {barrier}
            for (var step = 16u; step > 0u; step /= 2u) {{
                if i < step {{
                    sums[i] += sums[i + step];
                }}
                {barrier}
            }}
            if i == 0u {{ out[group.x] = sums[0]; }}
        }}"
    )
}

#[test]
fn a_tree_sum_without_barriers_is_right_in_step_only() {
    let report = run(&tree_sum(""), &at(32));
    assert!(report.findings.iter().all(|finding| finding.kind == FindingKind::DataRace), "{:#?}", report.findings);
    assert!(!report.findings.is_empty());
    assert!(report.schedules[0].same_as_lockstep);
    assert!(report.schedules[1..].iter().any(|schedule| !schedule.same_as_lockstep), "{:#?}", report.schedules);
    for lanes in WIDTHS {
        clean(&tree_sum("workgroupBarrier();"), &at(lanes));
    }
    // The lanes of a subgroup may also meet by themselves, where there are no others.
    clean(&tree_sum("subgroupBarrier();"), &at(32));
    assert!(!run(&tree_sum("subgroupBarrier();"), &at(8)).findings.is_empty());
}

#[test]
fn a_barrier_in_a_branch_of_some_is_found_with_those_who_wait_and_those_who_do_not() {
    let text = "
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
            if i % 2u == 0u {
                workgroupBarrier(); //!
            }
        }";
    for lanes in WIDTHS {
        let finding = only(text, &at(lanes), FindingKind::DivergentBarrier);
        assert_eq!(finding.at.invocations, (0..16).step_by(2).collect::<Vec<_>>());
        assert_eq!(finding.other.expect("who does not come").invocations, (1..16).step_by(2).collect::<Vec<_>>());
    }
    let two = "
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
            if i < 8u {
                workgroupBarrier(); //!
            } else {
                workgroupBarrier(); //?
            }
        }";
    for lanes in [4, 8, 16, 32] {
        only(two, &CheckOptions { schedules: 0, ..at(lanes) }, FindingKind::DivergentBarrier);
    }
}

#[test]
fn an_index_beyond_the_end_is_found() {
    let text = "
        @group(0) @binding(0) var<storage, read> numbers: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            out[id.x] = numbers[id.x + 1u]; //!
        }";
    let finding = only(text, &at(16), FindingKind::OutOfBounds);
    assert_eq!((finding.message.as_str(), finding.at.workgroup), ("index 256 of 256 elements of `numbers`", [3, 0, 0]));
    assert_eq!((&*finding.at.invocations, finding.times), (&[63][..], 1));
    let constant = "
        struct Tail { first: vec2<u32>, rest: array<vec2<u32>> }
        @group(0) @binding(0) var<storage, read_write> out: Tail;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x == 0u {
                out.rest[3].y = 1u;
                out.rest[999].y = 1u; //!
            }
        }";
    assert_eq!(only(constant, &at(16), FindingKind::OutOfBounds).message, "index 999 of 4 elements of `out`");
    let local = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var table = array<u32, 4>(1u, 2u, 3u, 4u);
            out[id.x] = table[id.x % 5u]; //!
        }";
    assert_eq!(only(local, &at(16), FindingKind::OutOfBounds).variable.as_deref(), Some("table"));
}

#[test]
fn indices_of_one_line_beyond_the_ends_of_several_variables_are_findings_each() {
    let text = "
        var<private> small: array<u32, 3>;
        var<workgroup> tile: array<array<u32, 2>, 2>;
        @group(0) @binding(0) var<storage, read> numbers: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        fn pick(table: ptr<function, array<u32, 4>>, i: u32) -> u32 { return (*table)[i]; }
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            var mine = array<u32, 4>();
            if i == 7u {
                out[0] = numbers[i + 99u] + small[i] + tile[1][i] + pick(&mine, i);
            }
        }";
    let mut run = Run::reflect(text, None).expect("it is valid");
    run.workgroups = [1; 3];
    let findings = check(text, &run, &at(8)).expect("it runs").findings;
    let variables: Vec<_> = findings.iter().filter_map(|finding| finding.variable.as_deref()).collect();
    assert_eq!(variables, ["numbers", "small", "tile", "mine"], "{findings:#?}");
}

#[test]
fn a_word_that_nobody_wrote_is_found() {
    let text = "
        var<workgroup> tile: array<u32, 64>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>) {
            if i < 63u { tile[i] = i; }
            workgroupBarrier();
            out[id.x] = tile[i]; //!
        }";
    let finding = only(text, &at(32), FindingKind::NeverWritten);
    assert_eq!((&*finding.at.invocations, finding.level), (&[63][..], Level::Warning));
    let storage = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            out[id.x] += 1u; //!
        }";
    let mut run = Run::reflect(storage, None).expect("it is valid");
    assert_eq!(check(storage, &run, &at(32)).expect("it runs").findings, []);
    run.buffers[0].fill = Fill::Empty;
    let findings = check(storage, &run, &at(32)).expect("it runs").findings;
    assert_eq!(
        findings.iter().map(|f| (f.kind, f.level, f.at.line)).collect::<Vec<_>>(),
        [(FindingKind::NeverWritten, Level::Error, Some(4))]
    );
}

#[test]
fn a_lane_that_does_not_take_part_is_not_read() {
    let text = |source: &str| {
        format!(
            "
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(64) fn main(
                @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
            ) {{
                if lane < 4u {{
                    out[id.x] = {source}; //!
                }}
            }}"
        )
    };
    let options = CheckOptions { schedules: 0, ..at(8) };
    let finding = only(&text("subgroupShuffle(id.x, lane + 4u)"), &options, FindingKind::InactiveLane);
    assert_eq!(finding.level, Level::Warning);
    only(&text("subgroupShuffleXor(id.x, 4u)"), &options, FindingKind::InactiveLane);
    only(&text("subgroupShuffleDown(id.x, 1u)"), &options, FindingKind::InactiveLane);
    clean(&text("subgroupShuffleUp(id.x, 1u)"), &options);
    clean(&text("subgroupShuffleXor(id.x, 3u)"), &options);
}

#[test]
fn an_operation_of_the_subgroup_in_divergent_flow_is_found() {
    // Lanes that leave out the sum of one round may meet the others at that of the next.
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
        ) {
            var sum = 0u;
            for (var round = 0u; round < 8u; round++) {
                if (lane + round) % 3u == 0u { continue; }
                sum += subgroupAdd(1u);
            }
            out[id.x] = sum;
        }";
    divergent(text, &at(16), 9);
    let uniform = text.replace("(lane + round) % 3u", "round % 3u");
    clean(&uniform, &at(16));
    // So does everybody, where nothing brings lanes together.
    let alone = CheckOptions { rendezvous: false, ..at(16) };
    divergent(&uniform, &alone, 9);
    // A device may take those who take a branch through it one by one.
    let branch = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
        ) {
            if lane CONDITION { out[id.x] = subgroupAdd(1u); }
        }";
    for condition in ["% 3u == 0u", "< 15u"] {
        divergent(&branch.replace("CONDITION", condition), &at(16), 6);
    }
    // One lane alone, or all of them, depends on nobody.
    for condition in ["== 3u", "< 16u"] {
        clean(&branch.replace("CONDITION", condition), &at(16));
    }
}

/// An operation of the subgroup in divergent flow is all that is found, at this line.
fn divergent(text: &str, options: &CheckOptions, line: u32) -> Finding {
    let findings = run(text, options).findings;
    let [finding] = findings.as_slice() else { panic!("{} findings: {findings:#?}", findings.len()) };
    assert_eq!((finding.kind, finding.at.line), (FindingKind::DivergentSubgroupOperation, Some(line)), "{finding:#?}");
    finding.clone()
}

/// Lanes that have gone round a loop more often, or left it, wait for those who come later.
#[test]
fn lanes_in_uniform_flow_meet_whatever_they_did_before() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
        ) {
            var sum = 0u;
            for (var round = 0u; round < 5u; round++) {
                for (var i = 0u; i < (lane * 7u + round) % 5u; i++) {
                    if i == 3u { continue; }
                    sum += i;
                }
                sum += subgroupAdd(round);
                subgroupBarrier();
                sum ^= subgroupMax(lane + round);
            }
            if lane % 2u == 0u { sum++; }
            out[id.x] = sum + subgroupAdd(sum);
        }";
    for lanes in WIDTHS {
        clean(text, &at(lanes));
    }
}

#[test]
fn a_barrier_of_the_subgroup_that_some_lanes_do_not_reach_is_found() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
        ) {
            if CONDITION {
                subgroupBarrier(); //!
            }
            out[id.x] = lane; //?
        }";
    let finding = |condition| {
        let findings = run(&text.replace("CONDITION", condition), &at(16)).findings;
        let [finding] = findings.as_slice() else { panic!("{} findings: {findings:#?}", findings.len()) };
        assert_eq!((finding.kind, finding.at.line), (FindingKind::DivergentBarrier, Some(7)), "{finding:#?}");
        (finding.seed, finding.other.clone().expect("who is missing").invocations)
    };
    assert_eq!(finding("lane < 5u"), (None, vec![5]));
    clean(&text.replace("CONDITION", "id.x < 16u"), &at(16));
}

/// As many invocations wait as there are, and yet not all have come.
#[test]
fn a_barrier_that_is_reached_in_different_rounds_is_found() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32
        ) {
            for (var round = 0u; round < 2u; round++) {
                if round == WHEN {
                    workgroupBarrier(); //!
                }
            }
            out[id.x] = i;
        }";
    for lanes in [4, 16] {
        let findings = run(&text.replace("WHEN", "i / 8u"), &at(lanes)).findings;
        let [finding] = findings.as_slice() else { panic!("{} findings: {findings:#?}", findings.len()) };
        let other = finding.other.as_ref().expect("the other round");
        assert_eq!((finding.kind, finding.at.line), (FindingKind::DivergentBarrier, Some(8)), "{finding:#?}");
        assert_eq!(finding.at.invocations, (0..8).collect::<Vec<_>>());
        assert_eq!((other.line, &other.invocations), (Some(8), &(8..16).collect()));
        assert!(finding.message.contains("different rounds"), "{}", finding.message);
        clean(&text.replace("WHEN", "1u"), &at(lanes));
    }
}

#[test]
fn who_is_missing_at_a_barrier_is_told_where_it_returned() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32
        ) {
            if i > 12u {
                return; //?
            }
            workgroupBarrier(); //!
            out[id.x] = i;
        }";
    let finding = only(text, &at(8), FindingKind::DivergentBarrier);
    let other = finding.other.expect("the return");
    assert_eq!((other.what.as_str(), other.invocations), ("has returned", vec![13, 14, 15]));
}

/// Loops inside of others go round again and again: each counts for itself.
#[test]
fn rounds_of_a_loop_are_counted_from_where_it_is_entered() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            for (var i = 0u; i < 90u; i++) {
                for (var j = 0u; j < ROUNDS; j++) { //!
                    out[id.x] += j;
                }
            }
        }";
    let options = CheckOptions { iterations: 100, schedules: 2, ..at(8) };
    clean(&text.replace("ROUNDS", "90u"), &options);
    only(&text.replace("ROUNDS", "101u"), &options, FindingKind::EndlessLoop);
}

/// Each race has its own lines, whoever came last.
#[test]
fn every_race_of_a_word_is_told() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> x: u32;
        @compute @workgroup_size(16) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32
        ) {
            if i == 0u { x = 1u; }
            if i == 4u { out[id.x] = x; }
            if i == 8u { out[id.x] = x; }
            if i == 12u { x = 2u; }
        }";
    for lanes in [4, 8, 16] {
        let findings = run(text, &CheckOptions { schedules: 0, ..at(lanes) }).findings;
        let sides = |finding: &Finding| (finding.at.line, finding.other.as_ref().and_then(|other| other.line));
        let mut races: Vec<_> = findings.iter().map(sides).collect();
        races.sort_unstable();
        let line = |one, two| (Some(one), Some(two));
        assert_eq!(races, [line(7, 8), line(7, 9), line(7, 10), line(8, 10), line(9, 10)], "{findings:#?}");
    }
}

#[test]
fn atomics_read_what_nobody_wrote() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 4>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            ACCESS
            out[id.x] = 1u;
        }";
    let report = |access: &str| {
        let text = text.replace("ACCESS", access);
        let mut run = Run::reflect(&text, None).expect("a valid shader");
        run.buffers[1].fill = Fill::Empty;
        check(&text, &run, &CheckOptions { schedules: 1, ..at(4) }).expect("a check").findings
    };
    let reads = [
        "atomicAdd(&counts[0], 1u);",
        "out[id.x] = atomicLoad(&counts[0]);",
        "out[id.x] = atomicExchange(&counts[0], 1u);",
    ];
    for access in reads {
        let findings = report(access);
        let kinds: Vec<_> = findings.iter().map(|finding| (finding.kind, finding.level, finding.at.line)).collect();
        assert_eq!(kinds, [(FindingKind::NeverWritten, Level::Error, Some(5))], "{access}");
    }
    for access in ["atomicStore(&counts[0], 1u);", "atomicExchange(&counts[0], 1u);"] {
        assert_eq!(report(access), [], "{access}");
    }
}

#[test]
fn swaps_of_quads_read_lanes_that_do_not_take_part() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(6) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
        ) {
            out[id.x] = quadSwapX(lane) + quadSwapY(lane); //!
        }";
    let finding = only(text, &CheckOptions { schedules: 0, ..at(8) }, FindingKind::InactiveLane);
    assert_eq!(finding.level, Level::Warning);
    assert!(finding.message.contains("lane 6"), "{}", finding.message);
    clean(&text.replace("size(6)", "size(8)"), &at(8));
}

#[test]
fn loops_that_do_not_end_are_told_from_those_that_only_some_schedules_end() {
    let endless = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var i = id.x;
            while i < 100u { //!
                if i != 7u { i++; }
            }
            out[id.x] = i;
        }";
    let options = CheckOptions { iterations: 1000, schedules: 4, ..at(8) };
    let finding = only(endless, &options, FindingKind::EndlessLoop);
    // One schedule of independent lanes is enough, where it does not end either.
    assert_eq!(run(endless, &options).schedules.iter().map(|ran| ran.seed).collect::<Vec<_>>(), [None, Some(1)]);
    assert_eq!(finding.at.invocations, [0, 1, 2, 3, 4, 5, 6, 7]);
    // One that takes longer than is waited for is no matter of schedules, although independent lanes may go round more often.
    let long = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            while out[id.x] < 1500u { //!
                out[id.x]++;
            }
        }";
    let finding = only(long, &options, FindingKind::EndlessLoop);
    assert_eq!(finding.seed, None);
    // A lock that lanes of one subgroup take from each other: the one that has it waits for those that spin.
    let lock = "
        @group(0) @binding(0) var<storage, read_write> lock: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<atomic<u32>>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            while atomicExchange(&lock, 1u) == 1u { //!
            }
            atomicAdd(&out[0], 1u);
            atomicStore(&lock, 0u);
        }";
    let finding = only(lock, &options, FindingKind::ScheduleDependentLoop);
    assert_eq!(finding.seed, None);
}

#[test]
fn a_barrier_of_the_whole_grid_needs_all_workgroups_at_once() {
    let barrier = "
        @group(0) @binding(0) var<storage, read_write> arrived: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(
            @builtin(global_invocation_id) id: vec3<u32>,
            @builtin(local_invocation_index) i: u32,
            @builtin(num_workgroups) groups: vec3<u32>,
        ) {
            for (var round = 1u; round <= 5u; round += 1u) {
                workgroupBarrier();
                if i == 0u {
                    atomicAdd(&arrived, 1u);
                    while atomicLoad(&arrived) < round * groups.x + MORE {} //!
                }
                workgroupBarrier();
            }
            out[id.x] = 1u;
        }";
    for lanes in [4, 32] {
        let options = CheckOptions { iterations: 4096, ..at(lanes) };
        let text = barrier.replace("MORE", "0u");
        let finding = only(&text, &options, FindingKind::ScheduleDependentLoop);
        assert!(finding.message.contains("all workgroups run at once"), "{}", finding.message);
        let finding = only(&barrier.replace("MORE", "1u"), &options, FindingKind::EndlessLoop);
        assert_eq!(finding.message, "a loop that does not end");
        // Without another to wait for it ends.
        let mut alone = Run::reflect(&text, None).expect("it is valid");
        alone.workgroups = [1, 1, 1];
        assert_eq!(check(&text, &alone, &options).expect("it runs").findings, []);
    }
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let text = tree_sum("");
    let options = CheckOptions { seed: 1234, schedules: 3, ..at(16) };
    let [one, two] = [0, 1].map(|_| run(&text, &options));
    assert_eq!(one.findings, two.findings);
    let same = |report: &Report| report.schedules.iter().map(|s| (s.seed, s.same_as_lockstep)).collect::<Vec<_>>();
    assert_eq!(same(&one), same(&two));
    assert_eq!(one.schedules.iter().map(|s| s.seed).collect::<Vec<_>>(), [None, Some(1234), Some(1235), Some(1236)]);
}

#[test]
fn a_run_is_told_from_the_shader() {
    let text = "
        override scale: f32 = 2.0;
        struct Params { count: u32, more: u32 }
        struct Tail { first: vec2<f32>, rest: array<f32> }
        @group(0) @binding(0) var<uniform> params: Params;
        @group(0) @binding(2) var<storage, read> numbers: array<f32>;
        @group(1) @binding(0) var<storage, read_write> out: Tail;
        @group(1) @binding(1) var<storage, read_write> unused: array<u32>;
        @compute @workgroup_size(8, 4) fn main(@builtin(local_invocation_index) i: u32) {
            if i < params.count { out.rest[i] = numbers[i] * scale; }
        }
        @compute @workgroup_size(1) fn other() {}";
    let error = Run::reflect(text, None).expect_err("two entry points");
    assert!(error.to_string().contains("main, other"), "{error}");
    let mut run = Run::reflect(text, Some("main")).expect("it is there");
    assert_eq!(run.workgroups, [2, 2, 1]);
    let buffers: Vec<_> = run.buffers.iter().map(|b| (&*b.name, b.group, b.binding, b.bytes, b.fill.clone())).collect();
    let expected = [
        ("params", 0, 0, 8, Fill::Value(11.0)),
        ("numbers", 0, 2, 512, Fill::Ramp),
        ("out", 1, 0, 8 + 512, Fill::Zeros),
    ];
    assert_eq!(buffers, expected);
    // All workgroups write the same places.
    let kinds =
        |run: &Run| check(text, run, &at(8)).map(|report| report.findings.iter().map(|f| f.kind).collect::<Vec<_>>());
    assert_eq!(kinds(&run).expect("it runs"), [FindingKind::DataRace]);
    run.workgroups = [1; 3];
    assert_eq!(kinds(&run).expect("it runs"), []);
    run.buffers.pop();
    let error = kinds(&run).expect_err("a buffer is missing");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("group 1, binding 0"), "{error}");
}

#[test]
fn each_number_of_a_buffer_has_the_type_of_its_place() {
    let text = "
        enable f16;
        struct Mixed { count: u32, scale: f32, small: f16, at: vec3<i32>, wide: u64, real: f64, columns: mat2x3<f32> }
        @group(0) @binding(0) var<uniform> mixed: Mixed;
        @group(0) @binding(1) var<storage, read> pairs: array<vec2<f16>>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            var right = mixed.count == FIRST && mixed.scale == FIRST + STEP && mixed.small == f16(FIRST + 2 * STEP);
            right = right && all(mixed.at == FIRST + STEP * vec3(3, 4, 5));
            right = right && mixed.wide == u64(FIRST + 6 * STEP) && mixed.real == f64(FIRST + 7 * STEP);
            right = right && all(mixed.columns[0] == FIRST + STEP * vec3(8.0, 9.0, 10.0));
            right = right && all(mixed.columns[1] == FIRST + STEP * vec3(11.0, 12.0, 13.0));
            for (var i = 0u; i < 6u; i++) {
                right = right && all(pairs[i] == vec2(f16(2u * i), f16(2u * i + 1u)));
            }
            out[select(0u, 1u, right)] = 1u;
        }";
    for (fill, first, step) in [(Fill::Value(6.0), "6", "0"), (Fill::Ramp, "0", "1")] {
        let text = text.replace("FIRST", first).replace("STEP", step);
        let mut run = Run::reflect(&text, None).expect("it is valid");
        run.workgroups = [1; 3];
        run.buffers[0].fill = fill;
        // Six pairs, and as many words as make an index of 1 the first beyond the end.
        (run.buffers[1].bytes, run.buffers[2].bytes) = (24, 4);
        let findings = check(&text, &run, &at(8)).expect("it runs").findings;
        let [beyond] = findings.as_slice() else { panic!("{findings:#?}") };
        assert_eq!(beyond.kind, FindingKind::OutOfBounds, "the numbers are right, so index 1 is written");
        run.buffers[0].fill = Fill::Value(5.0);
        assert_eq!(check(&text, &run, &at(8)).expect("it runs").findings, []);
    }
}

#[test]
fn a_guessed_run_fits_a_kernel_in_two_and_three_dimensions() {
    let product = "
        struct Sizes { rows: u32, columns: u32, inner: u32, scale: f32 }
        @group(0) @binding(0) var<uniform> sizes: Sizes;
        @group(0) @binding(1) var<storage, read> a: array<f32>;
        @group(0) @binding(2) var<storage, read> b: array<f32>;
        @group(0) @binding(3) var<storage, read_write> c: array<f32>;
        @compute @workgroup_size(16, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.y >= sizes.rows || id.x >= sizes.columns { return; }
            var sum = 0.0;
            for (var k = 0u; k < sizes.inner; k++) { sum += a[id.y * sizes.inner + k] * b[k * sizes.columns + id.x]; }
            c[id.y * sizes.columns + id.x] = sizes.scale * sum;
        }";
    let blur = "
        @group(0) @binding(0) var<uniform> size: vec3<u32>;
        @group(0) @binding(1) var<storage, read> before: array<f32>;
        @group(0) @binding(2) var<storage, read_write> after: array<f32>;
        @compute @workgroup_size(4, 4, 2) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if any(id >= size) { return; }
            let i = (id.z * size.y + id.y) * size.x + id.x;
            after[i] = (before[i] + before[select(i, i - 1u, id.x > 0u)]) / 2.0;
        }";
    for text in [product, blur] {
        clean(text, &at(32));
    }
}

#[test]
fn the_directive_that_browsers_want_is_taken() {
    let text = "
        enable f16, subgroups; requires packed_4x8_integer_dot_product;
        enable subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            out[id.x] = subgroupAdd(u32(f16(1.0)));
        }";
    clean(text, &at(8));
    let error = Run::reflect("enable subgroups; nonsense", None).expect_err("not valid").to_string();
    assert!(error.contains("1:19") && error.contains("nonsense"), "{error}");
}

#[test]
fn what_cannot_be_checked_is_an_error() {
    let kind = |text: &str| Run::reflect(text, None).expect_err("not a run").kind();
    assert_eq!(kind("fn main() {"), ErrorKind::InvalidShader);
    assert_eq!(kind("fn helper() {}"), ErrorKind::InvalidArgument);
    let text = "@compute @workgroup_size(1) fn main() {}";
    let run = Run::reflect(text, None).expect("it is valid");
    for lanes in [0, 2, 24, 256] {
        assert_eq!(check(text, &run, &at(lanes)).expect_err("no such width").kind(), ErrorKind::InvalidArgument);
    }
    for options in [CheckOptions { iterations: 0, ..at(8) }, CheckOptions { seed: u64::MAX, ..at(8) }] {
        let error = check(text, &run, &options).expect_err("no such schedule");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
}

/// The examples of `wavelane check`: at a width, what is found, and the line that it stands on.
#[test]
fn the_examples_have_the_mistakes_that_they_tell_of() {
    const TREE_SUM: &str = include_str!("../examples/check/tree_sum.wgsl");
    const REPAIRED: &str = include_str!("../examples/check/tree_sum_repaired.wgsl");
    const DIVERGENT_BARRIER: &str = include_str!("../examples/check/divergent_barrier.wgsl");
    const WIDTH_32: &str = include_str!("../examples/check/width_32.wgsl");
    const BALLOT: &str = include_str!("../examples/check/ballot_in_32_bits.wgsl");
    let first = "sums[i] = items[32u * group.x + i];";
    let round = "sums[i] += sums[i + step];";
    let races = [(FindingKind::DataRace, first), (FindingKind::DataRace, round)];
    let read = (FindingKind::NeverWritten, "totals[group.x] = sums[0] + sums[1];");
    let narrow = [
        (FindingKind::InactiveLane, "sum += subgroupShuffleXor(sum, distance);"),
        (FindingKind::OutOfBounds, "sums[subgroup] = sum;"),
    ];
    let collision = (FindingKind::DataRace, "odd[id.x - lane + rank] = item;");
    let barrier = (FindingKind::DivergentBarrier, "workgroupBarrier();");
    type Expected<'a> = &'a [(FindingKind, &'a str)];
    let cases: [(&str, u32, Expected<'_>); 16] = [
        (TREE_SUM, 8, &races),
        (TREE_SUM, 32, &races),
        (TREE_SUM, 64, &races),
        (REPAIRED, 4, &[]),
        (REPAIRED, 32, &[]),
        (REPAIRED, 64, &[]),
        (REPAIRED, 128, &[]),
        (DIVERGENT_BARRIER, 8, &[barrier]),
        (DIVERGENT_BARRIER, 32, &[barrier]),
        (DIVERGENT_BARRIER, 128, &[barrier]),
        (WIDTH_32, 8, &narrow),
        (WIDTH_32, 32, &[]),
        (WIDTH_32, 64, &[read]),
        (BALLOT, 8, &[]),
        (BALLOT, 32, &[]),
        (BALLOT, 64, &[collision]),
    ];
    for (text, lanes, expected) in cases {
        let report = run(text, &at(lanes));
        let line = |part: &str| text.lines().position(|line| line.trim() == part).map(|index| index as u32 + 1);
        let mut found: Vec<_> = report.findings.iter().map(|finding| (finding.kind, finding.at.line)).collect();
        found.sort_by_key(|(_, line)| *line);
        let expected: Vec<_> = expected.iter().map(|(kind, part)| (*kind, line(part))).collect();
        assert_eq!(found, expected, "{lanes} lanes: {:#?}", report.findings);
        // Only the order of independent lanes breaks the tree.
        if text == TREE_SUM {
            assert!(report.schedules[1..].iter().any(|schedule| !schedule.same_as_lockstep), "{lanes} lanes");
        }
    }
}

#[test]
fn texels_race_and_end() {
    // One texel for each invocation of a workgroup; the other half of the picture belongs to nobody.
    let mirrored = "
        @group(0) @binding(0) var image: texture_storage_2d<r32uint, read_write>;
        @compute @workgroup_size(8, 8) fn mirror(
            @builtin(local_invocation_id) at: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>
        ) {
            let corner = 8u * group.xy;
            textureStore(image, corner + at.xy, vec4(at.x)); //?
            BARRIER
            let other = textureLoad(image, corner + vec2(7u - at.x, at.y)); //!
            textureBarrier();
            textureStore(image, corner + at.xy, other);
        }";
    for lanes in WIDTHS {
        let finding = only(&mirrored.replace("BARRIER", ""), &at(lanes), FindingKind::DataRace);
        assert!(finding.message.contains("a texel of `image`"), "{}", finding.message);
        only(&mirrored.replace("BARRIER", "storageBarrier();"), &at(lanes), FindingKind::DataRace);
        clean(&mirrored.replace("BARRIER", "textureBarrier();"), &at(lanes));
    }
    let shared = "
        @group(0) @binding(0) var sums: texture_storage_1d<rgba8unorm, write>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
            textureStore(sums, i, vec4(0.5)); //!
        }";
    let finding = only(shared, &at(8), FindingKind::DataRace);
    assert_ne!(finding.at.workgroup, finding.other.expect("two sides").workgroup);
    let ends = [
        ("texture_2d<f32>", "textureLoad(image, vec2(16u, 0u), 0).x", "column 16 of 16 of `image`"),
        ("texture_2d<f32>", "textureLoad(image, vec2(0, -1), 0).x", "row -1 of 16 of `image`"),
        ("texture_2d<f32>", "textureLoad(image, vec2(0, 0), 5).x", "mip level 5 of 5 of `image`"),
        ("texture_2d<f32>", "textureLoad(image, vec2(8, 0), 1).x", "column 8 of 8 of `image`"),
        ("texture_2d_array<i32>", "f32(textureLoad(image, vec2(0, 0), 1, 0).x)", "layer 1 of 1 of `image`"),
        ("texture_3d<u32>", "f32(textureLoad(image, vec3(0, 0, 8), 0).x)", "slice 8 of 8 of `image`"),
    ];
    for (ty, load, message) in ends {
        let text = format!(
            "@group(0) @binding(0) var image: {ty};
            @group(0) @binding(1) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                out[id.x] = {load}; //!
            }}"
        );
        let finding = only(&text, &at(8), FindingKind::OutOfBounds);
        assert_eq!((finding.message.as_str(), finding.variable.as_deref()), (message, Some("image")));
    }
}

#[test]
fn textures_and_samplers_are_bound() {
    // The loop ends where every texel has the value that the run says.
    let text = "
        @group(0) @binding(0) var bytes: texture_2d<u32>;
        @group(0) @binding(1) var units: texture_3d<f32>;
        @group(0) @binding(2) var beyond: sampler;
        @group(0) @binding(3) var<storage, read_write> right: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let byte = textureLoad(bytes, vec2(id.x % 3u, id.x / 3u % 2u), 0).xy;
            let unit = textureSampleLevel(units, beyond, vec3(1.25, 0.5, 0.5), 0.0).x;
            let is_right = all(byte == vec2(2u, 3u) * (id.x % 6u) + vec2(7u, 9u)) && unit == 0.6;
            for (var i = 0u; !is_right; i += 1u) {
                right[id.x] = i;
            }
        }";
    let mut run = Run::reflect(text, None).expect("it is valid");
    let size = |width, height, depth_or_array_layers| Extent3d { width, height, depth_or_array_layers };
    assert_eq!((run.textures[0].format, run.textures[0].fill.clone()), (TextureFormat::Rgba32Uint, Fill::Ramp));
    assert_eq!((run.textures[0].size, run.textures[0].mip_levels), (size(4, 4, 1), 3));
    assert_eq!(run.samplers[0].name, "beyond");
    run.textures[0] = wavelane::simt::check::Texture {
        format: TextureFormat::Rg8Uint,
        size: size(3, 2, 1),
        mip_levels: 2,
        fill: Fill::Bytes((0..6).flat_map(|texel| [2 * texel + 7, 3 * texel + 9]).collect()),
        ..run.textures[0].clone()
    };
    let units = &mut run.textures[1];
    (units.format, units.size, units.mip_levels) = (TextureFormat::R32Float, size(2, 1, 1), 1);
    units.fill = Fill::Bytes(bytemuck::cast_slice(&[0.6_f32, 0.8]).to_vec());
    let ends = |run: &Run| check(text, run, &at(8)).expect("it runs").findings.is_empty();
    run.samplers[0].address_mode = AddressMode::Repeat;
    assert!(ends(&run));
    run.samplers[0].address_mode = AddressMode::ClampToEdge;
    assert!(!ends(&run));
    let refused = |change: &dyn Fn(&mut Run), reason: &str| {
        let mut run = run.clone();
        change(&mut run);
        let error = check(text, &run, &at(8)).expect_err(reason);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    };
    refused(&|run| run.textures.clear(), "nothing is bound to group 0, binding 0");
    refused(&|run| run.textures[0].format = TextureFormat::Rg8Unorm, "a format that is sampled as uint, not rg8unorm");
    refused(&|run| run.textures[0].format = TextureFormat::Bc1RgbaUnorm, "the format bc1rgbaunorm is not simulated");
    refused(&|run| run.textures[0].size.depth_or_array_layers = 2, "cannot have the size 3 x 2 x 2");
    refused(&|run| run.textures[0].size.width = 0, "cannot have the size 0 x 2 x 1");
    refused(&|run| run.textures[0].mip_levels = 3, "from 1 to 2 mip levels, not 3");
    refused(&|run| run.textures[0].fill = Fill::Bytes(vec![0; 17]), "17 bytes do not fit into bytes");
    refused(&|run| run.textures[0].fill = Fill::Empty, "never empty");
    refused(&|run| run.textures[0].name = "units".into(), "the variable is bytes, not units");
    type Change = fn(&mut Run);
    let moved: [(Change, &str); 3] = [
        (|run| (run.textures[0].binding, run.samplers[0].binding) = (2, 0), "beyond is a sampler, not a texture"),
        (|run| (run.samplers[0].binding, run.buffers[0].binding) = (3, 2), "beyond is a sampler, not a buffer"),
        (|run| (run.samplers[0].binding, run.textures[0].binding) = (0, 9), "no variable in group 0, binding 9"),
    ];
    for (change, reason) in moved {
        let nameless = |run: &mut Run| {
            (run.textures[0].name, run.samplers[0].name, run.buffers[0].name) = Default::default();
            change(run);
        };
        refused(&nameless, reason);
    }
    refused(&|run| run.samplers.push(run.samplers[0].clone()), "two things are bound to group 0, binding 2");
}

#[test]
fn a_run_that_does_not_fit_is_an_error() {
    let text = "
        override count: u32;
        @group(0) @binding(0) var<uniform> size: vec2<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(count) fn main(@builtin(global_invocation_id) id: vec3<u32>) { out[id.x] = size.y; }";
    let run = Run::reflect(text, None).expect("it is valid");
    // An override without a value is 1, and the workgroup is sized by it.
    assert_eq!((run.overrides.get("count"), run.buffers[1].bytes), (Some(&1.0), 16));
    assert_eq!(check(text, &run, &at(8)).expect("it runs").findings, []);
    let refused = |change: &dyn Fn(&mut Run), reason: &str| {
        let mut run = run.clone();
        change(&mut run);
        let error = check(text, &run, &at(8)).expect_err(reason);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    };
    refused(&|run| run.overrides.clear(), "count");
    refused(&|run| run.overrides.extend([("more".into(), 1.0)]), "more");
    for value in [1.5, -1.0, 4_294_967_296.0, f64::NAN] {
        refused(&|run| run.overrides.extend([("count".into(), value)]), "a whole number from 0 to 4294967295");
    }
    refused(&|run| run.buffers[1].name = "output".into(), "group 0, binding 1: the variable is out, not output");
    refused(&|run| run.buffers[0].bytes = 4, "at least 8 bytes, not 4");
    refused(&|run| run.buffers[1].bytes = 18, "multiple of 4");
    refused(&|run| run.buffers.push(run.buffers[0].clone()), "two things");
    refused(&|run| run.buffers[1].fill = Fill::Random { seed: 1, low: 3.0, high: 3.0 }, "no number");
    refused(&|run| run.workgroups[1] = 0, "from 1 to 65535");
    refused(&|run| drop(run.buffers.pop()), "group 0, binding 1");
}

/// A barrier of the subgroup puts a writer in order with the readers of its own subgroup, and with no others.
#[test]
fn readers_of_other_subgroups_are_remembered_behind_those_of_ones_own() {
    let text = "
        var<workgroup> x: u32;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16) fn main(
            @builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u
        ) {
            if i == 0u { x = 3u; }
            workgroupBarrier();
            out[id.x] = x; //!
            subgroupBarrier();
            if i == WRITER { x = 4u; } //?
        }";
    for lanes in [4, 8] {
        for writer in ["15u", "12u", "0u"] {
            let text = text.replace("WRITER", writer);
            only(&text, &CheckOptions { schedules: 0, ..at(lanes) }, FindingKind::DataRace);
        }
    }
    clean(&text.replace("WRITER", "15u"), &CheckOptions { schedules: 0, ..at(16) });
}

#[test]
fn an_operation_of_the_subgroup_tells_where_the_other_lanes_wait() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32
        ) {
            var sum = 0u;
            if lane < 4u {
                sum = subgroupAdd(1u);
            }
            sum += subgroupAdd(2u);
            out[id.x] = sum;
        }";
    let finding = divergent(text, &at(16), 8);
    let other = finding.other.expect("where the others wait");
    assert_eq!(other.what, "wait meanwhile");
    assert!([Some(8), Some(10)].contains(&other.line), "{other:?}");
    assert!(other.invocations.iter().all(|local| *local < 4), "{other:?}");
}

/// By the letter of WGSL a write of one component may touch the whole vector; see the module's documentation.
#[test]
fn components_of_a_vector_are_places_of_their_own() {
    let text = "
        var<workgroup> place: vec2<u32>;
        @group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
        @compute @workgroup_size(64) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32
        ) {
            if i == 0u { place.x = 1u; }
            if i == 63u { place.y = 2u; }
            workgroupBarrier();
            out[id.x / 4u][id.x % 4u] = place.x + place.y;
        }";
    for lanes in WIDTHS {
        clean(text, &at(lanes));
    }
}
