//! The tool, run as a person runs it: what it prints where, and its exit codes.
//!
//! Rows that need an adapter are ignored with the reason where there is none, and fail instead if
//! `WAVELANE_REQUIRE_ADAPTER` is set.

mod fixture;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::Value;
use wavelane::primitive::{Count, Predicate, Prepared, Reduce, Scan, ScanOptions, Select};
use wavelane::report::Tunings;
use wavelane::{Gpu, op, wgpu};

type Outcome = Result<(), Failed>;

/// A name, what must be there, and the test.
type Case = (&'static str, Needs, fn() -> Outcome);

#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    AnyAdapter,
    Lavapipe,
    /// A device to which every write fails for want of space.
    AnyAdapterAndDevFull,
}

const CASES: &[Case] = &[
    ("help_names_commands_and_exit_codes", Needs::Nothing, help_names_commands_and_exit_codes),
    (
        "only_commands_that_open_a_device_have_its_options",
        Needs::Nothing,
        only_commands_that_open_a_device_have_its_options,
    ),
    ("the_readme_names_every_option", Needs::Nothing, the_readme_names_every_option),
    ("version", Needs::Nothing, version),
    ("a_wrong_command_line_is_code_2", Needs::Nothing, a_wrong_command_line_is_code_2),
    ("no_adapter_is_code_3_and_says_what_to_install", Needs::Nothing, no_adapter_is_code_3_and_says_what_to_install),
    ("without_an_adapter_the_lab_is_simulated", Needs::Nothing, without_an_adapter_the_lab_is_simulated),
    ("a_simulated_width_is_chosen_anywhere", Needs::Nothing, a_simulated_width_is_chosen_anywhere),
    ("a_backend_of_other_systems_is_told_so", Needs::Nothing, a_backend_of_other_systems_is_told_so),
    ("no_adapter_leaves_no_file", Needs::Nothing, no_adapter_leaves_no_file),
    ("a_file_that_cannot_be_written_is_told_at_once", Needs::Nothing, a_file_that_cannot_be_written_is_told_at_once),
    ("what_is_no_record_is_refused", Needs::Nothing, what_is_no_record_is_refused),
    ("saved_records_are_shown_again", Needs::Nothing, saved_records_are_shown_again),
    ("questions_are_answered_from_a_record", Needs::Nothing, questions_are_answered_from_a_record),
    ("list_names_every_experiment", Needs::Nothing, list_names_every_experiment),
    ("list_with_text_gives_names", Needs::Nothing, list_with_text_gives_names),
    ("emit_speaks_every_language", Needs::Nothing, emit_speaks_every_language),
    ("emit_writes_a_file", Needs::Nothing, emit_writes_a_file),
    ("check_shows_both_sides_of_a_race", Needs::Nothing, check_shows_both_sides_of_a_race),
    ("the_readme_shows_what_check_prints", Needs::Nothing, the_readme_shows_what_check_prints),
    ("check_of_what_is_right_is_code_0", Needs::Nothing, check_of_what_is_right_is_code_0),
    ("check_tells_how_a_schedule_is_repeated", Needs::Nothing, check_tells_how_a_schedule_is_repeated),
    ("check_bounds_loops", Needs::Nothing, check_bounds_loops),
    ("check_writes_json_and_sarif", Needs::Nothing, check_writes_json_and_sarif),
    ("check_leaves_out_what_is_allowed", Needs::Nothing, check_leaves_out_what_is_allowed),
    ("check_tells_warnings_from_errors", Needs::Nothing, check_tells_warnings_from_errors),
    ("check_writes_a_run_file_that_it_reads", Needs::Nothing, check_writes_a_run_file_that_it_reads),
    ("check_binds_textures_and_samplers", Needs::Nothing, check_binds_textures_and_samplers),
    ("check_takes_what_a_run_file_says", Needs::Nothing, check_takes_what_a_run_file_says),
    ("check_refuses_wrong_run_files_with_code_2", Needs::Nothing, check_refuses_wrong_run_files_with_code_2),
    ("check_refuses_what_is_no_shader", Needs::Nothing, check_refuses_what_is_no_shader),
    ("info_fits_a_terminal", Needs::AnyAdapter, info_fits_a_terminal),
    ("info_json_has_its_schema", Needs::AnyAdapter, info_json_has_its_schema),
    ("an_unknown_adapter_lists_the_adapters", Needs::AnyAdapter, an_unknown_adapter_lists_the_adapters),
    ("an_adapter_is_chosen_by_option_and_variable", Needs::AnyAdapter, an_adapter_is_chosen_by_option_and_variable),
    ("a_width_is_emulated_on_request", Needs::AnyAdapter, a_width_is_emulated_on_request),
    ("a_closed_pipe_is_no_error", Needs::AnyAdapter, a_closed_pipe_is_no_error),
    ("a_record_is_written_and_compared", Needs::AnyAdapter, a_record_is_written_and_compared),
    ("a_record_goes_through_a_pipe", Needs::AnyAdapter, a_record_goes_through_a_pipe),
    ("an_experiment_that_fails_is_written_too", Needs::Lavapipe, an_experiment_that_fails_is_written_too),
    ("tunings_are_written_read_back_and_taken_by_plans", Needs::AnyAdapter, tunings_are_written_read_back_and_taken),
    ("a_kernel_of_the_user_is_tuned", Needs::AnyAdapter, a_kernel_of_the_user_is_tuned),
    ("a_full_disk_is_an_error", Needs::AnyAdapterAndDevFull, a_full_disk_is_an_error),
    ("lavapipe_has_the_width_of_its_vectors", Needs::Lavapipe, lavapipe_has_the_width_of_its_vectors),
    ("a_driver_that_reports_a_wrong_width_is_caught", Needs::Lavapipe, a_driver_that_reports_a_wrong_width_is_caught),
];

