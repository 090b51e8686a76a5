//! The addresses that attempts connect to.

use crate::receiver::{
    LONG, Receiver, SHORT, Stream, TRUSTED, allowing_private, options, response, send, wait_for_end,
};
use audit_webhooks::{AddressPolicy, FailureKind, Outcome, Sender, SenderOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const NO_CONTENT: &str = "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n";

fn public_only() -> SenderOptions {
    SenderOptions {
        policy: AddressPolicy::Public,
        ..options(LONG)
    }
}

#[test]
fn a_special_address_is_refused_before_a_connection() {
    let receiver = Receiver::start(response(NO_CONTENT));
    let refused = Outcome::Failed(FailureKind::AddressNotAllowed);
    let port = receiver.address.port();

    let by_system = Sender::new(&public_only()).expect("options that work");
    for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"] {
        let url = allowing_private(&format!("https://{host}:{port}/"));
        assert_eq!(send(&by_system, &url), refused, "{host}");
    }
    let at = receiver.address;
    for addresses in [vec![at], vec![SocketAddr::new([1, 1, 1, 1].into(), 1), at]] {
        let lookup = Arc::new(move |_: &str, _: u16| Ok(addresses.clone()));
        let by_ours = Sender::with_lookup(&public_only(), lookup).expect("options that work");
        assert_eq!(
            send(&by_ours, &allowing_private("https://receiver.example/")),
            refused
        );
    }
    receiver.assert_untouched();
}

#[test]
fn every_attempt_resolves_once_and_opens_a_new_connection() {
    // The receiver leaves connections open, so that the sender must close them.
    let keep_open = |stream: &mut Stream| {
        stream.write_all(NO_CONTENT.as_bytes())?;
        wait_for_end(stream)
    };
    let receiver = Receiver::with_tls(TRUSTED.server("receiver.example"), keep_open);
    let (lookups, at) = (Arc::new(AtomicUsize::new(0)), receiver.address);
    let counting = Arc::clone(&lookups);
    let lookup = move |host: &str, port: u16| {
        assert_eq!((host, port), ("receiver.example", 8443));
        counting.fetch_add(1, Ordering::Relaxed);
        Ok(vec![at])
    };
    let sender = Sender::with_lookup(&options(LONG), Arc::new(lookup)).expect("options that work");
    let url = allowing_private("https://Receiver.Example:8443/");
    for attempts in 1..=3 {
        assert!(send(&sender, &url).is_delivered());
        assert_eq!(lookups.load(Ordering::Relaxed), attempts);
        assert!(
            receiver
                .request()
                .head
                .contains("\r\nhost: receiver.example:8443\r\n")
        );
    }
    let peers = [receiver.next_peer(), receiver.next_peer(), receiver.next_peer()];
    assert!(peers[0] != peers[1] && peers[1] != peers[2], "{peers:?}");
}

#[test]
fn a_name_that_later_resolves_to_a_private_address_is_refused() {
    let receiver = Receiver::with_tls(TRUSTED.server("receiver.example"), response(NO_CONTENT));
    let at = receiver.address;
    // The first lookup returns an unassigned address, which reaches no host; later ones return the loopback address.
    let (lookups, unassigned) = (AtomicUsize::new(0), "[4000::1]:1".parse().expect("an address"));
    let lookup = move |_: &str, _: u16| match lookups.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(vec![unassigned]),
        _ => Ok(vec![at]),
    };
    let impatient = SenderOptions {
        timeout: SHORT,
        ..public_only()
    };
    let sender = Sender::with_lookup(&impatient, Arc::new(lookup)).expect("options that work");
    let url = allowing_private("https://receiver.example/");
    let outside = send(&sender, &url);
    assert_ne!(outside, Outcome::Failed(FailureKind::AddressNotAllowed));
    // On a busy machine the lookup may take longer than the timeout.
    let timed_out = Outcome::Failed(FailureKind::TimedOut);
    let mut outcomes = (0..100).map(|_| send(&sender, &url));
    let inside = outcomes.find(|outcome| *outcome != timed_out);
    assert_eq!(inside, Some(Outcome::Failed(FailureKind::AddressNotAllowed)));
    receiver.assert_untouched();
}

#[test]
fn a_name_without_address_is_not_resolved() {
    let unknown = |_: &str, _: u16| Err(io::Error::other("no such name"));
    let sender = Sender::with_lookup(&options(LONG), Arc::new(unknown)).expect("options that work");
    let outcome = send(&sender, &allowing_private("https://receiver.example/"));
    assert_eq!(outcome, Outcome::Failed(FailureKind::NameNotResolved));
}

#[test]
fn a_lookup_that_hangs_ends_with_the_timeout() {
    let (hold, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let hanging = move |_: &str, _: u16| {
        // Blocks until the test drops the sending half.
        let ended = held.lock().map(|held| held.recv());
        Err(io::Error::other(format!("{ended:?}")))
    };
    let sender = Sender::with_lookup(&options(SHORT), Arc::new(hanging)).expect("options that work");
    let outcome = send(&sender, &allowing_private("https://receiver.example/"));
    assert_eq!(outcome, Outcome::Failed(FailureKind::TimedOut));
    drop(hold);
}
