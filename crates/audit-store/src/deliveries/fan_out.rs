//! Writing the deliveries of alerts that their commit did not write.
//!
//! A commit writes the deliveries of few alerts. Of an alert with more, it writes only the names of the webhooks that the alert
//! goes to, in the row of the alert (`undelivered_to`). So a commit writes a bounded number of rows, whatever the number of
//! webhooks. The dispatcher of any node writes the other deliveries afterwards, a bounded number in one transaction, and clears
//! the names in the same transaction: each delivery is written exactly once, also after a crash. Row locks keep two nodes from
//! taking the same alert.
//!
//! Ledgers take turns: one index step finds the next ledger with such alerts, however many it has.

use super::rows::DeliveryRow;
use crate::access::{Reader, Writer};
use crate::database::{on_either, select_skip_locked};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::schema::{alerts, webhook_deliveries as deliveries};
use audit_alerts::AlertId;
use audit_domain::Timestamp;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::HashSet;

/// Finds up to `?` ledgers after `?` that have alerts without deliveries.
const FIND_LEDGERS: &str = "\
    WITH RECURSIVE found(ledger_id) AS ( \
        SELECT (SELECT ledger_id FROM alerts WHERE undelivered_to IS NOT NULL AND ledger_id > $1 \
                ORDER BY ledger_id LIMIT 1) \
        UNION ALL \
        SELECT (SELECT next.ledger_id FROM alerts AS next \
                WHERE next.undelivered_to IS NOT NULL AND next.ledger_id > found.ledger_id \
                ORDER BY next.ledger_id LIMIT 1) \
        FROM found WHERE found.ledger_id IS NOT NULL) \
    SELECT ledger_id FROM found WHERE ledger_id IS NOT NULL LIMIT $2";

#[derive(QueryableByName)]
struct LedgerColumns {
    #[diesel(sql_type = BigInt)]
    ledger_id: i64,
}

/// Ledgers that have alerts without deliveries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertLedgers(pub Vec<LedgerId>);

/// An alert without deliveries.
#[derive(Queryable)]
struct Undelivered {
    id: Vec<u8>,
    fired_at: i64,
    webhook_ids: Option<String>,
}

impl Undelivered {
    fn webhook_ids(&self) -> impl Iterator<Item = &str> {
        self.webhook_ids.iter().flat_map(|ids| ids.split(' '))
    }

    fn deliveries(&self, ledger_id: LedgerId) -> Result<Vec<DeliveryRow>> {
        let damaged = |_| StoreError::Damaged { what: "alert" };
        let id = AlertId::from_bytes(self.id.as_slice().try_into().map_err(damaged)?);
        let fired_at = Timestamp::from_micros(self.fired_at);
        let row = |webhook_id| DeliveryRow::of_alert(webhook_id, ledger_id, id, fired_at);
        Ok(self.webhook_ids().map(row).collect())
    }
}

impl Reader<'_> {
    /// Up to `limit` ledgers that have alerts without deliveries, in the order of their ids from the one after `after` on, and
    /// then from the first one on.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn undelivered_ledgers(&mut self, after: Option<LedgerId>, limit: usize) -> Result<AlertLedgers> {
        let mut found = self.undelivered_after(after, limit)?;
        if after.is_some() && found.len() < limit {
            let first = self.undelivered_after(None, limit)?;
            let missing = limit - found.len();
            let own: HashSet<LedgerId> = found.iter().copied().collect();
            found.extend(first.into_iter().filter(|id| !own.contains(id)).take(missing));
        }
        Ok(AlertLedgers(found))
    }

    fn undelivered_after(&mut self, after: Option<LedgerId>, limit: usize) -> Result<Vec<LedgerId>> {
        let rows: Vec<LedgerColumns> = diesel::sql_query(FIND_LEDGERS)
            .bind::<BigInt, _>(after.map_or(i64::MIN, |ledger_id| ledger_id.0))
            .bind::<BigInt, _>(i64::try_from(limit).unwrap_or(i64::MAX))
            .load(self.session())?;
        Ok(rows.into_iter().map(|row| LedgerId(row.ledger_id)).collect())
    }
}

impl Writer<'_> {
    /// Writes the deliveries of the oldest alerts of these ledgers, up to `deliveries_max` of each, but those of one alert at
    /// least. Returns the number of alerts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn deliver_alerts(&mut self, ledgers: &AlertLedgers, deliveries_max: usize) -> Result<usize> {
        let (mut rows, mut count) = (Vec::new(), 0);
        for &ledger_id in &ledgers.0 {
            let alerts = self.undelivered_alerts(ledger_id, deliveries_max)?;
            count += alerts.len();
            self.clear_undelivered(ledger_id, &alerts)?;
            for alert in &alerts {
                rows.extend(alert.deliveries(ledger_id)?);
            }
        }
        let webhook_ids = rows.iter().map(|row| row.webhook_id.as_str()).collect();
        let existing = self.hold_webhooks(webhook_ids)?;
        rows.retain(|row| existing.contains(&row.webhook_id));
        if !rows.is_empty() {
            on_either!(self.session(), session => {
                diesel::insert_into(deliveries::table).values(rows).execute(session)
            })?;
        }
        Ok(count)
    }

    /// The oldest alerts of a ledger without deliveries, locked, as many as have up to `deliveries_max` deliveries.
    fn undelivered_alerts(&mut self, ledger_id: LedgerId, deliveries_max: usize) -> Result<Vec<Undelivered>> {
        let oldest = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .filter(alerts::undelivered_to.is_not_null())
            .order(alerts::fired_at)
            .limit(i64::try_from(deliveries_max).unwrap_or(i64::MAX).max(1))
            .select((alerts::id, alerts::fired_at, alerts::undelivered_to));
        let mut found: Vec<Undelivered> = select_skip_locked!(self.session(), oldest, load)?;
        let mut deliveries = 0;
        let fitting = found.iter().take_while(|alert| {
            let is_first = deliveries == 0;
            deliveries += alert.webhook_ids().count();
            is_first || deliveries <= deliveries_max
        });
        let fitting = fitting.count();
        found.truncate(fitting);
        Ok(found)
    }

    fn clear_undelivered(&mut self, ledger_id: LedgerId, cleared: &[Undelivered]) -> Result<()> {
        let ids: Vec<&[u8]> = cleared.iter().map(|alert| alert.id.as_slice()).collect();
        on_either!(self.session(), session => {
            diesel::update(alerts::table)
                .filter(alerts::ledger_id.eq(ledger_id.0))
                .filter(alerts::id.eq_any(ids))
                .set(alerts::undelivered_to.eq(None::<String>))
                .execute(session)
        })?;
        Ok(())
    }
}
