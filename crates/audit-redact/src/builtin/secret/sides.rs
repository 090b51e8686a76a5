//! The two sides of a separator: the name before it and the value behind it.

use super::name::may_end_secret;
use super::value::Place;
use crate::scan::Span;
use crate::scan::edge::percent_escape_at;
use crate::work;

/// Longest name before a separator.
const NAME_BYTES_MAX: usize = 48;
/// Most backslashes before a quotation mark.
const ESCAPES_MAX: usize = 3;
/// Most spaces before a value. Columns are aligned with several.
const GAP_BYTES_MAX: usize = 16;

/// A value, the place where it was found, and the offset behind it.
pub(super) struct Value {
    pub(super) span: Span,
    pub(super) place: Place,
    pub(super) rest: usize,
}

/// What `may_end_secret` reads of a name that ends at `end`.
pub(super) fn last_letters(bytes: &[u8], end: usize) -> &[u8] {
    const LETTERS: usize = 6;
    &bytes[end.saturating_sub(LETTERS)..end]
}

/// The words that end at `end`, without the quotation mark or the spaces behind them, if they may be a secret's name.
pub(super) fn name_before(text: &str, end: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let end = name_end(bytes, end);
    may_end_secret(last_letters(bytes, end)).then(|| name_ending_at(text, end))
}

/// The offset before the quotation mark or the spaces that end at `end`.
pub(super) fn name_end(bytes: &[u8], end: usize) -> usize {
    let mut end = end;
    for _ in 0..2 {
        if end > 0 && bytes[end - 1] == b' ' {
            end -= 1;
        }
    }
    // `user[password]=x` and `['password'] = 'x'`
    if end >= 3 && percent_escape_at(bytes, end - 3) == Some(b']') {
        end -= 3;
    } else if end > 0 && bytes[end - 1] == b']' {
        end -= 1;
    }
    if end >= 3 && matches!(percent_escape_at(bytes, end - 3), Some(b'"' | b'\'')) {
        end -= 3;
    } else if end > 0 && matches!(bytes[end - 1], b'"' | b'\'' | b'`') {
        end -= 1;
        // JSON in a string of JSON has one backslash, or three.
        for _ in 0..ESCAPES_MAX {
            end -= usize::from(end > 0 && bytes[end - 1] == b'\\');
        }
    }
    end
}

/// The words that end at `end`.
pub(super) fn name_ending_at(text: &str, end: usize) -> Span {
    let bytes = text.as_bytes();
    let belongs =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ') || *byte >= 0x80;
    let len = bytes[..end]
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(|byte| belongs(byte))
        .count();
    let mut start = end - len;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    Span::new(start, end)
}

/// The length of what may stand before a quotation mark: the prefix of a literal (`N'…'`, `b'…'`) or the bracket of a list.
fn opening_len(bytes: &[u8]) -> usize {
    usize::from(matches!(
        bytes,
        [
            b'N' | b'n' | b'E' | b'b' | b'B' | b'r' | b'u' | b'U' | b'@' | b'[',
            b'\'' | b'"',
            ..
        ]
    ))
}

/// A value in brackets, as in `password = [value]`, and the offset behind it.
fn bracketed_at(text: &str, start: usize) -> Option<(Span, usize)> {
    const VALUE_BYTES_MAX: usize = 64;
    let inner = text[start..].strip_prefix('[')?;
    let bytes = inner.as_bytes();
    let len = bytes
        .iter()
        .take(VALUE_BYTES_MAX)
        .position(|byte| *byte == b']')?;
    let is_value = bytes[..len]
        .iter()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'[' | b','));
    is_value.then(|| (Span::new(start + 1, start + 1 + len), start + 1 + len))
}

/// The value that begins behind a separator, its place, and the offset behind it.
pub(super) fn value_at(text: &str, from: usize, place: Place) -> (Span, Place, usize) {
    let bytes = text.as_bytes();
    let mut start = from;
    for _ in 0..GAP_BYTES_MAX {
        start += usize::from(matches!(bytes.get(start), Some(b' ' | b'\t')));
    }
    let joined = start == from;
    if let Some((span, rest)) = bracketed_at(text, start) {
        return (span, Place::Spoken, rest);
    }
    start += opening_len(&bytes[start..]);
    let escapes = bytes[start..]
        .iter()
        .take(ESCAPES_MAX)
        .take_while(|byte| **byte == b'\\')
        .count();
    let quote_at = start + escapes;
    if let Some(quote @ (b'"' | b'\'' | b'`')) = bytes.get(quote_at) {
        let value = quote_at + 1;
        let rest = &bytes[value..];
        let len = rest
            .iter()
            .position(|byte| byte == quote || *byte == b'\n')
            .unwrap_or(rest.len());
        work::bytes_read(len);
        let closed = rest.get(len) == Some(quote);
        let escaping = rest[..len]
            .iter()
            .rev()
            .take(escapes)
            .take_while(|byte| **byte == b'\\')
            .count();
        let trimmed = len - if closed { escaping } else { 0 };
        let place = if place == Place::Spoken {
            place
        } else {
            Place::Value
        };
        return (Span::new(value, value + trimmed), place, value + len);
    }
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(
                byte,
                b'"' | b'\'' | b'`' | b'&' | b';' | b',' | b'<' | b'|' | b'\\' | b'}' | b')'
            )
    };
    let len = bytes[start..]
        .iter()
        .position(ends)
        .unwrap_or(bytes.len() - start);
    work::bytes_read(len);
    let mut end = start + len;
    if from >= 3 && percent_escape_at(bytes, from - 3) == Some(b'=') {
        // In an encoded URL, `%26` is the ampersand.
        end = start + text[start..end].find("%26").unwrap_or(end - start);
    }
    // Wide punctuation ends a clause. So does a dot at the end.
    let value = &text[start..end];
    end -= value.len() - value.find(['，', '。', '、', '；']).unwrap_or(value.len());
    end = start + text[start..end].trim_end_matches(['.', '?']).len();
    // `password:hunter2` without a space is no prose.
    let place = if joined && place == Place::Prose && from > 0 && bytes[from - 1] == b':' {
        Place::Assigned
    } else {
        place
    };
    (Span::new(start, end), place, start + len)
}
