//! An address of its own for the metrics.

use audit_tests::{Database, DatabaseKind, Server, serve_refused};
use std::net::TcpListener;

#[test]
fn metrics_leave_the_public_address_and_health_is_on_both() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[("AUDIT_METRICS_LISTEN", "127.0.0.1:0")]);
    let (public, metrics) = (server.client(), server.metrics_client());
    public
        .request("GET", "/metrics")
        .send()
        .expect_error(404, "not_found");
    let text = metrics.request("GET", "/metrics").send_raw();
    assert_eq!(text.status, 200);
    // Requests of both addresses are counted.
    let text = String::from_utf8(text.bytes).expect("metrics are text");
    assert!(text.contains(r#"route="unmatched",status="404"} 1"#), "{text}");
    for path in ["/healthz", "/readyz"] {
        for client in [&public, &metrics] {
            client.request("GET", path).send().expect_status(200);
        }
    }
    metrics
        .request("POST", "/metrics")
        .send()
        .expect_error(405, "method_not_allowed");
    for path in ["/api/v1/events", "/docs", "/api/v1/openapi.json", "/"] {
        metrics.request("GET", path).send().expect_error(404, "not_found");
    }
}

#[test]
fn an_address_of_metrics_in_use_is_said_clearly() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let database = Database::create(DatabaseKind::Sqlite);
    let refusal = serve_refused(&database, &[("AUDIT_METRICS_LISTEN", &address)]);
    assert!(
        refusal.contains("--metrics-listen") && refusal.contains(&address),
        "{refusal}"
    );
}
