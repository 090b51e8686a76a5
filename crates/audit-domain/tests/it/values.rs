//! Random JSON, as texts of every form in which it can be sent.

use std::fmt::Write;

/// Values nest so deep at most.
const DEPTH_MAX: u32 = 4;
/// Texts and literals in which implementations are known to have gone wrong.
const LITERALS: [&str; 24] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "1e0",
    "1E+2",
    "1.0",
    "100e-2",
    "9007199254740991",
    "-9007199254740991",
    "9007199254740993.0",
    "1e21",
    "1e20",
    "123456789012345680000.0",
    "999999999999999900000.0",
    "1e-6",
    "1e-7",
    "5e-324",
    "2.2250738585072014e-308",
    "1.7976931348623157e308",
    "4.35",
    "0.1",
    "333333333.33333329",
    "1424953923781206.25",
];
const CHARACTERS: [char; 22] = [
    '"',
    '\\',
    '/',
    '\u{8}',
    '\t',
    '\n',
    '\u{c}',
    '\r',
    '\u{1}',
    '\u{1f}',
    ' ',
    '\u{7f}',
    '\u{80}',
    'é',
    '\u{2028}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{fb33}',
    '\u{ffff}',
    '\u{10000}',
    '\u{1f600}',
    '\u{10ffff}',
];

/// A source of random values that gives the same ones to the same seed (SplitMix64).
pub(crate) struct Values(u64);

impl Values {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// A JSON text on one line.
    pub(crate) fn next(&mut self) -> String {
        let mut text = String::new();
        self.value(&mut text, 0);
        text
    }

    fn value(&mut self, out: &mut String, depth: u32) {
        let kinds = if depth < DEPTH_MAX { 12 } else { 8 };
        match self.below(kinds) {
            0 => out.push_str(["null", "true", "false"][self.below(3)]),
            1..=4 => self.number(out),
            5..=7 => self.string(out),
            8 | 9 => self.array(out, depth),
            _ => self.object(out, depth),
        }
    }

    fn array(&mut self, out: &mut String, depth: u32) {
        out.push('[');
        for index in 0..self.below(5) {
            self.separator(out, index);
            self.value(out, depth + 1);
        }
        out.push(']');
    }

    fn object(&mut self, out: &mut String, depth: u32) {
        out.push('{');
        for index in 0..self.below(6) {
            self.separator(out, index);
            // The number at the end keeps keys apart: of two alike, implementations keep whichever they like.
            let mut key = String::new();
            self.string(&mut key);
            key.truncate(key.len() - 1);
            write!(out, "{key}{index}\":").expect("a text takes everything");
            self.value(out, depth + 1);
        }
        out.push('}');
    }

    fn separator(&mut self, out: &mut String, index: usize) {
        if index > 0 {
            out.push(',');
        }
        out.push_str(["", "", " ", "\t"][self.below(4)]);
    }

    fn string(&mut self, out: &mut String) {
        out.push('"');
        for _ in 0..self.below(8) {
            let character = match self.below(4) {
                0 => CHARACTERS[self.below(CHARACTERS.len())],
                1 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('\u{fffd}'),
                _ => char::from(b' ' + self.below(95) as u8),
            };
            self.character(out, character);
        }
        out.push('"');
    }

    fn character(&mut self, out: &mut String, character: char) {
        let must_be_escaped = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
        if must_be_escaped || self.below(8) == 0 {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").expect("a text takes everything");
            }
        } else {
            out.push(character);
        }
    }

    /// A number that a double holds; integers up to ±(2^53−1).
    fn number(&mut self, out: &mut String) {
        let written = match self.below(7) {
            0 => return out.push_str(LITERALS[self.below(LITERALS.len())]),
            1 => {
                let integer = (self.bits() >> (11 + self.below(53))) as i64;
                write!(out, "{}", if self.below(2) == 0 { integer } else { -integer })
            }
            2 => write!(
                out,
                "{:.*}",
                self.below(8),
                self.below(2_000_000) as f64 / 1_000.0
            ),
            3 => write!(out, "{}.5e{}", self.below(9) + 1, self.below(600) as i64 - 300),
            4 => write!(out, "{:e}", self.double()),
            // Next to a power of ten, where the forms change.
            5 => {
                let power = 10_f64.powi(self.below(60) as i32 - 30);
                let near = f64::from_bits(power.to_bits().wrapping_add_signed(self.below(5) as i64 - 2));
                write!(out, "{near:e}")
            }
            _ => write!(out, "{:?}", self.double()),
        };
        written.expect("a text takes everything");
    }

    fn double(&mut self) -> f64 {
        loop {
            let double = f64::from_bits(self.bits());
            if double.is_finite() {
                return double;
            }
        }
    }
}
