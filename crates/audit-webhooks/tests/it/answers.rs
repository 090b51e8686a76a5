//! What is sent, and what counts of what comes back.

use crate::receiver::{
    BODY, LONG, MESSAGE, Receiver, SECRET, SHORT, Stream, USER_AGENT, answer, deliver, deliver_within,
    options, send,
};
use audit_domain::Timestamp;
use audit_webhooks::{FailureKind, Outcome, RetryAfter, Sender, signature};
use proptest::prelude::*;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

fn answered(status: u16) -> Outcome {
    Outcome::Answered {
        status,
        retry_after: None,
    }
}

#[test]
fn a_request_is_a_signed_post_of_json() {
    let receiver = Receiver::start(answer("HTTP/1.1 204 No Content\r\n\r\n"));
    assert_eq!(deliver(&receiver), answered(204));
    let request = receiver.request();
    assert_eq!(request.body, BODY);

    let mut lines = request.head.trim_end().lines();
    assert_eq!(lines.next(), Some("POST /hook?a=b HTTP/1.1"));
    let mut headers: Vec<_> = lines.filter_map(|line| line.split_once(": ")).collect();
    headers.sort_unstable();
    let (id, host) = (MESSAGE.to_string(), receiver.address.to_string());
    let expected_signature = signature(SECRET.as_bytes(), &id, 1_768_473_000, BODY);
    let expected = [
        ("accept", "*/*"),
        ("connection", "close"),
        ("content-length", "32"),
        ("content-type", "application/json"),
        ("host", &host),
        ("user-agent", USER_AGENT),
        ("webhook-id", &id),
        ("webhook-signature", &expected_signature),
        ("webhook-timestamp", "1768473000"),
    ];
    assert_eq!(headers, expected);
}

#[test]
fn every_status_is_an_answer() {
    for status in [200, 201, 204, 101, 304, 400, 404, 410, 500, 503, 999] {
        let text = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(deliver(&Receiver::start(answer(text))), answered(status));
    }
}

#[test]
fn informational_answers_are_passed_over() {
    let text =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(deliver(&Receiver::start(answer(text))), answered(200));
}

#[test]
fn redirects_are_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Receiver::raw(|_| Ok(()));
        let text = format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: https://{}/\r\nContent-Length: 0\r\n\r\n",
            elsewhere.address
        );
        assert_eq!(deliver(&Receiver::start(answer(text))), answered(status));
        elsewhere.assert_untouched();
    }
}

#[test]
fn a_receiver_can_ask_to_wait() {
    let asking = |value: &str| {
        let text =
            format!("HTTP/1.1 429 Too Many Requests\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        deliver(&Receiver::start(answer(text)))
    };
    let told = |retry_after| Outcome::Answered {
        status: 429,
        retry_after,
    };
    assert_eq!(asking("120"), told(Some(RetryAfter::Seconds(120))));
    let date = RetryAfter::At(Timestamp::from_seconds(784_111_777));
    for form in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        assert_eq!(asking(form), told(Some(date)));
    }
    assert_eq!(asking("tomorrow"), told(None));
    assert_eq!(asking("\u{fc}"), told(None));
}

#[test]
fn the_body_is_read_for_the_receivers_sake_but_does_not_count() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\nends early",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}",
    ] {
        assert_eq!(deliver(&Receiver::start(answer(text))), answered(200), "{text}");
    }
}

#[test]
fn a_connection_may_end_without_farewell_after_the_status() {
    let cut =
        |stream: &mut Stream| stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\nabc");
    assert_eq!(deliver(&Receiver::start(cut)), answered(202));
}

#[test]
fn of_an_endless_body_little_is_read() {
    let endless = |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 4_096])?;
        }
    };
    let started = Instant::now();
    assert_eq!(deliver(&Receiver::start(endless)), answered(200));
    assert!(started.elapsed() < LONG / 2);
}

#[test]
fn a_dripping_body_ends_with_the_timeout_and_changes_nothing() {
    let drip = |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        drip_forever(stream)
    };
    let started = Instant::now();
    let outcome = deliver_within(&Receiver::start(drip), Duration::from_secs(3));
    assert_eq!(outcome, answered(200));
    assert!(started.elapsed() < LONG / 2);
}

