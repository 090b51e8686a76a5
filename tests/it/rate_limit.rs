//! The rate limit of a credential. Off unless configured.

use audit_tests::{
    Client, Database, DatabaseKind, Organization, Response, Server, Stream, assert_settings_refused, event,
    on_both_databases,
};
use std::time::Instant;

const BURST: u64 = 4;
/// More requests than fit between two tokens however fast the machine is. The slowest rate is one a second.
const REQUESTS_MAX: usize = 2_000;
const NAMES: [&str; 3] = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];

/// Limit, remaining and reset of a response, if it has them.
fn allowance(response: &Response) -> Option<[u64; 3]> {
    let values = NAMES.map(|name| {
        response
            .header(name)
            .map(|text| text.parse::<u64>().expect("a number"))
    });
    match values {
        [Some(limit), Some(remaining), Some(reset)] => Some([limit, remaining, reset]),
        [None, None, None] => None,
        _ => panic!("some headers are missing: {response:?}"),
    }
}

fn allowed(response: &Response) -> [u64; 3] {
    allowance(response).unwrap_or_else(|| panic!("no headers: {response:?}"))
}

fn start(database: DatabaseKind, per_second: &str, burst: Option<&str>) -> Server {
    let mut environment = vec![("AUDIT_RATE_LIMIT_PER_SECOND", per_second)];
    environment.extend(burst.map(|burst| ("AUDIT_RATE_LIMIT_BURST", burst)));
    Server::start(&Database::create(database), &environment)
}

/// Sends requests until one is refused; returns the refusal and the number of accepted requests.
fn exhaust(client: &Client) -> (Response, u64) {
    for number in 0..REQUESTS_MAX {
        let response = client.get("/events").send();
        if response.status() == 429 {
            return (response, number as u64);
        }
        response.expect_status(200);
    }
    panic!("no request is refused");
}

on_both_databases! {
    nothing_is_limited_unless_configured,
    a_burst_is_let_through_and_then_what_comes_back,
    a_token_comes_back_in_time,
    each_credential_has_its_own_bucket,
    a_key_has_one_bucket_however_it_is_written,
    every_response_to_a_credential_says_what_is_left,
    requests_without_a_credential_are_not_limited,
    the_burst_is_a_second_s_worth_unless_configured,
    a_page_may_read_that_it_asks_too_often,
}

fn nothing_is_limited_unless_configured(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for _ in 0..5 {
        assert_eq!(allowance(&project.get("/events").send().expect_status(200)), None);
    }
    let server = start(database, "0", Some("1"));
    let project = Organization::create(&server, "enterprise").project();
    for _ in 0..5 {
        assert_eq!(allowance(&project.get("/events").send().expect_status(200)), None);
    }
}

fn a_burst_is_let_through_and_then_what_comes_back(database: DatabaseKind) {
    let server = start(database, "1", Some("4"));
    let project = Organization::create(&server, "enterprise").project();
    let started = Instant::now();
    for number in 1..=BURST {
        let [limit, remaining, reset] = allowed(&project.get("/events").send().expect_status(200));
        assert_eq!(limit, BURST);
        let come_back = started.elapsed().as_secs();
        assert!(
            (BURST - number..=BURST - number + come_back).contains(&remaining),
            "{remaining} after {number}"
        );
        assert!((1..=number).contains(&reset), "{reset} s after {number}");
    }
    let (refusal, more) = exhaust(&project);
    let elapsed = started.elapsed().as_secs_f64();
    assert!((more as f64) <= elapsed, "{more} requests more after {elapsed} s");
    let refusal = refusal.expect_error(429, "rate_limited");
    assert_eq!(refusal.header("retry-after"), Some("1"));
    let [limit, remaining, reset] = allowed(&refusal);
    assert_eq!((limit, remaining), (BURST, 0));
    assert!((BURST - 1..=BURST).contains(&reset), "{reset}");
    // A refused request has no effect and does not count.
    for _ in 0..5 {
        let response = project.post("/events").json(event()).send();
        if response.status() == 429 {
            assert_eq!(response.header("retry-after"), Some("1"));
            assert!(allowed(&response)[2] <= BURST);
        }
    }
}

fn a_token_comes_back_in_time(database: DatabaseKind) {
    let server = start(database, "1", Some("2"));
    let project = Organization::create(&server, "enterprise").project();
    let (refusal, _) = exhaust(&project);
    let seconds = refusal
        .header("retry-after")
        .and_then(|text| text.parse().ok())
        .expect("Retry-After");
    audit_tests::Deadline::seconds(seconds).pass();
    project.get("/events").send().expect_status(200);
}

