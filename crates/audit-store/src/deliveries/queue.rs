//! The queue of deliveries.
//!
//! An unfinished delivery is `ready` at first, and again when its next attempt is due. A node that leases it makes it
//! `waiting` until the lease expires, under a random token. When the node dies, the lease expires. When it was only slow and
//! another node has leased the delivery since, it finds another token and changes nothing.
//!
//! Each stage has an index of its own. Ready deliveries are found by webhook, with one index step per webhook that has any,
//! so a million deliveries to one webhook cost the others nothing. Waiting deliveries are found by time, and not read before
//! they are due. Deliveries to a webhook that is not in use (disabled, deleted, or of an organization on the free plan)
//! become `held` when they are found, and `ready` when the webhook is in use again.

use super::rows::{AttemptRow, DeliveryRow, HELD, READY, WAITING};
use crate::access::{Reader, Writer};
use crate::configuration::{WebhookRow, WebhookSecretRow};
use crate::database::{select_for_update, select_skip_locked};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::schema::{delivery_attempts, webhook_deliveries as deliveries};
use audit_alerts::Alert;
use audit_domain::Timestamp;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};

/// A webhook that has ready deliveries.
#[derive(Clone, PartialEq, Eq, QueryableByName)]
pub struct ReadyWebhook {
    /// The webhook.
    #[diesel(sql_type = Text)]
    pub webhook_id: String,
    /// Its project.
    #[diesel(sql_type = Text)]
    pub project_id: String,
    /// The organization of its project.
    #[diesel(sql_type = Text)]
    pub organization_id: String,
    /// Its URL, as stored.
    #[diesel(sql_type = Binary)]
    pub url: Vec<u8>,
    /// When its first ready delivery was due, in microseconds since the Unix epoch.
    #[diesel(sql_type = BigInt)]
    pub due_at: i64,
    /// Whether it is enabled, not deleted, and paid for.
    #[diesel(sql_type = Bool)]
    pub is_in_use: bool,
}

/// A leased delivery, with everything an attempt needs.
#[derive(Clone, Debug)]
pub struct LeasedDelivery {
    /// The delivery, before it was leased.
    pub delivery: DeliveryRow,
    /// Its webhook.
    pub webhook: WebhookRow,
    /// The secrets that sign it, newest first.
    pub secrets: Vec<WebhookSecretRow>,
    /// The alert it delivers; `None` also when the stored alert is damaged.
    pub alert: Option<Alert>,
}

/// The state of a delivery after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in DeliveryRow")]
pub struct AfterAttempt {
    pub status: String,
    pub scheduled_attempts: i64,
    pub is_retried: bool,
    pub due_at: Option<Timestamp>,
    pub scheduled_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

/// The unfinished deliveries to enabled webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingCount {
    /// Their number.
    pub count: i64,
    /// When the oldest was created.
    pub oldest_created_at: Option<Timestamp>,
}

/// Finds the webhooks that have ready deliveries, without reading the deliveries.
const READY_WEBHOOKS: &str = "\
    WITH RECURSIVE found(webhook_id) AS ( \
        SELECT (SELECT webhook_id FROM webhook_deliveries WHERE stage = 'ready' ORDER BY webhook_id LIMIT 1) \
        UNION ALL \
        SELECT (SELECT next.webhook_id FROM webhook_deliveries AS next \
                WHERE next.stage = 'ready' AND next.webhook_id > found.webhook_id ORDER BY next.webhook_id LIMIT 1) \
        FROM found WHERE found.webhook_id IS NOT NULL) \
    SELECT webhooks.id AS webhook_id, projects.id AS project_id, projects.organization_id AS organization_id, webhooks.url AS url, \
           (SELECT first.due_at FROM webhook_deliveries AS first \
            WHERE first.stage = 'ready' AND first.webhook_id = found.webhook_id ORDER BY first.due_at LIMIT 1) AS due_at, \
           (webhooks.enabled AND webhooks.deleted_at IS NULL AND organizations.plan <> 'free') AS is_in_use \
    FROM found \
    JOIN webhooks ON webhooks.id = found.webhook_id \
    JOIN projects ON projects.id = webhooks.project_id \
    JOIN organizations ON organizations.id = projects.organization_id";

