//! Alerts as rows.

use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::alerts;
use audit_domain::{EventId, Timestamp};
use diesel::prelude::*;

/// An alert as it is stored. Words are kept as they are; the application reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct AlertRow {
    /// Sorts as fired.
    pub id: [u8; 16],
    pub rule_id: String,
    pub rule_name: String,
    pub severity: String,
    pub status: String,
    pub group_key: String,
    pub event_count: u64,
    pub sample_event_ids: Vec<EventId>,
    pub fired_at: Timestamp,
    pub acknowledged_at: Option<Timestamp>,
    pub resolved_at: Option<Timestamp>,
}

/// Which alerts a query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of an alert")]
pub struct AlertFilter {
    pub rule_id: Option<String>,
    pub severity: Option<String>,
    pub status: Option<String>,
    /// Fired then or later.
    pub start: Option<Timestamp>,
    /// Fired then or earlier.
    pub end: Option<Timestamp>,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = alerts, treat_none_as_default_value = false)]
struct Columns {
    id: Vec<u8>,
    rule_id: String,
    rule_name: String,
    severity: String,
    status: String,
    group_key: String,
    event_count: i64,
    sample_event_ids: Vec<u8>,
    fired_at: i64,
    acknowledged_at: Option<i64>,
    resolved_at: Option<i64>,
}

const EVENT_ID_BYTES: usize = 16;
/// Rows of one statement on PostgreSQL, which takes 65,535 values.
const INSERTED_ROWS_MAX: usize = 2_000;

impl From<&AlertRow> for Columns {
    fn from(row: &AlertRow) -> Self {
        Self {
            id: row.id.to_vec(),
            rule_id: row.rule_id.clone(),
            rule_name: row.rule_name.clone(),
            severity: row.severity.clone(),
            status: row.status.clone(),
            group_key: row.group_key.clone(),
            event_count: i64::try_from(row.event_count).unwrap_or(i64::MAX),
            sample_event_ids: row.sample_event_ids.iter().flat_map(|id| id.to_bytes()).collect(),
            fired_at: row.fired_at.as_micros(),
            acknowledged_at: row.acknowledged_at.map(Timestamp::as_micros),
            resolved_at: row.resolved_at.map(Timestamp::as_micros),
        }
    }
}

impl TryFrom<Columns> for AlertRow {
    type Error = StoreError;

    fn try_from(columns: Columns) -> Result<Self> {
        let (samples, rest) = columns.sample_event_ids.as_chunks::<EVENT_ID_BYTES>();
        if !rest.is_empty() {
            return Err(StoreError::Damaged {
                what: "list of event ids",
            });
        }
        Ok(Self {
            id: columns
                .id
                .try_into()
                .map_err(|_| StoreError::Damaged { what: "alert id" })?,
            rule_id: columns.rule_id,
            rule_name: columns.rule_name,
            severity: columns.severity,
            status: columns.status,
            group_key: columns.group_key,
            event_count: columns.event_count.unsigned_abs(),
            sample_event_ids: samples.iter().map(|bytes| EventId::from_bytes(*bytes)).collect(),
            fired_at: Timestamp::from_micros(columns.fired_at),
            acknowledged_at: columns.acknowledged_at.map(Timestamp::from_micros),
            resolved_at: columns.resolved_at.map(Timestamp::from_micros),
        })
    }
}

/// Stores alerts, in the transaction that stores their events.
pub(crate) fn insert_alerts(connection: &mut AnyConnection, raised: &[(LedgerId, AlertRow)]) -> Result<()> {
    let row =
        |(ledger_id, alert): &(LedgerId, AlertRow)| (alerts::ledger_id.eq(ledger_id.0), Columns::from(alert));
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            for alert in raised {
                diesel::insert_into(alerts::table)
                    .values(row(alert))
                    .execute(sqlite)?;
            }
        }
        // One round trip for many.
        AnyConnection::Postgres(postgres) => {
            for some in raised.chunks(INSERTED_ROWS_MAX) {
                let rows: Vec<_> = some.iter().map(row).collect();
                diesel::insert_into(alerts::table)
                    .values(rows)
                    .execute(postgres)?;
            }
        }
    }
    Ok(())
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// Alerts of a ledger, newest first: those after the one with the id `after`, `limit` at most.
    pub fn alerts(
        &mut self,
        ledger_id: LedgerId,
        filter: &AlertFilter,
        after: Option<[u8; 16]>,
        limit: usize,
    ) -> Result<Vec<AlertRow>> {
        let mut query = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .select(Columns::as_select())
            .order(alerts::id.desc())
            .limit(i64::try_from(limit).unwrap_or(i64::MAX))
            .into_boxed();
        if let Some(rule_id) = &filter.rule_id {
            query = query.filter(alerts::rule_id.eq(rule_id));
        }
        if let Some(severity) = &filter.severity {
            query = query.filter(alerts::severity.eq(severity));
        }
        if let Some(status) = &filter.status {
            query = query.filter(alerts::status.eq(status));
        }
        // Times bound the ids, which is what the indexes are in order of.
        if let Some(start) = filter.start {
            query = query.filter(alerts::id.ge(bound(start, 0).to_vec()));
            query = query.filter(alerts::fired_at.ge(start.as_micros()));
        }
        if let Some(end) = filter.end {
            query = query.filter(alerts::id.le(bound(end, u8::MAX).to_vec()));
            query = query.filter(alerts::fired_at.le(end.as_micros()));
        }
        if let Some(after) = after {
            query = query.filter(alerts::id.lt(after.to_vec()));
        }
        let rows = query.load::<Columns>(self.connection)?;
        rows.into_iter().map(AlertRow::try_from).collect()
    }

    /// An alert, which nobody else changes until the end of the transaction.
    pub fn lock_alert(&mut self, ledger_id: LedgerId, id: [u8; 16]) -> Result<Option<AlertRow>> {
        // SQLite's writer holds the whole database; PostgreSQL's must take the row.
        if let AnyConnection::Postgres(postgres) = self.connection {
            let row = alerts::table.find((ledger_id.0, id.to_vec()));
            row.select(alerts::id)
                .for_update()
                .get_result::<Vec<u8>>(postgres)
                .optional()?;
        }
        self.alert(ledger_id, &id)
    }

    /// Writes where an alert is in its life; the rest of it never changes.
    pub fn update_alert_status(&mut self, ledger_id: LedgerId, alert: &AlertRow) -> Result<()> {
        diesel::update(alerts::table.find((ledger_id.0, alert.id.to_vec())))
            .set((
                alerts::status.eq(&alert.status),
                alerts::acknowledged_at.eq(alert.acknowledged_at.map(Timestamp::as_micros)),
                alerts::resolved_at.eq(alert.resolved_at.map(Timestamp::as_micros)),
            ))
            .execute(self.connection)?;
        Ok(())
    }

    /// An alert.
    pub(crate) fn alert(&mut self, ledger_id: LedgerId, id: &[u8]) -> Result<Option<AlertRow>> {
        let row = alerts::table
            .find((ledger_id.0, id))
            .select(Columns::as_select())
            .get_result::<Columns>(self.connection)
            .optional()?;
        row.map(AlertRow::try_from).transpose()
    }
}

/// The first (`fill` 0) or last (255) id of a millisecond.
fn bound(at: Timestamp, fill: u8) -> [u8; 16] {
    EventId::new(at, [fill; 10]).to_bytes()
}
