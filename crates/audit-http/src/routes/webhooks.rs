//! `/api/v1/alerts/webhooks`.

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, JsonBody, ProjectParameters};
use crate::reply::{Created, Deleted, Reply};
use crate::schema::{Id, Text, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{AppError, Webhook, WebhookChange, WebhookFormat, WebhookId, WebhookSecret};
use audit_auth::{Alerts, Master};
use audit_domain::Fields;
use schemars::JsonSchema;
use serde::Serialize;

/// Characters of a URL, at most.
const URL_CHARS_MAX: usize = 2_048;

/// The properties of a new webhook.
#[derive(JsonSchema)]
#[schemars(rename = "WebhookInput", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NewWebhookInput {
    /// Begins with `https://`, without user name, password and fragment. Must not lead to a loopback, private or
    /// otherwise special address, unless the operator allows it.
    #[schemars(regex(pattern = URL_PATTERN))]
    url: UrlText,
    /// The shape of the body.
    #[schemars(extend("default" = WebhookFormat::Json.as_str(), "x-additive" = true))]
    format: Option<Word<WebhookFormat>>,
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
}

/// Changes of a webhook. Absent fields keep their values.
#[derive(JsonSchema)]
#[schemars(rename = "WebhookChange", transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct WebhookChangeInput {
    /// As in the creation.
    #[schemars(regex(pattern = URL_PATTERN))]
    url: Option<UrlText>,
    #[schemars(extend("x-additive" = true))]
    format: Option<Word<WebhookFormat>>,
    enabled: Option<bool>,
}

type UrlText = Text<1, URL_CHARS_MAX>;
const URL_PATTERN: &str = r"^[Hh][Tt][Tt][Pp][Ss]://[^\s\\#]+$";

