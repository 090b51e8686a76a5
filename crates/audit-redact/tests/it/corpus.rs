//! The labelled strings, and functions that redact them.

use audit_redact::{Behavior, Builtin, Engine, Shape};
use serde_json::{Map, Value};

/// One labelled string.
pub(crate) struct Sample {
    /// The key before the string. May be empty.
    pub(crate) key: String,
    pub(crate) text: String,
    /// The sensitive parts, each with its kind.
    pub(crate) sensitive: Vec<(Builtin, String)>,
}

/// All labelled strings.
pub(crate) fn samples() -> Vec<Sample> {
    include_str!("../labelled.jsonl").lines().map(sample).collect()
}

/// Labelled strings modelled on other products' logs and on support messages.
pub(crate) fn independent_samples() -> Vec<Sample> {
    include_str!("../independent.jsonl").lines().map(sample).collect()
}

/// Labelled strings modelled on public bug reports about redaction and secret scanners.
pub(crate) fn reported_samples() -> Vec<Sample> {
    include_str!("../reported.jsonl").lines().map(sample).collect()
}

/// Labelled strings that were written by somebody who did not know the rules.
pub(crate) fn field_samples() -> Vec<Sample> {
    include_str!("../field.jsonl").lines().map(sample).collect()
}

fn sample(line: &str) -> Sample {
    let value: Value = serde_json::from_str(line).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spans = value["spans"].as_array().unwrap();
    let sensitive = spans.iter().map(|span| {
        let kind = Builtin::from_rule_id(&format!("builtin_{}", text(&span[0]))).unwrap();
        (kind, text(&span[1]))
    });
    Sample {
        key: text(&value["key"]),
        text: text(&value["text"]),
        sensitive: sensitive.collect(),
    }
}

/// Strings without sensitive parts.
pub(crate) fn clean_texts() -> Vec<&'static str> {
    include_str!("../clean.txt").lines().collect()
}

/// Real audit events.
pub(crate) fn events() -> Vec<Value> {
    let lines = include_str!("../../../../docs/examples/cloudtrail-events.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Collects every string inside a value with the key before it.
pub(crate) fn strings<'a>(key: &'a str, value: &'a Value, out: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => out.push((key, text)),
        Value::Array(items) => items.iter().for_each(|item| strings(key, item, out)),
        Value::Object(map) => map.iter().for_each(|(key, item)| strings(key, item, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The redacted form of a text behind a key.
pub(crate) fn redacted(engine: &Engine, key: &str, text: &str) -> String {
    let mut map = Map::new();
    map.insert(key.to_owned(), Value::from(text));
    let mut value = Value::Object(map);
    engine.redact(&mut value, &Shape::free_form());
    value
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

/// An engine with one rule.
pub(crate) fn engine_of(kind: Builtin) -> Engine {
    Engine::builder().builtin(kind, Behavior::Replace).build()
}

/// The byte ranges of `text` that became `[REDACTED]` in `output`.
pub(crate) fn redacted_ranges(text: &str, output: &str) -> Vec<(usize, usize)> {
    if output == text {
        return Vec::new();
    }
    let kept: Vec<&str> = output.split("[REDACTED]").collect();
    let mut ranges = Vec::new();
    let mut at = kept[0].len();
    for (index, piece) in kept.iter().enumerate().skip(1) {
        let last = index + 1 == kept.len();
        let next = if last {
            text.len() - piece.len()
        } else {
            at + 1 + text[at + 1..].find(piece).unwrap()
        };
        ranges.push((at, next));
        at = next + piece.len();
    }
    ranges
}
