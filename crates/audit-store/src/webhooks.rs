//! Webhooks and the secrets that sign their deliveries. One that was deleted is there until its deliveries are removed,
//! which can be many; nothing here finds it any more.

use crate::error::Result;
use crate::rows::Rows;
use crate::schema::{webhook_secrets, webhooks};
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;

/// A webhook as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = webhooks)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct WebhookRow {
    pub id: String,
    pub project_id: String,
    pub url: String,
    pub enabled: bool,
    /// Microseconds since the Unix epoch.
    pub created_at: i64,
}

/// A secret that signs deliveries.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecretRow {
    /// Counts the secrets of a webhook.
    pub number: i64,
    /// The secret, sealed or not.
    pub secret: Vec<u8>,
    /// When it signs no longer; `None` for the newest.
    pub expires_at: Option<Timestamp>,
}

/// Without the secret.
impl std::fmt::Debug for WebhookSecretRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WebhookSecretRow")
            .field("number", &self.number)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// The webhooks of a project, oldest first.
    pub fn webhooks(&mut self, project_id: ProjectId) -> Result<Vec<WebhookRow>> {
        Ok(webhooks::table
            .filter(webhooks::project_id.eq(project_id.to_string()))
            .filter(webhooks::deleted_at.is_null())
            .order((webhooks::created_at, webhooks::id))
            .select(WebhookRow::as_select())
            .load(self.connection)?)
    }

    /// A webhook of a project.
    pub fn webhook(&mut self, project_id: ProjectId, id: &str) -> Result<Option<WebhookRow>> {
        Ok(webhooks::table
            .find(id)
            .filter(webhooks::project_id.eq(project_id.to_string()))
            .filter(webhooks::deleted_at.is_null())
            .select(WebhookRow::as_select())
            .get_result(self.connection)
            .optional()?)
    }

    /// Adds a webhook with its first secret.
    pub fn insert_webhook(&mut self, webhook: &WebhookRow, secret: &[u8]) -> Result<()> {
        diesel::insert_into(webhooks::table)
            .values(webhook.clone())
            .execute(self.connection)?;
        self.insert_webhook_secret(&webhook.id, 1, secret)?;
        self.is_configuration_changed = true;
        Ok(())
    }

    /// Changes a webhook from `before` to `after`.
    pub fn update_webhook(&mut self, before: &WebhookRow, after: &WebhookRow) -> Result<()> {
        diesel::update(webhooks::table.find(&before.id))
            .set((webhooks::url.eq(&after.url), webhooks::enabled.eq(after.enabled)))
            .execute(self.connection)?;
        // Where it leads is looked up for every attempt; whether alerts are told to it is remembered.
        self.is_configuration_changed |= before.enabled != after.enabled;
        Ok(())
    }

    /// Switches a webhook off if it still leads to `url`; whether it does.
    pub fn disable_webhook(&mut self, id: &str, url: &str) -> Result<bool> {
        let row = webhooks::table.find(id).filter(webhooks::url.eq(url));
        let enabled: Option<bool> = row
            .select(webhooks::enabled)
            .get_result(self.connection)
            .optional()?;
        if enabled == Some(true) {
            diesel::update(webhooks::table.find(id))
                .set(webhooks::enabled.eq(false))
                .execute(self.connection)?;
            self.is_configuration_changed = true;
        }
        Ok(enabled.is_some())
    }

    /// Takes a webhook out of sight and removes its secrets; `false` when the project has none of this id. Its deliveries
    /// are left to [`Self::purge_deleted_webhooks`].
    pub fn delete_webhook(&mut self, project_id: ProjectId, id: &str, now: Timestamp) -> Result<bool> {
        if self.webhook(project_id, id)?.is_none() {
            return Ok(false);
        }
        diesel::update(webhooks::table.find(id))
            .set(webhooks::deleted_at.eq(Some(now.as_micros())))
            .execute(self.connection)?;
        diesel::delete(webhook_secrets::table.filter(webhook_secrets::webhook_id.eq(id)))
            .execute(self.connection)?;
        self.is_configuration_changed = true;
        Ok(true)
    }

    /// The secrets of a webhook that have not expired at `now`, newest first.
    pub fn webhook_secrets(&mut self, webhook_id: &str, now: Timestamp) -> Result<Vec<WebhookSecretRow>> {
        let rows = webhook_secrets::table
            .filter(webhook_secrets::webhook_id.eq(webhook_id))
            .filter(
                webhook_secrets::expires_at
                    .is_null()
                    .or(webhook_secrets::expires_at.gt(now.as_micros())),
            )
            .order(webhook_secrets::number.desc())
            .select((
                webhook_secrets::number,
                webhook_secrets::secret,
                webhook_secrets::expires_at,
            ))
            .load::<(i64, Vec<u8>, Option<i64>)>(self.connection)?;
        let read = |(number, secret, expires_at): (_, _, Option<i64>)| WebhookSecretRow {
            number,
            secret,
            expires_at: expires_at.map(Timestamp::from_micros),
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Every secret that has not expired at `now`, with its webhook's id.
    pub fn all_webhook_secrets(&mut self, now: Timestamp) -> Result<Vec<(String, Vec<u8>)>> {
        let is_in_force = webhook_secrets::expires_at.gt(now.as_micros());
        Ok(webhook_secrets::table
            .filter(webhook_secrets::expires_at.is_null().or(is_in_force))
            .select((webhook_secrets::webhook_id, webhook_secrets::secret))
            .load(self.connection)?)
    }

    /// Makes `secret` the newest. The one before it signs until `expires_at`, beside it.
    pub fn rotate_webhook_secret(
        &mut self,
        webhook_id: &str,
        secret: &[u8],
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<()> {
        let newest = self.webhook_secrets(webhook_id, now)?;
        let newest = newest.first().map_or(0, |newest| newest.number);
        diesel::update(webhook_secrets::table.find((webhook_id, newest)))
            .set(webhook_secrets::expires_at.eq(Some(expires_at.as_micros())))
            .execute(self.connection)?;
        self.insert_webhook_secret(webhook_id, newest + 1, secret)
    }

    fn insert_webhook_secret(&mut self, webhook_id: &str, number: i64, secret: &[u8]) -> Result<()> {
        diesel::insert_into(webhook_secrets::table)
            .values((
                webhook_secrets::webhook_id.eq(webhook_id),
                webhook_secrets::number.eq(number),
                webhook_secrets::secret.eq(secret),
            ))
            .execute(self.connection)?;
        Ok(())
    }
}