fn main() -> std::process::ExitCode {
    let adapters = adapter_names();
    let required = std::env::var_os("WAVELANE_REQUIRE_ADAPTER").is_some();
    let trials = CASES
        .iter()
        .map(|&(name, needs, test)| {
            let missing = match needs {
                Needs::Nothing => None,
                _ if adapters.is_empty() => Some("no adapter was found"),
                Needs::Lavapipe if !adapters.iter().any(|name| name.contains("llvmpipe")) => {
                    Some("lavapipe is not among the adapters")
                }
                Needs::AnyAdapterAndDevFull if !Path::new(DEV_FULL).exists() => {
                    return Trial::ignorable_test(name, || Ok(Completion::ignored_with("/dev/full is Linux's")));
                }
                _ => None,
            };
            Trial::ignorable_test(name, move || match missing {
                None => test().map(|()| Completion::Completed),
                Some(reason) if required => Err(format!("{reason}, but WAVELANE_REQUIRE_ADAPTER is set").into()),
                Some(reason) => Ok(Completion::ignored_with(reason)),
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

const DEV_FULL: &str = "/dev/full";

fn adapter_names() -> Vec<String> {
    let found = wavelane::Adapters::find(None);
    found.iter().map(|adapter| adapter.get_info().name).collect()
}

/// What a run left.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The tool with nothing in its environment that changes its answers.
fn tool(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavelane"));
    command.args(args).stdin(Stdio::null());
    for name in ["WGPU_ADAPTER_NAME", "RUST_LOG", "NO_COLOR"] {
        command.env_remove(name);
    }
    // Mesa's shader cache gives back kernels of another vector width, and its device selection prints to stderr.
    command.env("MESA_SHADER_CACHE_DISABLE", "1").env("NODEVICE_SELECT", "1");
    command
}

fn finish(mut command: Command) -> Result<Run, Failed> {
    let output = command.output()?;
    let run = Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout)?,
        stderr: String::from_utf8(output.stderr)?,
    };
    expect(!run.stderr.contains("panicked"), "no panic", &run)?;
    Ok(run)
}

fn wavelane(args: &[&str]) -> Result<Run, Failed> {
    finish(tool(args))
}

fn expect(condition: bool, what: &str, run: &Run) -> Outcome {
    let Run { code, stdout, stderr } = run;
    match condition {
        true => Ok(()),
        false => Err(format!("expected {what}\ncode: {code:?}\nstdout:\n{stdout}\nstderr:\n{stderr}").into()),
    }
}

fn json(run: &Run) -> Result<Value, Failed> {
    expect(run.code == Some(0), "code 0", run)?;
    Ok(serde_json::from_str(&run.stdout)?)
}

fn help_names_commands_and_exit_codes() -> Outcome {
    for flag in ["-h", "--help"] {
        let run = wavelane(&[flag])?;
        expect(run.code == Some(0) && run.stderr.is_empty(), "code 0 and nothing on stderr", &run)?;
        for word in [
            "info",
            "measure",
            "compare",
            "report",
            "explain",
            "list",
            "emit",
            "tune",
            "check",
            "--adapter",
            "--backend",
            "--emulate",
            "Exit codes:",
            "WGPU_BACKEND",
        ] {
            expect(run.stdout.contains(word), word, &run)?;
        }
        expect(run.stdout.lines().all(|line| line.chars().count() <= 100), "lines of at most 100 columns", &run)?;
    }
    let run = wavelane(&["info", "--help"])?;
    expect(run.stdout.contains("path_reason"), "the JSON explained", &run)?;
    expect(wavelane(&["help"])?.stdout == wavelane(&["--help"])?.stdout, "the same help", &run)
}

fn only_commands_that_open_a_device_have_its_options() -> Outcome {
    for (command, expected) in [
        ("info", true),
        ("measure", true),
        ("explain", true),
        ("tune", true),
        ("compare", false),
        ("report", false),
        ("list", false),
        ("emit", false),
        ("check", false),
    ] {
        let run = wavelane(&["help", command])?;
        expect(run.code == Some(0) && run.stdout.contains("--verbose"), "code 0, and -v everywhere", &run)?;
        for option in ["--adapter", "--backend", "--simulate", "--emulate", "--timeout"] {
            expect(run.stdout.contains(option) == expected, option, &run)?;
        }
        expect(run.stdout.contains("--checked") == (expected || command == "emit"), "--checked", &run)?;
    }
    let run = wavelane(&["-v", "list", "two-way"])?;
    expect(run.code == Some(0), "-v before the command as well", &run)
}

fn the_readme_names_every_option() -> Outcome {
    let readme = include_str!("../README.md");
    for command in ["info", "measure", "compare", "report", "explain", "list", "emit", "tune", "check"] {
        let run = wavelane(&["help", command])?;
        let options = run.stdout.lines().filter_map(|line| {
            let (_, rest) = line.split_once("--").filter(|(before, _)| before.trim_start().len() <= "-v, ".len())?;
            rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).next()
        });
        for option in options.filter(|option| *option != "verbose") {
            expect(readme.contains(&format!("`--{option}`")), &format!("--{option} of {command} in the README"), &run)?;
        }
    }
    Ok(())
}

fn version() -> Outcome {
    let run = wavelane(&["--version"])?;
    expect(run.stdout == format!("wavelane {}\n", env!("CARGO_PKG_VERSION")), "name and version", &run)
}

fn a_wrong_command_line_is_code_2() -> Outcome {
    let wrong: &[(&[&str], &str)] = &[
        (&["--nonsense"], "--nonsense"),
        (&["nonsense"], "the commands are info, measure, compare, report, explain, list, emit, tune, check"),
        (&["info", "--emulate", "3"], "power of two"),
        (&["info", "--emulate", "0"], "power of two"),
        (&["info", "--emulate", "256"], "1 to 128"),
        (&["info", "--timeout", "0"], "above 0"),
        (&["info", "--timeout", "NaN"], "above 0"),
        (&["info", "--timeout", "1e300"], "at most 1000000"),
        (&["info", "--timeout", "1e19"], "at most 1000000"),
        (&["info", "--backend", "gl"], "vulkan"),
        (&["measure", "twoway"], "two-way"),
        (&["measure", "--json", "same", "--csv", "same"], "same"),
        (&["compare", "a.json"], "B.json"),
        (&["report"], "RECORD.json"),
        (&["report", "a.json", "b.json", "--csv", "-"], "one record"),
        (&["explain", "treesum"], "tree-sum"),
        (&["list", "no such name"], "no such name"),
        (&["emit", "reduce/u32/ad"], "reduce/u32/add/native"),
        (&["emit", VARIANT, "--target", "glsl"], "hlsl"),
        (&["emit", VARIANT, "--adapter", "99"], "unexpected argument '--adapter'"),
        (&["emit", VARIANT, "--emulate", "32"], "unexpected argument '--emulate'"),
        (&["list", "--timeout", "1"], "unexpected argument '--timeout'"),
        (&["list", "--checked"], "unexpected argument '--checked'"),
        (&["compare", "a.json", "b.json", "--adapter", "0"], "unexpected argument '--adapter'"),
        (&["report", "a.json", "--simulate", "8"], "unexpected argument '--simulate'"),
        (&["--adapter", "0", "info"], "--adapter goes after the command"),
        (&["--backend", "vulkan", "emit", VARIANT], "see wavelane emit --help"),
        (&["--checked", "list"], "--checked goes after the command"),
        (&["explain", "--from", "a.json", "--emulate", "64"], "cannot be used with"),
        (&["check"], "SHADER.wgsl"),
        (&["check", "a.wgsl", "--lanes", "48"], "power of two"),
        (&["check", "a.wgsl", "--allow", "race"], "data-race"),
        (&["check", "a.wgsl", "--iterations", "0"], "1..="),
        (&["check", "a.wgsl", "--run", "a.toml", "--entry", "main"], "cannot be used with"),
        (&["check", "a.wgsl", "--run", "a.toml", "--init"], "cannot be used with"),
        (&["check", "a.wgsl", "--adapter", "0"], "unexpected argument '--adapter'"),
        (&["check", TREE_SUM, "--entry", "main"], "no compute entry point main, but sum"),
        (&["check", TREE_SUM, "--json", "-", "--sarif", "-"], "two results go to -"),
        (&["tune", "--sizes", "29"], "28"),
        (&["tune", "--sizes", "10,x"], "x"),
        (&["tune", "--entry", "main"], "--kernel"),
        (&["tune", "--kernel", "a.wgsl", "--override", "N=1"], "--entry"),
        (&["tune", "--kernel", "a.wgsl", "--entry", "main"], "--override"),
        (&["tune", "--kernel", "a.wgsl", "--entry", "main", "--override", "N=one"], "WIDTH=64,128"),
        (&["tune", "--kernel", "a.wgsl", "--entry", "main", "--override", "N=1", "--json", "-"], "--json"),
    ];
    for (args, reason) in wrong {
        let run = wavelane(args)?;
        expect(run.code == Some(2), &format!("code 2 for {args:?}"), &run)?;
        expect(run.stderr.contains(reason) && run.stdout.is_empty(), reason, &run)?;
    }
    Ok(())
}

fn no_adapter_is_code_3_and_says_what_to_install() -> Outcome {
    let commands: &[&[&str]] = &[&[], &["info"], &["info", "--json"], &["measure", "lane-map"]];
    for args in commands {
        let run = finish(tool_without_adapter(args))?;
        expect(run.code == Some(3) && run.stdout.is_empty(), &format!("code 3 for {args:?}"), &run)?;
        expect(run.stderr.contains("mesa-vulkan-drivers"), "what to install", &run)?;
    }
    Ok(())
}

fn without_an_adapter_the_lab_is_simulated() -> Outcome {
    // Where the loader finds no driver, and other backends have none either (Linux), the tool has no adapter.
    if cfg!(not(target_os = "linux")) {
        return Ok(());
    }
    let mut command = tool(&["measure", "two-way", "residency", "--json", "-"]);
    command.env_remove("WGPU_BACKEND").envs(NO_DRIVER);
    let run = finish(command)?;
    expect(run.code == Some(0), "code 0", &run)?;
    // A debug build shows what the loader says of missing drivers before that.
    let own = |line: &&str| line.starts_with("warning: ") || !line.starts_with(['\t', 'e']);
    let first = run.stderr.lines().find(own).unwrap_or_default();
    expect(first.contains("no GPU adapter") && first.contains("simulated"), "the first line says so", &run)?;
    let record: serde_json::Value = serde_json::from_str(&run.stdout)?;
    expect(record["adapter"]["kind"] == "simulator" && record["adapter"]["counted_lanes"] == 32, "32 lanes", &run)?;
    let verdict = |at: usize| &record["experiments"][at]["verdict"];
    expect(verdict(0) == "holds" && verdict(1) == "not-measurable", "counts, but no times", &run)?;

    // A command that lives by times has no use for it.
    let mut command = tool(&["tune", "--sizes", "10"]);
    command.env_remove("WGPU_BACKEND").envs(NO_DRIVER);
    let run = finish(command)?;
    expect(run.code == Some(3), "code 3", &run)
}

fn a_simulated_width_is_chosen_anywhere() -> Outcome {
    let run = wavelane(&["info", "--simulate", "64"])?;
    expect(run.code == Some(0) && run.stdout.contains("64 counted, 64 reported"), "64 lanes", &run)?;
    expect(run.stdout.contains("count issued instructions"), "what its timestamps are", &run)?;
    let options = "--simulate 8 --emulate 4 --checked --waiting";
    let run = wavelane(&[&["measure", "lane-map"], &*options.split(' ').collect::<Vec<_>>()].concat())?;
    expect(run.code == Some(0), "code 0", &run)?;
    expect(run.stdout.contains(&format!("wavelane measure lane-map {options}\n")), "how to repeat it", &run)?;
    expect(run.stdout.contains("asked for, although subgroups of 8 lanes"), "why this path", &run)?;
    for (args, reason) in [
        (&["--simulate", "48"][..], "power of two"),
        (&["--simulate", "2"], "power of two"),
        (&["measure", "--simulate", "8", "--adapter", "0"], "--adapter"),
        (&["tune", "--simulate", "8"], "no times"),
        (&["list", "--simulate", "8"], "--simulate"),
    ] {
        let run = wavelane(args)?;
        expect(run.code == Some(2) && run.stderr.contains(reason), reason, &run)?;
    }
    Ok(())
}

fn a_backend_of_other_systems_is_told_so() -> Outcome {
    let here = std::env::consts::OS;
    for (backend, systems) in [("dx12", &["windows"][..]), ("metal", &["macos", "ios"])] {
        if !systems.contains(&here) {
            let run = wavelane(&["info", "--backend", backend])?;
            expect(run.code == Some(3), "code 3", &run)?;
            expect(run.stderr.contains(&format!("there is no {backend} on {here}")), "the system", &run)?;
            expect(!run.stderr.contains("install"), "nothing to install", &run)?;
        }
    }
    Ok(())
}

/// The tool where the Vulkan loader finds no driver, and no other backend is asked.
fn tool_without_adapter(args: &[&str]) -> Command {
    let mut command = tool(args);
    command.args(["--backend", "vulkan"]).envs(NO_DRIVER);
    command
}

/// Makes the Vulkan loader find no driver. Older ones know the second name only.
const NO_DRIVER: [(&str, &str); 2] =
    [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];

/// A path for a test's own file, which is not there yet.
fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(path),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

fn no_adapter_leaves_no_file() -> Outcome {
    let (new, old) = (scratch("cli-new.json")?, scratch("cli-old.csv")?);
    std::fs::write(&old, "of an earlier run")?;
    let run = finish(tool_without_adapter(&["measure", "--json", text(&new), "--csv", text(&old)]))?;
    expect(run.code == Some(3), "code 3", &run)?;
    expect(!new.exists(), "no empty file", &run)?;
    expect(std::fs::read_to_string(&old)? == "of an earlier run", "the old file as it was", &run)
}

fn a_file_that_cannot_be_written_is_told_at_once() -> Outcome {
    let directory = env!("CARGO_TARGET_TMPDIR");
    for path in ["/nonexistent/directory/file", directory] {
        for option in ["--json", "--csv", "--html"] {
            // Without an adapter: the file is tried before the device is opened, let alone measured.
            let run = finish(tool_without_adapter(&["measure", option, path]))?;
            expect(run.code == Some(1) && run.stderr.contains(path), "code 1 and the path", &run)?;
        }
    }
    Ok(())
}

fn what_is_no_record_is_refused() -> Outcome {
    let file = scratch("cli-no-record.json")?;
    for (content, reason) in [
        ("", "cli-no-record"),
        ("{}", "schema"),
        ("[]", "an object was expected"),
        ("7", "an object was expected"),
        ("[1, 2", "cli-no-record"),
        ("{\"schema\": 2}", "2"),
    ] {
        std::fs::write(&file, content)?;
        let commands: [&[&str]; 3] = [
            &["compare", text(&file), text(&file)],
            &["report", text(&file), "--html", "-"],
            &["explain", "--from", text(&file)],
        ];
        for args in commands {
            let run = wavelane(args)?;
            expect(run.code == Some(1) && run.stdout.is_empty(), &format!("code 1 for {content:?}"), &run)?;
            expect(run.stderr.contains(reason), reason, &run)?;
            expect(!run.stderr.contains("struct"), "no word of the code", &run)?;
        }
    }
    let run = wavelane(&["compare", "/nonexistent.json", text(&file)])?;
    expect(run.code == Some(1) && run.stderr.contains("/nonexistent.json"), "code 1 and the path", &run)
}

/// The fixture in a file.
fn saved(name: &str) -> Result<PathBuf, Failed> {
    let file = scratch(name)?;
    std::fs::write(&file, wavelane::report::json::write(&fixture::record()))?;
    Ok(file)
}

fn saved_records_are_shown_again() -> Outcome {
    let (a, b) = (saved("cli-report-a.json")?, saved("cli-report-b.json")?);
    let run = wavelane(&["report", text(&a)])?;
    expect(run.code == Some(0) && run.stderr.is_empty(), "code 0 without a word of a device", &run)?;
    expect(run.stdout.starts_with("Imagined GPU (vulkan, discrete GPU)\n"), "the adapter of the record", &run)?;
    let run = wavelane(&["report", text(&a), "--csv", "-"])?;
    expect(run.stdout.lines().count() == 5, "a line of names and one a row", &run)?;

    let page = scratch("cli-report.html")?;
    for (records, title, articles) in [
        (vec![text(&a)], "<title>wavelane: Imagined GPU</title>", 3),
        (vec![text(&a), text(&b)], "<title>wavelane: 2 records side by side</title>", 3),
    ] {
        let run = wavelane(&[&["report", "--html", text(&page)], &*records].concat())?;
        expect(run.code == Some(0) && run.stdout.is_empty(), "code 0 and nothing on stdout", &run)?;
        let html = std::fs::read_to_string(&page)?;
        expect(html.contains(title) && html.ends_with("</html>\n"), title, &run)?;
        expect(html.matches("<article").count() == articles, "a card an experiment", &run)?;
        let named = records.iter().all(|record| html.contains(record));
        expect(named == (records.len() > 1), "records of one adapter by their files", &run)?;
    }
    no_result_overwrites_another(&a)
}

/// One file can have many paths.
fn no_result_overwrites_another(record: &Path) -> Outcome {
    let other = |name: &str| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(".").join("..").join("tmp").join(name);
    let before = std::fs::read(record)?;
    for option in ["--html", "--csv"] {
        for to in [record.to_owned(), other("cli-report-a.json")] {
            let run = wavelane(&["report", text(record), option, text(&to)])?;
            expect(run.code == Some(2) && run.stderr.contains("is the record itself"), "code 2", &run)?;
            expect(std::fs::read(record)? == before, "the record as it was", &run)?;
        }
    }
    let both = scratch("cli-both")?;
    let run = wavelane(&["report", text(record), "--html", text(&both), "--csv", text(&other("cli-both"))])?;
    expect(run.code == Some(2) && run.stderr.contains("two results go to"), "code 2", &run)?;
    expect(!both.exists(), "no file of a run that was refused", &run)
}

fn questions_are_answered_from_a_record() -> Outcome {
    let file = saved("cli-explain.json")?;
    let run = wavelane(&["explain", "image-waves", "--from", text(&file)])?;
    expect(run.code == Some(0) && run.stderr.is_empty(), "code 0 without a word of a device", &run)?;
    // 120 x 68 tiles; seven waves of 1,056 and 768 tiles.
    for part in ["120 x 68 = 8,160", "residency (ambiguous)", "8 waves", "768 of 1,056"] {
        expect(run.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), part, &run)?;
    }
    let run = wavelane(&["explain", "--from", text(&file)])?;
    for question in wavelane::lab::explain::questions() {
        expect(run.stdout.contains(question.id), question.id, &run)?;
    }
    expect(run.stdout.lines().all(|line| line.chars().count() <= 100), "lines of at most 100 columns", &run)?;
    let run = wavelane(&["explain", "tree-sum", "--from", text(&file)])?;
    expect(run.stdout.contains("Not in this record: wavelane measure tree-sum"), "what is missing", &run)
}

fn list_names_every_experiment() -> Outcome {
    let run = wavelane(&["list"])?;
    expect(run.code == Some(0) && run.stderr.is_empty(), "code 0", &run)?;
    for experiment in wavelane::lab::experiments() {
        expect(run.stdout.contains(experiment.id), experiment.id, &run)?;
        expect(run.stdout.contains(experiment.title), experiment.title, &run)?;
    }
    Ok(())
}

fn list_with_text_gives_names() -> Outcome {
    let run = wavelane(&["list", "/"])?;
    expect(run.code == Some(0), "code 0", &run)?;
    let names: Vec<_> = run.stdout.lines().collect();
    expect(names.len() == wavelane::shader::catalog::variants().len(), "every variant and nothing else", &run)?;
    expect(names.contains(&VARIANT), VARIANT, &run)?;
    let run = wavelane(&["list", "two-w"])?;
    expect(run.stdout == "two-way\n", "the experiment of that name", &run)
}

const VARIANT: &str = "reduce/u32/add/native";

fn emit_speaks_every_language() -> Outcome {
    for (target, word) in
        [("wgsl", "subgroupAdd"), ("web", "enable subgroups;"), ("msl", "simd_sum"), ("hlsl", "WaveActiveSum")]
    {
        let run = wavelane(&["emit", VARIANT, "--target", target])?;
        expect(run.code == Some(0) && run.stdout.contains(word), &format!("{word} in {target}"), &run)?;
    }
    let run = wavelane(&["emit", VARIANT])?;
    expect(!run.stdout.contains("enable subgroups"), "WGSL as wgpu takes it by default", &run)?;
    let run = wavelane(&["emit", "reduce/u32/add/emulated", "--target", "web"])?;
    expect(run.code == Some(0) && !run.stdout.contains("enable subgroups"), "no directive without subgroups", &run)?;
    let run = wavelane(&["emit", "reduce/u64/add/native", "--target", "web"])?;
    expect(run.code == Some(1) && run.stderr.contains("64-bit"), "no 64-bit numbers on the web", &run)?;

    let (trusted, checked) = (
        wavelane(&["emit", VARIANT, "--target", "msl"])?,
        wavelane(&["emit", VARIANT, "--target", "msl", "--checked"])?,
    );
    expect(checked.stdout.len() > trusted.stdout.len(), "more text with checks", &checked)
}

fn emit_writes_a_file() -> Outcome {
    let file = scratch("cli.spv")?;
    let run = wavelane(&["emit", VARIANT, "--target", "spirv", "--output", text(&file)])?;
    expect(run.code == Some(0) && run.stdout.is_empty(), "code 0 and nothing on stdout", &run)?;
    expect(std::fs::read(&file)?.starts_with(&0x0723_0203_u32.to_le_bytes()), "SPIR-V's magic number", &run)?;
    let run = wavelane(&["emit", VARIANT, "--output", "/nonexistent/directory/file"])?;
    expect(run.code == Some(1) && run.stderr.contains("/nonexistent/directory/file"), "code 1 and the path", &run)
}

fn a_record_is_written_and_compared() -> Outcome {
    let (json_file, csv, html) = (scratch("cli.json")?, scratch("cli.csv")?, scratch("cli.html")?);
    // What an earlier and longer run left must be gone.
    std::fs::write(&csv, "x".repeat(1 << 20))?;
    let files = ["--json", text(&json_file), "--csv", text(&csv), "--html", text(&html)];
    let run = wavelane(&[&["measure", "lane-map"], &files[..]].concat())?;
    expect(run.code == Some(0), "code 0", &run)?;
    expect(run.stdout.contains("lane-map"), "a table", &run)?;
    expect(run.stderr.contains(&adapter_names()[0]) || adapter_names().len() > 1, "the adapter's name", &run)?;

    let record: Value = serde_json::from_str(&std::fs::read_to_string(&json_file)?)?;
    expect(record["schema"] == 1 && record["effort"] == "quick", "schema 1, a quick run", &run)?;
    expect(record["experiments"][0]["id"] == "lane-map", "the experiment", &run)?;
    let csv = std::fs::read_to_string(csv)?;
    expect(csv.lines().count() > 1 && !csv.contains("xxx"), "rows in the CSV, and nothing else", &run)?;
    let html = std::fs::read_to_string(html)?.to_lowercase();
    expect(html.starts_with("<!doctype html>") && html.contains("</html>"), "a whole page", &run)?;

    let run = wavelane(&["compare", text(&json_file), text(&json_file)])?;
    expect(run.code == Some(0), "code 0", &run)?;
    let run = wavelane(&["compare", "--json", text(&json_file), text(&json_file)])?;
    json(&run).map(|_| ())
}

fn a_record_goes_through_a_pipe() -> Outcome {
    let run = wavelane(&["measure", "lane-map", "--json", "-"])?;
    let record = json(&run)?;
    expect(record["experiments"][0]["id"] == "lane-map", "the experiment", &run)
}

fn tunings_are_written_read_back_and_taken() -> Outcome {
    let file = scratch("cli-tuning.json")?;
    let run = wavelane(&["tune", "--sizes", "8,10", "--json", text(&file)])?;
    expect(run.code == Some(0), "code 0", &run)?;
    for word in ["reduce", "scan", "select", "default", "fastest", "chosen"] {
        expect(run.stdout.contains(word), word, &run)?;
    }
    expect(run.stdout.lines().all(|line| line.chars().count() <= 100), "lines of at most 100 columns", &run)?;

    let content = std::fs::read_to_string(&file)?;
    let record: Value = serde_json::from_str(&content)?;
    expect(record["schema"] == 1 && record["version"] == env!("CARGO_PKG_VERSION"), "schema and version", &run)?;
    for primitive in ["reduce", "scan", "select"] {
        let found = &record[primitive];
        let taken = found["tuning"] == found["default"] || found["tuning"] == found["fastest"];
        expect(taken && found["candidates"].as_u64() > Some(4), primitive, &run)?;
    }

    // The adapter that a run takes without options, as the tool did.
    let gpu = Gpu::open()?;
    let tunings = Tunings::from_json(&content)?;
    expect(tunings.is_for(&gpu), "measured on this adapter", &run)?;
    let items: Vec<u32> = (0..5_000).collect();
    let input = gpu.upload(&items, wgpu::BufferUsages::STORAGE)?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let (output, single) = (gpu.upload(&items, usage)?, gpu.upload(&[0u32], usage)?);
    let (input, output, single, count) = (input.slice(..), output.slice(..), single.slice(..), Count::Host(5_000));
    let submit = |call: &Prepared| {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        call.encode(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
    };
    submit(&Reduce::<u32>::with_tuning(&gpu, op::Add, tunings.reduce)?.prepare(input, single, count)?);
    expect(gpu.download::<u32>(single)? == [12_497_500], "the sum of 0 to 4999", &run)?;
    let options = ScanOptions::inclusive().tuning(tunings.scan);
    submit(&Scan::<u32>::with_options(&gpu, op::Add, options)?.prepare(input, output, count)?);
    let sums: Vec<u32> = (0..5_000).map(|i| i * (i + 1) / 2).collect();
    expect(gpu.download::<u32>(output)? == sums, "triangular numbers", &run)?;
    let even = Predicate::wgsl("x % 2u == 0u");
    submit(&Select::<u32>::with_tuning(&gpu, even, tunings.select)?.prepare(input, output, single, count)?);
    expect(gpu.download::<u32>(single)? == [2_500], "half of them", &run)?;
    let kept: Vec<u32> = (0..2_500).map(|i| 2 * i).collect();
    expect(gpu.download::<u32>(output)?[..2_500] == kept, "the even ones", &run)
}

fn a_kernel_of_the_user_is_tuned() -> Outcome {
    let file = scratch("cli-tune.wgsl")?;
    std::fs::write(
        &file,
        "override WIDTH: u32;
@group(0) @binding(0) var<storage, read_write> items: array<u32>;
@compute @workgroup_size(WIDTH)
fn triple(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&items) { items[id.x] *= select(3u, 5u, WIDTH == 32u); }
}",
    )?;
    let run = |entry: &str| {
        let options = ["--entry", entry, "--override", "WIDTH=32,64,128", "--items", "1000"];
        wavelane(&[&["tune", "--kernel", text(&file)], &options[..]].concat())
    };
    let good = run("triple")?;
    expect(good.code == Some(0), "code 0", &good)?;
    for (line, groups, result) in
        [("WIDTH=32", " 32 ", "differs"), ("WIDTH=64", " 16 ", "most"), ("WIDTH=128", " 8 ", "most")]
    {
        let found = good.stdout.lines().find(|l| l.trim_start().starts_with(line)).unwrap_or_default();
        expect(found.contains(groups) && found.contains(result), line, &good)?;
    }
    expect(good.stdout.lines().all(|line| line.chars().count() <= 100), "lines of at most 100 columns", &good)?;
    let bad = run("double")?;
    expect(bad.code == Some(1) && bad.stderr.contains("it has triple"), "the entry points that there are", &bad)?;
    let run = wavelane(&["tune", "--kernel", "/nonexistent.wgsl", "--entry", "a", "--override", "N=1"])?;
    expect(run.code == Some(1) && run.stderr.contains("/nonexistent.wgsl"), "code 1 and the path", &run)
}

/// Shaders with a mistake each, and one without.
const TREE_SUM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/check/tree_sum.wgsl");
const REPAIRED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/check/tree_sum_repaired.wgsl");

/// A shader of a test in a folder of its own.
fn shader(folder: &str, text: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => std::fs::create_dir_all(&folder)?,
    }
    let path = folder.join("kernel.wgsl");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// One race: the last item of each workgroup is written to one place.
const LAST: &str = "\
override SCALE: u32 = 1u;
@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> last: array<u32, 1>;
@compute @workgroup_size(8)
fn find_last(@builtin(global_invocation_id) id: vec3<u32>) {
    if items[id.x] % 8u == 7u {
        last[0] = SCALE * items[id.x];
    }
}
";

fn check_shows_both_sides_of_a_race() -> Outcome {
    let path = shader("cli-check-race", LAST)?;
    let run = wavelane(&["check", text(&path), "--schedules", "2", "--seed", "5"])?;
    expect(run.code == Some(1), "code 1", &run)?;
    let place = format!("  --> {}:7 in fn find_last: last[0] = SCALE * items[id.x];", path.display());
    // The ramp of items has its 7, 15, 23, 31 at the last invocation of each of four workgroups.
    let expected = [
        "error[data-race]: two invocations touch `last`, and nothing puts them in order",
        &place,
        "      writes: invocation 7 of workgroup 1",
        &place,
        "      writes: invocation 7 of workgroup 0",
        "   = seen 3 times in lockstep",
        "   = the number of workgroups is guessed, --init writes it to a file to put right",
        "",
    ];
    let lines: Vec<_> = run.stdout.lines().collect();
    expect(lines[..expected.len()] == expected && lines.len() == 9, "the finding", &run)?;
    expect(lines[8].starts_with("1 finding: 32 lanes in lockstep and under seeds 5 to 6; "), "the counts", &run)?;
    for assumed in ["find_last, 4 x 1 x 1 workgroups", "items (group 0, binding 0): 128 bytes, ramp"] {
        expect(run.stderr.contains(assumed), assumed, &run)?;
    }
    expect(!run.stderr.contains("error"), "everything told once", &run)
}

fn the_readme_shows_what_check_prints() -> Outcome {
    let mut command = tool(&["check", "examples/check/tree_sum.wgsl"]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let run = finish(command)?;
    expect(include_str!("../README.md").contains(&format!("```text\n{}```\n", run.stdout)), "the README's text", &run)
}

fn check_of_what_is_right_is_code_0() -> Outcome {
    for (lanes, schedules, counts) in [
        ("8", "3", "nothing found: 8 lanes in lockstep and under seeds 1 to 3; all ended with the same contents\n"),
        ("64", "1", "nothing found: 64 lanes in lockstep and under seed 1; all ended with the same contents\n"),
        ("32", "0", "nothing found: 32 lanes in lockstep\n"),
    ] {
        let run = wavelane(&["check", REPAIRED, "--lanes", lanes, "--schedules", schedules])?;
        expect(run.code == Some(0) && run.stdout == counts, "code 0 and the counts", &run)?;
    }
    Ok(())
}

fn check_tells_how_a_schedule_is_repeated() -> Outcome {
    // Lanes that leave out the sum of one round may meet the others at that of the next.
    let path = shader(
        "cli-check-seed",
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32) {
    for (var round = 0u; round < 8u; round++) {
        if (lane + round) % 3u == 0u { continue; }
        out[id.x] += subgroupAdd(1u);
    }
}
",
    )?;
    let finding = |args: &[&str]| -> Result<(Run, Value), Failed> {
        let run = wavelane(&[&["check", text(&path), "--json", "-"], args].concat())?;
        let report: Value = serde_json::from_str(&run.stdout)?;
        Ok((run, report["findings"][0].clone()))
    };
    let (run, first) = finding(&[])?;
    let seed = first["seed"].as_u64().ok_or("lockstep cannot show it")?.to_string();
    let again = ["--seed", &seed, "--schedules", "1"];
    expect(finding(&again)?.1 == first, "the same finding", &run)?;
    let run = wavelane(&["check", text(&path)])?;
    expect(
        run.stdout.contains(&format!("under seed {seed}: with {} this command repeats it", again.join(" "))),
        "how",
        &run,
    )
}

fn check_bounds_loops() -> Outcome {
    let path = shader(
        "cli-check-loop",
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(8)
fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    while out[id.x] < 5000u {
        out[id.x]++;
    }
}
",
    )?;
    let run = wavelane(&["check", text(&path), "--iterations", "1000"])?;
    expect(run.code == Some(1), "code 1", &run)?;
    let head = format!("error[endless-loop]: a loop that does not end\n  --> {}:4 in fn count: ", path.display());
    expect(run.stdout.starts_with(&head), "the loop", &run)?;
    expect(run.stdout.contains("   = after 1000 rounds it is taken to be endless, --iterations"), "why", &run)?;
    let run = wavelane(&["check", text(&path), "--iterations", "6000"])?;
    expect(run.code == Some(0), "code 0", &run)
}

