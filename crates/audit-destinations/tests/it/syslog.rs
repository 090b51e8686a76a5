//! Syslog over TLS.

use crate::receiver::{
    Authority, LONG, Receiver, SHORT, TRUSTED, accept, batch, config, of, send, send_within,
};
use audit_destinations::{Attempt, Batch, Config, Kind, Verdict};
use rustls::ServerConfig;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver as Inbox};

/// A receiver that reads until the sender closes the connection.
fn reading(tls: Arc<ServerConfig>) -> (Receiver, Inbox<Vec<u8>>) {
    let (sender, payloads) = mpsc::channel();
    let receiver = Receiver::raw(move |tcp| {
        let mut payload = Vec::new();
        accept(&tls, tcp).read_to_end(&mut payload)?;
        sender.send(payload).map_err(io::Error::other)
    });
    (receiver, payloads)
}

/// The messages of a payload, by their lengths.
fn messages(mut payload: &[u8]) -> Vec<String> {
    let mut messages = Vec::new();
    while !payload.is_empty() {
        let space = payload.iter().position(|byte| *byte == b' ').expect("a length");
        let length: usize = std::str::from_utf8(&payload[..space])
            .expect("ASCII")
            .parse()
            .expect("a number");
        let (message, rest) = payload[space + 1..].split_at(length);
        messages.push(String::from_utf8(message.to_vec()).expect("UTF-8"));
        payload = rest;
    }
    messages
}

fn with_client(port: u16, credentials: &Value) -> Config {
    of(
        Kind::Syslog,
        &json!({"host": "127.0.0.1", "port": port}),
        credentials,
    )
}

#[test]
fn each_message_has_its_length_and_its_position() {
    let (receiver, payloads) = reading(TRUSTED.server(None));
    let attempt = send(&config(Kind::Syslog, receiver.address), &batch(2));
    assert_eq!(attempt.verdict, Verdict::Delivered, "{attempt:?}");
    let payload = payloads.recv_timeout(LONG).expect("a payload");
    let expected = [(12, 110), (13, 108)].map(|(position, priority)| {
        format!(
            "<{priority}>1 2026-01-15T10:29:58.500Z - audit-log - - [stream@32473 destination=\"dst_01\" run=\"0\" position=\"{position}\"] {}",
            batch(2).records[position - 12].text
        )
    });
    assert_eq!(messages(&payload), expected);
    assert_eq!(
        attempt.request,
        format!(
            "SEND syslog+tls://127.0.0.1:{} 2 records, {} bytes",
            receiver.address.port(),
            payload.len()
        )
    );
}

#[test]
fn a_long_record_is_cut_to_the_limit_of_a_message() {
    let (receiver, payloads) = reading(TRUSTED.server(None));
    let mut long = batch(1);
    long.records[0].text =
        json!({"id": "evt_12", "action": "a.b", "metadata": {"text": "é".repeat(9_000)}}).to_string();
    assert_eq!(
        send(&config(Kind::Syslog, receiver.address), &long).verdict,
        Verdict::Delivered
    );
    let messages = messages(&payloads.recv_timeout(LONG).expect("a payload"));
    assert!(messages[0].len() <= 8_192);
    let record = messages[0].split_once("] ").expect("structured data").1;
    let record: Value = serde_json::from_str(record).expect("JSON");
    assert_eq!(
        record,
        json!({"id": "evt_12", "action": "a.b", "truncated": ["metadata"]})
    );
}

#[test]
fn a_client_proves_itself_with_a_certificate() {
    let authority = Authority::new("of clients");
    let (receiver, payloads) = reading(TRUSTED.server(Some(&authority)));
    let port = receiver.address.port();
    let of_client = |issuer: &Authority| {
        let (certificate, key) = issuer.client("audit");
        with_client(
            port,
            &json!({"client_certificate": certificate, "client_key": key}),
        )
    };
    let attempt = send(&of_client(&authority), &batch(2));
    assert_eq!(attempt.verdict, Verdict::Delivered, "{attempt:?}");
    assert_eq!(
        messages(&payloads.recv_timeout(LONG).expect("a payload")).len(),
        2
    );
    for refused in [
        of_client(&Authority::new("another")),
        with_client(port, &json!({})),
    ] {
        let attempt = send(&refused, &batch(2));
        assert_eq!(attempt.verdict, Verdict::Credentials, "{attempt:?}");
        assert!(
            attempt.response.starts_with("tls_failed: received fatal alert"),
            "{attempt:?}"
        );
    }
}

