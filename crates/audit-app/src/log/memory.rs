//! The signer's memory: for every log, the last checkpoint that this node has signed or seen published, with its tree, and the heads
//! that it could not sign. It is kept outside of the database, so that write access to the database alone makes no node sign a second
//! history, or one that lacks events which were acknowledged while the log could not be signed.
//!
//! The file is appended to: one line for each signing round, a checksum and the round's notes and heads as JSON. It is synced before a
//! note is stored in the database or handed out. When most of it is outdated it is replaced by a new file. A line that was
//! interrupted by a crash is the last one; none of its notes was stored or returned to a client, so the line is dropped.

use audit_ledger::{Frontier, Hash, TreeHead};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first line of the file.
const HEADER: &str = "audit-server signed checkpoints, version 2";
/// The file is replaced when it is larger than this and [`OUTDATED_FACTOR`] times its content.
const OUTDATED_BYTES_MIN: u64 = 1024 * 1024;
const OUTDATED_FACTOR: u64 = 4;
/// The maximum number of heads that are remembered of a log that cannot be signed. The first ones alone keep a log from being signed
/// that was cut off before them.
const UNSIGNED_MAX: usize = 100;

/// What this node knows of every log, by origin: some 1,000 bytes for each.
#[derive(Debug)]
pub struct SignerMemory {
    inner: Mutex<Inner>,
    is_new: bool,
    /// Locked as long as the process runs. A file of its own, because the state file is replaced.
    _lock: File,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    file: File,
    /// The size of the file, and the size that it had when it was replaced last.
    bytes: u64,
    replaced_bytes: u64,
    /// Whether the file may end with an incomplete line.
    is_damaged: bool,
    known: Known,
}

type Known = HashMap<Box<str>, Remembered>;

/// What a node knows of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The last checkpoint that it has signed or seen published.
    pub signed: Option<Signed>,
    /// Larger heads that the service wrote and the node could not sign, in the order in which it found them. Their events were
    /// acknowledged, so the log must continue each of them before it is signed again.
    pub unsigned: Vec<TreeHead>,
}

/// A signed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The note.
    pub note: Arc<str>,
    /// The right edge of its tree. The leaves that follow lead from it to every later tree, whatever the stored tiles are.
    pub tree: Frontier,
}

impl Remembered {
    /// The note of the last checkpoint.
    pub fn note(&self) -> Option<&Arc<str>> {
        self.signed.as_ref().map(|signed| &signed.note)
    }

    /// The size of the largest tree that the node knows.
    pub fn size(&self) -> u64 {
        let signed = self.signed.as_ref().map(|signed| signed.tree.size());
        let unsigned = self.unsigned.iter().map(|head| head.size);
        signed.into_iter().chain(unsigned).max().unwrap_or(0)
    }

    /// The largest size at which the log could not be signed; 0 if it could.
    pub fn unsigned_size(&self) -> u64 {
        self.unsigned.iter().map(|head| head.size).max().unwrap_or(0)
    }

    /// As the entries of a line, which [`Self::add`] reads.
    fn entries<'a>(&'a self, origin: &'a str) -> impl Iterator<Item = Value> + 'a {
        let signed = self
            .signed
            .iter()
            .map(|signed| json!({"note": &*signed.note, "tree": STANDARD.encode(signed.tree.encode())}));
        let unsigned = self.unsigned.iter().map(
            move |head| json!({"log": origin, "size": head.size, "root": STANDARD.encode(head.root.as_bytes())}),
        );
        signed.chain(unsigned)
    }

    /// Adds an entry of a line to what is known; none where it is not one.
    fn add(known: &mut Known, entry: &Value) -> Option<()> {
        let bytes = |name: &str| STANDARD.decode(entry[name].as_str()?).ok();
        if let Some(note) = entry["note"].as_str() {
            let tree = Frontier::decode(&bytes("tree")?).ok()?;
            let signed = Some(Signed {
                note: note.into(),
                tree,
            });
            let unsigned = Vec::new();
            known.insert(note.lines().next()?.into(), Self { signed, unsigned });
        } else {
            let root = Hash::from_bytes(bytes("root")?.try_into().ok()?);
            let size = entry["size"].as_u64()?;
            let of_log = known.entry(entry["log"].as_str()?.into()).or_default();
            of_log.unsigned.push(TreeHead { size, root });
        }
        Some(())
    }
}

