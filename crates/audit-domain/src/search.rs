//! Words of search. They are cut here, in one place, so that every database finds the same events.

use crate::Violations;
use std::borrow::Cow;

/// The words of a text: runs of letters and digits of any script, lower-cased and without combining marks. The words of a
/// lower-cased text are the same.
pub fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split(is_separator)
        .map(lower_cased)
        .filter(|word| !word.is_empty())
}

fn is_separator(character: char) -> bool {
    !character.is_alphanumeric() && !is_combining_mark(character)
}

/// The block Combining Diacritical Marks of Unicode. Such a mark belongs to the letter before it: the small letter of `İ` is
/// `i` with the mark U+0307.
const fn is_combining_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

fn lower_cased(word: &str) -> Cow<'_, str> {
    match word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    {
        true => Cow::Borrowed(word),
        // By character: the small letter must not depend on what follows, which a prefix does not know.
        false => Cow::Owned(
            word.chars()
                .flat_map(char::to_lowercase)
                .filter_map(as_searched)
                .collect(),
        ),
    }
}

const fn as_searched(letter: char) -> Option<char> {
    match letter {
        // The form at the end of a word.
        'ς' => Some('σ'),
        mark if is_combining_mark(mark) => None,
        letter => Some(letter),
    }
}

/// One word of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWord {
    /// The word, lower-cased.
    pub text: String,
    /// Whether a word that merely begins like this matches as well.
    pub is_prefix: bool,
}

/// A full-text search: every word must be a word of the action, the actor's name or the target's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search(Vec<SearchWord>);

impl Search {
    /// The longest search text, in characters.
    pub const CHARS_MAX: usize = 256;
    /// The most different words of a search.
    pub const WORDS_MAX: usize = 16;
    /// The most of them that may be prefixes: a prefix stands for every word that begins so, and each is looked up.
    pub const PREFIX_WORDS_MAX: usize = 2;

    /// Reads a search text. A `*` directly behind a word makes it a prefix.
    ///
    /// # Errors
    /// When the text has no word, or too many, or is too long.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        let refuse = |message: String| Err(Violations::one("search", message));
        if text.chars().count() > Self::CHARS_MAX {
            return refuse(format!("must have at most {} characters", Self::CHARS_MAX));
        }
        let mut found = Vec::new();
        for piece in text.split_inclusive(is_separator) {
            let is_prefix = piece.ends_with('*');
            for text in words(piece) {
                let text = text.into_owned();
                let word = SearchWord { text, is_prefix };
                if !found.contains(&word) {
                    found.push(word);
                }
            }
        }
        if found.iter().filter(|word| word.is_prefix).count() > Self::PREFIX_WORDS_MAX {
            return refuse(format!(
                "must have at most {} words with a *",
                Self::PREFIX_WORDS_MAX
            ));
        }
        match found.len() {
            0 => refuse("must hold a letter or a digit".to_owned()),
            count if count > Self::WORDS_MAX => {
                refuse(format!("must have at most {} words", Self::WORDS_MAX))
            }
            _ => Ok(Self(found)),
        }
    }

    /// The words, in the order they were written.
    pub fn words(&self) -> &[SearchWord] {
        &self.0
    }

    /// Whether every word is found among the words of `texts`.
    pub fn matches<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone) -> bool {
        self.0.iter().all(|wanted| {
            texts.clone().flat_map(words).any(|word| match wanted.is_prefix {
                true => word.starts_with(&wanted.text),
                false => word == wanted.text,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(search: &str, texts: &[&str]) -> bool {
        Search::parse(search).unwrap().matches(texts.iter().copied())
    }

    #[test]
    fn every_word_must_be_a_word_of_one_of_the_texts() {
        let texts = ["user.role_updated", "Ärzte-Team 42", "Alice O'Neil"];
        for search in [
            "role",
            "ROLE alice",
            "ärzte 42",
            "ali*",
            "o neil",
            "up* al*",
            "alice,team",
        ] {
            assert!(found(search, &texts), "{search}");
        }
        for search in ["rol", "lice", "alice bob", "4*2", "ali**x", "*alic"] {
            assert!(!found(search, &texts), "{search}");
        }
    }

    #[test]
    fn the_words_of_a_lower_cased_text_are_the_same() {
        for text in ["İSTANBUL", "ΣΊΣΥΦΟΣ", "Cafe\u{301} Zürich", "\u{301}", "ǅ ẞ ﬃ Ω"] {
            let lower = text.to_lowercase();
            assert_eq!(
                words(text).collect::<Vec<_>>(),
                words(&lower).collect::<Vec<_>>(),
                "{text}"
            );
        }
        let texts = ["İstanbul", "ΣΊΣΥΦΟΣ", "cafe\u{301}s"];
        for search in ["istanbul", "i\u{307}stan*", "σίσυφος", "ΣΊΣ* cafes"] {
            assert!(found(search, &texts), "{search}");
        }
        assert!(Search::parse("\u{301}").is_err());
    }

    #[test]
    fn a_search_has_words_and_limits() {
        assert!(Search::parse("!!!").is_err());
        assert!(Search::parse("").is_err());
        let different = |words: u32| (0..words).map(|word| format!("w{word} ")).collect::<String>();
        assert!(Search::parse(&different(16)).is_ok());
        assert!(Search::parse(&different(17)).is_err());
        assert_eq!(
            Search::parse(&"a ".repeat(17)).map(|search| search.words().len()),
            Ok(1)
        );
        assert!(Search::parse("a* b*").is_ok());
        assert!(Search::parse("a* b* c*").is_err());
        assert!(Search::parse(&"é".repeat(256)).is_ok());
        assert!(Search::parse(&"é".repeat(257)).is_err());
    }
}
