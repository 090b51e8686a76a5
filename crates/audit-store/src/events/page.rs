//! Filling a page from a walk through candidates.

use super::{EventPage, EventQuery};
use crate::error::Result;
use audit_domain::{Position, StoredEvent};

/// A page ends with the event by which its stored events reach this size. One event larger than this is a page.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// A page also ends after about this many candidates, so that a condition that the index cannot check and few events meet
/// does not hold a session for long.
pub const PAGE_CANDIDATES_MAX: usize = 20_000;
/// The same for large events: bytes of candidates.
const CANDIDATES_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Rows that are fetched at once, at most.
const FETCHED_ROWS_MAX: usize = 1_000;
/// Rows of the first fetch: about a page of events of 64 KiB.
const FIRST_ROWS: usize = 16;

/// How many rows to fetch at once, so that they are not much larger than what is wanted. Rows differ in size by a factor of a
/// thousand, and the next ones are probably like those before.
#[derive(Debug, Default)]
pub struct FetchSize {
    rows: usize,
    bytes: usize,
}

impl FetchSize {
    /// Notes a row that was fetched.
    pub fn note(&mut self, event: &StoredEvent) {
        self.rows += 1;
        self.bytes += event.canonical.len();
    }

    /// The number of rows that have about `bytes`, at least one.
    #[must_use]
    pub fn rows_of(&self, bytes: usize) -> usize {
        if self.rows == 0 {
            return FIRST_ROWS;
        }
        let rows = bytes.saturating_mul(self.rows).div_ceil(self.bytes.max(1));
        rows.clamp(1, FETCHED_ROWS_MAX)
    }
}

/// Reads candidates until the page is full. Returns those that match the filter and that the reader may see. `scan` reads the next ones:
/// as many as it is asked for, fewer only at the end.
pub(super) fn read_page(
    query: &EventQuery,
    mut scan: impl FnMut(usize) -> Result<Vec<StoredEvent>>,
) -> Result<EventPage> {
    let mut page = EventPage {
        events: Vec::new(),
        next: None,
    };
    let limit = query.limit.get();
    let (mut fetch, mut bytes, mut factor) = (FetchSize::default(), 0_usize, 1);
    loop {
        // One event more than the page has tells whether there is a next page.
        let missing = limit + 1 - page.events.len();
        // Of candidates that do not match, a full page still fetches many at once.
        let room = match factor {
            1 => PAGE_BYTES_MAX.saturating_sub(bytes).max(1),
            _ => PAGE_BYTES_MAX,
        };
        let fitting = fetch.rows_of(room);
        let wanted = missing.saturating_mul(factor).min(fitting);
        let fetched = scan(wanted)?;
        let is_end = fetched.len() < wanted;
        let last = fetched.last().map(position_of);
        let mut are_shown = true;
        for event in fetched {
            fetch.note(&event);
            if !query.filter.shows(&event, query.tier.as_ref())? {
                are_shown = false;
                continue;
            }
            if page.events.len() == limit || bytes >= PAGE_BYTES_MAX {
                page.next = page.events.last().map(position_of);
                return Ok(page);
            }
            bytes += event.canonical.len();
            page.events.push(event);
        }
        if is_end {
            return Ok(page);
        }
        if fetch.rows >= PAGE_CANDIDATES_MAX || fetch.bytes >= CANDIDATES_BYTES_MAX {
            page.next = last;
            return Ok(page);
        }
        // Few candidates match: more of them at once.
        factor = match are_shown {
            true => 1,
            false => (factor * 2).min(FETCHED_ROWS_MAX),
        };
    }
}

const fn position_of(event: &StoredEvent) -> Position {
    Position {
        occurred_at: event.occurred_at,
        id: event.id,
    }
}

#[cfg(test)]
mod tests;
