//! Groups of digits, and chains of groups.

use super::Span;
use super::edge::percent_escape_at;
use super::exclusion::is_octet;
use super::punctuation::{Separator, separator_at, separator_before};
use crate::work;

/// A card number has at most five groups; the sixth shows that the chain continues.
const GROUPS_MAX: usize = 6;

/// Groups of digits with one separator between adjacent groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    groups: [Span; GROUPS_MAX],
    separators: [Option<Separator>; GROUPS_MAX],
    len: usize,
}

impl Chain {
    /// Reads the chain whose first group begins at `start`.
    pub(crate) fn read(text: &str, start: usize) -> Chain {
        let mut chain = Chain {
            groups: [Span::new(start, start); GROUPS_MAX],
            separators: [None; GROUPS_MAX],
            len: 0,
        };
        let mut at = start;
        while chain.len < GROUPS_MAX {
            let end = group_end(text.as_bytes(), at);
            chain.groups[chain.len] = Span::new(at, end);
            chain.len += 1;
            let Some((separator, len)) = separator_at(text, end) else {
                break;
            };
            if !is_digit_at(text.as_bytes(), end + len) {
                break;
            }
            chain.separators[chain.len - 1] = Some(separator);
            at = end + len;
        }
        chain
    }

    pub(crate) fn groups(&self) -> &[Span] {
        &self.groups[..self.len]
    }

    /// The separator between group `index` and the next group, if there is one.
    pub(crate) fn separator(&self, index: usize) -> Option<Separator> {
        self.separators.get(index).copied().flatten()
    }

    pub(crate) fn digits(&self) -> usize {
        self.groups().iter().map(|group| group.len()).sum()
    }
}

/// Most bytes between two digits of one number.
const GAP_BYTES_MAX: usize = 9;

/// By byte: whether it is a digit or may stand between two digits of one number.
const BELONGS: [bool; 256] = {
    let mut belongs = [false; 256];
    let bytes = b"0123456789 -.()/+%_\t";
    let mut at = 0;
    while at < bytes.len() {
        belongs[bytes[at] as usize] = true;
        at += 1;
    }
    let mut byte = 0x80;
    while byte < 256 {
        belongs[byte] = true;
        byte += 1;
    }
    belongs
};

/// Calls `visit` with the start of every group of digits in a stretch. A stretch has at least `DIGITS_MIN` digits
/// with only punctuation between them. Times, versions and addresses have fewer, so most texts have none.
pub(crate) fn each_group<const DIGITS_MIN: usize>(text: &str, mut visit: impl FnMut(usize)) {
    let bytes = text.as_bytes();
    each_run::<DIGITS_MIN>(bytes, &BELONGS, |run| {
        each_stretch::<DIGITS_MIN>(bytes, run.start, run.end, &mut visit);
    });
}

/// Calls `visit` with each run of at least `BYTES_MIN` bytes that belong to a set. The search advances in strides of that
/// length.
#[inline(always)]
pub(crate) fn each_run<const BYTES_MIN: usize>(bytes: &[u8], set: &[bool; 256], mut visit: impl FnMut(Span)) {
    work::bytes_read(bytes.len());
    let belongs = |byte: &u8| set[usize::from(*byte)];
    let mut at = 0;
    while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BYTES_MIN>()) {
        if let Some(gap) = window.iter().rposition(|byte| !belongs(byte)) {
            at += gap + 1;
            continue;
        }
        let behind = &bytes[at + BYTES_MIN..];
        let end = at + BYTES_MIN + behind.iter().take_while(|byte| belongs(byte)).count();
        visit(Span::new(at, end));
        at = end + 1;
    }
}

