//! The pieces of a search text.

use super::{FoldedText, SearchMode, SearchWord, Word, WordExtent, distinct};

/// What has no space in it, or is in quotation marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Not empty; of a phrase in their order, of another piece each once.
    pub(super) words: Vec<SearchWord>,
    /// Whether the words must follow each other in one text.
    pub(super) is_phrase: bool,
    /// Its text, in the forms in which ids and e-mail addresses may be stored. Empty if the search looks at neither.
    pub(super) forms: Vec<String>,
}

impl Piece {
    /// Cuts a search text. A quotation mark that is never closed is closed at the end.
    pub(super) fn cut(text: &str, mode: SearchMode, has_whole_texts: bool) -> Vec<Self> {
        let is_wordless = |text: &str| FoldedText::new(text).words().next().is_none();
        let mut parts = Vec::new();
        for (index, part) in text.split(is_quotation_mark).enumerate() {
            match index % 2 {
                0 => parts.extend(part.split_whitespace().map(|part| (part, false))),
                _ => parts.push((part.trim(), true)),
            }
        }
        parts.retain(|(part, _)| !is_wordless(part));
        let last = parts.len().saturating_sub(1);
        let pieces = parts.iter().enumerate().map(|(index, (part, is_quoted))| {
            let ends_with_prefix = mode == SearchMode::Prefix && index == last;
            Self::of(part, *is_quoted, ends_with_prefix, has_whole_texts)
        });
        distinct(pieces)
    }

    fn of(text: &str, is_quoted: bool, ends_with_prefix: bool, has_whole_texts: bool) -> Self {
        let folded = FoldedText::new(text);
        let mut rest = folded.words();
        let mut words = Vec::new();
        while let Some(word) = rest.next() {
            let is_last = || rest.clone().next().is_none();
            let is_prefix = rest.rest.starts_with('*') || ends_with_prefix && is_last();
            let extent = match word.is_unspaced {
                true => WordExtent::Part,
                false if is_prefix => WordExtent::Prefix,
                false => WordExtent::Whole,
            };
            let text = word.text.to_owned();
            words.push(SearchWord { text, extent });
        }
        let is_phrase = is_quoted && words.len() > 1;
        Self {
            is_phrase,
            words: match is_phrase {
                true => words,
                false => distinct(words.into_iter()),
            },
            forms: has_whole_texts.then(|| text.to_owned()).into_iter().collect(),
        }
    }

    /// Whether it is found in texts, each cut into its words.
    pub(super) fn is_in(&self, texts: &[Vec<Word<'_>>]) -> bool {
        let finds = |(wanted, word): (&SearchWord, &Word<'_>)| wanted.finds(*word);
        if self.is_phrase {
            let mut runs = texts.iter().flat_map(|words| words.windows(self.words.len()));
            return runs.any(|run| self.words.iter().zip(run).all(finds));
        }
        let mut words = self.words.iter();
        words.all(|wanted| texts.iter().flatten().any(|word| finds((wanted, word))))
    }
}

/// Quotation marks as keyboards and telephones write them.
const fn is_quotation_mark(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '＂')
}
