//! The rows of removals, whatever their codes, for `log verify`.

use crate::RemovalState;
use crate::access::Reader;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::schema::removals;
use diesel::prelude::*;

/// How far a removal is, as its row says. The event in the log authenticates its records; its row authenticates nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRemoval {
    /// Its number in the ledger.
    pub number: u32,
    /// The position of the event that authorises it. `None` while its records are collected, and after it was cancelled: its records
    /// count for nothing then.
    pub authority: Option<u64>,
    /// Rows may be gone.
    pub is_begun: bool,
    /// All rows are gone.
    pub is_done: bool,
}

impl Reader<'_> {
    /// The removals of a ledger by number, without those whose row has no number that the service gives. Their codes are not verified.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn stored_removals(&mut self, ledger_id: LedgerId) -> Result<Vec<StoredRemoval>> {
        let rows: Vec<(i64, String, Option<i64>)> = removals::table
            .filter(removals::ledger_id.eq(ledger_id.0))
            .order(removals::number)
            .select((removals::number, removals::state, removals::event_seq))
            .load(self.session())?;
        let read = |(number, state, event_seq): (i64, String, Option<i64>)| {
            let state = state.parse::<RemovalState>().ok();
            let is_cancelled = state == Some(RemovalState::Cancelled);
            Some(StoredRemoval {
                number: number.try_into().ok()?,
                authority: event_seq
                    .filter(|_| !is_cancelled)
                    .and_then(|seq| seq.try_into().ok()),
                is_begun: matches!(
                    state,
                    Some(RemovalState::Removing | RemovalState::Cleaning | RemovalState::Done)
                ),
                // Cleaning begins when the last row is gone.
                is_done: matches!(state, Some(RemovalState::Cleaning | RemovalState::Done)),
            })
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }
}