fn check_writes_json_and_sarif() -> Outcome {
    let path = shader("cli-check-json", LAST)?;
    let folder = path.parent().ok_or("no folder")?;
    let mut command = tool(&["check", "./kernel.wgsl", "--json", "report.json", "--sarif", "-"]);
    command.current_dir(folder);
    let run = finish(command)?;
    expect(run.code == Some(1) && !run.stdout.contains("error["), "code 1 and no text", &run)?;

    let report: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("report.json"))?)?;
    expect(report["schema"] == 1 && report["lanes"] == 32 && report["allowed"] == 0, "the head", &run)?;
    expect(report["run"]["workgroups"] == serde_json::json!([4, 1, 1]), "the run", &run)?;
    expect(report["run"]["buffers"][1]["fill"] == "zeros", "its buffers", &run)?;
    expect(report["schedules"].as_array().is_some_and(|all| all.len() == 9), "lockstep and 8 seeds", &run)?;
    let findings = report["findings"].as_array().ok_or("no findings")?;
    let expected = serde_json::json!([{
        "kind": "data-race",
        "level": "error",
        "message": "two invocations touch `last`, and nothing puts them in order",
        "variable": null,
        "times": 3,
        "seed": null,
        "at": {
            "line": 7, "function": "find_last", "text": "last[0] = SCALE * items[id.x];",
            "what": "writes", "workgroup": [1, 0, 0], "invocations": [7],
        },
        "other": {
            "line": 7, "function": "find_last", "text": "last[0] = SCALE * items[id.x];",
            "what": "writes", "workgroup": [0, 0, 0], "invocations": [7],
        },
    }]);
    expect(*findings == *expected.as_array().ok_or("no list")?, &format!("{expected}, not {findings:?}"), &run)?;

    let sarif: Value = serde_json::from_str(&run.stdout)?;
    expect(sarif["version"] == "2.1.0", "the version", &run)?;
    let driver = &sarif["runs"][0]["tool"]["driver"];
    let rules = driver["rules"].as_array().ok_or("no rules")?;
    expect(driver["name"] == "wavelane" && rules.len() == 8, "a rule a kind", &run)?;
    let described = |rule: &Value| rule["shortDescription"]["text"].as_str().is_some_and(|text| text.ends_with('.'));
    expect(rules.iter().all(described), "described", &run)?;
    let result = &sarif["runs"][0]["results"][0];
    let rule = &rules[result["ruleIndex"].as_u64().ok_or("no rule")? as usize];
    expect(result["ruleId"] == "data-race" && rule["id"] == "data-race", "its rule", &run)?;
    for location in [&result["locations"][0], &result["relatedLocations"][0]] {
        let physical = &location["physicalLocation"];
        expect(physical["artifactLocation"]["uri"] == "kernel.wgsl", "a relative path", &run)?;
        expect(physical["region"]["startLine"] == 7, "the line", &run)?;
    }
    Ok(())
}

