//! Disks: their space, and what kind of file system they have. The limit of open files.

use super::{Finding, Severity, Subject, finding};
use crate::OPEN_FILES_MIN;
use anyhow::Context;
use audit_store::DatabaseUrl;
use rustix::fs::{StatVfs, statfs, statvfs};
use rustix::process::{Resource, getrlimit};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const GIB: u64 = 1 << 30;
/// Less free space than this is an error.
const FREE_BYTES_MIN: u64 = GIB;
/// A smaller part of the disk that is free is a warning, unless as much as [`FREE_BYTES_ENOUGH`] is free.
const FREE_PERCENT_MIN: u64 = 10;
const FREE_BYTES_ENOUGH: u64 = 50 * GIB;

/// File systems on which the locks of SQLite do not hold, by the numbers that `statfs` returns (linux/magic.h).
const NETWORK_FILE_SYSTEMS: [(i64, &str); 6] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB 2"),
    (0x0102_1997, "9P"),
    (0x0bd0_0bd0, "Lustre"),
];
/// A file system in memory.
const TMPFS: i64 = 0x0102_1994;

pub(super) fn space(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let options = subject.options;
    let state = directory_of(&options.database.signer_file()?);
    let mut directories = vec![("the state directory", state.clone())];
    let mut findings = Vec::new();
    if let DatabaseUrl::Sqlite(path) = options.database.url()? {
        let database = directory_of(&path);
        if is_same_disk(&database, &state)? {
            findings.push(finding(
                Severity::Note,
                "the state directory is on the disk of the database: an old copy of the disk restores both",
                "put --state-directory on another disk",
            ));
        }
        directories.push(("the database", database));
    }
    if let Some(directory) = options.backups.directory() {
        directories.push(("the backups", directory.to_owned()));
    }
    for (name, directory) in directories {
        // It is created by the first start.
        if !directory.exists() {
            continue;
        }
        let failed = || format!("cannot examine the disk of {}", directory.display());
        let disk = statvfs(&directory).with_context(failed)?;
        findings.extend(of_space(name, &directory, free_and_total(&disk)));
        let kind = statfs(&directory).with_context(failed)?.f_type;
        findings.extend(of_kind(name, &directory, kind));
    }
    Ok(findings)
}

fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn is_same_disk(one: &Path, other: &Path) -> anyhow::Result<bool> {
    if !one.exists() || !other.exists() {
        return Ok(false);
    }
    Ok(std::fs::metadata(one)?.dev() == std::fs::metadata(other)?.dev())
}

/// The bytes that the service may use, and all.
fn free_and_total(disk: &StatVfs) -> (u64, u64) {
    (
        disk.f_bavail.saturating_mul(disk.f_frsize),
        disk.f_blocks.saturating_mul(disk.f_frsize),
    )
}

fn of_space(name: &str, directory: &Path, (free, total): (u64, u64)) -> Option<Finding> {
    let percent = free.saturating_mul(100) / total.max(1);
    let severity = if free < FREE_BYTES_MIN {
        Severity::Error
    } else if percent < FREE_PERCENT_MIN && free < FREE_BYTES_ENOUGH {
        Severity::Warning
    } else {
        return None;
    };
    let gib = |bytes: u64| bytes as f64 / GIB as f64;
    Some(finding(
        severity,
        format!(
            "the disk of {name} ({}) has {:.1} GiB free of {:.1} GiB",
            directory.display(),
            gib(free),
            gib(total)
        ),
        "free or add space: a full disk stops all writes (docs/design/faults.md)",
    ))
}

fn of_kind(name: &str, directory: &Path, kind: i64) -> Option<Finding> {
    let shown = directory.display();
    if kind == TMPFS {
        return Some(finding(
            Severity::Error,
            format!("{name} ({shown}) is in memory: it is lost when the machine restarts"),
            "use a directory on a disk",
        ));
    }
    let network = NETWORK_FILE_SYSTEMS.into_iter().find(|(known, _)| *known == kind);
    let (_, file_system) = network.filter(|_| name == "the database")?;
    Some(finding(
        Severity::Error,
        format!(
            "{name} ({shown}) is on a network file system ({file_system}), on which SQLite's locks do not hold"
        ),
        "use a local disk, or PostgreSQL",
    ))
}

pub(super) fn open_files(_: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    // The server raises its limit to the hard one.
    Ok(of_open_files(getrlimit(Resource::Nofile).maximum)
        .into_iter()
        .collect())
}

fn of_open_files(limit: Option<u64>) -> Option<Finding> {
    let limit = limit.filter(|limit| *limit < OPEN_FILES_MIN)?;
    Some(finding(
        Severity::Warning,
        format!("this user may open {limit} files: the server accepts few connections"),
        format!("set LimitNOFILE= of the unit, or `ulimit -Hn`, to at least {OPEN_FILES_MIN}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_space_is_found_before_the_disk_is_full() {
        let severity = |free, total| {
            let found = of_space("the database", Path::new("/d"), (free, total));
            found.map(|finding| finding.severity)
        };
        assert_eq!(severity(GIB - 1, 4 * GIB), Some(Severity::Error));
        assert_eq!(severity(GIB, 10 * GIB), None);
        assert_eq!(severity(GIB, 11 * GIB), Some(Severity::Warning));
        assert_eq!(severity(FREE_BYTES_ENOUGH, 10_000 * GIB), None);
        assert_eq!(severity(0, 0), Some(Severity::Error));
    }

    #[test]
    fn a_database_in_memory_or_on_a_network_is_found() {
        let of = |name, kind| of_kind(name, Path::new("/d"), kind).is_some();
        assert!(of("the database", 0x6969) && of("the database", TMPFS) && of("the backups", TMPFS));
        assert!(!of("the backups", 0x6969), "backups may be on a network");
        assert!(!of("the database", 0xef53), "ext4");
    }

    #[test]
    fn few_open_files_are_found() {
        assert!(of_open_files(Some(OPEN_FILES_MIN - 1)).is_some());
        assert_eq!(of_open_files(Some(OPEN_FILES_MIN)), None);
        assert_eq!(of_open_files(None), None);
    }
}
