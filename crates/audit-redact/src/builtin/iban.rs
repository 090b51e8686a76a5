//! International bank account numbers (ISO 13616): a country, two check digits, and the account, with the check of
//! ISO 7064.

use crate::scan::digits::each_run;
use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::exclusion::{IBAN_CHARS_MAX, iban_checks};
use crate::scan::{Span, Subject};

/// The countries and the lengths of their numbers (IBAN registry, SWIFT).
const LENGTHS: &[([u8; 2], usize)] = &[
    (*b"AD", 24),
    (*b"AE", 23),
    (*b"AL", 28),
    (*b"AT", 20),
    (*b"AZ", 28),
    (*b"BA", 20),
    (*b"BE", 16),
    (*b"BG", 22),
    (*b"BH", 22),
    (*b"BI", 27),
    (*b"BR", 29),
    (*b"BY", 28),
    (*b"CH", 21),
    (*b"CR", 22),
    (*b"CY", 28),
    (*b"CZ", 24),
    (*b"DE", 22),
    (*b"DJ", 27),
    (*b"DK", 18),
    (*b"DO", 28),
    (*b"EE", 20),
    (*b"EG", 29),
    (*b"ES", 24),
    (*b"FI", 18),
    (*b"FK", 18),
    (*b"FO", 18),
    (*b"FR", 27),
    (*b"GB", 22),
    (*b"GE", 22),
    (*b"GI", 23),
    (*b"GL", 18),
    (*b"GR", 27),
    (*b"GT", 28),
    (*b"HN", 28),
    (*b"HR", 21),
    (*b"HU", 28),
    (*b"IE", 22),
    (*b"IL", 23),
    (*b"IQ", 23),
    (*b"IS", 26),
    (*b"IT", 27),
    (*b"JO", 30),
    (*b"KW", 30),
    (*b"KZ", 20),
    (*b"LB", 28),
    (*b"LC", 32),
    (*b"LI", 21),
    (*b"LT", 20),
    (*b"LU", 20),
    (*b"LV", 21),
    (*b"LY", 25),
    (*b"MC", 27),
    (*b"MD", 24),
    (*b"ME", 22),
    (*b"MK", 19),
    (*b"MN", 20),
    (*b"MR", 27),
    (*b"MT", 31),
    (*b"MU", 30),
    (*b"NI", 28),
    (*b"NL", 18),
    (*b"NO", 15),
    (*b"OM", 23),
    (*b"PK", 24),
    (*b"PL", 28),
    (*b"PS", 29),
    (*b"PT", 25),
    (*b"QA", 29),
    (*b"RO", 24),
    (*b"RS", 22),
    (*b"RU", 33),
    (*b"SA", 24),
    (*b"SC", 31),
    (*b"SD", 18),
    (*b"SE", 24),
    (*b"SI", 19),
    (*b"SK", 24),
    (*b"SM", 27),
    (*b"SO", 23),
    (*b"ST", 25),
    (*b"SV", 28),
    (*b"TL", 23),
    (*b"TN", 24),
    (*b"TR", 26),
    (*b"UA", 29),
    (*b"VA", 22),
    (*b"VG", 24),
    (*b"XK", 20),
    (*b"YE", 30),
];

/// Length of the shortest number, that of Norway.
const IBAN_CHARS_MIN: usize = 15;
/// By byte: one for a letter, two for a digit. Two bits, so that a byte holds the classes of four characters.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        classes[byte] = ascii.is_ascii_alphabetic() as u8 | (ascii.is_ascii_digit() as u8) << 1;
        byte += 1;
    }
    classes
};
/// By byte: whether it is a letter, a digit or a space.
const BELONGS: [bool; 256] = {
    let mut belongs = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        belongs[byte] = CLASSES[byte] != 0 || byte == b' ' as usize;
        byte += 1;
    }
    belongs
};
/// Two letters and two digits.
const HEAD_CLASSES: u8 = 0b01_01_10_10;
/// Characters in a printed group.
const GROUP_CHARS: usize = 4;

pub(super) fn find(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let bytes = subject.bytes();
    each_run::<IBAN_CHARS_MIN>(bytes, &BELONGS, |run| {
        let mut free = run.start;
        let mut classes = 0_u8;
        for last in run.start..run.end {
            classes = classes << 2 | CLASSES[usize::from(bytes[last])];
            if classes != HEAD_CLASSES {
                continue;
            }
            let at = last + 1 - GROUP_CHARS;
            if at >= free
                && !blocked_before(subject.text, at)
                && let Some(end) = end_at(subject.text, at)
            {
                hit(Span::new(at, end));
                free = end;
            }
        }
    });
}

/// The end of the valid number that begins at `start`.
fn end_at(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let head = bytes.get(start..start + GROUP_CHARS)?;
    let upper = head[0].is_ascii_uppercase();
    let letter = |byte: u8| {
        if upper {
            byte.is_ascii_uppercase()
        } else {
            byte.is_ascii_lowercase()
        }
    };
    if !(letter(head[0]) && letter(head[1]) && head[2].is_ascii_digit() && head[3].is_ascii_digit()) {
        return None;
    }
    let country = [head[0].to_ascii_uppercase(), head[1].to_ascii_uppercase()];
    let (_, length) = LENGTHS.iter().find(|(known, _)| *known == country)?;
    let mut chars = [0; IBAN_CHARS_MAX];
    let mut at = start;
    for (len, slot) in chars[..*length].iter_mut().enumerate() {
        // One space between groups of four.
        if len > 0 && len.is_multiple_of(GROUP_CHARS) && bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        let byte = bytes
            .get(at)
            .filter(|byte| byte.is_ascii_digit() || letter(**byte))?;
        *slot = byte.to_ascii_uppercase();
        at += 1;
    }
    (!blocked_after(text, at) && iban_checks(&chars[..*length])).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::found_in;
    use super::*;

    #[test]
    fn a_number_with_right_check_digits_is_found_with_or_without_groups() {
        for (text, number) in [
            ("IBAN DE89370400440532013000.", Some("DE89370400440532013000")),
            ("GB29 NWBK 6016 1331 9268 19", Some("GB29 NWBK 6016 1331 9268 19")),
            (
                "to fr1420041010050500013m02606 now",
                Some("fr1420041010050500013m02606"),
            ),
            ("NO93 8601 1117 947 today", Some("NO93 8601 1117 947")),
            ("DE88370400440532013000", None),
            ("XDE89370400440532013000", None),
            ("DE89370400440532013000X1", None),
        ] {
            let found = found_in(text, |subject, hit| find(subject, hit));
            assert_eq!(found, number.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}
