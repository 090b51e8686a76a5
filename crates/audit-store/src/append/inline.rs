//! Appending within a transaction that does something else as well.

use super::request::{AppendOutcome, AppendRequest, Destination, NewEvent, Origin};
use super::{AppendSession, append as append_requests, read_before};
use crate::access::Writer;
use crate::database::on_database;
use crate::error::StoreError;
use audit_domain::Timestamp;
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Appends events that keep their stamps, use up no daily limit and raise no alerts. One whose idempotency key the
    /// ledger has is not stored.
    ///
    /// # Errors
    /// [`StoreError::Stale`], and when the database cannot be written.
    pub fn append_claimed(
        &mut self,
        destination: Destination,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> AppendOutcome {
        self.append(destination, events, Origin::Claimed(now), now)
    }

    /// Appends events as [`crate::Store::append`] does, in this transaction.
    ///
    /// # Errors
    /// As [`crate::Store::append`].
    pub fn append_sent(
        &mut self,
        destination: Destination,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> AppendOutcome {
        self.append(destination, events, Origin::Sent, now)
    }

    /// Appends the service's own events in this transaction. They use up no daily limit.
    ///
    /// # Errors
    /// As [`crate::Store::append`].
    pub fn append_service(
        &mut self,
        destination: Destination,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> AppendOutcome {
        self.append(destination, events, Origin::Service, now)
    }

    fn append(
        &mut self,
        destination: Destination,
        events: Vec<NewEvent>,
        origin: Origin,
        now: Timestamp,
    ) -> AppendOutcome {
        let request = AppendRequest::new(destination, events, origin);
        on_database!(self.session(), append::inline(request, now))
    }
}

/// Appends one request within a transaction that its caller may still roll back.
pub(crate) fn append_one<S: AppendSession>(
    session: &mut S,
    request: AppendRequest,
    now: Timestamp,
) -> AppendOutcome {
    let ledger_id = request.destination.ledger_id;
    session.heads()?.unsigned.check(ledger_id)?;
    let ledgers = BTreeSet::from([ledger_id]);
    let before = read_before(session, &ledgers, now.utc_day())?;
    let plan = append_requests(session, vec![request], before)?;
    let mut outcomes = plan.outcomes;
    outcomes.pop().unwrap_or(Err(StoreError::Stopped))
}
