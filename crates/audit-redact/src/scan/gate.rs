//! The first look at a string: which kinds could be in it at all.
//!
//! Nearly every string of an audit event is clean, so this look decides how fast the crate is. It is one pass
//! of byte comparisons without branches, in blocks of fixed size, which the compiler turns into vector
//! instructions. It may say yes too often and must never say no wrongly: the rules behind it decide.

/// What a text holds that a rule could be interested in; a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs(u8);

impl Signs {
    pub(crate) const NONE: Signs = Signs(0);
    /// `@` or `%40`.
    pub(crate) const AT: Signs = Signs(1);
    /// The beginning of an encoded JSON object.
    pub(crate) const ENCODED_JSON: Signs = Signs(1 << 1);
    /// The beginning of `bearer`.
    pub(crate) const BEARER: Signs = Signs(1 << 2);
    /// The beginning of an AWS key id or session token.
    pub(crate) const AWS_PREFIX: Signs = Signs(1 << 3);
    /// Forty base64 characters in a row.
    pub(crate) const BASE64_RUN: Signs = Signs(1 << 4);
    /// Four digits or more, anywhere.
    pub(crate) const FEW_DIGITS: Signs = Signs(1 << 5);
    /// Seven digits or more, anywhere.
    pub(crate) const DIGITS: Signs = Signs(1 << 6);

    pub(crate) const fn with(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }

    pub(crate) const fn meets(self, other: Signs) -> bool {
        self.0 & other.0 != 0
    }
}

/// No rule finds anything in a text shorter than this.
const TEXT_BYTES_MIN: usize = 6;

const FEW_DIGITS_MIN: usize = 4;
const DIGITS_MIN: usize = 7;
const BASE64_RUN_CHARS: usize = 40;

const BLOCK_BYTES: usize = 16;
/// A block and the two bytes after it: the signs are up to three bytes long.
const WINDOW_BYTES: usize = BLOCK_BYTES + 2;

/// Looks at a text.
#[inline]
pub(crate) fn signs(text: &[u8]) -> Signs {
    if text.len() < TEXT_BYTES_MIN {
        return Signs::NONE;
    }
    let (mut seen, digits) = look_at_all(text);
    if digits >= FEW_DIGITS_MIN {
        seen |= Signs::FEW_DIGITS.0;
    }
    if digits >= DIGITS_MIN {
        seen |= Signs::DIGITS.0;
    }
    if text.len() >= BASE64_RUN_CHARS && has_base64_run(text) {
        seen |= Signs::BASE64_RUN.0;
    }
    Signs(seen)
}

/// The signs in a text without those for runs and digits, and how many digits it has.
fn look_at_all(text: &[u8]) -> (u8, usize) {
    let Some(last) = text.last_chunk::<WINDOW_BYTES>() else {
        return look_at_short(text);
    };
    let mut lanes = Lanes::default();
    let mut digits = 0;
    let mut at = 0;
    let mut blocks = 0;
    while let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<WINDOW_BYTES>()) {
        lanes.look(window, 0);
        at += BLOCK_BYTES;
        blocks += 1;
        if blocks == Lanes::BLOCKS_MAX {
            digits += lanes.take_digits();
            blocks = 0;
        }
    }
    // What is left is shorter than a window, so the last window of the text overlaps what was looked at.
    lanes.look(last, (at + WINDOW_BYTES - text.len()) as u8);
    digits += lanes.take_digits();
    // No sign begins in the last two bytes, but they may be digits.
    digits += last[BLOCK_BYTES..]
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .count();
    (lanes.seen(), digits)
}

/// For each byte what it adds to the look at a short text: a digit, one of `@%`, one of `bB`.
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
    marks
};
const SHORT_AT: u32 = 1 << 8;
const SHORT_B: u32 = 1 << 16;

/// A text shorter than a window has no room for a key or a token with its parts, other than `bearer` and
/// something short.
fn look_at_short(text: &[u8]) -> (u8, usize) {
    const BEARER_BYTES_MIN: usize = "bearer 123456".len();
    let marks: u32 = text.iter().map(|byte| SHORT_MARKS[usize::from(*byte)]).sum();
    let mut seen = 0;
    if marks & (SHORT_B - SHORT_AT) != 0 {
        seen |= Signs::AT.0;
    }
    if marks >= SHORT_B && text.len() >= BEARER_BYTES_MIN {
        seen |= Signs::BEARER.0;
    }
    (seen, (marks & (SHORT_AT - 1)) as usize)
}

/// What was seen so far at each place of a block.
#[derive(Default)]
struct Lanes {
    seen: [u8; BLOCK_BYTES],
    digits: [u8; BLOCK_BYTES],
}

impl Lanes {
    /// So many blocks can be looked at before the sum of the counts could overflow a byte, the last included.
    const BLOCKS_MAX: usize = 13;

