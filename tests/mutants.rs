//! Whether the case table notices mistakes: each mutant of a shader must turn it red.
//!
//! Takes minutes, so it runs only when asked: `WAVELANE_MUTANTS=1 cargo test --test mutants -- --nocapture`, or
//! `WAVELANE_MUTANTS=barrier` for those with that word in them. The tree is copied to `target/mutants/tree`, where the
//! shaders are read at run time, so that one build serves every mutant.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A mistake in a shader.
struct Mutant {
    file: &'static str,
    /// What is replaced: the occurrence with this number, from 0.
    from: (&'static str, usize),
    to: &'static str,
    /// The part of the table that must notice, or more of it if the first does not.
    rows: &'static [&'static str],
    /// Why the table may stay green on a driver that runs a workgroup on one thread; empty where it must not.
    may_survive: &'static str,
}

const fn mutant(file: &'static str, from: &'static str, to: &'static str, rows: &'static [&'static str]) -> Mutant {
    Mutant { file, from: (from, 0), to, rows, may_survive: "" }
}

/// A dropped barrier.
const fn barrier(file: &'static str, number: usize, rows: &'static [&'static str]) -> Mutant {
    Mutant { file, from: ("workgroupBarrier();", number), to: "", rows, may_survive: "" }
}

const BLOCKS: &[&str] = &["block/operator/affine", "block/operator/last_nonzero"];
const REDUCE: &[&str] = &["reduce/affine", "reduce/last_nonzero", "count/reduce"];
const SCAN: &[&str] = &["scan_inclusive/affine", "scan_exclusive/last_nonzero", "count/scan"];
const SELECT: &[&str] = &["select/half", "select/all", "count/select"];
const ONE_THREAD: &str = "a workgroup runs on one thread, and the driver orders memory at every atomic";

const MUTANTS: &[Mutant] = &[
    // Subgroups.
    mutant("subgroup/reduce.wgsl", "op_combine(all, upper)", "op_combine(upper, all)", BLOCKS),
    mutant("subgroup/reduce.wgsl", "sg_lane + distance < sg_count", "sg_lane + distance <= sg_count", BLOCKS),
    mutant("subgroup/reduce.wgsl", "sg_lane + distance < sg_count", "sg_lane + distance < sg_size", BLOCKS),
    mutant("subgroup/scan.wgsl", "op_combine(lower, all)", "op_combine(all, lower)", BLOCKS),
    mutant("subgroup/scan.wgsl", "sg_lane >= distance", "sg_lane > distance", BLOCKS),
    mutant("subgroup/scan.wgsl", "if sg_lane == 0u", "if sg_lane == 1u", BLOCKS),
    mutant("subgroup/segmented.wgsl", "op_combine(lower, all)", "op_combine(all, lower)", BLOCKS),
    mutant("subgroup/segmented.wgsl", "sg_lane >= first + distance", "sg_lane >= distance", BLOCKS),
    mutant("subgroup/segmented.wgsl", "min(next, sg_count) - 1u", "min(next, sg_size) - 1u", BLOCKS),
    mutant("subgroup/ballot.wgsl", "bits.x + bits.y + bits.z + bits.w", "bits.x", &["block/vote"]),
    mutant("subgroup/ballot.wgsl", "bits.x + bits.y + bits.z + bits.w", "bits.x + bits.y", &["block/vote"]),
    mutant("subgroup/ballot.wgsl", "sg_mask_below(sg_lane + 1u)", "sg_mask_below(sg_lane)", &["block/vote"]),
    mutant("subgroup/ballot.wgsl", "sg_mask_below(sg_count) & ~sg_mask_le()", "~sg_mask_le()", &["block/vote"]),
    mutant("subgroup/ballot.wgsl", "inside >= vec4<u32>(32u)", "inside > vec4<u32>(32u)", &["block/vote"]),
    mutant("subgroup/ballot.wgsl", "mask[lane / 32u]", "mask[0]", &["block/vote"]),
    mutant("subgroup/ballot.wgsl", "sg_word_lane(bit.y, 32u)), min", "sg_word_lane(bit.y, 0u)), min", &["block/vote"]),
    mutant("subgroup/multisplit.wgsl", "select(~ones, ones, mine)", "ones", &["block/multisplit"]),
    mutant("subgroup/match.wgsl", "w < T_WORDS", "w < 1u", &["block/match"]),
    mutant("subgroup/broadcast.wgsl", ") % sg_count", ") % sg_size", &["block/shuffle"]),
    mutant("subgroup/native.wgsl", "min(sg_size, WORKGROUP - sg_id * sg_size)", "sg_size", &["block/place", "block/"]),
    mutant(
        "subgroup/native.wgsl",
        "(WORKGROUP + sg_size - 1u) / sg_size",
        "WORKGROUP / sg_size",
        &["block/operator/affine"],
    ),
    mutant(
        "subgroup/emulated.wgsl",
        "min(SG_LANES, WORKGROUP - sg_id * SG_LANES)",
        "SG_LANES",
        &["block/operator/affine"],
    ),
    mutant("subgroup/emulated.wgsl", "sg_id * 4u + sg_lane / 32u", "sg_id * 4u", &["block/vote"]),
    Mutant {
        may_survive: "what clears the votes of a subgroup runs before it, or with it",
        ..barrier("subgroup/emulated.wgsl", 0, &["block/vote"])
    },
    barrier("subgroup/emulated.wgsl", 1, &["block/vote", "block/"]),
    barrier("subgroup/emulated.wgsl", 2, &["block/vote", "block/"]),
    barrier("subgroup/shuffle_emulated.wgsl", 0, BLOCKS),
    barrier("subgroup/shuffle_emulated.wgsl", 1, BLOCKS),
    // Workgroups.
    barrier("workgroup/reduce.wgsl", 0, BLOCKS),
    barrier("workgroup/reduce.wgsl", 1, BLOCKS),
    mutant("workgroup/reduce.wgsl", "op_combine(all, wg_parts[i])", "op_combine(wg_parts[i], all)", BLOCKS),
    mutant("workgroup/reduce.wgsl", "(sg_groups + sg_count - 1u) / sg_count", "max(1u, sg_groups / sg_count)", BLOCKS),
    barrier("workgroup/scan.wgsl", 0, BLOCKS),
    barrier("workgroup/scan.wgsl", 1, BLOCKS),
    mutant(
        "workgroup/scan.wgsl",
        "op_combine(wg_scan_before(inclusive), inclusive)",
        "op_combine(inclusive, wg_scan_before(inclusive))",
        BLOCKS,
    ),
    mutant("workgroup/scan.wgsl", "min(end, sg_id)", "min(end, sg_id + 1u)", BLOCKS),
    mutant(
        "workgroup/scan.wgsl",
        "op_combine(before, sg_reduce(upper))",
        "op_combine(sg_reduce(upper), before)",
        BLOCKS,
    ),
    mutant("workgroup/scan.wgsl", "op_combine(lower, wg_totals[i])", "op_combine(wg_totals[i], lower)", BLOCKS),
    barrier("workgroup/broadcast.wgsl", 0, &["block/shuffle"]),
    barrier("workgroup/broadcast.wgsl", 1, &["block/shuffle"]),
    barrier("workgroup/exchange.wgsl", 0, &["block/exchange"]),
    barrier("workgroup/exchange.wgsl", 1, &["block/exchange"]),
    barrier("workgroup/exchange.wgsl", 2, &["block/exchange"]),
    barrier("workgroup/exchange.wgsl", 3, &["block/exchange"]),
    barrier("workgroup/rank.wgsl", 0, &["block/workgroup_rank"]),
    barrier("workgroup/rank.wgsl", 1, &["block/workgroup_rank"]),
    barrier("workgroup/rank.wgsl", 2, &["block/workgroup_rank"]),
    barrier("workgroup/rank.wgsl", 3, &["block/workgroup_rank"]),
    mutant("workgroup/select.wgsl", "sg_mask_le()", "sg_mask_lt()", &["block/workgroup_select"]),
    // The device.
    mutant(
        "device/count_gpu.wgsl",
        "min(dev_counts[dev_params.count_at], dev_params.capacity)",
        "dev_counts[dev_params.count_at]",
        &["count/"],
    ),
    mutant("device/span.wgsl", "end / PACK, first", "(end + PACK - 1u) / PACK, first", REDUCE),
    mutant(
        "device/span.wgsl",
        "(begin + PACK - 1u) / PACK, end",
        "begin / PACK, end",
        &["reduce/add/u32", "reduce/last_nonzero"],
    ),
    mutant("device/span.wgsl", "at < span.end", "at <= span.end", &["reduce/add/u32"]),
    mutant("device/span.wgsl", "at >= span.begin", "at + 1u >= span.begin", &["reduce/add/u32", "reduce/last_nonzero"]),
    mutant("device/span.wgsl", "(tiles + dev_params.groups - 1u)", "tiles", REDUCE),
    mutant(
        "device/span.wgsl",
        "ROWS * sg_size <= min(span.last, span.whole_end)",
        "ROWS * sg_size <= min(span.last, span.whole_end) + 1u",
        REDUCE,
    ),
    mutant("device/fold_ordered.wgsl", "op_combine(all, sg_reduce(row))", "op_combine(sg_reduce(row), all)", REDUCE),
    mutant(
        "device/fold_ordered.wgsl",
        "op_combine(row, rows[r][k])",
        "op_combine(rows[r][k], row)",
        &["reduce/last_nonzero"],
    ),
    mutant("device/fold_commutative.wgsl", "return sg_reduce(gathered)", "return gathered", &["reduce/add/u32"]),
    mutant("device/reduce_span.wgsl", "+ sg_groups * step - 1u)", ")", REDUCE),
    mutant(
        "device/reduce.wgsl",
        "op_combine(all, dev_fetch(DEV_PARTS + i * T_WORDS))",
        "op_combine(dev_fetch(DEV_PARTS + i * T_WORDS), all)",
        &["reduce/affine", "tuning/128x1x300"],
    ),
    mutant("device/reduce.wgsl", "atomicStore(&dev_state[0], 0u);", "", &["prepared/many"]),
    mutant("device/reduce.wgsl", "== groups {", "== groups - 1u {", &["reduce/affine", "large/"]),
    Mutant {
        file: "device/reduce.wgsl",
        from: ("storageBarrier();", 0),
        to: "",
        rows: &["reduce/a", "large/reduce"],
        may_survive: ONE_THREAD,
    },
    Mutant {
        file: "device/reduce.wgsl",
        from: ("storageBarrier();", 1),
        to: "",
        rows: &["reduce/a", "large/reduce"],
        may_survive: ONE_THREAD,
    },
    mutant(
        "device/scan.wgsl",
        "op_combine(dev_initial(), dev_parts_before(place.workgroup.x))",
        "op_combine(dev_parts_before(place.workgroup.x), dev_initial())",
        &["scan_inclusive_initial/affine"],
    ),
    mutant(
        "device/scan.wgsl",
        "op_combine(carry, wg_scan_before(all))",
        "op_combine(wg_scan_before(all), carry)",
        SCAN,
    ),
    mutant("device/scan.wgsl", "op_combine(carry, wg_total)", "op_combine(wg_total, carry)", SCAN),
    mutant(
        "device/scan.wgsl",
        "op_combine(all, sg_scan_shift(inclusive))",
        "op_combine(sg_scan_shift(inclusive), all)",
        SCAN,
    ),
    mutant("device/scan.wgsl", "op_combine(offset, before[r])", "op_combine(before[r], offset)", SCAN),
    mutant(
        "device/scan.wgsl",
        "op_combine(rows[r][k - 1u], rows[r][k])",
        "op_combine(rows[r][k], rows[r][k - 1u])",
        &["scan_inclusive/last_nonzero"],
    ),
    mutant(
        "device/parts_before.wgsl",
        "op_combine(all, dev_parts[i])",
        "op_combine(dev_parts[i], all)",
        &["scan_inclusive/affine", "tuning/128x1x300"],
    ),
    mutant("device/parts_before.wgsl", "min((wg_index + 1u) * run, group)", "(wg_index + 1u) * run", SCAN),
    mutant("device/scan.wgsl", "item < span.end", "item <= span.end", &["scan_inclusive/add/u32"]),
    mutant("device/scan.wgsl", "item >= span.begin && ", "", &["scan_inclusive/last_nonzero", "count/scan"]),
    mutant("device/scan_inclusive.wgsl", "op_combine(before, inclusive[k])", "op_combine(inclusive[k], before)", SCAN),
    mutant("device/scan_exclusive.wgsl", "inclusive[k - 1u]", "inclusive[k]", &["scan_exclusive/add/u32"]),
    mutant("device/select.wgsl", "all + inclusive - kept", "all + inclusive", SELECT),
    mutant("device/select.wgsl", "item < span.end", "item <= span.end", &["select/all", "count/select"]),
    mutant("device/select.wgsl", "item >= span.begin && ", "", &["select/all", "count/select"]),
    mutant("device/select.wgsl", "item - span.begin", "item", &["select/by_index"]),
    mutant("device/select.wgsl", "group == dev_params.groups - 1u", "group == 0u", SELECT),
    mutant("device/select.wgsl", "u32(count % dev_params.args_items != 0u)", "1u", &["select/dispatch_args"]),
    mutant("device/select.wgsl", "min(workgroups, 65535u)", "min(workgroups, 65536u)", &["select/dispatch_args"]),
    // Operators.
    mutant("op/float_key.wgsl", "> Key(0x7f800000u)", ">= Key(0x7f800000u)", &["floats/special"]),
    mutant("op/float_key.wgsl", "select(key, nan,", "select(key, key,", &["floats/"]),
    mutant("op/min.wgsl", "T(T_HIGH)", "T(0)", &["reduce/min/u32"]),
    mutant("op/max.wgsl", "T(T_LOW)", "T(0)", &["reduce/max/i32"]),
];

/// Changes of the source that must not change results: the table stays green.
const EQUIVALENT: &[(&str, &str, &str, &[&str])] = &[(
    "src/primitive/kernel.rs",
    "unroll: true,",
    "unroll: false,",
    &["reduce/affine", "reduce/add/f32", "scan_inclusive/last_nonzero", "scan_exclusive/affine", "select/half"],
)];

struct Tree {
    root: PathBuf,
    binary: PathBuf,
}

#[test]
fn every_mutant_is_noticed() {
    let Some(wish) = std::env::var_os("WAVELANE_MUTANTS") else {
        eprintln!("skipped: set WAVELANE_MUTANTS=1 to run the mutants");
        return;
    };
    let wish = wish.to_string_lossy().into_owned();
    let mut tree = Tree::copy();
    tree.build();
    assert!(tree.is_green("reduce/a"), "the table is red without any mutant");
    let mut survivors = Vec::new();
    for mutant in MUTANTS {
        let name = format!("{}: '{}' ({}) -> '{}'", mutant.file, mutant.from.0, mutant.from.1, mutant.to);
        if wish != "1" && !name.to_lowercase().contains(&wish.to_lowercase()) {
            continue;
        }
        let path = tree.root.join("shaders").join(mutant.file);
        let original = std::fs::read_to_string(&path).expect("a shader");
        let (at, _) = original
            .match_indices(mutant.from.0)
            .nth(mutant.from.1)
            .unwrap_or_else(|| panic!("{name}: the shader has changed; so must the mutant"));
        let mut text = original.clone();
        text.replace_range(at..at + mutant.from.0.len(), mutant.to);
        std::fs::write(&path, text).expect("the copy can be written");
        let started = Instant::now();
        let killer = mutant.rows.iter().find(|rows| !tree.is_green(rows));
        std::fs::write(&path, original).expect("the copy can be written");
        let seconds = started.elapsed().as_secs();
        match (killer, mutant.may_survive) {
            (Some(rows), _) => println!("noticed by {rows} ({seconds} s): {name}"),
            (None, "") => {
                println!("SURVIVED ({seconds} s): {name}");
                survivors.push(name);
            }
            (None, reason) => println!("survived, as it may ({reason}): {name}"),
        }
    }
    if wish == "1" || "equivalent".contains(&*wish) {
        for &(file, from, to, rows) in EQUIVALENT {
            let path = tree.root.join(file);
            let original = std::fs::read_to_string(&path).expect("a source file");
            assert!(original.contains(from), "{file}: '{from}' has changed; so must its equivalent");
            std::fs::write(&path, original.replace(from, to)).expect("the copy can be written");
            tree.build();
            for rows in rows {
                assert!(tree.is_green(rows), "'{from}' -> '{to}' turned {rows} red");
            }
            std::fs::write(&path, original).expect("the copy can be written");
            println!("green, as it must be: {file}: '{from}' -> '{to}'");
        }
    }
    assert!(survivors.is_empty(), "{} mutants survived:\n{}", survivors.len(), survivors.join("\n"));
}

impl Tree {
    /// A copy of the crate whose shaders are read when it runs.
    fn copy() -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = source.join("target/mutants/tree");
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).expect("the target directory can be written");
        for name in ["Cargo.toml", "Cargo.lock", "src", "shaders", "tests", "examples"] {
            copy(&source.join(name), &root.join(name));
        }
        let assemble = root.join("src/shader/assemble.rs");
        let text = std::fs::read_to_string(&assemble).expect("the assembler");
        let (from, to) = (
            "include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shaders/\", $path)).into()",
            "std::fs::read_to_string(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shaders/\", $path)).expect($path)",
        );
        assert!(text.contains(from), "the macro fragment! has changed; so must this test");
        std::fs::write(assemble, text.replace(from, to)).expect("the copy can be written");
        Self { root, binary: PathBuf::new() }
    }

    fn build(&mut self) {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--no-default-features", "--test", "gpu", "--no-run", "--message-format", "json"])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.with_file_name("target"))
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo can be started");
        assert!(output.status.success(), "the copy does not build");
        let messages = String::from_utf8_lossy(&output.stdout);
        let executable = messages
            .lines()
            .filter_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next())
            .next_back()
            .expect("an executable");
        self.binary = executable.into();
    }

    /// Whether all of these rows pass, at every width, in time. Does not wait for more than one that fails.
    fn is_green(&self, rows: &str) -> bool {
        let mut child = Command::new(&self.binary)
            .arg(rows)
            .env("WAVELANE_FULL", "1")
            .env("WAVELANE_REQUIRE_ADAPTER", "1")
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the table can be started");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if line.ends_with("FAILED") && sender.send(()).is_err() {
                    break;
                }
            }
        });
        // The channel closes when the table has ended.
        let ended = receiver.recv_timeout(Duration::from_secs(900)) == Err(mpsc::RecvTimeoutError::Disconnected);
        if !ended {
            let _ = child.kill();
        }
        child.wait().expect("a child process").success() && ended
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).expect("the target directory can be written");
        for entry in std::fs::read_dir(from).expect("a directory") {
            let entry = entry.expect("a directory entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        std::fs::copy(from, to).expect("the target directory can be written");
    }
}
