//! Responses that are read while they arrive: streams of events, and bodies of any length.

use crate::edge::Deadline;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A response of which the head has been read. The body is read only on request.
#[derive(Debug)]
pub struct Live {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    stream: TcpStream,
    /// Received bytes before decoding: less than a chunk.
    raw: Vec<u8>,
    /// Decoded bytes that the test has not read.
    body: Vec<u8>,
    is_ended: bool,
    is_closed: bool,
}

/// The next part of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A line, without its end.
    Line(String),
    /// Nothing until the deadline.
    Nothing,
    /// The final chunk: the response is complete.
    End,
    /// The connection ended without the final chunk.
    BrokenOff,
}

impl Live {
    /// Sends a request over a connection of its own and reads the head of the response.
    pub(crate) fn open(method: &str, url: &str, headers: &[(String, String)]) -> io::Result<Self> {
        let address_and_path = url.strip_prefix("http://").expect("a server of plain HTTP");
        let (address, path) = address_and_path.split_once('/').expect("a path");
        let mut stream = TcpStream::connect(address)?;
        let mut request = format!("{method} /{path} HTTP/1.1\r\nhost: {address}\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes())?;
        Self::read_head(stream)
    }

    fn read_head(mut stream: TcpStream) -> io::Result<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("a head in ASCII");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let live = Self {
            status: status.and_then(|text| text.parse().ok()).expect("a status"),
            headers: headers.collect(),
            stream,
            raw: Vec::new(),
            body: Vec::new(),
            is_ended: false,
            is_closed: false,
        };
        let coding = live.header("transfer-encoding");
        assert_eq!(
            coding,
            Some("chunked"),
            "only a chunked body has an end that can be checked: {head}"
        );
        Ok(live)
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
    }

    /// The next line.
    pub fn next_line(&mut self, deadline: Deadline) -> Next {
        loop {
            if let Some(end) = self.body.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.body.drain(..=end).collect();
                let line = String::from_utf8(line).expect("a body in UTF-8");
                return Next::Line(line.trim_end_matches(['\r', '\n']).to_owned());
            }
            if self.is_ended {
                assert!(self.body.is_empty(), "the last line has an end");
                return Next::End;
            }
            if self.is_closed {
                return Next::BrokenOff;
            }
            let Some(left) = deadline.left() else {
                return Next::Nothing;
            };
            self.receive(left);
        }
    }

    /// The rest of the body, and how it ended.
    pub fn rest(mut self, deadline: Deadline) -> (Vec<u8>, Next) {
        while !self.is_ended && !self.is_closed {
            let Some(left) = deadline.left() else {
                return (self.body, Next::Nothing);
            };
            self.receive(left);
        }
        let end = if self.is_ended { Next::End } else { Next::BrokenOff };
        (self.body, end)
    }

    /// Reads data that has arrived, or waits for more.
    fn receive(&mut self, patience: Duration) {
        self.stream
            .set_read_timeout(Some(patience.max(Duration::from_millis(1))))
            .expect("set a timeout");
        let mut buffer = vec![0; 64 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.is_closed = true,
            Ok(length) => self.raw.extend_from_slice(&buffer[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => self.is_closed = true,
        }
        let mut decoded = 0;
        while let Some((content, end)) = chunk(&self.raw[decoded..]) {
            self.is_ended = content.is_empty();
            self.body.extend_from_slice(content);
            decoded += end;
        }
        self.raw.drain(..decoded);
    }
}

/// The content of the first chunk, if it is complete, and where it ends (RFC 9112 section 7.1).
fn chunk(raw: &[u8]) -> Option<(&[u8], usize)> {
    let line_end = raw.windows(2).position(|pair| pair == b"\r\n")?;
    let size = std::str::from_utf8(&raw[..line_end]).expect("the size of a chunk");
    let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
    let (start, end) = (line_end + 2, line_end + 2 + size);
    (raw.len() >= end + 2).then(|| (&raw[start..end], end + 2))
}

/// A stream of server-sent events, read as the HTML standard says.
#[derive(Debug)]
pub struct EventStream {
    live: Live,
    /// The `Last-Event-ID` of a reconnect.
    pub last_event_id: String,
    /// The reconnection time of the stream, in milliseconds.
    pub retry_ms: Option<u64>,
    id: String,
    event: String,
    data: Vec<String>,
}

/// A server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentEvent {
    /// The last id that was sent with or before it.
    pub id: String,
    /// Its kind.
    pub event: String,
    /// Its text.
    pub data: String,
}

impl EventStream {
    pub(crate) fn new(live: Live) -> Self {
        assert_eq!(live.status, 200, "{live:?}");
        assert_eq!(live.header("content-type"), Some("text/event-stream"));
        Self {
            live,
            last_event_id: String::new(),
            retry_ms: None,
            id: String::new(),
            event: String::new(),
            data: Vec::new(),
        }
    }

    /// The next event, or the reason for the end of the wait.
    ///
    /// # Errors
    /// Nothing until the deadline, the end, or a broken connection.
    pub fn next(&mut self, deadline: Deadline) -> Result<SentEvent, Next> {
        loop {
            if let Some(event) = self.next_block(deadline)? {
                return Ok(event);
            }
        }
    }

    /// The lines until the next empty one, and their event, if they are one: others only move the cursor or keep the
    /// connection alive.
    ///
    /// # Errors
    /// Nothing until the deadline, the end, or a broken connection.
    pub fn next_block(&mut self, deadline: Deadline) -> Result<Option<SentEvent>, Next> {
        loop {
            let line = match self.live.next_line(deadline) {
                Next::Line(line) => line,
                other => return Err(other),
            };
            if line.is_empty() {
                return Ok(self.dispatch());
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => self.id = value.to_owned(),
                "event" => self.event = value.to_owned(),
                "data" => self.data.push(value.to_owned()),
                "retry" => self.retry_ms = value.parse().ok(),
                _ => {}
            }
        }
    }

    fn dispatch(&mut self) -> Option<SentEvent> {
        self.last_event_id.clone_from(&self.id);
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| SentEvent {
            id: self.id.clone(),
            event,
            data: data.join("\n"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::chunk;

    #[test]
    fn a_chunk_counts_once_all_of_it_is_there() {
        assert_eq!(chunk(b"3\r\nabc\r\n0\r\n\r\n"), Some((&b"abc"[..], 8)));
        assert_eq!(chunk(b"0\r\n\r\n"), Some((&b""[..], 5)));
        for part in ["", "3", "3\r\n", "3\r\nabc", "3\r\nabc\r"] {
            assert_eq!(chunk(part.as_bytes()), None, "{part:?}");
        }
    }
}
