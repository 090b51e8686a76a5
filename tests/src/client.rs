//! A client that checks the conventions of the interface on every response.

use crate::authority::authority;
use crate::live::{EventStream, Live};
use crate::response::{RawResponse, Response};
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;
use ureq::http::Method;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// More than any response takes, even with a thousand concurrent clients.
const RESPONSE_SECONDS_MAX: u64 = 120;

/// Talks to one server, with or without a credential. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    base_url: String,
    headers: Vec<(String, String)>,
}

impl Client {
    /// A client of a server, without a credential.
    pub fn new(base_url: &str) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(RESPONSE_SECONDS_MAX)));
        if base_url.starts_with("https:") {
            let root = Certificate::from_pem(authority().pem().as_bytes()).expect("a certificate");
            let roots = RootCerts::new_with_certs(&[root]);
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let agent = config.build().new_agent();
        Self {
            agent,
            base_url: base_url.to_owned(),
            headers: Vec::new(),
        }
    }

    /// The same client of another place of the server: `http://127.0.0.1:PORT`, `https://localhost:PORT`.
    pub fn at(&self, base_url: &str) -> Self {
        Self {
            headers: self.headers.clone(),
            ..Self::new(base_url)
        }
    }

    /// The address of the service, for clients of other kinds.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The same client with connections of its own.
    pub fn with_own_connections(&self) -> Self {
        Self {
            headers: self.headers.clone(),
            ..Self::new(&self.base_url)
        }
    }

    /// The same client with this header on every request.
    pub fn with_header(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// The same client with this key or token.
    pub fn with_credential(&self, credential: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {credential}"))
    }

    /// Any method, on a path from the root: `/healthz`, `/api/v1/events`.
    pub fn request(&self, method: &str, path: &str) -> Request {
        Request {
            agent: self.agent.clone(),
            method: method.parse().expect("a method"),
            url: format!("{}{path}", self.base_url),
            headers: self.headers.clone(),
            body: None,
        }
    }

    /// On a path below `/api/v1`, as in the interface.
    pub fn get(&self, path: &str) -> Request {
        self.request("GET", &format!("/api/v1{path}"))
    }

    /// On a path below `/api/v1`.
    pub fn post(&self, path: &str) -> Request {
        self.request("POST", &format!("/api/v1{path}"))
    }

    /// On a path below `/api/v1`.
    pub fn put(&self, path: &str) -> Request {
        self.request("PUT", &format!("/api/v1{path}"))
    }

    /// On a path below `/api/v1`.
    pub fn patch(&self, path: &str) -> Request {
        self.request("PATCH", &format!("/api/v1{path}"))
    }

    /// On a path below `/api/v1`.
    pub fn delete(&self, path: &str) -> Request {
        self.request("DELETE", &format!("/api/v1{path}"))
    }

    /// Stores one event and returns its id.
    pub fn store(&self, event: impl Into<Value>) -> String {
        let response = self.post("/events").json(event.into()).send().expect_status(201);
        let ids = response.ids();
        assert_eq!(ids.len(), 1, "{response:?}");
        ids[0].clone()
    }

    /// Stores a batch, all of which must be accepted, and returns the ids.
    pub fn store_all(&self, events: Vec<Value>) -> Vec<String> {
        let count = events.len();
        let response = self
            .post("/events")
            .json(Value::Array(events))
            .send()
            .expect_status(201);
        let ids = response.ids();
        assert_eq!(ids.len(), count, "{response:?}");
        ids
    }

    /// One event, in full.
    pub fn event(&self, id: &str) -> Value {
        self.get(&format!("/events/{id}")).send().expect_status(200)["event"].clone()
    }

    /// The object at a path; `member` of the response holds it.
    pub fn one(&self, path: &str, member: &str) -> Value {
        self.get(path).send().expect_status(200)[member].clone()
    }

    /// The first page of the events that match these parameters.
    pub fn find(&self, parameters: &[(&str, &str)]) -> Vec<Value> {
        self.get("/events")
            .queries(parameters)
            .send()
            .expect_status(200)
            .list("events")
    }

    /// The ids on that page.
    pub fn find_ids(&self, parameters: &[(&str, &str)]) -> Vec<String> {
        ids_of(&self.find(parameters))
    }

    /// Every page of the events that match, in order.
    pub fn pages(&self, parameters: &[(&str, &str)]) -> Vec<Vec<Value>> {
        self.pages_of("/events", "events", parameters)
    }

    /// Every page of a list with a cursor; `member` holds it in each response.
    pub fn pages_of(&self, path: &str, member: &str, parameters: &[(&str, &str)]) -> Vec<Vec<Value>> {
        let mut pages = Vec::new();
        let mut cursor = None::<String>;
        loop {
            let mut request = self.get(path).queries(parameters);
            if let Some(cursor) = &cursor {
                request = request.query("cursor", cursor);
            }
            let response = request.send().expect_status(200);
            pages.push(response.list(member));
            cursor = response["cursor"].as_str().map(str::to_owned);
            assert_eq!(
                response["has_more"],
                json!(cursor.is_some()),
                "a cursor leads to more: {response:?}"
            );
            if cursor.is_none() {
                return pages;
            }
        }
    }

    /// The total number of events.
    pub fn count(&self) -> usize {
        self.pages(&[("limit", "200")]).iter().map(Vec::len).sum()
    }
}

