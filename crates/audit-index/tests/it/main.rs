//! Compares the index with a full scan, and merged segments with segments built at once.

mod counts;
mod damage;
mod disjoint;
mod memory;
mod reads;
mod roots;
mod verification;
mod wide;

use audit_index::{
    BlockCache, Merge, Roots, Segment, Term, build_segment, due, due_at_rest, newest, oldest, verify,
};
use memory::{Counting, Memory};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

type Rows = BTreeMap<i64, String>;

fn file_all(rows: &Rows, id: u32, blocks: &mut Memory) -> Segment {
    let rows: Vec<(i64, &str)> = rows.iter().map(|(id, tokens)| (*id, tokens.as_str())).collect();
    build_segment(&rows, id, blocks).expect("memory can be written")
}

fn merged(segments: &[Segment], id: u32, step: usize, blocks: &mut Memory) -> Segment {
    let merge = Merge::begin(segments, id, blocks).expect("what was written can be read");
    finished(merge, step, blocks)
}

fn finished(mut merge: Merge, step: usize, blocks: &mut Memory) -> Segment {
    loop {
        if let Some(segment) = merge.step(step, blocks).expect("what was written can be read") {
            return segment;
        }
    }
}

fn full_scan(rows: &Rows, terms: &[Term], range: &Range<i64>, wanted: usize) -> Vec<i64> {
    let fulfils = |tokens: &str| terms.iter().all(|term| term.matches(tokens));
    let found = rows
        .range(range.clone())
        .rev()
        .filter(|(_, tokens)| fulfils(tokens));
    found.map(|(id, _)| *id).take(wanted).collect()
}

/// Tokens, some of them frequent, some with common prefixes.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{1,3}",
        "[a-d]{0,2}_[0-9]{1,3}",
        "ü[a-z]",
        Just("every".to_owned())
    ]
}

fn rows() -> impl Strategy<Value = Rows> {
    btree_map(
        -1_000..1_000_i64,
        vec(token(), 0..8).prop_map(|tokens| tokens.join(" ")),
        0..200,
    )
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        vec(token(), 1..4).prop_map(Term::AnyOf),
        vec(prop_oneof![token(), "[a-d]{0,1}".prop_map(|text| text)], 1..3).prop_map(Term::Prefix),
    ]
}

/// Verifies a segment. Returns the tokens of each row.
fn verified_postings(segment: &Segment, blocks: &mut Memory) -> BTreeMap<u32, String> {
    let mut postings: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let see = |token: &[u8], row: u32| {
        let token = String::from_utf8(token.to_vec()).expect("a token in UTF-8");
        postings.entry(row).or_default().push(token);
    };
    verify(segment, see, blocks).expect("the segment is as it was written");
    postings
        .into_iter()
        .map(|(row, tokens)| (row, tokens.join(" ")))
        .collect()
}