fn check_leaves_out_what_is_allowed() -> Outcome {
    let run = wavelane(&["check", TREE_SUM, "--allow", "endless-loop", "--allow", "data-race"])?;
    expect(run.code == Some(0), "code 0", &run)?;
    expect(run.stdout.starts_with("nothing found, 2 allowed: "), "how many", &run)?;
    let run = wavelane(&["check", TREE_SUM, "--allow", "endless-loop"])?;
    expect(run.code == Some(1) && run.stdout.contains("\n2 findings: "), "the others", &run)
}

fn check_tells_warnings_from_errors() -> Outcome {
    let args = ["check", "examples/check/width_32.wgsl", "--lanes", "64", "--sarif", "-"];
    let run = wavelane(&args[..4])?;
    expect(run.code == Some(1) && run.stdout.starts_with("warning[never-written]: "), "code 1 and a warning", &run)?;
    expect(run.stdout.contains("\n1 warning: "), "how many", &run)?;
    let sarif: Value = serde_json::from_str(&wavelane(&args)?.stdout)?;
    expect(sarif["runs"][0]["results"][0]["level"] == "warning", "the level", &run)?;
    let run = wavelane(&[&args[..4], &["--allow", "warnings"]].concat())?;
    expect(run.code == Some(0) && run.stdout.starts_with("nothing found, 1 allowed: "), "code 0", &run)?;
    // Errors stay.
    let run = wavelane(&["check", TREE_SUM, "--allow", "warnings"])?;
    expect(run.code == Some(1) && run.stdout.contains("error[data-race]"), "code 1", &run)
}

