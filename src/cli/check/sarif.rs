//! Findings as SARIF 2.1.0, the OASIS format for results of analyses.

use std::path::{Component, Path};

use serde_json::{Value, json};
use wavelane::simt::check::{Finding, FindingKind, Place};

use super::super::{Result, output};
use super::{Checked, text};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(checked: &Checked<'_>) -> Result<String> {
    let rules = FindingKind::ALL.map(|kind| {
        json!({
            "id": kind.name(),
            "shortDescription": { "text": kind.description() },
            "defaultConfiguration": { "level": if kind == FindingKind::InactiveLane { "warning" } else { "error" } },
        })
    });
    let uri = uri(checked.shader);
    let results: Vec<_> = checked.report.findings.iter().map(|finding| result(checked, finding, &uri)).collect();
    output::json(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "wavelane", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn result(checked: &Checked<'_>, finding: &Finding, uri: &str) -> Value {
    let side = |place: &Place| format!("{}: {}", place.what, text::who(checked, place));
    let mut message = format!("{}. {}", finding.message, side(&finding.at));
    let mut related = Vec::new();
    if let Some(other) = &finding.other {
        message += &format!("; {}", side(other));
        let mut location = location(other, uri);
        location["message"] = json!({ "text": side(other) });
        related.push(location);
    }
    json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": FindingKind::ALL.iter().position(|kind| *kind == finding.kind),
        "level": finding.level.name(),
        "message": { "text": message },
        "locations": [location(&finding.at, uri)],
        "relatedLocations": related,
        "occurrenceCount": finding.times,
        "properties": { "lanes": checked.options.lanes, "seed": finding.seed },
    })
}

fn location(place: &Place, uri: &str) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(line) = place.line {
        physical["region"] = json!({ "startLine": line, "snippet": { "text": place.text } });
    }
    json!({ "physicalLocation": physical, "logicalLocations": [{ "name": place.function, "kind": "function" }] })
}

/// The path as a relative reference of a URI, seen from the current folder wherever it is below that.
fn uri(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    let mut segments = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir | Component::RootDir => {}
            other => segments.push(escaped(&other.as_os_str().to_string_lossy())),
        }
    }
    let root = if path.is_absolute() { "file:///" } else { "" };
    root.to_string() + &segments.join("/")
}

/// What a URI may hold as it is stays; other bytes are written as `%2F` is.
fn escaped(segment: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    segment.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_relative_references() {
        assert_eq!(uri(Path::new("./shaders/tree sum.wgsl")), "shaders/tree%20sum.wgsl");
        assert_eq!(uri(Path::new("../a:b.wgsl")), "../a%3Ab.wgsl");
        let here = std::env::current_dir().expect("there is a current folder");
        assert_eq!(uri(&here.join("src/a.wgsl")), "src/a.wgsl");
    }
}
