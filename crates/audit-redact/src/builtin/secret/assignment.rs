//! Names and values in a text: `password=…`, `"api_key": "…"`, `--token …`, `the password is …`.

use super::name::{Name, may_end_secret};
use super::value::{Place, secret_in, stands_out};
use crate::scan::Span;
use crate::scan::edge::percent_escape_at;
use crate::work;

/// Longest name before a separator.
const NAME_BYTES_MAX: usize = 48;
/// A value this long is not searched for further assignments.
const SKIPPED_BYTES_MIN: usize = 128;

/// Words between a name and a value in prose.
const VERBS: &[&str] = &[" is ", " ist ", " es "];

/// What stands before a quoted password in SQL.
const SQL_CLAUSE: &str = "with password";

/// By byte: whether it may separate a name from a value.
const SEPARATORS: [bool; 256] = {
    let mut separators = [false; 256];
    separators[b'=' as usize] = true;
    separators[b':' as usize] = true;
    separators[b'%' as usize] = true;
    separators[b' ' as usize] = true;
    separators[0xef] = true;
    separators
};

pub(super) fn find(text: &str, hit: &mut impl FnMut(Span)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| SEPARATORS[usize::from(*byte)]) {
        let separator = at + offset;
        work::bytes_read(offset + 1);
        at = separator + 1;
        let Some((name, value_start, place)) = assignment_at(text, separator) else {
            continue;
        };
        let (span, place, rest) = value_at(text, value_start, place);
        if let Some(secret) = secret_in(name, text, span, place) {
            hit(secret);
            at = if ends_plural(&bytes[..separator]) {
                find_further(text, name, place, rest, hit)
            } else {
                rest
            };
        } else if span.len() >= SKIPPED_BYTES_MIN {
            at = rest;
        }
        at = at.max(separator + 1);
    }
}

/// Whether the name before a separator is a plural, as `tokens` is and `pass` is not.
fn ends_plural(before: &[u8]) -> bool {
    const GAP_BYTES_MAX: usize = 4;
    let name = before
        .iter()
        .rev()
        .take(GAP_BYTES_MAX)
        .position(u8::is_ascii_alphabetic)
        .map_or(before, |gap| &before[..before.len() - gap]);
    matches!(name, [.., before, b's' | b'S'] if !before.eq_ignore_ascii_case(&b's'))
}

/// Finds the secrets behind a comma and the first one: `passwords: one, two`. Returns the offset behind them.
fn find_further(text: &str, name: Name, place: Place, from: usize, hit: &mut impl FnMut(Span)) -> usize {
    let mut at = from;
    while text.as_bytes().get(at) == Some(&b',') {
        let (span, place, rest) = value_at(text, at + 1, place);
        // A word, or the name of the next value, is no secret.
        let next = &text[span.start..span.end];
        if next.contains(['=', ':']) || !stands_out(next) {
            break;
        }
        let Some(secret) = secret_in(name, text, span, place) else {
            break;
        };
        hit(secret);
        at = rest;
    }
    at
}

/// The name before a separator, the start of the value behind it, and the place of the value.
fn assignment_at(text: &str, separator: usize) -> Option<(Name, usize, Place)> {
    let bytes = text.as_bytes();
    let (end, start, place) = match bytes[separator] {
        b'=' => {
            // `:=`, `=>` and `== 'value'`
            let end = separator - usize::from(separator > 0 && bytes[separator - 1] == b':');
            let is_compared = matches!(
                &bytes[separator + 1..],
                [b'=', b'"' | b'\'', ..] | [b'=', b' ', b'"' | b'\'', ..]
            );
            let is_arrow = bytes.get(separator + 1) == Some(&b'>');
            let start = separator + 1 + usize::from(is_arrow || is_compared);
            (end, start, Place::Assigned)
        }
        b':' if bytes.get(separator + 1) == Some(&b'=') => return None,
        b':' => (separator, separator + 1, Place::Prose),
        b'%' if percent_escape_at(bytes, separator) == Some(b'=') => {
            (separator, separator + 3, Place::Assigned)
        }
        b'%' if percent_escape_at(bytes, separator) == Some(b':') => (separator, separator + 3, Place::Prose),
        0xef if text[separator..].starts_with('：') => {
            (separator, separator + '：'.len_utf8(), Place::Prose)
        }
        b' ' => return spoken_at(text, separator),
        _ => return None,
    };
    let name = name_before(text, end)?;
    // `arn:aws:secretsmanager:eu-west-1:123456789012:secret:name` is a path.
    if bytes[separator] == b':' && text[..name.start].ends_with(':') {
        return None;
    }
    Some((Name::of(&text[name.start..name.end])?, start, place))
}

