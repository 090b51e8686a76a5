//! Compares the compiled matcher with trying each pattern.

use audit_alerts::Matcher;
use audit_domain::ActionGlob;
use proptest::collection::vec;
use proptest::prelude::*;

fn agrees(patterns: &[String], action: &str) -> Result<(), TestCaseError> {
    let globs: Vec<ActionGlob> = patterns.iter().map(|text| text.parse().unwrap()).collect();
    let one_by_one: Vec<usize> = (0..globs.len())
        .filter(|index| globs[*index].matches(action))
        .collect();
    let found: Vec<usize> = Matcher::new(&globs).matching(action).collect();
    prop_assert_eq!(found, one_by_one);
    Ok(())
}

/// A pattern that may match `action`: the action with some characters replaced by stars.
fn hole(action: String) -> impl Strategy<Value = String> {
    let len = action.len();
    (vec((0..len, 0..len), 0..4), any::<bool>()).prop_map(move |(holes, whole)| {
        let mut pattern = action.clone().into_bytes();
        for (from, to) in holes {
            pattern[from.min(to)..from.max(to)].fill(b'*');
        }
        if !whole {
            pattern.insert(0, b'*');
        }
        String::from_utf8(pattern).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn patterns_over_few_letters(patterns in vec("[ab.*]{1,7}", 0..40), action in "[ab.]{0,10}") {
        agrees(&patterns, &action)?;
    }

    #[test]
    fn letters_with_equal_lower_six_bits(patterns in vec("[p0*]{1,5}", 0..20), action in "[p0]{0,6}") {
        agrees(&patterns, &action)?;
    }

    #[test]
    fn patterns_made_from_the_action(
        (action, patterns) in "[a-c]{1,4}(\\.[a-c_0]{1,5}){1,3}"
            .prop_flat_map(|action| (Just(action.clone()), vec(hole(action), 1..30)))
    ) {
        agrees(&patterns, &action)?;
    }
}
