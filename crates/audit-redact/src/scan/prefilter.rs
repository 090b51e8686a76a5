//! The prefilter: decides in one pass which built-in rules can match a string at all.
//!
//! Nearly every string of an audit event is clean, so the prefilter determines the speed of the crate. It looks up each
//! byte in one table for each position of a [`Form`] of three bytes, without a branch. False positives are allowed,
//! because the rules check every candidate. False negatives are not.

mod forms;

use crate::work;
use forms::{FIRST, FORMS, NAMES, SECOND, THIRD};

/// A set of byte sequences that a text contains. Each rule needs at least one of its hints in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints(u32);

impl Hints {
    pub(crate) const NONE: Hints = Hints(0);
    /// `@` or `%40`.
    pub(crate) const AT: Hints = Hints(1);
    /// The first three characters of a JSON object in base64url.
    pub(crate) const ENCODED_JSON: Hints = Hints(1 << 1);
    /// `bea`, in any case.
    pub(crate) const BEARER: Hints = Hints(1 << 2);
    /// The first characters of an AWS key id or session token.
    pub(crate) const AWS_PREFIX: Hints = Hints(1 << 3);
    /// The end of a secret's name and what separates it from its value.
    pub(crate) const ASSIGNMENT: Hints = Hints(1 << 4);
    /// Three characters of the prefix of a vendor's key.
    pub(crate) const VENDOR_PREFIX: Hints = Hints(1 << 5);
    /// `sic`, in any case.
    pub(crate) const BASIC: Hints = Hints(1 << 6);
    /// `-BE`.
    pub(crate) const PEM: Hints = Hints(1 << 7);
    /// A full-width digit or at sign.
    pub(crate) const WIDE: Hints = Hints(1 << 8);
    /// The country of an IBAN and a digit, in a text with seven digits.
    pub(crate) const IBAN: Hints = Hints(1 << 9);
    /// Forty base64 characters in a row.
    pub(crate) const BASE64_RUN: Hints = Hints(1 << 10);
    /// Four digits or more, anywhere.
    pub(crate) const FEW_DIGITS: Hints = Hints(1 << 11);
    /// Seven digits or more, anywhere.
    pub(crate) const DIGITS: Hints = Hints(1 << 12);
    /// A space and an option of a command.
    pub(crate) const COMMAND: Hints = Hints(1 << 14);
    /// The key before the text may be the name of a secret.
    pub(crate) const NAMED: Hints = Hints(1 << 15);
    /// A word for a code.
    pub(crate) const CODE: Hints = Hints(1 << 17);
    /// More digits than the account of an ARN and another number have.
    pub(crate) const MANY_DIGITS: Hints = Hints(1 << 16);
    /// Any text that is long enough.
    pub(crate) const ANY: Hints = Hints(1 << 13);

    pub(crate) const fn union(self, other: Hints) -> Hints {
        Hints(self.0 | other.0)
    }

    const fn without(self, other: Hints) -> Hints {
        Hints(self.0 & !other.0)
    }

    pub(crate) const fn intersects(self, other: Hints) -> bool {
        self.0 & other.0 != 0
    }
}

/// No rule matches a text shorter than this.
const TEXT_BYTES_MIN: usize = 6;

const FEW_DIGITS_MIN: usize = 4;
const DIGITS_MIN: usize = 7;
/// Those of an AWS account and [`DIGITS_MIN`].
const MANY_DIGITS_MIN: usize = 12 + DIGITS_MIN;
const BASE64_RUN_CHARS: usize = 40;

/// Bytes of a text that is short: no key and no token fits into it.
const SHORT_BYTES_MAX: usize = 17;

/// The hints in a text.
#[inline]
pub(crate) fn hints(text: &[u8]) -> Hints {
    work::bytes_read(text.len());
    if text.len() < TEXT_BYTES_MIN {
        return Hints::NONE;
    }
    let (seen, digits) = if text.len() > SHORT_BYTES_MAX {
        scan(text)
    } else {
        scan_short(text)
    };
    let mut seen = seen.union(Hints::ANY);
    if digits >= FEW_DIGITS_MIN {
        seen = seen.union(Hints::FEW_DIGITS);
    }
    if digits < DIGITS_MIN {
        seen = seen.without(Hints::IBAN);
    } else if digits < MANY_DIGITS_MIN {
        seen = seen.union(Hints::DIGITS);
    } else {
        seen = seen.union(Hints::DIGITS).union(Hints::MANY_DIGITS);
    }
    if text.len() >= BASE64_RUN_CHARS && has_base64_run(text) {
        seen = seen.union(Hints::BASE64_RUN);
    }
    seen
}

