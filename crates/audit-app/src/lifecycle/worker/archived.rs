//! What is taken of events that retention has removed from a log, and that an archive still has.

use super::authorities::Authorities;
use super::collect::{Fate, in_present_forms};
use super::list_erasure::fate;
use super::taken::{of_read, tile_of};
use crate::archive::SignedLog;
use crate::erasure::subject::{Identifiers, Subject};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::{Environment, Extent, Hold, LifecycleEvent, PartMask, ProjectId, StoredEvent};
use audit_ledger::{RemovalKind, RemovalRecord};
use audit_store::{RemovalState, StoreError};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// An event that retention, and no erasure, has removed from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredEvent {
    /// The position of the event that authorises the first removal: one that was restored may have been removed again.
    pub first_removal: u64,
    /// What erasures have taken of it, by the positions of their events.
    pub erased: BTreeMap<u64, PartMask>,
}

/// An erasure that was carried out in a log, for the events that its list could not have: retention had removed them before.
pub struct ArchiveErasure {
    /// The position of its event `audit.events.erased`.
    pub seq: u64,
    plan: u64,
    read_to: u64,
    subject: Subject,
    extent: Extent,
    holds: Vec<Hold>,
}

impl fmt::Debug for ArchiveErasure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ArchiveErasure(…)")
    }
}

impl ArchiveErasure {
    /// What the erasure takes of an event at a position that a removal has taken from the log first; `None` for nothing. An event that was
    /// still there when its list was complete is as the list has decided. One that was removed before is searched even where it was
    /// restored meanwhile: only the range of a restore is known, not when each event was there again.
    ///
    /// # Errors
    /// When the text is not that of an event.
    pub fn mask(&self, seq: u64, first_removal: u64, event: &StoredEvent) -> Result<Option<PartMask>> {
        if seq >= self.read_to || first_removal >= self.plan {
            return Ok(None);
        }
        match fate(&self.holds, (&self.subject, self.extent), event) {
            Some(Fate::Goes(mask)) => Ok(Some(mask)),
            Some(Fate::Stays | Fate::Kept | Fate::Held) => Ok(None),
            None => Err(AppError::inconsistent(StoreError::Damaged { what: "event" })),
        }
    }
}

impl AuditLog {
    /// The events of these positions, at least one, that were removed as a whole; `None` of one that an erasure has taken. `known` gets
    /// the removals whose records were verified.
    ///
    /// # Errors
    /// When the database cannot be read; [`AppError::LogInconsistent`] when records were changed or are missing.
    pub fn retired_events(
        &self,
        (project_id, environment): (ProjectId, Environment),
        seqs: Range<u64>,
        known: &mut Authorities,
    ) -> Result<BTreeMap<u64, Option<RetiredEvent>>> {
        let scope = self.scope_of(project_id, environment)?;
        self.verify_authorities(&scope, known)?;
        let tiles = tile_of(seqs.start)..tile_of(seqs.end - 1) + 1;
        let records = self
            .store
            .query(|reader| reader.removal_records(scope.ledger_id, tiles.clone()));
        Ok(retired(&records.map_err(of_read)?, known))
    }

