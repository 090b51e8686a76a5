//! Traces and metrics that are sent to an OpenTelemetry collector.

use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, event, on_both_databases, python, run_python,
    serve_refused, temporary_directory,
};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

on_both_databases! {
    the_spans_of_a_request_continue_the_trace_of_the_client,
    the_last_spans_and_the_metrics_are_sent_when_the_server_stops,
    a_published_decoder_reads_what_is_sent,
}

/// What a collector received: the heads and bodies of the requests.
type Received = Arc<Mutex<Vec<(String, Value)>>>;

/// Responds to each request with this status, and keeps it.
struct Collector {
    url: String,
    received: Received,
}

impl Collector {
    fn start(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let received = Received::default();
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(&stream, status, &kept));
            }
        });
        Self { url, received }
    }

    fn variable(&self) -> (&'static str, &str) {
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &self.url)
    }

    fn received(&self) -> Vec<(String, Value)> {
        self.received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// All spans that were received.
    fn spans(&self) -> Vec<Value> {
        let mut spans = Vec::new();
        for (_, body) in self.received() {
            let resources = body["resourceSpans"].as_array().cloned().unwrap_or_default();
            for resource in resources {
                let list = &resource["scopeSpans"][0]["spans"];
                spans.extend(list.as_array().expect("spans").iter().cloned());
            }
        }
        spans
    }

    fn wait_for_span(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        Deadline::seconds(60).poll("a span", || self.spans().into_iter().find(&is_wanted))
    }
}