/// Does the same in `from..to`, which has only digits and punctuation, and splits it at gaps that are too wide.
fn each_stretch<const DIGITS_MIN: usize>(
    bytes: &[u8],
    from: usize,
    to: usize,
    visit: &mut impl FnMut(usize),
) {
    let mut at = from;
    while let Some(offset) = bytes[at..to].iter().position(u8::is_ascii_digit) {
        let start = at + offset;
        let mut digits = 0;
        let mut gap = 0;
        at = start;
        while at < to {
            if bytes[at].is_ascii_digit() {
                digits += 1;
                gap = 0;
            } else if gap < GAP_BYTES_MAX {
                gap += 1;
            } else {
                break;
            }
            at += 1;
        }
        work::bytes_read(at - start);
        if digits >= DIGITS_MIN && !is_address(&bytes[start..at]) {
            each_group_of(bytes, start, at, visit);
        }
    }
}

/// Calls `visit` with the start of every group of digits in the text.
pub(crate) fn each_digit_group(text: &str, mut visit: impl FnMut(usize)) {
    each_group_of(text.as_bytes(), 0, text.len(), &mut visit);
}

/// Whether a stretch is exactly an IPv4 address. This is the most frequent kind of stretch, and no number rule
/// matches in it.
#[inline]
pub(crate) fn is_address(stretch: &[u8]) -> bool {
    const ADDRESS_BYTES_MAX: usize = 15;
    if stretch.len() > ADDRESS_BYTES_MAX || !stretch.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let mut parts = stretch.split(|byte| *byte == b'.');
    (0..4).all(|_| parts.next().is_some_and(is_octet)) && parts.next().is_none()
}

fn each_group_of(bytes: &[u8], start: usize, end: usize, visit: &mut impl FnMut(usize)) {
    let mut at = start;
    while let Some(offset) = bytes[at..end].iter().position(u8::is_ascii_digit) {
        let mut start = at + offset;
        // The digits of `%20` belong to an escape.
        if start > 0 && bytes[start - 1] == b'%' && percent_escape_at(bytes, start - 1).is_some() {
            start += 2;
        }
        if is_digit_at(bytes, start) {
            visit(start);
        }
        work::bytes_read(offset);
        at = group_end(bytes, start.min(end)).min(end);
        if at < start {
            return;
        }
    }
}

/// The separator before the group at `start` and the length of the group before that, if both exist.
pub(crate) fn group_before(text: &str, start: usize) -> Option<(Separator, usize)> {
    let (separator, len) = separator_before(text, start)?;
    let before = &text.as_bytes()[..start - len];
    let digits = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    work::bytes_read(digits);
    (digits > 0).then_some((separator, digits))
}

/// The end of the group that begins at `start`. `start` is at most the length of the text.
pub(crate) fn group_end(bytes: &[u8], start: usize) -> usize {
    let digits = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    work::bytes_read(digits);
    start + digits
}

pub(crate) fn is_digit_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(text: &str) -> Vec<usize> {
        let mut starts = Vec::new();
        each_group::<7>(text, |start| starts.push(start));
        starts
    }

    #[test]
    fn groups_are_visited_at_every_offset_of_their_stretch() {
        for before in ["", "x", "xxxxxxx ", "12 ab ", "....xx"] {
            for behind in ["", "x", " xxxxxxxxx", "x12", "-."] {
                let start = before.len();
                for (number, groups) in [
                    ("1234567", vec![start]),
                    ("123-4567", vec![start, start + 4]),
                    ("123         4567", vec![start, start + 12]),
                    ("+1 (23) 4567", vec![start + 1, start + 4, start + 8]),
                ] {
                    assert_eq!(visited(&format!("{before}{number}{behind}")), groups, "{number}");
                }
            }
        }
    }

    #[test]
    fn stretches_with_too_few_digits_or_too_wide_gaps_are_skipped() {
        for text in [
            "",
            "123456",
            "12:34:56:78",
            "123          4567",
            "10.248.116.43",
            "12a34567",
        ] {
            assert_eq!(visited(text), Vec::<usize>::new(), "{text}");
        }
    }
}
