//! The rows of a project: copied from one cell to another, and removed.

use super::tables::{COPIED_TABLES, DERIVED_TABLES, OF_LEDGERS, OF_WEBHOOKS};
use super::{PAUSE_SECONDS_MAX, ProjectMove};
use crate::append::LedgerId;
use crate::cells::CellId;
use crate::database::write_transaction;
use crate::error::{Result, StoreError};
use crate::postgres::PostgresSession;
use crate::postgres::append::group_of;
use crate::postgres::partitions;
use crate::tree::{catch_up, read_frontier};
use audit_domain::{Month, ProjectId};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text};
use diesel::{PgConnection, QueryableByName, RunQueryDsl, sql_query};

/// Events that are copied or removed in one transaction.
pub(super) const EVENTS_PER_PART: i64 = 1_000;
/// Rows of another table that are copied at once.
const ROWS_PER_PART: i64 = 1_000;

/// The columns of `ledgers` that are not copied as they are.
const OWN_COLUMNS: &str =
    "'id', 'project_id', 'environment', 'group_id', 'configuration_version', 'size', 'frontier'";

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    text: String,
}

#[derive(QueryableByName)]
struct RowsRow {
    #[diesel(sql_type = Text)]
    rows: String,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct MonthRow {
    #[diesel(sql_type = Integer)]
    month: i32,
}

/// A ledger, as it must be equal in both cells.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub(super) struct Head {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
    #[diesel(sql_type = Text)]
    environment: String,
    #[diesel(sql_type = BigInt)]
    size: i64,
    #[diesel(sql_type = Nullable<Binary>)]
    last_event_id: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Binary>)]
    frontier: Option<Vec<u8>>,
}

impl ProjectMove {
    /// A text that the source computes of the project `$1`.
    pub(super) fn source_text(&mut self, query: &str) -> Result<String> {
        let row: TextRow = sql_query(query)
            .bind::<Text, _>(self.project_id.to_string())
            .get_result(&mut self.source.connection)?;
        Ok(row.text)
    }

    /// Adds the project and its ledgers to the target, which does not serve them.
    pub(super) fn insert_heads(&mut self) -> Result<()> {
        let project = self.source_text(
            "SELECT coalesce(json_agg(projects), '[]')::text AS text FROM projects WHERE id = $1",
        )?;
        let source = heads(&mut self.source, self.project_id)?;
        let project_id = self.project_id;
        write_transaction(&mut self.target, |session| {
            let group_id = group_of(session, project_id)?;
            let connection = &mut session.connection;
            sql_query(
                "INSERT INTO projects SELECT * FROM json_populate_recordset(NULL::projects, $1::json) \
                 ON CONFLICT (id) DO NOTHING",
            )
            .bind::<Text, _>(project)
            .execute(connection)?;
            for head in &source {
                sql_query(
                    "INSERT INTO ledgers (id, project_id, environment, group_id, configuration_version, size) \
                     VALUES ($1, $2, $3, $4, 0, 0) ON CONFLICT (id) DO NOTHING",
                )
                .bind::<BigInt, _>(head.id)
                .bind::<Text, _>(project_id.to_string())
                .bind::<Text, _>(&head.environment)
                .bind::<BigInt, _>(group_id)
                .execute(connection)?;
            }
            let served: i64 = sql_count(connection, project_id)?;
            match served {
                0 => Ok(()),
                // The directory names the source.
                _ => Err(StoreError::Damaged {
                    what: "placement: two cells serve the project",
                }),
            }
        })
    }

    /// Copies the events that the target does not have.
    pub(super) fn copy_events(&mut self) -> Result<u64> {
        let mut copied = 0;
        for head in heads(&mut self.source, self.project_id)? {
            loop {
                let first = head_of(&mut self.target, head.id)?.size;
                let end = head.size.min(first + EVENTS_PER_PART);
                if end <= first {
                    break;
                }
                self.copy_part(head.id, first, end)?;
                copied += (end - first).unsigned_abs();
            }
        }
        Ok(copied)
    }

