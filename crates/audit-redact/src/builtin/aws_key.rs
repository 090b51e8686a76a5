//! AWS credentials: access key ids, secret access keys and session tokens.

use crate::scan::context::{CONTEXT_CHARS, Keywords, substring};
use crate::scan::edge::{
    blocked_after, blocked_before, escape_len, percent_escape_at, percent_escape_before,
};
use crate::scan::prefilter::{BASE64, Hints};
use crate::scan::{Span, Subject};
use crate::work;

/// Prefixes of credential ids. `AROA`, `AIDA` and `AGPA` identify roles, users and groups and grant no access.
const KEY_ID_PREFIXES: &[&[u8; 4]] = &[b"AKIA", b"ASIA", b"ABIA", b"ACCA"];
const KEY_ID_BYTES: usize = 20;

const SECRET_CHARS: usize = 40;
/// Greatest distance between a keyword and the secret key behind it.
const SECRET_KEYWORD_CHARS: usize = 60;
/// Greatest distance between a secret key and its key id.
const KEY_ID_REACH_BYTES: usize = 100;

const SECRET_KEYWORDS: &Keywords = &Keywords::new(&[
    substring("secret"),
    substring("access_key"),
    substring("access-key"),
    substring("accesskey"),
    substring("access key"),
    substring("aws_key"),
    substring("awskey"),
    substring("aws key"),
]);

/// The prefixes of session tokens: the header that AWS writes, in base64.
const SESSION_TOKEN_PREFIXES: &[&str] = &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"];
/// Shortest session token, complete or truncated.
const SESSION_TOKEN_CHARS_MIN: usize = 20;
/// Shortest session token that is identified by a keyword alone.
const NAMED_SESSION_TOKEN_CHARS_MIN: usize = 100;

const SESSION_KEYWORDS: &Keywords = &Keywords::new(&[
    substring("session_token"),
    substring("session-token"),
    substring("session token"),
    substring("sessiontoken"),
    substring("security_token"),
    substring("security-token"),
    substring("security token"),
    substring("securitytoken"),
]);

pub(super) fn find(hints: Hints, subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    let mut prefixed = false;
    if hints.intersects(Hints::AWS_PREFIX) {
        each_key_id(text, 0, text.len(), &mut hit);
        work::bytes_read(text.len());
        prefixed = SESSION_TOKEN_PREFIXES.iter().any(|prefix| text.contains(prefix));
    }
    if prefixed || hints.intersects(Hints::BASE64_RUN) {
        find_in_runs(subject, prefixed, hit);
    }
}

/// Checks each run of base64 characters. `prefixed` says whether the text contains a session token's prefix.
fn find_in_runs(subject: Subject<'_>, prefixed: bool, mut hit: impl FnMut(Span)) {
    let bytes = subject.bytes();
    let mut at = 0;
    while at < bytes.len() {
        if base64_char_len(bytes, at) == 0 {
            // The letters and digits of `\n` and `%22` are not part of the run that follows.
            at += escape_len(bytes, at).max(1);
            work::bytes_read(1);
            continue;
        }
        let run = Base64Run::read(bytes, at);
        if is_secret(&subject, &run) || is_session_token(&subject, &run) {
            hit(run.span);
        } else if prefixed && let Some(start) = session_token_start(&subject, &run) {
            hit(Span::new(start, run.span.end));
        }
        at = run.span.end.max(at + 1);
    }
}

fn each_key_id(text: &str, from: usize, to: usize, mut hit: impl FnMut(Span)) {
    work::bytes_read(to.saturating_sub(from));
    let bytes = text.as_bytes();
    let mut start = from;
    while let Some(offset) = bytes[start..to].iter().position(|byte| *byte == b'A') {
        let at = start + offset;
        start = at + 1;
        let Some(id) = bytes.get(at..at + KEY_ID_BYTES) else {
            return;
        };
        let known = KEY_ID_PREFIXES.iter().any(|prefix| id.starts_with(*prefix))
            && id
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if known && !blocked_before(text, at) && !blocked_after(text, at + KEY_ID_BYTES) {
            start = at + KEY_ID_BYTES;
            hit(Span::new(at, start));
            if start >= to {
                return;
            }
        }
    }
}

