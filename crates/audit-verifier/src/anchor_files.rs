//! Reads anchors from files.

use anyhow::{Context, bail};
use audit_cli::small_file;
use audit_ledger::{Anchor, AnchorFile};
use audit_timestamp::TimeStampRoots;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The extensions of the files.
const DOCUMENT: &str = "anchor";
const TIME_STAMP: &str = "tsr";

/// The anchors in these directories, and these files, each with the time stamp beside it.
///
/// # Errors
/// When there is none, or one cannot be read.
pub fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<AnchorFile>> {
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
///
/// # Errors
/// When the file, or the one beside it, cannot be read.
pub fn read_file(path: &Path) -> anyhow::Result<AnchorFile> {
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

/// The root certificates of time-stamp authorities in a file.
///
/// # Errors
/// When the file cannot be read, or has no certificates.
pub fn time_stamp_roots(file: &Path) -> anyhow::Result<TimeStampRoots> {
    let pem = small_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    TimeStampRoots::from_pem(&pem).context("--timestamp-ca")
}
