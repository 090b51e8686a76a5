//! Webhooks and the secrets that sign their deliveries. The row of a deleted webhook stays until its deliveries are removed,
//! which can be many; no query here returns it.

use super::schema::{organizations, projects, webhook_secrets, webhooks};
use crate::access::{Configurator, Reader, Writer};
use crate::database::{select_for_key_share, select_skip_locked};
use crate::error::Result;
use crate::schema::webhook_deliveries;
use audit_domain::{Plan, ProjectId, Timestamp};
use diesel::prelude::*;
use std::collections::BTreeSet;

/// A stored webhook.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = webhooks)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct WebhookRow {
    pub id: String,
    pub project_id: String,
    /// Encrypted if an encryption key is configured: a secret in its path is often all that protects a receiver.
    pub url: Vec<u8>,
    /// The shape of the body.
    pub format: String,
    pub enabled: bool,
    /// Microseconds since the Unix epoch.
    pub created_at: i64,
}

/// Without the URL.
impl std::fmt::Debug for WebhookRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WebhookRow")
            .field("id", &self.id)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

/// A secret that signs deliveries.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecretRow {
    /// Numbers the secrets of a webhook.
    pub number: i64,
    /// The secret, encrypted if an encryption key is configured.
    pub secret: Vec<u8>,
    /// When it stops signing; `None` for the newest.
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
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The webhooks of a project, oldest first.
    pub fn webhooks(&mut self, project_id: ProjectId) -> Result<Vec<WebhookRow>> {
        Ok(webhooks::table
            .filter(webhooks::project_id.eq(project_id.to_string()))
            .filter(webhooks::deleted_at.is_null())
            .order((webhooks::created_at, webhooks::id))
            .select(WebhookRow::as_select())
            .load(self.session())?)
    }

    /// A webhook of a project.
    pub fn webhook(&mut self, project_id: ProjectId, id: &str) -> Result<Option<WebhookRow>> {
        Ok(webhooks::table
            .find(id)
            .filter(webhooks::project_id.eq(project_id.to_string()))
            .filter(webhooks::deleted_at.is_null())
            .select(WebhookRow::as_select())
            .get_result(self.session())
            .optional()?)
    }

    /// Whether the webhook of a project is enabled, if its stored URL is this one.
    fn is_enabled_at(&mut self, project_id: ProjectId, id: &str, url: &[u8]) -> Result<Option<bool>> {
        let row = webhooks::table
            .find(id)
            .filter(webhooks::project_id.eq(project_id.to_string()))
            .filter(webhooks::url.eq(url));
        Ok(row
            .select(webhooks::enabled)
            .get_result(self.session())
            .optional()?)
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
            .load::<(i64, Vec<u8>, Option<i64>)>(self.session())?;
        let read = |(number, secret, expires_at): (_, _, Option<i64>)| WebhookSecretRow {
            number,
            secret,
            expires_at: expires_at.map(Timestamp::from_micros),
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Every secret that has not expired at `now`, with its webhook's id and its number.
    pub fn all_webhook_secrets(&mut self, now: Timestamp) -> Result<Vec<(String, i64, Vec<u8>)>> {
        let is_in_force = webhook_secrets::expires_at.gt(now.as_micros());
        Ok(webhook_secrets::table
            .filter(webhook_secrets::expires_at.is_null().or(is_in_force))
            .select((
                webhook_secrets::webhook_id,
                webhook_secrets::number,
                webhook_secrets::secret,
            ))
            .load(self.session())?)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a webhook with its first secret, which has the number 1.
    pub fn insert_webhook(&mut self, webhook: &WebhookRow, secret: &[u8]) -> Result<()> {
        let row = WebhookRow {
            project_id: self.owner().to_string(),
            ..webhook.clone()
        };
        diesel::insert_into(webhooks::table)
            .values(row)
            .execute(self.session()?)?;
        self.insert_webhook_secret(&webhook.id, 1, secret)?;
        Ok(())
    }

    /// Changes a webhook from `before` to `after`.
    pub fn update_webhook(&mut self, before: &WebhookRow, after: &WebhookRow) -> Result<()> {
        let row = webhooks::table
            .find(&before.id)
            .filter(webhooks::project_id.eq(self.owner().to_string()));
        self.change_if_found(|session| {
            // A URL that stays may be encrypted again meanwhile.
            let url = (before.url != after.url).then(|| webhooks::url.eq(&after.url));
            diesel::update(row)
                .set((
                    url,
                    webhooks::format.eq(&after.format),
                    webhooks::enabled.eq(after.enabled),
                ))
                .execute(session)?;
            // Nodes cache which webhooks are enabled. They read the URL for every attempt.
            Ok(before.enabled != after.enabled)
        })?;
        if after.enabled && !before.enabled {
            self.release_deliveries();
        }
        Ok(())
    }

    /// Disables a webhook if its stored URL is still this one. Returns whether it is.
    pub fn disable_webhook(&mut self, id: &str, url: &[u8]) -> Result<bool> {
        let project_id = self.owner();
        let enabled = self.is_enabled_at(project_id, id, url)?;
        if enabled == Some(true) {
            diesel::update(webhooks::table.find(id))
                .set(webhooks::enabled.eq(false))
                .execute(self.session()?)?;
        }
        Ok(enabled.is_some())
    }

    /// Marks a webhook as deleted and removes its secrets; `false` when the project has none of this id. Its deliveries are
    /// removed by [`Writer::purge_deleted_webhooks`].
    pub fn delete_webhook(&mut self, id: &str, now: Timestamp) -> Result<bool> {
        let project_id = self.owner();
        if self.webhook(project_id, id)?.is_none() {
            return Ok(false);
        }
        diesel::update(webhooks::table.find(id))
            .set(webhooks::deleted_at.eq(Some(now.as_micros())))
            .execute(self.session()?)?;
        diesel::delete(webhook_secrets::table.filter(webhook_secrets::webhook_id.eq(id)))
            .execute(self.session()?)?;
        Ok(true)
    }

    /// Adds the newest secret: that which `secret` makes for its number. The one before it also signs, until `expires_at`.
    pub fn rotate_webhook_secret(
        &mut self,
        webhook_id: &str,
        secret: impl FnOnce(i64) -> Vec<u8>,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<()> {
        let newest = self.webhook_secrets(webhook_id, now)?;
        let newest = newest.first().map_or(0, |newest| newest.number);
        diesel::update(webhook_secrets::table.find((webhook_id, newest)))
            .set(webhook_secrets::expires_at.eq(Some(expires_at.as_micros())))
            .execute(self.uncached_session())?;
        self.insert_webhook_secret(webhook_id, newest + 1, &secret(newest + 1))
    }

    fn insert_webhook_secret(&mut self, webhook_id: &str, number: i64, secret: &[u8]) -> Result<()> {
        diesel::insert_into(webhook_secrets::table)
            .values((
                webhook_secrets::webhook_id.eq(webhook_id),
                webhook_secrets::number.eq(number),
                webhook_secrets::secret.eq(secret),
            ))
            .execute(self.uncached_session())?;
        Ok(())
    }
}

impl Reader<'_> {
    /// A webhook that deliveries go to: enabled, not deleted, and of an organization with a paid plan.
    pub(crate) fn webhook_in_use(&mut self, webhook_id: &str) -> Result<Option<WebhookRow>> {
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
            .get_result(self.session())
            .optional()?)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Those of the webhooks that exist. Their rows are not removed before the transaction ends, so deliveries can refer to
    /// them.
    pub(crate) fn hold_webhooks(&mut self, ids: BTreeSet<&str>) -> Result<BTreeSet<String>> {
        let existing = webhooks::table
            .filter(webhooks::id.eq_any(ids))
            .filter(webhooks::deleted_at.is_null())
            .select(webhooks::id);
        let existing: Vec<String> = select_for_key_share!(self.session(), existing, load)?;
        Ok(existing.into_iter().collect())
    }

    /// Removes up to `limit` rows of webhooks that were deleted before `before`: first their deliveries with the attempts,
    /// then the webhooks. Returns the number of rows.
    pub fn purge_deleted_webhooks(&mut self, before: Timestamp, limit: i64) -> Result<usize> {
        let deleted = webhooks::table
            .filter(webhooks::deleted_at.lt(before.as_micros()))
            .order(webhooks::deleted_at)
            .limit(limit)
            .select(webhooks::id);
        let deleted: Vec<String> = select_skip_locked!(self.session(), deleted, load)?;
        let mut removed = 0;
        for webhook_id in deleted {
            let ids: Vec<Vec<u8>> = webhook_deliveries::table
                .filter(webhook_deliveries::webhook_id.eq(&webhook_id))
                .order(webhook_deliveries::id)
                .limit(limit - removed)
                .select(webhook_deliveries::id)
                .load(self.session())?;
            for id in &ids {
                diesel::delete(webhook_deliveries::table.find(id)).execute(self.session())?;
            }
            removed += ids.len() as i64;
            if removed == limit {
                break;
            }
            diesel::delete(webhooks::table.find(&webhook_id)).execute(self.session())?;
            removed += 1;
        }
        Ok(usize::try_from(removed).unwrap_or_default())
    }

    /// Removes up to `limit` expired secrets of webhooks. Returns their number.
    pub fn purge_webhook_secrets(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let expired: Vec<(String, i64)> = webhook_secrets::table
            .filter(webhook_secrets::expires_at.le(now.as_micros()))
            .order(webhook_secrets::expires_at)
            .limit(limit)
            .select((webhook_secrets::webhook_id, webhook_secrets::number))
            .load(self.session())?;
        for (webhook_id, number) in &expired {
            diesel::delete(webhook_secrets::table.find((webhook_id, number))).execute(self.session())?;
        }
        Ok(expired.len())
    }
}