fn check_writes_a_run_file_that_it_reads() -> Outcome {
    let path = shader("cli-check-init", &LAST.replace("SCALE: u32 = 1u", "SCALE: u32"))?;
    let guessed = wavelane(&["check", text(&path)])?;
    expect(guessed.code == Some(1) && guessed.stderr.contains("override SCALE = 1"), "a value", &guessed)?;
    let run = wavelane(&["check", text(&path), "--init"])?;
    let file = path.with_extension("toml");
    expect(run.code == Some(0) && run.stdout.is_empty() && run.stderr.contains(text(&file)), "the path", &run)?;
    let read = wavelane(&["check", text(&path), "--run", text(&file)])?;
    expect(read.code == Some(1) && read.stderr.is_empty(), "the same", &read)?;
    let guess = "   = the number of workgroups is guessed, --init writes it to a file to put right\n";
    expect(guessed.stdout.contains(guess) && read.stdout == guessed.stdout.replace(guess, ""), "the same text", &read)?;

    let written = std::fs::read_to_string(&file)?;
    let printed = wavelane(&["check", text(&path), "--init=-"])?;
    expect(printed.code == Some(0) && printed.stdout == written, "the same text", &printed)?;
    let run = wavelane(&["check", text(&path), "--init"])?;
    expect(run.code == Some(1) && run.stderr.contains("exists"), "no overwriting", &run)?;
    expect(std::fs::read_to_string(&file)? == written, "the file as it was", &run)?;
    let other = file.with_file_name("other.toml");
    let run = wavelane(&["check", text(&path), &format!("--init={}", other.display())])?;
    expect(run.code == Some(0) && std::fs::read_to_string(other)? == written, "a file of another name", &run)
}

