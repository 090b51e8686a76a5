//! The thread that reads the keys of filters.

use super::{EarlierKeys, EarlierMonths, FILTERS_BYTES_MAX, KeyFilter, Past};
use crate::append::idempotency::KeyHash;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::postgres::Shared;
use crate::postgres::connection::Purpose;
use crate::postgres::months::months_of;
use crate::postgres::schema::events;
use crate::signal::Signal;
use audit_domain::{IdempotencyWindow, Month};
use diesel::PgConnection;
use diesel::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ledgers that wait for a filter, at most. Others ask again later.
const REQUESTS_MAX: usize = 1_000;
/// Keys that one statement reads.
const PAGE_KEYS: i64 = 10_000;
/// How long requests are collected, so that they share a connection.
const COLLECTING: Duration = Duration::from_secs(1);

/// The ledgers that wait for a filter.
#[derive(Debug, Default)]
pub(crate) struct Requests(BTreeSet<LedgerId>);

impl Signal<Requests> {
    /// Requests the keys of a ledger to be read.
    pub(crate) fn request(&self, ledger_id: LedgerId) {
        self.update(|requests| {
            let has_room = requests.0.len() < REQUESTS_MAX;
            has_room && requests.0.insert(ledger_id)
        });
    }

    fn take(&self) -> Option<LedgerId> {
        let mut next = None;
        self.update(|requests| {
            next = requests.0.pop_first();
            false
        });
        next
    }
}

/// Reads the keys of ledgers.
pub(crate) struct KeyReader {
    shared: Arc<Shared>,
}

impl KeyReader {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Works until the signal is closed.
    pub(crate) fn run(self, requests: &Signal<Requests>) {
        while requests.wait_for(|requests| !requests.0.is_empty()) {
            if let Err(error) = self.read_requested(requests) {
                log::warn!(
                    "cannot read the idempotency keys of earlier months, commits look them up: {error}"
                );
            }
            requests.rest(COLLECTING);
        }
    }

    /// Reads the keys of all ledgers that wait, on a connection of its own. After an error the one that was read asks again, once
    /// its commits have looked up as many keys.
    fn read_requested(&self, requests: &Signal<Requests>) -> Result<()> {
        let mut connection = None;
        while let Some(ledger_id) = requests.take() {
            // Before the keys are read, so that nothing of a server that lost commits comes into the memory after it.
            let commits = self.shared.commits();
            let connection = match &mut connection {
                Some(connection) => connection,
                none => none.insert(self.shared.place.connect(Purpose::Index)?.0),
            };
            let window = self.shared.window;
            let known = &commits.earlier_keys;
            if let Some(filter) = read_filter(connection, window, ledger_id, known, requests)? {
                log::debug!(
                    "read the idempotency keys of earlier months of ledger {}",
                    ledger_id.0
                );
                known.insert(ledger_id, filter);
            }
        }
        Ok(())
    }
}

/// Reads the keys of a ledger. `None` if there is nothing to read, it is too much, a filter of them is known, or the signal was closed.
///
/// The months before the newest one do not change, so pages of keys are read without a transaction around them: a snapshot that lasts
/// keeps dead rows of other tables.
fn read_filter(
    connection: &mut PgConnection,
    window: IdempotencyWindow,
    ledger_id: LedgerId,
    known: &EarlierKeys,
    requests: &Signal<Requests>,
) -> Result<Option<KeyFilter>> {
    let months = months_of(connection, &BTreeSet::from([ledger_id]))?.remove(&ledger_id);
    let months = months.unwrap_or_default();
    let Some((newest, earlier)) = months.split_last() else {
        return Ok(None);
    };
    let of = EarlierMonths::of_months(&months, window.first_month(newest.month), newest.first_seq);
    let (Some(of), Some(last)) = (of, earlier.last()) else {
        return Ok(None);
    };
    // Commits ask again while the keys are being read.
    if of.filter_bytes() > FILTERS_BYTES_MAX || known.get(ledger_id, &of).is_some() {
        return Ok(None);
    }
    let content_hash: Option<Vec<u8>> = events::table
        .find((ledger_id.0, of.seq_end - 1, last.month.number()))
        .select(events::content_hash)
        .get_result(connection)
        .optional()?;
    // Events that were removed by hand.
    let Some(content_hash) = content_hash else {
        return Ok(None);
    };
    let past = Past {
        seq_end: of.seq_end,
        month: last.month,
        content_hash,
    };
    let mut filter = KeyFilter::new(past, &of);
    for one in earlier.iter().filter(|one| one.month >= of.first_month) {
        if !read_month(connection, &mut filter, ledger_id, one.month, requests)? {
            return Ok(None);
        }
    }
    Ok(Some(filter))
}

/// Reads the keys of a month, from its unique index. Returns `false` if the signal was closed.
fn read_month(
    connection: &mut PgConnection,
    filter: &mut KeyFilter,
    ledger_id: LedgerId,
    month: Month,
    requests: &Signal<Requests>,
) -> Result<bool> {
    let mut last: Vec<u8> = Vec::new();
    loop {
        let began = Instant::now();
        let page: Vec<Vec<u8>> = events::table
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(events::month.eq(month.number()))
            .filter(events::idempotency_hash.gt(&last))
            .order(events::idempotency_hash)
            .select(events::idempotency_hash.assume_not_null())
            .limit(PAGE_KEYS)
            .load(connection)?;
        for hash in &page {
            let hash = KeyHash::try_from(hash.as_slice()).map_err(|_| StoreError::Damaged {
                what: "idempotency hash",
            })?;
            filter.insert(ledger_id, &hash);
        }
        match page.last() {
            Some(newest) if page.len() as i64 == PAGE_KEYS => last.clone_from(newest),
            _ => return Ok(!requests.is_closed()),
        }
        // As long as the page took, so that reading uses half of a processor at most.
        requests.rest(began.elapsed());
        if requests.is_closed() {
            return Ok(false);
        }
    }
}
