//! Counts equal those of a full scan, for any parts, segments and stores of blocks.

use crate::memory::{Counting, Memory};
use crate::{Rows, file_all, full_scan, merged, rows, term};
use audit_index::{
    BlockCache, Blocks, Counts, Damaged, FrequentToken, Segment, Term, count, count_tokens, oldest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

fn scanned(rows: &Rows, terms: &[Term], bounds: &[i64], splits: &[Term]) -> Counts {
    let parts = bounds.windows(2).map(|ends| ends[0]..ends[1]);
    let count = |terms: &[Term]| {
        let of_part = |part: Range<i64>| match part.is_empty() {
            true => 0,
            false => full_scan(rows, terms, &part, usize::MAX).len() as u64,
        };
        parts.clone().map(of_part).collect::<Vec<u64>>()
    };
    let split = |split: &Term| count(&[terms, std::slice::from_ref(split)].concat());
    Counts {
        all: count(terms),
        split: splits.iter().map(split).collect(),
    }
}

/// Splits the rows into segments, each row into one.
fn segments(all: &Rows, count: i64, blocks: &mut Memory) -> Vec<Segment> {
    let of_part = |part: i64| -> Rows {
        let rows = all.iter().filter(|(id, _)| id.rem_euclid(count) == part);
        rows.map(|(id, tokens)| (*id, tokens.clone())).collect()
    };
    let parts = (0..count).map(of_part).filter(|rows| !rows.is_empty());
    let numbered = parts.zip(1..);
    numbered.map(|(rows, id)| file_all(&rows, id, blocks)).collect()
}

/// The numbers of matching rows by token that `wanted` finds, the most frequent token first.
fn scanned_tokens(rows: &Rows, terms: &[Term], range: &Range<i64>, wanted: &Term) -> Vec<(Vec<u8>, u64)> {
    let mut numbers: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let found = match range.is_empty() {
        true => Vec::new(),
        false => full_scan(rows, terms, range, usize::MAX),
    };
    for row in found {
        let tokens: BTreeSet<&str> = rows[&row].split(' ').filter(|token| !token.is_empty()).collect();
        for token in tokens.into_iter().filter(|token| wanted.matches(token)) {
            *numbers.entry(token.as_bytes().to_vec()).or_default() += 1;
        }
    }
    let mut numbers: Vec<(Vec<u8>, u64)> = numbers.into_iter().collect();
    numbers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    numbers
}

const PREFIXES: [&str; 4] = ["a", "every", "g", "none_"];

fn compare_tokens<B: Blocks<Error = Damaged>>(
    all: &Rows,
    segments: &[Segment],
    terms: &[Term],
    range: &Range<i64>,
    blocks: &mut B,
) {
    let prefixes = PREFIXES.map(|prefix| Term::Prefix(vec![prefix.to_owned()]));
    let tokens = Term::AnyOf(["aa", "b", "g1", "every"].map(str::to_owned).to_vec());
    let wanted: Vec<Term> = prefixes.into_iter().chain([tokens]).collect();
    let counted =
        count_tokens(segments, terms, range, &wanted, blocks).expect("what was written can be read");
    for (wanted, counted) in wanted.iter().zip(counted) {
        let found = counted
            .most_frequent(12, segments, blocks)
            .expect("what was written can be read");
        for FrequentToken { token, row, .. } in &found {
            let token = std::str::from_utf8(token).expect("a token in UTF-8");
            assert!(
                range.contains(row) && all[row].split(' ').any(|other| other == token),
                "{token} {row}"
            );
        }
        let found: Vec<(Vec<u8>, u64)> = found
            .into_iter()
            .map(|found| (found.token, found.count))
            .collect();
        let mut expected = scanned_tokens(all, terms, range, wanted);
        expected.truncate(12);
        assert_eq!(found, expected, "{wanted:?}");
    }
}

/// Compares near and remote stores, with caches of both sizes, with a scan.
fn compare(
    all: &Rows,
    segments: &[Segment],
    terms: &[Term],
    bounds: &[i64],
    splits: &[Term],
    blocks: Memory,
) {
    let expected = scanned(all, terms, bounds, splits);
    let range = bounds[0]..bounds[bounds.len() - 1];
    let mut ascending = match range.is_empty() {
        true => Vec::new(),
        false => full_scan(all, terms, &range, usize::MAX),
    };
    ascending.reverse();
    let compare_oldest = |found: &mut dyn FnMut(usize) -> Result<Vec<i64>, Damaged>| {
        for wanted in [0, 1, 7, 1_000, usize::MAX] {
            let expected = &ascending[..wanted.min(ascending.len())];
            assert_eq!(found(wanted).as_deref(), Ok(expected), "{wanted}");
        }
    };
    let mut near = blocks.clone();
    assert_eq!(
        count(segments, terms, bounds, splits, &mut near).as_ref(),
        Ok(&expected)
    );
    compare_oldest(&mut |wanted| oldest(segments, terms, &range, wanted, &mut near));
    compare_tokens(all, segments, terms, &range, &mut near);
    let mut far = Counting::<true>::of(blocks);
    for cache in [BlockCache::new(3_000), BlockCache::new(8 << 20)] {
        let mut cached = cache.before(&mut far);
        assert_eq!(
            count(segments, terms, bounds, splits, &mut cached).as_ref(),
            Ok(&expected)
        );
        compare_oldest(&mut |wanted| oldest(segments, terms, &range, wanted, &mut cached));
        compare_tokens(all, segments, terms, &range, &mut cached);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn counts_are_those_of_a_full_scan(
        all in rows(),
        terms in vec(term(), 1..3),
        splits in vec(term(), 0..3),
        bounds in vec(-1_100..1_100_i64, 2..40),
        count in 1..5_i64,
        merges in any::<bool>(),
    ) {
        let mut blocks = Memory::default();
        let mut segments = segments(&all, count, &mut blocks);
        if merges && segments.len() > 1 {
            let sources: Vec<Segment> = segments.drain(..2).collect();
            segments.push(merged(&sources, 100, 50, &mut blocks));
        }
        let mut bounds = bounds;
        bounds.sort_unstable();
        compare(&all, &segments, &terms, &bounds, &splits, blocks);
    }
}

#[test]
fn counts_of_many_rows_are_those_of_a_full_scan() {
    // Three chunks, whose posting lists are inline lists, deltas and bitmaps.
    let tokens = |row: i64| {
        let of = |name: &str, every: i64| {
            if row % every == 0 {
                format!(" {name}")
            } else {
                String::new()
            }
        };
        format!(
            "all g{}{}{}{}",
            row % 6,
            of("third", 3),
            of("rare", 20_011),
            of("some", 130)
        )
    };
    let all: Rows = (0..150_000).map(|row| (row * 10, tokens(row))).collect();
    let mut blocks = Memory::default();
    let of = |rows: Range<i64>| -> Rows {
        all.range(rows)
            .map(|(id, tokens)| (*id, tokens.clone()))
            .collect()
    };
    let segments = [
        file_all(&of(0..1_400_000), 1, &mut blocks),
        file_all(&of(1_400_000..1_500_000), 2, &mut blocks),
    ];
    let is = |token: &str| Term::is(token.to_owned());
    let groups: Vec<Term> = (0..6).map(|group| is(&format!("g{group}"))).collect();
    let any = Term::AnyOf((0..6).map(|group| format!("g{group}")).collect());
    let even: Vec<i64> = (0..=100).map(|part| part * 15_000).collect();
    let uneven = vec![
        -5, 7, 7, 655_360, 655_361, 1_399_999, 1_400_000, 1_499_990, 1_499_991, 9_000_000,
    ];
    for bounds in [even, uneven, vec![123_456, 1_234_567]] {
        for terms in [
            vec![is("all")],
            vec![any.clone()],
            vec![is("third"), is("some")],
            vec![is("rare")],
            vec![is("none")],
        ] {
            compare(&all, &segments, &terms, &bounds, &groups, blocks.clone());
        }
    }
}

#[test]
fn the_oldest_match_takes_as_many_requests_in_a_segment_of_more_chunks() {
    const CHUNK_ROWS: i64 = 1 << 16;
    let requests = |chunks: i64| {
        let last = chunks * CHUNK_ROWS - 1;
        // Both terms have rows in every chunk, and meet in the last row alone.
        let tokens = |row: i64| match (row == last, row % 2) {
            (true, _) => "x y",
            (false, 0) => "x",
            (false, _) => "y",
        };
        let all: Rows = (0..=last).map(|row| (row, tokens(row).to_owned())).collect();
        let mut blocks = Memory::default();
        let segments = [file_all(&all, 1, &mut blocks)];
        let terms = ["x", "y"].map(|token| Term::is(token.to_owned()));
        let (mut far, cache) = (Counting::<true>::of(blocks), BlockCache::new(8 << 20));
        let everything = i64::MIN..i64::MAX;
        let found = oldest(&segments, &terms, &everything, 1, &mut cache.before(&mut far));
        assert_eq!(found, Ok(vec![last]));
        far.reads
    };
    assert_eq!(requests(4), requests(2));
}
