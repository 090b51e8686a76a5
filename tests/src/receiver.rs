//! The receiver of webhooks: a real HTTPS server on the loopback interface, which records requests and sends the
//! responses that a test chooses.

mod connection;

use crate::authority::authority;
use crate::edge::Deadline;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

/// More than any test waits for. The longest is the lease of a killed node, 30 seconds.
const WAIT_SECONDS_MAX: u64 = 90;

/// A receiver's reaction to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with this status and no body.
    Status(u16),
    /// The same with a header.
    Header(u16, &'static str, String),
    /// Sends no response while the client waits.
    Stall,
    /// Sends one byte of the headers at a time, without end, and often enough to keep the connection alive.
    Drip,
    /// Closes the connection.
    Drop,
    /// Answers 200 with a body that ends when the client goes.
    EndlessBody,
}

/// A complete request.
#[derive(Clone, Debug)]
pub struct Received {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// As sent.
    pub body: String,
    /// When its last byte arrived.
    pub arrived_at: Instant,
}

impl Received {
    /// The value of a header that occurs exactly once.
    pub fn header(&self, name: &str) -> &str {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        let value = values.next().unwrap_or_else(|| panic!("no {name} in {self:?}"));
        assert!(values.next().is_none(), "{name} is there twice in {self:?}");
        &value.1
    }

    /// The body.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// `webhook-id`.
    pub fn message_id(&self) -> &str {
        self.header("webhook-id")
    }
}

/// An HTTPS server for webhooks. It responds with 200 unless a test chooses otherwise.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    deaf: Option<TcpListener>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    connections: usize,
    requests: Vec<Received>,
    replies: HashMap<String, VecDeque<Reply>>,
    /// The paths of endless responses that the client has given up.
    given_up: Vec<String>,
    is_closed: bool,
}

impl Receiver {
    /// A new one on a port of its own.
    pub fn start() -> Self {
        let mut receiver = Self::deaf();
        receiver.listen();
        receiver
    }

