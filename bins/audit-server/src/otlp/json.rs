//! The JSON encoding of OTLP: ids in hexadecimal, 64-bit numbers as texts, names in camel case
//! (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).

use audit_app::{AttributeValue, Span};
use serde_json::{Value, json};

const SCOPE: &str = "audit-server";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: i32 = 2;

/// The body of a request to `/v1/traces`.
pub(super) fn traces(spans: &[Span], service_name: &str) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({"resourceSpans": [{
        "resource": resource(service_name),
        "scopeSpans": [{"scope": scope(), "spans": spans}],
    }]})
}

/// The body of a request to `/v1/metrics`.
pub(super) fn metrics(metrics: Vec<Value>, service_name: &str) -> Value {
    json!({"resourceMetrics": [{
        "resource": resource(service_name),
        "scopeMetrics": [{"scope": scope(), "metrics": metrics}],
    }]})
}

fn resource(service_name: &str) -> Value {
    json!({"attributes": [
        {"key": "service.name", "value": {"stringValue": service_name}},
        {"key": "service.version", "value": {"stringValue": VERSION}},
    ]})
}

fn scope() -> Value {
    json!({"name": SCOPE, "version": VERSION})
}

fn span(span: &Span) -> Value {
    let hex = |id: &[u8]| base16ct::lower::encode_string(id);
    let attributes: Vec<Value> = span
        .attributes
        .iter()
        .map(|(key, value)| json!({"key": key, "value": attribute(value)}))
        .collect();
    let mut value = json!({
        "traceId": hex(&span.trace_id),
        "spanId": hex(&span.id),
        "name": span.name,
        "kind": span.kind as i32,
        "startTimeUnixNano": span.start_nanos.to_string(),
        "endTimeUnixNano": span.end_nanos.to_string(),
        "attributes": attributes,
    });
    if let Some(parent_id) = &span.parent_id {
        value["parentSpanId"] = json!(hex(parent_id));
    }
    if span.is_error {
        value["status"] = json!({"code": STATUS_ERROR});
    }
    value
}

fn attribute(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Text(text) => json!({"stringValue": text}),
        AttributeValue::Number(number) => json!({"intValue": number.to_string()}),
    }
}
