//! `archive create --record`: the log says what the archive has.

use super::LogArchive;
use anyhow::{Context, bail};
use audit_archive::{ArchiveError, Chain, layout};
use audit_domain::Archived;

impl LogArchive<'_> {
    /// Verifies the whole archive of the log, and stores in the log what it has. Returns it with the position of its event; `None` for an
    /// archive without a file.
    pub(super) fn record(&self) -> anyhow::Result<Option<(Archived, u64)>> {
        let listing = layout::list(&self.directory)?;
        let mut chain = Chain::new(self.log.log);
        let open = |note: &str| {
            let opened = self.service.earlier_checkpoint(&self.log, note);
            opened.map_err(|error| ArchiveError::Chain(error.to_string()))
        };
        for part in listing.parts.values() {
            let path = part.manifest(&self.directory);
            let added = chain.add_part(part, &self.directory, open);
            added.with_context(|| path.display().to_string())?;
        }
        let Some(manifest) = chain.manifest() else {
            return Ok(None);
        };
        let end_seq = chain.size();
        // A file may have been written from a database that was restored since.
        let newest = self.service.signed_log(self.ids.0, self.ids.1)?;
        let newest = newest.context("the log has no checkpoint any more")?;
        let (tree, _) = self.service.tree_of_log(&newest, end_seq)?;
        if tree.root() != chain.head().root {
            bail!("the archive has other events than the log");
        }
        let archived = Archived { end_seq, manifest };
        let seq = self.service.record_archive(self.ids.0, self.ids.1, archived)?;
        Ok(Some((archived, seq)))
    }
}
