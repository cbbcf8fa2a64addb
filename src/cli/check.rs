//! `wavelane check`: what a compute shader does wrong, found on the simulator.

mod run_file;
mod sarif;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use wavelane::simt::SimtOptions;
use wavelane::simt::check::{self, CheckOptions, Finding, FindingKind, Level, Outcome, Place, Report, Run};
use wavelane::{Error, ErrorKind};

use super::output::{self, Destination};
use super::{Failure, Result, simulated_lanes};
use run_file::RunFile;

/// Runs a compute shader on the simulator, and finds what a GPU hides
///
/// Found are data races, barriers that not all reach, operations of the subgroup whose lanes depend on the schedule, indices
/// out of bounds, memory that nobody wrote, lanes that are not there and loops that do not end. The shader runs in
/// lockstep, and under schedules in which lanes, subgroups and workgroups go on independently of each other. The exit code
/// is 1 if anything was found that is not allowed. Zeros of workgroup memory that nobody wrote, and values of lanes that do not
/// take part, may be what is meant: they are warnings, which `--allow warnings` leaves out.
///
/// Without --run, the workgroups and the contents of buffers and textures are guessed from the shader, and printed. --init writes
/// the guess to a file, whose comments say what else it may hold.
///
/// The JSON is one object: `schema` (1; fields are only ever added), `version`, `shader`, `lanes`, `run` as in the run file,
/// `schedules` with `seed` (null in lockstep), `ended`, `issues` and `same_as_lockstep`, the number of findings `allowed`, and
/// `findings` with `kind`, `level` (`error` or `warning`), `message`, `variable` (null, or what an index is beyond the end of),
/// `times`, `seed`, `at` and `other`, which is null or the other side. Each side has `line`
/// (null where there is none), `function`, `text`, `what`, `workgroup` and `invocations`. A FILE of `-` is standard output,
/// which then gets no text.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The shader
    #[arg(value_name = "SHADER.wgsl")]
    shader: PathBuf,
    /// Runs what this file says: entry point, workgroups, overrides, buffers, textures and samplers
    #[arg(long, value_name = "FILE.toml")]
    run: Option<PathBuf>,
    /// Writes the guessed run to a file instead, which must be new: the shader's name with .toml unless one is given
    #[arg(long, value_name = "FILE.toml", num_args = 0..=1, require_equals = true, conflicts_with_all = ["run", "json", "sarif"])]
    init: Option<Option<PathBuf>>,
    /// The entry point, where there are several
    #[arg(long, value_name = "NAME", conflicts_with = "run")]
    entry: Option<String>,
    /// Lanes of a subgroup: a power of two from 4 to 128
    #[arg(long, value_name = "LANES", value_parser = simulated_lanes, default_value_t = SimtOptions::DEFAULT_LANES)]
    lanes: u32,
    /// Schedules that are tried behind lockstep
    #[arg(long, value_name = "N", default_value_t = CheckOptions::default().schedules)]
    schedules: u32,
    /// The seed of the first of them; the others follow
    #[arg(long, default_value_t = CheckOptions::default().seed)]
    seed: u64,
    /// Rounds of a loop in a workgroup after which it is taken to be endless
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = CheckOptions::default().iterations)]
    iterations: u32,
    /// Lets lanes go on alone where operations of the subgroup bring them together, as if a device did not
    #[arg(long)]
    no_rendezvous: bool,
    /// Leaves findings of this kind out, or all warnings; may be given several times
    #[arg(long, value_name = "KIND", value_parser = allowable())]
    allow: Vec<Allowed>,
    /// Writes the findings as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the findings as SARIF 2.1.0, which code hosts show beside the lines
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// Findings that are left out.
#[derive(Clone, Copy, Debug)]
enum Allowed {
    Kind(FindingKind),
    Warnings,
}

impl Allowed {
    fn is(self, finding: &Finding) -> bool {
        match self {
            Self::Kind(kind) => finding.kind == kind,
            Self::Warnings => finding.level == Level::Warning,
        }
    }
}

fn allowable() -> impl TypedValueParser<Value = Allowed> {
    let names = FindingKind::ALL.map(FindingKind::name).into_iter().chain(["warnings"]);
    PossibleValuesParser::new(names).map(|name| {
        let kind = FindingKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map_or(Allowed::Warnings, Allowed::Kind)
    })
}

/// A check, and what came out.
struct Checked<'a> {
    shader: &'a Path,
    run: RunFile,
    /// Whether the run was told from the shader.
    guessed: bool,
    options: CheckOptions,
    report: Report,
    /// Findings that were left out.
    allowed: usize,
}

