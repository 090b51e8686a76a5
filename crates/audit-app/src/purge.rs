//! Removal of obsolete rows.

use crate::error::Result;
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_store::{StoreError, Writer};

/// The maximum number of rows that one transaction removes, because other writes wait for it.
const TRANSACTION_ROWS_MAX: i64 = 500;
/// The maximum number of groups of alert rules that one read examines.
const READ_GROUPS_MAX: i64 = 5_000;
/// The time for which finished deliveries are kept, in seconds.
pub const DELIVERIES_KEPT_SECONDS: i64 = 30 * 86_400;
/// The minimum time for which a deleted webhook is kept, in seconds: longer than a transaction that still sees it.
const DELETED_WEBHOOK_SECONDS_MIN: i64 = 60;
/// The time for which an expired group is kept, in seconds. An event that was stamped before the expiry may be stored after
/// it, because it waited in the queue or its node's clock is behind.
const EXPIRED_GROUP_SECONDS: i64 = 3_600;
/// The minimum time for which a client of streams is kept, in seconds: the window of the request limit.
const CLIENT_SECONDS_MIN: i64 = 60;

/// The numbers of removed rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Expired streams, whose events were removed.
    pub streams: usize,
    /// Clients of streams without a request today.
    pub clients: usize,
    /// Deliveries finished [`DELIVERIES_KEPT_SECONDS`] ago.
    pub deliveries: usize,
    /// Deleted webhooks and their deliveries.
    pub webhooks: usize,
    /// Expired secrets of webhooks.
    pub secrets: usize,
    /// Events that deleted destinations had set aside.
    pub set_aside: usize,
    /// Expired groups of alert rules.
    pub groups: usize,
}

impl AuditLog {
    /// Removes obsolete rows. Call it every few minutes, on any number of nodes.
    ///
    /// # Errors
    /// When the database fails. The remaining rows are then removed by the next call.
    pub fn purge(&self) -> Result<Purged> {
        let now = self.clock.now();
        let today = Timestamp::from_seconds(now.utc_day() * 86_400);
        let clients_before = today.min(now.plus_seconds(-CLIENT_SECONDS_MIN));
        let deliveries_before = now.plus_seconds(-DELIVERIES_KEPT_SECONDS);
        let webhooks_before = now.plus_seconds(-DELETED_WEBHOOK_SECONDS_MIN);
        Ok(Purged {
            streams: self
                .remove_all(move |writer| writer.purge_expired_streams(now, TRANSACTION_ROWS_MAX))?,
            clients: self.remove_all(move |writer| {
                writer.purge_stream_clients(clients_before, TRANSACTION_ROWS_MAX)
            })?,
            deliveries: self
                .remove_all(move |writer| writer.purge_deliveries(deliveries_before, TRANSACTION_ROWS_MAX))?,
            webhooks: self.remove_all(move |writer| {
                writer.purge_deleted_webhooks(webhooks_before, TRANSACTION_ROWS_MAX)
            })?,
            secrets: self
                .remove_all(move |writer| writer.purge_webhook_secrets(now, TRANSACTION_ROWS_MAX))?,
            set_aside: self.remove_all(move |writer| writer.purge_set_aside(TRANSACTION_ROWS_MAX))?,
            groups: self.purge_groups(now.plus_seconds(-EXPIRED_GROUP_SECONDS))?,
        })
    }

    /// Repeats `remove` until it finds fewer rows than its limit. Returns the number of removed rows.
    fn remove_all(
        &self,
        remove: impl Fn(&mut Writer<'_>) -> Result<usize, StoreError> + Copy + Send + 'static,
    ) -> Result<usize> {
        let mut removed = 0;
        loop {
            let found = self.store.write(move |writer| remove(writer))?;
            removed += found;
            if (found as i64) < TRANSACTION_ROWS_MAX {
                return Ok(removed);
            }
        }
    }

    /// Scans all groups. There is no index by time, because every counted event would have to update it.
    fn purge_groups(&self, now: Timestamp) -> Result<usize> {
        let (mut after, mut removed) = (None, 0);
        loop {
            let start = after.take();
            let (expired, last) = self
                .store
                .read(|reader| reader.expired_groups(start.as_ref(), now, READ_GROUPS_MAX))?;
            removed += expired.len();
            for chunk in expired.chunks(TRANSACTION_ROWS_MAX as usize) {
                let chunk = chunk.to_vec();
                self.store.write(move |writer| writer.purge_groups(&chunk, now))?;
            }
            if last.is_none() {
                return Ok(removed);
            }
            after = last;
        }
    }
}
