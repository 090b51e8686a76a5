//! The values of secrets, and what stands in their place: placeholders, references, names and messages.

mod words;

use super::name::Name;
use super::spoken;
use crate::scan::Span;
use crate::work;
use words::{MESSAGE_WORDS, OBJECTS, PLACEHOLDERS, REFERENCES, USERS};

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A whole string, or a quoted one in a text.
    Value,
    /// Behind `=`.
    Assigned,
    /// Behind `: ` or a word, where prose may follow. It needs a digit, punctuation or a change of case.
    Prose,
    /// Directly behind a name and a space, where prose is more likely than a value.
    Spoken,
}

const PASSWORD_CHARS_MIN: usize = 3;
const PASSWORD_HASH_CHARS_MIN: usize = 16;
const SECRET_CHARS_MIN: usize = 4;
const TOKEN_CHARS_MIN: usize = 8;
const SESSION_CHARS_MIN: usize = 12;
const PARAMETER_CHARS_MIN: usize = 16;
/// Shortest token of letters alone.
const LETTERS_MIN: usize = 24;
/// Longest value that is checked for being a name or a message. Longer ones are secrets.
const CHECKED_BYTES_MAX: usize = 256;

/// The secret in the value of a name, if the value is one.
pub(super) fn secret_in(name: Name, text: &str, span: Span, place: Place) -> Option<Span> {
    let value = &text[span.start..span.end];
    work::bytes_read(value.len());
    if is_substitute(value) {
        return None;
    }
    if place == Place::Spoken {
        return spoken::is_secret(name, value).then_some(span);
    }
    let found = match name {
        Name::Password => is_password(value, place),
        Name::PasswordChange => is_password(value, place) && !is_date(value) && !is_unix_time(value),
        Name::PasswordHash => value.len() >= PASSWORD_HASH_CHARS_MIN && !has_space(value) && has_digit(value),
        Name::Secret => is_named_secret(value, place),
        Name::Token => looks_random(value),
        Name::Code => is_code(value),
        Name::Authorization => {
            let start = credentials_start(value);
            let credentials = &value[start..];
            let is_secret = start > 0 && credentials.len() >= TOKEN_CHARS_MIN && !is_substitute(credentials)
                || looks_random(credentials);
            return (is_secret && !has_space(credentials)).then(|| Span::new(span.start + start, span.end));
        }
        Name::Cookie => value.len() >= TOKEN_CHARS_MIN && value.contains('='),
        Name::Pass if place == Place::Assigned => spoken::is_secret(Name::Password, value),
        Name::Pass => is_password_of_user(value) && is_behind_user(text, span.start),
        // `S-1-5-…` is a security identifier of Windows.
        Name::Session => {
            place == Place::Assigned
                && value.len() >= SESSION_CHARS_MIN
                && looks_random(value)
                && !value.starts_with("S-1-")
        }
        // A path with an extension is that of a file.
        Name::Parameter => {
            value.len() >= PARAMETER_CHARS_MIN
                && looks_random(value)
                && !(value.contains('/') && value.contains('.'))
        }
    };
    found.then_some(span)
}

/// The start of what follows the scheme of an `Authorization` header.
fn credentials_start(value: &str) -> usize {
    let scheme = value
        .find(' ')
        .filter(|len| value[..*len].bytes().all(|byte| byte.is_ascii_alphabetic()));
    let Some(len) = scheme else { return 0 };
    value.len() - value[len..].trim_start_matches(' ').len()
}

/// Whether the value stands in place of a secret.
fn is_substitute(value: &str) -> bool {
    let Some(head) = value.get(..value.len().min(CHECKED_BYTES_MAX)) else {
        return false;
    };
    let same = head
        .chars()
        .next()
        .is_none_or(|first| head.chars().all(|ch| ch == first));
    let starts = |prefix: &&str| {
        head.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let variable = head.strip_prefix(['$', '%']).is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'%'))
    });
    same || variable
        || is_call(head)
        || is_member(head)
        || head.starts_with('*')
        || head.contains("***")
        || head.contains("[REDACTED]")
        || head.starts_with('•')
        || PLACEHOLDERS
            .iter()
            .any(|word| word.eq_ignore_ascii_case(head.trim_end_matches(['.', ',', '!'])))
        || REFERENCES.iter().any(starts)
}

/// Whether the value is a version, an address or an object identifier.
fn is_dotted_number(value: &str) -> bool {
    value.contains('.') && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether the value is a call of a function, such as `getPassword(user`.
fn is_call(value: &str) -> bool {
    value.split_once('(').is_some_and(|(name, _)| {
        name.len() >= PASSWORD_CHARS_MIN
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b':'))
    })
}

