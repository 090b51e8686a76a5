//! A blocking HTTP client over one connection.

use super::response::{self, Response};
use anyhow::{Context, bail};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const RESPONSE_SECONDS_MAX: u64 = 60;
const READ_BYTES: usize = 65_536;

/// Sends one request after another over a persistent connection. Its buffers are reused.
#[derive(Debug)]
pub(crate) struct HttpClient {
    stream: TcpStream,
    headers: String,
    request: Vec<u8>,
    response: Vec<u8>,
    buffer: Vec<u8>,
}

impl HttpClient {
    pub(crate) fn connect(address: SocketAddr, project_key: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(RESPONSE_SECONDS_MAX)))?;
        Ok(Self {
            stream,
            headers: format!(" HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {project_key}\r\n"),
            request: Vec::new(),
            response: Vec::new(),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// The response body of `GET target` and the response time. Any status but 200 is an error.
    pub(crate) fn get(&mut self, target: &str) -> anyhow::Result<(&[u8], Duration)> {
        let (_, body, took) = self.exchange(["GET ", target], "\r\n", &[200])?;
        Ok((body, took))
    }

    /// The response body of `POST target` with a JSON body. Any status but 201 is an error.
    pub(crate) fn post(&mut self, target: &str, json: &str) -> anyhow::Result<&[u8]> {
        let rest = post_headers(json);
        Ok(self.exchange(["POST ", target], &rest, &[201])?.1)
    }

    /// Status and body of the response to `POST target` with a JSON body. Any status but 201 and 503 is an error.
    pub(crate) fn try_post(&mut self, target: &str, json: &str) -> anyhow::Result<(u16, &[u8])> {
        let rest = post_headers(json);
        let (status, body, _) = self.exchange(["POST ", target], &rest, &[201, 503])?;
        Ok((status, body))
    }

    /// Status, body and response time. Any status that is not in `expected` is an error.
    fn exchange(
        &mut self,
        line: [&str; 2],
        rest: &str,
        expected: &[u16],
    ) -> anyhow::Result<(u16, &[u8], Duration)> {
        self.request.clear();
        self.response.clear();
        for part in [line[0], line[1], &self.headers, rest] {
            self.request.extend_from_slice(part.as_bytes());
        }
        let sent = Instant::now();
        self.stream.write_all(&self.request)?;
        let response = self
            .receive()
            .with_context(|| format!("no response to {}", line.concat()))?;
        let took = sent.elapsed();
        let body = response.body(&self.response);
        if !expected.contains(&response.status) {
            let text = String::from_utf8_lossy(body);
            bail!(
                "status {} in response to {}: {text}",
                response.status,
                line.concat()
            );
        }
        Ok((response.status, body, took))
    }

    fn receive(&mut self) -> anyhow::Result<Response> {
        loop {
            let bytes = self.stream.read(&mut self.buffer)?;
            if bytes == 0 {
                bail!("the service closed the connection");
            }
            self.response.extend_from_slice(&self.buffer[..bytes]);
            if let Some(response) = response::parse(&self.response)?
                && self.response.len() >= response.bytes()
            {
                return Ok(response);
            }
        }
    }
}

/// The remaining headers of a request, and its JSON body.
fn post_headers(json: &str) -> String {
    format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}",
        json.len()
    )
}

/// The number of events on a page.
pub(crate) fn events_on_page(page: &[u8]) -> u32 {
    response::count(page, b"\"content_hash\":") as u32
}

/// The cursor of the next page; none on the last.
pub(super) fn cursor_of(page: &[u8]) -> anyhow::Result<Option<String>> {
    #[derive(serde::Deserialize)]
    struct Page {
        cursor: Option<String>,
    }
    let page: Page = serde_json::from_slice(page).context("malformed page of events")?;
    Ok(page.cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gives_its_cursor_and_number_of_events() {
        let page = br#"{"events":[{"content_hash":"sha256:00"},{"content_hash":"sha256:01"}],"cursor":"AQ","has_more":true}"#;
        assert_eq!(events_on_page(page), 2);
        assert_eq!(cursor_of(page).unwrap().as_deref(), Some("AQ"));
        let last = br#"{"events":[],"cursor":null,"has_more":false}"#;
        assert_eq!(events_on_page(last), 0);
        assert_eq!(cursor_of(last).unwrap(), None);
    }
}
