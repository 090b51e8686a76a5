//! Removal of expired rows. The retention periods are in `audit-app/src/purge.rs`. Each step removes few rows, so that no
//! request waits long for the writer; several nodes may run steps concurrently.

use crate::access::{Reader, Writer};
use crate::database::{on_either, select_skip_locked};
use crate::error::Result;
use crate::schema::{alert_groups, stream_clients, stream_events, streams, webhook_deliveries};
use audit_domain::Timestamp;
use diesel::prelude::*;

/// The key of a group of alert rules: ledger and hash.
pub type GroupKey = (i64, Vec<u8>);

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// Reads up to `limit` groups of alert rules after the key `after`. Returns those that have expired, and the last key
    /// read if there may be more.
    pub fn expired_groups(
        &mut self,
        after: Option<&GroupKey>,
        now: Timestamp,
        limit: i64,
    ) -> Result<(Vec<GroupKey>, Option<GroupKey>)> {
        let mut query = alert_groups::table
            .order((alert_groups::ledger_id, alert_groups::group_hash))
            .limit(limit)
            .select((
                alert_groups::ledger_id,
                alert_groups::group_hash,
                alert_groups::expires_at,
            ))
            .into_boxed();
        if let Some((ledger_id, hash)) = after {
            let same_ledger = alert_groups::ledger_id
                .eq(*ledger_id)
                .and(alert_groups::group_hash.gt(hash));
            query = query.filter(alert_groups::ledger_id.gt(*ledger_id).or(same_ledger));
        }
        let rows: Vec<(i64, Vec<u8>, i64)> = query.load(self.session())?;
        let is_full = rows.len() as i64 == limit;
        let last = rows.last().filter(|_| is_full);
        let last = last.map(|(ledger_id, hash, _)| (*ledger_id, hash.clone()));
        let expired = rows
            .into_iter()
            .filter(|(_, _, expires_at)| *expires_at <= now.as_micros())
            .map(|(ledger_id, hash, _)| (ledger_id, hash));
        Ok((expired.collect(), last))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Removes the events of up to `limit` expired streams. Their rows stay. Returns the number of streams.
    pub fn purge_expired_streams(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let expired = streams::table
            .filter(streams::is_empty.eq(false))
            .filter(streams::claimed_at.is_null())
            .filter(streams::expires_at.le(now.as_micros()))
            .order(streams::expires_at)
            .limit(limit)
            .select(streams::token_hash);
        let expired: Vec<Vec<u8>> = select_skip_locked!(self.session(), expired, load)?;
        for token_hash in &expired {
            diesel::delete(stream_events::table.filter(stream_events::token_hash.eq(token_hash)))
                .execute(self.session())?;
            diesel::update(streams::table.find(token_hash))
                .set(streams::is_empty.eq(true))
                .execute(self.session())?;
        }
        Ok(expired.len())
    }

    /// Removes up to `limit` clients of streams that were last seen before `before`. Returns their number.
    pub fn purge_stream_clients(&mut self, before: Timestamp, limit: i64) -> Result<usize> {
        let old: Vec<String> = stream_clients::table
            .filter(stream_clients::last_seen_at.lt(before.as_micros()))
            .order(stream_clients::last_seen_at)
            .limit(limit)
            .select(stream_clients::client)
            .load(self.session())?;
        for client in &old {
            // Unless it was seen since the select.
            let row = stream_clients::table
                .find(client)
                .filter(stream_clients::last_seen_at.lt(before.as_micros()));
            on_either!(self.session(), session => diesel::delete(row).execute(session))?;
        }
        Ok(old.len())
    }

    /// Removes up to `limit` deliveries that were finished before `before`, with their attempts. Returns their number.
    pub fn purge_deliveries(&mut self, before: Timestamp, limit: i64) -> Result<usize> {
        let old = webhook_deliveries::table
            .filter(webhook_deliveries::finished_at.lt(before.as_micros()))
            .order(webhook_deliveries::finished_at)
            .limit(limit)
            .select(webhook_deliveries::id);
        let old: Vec<Vec<u8>> = select_skip_locked!(self.session(), old, load)?;
        for id in &old {
            diesel::delete(webhook_deliveries::table.find(id)).execute(self.session())?;
        }
        Ok(old.len())
    }

    /// Removes expired groups, unless they have counted an event since.
    pub fn purge_groups(&mut self, groups: &[GroupKey], now: Timestamp) -> Result<()> {
        for (ledger_id, hash) in groups {
            let row = alert_groups::table
                .find((ledger_id, hash))
                .filter(alert_groups::expires_at.le(now.as_micros()));
            on_either!(self.session(), session => diesel::delete(row).execute(session))?;
        }
        Ok(())
    }
}
