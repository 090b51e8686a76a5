//! Keywords that identify the text behind them, such as `phone` before a number.

use super::Subject;
use super::name::{begins_word, words_from_end};

/// Most characters before a match that a rule reads.
const WINDOW_CHARS_MAX: usize = 80;

/// The distance within which a keyword counts, unless a rule sets its own.
pub(crate) const CONTEXT_CHARS: usize = 40;

/// The keywords of one rule.
pub(crate) struct Keywords {
    keywords: &'static [Keyword],
    /// By first letter, in any case: the set of second characters, one bit each.
    first_pairs: [u32; 256],
    /// By second character: the set of third characters.
    second_pairs: [u32; 256],
    chars_max: usize,
}

impl Keywords {
    /// Takes lower-case keywords of at least two characters that begin with a letter. A question mark stands for any character outside
    /// ASCII.
    pub(crate) const fn new(keywords: &'static [Keyword]) -> Keywords {
        let mut first_pairs = [0; 256];
        let mut second_pairs = [0; 256];
        let mut chars_max = 0;
        let mut at = 0;
        while at < keywords.len() {
            let text = keywords[at].text.as_bytes();
            let (first, second) = (text[0], stored(text[1]));
            first_pairs[first as usize] |= second_bit(second);
            first_pairs[first.to_ascii_uppercase() as usize] |= second_bit(second);
            let thirds = if text.len() > 2 {
                second_bit(stored(text[2]))
            } else {
                u32::MAX
            };
            second_pairs[second as usize] |= thirds;
            second_pairs[second.to_ascii_uppercase() as usize] |= thirds;
            if text.len() > chars_max {
                chars_max = text.len();
            }
            at += 1;
        }
        Keywords {
            keywords,
            first_pairs,
            second_pairs,
            chars_max,
        }
    }

    /// Whether a keyword begins within the `chars` characters before `start`.
    pub(crate) fn begin_within(&self, chars: usize, subject: &Subject<'_>, start: usize) -> bool {
        // One more character is needed to detect the start of a word.
        let window = Window::before(subject, start, chars + 1);
        window.find(self, WINDOW_CHARS_MAX - chars).is_some()
    }

    /// Whether a keyword ends within the `chars` characters before `start`.
    pub(crate) fn end_within(&self, chars: usize, subject: &Subject<'_>, start: usize) -> bool {
        let reach = chars + self.chars_max;
        let window = Window::before(subject, start, reach + 1);
        let mut from = WINDOW_CHARS_MAX - reach;
        while let Some((at, len)) = window.find(self, from) {
            if WINDOW_CHARS_MAX - (at + len) <= chars {
                return true;
            }
            from = at + 1;
        }
        false
    }
}

/// The byte of a window that stands for a character of a keyword.
const fn stored(byte: u8) -> u8 {
    if byte == b'?' { OTHER } else { byte }
}

/// The same bit for a letter in both cases.
const fn second_bit(byte: u8) -> u32 {
    1 << (byte & 31)
}

/// The characters before a match in `<key>: <value>`, one byte per character.
struct Window {
    bytes: [u8; WINDOW_CHARS_MAX],
    start: usize,
}

/// Stands for any character outside ASCII.
const OTHER: u8 = 0x80;

impl Window {
    /// The last `chars` characters before `start`.
    fn before(subject: &Subject<'_>, start: usize, chars: usize) -> Window {
        let mut window = Window {
            bytes: [0; WINDOW_CHARS_MAX],
            start: WINDOW_CHARS_MAX,
        };
        let floor = WINDOW_CHARS_MAX.saturating_sub(chars);
        window.push_all(&subject.text[..start], floor);
        if window.start > floor && !subject.key.is_empty() {
            window.push_all(": ", floor);
            window.push_all(subject.key, floor);
        }
        window
    }

    fn push_all(&mut self, text: &str, floor: usize) {
        let bytes = text.as_bytes();
        let tail = &bytes[bytes.len().saturating_sub(self.start - floor)..];
        if tail.is_ascii() {
            let start = self.start - tail.len();
            self.bytes[start..self.start].copy_from_slice(tail);
            self.start = start;
            return;
        }
        for byte in text.bytes().rev() {
            if self.start == floor {
                return;
            }
            // A character outside ASCII takes one byte and is part of no keyword.
            if byte & 0xc0 == 0x80 {
                continue;
            }
            self.start -= 1;
            self.bytes[self.start] = if byte.is_ascii() { byte } else { OTHER };
        }
    }

    /// The first keyword at or after `from`: its offset and length.
    fn find(&self, keywords: &Keywords, from: usize) -> Option<(usize, usize)> {
        let from = from.max(self.start);
        for (offset, pair) in self.bytes[from..].windows(2).enumerate() {
            if keywords.first_pairs[usize::from(pair[0])] & second_bit(pair[1]) == 0 {
                continue;
            }
            let at = from + offset;
            let thirds = keywords.second_pairs[usize::from(pair[1])];
            if self
                .bytes
                .get(at + 2)
                .is_some_and(|third| thirds & second_bit(*third) == 0)
            {
                continue;
            }
            let mut candidates = keywords.keywords.iter();
            if let Some(keyword) = candidates.find(|keyword| self.matches_at(at, keyword)) {
                return Some((at, keyword.text.len()));
            }
        }
        None
    }

