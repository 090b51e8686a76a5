//! The source of a copy. Opening it changes nothing; it may have a running server.

use super::connection;
use super::entry::{entry, ledger_and_seq};
use super::rows::NO_KEY;
use super::schema::{event_keys, events};
use super::tree::stored_records;
use crate::append::idempotency::KeyHash;
use crate::copy::record::{CopyRecord, ONLY_ROW};
use crate::copy::rows::{BatchLimits, SourceEvent, SourceLedger, SourceTile};
use crate::database::copied_tables::CopiedTable;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::head::LedgerMonth;
use crate::ledgers::heads::read_month;
use crate::migrate;
use crate::schema::{database_copy, ledger_months, ledgers, log_tiles};
use crate::tree::{removed_hashes, tiles_of};
use diesel::connection::{DefaultLoadingMode, SimpleConnection};
use diesel::dsl::max;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How long the copy waits for other processes to close the source. A server that was told to stop may still be closing it.
const LOCK_TIMEOUT_MS: u32 = 2_000;
/// The page cache.
const CACHE_KIB: u32 = 8 * 1024;

/// The source, which may be written meanwhile. Each statement reads what was committed before it began, and no statement is
/// open between two batches, so that the write-ahead log does not grow because of the copy.
pub(crate) struct Source {
    path: PathBuf,
    reader: SourceReader,
}

/// The source, which no other process has open, until this is dropped.
pub(crate) struct LockedSource {
    reader: SourceReader,
}

/// Reads the source.
pub(crate) struct SourceReader {
    connection: SqliteConnection,
}

/// Id, project, environment, size and frontier.
type LedgerRow = (i64, String, String, i64, Option<Vec<u8>>);
/// Entry, id, content hash, salt, digest as sent, whether redacted, sender, code of the row, and body.
type EventRow = (
    i64,
    Vec<u8>,
    Vec<u8>,
    Vec<u8>,
    Option<Vec<u8>>,
    bool,
    Option<i64>,
    Vec<u8>,
    String,
);

#[derive(QueryableByName)]
struct Secret {
    #[diesel(sql_type = Binary)]
    secret: Vec<u8>,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    row: String,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            let missing = format!("{}: there is no such database", path.display());
            return Err(StoreError::Unreachable(missing));
        }
        let mut connection = connection::open_to_copy(path, CACHE_KIB)?;
        connection.batch_execute("PRAGMA query_only = ON")?;
        migrate::check_sqlite(&mut connection, false)?;
        Ok(Self {
            path: path.to_owned(),
            reader: SourceReader { connection },
        })
    }

    pub(crate) const fn reader(&mut self) -> &mut SourceReader {
        &mut self.reader
    }

    /// A secret of the service.
    pub(crate) fn secret(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let found = diesel::sql_query("SELECT secret FROM secrets WHERE name = ?")
            .bind::<Text, _>(name)
            .get_result::<Secret>(&mut self.reader.connection);
        Ok(found.optional()?.map(|found| found.secret))
    }

    pub(crate) fn record(&mut self) -> Result<Option<CopyRecord>> {
        let row = database_copy::table.find(ONLY_ROW);
        Ok(row.get_result(&mut self.reader.connection).optional()?)
    }

    /// Locks the source. SQLite's exclusive mode needs that no other process has the database open, even to read; it keeps
    /// every other one from opening it until the connection is closed.
    pub(crate) fn lock(self) -> Result<LockedSource> {
        let Self { path, reader } = self;
        drop(reader);
        let connection = connection::open_locked(&path, CACHE_KIB, LOCK_TIMEOUT_MS)?;
        Ok(LockedSource {
            reader: SourceReader { connection },
        })
    }
}

impl LockedSource {
    pub(crate) const fn reader(&mut self) -> &mut SourceReader {
        &mut self.reader
    }

    /// Reads all rows of a table. Calls `insert` with JSON arrays of some of them, as objects: binary values are `\x` and
    /// hexadecimal digits, as PostgreSQL reads them. Returns the number of rows.
    pub(crate) fn rows(
        &mut self,
        table: &CopiedTable,
        bytes_max: usize,
        insert: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<u64> {
        let value = |column: &str| {
            format!(
                r#"'{column}', CASE typeof("{column}") WHEN 'blob' THEN '\x' || hex("{column}") ELSE "{column}" END"#
            )
        };
        let values: Vec<String> = table.columns().map(value).collect();
        let select = format!(
            r#"SELECT json_object({}) AS "row" FROM "{}""#,
            values.join(", "),
            table.name
        );
        let rows =
            diesel::sql_query(select).load_iter::<Row, DefaultLoadingMode>(&mut self.reader.connection)?;
        let (mut copied, mut pending) = (0, String::new());
        for row in rows {
            pending.push(if pending.is_empty() { '[' } else { ',' });
            pending.push_str(&row?.row);
            copied += 1;
            if pending.len() >= bytes_max {
                pending.push(']');
                insert(&pending)?;
                pending.clear();
            }
        }
        if !pending.is_empty() {
            pending.push(']');
            insert(&pending)?;
        }
        Ok(copied)
    }

    /// Marks the database as moved, and commits. The lock stays.
    pub(crate) fn mark_moved(&mut self, record: &CopyRecord) -> Result<()> {
        diesel::insert_into(database_copy::table)
            .values(record)
            .execute(&mut self.reader.connection)?;
        Ok(self.reader.connection.batch_execute("COMMIT")?)
    }
}

impl SourceReader {
    /// The ledgers.
    pub(crate) fn ledgers(&mut self) -> Result<Vec<SourceLedger>> {
        let rows: Vec<LedgerRow> = ledgers::table
            .order(ledgers::id)
            .select((
                ledgers::id,
                ledgers::project_id,
                ledgers::environment,
                ledgers::size,
                ledgers::frontier,
            ))
            .load(&mut self.connection)?;
        let ledger = |(id, project_id, environment, size, frontier)| SourceLedger {
            ledger_id: LedgerId(id),
            project_id,
            environment,
            size,
            frontier,
        };
        Ok(rows.into_iter().map(ledger).collect())
    }

