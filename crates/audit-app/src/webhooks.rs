//! Webhooks of a project.

mod changes;

use crate::error::{AppError, Result};
use crate::secrets;
use audit_domain::{Plan, ProjectId, Timestamp};
use audit_secrets::{KeyRing, Secret};
use audit_store::{Reader, StoreError, WebhookRow, WebhookSecretRow};
use audit_webhooks::{WebhookId, WebhookSecret};

/// The maximum number of webhooks of a project.
pub const WEBHOOKS_MAX: usize = 20;
/// The time for which a replaced secret signs together with the new one, in seconds.
pub const REPLACED_SECRET_SECONDS: i64 = 24 * 3_600;
/// The maximum number of active secrets of a webhook, because each lengthens a header.
const WEBHOOK_SECRETS_MAX: usize = 10;

audit_domain::words! {
    /// The shape of the body of messages to a webhook.
    pub enum WebhookFormat {
        /// The alert as JSON, as Standard Webhooks say.
        Json = "json",
        /// A text for an incoming webhook of Slack.
        Slack = "slack",
        /// An adaptive card for a workflow of Microsoft Teams.
        Teams = "teams",
    }
}

/// A webhook of a project.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The URL that alerts are sent to. Empty if what is stored cannot be decrypted.
    pub url: String,
    /// The shape of the body.
    pub format: WebhookFormat,
    /// Whether alerts are sent.
    pub enabled: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// The secret that signs deliveries; only if it was created by this call.
    pub secret: Option<WebhookSecret>,
}

/// A change to a webhook.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in Webhook")]
pub struct WebhookChange {
    pub url: Option<String>,
    pub format: Option<WebhookFormat>,
    pub enabled: Option<bool>,
}

impl Webhook {
    pub(crate) fn open(row: &WebhookRow, keys: &KeyRing) -> Result<Self> {
        let damaged = |_| AppError::from(StoreError::Damaged { what: "webhook id" });
        Ok(Self {
            id: row.id.parse().map_err(damaged)?,
            url: open_url(row, keys).unwrap_or_else(|error| {
                // It can still be listed, disabled, given another URL, and deleted.
                log::error!("webhook {} has no readable URL: {error}", row.id);
                String::new()
            }),
            format: row
                .format
                .parse()
                .map_err(|_| StoreError::Damaged { what: "webhook" })?,
            enabled: row.enabled,
            created_at: Timestamp::from_micros(row.created_at),
            secret: None,
        })
    }

    fn with_secret(self, secret: &Secret) -> Self {
        let secret = Some(WebhookSecret::from_bytes(*secret.as_bytes()));
        Self { secret, ..self }
    }
}

/// Decrypts the URL of a webhook.
pub(crate) fn open_url(row: &WebhookRow, keys: &KeyRing) -> Result<String> {
    secrets::open_text(&row.url, keys, secrets::of_webhook_url(&row.id, &row.project_id))
}

/// Decrypts a secret of a webhook.
pub(crate) fn open_secret(
    stored: &WebhookSecretRow,
    keys: &KeyRing,
    webhook_id: &str,
) -> Result<WebhookSecret> {
    let place = secrets::of_webhook(webhook_id, stored.number);
    let secret = secrets::open(&stored.secret, keys, place)?;
    Ok(WebhookSecret::from_bytes(*secret.as_bytes()))
}

pub(crate) fn require_paid_plan(reader: &mut Reader<'_>, project_id: ProjectId) -> Result<()> {
    match reader.plan_of(project_id)? {
        Plan::Free => Err(AppError::WebhooksNotAvailable),
        Plan::Pro | Plan::Enterprise => Ok(()),
    }
}

pub(crate) fn webhook_of(
    reader: &mut Reader<'_>,
    project_id: ProjectId,
    id: WebhookId,
) -> Result<WebhookRow> {
    reader
        .webhook(project_id, &id.to_string())?
        .ok_or(AppError::NotFound("webhook"))
}