    fn matches_at(&self, at: usize, keyword: &Keyword) -> bool {
        let end = at + keyword.text.len();
        let Some(found) = self.bytes.get(at..end) else {
            return false;
        };
        found
            .iter()
            .zip(keyword.text.bytes())
            .all(|(found, wanted)| found.eq_ignore_ascii_case(&stored(wanted)))
            && (keyword.open_left || self.begins_word(at))
            && (keyword.open_right || self.ends_word(end))
            && !self.names_something_else(end)
    }

    /// Whether a word begins at `at`: no letter precedes it, or the case changes as in `userPhone`.
    fn begins_word(&self, at: usize) -> bool {
        begins_word(&self.bytes[self.start..], at - self.start)
    }

    /// Whether a word ends at `end`: no letter follows, a plural `s` follows, or the next word begins.
    fn ends_word(&self, end: usize) -> bool {
        let letter = |at: usize| self.bytes.get(at).copied().filter(u8::is_ascii_alphabetic);
        match letter(end) {
            None => true,
            Some(_) if begins_word(&self.bytes, end) => true,
            Some(b's' | b'S') => letter(end + 1).is_none() || begins_word(&self.bytes, end + 1),
            Some(_) => false,
        }
    }

    /// Whether the keyword is part of a name for something else: `contact_id`, `lastCallAt`, `Call SID`.
    fn names_something_else(&self, end: usize) -> bool {
        let rest = &self.bytes[end..];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let name = &rest[..rest.iter().take_while(is_name).count()];
        let behind = rest[name.len()..].strip_prefix(b" ").unwrap_or_default();
        let next = &behind[..behind.iter().take_while(is_name).count()];
        let is_listed = |names: &[&str], word: Option<&[u8]>| {
            word.is_some_and(|word| {
                names
                    .iter()
                    .any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
            })
        };
        is_listed(OTHER_NAMES, words_from_end(name).next()) || is_listed(IDENTIFIER_NAMES, Some(next))
    }
}

/// Words for an identifier. They also count behind a space: `Call SID`.
const IDENTIFIER_NAMES: &[&str] = &["id", "ids", "sid", "sids", "uuid", "guid"];

/// Last parts of names whose values are neither phone or card numbers nor secrets.
const OTHER_NAMES: &[&str] = &[
    "id",
    "ids",
    "uuid",
    "guid",
    "sid",
    "sids",
    "uuids",
    "guids",
    "arn",
    "at",
    "ts",
    "date",
    "time",
    "timestamp",
    "count",
    "duration",
    "version",
    "ip",
    "bytes",
    "size",
    "seconds",
    "ms",
    "ttl",
];

/// A keyword in lower case. `open_left` and `open_right` allow letters directly before and after it.
pub(crate) struct Keyword {
    text: &'static str,
    open_left: bool,
    open_right: bool,
}

/// A keyword that matches a whole word.
pub(crate) const fn word(text: &'static str) -> Keyword {
    Keyword {
        text,
        open_left: false,
        open_right: false,
    }
}

/// A keyword that matches the start of a word.
pub(crate) const fn prefix(text: &'static str) -> Keyword {
    Keyword {
        text,
        open_left: false,
        open_right: true,
    }
}

/// A keyword that matches anywhere in a word.
pub(crate) const fn substring(text: &'static str) -> Keyword {
    Keyword {
        text,
        open_left: true,
        open_right: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSN: &[Keyword] = &[word("ssn")];
    const CONTACT: &[Keyword] = &[word("contact")];

    fn has(key: &str, text: &str, keywords: &'static [Keyword]) -> bool {
        Keywords::new(keywords).begin_within(
            CONTEXT_CHARS,
            &Subject {
                key,
                text,
                integer: false,
            },
            text.len(),
        )
    }

    #[test]
    fn the_key_counts_like_text_before_the_value() {
        assert!(has("ssn", "", SSN));
        assert!(has("", "my SSN is ", SSN));
        assert!(has("userSsn", "", SSN));
        assert!(!has("className", "", SSN));
    }

    #[test]
    fn distance_is_counted_in_characters_not_bytes() {
        let far = |chars: usize| format!("ssn{}", "é".repeat(chars));
        assert!(has("", &far(37), SSN));
        assert!(!has("", &far(38), SSN));
    }

    #[test]
    fn a_keyword_in_the_name_of_something_else_does_not_count() {
        for key in [
            "contact_id",
            "contactId",
            "contact_phone_id",
            "last_contact_at",
            "ContactID",
            "CONTACT_ID",
            "contactSID",
            "contactIDs",
            "CONTACT_IDS",
            "contact ID",
        ] {
            assert!(!has(key, "", CONTACT), "{key}");
        }
        for key in [
            "contact",
            "contacts",
            "contact_number",
            "contactNumber",
            "CONTACT",
        ] {
            assert!(has(key, "", CONTACT), "{key}");
        }
    }
}