type Render = fn(&Checked<'_>) -> Result<String>;

pub(super) fn run(args: &CheckArgs) -> Result {
    let shader = args.shader.as_path();
    let text = std::fs::read_to_string(shader)
        .map_err(|error| Failure::working(format!("cannot read {}: {error}", shader.display())))?;
    // What does not fit is the fault of the file that says what runs, or of the command line.
    let failure = |error: Error| {
        let origin = args.run.as_deref().filter(|_| error.kind() == ErrorKind::InvalidArgument).unwrap_or(shader);
        // naga, which has the text alone, calls the file `wgsl`.
        let error_text = error.to_string().replace("─ wgsl:", &format!("─ {}:", shader.display()));
        let message = format!("{}: {error_text}", origin.display()).trim_end().to_string();
        match error.kind() {
            ErrorKind::InvalidArgument => Failure::usage(message),
            _ => Failure::working(message),
        }
    };
    let (file, run) = match &args.run {
        Some(path) => RunFile::read(path)?,
        None => {
            let run = Run::reflect(&text, args.entry.as_deref()).map_err(failure)?;
            (RunFile::reflected(&run), run)
        }
    };
    if let Some(path) = &args.init {
        return init(&file, shader, path.as_deref());
    }
    let views: [(_, Render); 2] = [(&args.json, json), (&args.sarif, sarif::write)];
    let views = Destination::open_all(views)?;
    if args.run.is_none() {
        let _ = write!(
            std::io::stderr(),
            "no --run is given, so this is taken (--init writes it to a file):\n{}\n",
            file.summary()
        );
    }

    let CheckArgs { lanes, schedules, seed, iterations, no_rendezvous, .. } = *args;
    let options = CheckOptions { lanes, schedules, seed, iterations, rendezvous: !no_rendezvous };
    let mut report = check::check(&text, &run, &options).map_err(failure)?;
    let found = report.findings.len();
    report.findings.retain(|finding| !args.allow.iter().any(|allowed| allowed.is(finding)));
    let allowed = found - report.findings.len();
    let checked = Checked { shader, run: file, guessed: args.run.is_none(), options, report, allowed };

    let to_person = !views.iter().any(|(to, _)| matches!(to, Destination::Stdout));
    for (to, render) in views {
        to.write(render(&checked)?.as_bytes())?;
    }
    if to_person {
        output::print(text::write(&checked, output::is_styled()))?;
    }
    if checked.report.findings.is_empty() { Ok(()) } else { Err(Failure::findings()) }
}

/// Writes a run to a file that is not there yet.
fn init(file: &RunFile, shader: &Path, path: Option<&Path>) -> Result {
    let path = path.map_or_else(|| shader.with_extension("toml"), Path::to_path_buf);
    let text = file.to_toml(shader);
    if path.as_os_str() == "-" {
        return output::print(text);
    }
    let written = std::fs::File::create_new(&path).and_then(|mut new| new.write_all(text.as_bytes()));
    written.map_err(|error| Failure::working(format!("cannot write {}: {error}", path.display())))?;
    let _ = writeln!(std::io::stderr(), "{} is written", path.display());
    Ok(())
}

#[derive(Serialize)]
struct JsonReport<'a> {
    schema: u32,
    version: &'static str,
    shader: String,
    lanes: u32,
    run: &'a RunFile,
    schedules: Vec<JsonSchedule>,
    allowed: usize,
    findings: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct JsonSchedule {
    seed: Option<u64>,
    ended: bool,
    issues: Option<u64>,
    same_as_lockstep: bool,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    kind: &'static str,
    level: &'static str,
    message: &'a str,
    variable: Option<&'a str>,
    times: u64,
    seed: Option<u64>,
    at: JsonPlace<'a>,
    other: Option<JsonPlace<'a>>,
}

#[derive(Serialize)]
struct JsonPlace<'a> {
    line: Option<u32>,
    function: &'a str,
    text: &'a str,
    what: &'a str,
    workgroup: [u32; 3],
    invocations: &'a [u32],
}

fn json(checked: &Checked<'_>) -> Result<String> {
    let schedule = |outcome: &Outcome| JsonSchedule {
        seed: outcome.seed,
        ended: outcome.counts.is_some(),
        issues: outcome.counts.as_ref().map(|counts| counts.issues),
        same_as_lockstep: outcome.same_as_lockstep,
    };
    output::json(&JsonReport {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        shader: checked.shader.display().to_string(),
        lanes: checked.options.lanes,
        run: &checked.run,
        schedules: checked.report.schedules.iter().map(schedule).collect(),
        allowed: checked.allowed,
        findings: checked.report.findings.iter().map(JsonFinding::from).collect(),
    })
}

impl<'a> From<&'a Finding> for JsonFinding<'a> {
    fn from(finding: &'a Finding) -> Self {
        let Finding { kind, level, message, variable, at, other, times, seed } = finding;
        let (at, other) = (at.into(), other.as_ref().map(JsonPlace::from));
        let (level, variable) = (level.name(), variable.as_deref());
        Self { kind: kind.name(), level, message, variable, times: *times, seed: *seed, at, other }
    }
}

impl<'a> From<&'a Place> for JsonPlace<'a> {
    fn from(place: &'a Place) -> Self {
        let Place { line, function, text, what, workgroup, invocations } = place;
        Self { line: *line, function, text, what, workgroup: *workgroup, invocations }
    }
}
