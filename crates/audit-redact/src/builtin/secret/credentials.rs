//! Credentials in URLs (RFC 3986, section 3.2.1) and of the `Basic` scheme (RFC 7617).

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::name::Name;
use super::value::{Place, secret_in};
use crate::scan::edge::blocked_before;
use crate::scan::{Span, places};
use crate::work;

const USER_INFO_BYTES_MAX: usize = 256;

/// Finds the passwords of `scheme://user:password@host`.
pub(super) fn find_in_urls(text: &str, hit: &mut impl FnMut(Span)) {
    const MARK: &str = "://";
    for at in places(text, MARK) {
        work::bytes_read(MARK.len());
        let start = at + MARK.len();
        let bytes = &text.as_bytes()[start..];
        let ends = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'' | b'<' | b'>' | b'`')
        };
        let len = bytes
            .iter()
            .take(USER_INFO_BYTES_MAX)
            .position(ends)
            .unwrap_or(bytes.len().min(USER_INFO_BYTES_MAX));
        let Some(at_sign) = bytes[..len].iter().rposition(|byte| *byte == b'@') else {
            continue;
        };
        let mark = bytes[..at_sign]
            .iter()
            .position(|byte| matches!(byte, b':' | b'?' | b'#'));
        let Some(colon) = mark.filter(|at| bytes[*at] == b':') else {
            continue;
        };
        // `host:8080?x@y` has a port and no password.
        let digits = bytes[colon + 1..at_sign]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if matches!(bytes[colon + 1 + digits], b'?' | b'#') {
            continue;
        }
        let password = Span::new(start + colon + 1, start + at_sign);
        if let Some(secret) =
            secret_in(Name::Password, text, password, Place::Value).or_else(|| short(text, password))
        {
            hit(secret);
        }
    }
    find_in_oracle_urls(text, hit);
    work::bytes_read(text.len());
}

/// Finds the passwords of `jdbc:oracle:thin:user/password@host`.
fn find_in_oracle_urls(text: &str, hit: &mut impl FnMut(Span)) {
    const MARK: &str = ":oracle:";
    for at in places(text, MARK) {
        let start = at + MARK.len();
        let rest = &text.as_bytes()[start..];
        let rest = &rest[..rest.len().min(USER_INFO_BYTES_MAX)];
        let len = rest
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || *byte == b'"')
            .unwrap_or(rest.len());
        let Some(at_sign) = rest[..len].iter().position(|byte| *byte == b'@') else {
            continue;
        };
        if let Some(slash) = rest[..at_sign].iter().position(|byte| *byte == b'/') {
            let password = Span::new(start + slash + 1, start + at_sign);
            if let Some(secret) = secret_in(Name::Password, text, password, Place::Value) {
                hit(secret);
            }
        }
    }
}

/// Shorter passwords than elsewhere: nothing else stands between the user and the host.
fn short(text: &str, password: Span) -> Option<Span> {
    let value = &text[password.start..password.end];
    (matches!(value.len(), 1 | 2) && !value.starts_with('*')).then_some(password)
}

const SCHEME: &str = "basic";
const ENCODED_BYTES_MIN: usize = 4;
const ENCODED_BYTES_MAX: usize = 1024;

const DECODER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes that a text in base64 encodes.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    DECODER.decode(text).unwrap_or_default()
}

/// Finds what follows `Basic` and decodes to a user and a password.
pub(super) fn find_basic(text: &str, hit: &mut impl FnMut(Span)) {
    let bytes = text.as_bytes();
    work::bytes_read(bytes.len());
    for (at, window) in bytes.windows(SCHEME.len()).enumerate() {
        // The middle letter decides nearly always.
        if window[2] | 0x20 != b's'
            || !window.eq_ignore_ascii_case(SCHEME.as_bytes())
            || blocked_before(text, at)
        {
            continue;
        }
        let end = at + SCHEME.len();
        let start = match &bytes[end..] {
            [b' ' | b'+' | b':', ..] => end + 1,
            [b'%', b'2', b'0', ..] => end + 3,
            _ => continue,
        };
        let belongs =
            |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
        let len = bytes[start..]
            .iter()
            .take(ENCODED_BYTES_MAX)
            .take_while(belongs)
            .count();
        let decoded = decoded(&text[start..start + len]);
        let is_pair = decoded.contains(&b':') && decoded.iter().all(|byte| *byte >= b' ');
        if len >= ENCODED_BYTES_MIN && is_pair {
            hit(Span::new(start, start + len));
        }
    }
}
