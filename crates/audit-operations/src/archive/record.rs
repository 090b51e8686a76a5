//! `archive create --record`: the log says what the archive has.

use super::verified::VerifiedArchive;
use super::{LogArchive, not_read};
use anyhow::Context;
use audit_app::{LoggedPosition, SignedLog};
use audit_domain::{Archived, PartMask, StoredSalt};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};

impl LogArchive<'_> {
    /// Verifies the whole archive of the log, and stores in the log what it has. An archive without a file is not stored.
    pub(super) fn record(&self) -> anyhow::Result<()> {
        // A file may have been written from a database that was restored since, so the present log is compared.
        let newest = self.service.signed_log(self.ids.0, self.ids.1)?;
        let newest = newest.context("the log has no checkpoint any more")?;
        let Some(verified) = VerifiedArchive::open(&self.directory, self.service, &newest)? else {
            return Ok(());
        };
        // Manifests are not signed: what they state as removed or erased has to be so in the log.
        for seqs in &verified.gone {
            self.check(&newest, seqs.clone(), |position| {
                matches!(position, LoggedPosition::Removed(_))
            })?;
        }
        let erasures = self.service.erasures_of_log(self.ids.0, self.ids.1)?;
        for (seq, erasure, mask) in &verified.masked {
            self.check(&newest, *seq..*seq + 1, |position| {
                is_erased(position, (*erasure, *mask), &erasures)
            })?;
        }
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

    /// Refuses an archive that lacks what the log has at one of these positions.
    fn check(
        &self,
        log: &SignedLog,
        seqs: Range<u64>,
        is_right: impl Fn(&LoggedPosition<'_>) -> bool,
    ) -> anyhow::Result<()> {
        let checked = self.service.logged_positions(log, seqs, |seq, position| match is_right(&position) {
            true => Ok(ControlFlow::Continue(())),
            false => Err(io::Error::other(format!(
                "the archive lacks event {seq}, or parts of it, and the log has it: write a new archive, with --from this one"
            ))),
        });
        checked.map_err(not_read)
    }
}

/// Whether the erasure has erased these parts in the log, too. Of an event that retention has removed, the log has only the erasure.
fn is_erased(
    position: &LoggedPosition<'_>,
    (erasure, mask): (u64, PartMask),
    erasures: &BTreeSet<u64>,
) -> bool {
    match position {
        LoggedPosition::Removed(_) => erasures.contains(&erasure),
        LoggedPosition::Event(event, _) => match &event.content_salt {
            StoredSalt::Whole(_) => false,
            StoredSalt::Parts(parts) => parts
                .masks()
                .any(|(by, taken)| by == erasure && taken.contains(mask)),
        },
    }
}