    /// Looks at the signs that begin in a block. The digits at its first `counted` places are known already.
    #[inline(always)]
    fn look(&mut self, window: &[u8; WINDOW_BYTES], counted: u8) {
        for at in 0..BLOCK_BYTES {
            let (one, two, three) = (window[at], window[at + 1], window[at + 2]);
            self.digits[at] += u8::from((one.wrapping_sub(b'0') < 10) & (at as u8 >= counted));
            let at_sign = (one == b'@') | ((one == b'%') & (two == b'4') & (three == b'0'));
            // `eyJ`, `eyA` and `ewo`; the combinations of these that mean nothing are rare.
            let json = (one == b'e')
                & ((two == b'y') | (two == b'w'))
                & ((three == b'J') | (three == b'A') | (three == b'o'));
            let bearer = (one | 0x20 == b'b') & (two | 0x20 == b'e') & (three | 0x20 == b'a');
            // `AKI`, `ASI`, `ABI`, `ACC`, `IQo`, `Fwo` and `FQo`.
            let aws = ((one == b'A') & ((three == b'I') | (three == b'C')))
                | (((one == b'I') | (one == b'F')) & (three == b'o'));
            let bit = |seen: bool, sign: Signs| if seen { sign.0 } else { 0 };
            self.seen[at] |= bit(at_sign, Signs::AT)
                | bit(json, Signs::ENCODED_JSON)
                | bit(bearer, Signs::BEARER)
                | bit(aws, Signs::AWS_PREFIX);
        }
    }

    /// The signs seen at any place.
    fn seen(&self) -> u8 {
        let [low, high] = halves(&self.seen);
        let all = low | high;
        let all = all | all >> 32;
        let all = all | all >> 16;
        (all | all >> 8) as u8
    }

    /// The sum of the counts, and begins to count again.
    fn take_digits(&mut self) -> usize {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        let [low, high] = halves(&self.digits);
        self.digits = [0; BLOCK_BYTES];
        // The product's highest byte is the sum of all bytes.
        ((low + high).wrapping_mul(ONES) >> 56) as usize
    }
}

/// Sixteen places as two numbers: adding them up one by one costs more than the look itself.
fn halves(lanes: &[u8; BLOCK_BYTES]) -> [u64; 2] {
    let wide = u128::from_le_bytes(*lanes);
    [wide as u64, (wide >> 64) as u64]
}

/// Whether forty base64 characters stand in a row. Looks at every fortieth byte and goes back from there, so
/// that ordinary text with its blanks and dashes is skipped in strides.
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

/// `%` stands for itself in percent-encoded base64.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_seen_wherever_it_stands() {
        let cases: &[(&str, Signs)] = &[
            ("@", Signs::AT),
            ("%40", Signs::AT),
            ("eyJ", Signs::ENCODED_JSON),
            ("eyA", Signs::ENCODED_JSON),
            ("ewo", Signs::ENCODED_JSON),
            ("BEARER", Signs::BEARER),
            ("bearer", Signs::BEARER),
            ("AKIA", Signs::AWS_PREFIX),
            ("ASIA", Signs::AWS_PREFIX),
            ("ABIA", Signs::AWS_PREFIX),
            ("ACCA", Signs::AWS_PREFIX),
            ("IQoJ", Signs::AWS_PREFIX),
            ("FwoG", Signs::AWS_PREFIX),
            ("1234567", Signs::DIGITS.with(Signs::FEW_DIGITS)),
            ("1.2.3.4", Signs::FEW_DIGITS),
        ];
        for (sign, expected) in cases {
            for before in 0..40 {
                for after in 20..40 {
                    let text = format!("{}{sign}{}", ".".repeat(before), ".".repeat(after));
                    assert_eq!(signs(text.as_bytes()), *expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_sign_is_seen_in_a_short_text_and_at_the_end() {
        for (text, sign) in [
            ("a@b.co", Signs::AT),
            ("a%40b.co", Signs::AT),
            ("Bearer abc123", Signs::BEARER),
            ("my bearer abc123", Signs::BEARER),
            ("+3312345678", Signs::DIGITS),
            ("xxxxxxxxxxxxxxxxxxxxxxx 1234567", Signs::DIGITS),
            ("1234567", Signs::DIGITS),
            ("xxxxxxxxxxxx123-4567", Signs::DIGITS),
        ] {
            assert!(signs(text.as_bytes()).meets(sign), "{text}");
        }
    }

    #[test]
    fn digits_are_counted_through_long_texts() {
        for blocks in [12, 13, 14, 15, 16, 1000] {
            assert!(signs(&vec![b'1'; blocks * BLOCK_BYTES]).meets(Signs::DIGITS));
            let mut text = vec![b'x'; blocks * BLOCK_BYTES];
            text.extend(b"1111111");
            assert!(signs(&text).meets(Signs::DIGITS));
        }
    }

    #[test]
    fn digits_are_counted_exactly() {
        for len in 6..100 {
            let mut text = vec![b'x'; len];
            for at in 0..6 {
                text[at * (len - 1) / 5] = b'7';
            }
            assert!(!signs(&text).meets(Signs::DIGITS), "{len}");
        }
    }

    #[test]
    fn a_run_of_forty_is_seen_and_one_of_thirty_nine_is_not() {
        for before in 0..90 {
            let text = |run: usize| format!("{} {} x", ".".repeat(before), "q".repeat(run));
            assert_eq!(signs(text(40).as_bytes()), Signs::BASE64_RUN);
            assert_eq!(signs(text(39).as_bytes()), Signs::NONE);
        }
    }
}
