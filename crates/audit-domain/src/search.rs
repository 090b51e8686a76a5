//! Words of search. They are cut here, in one place, so that every database finds the same events.

mod words;

use crate::Violations;
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

/// How much of a word of a text a word of a search must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
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
    pub extent: Extent,
}

impl SearchWord {
    /// Whether a word of a text is what is searched for.
    fn finds(&self, word: Word<'_>) -> bool {
        let wanted = self.text.as_str();
        match self.extent {
            Extent::Whole => word.text == wanted,
            Extent::Prefix => word.text.starts_with(wanted),
            Extent::Part => word.is_unspaced && word.text.contains(wanted),
        }
    }

    /// What an index must have for a text with this word. See [`Word::keys`].
    fn lookups(&self) -> Vec<Lookup<'_>> {
        let text = self.text.as_str();
        if self.extent != Extent::Part {
            let is_prefix = self.extent == Extent::Prefix;
            return vec![Lookup { key: text, is_prefix }];
        }
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        // Pairs that do not overlap, but for the last: the others follow from the text itself, with which candidates are compared.
        let last = starts.len().saturating_sub(2);
        let pairs = (0..last).step_by(2).chain([last]);
        pairs
            .map(|pair| Lookup {
                key: first_chars(&text[starts[pair]..], 2),
                is_prefix: starts.len() == 1,
            })
            .collect()
    }
}

/// A key that an index must have for a text, or the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup<'a> {
    /// The key. See [`Word::keys`].
    pub key: &'a str,
    /// Whether a key that merely begins like this will do.
    pub is_prefix: bool,
}