    /// An erasure that was carried out in the log; `None` where it has no such one.
    ///
    /// # Errors
    /// [`AppError::Conflict`] while it is being carried out or its event is not signed; [`AppError::LogInconsistent`] when the log was tampered
    /// with.
    pub fn archive_erasure(
        &self,
        log: &SignedLog,
        (project_id, environment): (ProjectId, Environment),
        id: &str,
        identifiers: &Identifiers,
    ) -> Result<Option<ArchiveErasure>> {
        let scope = self.scope_of(project_id, environment)?;
        let lifecycle = self.lifecycle(&scope)?;
        let fold = &lifecycle.fold;
        let Some((seq, _, erased)) = fold.erasures().find(|(.., erased)| erased.erasure == id) else {
            return Ok(None);
        };
        let row = self.store.read(|reader| reader.erasure(log.ledger_id, id));
        let row = row.map_err(of_read)?;
        let is_done = |state| matches!(state, RemovalState::Cleaning | RemovalState::Done);
        if seq >= log.head().size || !row.is_some_and(|row| is_done(row.state)) {
            let message = format!("the erasure {id} is being carried out: wait until its state is `done`");
            return Err(AppError::Conflict(message));
        }
        let plan = match fold.event(erased.plan) {
            Some((_, LifecycleEvent::ErasurePlanned(plan))) => Some(plan),
            _ => None,
        };
        let plan = plan.and_then(|plan| Some((plan.read_to, plan.extent.parse().ok()?)));
        let what = "plan of an erasure";
        let (read_to, extent) = plan.ok_or_else(|| AppError::inconsistent(StoreError::Damaged { what }))?;
        let engine = &self.stream_engine;
        let holds = fold.holds().map(|(_, hold)| in_present_forms(engine, hold));
        Ok(Some(ArchiveErasure {
            seq,
            plan: erased.plan,
            read_to,
            subject: Subject::new(engine, identifiers),
            extent,
            holds: holds.collect(),
        }))
    }
}

/// The events that records of removals name.
fn retired(records: &[(u32, RemovalRecord)], known: &Authorities) -> BTreeMap<u64, Option<RetiredEvent>> {
    let (mut retired, mut gone) = (BTreeMap::<u64, RetiredEvent>::new(), BTreeMap::new());
    for (number, record) in records {
        let Some((kind, authority)) = known.get(*number) else {
            continue;
        };
        let event = retired.entry(record.seq).or_insert_with(|| RetiredEvent {
            first_removal: u64::MAX,
            erased: BTreeMap::new(),
        });
        match (kind, record.mask.is_row()) {
            (RemovalKind::Retention, _) => {
                event.first_removal = event.first_removal.min(authority);
                gone.entry(record.seq).or_insert(false);
            }
            (RemovalKind::Erasure, true) => drop(gone.insert(record.seq, true)),
            (RemovalKind::Erasure, false) => drop(event.erased.insert(authority, record.mask)),
        }
    }
    let of_row = |(seq, is_erased): (u64, bool)| (seq, retired.remove(&seq).filter(|_| !is_erased));
    gone.into_iter().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{ContentHash, EventPart};

    fn record(mask: PartMask) -> RemovalRecord {
        RemovalRecord {
            seq: 7,
            mask,
            content_hash: ContentHash::from_bytes([1; 32]),
            slot: 0,
        }
    }

    /// Of the event at 7, from the numbers of removals with the positions of their events.
    fn retired_at_7(records: &[(u32, PartMask)]) -> Option<Option<RetiredEvent>> {
        use RemovalKind::{Erasure, Retention};
        let known = [(1, (Retention, 10)), (2, (Erasure, 20)), (3, (Retention, 30))];
        let known = Authorities(known.into_iter().collect());
        let records: Vec<_> = records
            .iter()
            .map(|(number, mask)| (*number, record(*mask)))
            .collect();
        retired(&records, &known).remove(&7)
    }

    #[test]
    fn an_event_that_was_restored_is_as_its_first_removal_found_it() {
        let email = PartMask::of_parts([EventPart::ActorEmail]).unwrap();
        let found = |records| retired_at_7(records).flatten().unwrap();
        let twice = found(&[(1, PartMask::ROW), (3, PartMask::ROW)]);
        assert_eq!((twice.first_removal, twice.erased.len()), (10, 0));
        let erased = found(&[(2, email), (3, PartMask::ROW)]);
        assert_eq!(erased.first_removal, 30);
        assert_eq!(erased.erased, BTreeMap::from([(20, email)]));
        assert_eq!(
            retired_at_7(&[(1, PartMask::ROW), (2, PartMask::ROW)]),
            Some(None)
        );
        assert_eq!(retired_at_7(&[(2, email), (4, PartMask::ROW)]), None);
    }
}
