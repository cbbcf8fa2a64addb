//! The command line: options, dispatch to the subcommands, exit codes.
//!
//! Results go to standard output, everything meant for the person at the terminal (warnings, progress, errors) to
//! standard error. Each subcommand is one file with an argument type and a `run`.

mod compare;
mod emit;
mod explain;
mod failure;
mod info;
mod input;
mod list;
mod measure;
mod output;
mod report;
mod translate;
mod tune;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use wavelane::simt::{self, SimtOptions};
use wavelane::{Adapters, Gpu, GpuOptions, SubgroupPath, shader, wgpu};

use failure::Failure;
use measure::MeasureArgs;

type Result<T = (), E = Failure> = std::result::Result<T, E>;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  an error while working: device lost, time-out, wrong result, unusable file
     (what other experiments gave is written all the same)
  2  the command line is wrong
  3  no adapter, or none that matches, or it gave no device
  4  the device lacks a feature, or one of its limits is too small

Environment:
  WGPU_BACKEND, WGPU_ADAPTER_NAME  choose as --backend and --adapter do
  RUST_LOG                         filters the log as env_logger does
  NO_COLOR                         turns colours off";

/// Measures what the lanes of a GPU really do.
///
/// Without a subcommand, a quick pass of all experiments runs on the best adapter (the same as `wavelane measure`).
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    /// More of the log on standard error: -v information, -vv debugging, -vvv everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Info(info::InfoArgs),
    Measure(measure::MeasureArgs),
    Compare(compare::CompareArgs),
    Report(report::ReportArgs),
    Explain(explain::ExplainArgs),
    List(list::ListArgs),
    Emit(emit::EmitArgs),
    Tune(tune::TuneArgs),
}

/// Which device, and how it is used.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Device")]
struct DeviceArgs {
    /// Uses this adapter: an index of `wavelane info`, or a part of a name [default: the best one]
    #[arg(long, global = true, value_name = "NAME|INDEX")]
    adapter: Option<String>,
    /// Looks at the adapters of this backend only
    #[arg(long, global = true)]
    backend: Option<Backend>,
    /// Uses the simulator, a CPU device whose subgroups have this many lanes: it counts issued instructions and has no
    /// times. Without any adapter `measure` and `explain` take it at 32 lanes
    #[arg(long, global = true, value_name = "LANES", value_parser = simulated_lanes, conflicts_with_all = ["adapter", "backend"])]
    simulate: Option<u32>,
    /// Emulates subgroups of this width over workgroup memory, whatever the device has
    #[arg(long, global = true, value_name = "LANES", value_parser = emulated_lanes)]
    emulate: Option<u32>,
    /// Keeps wgpu's run-time checks in the library's own kernels
    #[arg(long, global = true)]
    checked: bool,
    /// Gives up when the device does not finish a step in this time [default: 120]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Backend {
    Vulkan,
    Metal,
    Dx12,
}

impl DeviceArgs {
    fn backends(&self) -> Option<wgpu::Backends> {
        self.backend.map(|backend| match backend {
            Backend::Vulkan => wgpu::Backends::VULKAN,
            Backend::Metal => wgpu::Backends::METAL,
            Backend::Dx12 => wgpu::Backends::DX12,
        })
    }

    fn checks(&self) -> shader::Checks {
        if self.checked { shader::Checks::Checked } else { shader::Checks::Trusted }
    }

    fn options(&self) -> GpuOptions {
        let mut options = Gpu::options().checks(self.checks());
        if let Some(lanes) = self.emulate {
            options = options.path(SubgroupPath::Emulated { lanes });
        }
        if let Some(timeout) = self.timeout {
            options = options.timeout(timeout);
        }
        options
    }

    /// Refuses these options for a command that opens no device, but for those that it has a use for.
    fn refuse(&self, command: &str, but: &[&str]) -> Result {
        let given = [
            ("--adapter", self.adapter.is_some()),
            ("--backend", self.backend.is_some()),
            ("--simulate", self.simulate.is_some()),
            ("--emulate", self.emulate.is_some()),
            ("--checked", self.checked),
            ("--timeout", self.timeout.is_some()),
        ];
        match given.iter().find(|(option, given)| *given && !but.contains(option)) {
            Some((option, _)) => {
                Err(Failure::usage(format!("{option} changes nothing for `wavelane {command}`, which opens no device")))
            }
            None => Ok(()),
        }
    }

    /// Opens the adapter that a run takes.
    fn open(&self) -> Result<Gpu> {
        self.open_of(&self.adapters()?)
    }