fn check_binds_textures_and_samplers() -> Outcome {
    // An index is beyond the end where something is not read as the file below says.
    let path = shader(
        "cli-check-textures",
        "@group(0) @binding(0) var image: texture_2d<u32>;
        @group(0) @binding(1) var light: texture_2d<f32>;
        @group(0) @binding(2) var around: sampler;
        @group(0) @binding(3) var<storage, read_write> sums: array<u32, 16>;
        @compute @workgroup_size(16) fn sum(@builtin(local_invocation_index) i: u32) {
            let colour = textureLoad(image, vec2(i % 4u, i / 4u), 0);
            let scale = textureSampleLevel(light, around, vec2(1.25, 0.5), 0.0).x;
            let sum = u32(f32(colour.x + colour.y) * scale);
            sums[select(16u, i, sum == 4u * i + 1u)] = sum;
        }",
    )?;
    let guessed = wavelane(&["check", text(&path)])?;
    expect(
        guessed.code == Some(1) && guessed.stderr.contains("(group 0, binding 0): 8 x 8 x 1 texels"),
        "size",
        &guessed,
    )?;
    expect(guessed.stderr.contains("around (group 0, binding 2): clamp-to-edge, nearest"), "a sampler", &guessed)?;
    let run = wavelane(&["check", text(&path), "--init"])?;
    let file = path.with_extension("toml");
    let read = wavelane(&["check", text(&path), "--run", text(&file)])?;
    let guess = "   = sizes and contents are guessed, --init writes them to a file to put right\n";
    expect(read.stdout == guessed.stdout.replace(guess, "") && read.stderr.is_empty(), "the same", &read)?;
    expect(run.code == Some(0), "a file", &run)?;

    let written = std::fs::read_to_string(&file)?;
    let faults = [
        ("\"rgba32uint\"", "\"rgba8what\"", "expected a valid texture format"),
        ("address_mode = \"clamp-to-edge\"", "address_mode = \"clamp\"", "expected one of `clamp-to-edge`"),
        ("size = [8, 8, 1]", "size = [8, 8]", "expected an array of length 3"),
        ("\"rgba32uint\"", "\"rgba8unorm\"", "image needs a format that is sampled as uint, not rgba8unorm"),
    ];
    for (from, to, reason) in faults {
        std::fs::write(&file, written.replacen(from, to, 1))?;
        let run = wavelane(&["check", text(&path), "--run", text(&file)])?;
        expect(run.code == Some(2) && run.stderr.contains(reason), reason, &run)?;
    }

    std::fs::write(path.with_file_name("image.bin"), (0..32).collect::<Vec<u8>>())?;
    std::fs::write(
        &file,
        "entry = 'sum'
workgroups = [1, 1, 1]
buffers = [{ group = 0, binding = 3, bytes = 64, fill = 'empty' }]
textures = [
    { group = 0, binding = 0, format = 'rg8uint', size = [4, 4, 1], fill = { file = 'image.bin' } },
    { group = 0, binding = 1, format = 'r8unorm', size = [2, 1, 1], fill = { value = 2 } },
]
samplers = [{ group = 0, binding = 2, address_mode = 'repeat' }]
",
    )?;
    let run = wavelane(&["check", text(&path), "--run", text(&file)])?;
    expect(run.code == Some(0) && run.stdout.starts_with("nothing found"), "one workgroup", &run)
}

