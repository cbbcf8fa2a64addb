//! One case table, one runner: every primitive on every adapter found, on every path, against an oracle.
//!
//! A trial is named `case :: adapter :: path`. `cargo test --test gpu -- reduce/add` runs a part of the table.
//! By default every case runs on the path that the probe chose, and each once more on the emulated path, at 32 or at 64
//! lanes in turn. `WAVELANE_FULL=1` runs every case at every emulated width; `WAVELANE_REQUIRE_ADAPTER=1` makes a
//! missing adapter a failure; `WAVELANE_SIMULATE=4,64` runs the table on simulated devices of these widths
//! and on nothing else, `WAVELANE_CHECKS=1` with their checks on, `WAVELANE_SEED=N` with lanes that are independent of each
//! other in an order that comes from N; `WAVELANE_TIMES=1` prints how long each row took.

mod algebra;
mod cases;
mod expectations;
mod harness;
mod oracle;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use harness::{Case, Env, Paths};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use wavelane::{Adapters, Gpu, SubgroupPath};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let full = asked("WAVELANE_FULL");
    let cases: Vec<Arc<Case>> = cases::all().into_iter().map(Arc::new).collect();
    let mut trials = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let simulated = match simulated() {
        Ok(simulated) => simulated,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    for (name, adapter, gpu) in &simulated {
        trials.extend(adapter_trials(&cases, name, adapter, gpu, full));
        names.push(name.clone());
    }
    for adapter in Adapters::find(None).iter().filter(|_| simulated.is_empty()) {
        let info = adapter.get_info();
        if info.backend == wgpu::Backend::Noop {
            continue;
        }
        let mut name = info.name.split('(').next().unwrap_or_default().trim().to_string();
        let same = names.iter().filter(|other| **other == name).count();
        names.push(name.clone());
        if same > 0 {
            name += &format!(" #{}", same + 1);
        }
        match harness::open(adapter) {
            Ok(gpu) => trials.extend(adapter_trials(&cases, &name, adapter, &gpu, full)),
            Err(error) => trials.push(Trial::test(format!("open :: {name}"), move || Err(error.into()))),
        }
    }
    if names.is_empty() {
        let reason = "no GPU adapter was found (Debian, Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1)";
        let required = asked("WAVELANE_REQUIRE_ADAPTER");
        trials.push(Trial::ignorable_test("every case :: no adapter", move || match required {
            true => Err(Failed::from(reason)),
            false => Ok(Completion::ignored_with(reason)),
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether an environment variable is set, to something else than 0.
fn asked(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// The variable that makes simulated devices look for mistakes, which are failures; sizes are small then.
const CHECKS: &str = "WAVELANE_CHECKS";
/// The one that makes their lanes independent of each other.
const SEED: &str = "WAVELANE_SEED";

/// Simulated devices of the widths that `WAVELANE_SIMULATE` lists.
fn simulated() -> Result<Vec<(String, wgpu::Adapter, Gpu)>, String> {
    let widths = std::env::var("WAVELANE_SIMULATE").unwrap_or_default();
    widths.split(',').filter(|width| !width.is_empty()).map(simulator).collect()
}

#[cfg(feature = "simt")]
fn simulator(width: &str) -> Result<(String, wgpu::Adapter, Gpu), String> {
    use wavelane::simt::{self, Observe, SimtOptions};
    let lanes = width.parse().map_err(|_| format!("WAVELANE_SIMULATE lists widths, as 4,64: '{width}' is none"))?;
    let observe = if asked(CHECKS) { Observe::Checks } else { Observe::Counts };
    let mut options = SimtOptions::default().lanes(lanes).observe(observe);
    if let Ok(seed) = std::env::var(SEED) {
        options = options.seed(seed.parse().map_err(|_| format!("{SEED} is a number: '{seed}' is none"))?);
    }
    let adapter = simt::adapter(&options).map_err(|error| error.to_string())?;
    let gpu = harness::open(&adapter)?;
    Ok((format!("simulator-{lanes}"), adapter, gpu))
}

/// What the simulator's checks found in the dispatches so far: races, indices out of bounds and the like.
#[cfg(feature = "simt")]
fn mistakes(case: &str, gpu: &Gpu) -> Option<String> {
    use wavelane::simt::{self, check::FindingKind};
    let mut findings = simt::take_findings(gpu.device()).ok()?;
    // These read every lane there might be; what comes from lanes without an invocation is not compared.
    findings.retain(|finding| finding.kind != FindingKind::InactiveLane || !case.starts_with("block/shuffle/"));
    (!findings.is_empty()).then(|| format!("the simulator's checks found {findings:#?}"))
}

#[cfg(not(feature = "simt"))]
fn mistakes(_: &str, _: &Gpu) -> Option<String> {
    None
}

#[cfg(not(feature = "simt"))]
fn simulator(_: &str) -> Result<(String, wgpu::Adapter, Gpu), String> {
    Err("WAVELANE_SIMULATE needs the feature simt".into())
}

fn adapter_trials(cases: &[Arc<Case>], name: &str, adapter: &wgpu::Adapter, gpu: &Gpu, full: bool) -> Vec<Trial> {
    // What the probe chose runs everything.
    let mut paths = vec![gpu.path()];
    let widths: &[u32] = if full { &[4, 8, 32, 64, 128] } else { &[32, 64] };
    paths.extend(widths.iter().map(|&lanes| SubgroupPath::Emulated { lanes }).filter(|path| *path != gpu.path()));
    let times = asked("WAVELANE_TIMES");
    let mut trials = Vec::new();
    for (number, path) in paths.iter().copied().enumerate() {
        let gpu = gpu.with_path(path).expect("the probe's path, and powers of two, are accepted");
        // Barriers of workgroups are slow on a CPU, and their kernels slow to compile.
        let slow = gpu.is_cpu() && path != SubgroupPath::Native;
        let checked = gpu.is_simulated() && asked(CHECKS);
        let env = Arc::new(Env { adapter: adapter.clone(), gpu, main: number == 0 && !slow && !checked });
        let path = match path {
            SubgroupPath::Native => "native".to_string(),
            SubgroupPath::Emulated { lanes } => format!("emulated-{lanes}"),
        };
        let mut turn = 0;
        for case in cases {
            turn += usize::from(case.paths == Paths::Every);
            let wanted = match case.paths {
                Paths::Main => number == 0,
                Paths::Large => number == 0 && !slow,
                Paths::Full => full || (number == 0 && !slow),
                Paths::Every => number == 0 || full || turn % (paths.len() - 1) + 1 == number,
            };
            if !wanted {
                continue;
            }
            let (case, env, path) = (case.clone(), env.clone(), path.clone());
            let name = format!("{} :: {name} :: {path}", case.name);
            trials.push(Trial::ignorable_test(name.clone(), move || {
                let started = Instant::now();
                let outcome = run(&case, &env, &path);
                if times {
                    eprintln!("{:6} ms  {name}", started.elapsed().as_millis());
                }
                outcome
            }));
        }
    }
    trials
}

fn run(case: &Case, env: &Env, path: &str) -> Result<Completion, Failed> {
    let missing = case.needs - env.gpu.features();
    if !missing.is_empty() {
        return Ok(Completion::ignored_with(format!("the device lacks {missing:?}")));
    }
    if let Some(reason) = expectations::crash(&case.name, env.gpu.info(), path) {
        return Ok(Completion::ignored_with(reason));
    }
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| (case.run)(env)));
    let outcome = match outcome.map_err(|panic| panic.downcast::<harness::Skipped>()) {
        Err(Ok(skipped)) => return Ok(Completion::ignored_with(skipped.0)),
        Err(Err(panic)) => Err(panic),
        Ok(()) => Ok(()),
    };
    let failed = outcome.err().map(|panic| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic.downcast_ref::<&str>().map_or("a panic without a message".into(), |m| (*m).to_string()),
    });
    let message = failed.or_else(|| mistakes(&case.name, &env.gpu));
    let expected = expectations::find(&case.name, env.gpu.info(), path);
    match (message, expected) {
        (None, None) => Ok(Completion::Completed),
        (Some(message), None) => Err(message.into()),
        (None, Some(expected)) => {
            Err(format!("passed, though it is expected to fail: {}; take it off the list", expected.reason).into())
        }
        (Some(message), Some(expected)) if message.contains(expected.message) => Ok(Completion::Completed),
        (Some(message), Some(expected)) => {
            Err(format!("failed otherwise than expected ('{}'): {message}", expected.message).into())
        }
    }
}
