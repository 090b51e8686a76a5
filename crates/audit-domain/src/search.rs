//! Words of search. They are cut here, in one place, so that every database finds the same events.

mod piece;
mod text;
mod words;

use crate::{Facets, Violations};
use piece::Piece;
use serde_json::{Value, json};
use std::collections::BTreeSet;
pub use text::SearchedText;
use words::first_chars;
pub use words::{FoldedText, Word, Words};

crate::words! {
    /// How the last word of a search is compared.
    pub enum SearchMode {
        /// As the other words.
        Words = "words",
        /// As a prefix: it is still being typed.
        Prefix = "prefix",
    }
}

crate::words! {
    /// Where a search looks.
    pub enum SearchScope {
        /// In the action and the names of the actor and the target.
        Names = "names",
        /// In the ids of the actor, of the party that it acts for, and of the targets.
        Ids = "ids",
        /// For the actor's e-mail address, as a whole.
        Email = "email",
        /// In the texts of the metadata. No index has them.
        Metadata = "metadata",
    }
}

/// How much of a word of a text a word of a search must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordExtent {
    /// The whole word.
    Whole,
    /// Its beginning, or the whole word.
    Prefix,
    /// Any part of it: the word is of a script without spaces between words.
    Part,
}

/// One word of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWord {
    /// The word, folded.
    pub text: String,
    /// How much of a word of a text it must be.
    pub extent: WordExtent,
}

impl SearchWord {
    /// Whether a word of a text is what is searched for.
    fn finds(&self, word: Word<'_>) -> bool {
        let wanted = self.text.as_str();
        match self.extent {
            WordExtent::Whole => word.text == wanted,
            WordExtent::Prefix => word.text.starts_with(wanted),
            WordExtent::Part => word.is_unspaced && word.text.contains(wanted),
        }
    }

    /// What an index must have for a text with this word, or else for one of the whole texts `forms`. See [`Word::keys`].
    fn lookups<'a>(&'a self, forms: &'a [String]) -> Vec<Lookup<'a>> {
        let text = self.text.as_str();
        if self.extent != WordExtent::Part {
            let is_prefix = self.extent == WordExtent::Prefix;
            return vec![Lookup {
                key: text,
                is_prefix,
                forms,
            }];
        }
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        // Pairs that do not overlap, but for the last: the others follow from the text itself, with which candidates are compared.
        let last = starts.len().saturating_sub(2);
        let pairs = (0..last).step_by(2).chain([last]);
        pairs
            .map(|pair| Lookup {
                key: first_chars(&text[starts[pair]..], 2),
                is_prefix: starts.len() == 1,
                forms,
            })
            .collect()
    }
}

/// A key that an index must have for an event, or the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup<'a> {
    /// The key. See [`Word::keys`].
    pub key: &'a str,
    /// Whether a key that merely begins like this will do.
    pub is_prefix: bool,
    /// Whole ids and e-mail addresses that will do instead of the key.
    pub forms: &'a [String],
}

/// A full-text search: each of its pieces must be found in the texts of its scopes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pieces: Vec<Piece>,
    scopes: BTreeSet<SearchScope>,
}

impl Search {
    /// The longest search text, in characters.
    pub const CHARS_MAX: usize = 256;
    /// The most words of a search, and so the most comparisons with each word of a text. A piece that is written twice counts once, and so
    /// does a word that its piece has twice, but in a phrase.
    pub const WORDS_MAX: usize = 16;
    /// The most of them that may be prefixes: a prefix stands for every word that begins so, and each is looked up.
    pub const PREFIX_WORDS_MAX: usize = 2;
    /// Where a search looks unless it says so.
    pub const DEFAULT_SCOPES: [SearchScope; 1] = [SearchScope::Names];

