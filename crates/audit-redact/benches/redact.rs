//! Throughput of the engine on clean and sensitive text, compared with seven textbook regular expressions that each
//! search every string.
//!
//! The figures depend on the machine; the ratio is comparable between machines.

use std::hint::black_box;
use std::time::{Duration, Instant};

use audit_redact::{Behavior, Engine, Pattern, Shape};
use regex::Regex;
use serde_json::Value;

const TEXTBOOK: &[&str] = &[
    r"\b(?:\d[ -]*?){13,16}\b",
    r"\b\d{3}-?\d{2}-?\d{4}\b",
    r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b",
    r"(?:\+?\d{1,3}[-. ]?)?\(?\d{3}\)?[-. ]?\d{3}[-. ]?\d{4}\b",
    r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*",
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]+=*",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
];

/// Number of rounds. The fastest counts, because other load on the machine only adds time.
const ROUNDS: usize = 15;

fn main() {
    let lines = include_str!("../../../docs/examples/cloudtrail-events.jsonl");
    let events: Vec<Value> = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let labelled: Vec<Value> = include_str!("../tests/labelled.jsonl")
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| line["text"].clone())
        .collect();
    report("audit events (nearly all clean)", &events, &Shape::audit_event());
    report(
        "labelled strings (nearly all dirty)",
        &labelled,
        &Shape::free_form(),
    );
    custom_patterns(&events);
}

fn report(title: &str, values: &[Value], shape: &Shape) {
    let bytes = values
        .iter()
        .map(|value| text_bytes(value, shape, &mut Vec::new()))
        .sum::<usize>();
    let textbook: Vec<Regex> = TEXTBOOK
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect();
    let naive = best(values, |value| naive(&textbook, value));
    let engine = Engine::builtins();
    let ours = best(values, |value| {
        black_box(engine.redact(value, shape));
    });
    line(title, "", values.len(), bytes);
    row("  seven regexes, one by one", naive, values.len(), bytes);
    row("  audit-redact", ours, values.len(), bytes);
    line(
        "  ratio",
        &format!("{:.1} times as fast", naive.as_secs_f64() / ours.as_secs_f64()),
        0,
        0,
    );
}

fn custom_patterns(events: &[Value]) {
    let shape = Shape::audit_event();
    let bytes = events
        .iter()
        .map(|event| text_bytes(event, &shape, &mut Vec::new()))
        .sum();
    for count in [0, 1, 5, 20] {
        let patterns = (0..count).filter_map(|index| Pattern::parse(&format!("EMP{index}-[0-9]{{6}}")).ok());
        let builder = Engine::builder();
        let builder = audit_redact::Builtin::ALL
            .iter()
            .filter(|builtin| builtin.enabled_by_default())
            .fold(builder, |builder, builtin| {
                builder.builtin(*builtin, Behavior::Replace)
            });
        let engine = patterns
            .fold(builder, |builder, pattern| {
                builder.pattern("employee", pattern, Behavior::Replace)
            })
            .build();
        let time = best(events, |event| {
            black_box(engine.redact(event, &shape));
        });
        row(
            &format!("  events, {count} custom patterns"),
            time,
            events.len(),
            bytes,
        );
    }
}

/// The time to redact copies of all values, without the time to copy them. Values are copied a few at a time, so that
/// they are in the processor's cache like an event that a service has just parsed.
fn best(values: &[Value], mut redact: impl FnMut(&mut Value)) -> Duration {
    const FRESH_VALUES: usize = 16;
    let round = |redact: &mut dyn FnMut(&mut Value)| {
        let mut time = Duration::ZERO;
        for chunk in values.chunks(FRESH_VALUES) {
            let mut copies = chunk.to_vec();
            let start = Instant::now();
            copies.iter_mut().for_each(&mut *redact);
            time += start.elapsed();
            drop(black_box(copies));
        }
        time
    };
    (0..ROUNDS).map(|_| round(&mut redact)).min().unwrap_or_default()
}

/// Searches every string with every expression and replaces the matches.
fn naive(textbook: &[Regex], value: &mut Value) {
    match value {
        Value::String(text) => {
            for regex in textbook {
                if let std::borrow::Cow::Owned(new) = regex.replace_all(text, "[REDACTED]") {
                    *text = new;
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| naive(textbook, item)),
        Value::Object(map) => map.values_mut().for_each(|item| naive(textbook, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Bytes of the strings that the engine scans, without the keys of free-form objects.
fn text_bytes(value: &Value, shape: &Shape, path: &mut Vec<String>) -> usize {
    const STRUCTURE: &[&str] = &[
        "action",
        "category",
        "tenant_id",
        "occurred_at",
        "idempotency_key",
        "actor.type",
        "target.type",
    ];
    match value {
        Value::String(_)
            if *shape == Shape::audit_event() && STRUCTURE.contains(&path.join(".").as_str()) =>
        {
            0
        }
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| text_bytes(item, shape, path)).sum(),
        Value::Object(map) => {
            let mut sum = 0;
            for (key, item) in map {
                path.push(key.clone());
                sum += text_bytes(item, shape, path);
                path.pop();
            }
            sum
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[allow(clippy::print_stdout)]
fn row(title: &str, time: Duration, count: usize, bytes: usize) {
    let micros = time.as_secs_f64() * 1e6 / count as f64;
    let rate = bytes as f64 / 1e6 / time.as_secs_f64();
    println!("{title:<34} {micros:>8.3} µs each {rate:>8.1} MB/s of text");
}

#[allow(clippy::print_stdout)]
fn line(title: &str, text: &str, count: usize, bytes: usize) {
    if count > 0 {
        println!("{title}: {count} values, {bytes} bytes of text");
    } else {
        println!("{title:<34} {text:>10}");
    }
}