/// `--password value`, `password is value` and `WITH PASSWORD 'value'`.
fn spoken_at(text: &str, space: usize) -> Option<(Name, usize, Place)> {
    let verb = VERBS.iter().find(|verb| text[space..].starts_with(**verb));
    let is_letter = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
    if verb.is_none() && (space == 0 || !is_letter(space - 1)) {
        return None;
    }
    let name = name_before(text, space)?;
    let name = &text[name.start..name.end];
    let word = name.rsplit(' ').next().unwrap_or_default();
    if word.starts_with("--") {
        return Some((Name::of(word)?, space + 1, Place::Assigned));
    }
    // `ALTER USER app WITH PASSWORD 'value'`
    if text[space..].starts_with(" '")
        && name
            .get(name.len().saturating_sub(SQL_CLAUSE.len())..)
            .is_some_and(|end| end.eq_ignore_ascii_case(SQL_CLAUSE))
    {
        return Some((Name::Password, space + 1, Place::Assigned));
    }
    let verb = verb?;
    match Name::of(name)? {
        kind @ (Name::Password | Name::PasswordChange | Name::Code | Name::Token) => {
            Some((kind, space + verb.len(), Place::Prose))
        }
        _ => None,
    }
}

/// The words that end at `end`, without the quotation mark or the spaces behind them.
fn name_before(text: &str, end: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let mut end = end;
    for _ in 0..2 {
        if end > 0 && bytes[end - 1] == b' ' {
            end -= 1;
        }
    }
    if end >= 3 && matches!(percent_escape_at(bytes, end - 3), Some(b'"' | b'\'')) {
        end -= 3;
    } else if end > 0 && matches!(bytes[end - 1], b'"' | b'\'' | b'`') {
        end -= 1;
        end -= usize::from(end > 0 && bytes[end - 1] == b'\\');
    }
    if !may_end_secret(&bytes[end.saturating_sub(6)..end]) {
        return None;
    }
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
    Some(Span::new(start, end))
}

/// The value that begins behind a separator, its place, and the offset behind it.
fn value_at(text: &str, from: usize, place: Place) -> (Span, Place, usize) {
    let bytes = text.as_bytes();
    let mut start = from;
    for _ in 0..2 {
        start += usize::from(matches!(bytes.get(start), Some(b' ' | b'\t')));
    }
    let joined = start == from;
    let escaped = bytes.get(start) == Some(&b'\\') && matches!(bytes.get(start + 1), Some(b'"' | b'\''));
    let quote_at = start + usize::from(escaped);
    if let Some(quote @ (b'"' | b'\'' | b'`')) = bytes.get(quote_at) {
        let value = quote_at + 1;
        let rest = &bytes[value..];
        let len = rest
            .iter()
            .position(|byte| byte == quote || *byte == b'\n')
            .unwrap_or(rest.len());
        work::bytes_read(len);
        let closed = rest.get(len) == Some(quote);
        let trimmed = len - usize::from(escaped && closed && len > 0 && rest[len - 1] == b'\\');
        return (Span::new(value, value + trimmed), Place::Value, value + len);
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
    // Wide punctuation ends a clause. So does a dot at the end.
    let value = &text[start..end];
    end -= value.len() - value.find(['，', '。', '、', '；']).unwrap_or(value.len());
    end = start + text[start..end].trim_end_matches(['.', '!', '?']).len();
    // `password:hunter2` without a space is no prose.
    let place = if joined && place == Place::Prose && from > 0 && bytes[from - 1] == b':' {
        Place::Assigned
    } else {
        place
    };
    (Span::new(start, end), place, start + len)
}
