//! Puts events back that retention removed, from an archive, for a hold that keeps them.
//!
//! The archive is not trusted. An event is put back only where a record of a removal in the log has its position and its content hash, the
//! records are those that the event of the removal commits to, and the hold covers it. What an erasure took stays away: an event that it
//! took as a whole is not put back, and one that it took parts of is put back without these.

use crate::error::{AppError, Result};
use crate::lifecycle::worker::authorities::Authorities;
use crate::lifecycle::worker::{of_read, rows_of, tile_of};
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::{AuditLog, Scope};
use audit_domain::{
    ContentHash, Envelope, Environment, ErasedParts, EventId, FieldTexts, HeldFields, Hold, LifecycleEvent,
    LogName, PartMask, ProjectId, Restored, Sha256Digest, StoredSalt, Timestamp, erase_parts,
};
use audit_ledger::{RemovalKind, RemovalRecord, TenantMapKey, TileId};
use audit_store::{ErasedRow, RemovalRow, RemovalState, RestoredRow, StoreError};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// An event of an archive.
#[derive(Clone, Copy, Debug)]
pub struct ArchivedRow<'a> {
    /// Its position in the log.
    pub seq: u64,
    /// Its fields.
    pub fields: FieldTexts<'a>,
    /// Its content hash.
    pub content_hash: ContentHash,
    /// What proves the fields.
    pub content_salt: &'a StoredSalt,
    /// Whether redaction changed it. Nothing proves that.
    pub redacted: bool,
    /// The greatest id of the events before it in the archive.
    pub after_id: Option<EventId>,
}

/// What becomes of an event of an archive.
#[derive(Debug)]
pub enum ArchivedFate {
    /// It is put back with this row.
    Restored(Box<RestoredRow>),
    /// Retention has not removed it.
    NotRemoved,
    /// Retention has removed it, and it is there again.
    There,
    /// An erasure in the log took it as a whole.
    Erased,
    /// The archive lacks parts that no erasure in the log took of it: an erasure took them in the archive only.
    ErasedInArchive,
    /// The hold does not cover it.
    NotHeld,
}

/// Events cannot be put back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A use case failed.
    #[error(transparent)]
    App(#[from] AppError),
    /// Nothing would keep the events.
    #[error("the hold {0} is not in force in the log")]
    NoHold(String),
    /// Rows or tenants may be about to go.
    #[error("a removal or an erasure of the log is being carried out: run the command again when it is done")]
    Busy,
    /// The archive has another event than the log had.
    #[error("event {seq} of the archive is not the one that retention removed")]
    OtherEvent {
        /// Its position.
        seq: u64,
    },
}

impl From<StoreError> for RestoreError {
    fn from(error: StoreError) -> Self {
        Self::App(error.into())
    }
}

/// A record, with the kind of its removal and the position of the event that authorises it.
type Record = (RemovalKind, u64, RemovalRecord);

/// What the log has at the positions of a tile.
struct Place {
    tile: u64,
    records: Vec<Record>,
    /// The positions with an event, where there are records.
    there: HashSet<u64>,
}

/// A log into which removed events are put back.
///
/// An erasure may be listed and carried out while rows are put back, and does not see those that come behind it. It would not have taken
/// them: what the hold covers is a part of what a list spares, because a list compares an event with the ids that the hold was
/// placed with, and also with their forms of the present hash keys (`in_present_forms`).
pub struct LogRestore {
    service: Arc<AuditLog>,
    scope: Scope,
    log: LogName,
    hold: Hold,
    key: TenantMapKey,
    /// Removals and erasures by number, whose records were verified.
    authorities: Authorities,
    place: Option<Place>,
    /// When the erasures ended that found nothing. They have no event.
    fruitless: Vec<Timestamp>,
}

/// Whether a removal takes rows, or what hangs on them. One in another state can only begin with an event of the log.
fn is_busy(row: &RemovalRow) -> bool {
    matches!(row.state, RemovalState::Removing | RemovalState::Cleaning)
}

impl AuditLog {
    /// Prepares to put events of a log back for a hold. Verifies the records of all removals.
    ///
    /// # Errors
    /// [`RestoreError::NoHold`], [`RestoreError::Busy`]; [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn restore(
        self: &Arc<Self>,
        project_id: ProjectId,
        environment: Environment,
        hold: &str,
    ) -> Result<LogRestore, RestoreError> {
        let scope = self.scope_of(project_id, environment)?;
        let ledger_id = scope.ledger_id;
        let (lifecycle, log) = (self.lifecycle(&scope)?, scope.log());
        let found = lifecycle.fold.hold(hold).cloned();
        let hold = found.ok_or_else(|| RestoreError::NoHold(hold.to_owned()))?;
        let rows = rows_of(self, ledger_id)?;
        if rows.iter().any(is_busy) {
            return Err(RestoreError::Busy);
        }
        let mut authorities = Authorities::default();
        self.verify_authorities(&scope, &mut authorities)?;
        let is_fruitless = |row: &&RemovalRow| {
            (row.kind, row.state, row.event_seq) == (RemovalKind::Erasure, RemovalState::Done, None)
        };
        let fruitless = rows
            .iter()
            .filter(is_fruitless)
            .map(|row| row.changed_at)
            .collect();
        Ok(LogRestore {
            key: self.tenant_map_key(&scope.log_name())?,
            service: Arc::clone(self),
            scope,
            log,
            hold,
            authorities,
            place: None,
            fruitless,
        })
    }
}

