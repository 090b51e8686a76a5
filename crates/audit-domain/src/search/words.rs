//! The words of a text, in the form in which they are compared.
//!
//! The form follows the primary level of the Unicode Collation Algorithm (UTS #10) with CLDR's root collation: it ignores width, case and
//! the accents of Latin, Greek and Cyrillic, and keeps whatever makes another letter. CLDR gives only one accented letter of these
//! scripts a primary weight of its own, `й`.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{
    BinaryProperty, DefaultIgnorableCodePoint, EnumeratedProperty, GeneralCategory, GeneralCategoryGroup,
    Script,
};
use icu_properties::script::ScriptWithExtensions;
use std::borrow::Cow;
use std::iter;

/// A text in the form in which its words are compared. Texts that differ only in normal form, width, case or accents have the
/// same form.
#[derive(Clone, Debug)]
pub struct FoldedText<'a>(Cow<'a, str>);

impl<'a> FoldedText<'a> {
    /// Folds a text. A character becomes at most 18, of 33 bytes (`ﷺ`), so the two names of an event, each of at most 512 characters, become
    /// at most 33 KiB.
    pub fn new(text: &'a str) -> Self {
        Self(match text {
            _ if !text.is_ascii() => Cow::Owned(folded(text)),
            _ if text.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Owned(text.to_ascii_lowercase()),
            _ => Cow::Borrowed(text),
        })
    }

    /// The text in this form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has `part`, which is in this form and not empty, with no letter or digit before and behind it. Letters of scripts without
    /// spaces between words do not count.
    pub fn has_whole(&self, part: &str) -> bool {
        let (first, last) = (part.chars().next(), part.chars().next_back());
        let is_joined = |edge: Option<char>, neighbour: Option<char>| {
            let mut both = edge.into_iter().chain(neighbour);
            neighbour.is_some_and(char::is_alphanumeric) && !both.any(is_unspaced)
        };
        let mut from = 0;
        while let Some(at) = self.0[from..].find(part) {
            let (before, rest) = self.0.split_at(from + at);
            let behind = rest[part.len()..].chars().next();
            if !is_joined(first, before.chars().next_back()) && !is_joined(last, behind) {
                return true;
            }
            // One occurrence may begin within another one.
            from = before.len() + first.map_or(1, char::len_utf8);
        }
        false
    }

    /// Its words, in their order.
    pub fn words(&self) -> Words<'_> {
        Words {
            rest: &self.0,
            is_ascii: self.0.is_ascii(),
        }
    }
}

fn folded(text: &str) -> String {
    let mut before = None;
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize_iter(text.chars());
    let kept = decomposed.filter(|character| {
        let is_kept = !DefaultIgnorableCodePoint::for_char(*character)
            && (!is_accent(*character) || is_short_i(before, *character));
        if !is_accent(*character) {
            before = Some(*character);
        }
        is_kept
    });
    // By character: the small letter must not depend on what follows, which a prefix does not know.
    let letters = kept
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase) // Both cases of `ß` are `SS`, and both small forms of `Σ` have it as their capital.
        .flat_map(char::to_lowercase)
        .flat_map(base_letters);
    // Composed, so that a part of `が` or of a Hangul syllable is not another character.
    ComposingNormalizerBorrowed::new_nfc()
        .normalize_iter(letters)
        .collect()
}

/// Whether it is an accent: a mark of the blocks that Unicode has for Latin, Greek and Cyrillic. Other marks, such as the vowel signs of
/// Devanagari and the tone marks of Thai, are part of what is written.
const fn is_accent(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}' // Combining Diacritical Marks
            | '\u{483}'..='\u{489}' // Cyrillic
            | '\u{1ab0}'..='\u{1aff}' // Combining Diacritical Marks Extended
            | '\u{1dc0}'..='\u{1dff}' // Combining Diacritical Marks Supplement
            | '\u{20d0}'..='\u{20ff}' // Combining Diacritical Marks for Symbols
            | '\u{fe20}'..='\u{fe2f}' // Combining Half Marks
    )
}

/// Whether the mark makes `й` of the letter before it.
const fn is_short_i(letter: Option<char>, mark: char) -> bool {
    matches!((letter, mark), (Some('и' | 'И'), '\u{306}'))
}

/// Letters that Unicode does not decompose, as CLDR's transform Latin-ASCII has them.
fn base_letters(letter: char) -> impl Iterator<Item = char> {
    let (first, second) = match letter {
        'æ' => ('a', Some('e')),
        'œ' => ('o', Some('e')),
        'þ' => ('t', Some('h')),
        'đ' | 'ð' => ('d', None),
        'ħ' => ('h', None),
        'ł' => ('l', None),
        'ŋ' => ('n', None),
        'ø' => ('o', None),
        'ŧ' => ('t', None),
        letter => (letter, None),
    };
    iter::once(first).chain(second)
}

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word, folded.
    pub text: &'a str,
    /// Whether its script writes no spaces between words, so that the words in it are unknown and any part of it may be one.
    pub is_unspaced: bool,
}

