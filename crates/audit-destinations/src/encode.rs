//! Writes records in their formats.

use crate::action::succeeded;
use crate::record::{
    CHECKPOINT, CheckpointRecord, Encoded, EventRecord, Payload, Record, Severity, StreamPart, text,
};
use crate::{OcsfOptions, RecordFormat, cef, ocsf};
use audit_domain::{SERVICE_TENANT_ID, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The action of the made-up event of a test.
const TEST: &str = "audit.destination.test";

/// The member `stream` of a record.
#[derive(Serialize)]
struct Stream<'a> {
    destination: &'a str,
    log: &'a str,
    run: u64,
    position: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replay: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    test: bool,
}

/// Writes a record. Every event gives one. `at` is the time of checkpoints and tests; the same arguments always give the same bytes.
pub fn encode(record: &Record<'_>, format: RecordFormat, ocsf: &OcsfOptions, at: Timestamp) -> Encoded {
    match record.payload {
        Payload::Event { seq, json } => encode_event(record, Some(seq), json, format, ocsf, at),
        Payload::Test => {
            let json = test_event(record, at);
            encode_event(record, None, &json, format, ocsf, at)
        }
        Payload::Checkpoint {
            note,
            log_checkpoint,
            through_position,
            through_seq,
        } => {
            let members = json!({
                "type": CHECKPOINT, "note": note, "log_checkpoint": log_checkpoint,
                "through_position": through_position, "through_seq": through_seq, "stream": record.stream_member(None),
            });
            encode_checkpoint(record, members, format, at)
        }
    }
}

fn encode_event(
    record: &Record<'_>,
    seq: Option<u64>,
    json: &str,
    format: RecordFormat,
    options: &OcsfOptions,
    at: Timestamp,
) -> Encoded {
    let event: Map<String, Value> = serde_json::from_str(json).unwrap_or_default();
    let time = text(&event, "occurred_at").and_then(|text| Timestamp::parse_rfc3339(text).ok());
    let (time, id) = (time.unwrap_or(at), text(&event, "id").map(str::to_owned));
    let severity = match succeeded(&event) {
        Some(false) => Severity::Warning,
        Some(true) | None => Severity::Informational,
    };
    let stream_member = record.stream_member(seq);
    let mapped = |stream_member| EventRecord {
        stream: record.stream,
        stream_member,
        seq,
        event,
        time,
    };
    let text = match format {
        RecordFormat::Json => with_stream(json, &stream_member),
        RecordFormat::Ocsf => ocsf::event(mapped(stream_member), json, options),
        RecordFormat::Cef => cef::event(&mapped(stream_member)),
    };
    Encoded {
        text,
        time,
        id: id.unwrap_or_else(|| record.id()),
        severity,
    }
}

fn encode_checkpoint(record: &Record<'_>, members: Value, format: RecordFormat, time: Timestamp) -> Encoded {
    let checkpoint = CheckpointRecord {
        stream: record.stream,
        members,
        time,
    };
    let text = match format {
        RecordFormat::Json => checkpoint.members.to_string(),
        RecordFormat::Ocsf => ocsf::checkpoint(&checkpoint),
        RecordFormat::Cef => cef::checkpoint(&checkpoint),
    };
    Encoded {
        text,
        time,
        id: record.id(),
        severity: Severity::Informational,
    }
}

impl Record<'_> {
    /// The id of a record that is no event.
    fn id(&self) -> String {
        let StreamPart {
            destination,
            run,
            position,
            ..
        } = self.stream;
        format!("{destination}-{run}-{position}")
    }

    fn stream_member(&self, seq: Option<u64>) -> Value {
        let StreamPart {
            destination,
            log,
            run,
            position,
        } = self.stream;
        let test = matches!(self.payload, Payload::Test);
        json!(Stream {
            destination,
            log,
            run,
            position,
            seq,
            replay: run > 0,
            test
        })
    }
}

/// The event of a test: as the service would write it, but for what only a log gives.
fn test_event(record: &Record<'_>, at: Timestamp) -> String {
    let at = at.to_string();
    let event = json!({
        "id": record.id(), "occurred_at": at, "received_at": at, "action": TEST, "category": "system", "outcome": "success",
        "tenant_id": SERVICE_TENANT_ID, "actor": {"id": SERVICE_TENANT_ID, "type": "system"},
        "target": {"id": record.stream.destination, "type": "destination"},
        "metadata": {"note": "A made-up event. It is in no log."},
    });
    event.to_string()
}

/// The text of an event with the member `stream` at its end. The event's own bytes stay as they are.
fn with_stream(json: &str, stream: &Value) -> String {
    let members = json.trim_end().strip_suffix('}').unwrap_or("{").trim_end();
    let comma = if members.ends_with('{') { "" } else { "," };
    format!("{members}{comma}\"stream\":{stream}}}")
}

#[cfg(test)]
mod tests;
