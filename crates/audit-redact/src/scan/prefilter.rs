//! The prefilter: decides in one pass which built-in rules can match a string at all.
//!
//! Nearly every string of an audit event is clean, so the prefilter determines the speed of the crate. It compares
//! bytes without branches, in blocks of fixed size, which the compiler vectorises. False positives are allowed,
//! because the rules check every candidate. False negatives are not.

use crate::work;

/// A set of byte sequences that a text contains. Each rule needs at least one of its hints in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints(u16);

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
    /// What separates a secret's name from its value.
    pub(crate) const ASSIGNMENT: Hints = Hints(1 << 4);
    /// Three characters of the prefix of a vendor's key of `-BEGIN` or of `Basic`.
    pub(crate) const SECRET_PREFIX: Hints = Hints(1 << 5);
    /// A full-width digit or at sign.
    pub(crate) const WIDE: Hints = Hints(1 << 6);
    /// Forty base64 characters in a row.
    pub(crate) const BASE64_RUN: Hints = Hints(1 << 8);
    /// Four digits or more, anywhere.
    pub(crate) const FEW_DIGITS: Hints = Hints(1 << 9);
    /// Seven digits or more, anywhere.
    pub(crate) const DIGITS: Hints = Hints(1 << 10);
    /// Any text that is long enough.
    pub(crate) const ANY: Hints = Hints(1 << 11);

    pub(crate) const fn union(self, other: Hints) -> Hints {
        Hints(self.0 | other.0)
    }

    /// The hint as one of the eight that begin at one offset.
    const fn bits(self) -> u8 {
        self.0 as u8
    }

    pub(crate) const fn intersects(self, other: Hints) -> bool {
        self.0 & other.0 != 0
    }
}

/// No rule matches a text shorter than this.
const TEXT_BYTES_MIN: usize = 6;

const FEW_DIGITS_MIN: usize = 4;
const DIGITS_MIN: usize = 7;
const BASE64_RUN_CHARS: usize = 40;

const BLOCK_BYTES: usize = 16;
/// A block and the two bytes after it: a hint is up to three bytes long.
const WINDOW_BYTES: usize = BLOCK_BYTES + 2;

/// The hints in a text.
#[inline]
pub(crate) fn hints(text: &[u8]) -> Hints {
    work::bytes_read(text.len());
    if text.len() < TEXT_BYTES_MIN {
        return Hints::NONE;
    }
    let (seen, digits) = scan(text);
    let mut seen = u16::from(seen) | Hints::ANY.0;
    if digits >= FEW_DIGITS_MIN {
        seen |= Hints::FEW_DIGITS.0;
    }
    if digits >= DIGITS_MIN {
        seen |= Hints::DIGITS.0;
    }
    if text.len() >= BASE64_RUN_CHARS && has_base64_run(text) {
        seen |= Hints::BASE64_RUN.0;
    }
    Hints(seen)
}

/// The hints except `BASE64_RUN`, `FEW_DIGITS` and `DIGITS`, and the number of digits.
fn scan(text: &[u8]) -> (u8, usize) {
    let Some(last) = text.last_chunk::<WINDOW_BYTES>() else {
        return scan_short(text);
    };
    let mut lanes = Lanes::default();
    let mut digits = 0;
    let mut at = 0;
    let mut blocks = 0;
    while let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<WINDOW_BYTES>()) {
        lanes.scan_block(window, 0);
        at += BLOCK_BYTES;
        blocks += 1;
        if blocks == Lanes::BLOCKS_MAX {
            digits += lanes.take_digits();
            blocks = 0;
        }
    }
    // The remainder is shorter than a window, so the last window overlaps the bytes already scanned.
    lanes.scan_block(last, (at + WINDOW_BYTES - text.len()) as u8);
    digits += lanes.take_digits();
    // No hint begins in the last two bytes, but they may be digits.
    digits += last[BLOCK_BYTES..]
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .count();
    (lanes.seen(), digits)
}