/// Consecutive base64 characters, possibly percent-encoded, and their padding.
struct Base64Run {
    span: Span,
    /// Number of characters without the padding.
    chars: usize,
    padded: bool,
}

impl Base64Run {
    fn read(bytes: &[u8], start: usize) -> Base64Run {
        let mut end = start;
        let mut chars = 0;
        loop {
            let plain = bytes[end..].iter().take_while(|byte| is_base64(**byte)).count();
            end += plain;
            chars += plain;
            let len = base64_char_len(bytes, end);
            if len == 0 {
                break;
            }
            end += len;
            chars += 1;
        }
        let body_end = end;
        while end > start {
            if bytes.get(end) == Some(&b'=') {
                end += 1;
            } else if percent_escape_at(bytes, end) == Some(b'=') {
                end += 3;
            } else {
                break;
            }
        }
        work::bytes_read(end - start);
        Base64Run {
            span: Span::new(start, end),
            chars,
            padded: end > body_end,
        }
    }
}

/// Whether the byte is a base64 character that is not percent-encoded.
fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)] && byte != b'%'
}

/// The length of the base64 character at `at`, or zero.
fn base64_char_len(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(byte) if is_base64(*byte) => 1,
        Some(b'%') if matches!(percent_escape_at(bytes, at), Some(b'+' | b'/')) => 3,
        _ => 0,
    }
}

fn is_secret(subject: &Subject<'_>, run: &Base64Run) -> bool {
    if run.padded && run.chars == SECRET_CHARS {
        // A secret key has no padding.
        return false;
    }
    if run.chars != SECRET_CHARS || !is_mixed(&subject.bytes()[run.span.start..run.span.end]) {
        return false;
    }
    SECRET_KEYWORDS.end_within(SECRET_KEYWORD_CHARS, subject, run.span.start)
        || is_near_key_id(subject.text, run.span)
}

/// Whether the bytes have both cases and a digit. Digests, words and paths in one case do not.
fn is_mixed(bytes: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && !bytes.iter().all(u8::is_ascii_hexdigit)
}

fn is_near_key_id(text: &str, span: Span) -> bool {
    let from = span.start.saturating_sub(KEY_ID_REACH_BYTES + KEY_ID_BYTES);
    let to = (span.end + KEY_ID_REACH_BYTES).min(text.len());
    let mut near = false;
    each_key_id(text, from, to, |_| near = true);
    near
}

fn is_session_token(subject: &Subject<'_>, run: &Base64Run) -> bool {
    if run.chars < NAMED_SESSION_TOKEN_CHARS_MIN {
        return false;
    }
    let bytes = subject.bytes();
    // A run next to a dot is part of a JSON Web Token or a host name.
    let dotted = bytes.get(run.span.end) == Some(&b'.') || bytes[..run.span.start].ends_with(b".");
    !dotted
        && is_mixed(&bytes[run.span.start..run.span.end])
        && SESSION_KEYWORDS.end_within(CONTEXT_CHARS, subject, run.span.start)
}

/// The start of a session token within the run, identified by its prefix.
fn session_token_start(subject: &Subject<'_>, run: &Base64Run) -> Option<usize> {
    if run.chars < SESSION_TOKEN_CHARS_MIN {
        return None;
    }
    let text = &subject.text[run.span.start..run.span.end];
    work::bytes_read(text.len());
    let offset = SESSION_TOKEN_PREFIXES
        .iter()
        .filter_map(|prefix| text.find(prefix))
        .min()?;
    let start = run.span.start + offset;
    let free =
        !blocked_before(subject.text, start) || percent_escape_before(subject.bytes(), start).is_some();
    (free && run.span.end - start >= SESSION_TOKEN_CHARS_MIN).then_some(start)
}
