//! Every example, run as a person runs it: it must end with code 0 and name the adapter that it ran on,
//! if it needs one.
//!
//! `cargo test` builds the examples before this; after `cargo test --test examples` alone they may be missing or old.
//! Without an adapter the rows are ignored with that reason, and fail instead if `WAVELANE_REQUIRE_ADAPTER` is 1.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// The examples that need feature `lab`, as Cargo.toml says.
const NEED_LAB: [&str; 2] = ["03_divergence", "04_reduction_ladder"];
/// The one that needs feature `simt` and no adapter.
const SIMULATED: &str = "10_check";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Two of them time things.
    arguments.test_threads = Some(1);
    let adapters: Vec<String> = wavelane::Adapters::find(None).iter().map(|adapter| adapter.get_info().name).collect();
    let required = std::env::var("WAVELANE_REQUIRE_ADAPTER").is_ok_and(|value| value == "1");
    let trials = names()
        .into_iter()
        .map(|name| {
            let adapters = adapters.clone();
            Trial::ignorable_test(name.clone(), move || {
                if NEED_LAB.contains(&name.as_str()) && !cfg!(feature = "lab") {
                    return Ok(Completion::ignored_with("feature lab is off"));
                }
                if name == SIMULATED {
                    return match cfg!(feature = "simt") {
                        true => succeed(&name).map(|_| Completion::Completed),
                        false => Ok(Completion::ignored_with("feature simt is off")),
                    };
                }
                match (adapters.is_empty(), required) {
                    (true, true) => Err("no adapter was found, but WAVELANE_REQUIRE_ADAPTER is 1".into()),
                    (true, false) => Ok(Completion::ignored_with("no adapter was found")),
                    (false, _) => run(&name, &adapters).map(|()| Completion::Completed),
                }
            })
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The examples there are: one a file.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = files
        .map(|file| file.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no examples in {}", folder.display());
    names
}

/// What an example prints, which must end with code 0.
fn succeed(name: &str) -> Result<String, Failed> {
    let program = program(name)?;
    let output = Command::new(&program).output().map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(format!("{said}{complained}")),
        false => Err(format!("{name} ended with {}\n{said}{complained}", output.status).into()),
    }
}

fn run(name: &str, adapters: &[String]) -> Result<(), Failed> {
    let said = succeed(name)?;
    match adapters.iter().any(|adapter| said.contains(adapter.as_str())) {
        true => Ok(()),
        false => Err(format!("{name} names none of the adapters {adapters:?}:\n{said}").into()),
    }
}

/// `target/<profile>/examples/NAME`, seen from this test at `target/<profile>/deps/examples-HASH`.
fn program(name: &str) -> Result<PathBuf, Failed> {
    let test = std::env::current_exe()?;
    let profile = test.parent().and_then(Path::parent).ok_or("this test is not where cargo puts it")?;
    let program = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    match program.exists() {
        true => Ok(program),
        false => Err(format!("{} is missing: cargo build --examples", program.display()).into()),
    }
}
