//! What receivers get over HTTP.

use crate::receiver::{NOW, Received, Receiver, SIGNING_SECRET, batch, config, of, send};
use audit_destinations::{Kind, Verdict};
use audit_webhooks::{WebhookSecret, signature};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;

/// Sends two records to a receiver that takes them.
fn received(kind: Kind) -> Received {
    let receiver = Receiver::responding(200, "", r#"{"text":"Success","code":0}"#);
    let attempt = send(&config(kind, receiver.address), &batch(2));
    assert_eq!(attempt.verdict, Verdict::Delivered, "{attempt:?}");
    let request = receiver.request();
    let method = request.head.split(' ').next().expect("a method");
    assert_eq!(
        attempt.request.replace(',', ""),
        format!(
            "{method} https://{}/… 2 records {} bytes",
            receiver.address,
            request.body.len()
        )
    );
    request
}

fn first_line(request: &Received) -> &str {
    request.head.lines().next().expect("a line")
}

fn is_signed(request: &Received) -> bool {
    let secret = WebhookSecret::parse(SIGNING_SECRET).expect("a secret");
    let id = request.header("webhook-id").expect("an id");
    let expected = signature(secret.as_bytes(), id, NOW.as_seconds(), &request.body);
    request.header("webhook-signature") == Some(&expected)
}

#[test]
fn an_https_receiver_gets_a_signed_array_with_the_headers() {
    let request = received(Kind::Https);
    assert_eq!(first_line(&request), "POST /in?a=b HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-open"), Some("1"));
    assert_eq!(request.header("authorization"), Some("Bearer hidden-token"));
    assert!(is_signed(&request));
    let records: Vec<Value> = batch(2)
        .records
        .iter()
        .map(|record| serde_json::from_str(&record.text).expect("JSON"))
        .collect();
    assert_eq!(request.json(), Value::Array(records));
}

#[test]
fn a_repeat_has_the_same_id_and_body_and_another_batch_has_not() {
    let receiver = Receiver::responding(503, "", "");
    let config = config(Kind::Https, receiver.address);
    for records in [2, 2, 1] {
        send(&config, &batch(records));
    }
    let [one, again, shorter] = [(); 3].map(|()| receiver.request());
    assert_eq!(one.header("webhook-id"), again.header("webhook-id"));
    assert_eq!(one.body, again.body);
    assert_ne!(one.header("webhook-id"), shorter.header("webhook-id"));
}

#[test]
fn records_can_be_lines() {
    let receiver = Receiver::responding(200, "", "");
    let config = of(
        Kind::Https,
        &json!({"url": format!("https://{}/", receiver.address), "framing": "lines"}),
        &json!({"signing_secret": SIGNING_SECRET}),
    );
    send(&config, &batch(2));
    let request = receiver.request();
    assert_eq!(request.header("content-type"), Some("application/x-ndjson"));
    assert!(is_signed(&request));
    let texts: String = batch(2)
        .records
        .iter()
        .map(|record| format!("{}\n", record.text))
        .collect();
    assert_eq!(request.body, texts.as_bytes());
}

#[test]
fn splunk_gets_an_envelope_for_each_record() {
    let request = received(Kind::SplunkHec);
    assert_eq!(first_line(&request), "POST /services/collector/event HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Splunk hidden-token"));
    let channel = request.header("x-splunk-request-channel").expect("a channel");
    assert_eq!(
        channel.split('-').map(str::len).collect::<Vec<_>>(),
        [8, 4, 4, 4, 12]
    );
    let text = String::from_utf8(request.body).expect("UTF-8");
    assert!(
        text.starts_with(r#"{"time":1768472998.500000,"event":{"#),
        "{text}"
    );
    let envelopes: Vec<Value> = serde_json::Deserializer::from_str(&text)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("JSON objects");
    assert_eq!(envelopes.len(), 2);
    let mut second = envelopes[1].clone();
    assert_eq!(second["time"].take().as_f64(), Some(1_768_472_998.5));
    assert_eq!(
        second,
        json!({
            "time": null,
            "event": {"id": "evt_13", "text": "a \"quoted\" é"},
            "source": "audit",
            "sourcetype": "audit-log",
            "index": "main",
            "fields": {"audit_destination": "dst_01", "audit_run": "0", "audit_position": "13"},
        })
    );
}

#[test]
fn datadog_gets_an_array_of_entries() {
    let request = received(Kind::Datadog);
    assert_eq!(first_line(&request), "POST /api/v2/logs HTTP/1.1");
    assert_eq!(request.header("dd-api-key"), Some("hidden-token"));
    let entries = request.json();
    assert_eq!(entries.as_array().map(Vec::len), Some(2));
    assert_eq!(
        entries[1],
        json!({
            "ddsource": "audit-log",
            "service": "audit-log",
            "ddtags": "team:a",
            "timestamp": 1_768_472_998_500_i64,
            "status": "warn",
            "message": batch(2).records[1].text,
        })
    );
}

#[test]
fn otlp_gets_log_records_in_the_json_of_protobuf() {
    let request = received(Kind::Otlp);
    assert_eq!(first_line(&request), "POST /v1/logs HTTP/1.1");
    assert_eq!(request.header("api-key"), Some("hidden-token"));
    assert_eq!(request.header("x-open"), Some("1"));
    let body = request.json();
    let records = &body["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
    assert_eq!(records.as_array().map(Vec::len), Some(2));
    assert_eq!(
        records[1],
        json!({
            "timeUnixNano": "1768472998500000000",
            "observedTimeUnixNano": "1768473000000000000",
            "severityNumber": 13,
            "severityText": "WARN",
            "body": {"stringValue": batch(2).records[1].text},
            "attributes": [
                {"key": "log.record.uid", "value": {"stringValue": "evt_13"}},
                {"key": "audit.destination", "value": {"stringValue": "dst_01"}},
                {"key": "audit.run", "value": {"intValue": "0"}},
                {"key": "audit.position", "value": {"intValue": "13"}},
            ],
        })
    );
    let service = json!([{"key": "service.name", "value": {"stringValue": "audit-log"}}]);
    assert_eq!(body["resourceLogs"][0]["resource"]["attributes"], service);
}

#[test]
fn a_bucket_gets_one_object_under_a_name_of_the_batch() {
    let request = received(Kind::S3);
    let name = "PUT /bucket/prefix/destination%3Ddst_01/run%3D0/date%3D2026-01-15/hour%3D10/000000000012-000000000013-1768473000000000.jsonl.gz?";
    assert!(first_line(&request).starts_with(name), "{}", request.head);
    for part in [
        "X-Amz-Signature=",
        "X-Amz-Credential=AKID%2F20260115%2Feu-central-1%2Fs3",
        "if-none-match%3Bx-amz-checksum-sha256",
    ] {
        assert!(first_line(&request).contains(part), "{part}");
    }
    assert_eq!(request.header("if-none-match"), Some("*"));
    let mut lines = String::new();
    GzDecoder::new(&request.body[..])
        .read_to_string(&mut lines)
        .expect("gzip");
    let texts: String = batch(2)
        .records
        .iter()
        .map(|record| format!("{}\n", record.text))
        .collect();
    assert_eq!(lines, texts);
}
