//! One connection that asks and waits.

use super::answer::{self, Answer};
use anyhow::{Context, bail};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const ANSWER_SECONDS_MAX: u64 = 60;
const READ_BYTES: usize = 65_536;

/// Asks one thing after another over one connection that is kept, mostly for pages of events.
#[derive(Debug)]
pub(crate) struct PageReader {
    stream: TcpStream,
    headers: String,
    request: Vec<u8>,
    answer: Vec<u8>,
    buffer: Vec<u8>,
}

impl PageReader {
    pub(crate) fn connect(address: SocketAddr, project_key: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(ANSWER_SECONDS_MAX)))?;
        Ok(Self {
            stream,
            headers: format!(" HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {project_key}\r\n"),
            request: Vec::new(),
            answer: Vec::new(),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// The body of the answer to `GET target`, and how long it took. Any status but 200 is an error.
    pub(crate) fn get(&mut self, target: &str) -> anyhow::Result<(&[u8], Duration)> {
        self.ask(["GET ", target], "\r\n", 200)
    }

    /// The body of the answer to `POST target` with this JSON. Any status but 201 is an error.
    pub(crate) fn post(&mut self, target: &str, json: &str) -> anyhow::Result<&[u8]> {
        let rest = format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}",
            json.len()
        );
        Ok(self.ask(["POST ", target], &rest, 201)?.0)
    }

    fn ask(&mut self, line: [&str; 2], rest: &str, expected: u16) -> anyhow::Result<(&[u8], Duration)> {
        self.request.clear();
        self.answer.clear();
        for part in [line[0], line[1], &self.headers, rest] {
            self.request.extend_from_slice(part.as_bytes());
        }
        let asked = Instant::now();
        self.stream.write_all(&self.request)?;
        let answer = self
            .receive()
            .with_context(|| format!("no answer to {}", line.concat()))?;
        let took = asked.elapsed();
        let body = answer.body(&self.answer);
        if answer.status != expected {
            let text = String::from_utf8_lossy(body);
            bail!("answer {} to {}: {text}", answer.status, line.concat());
        }
        Ok((body, took))
    }

    fn receive(&mut self) -> anyhow::Result<Answer> {
        loop {
            let bytes = self.stream.read(&mut self.buffer)?;
            if bytes == 0 {
                bail!("the service closed the connection");
            }
            self.answer.extend_from_slice(&self.buffer[..bytes]);
            if let Some(answer) = answer::parse(&self.answer)?
                && self.answer.len() >= answer.bytes()
            {
                return Ok(answer);
            }
        }
    }
}

/// The events on a page.
pub(crate) fn events_of(page: &[u8]) -> u32 {
    answer::count(page, b"\"content_hash\":") as u32
}

/// The cursor of the next page; none on the last.
pub(super) fn cursor_of(page: &[u8]) -> anyhow::Result<Option<String>> {
    #[derive(serde::Deserialize)]
    struct Page {
        cursor: Option<String>,
    }
    let page: Page = serde_json::from_slice(page).context("a page of events cannot be read")?;
    Ok(page.cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_and_the_number_of_events_are_read_from_a_page() {
        let page = br#"{"events":[{"content_hash":"sha256:00"},{"content_hash":"sha256:01"}],"cursor":"AQ","has_more":true}"#;
        assert_eq!(events_of(page), 2);
        assert_eq!(cursor_of(page).unwrap().as_deref(), Some("AQ"));
        let last = br#"{"events":[],"cursor":null,"has_more":false}"#;
        assert_eq!(events_of(last), 0);
        assert_eq!(cursor_of(last).unwrap(), None);
    }
}
