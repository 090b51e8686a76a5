//! Events in ArcSight's Common Event Format, version 0, for receivers that know nothing else.
//!
//! ```text
//! CEF:0|audit-log|audit-log|1|<action>|<what happened>|<3, or 6 for what failed>|<key>=<value> <key>=<value> …
//! ```
//!
//! In the header `\` and `|` have a `\` before them, and control characters are spaces. In a value `\` and `=` have a `\` before
//! them, and line breaks are written `\n` and `\r`; other control characters are spaces. Source: ArcSight Common Event Format,
//! implementation standard, version 25, chapters 1 and 2. The format has no place for `metadata` and `changes`.

use crate::action::succeeded;
use crate::record::{CHECKPOINT, CheckpointRecord, EventRecord, StreamPart, text};
use audit_domain::{Timestamp, read_address};
use serde_json::{Map, Value};
use std::net::IpAddr;

/// Of vendor, product and device version. The version is that of these lines, so that the bytes do not change with an upgrade.
const HEADER: &str = "CEF:0|audit-log|audit-log|1|";
/// Severities, 0 to 10.
const NORMAL: u8 = 3;
const FAILED: u8 = 6;

/// A line in the making.
struct Line {
    text: String,
    has_values: bool,
}

/// The line of an event.
pub(crate) fn event(record: &EventRecord<'_>) -> String {
    let EventRecord {
        stream,
        seq,
        event,
        time,
        ..
    } = record;
    let action = text(event, "action").unwrap_or_default();
    let severity = if succeeded(event) == Some(false) {
        FAILED
    } else {
        NORMAL
    };
    let actor = |name| below(event, "actor", name);
    let target = |name| below(event, "target", name);
    let context = |name| below(event, "context", name);
    let name = match (actor("name").or(actor("id")), target("name").or(target("id"))) {
        (Some(actor), Some(target)) => format!("{action} by {actor} on {target}"),
        (Some(actor), None) => format!("{action} by {actor}"),
        _ => action.to_owned(),
    };
    let mut line = Line::new(action, &name, severity);
    let start = time.as_millis().to_string();
    let received_at = text(event, "received_at").and_then(|text| Timestamp::parse_rfc3339(text).ok());
    let received_at = received_at.map(|time| time.as_millis().to_string());
    line.add("externalId", text(event, "id"));
    line.add("start", Some(&start));
    line.add("rt", received_at.as_deref());
    line.add("act", Some(action));
    line.add("cat", text(event, "category"));
    line.add("outcome", text(event, "outcome"));
    line.add("suid", actor("id"));
    line.add("suser", actor("name").or(actor("email")));
    line.add_address(context("ip_address"));
    line.add("requestClientApplication", context("user_agent"));
    line.add_custom("cs1", "tenant", text(event, "tenant_id"));
    line.add_custom("cs2", "targetType", target("type"));
    line.add_custom("cs3", "targetId", target("id"));
    line.add_custom("cs4", "session", context("session_id"));
    line.add_custom("cs5", "contentHash", text(event, "content_hash"));
    line.add_stream(stream);
    line.add_custom("cn2", "seq", seq.map(|seq| seq.to_string()).as_deref());
    line.text
}

/// The line of a checkpoint.
pub(crate) fn checkpoint(record: &CheckpointRecord<'_>) -> String {
    let CheckpointRecord {
        stream,
        members,
        time,
    } = record;
    let mut line = Line::new(CHECKPOINT, "Signed checkpoint of the stream", NORMAL);
    let member = |name: &str| members[name].as_str();
    let number = |name: &str| members[name].to_string();
    line.add("rt", Some(&time.as_millis().to_string()));
    line.add_custom("cs4", "note", member("note"));
    line.add_custom("cs5", "logCheckpoint", member("log_checkpoint"));
    line.add_stream(stream);
    line.add_custom("cn2", "throughSeq", Some(&number("through_seq")));
    line.add_custom("cn3", "throughPosition", Some(&number("through_position")));
    line.text
}

impl Line {
    fn new(class: &str, name: &str, severity: u8) -> Self {
        let mut line = Self {
            text: HEADER.to_owned(),
            has_values: false,
        };
        for field in [class, name] {
            line.escape(field, '|', false);
            line.text.push('|');
        }
        line.text.push_str(&severity.to_string());
        line.text.push('|');
        line
    }

    /// A key and its value, if there is one.
    fn add(&mut self, key: &str, value: Option<&str>) {
        let Some(value) = value else {
            return;
        };
        if self.has_values {
            self.text.push(' ');
        }
        self.has_values = true;
        self.text.push_str(key);
        self.text.push('=');
        self.escape(value, '=', true);
    }

    /// A value for which the format has no key, with what it is.
    fn add_custom(&mut self, key: &str, label: &str, value: Option<&str>) {
        if value.is_some() {
            self.add(&format!("{key}Label"), Some(label));
            self.add(key, value);
        }
    }

    /// `src` takes IPv4 alone.
    fn add_address(&mut self, shown: Option<&str>) {
        match shown.and_then(read_address) {
            Some(IpAddr::V4(address)) => self.add("src", Some(&address.to_string())),
            Some(IpAddr::V6(address)) => {
                self.add_custom("c6a2", "sourceIPv6Address", Some(&address.to_string()))
            }
            None => self.add("shost", shown),
        }
    }

    /// Where the record is: destination, run, log, position.
    fn add_stream(&mut self, stream: &StreamPart<'_>) {
        let StreamPart {
            destination,
            log,
            run,
            position,
        } = stream;
        self.add_custom(
            "cs6",
            "stream",
            Some(&format!("{log}/destinations/{destination}/{run}")),
        );
        self.add_custom("cn1", "position", Some(&position.to_string()));
    }

    fn escape(&mut self, text: &str, separator: char, has_line_breaks: bool) {
        for character in text.chars() {
            match character {
                '\n' if has_line_breaks => self.text.push_str("\\n"),
                '\r' if has_line_breaks => self.text.push_str("\\r"),
                '\\' => self.text.push_str("\\\\"),
                _ if character == separator => self.text.extend(['\\', separator]),
                _ if character.is_control() => self.text.push(' '),
                _ => self.text.push(character),
            }
        }
    }
}

fn below<'a>(event: &'a Map<String, Value>, object: &str, name: &str) -> Option<&'a str> {
    event.get(object)?.get(name)?.as_str()
}

#[cfg(test)]
mod tests;
