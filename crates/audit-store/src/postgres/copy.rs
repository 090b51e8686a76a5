//! The target of a copy: a database that no server has opened.

use super::append::group_number;
use super::connection::{Purpose, connect};
use super::events::{before_months_after, since_month_of};
use super::partitions;
use super::pooler;
use super::schema::{events, index_groups};
use crate::copy::record::{CopyRecord, ONLY_ROW};
use crate::copy::rows::{CheckedEvent, SourceEvent, SourceTile};
use crate::database::copied_tables::{COPIED_TABLES, CopiedTable};
use crate::database::copy::refused;
use crate::database::url::split_schema;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::migrate;
use crate::schema::{database_copy, ledgers, log_tiles};
use audit_ledger::TileId;
use diesel::ExecuteCopyFromDsl;
use diesel::connection::SimpleConnection;
use diesel::dsl::max;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Text};
use std::collections::BTreeSet;

/// The advisory lock of a copy: of two processes that copy into one database, one is refused. It ends with the connection.
const COPY_LOCK: i64 = 0x6175_6469_745f_6370;
/// Names in a message, at most.
const PRINTED_NAMES_MAX: usize = 5;

/// The target.
pub(crate) struct Target {
    connection: PgConnection,
}

/// An event, as it is written.
#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct NewEvent {
    month: i32,
    ledger_id: i64,
    seq: i64,
    id: Vec<u8>,
    occurred_at: i64,
    content_hash: Vec<u8>,
    content_salt: Vec<u8>,
    idempotency_hash: Option<Vec<u8>>,
    sent_digest: Option<Vec<u8>>,
    redacted: bool,
    sender: Option<i64>,
    row_code: Vec<u8>,
    body: String,
}

#[derive(Insertable)]
#[diesel(table_name = log_tiles, treat_none_as_default_value = false)]
struct NewTile {
    ledger_id: i64,
    level: i64,
    tile_index: i64,
    hashes: Vec<u8>,
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Bool)]
    found: bool,
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

impl Target {
    /// Opens the database, creating its tables if it is new.
    pub(crate) fn open(url: &str) -> Result<Self> {
        pooler::refuse_shared_sessions(url)?;
        let mut connection = connect(url, Purpose::Migrate)?;
        let lock = format!("SELECT pg_try_advisory_lock({COPY_LOCK}) AS found");
        if !ask(&mut connection, &lock)? {
            return Err(refused("another copy to the target is running"));
        }
        refuse_other_tables(&mut connection)?;
        let (_, schema) = split_schema(url);
        migrate::postgres(&mut connection, schema)?;
        Ok(Self { connection })
    }

    pub(crate) fn record(&mut self) -> Result<Option<CopyRecord>> {
        let row = database_copy::table.find(ONLY_ROW);
        Ok(row.get_result(&mut self.connection).optional()?)
    }

    /// Begins a copy to an empty database.
    pub(crate) fn begin(&mut self, record: &CopyRecord) -> Result<()> {
        self.connection.transaction(|connection| {
            refuse_rows(connection)?;
            diesel::insert_into(database_copy::table)
                .values(record)
                .execute(connection)?;
            Ok(())
        })
    }

    pub(crate) fn replace_record(&mut self, record: &CopyRecord) -> Result<()> {
        self.connection.transaction(|connection| {
            diesel::delete(database_copy::table).execute(connection)?;
            diesel::insert_into(database_copy::table)
                .values(record)
                .execute(connection)?;
            Ok(())
        })
    }

    /// How far a ledger is copied. Events are copied in order; of a range without events, all of which were removed, the tiles are there.
    pub(crate) fn copied_events(&mut self, ledger_id: LedgerId) -> Result<i64> {
        let last: Option<i64> = events::table
            .filter(events::ledger_id.eq(ledger_id.0))
            .select(max(events::seq))
            .get_result(&mut self.connection)?;
        let last_tile: Option<i64> = log_tiles::table
            .filter(log_tiles::ledger_id.eq(ledger_id.0))
            .filter(log_tiles::level.eq(0_i64))
            .select(max(log_tiles::tile_index))
            .get_result(&mut self.connection)?;
        let of_events = last.map_or(0, |last| last + 1);
        let of_tiles = last_tile.map_or(0, |last| (last + 1) * i64::from(TileId::WIDTH_MAX));
        Ok(of_events.max(of_tiles))
    }

    /// Adds events and the tiles that they complete, in one transaction.
    pub(crate) fn append(
        &mut self,
        ledger_id: LedgerId,
        checked: Vec<CheckedEvent>,
        tiles: Vec<SourceTile>,
    ) -> Result<()> {
        for month in checked
            .iter()
            .map(|checked| checked.month)
            .collect::<BTreeSet<_>>()
        {
            partitions::create(&mut self.connection, month)?;
        }
        let checked = checked.into_iter();
        let rows: Vec<NewEvent> = checked.map(|checked| new_event(ledger_id, checked)).collect();
        let tile = |tile: SourceTile| NewTile {
            ledger_id: ledger_id.0,
            level: tile.level,
            tile_index: tile.tile_index,
            hashes: tile.hashes,
        };
        let tiles: Vec<NewTile> = tiles.into_iter().map(tile).collect();
        self.connection.transaction(|connection| {
            if !rows.is_empty() {
                diesel::copy_from(events::table)
                    .from_insertable(rows)
                    .execute(connection)?;
            }
            if !tiles.is_empty() {
                diesel::copy_from(log_tiles::table)
                    .from_insertable(tiles)
                    .execute(connection)?;
            }
            Ok(())
        })
    }