/// Distinct tokens in byte order.
fn sorted(tokens: &str) -> String {
    let mut tokens: Vec<&str> = tokens.split(' ').filter(|token| !token.is_empty()).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens.join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_query_returns_the_result_of_a_full_scan(
        parts in vec(rows(), 0..6),
        terms in vec(term(), 1..4),
        ends in (-1_100..1_100_i64, -1_100..1_100_i64),
        is_everything in any::<bool>(),
        wanted in 0..60_usize,
        merged_parts in 0..6_usize,
    ) {
        let mut blocks = Memory::default();
        let all: Rows = parts.iter().rev().flatten().map(|(id, tokens)| (*id, tokens.clone())).collect();
        // A row in several parts has the same tokens in each, like a row that was indexed twice.
        let parts = parts.iter().map(|part| part.keys().map(|id| (*id, all[id].clone())).collect::<Rows>());
        let mut segments: Vec<Segment> = parts.zip(1..).map(|(part, id)| file_all(&part, id, &mut blocks)).collect();
        let merged_parts = merged_parts.min(segments.len());
        if merged_parts > 1 {
            let sources: Vec<Segment> = segments.drain(..merged_parts).collect();
            segments.push(merged(&sources, 100, 50, &mut blocks));
        }
        let range = if is_everything { i64::MIN..i64::MAX } else { ends.0..ends.1 };
        let found = newest(&segments, &terms, &range, wanted, &mut blocks);
        let expected = if range.is_empty() { Vec::new() } else { full_scan(&all, &terms, &range, wanted) };
        prop_assert_eq!(found.as_ref(), Ok(&expected));
        let lowest = oldest(&segments, &terms, &range, wanted, &mut blocks);
        let mut ascending = if range.is_empty() { Vec::new() } else { full_scan(&all, &terms, &range, usize::MAX) };
        ascending.reverse();
        ascending.truncate(wanted);
        prop_assert_eq!(lowest, Ok(ascending));
        // A cache too small for all blocks does not change the result.
        let cache = BlockCache::new(3_000);
        for _ in 0..2 {
            let found = newest(&segments, &terms, &range, wanted, &mut cache.before(&mut blocks));
            prop_assert_eq!(found.as_ref(), Ok(&expected));
        }
        // Nor does a remote store.
        let mut far = Counting::<true>::of(blocks);
        for cache in [BlockCache::new(3_000), BlockCache::new(1 << 20)] {
            let found = newest(&segments, &terms, &range, wanted, &mut cache.before(&mut far));
            prop_assert_eq!(found.as_ref(), Ok(&expected));
        }
    }

    #[test]
    fn a_merge_writes_the_blocks_of_a_segment_built_at_once(parts in vec(rows(), 1..6), step in 1..500_usize) {
        let all: Rows = parts.iter().flatten().map(|(id, tokens)| (*id, tokens.clone())).collect();
        let mut blocks = Memory::default();
        let parts = parts.iter().map(|part| part.keys().map(|id| (*id, all[id].clone())).collect::<Rows>());
        let sources: Vec<Segment> = parts.zip(1..).map(|(part, id)| file_all(&part, id, &mut blocks)).collect();
        let merged = merged(&sources, 50, step, &mut blocks);
        let mut others = Memory::default();
        let at_once = file_all(&all, 50, &mut others);
        prop_assert_eq!(&Segment { level: 0, ..merged.clone() }, &at_once);
        prop_assert_eq!(merged.level, 1);
        prop_assert_eq!(blocks.of(&merged), others.of(&at_once));
        let postings = verified_postings(&merged, &mut blocks);
        let ids: Vec<i64> = all.keys().copied().collect();
        let postings: Rows = postings.into_iter().map(|(row, tokens)| (ids[row as usize], tokens)).collect();
        let expected = all.iter().map(|(id, tokens)| (*id, sorted(tokens))).filter(|(_, tokens)| !tokens.is_empty());
        prop_assert_eq!(postings, expected.collect::<Rows>());
    }

    #[test]
    fn a_purged_segment_is_the_one_that_is_built_from_the_rows_left(
        parts in vec(rows(), 1..4),
        gone in vec(-1_000..1_000_i64, 0..600),
        step in 1..500_usize,
    ) {
        let mut gone = gone;
        gone.sort_unstable();
        gone.dedup();
        let all: Rows = parts.iter().flatten().map(|(id, tokens)| (*id, tokens.clone())).collect();
        let left: Rows = all.clone().into_iter().filter(|(id, _)| gone.binary_search(id).is_err()).collect();
        let mut blocks = Memory::default();
        let parts = parts.iter().map(|part| part.keys().map(|id| (*id, all[id].clone())).collect::<Rows>());
        let parts: Vec<Rows> = parts.collect();
        let sources = parts.iter().zip(1..).map(|(part, id)| file_all(part, id, &mut blocks));
        let sources: Vec<Segment> = sources.collect();
        for (part, source) in parts.iter().zip(&sources) {
            let has_any = part.keys().any(|id| gone.binary_search(id).is_ok());
            prop_assert_eq!(source.has_any(&gone, &mut blocks), Ok(has_any));
        }
        let merge = Merge::begin_without(&sources, &gone, 50, &mut blocks).expect("what was written can be read");
        let left_out: Vec<i64> = gone.iter().copied().filter(|id| all.contains_key(id)).collect();
        prop_assert_eq!(merge.left_out(), left_out);
        let purged = finished(merge, step, &mut blocks);
        let mut others = Memory::default();
        let at_once = file_all(&left, 50, &mut others);
        prop_assert_eq!(&Segment { level: 0, ..purged.clone() }, &at_once);
        prop_assert_eq!(blocks.of(&purged), others.of(&at_once));
        prop_assert_eq!(purged.has_any(&gone, &mut blocks), Ok(false));
    }

    #[test]
    fn no_damaged_block_causes_a_panic(parts in vec(rows(), 1..3), terms in vec(term(), 1..3), which in any::<prop::sample::Index>(), damage in vec(any::<u8>(), 0..40), at in any::<prop::sample::Index>()) {
        let mut blocks = Memory::default();
        let segments: Vec<Segment> = parts.iter().zip(1..).map(|(part, id)| file_all(part, id, &mut blocks)).collect();
        let keys: Vec<i64> = blocks.0.keys().copied().collect();
        if !keys.is_empty() {
            blocks.replace(*which.get(&keys), |content| {
                let at = at.index(content.len());
                content.truncate(at);
                content.extend(damage);
            });
        }
        // Queries and verification must not panic, and the merge must terminate. The checksums match the damage.
        drop(newest(&segments, &terms, &(-500..500), 20, &mut blocks));
        for segment in &segments {
            verify(segment, |_, _| {}, &mut blocks).ok();
        }
        if let Ok(mut merge) = Merge::begin(&segments, 9, &mut blocks) {
            while let Ok(None) = merge.step(1_000, &mut blocks) {}
        }
    }
}