/// Finds a webhook that is in use and has held deliveries.
const HELD_WEBHOOK: &str = "\
    WITH RECURSIVE found(webhook_id) AS ( \
        SELECT (SELECT webhook_id FROM webhook_deliveries WHERE stage = 'held' ORDER BY webhook_id LIMIT 1) \
        UNION ALL \
        SELECT (SELECT next.webhook_id FROM webhook_deliveries AS next \
                WHERE next.stage = 'held' AND next.webhook_id > found.webhook_id ORDER BY next.webhook_id LIMIT 1) \
        FROM found WHERE found.webhook_id IS NOT NULL) \
    SELECT found.webhook_id AS webhook_id \
    FROM found \
    JOIN webhooks ON webhooks.id = found.webhook_id AND webhooks.enabled AND webhooks.deleted_at IS NULL \
    JOIN projects ON projects.id = webhooks.project_id \
    JOIN organizations ON organizations.id = projects.organization_id AND organizations.plan <> 'free' \
    LIMIT 1";

/// Counts the unfinished deliveries of one stage. The stage follows.
const PENDING: &str = "\
    SELECT count(*) AS count, min(webhook_deliveries.created_at) AS oldest \
    FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_deliveries.webhook_id \
        AND webhooks.enabled AND webhooks.deleted_at IS NULL \
    WHERE webhook_deliveries.stage = ";

#[derive(QueryableByName)]
struct PendingColumns {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest: Option<i64>,
}

#[derive(QueryableByName)]
struct HeldColumns {
    #[diesel(sql_type = Text)]
    webhook_id: String,
}