/// Serves one connection until it ends.
fn serve(stream: &TcpStream, status: &str, kept: &Received) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line).unwrap_or(0) > 2 {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            head.push_str(&line);
            line.clear();
        }
        if head.is_empty() {
            return;
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let body = serde_json::from_slice(&body).expect("a body in JSON");
        kept.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((head, body));
        let response =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}");
        if (&mut (&*stream)).write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let attributes = span["attributes"].as_array().expect("attributes");
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    found.map_or(&Value::Null, |attribute| &attribute["value"])
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn the_spans_of_a_request_continue_the_trace_of_the_client(kind: DatabaseKind) {
    let collector = Collector::start("200 OK");
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer secret");
    let name = ("OTEL_SERVICE_NAME", "audit-of-a-test");
    let server = Server::start(&Database::create(kind), &[collector.variable(), headers, name]);
    let organization = Organization::create(&server, "enterprise");
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let client = organization.project().with_header("traceparent", &parent);
    let id = client.store(event());
    client.get(&format!("/events/{id}")).send().expect_status(200);

    let root =
        collector.wait_for_span(|span| span["name"] == "POST /api/v1/events" && span["traceId"] == TRACE);
    assert_eq!(root["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(root["kind"], 2, "SPAN_KIND_SERVER");
    assert_eq!(attribute(&root, "http.response.status_code")["intValue"], "201");
    assert_eq!(attribute(&root, "http.route")["stringValue"], "/api/v1/events");
    let of_root = |span: &Value, name: &str| span["name"] == name && span["parentSpanId"] == root["spanId"];
    let commit = collector.wait_for_span(|span| of_root(span, "commit"));
    assert_eq!(commit["traceId"], TRACE);
    let nanos = |span: &Value, member: &str| -> u64 {
        let text = span[member].as_str().expect("64-bit numbers are texts");
        text.parse().expect("a number")
    };
    assert!(nanos(&root, "startTimeUnixNano") <= nanos(&commit, "startTimeUnixNano"));
    assert!(nanos(&commit, "endTimeUnixNano") <= nanos(&root, "endTimeUnixNano"));

    let read = collector.wait_for_span(|span| span["name"] == "GET /api/v1/events/{id}");
    let of_read = |name: &str| {
        collector.wait_for_span(|span| span["name"] == name && span["parentSpanId"] == read["spanId"]);
    };
    of_read("admission");
    of_read("query");
    let received = collector.received();
    let mut traces = received
        .iter()
        .filter(|(head, _)| head.starts_with("POST /v1/traces "));
    let (head, body) = traces.next().expect("spans");
    assert!(head.contains("authorization: Bearer secret"), "{head}");
    let resource = &body["resourceSpans"][0]["resource"];
    assert_eq!(
        attribute(resource, "service.name")["stringValue"],
        "audit-of-a-test"
    );
    // A path has ids of customers.
    let all = json!(collector.spans()).to_string();
    assert!(
        !all.contains(&id) && !all.contains(&organization.project_key),
        "{all}"
    );

    let quiet = format!("00-{}-b7ad6b7169203331-00", TRACE.replace('0', "1"));
    organization
        .project()
        .with_header("traceparent", &quiet)
        .store(event());
    // A later request was recorded, and that one was not.
    client.get("/events").send().expect_status(200);
    collector.wait_for_span(|span| span["name"] == "GET /api/v1/events" && span["traceId"] == TRACE);
    assert!(
        !json!(collector.spans())
            .to_string()
            .contains(&TRACE.replace('0', "1"))
    );
}

fn the_last_spans_and_the_metrics_are_sent_when_the_server_stops(kind: DatabaseKind) {
    let collector = Collector::start("200 OK");
    let server = Server::start(&Database::create(kind), &[collector.variable()]);
    server
        .client()
        .request("GET", "/healthz")
        .send()
        .expect_status(200);
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    assert!(
        collector
            .spans()
            .iter()
            .any(|span| span["name"] == "GET /healthz")
    );
    let received = collector.received();
    let metrics = received
        .iter()
        .find(|(head, _)| head.starts_with("POST /v1/metrics "));
    let (_, body) = metrics.expect("metrics");
    let list = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
        .as_array()
        .expect("metrics");
    let requests = list
        .iter()
        .find(|metric| metric["name"] == "audit_http_requests_total");
    let requests = requests.unwrap_or_else(|| panic!("{body}"));
    assert_eq!(requests["sum"]["isMonotonic"], true);
    let point = &requests["sum"]["dataPoints"][0];
    assert!(point["asDouble"].as_f64() >= Some(1.0), "{point}");
}

/// With the messages that OpenTelemetry publishes for Python.
fn a_published_decoder_reads_what_is_sent(kind: DatabaseKind) {
    let Some(python) = python() else { return };
    let collector = Collector::start("200 OK");
    let name = ("OTEL_SERVICE_NAME", "audit-of-a-test");
    let server = Server::start(&Database::create(kind), &[collector.variable(), name]);
    let organization = Organization::create(&server, "enterprise");
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let client = organization.project().with_header("traceparent", &parent);
    client.store(event());
    client.get("/events?limit=none").send().expect_status(400);
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    let folder = temporary_directory("otlp-");
    for (number, (head, body)) in collector.received().iter().enumerate() {
        let signal = if head.starts_with("POST /v1/traces ") {
            "traces"
        } else {
            "metrics"
        };
        std::fs::write(
            folder.join(format!("{signal}-{number:04}.json")),
            body.to_string(),
        )
        .expect("write");
    }
    let output = run_python(
        &python,
        "otlp_decode.py",
        &[folder.to_str().expect("a path in UTF-8")],
    );
    assert!(output.status.success(), "{output:?}");
    let decoded: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        decoded["resource"],
        json!({"service.name": "audit-of-a-test", "service.version": version})
    );
    let named = |signal: &str, name: &str| {
        let list = decoded[signal].as_array().expect("a list");
        let found = list.iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {decoded}")).clone()
    };
    let root = named("traces", "POST /api/v1/events");
    assert_eq!(
        (&root["trace"], &root["parent"], &root["kind"]),
        (
            &json!(TRACE),
            &json!("b7ad6b7169203331"),
            &json!("SPAN_KIND_SERVER")
        )
    );
    assert_eq!(named("traces", "commit")["parent"], root["id"]);
    for (name, kind, unit) in [
        ("audit_http_requests_total", "sum", ""),
        ("audit_http_request_duration_seconds", "histogram", "s"),
        ("audit_database_bytes", "gauge", "By"),
    ] {
        let expected = json!({"name": name, "kind": kind, "unit": unit});
        assert_eq!(named("metrics", name), expected);
    }
}

#[test]
fn a_collector_that_is_away_or_refuses_costs_requests_nothing() {
    let refusing = Collector::start("503 Service Unavailable");
    // Nothing listens on port 1, and no other test gets it.
    for url in [refusing.url.clone(), "http://127.0.0.1:1".to_owned()] {
        let environment = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str())];
        let server = Server::start(&Database::create(DatabaseKind::Sqlite), &environment);
        let organization = Organization::create(&server, "enterprise");
        organization.project().store(event());
        server.wait_for_metric("audit_otlp_spans_total{outcome=\"failed\"}", 1);
        organization.project().store(event());
        assert_eq!(server.metric("audit_otlp_spans_total{outcome=\"exported\"}"), 0);
        let finished = server.stop();
        assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
        let warnings = finished
            .stderr
            .matches("the OpenTelemetry collector does not accept data")
            .count();
        assert_eq!(warnings, 1, "{}", finished.stderr);
    }
}

#[test]
fn wrong_settings_are_refused_and_not_repeated() {
    let database = Database::create(DatabaseKind::Sqlite);
    for (name, value, option) in [
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "secret@127.0.0.1:4317",
            "--otlp-endpoint",
        ),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret", "--otlp-headers"),
    ] {
        let url = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        let refusal = serve_refused(&database, &[url, (name, value)]);
        assert!(
            refusal.contains(option) && !refusal.contains("secret"),
            "{refusal}"
        );
    }
}