/// Rows over several chunks. The tokens are remainders of the row number, so the length of each posting list is known.
fn many() -> Rows {
    let tokens = |number: i64| {
        format!(
            "all two_{} seven_{} rare_{}",
            number % 2,
            number % 7,
            number / 1_000
        )
    };
    (0..140_000).map(|number| (number * 3, tokens(number))).collect()
}

#[test]
fn many_rows_are_found_over_chunks() {
    let (rows, mut blocks) = (many(), Memory::default());
    let halves = [rows.range(..210_000), rows.range(210_000..)];
    let halves = halves.map(|half| half.map(|(id, tokens)| (*id, tokens.clone())).collect::<Rows>());
    let segments = [
        file_all(&halves[0], 1, &mut blocks),
        file_all(&halves[1], 2, &mut blocks),
    ];
    let segment = merged(&segments, 3, usize::MAX, &mut blocks);
    assert_eq!(segment.rows, 140_000);
    let is = |token: &str| Term::is(token.to_owned());
    let everything = i64::MIN..i64::MAX;
    for terms in [
        vec![is("all")],
        vec![is("two_1"), is("seven_3")],
        vec![is("rare_131"), is("two_0")],
        vec![is("two_0"), is("two_1")],
        vec![Term::Prefix(vec!["rare_1".to_owned()]), is("seven_6")],
        vec![is("none")],
    ] {
        for range in [everything.clone(), 100..350_001, 0..1, 196_607..196_611] {
            for wanted in [1, 50, 200_000] {
                let expected = full_scan(&rows, &terms, &range, wanted);
                for segments in [segments.as_slice(), std::slice::from_ref(&segment)] {
                    let found = newest(segments, &terms, &range, wanted, &mut blocks);
                    assert!(found.as_ref() == Ok(&expected), "{terms:?} {range:?} {wanted}");
                }
            }
        }
    }
}

#[test]
fn an_empty_intersection_reads_few_blocks() {
    let (rows, mut blocks) = (many(), Memory::default());
    let segment = file_all(&rows, 1, &mut blocks);
    let terms = ["two_0", "two_1"].map(|token| Term::is(token.to_owned()));
    let mut counting = Counting::<false>::of(blocks);
    let found = newest(&[segment], &terms, &(i64::MIN..i64::MAX), 50, &mut &mut counting);
    assert_eq!(found, Ok(Vec::new()));
    // The path to each token, and the block that says that they never meet.
    assert!(counting.reads <= 2 * 2 + 1, "{}", counting.reads);
}

#[test]
fn a_remote_store_gets_batched_reads() {
    const SEGMENTS: usize = 20;
    let tokens = |number: i64| match number % 700 {
        0 => format!("all own_{number} rare"),
        _ => format!("all own_{number}"),
    };
    let rows: Rows = (0..140_000).map(|number| (number, tokens(number))).collect();
    let mut blocks = Memory::default();
    let parts = (0_i64..).step_by(7_000).zip(1..).take(SEGMENTS);
    let segments = parts.map(|(first, id)| {
        let part = rows.range(first..first + 7_000);
        let part = part.map(|(id, tokens)| (*id, tokens.clone())).collect();
        file_all(&part, id, &mut blocks)
    });
    let segments: Vec<Segment> = segments.collect();
    let terms = ["rare", "all"].map(|token| Term::is(token.to_owned()));
    let range = 3_000..138_000;
    let expected = full_scan(&rows, &terms, &range, 1_000);
    assert!(expected.len() > SEGMENTS * 9);
    let (mut near, mut far) = (
        Counting::<false>::of(blocks.clone()),
        Counting::<true>::of(blocks),
    );
    let cache = || BlockCache::new(1 << 24);
    let found = newest(&segments, &terms, &range, 1_000, &mut cache().before(&mut near));
    assert_eq!(found.as_ref(), Ok(&expected));
    let found = newest(&segments, &terms, &range, 1_000, &mut cache().before(&mut far));
    assert_eq!(found.as_ref(), Ok(&expected));
    assert!(near.reads > SEGMENTS * 10, "{}", near.reads);
    // The paths in the first segment and in all others together, then the postings and ids of each.
    assert!(far.reads < SEGMENTS * 2 + 15, "{}", far.reads);
}

