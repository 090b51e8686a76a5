//! The request that is sent, and the outcome of each kind of response.

use crate::receiver::{
    BODY, LONG, MESSAGE, Receiver, SECRET, SHORT, Stream, USER_AGENT, deliver, deliver_within, options,
    response, send,
};
use audit_domain::Timestamp;
use audit_webhooks::{FailureKind, Outcome, RESPONSE_BYTES_MAX, RetryAfter, Sender, signature};
use proptest::prelude::*;
use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

fn answered(status: u16) -> Outcome {
    Outcome::Answered {
        status,
        retry_after: None,
    }
}

#[test]
fn a_request_is_a_signed_post_of_json() {
    let receiver = Receiver::start(response("HTTP/1.1 204 No Content\r\n\r\n"));
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
fn every_status_is_a_response() {
    for status in [200, 201, 204, 101, 304, 400, 404, 410, 500, 503, 999] {
        let text = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(deliver(&Receiver::start(response(text))), answered(status));
    }
}

#[test]
fn informational_responses_are_skipped() {
    let text =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(deliver(&Receiver::start(response(text))), answered(200));
}

#[test]
fn redirects_are_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Receiver::raw(|_| Ok(()));
        let text = format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: https://{}/\r\nContent-Length: 0\r\n\r\n",
            elsewhere.address
        );
        assert_eq!(deliver(&Receiver::start(response(text))), answered(status));
        elsewhere.assert_untouched();
    }
}

#[test]
fn a_retry_after_header_is_returned() {
    let asking = |value: &str| {
        let text =
            format!("HTTP/1.1 429 Too Many Requests\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        deliver(&Receiver::start(response(text)))
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
fn the_body_does_not_count() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\nends early",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}",
    ] {
        assert_eq!(deliver(&Receiver::start(response(text))), answered(200), "{text}");
    }
}

#[test]
fn a_connection_may_drop_after_the_status() {
    let cut =
        |stream: &mut Stream| stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\nabc");
    assert_eq!(deliver(&Receiver::start(cut)), answered(202));
}

#[test]
fn an_endless_body_is_read_up_to_the_limit() {
    // Room for the buffers of both sockets, which the receiver fills ahead of the sender.
    const BUFFERED_BYTES_MAX: u64 = 64 * 1024 * 1024;
    let (written_sender, written) = mpsc::channel();
    let endless = move |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let mut bytes = 0;
        while stream.write_all(&[b'x'; 4_096]).is_ok() {
            bytes += 4_096;
        }
        written_sender.send(bytes).map_err(io::Error::other)
    };
    assert_eq!(deliver(&Receiver::start(endless)), answered(200));
    let bytes: u64 = written
        .recv_timeout(LONG)
        .expect("the sender closes the connection");
    assert!(bytes <= RESPONSE_BYTES_MAX + BUFFERED_BYTES_MAX, "{bytes}");
}

#[test]
fn a_dripping_body_ends_with_the_timeout_and_does_not_count() {
    let (end_sender, end) = mpsc::channel();
    let receiver = Receiver::start(move |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        end_sender.send(drip(stream)?).map_err(io::Error::other)
    });
    // On a busy machine the head may arrive after a short timeout; a longer one follows.
    let timeouts = [1, 4, 16, 64].map(Duration::from_secs);
    let mut outcomes = timeouts.iter().map(|timeout| deliver_within(&receiver, *timeout));
    let outcome = outcomes.find(|outcome| *outcome != Outcome::Failed(FailureKind::TimedOut));
    assert_eq!(outcome, Some(answered(200)));
    assert_eq!(end.recv_timeout(LONG), Ok(DripEnd::ClosedBySender));
}

#[test]
fn a_dripping_head_ends_with_the_timeout() {
    let dripping_head = |stream: &mut Stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ")?;
        drip(stream).map(|_| ())
    };
    // Without the timeout, the end of the drip would be a dropped connection.
    let outcome = deliver_within(&Receiver::start(dripping_head), SHORT);
    assert_eq!(outcome, Outcome::Failed(FailureKind::TimedOut));
}

#[derive(Debug, PartialEq, Eq)]
enum DripEnd {
    ClosedBySender,
    AllWritten,
}

/// Writes one byte at a time until the sender closes the connection. A read that times out sets the pace.
fn drip(stream: &mut Stream) -> io::Result<DripEnd> {
    /// At least five minutes, far beyond every timeout of the sender.
    const DRIPPED_BYTES_MAX: usize = 15_000;
    stream.sock.set_read_timeout(Some(Duration::from_millis(20)))?;
    for _ in 0..DRIPPED_BYTES_MAX {
        let is_open = stream.write_all(b"x").is_ok();
        match stream.sock.read(&mut [0; 1]) {
            Err(error) if is_open && error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return Ok(DripEnd::ClosedBySender),
        }
    }
    Ok(DripEnd::AllWritten)
}

#[test]
fn heads_are_bounded() {
    let of_bytes = |bytes: usize| {
        let text = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\n", "x".repeat(bytes));
        deliver(&Receiver::start(response(text)))
    };
    let too_long = Outcome::Failed(FailureKind::ProtocolError);
    assert_eq!(of_bytes(16 * 1024 - 29), answered(200));
    assert_eq!(of_bytes(16 * 1024 - 28), too_long);
    assert_eq!(of_bytes(1_000_000), too_long);
    let of_headers = |count: usize| {
        let text = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(count));
        deliver(&Receiver::start(response(text)))
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
fn a_response_that_is_not_http_is_a_protocol_error() {
    for garbage in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "<html>\r\n\r\n",
    ] {
        let outcome = deliver(&Receiver::start(response(garbage)));
        assert_eq!(
            outcome,
            Outcome::Failed(FailureKind::ProtocolError),
            "{garbage:?}"
        );
    }
}

fn any_response() -> impl Strategy<Value = Vec<u8>> {
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

    /// Every response yields an outcome. A panic would leave the delivery without one, and it would be retried forever.
    #[test]
    fn no_response_makes_sending_panic(text in any_response()) {
        thread_local! {
            static SENDER: Sender = Sender::new(&options(LONG)).expect("options that work");
        }
        let receiver = Receiver::start(response(text));
        let outcome = SENDER.with(|sender| send(sender, &receiver.url()));
        let is_an_outcome = matches!(
            outcome,
            Outcome::Answered { .. } | Outcome::Failed(FailureKind::ProtocolError | FailureKind::ConnectionDropped)
        );
        prop_assert!(is_an_outcome, "{outcome:?}");
    }
}
