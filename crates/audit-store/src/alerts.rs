//! Alerts.

use crate::access::{Reader, Writer};
use crate::append::alert_groups::RaisedAlert;
use crate::columns::{stored, stored_if_some};
use crate::database::select_for_update;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::schema::{alert_groups, alerts};
use audit_alerts::{Alert, AlertId, AlertRate, AlertState, AlertStatus, Severity, SuppressedAlerts};
use audit_domain::{EventId, Timestamp};
use diesel::prelude::*;

/// A filter of alerts. A field of `None` is no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of an alert")]
pub struct AlertFilter {
    /// Any text; a rule of this id need not exist.
    pub rule_id: Option<String>,
    pub severity: Option<Severity>,
    pub status: Option<AlertStatus>,
    /// Fired at this time or later.
    pub start: Option<Timestamp>,
    /// Fired at this time or earlier.
    pub end: Option<Timestamp>,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = alerts, treat_none_as_default_value = false)]
pub(crate) struct AlertColumns {
    ledger_id: i64,
    pub(crate) id: Vec<u8>,
    rule_id: String,
    rule_name: String,
    severity: String,
    status: String,
    tenant_id: String,
    group_by: String,
    group_key: String,
    count_distinct: Option<String>,
    event_count: i64,
    sample_event_ids: Vec<u8>,
    fired_at: i64,
    acknowledged_at: Option<i64>,
    resolved_at: Option<i64>,
}

/// The row of a raised alert. `undelivered_to` is the only trace of its deliveries until the dispatcher writes them.
#[derive(Insertable)]
#[diesel(table_name = alerts, treat_none_as_default_value = false)]
pub(crate) struct NewAlertRow {
    #[diesel(embed)]
    columns: AlertColumns,
    undelivered_to: Option<String>,
}

impl NewAlertRow {
    pub(crate) fn of(raised: &RaisedAlert) -> Self {
        let webhook_ids = &raised.undelivered_to;
        Self {
            columns: AlertColumns::of(raised.ledger_id, &raised.alert),
            undelivered_to: (!webhook_ids.is_empty()).then(|| webhook_ids.join(" ")),
        }
    }
}

const EVENT_ID_BYTES: usize = 16;

impl AlertColumns {
    /// The row of an alert.
    fn of(ledger_id: LedgerId, alert: &Alert) -> Self {
        let Alert {
            id,
            rule_id,
            rule_name,
            severity,
            state,
            tenant_id,
            group_by,
            group_key,
            count_distinct,
            event_count,
            sample_event_ids,
            fired_at,
        } = alert;
        Self {
            ledger_id: ledger_id.0,
            id: id.to_bytes().to_vec(),
            rule_id: rule_id.to_string(),
            rule_name: rule_name.to_string(),
            severity: severity.to_string(),
            status: state.status().to_string(),
            tenant_id: tenant_id.clone(),
            group_by: group_by.to_string(),
            group_key: group_key.clone(),
            count_distinct: count_distinct.map(|field| field.to_string()),
            event_count: i64::try_from(*event_count).unwrap_or(i64::MAX),
            sample_event_ids: sample_event_ids.iter().flat_map(|id| id.to_bytes()).collect(),
            fired_at: fired_at.as_micros(),
            acknowledged_at: state.acknowledged_at().map(Timestamp::as_micros),
            resolved_at: state.resolved_at().map(Timestamp::as_micros),
        }
    }

