//! The command line: options, dispatch to the subcommands, exit codes.
//!
//! Results go to standard output, everything meant for the person at the terminal (warnings, progress, errors) to
//! standard error. Each subcommand is one file with an argument type and a `run`.

mod check;
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

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use wavelane::simt::{self, SimtOptions};
use wavelane::{Adapters, Gpu, GpuOptions, SubgroupPath, shader, wgpu};

use failure::Failure;
use measure::MeasureArgs;

type Result<T = (), E = Failure> = std::result::Result<T, E>;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  an error while working: device lost, time-out, wrong result, unusable file
     (what other experiments gave is written all the same); `check` found something
  2  the command line is wrong, or the run file of `check`
  3  no adapter, or none that matches, or it gave no device
  4  the device lacks a feature, or one of its limits is too small

Environment:
  WGPU_BACKEND, WGPU_ADAPTER_NAME  choose as --backend and --adapter do
  RUST_LOG                         filters the log as env_logger does
  NO_COLOR                         turns colours off";

/// Measures what the lanes of a GPU really do.
///
/// Without a command, a quick pass of all experiments runs on the best adapter (the same as `wavelane measure`). The
/// options below are of that run; a command's own come after it, and `wavelane help COMMAND` lists them.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES, max_term_width = 100)]
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
    Check(check::CheckArgs),
}

/// Which device, and how it is used.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Device")]
struct DeviceArgs {
    /// Uses this adapter: an index of `wavelane info`, or a part of a name [default: the best one]
    #[arg(long, value_name = "NAME|INDEX")]
    adapter: Option<String>,
    /// Looks at the adapters of this backend only
    #[arg(long)]
    backend: Option<Backend>,
    /// Uses the simulator, a CPU device whose subgroups have this many lanes: it counts issued instructions and has no
    /// times. Without any adapter `measure` and `explain` take it at 32 lanes
    #[arg(long, value_name = "LANES", value_parser = simulated_lanes, conflicts_with_all = ["adapter", "backend"])]
    simulate: Option<u32>,
    /// Emulates subgroups of this width over workgroup memory, whatever the device has
    #[arg(long, value_name = "LANES", value_parser = emulated_lanes)]
    emulate: Option<u32>,
    /// Keeps wgpu's run-time checks in the library's own kernels
    #[arg(long)]
    checked: bool,
    /// Gives up when the device does not finish a step in this time [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
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

    fn options(&self) -> GpuOptions {
        let mut options = Gpu::options().checks(checks(self.checked));
        if let Some(lanes) = self.emulate {
            options = options.path(SubgroupPath::Emulated { lanes });
        }
        if let Some(timeout) = self.timeout {
            options = options.timeout(timeout);
        }
        options
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

/// What `--checked` asks for.
fn checks(checked: bool) -> shader::Checks {
    if checked { shader::Checks::Checked } else { shader::Checks::Trusted }
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
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are such errors too, with code 0. A closed pipe is no reason to fail.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    start_log(&cli);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_told() {
                let _ = writeln!(std::io::stderr(), "error: {failure}");
            }
            failure.exit_code()
        }
    }
}

/// The command line, taken apart.
fn parse() -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches().map_err(with_commands)?;
    if let (Some(command), Some(option)) = (matches.subcommand_name(), device_option(&matches)) {
        let message = format!("--{option} goes after the command, if it has it: see wavelane {command} --help");
        return Err(Cli::command().error(ErrorKind::ArgumentConflict, message));
    }
    Cli::from_arg_matches(&matches)
}

/// The first of the options of a device that are given before any command.
fn device_option(matches: &ArgMatches) -> Option<&clap::Id> {
    matches.try_get_one("DeviceArgs").ok().flatten()
}

/// Tells which commands there are to somebody who named another.
fn with_commands(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let cli = Cli::command();
        let names: Vec<_> = cli.get_subcommands().map(|command| command.get_name()).collect();
        let list = format!("the commands are {}", names.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![list.into()]));
    }
    error
}

fn run(cli: Cli) -> Result {
    match cli.command {
        None => measure::run(&MeasureArgs::from(cli.device)),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Measure(args)) => measure::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Emit(args)) => emit::run(&args),
        Some(Command::Tune(args)) => tune::run(&args),
        Some(Command::Check(args)) => check::run(&args),
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
