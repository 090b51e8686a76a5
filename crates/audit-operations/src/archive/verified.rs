//! Archives that are verified against the log.

use anyhow::{Context, bail};
use audit_app::{AuditLog, SignedLog};
use audit_archive::{ArchiveError, Chain, layout};
use audit_domain::{LogName, PartMask, Sha256Digest};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The archive of a log, which was verified against the log.
pub(super) struct VerifiedArchive {
    pub(super) log: LogName,
    /// Its files, in the order of the log, with their digests.
    pub(super) files: Vec<(PathBuf, Sha256Digest)>,
    /// The position behind the last one that it has.
    pub(super) end_seq: u64,
    /// The digest of the newest manifest.
    pub(super) manifest: Sha256Digest,
    /// The positions of which it has the content hash alone.
    pub(super) gone: Vec<Range<u64>>,
    /// What was erased of events: position, position of the erasure, and the parts.
    pub(super) masked: Vec<(u64, u64, PartMask)>,
}

impl VerifiedArchive {
    /// Verifies every file in the directory of a log; `None` where there is none. A file may change afterwards.
    pub(super) fn open(
        directory: &Path,
        service: &AuditLog,
        log: &SignedLog,
    ) -> anyhow::Result<Option<Self>> {
        let listing = layout::list(directory)?;
        let (mut chain, mut files) = (Chain::new(log.log), Vec::new());
        let open = |note: &str| {
            let signed = service.earlier_checkpoint(log, note);
            signed.map_err(|_| ArchiveError::Chain("no key of the log has signed its checkpoint".to_owned()))
        };
        for part in listing.parts.values() {
            let added = chain.add_part(part, directory, open);
            added.with_context(|| part.manifest(directory).display().to_string())?;
            files.extend(chain.file_digest().map(|digest| (part.file(directory), digest)));
        }
        let Some(manifest) = chain.manifest() else {
            return Ok(None);
        };
        let end_seq = chain.size();
        let is_of_log =
            end_seq <= log.head().size && service.tree_of_log(log, end_seq)?.0.root() == chain.head().root;
        if !is_of_log {
            bail!("the archive has other events than the log {}", log.log.as_str());
        }
        Ok(Some(Self {
            log: log.log,
            files,
            end_seq,
            manifest,
            gone: chain.gone,
            masked: chain.masked,
        }))
    }
}
