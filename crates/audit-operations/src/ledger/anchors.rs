//! Reports on anchors.

use audit_app::AnchorReport;
use serde_json::{Value, json};
use std::io::Write;

/// Prints what anchors show by themselves.
pub(super) fn print(out: &mut impl Write, report: &AnchorReport) -> anyhow::Result<()> {
    let range = match report.range {
        Some((first, last)) => format!(" from {first} to {last}"),
        None => String::new(),
    };
    let verdict = match report.findings.len() {
        0 => "consistent".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let (anchors, stamped) = (report.anchors, report.stamped);
    writeln!(
        out,
        "{anchors} anchors{range}, {stamped} with a time stamp: {verdict}"
    )?;
    for finding in &report.findings {
        writeln!(out, "    anchor {}: {}", finding.anchor, finding.problem)?;
    }
    for note in &report.notes {
        writeln!(out, "    note: {note}")?;
    }
    Ok(())
}

pub(super) fn to_json(report: &AnchorReport) -> Value {
    let finding =
        |finding: &audit_app::AnchorFinding| json!({"anchor": finding.anchor, "problem": finding.problem});
    json!({
        "count": report.anchors,
        "stamped": report.stamped,
        "first": report.range.map(|(first, _)| first.to_string()),
        "last": report.range.map(|(_, last)| last.to_string()),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "notes": report.notes,
    })
}
