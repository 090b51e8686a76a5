//! `archive create --record`: the log says what the archive has.

use super::LogArchive;
use super::verified::VerifiedArchive;
use anyhow::Context;
use audit_domain::Archived;
use std::io::{self, Write};

impl LogArchive<'_> {
    /// Verifies the whole archive of the log, and stores in the log what it has. An archive without a file is not stored.
    pub(super) fn record(&self) -> anyhow::Result<()> {
        // A file may have been written from a database that was restored since, so the present log is compared.
        let newest = self.service.signed_log(self.ids.0, self.ids.1)?;
        let newest = newest.context("the log has no checkpoint any more")?;
        let Some(verified) = VerifiedArchive::open(&self.directory, self.service, &newest)? else {
            return Ok(());
        };
        let (end_seq, manifest) = (verified.end_seq, verified.manifest);
        let archived = Archived { end_seq, manifest };
        let seq = self.service.record_archive(self.ids.0, self.ids.1, archived)?;
        let log = self.log.log.as_str();
        writeln!(
            io::stdout(),
            "{log}  the event {seq} says that {end_seq} positions are archived"
        )?;
        Ok(())
    }
}
