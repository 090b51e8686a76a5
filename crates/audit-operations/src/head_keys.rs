//! The key that authenticates the heads of ledgers: in the database, encrypted with the encryption key, or in a file of its own.

use crate::key_files;
use audit_app::{HeadKey, KeyRing, Secret, SecretFailure, head_key_place};
use audit_cli::SystemEntropy;
use audit_cli::small_file;
use audit_domain::Entropy;
use audit_store::{ChosenHeadKey, HeadKeys, StoreError, StoredHeadKey};
use std::io;
use std::path::{Path, PathBuf};

/// The keys of heads that this node has.
pub(crate) struct NodeKeys {
    pub(crate) encryption: KeyRing,
    /// The file of a key, which need not exist.
    pub(crate) file: PathBuf,
    pub(crate) is_file_given: bool,
}

impl NodeKeys {
    /// The key in the file, if there is one.
    pub(crate) fn in_file(&self) -> Result<Option<HeadKey>, StoreError> {
        read(&self.file).map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &io::Error) -> StoreError {
        StoreError::HeadKey(format!("cannot use {}: {error}", self.file.display()))
    }

    /// The key for the database, with its stored form.
    fn sealed(&self, secret: &Secret) -> ChosenHeadKey {
        let sealed = self
            .encryption
            .seal(secret.as_bytes(), &head_key_place(), random());
        ChosenHeadKey {
            key: key_of(secret),
            sealed: Some(sealed),
        }
    }

    /// The key of a new deployment: that of the given file, or one that is stored encrypted, or else that of a new file.
    fn new_key(&self) -> Result<ChosenHeadKey, StoreError> {
        if !self.is_file_given && self.encryption.current_id().is_some() {
            return Ok(self.sealed(&Secret::new(random())));
        }
        let key = create(&self.file).map_err(|error| self.unusable(&error))?;
        Ok(ChosenHeadKey { key, sealed: None })
    }

    /// Opens the key that the database has.
    fn open(&self, sealed: &[u8]) -> Result<HeadKey, StoreError> {
        let place = head_key_place();
        let opened = self.encryption.open_only_sealed(sealed, &place);
        let opened =
            opened.map_err(|error| StoreError::HeadKey(SecretFailure { place, error }.to_string()))?;
        Ok(key_of(&opened))
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemEntropy.fill(&mut bytes);
    bytes
}

fn key_of(secret: &Secret) -> HeadKey {
    HeadKey::new(secret.as_bytes())
}

impl HeadKeys for NodeKeys {
    /// An existing deployment keeps the key that it has. It is never one in plain text in the database: its writer could choose that.
    fn choose(&self, stored: &StoredHeadKey) -> Result<ChosenHeadKey, StoreError> {
        let Some(id) = stored.id else {
            return self.new_key();
        };
        let sealed = match &stored.sealed {
            None => None,
            // Without an encryption key, the file may have it.
            Some(_) if self.encryption.current_id().is_none() => None,
            Some(sealed) => Some(self.open(sealed)?),
        };
        let in_file = self.in_file()?;
        let found = sealed.into_iter().chain(in_file).find(|key| key.id() == id);
        let key = found.ok_or_else(|| {
            StoreError::HeadKey(format!(
                "this node does not have the key {id}, which authenticates the heads of the logs: give it the \
                 AUDIT_ENCRYPTION_KEY of the other nodes, or a copy of their key file as {}",
                self.file.display()
            ))
        })?;
        Ok(ChosenHeadKey { key, sealed: None })
    }
}

/// Reads the key in a file; none where there is no file.
fn read(path: &Path) -> io::Result<Option<HeadKey>> {
    let Some(text) = small_file::read_text_if_any(path)? else {
        return Ok(None);
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

/// Creates a file with a new key, unless there is one.
fn create(path: &Path) -> io::Result<HeadKey> {
    match key_files::create(path, &key_files::new_key()) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => read(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)),
    }
}