    /// Replaces the rows of all [`COPIED_TABLES`] by those that `work` inserts, in one transaction, and derives from them what
    /// the source does not have: the groups of the ledgers and the next number of a ledger. The index stays without a format,
    /// so the first server enters all events into the backlog.
    ///
    /// An error leaves the transaction open; the end of the connection rolls it back, and the copy ends with it.
    pub(crate) fn replace_tables<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.batch_execute("BEGIN")?;
        // Those that refer to others first. TRUNCATE would be refused because tables of the directory refer to some.
        for table in COPIED_TABLES.iter().rev() {
            self.connection
                .batch_execute(&format!("DELETE FROM {}", table.name))?;
        }
        self.connection.batch_execute("DELETE FROM index_format")?;
        let outcome = work(self)?;
        self.set_groups()?;
        self.connection.batch_execute(
            "UPDATE counters SET value = coalesce((SELECT max(id) FROM ledgers), value) WHERE name = 'ledgers';
             COMMIT",
        )?;
        Ok(outcome)
    }

    /// Inserts rows, a JSON array of objects.
    pub(crate) fn insert_rows(&mut self, table: &CopiedTable, rows: &str) -> Result<()> {
        let columns: Vec<&str> = table.columns().collect();
        let columns = columns.join(", ");
        let name = table.name;
        diesel::sql_query(format!(
            "INSERT INTO {name} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{name}, CAST($1 AS json))"
        ))
        .bind::<Text, _>(rows)
        .execute(&mut self.connection)?;
        Ok(())
    }

    /// Deletes events. The months of the ledgers are copied.
    pub(crate) fn delete_events(&mut self, ledger_id: LedgerId, seqs: Vec<i64>) -> Result<()> {
        let (Some(first), Some(last)) = (seqs.first().copied(), seqs.last().copied()) else {
            return Ok(());
        };
        let rows = events::table
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(since_month_of(ledger_id, first))
            .filter(before_months_after(ledger_id, last + 1))
            .filter(events::seq.eq_any(seqs));
        diesel::delete(rows).execute(&mut self.connection)?;
        Ok(())
    }

    fn set_groups(&mut self) -> Result<()> {
        let count: i64 = index_groups::table.count().get_result(&mut self.connection)?;
        let projects: Vec<String> = ledgers::table
            .select(ledgers::project_id)
            .distinct()
            .load(&mut self.connection)?;
        let groups = projects.iter().map(|project_id| group_number(count, project_id));
        let groups = groups.collect::<Result<Vec<i64>>>()?;
        diesel::sql_query(
            "UPDATE ledgers SET group_id = given.group_id FROM unnest($1, $2) AS given (project_id, group_id)
             WHERE ledgers.project_id = given.project_id",
        )
        .bind::<Array<Text>, _>(&projects)
        .bind::<Array<BigInt>, _>(&groups)
        .execute(&mut self.connection)?;
        Ok(())
    }
}

fn new_event(ledger_id: LedgerId, checked: CheckedEvent) -> NewEvent {
    let CheckedEvent {
        event,
        month,
        occurred_at,
    } = checked;
    let SourceEvent {
        seq,
        id,
        content_hash,
        content_salt,
        idempotency_hash,
        sent_digest,
        redacted,
        sender,
        row_code,
        body,
    } = event;
    NewEvent {
        month: month.number(),
        ledger_id: ledger_id.0,
        seq,
        id,
        occurred_at: occurred_at.as_micros(),
        content_hash,
        content_salt,
        idempotency_hash,
        sent_digest,
        redacted,
        sender,
        row_code,
        body,
    }
}

fn ask(connection: &mut PgConnection, query: &str) -> Result<bool> {
    let found: Found = diesel::sql_query(query).get_result(connection)?;
    Ok(found.found)
}

/// Refuses a database that another program uses. One of this service has the record of its migrations.
fn refuse_other_tables(connection: &mut PgConnection) -> Result<()> {
    let tables: Vec<Name> = diesel::sql_query(
        "SELECT relname::text AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
             AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
             AND to_regclass('__diesel_schema_migrations') IS NULL
         ORDER BY relname",
    )
    .load(connection)?;
    if tables.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = tables.into_iter().map(|table| table.name).collect();
    Err(refused(format!(
        "the target is not empty: it has the tables of another program: {}",
        printed(&names)
    )))
}

/// Refuses a database of this service that has rows.
fn refuse_rows(connection: &mut PgConnection) -> Result<()> {
    let mut found = Vec::new();
    let tables = COPIED_TABLES.iter().map(|table| table.name);
    // The migration inserts the row of the deployment.
    for name in tables
        .chain(["events", "log_tiles"])
        .filter(|name| *name != "deployment")
    {
        let exists = format!("SELECT EXISTS (SELECT FROM {name}) AS found");
        if ask(connection, &exists)? {
            found.push(name.to_owned());
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(refused(format!(
            "the target is not empty, and not a copy that was begun: it has rows in {}",
            printed(&found)
        ))),
    }
}

fn printed(names: &[String]) -> String {
    let mut text = names[..names.len().min(PRINTED_NAMES_MAX)].join(", ");
    if names.len() > PRINTED_NAMES_MAX {
        text.push_str(&format!(" and {} more", names.len() - PRINTED_NAMES_MAX));
    }
    text
}