/// Counters packed into one number, by byte: bits 0 to 7 count digits, bits 8 to 15 `@` and `%`, bits 16 to 23 `b`
/// and `B`, bits 24 and up `=`, `:` and the first byte of `：`.
const SHORT_MARKS: [u32; 256] = {
    let mut marks = [0; 256];
    let mut digit = b'0';
    while digit <= b'9' {
        marks[digit as usize] = 1;
        digit += 1;
    }
    marks[b'@' as usize] = SHORT_AT;
    marks[b'%' as usize] = SHORT_AT;
    marks[b'b' as usize] = SHORT_B;
    marks[b'B' as usize] = SHORT_B;
    marks[b'=' as usize] = SHORT_ASSIGNMENT;
    marks[b':' as usize] = SHORT_ASSIGNMENT;
    // The first byte of a full-width colon.
    marks[0xef] = SHORT_ASSIGNMENT;
    marks
};
const SHORT_AT: u32 = 1 << 8;
const SHORT_B: u32 = 1 << 16;
const SHORT_ASSIGNMENT: u32 = 1 << 24;

/// Scans a text shorter than a window. No key and no token fits into it, except a short one after `bearer`.
fn scan_short(text: &[u8]) -> (u8, usize) {
    const BEARER_BYTES_MIN: usize = "bearer 123456".len();
    let marks: u32 = text.iter().map(|byte| SHORT_MARKS[usize::from(*byte)]).sum();
    let mut seen = 0;
    if marks & (SHORT_B - SHORT_AT) != 0 {
        seen |= Hints::AT.bits();
    }
    if marks >= SHORT_ASSIGNMENT {
        seen |= Hints::ASSIGNMENT.bits();
    }
    if marks & (SHORT_ASSIGNMENT - SHORT_B) != 0 && text.len() >= BEARER_BYTES_MIN {
        seen |= Hints::BEARER.bits();
    }
    (seen, (marks & (SHORT_AT - 1)) as usize)
}

/// The hints seen and the digits counted so far, by offset within a block.
#[derive(Default)]
struct Lanes {
    seen: [u8; BLOCK_BYTES],
    digits: [u8; BLOCK_BYTES],
}

impl Lanes {
    /// Most blocks between two calls of `take_digits`, plus the last window: the sum of all counters fits a byte.
    const BLOCKS_MAX: usize = 13;

    /// Scans for hints that begin in a block. The digits at its first `counted` offsets are already counted.
    #[inline(always)]
    fn scan_block(&mut self, window: &[u8; WINDOW_BYTES], counted: u8) {
        for at in 0..BLOCK_BYTES {
            let (one, two, three) = (window[at], window[at + 1], window[at + 2]);
            self.digits[at] += u8::from((one.wrapping_sub(b'0') < 10) & (at as u8 >= counted));
            let at_sign = (one == b'@') | ((one == b'%') & (two == b'4') & (three == b'0'));
            // `eyJ`, `eyA` and `ewo`. Other combinations of these letters also pass; they are rare.
            let json = (one == b'e')
                & ((two == b'y') | (two == b'w'))
                & ((three == b'J') | (three == b'A') | (three == b'o'));
            let bearer = (one | 0x20 == b'b') & (two | 0x20 == b'e') & (three | 0x20 == b'a');
            // `AKI`, `ASI`, `ABI`, `ACC`, `IQo`, `Fwo` and `FQo`.
            let aws = ((one == b'A') & ((three == b'I') | (three == b'C')))
                | (((one == b'I') | (one == b'F')) & (three == b'o'));
            let bit = |seen: bool, hint: Hints| if seen { hint.bits() } else { 0 };
            // The last two letters of a secret's name and a separator, or the start of `--token` and ` is `.
            let (a, b) = (one | 0x20, two | 0x20);
            let separator =
                (three <= b'\'') | (three == b'=') | (three == b':') | (three == b'\\') | (three == 0xef);
            let name = ((b == b'd') & ((a == b'r') | (a == b'w')))
                | ((a == b'e') & ((b == b't') | (b == b'n') | (b == b'y')))
                | ((b == b'e') & ((a == b's') | (a == b'd') | (a == b'i')))
                | ((b == b's') & (a == b's'))
                | ((a == b't') & (b == b'p'))
                | ((a == b'i') & (b == b'n'))
                | ((a == b'r') & (b == b't'))
                | ((a == b'v') & ((b == b'v') | (b == b'c')))
                | ((one >= 0x80) & (b == b'a'))
                | ((a == b'h') & (b == b'a'))
                | (two >= 0x80);
            let assigned = (name & separator) | ((one == b'-') & (two == b'-'));
            // `gh._`, `xo.`, `xa.`, `sk_`, `rk_`, `sk-`, `at_`, `at-`, `AIz`, `a29`, `CSP`, `oks`, `hse`, `pm_` and `sic`.
            // Other combinations also pass.
            let joint = (three == b'_') | (three == b'-');
            let prefix = (joint
                & ((one == b'h')
                    | ((two == b'k') & (one >= b'r'))
                    | ((two == b't') & (one == b'a'))
                    | ((two == b'm') & (one == b'p'))))
                | ((one == b'-') & (two == b'B'))
                | ((one == b'x') & ((three == b'x') | (three == b'p')))
                | ((two == b'I') & (three == b'z'))
                | ((two == b'2') & (three == b'9') & (one == b'a'))
                | ((two == b'S') & (three == b'P'))
                | ((one == b'h') & (two == b's') & (three == b'e'))
                | ((two == b'k') & (three == b's') & (one == b'o'))
                | ((two | 0x20 == b'i') & (three | 0x20 == b'c') & (one | 0x20 == b's'));
            let wide = (one == 0xef) & (two == 0xbc) & (three.wrapping_sub(0x90) <= 0x10);
            self.seen[at] |= bit(at_sign, Hints::AT)
                | bit(json, Hints::ENCODED_JSON)
                | bit(bearer, Hints::BEARER)
                | bit(aws, Hints::AWS_PREFIX)
                | bit(assigned, Hints::ASSIGNMENT)
                | bit(prefix, Hints::SECRET_PREFIX)
                | bit(wide, Hints::WIDE);
        }
    }

