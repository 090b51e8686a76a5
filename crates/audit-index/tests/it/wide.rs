//! Prefixes of which a segment has more tokens than a query reads.

use crate::memory::{Counting, Memory};
use crate::{Rows, file_all, full_scan};
use audit_index::{BlockKind, PREFIX_BLOCKS_MAX, Segment, Term, first_wide, newest, oldest};
use std::ops::Range;

const EVERYTHING: Range<i64> = i64::MIN..i64::MAX;

/// Rows that have `own`, and every second one a long token of its own that begins with `k`. For each of these there are `before` tokens
/// before, and one behind them.
fn rows(count: i64, before: i64) -> Rows {
    let hash = |number: i64| (number.cast_unsigned() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let tokens = |number: i64| {
        let long = |number: i64| format!("{:016x}{number:0>180}", hash(number));
        match number % 2 {
            0 => format!("own k{}", long(number)),
            _ => {
                let others = (0..before).map(|other| format!(" b{}", long(number * before + other)));
                format!("own x{}{}", long(number), others.collect::<String>())
            }
        }
    };
    (0..count).map(|number| (number, tokens(number))).collect()
}

fn prefix() -> Term {
    Term::Prefix(vec!["k".to_owned()])
}

fn bounded() -> Term {
    Term::BoundedPrefix {
        prefixes: vec!["k".to_owned()],
        otherwise: vec!["own".to_owned()],
    }
}

/// Whether a segment of so many rows has more tokens with the prefix than are read.
fn is_wide(count: i64, before: i64) -> bool {
    let mut blocks = Memory::default();
    let segments = [file_all(&rows(count, before), 1, &mut blocks)];
    first_wide(&segments, &[bounded()], &EVERYTHING, &mut blocks) == Ok(Some(0))
}

/// A number of rows with which the prefix is not read. With one row less it is.
fn least_wide(before: i64) -> i64 {
    let (mut low, mut high) = (0, 8_000);
    assert!(is_wide(high, before));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match is_wide(middle, before) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// The dictionary blocks that a query reads.
fn dictionary_reads(segments: &[Segment], term: Term, blocks: &Memory) -> u32 {
    let mut counting = Counting::<false>::of(blocks.clone());
    newest(segments, &[term], &EVERYTHING, 1, &mut &mut counting).expect("the blocks are intact");
    let read = counting.read_blocks.iter();
    let read = read.filter(|block| block.kind == BlockKind::Dictionary).count();
    u32::try_from(read).expect("few blocks")
}

#[test]
fn a_bounded_prefix_is_read_up_to_its_limit_and_beyond_it_its_other_tokens_decide() {
    // With four to six times as many tokens before it, the prefix goes on in the second directory block of one of the segments.
    for before in [0, 4, 5, 6] {
        let least_wide = least_wide(before);
        for (count, is_wide) in [(least_wide - 1, false), (least_wide, true)] {
            let (rows, mut blocks) = (rows(count, before), Memory::default());
            let segments = [file_all(&rows, 1, &mut blocks)];
            let found_by = match is_wide {
                true => Term::is("own".to_owned()),
                false => prefix(),
            };
            let expected = full_scan(&rows, &[found_by], &EVERYTHING, usize::MAX);
            let found = newest(&segments, &[bounded()], &EVERYTHING, usize::MAX, &mut blocks);
            assert_eq!(found.as_ref(), Ok(&expected), "{count}");
            let lowest = oldest(&segments, &[bounded()], &EVERYTHING, rows.len(), &mut blocks);
            let ascending: Vec<i64> = expected.into_iter().rev().collect();
            assert_eq!(lowest, Ok(ascending), "{count}");
            let read = dictionary_reads(&segments, bounded(), &blocks);
            match is_wide {
                true => assert!(read <= 2, "{read}"),
                false => assert!(read.abs_diff(PREFIX_BLOCKS_MAX + 1) <= 1, "{read}"),
            }
            assert!(dictionary_reads(&segments, prefix(), &blocks) >= PREFIX_BLOCKS_MAX);
        }
    }
}

#[test]
fn the_wide_one_of_several_terms_is_named() {
    let mut blocks = Memory::default();
    let small = file_all(&rows(100, 1), 1, &mut blocks);
    let large = Segment {
        first: 1_000,
        last: 1_999,
        ..file_all(&rows(least_wide(1), 1), 2, &mut blocks)
    };
    let narrow = Term::BoundedPrefix {
        prefixes: vec!["b0000".to_owned(), "absent".to_owned()],
        otherwise: vec!["own".to_owned()],
    };
    let terms = [prefix(), narrow, bounded()];
    let segments = [small, large];
    let mut first = |terms: &[Term], range: Range<i64>| first_wide(&segments, terms, &range, &mut blocks);
    assert_eq!(first(&terms, EVERYTHING), Ok(Some(2)));
    let before_the_large = 0..1_000;
    assert_eq!(first(&terms, before_the_large), Ok(None));
    assert_eq!(first(&terms[..2], EVERYTHING), Ok(None));
}
