//! The state file: an auditor's data between audits.

use anyhow::{Context, ensure};
use audit_cli::small_file;
use audit_ledger::{Frontier, Hash, KeyRotation, Origin, SignedCheckpoint, VerifierKey};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const VERSION: u64 = 1;

/// The state after an audit: two kilobytes, whatever the size of the log.
pub(crate) struct State {
    /// The key that signs the checkpoints.
    pub(crate) key: VerifierKey,
    /// The statements that lead to the key from the first one that was trusted.
    pub(crate) rotations: Vec<KeyRotation>,
    /// The name of the log.
    pub(crate) origin: Origin,
    /// The last checkpoint, with its signatures.
    pub(crate) note: String,
    /// The right edge of its tree.
    pub(crate) frontier: Frontier,
    /// The feed cursor behind its last event.
    pub(crate) cursor: Option<String>,
}

impl State {
    pub(super) fn new(
        (key, rotations): (VerifierKey, Vec<KeyRotation>),
        checkpoint: &SignedCheckpoint,
        frontier: Frontier,
        cursor: Option<String>,
    ) -> Self {
        Self {
            key,
            rotations,
            origin: checkpoint.checkpoint().origin().clone(),
            note: checkpoint.note().to_owned(),
            frontier,
            cursor,
        }
    }

    /// Reads the file. `None`: there is none yet.
    pub(crate) fn load(path: &Path) -> anyhow::Result<Option<Self>> {
        let shown = path.display();
        let text = small_file::read_text_if_any(path).with_context(|| format!("cannot read {shown}"))?;
        let state = text.map(|text| Self::read(&text)).transpose();
        state.with_context(|| format!("{shown} is not a valid state file"))
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        ensure!(value["version"] == VERSION, "unknown version");
        let text = |name: &str| value[name].as_str().with_context(|| format!("{name} is missing"));
        let key: VerifierKey = text("key")?.parse()?;
        let rotations = KeyRotation::open_all(value["rotations"].as_str().unwrap_or_default())?;
        let origin = Origin::parse(text("log")?)?;
        let note = text("checkpoint")?.to_owned();
        let signed = *SignedCheckpoint::open(&note, &origin, std::slice::from_ref(&key))?.head();
        let mut hashes = value["edge"].as_array().into_iter().flatten();
        let frontier = Frontier::read(signed.size, |_| -> anyhow::Result<Hash> {
            let hash = hashes
                .next()
                .and_then(Value::as_str)
                .context("edge is too short")?;
            Ok(hash.parse()?)
        });
        let frontier = frontier.map_err(|error| anyhow::anyhow!("{error}"))?;
        ensure!(frontier.head() == signed, "edge and checkpoint do not match");
        let cursor = value["cursor"].as_str().map(str::to_owned);
        Ok(Self {
            key,
            rotations,
            origin,
            note,
            frontier,
            cursor,
        })
    }

    /// Replaces the file. The old one stays until the new one is complete.
    pub(super) fn save(&self, path: &Path) -> anyhow::Result<()> {
        let edge: Vec<String> = self.frontier.edge().map(|(_, hash)| hash.to_string()).collect();
        let value = json!({
            "version": VERSION,
            "key": self.key.to_string(),
            "rotations": self.rotations.iter().map(KeyRotation::note).collect::<String>(),
            "log": self.origin.as_str(),
            "checkpoint": self.note,
            "edge": edge,
            "cursor": self.cursor,
        });
        replace(path, &format!("{value:#}\n")).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Replaces a file, or a link in its place. The old one stays until the new one is complete.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // Makes the new directory entry durable as well.
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_ledger::{Checkpoint, KeyName, SigningKey};

    fn state(size: u8) -> State {
        let key = SigningKey::from_seed(KeyName::parse("log").unwrap(), &[7; 32]).unwrap();
        let mut frontier = Frontier::new();
        for n in 0..size {
            frontier.append(Hash::of_leaf(&[n]));
        }
        let checkpoint = Checkpoint::new(Origin::parse("log/a").unwrap(), frontier.head());
        let cursor = Some("cursor".to_owned());
        State::new(
            (key.verifier().clone(), Vec::new()),
            &key.sign(checkpoint),
            frontier,
            cursor,
        )
    }

    #[test]
    fn a_saved_state_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert!(State::load(&path).unwrap().is_none());
        for size in [0, 1, 7, 200] {
            let state = state(size);
            state.save(&path).unwrap();
            let loaded = State::load(&path).unwrap().unwrap();
            assert_eq!(loaded.frontier, state.frontier);
            assert_eq!((loaded.key, loaded.origin), (state.key, state.origin));
            assert_eq!((loaded.note, loaded.cursor), (state.note, state.cursor));
        }
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "the temporary file is gone"
        );
    }

    #[test]
    fn a_file_is_replaced_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("state.refused"), folder.path().join("other"));
        std::fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        replace(&path, "note").unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"other");
        assert_eq!(std::fs::read(&path).unwrap(), b"note");
    }

    #[test]
    fn a_changed_state_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        state(7).save(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["edge"].as_array_mut().unwrap().swap(0, 1);
        let changes = [
            text.replace("log/a", "log/b"),
            text.replace("\\n7\\n", "\\n8\\n"),
            text.replace("\"version\": 1", "\"version\": 2"),
            value.to_string(),
            text[..100].to_owned(),
            String::new(),
        ];
        for changed in changes {
            assert_ne!(changed, text);
            std::fs::write(&path, &changed).unwrap();
            assert!(State::load(&path).is_err(), "{changed}");
        }
    }
}
