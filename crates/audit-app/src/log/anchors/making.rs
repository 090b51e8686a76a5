//! Making the anchor of an interval.

use super::{AnchorInterval, AnchorPlaces};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_ledger::{Anchor, AnchorDigest};
use audit_store::StoredAnchor;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The document would be too large.
#[derive(Debug, thiserror::Error)]
#[error(
    "an anchor of {logs} logs has {bytes} bytes, and may have {}",
    Anchor::BYTES_MAX
)]
struct TooLarge {
    logs: usize,
    bytes: usize,
}

impl AuditLog {
    /// Makes the anchor of the present interval, unless there is one. Call it every second, in the service of the home cell.
    ///
    /// Past intervals get none: what the logs were then cannot be said any more. An anchor that one of `places` has and the database
    /// has lost is stored again, and counts.
    ///
    /// # Errors
    /// When a database of the home cell fails, or the key of the log cannot be used. The next call tries again.
    pub fn make_anchor(self: &Arc<Self>, every: AnchorInterval, places: &AnchorPlaces) -> Result<()> {
        let now = self.clock.now().truncated_to_millis();
        let due = every.start(now);
        if self.anchoring.made_for.load(Ordering::Relaxed) >= due.as_micros() {
            return Ok(());
        }
        let last = self.last_anchor(places, every, due)?;
        match &last {
            Some(last) if last.due_at > due => log::warn!(
                "no anchor is made: the last one is of {}, so the clock of a server was wrong",
                last.due_at
            ),
            Some(last) if last.due_at == due => {}
            last => self.make_anchor_after(last.as_ref(), every, now)?,
        }
        // If another node was faster, it has one as well.
        self.anchoring.made_for.store(due.as_micros(), Ordering::Relaxed);
        Ok(())
    }

    fn make_anchor_after(
        self: &Arc<Self>,
        last: Option<&StoredAnchor>,
        every: AnchorInterval,
        now: Timestamp,
    ) -> Result<()> {
        let signer = self.log_signer()?;
        let logs = self.logs_to_anchor(signer, last)?;
        let (number, due) = (last.map_or(0, |last| last.number) + 1, every.start(now));
        let signed = signer.sign_anchor(Anchor {
            deployment: signer.verifier().name().clone(),
            number: number.unsigned_abs(),
            due,
            time: now,
            every_seconds: every.seconds,
            previous: last.map(|last| AnchorDigest::of_note(&last.document)),
            heads: logs.heads,
            maps: logs.maps,
        })?;
        let (bytes, logs) = (signed.note().len(), signed.anchor().heads.len());
        if bytes > Anchor::BYTES_MAX {
            return Err(AppError::internal(TooLarge { logs, bytes }));
        }
        let document = signed.note().to_owned();
        let is_made = self
            .store
            .write(move |writer| writer.insert_anchor(number, due, &document, now))?;
        if is_made {
            self.remember_anchor(&signed, None);
            log::debug!("anchor {number} has {logs} logs");
        }
        Ok(())
    }
}
