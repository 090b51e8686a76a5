//! One record of a destination.

use crate::check::content_hash;
use anyhow::{Context, anyhow};
use audit_domain::{ContentHash, LogName, Timestamp, json, logged_at};
use audit_ledger::{SignedStream, StreamNote, VerifierKey, note_text};
use serde_json::{Map, Value};

/// A record and its place.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) destination: String,
    pub(super) log: String,
    pub(super) run: u64,
    /// Its position and content; `None` for the made-up record of a test.
    pub(super) placed: Option<(u64, Content)>,
}

/// What a record says.
#[derive(Debug)]
pub(super) enum Content {
    Event(EventContent),
    /// A checkpoint: the hash of its note, and what the note says, or why it says nothing.
    Checkpoint([u8; 32], Result<StreamNote, String>),
}

/// An event, as far as the stream depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventContent {
    /// The content hash that it states.
    pub(super) hash: [u8; 32],
    /// When the log received it, if the record has that.
    pub(super) logged_at: Option<Timestamp>,
    pub(super) fields: Fields,
}

/// Whether the fields of an event have its content hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    Verified,
    /// The record is in another format than `json`, and lacks the event as it was hashed.
    Unknown,
    Changed,
}

impl Record {
    /// Reads a line. The signature of a checkpoint must be by one of the keys, if there are any.
    pub(super) fn read(line: &[u8], keys: &[VerifierKey]) -> anyhow::Result<Self> {
        let line = json::without_byte_order_mark(line);
        let value = json::parse(line).context("it is not JSON")?;
        let Value::Object(mut record) = Value::from(value) else {
            return Err(anyhow!("it is not a JSON object"));
        };
        let raw = record.remove("raw_data");
        let mut members = match record.remove("unmapped") {
            // In OCSF.
            Some(Value::Object(unmapped)) if !record.contains_key("stream") => unmapped,
            _ => record,
        };
        let stream = members.remove("stream");
        let stream = stream.context("it is not a record of a destination: it has no member \"stream\"")?;
        let text = |name: &str| stream[name].as_str().map(str::to_owned);
        let number = |name: &str| stream[name].as_u64();
        let is_test = stream["test"] == true;
        let place = (
            text("destination"),
            text("log"),
            number("run"),
            number("position"),
        );
        let (Some(destination), Some(log), Some(run), Some(position)) = place else {
            return Err(anyhow!("its member \"stream\" is not that of a record"));
        };
        if position == 0 && !is_test {
            return Err(anyhow!("its position is 0"));
        }
        let content = match members.get("note").and_then(Value::as_str) {
            _ if is_test => None,
            Some(note) => {
                let origin = StreamNote::origin_of(&log, &destination, run);
                Some(Content::Checkpoint(
                    StreamNote::record_hash(note),
                    open(note, &origin, keys),
                ))
            }
            None => Some(Content::Event(EventContent::read(members, raw.as_ref(), &log)?)),
        };
        Ok(Self {
            destination,
            log,
            run,
            placed: content.map(|content| (position, content)),
        })
    }
}

impl EventContent {
    fn read(mut event: Map<String, Value>, raw: Option<&Value>, log: &str) -> anyhow::Result<Self> {
        let stated = event.get("content_hash").and_then(Value::as_str);
        let stated = stated.context("it has neither a content_hash nor a note")?;
        let stated: ContentHash = stated.parse().map_err(|error| anyhow!("{error}"))?;
        let is_whole = event.contains_key("actor") && event.contains_key("action");
        if let Some(raw) = raw.and_then(Value::as_str) {
            let raw = json::parse(raw.as_bytes()).context("its raw_data is not JSON")?;
            let Value::Object(raw) = Value::from(raw) else {
                return Err(anyhow!("its raw_data is not an event"));
            };
            event = raw;
        } else if !is_whole {
            return Ok(Self {
                hash: *stated.as_bytes(),
                logged_at: None,
                fields: Fields::Unknown,
            });
        }
        let log = log.split_once('/');
        let log = log.and_then(|(project, environment)| LogName::parse(project, environment));
        let log = log.context("its log is not that of a project")?;
        let logged_at = logged_at(&event);
        let fields = match content_hash(&mut event, &log) {
            Ok((hash, true)) if hash == stated => Fields::Verified,
            Ok((hash, false)) if hash == stated => Fields::Unknown,
            _ => Fields::Changed,
        };
        Ok(Self {
            hash: *stated.as_bytes(),
            logged_at,
            fields,
        })
    }
}

/// The note of a checkpoint, or why it is none of this stream. `origin` is that of the stream within its deployment.
fn open(note: &str, origin: &str, keys: &[VerifierKey]) -> Result<StreamNote, String> {
    let text = match keys {
        [] => note_text(note).ok_or("it is not a signed note")?.to_owned(),
        keys => {
            let signed = SignedStream::open(note, keys).map_err(|error| error.to_string())?;
            signed.text().to_owned()
        }
    };
    let note = StreamNote::parse(&text).map_err(|error| error.to_string())?;
    let is_own = note
        .origin
        .strip_suffix(origin)
        .is_some_and(|deployment| deployment.ends_with('/'));
    match is_own {
        true => Ok(note),
        false => Err(format!("it is of the stream {}", note.origin)),
    }
}