/// Whether the last two bytes may be those of a secret's name.
#[inline]
pub(crate) fn may_end_name(name: &[u8]) -> bool {
    name.last_chunk::<2>().is_some_and(|[one, two]| {
        FIRST[usize::from(*one)] & SECOND[usize::from(*two)] & NAMES != 0 || two.is_ascii_digit()
    })
}

/// The hints of the forms in a text, and the number of its digits.
fn scan(text: &[u8]) -> (Hints, usize) {
    const BLOCK_BYTES: usize = 8;
    let mut lanes = Lanes::default();
    let (blocks, rest) = text.as_chunks::<BLOCK_BYTES>();
    for block in blocks {
        for byte in block {
            lanes.push(*byte);
        }
    }
    for byte in rest {
        lanes.push(*byte);
    }
    let mut forms = lanes.three;
    let mut seen = Hints::NONE;
    while forms != 0 {
        seen = seen.union(FORMS[forms.trailing_zeros() as usize].hint);
        forms &= forms - 1;
    }
    (seen, digits(text))
}

/// The number of digits in a text.
fn digits(text: &[u8]) -> usize {
    /// A sum of bytes has no room for more. The processor adds sixteen of them at once.
    const PART_BYTES: usize = 128;
    let count = |part: &[u8]| {
        part.iter()
            .map(|byte| u8::from(byte.is_ascii_digit()))
            .sum::<u8>()
    };
    text.chunks(PART_BYTES).map(|part| usize::from(count(part))).sum()
}

/// The forms of which the bytes so far are a part.
#[derive(Default)]
struct Lanes {
    /// The forms whose first byte is the last one.
    one: u64,
    /// The forms whose first two bytes are the last two.
    two: u64,
    /// The forms that are complete.
    three: u64,
}

impl Lanes {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        let byte = usize::from(byte);
        self.three |= self.two & THIRD[byte];
        self.two = self.one & SECOND[byte];
        self.one = FIRST[byte];
    }
}

/// Counters packed into one number, by byte: bits 0 to 7 count digits, bits 8 to 15 `b` and `B`, bits 16 and up the
/// other bytes of which a hint in a short text has at least one.
const SHORT_MARKS: [u32; 256] = {
    let mut marks = [0; 256];
    let mut digit = b'0';
    while digit <= b'9' {
        marks[digit as usize] = 1;
        digit += 1;
    }
    // 0xef is the first byte of a full-width colon.
    let others = b"@%=: \t(>\"'`\\\xef";
    let mut at = 0;
    while at < others.len() {
        marks[others[at] as usize] = SHORT_OTHER;
        at += 1;
    }
    marks[b'b' as usize] = SHORT_B;
    marks[b'B' as usize] = SHORT_B;
    marks
};
const SHORT_B: u32 = 1 << 8;
const SHORT_OTHER: u32 = 1 << 16;

/// Scans a short text. Only an address, an assignment, a token behind `bearer`, a code and an IBAN fit into it, so most
/// short texts have none of the bytes that the tables would find.
fn scan_short(text: &[u8]) -> (Hints, usize) {
    const BEARER_BYTES_MIN: usize = "bearer 123456".len();
    const IBAN_BYTES_MIN: usize = "NO9386011117947".len();
    let marks: u32 = text.iter().map(|byte| SHORT_MARKS[usize::from(*byte)]).sum();
    if marks >= SHORT_OTHER || (marks >= SHORT_B && text.len() >= BEARER_BYTES_MIN) {
        return scan(text);
    }
    let seen = if text.len() >= IBAN_BYTES_MIN {
        Hints::IBAN
    } else {
        Hints::NONE
    };
    (seen, (marks & (SHORT_B - 1)) as usize)
}

/// Whether the text has forty consecutive base64 characters. Searches each window from its end: the rightmost other
/// character is the earliest start of the next window, so ordinary text is skipped in strides.
fn has_base64_run(text: &[u8]) -> bool {
    let mut start = 0;
    while let Some(window) = text
        .get(start..)
        .and_then(|rest| rest.first_chunk::<BASE64_RUN_CHARS>())
    {
        match window.iter().rposition(|byte| !BASE64[usize::from(*byte)]) {
            None => return true,
            Some(gap) => start += gap + 1,
        }
    }
    false
}

