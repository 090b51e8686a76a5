//! The bodies of messages to webhooks.

use crate::action_labels::default_label;
use crate::alerts::{AlertInContext, actor_names};
use crate::deliveries::DeliveryKind;
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::webhooks::WebhookFormat;
use audit_alerts::Alert;
use audit_domain::{Environment, Facet, ProjectId, Timestamp};
use audit_store::{LeasedDelivery, LedgerId, StoreError};
use serde_json::{Value, json};
use std::slice::from_ref;

/// The body: for every attempt the alert as it fired. Only names are those of the time of the attempt, so that one that was erased is
/// not sent.
pub(super) fn body(service: &AuditLog, leased: &LeasedDelivery) -> Result<String> {
    let damaged = || AppError::from(StoreError::Damaged { what: "delivery" });
    let kind: DeliveryKind = leased.delivery.kind.parse().map_err(|_| damaged())?;
    let format: WebhookFormat = leased.webhook.format.parse().map_err(|_| damaged())?;
    let (timestamp, data, action) = match kind {
        DeliveryKind::AlertFired => {
            let alert = leased.alert.clone().ok_or_else(damaged)?.as_fired();
            let action = match format {
                WebhookFormat::Json => None,
                WebhookFormat::Slack | WebhookFormat::Teams => labelled_action(service, leased, &alert)?,
            };
            (alert.fired_at, alert_data(service, leased, alert)?, action)
        }
        DeliveryKind::WebhookTest => {
            let created_at = Timestamp::from_micros(leased.delivery.created_at);
            (created_at, json!({"webhook_id": leased.webhook.id}), None)
        }
    };
    let lines = || lines(kind, &data).into_iter().chain(action).collect::<Vec<_>>();
    let message = match format {
        WebhookFormat::Json => {
            json!({"type": kind.as_str(), "timestamp": timestamp.to_string(), "data": data})
        }
        WebhookFormat::Slack => slack(&lines(), data["url"].as_str()),
        WebhookFormat::Teams => teams(&lines(), data["url"].as_str()),
    };
    Ok(message.to_string())
}

/// The alert in its context, as the API shows it.
fn alert_data(service: &AuditLog, leased: &LeasedDelivery, alert: Alert) -> Result<Value> {
    let damaged = |_| AppError::from(StoreError::Damaged { what: "webhook" });
    let project_id: ProjectId = leased.webhook.project_id.parse().map_err(damaged)?;
    let ledger_id = leased.delivery.ledger_id.map(LedgerId);
    let (project, actor_name) = service.store.read(|reader| {
        let name = match ledger_id {
            Some(ledger_id) => actor_names(reader, ledger_id, from_ref(&alert))?.remove(&alert.id),
            None => None,
        };
        Ok::<_, AppError>((reader.project(project_id)?, name))
    })?;
    // Alerts of the test environment are not sent.
    let environment = Environment::Live;
    let shown = AlertInContext {
        url: service.alert_url(project_id, environment, alert.id),
        project_name: project.map(|project| project.name).unwrap_or_default(),
        alert,
        project_id,
        environment,
        actor_name,
    };
    serde_json::to_value(&shown).map_err(AppError::internal)
}

/// The action of the newest event of an alert, as people read it, with the action itself; `None` where it has no label.
fn labelled_action(service: &AuditLog, leased: &LeasedDelivery, alert: &Alert) -> Result<Option<String>> {
    let damaged = |_| AppError::from(StoreError::Damaged { what: "webhook" });
    let project_id: ProjectId = leased.webhook.project_id.parse().map_err(damaged)?;
    let (Some(ledger_id), Some(newest)) = (leased.delivery.ledger_id, alert.sample_event_ids.first()) else {
        return Ok(None);
    };
    service.store.read(|reader| {
        let events = reader.intact_events(LedgerId(ledger_id), from_ref(newest))?;
        let Some(event) = events.first() else {
            return Ok(None);
        };
        let Ok(facets) = event.facets() else {
            return Ok(None);
        };
        let Some(action) = facets.get(Facet::Action) else {
            return Ok(None);
        };
        let label = default_label(reader, project_id, action)?;
        Ok(label.map(|label| format!("latest event: {} ({action})", label.replace(is_unseen, " "))))
    })
}

/// Characters that begin a line, reorder the text around them or have no width: those that the pages show by their code
/// (`web/src/shared/visible.ts`), and every other that ends a line.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || character.is_control()
}

