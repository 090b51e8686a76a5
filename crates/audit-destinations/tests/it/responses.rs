//! What responses, and their absence, mean.

use crate::receiver::{NOW, Receiver, SHORT, batch, close_after, config, send, send_within};
use audit_destinations::{Attempt, Kind, Verdict};
use audit_webhooks::RetryAfter;
use std::io;
use std::net::TcpListener;

const OVER_HTTP: [Kind; 5] = [Kind::Https, Kind::S3, Kind::SplunkHec, Kind::Datadog, Kind::Otlp];

fn attempt(kind: Kind, status: u16, headers: &str, body: &str) -> Attempt {
    let receiver = Receiver::responding(status, headers, body);
    send(&config(kind, receiver.address), &batch(2))
}

#[test]
fn a_status_means_the_same_for_every_kind() {
    for kind in OVER_HTTP {
        for (status, verdict) in [
            (401, Verdict::Credentials),
            (403, Verdict::Credentials),
            (413, Verdict::Refused),
            (301, Verdict::Retry { after: None }),
            (404, Verdict::Retry { after: None }),
            (503, Verdict::Retry { after: None }),
        ] {
            let attempt = attempt(kind, status, "", "");
            assert_eq!(
                (attempt.verdict, attempt.status),
                (verdict, Some(status)),
                "{kind}"
            );
        }
    }
}

#[test]
fn a_receiver_can_name_the_time_of_the_next_attempt() {
    for kind in OVER_HTTP {
        let seconds = attempt(kind, 429, "Retry-After: 7\r\n", "");
        let after = Some(RetryAfter::Seconds(7));
        assert_eq!(seconds.verdict, Verdict::Retry { after }, "{kind}");
        let date = attempt(kind, 503, "Retry-After: Thu, 15 Jan 2026 10:30:00 GMT\r\n", "");
        let after = Some(RetryAfter::At(NOW));
        assert_eq!(date.verdict, Verdict::Retry { after }, "{kind}");
    }
}

#[test]
fn an_object_that_exists_was_delivered() {
    let attempt = attempt(
        Kind::S3,
        412,
        "",
        "<Error><Code>PreconditionFailed</Code></Error>",
    );
    assert_eq!(attempt.verdict, Verdict::Delivered);
}

#[test]
fn a_partial_success_is_refused_so_that_the_batch_is_halved() {
    let body = r#"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}"#;
    let attempt = attempt(Kind::Otlp, 200, "", body);
    assert_eq!(
        (attempt.verdict, attempt.response.as_str()),
        (Verdict::Refused, body)
    );
}

#[test]
fn a_page_with_status_200_is_not_splunk() {
    let attempt = attempt(Kind::SplunkHec, 200, "", "<html>Sign in</html>");
    assert_eq!(attempt.verdict, Verdict::Retry { after: None });
    assert_eq!(attempt.response, "<html>Sign in</html>");
}

#[test]
fn a_response_is_shown_escaped_cut_and_without_secrets() {
    for kind in OVER_HTTP {
        let body = format!("got hidden-token\u{1b}[2J\r\n{}", "x".repeat(600));
        let attempt = attempt(kind, 500, "", &body);
        assert!(
            attempt.response.starts_with("got [REDACTED]\\u{1b}[2J\\r\\nxxx"),
            "{attempt:?}"
        );
        assert!(attempt.response.len() < 550, "{attempt:?}");
        assert!(!format!("{attempt:?}").contains("hidden"), "{attempt:?}");
    }
}

#[test]
fn no_response_is_repeated() {
    let silent = || Receiver::start(|stream| io::copy(stream, &mut io::sink()).map(|_| ()));
    for kind in OVER_HTTP {
        let receiver = silent();
        let attempt = send_within(&config(kind, receiver.address), &batch(2), SHORT);
        assert_eq!(
            (attempt.verdict, attempt.status, attempt.response.as_str()),
            (Verdict::Retry { after: None }, None, "timed_out"),
            "{kind}"
        );
    }
    let dropping = Receiver::start(|_| Ok(()));
    let attempt = send(&config(Kind::Https, dropping.address), &batch(2));
    assert_eq!(attempt.response, "connection_dropped");
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let attempt = send(&config(Kind::Https, closed.expect("an address")), &batch(2));
    assert_eq!(attempt.response, "connection_failed");
}

#[test]
fn an_incomplete_body_does_not_change_the_status() {
    let receiver = Receiver::start(|stream| {
        close_after(stream, b"HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\nabc")
    });
    let attempt = send(&config(Kind::Datadog, receiver.address), &batch(2));
    assert_eq!(
        (attempt.verdict, attempt.response.as_str()),
        (Verdict::Delivered, "abc")
    );
}
