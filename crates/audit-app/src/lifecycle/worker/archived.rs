//! What is taken of events that retention has removed from a log, and that an archive still has.

use super::collect::{Fate, in_present_forms};
use super::list_erasure::fate;
use super::taken::{of_read, tile_of};
use crate::archive::SignedLog;
use crate::erasure::subject::{Identifiers, Subject};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::{Environment, Extent, Hold, LifecycleEvent, PartMask, ProjectId, StoredEvent};
use audit_ledger::RemovalKind;
use audit_store::{RemovalState, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

/// An event that retention, and no erasure, has removed from the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetiredEvent {
    /// The position of the event that authorises the removal.
    pub removal: u64,
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
    /// What the erasure takes of an event at a position that a removal has taken from the log; `None` for nothing. An event that was still
    /// there when its list was complete is as the list has decided.
    ///
    /// # Errors
    /// When the text is not that of an event.
    pub fn mask(&self, seq: u64, removal: u64, event: &StoredEvent) -> Result<Option<PartMask>> {
        if seq >= self.read_to || removal >= self.plan {
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
    /// The events of these positions, at least one, that were removed as a whole; `None` of one that an erasure has taken.
    ///
    /// # Errors
    /// When the database cannot be read, or has records that the service did not write.
    pub fn retired_events(
        &self,
        log: &SignedLog,
        seqs: Range<u64>,
    ) -> Result<BTreeMap<u64, Option<RetiredEvent>>> {
        let tiles = tile_of(seqs.start)..tile_of(seqs.end - 1) + 1;
        let read = self.store.query(|reader| {
            let rows = reader.removals(log.ledger_id)?;
            Ok::<_, StoreError>((rows, reader.removal_records(log.ledger_id, tiles.clone())?))
        });
        let (rows, records) = read.map_err(of_read)?;
        let begun = rows.into_iter().filter_map(|row| {
            use RemovalState::{Cleaning, Done, Removing};
            let authority = row
                .event_seq
                .filter(|_| matches!(row.state, Removing | Cleaning | Done));
            Some((row.number, (row.kind, authority?)))
        });
        let begun: HashMap<u32, (RemovalKind, u64)> = begun.collect();
        let (mut retired, mut gone) = (BTreeMap::<u64, RetiredEvent>::new(), BTreeMap::new());
        for (number, record) in records {
            let Some((kind, authority)) = begun.get(&number) else {
                continue;
            };
            let event = retired.entry(record.seq).or_default();
            match (kind, record.mask.is_row()) {
                (RemovalKind::Retention, _) => {
                    event.removal = *authority;
                    gone.entry(record.seq).or_insert(false);
                }
                (RemovalKind::Erasure, true) => drop(gone.insert(record.seq, true)),
                (RemovalKind::Erasure, false) => drop(event.erased.insert(*authority, record.mask)),
            }
        }
        let of_row = |(seq, is_erased): (u64, bool)| (seq, retired.remove(&seq).filter(|_| !is_erased));
        Ok(gone.into_iter().map(of_row).collect())
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
