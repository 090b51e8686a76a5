//! Full-width forms of ASCII characters, as East Asian input methods write them.

use super::Span;
use crate::work;

const FIRST: char = '\u{ff01}';
const LAST: char = '\u{ff5e}';

/// A text with ASCII characters in place of full-width ones.
pub(crate) struct Narrowed {
    pub(crate) text: String,
    /// By byte of `text`: its offset in the original text. The last element is the length of the original text.
    offsets: Vec<usize>,
}

impl Narrowed {
    pub(crate) fn new(original: &str) -> Narrowed {
        work::bytes_read(original.len());
        let mut text = String::with_capacity(original.len());
        let mut offsets = Vec::with_capacity(original.len() + 1);
        for (at, ch) in original.char_indices() {
            let ch = narrow(ch);
            text.push(ch);
            // A match begins and ends at characters, so the other bytes of a character are never looked up.
            offsets.resize(text.len(), at);
        }
        offsets.push(original.len());
        Narrowed { text, offsets }
    }

    /// The span in the original text.
    pub(crate) fn original(&self, span: Span) -> Span {
        Span::new(self.offsets[span.start], self.offsets[span.end])
    }
}

fn narrow(ch: char) -> char {
    const DISTANCE: u32 = FIRST as u32 - '!' as u32;
    match ch {
        FIRST..=LAST => char::from_u32(u32::from(ch) - DISTANCE).unwrap_or(ch),
        _ => ch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_original_text() {
        let original = "番号４１１１ é!";
        let narrowed = Narrowed::new(original);
        assert_eq!(narrowed.text, "番号4111 é!");
        for part in ["番号", "4111", "é", "!"] {
            let start = narrowed.text.find(part).unwrap();
            let span = narrowed.original(Span::new(start, start + part.len()));
            let wide = if part == "4111" { "４１１１" } else { part };
            assert_eq!(&original[span.start..span.end], wide);
        }
    }
}
