//! The file that is in an archive until a run has taken all events from an older one. A run with other options would end it otherwise,
//! such as without the erasure.

use super::source::Older;
use super::{CreateOptions, sync};
use anyhow::{Context, bail};
use audit_app::{AuditLog, Identifiers};
use audit_archive::layout::{self, FROM, log_directory};
use audit_cli::{SystemEntropy, small_file};
use audit_domain::{Entropy, Environment, LogName, ProjectId, Sha256Digest};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An archive that is not finished until [`Self::end`].
pub(super) struct Unfinished {
    archive: PathBuf,
}

impl Unfinished {
    /// Refuses to go on with what a run with other options has begun, and to take events into an archive that has files of these logs.
    /// Otherwise writes the file, which is durable before the first file of events.
    pub(super) fn begin(
        options: &CreateOptions,
        older: Option<&Older>,
        logs: &[(Arc<AuditLog>, ProjectId, Environment)],
    ) -> anyhow::Result<Option<Self>> {
        let (archive, path) = (&options.to, options.to.join(FROM));
        let stated = small_file::read_text_if_any(&path).with_context(|| path.display().to_string())?;
        // A process that was killed while it wrote the text has written no other file.
        let stated = stated.as_deref().and_then(|text| text.strip_suffix('\n'));
        let stated: Option<Value> = stated.map(|text| serde_json::from_str(text).unwrap_or_default());
        let unfinished = Self {
            archive: archive.clone(),
        };
        if let Some(stated) = &stated {
            let salt = stated["salt"].as_str().unwrap_or_default();
            if older.is_some_and(|older| text(options, older, salt) == *stated) {
                return Ok(Some(unfinished));
            }
            if has_files(archive)? {
                bail!(
                    "{} is unfinished: run `archive create` with the options of the run that began it, which {} states, or delete the \
                     directory",
                    archive.display(),
                    path.display()
                );
            }
        }
        let Some(older) = older else {
            match unfinished.end() {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => return Ok(None),
            }
        };
        for (_, project, environment) in logs {
            let directory = log_directory(archive, &LogName::new(*project, *environment));
            if !layout::list(&directory)?.parts.is_empty() {
                bail!(
                    "--from: {} has files already: write the new archive into an empty directory",
                    directory.display()
                );
            }
        }
        let mut salt = [0; 16];
        SystemEntropy.fill(&mut salt);
        let text = text(options, older, &base16ct::lower::encode_string(&salt));
        let cannot_write = || format!("cannot write {}", path.display());
        let mut file = File::create(&path).with_context(cannot_write)?;
        file.write_all(format!("{text}\n").as_bytes())
            .with_context(cannot_write)?;
        file.sync_all().with_context(cannot_write)?;
        sync(archive).with_context(cannot_write)?;
        Ok(Some(unfinished))
    }

    /// The archive has all that it was to take.
    pub(super) fn end(self) -> io::Result<()> {
        fs::remove_file(self.archive.join(FROM))?;
        sync(&self.archive)
    }
}

/// What decides what a run takes. The identifiers are in it as a digest with a random salt.
fn text(options: &CreateOptions, older: &Older, salt: &str) -> Value {
    let erasure = older.erasure.as_ref();
    json!({
        "from": older.directory.to_string_lossy(),
        "erasure": erasure.map(|(id, _)| id),
        "identifiers": erasure.map(|(_, identifiers)| digest(identifiers, salt).to_string()),
        "salt": salt,
        "project": options.project.map(|id| id.to_string()),
        "environment": options.environment.map(|environment| environment.to_string()),
        "until": options.until.map(|month| month.to_string()),
    })
}

fn digest(Identifiers { ids, texts }: &Identifiers, salt: &str) -> Sha256Digest {
    let identifiers = json!([salt, ids, texts]).to_string();
    Sha256Digest::from_bytes(Sha256::digest(identifiers).into())
}

/// Whether an archive has a file of any log.
fn has_files(archive: &Path) -> io::Result<bool> {
    for log in layout::logs(archive)?.0 {
        if !layout::list(&log_directory(archive, &log))?.parts.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
