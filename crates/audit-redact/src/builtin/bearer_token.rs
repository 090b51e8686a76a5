//! Tokens of the `Bearer` scheme.

use crate::scan::context::{CONTEXT_CHARS, Keywords, substring};
use crate::scan::edge::{blocked_after, blocked_before, percent_escape_at};
use crate::scan::{Span, Subject};
use crate::work;

const SCHEME: &str = "bearer";

/// Shortest token with a digit.
const TOKEN_CHARS_MIN: usize = 8;
/// Shortest token with a digit behind an authorization keyword.
const TOKEN_AFTER_AUTH_CHARS_MIN: usize = 6;
/// Shortest token without a digit, of mixed case.
const TOKEN_WITHOUT_DIGIT_CHARS_MIN: usize = 24;
/// Most separators between the scheme and the token.
const SEPARATORS_MAX: usize = 4;

const AUTH_KEYWORDS: &Keywords = &Keywords::new(&[substring("auth")]);

/// Keys whose value is a token without the scheme before it.
const KEYS: &[&str] = &["bearer", "bearer_token", "bearer-token", "bearertoken"];

/// Whether the value of this key is a token.
#[inline(always)]
pub(super) fn is_named_by(key: &str) -> bool {
    // The last letters of `bearer` and `token` decide nearly always.
    matches!(key.as_bytes(), [.., b'e' | b'E', b'r' | b'R' | b'n' | b'N'])
        && KEYS.iter().any(|name| {
            key.len()
                .checked_sub(name.len())
                .and_then(|at| key.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(name))
        })
}

pub(super) fn find(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let text = subject.text;
    if is_named_by(subject.key)
        && let Some(span) = token_at(&subject, 0, 0)
    {
        hit(span);
    }
    let mut at = 0;
    while let Some(offset) = find_scheme(&text.as_bytes()[at..]) {
        let scheme = at + offset;
        at = scheme + SCHEME.len();
        if blocked_before(text, scheme) {
            continue;
        }
        let Some(start) = token_start(text, at) else {
            continue;
        };
        match token_at(&subject, scheme, start) {
            Some(span) => {
                hit(span);
                at = span.end;
            }
            // A suffix of a rejected candidate is no token either. Skipping it reads `bearer+bearer+…` once.
            None => at = start + token68_len(&text.as_bytes()[start..]),
        }
    }
}

fn find_scheme(bytes: &[u8]) -> Option<usize> {
    let position = bytes
        .windows(SCHEME.len())
        .position(|window| window.eq_ignore_ascii_case(SCHEME.as_bytes()));
    work::bytes_read(position.unwrap_or(bytes.len()));
    position
}

/// The start of the token behind a scheme that ends at `end`.
fn token_start(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end;
    for _ in 0..SEPARATORS_MAX {
        match bytes.get(at)? {
            b' ' | b'+' | b':' | b'\t' => at += 1,
            b'%' => match percent_escape_at(bytes, at) {
                Some(b' ' | b'+' | b':') => at += 3,
                _ => break,
            },
            b'"' | b'\'' if at > end => at += 1,
            _ => break,
        }
    }
    (at > end).then_some(at)
}

fn token_at(subject: &Subject<'_>, scheme: usize, start: usize) -> Option<Span> {
    let text = subject.text;
    let bytes = text.as_bytes();
    let body_end = start + token68_len(&bytes[start..]);
    // A trailing dot ends a sentence; it is not part of the token.
    let body_end = start + text[start..body_end].trim_end_matches(['.', '~']).len();
    let padding = bytes[body_end..].iter().take_while(|byte| **byte == b'=').count();
    let end = body_end + padding;
    work::bytes_read(end - start);
    if blocked_after(text, end) || (padding == 1 && opens_value(&text[end..])) {
        return None;
    }
    let token = &bytes[start..body_end];
    let has = |test: fn(&u8) -> bool| token.iter().any(test);
    let long_enough = if has(u8::is_ascii_digit) {
        token.len() >= TOKEN_CHARS_MIN
            || (token.len() >= TOKEN_AFTER_AUTH_CHARS_MIN
                && AUTH_KEYWORDS.begin_within(CONTEXT_CHARS, subject, scheme))
    } else {
        token.len() >= TOKEN_WITHOUT_DIGIT_CHARS_MIN
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase)
    };
    long_enough.then(|| Span::new(start, end))
}

/// Whether a quotation mark opens the value of a challenge parameter, as in `realm="…"`. Otherwise it ends the text
/// around the token.
fn opens_value(behind: &str) -> bool {
    let unescaped = behind.trim_start_matches('\\');
    work::bytes_read(behind.len() - unescaped.len());
    unescaped
        .strip_prefix(['"', '\''])
        .is_some_and(|value| value.starts_with(|ch: char| ch.is_alphanumeric() || ch == '/'))
}

fn token68_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    while let Some(byte) = bytes.get(len) {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b'+' | b'/' => len += 1,
            b'%' if matches!(percent_escape_at(bytes, len), Some(b'+' | b'/' | b'~' | b'=')) => len += 3,
            byte if byte.is_ascii_alphanumeric() => len += 1,
            _ => break,
        }
    }
    work::bytes_read(len);
    len
}
