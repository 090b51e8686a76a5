//! The permissions of files.

use super::{Finding, Severity, Subject, finding};
use audit_store::DatabaseUrl;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Who besides the owner may use a file.
#[derive(Clone, Copy)]
enum Protection {
    /// No other user.
    Private,
    /// Its group may read it: orchestrators mount secrets so.
    GroupMayRead,
}

impl Protection {
    /// The bits of a mode that must not be set.
    const fn forbidden(self) -> u32 {
        match self {
            Self::Private => 0o077,
            Self::GroupMayRead => 0o037,
        }
    }
}

pub(super) fn permissions(subject: &Subject<'_>) -> anyhow::Result<Vec<Finding>> {
    let options = subject.options;
    let mut files: Vec<(PathBuf, Protection)> = Vec::new();
    if let DatabaseUrl::Sqlite(path) = options.database.url()? {
        for end in ["", "-wal", "-shm", "-index", "-index-wal", "-index-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            files.push((name.into(), Protection::Private));
        }
    }
    files.push((options.database.signer_file()?, Protection::Private));
    files.push((options.database.head_keys()?.file, Protection::GroupMayRead));
    let secrets = [
        options.database.encryption.files(),
        options.hash_keys.files(),
        [options.http.tls_key.as_deref(), None],
    ];
    let secrets = secrets.into_iter().flatten().flatten();
    files.extend(secrets.map(|path| (path.to_owned(), Protection::GroupMayRead)));
    let mut findings = Vec::new();
    for (path, protection) in files {
        if let Some(found) = existing(&path)? {
            findings.extend(of_file(&path, &found, protection));
        }
    }
    Ok(findings)
}

/// `None` for a file that does not exist: it is created when it is needed, or another check names it.
fn existing(path: &Path) -> anyhow::Result<Option<Metadata>> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(anyhow::anyhow!("{}: {error}", path.display())),
    }
}

fn of_file(path: &Path, metadata: &Metadata, protection: Protection) -> Option<Finding> {
    let mode = metadata.permissions().mode() & 0o777;
    // Pipes and sockets have modes of their own.
    if !metadata.is_file() || mode & protection.forbidden() == 0 {
        return None;
    }
    let shown = path.display();
    let severity = match mode & 0o022 {
        0 => Severity::Warning,
        _ => Severity::Error,
    };
    Some(finding(
        severity,
        format!(
            "{shown} has mode {mode:03o}: others than user {} may use it",
            metadata.uid()
        ),
        format!("chmod 600 {shown}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(mode: u32, protection: Protection) -> Option<Severity> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let metadata = existing(file.path()).unwrap().unwrap();
        of_file(file.path(), &metadata, protection).map(|finding| finding.severity)
    }

    #[test]
    fn a_file_that_others_may_use_is_found() {
        assert_eq!(severity(0o600, Protection::Private), None);
        assert_eq!(severity(0o640, Protection::Private), Some(Severity::Warning));
        assert_eq!(severity(0o440, Protection::GroupMayRead), None);
        assert_eq!(severity(0o444, Protection::GroupMayRead), Some(Severity::Warning));
        assert_eq!(severity(0o460, Protection::GroupMayRead), Some(Severity::Error));
        assert_eq!(severity(0o602, Protection::Private), Some(Severity::Error));
    }

    #[test]
    fn a_file_that_does_not_exist_is_no_finding() {
        assert!(existing(Path::new("/nonexistent/file")).unwrap().is_none());
    }
}
