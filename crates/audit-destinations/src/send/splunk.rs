//! Requests to Splunk's HTTP Event Collector.
//!
//! Format: <https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/format-events-for-http-event-collector>.

use super::{Batch, Message};
use crate::Encoded;
use crate::config::SplunkHec;
use audit_domain::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

pub(super) fn message(target: &SplunkHec, batch: &Batch) -> Message {
    let mut body = String::new();
    for (position, record) in batch.positioned() {
        body.push_str(&envelope(target, batch, position, record));
        body.push('\n');
    }
    Message::post(target.url.uri(), body.into_bytes())
        .with_header("authorization", format!("Splunk {}", target.token.as_str()))
        .with_header("x-splunk-request-channel", channel(&batch.id.destination))
}

/// One record. Without `time`, Splunk would date it by its arrival. The collector silently drops all that follows an object
/// with members that it does not know, so there are no others.
fn envelope(target: &SplunkHec, batch: &Batch, position: u64, record: &Encoded) -> String {
    let mut members = Map::new();
    members.insert("sourcetype".into(), target.sourcetype.clone().into());
    if let Some(source) = &target.source {
        members.insert("source".into(), source.clone().into());
    }
    if let Some(index) = &target.index {
        members.insert("index".into(), index.clone().into());
    }
    let fields = json!({
        "audit_destination": batch.id.destination,
        "audit_run": batch.id.run.to_string(),
        "audit_position": position.to_string(),
    });
    members.insert("fields".into(), fields);
    let members = Value::Object(members).to_string();
    // The record is JSON as it is, and stays so byte for byte.
    format!(
        r#"{{"time":{},"event":{},{}"#,
        seconds(record.time),
        record.text,
        &members[1..]
    )
}

/// Seconds of the Unix epoch with microseconds. Splunk takes no times before it.
fn seconds(time: Timestamp) -> String {
    let micros = time.as_micros().max(0);
    format!(
        "{}.{:06}",
        micros / Timestamp::MICROS_PER_SECOND,
        micros % Timestamp::MICROS_PER_SECOND
    )
}

/// The channel of a destination, a UUID. Tokens with indexer acknowledgement refuse requests without one.
fn channel(destination: &str) -> String {
    let hash = Sha256::digest(destination);
    let hex = |range: std::ops::Range<usize>| -> String {
        hash[range].iter().map(|byte| format!("{byte:02x}")).collect()
    };
    [hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)].join("-")
}
