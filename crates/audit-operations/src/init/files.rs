//! The files that `init` writes, and never over others.

use crate::key_files;
use anyhow::{Context, anyhow};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The files that the command writes.
pub(super) struct Files {
    pub(super) environment: PathBuf,
    pub(super) encryption_key: PathBuf,
    pub(super) hash_key: PathBuf,
}

impl Files {
    pub(super) fn new(directory: &Path) -> anyhow::Result<Self> {
        let directory = std::path::absolute(directory).context("--directory")?;
        Ok(Self {
            environment: directory.join("audit-server.env"),
            encryption_key: directory.join("encryption-key"),
            hash_key: directory.join("hash-key"),
        })
    }

    /// Fails if one of them exists: a key that is replaced makes its database useless.
    pub(super) fn refuse_existing(&self) -> anyhow::Result<()> {
        for path in [&self.environment, &self.encryption_key, &self.hash_key] {
            match path.symlink_metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| cannot_write(path)),
                Ok(_) => return Err(exists(path)),
            }
        }
        Ok(())
    }

    /// Writes all files, the environment last: it is there only with its keys.
    pub(super) fn write(&self, environment: &str) -> anyhow::Result<()> {
        create(&self.encryption_key, &key_files::new_key())?;
        create(&self.hash_key, &key_files::new_key())?;
        create(&self.environment, environment)
    }
}

fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    match key_files::create(path, text) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(path)),
        created => created.with_context(|| cannot_write(path)),
    }
}

fn exists(path: &Path) -> anyhow::Error {
    anyhow!(
        "{} exists, and no existing file is overwritten: give another --directory",
        path.display()
    )
}

pub(super) fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
