//! HTTP/1.1 responses in a receive buffer.

use anyhow::{Context, bail};

/// Upper limit of status line and headers.
const HEAD_BYTES_MAX: usize = 16_384;
/// The service sends fewer than 20.
const HEADERS_MAX: usize = 32;

/// Status and extent of a response in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head_bytes: usize,
    pub(crate) body_bytes: usize,
}

impl Response {
    /// Head and body.
    pub(crate) fn bytes(&self) -> usize {
        self.head_bytes + self.body_bytes
    }

    /// The body. The buffer must hold the whole response.
    pub(crate) fn body<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        &buffer[self.head_bytes..self.bytes()]
    }
}

/// Parses the head of a response at the start of `buffer`, without allocating; none if the head is incomplete.
pub(crate) fn parse(buffer: &[u8]) -> anyhow::Result<Option<Response>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut headers);
    let head_bytes = match head.parse(buffer).context("malformed response head")? {
        httparse::Status::Complete(bytes) => bytes,
        httparse::Status::Partial if buffer.len() > HEAD_BYTES_MAX => {
            bail!("the response head exceeds {HEAD_BYTES_MAX} bytes")
        }
        httparse::Status::Partial => return Ok(None),
    };
    Ok(Some(Response {
        status: head.code.context("a response has no status")?,
        head_bytes,
        body_bytes: content_length(head.headers)?,
    }))
}

/// Required: the routes measured here never use chunked encoding.
fn content_length(headers: &[httparse::Header<'_>]) -> anyhow::Result<usize> {
    let header = headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .context("a response has no Content-Length")?;
    let value = std::str::from_utf8(header.value).ok();
    let length = value.and_then(|value| value.trim().parse().ok());
    length.context("the Content-Length of a response is not a number")
}

/// Occurrences of `needle` in `text`.
pub(crate) fn count(text: &[u8], needle: &[u8]) -> usize {
    text.windows(needle.len())
        .filter(|window| *window == needle)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: &[u8] = b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\nx-request-id: req_1\r\n\r\nhello";

    #[test]
    fn status_and_length_are_parsed() {
        let response = parse(CREATED).unwrap().unwrap();
        assert_eq!((response.status, response.body_bytes), (201, 5));
        assert_eq!(response.body(CREATED), b"hello");
        assert_eq!(response.bytes(), CREATED.len());
    }

    #[test]
    fn header_names_are_case_insensitive() {
        let text = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-LENGTH:0\r\n\r\n";
        let response = parse(text).unwrap().unwrap();
        assert_eq!(
            (response.status, response.body_bytes, response.bytes()),
            (503, 0, text.len())
        );
    }

    #[test]
    fn an_incomplete_head_is_not_an_error() {
        let head_bytes = CREATED.len() - 5;
        for end in 0..head_bytes {
            assert_eq!(parse(&CREATED[..end]).unwrap(), None, "{end}");
        }
        let response = parse(&CREATED[..head_bytes]).unwrap().unwrap();
        assert_eq!(response.bytes(), CREATED.len(), "the body is incomplete");
    }

    #[test]
    fn bytes_after_a_response_belong_to_the_next() {
        let both = [CREATED, CREATED].concat();
        let response = parse(&both).unwrap().unwrap();
        assert_eq!(parse(&both[response.bytes()..]).unwrap(), Some(response));
    }

    #[test]
    fn malformed_responses_are_refused() {
        let endless = [b"HTTP/1.1 200 OK\r\nx: ", [b'a'; HEAD_BYTES_MAX].as_slice()].concat();
        for text in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"HTTP/1.1 abc\r\nContent-Length: 1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            &[b'a'; HEAD_BYTES_MAX + 1],
            &endless,
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn occurrences_are_counted() {
        assert_eq!(count(br#"["evt_1","evt_2"]"#, b"evt_"), 2);
        assert_eq!(count(b"ev", b"evt_"), 0);
    }
}