#[test]
fn a_dripping_head_ends_with_the_timeout() {
    let drip = |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ")?;
        drip_forever(stream)
    };
    let started = Instant::now();
    let outcome = deliver_within(&Receiver::start(drip), SHORT);
    assert_eq!(outcome, Outcome::Failed(FailureKind::TimedOut));
    assert!(started.elapsed() < LONG / 2);
}

/// A byte at a time, until the sender hangs up. Waiting for what never comes sets the pace.
fn drip_forever(stream: &mut Stream) -> io::Result<()> {
    stream.sock.set_read_timeout(Some(Duration::from_millis(20)))?;
    loop {
        stream.write_all(b"x")?;
        match stream.sock.read(&mut [0; 1]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return Ok(()),
        }
    }
}

#[test]
fn heads_are_bounded() {
    let of_bytes = |bytes: usize| {
        let text = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\n", "x".repeat(bytes));
        deliver(&Receiver::start(answer(text)))
    };
    let too_long = Outcome::Failed(FailureKind::ProtocolError);
    assert_eq!(of_bytes(16 * 1024 - 29), answered(200));
    assert_eq!(of_bytes(16 * 1024 - 28), too_long);
    assert_eq!(of_bytes(1_000_000), too_long);
    let of_headers = |count: usize| {
        let text = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(count));
        deliver(&Receiver::start(answer(text)))
    };
    assert_eq!(of_headers(128), answered(200));
    assert_eq!(of_headers(129), too_long);
    let endless = |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(b"X: y\r\n")?;
        }
    };
    assert_eq!(deliver(&Receiver::start(endless)), too_long);
}

#[test]
fn what_is_no_http_is_a_protocol_error() {
    for garbage in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "<html>\r\n\r\n",
    ] {
        let outcome = deliver(&Receiver::start(answer(garbage)));
        assert_eq!(
            outcome,
            Outcome::Failed(FailureKind::ProtocolError),
            "{garbage:?}"
        );
    }
}

fn any_answer() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("HTTP/1.1 "),
        Just("HTTP/1.0 "),
        Just("100 Continue"),
        Just("101 Switching Protocols"),
        Just("200 OK"),
        Just("204"),
        Just("302 Found"),
        Just("304"),
        Just("\r\n"),
        Just("\r\n\r\n"),
        Just("Content-Length: 3\r\n"),
        Just("Content-Length: 0\r\n"),
        Just("Content-Length: -1\r\n"),
        Just("Transfer-Encoding: chunked\r\n"),
        Just("Connection: close\r\n"),
        Just("Connection: keep-alive, upgrade\r\n"),
        Just("Location: https://127.0.0.1:1/\r\n"),
        Just("Location: \r\n"),
        Just("Retry-After: 1\r\n"),
        Just("3\r\nabc\r\n0\r\n\r\n"),
        Just("ffffffffffffffff\r\n"),
        Just("\0\u{ff}"),
    ];
    let begins_well = prop_oneof![
        Just(""),
        Just("HTTP/1.1 200 OK\r\n"),
        Just("HTTP/1.1 302 Found\r\n")
    ];
    (begins_well, prop::collection::vec(word, 0..12))
        .prop_map(|(begin, words)| format!("{begin}{}", words.concat()).into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// An attempt has an outcome whatever the receiver says, or its delivery would be tried for ever.
    #[test]
    fn no_answer_makes_sending_panic(text in any_answer()) {
        thread_local! {
            static SENDER: Sender = Sender::new(&options(LONG)).expect("options that work");
        }
        let receiver = Receiver::start(answer(text));
        let outcome = SENDER.with(|sender| send(sender, &receiver.url()));
        let is_an_outcome = matches!(
            outcome,
            Outcome::Answered { .. } | Outcome::Failed(FailureKind::ProtocolError | FailureKind::ConnectionDropped)
        );
        prop_assert!(is_an_outcome, "{outcome:?}");
    }
}
