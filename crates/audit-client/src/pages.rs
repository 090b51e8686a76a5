//! Lists that come page by page.

use crate::client::Client;
use crate::error::Error;
use crate::transport::Call;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Parameters of a query, of which those that are set are sent.
pub(crate) type Params = Vec<(Cow<'static, str>, String)>;

/// The path with its query.
pub(crate) fn with_query<'a>(path: &str, params: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = path.to_owned();
    for (name, value) in params {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.push_str(name);
        text.push('=');
        for byte in value.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    text
}

/// One step of a path. An id with other characters would name another path.
pub(crate) fn segment(text: &str) -> Result<&str, Error> {
    let is_id = |text: &str| {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_safe)
    };
    if is_id(text) {
        Ok(text)
    } else {
        Err(Error::argument("id", format!("{text:?} is not an id")))
    }
}

/// The entries of a list, page by page as they are asked for. Ends after an error.
#[derive(Debug)]
#[must_use]
pub struct Pages {
    client: Client,
    path: String,
    /// The member of a page that has the entries.
    entries: &'static str,
    params: Params,
    ready: VecDeque<Map<String, Value>>,
    /// `None` after the last page.
    next: Option<Cursor>,
}

#[derive(Debug)]
enum Cursor {
    First,
    At(String),
}

impl Pages {
    pub(crate) fn new(
        client: &Client,
        path: impl Into<String>,
        entries: &'static str,
        params: Params,
    ) -> Self {
        Self {
            client: client.clone(),
            path: path.into(),
            entries,
            params,
            ready: VecDeque::new(),
            next: Some(Cursor::First),
        }
    }

    fn read(&mut self, cursor: &Cursor) -> Result<(), Error> {
        let params = self
            .params
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_str()));
        let cursor = match cursor {
            Cursor::First => None,
            Cursor::At(cursor) => Some(("cursor", cursor.as_str())),
        };
        let call = Call::new(
            "GET",
            self.client
                .in_environment(&with_query(&self.path, params.chain(cursor))),
        );
        let page = self.client.shared.transport.json(&call)?;
        self.ready = objects(&page, self.entries)?;
        self.next = page["cursor"]
            .as_str()
            .map(|cursor| Cursor::At(cursor.to_owned()));
        Ok(())
    }
}

impl Iterator for Pages {
    type Item = Result<Map<String, Value>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            let cursor = self.next.take()?;
            if let Err(error) = self.read(&cursor) {
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// The objects of the list with this name.
pub(crate) fn objects(response: &Value, name: &str) -> Result<VecDeque<Map<String, Value>>, Error> {
    let unreadable = || Error::network(format!("the response has no list of objects {name}"));
    let entries = response[name].as_array().ok_or_else(unreadable)?;
    let entries = entries
        .iter()
        .map(|entry| entry.as_object().cloned().ok_or_else(unreadable));
    entries.collect()
}

impl Client {
    /// The path, with the environment for master keys.
    pub(crate) fn in_environment(&self, path: &str) -> String {
        let environment = self
            .shared
            .environment
            .map(|environment| ("environment", environment.as_str()));
        with_query(path, environment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_query_are_escaped() {
        assert_eq!(with_query("/events", []), "/events");
        assert_eq!(
            with_query("/events?a=1", [("search", "ü &=*")]),
            "/events?a=1&search=%C3%BC%20%26%3D%2A"
        );
    }

    #[test]
    fn an_id_is_one_step_of_a_path() {
        assert!(segment("evt_01-A.b").is_ok());
        for text in ["", ".", "..", "a/b", "a?b", "a%2Fb", "ü"] {
            assert!(segment(text).is_err(), "{text}");
        }
    }
}
