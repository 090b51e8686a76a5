//! The queue of deliveries.
//!
//! A delivery that is not finished is `ready` from the beginning, and again when its next attempt is due. Taking it makes it
//! `waiting` until the end of a lease, under a token: whoever dies in the middle gives it back by doing nothing, and
//! whoever comes back after somebody else took it finds another token and changes nothing.
//!
//! Each stage has an index of its own. Those that are ready are found by webhook, one step for each webhook that has any,
//! so that a million of one cost the others nothing; those that wait are found by time, and not looked at before it. No more
//! of a webhook's begin to wait than were attempted, so they come back no faster than they went. Those whose webhook is not
//! in use (disabled, deleted, or of an organization that does not pay) are put aside when they are found, and come back
//! when it is in use again.

use super::{AttemptRow, DeliveryRow, HELD, READY, WAITING};
use crate::alerts::AlertRow;
use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::{delivery_attempts, organizations, projects, webhook_deliveries as deliveries, webhooks};
use crate::webhooks::{WebhookRow, WebhookSecretRow};
use audit_domain::{Plan, Timestamp};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};

/// A webhook to which something may be attempted now.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct ReadyWebhook {
    /// The webhook.
    #[diesel(sql_type = Text)]
    pub webhook_id: String,
    /// Whose it is.
    #[diesel(sql_type = Text)]
    pub project_id: String,
    /// Where it leads.
    #[diesel(sql_type = Text)]
    pub url: String,
    /// Since when, in microseconds since the Unix epoch.
    #[diesel(sql_type = BigInt)]
    pub due_at: i64,
    /// Whether it is enabled, not deleted, and paid for.
    #[diesel(sql_type = Bool)]
    pub is_in_use: bool,
}

/// A delivery that was taken, with everything an attempt needs.
#[derive(Clone, Debug)]
pub struct LeasedDelivery {
    /// The delivery, as it was before.
    pub delivery: DeliveryRow,
    /// Where it goes.
    pub webhook: WebhookRow,
    /// What signs it, newest first.
    pub secrets: Vec<WebhookSecretRow>,
    /// The alert it tells of; `None` also when it is damaged.
    pub alert: Option<AlertRow>,
}

/// What becomes of a delivery after an attempt.
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

/// What waits to be delivered, to all webhooks that are enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingCount {
    /// How many.
    pub count: i64,
    /// When the oldest was made.
    pub oldest_created_at: Option<Timestamp>,
}

/// The webhooks that have ready deliveries, without reading those.
const READY_WEBHOOKS: &str = "\
    WITH RECURSIVE found(webhook_id) AS ( \
        SELECT (SELECT webhook_id FROM webhook_deliveries WHERE stage = 'ready' ORDER BY webhook_id LIMIT 1) \
        UNION ALL \
        SELECT (SELECT next.webhook_id FROM webhook_deliveries AS next \
                WHERE next.stage = 'ready' AND next.webhook_id > found.webhook_id ORDER BY next.webhook_id LIMIT 1) \
        FROM found WHERE found.webhook_id IS NOT NULL) \
    SELECT webhooks.id AS webhook_id, webhooks.project_id AS project_id, webhooks.url AS url, \
           (SELECT first.due_at FROM webhook_deliveries AS first \
            WHERE first.stage = 'ready' AND first.webhook_id = found.webhook_id ORDER BY first.due_at LIMIT 1) AS due_at, \
           (webhooks.enabled AND webhooks.deleted_at IS NULL AND organizations.plan <> 'free') AS is_in_use \
    FROM found \
    JOIN webhooks ON webhooks.id = found.webhook_id \
    JOIN projects ON projects.id = webhooks.project_id \
    JOIN organizations ON organizations.id = projects.organization_id";

/// A webhook that is in use and has held deliveries.
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

