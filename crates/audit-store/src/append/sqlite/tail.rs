//! Events that are stored and not in the index yet.
//!
//! FTS5 writes a segment for every transaction, so most of what it costs to index a few rows is not the rows. A small
//! commit therefore leaves its events in the tail, a list that readers look through beside the index, and the commit
//! that makes the list long enough indexes all of it; so does the writer when nothing comes for a moment.
//!
//! The list is in the database. Whoever finds events in it that somebody else left there, a process that is gone or one
//! that runs beside, reads what they are to be filed under from the events themselves.

use super::{Idempotency, KeyHash, KnownKey, LedgerId, NewRow, key_hash};
use crate::append::Tokens;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::query::sqlite::{ledger_and_seq, stored_event};
use crate::schema::sqlite::{event_index, event_tail, event_times};
use crate::tokens::identity_tokens;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::borrow::Cow;
use std::collections::HashMap;

/// As many rows are worth a segment of the index.
const INDEXED_ROWS_MIN: usize = 512;

/// The tail as the writer knows it that made it.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// What each event is to be filed under.
    tokens: HashMap<i64, String>,
    keys: HashMap<(LedgerId, KeyHash), KnownKey>,
    /// What the transaction under way changes.
    is_indexed: bool,
    left: Vec<(i64, String)>,
}

impl Tail {
    /// Whether this writer has left anything to be indexed.
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The event of the tail with this key.
    pub(super) fn known(&self, ledger_id: LedgerId, hash: KeyHash) -> Option<KnownKey> {
        self.keys.get(&(ledger_id, hash)).copied()
    }

    /// Files new rows, with all that is in the tail, or leaves them there.
    pub(super) fn add(&mut self, connection: &mut SqliteConnection, rows: Vec<(i64, String)>) -> Result<()> {
        if self.tokens.len() + rows.len() >= INDEXED_ROWS_MIN {
            self.is_indexed = true;
            return index(connection, &self.tokens, rows);
        }
        let positions: Vec<u8> = rows
            .iter()
            .flat_map(|(position, _)| position.to_be_bytes())
            .collect();
        diesel::insert_into(event_tail::table)
            .values(event_tail::positions.eq(positions))
            .execute(connection)?;
        self.left = rows;
        Ok(())
    }

    /// Files all that is in the tail.
    pub(crate) fn index(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        self.is_indexed = true;
        index(connection, &self.tokens, Vec::new())
    }

    /// Takes note of what was committed.
    pub(super) fn committed(&mut self, rows: &[NewRow]) {
        if std::mem::take(&mut self.is_indexed) {
            self.tokens.clear();
            self.keys.clear();
        }
        if self.left.is_empty() {
            return;
        }
        self.tokens.extend(self.left.drain(..));
        for row in rows {
            if let Some(Idempotency { hash, digest }) = row.idempotency {
                let id = row.record.stamp().id;
                self.keys.insert((row.ledger_id, hash), KnownKey { id, digest });
            }
        }
    }

    /// Forgets what a transaction changed that was not committed.
    pub(super) fn rolled_back(&mut self) {
        self.is_indexed = false;
        self.left.clear();
    }
}

/// The positions in the tail, in no order.
pub(crate) fn positions(connection: &mut SqliteConnection) -> Result<Vec<i64>> {
    let commits: Vec<Vec<u8>> = event_tail::table.select(event_tail::positions).load(connection)?;
    let positions = commits.iter().flat_map(|positions| {
        let (positions, _) = positions.as_chunks::<8>();
        positions.iter().map(|position| i64::from_be_bytes(*position))
    });
    Ok(positions.collect())
}

/// Files all that is in the tail, and new rows. `tokens` is what is known already of what the former is filed under.
pub(crate) fn index(
    connection: &mut SqliteConnection,
    tokens: &HashMap<i64, String>,
    new: Vec<(i64, String)>,
) -> Result<()> {
    let left = positions(connection)?;
    if !left.is_empty() {
        diesel::delete(event_tail::table).execute(connection)?;
    }
    let mut rows: Vec<(i64, Cow<'_, str>)> = Vec::with_capacity(left.len() + new.len());
    for position in left {
        let tokens = match tokens.get(&position) {
            Some(tokens) => Cow::Borrowed(tokens.as_str()),
            None => Cow::Owned(tokens_of(connection, position)?),
        };
        rows.push((position, tokens));
    }
    rows.extend(
        new.into_iter()
            .map(|(position, tokens)| (position, Cow::Owned(tokens))),
    );
    // FTS5 keeps what is new in memory and writes it out each time a row id goes backwards.
    rows.sort_unstable_by_key(|(position, _)| *position);
    for (position, tokens) in rows {
        diesel::insert_into(event_index::table)
            .values((
                event_index::rowid.eq(position),
                event_index::tokens.eq(tokens.as_ref()),
            ))
            .execute(connection)?;
    }
    Ok(())
}

/// Files all that is in the tail, for who did not leave it there.
pub(crate) fn index_all(connection: &mut SqliteConnection) -> Result<()> {
    index(connection, &HashMap::new(), Vec::new())
}

/// Files what a process that was killed has left in the tail.
pub(crate) fn index_abandoned(connection: &mut AnyConnection) -> Result<()> {
    let is_left = match connection {
        AnyConnection::Sqlite(sqlite) => !positions(sqlite)?.is_empty(),
        AnyConnection::Postgres(_) => false,
    };
    if !is_left {
        return Ok(());
    }
    connection.write_transaction(|connection| match connection {
        AnyConnection::Sqlite(sqlite) => index_all(sqlite),
        AnyConnection::Postgres(_) => Ok(()),
    })
}

/// What a stored event is filed under. One that is no event any more, because somebody changed it, is filed under its
/// ledger alone: who stores events now is not to be kept from it, and whoever verifies the log is told.
fn tokens_of(connection: &mut SqliteConnection, position: i64) -> Result<String> {
    let entry: Option<i64> = event_times::table
        .find(position)
        .select(event_times::entry)
        .get_result(connection)
        .optional()?;
    let Some(entry) = entry else {
        log::error!("an event that was to be indexed is gone");
        return Ok(String::new());
    };
    let (ledger_id, seq) = ledger_and_seq(entry);
    let hash = key_hash(connection, ledger_id, seq)?;
    let hash = hash.as_ref().map(KeyHash::as_slice);
    let identity = || identity_tokens(ledger_id.0, hash);
    let event = match stored_event(connection, entry) {
        Ok(event) => event,
        Err(StoreError::Damaged { what }) => {
            log::error!("an event that was to be indexed has a damaged {what}");
            return Ok(identity());
        }
        Err(error) => return Err(error),
    };
    match event.facets() {
        Ok(facets) => Ok(Tokens::of(ledger_id.0, &facets, hash).text()),
        Err(error) => {
            log::error!("an event that was to be indexed is damaged: {error}");
            Ok(identity())
        }
    }
}