    pub(crate) fn read(self) -> Result<Alert> {
        let damaged = || StoreError::Damaged { what: "alert" };
        let (samples, []) = self.sample_event_ids.as_chunks::<EVENT_ID_BYTES>() else {
            return Err(damaged());
        };
        let [acknowledged_at, resolved_at] =
            [self.acknowledged_at, self.resolved_at].map(|micros| micros.map(Timestamp::from_micros));
        let state = match (stored(&self.status, "alert")?, acknowledged_at, resolved_at) {
            (AlertStatus::Open, None, None) => AlertState::Open,
            (AlertStatus::Acknowledged, Some(at), None) => AlertState::Acknowledged { at },
            (AlertStatus::Resolved, acknowledged_at, Some(at)) => {
                AlertState::Resolved { acknowledged_at, at }
            }
            _ => return Err(damaged()),
        };
        Ok(Alert {
            id: AlertId::from_bytes(self.id.try_into().map_err(|_| damaged())?),
            rule_id: stored(&self.rule_id, "alert")?,
            rule_name: stored(&self.rule_name, "alert")?,
            severity: stored(&self.severity, "alert")?,
            state,
            tenant_id: self.tenant_id,
            group_by: stored(&self.group_by, "alert")?,
            count_distinct: stored_if_some(self.count_distinct.as_deref(), "alert")?,
            group_key: self.group_key,
            event_count: self.event_count.unsigned_abs(),
            sample_event_ids: samples.iter().map(|bytes| EventId::from_bytes(*bytes)).collect(),
            fired_at: Timestamp::from_micros(self.fired_at),
        })
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// Alerts of a ledger, newest first: those after the one with the id `after`, `limit` at most.
    pub fn alerts(
        &mut self,
        ledger_id: LedgerId,
        filter: &AlertFilter,
        after: Option<AlertId>,
        limit: usize,
    ) -> Result<Vec<Alert>> {
        let AlertFilter {
            rule_id,
            severity,
            status,
            start,
            end,
        } = filter;
        let mut query = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .select(AlertColumns::as_select())
            .order(alerts::id.desc())
            .limit(i64::try_from(limit).unwrap_or(i64::MAX))
            .into_boxed();
        if let Some(rule_id) = rule_id {
            query = query.filter(alerts::rule_id.eq(rule_id));
        }
        if let Some(severity) = severity {
            query = query.filter(alerts::severity.eq(severity.as_str()));
        }
        if let Some(status) = status {
            query = query.filter(alerts::status.eq(status.as_str()));
        }
        // Ids begin with the time, and the indexes are in the order of ids.
        if let Some(start) = *start {
            query = query.filter(alerts::id.ge(bound(start, 0).to_vec()));
            query = query.filter(alerts::fired_at.ge(start.as_micros()));
        }
        if let Some(end) = *end {
            query = query.filter(alerts::id.le(bound(end, u8::MAX).to_vec()));
            query = query.filter(alerts::fired_at.le(end.as_micros()));
        }
        if let Some(after) = after {
            query = query.filter(alerts::id.lt(after.to_bytes().to_vec()));
        }
        let rows = query.load::<AlertColumns>(self.session())?;
        rows.into_iter().map(AlertColumns::read).collect()
    }

    /// The alerts of the last minute in which a ledger had too many, if that is less than a week ago.
    pub fn suppressed_alerts(&mut self, ledger_id: LedgerId) -> Result<Option<SuppressedAlerts>> {
        let state: Option<Vec<u8>> = alert_groups::table
            .find((ledger_id.0, AlertRate::group_hash().as_bytes().as_slice()))
            .select(alert_groups::state)
            .get_result(self.session())
            .optional()?;
        Ok(state.and_then(|state| AlertRate::decode(&state)?.suppressed()))
    }

    /// An alert of a ledger.
    pub fn alert(&mut self, ledger_id: LedgerId, id: &[u8]) -> Result<Option<Alert>> {
        let row = alerts::table
            .find((ledger_id.0, id))
            .select(AlertColumns::as_select())
            .get_result::<AlertColumns>(self.session())
            .optional()?;
        row.map(AlertColumns::read).transpose()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// An alert, locked until the end of the transaction.
    pub fn lock_alert(&mut self, ledger_id: LedgerId, id: AlertId) -> Result<Option<Alert>> {
        let row = alerts::table.find((ledger_id.0, id.to_bytes().to_vec()));
        let row: Option<AlertColumns> =
            select_for_update!(self.session(), row.select(AlertColumns::as_select()), get_result)
                .optional()?;
        row.map(AlertColumns::read).transpose()
    }

    /// Writes the state of an alert; the rest of it never changes.
    pub fn update_alert_state(&mut self, ledger_id: LedgerId, alert: &Alert) -> Result<()> {
        diesel::update(alerts::table.find((ledger_id.0, alert.id.to_bytes().to_vec())))
            .set((
                alerts::status.eq(alert.state.status().as_str()),
                alerts::acknowledged_at.eq(alert.state.acknowledged_at().map(Timestamp::as_micros)),
                alerts::resolved_at.eq(alert.state.resolved_at().map(Timestamp::as_micros)),
            ))
            .execute(self.session())?;
        Ok(())
    }
}

/// The first (`fill` 0) or last (255) id of a millisecond.
fn bound(at: Timestamp, fill: u8) -> [u8; 16] {
    EventId::new(at, [fill; 10]).to_bytes()
}