/// The condition of a stage, spelled as its index has it: SQLite recognises no other.
fn is_at(stage: &'static str) -> diesel::expression::SqlLiteral<Bool> {
    sql::<Bool>(&format!("webhook_deliveries.stage = '{stage}'"))
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// The webhooks that have deliveries that may be attempted now, in no order.
    pub fn ready_webhooks(&mut self) -> Result<Vec<ReadyWebhook>> {
        Ok(diesel::sql_query(READY_WEBHOOKS).load(self.connection)?)
    }

    /// When the first of the deliveries that wait is due.
    pub fn next_due_at(&mut self) -> Result<Option<Timestamp>> {
        let due_at: Option<Option<i64>> = deliveries::table
            .filter(is_at(WAITING))
            .order(deliveries::due_at)
            .select(deliveries::due_at)
            .limit(1)
            .get_result(self.connection)
            .optional()?;
        Ok(due_at.flatten().map(Timestamp::from_micros))
    }

    /// Makes up to `limit` deliveries ready that waited until `now`; how many.
    pub fn make_due_deliveries_ready(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let due = deliveries::table
            .filter(is_at(WAITING))
            .filter(deliveries::due_at.le(now.as_micros()))
            .order(deliveries::due_at)
            .limit(limit)
            .select(deliveries::id);
        let due: Vec<Vec<u8>> = match self.connection {
            AnyConnection::Sqlite(sqlite) => due.load(sqlite)?,
            AnyConnection::Postgres(postgres) => due.for_update().skip_locked().load(postgres)?,
        };
        self.move_deliveries(&due, READY)
    }

    /// Puts up to `limit` ready deliveries of a webhook aside, if it is not in use; how many.
    pub fn hold_deliveries(&mut self, webhook_id: &str, limit: i64) -> Result<usize> {
        if self.webhook_in_use(webhook_id)?.is_some() {
            return Ok(0);
        }
        self.move_stage(webhook_id, READY, HELD, limit)
    }

    /// Makes up to `limit` deliveries of a webhook ready that were put aside and whose webhook is in use again; how many.
    /// There may be more unless it is 0.
    pub fn release_held_deliveries(&mut self, limit: i64) -> Result<usize> {
        let found: Option<HeldColumns> = diesel::sql_query(HELD_WEBHOOK)
            .get_result(self.connection)
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
        let found: Vec<Vec<u8>> = match self.connection {
            AnyConnection::Sqlite(sqlite) => found.load(sqlite)?,
            AnyConnection::Postgres(postgres) => found.for_update().skip_locked().load(postgres)?,
        };
        self.move_deliveries(&found, to)
    }

    fn move_deliveries(&mut self, ids: &[Vec<u8>], stage: &str) -> Result<usize> {
        for id in ids {
            diesel::update(deliveries::table.find(id))
                .set(deliveries::stage.eq(Some(stage)))
                .execute(self.connection)?;
        }
        Ok(ids.len())
    }

    fn webhook_in_use(&mut self, webhook_id: &str) -> Result<Option<WebhookRow>> {
        let owner = projects::table.on(projects::id.eq(webhooks::project_id));
        let payer = organizations::table.on(organizations::id.eq(projects::organization_id));
        Ok(webhooks::table
            .inner_join(owner)
            .inner_join(payer)
            .filter(webhooks::id.eq(webhook_id))
            .filter(webhooks::enabled.eq(true))
            .filter(webhooks::deleted_at.is_null())
            .filter(organizations::plan.ne(Plan::Free.as_str()))
            .select(WebhookRow::as_select())
            .get_result(self.connection)
            .optional()?)
    }

    /// Takes up to `limit` deliveries to a webhook that are ready, under `lease`, from `now` until `leased_until`.
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
        let ready: Vec<DeliveryRow> = match self.connection {
            AnyConnection::Sqlite(sqlite) => ready.select(DeliveryRow::as_select()).load(sqlite)?,
            // What another node is about to take, this one leaves to it.
            AnyConnection::Postgres(postgres) => ready
                .select(DeliveryRow::as_select())
                .for_update()
                .skip_locked()
                .load(postgres)?,
        };
        let secrets = self.webhook_secrets(webhook_id, now)?;
        let mut leased = Vec::with_capacity(ready.len());
        for delivery in ready {
            diesel::update(deliveries::table.find(&delivery.id))
                .set((
                    deliveries::stage.eq(Some(WAITING)),
                    deliveries::due_at.eq(Some(leased_until.as_micros())),
                    // This is the attempt that was asked for, if one was.
                    deliveries::retry_asked.eq(false),
                    deliveries::lease.eq(Some(lease)),
                ))
                .execute(self.connection)?;
            leased.push(LeasedDelivery {
                alert: self.alert_of(&delivery)?,
                delivery,
                webhook: webhook.clone(),
                secrets: secrets.clone(),
            });
        }
        Ok(leased)
    }

    /// The alert of a delivery. A damaged one is its own trouble, not that of what is taken with it.
    fn alert_of(&mut self, delivery: &DeliveryRow) -> Result<Option<AlertRow>> {
        let (Some(ledger_id), Some(alert_id)) = (delivery.ledger_id, &delivery.alert_id) else {
            return Ok(None);
        };
        match self.alert(LedgerId(ledger_id), alert_id) {
            Err(error @ StoreError::Damaged { .. }) => {
                log::error!("an alert that is to be delivered cannot be read: {error}");
                Ok(None)
            }
            read => read,
        }
    }

    /// Holds a delivery until the end of the transaction, if it is still taken under `lease`: whether another attempt was
    /// asked for meanwhile.
    pub fn lock_leased_delivery(&mut self, id: &[u8], lease: &[u8]) -> Result<Option<bool>> {
        let row = deliveries::table
            .find(id)
            .filter(deliveries::lease.eq(lease))
            .select(deliveries::retry_asked);
        Ok(match self.connection {
            AnyConnection::Sqlite(sqlite) => row.get_result(sqlite).optional()?,
            AnyConnection::Postgres(postgres) => row.for_update().get_result(postgres).optional()?,
        })
    }

    /// Writes what an attempt led to. The delivery is held by [`Self::lock_leased_delivery`].
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
                deliveries::retry_asked.eq(false),
                deliveries::finished_at.eq(after.finished_at.map(Timestamp::as_micros)),
                deliveries::lease.eq(None::<Vec<u8>>),
            ))
            .execute(self.connection)?;
        diesel::insert_into(delivery_attempts::table)
            .values(attempt.clone())
            .execute(self.connection)?;
        Ok(())
    }

    /// Gives a delivery back that was not attempted, to be taken again at `due_at`. It is held by
    /// [`Self::lock_leased_delivery`].
    pub fn postpone_delivery(&mut self, id: &[u8], due_at: Timestamp) -> Result<()> {
        diesel::update(deliveries::table.find(id))
            .set((
                deliveries::stage.eq(Some(WAITING)),
                deliveries::due_at.eq(Some(due_at.as_micros())),
                deliveries::lease.eq(None::<Vec<u8>>),
            ))
            .execute(self.connection)?;
        Ok(())
    }

    /// What waits to be delivered.
    pub fn pending_deliveries(&mut self) -> Result<PendingCount> {
        let mut pending = PendingCount::default();
        for stage in [READY, WAITING] {
            let query = diesel::sql_query(format!("{PENDING}'{stage}'"));
            let found: PendingColumns = query.get_result(self.connection)?;
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
