//! Properties of any search of any texts.

use crate::search::*;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use proptest::prelude::*;

/// What is written between spaces or quotation marks, with whether it is in quotation marks, character by character.
fn pieces_naively(typed: &str) -> Vec<(String, bool)> {
    let (mut pieces, mut piece, mut is_quoted) = (Vec::new(), String::new(), false);
    for character in typed.chars() {
        let is_mark = character == '"';
        if is_mark || character.is_whitespace() && !is_quoted {
            pieces.push((std::mem::take(&mut piece), is_quoted));
            is_quoted ^= is_mark;
        } else {
            piece.push(character);
        }
    }
    pieces.push((piece, is_quoted));
    pieces
}

/// Whether a search finds one of the texts, by trying each piece everywhere.
fn matches_naively(typed: &str, mode: SearchMode, values: &[(SearchedText, &str)]) -> bool {
    let mut pieces = pieces_naively(typed);
    pieces.retain(|(piece, _)| FoldedText::new(piece).words().next().is_some());
    let texts: Vec<FoldedText<'_>> = values
        .iter()
        .filter_map(|(text, value)| text.folded(value))
        .collect();
    let texts: Vec<Vec<Word<'_>>> = texts.iter().map(|text| text.words().collect()).collect();
    let last = pieces.len() - 1;
    pieces.iter().enumerate().all(|(index, (piece, is_quoted))| {
        let folded = FoldedText::new(piece);
        let words: Vec<(Word<'_>, bool)> = {
            let (mut words, mut found) = (folded.words(), Vec::new());
            while let Some(word) = words.next() {
                let is_last = words.clone().next().is_none() && index == last;
                found.push((
                    word,
                    words.rest.starts_with('*') || is_last && mode == SearchMode::Prefix,
                ));
            }
            found
        };
        let is_at = |text: &[Word<'_>], at: usize, (wanted, is_prefix): (Word<'_>, bool)| {
            text.get(at)
                .is_some_and(|word| match (wanted.is_unspaced, is_prefix) {
                    (true, _) => word.is_unspaced && word.text.contains(wanted.text),
                    (false, true) => word.text.starts_with(wanted.text),
                    (false, false) => word.text == wanted.text,
                })
        };
        let anywhere = |wanted| {
            texts
                .iter()
                .any(|text| (0..text.len()).any(|at| is_at(text, at, wanted)))
        };
        let in_sequence = |text: &Vec<Word<'_>>| {
            (0..text.len()).any(|start| {
                words
                    .iter()
                    .enumerate()
                    .all(|(step, wanted)| is_at(text, start + step, *wanted))
            })
        };
        let is_whole = values
            .iter()
            .any(|(text, value)| text.scope() != SearchScope::Names && *value == piece.trim());
        is_whole
            || if *is_quoted {
                texts.iter().any(in_sequence)
            } else {
                words.iter().all(|wanted| anywhere(*wanted))
            }
    })
}

/// Searches of such characters, and quotation marks.
fn any_search() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[abé中国年ไท่かが\u{3099}\u{301}\u{94d}कि한1ー .*\"]{0,12}")
        .expect("a pattern")
}

/// Texts and searches of few characters of many kinds, so that searches find texts.
fn any_text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[abé中国年ไท่かが\u{3099}\u{301}\u{94d}कि한1ー .*]{0,12}")
        .expect("a pattern")
}

proptest! {
    #[test]
    fn an_index_finds_the_texts_that_match(
        texts in proptest::collection::vec((proptest::sample::select(SearchedText::ALL), any_text()), 1..6),
        scopes in proptest::collection::btree_set(proptest::sample::select(&SearchScope::ALL[..3]), 1..3),
        mode in proptest::sample::select(SearchMode::ALL),
        typed in any_search(),
    ) {
        let Ok(search) = Search::parse_in(mode, scopes.clone(), &typed) else {
            return Ok(());
        };
        let facets = texts.iter().fold(Facets::default(), |facets, (text, value)| facets.with_text(*text, value.as_str()));
        let values = SearchedText::ALL.iter().filter(|text| scopes.contains(&text.scope()));
        let values: Vec<(SearchedText, &str)> = values.flat_map(|text| facets.searched_values(*text).map(|value| (*text, value))).collect();
        let is_match = search.matches(&facets, &[]);
        prop_assert_eq!(is_match, matches_naively(&typed, mode, &values), "{:?} {:?}", search, values);

        let folded: Vec<_> = values.iter().filter_map(|(text, value)| text.folded(value)).collect();
        let keys: Vec<&str> = folded.iter().flat_map(FoldedText::words).flat_map(Word::keys).collect();
        let is_whole = |forms: &[String]| values.iter().any(|(text, value)| text.is_found_as_a_whole() && forms.iter().any(|form| form == value));
        let has = |lookup: &Lookup<'_>| is_whole(lookup.forms) || keys.iter().any(|key| match lookup.is_prefix {
            true => key.starts_with(lookup.key),
            false => *key == lookup.key,
        });
        let (lookups, is_exact) = search.lookups();
        let is_selected = lookups.iter().all(has);
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
