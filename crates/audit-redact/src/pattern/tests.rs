//! Tests of custom patterns.

use super::*;
use crate::work::counter::count;

fn fuel_for(text: &str) -> Fuel {
    let mut fuel = Fuel::for_document();
    fuel.add_for(text);
    fuel
}

/// What a set of only this pattern finds.
fn found_by(set: &PatternSet, text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    set.each_hit(text, &mut fuel_for(text), |_, one| found.push(one));
    found
}

fn alone(pattern: &str) -> PatternSet {
    PatternSet::new(vec![Pattern::parse(pattern).unwrap()])
}

fn refusal(pattern: &str) -> PatternError {
    Pattern::parse(pattern).unwrap_err()
}

#[test]
fn a_pattern_with_a_syntax_error_is_refused() {
    let PatternError::Syntax(message) = refusal("a(b") else {
        panic!("not a syntax error")
    };
    assert!(message.contains("unclosed group"), "{message}");
}

#[test]
fn a_pattern_has_at_most_a_thousand_characters() {
    assert!(Pattern::parse(&"é".repeat(Pattern::CHARS_MAX)).is_ok());
    assert_eq!(
        refusal(&"é".repeat(Pattern::CHARS_MAX + 1)),
        PatternError::TooLong
    );
}

#[test]
fn a_pattern_that_matches_the_empty_text_is_refused() {
    for pattern in ["", "x*", "a|", "^$", "(?:)"] {
        assert_eq!(refusal(pattern), PatternError::MatchesEmpty, "{pattern}");
    }
}

#[test]
fn a_pattern_that_compiles_beyond_the_limit_is_refused() {
    assert_eq!(refusal(r"(?:\w{50}){50}"), PatternError::TooBig);
}

#[test]
fn a_pattern_that_can_match_without_a_character_is_refused() {
    for pattern in [r"\b", "^", "x*", "a|", r"(?:x?)$"] {
        assert_eq!(refusal(pattern), PatternError::MatchesEmpty, "{pattern}");
    }
}

#[test]
fn beyond_the_limit_of_hits_the_rest_is_one_hit() {
    let text = "ab".repeat(HITS_MAX + 10);
    let spans = found_by(&alone("a"), &text);
    assert_eq!(spans.len(), HITS_MAX + 1);
    assert_eq!(spans[HITS_MAX], Found::Rest(Span::new(HITS_MAX * 2, text.len())));
}

#[test]
fn the_prefilter_changes_no_result() {
    let patterns = ["EMP-[0-9]+", "[0-9]{3}", "x"];
    let set = PatternSet::new(patterns.map(|text| Pattern::parse(text).unwrap()).to_vec());
    for text in ["", "nothing", "EMP-123 x", "xx 999"] {
        let mut through_prefilter = Vec::new();
        set.each_hit(text, &mut fuel_for(text), |index, found| {
            through_prefilter.push((index, found));
        });
        let mut one_by_one = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            one_by_one.extend(
                found_by(&alone(pattern), text)
                    .into_iter()
                    .map(|found| (index, found)),
            );
        }
        assert_eq!(through_prefilter, one_by_one);
    }
}

/// Patterns whose states do not fit a cache, or that read a text again and again.
const COSTLY: &[&str] = &[
    r"a(?:[ab]{291}){20}[^ab]",
    r"[ab]*a[ab]{400}c",
    r"(?s)a.{900}b",
    r"(?:[ab]?){400}[^ab]{2}",
    r".*[^A-Z]|[A-Z]",
    r"(?:a|b|ab)*c|a",
    r"\b\w{1,20}\b-\w",
];

/// A text of at least `bytes` bytes over `letters`, without a short period.
fn mixed(letters: &[char], bytes: usize) -> String {
    let (mut text, mut random) = (String::new(), 7_u32);
    while text.len() < bytes {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(letters[(random >> 24) as usize % letters.len()]);
    }
    text
}

#[test]
fn no_pattern_takes_more_steps_than_a_text_has_fuel_for() {
    const EVENT_BYTES: usize = 20_000;
    for pattern in COSTLY {
        let pattern = Pattern::parse_stored(pattern).unwrap();
        for letters in [&['a', 'b'][..], &['A'], &['a', 'b', 'é', ' ']] {
            let set = PatternSet::new(vec![pattern.clone(), pattern.clone()]);
            let text = mixed(letters, EVENT_BYTES);
            let max = PATTERN_STEPS_PER_DOCUMENT + PATTERN_STEPS_PER_BYTE * text.len() as u64;
            let search = || count(|| set.each_hit(&text, &mut fuel_for(&text), |_, _| ())) as u64;
            // Two automata of each pattern and that of their union.
            let mut free = 5 * states::FREE_STEPS_PER_AUTOMATON;
            while free > 0 {
                let counted = search();
                assert!(counted <= max + free, "{counted} steps for {max}, {free} free");
                let Some(used) = counted.checked_sub(max).filter(|used| *used > 0) else {
                    break;
                };
                free = free.saturating_sub(used);
            }
            // What no memory holds is paid for.
            let counted = search();
            assert!(counted <= max, "{counted} steps for {max}");
        }
    }
}

