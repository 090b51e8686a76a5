//! Digit sequences that identify no person. The number rules match nothing inside them.

use super::Span;
use crate::work;

/// Whether the span overlaps a UUID, an IPv4 address, a date or timestamp, an IBAN or a long run of hex digits.
pub(crate) fn is_excluded(text: &str, span: Span) -> bool {
    let bytes = text.as_bytes();
    in_uuid(bytes, span)
        || in_ipv4(bytes, span)
        || in_date(bytes, span)
        || in_iban(bytes, span)
        || in_hex_run(bytes, span)
}

const UUID_BYTES: usize = 36;

fn in_uuid(bytes: &[u8], span: Span) -> bool {
    let first = span.start.saturating_sub(UUID_BYTES - 1);
    (first..span.end).any(|start| {
        bytes.get(start..start + UUID_BYTES).is_some_and(|window| {
            window.iter().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
        })
    })
}

/// The span, extended on each side by at most `reach` bytes for which `belongs` holds.
fn run_around(bytes: &[u8], span: Span, reach: usize, belongs: impl Fn(u8) -> bool) -> Span {
    let before = bytes[..span.start]
        .iter()
        .rev()
        .take(reach)
        .take_while(|byte| belongs(**byte))
        .count();
    let after = bytes[span.end..]
        .iter()
        .take(reach)
        .take_while(|byte| belongs(**byte))
        .count();
    Span::new(span.start - before, span.end + after)
}

fn in_ipv4(bytes: &[u8], span: Span) -> bool {
    const ADDRESS_BYTES_MAX: usize = 15;
    let run = run_around(bytes, span, ADDRESS_BYTES_MAX, |byte| {
        byte.is_ascii_digit() || byte == b'.'
    });
    // A trailing dot ends a sentence; it is not part of the address.
    let run = bytes[run.start..run.end]
        .strip_suffix(b".")
        .unwrap_or(&bytes[run.start..run.end]);
    run.split(|byte| *byte == b'.').count() == 4 && run.split(|byte| *byte == b'.').all(is_octet)
}

/// A number from 0 to 255 without leading zeros.
pub(crate) fn is_octet(group: &[u8]) -> bool {
    matches!(
        group,
        [b'0'..=b'9']
            | [b'1'..=b'9', b'0'..=b'9']
            | [b'1', b'0'..=b'9', b'0'..=b'9']
            | [b'2', b'0'..=b'4', b'0'..=b'9']
            | [b'2', b'5', b'0'..=b'5']
    )
}

const HEX_RUN_BYTES_MIN: usize = 24;

fn in_hex_run(bytes: &[u8], span: Span) -> bool {
    let run = run_around(bytes, span, 128, |byte| byte.is_ascii_hexdigit());
    let run = &bytes[run.start..run.end];
    let core = run.len() >= HEX_RUN_BYTES_MIN && run.iter().all(u8::is_ascii_hexdigit);
    core && run.iter().any(u8::is_ascii_alphabetic)
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0u32, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum.wrapping_mul(10).wrapping_add(u32::from(byte - b'0')))
    })
}

/// `2024-01-15`, also with slashes or dots, `15.01.2024`, `20240115T103000` and `20240115103000`.
fn in_date(bytes: &[u8], span: Span) -> bool {
    const DATE_BYTES: usize = 10;
    let first = span.start.saturating_sub(DATE_BYTES - 1);
    let dashed = (first..span.end).any(|start| {
        bytes.get(start..start + DATE_BYTES).is_some_and(is_dashed_date)
            && !start
                .checked_sub(1)
                .is_some_and(|before| bytes[before].is_ascii_digit())
            && !bytes.get(start + DATE_BYTES).is_some_and(u8::is_ascii_digit)
    });
    dashed || is_compact_time(bytes, span)
}

fn is_dashed_date(date: &[u8]) -> bool {
    let separator = |byte: u8| matches!(byte, b'-' | b'/' | b'.');
    let year_first = date[4] == date[7] && separator(date[4]);
    let year_last = date[2] == date[5] && separator(date[2]);
    let parts = if year_first {
        [&date[..4], &date[5..7], &date[8..]]
    } else if year_last {
        [&date[6..], &date[3..5], &date[..2]]
    } else {
        return false;
    };
    let [Some(year), Some(month), Some(day)] = parts.map(number) else {
        return false;
    };
    let month_and_day = (1..=12).contains(&month) && (1..=31).contains(&day);
    let day_and_month = year_last && (1..=31).contains(&month) && (1..=12).contains(&day);
    (1900..2200).contains(&year) && (month_and_day || day_and_month)
}