impl LogRestore {
    /// Whether an event of the archive is put back. Fast where events are passed in the order of the log.
    ///
    /// # Errors
    /// [`RestoreError::OtherEvent`], and when the database cannot be read.
    pub fn fate(&mut self, event: &ArchivedRow<'_>) -> Result<ArchivedFate, RestoreError> {
        let (seq, log) = (event.seq, self.log);
        let place = self.place(tile_of(seq))?;
        let own = place.records.iter().filter(|(.., record)| record.seq == seq);
        let own: Vec<Record> = own.copied().collect();
        let is_removed = own.iter().any(|(kind, ..)| *kind == RemovalKind::Retention);
        if !is_removed {
            return Ok(ArchivedFate::NotRemoved);
        }
        if place.there.contains(&seq) {
            return Ok(ArchivedFate::There);
        }
        if own
            .iter()
            .any(|(.., record)| record.content_hash != event.content_hash)
        {
            return Err(RestoreError::OtherEvent { seq });
        }
        let of_erasures = own.iter().filter(|(kind, ..)| *kind == RemovalKind::Erasure);
        let mut erasures: Vec<(u64, PartMask)> = of_erasures
            .map(|(_, erasure, record)| (*erasure, record.mask))
            .collect();
        if erasures.iter().any(|(_, mask)| mask.is_row()) {
            return Ok(ArchivedFate::Erased);
        }
        let took = |(erasure, parts): (u64, PartMask)| {
            let mut own = erasures.iter().filter(|(own, _)| *own == erasure);
            own.any(|(_, mask)| mask.contains(parts))
        };
        let lacking = event.content_salt.erased();
        if !lacking.into_iter().flat_map(ErasedParts::masks).all(took) {
            return Ok(ArchivedFate::ErasedInArchive);
        }
        erasures.sort_unstable_by_key(|(erasure, _)| *erasure);
        let whole = event
            .fields
            .to_canonical()
            .map(|text| (text, event.content_salt.clone()));
        let left = erasures.iter().fold(whole, |left, (erasure, mask)| {
            let (text, salt) = left?;
            erase_parts(&text, &salt, *mask, *erasure)
        });
        let left = left.filter(|(text, salt)| salt.content_hash(text, &log) == Some(event.content_hash));
        let (body, salt) = left.ok_or(RestoreError::OtherEvent { seq })?;
        let members = serde_json::from_str(&body).map_err(AppError::inconsistent)?;
        let is_held = HeldFields::of(&members).is_some_and(|fields| self.hold.covers(&fields));
        if !is_held {
            return Ok(ArchivedFate::NotHeld);
        }
        let envelope = Envelope::read(&body).map_err(AppError::inconsistent)?;
        Ok(ArchivedFate::Restored(Box::new(RestoredRow {
            left: ErasedRow { seq, body, salt },
            id: envelope.id,
            occurred_at: envelope.occurred_at,
            content_hash: event.content_hash,
            redacted: event.redacted,
            after_id: event.after_id,
            label: self.key.label(&envelope.tenant_id),
            tenant_id: envelope.tenant_id,
        })))
    }

    /// What the log has at the positions of a tile.
    fn place(&mut self, tile: u64) -> Result<&Place, RestoreError> {
        if self.place.as_ref().is_none_or(|place| place.tile != tile) {
            let (width, ledger_id) = (u64::from(TileId::WIDTH_MAX), self.scope.ledger_id);
            let authorities = &self.authorities;
            let read = self.service.store.query(|reader| {
                let records = reader.removal_records(ledger_id, tile..tile + 1)?.into_iter();
                let records: Vec<Record> = records
                    .filter_map(|(number, record)| {
                        let (kind, seq) = authorities.get(number)?;
                        Some((kind, seq, record))
                    })
                    .collect();
                let events = match records.is_empty() {
                    true => Vec::new(),
                    false => reader.logged_events(ledger_id, tile * width, width as usize)?,
                };
                Ok((records, events.iter().map(|event| event.seq).collect()))
            });
            let (records, there) = read.map_err(of_read)?;
            self.place = Some(Place { tile, records, there });
        }
        let what = "records of a removal";
        Ok(self.place.as_ref().ok_or(StoreError::Damaged { what })?)
    }

