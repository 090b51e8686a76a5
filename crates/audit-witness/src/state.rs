//! The state of a witness: a directory with a key file, a lock file, and the last cosigned checkpoint of each log in
//! `<SHA-256 of the origin>.checkpoint`. Such a file is what monitors read.

use anyhow::{Context, bail};
use audit_cli::SystemEntropy;
use audit_cli::small_file;
use audit_domain::Entropy;
use audit_ledger::{
    AddCheckpoint, Cosignature, KeyName, TreeHead, VerifierKey, WitnessError, WitnessKey, WitnessSigner,
    stored_head,
};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Name and seed, one per line.
const KEY_FILE: &str = "key";
const LOCK_FILE: &str = "lock";
const SUFFIX: &str = ".checkpoint";

/// An open state. One process at a time.
pub(super) struct WitnessState {
    directory: PathBuf,
    signer: WitnessSigner,
    logs: Vec<VerifierKey>,
    logs_max: usize,
    /// The number of stored checkpoints by the name of the key. Its lock is held from the moment a checkpoint is read until the
    /// next one is stored.
    counts: Mutex<BTreeMap<String, usize>>,
    /// Locked.
    _lock: File,
}

/// Why a checkpoint was not cosigned.
pub(super) enum Refusal {
    /// By the rules of the protocol.
    Witness(WitnessError),
    /// The key has as many logs as the witness accepts.
    TooManyLogs,
    /// The state cannot be read or written. Nothing was cosigned.
    State(io::Error),
}

impl From<WitnessError> for Refusal {
    fn from(error: WitnessError) -> Self {
        Self::Witness(error)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::State(error)
    }
}

impl WitnessState {
    /// Opens the directory; creates it, with a key of this name, if it does not exist.
    pub(super) fn open(
        directory: &Path,
        name: Option<KeyName>,
        logs: Vec<VerifierKey>,
        logs_max: usize,
    ) -> anyhow::Result<Self> {
        let shown = directory.display();
        let mut create = std::fs::DirBuilder::new();
        create.recursive(true).mode(0o700);
        create
            .create(directory)
            .with_context(|| format!("cannot create {shown}"))?;
        let lock = private().open(directory.join(LOCK_FILE));
        let lock = lock.with_context(|| format!("cannot open {shown}/{LOCK_FILE}"))?;
        if lock.try_lock().is_err() {
            bail!("another witness uses {shown}");
        }
        let signer = open_key(directory, name)?;
        let state = Self {
            directory: directory.to_owned(),
            signer,
            logs,
            logs_max,
            counts: Mutex::default(),
            _lock: lock,
        };
        state.count().with_context(|| format!("cannot read {shown}"))?;
        Ok(state)
    }

    /// The public key.
    pub(super) const fn key(&self) -> &WitnessKey {
        self.signer.key()
    }

    /// Cosigns a checkpoint and stores it durably.
    pub(super) fn add(&self, request: &AddCheckpoint, time: u64) -> Result<Cosignature, Refusal> {
        let origin = request.origin()?;
        let log = self.log_of(&origin).ok_or(WitnessError::UnknownLog)?;
        let path = self.path(&hash(&origin));
        let mut counts = self.counts.lock();
        let stored = small_file::read_text_if_any(&path)?;
        let last = match &stored {
            None => TreeHead::of_empty_tree(),
            Some(note) => stored_head(note).map_err(io::Error::other)?,
        };
        let witnessed = request.witness(&last, log, &self.signer, time)?;
        let count = counts.entry(log.name().to_string()).or_default();
        if stored.is_none() {
            if *count >= self.logs_max {
                return Err(Refusal::TooManyLogs);
            }
            *count += 1;
        }
        replace(&path, &witnessed.note)?;
        Ok(witnessed.cosignature)
    }

    /// The last checkpoint of a log, by the SHA-256 of its origin in hexadecimal.
    pub(super) fn checkpoint(&self, origin_hash: &str) -> io::Result<Option<String>> {
        let is_hash = origin_hash.len() == 64
            && origin_hash
                .bytes()
                .all(|byte| b"0123456789abcdef".contains(&byte));
        match is_hash {
            true => small_file::read_text_if_any(&self.path(origin_hash)),
            false => Ok(None),
        }
    }

    /// The key of the deployment that a log belongs to.
    fn log_of(&self, origin: &str) -> Option<&VerifierKey> {
        self.logs.iter().find(|log| {
            let rest = origin.strip_prefix(log.name().as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Counts the stored checkpoints.
    fn count(&self) -> anyhow::Result<()> {
        let mut counts = self.counts.lock();
        for entry in std::fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if !path.to_string_lossy().ends_with(SUFFIX) {
                continue;
            }
            let note = small_file::read_text(&path)?;
            stored_head(&note).with_context(|| format!("{} is damaged", path.display()))?;
            let origin = note.split('\n').next().unwrap_or_default();
            if let Some(log) = self.log_of(origin) {
                *counts.entry(log.name().to_string()).or_default() += 1;
            }
        }
        Ok(())
    }

    fn path(&self, origin_hash: &str) -> PathBuf {
        self.directory.join(format!("{origin_hash}{SUFFIX}"))
    }
}

/// The key of the directory; made and stored if there is none.
fn open_key(directory: &Path, name: Option<KeyName>) -> anyhow::Result<WitnessSigner> {
    let path = directory.join(KEY_FILE);
    let shown = path.display();
    if let Some(text) = small_file::read_text_if_any(&path).with_context(|| format!("cannot read {shown}"))? {
        let (stored, seed) = text
            .trim_end()
            .split_once('\n')
            .with_context(|| format!("{shown} is damaged"))?;
        let mut bytes = [0; 32];
        let decoded = base16ct::lower::decode(seed, &mut bytes);
        if !decoded.is_ok_and(|decoded| decoded.len() == 32) {
            bail!("{shown} is damaged");
        }
        let stored = KeyName::parse(stored).with_context(|| format!("{shown} is damaged"))?;
        if name.is_some_and(|name| name != stored) {
            bail!("the witness of {} has the name {stored}", directory.display());
        }
        return Ok(WitnessSigner::from_seed(stored, &bytes)?);
    }
    let name = name.context("the first start needs --name")?;
    let entropy: &dyn Entropy = &SystemEntropy;
    let seed: [u8; 32] = entropy.bytes();
    let signer = WitnessSigner::from_seed(name.clone(), &seed)?;
    let text = format!("{name}\n{}\n", base16ct::lower::encode_string(&seed));
    replace(&path, &text).with_context(|| format!("cannot write {shown}"))?;
    Ok(signer)
}

/// The name of a log's file.
fn hash(origin: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(origin.as_bytes()))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    options
}

/// Replaces a file durably: after a crash it has either text as a whole.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    // With mode 600.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}
