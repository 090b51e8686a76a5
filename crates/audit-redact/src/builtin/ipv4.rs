//! IPv4 addresses.

use crate::scan::context::{Keywords, word};
use crate::scan::digits::{each_digit_group, group_end, is_digit_at};
use crate::scan::edge::{blocked_after, blocked_before};
use crate::scan::exclusion::is_octet;
use crate::scan::{Span, Subject};

/// Keywords that identify four numbers behind them as a version.
const VERSION_KEYWORDS: &Keywords = &Keywords::new(&[
    word("version"),
    word("ver"),
    word("release"),
    word("build"),
    word("revision"),
    word("firmware"),
]);

/// Greatest distance between such a keyword and the version.
const VERSION_CHARS: usize = 16;

pub(super) fn find(subject: Subject<'_>, mut hit: impl FnMut(Span)) {
    let mut end = 0;
    each_digit_group(subject.text, |start| {
        if start < end {
            return;
        }
        if let Some(span) = address_at(subject, start) {
            end = span.end;
            hit(span);
        }
    });
}

fn address_at(subject: Subject<'_>, start: usize) -> Option<Span> {
    let bytes = subject.bytes();
    let mut at = start;
    for octet in 0..4 {
        if octet > 0 {
            if bytes.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let end = group_end(bytes, at.min(bytes.len()));
        if !is_octet(bytes.get(at..end)?) {
            return None;
        }
        at = end;
    }
    let dotted_on = bytes.get(at) == Some(&b'.') && is_digit_at(bytes, at + 1);
    let suffixed =
        matches!(bytes.get(at), Some(b'-' | b'+')) && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
    let free = !blocked_before(subject.text, start) && !blocked_after(subject.text, at);
    let version = bytes[..start].ends_with(b".")
        || is_product_version(&bytes[..start])
        || (!subject.text[..start].ends_with("://")
            && VERSION_KEYWORDS.end_within(VERSION_CHARS, &subject, start));
    (free && !dotted_on && !suffixed && !version).then(|| Span::new(start, at))
}

/// Whether a product name and a slash precede the address, as in `Chrome/120.0.0.0`.
fn is_product_version(before: &[u8]) -> bool {
    match before {
        [.., name, b'/'] => name.is_ascii_alphanumeric(),
        _ => false,
    }
}
