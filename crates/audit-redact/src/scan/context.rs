//! Words before a match that say what it is.

use super::Subject;

/// As many characters before a match as any rule looks at.
const WINDOW_CHARS_MAX: usize = 80;

/// How far from a match a word counts, unless a rule says otherwise.
pub(crate) const CONTEXT_CHARS: usize = 40;

/// Words that say what a number or text behind them is.
pub(crate) struct Words {
    words: &'static [Word],
    /// For every first letter the set of second characters, one bit each.
    beginnings: [u32; 26],
    chars_max: usize,
}

impl Words {
    /// Takes words of two characters or more.
    pub(crate) const fn new(words: &'static [Word]) -> Words {
        let mut beginnings = [0; 26];
        let mut chars_max = 0;
        let mut at = 0;
        while at < words.len() {
            let text = words[at].text.as_bytes();
            beginnings[(text[0] - b'a') as usize] |= second_bit(text[1]);
            if text.len() > chars_max {
                chars_max = text.len();
            }
            at += 1;
        }
        Words {
            words,
            beginnings,
            chars_max,
        }
    }

    /// Whether one of the words begins within the `chars` characters before `start`.
    pub(crate) fn begin_within(&self, chars: usize, subject: &Subject<'_>, start: usize) -> bool {
        // One more character shows where a word begins.
        let window = Window::before(subject, start, chars + 1);
        window.find(self, WINDOW_CHARS_MAX - chars).is_some()
    }

    /// Whether one of the words ends within the `chars` characters before `start`.
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

const fn second_bit(byte: u8) -> u32 {
    1 << ((byte | 0x20) & 31)
}

/// The characters before a match in `<key>: <value>`, one byte each.
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
            // Of a character outside ASCII only the first byte counts, and as a letter of no word.
            if byte & 0xc0 == 0x80 {
                continue;
            }
            self.start -= 1;
            self.bytes[self.start] = if byte.is_ascii() { byte } else { OTHER };
        }
    }

    /// The first of the words at `from` or behind: its place and length.
    fn find(&self, words: &Words, from: usize) -> Option<(usize, usize)> {
        let from = from.max(self.start);
        for (offset, pair) in self.bytes[from..].windows(2).enumerate() {
            let first = usize::from((pair[0] | 0x20).wrapping_sub(b'a'));
            if words
                .beginnings
                .get(first)
                .is_none_or(|seconds| seconds & second_bit(pair[1]) == 0)
            {
                continue;
            }
            let at = from + offset;
            if let Some(word) = words.words.iter().find(|word| self.is_word_at(at, word)) {
                return Some((at, word.text.len()));
            }
        }
        None
    }

    fn is_word_at(&self, at: usize, word: &Word) -> bool {
        let end = at + word.text.len();
        let Some(found) = self.bytes.get(at..end) else {
            return false;
        };
        found.eq_ignore_ascii_case(word.text.as_bytes())
            && (word.joins_left || self.begins_word(at))
            && (word.joins_right || self.ends_word(end))
            && !self.names_something_else(end)
    }

    /// Whether a word begins at `at`: after no letter, or as in `userPhone`.
    fn begins_word(&self, at: usize) -> bool {
        if at == self.start {
            return true;
        }
        let (before, first) = (self.bytes[at - 1], self.bytes[at]);
        !before.is_ascii_alphabetic() || (before.is_ascii_lowercase() && first.is_ascii_uppercase())
    }

    /// Whether a word ends at `end`: before no letter, in a plural, or as in `phoneNumber`.
    fn ends_word(&self, end: usize) -> bool {
        let letter = |at: usize| self.bytes.get(at).copied().filter(u8::is_ascii_alphabetic);
        match letter(end) {
            None => true,
            Some(next) if next.is_ascii_uppercase() && self.bytes[end - 1].is_ascii_lowercase() => true,
            Some(b's' | b'S') => letter(end + 1).is_none_or(|next| next.is_ascii_uppercase()),
            Some(_) => false,
        }
    }

    /// Whether the word is only a part of a name for something else: `contact_id`, `lastCallAt`.
    fn names_something_else(&self, end: usize) -> bool {
        let rest = &self.bytes[end..];
        let name_len = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count();
        let name = &rest[..name_len];
        let last_part = name
            .iter()
            .rposition(|byte| !byte.is_ascii_lowercase())
            .map_or(name, |at| {
                &name[if name[at].is_ascii_uppercase() { at } else { at + 1 }..]
            });
        OTHER_NAMES
            .iter()
            .any(|other| last_part.eq_ignore_ascii_case(other.as_bytes()))
    }
}

/// What a name ends in that stands for neither a number nor a secret.
const OTHER_NAMES: &[&str] = &[
    "id",
    "ids",
    "uuid",
    "guid",
    "sid",
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

/// A word to look for, in lower case.
pub(crate) struct Word {
    text: &'static str,
    joins_left: bool,
    joins_right: bool,
}

/// A word that stands on its own.
pub(crate) const fn word(text: &'static str) -> Word {
    Word {
        text,
        joins_left: false,
        joins_right: false,
    }
}

/// A word that other letters may follow.
pub(crate) const fn stem(text: &'static str) -> Word {
    Word {
        text,
        joins_left: false,
        joins_right: true,
    }
}

/// A word that counts inside any other.
pub(crate) const fn part(text: &'static str) -> Word {
    Word {
        text,
        joins_left: true,
        joins_right: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSN: &[Word] = &[word("ssn")];
    const CONTACT: &[Word] = &[word("contact")];

    fn has(key: &str, text: &str, words: &'static [Word]) -> bool {
        Words::new(words).begin_within(
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
    fn forty_characters_are_counted_not_bytes() {
        let far = |chars: usize| format!("ssn{}", "é".repeat(chars));
        assert!(has("", &far(37), SSN));
        assert!(!has("", &far(38), SSN));
    }

    #[test]
    fn a_word_in_the_name_of_something_else_does_not_count() {
        for key in ["contact_id", "contactId", "contact_phone_id", "last_contact_at"] {
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
