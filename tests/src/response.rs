//! Responses of the server. The conventions of every JSON response are checked when it is read.

use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Index;
use ureq::Body;
use ureq::http::{self, HeaderMap};

/// Status, headers and bytes.
#[derive(Debug)]
pub struct RawResponse {
    /// The status code.
    pub status: u16,
    headers: HeaderMap,
    /// The body.
    pub bytes: Vec<u8>,
}

impl RawResponse {
    pub(crate) fn read(response: http::Response<Body>) -> Result<Self, ureq::Error> {
        let (parts, body) = response.into_parts();
        let bytes = body.into_with_config().limit(64 << 20).read_to_vec()?;
        Ok(Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            bytes,
        })
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a header in ASCII"))
    }

    /// Whether its content type is JSON.
    pub fn is_json(&self) -> bool {
        let content_type = self.header("content-type");
        content_type.is_some_and(|content_type| content_type.starts_with("application/json"))
    }

    /// The names of all headers, in lower case.
    pub fn header_names(&self) -> BTreeSet<&str> {
        self.headers.keys().map(ureq::http::HeaderName::as_str).collect()
    }
}

/// A JSON response with a checked `request_id`. Index it with the name of a member.
#[derive(Debug)]
pub struct Response {
    /// Status and headers.
    pub raw: RawResponse,
    body: Value,
}

impl Response {
    /// Reads it, and checks the conventions of every JSON response.
    pub fn check(raw: RawResponse) -> Self {
        assert!(raw.is_json(), "{raw:?}");
        let text = String::from_utf8_lossy(&raw.bytes);
        let body: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text:?}"));
        let id = body["request_id"]
            .as_str()
            .unwrap_or_else(|| panic!("no request_id in {text}"));
        assert!(id.len() > "req_".len() && id.starts_with("req_"), "{id:?}");
        assert_eq!(
            raw.header("x-request-id"),
            Some(id),
            "the header repeats the body"
        );
        Self { raw, body }
    }

    /// The status code.
    pub fn status(&self) -> u16 {
        self.raw.status
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.raw.header(name)
    }

    /// The whole body.
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Asserts the status.
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status(), status, "{}", self.body);
        self
    }

    /// Asserts status and code of an error, and that the error has the documented shape.
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status(), self.code()), (status, code), "{}", self.body);
        let message = self.body["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "an error has a message: {}", self.body);
        self
    }

    /// Asserts a validation error on exactly these fields, in any order.
    pub fn expect_invalid(self, fields: &[&str]) -> Self {
        let response = self.expect_error(400, "validation_error");
        let expected: BTreeSet<&str> = fields.iter().copied().collect();
        assert_eq!(response.fields(), expected, "{}", response.body);
        response
    }

    /// `error.code`; empty in a success.
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// The fields named by `error.details`.
    pub fn fields(&self) -> BTreeSet<&str> {
        let details = self.body["error"]["details"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        details
            .iter()
            .map(|detail| detail["field"].as_str().expect("a detail names its field"))
            .collect()
    }

    /// The message of `error.details` about `field`.
    pub fn message_on(&self, field: &str) -> &str {
        let details = self.body["error"]["details"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let detail = details.iter().find(|detail| detail["field"] == field);
        let detail = detail.unwrap_or_else(|| panic!("nothing on {field}: {}", self.body));
        detail["message"].as_str().expect("a detail has a message")
    }

    /// `ids` of an ingest response.
    pub fn ids(&self) -> Vec<String> {
        let ids = self.list("ids");
        ids.iter()
            .map(|id| id.as_str().expect("an id is a string").to_owned())
            .collect()
    }

    /// An array of the body.
    pub fn list(&self, member: &str) -> Vec<Value> {
        self.body[member]
            .as_array()
            .unwrap_or_else(|| panic!("no array {member} in {}", self.body))
            .clone()
    }

    /// A string of the body.
    pub fn text(&self, member: &str) -> String {
        self.body[member]
            .as_str()
            .unwrap_or_else(|| panic!("no string {member} in {}", self.body))
            .to_owned()
    }
}

impl Index<&str> for Response {
    type Output = Value;

    fn index(&self, member: &str) -> &Value {
        &self.body[member]
    }
}