/// A full-text search: every word must be found in the action, the actor's name or the target's name.
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
        Self::parse_in(SearchMode::Words, text)
    }

    /// Reads a search text in a mode.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_in(mode: SearchMode, text: &str) -> Result<Self, Violations> {
        let refuse = |message: String| Err(Violations::one("search", message));
        if text.chars().count() > Self::CHARS_MAX {
            return refuse(format!("must have at most {} characters", Self::CHARS_MAX));
        }
        let folded = FoldedText::new(text);
        let mut words = folded.words();
        let mut found = Vec::new();
        while let Some(word) = words.next() {
            let is_last = || words.clone().next().is_none();
            let is_prefix = words.rest.starts_with('*') || mode == SearchMode::Prefix && is_last();
            let extent = match word.is_unspaced {
                true => Extent::Part,
                false if is_prefix => Extent::Prefix,
                false => Extent::Whole,
            };
            let text = word.text.to_owned();
            let word = SearchWord { text, extent };
            if !found.contains(&word) {
                found.push(word);
            }
        }
        if found.iter().filter(|word| word.extent == Extent::Prefix).count() > Self::PREFIX_WORDS_MAX {
            return refuse(format!(
                "must have at most {} words with a *, the last word among them if search_mode is prefix",
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
    pub fn matches<'a>(&self, texts: impl Iterator<Item = &'a str>) -> bool {
        let texts: Vec<FoldedText<'a>> = texts.map(FoldedText::new).collect();
        // Cut once, not once for each word of the search.
        let words: Vec<Word<'_>> = texts.iter().flat_map(FoldedText::words).collect();
        let is_found = |wanted: &SearchWord| words.iter().any(|word| wanted.finds(*word));
        self.0.iter().all(is_found)
    }

    /// The look-ups that succeed for every matching text: at most [`Self::WORDS_MAX`], of which at most
    /// [`Self::PREFIX_WORDS_MAX`] are of prefixes; with `true` if their success proves a match, and `false` if the text must be
    /// checked as well.
    pub fn lookups(&self) -> (Vec<Lookup<'_>>, bool) {
        let of_words: Vec<Vec<Lookup<'_>>> = self.0.iter().map(SearchWord::lookups).collect();
        let is_exact = of_words.iter().all(|lookups| lookups.len() == 1);
        let first = of_words.iter().filter_map(|lookups| lookups.first());
        let further = of_words.iter().flat_map(|lookups| lookups.iter().skip(1));
        let all = first.chain(further).copied();
        let (prefixes, keys): (Vec<_>, Vec<_>) = all.partition(|lookup| lookup.is_prefix);
        let is_exact = is_exact && prefixes.len() <= Self::PREFIX_WORDS_MAX;
        // A single unspaced character is a prefix of keys, too: those beyond the limit are only looked for in the candidates.
        let prefixes = prefixes.into_iter().take(Self::PREFIX_WORDS_MAX);
        let lookups = prefixes.chain(keys).take(Self::WORDS_MAX).collect();
        (lookups, is_exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
    use proptest::prelude::*;

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
    fn a_name_is_found_as_people_type_it() {
        for (text, search) in [
            ("Jose\u{301}", "José"),
            ("José", "Jose\u{301}"),
            ("Café Müller & López", "cafe muller lopez"),
            ("cafe muller lopez", "CAFÉ Müller Lo\u{301}pez"),
            (
                "Straße Æsir Œuvre Øre Łódź Đorđe Þór",
                "strasse aesir oeuvre ore lodz dorde thor",
            ),
            ("STRASSE", "straße"),
            ("İstanbul Iğdır", "istanbul igdir"),
            ("ΣΊΣΥΦΟΣ", "σισυφος"),
            ("Τσίπρας", "ΤΣΙΠΡΑΣ"),
            ("Алексей", "алексе\u{438}\u{306}"),
            ("Алексе\u{438}\u{306}", "АЛЕКСЕЙ"),
            ("Фёдор", "федор"),
            ("Ｊａｎｅ　Ｄｏｅ ４２", "jane doe 42"),
            ("ﬁnal", "final"),
            ("so\u{ad}ft\u{200b}ware", "software"),
            ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
            ("ガス", "ｶﾞｽ"),
            ("か\u{3099}く", "がく"),
            ("田中太郎", "太郎"),
            ("田中太郎", "中太郎"),
            ("田中太郎", "中"),
            ("田中太郎", "郎*"),
            ("김철수", "철수"),
            ("2026年3月5日 第3四半期", "2026年3月5日 3月 四半"),
            ("ภาษาไทยง่าย", "ไทย"),
            ("ສະບາຍດີ", "ບາຍ"),
            ("ភាសាខ្មែរ", "ខ្មែរ"),
            ("မြန်မာစာ", "မာစာ"),
            ("サーバー", "バー"),
            ("कर्म", "कर्म"),
            ("राम कुमार", "कुमार राम"),
            ("שלום", "שלום"),
        ] {
            assert!(found(search, &[text]), "{search} in {text}");
        }
    }

    #[test]
    fn other_letters_are_other_words() {
        for (text, search) in [
            ("कर्म", "कर"),
            ("कर्म", "क"),
            ("कि", "की"),
            ("Алексей", "Алексеи"),
            ("がく", "か"),
            ("がく", "か\u{3099}\u{3099}"),
            ("철수", "처"),
            ("田中 太郎", "中太"),
            ("東京 京都", "東京都"),
            ("Müller", "Mueller"),
            ("ひらがな", "ヒラ"),
            ("taro田中", "tar"),
        ] {
            assert!(!found(search, &[text]), "{search} in {text}");
        }
    }

    #[test]
    fn folding_keeps_what_is_folded_for_every_character() {
        let folded = |text: &str| {
            let folded = FoldedText::new(text);
            folded
                .words()
                .map(|word| word.text.to_owned())
                .collect::<Vec<_>>()
        };
        // The planes beyond have only Han.
        for character in ('\0'..='\u{1ffff}').filter(|character| character.is_alphanumeric()) {
            let text = character.to_string();
            let once = folded(&text);
            assert_eq!(folded(&once.join(" ")), once, "U+{:04X}", u32::from(character));
            assert_eq!(
                folded(&text.to_lowercase()),
                once,
                "U+{:04X}",
                u32::from(character)
            );
        }
    }

    #[test]
    fn the_last_word_is_a_prefix_where_the_mode_says_so() {
        let found = |search: &str, text: &str| {
            let search = Search::parse_in(SearchMode::Prefix, search).unwrap();
            search.matches([text].into_iter())
        };
        for search in [
            "al",
            "ALI",
            "bob alice",
            "alice b",
            "al* b",
            "alice bo.",
            "ali*",
            "bob al bob",
        ] {
            assert_eq!(found(search, "Alice Bob"), search != "bob al bob", "{search}");
        }
        for search in ["lice", "al bob", "alicex", "b alice"] {
            assert!(!found(search, "Alice Bob"), "{search}");
        }
        assert!(found("中", "田中") && found("josé m", "Jose Mú"));
        assert!(Search::parse_in(SearchMode::Prefix, "a* b").is_ok());
        assert!(Search::parse_in(SearchMode::Prefix, "a* b* c").is_err());
        assert!(Search::parse("a* b* c").is_ok());
    }

    #[test]
    fn a_mark_alone_is_no_word() {
        for text in [
            "\u{301}", "\u{93f}", "\u{e48}", "\u{3099}", "\u{fe0f}", "\u{200d}",
        ] {
            assert!(Search::parse(text).is_err(), "{}", text.escape_unicode());
        }
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
        let hindi = "क्षमा प्रार्थना विद्यार्थी कर्म धर्म स्त्री श्रीमती ज्ञान द्वितीय";
        assert_eq!(Search::parse(hindi).map(|search| search.words().len()), Ok(9));
        assert!(Search::parse(&"é".repeat(256)).is_ok());
        assert!(Search::parse(&"é".repeat(257)).is_err());
    }

    /// Texts and searches of few characters of many kinds, so that searches find texts.
    fn any_text() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[abé中国年ไท่かが\u{3099}\u{301}\u{94d}कि한1ー .*]{0,12}")
            .expect("a pattern")
    }

    proptest! {
        #[test]
        fn an_index_finds_the_texts_that_match(
            texts in proptest::collection::vec(any_text(), 1..4),
            search in any_text(),
        ) {
            let Ok(search) = Search::parse(&search) else {
                return Ok(());
            };
            let folded: Vec<_> = texts.iter().map(|text| FoldedText::new(text)).collect();
            let keys: Vec<&str> = folded.iter().flat_map(FoldedText::words).flat_map(Word::keys).collect();
            let has = |lookup: &Lookup<'_>| keys.iter().any(|key| match lookup.is_prefix {
                true => key.starts_with(lookup.key),
                false => *key == lookup.key,
            });
            let (lookups, is_exact) = search.lookups();
            let is_selected = lookups.iter().all(has);
            let is_match = search.matches(texts.iter().map(String::as_str));
            prop_assert!(is_selected || !is_match, "{:?} {:?}", lookups, keys);
            prop_assert!(!is_exact || is_selected == is_match, "{:?} {:?}", lookups, keys);
            prop_assert!(!lookups.is_empty() && lookups.len() <= Search::WORDS_MAX);
            let prefixes = lookups.iter().filter(|lookup| lookup.is_prefix).count();
            prop_assert!(prefixes <= Search::PREFIX_WORDS_MAX);
        }

        #[test]
        fn the_normal_form_and_the_case_of_a_text_change_no_word(text in any_text()) {
            let words = |text: &str| {
                let folded = FoldedText::new(text);
                folded.words().map(|word| word.text.to_owned()).collect::<Vec<_>>()
            };
            let decomposed: String = DecomposingNormalizerBorrowed::new_nfd().normalize_iter(text.chars()).collect();
            let composed: String = ComposingNormalizerBorrowed::new_nfc().normalize_iter(text.chars()).collect();
            for other in [decomposed, composed, text.to_lowercase(), text.to_uppercase()] {
                prop_assert_eq!(words(&other), words(&text));
            }
        }
    }
}