fn each_credential_has_its_own_bucket(database: DatabaseKind) {
    let server = start(database, "1", Some("30"));
    let organization = Organization::create(&server, "enterprise");
    let clients = [
        organization.test(),
        organization.viewer("tenant-1", "full"),
        organization.viewer("tenant-1", "full"),
        organization.project(),
    ];
    for client in &clients {
        assert!(allowed(&client.get("/events").send().expect_status(200))[1] > 20);
        exhaust(client);
    }
    assert!(allowed(&organization.master().get("/events").send().expect_status(200))[1] > 20);
}

fn a_key_has_one_bucket_however_it_is_written(database: DatabaseKind) {
    let server = start(database, "1", Some("100"));
    let organization = Organization::create(&server, "enterprise");
    exhaust(&organization.project());
    for scheme in ["bearer", "BEARER", "bEaReR"] {
        let header = format!("{scheme} {}", organization.project_key);
        let client = server.client().with_header("authorization", &header);
        // Another bucket would be full.
        assert!(allowed(&client.get("/events").send())[1] < 50, "{scheme}");
    }
}

fn every_response_to_a_credential_says_what_is_left(database: DatabaseKind) {
    let server = start(database, "50", Some("1000"));
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let responses = [
        (201, project.post("/events").json(event()).send()),
        (400, project.post("/events").raw_json("{").send()),
        (403, project.post("/redaction/rules").raw_json("{}").send()),
        (404, project.get("/nothing").send()),
        (405, project.put("/events").raw_json("{}").send()),
        (415, project.post("/events").raw("x").send()),
        (
            401,
            organization
                .with_credential("pk_live_mistyped")
                .get("/events")
                .send(),
        ),
        (
            401,
            organization.with_credential("nonsense").get("/events").send(),
        ),
    ];
    for (status, response) in responses {
        let response = response.expect_status(status);
        let [limit, remaining, reset] = allowed(&response);
        assert_eq!(limit, 1_000);
        assert!((900..1_000).contains(&remaining), "{remaining}: {response:?}");
        assert_eq!(
            reset, 1,
            "at fifty per second, the few missing tokens are refilled at once"
        );
    }
}

fn requests_without_a_credential_are_not_limited(database: DatabaseKind) {
    let server = start(database, "1", Some("1"));
    let client = server.client();
    let stream = Stream::of(&client);
    for _ in 0..5 {
        for path in ["/healthz", "/readyz"] {
            assert_eq!(
                allowance(&client.request("GET", path).send().expect_status(200)),
                None
            );
        }
        let refused = client.get("/events").send().expect_error(401, "unauthorized");
        assert_eq!(allowance(&refused), None);
        assert_eq!(allowance(&stream.send(event()).expect_status(201)), None);
        assert_eq!(allowance(&stream.info().expect_status(200)), None);
    }
}

fn the_burst_is_a_second_s_worth_unless_configured(database: DatabaseKind) {
    let server = start(database, "7", None);
    let project = Organization::create(&server, "enterprise").project();
    let [limit, remaining, reset] = allowed(&project.get("/events").send().expect_status(200));
    assert_eq!([limit, remaining, reset], [7, 6, 1]);
}

#[test]
fn a_wrong_rate_is_refused() {
    assert_settings_refused(&[
        ("AUDIT_RATE_LIMIT_PER_SECOND", "-1"),
        ("AUDIT_RATE_LIMIT_PER_SECOND", "fast"),
        ("AUDIT_RATE_LIMIT_BURST", "0"),
        ("AUDIT_RATE_LIMIT_BURST", "-5"),
    ]);
}

/// The refusal comes before the request reaches its route.
fn a_page_may_read_that_it_asks_too_often(database: DatabaseKind) {
    let server = start(database, "1", Some("1"));
    let organization = Organization::create(&server, "enterprise");
    let viewer = organization.viewer("tenant-1", "full");
    exhaust(&viewer);
    let refused = (0..REQUESTS_MAX)
        .map(|_| {
            viewer
                .get("/events")
                .header("origin", "https://app.example.com")
                .send_raw()
        })
        .find(|response| response.status == 429);
    let refused = refused.expect("a refusal");
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
    assert_eq!(refused.header("vary"), Some("Origin"));
    let metrics = server.client().request("GET", "/metrics").send_raw().bytes;
    let metrics = String::from_utf8(metrics).expect("metrics are text");
    let counted = r#"audit_http_requests_total{method="GET",route="/api/v1/events",status="429"} "#;
    assert!(metrics.contains(counted), "{metrics}");
}