/// An address to which alerts are sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Webhook")]
struct WebhookBody {
    #[schemars(with = "Id<WebhookId>")]
    id: WebhookId,
    // RFC 3987: a name may be written in any script.
    #[schemars(extend("format" = "iri"))]
    url: String,
    #[schemars(with = "Word<WebhookFormat>", extend("x-additive" = true))]
    format: &'static str,
    enabled: bool,
    /// In full only in the response that creates it; otherwise redacted.
    #[schemars(regex(pattern = r"^whsec_([0-9A-Za-z+/]{43}=|\*+\[REDACTED\])$"))]
    secret: String,
    #[schemars(with = "Time")]
    created_at: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WebhookResult")]
pub(super) struct OneWebhookBody {
    webhook: WebhookBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WebhookList")]
pub(super) struct WebhooksBody {
    webhooks: Vec<WebhookBody>,
}

impl From<Webhook> for WebhookBody {
    fn from(webhook: Webhook) -> Self {
        let redacted = || WebhookSecret::redacted().to_owned();
        Self {
            id: webhook.id,
            url: webhook.url,
            format: webhook.format.as_str(),
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

impl Fielded for NewWebhookInput {
    type Read = (String, WebhookFormat, bool);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let url = fields.required_text("url", 1, usize::MAX);
        let format = fields.optional_parsed("format").unwrap_or(WebhookFormat::Json);
        let enabled = fields.optional_bool("enabled").unwrap_or(true);
        Some((url?, format, enabled))
    }
}

impl Fielded for WebhookChangeInput {
    type Read = WebhookChange;

    fn read(fields: &mut Fields<'_>) -> Option<WebhookChange> {
        Some(WebhookChange {
            url: fields.optional_text("url", 1, usize::MAX),
            format: fields.optional_parsed("format"),
            enabled: fields.optional_bool("enabled"),
        })
    }
}

pub(super) fn id_in(path: &str) -> Result<WebhookId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("webhook"))
}

/// Lists the project's webhooks.
pub(super) async fn list(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
) -> Result<Reply<WebhooksBody>, ApiError> {
    let selection = parameters.read()?;
    let webhooks = caller
        .run(move |service, master| service.webhooks(&master, selection))
        .await?;
    Ok(Reply::ok(WebhooksBody {
        webhooks: webhooks.into_iter().map(WebhookBody::from).collect(),
    }))
}

/// One webhook.
pub(super) async fn get(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneWebhookBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let webhook = caller.run(move |service, master| service.webhook(&master, selection, id));
    Ok(Reply::ok(webhook.await?.into()))
}

/// Creates a webhook. Only this response and that of a rotation show its secret.
pub(super) async fn create(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    body: JsonBody<NewWebhookInput>,
) -> Result<Reply<OneWebhookBody, Created>, ApiError> {
    let selection = parameters.read()?;
    let (url, format, enabled) = body.read(caller.room()).await?;
    let made =
        caller.run(move |service, master| service.create_webhook(&master, selection, url, format, enabled));
    Ok(Reply::created(made.await?.into()))
}

/// Changes a webhook.
pub(super) async fn change(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
    body: JsonBody<WebhookChangeInput>,
) -> Result<Reply<OneWebhookBody>, ApiError> {
    let selection = parameters.read()?;
    let change = body.read(caller.room()).await?;
    let id = id_in(&id)?;
    let changed = caller.run(move |service, master| service.change_webhook(&master, selection, id, change));
    Ok(Reply::ok(changed.await?.into()))
}

/// Deletes a webhook and its pending deliveries.
pub(super) async fn delete(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<Deleted>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let deleted = caller.run(move |service, master| service.delete_webhook(&master, selection, id));
    deleted.await?;
    Ok(Reply::deleted())
}

/// Gives a webhook a new secret.
pub(super) async fn rotate_secret(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneWebhookBody>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let rotated = caller.run(move |service, master| service.rotate_webhook_secret(&master, selection, id));
    Ok(Reply::ok(rotated.await?.into()))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::schema::Id;
    use audit_app::WebhookId;

    pub(crate) fn id() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The id of the webhook.",
            schema: |generator| generator.subschema_for::<Id<WebhookId>>(),
            example: "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V",
            refusal: ErrorCode::NotFound,
        })
    }

    const WITH_SECRET: &str = r#"{"webhook": {
        "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts",
                    "format": "json", "enabled": true,
        "secret": "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=", "created_at": "2026-01-15T10:30:00.268Z"
    }}"#;

    pub(crate) fn list() -> About {
        About {
            description: "Oldest first, on every plan.",
            outcome: "The webhooks; their secrets redacted.",
            responses: &[Sample(
                "example",
                r#"{"webhooks": [{
                    "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts",
                    "format": "json", "enabled": true,
                    "secret": "whsec_****************[REDACTED]", "created_at": "2026-01-15T10:30:00.268Z"
                }]}"#,
            )],
            ..About::new("list_webhooks", Tag::Webhooks, "List webhooks")
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "On every plan.",
            path: id(),
            outcome: "The webhook; its secret is redacted.",
            responses: &[Sample(
                "example",
                r#"{"webhook": {
                    "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts",
                    "format": "json", "enabled": true,
                    "secret": "whsec_****************[REDACTED]", "created_at": "2026-01-15T10:30:00.268Z"
                }}"#,
            )],
            is_additive: true,
            ..About::new("get_webhook", Tag::Webhooks, "Read one webhook")
        }
    }

    pub(crate) fn create() -> About {
        About {
            description: "Needs a paid plan. At most 20 webhooks of a project (403 `forbidden`). Nothing is sent to \
                          the URL by this.",
            requests: &[Sample(
                "example",
                r#"{"url": "https://example.com/alerts", "format": "json", "enabled": true}"#,
            )],
            outcome: "The webhook with its secret, which is not shown again.",
            responses: &[Sample("example", WITH_SECRET)],
            errors: &[ErrorCode::WebhooksNotAvailable],
            ..About::new("create_webhook", Tag::Webhooks, "Create a webhook")
        }
    }

    pub(crate) fn change() -> About {
        About {
            description: "On every plan. Pending deliveries are sent to the new URL, with the same secret. A \
                          disabled webhook gets no new deliveries, and pending ones remain pending.",
            path: id(),
            requests: &[Sample(
                "example",
                r#"{"url": "https://example.com/alerts", "format": "json", "enabled": false}"#,
            )],
            outcome: "The changed webhook; its secret is redacted.",
            responses: &[Sample(
                "example",
                r#"{"webhook": {
                    "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts",
                    "format": "json", "enabled": false,
                    "secret": "whsec_****************[REDACTED]", "created_at": "2026-01-15T10:30:00.268Z"
                }}"#,
            )],
            ..About::new("update_webhook", Tag::Webhooks, "Change a webhook")
        }
    }

    pub(crate) fn delete() -> About {
        About {
            description: "On every plan. Also deletes its deliveries.",
            path: id(),
            outcome: "The webhook is deleted.",
            responses: &[Sample("example", r#"{"deleted": true}"#)],
            ..About::new("delete_webhook", Tag::Webhooks, "Delete a webhook")
        }
    }

    pub(crate) fn rotate_secret() -> About {
        About {
            description: "The old secret remains valid for 24 hours: `webhook-signature` then holds two signatures, \
                          and more after more rotations. While ten sign, another rotation is 409.",
            path: id(),
            outcome: "The webhook with its new secret, which is not shown again.",
            responses: &[Sample("example", WITH_SECRET)],
            errors: &[ErrorCode::Conflict],
            is_additive: true,
            ..About::new(
                "rotate_webhook_secret",
                Tag::Webhooks,
                "Rotate the secret of a webhook",
            )
        }
    }
}