/// `YYYYMMDDhhmmss` with or without a fraction, or `YYYYMMDD` before a `T`.
fn is_compact_time(bytes: &[u8], span: Span) -> bool {
    let run = run_around(bytes, span, 20, |byte| byte.is_ascii_digit());
    let digits = &bytes[run.start..run.end];
    let date = digits.len() >= 8
        && matches!(
            [&digits[..4], &digits[4..6], &digits[6..8]].map(number),
            [Some(1900..2200), Some(1..=12), Some(1..=31)]
        );
    if !date {
        return false;
    }
    match digits.len() {
        8 => true,
        14 | 17 => matches!(
            [&digits[8..10], &digits[10..12], &digits[12..14]].map(number),
            [Some(0..24), Some(0..60), Some(0..=60)]
        ),
        _ => false,
    }
}

const IBAN_CHARS_MIN: usize = 15;
pub(crate) const IBAN_CHARS_MAX: usize = 34;

/// Whether the span lies in an IBAN with valid check digits, written with or without groups.
fn in_iban(bytes: &[u8], span: Span) -> bool {
    // In groups of four, a space follows every fourth character.
    const IBAN_BYTES_MAX: usize = IBAN_CHARS_MAX + IBAN_CHARS_MAX / 4;
    let first = span.start.saturating_sub(IBAN_BYTES_MAX);
    (first..span.start).any(|start| {
        let free = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
        let head = bytes.get(start..start + 4).is_some_and(|head| {
            head[..2].iter().all(u8::is_ascii_uppercase) && head[2..].iter().all(u8::is_ascii_digit)
        });
        free && head && iban_covers(&bytes[start..], span.end - start)
    })
}

/// Whether an IBAN at the start of `bytes` extends at least to `end`.
fn iban_covers(bytes: &[u8], end: usize) -> bool {
    let mut chars = [0u8; IBAN_CHARS_MAX];
    let mut len = 0;
    for (at, byte) in bytes.iter().enumerate() {
        // Any number of spaces may follow a character.
        work::bytes_read(1);
        if byte.is_ascii_digit() || byte.is_ascii_uppercase() {
            if len == IBAN_CHARS_MAX {
                return false;
            }
            chars[len] = *byte;
            len += 1;
            let ends = !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
            if at + 1 >= end && ends && len >= IBAN_CHARS_MIN && iban_checks(&chars[..len]) {
                return true;
            }
        } else if *byte != b' ' {
            return false;
        }
    }
    false
}

/// Whether the check digits are right (ISO 13616, ISO 7064 MOD 97-10).
pub(crate) fn iban_checks(iban: &[u8]) -> bool {
    let (head, rest) = iban.split_at(4);
    let remainder = rest.iter().chain(head).fold(0u32, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        _ => (remainder * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    remainder == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(text: &str, part: &str) -> bool {
        let start = text.find(part).unwrap();
        is_excluded(text, Span::new(start, start + part.len()))
    }

    #[test]
    fn digits_inside_uuids_addresses_dates_and_ibans_are_excluded() {
        for (text, part) in [
            ("id 41111111-1111-4111-8111-111111111111", "1111-4111"),
            ("10.248.116.43:8080", "248.116.43"),
            ("2024-01-15T10:30:00Z", "2024-01-15"),
            ("on 15.01.2024", "15.01.2024"),
            ("20240115T103000Z", "20240115"),
            ("20240115103000", "20240115103000"),
            ("DE89370400440532013000", "370400440532013000"),
            ("DE89 3704 0044 0532 0130 00", "3704 0044 0532"),
            ("4bf92f3577b34da6a3ce929d0e0e4736", "3577"),
        ] {
            assert!(excluded(text, part), "{text}");
        }
    }

    #[test]
    fn near_misses_are_not_excluded() {
        for (text, part) in [
            ("DE88 3704 0044 0532 0130 00", "3704 0044 0532"),
            ("212.555.1234", "212.555.1234"),
            ("1.2.3.4.5", "2.3.4"),
            ("123456789", "123456789"),
        ] {
            assert!(!excluded(text, part), "{text}");
        }
    }
}