/// Whether the value is a member of an object, such as `var.db_password` and `form.password`.
fn is_member(value: &str) -> bool {
    let is_identifier = |part: &str| {
        part.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let Some((first, rest)) = value.split_once('.') else {
        return false;
    };
    let last = rest.rsplit('.').next().unwrap_or_default();
    is_identifier(first)
        && rest.split('.').all(is_identifier)
        && (OBJECTS.contains(&first) || Name::of(last).is_some())
}

/// Whether a user is named shortly before the name of a value, which begins at `start`.
fn is_behind_user(text: &str, start: usize) -> bool {
    const REACH_BYTES: usize = 64;
    let before = &text.as_bytes()[start.saturating_sub(REACH_BYTES)..start];
    USERS.iter().any(|word| {
        before
            .windows(word.len())
            .any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Whether a value in a note about a user is a password: letters and digits, and no path, count or assignment.
fn is_password_of_user(value: &str) -> bool {
    const CHARS_MIN: usize = 6;
    value.len() >= CHARS_MIN
        && has_digit(value)
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !value.contains(['/', ':', '=', '('])
        && !has_space(value)
}

fn is_password(value: &str, place: Place) -> bool {
    value.len() >= PASSWORD_CHARS_MIN
        && !is_message(value)
        && !is_link(value)
        && !is_date_and_time(value)
        && (place != Place::Prose || stands_out(value) && !is_dotted_number(value))
}

fn is_named_secret(value: &str, place: Place) -> bool {
    value.len() >= SECRET_CHARS_MIN
        && !is_message(value)
        && !is_link(value)
        && !is_name(value)
        && (place != Place::Prose || stands_out(value))
}

fn is_code(value: &str) -> bool {
    const DIGITS: std::ops::RangeInclusive<usize> = 3..=10;
    const CODE_CHARS_MAX: usize = 14;
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let code = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' '));
    if value.len() <= CODE_CHARS_MAX && code {
        let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
        return (DIGITS.contains(&digits)
            && (!letters || value.len() >= SECRET_CHARS_MIN && !has_space(value)))
            || is_evenly_grouped(value);
    }
    looks_random(value)
}

/// A code in two or three groups of the same length, such as `uf9l-sql7`.
pub(super) fn is_evenly_grouped(value: &str) -> bool {
    const CHARS: std::ops::RangeInclusive<usize> = 4..=6;
    let first = value.find('-').unwrap_or_default();
    CHARS.contains(&first) && has_digit(value) && value.split('-').all(|group| group.len() == first)
}

/// A value of some length with digits or mixed letters that is no name, link, date or number.
fn looks_random(value: &str) -> bool {
    let trimmed = value.trim_end_matches(['.', ',']);
    if trimmed.len() < TOKEN_CHARS_MIN || has_space(trimmed) || is_link(trimmed) {
        return false;
    }
    if trimmed.len() > CHECKED_BYTES_MAX {
        return true;
    }
    let letters = trimmed.bytes().any(|byte| byte.is_ascii_alphabetic());
    letters
        && !is_name(trimmed)
        && !is_date(trimmed)
        && (has_digit(trimmed) || (is_long_mixed(trimmed) && !is_camel_case(trimmed)))
}

/// Without a digit a token is long.
fn is_long_mixed(value: &str) -> bool {
    const MIXED_MIN: usize = 16;
    value.len() >= LETTERS_MIN
        || (value.len() >= MIXED_MIN
            && value.bytes().any(|byte| byte.is_ascii_lowercase())
            && value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()))
}

/// Whether the value is the name of a variable, such as `pagerDutyServiceApiKey`: words of some length, each with a capital.
fn is_camel_case(value: &str) -> bool {
    const WORD_CHARS_MIN: usize = 3;
    let mut len = WORD_CHARS_MIN;
    let is_long = value.bytes().all(|byte| {
        let continues = byte.is_ascii_lowercase() || len >= WORD_CHARS_MIN;
        len = if byte.is_ascii_uppercase() { 1 } else { len + 1 };
        continues && byte.is_ascii_alphabetic()
    });
    is_long && len >= WORD_CHARS_MIN
}

/// Whether the value is a name such as `my-db-credentials` or `prod/api/key-2`: several parts, each a word or a short
/// number.
pub(super) fn is_name(value: &str) -> bool {
    const WORD_CHARS_MAX: usize = 14;
    const NUMBER_DIGITS_MAX: usize = 4;
    let mut parts = 0;
    let named = value.split(['-', '_', '.', '/', ':']).all(|part| {
        parts += 1;
        let bytes = part.as_bytes();
        let word = bytes.len() <= WORD_CHARS_MAX
            && (bytes.iter().all(u8::is_ascii_lowercase)
                || bytes.iter().all(u8::is_ascii_uppercase)
                || (bytes.iter().all(u8::is_ascii_alphabetic)
                    && bytes[1..].iter().all(u8::is_ascii_lowercase)));
        let number = bytes.len() <= NUMBER_DIGITS_MAX && bytes.iter().all(u8::is_ascii_digit);
        word || number || is_camel_case(part)
    });
    named && parts > 1
}

/// Whether the value is a date with a time, such as `2026-01-01T00:00:00Z`.
fn is_date_and_time(value: &str) -> bool {
    is_date(value)
        && matches!(
            value.as_bytes(),
            [_, _, _, _, _, _, _, _, _, _, b'T' | b' ', b'0'..=b'2', ..]
        )
}

/// Whether the digits are those of a Unix time in seconds or milliseconds.
pub(super) fn is_unix_time(value: &str) -> bool {
    matches!(value.len(), 10 | 13)
        && value.starts_with('1')
        && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 10 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-' && bytes[7] == b'-'
}

fn is_link(value: &str) -> bool {
    value.starts_with("http://")
        || value.starts_with("https://")
        || (value.starts_with('/')
            && value.ends_with(|ch: char| ch.is_ascii_alphabetic())
            && is_name(&value[1..]))
}

/// Whether the value is a sentence about a secret.
pub(super) fn is_message(value: &str) -> bool {
    value.len() <= CHECKED_BYTES_MAX
        && has_space(value)
        && value
            .split_whitespace()
            .any(|word| MESSAGE_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// Whether the value is no word of prose: it has a digit, punctuation or a change of case.
pub(super) fn stands_out(value: &str) -> bool {
    let inner = value.trim_end_matches(['.', ',', '!', '?', ')']);
    inner.len() >= SECRET_CHARS_MIN
        && (has_digit(inner)
            || inner.bytes().any(|byte| {
                byte.is_ascii_punctuation() && !matches!(byte, b'-' | b'\'' | b'/' | b'(' | b'.')
            })
            || inner
                .as_bytes()
                .windows(2)
                .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()))
}

fn has_space(value: &str) -> bool {
    value.contains(char::is_whitespace)
}

pub(super) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}