/// The run of [`LAST`] with these contents of its items, in two workgroups.
fn run_file(items: &str) -> String {
    format!(
        "entry = \"find_last\"
workgroups = [2, 1, 1]
overrides = {{ SCALE = 3 }}
buffers = [
    {{ group = 0, binding = 0, bytes = 64, fill = {items} }},
    {{ name = \"last\", group = 0, binding = 1, bytes = 4, fill = \"empty\" }},
]
"
    )
}

fn check_takes_what_a_run_file_says() -> Outcome {
    let path = shader("cli-check-run", LAST)?;
    let file = path.with_extension("toml");
    // Word 0 and word 8 are 7, and one byte more than words.
    let mut bytes = vec![0; 37];
    (bytes[0], bytes[32], bytes[36]) = (7, 7, 7);
    std::fs::write(path.with_file_name("items.bin"), bytes)?;
    // How many invocations write beside the first.
    for (items, times) in [
        ("{ value = 7 }", Some(15)),
        ("{ value = 6.0 }", None),
        ("\"zeros\"", None),
        ("\"ramp\"", Some(1)),
        ("{ random = { seed = 3, low = 7, high = 8 } }", Some(15)),
        ("{ random = { seed = 3, low = 8, high = 15 } }", None),
        ("{ file = \"items.bin\" }", Some(2)),
    ] {
        std::fs::write(&file, run_file(items))?;
        let run = wavelane(&["check", text(&path), "--run", text(&file), "--json", "-"])?;
        let report: Value = serde_json::from_str(&run.stdout)?;
        expect(report["findings"][0]["times"].as_u64() == times, &format!("{times:?} of {items}"), &run)?;
        expect(run.code == Some(i32::from(times.is_some())), "the code", &run)?;
    }
    std::fs::write(&file, run_file("\"empty\""))?;
    let run = wavelane(&["check", text(&path), "--run", text(&file)])?;
    expect(run.stdout.starts_with("error[never-written]: `items` is read before anybody writes it"), "empty", &run)
}

fn check_refuses_wrong_run_files_with_code_2() -> Outcome {
    let path = shader("cli-check-wrong", LAST)?;
    let file = path.with_extension("toml");
    let right = run_file("\"ramp\"");
    std::fs::write(path.with_file_name("large.bin"), [0; 65])?;
    let wrong = [
        ("workgroups =", "workgroup =", "unknown field `workgroup`"),
        ("[2, 1, 1]", "[2, 1]", "expected an array of length 3"),
        ("[2, 1, 1]", "[2, 0, 1]", "from 1 to 65535 workgroups a dimension, not 0"),
        ("[2, 1, 1]", "[2, 1, 65536]", "not 65536"),
        ("find_last", "last", "no compute entry point last, but find_last"),
        ("SCALE", "WIDTH", "'WIDTH' not found"),
        ("SCALE = 3", "SCALE = \"3\"", "invalid type: string"),
        ("SCALE = 3", "SCALE = 3.5", "SCALE is a whole number from 0 to 4294967295, not 3.5"),
        ("name = \"last\"", "name = \"first\"", "the variable is last, not first"),
        ("bytes = 64", "bytes = \"64\"", "invalid type: string"),
        ("bytes = 64", "size = 64", "unknown field `size`"),
        ("bytes = 64", "bytes = 0", "not 0"),
        ("bytes = 64", "bytes = 66", "a multiple of 4"),
        ("bytes = 4,", "bytes = -4,", "-4"),
        ("binding = 1", "binding = 0", "two things are bound to group 0, binding 0"),
        ("binding = 1", "binding = 2", "no variable in group 0, binding 2"),
        ("\"ramp\"", "\"ones\"", "`ramp`"),
        ("\"ramp\"", "7", "wanted string or table"),
        ("\"ramp\"", "{ random = { seed = 1, low = 2 } }", "missing field `high`"),
        ("\"ramp\"", "{ random = { seed = 1, low = 2, high = 2 } }", "no number from 2 up to 2"),
        ("\"ramp\"", "{ file = \"none.bin\" }", "none.bin"),
        ("\"ramp\"", "{ file = \"large.bin\" }", "65 bytes do not fit into 64"),
        ("buffers = [", "buffers = [ 3,", "a table with group, binding, bytes and fill"),
    ];
    for (old, new, reason) in wrong {
        std::fs::write(&file, right.replacen(old, new, 1))?;
        let run = wavelane(&["check", text(&path), "--run", text(&file)])?;
        expect(run.code == Some(2) && run.stdout.is_empty(), &format!("code 2 for {new}"), &run)?;
        expect(run.stderr.contains(reason) && !run.stderr.contains("struct"), reason, &run)?;
    }
    std::fs::write(&file, right.lines().filter(|line| !line.contains("binding = 0")).collect::<Vec<_>>().join("\n"))?;
    let run = wavelane(&["check", text(&path), "--run", text(&file)])?;
    expect(
        run.code == Some(2) && run.stderr.contains("nothing is bound to group 0, binding 0"),
        "a missing one",
        &run,
    )?;
    let run = wavelane(&["check", text(&path), "--run", "/nonexistent.toml"])?;
    expect(run.code == Some(2) && run.stderr.contains("/nonexistent.toml"), "a missing file", &run)
}

fn check_refuses_what_is_no_shader() -> Outcome {
    let run = wavelane(&["check", "/nonexistent.wgsl"])?;
    expect(run.code == Some(1) && run.stderr.contains("cannot read /nonexistent.wgsl"), "code 1", &run)?;
    let path = shader("cli-check-invalid", "fn main( {")?;
    let run = wavelane(&["check", text(&path)])?;
    expect(run.code == Some(1) && run.stdout.is_empty(), "code 1", &run)?;
    expect(run.stderr.contains("kernel.wgsl: error: expected identifier"), "naga's words", &run)?;
    expect(run.stderr.contains(&format!("─ {}:1:10", text(&path))), "the file with line and column", &run)
}

fn info_fits_a_terminal() -> Outcome {
    let run = wavelane(&["info"])?;
    expect(run.code == Some(0), "code 0", &run)?;
    for word in ["adapter", "lanes", "path", "times", "types", "workgroup", "dispatch", "buffers"] {
        expect(run.stdout.contains(word), word, &run)?;
    }
    expect(run.stdout.lines().all(|line| line.chars().count() <= 100), "lines of at most 100 columns", &run)?;
    expect(!run.stdout.contains('\x1b'), "no colours in a pipe", &run)
}

fn info_json_has_its_schema() -> Outcome {
    let run = wavelane(&["info", "--json"])?;
    let info = json(&run)?;
    expect(info["schema"] == 1, "schema 1", &run)?;
    expect(info["version"] == env!("CARGO_PKG_VERSION"), "the version", &run)?;
    let adapters = info["adapters"].as_array().ok_or("adapters is no list")?;
    expect(adapters.len() == adapter_names().len(), "every adapter", &run)?;
    expect(adapters.iter().filter(|adapter| adapter["chosen"] == true).count() == 1, "one chosen adapter", &run)?;
    for (index, adapter) in adapters.iter().enumerate() {
        expect(adapter["index"] == index, "the index", &run)?;
        for text in ["name", "backend", "kind", "driver"] {
            expect(adapter[text].is_string(), text, &run)?;
        }
        for number in ["vendor_id", "device_id"] {
            expect(adapter[number].is_u64(), number, &run)?;
        }
        let device = &adapter["device"];
        expect(device.is_object() == adapter["error"].is_null(), "either a device or an error", &run)?;
        if device.is_object() {
            device_has_its_schema(device, &run)?;
        }
    }
    Ok(())
}

fn device_has_its_schema(device: &Value, run: &Run) -> Outcome {
    expect(device["reported_lanes"].as_array().is_some_and(|lanes| lanes.len() == 2), "reported_lanes", run)?;
    for number in ["counted_lanes", "path_lanes"] {
        expect(device[number].as_u64().is_some_and(|lanes| lanes > 0), number, run)?;
    }
    expect(device["path"] == "native" || device["path"] == "emulated", "a path", run)?;
    expect(device["path_reason"].is_string(), "path_reason", run)?;
    for optional in ["warning", "timestamp_period_ns"] {
        expect(device.get(optional).is_some(), optional, run)?;
    }
    for feature in ["subgroup", "timestamp_query", "shader_int64", "shader_f16"] {
        expect(device["features"][feature].is_boolean(), feature, run)?;
    }
    for limit in [
        "max_compute_invocations_per_workgroup",
        "max_compute_workgroup_size_x",
        "max_compute_workgroup_size_y",
        "max_compute_workgroup_size_z",
        "max_compute_workgroup_storage_size",
        "max_compute_workgroups_per_dimension",
        "max_storage_buffers_per_shader_stage",
        "max_storage_buffer_binding_size",
        "max_buffer_size",
        "min_storage_buffer_offset_alignment",
    ] {
        expect(device["limits"][limit].as_u64().is_some_and(|value| value > 0), limit, run)?;
    }
    expect(device["shapes"].is_array(), "shapes", run)
}

fn an_unknown_adapter_lists_the_adapters() -> Outcome {
    for wish in ["no such adapter", "99"] {
        let run = wavelane(&["info", "--adapter", wish])?;
        expect(run.code == Some(3) && run.stdout.is_empty(), "code 3", &run)?;
        for name in adapter_names() {
            expect(run.stderr.contains(&name), &name, &run)?;
        }
    }
    Ok(())
}

fn an_adapter_is_chosen_by_option_and_variable() -> Outcome {
    let last = adapter_names().len() - 1;
    let run = wavelane(&["info", "--json", "--adapter", &last.to_string()])?;
    let info = json(&run)?;
    let adapters = info["adapters"].as_array().ok_or("adapters is no list")?;
    expect(adapters.len() == 1 && adapters[0]["index"] == last, "the last adapter alone", &run)?;

    // The variable moves the choice, but `info` still lists all.
    let mut command = tool(&["info", "--json"]);
    command.env("WGPU_ADAPTER_NAME", last.to_string());
    let run = finish(command)?;
    let info = json(&run)?;
    expect(info["adapters"].as_array().is_some_and(|list| list.len() == last + 1), "all adapters", &run)?;
    expect(info["adapters"][last]["chosen"] == true, "the last adapter chosen", &run)
}

fn a_width_is_emulated_on_request() -> Outcome {
    let run = wavelane(&["info", "--json", "--emulate", "64"])?;
    let info = json(&run)?;
    let device = &info["adapters"][0]["device"];
    expect(device["path"] == "emulated" && device["path_lanes"] == 64, "64 emulated lanes", &run)
}

fn a_closed_pipe_is_no_error() -> Outcome {
    let commands: &[&[&str]] = &[&["info"], &["info", "--json"], &["--help"], &["list", "/"], &["emit", VARIANT]];
    for args in commands {
        let mut child = tool(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        drop(child.stdout.take());
        let mut stderr = String::new();
        if let Some(mut pipe) = child.stderr.take() {
            pipe.read_to_string(&mut stderr)?;
        }
        let run = Run { code: child.wait()?.code(), stdout: String::new(), stderr };
        expect(run.code == Some(0), &format!("code 0 for {args:?}"), &run)?;
        expect(!run.stderr.contains("panicked") && !run.stderr.contains("error"), "no complaint", &run)?;
    }
    Ok(())
}

/// There is time for the probe and for one dispatch, but not for those that are timed.
fn an_experiment_that_fails_is_written_too() -> Outcome {
    // Other tests take cores too, and a try that gets stuck before the timed kernels says nothing.
    for seconds in ["0.01", "0.02", "0.03", "0.05", "0.1"].into_iter().cycle().take(50) {
        let (json_file, csv) = (scratch("cli-failed.json")?, scratch("cli-failed.csv")?);
        let html = scratch("cli-failed.html")?;
        let files = ["--json", text(&json_file), "--csv", text(&csv), "--html", text(&html)];
        let limits = ["--adapter", "llvmpipe", "--timeout", seconds];
        let run = wavelane(&[&["measure", "lane-map", "two-way", "guard"], &files[..], &limits].concat())?;
        // A quiet machine does all of it in the longest of these times.
        if run.code == Some(0) {
            continue;
        }
        expect(run.code == Some(1), "code 1", &run)?;
        expect(run.stderr.contains(&format!("did not finish within {seconds} s")), "the time-out", &run)?;
        if !run.stderr.contains("error: two-way failed: ") {
            continue;
        }
        let record: Value = serde_json::from_str(&std::fs::read_to_string(&json_file)?)?;
        let verdict = |at: usize| record["experiments"][at]["verdict"].as_str().unwrap_or_default().to_string();
        expect([verdict(1), verdict(2)] == ["failed", "not-measurable"], "two verdicts", &run)?;
        expect(verdict(0) == "holds" || verdict(0) == "differs", "what was measured before", &run)?;
        let finding = record["experiments"][1]["finding"].as_str().unwrap_or_default();
        expect(finding.contains("did not finish within"), "the error as the finding", &run)?;
        expect(run.stdout.contains("not measurable 1, failed 1"), "verdicts counted", &run)?;
        let csv = std::fs::read_to_string(csv)?;
        expect(csv.lines().any(|line| line.starts_with("two-way,") && line.ends_with(",failed")), "a line", &run)?;
        return expect(std::fs::read_to_string(html)?.contains("class=\"verdict failed\""), "a card", &run);
    }
    Err("the machine stayed too busy for the first dispatches".into())
}

fn a_full_disk_is_an_error() -> Outcome {
    let mut command = tool(&["info"]);
    command.stdout(std::fs::OpenOptions::new().write(true).open(DEV_FULL)?).stderr(Stdio::piped());
    let output = command.spawn()?.wait_with_output()?;
    let stderr = String::from_utf8(output.stderr)?;
    let run = Run { code: output.status.code(), stdout: String::new(), stderr };
    expect(run.code == Some(1) && run.stderr.contains("cannot write"), "code 1 and the reason", &run)
}

/// What `info` says of lavapipe with vectors of so many bits.
fn lavapipe(bits: u32) -> Result<(Run, Value), Failed> {
    let mut command = tool(&["info", "--json", "--adapter", "llvmpipe"]);
    command.env("LP_NATIVE_VECTOR_WIDTH", bits.to_string());
    let run = finish(command)?;
    let device = json(&run)?["adapters"][0]["device"].clone();
    Ok((run, device))
}

fn lavapipe_has_the_width_of_its_vectors() -> Outcome {
    for (bits, lanes) in [(128, 4), (256, 8), (512, 16)] {
        let (run, device) = lavapipe(bits)?;
        expect(device["counted_lanes"] == lanes, &format!("{lanes} lanes counted"), &run)?;
        expect(device["path"] == "native" && device["warning"].is_null(), "the native path without warning", &run)?;
    }
    Ok(())
}

fn a_driver_that_reports_a_wrong_width_is_caught() -> Outcome {
    // With vectors of 1024 bits this driver reports 32 lanes and runs 16.
    let (run, device) = lavapipe(1024)?;
    expect(device["reported_lanes"] == serde_json::json!([32, 32]), "32 lanes reported", &run)?;
    expect(device["counted_lanes"] == 16, "16 lanes counted", &run)?;
    expect(device["path"] == "emulated", "the emulated path", &run)?;
    expect(device["warning"].as_str().is_some_and(|text| text.contains("16 vote together")), "a warning", &run)?;

    let mut command = tool(&["info", "--adapter", "llvmpipe"]);
    command.env("LP_NATIVE_VECTOR_WIDTH", "1024");
    let run = finish(command)?;
    expect(run.stdout.contains("■□") && run.stdout.contains("warning"), "hollow lanes and the warning", &run)
}
