//! CUB, in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use wavelane::measure::median;

use crate::Result;
use crate::case::{Case, Primitive};
use crate::item::Keep;
use crate::timer::{Contender, Timer, Work};

const ROUNDS: usize = 3;

/// Calls in a row whose time is divided by their number: what a call adds to a stream of work. The cost of the two
/// timestamps, which differs between the two APIs (about 4 us of a pass, 2 us of a pair of events), is then shared.
pub(crate) const IN_A_ROW: u32 = 16;

/// Our median and CUB's over three rounds: CUB's process, then ours, either warm. Both select the odd items. The time of
/// one call, or of `calls` calls in a row divided by their number.
pub(crate) fn medians(
    timer: &Timer,
    program: &Path,
    case: &Case<u32>,
    primitive: Primitive,
    calls: u32,
) -> Result<[f64; 2]> {
    let call = case.ours(primitive, Keep::Odd)?;
    case.verify(primitive, Keep::Odd, &mut |encoder| {
        call.encode(encoder);
        Ok(())
    })?;
    let (mut ours, mut cub) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        cub.push(run(program, primitive, case.items, calls)?);
        let work = Work::Pass(Box::new(|pass| (0..calls).for_each(|_| call.record(pass))));
        ours.extend(timer.medians(&mut [Contender { name: "ours".into(), work }])?);
    }
    Ok([median(&ours) / f64::from(calls), median(&cub)])
}

/// Runs the program once and gives its nanoseconds.
fn run(program: &Path, primitive: Primitive, items: u32, calls: u32) -> Result<f64> {
    let failed = |why: String| format!("{}: {why}", program.display());
    let output = Command::new(program)
        .args([primitive.name(), &items.ilog2().to_string(), &calls.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    let ns = line.strip_prefix(&format!("{},u32,{items},", primitive.name())).and_then(|ns| ns.parse().ok());
    Ok(ns.ok_or_else(|| failed(format!("'{line}' is no answer for {} of {items} items", primitive.name())))?)
}