    /// Opens the adapter that a run takes or, where there is none and none was asked for, the simulator.
    fn open_or_simulate(&self) -> Result<Gpu> {
        let adapters = self.adapters()?;
        let asked = self.backends().or_else(wgpu::Backends::from_env).is_some() || self.wish().is_some();
        match self.open_of(&adapters) {
            Err(failure) if adapters.is_empty() && !asked => {
                log::warn!("{failure}. What follows is simulated: instructions are counted, nothing is timed");
                Self { simulate: Some(SimtOptions::DEFAULT_LANES), ..self.clone() }.open()
            }
            opened => opened,
        }
    }

    fn open_of(&self, adapters: &Adapters) -> Result<Gpu> {
        Ok(self.options().open_adapter(self.choose(adapters)?)?)
    }

    /// The adapters to choose among.
    fn adapters(&self) -> Result<Adapters> {
        Ok(match self.simulate {
            Some(lanes) => Adapters::of(&simt::instance(&SimtOptions::default().lanes(lanes))?),
            None => Adapters::find(self.backends()),
        })
    }

    /// The adapter that a run takes, as [`GpuOptions::open`] chooses it.
    fn choose<'a>(&self, adapters: &'a Adapters) -> wavelane::Result<&'a wgpu::Adapter> {
        match self.wish().filter(|_| self.simulate.is_none()) {
            Some(wish) => adapters.choose(&wish),
            None => adapters.best(),
        }
    }

    fn wish(&self) -> Option<String> {
        self.adapter.clone().or_else(|| std::env::var("WGPU_ADAPTER_NAME").ok()).filter(|wish| !wish.is_empty())
    }
}

fn emulated_lanes(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(lanes) if lanes.is_power_of_two() && lanes <= shader::MAX_LANES => Ok(lanes),
        _ => Err(format!("a power of two from 1 to {} is needed", shader::MAX_LANES)),
    }
}

fn simulated_lanes(text: &str) -> Result<u32, String> {
    let lanes = text.parse().map_err(|_| "a number of lanes is needed".to_string())?;
    // The simulator knows which widths it has.
    simt::instance(&SimtOptions::default().lanes(lanes)).map(|_| lanes).map_err(|error| error.to_string())
}

/// More than anybody waits, and less than the clock of any system holds.
const MAX_SECONDS: f64 = 1e6;

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("a number of seconds above 0, and at most {MAX_SECONDS}, is needed")),
    }
}

/// Runs the tool and answers with its exit code.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are such errors too, with code 0. A closed pipe is no reason to fail.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    start_log(&cli);
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.exit_code()
        }
    }
}

fn run(cli: &Cli) -> Result {
    match &cli.command {
        None => measure::run(&cli.device, &MeasureArgs::default()),
        Some(Command::Info(args)) => info::run(&cli.device, args),
        Some(Command::Measure(args)) => measure::run(&cli.device, args),
        Some(Command::Compare(args)) => cli.device.refuse("compare", &[]).and_then(|()| compare::run(args)),
        Some(Command::Report(args)) => cli.device.refuse("report", &[]).and_then(|()| report::run(args)),
        Some(Command::Explain(args)) => explain::run(&cli.device, args),
        Some(Command::List(args)) => cli.device.refuse("list", &[]).and_then(|()| list::run(args)),
        Some(Command::Emit(args)) => {
            cli.device.refuse("emit", &["--checked"]).and_then(|()| emit::run(args, cli.device.checks()))
        }
        Some(Command::Tune(args)) => tune::run(&cli.device, args),
    }
}

/// Shows the log of this crate and of wgpu on standard error, from warnings upwards unless more is asked for.
fn start_log(cli: &Cli) {
    let filter = match (cli.verbose, &cli.command) {
        // `info` prints the library's warnings itself, beside the adapter that they are about.
        (0, Some(Command::Info(_))) => "warn,wavelane::gpu=error",
        (0, _) => "warn",
        (1, _) => "info",
        (2, _) => "debug",
        (_, _) => "trace",
    };
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(filter))
        .format(|buffer, record| {
            let level = match record.level() {
                log::Level::Warn => "warning".into(),
                level => level.as_str().to_lowercase(),
            };
            match record.target() {
                target if target.starts_with("wavelane") => writeln!(buffer, "{level}: {}", record.args()),
                target => writeln!(buffer, "{level}: {target}: {}", record.args()),
            }
        })
        .init();
}
