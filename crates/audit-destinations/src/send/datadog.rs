//! Requests to Datadog's intake of logs.
//!
//! Format: <https://docs.datadoghq.com/api/latest/logs/send-logs/>.

use super::{Batch, Message};
use crate::config::Datadog;
use crate::{Encoded, Kind, Severity};
use audit_domain::Timestamp;
use serde_json::{Value, json};

/// More than the members of an entry have, apart from its message.
const MEMBERS_BYTES_MAX: usize = 1_000;

pub(super) fn message(target: &Datadog, batch: &Batch, now: Timestamp) -> Message {
    let entries = batch.records.iter().map(|record| entry(target, record, now));
    let body = Value::Array(entries.collect()).to_string();
    Message::post(target.url.uri(), body.into_bytes()).with_header("dd-api-key", target.api_key.as_str())
}

/// Datadog reads the JSON of the message into attributes. It drops what is older than its limit, so such a record has the time
/// of sending; the time of the event is in the message.
fn entry(target: &Datadog, record: &Encoded, now: Timestamp) -> Value {
    let age = now.as_seconds().saturating_sub(record.time.as_seconds());
    let is_too_old = Kind::Datadog
        .limits()
        .age_seconds_max
        .is_some_and(|max| age > max);
    let time = if is_too_old { now } else { record.time };
    let status = match record.severity {
        Severity::Informational => "info",
        Severity::Warning => "warn",
    };
    let mut entry = json!({
        "ddsource": "audit-log",
        "service": target.service,
        "timestamp": time.as_millis(),
        "status": status,
        "message": record.text,
    });
    if let Some(tags) = &target.tags {
        entry["ddtags"] = tags.as_str().into();
    }
    entry
}

/// The bytes of a record's entry, or a few more.
pub(crate) fn entry_bytes(record: &Encoded) -> usize {
    Value::from(record.text.as_str()).to_string().len() + MEMBERS_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::config::Target;
    use audit_webhooks::AddressPolicy;

    fn target() -> Datadog {
        let longest = "x".repeat(200);
        let settings = json!({"site": "datadoghq.eu", "service": longest, "tags": "t".repeat(400)});
        let config = Config::parse(
            Kind::Datadog,
            &settings,
            &json!({"api_key": "k"}),
            AddressPolicy::Public,
        );
        match config.unwrap().target {
            Target::Datadog(target) => target,
            _ => panic!("the kind that was asked for"),
        }
    }

    fn of_age(seconds: i64) -> (Encoded, Timestamp) {
        let record = Encoded {
            text: r#"{"a":"\""}"#.into(),
            time: Timestamp::from_seconds(1_768_473_000),
            id: "evt_1".into(),
            severity: Severity::Warning,
        };
        let now = record.time.plus_seconds(seconds);
        (record, now)
    }

    #[test]
    fn what_is_too_old_has_the_time_of_sending() {
        let max = Kind::Datadog.limits().age_seconds_max.unwrap();
        let (record, now) = of_age(max);
        assert_eq!(
            entry(&target(), &record, now)["timestamp"],
            record.time.as_millis()
        );
        let (record, now) = of_age(max + 1);
        assert_eq!(entry(&target(), &record, now)["timestamp"], now.as_millis());
        assert_eq!(entry(&target(), &record, now)["message"], record.text);
    }

    #[test]
    fn the_length_of_an_entry_is_never_more_than_estimated() {
        let (record, now) = of_age(0);
        let entry = entry(&target(), &record, now).to_string();
        assert!(entry.len() <= entry_bytes(&record), "{entry}");
    }
}
