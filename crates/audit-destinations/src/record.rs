//! Records: what a receiver gets of an event.

use audit_domain::Timestamp;
use serde_json::{Map, Value};

/// The `type` of a checkpoint record.
pub(crate) const CHECKPOINT: &str = "audit.log.checkpoint";

/// Where a record is in its stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamPart<'a> {
    /// The id of the destination.
    pub destination: &'a str,
    /// The log, as content hashes name it: `<project id>/<environment>`.
    pub log: &'a str,
    /// 0 for the main run; any other is a replay.
    pub run: u64,
    /// The number of the record in its run: 1, 2, 3 … without gaps. 0 for a test.
    pub position: u64,
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// An event of the log.
    Event {
        /// Its number in the log.
        seq: u64,
        /// The event as [`audit_domain::StoredEvent::to_json`] writes it: one line.
        json: &'a str,
    },
    /// A statement of the service how far the stream is.
    Checkpoint {
        /// The signed note of the stream: `StreamNote` in `audit-ledger`.
        note: &'a str,
        /// The newest signed checkpoint of the log.
        log_checkpoint: &'a str,
        /// The position of the last record that the note covers.
        through_position: u64,
        /// The number in the log of the last event that the stream has read.
        through_seq: u64,
    },
    /// A made-up event, by which an operator tries a destination.
    Test,
}

/// A record before it has a format.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where it is in its stream.
    pub stream: StreamPart<'a>,
    /// What it says.
    pub payload: Payload<'a>,
}

/// How much a record matters, for protocols that have a field for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing is wrong.
    Informational,
    /// The action failed or was refused.
    Warning,
}

/// A record in its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// One line without its line break: a JSON object, or CEF.
    pub text: String,
    /// When the event happened. For checkpoints and tests, the time at which they were planned.
    pub time: Timestamp,
    /// The id of the event. For checkpoints and tests, `<destination id>-<run>-<position>`.
    pub id: String,
    /// How much the record matters.
    pub severity: Severity,
}

/// An event and its place in the stream, for formats that map single fields.
pub(crate) struct EventRecord<'a> {
    /// Where the record is.
    pub(crate) stream: StreamPart<'a>,
    /// The member `stream`.
    pub(crate) stream_member: Value,
    /// The number in the log; none for a test.
    pub(crate) seq: Option<u64>,
    /// The event.
    pub(crate) event: Map<String, Value>,
    /// When it happened.
    pub(crate) time: Timestamp,
}

/// A checkpoint and its place in the stream.
pub(crate) struct CheckpointRecord<'a> {
    /// Where the record is.
    pub(crate) stream: StreamPart<'a>,
    /// The members of the record in the format `json`.
    pub(crate) members: Value,
    /// When it was planned.
    pub(crate) time: Timestamp,
}

/// A member that is text.
pub(crate) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    members.get(name).and_then(Value::as_str)
}
