//! Reads anchors from files.

use crate::small_file;
use anyhow::{Context, bail};
use audit_app::{AnchorFile, AnchorReport};
use audit_ledger::Anchor;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The extensions of the files.
const DOCUMENT: &str = "anchor";
const TIME_STAMP: &str = "tsr";

/// The anchors in these directories, and these files, each with the time stamp beside it.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<AnchorFile>> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(list(path)?),
            false => files.push(path.clone()),
        }
    }
    if files.is_empty() {
        bail!("there are no anchors (*.{DOCUMENT})");
    }
    files.iter().map(|file| read_file(file)).collect()
}

/// The files of a directory that are anchors, in order.
fn list(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let failed = || format!("cannot read {}", directory.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        if path.extension() == Some(OsStr::new(DOCUMENT)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The anchor in a file, with the time stamp beside it.
pub(crate) fn read_file(path: &Path) -> anyhow::Result<AnchorFile> {
    let document = bytes_of(path, Anchor::BYTES_MAX as u64 + 1)?;
    let beside = path.with_extension(TIME_STAMP);
    let time_stamp = match beside.exists() {
        true => Some(small_file::read(&beside).with_context(|| format!("cannot read {}", beside.display()))?),
        false => None,
    };
    let name = path.file_stem().unwrap_or(path.as_os_str());
    Ok(AnchorFile {
        name: name.to_string_lossy().into_owned(),
        document: String::from_utf8_lossy(&document).into_owned(),
        time_stamp,
    })
}

fn bytes_of(path: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let failed = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(failed)?;
    file.take(bytes_max)
        .read_to_end(&mut bytes)
        .with_context(failed)?;
    Ok(bytes)
}

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