    /// The positions of the events that say what retention has removed.
    fn removals(&self) -> impl Iterator<Item = u64> {
        self.authorities.of_kind(RemovalKind::Retention)
    }

    /// How many erasures the log has since retention removed the first events: they have not seen what was gone. Of those that found
    /// nothing, the ones whose rows are kept, and none that ended after [`AuditLog::restore`].
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn later_erasures(&self) -> Result<usize> {
        let Some(first) = self.removals().min() else {
            return Ok(0);
        };
        let lifecycle = self.service.lifecycle(&self.scope)?;
        let fold = &lifecycle.fold;
        let later = fold.erasures().filter(|(seq, ..)| *seq > first).count();
        let removed_at = fold.event(first).map(|(at, _)| at);
        let fruitless = self.fruitless.iter().filter(|at| Some(**at) >= removed_at);
        Ok(later + fruitless.count())
    }

    /// Whether the log has a restore for the hold.
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn is_announced(&self) -> Result<bool> {
        let lifecycle = self.service.lifecycle(&self.scope)?;
        let mut restored = lifecycle.fold.restored();
        Ok(restored.any(|(_, restored)| restored.hold == self.hold.hold))
    }

    /// The size of the log.
    ///
    /// # Errors
    /// When the database cannot be read, or the log was tampered with.
    pub fn size(&self) -> Result<u64> {
        let ledger_id = self.scope.ledger_id;
        let frontier = self.service.store.read(|reader| reader.log_frontier(ledger_id));
        Ok(frontier.map_err(of_read)?.size())
    }

    /// Appends `audit.events.restored` to the log, unless a restore from the same archive for the same hold has put back a part of these
    /// events and was interrupted. `archive` is the digest of its newest manifest. Returns the position of the event, which must be signed
    /// before an event is put back: an audit of an earlier checkpoint would find rows that no event explains.
    ///
    /// # Errors
    /// When the hold was released, or the log takes no events.
    pub fn announce(
        &self,
        seqs: &Range<u64>,
        events: u64,
        archive: Sha256Digest,
    ) -> Result<u64, RestoreError> {
        let last = self.removals().max();
        let is_own = |(at, own): &(u64, &Restored)| {
            Some(*at) > last
                && (&own.hold, own.archive) == (&self.hold.hold, archive)
                && own.seqs.start <= seqs.start
                && own.seqs.end >= seqs.end
        };
        self.service
            .add_lifecycle_event(&self.scope, &Requester::Operator, |present| {
                if present.fold.restored().any(|own| is_own(&own)) {
                    return Ok(None);
                }
                let restored = LifecycleEvent::Restored(Restored {
                    seqs: seqs.clone(),
                    events,
                    archive,
                    hold: self.hold.hold.clone(),
                });
                let previous = present.lifecycle_seq;
                Ok(Some(ServiceEvent::lifecycle(&restored, previous, &self.log)))
            })?;
        let lifecycle = self.service.lifecycle(&self.scope)?;
        let found = lifecycle.fold.restored().find(is_own);
        let no_event = || {
            AppError::inconsistent(StoreError::Damaged {
                what: "lifecycle event",
            })
        };
        Ok(found.map(|(at, _)| at).ok_or_else(no_event)?)
    }

    /// Puts rows back in one transaction, 200 at most. Returns the number of those that were not there; `None` where it has to wait,
    /// because another transaction was faster, a month is written anew, or the index is rebuilt or behind.
    ///
    /// # Errors
    /// [`RestoreError::NoHold`], [`RestoreError::Busy`], and when the database cannot be written.
    pub fn put(&self, rows: &[RestoredRow]) -> Result<Option<usize>, RestoreError> {
        let lifecycle = self.service.lifecycle(&self.scope)?;
        if lifecycle.fold.hold(&self.hold.hold).is_none() {
            return Err(RestoreError::NoHold(self.hold.hold.clone()));
        }
        let (expected, rows) = (lifecycle.lifecycle_seq, rows.to_vec());
        let (ledger_id, log) = (self.scope.ledger_id, self.log);
        let project_id = self.scope.project.project.id;
        // The head of the log is locked: no removal begins and no hold is released meanwhile.
        self.service.store.configure(project_id, move |configurator| {
            if configurator.lifecycle_seq(ledger_id)? != expected {
                return Ok(None);
            }
            if configurator.removals(ledger_id)?.iter().any(is_busy) {
                return Err(RestoreError::Busy);
            }
            Ok(configurator.restore_events(ledger_id, &log, &rows)?)
        })
    }
}
