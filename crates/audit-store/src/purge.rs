//! Removing what says nothing any more. Each step takes few rows, so that nobody waits long for the writer, and several
//! nodes may be at it at once.

use crate::connection::AnyConnection;
use crate::error::Result;
use crate::rows::Rows;
use crate::schema::{
    alert_groups, stream_clients, stream_events, streams, webhook_deliveries, webhook_secrets, webhooks,
};
use audit_domain::Timestamp;
use diesel::prelude::*;

/// A place in the table of groups.
pub type GroupPlace = (i64, Vec<u8>);

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// Removes the events of up to `limit` streams that have expired; how many streams. Their rows stay.
    pub fn purge_expired_streams(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let expired = streams::table
            .filter(streams::is_empty.eq(false))
            .filter(streams::claimed_at.is_null())
            .filter(streams::expires_at.le(now.as_micros()))
            .order(streams::expires_at)
            .limit(limit)
            .select(streams::token_hash);
        let expired: Vec<Vec<u8>> = match self.connection {
            AnyConnection::Sqlite(sqlite) => expired.load(sqlite)?,
            // What another node is at, this one leaves to it.
            AnyConnection::Postgres(postgres) => expired.for_update().skip_locked().load(postgres)?,
        };
        for token_hash in &expired {
            diesel::delete(stream_events::table.filter(stream_events::token_hash.eq(token_hash)))
                .execute(self.connection)?;
            diesel::update(streams::table.find(token_hash))
                .set(streams::is_empty.eq(true))
                .execute(self.connection)?;
        }
        Ok(expired.len())
    }

    /// Removes up to `limit` clients of streams that were last seen before `before`; how many.
    pub fn purge_stream_clients(&mut self, before: Timestamp, limit: i64) -> Result<usize> {
        let old: Vec<String> = stream_clients::table
            .filter(stream_clients::last_seen_at.lt(before.as_micros()))
            .order(stream_clients::last_seen_at)
            .limit(limit)
            .select(stream_clients::client)
            .load(self.connection)?;
        for client in &old {
            // Unless it has been seen meanwhile.
            let row = stream_clients::table
                .find(client)
                .filter(stream_clients::last_seen_at.lt(before.as_micros()));
            match self.connection {
                AnyConnection::Sqlite(sqlite) => diesel::delete(row).execute(sqlite)?,
                AnyConnection::Postgres(postgres) => diesel::delete(row).execute(postgres)?,
            };
        }
        Ok(old.len())
    }

    /// Removes up to `limit` deliveries that were finished before `before`, with their attempts; how many.
    pub fn purge_deliveries(&mut self, before: Timestamp, limit: i64) -> Result<usize> {
        let old = webhook_deliveries::table
            .filter(webhook_deliveries::finished_at.lt(before.as_micros()))
            .order(webhook_deliveries::finished_at)
            .limit(limit)
            .select(webhook_deliveries::id);
        let old: Vec<Vec<u8>> = match self.connection {
            AnyConnection::Sqlite(sqlite) => old.load(sqlite)?,
            AnyConnection::Postgres(postgres) => old.for_update().skip_locked().load(postgres)?,
        };
        for id in &old {
            diesel::delete(webhook_deliveries::table.find(id)).execute(self.connection)?;
        }
        Ok(old.len())
    }

    /// Removes up to `limit` rows of webhooks that were deleted before `before`: their deliveries with the attempts, and
    /// then themselves; how many rows.
    pub fn purge_deleted_webhooks(&mut self, before: Timestamp, limit: i64) -> Result<usize> {
        let deleted = webhooks::table
            .filter(webhooks::deleted_at.lt(before.as_micros()))
            .order(webhooks::deleted_at)
            .limit(limit)
            .select(webhooks::id);
        let deleted: Vec<String> = match self.connection {
            AnyConnection::Sqlite(sqlite) => deleted.load(sqlite)?,
            AnyConnection::Postgres(postgres) => deleted.for_update().skip_locked().load(postgres)?,
        };
        let mut removed = 0;
        for webhook_id in deleted {
            let left = limit - removed;
            let ids: Vec<Vec<u8>> = webhook_deliveries::table
                .filter(webhook_deliveries::webhook_id.eq(&webhook_id))
                .order(webhook_deliveries::id)
                .limit(left)
                .select(webhook_deliveries::id)
                .load(self.connection)?;
            for id in &ids {
                diesel::delete(webhook_deliveries::table.find(id)).execute(self.connection)?;
            }
            removed += ids.len() as i64;
            if removed == limit {
                break;
            }
            diesel::delete(webhooks::table.find(&webhook_id)).execute(self.connection)?;
            removed += 1;
        }
        Ok(usize::try_from(removed).unwrap_or_default())
    }

    /// Removes up to `limit` secrets of webhooks that sign no longer; how many.
    pub fn purge_webhook_secrets(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let expired: Vec<(String, i64)> = webhook_secrets::table
            .filter(webhook_secrets::expires_at.le(now.as_micros()))
            .order(webhook_secrets::expires_at)
            .limit(limit)
            .select((webhook_secrets::webhook_id, webhook_secrets::number))
            .load(self.connection)?;
        for (webhook_id, number) in &expired {
            diesel::delete(webhook_secrets::table.find((webhook_id, number))).execute(self.connection)?;
        }
        Ok(expired.len())
    }

    /// Looks at up to `limit` groups of alert rules behind `after`: those that have expired, and the last one looked at,
    /// if there may be more.
    pub fn expired_groups(
        &mut self,
        after: Option<&GroupPlace>,
        now: Timestamp,
        limit: i64,
    ) -> Result<(Vec<GroupPlace>, Option<GroupPlace>)> {
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
        let rows: Vec<(i64, Vec<u8>, i64)> = query.load(self.connection)?;
        let is_full = rows.len() as i64 == limit;
        let last = rows.last().filter(|_| is_full);
        let last = last.map(|(ledger_id, hash, _)| (*ledger_id, hash.clone()));
        let expired = rows
            .into_iter()
            .filter(|(_, _, expires_at)| *expires_at <= now.as_micros())
            .map(|(ledger_id, hash, _)| (ledger_id, hash));
        Ok((expired.collect(), last))
    }

    /// Removes groups, unless they have counted something since.
    pub fn purge_groups(&mut self, groups: &[GroupPlace], now: Timestamp) -> Result<()> {
        for (ledger_id, hash) in groups {
            let row = alert_groups::table
                .find((ledger_id, hash))
                .filter(alert_groups::expires_at.le(now.as_micros()));
            match self.connection {
                AnyConnection::Sqlite(sqlite) => diesel::delete(row).execute(sqlite)?,
                AnyConnection::Postgres(postgres) => diesel::delete(row).execute(postgres)?,
            };
        }
        Ok(())
    }
}
