//! Webhooks of a project.

use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{MasterKey, Principal};
use audit_domain::{Plan, ProjectId, Timestamp, Violations};
use audit_store::{Deployment, Reader, StoreError, WebhookRow, WebhookSecretRow};
use audit_webhooks::{EncryptionKey, WebhookId, WebhookSecret, WebhookUrl, sealing};

/// The maximum number of webhooks of a project.
pub const WEBHOOKS_MAX: usize = 20;
/// The time for which a replaced secret signs together with the new one, in seconds.
pub const REPLACED_SECRET_SECONDS: i64 = 24 * 3_600;
/// The maximum number of active secrets of a webhook, because each lengthens a header.
const WEBHOOK_SECRETS_MAX: usize = 10;
/// The name of the secret that identifies the encryption key of the database.
const ENCRYPTION_CHECK: &str = "encryption_check";

/// A webhook of a project.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The URL that alerts are sent to.
    pub url: String,
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
    pub enabled: Option<bool>,
}

impl Webhook {
    fn from_row(row: &WebhookRow, secret: Option<WebhookSecret>) -> Result<Self> {
        let damaged = |_| AppError::from(StoreError::Damaged { what: "webhook id" });
        Ok(Self {
            id: row.id.parse().map_err(damaged)?,
            url: row.url.clone(),
            enabled: row.enabled,
            created_at: Timestamp::from_micros(row.created_at),
            secret,
        })
    }
}