    /// Copies consecutive events, and grows the tree of the copy by them.
    fn copy_part(&mut self, ledger_id: i64, first: i64, end: i64) -> Result<()> {
        let part: RowsRow = sql_query(
            "SELECT coalesce(json_agg(part), '[]')::text AS rows, count(*) AS count FROM \
             (SELECT * FROM events WHERE ledger_id = $1 AND seq >= $2 AND seq < $3 ORDER BY seq) AS part",
        )
        .bind::<BigInt, _>(ledger_id)
        .bind::<BigInt, _>(first)
        .bind::<BigInt, _>(end)
        .get_result(&mut self.source.connection)?;
        if part.count != end - first {
            return Err(StoreError::Damaged {
                what: "ledger with missing events",
            });
        }
        let months: Vec<MonthRow> =
            sql_query("SELECT DISTINCT month FROM events WHERE ledger_id = $1 AND seq >= $2 AND seq < $3")
                .bind::<BigInt, _>(ledger_id)
                .bind::<BigInt, _>(first)
                .bind::<BigInt, _>(end)
                .load(&mut self.source.connection)?;
        for row in months {
            partitions::create_in(&mut self.target, Month::from_number(row.month))?;
        }
        write_transaction(&mut self.target, |session| {
            let frontier = head_of(session, ledger_id)?.frontier;
            sql_query("INSERT INTO events SELECT * FROM json_populate_recordset(NULL::events, $1::json)")
                .bind::<Text, _>(&part.rows)
                .execute(&mut session.connection)?;
            sql_query(
                "INSERT INTO event_backlog (group_id, ledger_id, first_seq, end_seq, month) \
                 SELECT group_id, ledgers.id, min(seq), max(seq) + 1, month FROM ledgers \
                 JOIN events ON events.ledger_id = ledgers.id \
                 WHERE ledgers.id = $1 AND seq >= $2 AND seq < $3 GROUP BY group_id, ledgers.id, month",
            )
            .bind::<BigInt, _>(ledger_id)
            .bind::<BigInt, _>(first)
            .bind::<BigInt, _>(end)
            .execute(&mut session.connection)?;
            let frontier = read_frontier(frontier.as_deref())?;
            let frontier = catch_up(session, LedgerId(ledger_id), frontier, end.unsigned_abs())?;
            sql_query("UPDATE ledgers SET size = $2, frontier = $3 WHERE id = $1")
                .bind::<BigInt, _>(ledger_id)
                .bind::<BigInt, _>(end)
                .bind::<Binary, _>(frontier.encode())
                .execute(&mut session.connection)?;
            Ok(())
        })
    }

    /// Removes the rows of an earlier attempt from the target.
    pub(super) fn remove_rows(&mut self) -> Result<()> {
        for (table, condition) in COPIED_TABLES.iter().rev() {
            delete_rows(
                &mut self.target,
                table,
                condition,
                self.project_id,
                &self.ledger_ids,
            )?;
        }
        Ok(())
    }

    /// Copies the rows of a table. They are read in one snapshot.
    pub(super) fn copy_table(&mut self, table: &str, condition: &str) -> Result<()> {
        let begin = format!(
            "BEGIN READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '{PAUSE_SECONDS_MAX}s'"
        );
        self.source.batch_execute(&begin)?;
        let copied = self.copy_rows(table, condition);
        self.source.batch_execute("ROLLBACK")?;
        copied
    }

    fn copy_rows(&mut self, table: &str, condition: &str) -> Result<()> {
        sql_query(format!(
            "DECLARE copied NO SCROLL CURSOR FOR SELECT row_to_json(copied)::text AS text FROM {table} AS copied \
             WHERE {condition} AND ($1 = $1 AND $2 = $2)"
        ))
        .bind::<Text, _>(self.project_id.to_string())
        .bind::<Array<BigInt>, _>(&self.ledger_ids)
        .execute(&mut self.source.connection)?;
        loop {
            let rows: Vec<TextRow> =
                sql_query(format!("FETCH {ROWS_PER_PART} FROM copied")).load(&mut self.source.connection)?;
            if rows.is_empty() {
                return Ok(());
            }
            let rows: Vec<String> = rows.into_iter().map(|row| row.text).collect();
            sql_query(format!(
                "INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, $1::json)"
            ))
            .bind::<Text, _>(format!("[{}]", rows.join(",")))
            .execute(&mut self.target.connection)?;
        }
    }

    /// Copies the columns of the heads that the events do not give.
    pub(super) fn copy_heads(&mut self) -> Result<()> {
        let rows = self.source_text(
            "SELECT coalesce(json_agg(ledgers), '[]')::text AS text FROM ledgers WHERE project_id = $1",
        )?;
        let columns: TextRow = sql_query(format!(
            "SELECT string_agg(format('%1$I = head.%1$I', attname), ', ') AS text FROM pg_attribute \
             WHERE attrelid = 'ledgers'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ({OWN_COLUMNS})"
        ))
        .get_result(&mut self.target.connection)?;
        sql_query(format!(
            "UPDATE ledgers SET {} FROM json_populate_recordset(NULL::ledgers, $1::json) AS head WHERE ledgers.id = head.id",
            columns.text
        ))
        .bind::<Text, _>(rows)
        .execute(&mut self.target.connection)?;
        Ok(())
    }
}