#[test]
fn an_authority_of_its_own_is_the_only_one_trusted() {
    let own = Authority::new("of the receiver");
    let (receiver, payloads) = reading(own.server(None));
    let (of_others, _) = reading(TRUSTED.server(None));
    let with_ca = |port: u16| {
        let settings = json!({"host": "127.0.0.1", "port": port, "ca": own.pem()});
        send(&of(Kind::Syslog, &settings, &json!({})), &batch(1))
    };
    assert_eq!(with_ca(receiver.address.port()).verdict, Verdict::Delivered);
    assert_eq!(
        messages(&payloads.recv_timeout(LONG).expect("a payload")).len(),
        1
    );
    let attempt = with_ca(of_others.address.port());
    assert_eq!(
        attempt.response,
        "tls_failed: invalid peer certificate: UnknownIssuer"
    );
}

/// More than the receiver reads at once, so that the rest is lost when it closes the connection.
fn large() -> Batch {
    let mut large = batch(1_000);
    for record in &mut large.records {
        record.text = json!({"text": "x".repeat(1_000)}).to_string();
    }
    large
}

#[test]
fn a_broken_connection_is_repeated() {
    let tls = TRUSTED.server(None);
    let receiver = Receiver::raw(move |tcp| accept(&tls, tcp).read_exact(&mut [0]));
    let attempt: Attempt = send(&config(Kind::Syslog, receiver.address), &large());
    assert_eq!(attempt.verdict, Verdict::Retry { after: None });
    assert_eq!(attempt.response, "connection_dropped");
}

/// As rsyslog closes it for a client whose certificate it refuses: without an alert.
#[test]
fn a_receiver_that_closes_first_has_nothing() {
    let tls = TRUSTED.server(None);
    let receiver = Receiver::raw(move |mut tcp| {
        let mut connection = accept(&tls, tcp.try_clone()?).conn;
        // Its part of the handshake, and no byte more.
        while !connection.wants_write() {
            connection.read_tls(&mut tcp)?;
            connection.process_new_packets().map_err(io::Error::other)?;
        }
        while connection.wants_write() {
            connection.write_tls(&mut tcp)?;
        }
        tcp.shutdown(Shutdown::Write)?;
        io::copy(&mut tcp, &mut io::sink()).map(drop)
    });
    let attempt = send(&config(Kind::Syslog, receiver.address), &batch(1));
    assert_eq!(attempt.verdict, Verdict::Retry { after: None }, "{attempt:?}");
    assert_eq!(attempt.response, "connection_dropped");
}

#[test]
fn a_receiver_that_does_not_close_has_the_batch_after_a_while() {
    let tls = TRUSTED.server(None);
    let (done, end) = mpsc::channel::<()>();
    let (read_sender, read) = mpsc::channel();
    let receiver = Receiver::raw(move |tcp| {
        let mut stream = accept(&tls, tcp);
        stream.read_exact(&mut [0; 10])?;
        read_sender.send(()).map_err(io::Error::other)?;
        // Holds the connection until the test ends.
        end.recv().map_err(io::Error::other)
    });
    let attempt = send(&config(Kind::Syslog, receiver.address), &batch(1));
    assert_eq!(attempt.verdict, Verdict::Delivered, "{attempt:?}");
    read.recv_timeout(LONG).expect("a message");
    drop(done);
}

#[test]
fn a_receiver_that_does_not_read_times_out() {
    let (done, end) = mpsc::channel::<()>();
    let receiver = Receiver::raw(move |tcp| {
        end.recv().map_err(io::Error::other)?;
        drop(tcp);
        Ok(())
    });
    let attempt = send_within(&config(Kind::Syslog, receiver.address), &large(), SHORT);
    assert_eq!(attempt.response, "timed_out");
    assert_eq!(attempt.verdict, Verdict::Retry { after: None });
    drop(done);
}
