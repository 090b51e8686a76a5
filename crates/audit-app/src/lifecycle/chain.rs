//! Reading the lifecycle events of a ledger, and adding one.

use super::known::{CHAIN_EVENTS_MAX, ChainEvent, LedgerLifecycle, REQUESTED_EVENTS_MAX};
use crate::error::{AppError, Result};
use crate::ingest::STALE_RETRIES_MAX;
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::{AuditLog, Scope};
use audit_domain::{ContentHash, Lifecycle, LifecycleEvent, LogName, ProjectId, logged_at};
use audit_store::{Configurator, LedgerId, LoggedEvent, Reader, StoreError};
use std::sync::Arc;

/// The database has not the lifecycle event that the head of the ledger, or a later event, names.
fn damaged() -> AppError {
    AppError::inconsistent(StoreError::Damaged {
        what: "lifecycle event",
    })
}

impl AuditLog {
    /// The lifecycle events of a ledger. The database is not trusted: the head of the ledger, which has a code, names the newest
    /// one, each names the one before, and the inclusion of each in the tree of the log is verified.
    ///
    /// # Errors
    /// [`AppError::LogStopped`] when the head was forged; [`AppError::LogInconsistent`] when an event was changed or is missing, or
    /// contradicts those before it.
    pub(crate) fn lifecycle(&self, scope: &Scope) -> Result<Arc<LedgerLifecycle>> {
        let newest = self.store.read(|reader| reader.lifecycle_seq(scope.ledger_id))?;
        let cached = self.lifecycles.chains.get(&scope.ledger_id);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.lifecycle_seq == newest) {
            return Ok(Arc::clone(cached));
        }
        let known = cached.as_deref();
        let (new, joint) = self
            .store
            .query(|reader| read_back(reader, (scope.ledger_id, &scope.log()), newest, known))?;
        self.prove_chain(scope, &new)?;
        let kept = known.into_iter().flat_map(|known| &known.events);
        let kept = kept.take_while(|event| Some(event.seq) <= joint).cloned();
        let events = kept.chain(new.into_iter().rev().map(|(_, event)| event));
        let lifecycle = Arc::new(folded(events.collect())?);
        if lifecycle.lifecycle_seq != newest {
            return Err(damaged());
        }
        self.lifecycles
            .chains
            .insert(scope.ledger_id, Arc::clone(&lifecycle));
        Ok(lifecycle)
    }

    /// Proves that events are in the tree that this node trusts.
    fn prove_chain(&self, scope: &Scope, events: &[(ContentHash, ChainEvent)]) -> Result<()> {
        // Newest first.
        let Some((_, newest)) = events.first() else {
            return Ok(());
        };
        let (head, _) = self.trusted_head(scope, newest.seq + 1)?;
        for (content_hash, event) in events {
            if event.seq >= head.size {
                return Err(damaged());
            }
            self.prove_inclusion(scope, event.seq, content_hash, &head)?;
        }
        Ok(())
    }

    /// Adds the lifecycle event that `decide` makes of the present ones, if it makes one. A plan of retention that it ends or changes
    /// is handled by the thread of removals.
    ///
    /// # Errors
    /// Those of `decide`; [`AppError::Forbidden`] when the ledger has too many.
    pub(crate) fn add_lifecycle_event(
        &self,
        scope: &Scope,
        requester: &Requester,
        decide: impl Fn(&LedgerLifecycle) -> Result<Option<ServiceEvent>>,
    ) -> Result<()> {
        self.add_lifecycle_event_with(scope, requester, decide, |_, _| Ok(()))
    }

    /// [`Self::add_lifecycle_event`]; in the same transaction `also` does something with the position of the event.
    ///
    /// # Errors
    /// As that; those of `also`.
    pub(crate) fn add_lifecycle_event_with(
        &self,
        scope: &Scope,
        requester: &Requester,
        decide: impl Fn(&LedgerLifecycle) -> Result<Option<ServiceEvent>>,
        also: impl FnOnce(&mut Configurator<'_, ProjectId>, u64) -> Result<()> + Clone + Send + 'static,
    ) -> Result<()> {
        for _ in 0..STALE_RETRIES_MAX {
            let present = self.lifecycle(scope)?;
            let Some(event) = decide(&present)? else {
                return Ok(());
            };
            if !event.keeps_events() {
                present.check_room(REQUESTED_EVENTS_MAX)?;
            }
            let expected = present.lifecycle_seq;
            match self.append_chained(scope, requester, expected, event, also.clone()) {
                Err(AppError::Unavailable(StoreError::Stale)) => {}
                outcome => return outcome,
            }
        }
        Err(AppError::Unavailable(StoreError::Stale))
    }
}