    /// One that accepts connections but sends nothing on them until [`Self::listen`].
    pub fn deaf() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen on a free port");
        Self {
            address: listener.local_addr().expect("the address of a listener"),
            deaf: Some(listener),
            shared: Arc::default(),
        }
    }

    /// Starts to respond.
    pub fn listen(&mut self) {
        let listener = self.deaf.take().expect("listen is called once");
        let shared = Arc::clone(&self.shared);
        let tls = Arc::clone(&authority().tls);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("accept a connection");
                if shared.lock().is_closed {
                    return;
                }
                shared.update(|state| state.connections += 1);
                let (shared, tls) = (Arc::clone(&shared), Arc::clone(&tls));
                thread::spawn(move || connection::serve(&shared, tls, stream));
            }
        });
    }

    /// `https://127.0.0.1:PORT` and this path.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// The same with another host, which may be a name.
    pub fn url_on(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.address.port())
    }

    /// Sets the replies to requests on `path`: each is sent once, the last one repeatedly.
    pub fn reply(&self, path: &str, replies: impl IntoIterator<Item = Reply>) {
        let replies: VecDeque<Reply> = replies.into_iter().collect();
        assert!(!replies.is_empty(), "there is always a last reply");
        self.shared.update(|state| {
            state.replies.insert(path.to_owned(), replies);
        });
    }

    /// Waits for `count` requests on `path` and returns all that have arrived there, in their order.
    pub fn wait_for(&self, path: &str, count: usize) -> Vec<Received> {
        let of_path = |state: &State| -> Vec<Received> {
            let requests = state.requests.iter().filter(|request| request.path == path);
            requests.cloned().collect()
        };
        let found = self.shared.wait(|state| {
            let requests = of_path(state);
            (requests.len() >= count).then_some(requests)
        });
        found.unwrap_or_else(|state| panic!("{count} requests on {path} have not arrived; {state:?}"))
    }

    /// Waits for the first request on `path`.
    pub fn first(&self, path: &str) -> Received {
        self.wait_for(path, 1).swap_remove(0)
    }

    /// The requests that have arrived on `path` so far.
    pub fn received(&self, path: &str) -> Vec<Received> {
        let state = self.shared.lock();
        let requests = state.requests.iter().filter(|request| request.path == path);
        requests.cloned().collect()
    }

    /// How many connections were made so far, with or without a request on them.
    pub fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    /// How many endless responses on `path` the client has given up.
    pub fn given_up(&self, path: &str) -> usize {
        let state = self.shared.lock();
        state.given_up.iter().filter(|given_up| *given_up == path).count()
    }

    /// Waits until the client has given up an endless response on `path`.
    pub fn wait_until_given_up(&self, path: &str) {
        let found = self.shared.wait(|state| {
            let is_left = state.given_up.iter().any(|given_up| given_up == path);
            is_left.then_some(())
        });
        found.unwrap_or_else(|state| panic!("{path} is still being read; {state:?}"));
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.update(|state| state.is_closed = true);
        // Wakes the thread that accepts connections, so that it notices the shutdown.
        if self.deaf.is_none() {
            drop(TcpStream::connect(self.address));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("the lock of a receiver is never poisoned")
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until `find` finds something. The error is a summary of the recorded state.
    fn wait<T>(&self, find: impl Fn(&State) -> Option<T>) -> Result<T, String> {
        let deadline = Deadline::seconds(WAIT_SECONDS_MAX);
        let mut state = self.lock();
        loop {
            if let Some(found) = find(&state) {
                return Ok(found);
            }
            let Some(left) = deadline.left() else {
                let paths: Vec<_> = state.requests.iter().map(|request| &request.path).collect();
                return Err(format!(
                    "{} connections, requests on {paths:?}",
                    state.connections
                ));
            };
            state = self
                .changed
                .wait_timeout(state, left)
                .expect("the lock is never poisoned")
                .0;
        }
    }

    /// The reaction to a request on `path`.
    fn next_reply(&self, path: &str) -> Reply {
        let mut state = self.lock();
        let Some(replies) = state.replies.get_mut(path) else {
            return Reply::Status(200);
        };
        let reply = replies.front().cloned().expect("there is always a last reply");
        if replies.len() > 1 {
            replies.pop_front();
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ureq::Agent;
    use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

    fn agent() -> Agent {
        let pem = std::fs::read(&authority().file).unwrap();
        let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        let tls = TlsConfig::builder().root_certs(RootCerts::from(certificates));
        Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(tls.build())
            .build()
            .new_agent()
    }

    #[test]
    fn a_receiver_records_what_it_is_sent_and_answers_as_it_is_told() {
        let receiver = Receiver::start();
        receiver.reply(
            "/hook?a=b",
            [
                Reply::Status(500),
                Reply::Header(429, "retry-after", "7".to_owned()),
                Reply::Drop,
                Reply::Status(204),
            ],
        );
        let send = || {
            agent()
                .post(receiver.url("/hook?a=b"))
                .header("X-A", "b")
                .send("{}")
        };
        assert_eq!(send().unwrap().status(), 500);
        let limited = send().unwrap();
        assert_eq!(
            (limited.status().as_u16(), &limited.headers()["retry-after"]),
            (429, &"7".parse().unwrap())
        );
        send().unwrap_err();
        assert_eq!(send().unwrap().status(), 204);
        assert_eq!(send().unwrap().status(), 204, "the last reply stays");
        let requests = receiver.wait_for("/hook?a=b", 5);
        assert_eq!(requests[0].method, "POST");
        assert_eq!(requests[0].header("x-a"), "b");
        assert_eq!(requests[0].json(), serde_json::json!({}));
        assert!(requests.is_sorted_by_key(|request| request.arrived_at));
        assert_eq!(receiver.connections(), 5);
        let other = agent()
            .get(receiver.url_on("localhost", "/other"))
            .call()
            .unwrap();
        assert_eq!(other.status(), 200);
        assert_eq!(receiver.first("/other").method, "GET");
    }

    #[test]
    fn a_client_that_does_not_know_the_authority_does_not_get_through() {
        let receiver = Receiver::start();
        let stranger = Agent::new_with_defaults();
        stranger.get(receiver.url("/hook")).call().unwrap_err();
        assert_eq!(receiver.received("/hook").len(), 0);
    }

    #[test]
    fn an_endless_response_ends_when_the_client_goes() {
        let receiver = Receiver::start();
        receiver.reply("/endless", [Reply::EndlessBody]);
        let response = agent().get(receiver.url("/endless")).call().unwrap();
        assert_eq!(response.status(), 200);
        drop(response);
        receiver.wait_until_given_up("/endless");
    }
}
