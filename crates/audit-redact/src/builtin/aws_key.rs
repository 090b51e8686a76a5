//! AWS credentials: key ids, secret keys and session tokens.

use crate::scan::context::{CONTEXT_CHARS, Words, part};
use crate::scan::edge::{
    blocked_after, blocked_before, escape_len, percent_escape_at, percent_escape_before,
};
use crate::scan::gate::Signs;
use crate::scan::{Span, Subject};

/// Ids of credentials. `AROA`, `AIDA` and `AGPA` begin names of roles, users and groups, which open nothing.
const KEY_ID_PREFIXES: &[&[u8; 4]] = &[b"AKIA", b"ASIA", b"ABIA", b"ACCA"];
const KEY_ID_BYTES: usize = 20;

const SECRET_CHARS: usize = 40;
/// How far before a secret the word may stand that says so.
const SECRET_WORD_CHARS: usize = 60;
/// How far from a secret its key id may stand.
const KEY_ID_REACH_BYTES: usize = 100;

const SECRET_WORDS: &Words = &Words::new(&[
    part("secret"),
    part("access_key"),
    part("access-key"),
    part("accesskey"),
    part("access key"),
    part("aws_key"),
    part("awskey"),
    part("aws key"),
]);

/// Forms every session token begins with: what AWS's own header becomes in base64.
const SESSION_TOKEN_PREFIXES: &[&str] = &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"];
/// Shortest session token, cut off or not.
const SESSION_TOKEN_CHARS_MIN: usize = 20;
/// Shortest session token that only a word tells.
const NAMED_SESSION_TOKEN_CHARS_MIN: usize = 100;

const SESSION_WORDS: &Words = &Words::new(&[
    part("session_token"),
    part("session-token"),
    part("session token"),
    part("sessiontoken"),
    part("security_token"),
    part("security-token"),
    part("security token"),
    part("securitytoken"),
]);

pub(super) fn find(signs: Signs, subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    let mut prefixed = false;
    if signs.meets(Signs::AWS_PREFIX) {
        each_key_id(text, 0, text.len(), &mut hit);
        prefixed = SESSION_TOKEN_PREFIXES.iter().any(|prefix| text.contains(prefix));
    }
    if prefixed || signs.meets(Signs::BASE64_RUN) {
        find_in_runs(subject, prefixed, hit);
    }
}

/// `prefixed` says whether what session tokens begin with is anywhere in the text.
fn find_in_runs(subject: Subject<'_>, prefixed: bool, mut hit: impl FnMut(Span)) {
    let bytes = subject.bytes();
    let mut at = 0;
    while at < bytes.len() {
        if base64_char_len(bytes, at) == 0 {
            // The letters of `\n` and `%22` are no part of what follows.
            at += escape_len(bytes, at).max(1);
            continue;
        }
        let run = Run::read(bytes, at);
        if is_secret(&subject, &run) || is_session_token(&subject, &run) {
            hit(run.span);
        } else if prefixed && let Some(start) = session_token_start(&subject, &run) {
            hit(Span::new(start, run.span.end));
        }
        at = run.span.end.max(at + 1);
    }
}

fn each_key_id(text: &str, from: usize, to: usize, mut hit: impl FnMut(Span)) {
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

/// Base64 characters in a row, possibly percent-encoded, with their padding.
struct Run {
    span: Span,
    /// Without the padding.
    chars: usize,
    padded: bool,
}

impl Run {
    fn read(bytes: &[u8], start: usize) -> Run {
        let mut end = start;
        let mut chars = 0;
        loop {
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
        Run {
            span: Span::new(start, end),
            chars,
            padded: end > body_end,
        }
    }
}

/// The length of the base64 character at `at`, or zero.
fn base64_char_len(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'+' | b'/') => 1,
        Some(byte) if byte.is_ascii_alphanumeric() => 1,
        Some(b'%') if matches!(percent_escape_at(bytes, at), Some(b'+' | b'/')) => 3,
        _ => 0,
    }
}

fn is_secret(subject: &Subject<'_>, run: &Run) -> bool {
    if run.padded && run.chars == SECRET_CHARS {
        // The `=` behind it may also separate it from what comes next; a secret key itself has none.
        return false;
    }
    if run.chars != SECRET_CHARS || !is_mixed(&subject.bytes()[run.span.start..run.span.end]) {
        return false;
    }
    SECRET_WORDS.end_within(SECRET_WORD_CHARS, subject, run.span.start)
        || is_near_key_id(subject.text, run.span)
}

/// Lower case, upper case and a digit: no digest, no word, no path of one case.
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

fn is_session_token(subject: &Subject<'_>, run: &Run) -> bool {
    if run.chars < NAMED_SESSION_TOKEN_CHARS_MIN {
        return false;
    }
    let bytes = subject.bytes();
    // Between dots it is a part of a JSON Web Token or a host name.
    let dotted = bytes.get(run.span.end) == Some(&b'.') || bytes[..run.span.start].ends_with(b".");
    !dotted
        && is_mixed(&bytes[run.span.start..run.span.end])
        && SESSION_WORDS.end_within(CONTEXT_CHARS, subject, run.span.start)
}

/// Where in the run a session token begins, known by its first characters.
fn session_token_start(subject: &Subject<'_>, run: &Run) -> Option<usize> {
    if run.chars < SESSION_TOKEN_CHARS_MIN {
        return None;
    }
    let text = &subject.text[run.span.start..run.span.end];
    let offset = SESSION_TOKEN_PREFIXES
        .iter()
        .filter_map(|prefix| text.find(prefix))
        .min()?;
    let start = run.span.start + offset;
    let free =
        !blocked_before(subject.text, start) || percent_escape_before(subject.bytes(), start).is_some();
    (free && run.span.end - start >= SESSION_TOKEN_CHARS_MIN).then_some(start)
}
