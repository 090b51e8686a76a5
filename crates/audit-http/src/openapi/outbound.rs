//! The requests that the service sends: messages to webhooks.

use super::model::{
    Example, Header, JSON, Media, Named, Operation, Or, Parameter, PathItem, RequestBody, Response,
};
use crate::about::Tag;
use crate::routes::AlertBody;
use crate::schema::{Id, MessageIdText, Time};
use audit_app::{DeliveryKind, WebhookId};
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Value, json};

/// An alert was raised.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is sent")]
struct AlertFiredMessage {
    #[schemars(rename = "type", extend("enum" = [DeliveryKind::AlertFired.as_str()]))]
    kind: String,
    /// When it was raised.
    timestamp: Time,
    /// The alert at that time.
    data: AlertBody,
}

/// A test message.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is sent")]
struct WebhookTestMessage {
    #[schemars(rename = "type", extend("enum" = [DeliveryKind::WebhookTest.as_str()]))]
    kind: String,
    /// When it was requested.
    timestamp: Time,
    data: WebhookTestData,
}

/// The webhook.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is sent")]
struct WebhookTestData {
    webhook_id: Id<WebhookId>,
}

const DESCRIPTION: &str = "A POST to the URL of each enabled webhook of the project, as Standard Webhooks 1 says. Any 2xx \
                           within 15 seconds is success; anything else is tried again for about three days. 410 disables \
                           the webhook. The same message may come more than once: look at `webhook-id`.";

/// The webhooks of the document, and the path items to which they refer. Generators make clients of operations in
/// `webhooks`, which nobody can call and which do not compile in every language; they leave references alone.
pub(super) fn webhooks(generator: &mut SchemaGenerator) -> (Named<Or<PathItem>>, Named<PathItem>) {
    let fired = Operation {
        summary: "An alert was raised",
        ..operation(
            "receive_alert_fired",
            generator.subschema_for::<AlertFiredMessage>(),
            generator,
            json!({
                "type": DeliveryKind::AlertFired.as_str(),
                "timestamp": "2026-01-15T10:30:00.513Z",
                "data": {
                    "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force",
                    "rule_name": "Auth Brute Force", "severity": "high", "status": "open", "tenant_id": "acme",
                    "group_by": "actor_id", "group_key": "user_3",
                    "count_distinct": "ip_address", "event_count": 5, "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X"],
                    "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": null, "resolved_at": null,
                    "project_id": "8aefe29f-cd1a-4802-85e0-718cd30d0f63", "project_name": "default", "environment": "live",
                    "actor_name": "Ada Lovelace",
                    "url": "https://audit.example.com/console#/alerts?alert=alt_01M7YBDWMHPH3PBPJD17B5KSK0&project=8aefe29f-cd1a-4802-85e0-718cd30d0f63&environment=live",
                },
            }),
        )
    };
    let test = Operation {
        summary: "A test message was requested",
        is_additive: true,
        ..operation(
            "receive_webhook_test",
            generator.subschema_for::<WebhookTestMessage>(),
            generator,
            json!({
                "type": DeliveryKind::WebhookTest.as_str(),
                "timestamp": "2026-01-15T10:30:01.366Z",
                "data": {"webhook_id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V"},
            }),
        )
    };
    let reference = |kind: DeliveryKind, name| (kind.to_string(), Or::component("pathItems", name));
    let webhooks = vec![
        reference(DeliveryKind::AlertFired, ALERT_FIRED),
        reference(DeliveryKind::WebhookTest, WEBHOOK_TEST),
    ];
    let items = vec![
        (ALERT_FIRED.to_owned(), Named::one("post", fired)),
        (WEBHOOK_TEST.to_owned(), Named::one("post", test)),
    ];
    (Named(webhooks), Named(items))
}

const ALERT_FIRED: &str = "AlertFired";
const WEBHOOK_TEST: &str = "WebhookTest";

fn operation(
    operation_id: &'static str,
    schema: Schema,
    generator: &mut SchemaGenerator,
    example: Value,
) -> Operation {
    let example = Or::Here(Example {
        summary: String::new(),
        value: example,
    });
    let examples = Named::one("example", example);
    Operation {
        operation_id,
        tags: vec![Tag::Messages.as_str()],
        summary: "",
        description: DESCRIPTION,
        is_additive: false,
        security: Vec::new(),
        credentials: Vec::new(),
        pagination: None,
        parameters: headers(generator),
        request_body: Some(RequestBody {
            required: true,
            content: Named::one(JSON, Media { schema, examples }),
        }),
        responses: Named(vec![
            ("2XX".to_owned(), response("The message was received.")),
            (
                "410".to_owned(),
                response("The receiver no longer exists; the webhook is disabled."),
            ),
        ]),
    }
}

fn response(description: &str) -> Or<Response> {
    Or::Here(Response {
        description: description.to_owned(),
        headers: Named::<Or<Header>>::default(),
        content: Named::default(),
        links: Named::default(),
    })
}

fn headers(generator: &mut SchemaGenerator) -> Vec<Or<Parameter>> {
    let header = |name: &str, description: &str, schema, example: &str| {
        Or::Here(Parameter {
            name: name.to_owned(),
            place: "header",
            required: true,
            description: description.to_owned(),
            is_additive: false,
            schema,
            example: json!(example),
        })
    };
    let message_id = generator.subschema_for::<MessageIdText>();
    vec![
        header(
            "webhook-id",
            "The id of the message, the same on every attempt.",
            message_id,
            "msg_01M7YBDWMHPH3PBPJD17B5KSK0",
        ),
        header(
            "webhook-timestamp",
            "When this attempt began, in seconds since 1970.",
            json_schema!({"type": "string", "pattern": "^[0-9]+$"}),
            "1768473000",
        ),
        header(
            "webhook-signature",
            "`v1,` and the base64 HMAC-SHA256 of id, timestamp and body, with dots between them; several with spaces \
             between them while a secret is replaced.",
            json_schema!({"type": "string", "pattern": "^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$"}),
            "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        ),
    ]
}