fn ids_of(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .map(|event| event["id"].as_str().expect("an event has an id").to_owned())
        .collect()
}

/// A request under construction.
#[must_use]
#[derive(Clone, Debug)]
pub struct Request {
    agent: Agent,
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    /// Adds a query parameter.
    pub fn query(mut self, name: &str, value: &str) -> Self {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        self.url = format!("{}{separator}{name}={}", self.url, percent_encoded(value));
        self
    }

    /// Adds query parameters.
    pub fn queries(self, parameters: &[(&str, &str)]) -> Self {
        parameters
            .iter()
            .fold(self, |request, (name, value)| request.query(name, value))
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A JSON body with its content type.
    pub fn json(self, body: Value) -> Self {
        self.header("content-type", "application/json")
            .raw(body.to_string())
    }

    /// Any bytes with the content type of JSON.
    pub fn raw_json(self, body: impl Into<Vec<u8>>) -> Self {
        self.header("content-type", "application/json").raw(body)
    }

    /// Any bytes without a content type.
    pub fn raw(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Sends it and checks the conventions of every JSON response.
    pub fn send(self) -> Response {
        let what = format!("{} {}", self.method, self.url);
        self.try_send().unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// The same, but a connection that fails (because the server was killed) is an error, not a panic.
    ///
    /// # Errors
    /// When there is no complete response.
    pub fn try_send(self) -> Result<Response, ureq::Error> {
        Ok(Response::check(self.try_send_raw()?))
    }

    /// For responses without JSON: metrics and preflights.
    pub fn send_raw(self) -> RawResponse {
        self.try_send_raw().expect("an answer")
    }

    /// For a response that is read while it arrives. Uses a connection of its own.
    pub fn open(self) -> Live {
        let opened = Live::open(self.method.as_str(), &self.url, &self.headers);
        opened.expect("the head of an answer")
    }

    /// For server-sent events.
    pub fn open_events(self) -> EventStream {
        self.try_open_events().expect("the head of an answer")
    }

    /// The same, but a connection that fails is an error, not a panic.
    ///
    /// # Errors
    /// When the head of the response does not arrive.
    pub fn try_open_events(self) -> std::io::Result<EventStream> {
        let request = self.header("accept", "text/event-stream");
        Live::open(request.method.as_str(), &request.url, &request.headers).map(EventStream::new)
    }

    fn try_send_raw(self) -> Result<RawResponse, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(self.method.clone())
            .uri(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let has_body = matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        let response = match self.body.or(has_body.then(Vec::new)) {
            Some(body) => self.agent.run(request.body(body).expect("a valid request"))?,
            None => self.agent.run(request.body(()).expect("a valid request"))?,
        };
        RawResponse::read(response)
    }
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