/// The message for people. Names and ids come from events, so unseen characters are replaced: none begins a line.
fn lines(kind: DeliveryKind, data: &Value) -> Vec<String> {
    let text = |name: &str| match &data[name] {
        Value::String(text) => text.replace(is_unseen, " "),
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
    let counted = match text("count_distinct") {
        field if field.is_empty() => "events".to_owned(),
        field => format!("distinct {field}"),
    };
    vec![
        format!("{} alert: {}", text("severity"), text("rule_name")),
        format!(
            "{} {}{actor}, {counted}: {}",
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

/// A message as incoming webhooks of Slack take it. Slack turns URLs within a `text` into links, also with `mrkdwn` off. In a `rich_text`
/// block only an element `link` is one (<https://docs.slack.dev/reference/block-kit/blocks/rich-text-block>), so no name stands in for
/// the URL. Beside blocks `text` is what notifications show; its three control characters are escaped
/// (<https://docs.slack.dev/messaging/formatting-message-text>), so a name is not a mention there.
fn slack(lines: &[String], url: Option<&str>) -> Value {
    let section = |element: Value| json!({"type": "rich_text_section", "elements": [element]});
    let texts = lines
        .iter()
        .map(|line| section(json!({"type": "text", "text": line})));
    let link = url.map(|url| section(json!({"type": "link", "url": url})));
    let elements: Vec<Value> = texts.chain(link).collect();
    let text = lines
        .join("\n")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    json!({"blocks": [{"type": "rich_text", "elements": elements}], "text": text, "mrkdwn": false})
}

/// A message as the workflows of Teams take it: an adaptive card. The runs of a `RichTextBlock` are plain text, unlike a `TextBlock`,
/// which reads Markdown (<https://adaptivecards.io/explorer/RichTextBlock.html>). The URL is a button.
fn teams(lines: &[String], url: Option<&str>) -> Value {
    let block =
        |line: &String| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": line}]});
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": lines.iter().map(block).collect::<Vec<_>>(),
    });
    if let Some(url) = url {
        card["actions"] = json!([{"type": "Action.OpenUrl", "title": "Open the alert", "url": url}]);
    }
    let attachment = json!({"contentType": "application/vnd.microsoft.card.adaptive", "content": card});
    json!({"type": "message", "attachments": [attachment]})
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://audit.example/console#/alerts?alert=alt_1&project=p";

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
        let mut distinct = data();
        distinct["count_distinct"] = json!("session_id");
        assert!(lines(DeliveryKind::AlertFired, &distinct)[1].ends_with("), distinct session_id: 5"));
        let test = json!({"webhook_id": "wh_1"});
        assert_eq!(
            lines(DeliveryKind::WebhookTest, &test),
            ["Test message of the audit log to wh_1"]
        );
    }

    #[test]
    fn no_character_of_a_name_is_unseen() {
        let mut hostile = data();
        for unseen in
            "\n\u{7f}\u{85}\u{ad}\u{200b}\u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}"
                .chars()
        {
            hostile["actor_name"] = json!(format!("a{unseen}b"));
            let line = lines(DeliveryKind::AlertFired, &hostile).remove(1);
            assert!(line.contains("(a b)"), "{unseen:?}: {line:?}");
        }
        // Scripts and emoji need joiners and marks of direction.
        hostile["actor_name"] = json!("a\u{200d}b\u{200e}");
        let line = lines(DeliveryKind::AlertFired, &hostile).remove(1);
        assert!(line.contains("(a\u{200d}b\u{200e})"), "{line:?}");
    }

    #[test]
    fn no_name_is_a_link_or_a_mention_in_slack() {
        let mut hostile = data();
        hostile["actor_name"] = json!("<!here> https://evil.example/console evil.example");
        let lines = lines(DeliveryKind::AlertFired, &hostile);
        let elements = |message: &Value| {
            let sections = message["blocks"][0]["elements"].as_array().unwrap().clone();
            let is_of_one = |section: &Value| section["elements"].as_array().map(Vec::len) == Some(1);
            assert!(sections.iter().all(is_of_one), "{sections:?}");
            sections
                .iter()
                .map(|section| section["elements"][0].clone())
                .collect::<Vec<_>>()
        };
        let texts: Vec<Value> = lines
            .iter()
            .map(|line| json!({"type": "text", "text": line}))
            .collect();
        let message = slack(&lines, None);
        assert_eq!(elements(&message), texts);
        let text = message["text"].as_str().unwrap();
        assert!(
            !text.contains(['<', '>']) && text.contains("&lt;!here&gt;"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 4);
        let linked = slack(&lines, Some(URL));
        let link = json!({"type": "link", "url": URL});
        assert_eq!(elements(&linked), [texts, vec![link]].concat());
    }

    #[test]
    fn teams_gets_a_card_of_plain_texts() {
        let message = teams(&lines(DeliveryKind::AlertFired, &data()), None);
        let body = &message["attachments"][0]["content"]["body"];
        assert_eq!(body.as_array().map(Vec::len), Some(4));
        assert_eq!(body[0]["inlines"][0]["text"], "high alert: Auth Brute Force");
        assert_eq!(message["attachments"][0]["content"].get("actions"), None);
        let linked = teams(&lines(DeliveryKind::AlertFired, &data()), Some(URL));
        let action = &linked["attachments"][0]["content"]["actions"][0];
        assert_eq!(
            (&action["type"], &action["url"]),
            (&json!("Action.OpenUrl"), &json!(URL))
        );
    }
}
