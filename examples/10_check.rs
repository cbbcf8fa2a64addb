//! A check of one's own compute shader on the simulator, as a test of a program would do it: the tree sum without barriers
//! has races that lanes in step hide, and with them it has none.
//!
//! `cargo run --example 10_check`

use wavelane::simt::check::{self, CheckOptions, FindingKind, Report, Run, ranges};

const TREE_SUM: &str = include_str!("check/tree_sum.wgsl");
const REPAIRED: &str = include_str!("check/tree_sum_repaired.wgsl");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = checked("tree_sum.wgsl", TREE_SUM)?;
    let races = report.findings.iter().filter(|finding| finding.kind == FindingKind::DataRace).count();
    let others = &report.schedules[1..];
    let wrong = others.iter().filter(|schedule| !schedule.same_as_lockstep).count();
    println!("  {wrong} of {} schedules of independent lanes give other sums than lockstep", others.len());
    if races == 0 || races != report.findings.len() || wrong == 0 {
        return Err("the tree sum without barriers has races and nothing else, and independent lanes show them".into());
    }
    if !checked("tree_sum_repaired.wgsl", REPAIRED)?.findings.is_empty() {
        return Err("the tree sum with barriers has no mistake".into());
    }
    Ok(())
}

/// Checks a shader and prints what was found.
fn checked(name: &str, text: &str) -> Result<Report, wavelane::Error> {
    // Four workgroups, a ramp of items, zeros for the totals; every field of it can be set.
    let run = Run::reflect(text, None)?;
    let report = check::check(text, &run, &CheckOptions { lanes: 32, ..CheckOptions::default() })?;
    println!("{name}: {} findings", report.findings.len());
    for finding in &report.findings {
        println!("  {}: {}", finding.kind.name(), finding.message);
        for place in [Some(&finding.at), finding.other.as_ref()].into_iter().flatten() {
            let line = place.line.map_or(String::new(), |line| format!("line {line} "));
            let (workgroup, who) = (place.workgroup[0], ranges(&place.invocations));
            println!("    {line}{}, invocation {who} of workgroup {workgroup}: {}", place.what, place.text);
        }
    }
    Ok(report)
}