/// The number of the project's ledgers that the cell serves.
fn sql_count(connection: &mut PgConnection, project_id: ProjectId) -> Result<i64> {
    let counted: RowsRow = sql_query(
        "SELECT '' AS rows, count(*) AS count FROM ledgers WHERE project_id = $1 AND configuration_version <> 0",
    )
    .bind::<Text, _>(project_id.to_string())
    .get_result(connection)?;
    Ok(counted.count)
}

pub(super) fn heads(session: &mut PostgresSession, project_id: ProjectId) -> Result<Vec<Head>> {
    Ok(sql_query(
        "SELECT id, environment, size, last_event_id, frontier FROM ledgers WHERE project_id = $1 ORDER BY id",
    )
    .bind::<Text, _>(project_id.to_string())
    .load(&mut session.connection)?)
}

fn head_of(session: &mut PostgresSession, ledger_id: i64) -> Result<Head> {
    Ok(sql_query(
        "SELECT id, environment, size, last_event_id, frontier FROM ledgers WHERE id = $1 FOR UPDATE",
    )
    .bind::<BigInt, _>(ledger_id)
    .get_result(&mut session.connection)?)
}

/// Has the cell serve the project no longer. Attempts of deliveries that are in flight are repeated by the cell that
/// serves the project next.
pub(super) fn set_unserved(session: &mut PostgresSession, project_id: ProjectId) -> Result<()> {
    let connection = &mut session.connection;
    // In the order in which commits lock them.
    sql_query("SELECT id FROM ledgers WHERE project_id = $1 ORDER BY id FOR UPDATE")
        .bind::<Text, _>(project_id.to_string())
        .execute(connection)?;
    sql_query("UPDATE ledgers SET configuration_version = 0 WHERE project_id = $1")
        .bind::<Text, _>(project_id.to_string())
        .execute(connection)?;
    sql_query(format!(
        "UPDATE webhook_deliveries SET stage = 'moved:' || stage, lease = NULL \
         WHERE {OF_WEBHOOKS} AND stage IN ('ready', 'waiting', 'held')"
    ))
    .bind::<Text, _>(project_id.to_string())
    .execute(connection)?;
    Ok(())
}

fn delete_rows(
    session: &mut PostgresSession,
    table: &str,
    condition: &str,
    project_id: ProjectId,
    ledger_ids: &[i64],
) -> Result<()> {
    sql_query(format!(
        "DELETE FROM {table} WHERE {condition} AND ($1 = $1 AND $2 = $2)"
    ))
    .bind::<Text, _>(project_id.to_string())
    .bind::<Array<BigInt>, _>(ledger_ids)
    .execute(&mut session.connection)?;
    Ok(())
}

/// Removes the copy of a project from a cell that does not serve it. The list of projects stays in the home cell.
pub(super) fn clean_copy(session: &mut PostgresSession, project_id: ProjectId, cell: CellId) -> Result<()> {
    if sql_count(&mut session.connection, project_id)? > 0 {
        return Err(StoreError::Damaged {
            what: "placement: a copy of a project is served",
        });
    }
    let copies = heads(session, project_id)?;
    let ledger_ids: Vec<i64> = copies.iter().map(|head| head.id).collect();
    for (table, condition) in COPIED_TABLES.iter().rev() {
        delete_rows(session, table, condition, project_id, &ledger_ids)?;
    }
    for table in DERIVED_TABLES {
        delete_rows(session, table, OF_LEDGERS, project_id, &ledger_ids)?;
    }
    for head in &copies {
        let mut end = head.size;
        while end > 0 {
            sql_query("DELETE FROM events WHERE ledger_id = $1 AND seq >= $2 AND seq < $3")
                .bind::<BigInt, _>(head.id)
                .bind::<BigInt, _>(end - EVENTS_PER_PART)
                .bind::<BigInt, _>(end)
                .execute(&mut session.connection)?;
            end -= EVENTS_PER_PART;
        }
    }
    delete_rows(session, "ledgers", "project_id = $1", project_id, &ledger_ids)?;
    if cell != CellId::HOME {
        delete_rows(session, "projects", "id = $1", project_id, &ledger_ids)?;
    }
    Ok(())
}
