//! Webhooks and the secrets that sign their deliveries.

use crate::connection::AnyConnection;
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
            .order((webhooks::created_at, webhooks::id))
            .select(WebhookRow::as_select())
            .load(self.connection)?)
    }

    /// A webhook of a project.
    pub fn webhook(&mut self, project_id: ProjectId, id: &str) -> Result<Option<WebhookRow>> {
        Ok(webhooks::table
            .find(id)
            .filter(webhooks::project_id.eq(project_id.to_string()))
            .select(WebhookRow::as_select())
            .first(self.connection)
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

    /// Changes where a webhook leads and whether it is used.
    pub fn update_webhook(&mut self, webhook: &WebhookRow) -> Result<()> {
        diesel::update(webhooks::table.find(&webhook.id))
            .set((
                webhooks::url.eq(&webhook.url),
                webhooks::enabled.eq(webhook.enabled),
            ))
            .execute(self.connection)?;
        self.is_configuration_changed = true;
        Ok(())
    }

    /// Switches a webhook off.
    pub fn disable_webhook(&mut self, id: &str) -> Result<()> {
        let row = webhooks::table.find(id).filter(webhooks::enabled.eq(true));
        let changed = diesel::update(row)
            .set(webhooks::enabled.eq(false))
            .execute(self.connection)?;
        self.is_configuration_changed |= changed > 0;
        Ok(())
    }

    /// Removes a webhook with its secrets and deliveries; `false` when the project has none of this id.
    pub fn delete_webhook(&mut self, project_id: ProjectId, id: &str) -> Result<bool> {
        let row = webhooks::table
            .find(id)
            .filter(webhooks::project_id.eq(project_id.to_string()));
        let deleted = match self.connection {
            AnyConnection::Sqlite(sqlite) => diesel::delete(row).execute(sqlite)?,
            AnyConnection::Postgres(postgres) => diesel::delete(row).execute(postgres)?,
        } > 0;
        self.is_configuration_changed |= deleted;
        Ok(deleted)
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

    /// Every secret of every webhook, with the webhook's id.
    pub fn all_webhook_secrets(&mut self) -> Result<Vec<(String, Vec<u8>)>> {
        Ok(webhook_secrets::table
            .select((webhook_secrets::webhook_id, webhook_secrets::secret))
            .load(self.connection)?)
    }

    /// Makes `secret` the newest. The one before it signs until `expires_at`, beside it; of those that signed beside
    /// that one, the `kept_max - 1` newest go on until they expire.
    pub fn rotate_webhook_secret(
        &mut self,
        webhook_id: &str,
        secret: &[u8],
        now: Timestamp,
        expires_at: Timestamp,
        kept_max: usize,
    ) -> Result<()> {
        let signing = self.webhook_secrets(webhook_id, now)?;
        let newest = signing.first().map_or(0, |newest| newest.number);
        let oldest_kept = signing
            .iter()
            .take(kept_max)
            .next_back()
            .map_or(0, |kept| kept.number);
        diesel::delete(
            webhook_secrets::table
                .filter(webhook_secrets::webhook_id.eq(webhook_id))
                .filter(
                    webhook_secrets::expires_at
                        .le(now.as_micros())
                        .or(webhook_secrets::number.nullable().lt(oldest_kept)),
                ),
        )
        .execute(self.connection)?;
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