/// Events, each with its content hash.
type Hashed = Vec<(ContentHash, ChainEvent)>;

/// The events from `newest` back to the newest one that `known` has as well, newest first, with their content hashes; and the position of
/// that one. A database that has lost its latest commits may have another event at the same position, so events are compared.
fn read_back(
    reader: &mut Reader<'_>,
    (ledger_id, log): (LedgerId, &LogName),
    newest: Option<u64>,
    known: Option<&LedgerLifecycle>,
) -> Result<(Hashed, Option<u64>)> {
    let (mut read, mut next) = (Vec::new(), newest);
    while let Some(seq) = next {
        if read.len() == CHAIN_EVENTS_MAX {
            return Err(damaged());
        }
        let found = reader.logged_events(ledger_id, seq, 1)?.into_iter().next();
        let logged = found.filter(|logged| logged.seq == seq).ok_or_else(damaged)?;
        let (previous, new) = checked(logged, log)?;
        let is_known = |known: &LedgerLifecycle| {
            let event = known.event(seq);
            event.is_some_and(|event| event.event == new.1.event)
        };
        if known.is_some_and(is_known) {
            return Ok((read, Some(seq)));
        }
        if previous.is_some_and(|previous| previous >= seq) {
            return Err(damaged());
        }
        read.push(new);
        next = previous;
    }
    Ok((read, None))
}

/// An event whose content has its hash, with the position of the lifecycle event that it names.
fn checked(logged: LoggedEvent, log: &LogName) -> Result<(Option<u64>, (ContentHash, ChainEvent))> {
    let LoggedEvent { seq, event: stored } = logged;
    let content_hash = stored.computed_hash(log).ok_or_else(damaged)?;
    let event = stored.to_object().map_err(AppError::inconsistent)?;
    let (previous, _) = LifecycleEvent::read(&event).ok_or_else(damaged)?;
    let at = logged_at(&event).ok_or_else(damaged)?;
    Ok((previous, (content_hash, ChainEvent { seq, at, event })))
}

/// The lifecycle events of a ledger as the database has them: neither the head that names the newest one nor their inclusion in the tree is
/// verified.
///
/// # Errors
/// [`AppError::LogInconsistent`] when an event was changed or is missing, or contradicts those before it.
pub(super) fn as_stored(
    reader: &mut Reader<'_>,
    project_id: ProjectId,
    log: (LedgerId, &LogName),
) -> Result<LedgerLifecycle> {
    let ledgers = reader.stored_ledgers(Some(project_id))?;
    let own = ledgers.iter().find(|ledger| ledger.ledger_id == log.0);
    let newest = own.and_then(|own| own.lifecycle_seq).map(i64::cast_unsigned);
    let (events, _) = read_back(reader, log, newest, None)?;
    folded(events.into_iter().rev().map(|(_, event)| event).collect())
}

/// What events say together. They are ascending.
fn folded(events: Vec<ChainEvent>) -> Result<LedgerLifecycle> {
    let mut fold = Lifecycle::default();
    for ChainEvent { seq, at, event } in &events {
        let (previous, event) = LifecycleEvent::read(event).ok_or_else(damaged)?;
        fold.add(*seq, *at, event, previous)
            .map_err(AppError::inconsistent)?;
    }
    Ok(LedgerLifecycle {
        lifecycle_seq: fold.last_seq(),
        fold,
        events,
    })
}