/// A note that takes the place of another one.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) origin: Box<str>,
    /// What it was proven to continue.
    pub(super) before: Remembered,
    pub(super) signed: Signed,
}

/// The state file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SignerMemoryError {
    /// Another process has it.
    #[error("{} is in use by another server; each server needs a state directory of its own", .0.display())]
    InUse(PathBuf),
    /// It is not as this program wrote it.
    #[error(
        "{} is damaged in line {line}; restore it, or remove it to begin with the checkpoints in the database, after \
         `audit-server log verify` and an audit",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// It cannot be read or written.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

type Result<T, E = SignerMemoryError> = std::result::Result<T, E>;

impl SignerMemory {
    /// Opens the file at `path`, which no other process may have open, or creates it with its directory.
    ///
    /// # Errors
    /// [`SignerMemoryError`] names the cause.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |source| SignerMemoryError::Io {
            path: path.to_owned(),
            source,
        };
        std::fs::create_dir_all(folder_of(path)).map_err(failed)?;
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = private()
            .create(true)
            .truncate(false)
            .open(name)
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SignerMemoryError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let stored = read(path)?;
        let is_new = stored.is_none();
        let (known, is_damaged) = stored.unwrap_or_default();
        let (file, bytes) = match is_new || is_damaged {
            true => replace(path, &known).map_err(failed)?,
            false => {
                let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
                let bytes = file.metadata().map_err(failed)?.len();
                (file, bytes)
            }
        };
        let inner = Inner {
            path: path.to_owned(),
            file,
            bytes,
            replaced_bytes: bytes,
            is_damaged: false,
            known,
        };
        Ok(Self {
            inner: Mutex::new(inner),
            is_new,
            _lock: lock,
        })
    }

    /// What the file at `path` has, by origin, also while another process has it open. None where there is no file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(path: &Path) -> Result<Option<HashMap<Box<str>, Remembered>>> {
        Ok(read(path)?.map(|(known, _)| known))
    }

    /// Whether there was no file: then the node knows nothing of what it has signed before.
    pub const fn is_new(&self) -> bool {
        self.is_new
    }

    /// What is known of a log.
    pub(super) fn get(&self, origin: &str) -> Remembered {
        self.inner.lock().known.get(origin).cloned().unwrap_or_default()
    }

    /// The last note of a log.
    pub(super) fn note(&self, origin: &str) -> Option<Arc<str>> {
        self.inner.lock().known.get(origin)?.note().map(Arc::clone)
    }

    /// Some of the last notes of logs whose origin begins like this.
    pub(super) fn notes_of(&self, prefix: &str, max: usize) -> Vec<Arc<str>> {
        let inner = self.inner.lock();
        let known = inner
            .known
            .iter()
            .filter(|(origin, _)| origin.starts_with(prefix));
        known
            .filter_map(|(_, known)| known.note().map(Arc::clone))
            .take(max)
            .collect()
    }

    /// Remembers the notes that continue what is known; returns for each whether it does. They are on disk when it returns.
    ///
    /// # Errors
    /// When the file cannot be written. Then nothing has changed.
    pub(super) fn commit(&self, changes: &[Change]) -> Result<Vec<bool>> {
        let mut inner = self.inner.lock();
        let nothing = Remembered::default();
        let is_next = |change: &Change| *inner.known.get(&change.origin).unwrap_or(&nothing) == change.before;
        let accepted: Vec<bool> = changes.iter().map(is_next).collect();
        let next = changes.iter().zip(&accepted).filter(|(_, accepted)| **accepted);
        let next = next.map(|(change, _)| {
            let signed = Some(change.signed.clone());
            let unsigned = Vec::new();
            (change.origin.clone(), Remembered { signed, unsigned })
        });
        let next: Vec<_> = next.collect();
        if !next.is_empty() {
            let entries = next.iter().flat_map(|(origin, known)| known.entries(origin));
            let line = line_of(entries);
            inner.store(&line, next)?;
        }
        Ok(accepted)
    }

    /// Remembers the head of a log that cannot be signed, if it is larger than what was signed. It is on disk when it returns.
    ///
    /// # Errors
    /// When the file cannot be written. Then nothing has changed.
    pub(super) fn acknowledge(&self, origin: &str, head: TreeHead) -> Result<()> {
        let mut inner = self.inner.lock();
        let mut known = inner.known.get(origin).cloned().unwrap_or_default();
        let signed = known.signed.as_ref().map_or(0, |signed| signed.tree.size());
        let is_known = head.size <= signed || known.unsigned.contains(&head);
        if is_known || known.unsigned.len() >= UNSIGNED_MAX {
            return Ok(());
        }
        let signed = None;
        let unsigned = vec![head];
        let line = line_of(Remembered { signed, unsigned }.entries(origin));
        known.unsigned.push(head);
        inner.store(&line, vec![(origin.into(), known)])
    }
}