#[test]
fn an_engine_keeps_no_more_states_than_it_may() {
    // A memory of each has some ten thousand bytes before it has states.
    let patterns: Vec<Pattern> = (0..50)
        .map(|number| Pattern::parse(&format!(r"\w{{15}}Z{number}")).unwrap())
        .collect();
    let set = PatternSet::new(patterns);
    assert_eq!(set.states_bytes(), 0);
    let measured = |set: &PatternSet| set.states.kept().iter().sum::<usize>();
    found_by(&set, "x");
    assert_eq!(set.states_bytes(), measured(&set));
    let (number, Compiled { forward, .. }) = (0, &*set.patterns[0].compiled);
    // As many searches at once as no machine has threads.
    let held: Vec<Borrowed<'_>> = (0..100).map(|_| set.states.borrow(number, forward)).collect();
    drop(held);
    let kept = set.states_bytes();
    assert_eq!(kept, measured(&set));
    assert!(kept <= STATES_KEPT_BYTES_MAX, "{kept}");
    assert!(kept > STATES_KEPT_BYTES_MAX / 2, "{kept}");
}

#[test]
fn an_ordinary_pattern_computes_its_states_once() {
    let set = alone("EMP-[0-9]{6}");
    let text = "EMP-123456 and EMP-1234567 ".repeat(20);
    let computed = |set: &PatternSet| {
        found_by(set, &text);
        set.states_bytes()
    };
    let first = computed(&set);
    assert!(first > 0);
    assert_eq!(computed(&set), first);
}

#[test]
fn a_text_that_costs_too_much_is_hidden_from_the_last_match_on() {
    let set = alone("x{3}|a[ab]{800}c");
    let text = "xxx ".to_owned() + &mixed(&['a', 'b'], 60_000);
    let search = || found_by(&set, &text);
    // The free steps of the automaton last for a part of a text.
    while search().len() < 2 {}
    let expected = [
        Found::Match(Span::new(0, 3)),
        Found::Rest(Span::new(3, text.len())),
    ];
    assert_eq!(search(), expected);
}

#[test]
fn a_costly_text_does_not_change_the_result_of_others() {
    let set = alone("a[ab]{800}c");
    let costly = mixed(&['a', 'b'], 60_000);
    for _ in 0..3 {
        found_by(&set, &costly);
        let text = "b".repeat(100) + "a" + &"b".repeat(800) + "c b";
        assert_eq!(found_by(&set, &text), [Found::Match(Span::new(100, 902))]);
    }
}

#[test]
fn a_pattern_that_was_accepted_under_a_higher_limit_still_loads() {
    let pattern = r"a(?:[ab]{291}){100}[^ab]";
    assert_eq!(refusal(pattern), PatternError::TooBig);
    let accepted = regex::RegexBuilder::new(pattern)
        .size_limit(2 * 1024 * 1024)
        .build();
    assert!(accepted.is_ok());
    assert!(Pattern::parse_stored(pattern).is_ok());
}

#[test]
fn ordinary_repetitions_are_accepted() {
    for pattern in [
        r"\w{1,12}@[a-z]{1,32}",
        r"[A-Za-z0-9+/]{1000}",
        r"(?i)password[:=]\s*\S{1,20}",
    ] {
        assert!(Pattern::parse(pattern).is_ok(), "{pattern}");
    }
}

#[test]
fn a_search_finds_what_regex_finds() {
    let patterns = [
        "a|ab",
        "ab|a",
        "a+?b",
        "(?:a|b)*c",
        "a.*b|a",
        r"\b\w+\b",
        r"\bé",
        r"a\b",
        "(?i)É+",
        "^a|b$",
        r"\Ba",
        r"[^a]\z",
        r"\b{start}a",
        "[ab]{2,3}",
        "é|a",
        r"(?m)^a$",
        "a(?-u:\\b)",
        r"(?:a|aé)(?:éb|b)?",
    ];
    let letters = ['a', 'b', 'é', ' ', 'c', '\n'];
    for pattern in patterns {
        let (ours, theirs) = (
            Pattern::parse(pattern).unwrap(),
            regex::Regex::new(pattern).unwrap(),
        );
        for bytes in 0..300 {
            let text = mixed(&letters[..2 + bytes % 5], bytes);
            let text = &text[text.chars().next().map_or(0, char::len_utf8)..];
            let expected: Vec<Found> = theirs
                .find_iter(text)
                .map(|found| Found::Match(Span::new(found.start(), found.end())))
                .collect();
            let states = States::new(2);
            for simulated in [false, true] {
                let mut found = Vec::new();
                let mut search = Search {
                    compiled: &ours.compiled,
                    text,
                    memories: (!simulated).then(|| {
                        let Compiled { forward, reverse, .. } = &*ours.compiled;
                        (states.borrow(0, forward), states.borrow(1, reverse))
                    }),
                };
                let mut fuel = fuel_for(&"x".repeat(100_000));
                let mut at = 0;
                while let Some(span) = search.next(at, &mut fuel).unwrap() {
                    at = span.end;
                    found.push(Found::Match(span));
                }
                assert_eq!(found, expected, "{pattern} in {text:?}, simulated: {simulated}");
            }
        }
    }
}