/// Decrypts a secret of a webhook.
pub(crate) fn open_secret(
    stored: &[u8],
    key: Option<&EncryptionKey>,
    webhook_id: &str,
) -> Result<WebhookSecret> {
    Ok(sealing::open(stored, key, webhook_id.as_bytes())?)
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

fn too_many_secrets(active: &[WebhookSecretRow]) -> AppError {
    let next = active.iter().filter_map(|secret| secret.expires_at).min();
    let until = next
        .map(|at| format!("; the next one expires at {at}"))
        .unwrap_or_default();
    AppError::Conflict(format!(
        "{WEBHOOK_SECRETS_MAX} secrets of this webhook are active{until}"
    ))
}

impl AuditLog {
    fn check_url(&self, url: &str) -> Result<()> {
        let parsed = WebhookUrl::parse(url, self.settings.webhook_addresses);
        parsed
            .map(|_| ())
            .map_err(|error| Violations::one("url", error).into())
    }

    /// The webhooks of a project, oldest first.
    ///
    /// # Errors
    /// When the principal has no access to the project.
    pub fn webhooks(&self, master: &MasterKey, selection: Selection) -> Result<Vec<Webhook>> {
        let principal = &Principal::Master(*master);
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let webhooks = reader.webhooks(scope.project.project.id)?;
            webhooks.iter().map(|row| Webhook::from_row(row, None)).collect()
        })
    }

    /// Creates a webhook, and the secret that signs its deliveries.
    ///
    /// # Errors
    /// [`AppError::WebhooksNotAvailable`] on the free plan; [`AppError::Invalid`] when the URL is not allowed;
    /// [`AppError::Forbidden`] when the project has [`WEBHOOKS_MAX`] webhooks.
    pub fn create_webhook(
        &self,
        master: &MasterKey,
        selection: Selection,
        url: String,
        enabled: bool,
    ) -> Result<Webhook> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.store.read(|reader| require_paid_plan(reader, project_id))?;
        self.check_url(&url)?;
        let now = self.clock.now();
        let row = WebhookRow {
            id: WebhookId::new(now, self.entropy.bytes()).to_string(),
            project_id: project_id.to_string(),
            url,
            enabled,
            created_at: now.as_micros(),
        };
        let (secret, sealed) = self.new_secret(&row.id);
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            require_paid_plan(configurator, project_id)?;
            if configurator.webhooks(project_id)?.len() >= WEBHOOKS_MAX {
                let message = format!("a project has at most {WEBHOOKS_MAX} webhooks");
                return Err(AppError::Forbidden(message));
            }
            configurator.insert_webhook(&row, &sealed)?;
            let event = ServiceEvent::webhook(None, Some(&row));
            Ok(Changed::if_some(Webhook::from_row(&row, Some(secret))?, event))
        })
    }

    /// Changes a webhook.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] when the URL is not allowed.
    pub fn change_webhook(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.store
            .read(|reader| webhook_of(reader, project_id, id).map(|_| ()))?;
        if let Some(url) = &change.url {
            self.check_url(url)?;
        }
        let changed = self.change_project(project_id, &Requester::from(master), move |configurator| {
            let before = webhook_of(configurator, project_id, id)?;
            let after = WebhookRow {
                url: change.url.unwrap_or_else(|| before.url.clone()),
                enabled: change.enabled.unwrap_or(before.enabled),
                ..before.clone()
            };
            let webhook = Webhook::from_row(&after, None)?;
            if after == before {
                return Ok(Changed::nothing(webhook));
            }
            configurator.update_webhook(&before, &after)?;
            let event = ServiceEvent::webhook(Some(&before), Some(&after));
            Ok(Changed::if_some(webhook, event))
        });
        // Enabling a webhook releases its held deliveries.
        self.wake_deliveries();
        changed
    }

    /// Deletes a webhook with its deliveries. [`Self::purge`] removes the rows, because there can be many.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn delete_webhook(&self, master: &MasterKey, selection: Selection, id: WebhookId) -> Result<()> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let webhook = webhook_of(configurator, project_id, id)?;
            match configurator.delete_webhook(&webhook.id, now)? {
                true => Ok(Changed::if_some((), ServiceEvent::webhook(Some(&webhook), None))),
                false => Err(AppError::NotFound("webhook")),
            }
        })
    }

    /// Gives a webhook a new secret. The old one also signs for [`REPLACED_SECRET_SECONDS`], so that receivers can be
    /// changed one by one. A further rotation does not shorten that time. Instead, at most ten secrets are active, so that
    /// the header stays short.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Conflict`] when ten secrets are active.
    pub fn rotate_webhook_secret(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: WebhookId,
    ) -> Result<Webhook> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        let expires_at = Timestamp::from_seconds(now.as_seconds() + REPLACED_SECRET_SECONDS);
        let (secret, sealed) = self.new_secret(&id.to_string());
        // `configure` serializes rotations.
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let webhook = webhook_of(configurator, project_id, id)?;
            let active = configurator.webhook_secrets(&webhook.id, now)?;
            if active.len() >= WEBHOOK_SECRETS_MAX {
                return Err(too_many_secrets(&active));
            }
            configurator.rotate_webhook_secret(&webhook.id, &sealed, now, expires_at)?;
            let event = ServiceEvent::webhook_secret_rotated(&webhook);
            Ok(Changed::by(Webhook::from_row(&webhook, Some(secret))?, event))
        })
    }

    /// Checks that the configured encryption key is the key of this database. The first configured key becomes the key of
    /// the database; secrets that were stored before it stay readable. The service must not start with another key or, once
    /// there is one, without a key: it would store secrets that other nodes cannot read.
    ///
    /// # Errors
    /// [`AppError::SealedSecret`] when it is another key.
    pub fn check_webhook_secrets(&self) -> Result<()> {
        let key = self.settings.encryption_key.clone();
        let now = self.clock.now();
        let (secrets, check) = self.store.query(|reader| -> Result<_> {
            Ok((reader.all_webhook_secrets(now)?, reader.secret(ENCRYPTION_CHECK)?))
        })?;
        secrets
            .into_iter()
            .try_for_each(|(id, stored)| open_secret(&stored, key.as_ref(), &id).map(|_| ()))?;
        let check = match (check, &key) {
            (Some(check), _) => check,
            (None, Some(_)) => self.insert_encryption_check(now)?,
            (None, None) => return Ok(()),
        };
        open_secret(&check, key.as_ref(), ENCRYPTION_CHECK).map(|_| ())
    }

    /// Stores what only the configured key decrypts, unless another node has meanwhile. Returns what is stored.
    fn insert_encryption_check(&self, now: Timestamp) -> Result<Vec<u8>> {
        let (_, new_check) = self.new_secret(ENCRYPTION_CHECK);
        // `configure` serializes nodes that start at the same time.
        self.store.configure(Deployment, move |configurator| {
            if let Some(check) = configurator.secret(ENCRYPTION_CHECK)? {
                return Ok(check);
            }
            configurator.insert_secret(ENCRYPTION_CHECK, &new_check, now)?;
            Ok(new_check)
        })
    }

    /// Creates a secret of a webhook. Returns it plain and as stored.
    fn new_secret(&self, webhook_id: &str) -> (WebhookSecret, Vec<u8>) {
        let secret = WebhookSecret::from_bytes(self.entropy.bytes());
        let key = self.settings.encryption_key.as_ref();
        let sealed = sealing::seal(&secret, key, webhook_id.as_bytes(), self.entropy.bytes());
        (secret, sealed)
    }
}