    /// Reads a search text. A `*` directly behind a word makes it a prefix, quotation marks make a phrase.
    ///
    /// # Errors
    /// When the text has no word, or too many, or is too long.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        Self::parse_in(SearchMode::Words, Self::DEFAULT_SCOPES.into(), text)
    }

    /// Reads a search text in a mode and for scopes, of which there is at least one.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_in(mode: SearchMode, scopes: BTreeSet<SearchScope>, text: &str) -> Result<Self, Violations> {
        let refuse = |message: String| Err(Violations::one("search", message));
        if text.chars().count() > Self::CHARS_MAX {
            return refuse(format!("must have at most {} characters", Self::CHARS_MAX));
        }
        let has_whole_texts = scopes.contains(&SearchScope::Ids) || scopes.contains(&SearchScope::Email);
        let search = Self {
            pieces: Piece::cut(text, mode, has_whole_texts),
            scopes,
        };
        let words = search.words();
        if words
            .iter()
            .filter(|word| word.extent == WordExtent::Prefix)
            .count()
            > Self::PREFIX_WORDS_MAX
        {
            return refuse(format!(
                "must have at most {} words with a *, the last word among them if search_mode is prefix",
                Self::PREFIX_WORDS_MAX
            ));
        }
        match search.pieces.iter().map(|piece| piece.words.len()).sum::<usize>() {
            0 => refuse("must hold a letter or a digit".to_owned()),
            1..=Self::WORDS_MAX => Ok(search),
            _ => refuse(format!("must have at most {} words", Self::WORDS_MAX)),
        }
    }

    /// The different words, in the order they were written.
    pub fn words(&self) -> Vec<&SearchWord> {
        distinct(self.pieces.iter().flat_map(|piece| &piece.words))
    }

    /// The texts that it looks at, beside the metadata.
    pub fn texts(&self) -> impl Iterator<Item = SearchedText> {
        let texts = SearchedText::ALL.iter().copied();
        texts.filter(|text| self.scopes.contains(&text.scope()))
    }

    /// Whether it looks at the texts of the metadata.
    pub fn reads_metadata(&self) -> bool {
        self.scopes.contains(&SearchScope::Metadata)
    }

    /// With the text of each piece in all the forms in which redaction may have stored an id like it.
    #[must_use]
    pub fn in_all_forms<I: IntoIterator<Item = String>>(mut self, forms: impl Fn(&str) -> I) -> Self {
        for piece in &mut self.pieces {
            piece.forms = piece.forms.iter().flat_map(|text| forms(text)).collect();
        }
        self
    }

    /// Whether every piece is found in what the reader sees of an event: in its facets, or in the texts of its metadata if
    /// the search [reads these](Self::reads_metadata).
    pub fn matches(&self, visible: &Facets<'_>, metadata: &[String]) -> bool {
        let values: Vec<(SearchedText, &str)> = self
            .texts()
            .flat_map(|text| visible.searched_values(text).map(move |value| (text, value)))
            .collect();
        let folded = values.iter().filter_map(|(text, value)| text.folded(value));
        let folded: Vec<FoldedText<'_>> = folded
            .chain(metadata.iter().map(|text| FoldedText::new(text)))
            .collect();
        // Cut once, not once for each word of the search.
        let words: Vec<Vec<Word<'_>>> = folded.iter().map(|text| text.words().collect()).collect();
        let is_whole = |piece: &Piece| {
            let mut whole = values.iter().filter(|(text, _)| text.is_found_as_a_whole());
            whole.any(|(_, value)| piece.forms.iter().any(|form| form == value))
        };
        self.pieces
            .iter()
            .all(|piece| piece.is_in(&words) || is_whole(piece))
    }

    /// The look-ups that succeed for every matching event: at most [`Self::WORDS_MAX`], of which at most
    /// [`Self::PREFIX_WORDS_MAX`] are of prefixes; with `true` if their success proves a match, and `false` if the event must be
    /// checked as well. None if the search reads the metadata.
    pub fn lookups(&self) -> (Vec<Lookup<'_>>, bool) {
        if self.reads_metadata() {
            return (Vec::new(), false);
        }
        let of_words = self
            .pieces
            .iter()
            .flat_map(|piece| piece.words.iter().map(|word| word.lookups(&piece.forms)));
        let of_words: Vec<Vec<Lookup<'_>>> = of_words.collect();
        let first = of_words.iter().filter_map(|lookups| lookups.first());
        let further = of_words.iter().flat_map(|lookups| lookups.iter().skip(1));
        let all = distinct(first.chain(further).copied());
        let is_exact = of_words.iter().all(|lookups| lookups.len() == 1)
            && all.len() <= Self::WORDS_MAX
            && !self.pieces.iter().any(|piece| piece.is_phrase);
        let (prefixes, keys): (Vec<_>, Vec<_>) = all.into_iter().partition(|lookup| lookup.is_prefix);
        let is_exact = is_exact && prefixes.len() <= Self::PREFIX_WORDS_MAX;
        // A single unspaced character is a prefix of keys, too: those beyond the limit are only looked for in the candidates.
        let prefixes = prefixes.into_iter().take(Self::PREFIX_WORDS_MAX);
        let lookups = prefixes.chain(keys).take(Self::WORDS_MAX).collect();
        (lookups, is_exact)
    }

    /// Equal for equal searches and different for different ones. That of words of names alone is older than pieces and scopes.
    pub(crate) fn to_json(&self) -> Value {
        let words = |words: &[&SearchWord]| -> Value {
            let words = words.iter();
            words
                .map(|word| json!([word.text, word.extent == WordExtent::Prefix]))
                .collect()
        };
        let has_phrase = self.pieces.iter().any(|piece| piece.is_phrase);
        if !has_phrase && self.scopes == Self::DEFAULT_SCOPES.into() {
            return words(&self.words());
        }
        let scopes: Vec<&str> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        let pieces = self.pieces.iter().map(|piece| {
            let of_piece: Vec<&SearchWord> = piece.words.iter().collect();
            json!([piece.is_phrase, words(&of_piece), piece.forms])
        });
        json!({"in": scopes, "pieces": pieces.collect::<Vec<_>>()})
    }
}

/// Each of the items once, in their order.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

#[cfg(test)]
mod tests;
