//! Findings for a person at the terminal, in the form of a compiler's.

use wavelane::simt::check::{Finding, FindingKind, Level, Place, ranges};

use super::Checked;

/// Numbers that are shown at most, where they do not follow each other.
const SHOWN: usize = 8;

/// How the parts of a message look.
struct Style {
    error: &'static str,
    warning: &'static str,
    bold: &'static str,
    faint: &'static str,
    plain: &'static str,
}

const STYLED: Style =
    Style { error: "\x1b[1;31m", warning: "\x1b[1;33m", bold: "\x1b[1m", faint: "\x1b[1;34m", plain: "\x1b[0m" };
const UNSTYLED: Style = Style { error: "", warning: "", bold: "", faint: "", plain: "" };

pub(super) fn write(checked: &Checked<'_>, styled: bool) -> String {
    let style = if styled { STYLED } else { UNSTYLED };
    let findings = checked.report.findings.iter();
    findings.map(|finding| one(checked, finding, &style) + "\n").collect::<String>() + &last_line(checked)
}

fn one(checked: &Checked<'_>, finding: &Finding, style: &Style) -> String {
    let Style { error, warning, bold, faint, plain } = style;
    let color = if finding.level == Level::Warning { warning } else { error };
    let (level, kind) = (finding.level.name(), finding.kind.name());
    let mut text = format!("{color}{level}[{kind}]{plain}{bold}: {}{plain}\n", finding.message);
    for place in [Some(&finding.at), finding.other.as_ref()].into_iter().flatten() {
        if let Some(line) = place.line {
            let (shader, Place { function, text: code, .. }) = (checked.shader.display(), place);
            text += &format!("  {faint}-->{plain} {shader}:{line} in fn {function}: {code}\n");
        }
        text += &format!("      {}: {}\n", place.what, who(checked, place));
    }
    let times = match finding.times {
        1 => "once".into(),
        times => format!("{times} times"),
    };
    let schedule = match finding.seed {
        None => "in lockstep".into(),
        Some(seed) => {
            let alone = if checked.options.rendezvous { "" } else { " --no-rendezvous" };
            format!("under seed {seed}: with --seed {seed} --schedules 1{alone} this command repeats it")
        }
    };
    text += &format!("   {faint}={plain} seen {times} {schedule}\n");
    if finding.kind == FindingKind::OutOfBounds && checked.guessed {
        text +=
            &format!("   {faint}={plain} sizes and contents are guessed, --init writes them to a file to put right\n");
    }
    let between_workgroups = finding.other.as_ref().is_some_and(|other| other.workgroup != finding.at.workgroup);
    if finding.kind == FindingKind::DataRace && between_workgroups && checked.guessed {
        text += &format!(
            "   {faint}={plain} the number of workgroups is guessed, --init writes it to a file to put right\n"
        );
    }
    if finding.kind == FindingKind::EndlessLoop {
        let rounds = checked.options.iterations;
        text +=
            &format!("   {faint}={plain} after {rounds} rounds it is taken to be endless, --iterations allows more\n");
    }
    text
}

/// The invocations that a place is about, in words.
pub(super) fn who(checked: &Checked<'_>, place: &Place) -> String {
    let workgroup = match (checked.run.workgroups, place.workgroup) {
        ([_, 1, 1], [x, ..]) => x.to_string(),
        (_, [x, y, z]) => format!("({x}, {y}, {z})"),
    };
    format!("{} of workgroup {workgroup}", invocations(&place.invocations))
}

fn invocations(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).count();
    match numbers {
        [only] => format!("invocation {only}"),
        _ if runs <= SHOWN => format!("invocations {}", ranges(numbers)),
        _ => format!("{} invocations, {}, …", numbers.len(), ranges(&numbers[..SHOWN])),
    }
}

/// How much was found, and how hard it was looked for.
fn last_line(checked: &Checked<'_>) -> String {
    let warnings = checked.report.findings.iter().filter(|finding| finding.level == Level::Warning).count();
    let found = match (checked.report.findings.len(), warnings) {
        (0, _) => "nothing found".into(),
        (1, 1) => "1 warning".into(),
        (1, _) => "1 finding".into(),
        (count, 0) => format!("{count} findings"),
        (count, warnings) if warnings == count => format!("{count} warnings"),
        (count, warnings) => format!("{count} findings, {warnings} of them warnings"),
    };
    let allowed = if checked.allowed > 0 { format!(", {} allowed", checked.allowed) } else { String::new() };
    let (lanes, schedules) = (checked.options.lanes, &checked.report.schedules);
    let seeds: Vec<_> = schedules.iter().filter_map(|outcome| outcome.seed).collect();
    let others = match seeds.as_slice() {
        [] => String::new(),
        [only] => format!(" and under seed {only}"),
        [first, .., last] => format!(" and under seeds {first} to {last}"),
    };
    let ended: Vec<_> = schedules.iter().filter(|outcome| outcome.counts.is_some()).collect();
    let differ = ended.iter().filter(|outcome| !outcome.same_as_lockstep).count();
    let contents = match ended.first() {
        // Where lockstep broke off, or there is nothing else, contents say nothing.
        Some(first) if first.seed.is_none() && ended.len() > 1 => match differ {
            0 => "; all ended with the same contents".into(),
            _ => format!("; {differ} of {} ended with other contents than lockstep", seeds.len()),
        },
        _ => String::new(),
    };
    let broken = match schedules.len() - ended.len() {
        0 => String::new(),
        broken => format!("; {broken} of {} broke off", schedules.len()),
    };
    format!("{found}{allowed}: {lanes} lanes in lockstep{others}{contents}{broken}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(invocations(&[7]), "invocation 7");
        assert_eq!(invocations(&(0..64).collect::<Vec<_>>()), "invocations 0 to 63");
        assert_eq!(invocations(&[0, 1, 4]), "invocations 0, 1, 4");
        let odd: Vec<_> = (1..64).step_by(2).collect();
        assert_eq!(invocations(&odd), "32 invocations, 1, 3, 5, 7, 9, 11, 13, 15, …");
    }
}
