//! The bodies of messages to webhooks.

use crate::deliveries::DeliveryKind;
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::webhooks::WebhookFormat;
use audit_alerts::{Alert, GroupBy};
use audit_domain::{Environment, ProjectId, SearchedText, Timestamp};
use audit_store::{LeasedDelivery, LedgerId, StoreError};
use serde_json::{Value, json};

/// The body: for every attempt the alert as it fired. Only names are those of the time of the attempt, so that one that was erased is
/// not sent.
pub(super) fn body(service: &AuditLog, leased: &LeasedDelivery) -> Result<String> {
    let damaged = || AppError::from(StoreError::Damaged { what: "delivery" });
    let kind: DeliveryKind = leased.delivery.kind.parse().map_err(|_| damaged())?;
    let (timestamp, data) = match kind {
        DeliveryKind::AlertFired => {
            let alert = leased.alert.clone().ok_or_else(damaged)?.as_fired();
            (alert.fired_at, alert_data(service, leased, &alert)?)
        }
        DeliveryKind::WebhookTest => {
            let created_at = Timestamp::from_micros(leased.delivery.created_at);
            (created_at, json!({"webhook_id": leased.webhook.id}))
        }
    };
    let message = match leased.webhook.format.parse().map_err(|_| damaged())? {
        WebhookFormat::Json => {
            json!({"type": kind.as_str(), "timestamp": timestamp.to_string(), "data": data})
        }
        WebhookFormat::Slack => slack(&lines(kind, &data)),
        WebhookFormat::Teams => teams(&lines(kind, &data)),
    };
    Ok(message.to_string())
}

/// The alert, and what a person needs beside it: the project, the environment, and the name of the actor if the rule groups by actor.
fn alert_data(service: &AuditLog, leased: &LeasedDelivery, alert: &Alert) -> Result<Value> {
    let damaged = |_| AppError::from(StoreError::Damaged { what: "webhook" });
    let project_id: ProjectId = leased.webhook.project_id.parse().map_err(damaged)?;
    let ledger_id = leased
        .delivery
        .ledger_id
        .filter(|_| alert.group_by == GroupBy::ActorId);
    let (project, event) = service.store.read(|reader| {
        let project = reader.project(project_id)?;
        let event = match (ledger_id, alert.sample_event_ids.first()) {
            (Some(ledger_id), Some(id)) => reader.event(LedgerId(ledger_id), *id)?,
            _ => None,
        };
        Ok::<_, AppError>((project, event))
    })?;
    let mut data = serde_json::to_value(alert).map_err(AppError::internal)?;
    data["project_id"] = json!(project_id.to_string());
    // Alerts of the test environment are not sent.
    data["environment"] = json!(Environment::Live.as_str());
    if let Some(project) = project {
        data["project_name"] = json!(project.name);
    }
    if let Some(event) = event
        && let Some(name) = event.event.facets()?.searched_text(SearchedText::ActorName)
    {
        data["actor_name"] = json!(name);
    }
    Ok(data)
}

/// The message for people. Names and ids come from events, so control characters are replaced: none begins a line.
fn lines(kind: DeliveryKind, data: &Value) -> Vec<String> {
    let text = |name: &str| match &data[name] {
        Value::String(text) => text.replace(char::is_control, " "),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    if kind == DeliveryKind::WebhookTest {
        return vec![format!("Test message of the audit log to {}", text("webhook_id"))];
    }
    let actor = match text("actor_name") {
        name if name.is_empty() => name,
        name => format!(" ({name})"),
    };
    vec![
        format!("{} alert: {}", text("severity"), text("rule_name")),
        format!(
            "{} {}{actor}, events: {}",
            text("group_by"),
            text("group_key"),
            text("event_count")
        ),
        format!(
            "tenant {}, project {}, {}",
            text("tenant_id"),
            text("project_name"),
            text("environment")
        ),
        format!("{}, {}", text("id"), text("fired_at")),
    ]
}

/// A message as incoming webhooks of Slack take it. `mrkdwn` is off and its three control characters are escaped
/// (<https://docs.slack.dev/messaging/formatting-message-text>), so a name is neither a link nor a mention.
fn slack(lines: &[String]) -> Value {
    let text = lines.join("\n");
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    json!({"text": text, "mrkdwn": false})
}

/// A message as the workflows of Teams take it: an adaptive card. The runs of a `RichTextBlock` are plain text, unlike a `TextBlock`,
/// which reads Markdown (<https://adaptivecards.io/explorer/RichTextBlock.html>).
fn teams(lines: &[String]) -> Value {
    let block =
        |line: &String| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": line}]});
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": lines.iter().map(block).collect::<Vec<_>>(),
    });
    let attachment = json!({"contentType": "application/vnd.microsoft.card.adaptive", "content": card});
    json!({"type": "message", "attachments": [attachment]})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Value {
        json!({
            "id": "alt_1", "rule_name": "Auth Brute Force", "severity": "high", "group_by": "actor_id",
            "group_key": "<!channel>", "event_count": 5, "tenant_id": "acme", "project_name": "default",
            "environment": "live", "actor_name": "Jane\n& <https://evil.example|Jane>",
            "fired_at": "2026-01-15T10:30:00.513Z",
        })
    }

    #[test]
    fn a_text_names_what_happened_to_whom_and_where() {
        let text = [
            "high alert: Auth Brute Force",
            "actor_id <!channel> (Jane & <https://evil.example|Jane>), events: 5",
            "tenant acme, project default, live",
            "alt_1, 2026-01-15T10:30:00.513Z",
        ];
        assert_eq!(lines(DeliveryKind::AlertFired, &data()), text);
        let mut unnamed = data();
        unnamed["actor_name"] = Value::Null;
        assert_eq!(
            lines(DeliveryKind::AlertFired, &unnamed)[1],
            "actor_id <!channel>, events: 5"
        );
        let test = json!({"webhook_id": "wh_1"});
        assert_eq!(
            lines(DeliveryKind::WebhookTest, &test),
            ["Test message of the audit log to wh_1"]
        );
    }

    #[test]
    fn no_name_is_a_link_or_a_mention_in_slack() {
        let message = slack(&lines(DeliveryKind::AlertFired, &data()));
        let text = message["text"].as_str().unwrap();
        assert!(!text.contains(['<', '>']), "{text}");
        assert!(
            text.contains("(Jane &amp; &lt;https://evil.example|Jane&gt;)"),
            "{text}"
        );
        assert_eq!(message["mrkdwn"], false);
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn teams_gets_a_card_of_plain_texts() {
        let message = teams(&lines(DeliveryKind::AlertFired, &data()));
        let body = &message["attachments"][0]["content"]["body"];
        assert_eq!(body.as_array().map(Vec::len), Some(4));
        assert_eq!(body[0]["inlines"][0]["text"], "high alert: Auth Brute Force");
    }
}
