//! The little of HTTP/1.1 that is needed to read this service's answers.

use anyhow::{Context, bail};

/// More than any head of an answer.
const HEAD_BYTES_MAX: usize = 16_384;

/// Where an answer lies in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head_bytes: usize,
    pub(crate) body_bytes: usize,
}

impl Answer {
    /// Head and body.
    pub(crate) fn bytes(&self) -> usize {
        self.head_bytes + self.body_bytes
    }

    /// The body, once the buffer holds all of it.
    pub(crate) fn body<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        &buffer[self.head_bytes..self.bytes()]
    }
}

/// Reads the head of an answer at the beginning of `buffer`; none when it is not complete.
pub(crate) fn parse(buffer: &[u8]) -> anyhow::Result<Option<Answer>> {
    let Some(head_bytes) = end_of_head(buffer) else {
        if buffer.len() > HEAD_BYTES_MAX {
            bail!("the head of an answer has no end");
        }
        return Ok(None);
    };
    let head = std::str::from_utf8(&buffer[..head_bytes]).context("the head of an answer is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    let status = status
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.context("an answer does not begin like one")?;
    let mut body_bytes = None;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            body_bytes = Some(
                value
                    .trim()
                    .parse()
                    .context("the length of an answer is no number")?,
            );
        }
    }
    // The service never answers in chunks: every answer says its length.
    let body_bytes = body_bytes.context("an answer does not say its length")?;
    Ok(Some(Answer {
        status,
        head_bytes,
        body_bytes,
    }))
}

fn end_of_head(buffer: &[u8]) -> Option<usize> {
    let found = buffer.windows(4).position(|window| window == b"\r\n\r\n");
    found.map(|position| position + 4)
}

/// How often `needle` is in `text`.
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
    fn status_and_length_are_read() {
        let answer = parse(CREATED).unwrap().unwrap();
        assert_eq!((answer.status, answer.body_bytes), (201, 5));
        assert_eq!(answer.body(CREATED), b"hello");
        assert_eq!(answer.bytes(), CREATED.len());
    }

    #[test]
    fn names_of_headers_are_read_in_any_case() {
        let text = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-LENGTH:0\r\n\r\n";
        let answer = parse(text).unwrap().unwrap();
        assert_eq!(
            (answer.status, answer.body_bytes, answer.bytes()),
            (503, 0, text.len())
        );
    }

    #[test]
    fn an_answer_that_comes_in_pieces_is_waited_for() {
        let head_bytes = CREATED.len() - 5;
        for end in 0..head_bytes {
            assert_eq!(parse(&CREATED[..end]).unwrap(), None, "{end}");
        }
        let answer = parse(&CREATED[..head_bytes]).unwrap().unwrap();
        assert_eq!(answer.bytes(), CREATED.len(), "the body is still to come");
    }

    #[test]
    fn what_follows_an_answer_belongs_to_the_next() {
        let both = [CREATED, CREATED].concat();
        let answer = parse(&both).unwrap().unwrap();
        assert_eq!(parse(&both[answer.bytes()..]).unwrap(), Some(answer));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"HTTP/1.1 abc\r\nContent-Length: 1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            &[b'a'; HEAD_BYTES_MAX + 1],
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
