//! The failure kind of each attempt without a response.

use crate::receiver::{
    Authority, LONG, Receiver, SHORT, TRUSTED, allowing_private, deliver, deliver_within, options, response,
    send, send_body, wait_for_end,
};
use audit_webhooks::{FailureKind, Outcome, Sender, SenderOptions};
use rcgen::{CertificateParams, date_time_ymd};
use std::io::{self, Read, Write};

const NO_CONTENT: &str = "HTTP/1.1 204 No Content\r\n\r\n";

fn failed(kind: FailureKind) -> Outcome {
    Outcome::Failed(kind)
}

#[test]
fn a_closed_port_fails_the_connection() {
    // The port of tcpmux: a privileged port of an obsolete service, so no test listens there.
    let sender = Sender::new(&options(LONG)).expect("options that work");
    let outcome = send(&sender, &allowing_private("https://127.0.0.1:1/"));
    assert_eq!(outcome, failed(FailureKind::ConnectionFailed));
}

#[test]
fn a_receiver_that_sends_nothing_times_out() {
    let silent = Receiver::start(|stream| wait_for_end(&mut *stream));
    assert_eq!(deliver_within(&silent, SHORT), failed(FailureKind::TimedOut));
    let without_handshake = Receiver::raw(wait_for_end);
    assert_eq!(
        deliver_within(&without_handshake, SHORT),
        failed(FailureKind::TimedOut)
    );
}

#[test]
fn a_receiver_that_reads_nothing_times_out() {
    // The receiver completes the handshake and reads nothing more. No buffer on the path can hold the body.
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let tls = TRUSTED.server("127.0.0.1");
    let deaf = Receiver::raw(move |mut tcp| {
        let mut connection = rustls::ServerConnection::new(tls.clone()).map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut tcp)?;
        }
        held.lock()
            .map_err(|_| io::ErrorKind::Other)?
            .recv()
            .map_err(io::Error::other)
    });
    let sender = Sender::new(&options(SHORT)).expect("options that work");
    let outcome = send_body(&sender, &deaf.url(), &vec![b' '; 32 * 1024 * 1024]);
    assert_eq!(outcome, failed(FailureKind::TimedOut));
    drop(hold);
}

#[test]
fn a_connection_that_ends_before_the_response_is_dropped() {
    let after_request = Receiver::start(|_| Ok(()));
    assert_eq!(deliver(&after_request), failed(FailureKind::ConnectionDropped));
    let with_farewell = Receiver::start(response(""));
    assert_eq!(deliver(&with_farewell), failed(FailureKind::ConnectionDropped));
    let in_the_head = Receiver::start(response("HTTP/1.1 200 OK\r\nX: "));
    assert_eq!(deliver(&in_the_head), failed(FailureKind::ConnectionDropped));
    let before_handshake = Receiver::raw(|mut tcp| tcp.read_exact(&mut [0; 32]));
    assert_eq!(deliver(&before_handshake), failed(FailureKind::ConnectionDropped));
}

#[test]
fn certificates_must_be_trusted_valid_and_for_the_host() {
    let unknown = Authority::new().server("127.0.0.1");
    assert_eq!(
        deliver(&Receiver::with_tls(unknown, response(NO_CONTENT))),
        failed(FailureKind::TlsFailed)
    );
    for name in ["127.0.0.2", "localhost"] {
        let for_other = Receiver::with_tls(TRUSTED.server(name), response(NO_CONTENT));
        assert_eq!(deliver(&for_other), failed(FailureKind::TlsFailed));
    }
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    params.not_after = date_time_ymd(2000, 1, 1);
    let expired = Receiver::with_tls(TRUSTED.server_with(&params), response(NO_CONTENT));
    assert_eq!(deliver(&expired), failed(FailureKind::TlsFailed));
}

#[test]
fn an_extra_authority_is_trusted_only_if_configured() {
    let receiver = Receiver::start(response(NO_CONTENT));
    let public_roots_only = SenderOptions {
        extra_ca: None,
        ..options(LONG)
    };
    let sender = Sender::new(&public_roots_only).expect("options that work");
    assert_eq!(send(&sender, &receiver.url()), failed(FailureKind::TlsFailed));
    assert!(deliver(&receiver).is_delivered());
}

#[test]
fn a_port_without_tls_fails_tls() {
    let plain = Receiver::raw(|mut tcp| {
        tcp.read_exact(&mut [0; 32])?;
        tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")?;
        wait_for_end(tcp)
    });
    assert_eq!(deliver(&plain), failed(FailureKind::TlsFailed));
}

#[test]
fn a_refused_handshake_fails_tls() {
    // A fatal alert: handshake_failure.
    let refusing = Receiver::raw(|mut tcp| {
        tcp.read_exact(&mut [0; 32])?;
        tcp.write_all(&[21, 3, 3, 0, 2, 2, 40])?;
        wait_for_end(tcp)
    });
    assert_eq!(deliver(&refusing), failed(FailureKind::TlsFailed));
}
