//! Appending within a transaction that does something else as well.

use super::{AppendOutcome, AppendRequest, Destination, Known, NewEvent, Origin, append};
use crate::error::StoreError;
use crate::ledgers::read_before;
use crate::rows::Rows;
use audit_domain::Timestamp;
use std::collections::BTreeSet;

impl Rows<'_> {
    /// Appends events that keep their stamps, count against no daily limit and raise no alerts. One whose idempotency key
    /// the ledger has is not stored.
    ///
    /// # Errors
    /// [`StoreError::Stale`], and when the database cannot be written.
    pub fn append_claimed(
        &mut self,
        destination: Destination,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> AppendOutcome {
        self.append(destination, events, Origin::Claimed, now)
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

    fn append(
        &mut self,
        destination: Destination,
        events: Vec<NewEvent>,
        origin: Origin,
        now: Timestamp,
    ) -> AppendOutcome {
        let request = AppendRequest {
            destination,
            events,
            origin,
        };
        // What a writer remembers it reads again when it finds the ledger longer than it left it.
        let mut known = Known::default();
        let ledgers = BTreeSet::from([request.destination.ledger_id]);
        let before = read_before(self.connection, &ledgers, now.utc_day())?;
        let plan = append(self, vec![request], before, &mut known)?;
        let mut outcomes = plan.outcomes;
        outcomes.pop().unwrap_or(Err(StoreError::Stopped))
    }
}