#[test]
fn eight_segments_of_a_level_are_due_and_large_ones_are_not_merged() {
    let segment = |id, level, rows| Segment {
        id,
        level,
        rows,
        first: 0,
        last: 1,
        leaves: 1,
        directories: 1,
        roots: Roots::default(),
    };
    let ids = |segments: &[Segment]| {
        due(segments).map(|due| due.iter().map(|segment| segment.id).collect::<Vec<_>>())
    };
    let seven: Vec<Segment> = (1..8).map(|id| segment(id, 0, 10)).collect();
    assert_eq!(ids(&seven), None);
    let eight: Vec<Segment> = (1..9).rev().map(|id| segment(id, 0, 10)).collect();
    assert_eq!(ids(&eight), Some((1..9).collect()));
    let higher: Vec<Segment> = (20..30).map(|id| segment(id, 1, 80)).collect();
    assert_eq!(ids(&[higher.clone(), eight].concat()), Some((1..9).collect()));
    assert_eq!(ids(&[higher, seven].concat()), Some((20..28).collect()));
    let large: Vec<Segment> = (1..20).map(|id| segment(id, 5, 1_500_000)).collect();
    assert_eq!(ids(&large), None);
    // As many as fit into the largest segment.
    let half_large: Vec<Segment> = (1..9).map(|id| segment(id, 4, 650_000)).collect();
    assert_eq!(ids(&half_large), Some(vec![1, 2, 3]));
}

/// Segments of these numbers of rows.
fn segments_of(rows: &[u32]) -> Vec<Segment> {
    let segment = |(id, rows): (u32, &u32)| Segment {
        id,
        level: id % 4,
        rows: *rows,
        first: 0,
        last: 1,
        leaves: 1,
        directories: 1,
        roots: Roots::default(),
    };
    (1..).zip(rows).map(segment).collect()
}

#[test]
fn the_smallest_segments_of_an_index_at_rest_are_due_until_one_is_left() {
    let rows = |rows: &[u32]| {
        let due = due_at_rest(&segments_of(rows));
        due.map(|due| due.iter().map(|segment| segment.rows).collect::<Vec<_>>())
    };
    assert_eq!(rows(&[]), None);
    assert_eq!(rows(&[7]), None);
    assert_eq!(rows(&[1 << 20, 7, 1 << 21]), None);
    assert_eq!(rows(&[9, 7, 1 << 20, 8]), Some(vec![7, 8, 9]));
    assert_eq!(
        rows(&[900_000, 10, 950_000, 1_000_000]),
        Some(vec![10, 900_000, 950_000])
    );
    assert_eq!(rows(&(1..20).collect::<Vec<_>>()), Some((1..9).collect()));
}

proptest! {
    #[test]
    fn an_index_at_rest_is_merged_down_to_one_segment_that_is_not_final(
        rows in proptest::collection::vec(1_u32..1 << 21, 0..100)
    ) {
        let mut rows = rows;
        while let Some(due) = due_at_rest(&segments_of(&rows)) {
            for segment in &due {
                let place = rows.iter().position(|rows| *rows == segment.rows).expect("a segment");
                rows.swap_remove(place);
            }
            rows.push(due.iter().map(|segment| segment.rows).sum());
            prop_assert!(rows.iter().all(|rows| *rows <= 1 << 21));
        }
        prop_assert!(rows.iter().filter(|rows| **rows < 1 << 20).count() <= 1);
    }
}

#[test]
fn each_of_many_tokens_is_found_and_no_absent_token() {
    // More tokens than one directory block covers.
    let token = |number: i64| format!("{}_{:07}", "long_beginning_that_is_shared".repeat(2), number * 10);
    let rows: Rows = (0..150_000).map(|number| (number, token(number))).collect();
    let mut blocks = Memory::default();
    let segment = file_all(&rows, 1, &mut blocks);
    assert!(segment.directories > 1, "{segment:?}");
    let segments = [segment];
    let mut found = |term| newest(&segments, &[term], &(i64::MIN..i64::MAX), 50, &mut blocks);
    for number in (0..150_000).step_by(97).chain([149_999]) {
        assert_eq!(found(Term::is(token(number))), Ok(vec![number]), "{number}");
        assert_eq!(
            found(Term::is(format!("{}5", token(number)))),
            Ok(Vec::new()),
            "{number}"
        );
        let mut beginning = token(number);
        beginning.pop();
        assert_eq!(found(Term::Prefix(vec![beginning])), Ok(vec![number]), "{number}");
    }
    for absent in ["a", "long", "zzz"] {
        assert_eq!(found(Term::is(absent.to_owned())), Ok(Vec::new()));
    }
    let newest: Vec<i64> = (149_950..150_000).rev().collect();
    assert_eq!(found(Term::Prefix(vec!["long".to_owned()])), Ok(newest));
}