impl Inner {
    /// Stores what is known of some logs, of which `line` is what is new.
    fn store(&mut self, line: &str, changed: Vec<(Box<str>, Remembered)>) -> Result<()> {
        let bytes = self.bytes + line.len() as u64;
        let is_outdated = bytes > OUTDATED_BYTES_MIN.max(OUTDATED_FACTOR * self.replaced_bytes);
        let written = match self.is_damaged || is_outdated {
            true => self.replace(&changed),
            false => self.append(line),
        };
        if let Err(source) = written {
            // How much of the line is in the file is unknown.
            self.is_damaged = true;
            let path = self.path.clone();
            return Err(SignerMemoryError::Io { path, source });
        }
        self.known.extend(changed);
        Ok(())
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn replace(&mut self, changed: &[(Box<str>, Remembered)]) -> io::Result<()> {
        let mut known = self.known.clone();
        known.extend(changed.iter().cloned());
        let (file, bytes) = replace(&self.path, &known)?;
        (self.file, self.bytes, self.replaced_bytes) = (file, bytes, bytes);
        self.is_damaged = false;
        Ok(())
    }
}

/// Options to write a file that is for its owner only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// A line of the file.
fn line_of(entries: impl Iterator<Item = Value>) -> String {
    let json = Value::from_iter(entries).to_string();
    format!("{} {json}\n", Hash::of_leaf(json.as_bytes()))
}

/// Reads a line of the file, without its line break.
fn read_line(line: &[u8]) -> Option<Vec<Value>> {
    let line = std::str::from_utf8(line).ok()?;
    let (checksum, json) = line.split_once(' ')?;
    if Hash::of_leaf(json.as_bytes()).to_string() != checksum {
        return None;
    }
    serde_json::from_str(json).ok()
}

/// Reads the file, and whether its last line is incomplete. None where there is no file.
fn read(path: &Path) -> Result<Option<(Known, bool)>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let path = path.to_owned();
            return Err(SignerMemoryError::Io { path, source });
        }
    };
    let damaged = |line| SignerMemoryError::Damaged {
        path: path.to_owned(),
        line,
    };
    let mut known = Known::new();
    let mut lines = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
        .peekable();
    let header = lines.next().map(|(_, line)| line);
    if header != Some(format!("{HEADER}\n").as_bytes()) {
        return Err(damaged(1));
    }
    while let Some((index, line)) = lines.next() {
        let entries = line.strip_suffix(b"\n").and_then(read_line);
        let Some(entries) = entries else {
            return match lines.peek() {
                None => Ok(Some((known, true))),
                Some(_) => Err(damaged(index + 1)),
            };
        };
        for entry in &entries {
            Remembered::add(&mut known, entry).ok_or_else(|| damaged(index + 1))?;
        }
    }
    Ok(Some((known, false)))
}

/// Replaces the file. The old one stays until the new one is complete. Returns the file, open at its end, and its size.
fn replace(path: &Path, known: &Known) -> io::Result<(File, u64)> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let mut text = format!("{HEADER}\n");
    if !known.is_empty() {
        let entries = known.iter().flat_map(|(origin, known)| known.entries(origin));
        text.push_str(&line_of(entries));
    }
    // What a crash has left, or a link that another user has put there.
    match std::fs::remove_file(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().create_new(true).open(&name)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&name, path)?;
    // Makes the new directory entry durable as well.
    File::open(folder_of(path))?.sync_all()?;
    Ok((file, text.len() as u64))
}

#[cfg(test)]
mod tests;
