//! What `docs/ingest.md` says: the requests of log shippers, as their sources make them, and the scripts of the page.
//!
//! - Fluent Bit: `plugins/out_http/http.c` (`http_post`, `compose_payload`).
//! - Vector: `src/sinks/http/config.rs` (content type), `encoder.rs` (no line break at the end), `src/http.rs` (`default_request_headers`).
//! - Logstash: `lib/logstash/outputs/http.rb` of logstash-output-http (`send_json_batch`, `send_event`).

use audit_tests::{
    Client, DatabaseKind, Organization, Request, Response, gzip, on_both_databases, python, run,
    temporary_directory,
};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ingest.md");
const WORDS_MAX: usize = 1_200;

on_both_databases! {
    fluent_bit_sends_json_lines_and_arrays,
    vector_sends_json_lines,
    logstash_sends_arrays_and_single_events,
    the_scripts_of_the_guide_make_events,
}

fn guide() -> String {
    fs::read_to_string(GUIDE).expect("read docs/ingest.md")
}

/// The events that the filters of the guide make of its line, and of one without a person and an address. `absent` is what a
/// filter makes of an absent field.
fn filtered(absent: Option<Value>) -> [Value; 2] {
    let event = |id: &str, actor: Value| {
        json!({"action": "invoice.approved", "category": "mutation", "tenant_id": "acme", "actor": actor,
            "idempotency_key": id, "occurred_at": "2026-01-15T16:00:00+0530"})
    };
    let mut of_person = event("9f2c", json!({"id": "17", "type": "user"}));
    of_person["context"] = json!({"ip_address": "203.0.113.7"});
    let mut of_system = event("9f2d", json!({"id": "unknown", "type": "system"}));
    if let Some(absent) = absent {
        of_system["context"] = json!({"ip_address": absent});
    }
    [of_person, of_system]
}

/// Asserts that the two filtered events are stored, and each once although it is sent again.
fn assert_stored(project: &Client, send: impl Fn() -> Response) {
    let first = send().expect_status(201);
    assert!(first.body().get("errors").is_none(), "{first:?}");
    let ids = first.ids();
    let stored: Vec<Value> = ids.iter().map(|id| project.event(id)).collect();
    let actors: Vec<_> = stored.iter().map(|event| event["actor"]["id"].clone()).collect();
    assert_eq!(actors, ["17", "unknown"]);
    assert_eq!(stored[0]["context"], json!({"ip_address": "203.0.113.7"}));
    assert!(
        stored
            .iter()
            .all(|event| event["occurred_at"] == "2026-01-15T10:30:00.000Z")
    );
    assert_eq!(send().expect_status(201).ids(), ids);
    assert_eq!(project.count(), 2);
}

/// A body as gzip, as `compress` and `compression` of the configurations ask for it.
fn compressed(request: Request, body: &str) -> Request {
    let request = request.header("content-encoding", "gzip");
    request.raw(gzip(body.as_bytes()))
}

fn fluent_bit_sends_json_lines_and_arrays(database: DatabaseKind) {
    let [first, second] = filtered(None);
    for (content_type, body) in [
        ("application/x-ndjson", format!("{first}\n{second}\n")),
        ("application/json", format!("[{first},{second}]")),
    ] {
        let project = Organization::fresh(database).project();
        assert_stored(&project, || {
            let request = project.post("/events").header("content-type", content_type);
            compressed(request.header("user-agent", "Fluent-Bit"), &body).send()
        });
    }
}

fn vector_sends_json_lines(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let [first, second] = filtered(Some(Value::Null));
    assert_stored(&project, || {
        let request = project
            .post("/events")
            .header("content-type", "application/x-ndjson");
        let request = request.header("accept-encoding", "identity");
        let request = request.header("user-agent", "Vector/0.50.0 (x86_64-unknown-linux-gnu)");
        compressed(request, &format!("{first}\n{second}")).send()
    });
}

fn logstash_sends_arrays_and_single_events(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let events = filtered(Some(json!("")));
    assert_stored(&project, || {
        let request = project.post("/events").header("user-agent", "Manticore 0.9.1");
        request.json(json!(events)).send()
    });
    // One event a request, and the key in a header.
    let mut event = events[0].clone();
    event["idempotency_key"] = Value::Null;
    let request = project.post("/events").header("Idempotency-Key", "9f2c");
    let repeat = request.json(event).send().expect_status(201);
    assert_eq!(repeat["repeated_count"], 1);
    assert_eq!(project.count(), 2);
}

