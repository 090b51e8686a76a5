//! The directories and names of an archive.
//!
//! ```text
//! project=<id>/environment=live/month=2026-11/000001204224-000001310720.parquet
//!                                             _manifest-000001204224-000001310720.json
//! ```

use crate::manifest::parse_month;
use audit_domain::{LogName, Month};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The file in the directory of an archive that one `create` at a time locks.
pub const LOCK: &str = "_lock";
/// The file in the directory of an archive that is there until `create --from` has taken all events from an older one.
pub const FROM: &str = "_from";
/// A file of a log that is being written. No reader of Parquet takes it for one.
pub const NEW_FILE: &str = "_file.new";
/// A manifest of a log that is being written.
pub const NEW_MANIFEST: &str = "_manifest.new";

/// Most bytes of a manifest: one of a file all of whose events were removed has 86 MB.
pub const MANIFEST_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The directory of a log.
pub fn log_directory(archive: &Path, log: &LogName) -> PathBuf {
    let (project, environment) = log.as_str().split_once('/').unwrap_or_default();
    archive
        .join(format!("project={project}"))
        .join(format!("environment={environment}"))
}

/// A file and its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The month of its events.
    pub month: Month,
    /// Its positions.
    pub seqs: Range<u64>,
}

impl Part {
    fn path(&self, log_directory: &Path, name: &str) -> PathBuf {
        log_directory.join(format!("month={}", self.month)).join(name)
    }

    /// The path of the file.
    pub fn file(&self, log_directory: &Path) -> PathBuf {
        self.path(log_directory, &self.file_name())
    }

    /// Opens the file for reading.
    ///
    /// # Errors
    /// When it cannot be opened; the error names it.
    pub fn open(&self, log_directory: &Path) -> io::Result<File> {
        let path = self.file(log_directory);
        File::open(&path).map_err(|error| named(&error, &path))
    }

    /// The path of the manifest.
    pub fn manifest(&self, log_directory: &Path) -> PathBuf {
        self.path(log_directory, &self.manifest_name())
    }

    /// The text of the manifest.
    ///
    /// # Errors
    /// When it cannot be read; [`io::ErrorKind::InvalidData`] when it is larger than any, or not UTF-8.
    pub fn read_manifest(&self, log_directory: &Path) -> io::Result<String> {
        let mut text = String::new();
        let path = self.manifest(log_directory);
        let file = File::open(&path).map_err(|error| named(&error, &path))?;
        let read = file.take(MANIFEST_BYTES_MAX).read_to_string(&mut text);
        match read.map_err(|error| named(&error, &path))? as u64 == MANIFEST_BYTES_MAX {
            true => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the manifest is too large",
            )),
            false => Ok(text),
        }
    }

    fn file_name(&self) -> String {
        let Range { start, end } = self.seqs;
        format!("{start:012}-{end:012}.parquet")
    }

    fn manifest_name(&self) -> String {
        let Range { start, end } = self.seqs;
        format!("_manifest-{start:012}-{end:012}.json")
    }

    /// The part that a name below the directory of a log belongs to, such as that of an object in a bucket, and whether it is that
    /// of the manifest.
    pub fn of_path(path: &str) -> Option<(Self, bool)> {
        let (month, name) = path.strip_prefix("month=")?.split_once('/')?;
        Self::of_name(parse_month(month)?, name)
    }

    /// The part that a name in the directory of a month belongs to, and whether it is that of the manifest.
    fn of_name(month: Month, name: &str) -> Option<(Self, bool)> {
        let stem = name.strip_suffix(".parquet");
        let range = stem.or_else(|| name.strip_prefix("_manifest-")?.strip_suffix(".json"))?;
        let (start, end) = range.split_once('-')?;
        let seqs = start.parse().ok()?..end.parse().ok()?;
        let part = Self { month, seqs };
        let is_manifest = stem.is_none();
        let expected = match is_manifest {
            true => part.manifest_name(),
            false => part.file_name(),
        };
        (name == expected).then_some((part, is_manifest))
    }
}

/// What the directory of a log has.
#[derive(Debug, Default)]
pub struct Listing {
    /// The parts with a manifest, by their first position.
    pub parts: BTreeMap<u64, Part>,
    /// Files without a manifest: `create` was killed before it wrote that.
    pub unfinished: Vec<Part>,
    /// What is none of an archive.
    pub others: Vec<PathBuf>,
}

/// Lists the directory of a log. It is empty where there is none.
///
/// # Errors
/// When the directory cannot be read.
pub fn list(log_directory: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut files = Vec::new();
    for (name, path) in entries(log_directory)? {
        if [NEW_FILE, NEW_MANIFEST].contains(&name.as_str()) && !path.is_dir() {
            continue;
        }
        let Some(month) = name.strip_prefix("month=").and_then(parse_month) else {
            listing.others.push(path);
            continue;
        };
        for (name, path) in entries(&path)? {
            match Part::of_name(month, &name) {
                Some((part, false)) => files.push(part),
                Some((part, true)) => match listing.parts.entry(part.seqs.start) {
                    std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(part)),
                    std::collections::btree_map::Entry::Occupied(_) => listing.others.push(path),
                },
                None => listing.others.push(path),
            }
        }
    }
    files.retain(|file| listing.parts.get(&file.seqs.start) != Some(file));
    listing.unfinished = files;
    Ok(listing)
}

/// The logs of an archive, and what is none of it.
///
/// # Errors
/// When the directory does not exist or cannot be read.
pub fn logs(archive: &Path) -> io::Result<(Vec<LogName>, Vec<PathBuf>)> {
    fs::metadata(archive).map_err(|error| named(&error, archive))?;
    let (mut logs, mut others) = (Vec::new(), Vec::new());
    for (project, path) in entries(archive)? {
        if [LOCK, FROM].contains(&project.as_str()) && !path.is_dir() {
            continue;
        }
        let Some(project) = project.strip_prefix("project=") else {
            others.push(path);
            continue;
        };
        for (environment, path) in entries(&path)? {
            let environment = environment.strip_prefix("environment=");
            match environment.and_then(|environment| LogName::parse(project, environment)) {
                Some(log) => logs.push(log),
                None => others.push(path),
            }
        }
    }
    Ok((logs, others))
}

/// Whether `create --from` has begun an archive and has not ended.
///
/// # Errors
/// When that cannot be found out.
pub fn is_unfinished(archive: &Path) -> io::Result<bool> {
    let path = archive.join(FROM);
    path.try_exists().map_err(|error| named(&error, &path))
}

/// The error with the path that it is about.
fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The entries of a directory, by name; none where it does not exist. A name that is not UTF-8 is shown as well as it can be.
fn entries(directory: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let read = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        read => read.map_err(|error| named(&error, directory))?,
    };
    read.map(|entry| {
        let entry = entry.map_err(|error| named(&error, directory))?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.path()))
    })
    .collect()
}