/// By byte: whether it is a base64 character. `%` counts as one because the text may be percent-encoded.
pub(crate) static BASE64: [bool; 256] = {
    let mut base64 = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        base64[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'+' | b'/' | b'%');
        byte += 1;
    }
    base64
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_seen_at_every_offset() {
        let cases: &[(&str, Hints)] = &[
            ("@", Hints::AT),
            ("%40", Hints::AT),
            ("eyJ", Hints::ENCODED_JSON),
            ("eyA", Hints::ENCODED_JSON),
            ("ewo", Hints::ENCODED_JSON),
            ("BEARER", Hints::BEARER),
            ("bearer", Hints::BEARER),
            ("AKIA", Hints::AWS_PREFIX),
            ("ASIA", Hints::AWS_PREFIX),
            ("ABIA", Hints::AWS_PREFIX),
            ("ACCA", Hints::AWS_PREFIX),
            ("IQoJ", Hints::AWS_PREFIX),
            ("FwoG", Hints::AWS_PREFIX),
            ("1234567", Hints::DIGITS.union(Hints::FEW_DIGITS)),
            ("1.2.3.4", Hints::FEW_DIGITS),
            ("password=", Hints::ASSIGNMENT),
            ("--", Hints::ASSIGNMENT),
            ("COOKIE:", Hints::ASSIGNMENT),
            ("SECRET:", Hints::ASSIGNMENT),
            ("ghp_", Hints::VENDOR_PREFIX),
            ("github_pat_", Hints::VENDOR_PREFIX),
            ("glpat-", Hints::VENDOR_PREFIX),
            ("xoxb-", Hints::VENDOR_PREFIX),
            ("xapp-", Hints::VENDOR_PREFIX),
            ("sk_live_", Hints::VENDOR_PREFIX),
            ("AIza", Hints::VENDOR_PREFIX),
            ("ya29.", Hints::VENDOR_PREFIX),
            ("GOCSPX-", Hints::VENDOR_PREFIX),
            ("npm_", Hints::VENDOR_PREFIX),
            ("whsec_", Hints::VENDOR_PREFIX),
            ("rk_live_", Hints::VENDOR_PREFIX),
            ("shpat_", Hints::VENDOR_PREFIX),
            ("hooks.slack.com", Hints::VENDOR_PREFIX),
            ("dp.st.", Hints::VENDOR_PREFIX),
            (".atlasv1.", Hints::VENDOR_PREFIX),
            ("cod", Hints::CODE),
            ("connect('", Hints::ASSIGNMENT),
            ("Basic", Hints::BASIC),
            (" = ", Hints::ASSIGNMENT),
            (" is ", Hints::ASSIGNMENT),
            ("-----BEGIN", Hints::ASSIGNMENT.union(Hints::PEM)),
            ("\u{ff11}", Hints::WIDE),
            ("\u{ff20}", Hints::WIDE),
        ];
        for (sign, expected) in cases {
            for before in 0..40 {
                for after in 20..40 {
                    let text = format!("{}{sign}{}", ".".repeat(before), ".".repeat(after));
                    assert_eq!(hints(text.as_bytes()), expected.union(Hints::ANY), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_hint_is_seen_in_a_short_text_and_at_the_end() {
        for (text, sign) in [
            ("a@b.co", Hints::AT),
            ("a%40b.co", Hints::AT),
            ("Bearer abc123", Hints::BEARER),
            ("my bearer abc123", Hints::BEARER),
            ("+3312345678", Hints::DIGITS),
            ("xxxxxxxxxxxxxxxxxxxxxxx 1234567", Hints::DIGITS),
            ("1234567", Hints::DIGITS),
            ("xxxxxxxxxxxx123-4567", Hints::DIGITS),
        ] {
            assert!(hints(text.as_bytes()).intersects(sign), "{text}");
        }
    }

    #[test]
    fn digits_are_counted_in_long_texts() {
        for blocks in [12, 13, 14, 15, 16, 1000] {
            assert!(hints(&vec![b'1'; blocks * 16]).intersects(Hints::DIGITS));
            let mut text = vec![b'x'; blocks * 16];
            text.extend(b"1111111");
            assert!(hints(&text).intersects(Hints::DIGITS));
        }
    }

    #[test]
    fn digits_are_counted_exactly() {
        for len in 6..100 {
            let mut text = vec![b'x'; len];
            for at in 0..6 {
                text[at * (len - 1) / 5] = b'7';
            }
            assert!(!hints(&text).intersects(Hints::DIGITS), "{len}");
        }
    }

    #[test]
    fn a_base64_run_of_forty_is_seen_and_one_of_thirty_nine_is_not() {
        for before in 0..90 {
            let text = |run: usize| format!("{} {} x", ".".repeat(before), "q".repeat(run));
            assert_eq!(hints(text(40).as_bytes()), Hints::BASE64_RUN.union(Hints::ANY));
            assert_eq!(hints(text(39).as_bytes()), Hints::ANY);
        }
    }
}