/// What each script of the guide reads, in their order: OpenTelemetry, CloudTrail, GitHub.
fn records() -> [String; 3] {
    let attribute = |name: &str, text: &str| json!({"key": name, "value": {"stringValue": text}});
    let otlp = json!({"resourceLogs": [{
        "resource": {"attributes": [attribute("service.name", "shop")]},
        "scopeLogs": [{"scope": {}, "logRecords": [
            {"timeUnixNano": "1768473000123456789", "eventName": "invoice.approved", "severityNumber": 9,
             "attributes": [attribute("user.id", "17"), attribute("tenant.id", "acme"), attribute("log.record.uid", "9f2c"),
                            {"key": "lines", "value": {"intValue": "2"}}]},
            {"timeUnixNano": "1768473000123456789", "body": {"stringValue": "no event"}},
            {"timeUnixNano": "1768473001000000000", "attributes": [attribute("event.name", "cache.emptied")]},
        ]}],
    }]});
    let user = "arn:aws:iam::123456789012:user/jane";
    let cloudtrail = json!({"Records": [
        {"userIdentity": {"type": "IAMUser", "arn": user, "accountId": "123456789012", "userName": "jane"},
         "eventTime": "2026-01-15T10:30:00Z", "eventSource": "signin.amazonaws.com", "eventName": "ConsoleLogin",
         "awsRegion": "us-east-1", "sourceIPAddress": "203.0.113.7", "userAgent": "Mozilla/5.0", "requestParameters": null,
         "responseElements": {"ConsoleLogin": "Failure"}, "errorMessage": "Failed authentication", "readOnly": false,
         "eventID": "5a8f3c1e-0d52-4b0b-9c0e-0a4f6d1f7f10", "recipientAccountId": "123456789012"},
        {"userIdentity": {"type": "AWSService", "invokedBy": "cognito-idp.amazonaws.com"},
         "eventTime": "2026-01-15T10:31:00Z", "eventSource": "cognito-idp.amazonaws.com", "eventName": "AdminGetUser",
         "requestParameters": {"userPoolId": "p"}, "responseElements": null, "errorCode": "AccessDenied", "readOnly": true,
         "eventID": "0b0e9d6a-6a4f-4f0e-8a53-3c6f0f2f9d11"},
    ]});
    let github = [
        json!([{"@timestamp": 1_768_473_000_123_u64, "_document_id": "d1", "action": "org.add_member", "actor": "octocat",
                "actor_id": 583_231, "org": "acme", "user": "hubot"}]),
        json!([{"@timestamp": 1_768_473_001_000_u64, "_document_id": "d2", "action": "git.clone", "org": "acme", "repo": "acme/shop"}]),
    ];
    let github: Vec<String> = github.iter().map(Value::to_string).collect();
    [format!("{otlp}\n"), cloudtrail.to_string(), github.concat()]
}

fn the_scripts_of_the_guide_make_events(database: DatabaseKind) {
    let Some(python) = python() else {
        return;
    };
    let guide = guide();
    let scripts = guide.split("```python\n").skip(1);
    let scripts: Vec<&str> = scripts.filter_map(|text| text.split("```").next()).collect();
    let expected = [
        [("invoice.approved", "17"), ("cache.emptied", "shop")],
        [
            ("auth.failed", "arn:aws:iam::123456789012:user/jane"),
            ("cognito_idp.admin_get_user.failed", "cognito-idp.amazonaws.com"),
        ],
        [("org.add_member", "583231"), ("git.clone", "github")],
    ];
    assert_eq!(scripts.len(), expected.len());
    let directory = temporary_directory("shippers-");
    for ((script, records), expected) in scripts.iter().zip(records()).zip(expected) {
        let project = Organization::fresh(database).project();
        let lines = output(&python, &directory, script, &records);
        let request = project
            .post("/events")
            .header("content-type", "application/x-ndjson");
        let response = request.raw(lines).send().expect_status(201);
        assert!(response.body().get("errors").is_none(), "{response:?}");
        let stored: Vec<Value> = response.ids().iter().map(|id| project.event(id)).collect();
        let stored: Vec<_> = stored
            .iter()
            .map(|event| (event["action"].as_str(), event["actor"]["id"].as_str()))
            .collect();
        assert_eq!(
            stored,
            expected.map(|(action, actor)| (Some(action), Some(actor)))
        );
    }
}

/// What a script prints that reads this text.
fn output(python: &str, directory: &Path, script: &str, input: &str) -> Vec<u8> {
    let path = directory.join("input");
    fs::write(&path, input).expect("write a file");
    let stdin = File::open(&path).expect("read a file");
    let output = run(Command::new(python).args(["-c", script]).stdin(stdin));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}{message}");
    output.stdout
}

#[test]
fn the_guide_is_short() {
    let words = guide().split_whitespace().count();
    assert!(words <= WORDS_MAX, "{words} words");
}