    /// The hints seen at any offset.
    fn seen(&self) -> u8 {
        let [low, high] = halves(&self.seen);
        let all = low | high;
        let all = all | all >> 32;
        let all = all | all >> 16;
        (all | all >> 8) as u8
    }

    /// Returns the number of digits counted and resets the counters.
    fn take_digits(&mut self) -> usize {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        let [low, high] = halves(&self.digits);
        self.digits = [0; BLOCK_BYTES];
        // The product's highest byte is the sum of all bytes.
        ((low + high).wrapping_mul(ONES) >> 56) as usize
    }
}

/// Sixteen bytes as two numbers: summing them one by one costs more than the scan itself.
fn halves(lanes: &[u8; BLOCK_BYTES]) -> [u64; 2] {
    let wide = u128::from_le_bytes(*lanes);
    [wide as u64, (wide >> 64) as u64]
}

/// Whether the text has forty consecutive base64 characters. Searches each window from its end: the rightmost other
/// character is the earliest start of the next window, so ordinary text is skipped in strides.
fn has_base64_run(text: &[u8]) -> bool {
    let mut start = 0;
    while let Some(candidate) = text.get(start..start + BASE64_RUN_CHARS) {
        match candidate.iter().rposition(|byte| !is_base64(*byte)) {
            None => return true,
            Some(gap) => start += gap + 1,
        }
    }
    false
}

/// `%` counts as base64 because the text may be percent-encoded.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'%')
}

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
            ("ghp_", Hints::SECRET_PREFIX),
            ("github_pat_", Hints::SECRET_PREFIX),
            ("glpat-", Hints::SECRET_PREFIX),
            ("xoxb-", Hints::SECRET_PREFIX),
            ("xapp-", Hints::SECRET_PREFIX),
            ("sk_live_", Hints::SECRET_PREFIX),
            ("AIza", Hints::SECRET_PREFIX),
            ("ya29.", Hints::SECRET_PREFIX),
            ("GOCSPX-", Hints::SECRET_PREFIX),
            ("npm_", Hints::SECRET_PREFIX),
            ("whsec_", Hints::SECRET_PREFIX),
            ("-----BEGIN", Hints::ASSIGNMENT.union(Hints::SECRET_PREFIX)),
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
    fn digit_counters_do_not_overflow_in_long_texts() {
        for blocks in [12, 13, 14, 15, 16, 1000] {
            assert!(hints(&vec![b'1'; blocks * BLOCK_BYTES]).intersects(Hints::DIGITS));
            let mut text = vec![b'x'; blocks * BLOCK_BYTES];
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
