//! The key that authenticates the heads of ledgers: derived from the encryption key, or in a file of its own.

use crate::system::SystemEntropy;
use audit_app::{HeadKey, HeadKeyId};
use audit_domain::Entropy;
use audit_store::{HeadKeys, StoreError};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The keys of heads that this node has.
pub(crate) struct NodeKeys {
    pub(crate) derived: Option<HeadKey>,
    /// The file of a key, which need not exist.
    pub(crate) file: PathBuf,
    pub(crate) is_file_given: bool,
}

impl NodeKeys {
    /// All of them, the preferred one first.
    pub(crate) fn all(&self) -> Result<Vec<HeadKey>, StoreError> {
        let stored = read(&self.file).map_err(|error| self.unusable(&error))?;
        let mut keys: Vec<HeadKey> = self.derived.iter().cloned().chain(stored).collect();
        if self.is_file_given {
            keys.reverse();
        }
        Ok(keys)
    }

    fn unusable(&self, error: &io::Error) -> StoreError {
        StoreError::HeadKey(format!("cannot use {}: {error}", self.file.display()))
    }
}

impl HeadKeys for NodeKeys {
    /// A new deployment gets the key of the given file, or else the derived one, or else a new file.
    fn choose(&self, id: Option<HeadKeyId>) -> Result<HeadKey, StoreError> {
        let keys = self.all()?;
        if let Some(id) = id {
            let found = keys.into_iter().find(|key| key.id() == id);
            return found.ok_or_else(|| {
                StoreError::HeadKey(format!(
                    "this node does not have the key {id}, which authenticates the heads of the logs: give it the \
                     AUDIT_ENCRYPTION_KEY of the other nodes, or a copy of their key file as {}",
                    self.file.display()
                ))
            });
        }
        if self.is_file_given || keys.is_empty() {
            let created = create(&self.file).map_err(|error| self.unusable(&error))?;
            return Ok(created);
        }
        keys.into_iter()
            .next()
            .ok_or_else(|| StoreError::HeadKey("there is no key".to_owned()))
    }
}

/// Reads the key in a file; none where there is no file.
fn read(path: &Path) -> io::Result<Option<HeadKey>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = [0; HeadKey::BYTES];
    match base16ct::mixed::decode(text.trim_end(), &mut bytes) {
        Ok(decoded) if decoded.len() == HeadKey::BYTES => Ok(Some(HeadKey::new(&bytes))),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it does not have 64 hexadecimal digits",
        )),
    }
}

/// Creates a file with a new key, which only its owner can read, unless there is one.
fn create(path: &Path) -> io::Result<HeadKey> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let mut bytes = [0; HeadKey::BYTES];
    SystemEntropy.fill(&mut bytes);
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&name)?;
    writeln!(file, "{}", base16ct::lower::encode_string(&bytes))?;
    file.sync_all()?;
    // A link takes the name only if no other process has.
    let linked = std::fs::hard_link(&name, path);
    std::fs::remove_file(&name)?;
    File::open(folder)?.sync_all()?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => read(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)),
    }
}
