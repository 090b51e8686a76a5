//! Requests to receivers of OpenTelemetry logs, in JSON.
//!
//! Format: <https://github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md#json-protobuf-encoding> and
//! `opentelemetry/proto/logs/v1/logs.proto` beside it.

use super::{Batch, Message};
use crate::config::Otlp;
use crate::{Encoded, Severity};
use audit_domain::Timestamp;
use serde_json::{Value, json};

pub(super) fn message(target: &Otlp, batch: &Batch, now: Timestamp) -> Message {
    let records = batch
        .positioned()
        .map(|(position, record)| log_record(batch, position, record, now));
    let request = json!({"resourceLogs": [{
        "resource": {"attributes": [attribute("service.name", "audit-log")]},
        "scopeLogs": [{
            "scope": {"name": "audit-log"},
            "logRecords": Vec::from_iter(records),
        }],
    }]});
    let mut message = Message::post(target.url.uri(), request.to_string().into_bytes());
    let added = target.headers.iter().chain(target.secret_headers.iter());
    message.headers.extend(added.cloned());
    message
}

fn log_record(batch: &Batch, position: u64, record: &Encoded, now: Timestamp) -> Value {
    let (number, text) = match record.severity {
        Severity::Informational => (9, "INFO"),
        Severity::Warning => (13, "WARN"),
    };
    json!({
        "timeUnixNano": nanos(record.time),
        "observedTimeUnixNano": nanos(now),
        "severityNumber": number,
        "severityText": text,
        "body": {"stringValue": record.text},
        "attributes": [
            attribute("log.record.uid", &record.id),
            attribute("audit.destination", &batch.id.destination),
            integer("audit.run", batch.id.run),
            integer("audit.position", position),
        ],
    })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// 64-bit numbers are texts in the JSON of protobuf.
fn integer(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

/// Nanoseconds of the Unix epoch: unsigned, so that earlier times become 0, which stands for unknown.
fn nanos(time: Timestamp) -> String {
    (i128::from(time.as_micros().max(0)) * 1_000).to_string()
}