impl<'a> Word<'a> {
    /// The keys under which an index has a text with this word: the word itself. Of an unspaced one every two neighbouring characters,
    /// and its last character: so each character begins a key.
    pub fn keys(self) -> impl Iterator<Item = &'a str> {
        let Self { text, is_unspaced } = self;
        let starts = text.char_indices().map(|(start, _)| start);
        starts
            .take(if is_unspaced { usize::MAX } else { 1 })
            .map(move |start| match is_unspaced {
                true => first_chars(&text[start..], 2),
                false => text,
            })
    }
}

/// The beginning of a text: this number of characters, or all if it has fewer.
pub(super) fn first_chars(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars);
    end.map_or(text, |(end, _)| &text[..end])
}

/// The words of a folded text: a letter or digit, and the letters, digits and marks behind it. A word also ends where unspaced
/// characters meet others.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    pub(super) rest: &'a str,
    is_ascii: bool,
}

impl<'a> Words<'a> {
    /// What [`Iterator::next`] finds in most texts, without a look at the tables of Unicode.
    fn next_of_ascii(&mut self) -> Option<Word<'a>> {
        let start = self.rest.bytes().position(|byte| byte.is_ascii_alphanumeric())?;
        let text = &self.rest[start..];
        let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric());
        let (text, rest) = text.split_at(end.unwrap_or(text.len()));
        self.rest = rest;
        Some(Word {
            text,
            is_unspaced: false,
        })
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        if self.is_ascii {
            return self.next_of_ascii();
        }
        let start = self.rest.find(begins_word)?;
        let text = &self.rest[start..];
        let is_unspaced = text.starts_with(is_unspaced);
        let is_inside = |character: char| {
            is_mark(character) || character.is_alphanumeric() && self::is_unspaced(character) == is_unspaced
        };
        let end = text.find(|character| !is_inside(character));
        let (text, rest) = text.split_at(end.unwrap_or(text.len()));
        self.rest = rest;
        Some(Word { text, is_unspaced })
    }
}

/// Whether it is a letter or a digit. Unicode counts some marks among the letters, but none begins a word.
fn begins_word(character: char) -> bool {
    character.is_alphanumeric() && !is_mark(character)
}

fn is_mark(character: char) -> bool {
    !character.is_ascii() && GeneralCategoryGroup::Mark.contains(GeneralCategory::for_char(character))
}

/// Whether the character is of a script without spaces between words, or of Hangul, whose words take endings and follow names without
/// a space.
fn is_unspaced(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    let scripts = ScriptWithExtensions::new();
    match scripts.get_script_val(character) {
        Script::Han
        | Script::Hiragana
        | Script::Katakana
        | Script::Hangul
        | Script::Thai
        | Script::Lao
        | Script::Khmer
        | Script::Myanmar => true,
        // `ー` lengthens vowels of both kana, and `〆` is written among Han.
        Script::Common | Script::Inherited => [Script::Han, Script::Katakana]
            .into_iter()
            .any(|script| scripts.has_script(character, script)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_at_the_boundaries_of_words() {
        let has = |text: &str, part: &str| {
            let part = FoldedText::new(part);
            FoldedText::new(text).has_whole(part.as_str())
        };
        for (text, part) in [
            ("Jane Doe", "JANE doe"),
            ("to jane@example.com.", "Jane@Example.com"),
            ("(Zoë)", "zoe"),
            ("janet, jane", "jane"),
            ("ajane jane jane", "jane jane"),
            ("担当は田中太郎です", "田中太郎"),
            ("id+14155552671", "+14155552671"),
        ] {
            assert_eq!(has(text, part), !text.starts_with("id"), "{text}");
        }
        for (text, part) in [
            ("janet", "jane"),
            ("maryjane", "jane"),
            ("jane7", "jane"),
            ("jan", "jane"),
        ] {
            assert!(!has(text, part), "{text}");
        }
    }

    #[test]
    fn folding_makes_at_most_18_characters_of_one() {
        let size = |character: char| {
            let folded = folded(&character.to_string());
            (folded.chars().count(), folded.len())
        };
        let sizes = ('\0'..=char::MAX).map(size);
        let most = sizes.reduce(|most, size| (most.0.max(size.0), most.1.max(size.1)));
        assert_eq!(most, Some((18, 33)));
        assert_eq!(size('ﷺ'), (18, 33));
    }
}
