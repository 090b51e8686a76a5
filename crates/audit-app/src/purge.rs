//! Removing what says nothing any more.

use crate::error::Result;
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_store::{StoreError, Writer};

/// Rows that one transaction removes, at most: others wait for the writer meanwhile.
const STEP_ROWS_MAX: i64 = 500;
/// Groups of alert rules that are looked at together.
const STEP_GROUPS_MAX: i64 = 5_000;
/// How long the log keeps finished deliveries, in seconds.
pub const DELIVERIES_KEPT_SECONDS: i64 = 30 * 86_400;
/// How long a deleted webhook is kept at least, in seconds: longer than a transaction lasts that has still seen it.
const DELETED_WEBHOOK_SECONDS_MIN: i64 = 60;
/// How long a group is kept after it has expired, in seconds. An event may be stored that was stamped before, having waited
/// since, and by a clock that is behind.
const EXPIRED_GROUP_SECONDS: i64 = 3_600;
/// How long a client of streams is remembered at least, in seconds: as long as its requests count.
const CLIENT_SECONDS_MIN: i64 = 60;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Streams that expired, with their events.
    pub streams: usize,
    /// Clients of streams that were not seen today.
    pub clients: usize,
    /// Deliveries finished [`DELIVERIES_KEPT_SECONDS`] ago.
    pub deliveries: usize,
    /// Deliveries of webhooks that were deleted, and those webhooks.
    pub webhooks: usize,
    /// Secrets of webhooks that sign no longer.
    pub secrets: usize,
    /// Groups of alert rules that remember nothing that matters.
    pub groups: usize,
}

impl AuditLog {
    /// Removes what says nothing any more. To be called every few minutes, by any number of nodes.
    ///
    /// # Errors
    /// When the database cannot be asked; what is left is removed the next time.
    pub fn purge(&self) -> Result<Purged> {
        let now = self.clock.now();
        let today = Timestamp::from_seconds(now.utc_day() * 86_400);
        let clients_before = today.min(now.plus_seconds(-CLIENT_SECONDS_MIN));
        let deliveries_before = now.plus_seconds(-DELIVERIES_KEPT_SECONDS);
        let webhooks_before = now.plus_seconds(-DELETED_WEBHOOK_SECONDS_MIN);
        Ok(Purged {
            streams: self.step_by_step(move |writer| writer.purge_expired_streams(now, STEP_ROWS_MAX))?,
            clients: self
                .step_by_step(move |writer| writer.purge_stream_clients(clients_before, STEP_ROWS_MAX))?,
            deliveries: self
                .step_by_step(move |writer| writer.purge_deliveries(deliveries_before, STEP_ROWS_MAX))?,
            webhooks: self
                .step_by_step(move |writer| writer.purge_deleted_webhooks(webhooks_before, STEP_ROWS_MAX))?,
            secrets: self.step_by_step(move |writer| writer.purge_webhook_secrets(now, STEP_ROWS_MAX))?,
            groups: self.purge_groups(now.plus_seconds(-EXPIRED_GROUP_SECONDS))?,
        })
    }

    /// Repeats `step` until it finds fewer rows than it may remove; how many it removed.
    fn step_by_step(
        &self,
        step: impl Fn(&mut Writer<'_>) -> Result<usize, StoreError> + Copy + Send + 'static,
    ) -> Result<usize> {
        let mut removed = 0;
        loop {
            let found = self.store.write(move |writer| step(writer))?;
            removed += found;
            if (found as i64) < STEP_ROWS_MAX {
                return Ok(removed);
            }
        }
    }

    /// Walks over all groups. They have no index by time, which would cost every event that counts.
    fn purge_groups(&self, now: Timestamp) -> Result<usize> {
        let (mut after, mut removed) = (None, 0);
        loop {
            let place = after.take();
            let (expired, last) = self
                .store
                .read(|reader| reader.expired_groups(place.as_ref(), now, STEP_GROUPS_MAX))?;
            removed += expired.len();
            for step in expired.chunks(STEP_ROWS_MAX as usize) {
                let step = step.to_vec();
                self.store.write(move |writer| writer.purge_groups(&step, now))?;
            }
            if last.is_none() {
                return Ok(removed);
            }
            after = last;
        }
    }
}