    /// The months of a ledger, ascending.
    pub(crate) fn months(&mut self, ledger_id: LedgerId) -> Result<Vec<LedgerMonth>> {
        let rows: Vec<(i32, i64)> = ledger_months::table
            .filter(ledger_months::ledger_id.eq(ledger_id.0))
            .order(ledger_months::month)
            .select((ledger_months::month, ledger_months::first_seq))
            .load(&mut self.connection)?;
        Ok(rows.into_iter().map(read_month).collect())
    }

    /// The events of a ledger from `seqs.start` on, as many as the limits allow, and the end of the range that was read.
    pub(crate) fn events(
        &mut self,
        ledger_id: LedgerId,
        seqs: Range<i64>,
        limits: BatchLimits,
    ) -> Result<(Vec<SourceEvent>, i64)> {
        let connection = &mut self.connection;
        let seqs = seqs.start..seqs.end.min(seqs.start + limits.events);
        let mut hashes = key_hashes(connection, ledger_id, seqs.clone())?;
        let rows = events::table
            .filter(events::entry.ge(entry(ledger_id, seqs.start)))
            .filter(events::entry.lt(entry(ledger_id, seqs.end)))
            .order(events::entry)
            .select((
                events::entry,
                events::id,
                events::content_hash,
                events::content_salt,
                events::sent_digest,
                events::redacted,
                events::sender,
                events::row_code,
                events::body,
            ))
            .load_iter::<EventRow, DefaultLoadingMode>(connection)?;
        let (mut found, mut bytes) = (Vec::new(), 0);
        for row in rows {
            let (entry, id, content_hash, content_salt, sent_digest, redacted, sender, row_code, body) = row?;
            let (_, seq) = ledger_and_seq(entry);
            bytes += body.len();
            found.push(SourceEvent {
                seq,
                id,
                content_hash,
                content_salt,
                idempotency_hash: hashes.remove(&seq).map(Vec::from),
                sent_digest,
                redacted,
                sender,
                row_code,
                body,
            });
            if bytes >= limits.bytes {
                return Ok((found, seq + 1));
            }
        }
        Ok((found, seqs.end))
    }

    /// Those of these positions whose events were removed: a record is there, and no row.
    pub(crate) fn removed(&mut self, ledger_id: LedgerId, seqs: Range<i64>) -> Result<BTreeSet<i64>> {
        let range = seqs.start.cast_unsigned()..seqs.end.cast_unsigned();
        let records = stored_records(&mut self.connection, ledger_id, tiles_of(&range))?;
        if records.is_empty() {
            return Ok(BTreeSet::new());
        }
        let removed = removed_hashes(&records, &range)?;
        let mut removed: BTreeSet<i64> = removed.into_keys().map(u64::cast_signed).collect();
        let entries: Vec<i64> = events::table
            .filter(events::entry.ge(entry(ledger_id, seqs.start)))
            .filter(events::entry.lt(entry(ledger_id, seqs.end)))
            .select(events::entry)
            .load(&mut self.connection)?;
        for entry in entries {
            removed.remove(&ledger_and_seq(entry).1);
        }
        Ok(removed)
    }

    /// The full tiles of one level with these indexes.
    pub(crate) fn tiles(
        &mut self,
        ledger_id: LedgerId,
        level: i64,
        indexes: Range<i64>,
    ) -> Result<Vec<SourceTile>> {
        let rows: Vec<(i64, Vec<u8>)> = log_tiles::table
            .filter(log_tiles::ledger_id.eq(ledger_id.0))
            .filter(log_tiles::level.eq(level))
            .filter(log_tiles::tile_index.ge(indexes.start))
            .filter(log_tiles::tile_index.lt(indexes.end))
            .select((log_tiles::tile_index, log_tiles::hashes))
            .load(&mut self.connection)?;
        let tile = |(tile_index, hashes)| SourceTile {
            level,
            tile_index,
            hashes,
        };
        Ok(rows.into_iter().map(tile).collect())
    }
}

/// The hashes of the idempotency keys of these events, by `seq`.
fn key_hashes(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    seqs: Range<i64>,
) -> Result<HashMap<i64, KeyHash>> {
    let first: Option<i64> = event_keys::table
        .filter(event_keys::first_entry.ge(entry(ledger_id, 0)))
        .filter(event_keys::first_entry.le(entry(ledger_id, seqs.start)))
        .select(max(event_keys::first_entry))
        .get_result(connection)?;
    let commits: Vec<(i64, Vec<u8>)> = event_keys::table
        .filter(event_keys::first_entry.ge(first.unwrap_or(entry(ledger_id, seqs.start))))
        .filter(event_keys::first_entry.lt(entry(ledger_id, seqs.end)))
        .load(connection)?;
    let mut found = HashMap::new();
    for (first_entry, hashes) in commits {
        let (_, first_seq) = ledger_and_seq(first_entry);
        let keys = (first_seq..).zip(hashes.as_chunks().0);
        found.extend(
            keys.filter(|(seq, hash)| seqs.contains(seq) && **hash != NO_KEY)
                .map(|(seq, hash)| (seq, *hash)),
        );
    }
    Ok(found)
}
