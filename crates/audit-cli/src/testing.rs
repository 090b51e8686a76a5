//! For tests of what uses a [`Client`]: a client that does not sleep, and a server that sends given responses.

use crate::client::Client;
use crate::retry::Retries;
use audit_domain::{Entropy, Timestamp};
use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The time of the client: 2026-01-01T00:00:00Z.
pub const NOW: Timestamp = Timestamp::from_seconds(1_767_225_600);

struct Seed(u8);

impl Entropy for Seed {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

/// Retries that record their pauses instead of sleeping.
pub(crate) fn recorded(seed: u8) -> (Retries, Rc<RefCell<Vec<Duration>>>) {
    let pauses = Rc::new(RefCell::new(Vec::new()));
    let recorder = Rc::clone(&pauses);
    let retries = Retries {
        clock: Box::new(NOW),
        entropy: Box::new(Seed(seed)),
        sleep: Box::new(move |pause| recorder.borrow_mut().push(pause)),
    };
    (retries, pauses)
}

/// A client that records its pauses instead of sleeping.
pub fn client() -> (Client, Rc<RefCell<Vec<Duration>>>) {
    let (retries, pauses) = recorded(1);
    (Client::with_retries(retries), pauses)
}

/// A server on `http://` + the returned address that sends each of `responses` once, on a connection of its own. It returns the
/// request bodies.
///
/// # Panics
/// When it cannot listen. The thread panics when a request cannot be read.
pub fn stub(responses: Vec<&'static str>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address").to_string();
    let serve = move || {
        let mut bodies = Vec::new();
        for response in responses {
            bodies.push(respond(&listener, response).expect("a whole request"));
        }
        bodies
    };
    (address, std::thread::spawn(serve))
}

fn respond(listener: &TcpListener, response: &str) -> io::Result<String> {
    let (mut stream, _) = listener.accept()?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    stream.write_all(response.as_bytes())?;
    String::from_utf8(body).map_err(io::Error::other)
}
