//! `/api/v1/alerts/webhooks`.

use crate::caller::{Caller, Master};
use crate::error::ApiError;
use crate::input::{JsonBody, read_selection};
use crate::reply::{Deleted, Reply};
use actix_web::{HttpRequest, web};
use audit_app::{AppError, Webhook, WebhookChange, WebhookId, WebhookSecret};
use audit_auth::Principal;
use serde::Serialize;

#[derive(Serialize)]
struct WebhookBody {
    id: WebhookId,
    url: String,
    enabled: bool,
    /// In full only when it has just been made.
    secret: String,
    created_at: String,
}

#[derive(Serialize)]
pub(super) struct OneWebhookBody {
    webhook: WebhookBody,
}

#[derive(Serialize)]
pub(super) struct WebhooksBody {
    webhooks: Vec<WebhookBody>,
}

impl From<Webhook> for WebhookBody {
    fn from(webhook: Webhook) -> Self {
        let redacted = || WebhookSecret::redacted().to_owned();
        Self {
            id: webhook.id,
            url: webhook.url,
            enabled: webhook.enabled,
            secret: webhook
                .secret
                .as_ref()
                .map_or_else(redacted, WebhookSecret::to_text),
            created_at: webhook.created_at.to_string(),
        }
    }
}

impl From<Webhook> for OneWebhookBody {
    fn from(webhook: Webhook) -> Self {
        Self {
            webhook: webhook.into(),
        }
    }
}

pub(super) fn id_in(path: &str) -> Result<WebhookId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("webhook"))
}

/// Lists the project's webhooks.
pub(super) async fn list(
    caller: Caller<Master>,
    request: HttpRequest,
) -> Result<Reply<WebhooksBody>, ApiError> {
    let selection = read_selection(&request)?;
    let webhooks = caller
        .run(move |service, master| service.webhooks(&Principal::Master(master), selection))
        .await?;
    Ok(Reply::ok(WebhooksBody {
        webhooks: webhooks.into_iter().map(WebhookBody::from).collect(),
    }))
}

/// Makes a webhook; the one answer, beside a rotation's, that shows its secret.
pub(super) async fn create(
    caller: Caller<Master>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<Reply<OneWebhookBody>, ApiError> {
    let selection = read_selection(&request)?;
    let (url, enabled) = body.read(|fields| {
        let url = fields.required_text("url", 1, usize::MAX);
        let enabled = fields.optional_bool("enabled").unwrap_or(true);
        Some((url?, enabled))
    })?;
    let made = caller.run(move |service, master| {
        service.create_webhook(&Principal::Master(master), selection, url, enabled)
    });
    Ok(Reply::created(made.await?.into()))
}

/// Changes a webhook.
pub(super) async fn change(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
    body: JsonBody,
) -> Result<Reply<OneWebhookBody>, ApiError> {
    let selection = read_selection(&request)?;
    let change = body.read(|fields| {
        Some(WebhookChange {
            url: fields.optional_text("url", 1, usize::MAX),
            enabled: fields.optional_bool("enabled"),
        })
    })?;
    let id = id_in(&id)?;
    let changed = caller.run(move |service, master| {
        service.change_webhook(&Principal::Master(master), selection, id, change)
    });
    Ok(Reply::ok(changed.await?.into()))
}

/// Deletes a webhook, and with it what was to be delivered.
pub(super) async fn delete(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = read_selection(&request)?;
    let id = id_in(&id)?;
    let deleted =
        caller.run(move |service, master| service.delete_webhook(&Principal::Master(master), selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}

/// Gives a webhook a new secret.
pub(super) async fn rotate_secret(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<OneWebhookBody>, ApiError> {
    let selection = read_selection(&request)?;
    let id = id_in(&id)?;
    let rotated = caller
        .run(move |service, master| service.rotate_webhook_secret(&Principal::Master(master), selection, id));
    Ok(Reply::ok(rotated.await?.into()))
}
