//! The webhooks of a project, listed and changed.

use super::{
    REPLACED_SECRET_SECONDS, WEBHOOK_SECRETS_MAX, WEBHOOKS_MAX, Webhook, WebhookChange, WebhookFormat,
    require_paid_plan, webhook_of,
};
use crate::error::{AppError, Result};
use crate::secrets;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::{MasterKey, Principal};
use audit_domain::{Timestamp, Violations};
use audit_store::{WebhookRow, WebhookSecretRow};
use audit_webhooks::{WebhookId, WebhookUrl};

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
            let keys = &self.settings.encryption;
            webhooks.iter().map(|row| Webhook::open(row, keys)).collect()
        })
    }

    /// A webhook of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn webhook(&self, master: &MasterKey, selection: Selection, id: WebhookId) -> Result<Webhook> {
        let principal = &Principal::Master(*master);
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let row = webhook_of(reader, scope.project.project.id, id)?;
            Webhook::open(&row, &self.settings.encryption)
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
        format: WebhookFormat,
        enabled: bool,
    ) -> Result<Webhook> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        self.store.read(|reader| require_paid_plan(reader, project_id))?;
        self.check_url(&url)?;
        let now = self.clock.now();
        let id = WebhookId::new(now, self.entropy.bytes()).to_string();
        let row = WebhookRow {
            url: self.sealed(
                url.as_bytes(),
                &secrets::of_webhook_url(&id, &project_id.to_string()),
            ),
            id,
            project_id: project_id.to_string(),
            format: format.to_string(),
            enabled,
            created_at: now.as_micros(),
        };
        let secret = self.new_secret();
        let sealed = self.sealed(secret.as_bytes(), &secrets::of_webhook(&row.id, 1));
        let webhook = Webhook::open(&row, &self.settings.encryption)?.with_secret(&secret);
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            require_paid_plan(configurator, project_id)?;
            if configurator.webhooks(project_id)?.len() >= WEBHOOKS_MAX {
                let message = format!("a project has at most {WEBHOOKS_MAX} webhooks");
                return Err(AppError::Forbidden(message));
            }
            configurator.insert_webhook(&row, &sealed)?;
            let event = ServiceEvent::webhook(None, Some(&webhook));
            Ok(Changed::if_some(webhook, event))
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
        let (keys, nonce) = (self.settings.encryption.clone(), self.entropy.bytes());
        let changed = self.change_project(project_id, &Requester::from(master), move |configurator| {
            let row = webhook_of(configurator, project_id, id)?;
            let before = Webhook::open(&row, &keys)?;
            let new_url = change.url.filter(|url| *url != before.url);
            let enabled = change.enabled.unwrap_or(before.enabled);
            let format = change.format.unwrap_or(before.format);
            if new_url.is_none() && (format, enabled) == (before.format, before.enabled) {
                return Ok(Changed::nothing(before));
            }
            let place = secrets::of_webhook_url(&row.id, &row.project_id);
            let seal = |url: String| keys.seal(url.as_bytes(), &place, nonce);
            let changed = WebhookRow {
                url: new_url.map_or_else(|| row.url.clone(), seal),
                format: format.to_string(),
                enabled,
                ..row.clone()
            };
            configurator.update_webhook(&row, &changed)?;
            let after = Webhook::open(&changed, &keys)?;
            let event = ServiceEvent::webhook(Some(&before), Some(&after));
            Ok(Changed::if_some(after, event))
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
        let keys = self.settings.encryption.clone();
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let row = webhook_of(configurator, project_id, id)?;
            let webhook = Webhook::open(&row, &keys)?;
            match configurator.delete_webhook(&row.id, now)? {
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
        let (secret, nonce) = (self.new_secret(), self.entropy.bytes());
        let keys = self.settings.encryption.clone();
        // `configure` serializes rotations.
        self.change_project(project_id, &Requester::from(master), move |configurator| {
            let row = webhook_of(configurator, project_id, id)?;
            let webhook = Webhook::open(&row, &keys)?;
            let active = configurator.webhook_secrets(&row.id, now)?;
            if active.len() >= WEBHOOK_SECRETS_MAX {
                return Err(too_many_secrets(&active));
            }
            let seal = |number| keys.seal(secret.as_bytes(), &secrets::of_webhook(&row.id, number), nonce);
            configurator.rotate_webhook_secret(&row.id, seal, now, expires_at)?;
            let event = ServiceEvent::webhook_secret_rotated(&webhook);
            Ok(Changed::by(webhook.with_secret(&secret), event))
        })
    }
}