/// The condition of a stage, spelled as in its partial index: SQLite recognises no other.
#[expect(
    clippy::disallowed_methods,
    reason = "the dispatcher asks some times a second"
)]
fn is_at(stage: &'static str) -> diesel::expression::SqlLiteral<Bool> {
    sql::<Bool>(&format!("webhook_deliveries.stage = '{stage}'"))
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The webhooks that have ready deliveries, in no order.
    pub fn ready_webhooks(&mut self) -> Result<Vec<ReadyWebhook>> {
        Ok(diesel::sql_query(READY_WEBHOOKS).load(self.session())?)
    }

    /// When the first waiting delivery is due.
    pub fn next_due_at(&mut self) -> Result<Option<Timestamp>> {
        let due_at: Option<Option<i64>> = deliveries::table
            .filter(is_at(WAITING))
            .order(deliveries::due_at)
            .select(deliveries::due_at)
            .limit(1)
            .get_result(self.session())
            .optional()?;
        Ok(due_at.flatten().map(Timestamp::from_micros))
    }

    /// The alert of a delivery. A damaged one fails its own delivery, not those that are leased with it.
    fn alert_of(&mut self, delivery: &DeliveryRow) -> Result<Option<Alert>> {
        let (Some(ledger_id), Some(alert_id)) = (delivery.ledger_id, &delivery.alert_id) else {
            return Ok(None);
        };
        match self.alert(LedgerId(ledger_id), alert_id) {
            Err(error @ StoreError::Damaged { .. }) => {
                log::error!("cannot read an alert that is to be delivered: {error}");
                Ok(None)
            }
            read => read,
        }
    }

    /// Counts the unfinished deliveries.
    pub fn pending_deliveries(&mut self) -> Result<PendingCount> {
        let mut pending = PendingCount::default();
        for stage in [READY, WAITING] {
            let query = diesel::sql_query(format!("{PENDING}'{stage}'"));
            let found: PendingColumns = query.get_result(self.session())?;
            let oldest = found.oldest.map(Timestamp::from_micros);
            pending.count += found.count;
            pending.oldest_created_at = match (pending.oldest_created_at, oldest) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Ok(pending)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Makes up to `limit` waiting deliveries ready that are due at `now`. Returns their number.
    pub fn make_due_deliveries_ready(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let due = deliveries::table
            .filter(is_at(WAITING))
            .filter(deliveries::due_at.le(now.as_micros()))
            .order(deliveries::due_at)
            .limit(limit)
            .select(deliveries::id);
        let due: Vec<Vec<u8>> = select_skip_locked!(self.session(), due, load)?;
        self.move_deliveries(&due, READY)
    }

    /// Holds up to `limit` ready deliveries of a webhook that is not in use. Returns their number.
    pub fn hold_deliveries(&mut self, webhook_id: &str, limit: i64) -> Result<usize> {
        if self.webhook_in_use(webhook_id)?.is_some() {
            return Ok(0);
        }
        self.move_stage(webhook_id, READY, HELD, limit)
    }

    /// Makes up to `limit` held deliveries of one webhook that is in use again ready. Returns their number; there may be more
    /// unless it is 0.
    pub fn release_held_deliveries(&mut self, limit: i64) -> Result<usize> {
        let found: Option<HeldColumns> = diesel::sql_query(HELD_WEBHOOK)
            .get_result(self.session())
            .optional()?;
        match found {
            Some(held) => self.move_stage(&held.webhook_id, HELD, READY, limit),
            None => Ok(0),
        }
    }

    fn move_stage(&mut self, webhook_id: &str, from: &'static str, to: &str, limit: i64) -> Result<usize> {
        let found = deliveries::table
            .filter(is_at(from))
            .filter(deliveries::webhook_id.eq(webhook_id))
            .limit(limit)
            .select(deliveries::id);
        let found: Vec<Vec<u8>> = select_skip_locked!(self.session(), found, load)?;
        self.move_deliveries(&found, to)
    }

    fn move_deliveries(&mut self, ids: &[Vec<u8>], stage: &str) -> Result<usize> {
        for id in ids {
            diesel::update(deliveries::table.find(id))
                .set(deliveries::stage.eq(Some(stage)))
                .execute(self.session())?;
        }
        Ok(ids.len())
    }

    /// Leases up to `limit` ready deliveries to a webhook from `now` until `leased_until`, under the token `lease`.
    pub fn lease_deliveries(
        &mut self,
        webhook_id: &str,
        now: Timestamp,
        leased_until: Timestamp,
        lease: &[u8],
        limit: usize,
    ) -> Result<Vec<LeasedDelivery>> {
        let Some(webhook) = self.webhook_in_use(webhook_id)? else {
            return Ok(Vec::new());
        };
        let ready = deliveries::table
            .filter(is_at(READY))
            .filter(deliveries::webhook_id.eq(webhook_id))
            .order(deliveries::due_at)
            .limit(i64::try_from(limit).unwrap_or(i64::MAX));
        let ready: Vec<DeliveryRow> =
            select_skip_locked!(self.session(), ready.select(DeliveryRow::as_select()), load)?;
        let secrets = self.webhook_secrets(webhook_id, now)?;
        let mut leased = Vec::with_capacity(ready.len());
        for delivery in ready {
            diesel::update(deliveries::table.find(&delivery.id))
                .set((
                    deliveries::stage.eq(Some(WAITING)),
                    deliveries::due_at.eq(Some(leased_until.as_micros())),
                    // This attempt is the requested one, if there was a request.
                    deliveries::retry_requested.eq(false),
                    deliveries::lease.eq(Some(lease)),
                ))
                .execute(self.session())?;
            leased.push(LeasedDelivery {
                alert: self.alert_of(&delivery)?,
                delivery,
                webhook: webhook.clone(),
                secrets: secrets.clone(),
            });
        }
        Ok(leased)
    }

    /// Locks a delivery until the end of the transaction, if it is still leased under the token `lease`. Returns whether
    /// another attempt was requested meanwhile.
    pub fn lock_leased_delivery(&mut self, id: &[u8], lease: &[u8]) -> Result<Option<bool>> {
        let row = deliveries::table
            .find(id)
            .filter(deliveries::lease.eq(lease))
            .select(deliveries::retry_requested);
        Ok(select_for_update!(self.session(), row, get_result).optional()?)
    }

    /// Writes the result of an attempt. The delivery is locked by [`Self::lock_leased_delivery`].
    pub fn finish_attempt(&mut self, attempt: &AttemptRow, after: &AfterAttempt) -> Result<()> {
        diesel::update(deliveries::table.find(&attempt.delivery_id))
            .set((
                deliveries::status.eq(&after.status),
                deliveries::attempts.eq(attempt.number),
                deliveries::scheduled_attempts.eq(after.scheduled_attempts),
                deliveries::is_retried.eq(after.is_retried),
                deliveries::stage.eq(after.due_at.map(|_| WAITING)),
                deliveries::due_at.eq(after.due_at.map(Timestamp::as_micros)),
                deliveries::scheduled_at.eq(after.scheduled_at.map(Timestamp::as_micros)),
                deliveries::retry_requested.eq(false),
                deliveries::finished_at.eq(after.finished_at.map(Timestamp::as_micros)),
                deliveries::lease.eq(None::<Vec<u8>>),
            ))
            .execute(self.session())?;
        diesel::insert_into(delivery_attempts::table)
            .values(attempt.clone())
            .execute(self.session())?;
        Ok(())
    }

    /// Returns a delivery that was not attempted to the queue, due at `due_at`. It is locked by
    /// [`Self::lock_leased_delivery`].
    pub fn postpone_delivery(&mut self, id: &[u8], due_at: Timestamp) -> Result<()> {
        diesel::update(deliveries::table.find(id))
            .set((
                deliveries::stage.eq(Some(WAITING)),
                deliveries::due_at.eq(Some(due_at.as_micros())),
                deliveries::lease.eq(None::<Vec<u8>>),
            ))
            .execute(self.session())?;
        Ok(())
    }
}
