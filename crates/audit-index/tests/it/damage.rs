//! Damaged and exchanged blocks are noticed when they are read.

use crate::memory::{Counting, Memory};
use crate::{Rows, file_all};
use audit_index::{BlockId, BlockKind, Damaged, Place, Segment, Term, newest, verify};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of the small segment: the list of a token of all of them is posted.
const ROWS: i64 = 1_100;

/// A small segment with blocks of every kind that a segment of one chunk has.
fn small() -> (Segment, Memory) {
    // The numbers come first, so that tokens share no prefix and the dictionary has a second block.
    let tokens = |number: i64| match number {
        0..130 => format!("every {:03}_{}", number * 7 % 130, "x".repeat(25)),
        _ => "every".to_owned(),
    };
    let rows: Rows = (0..ROWS).map(|number| (number * 3, tokens(number))).collect();
    let mut blocks = Memory::default();
    let segment = file_all(&rows, 1, &mut blocks);
    assert_eq!((segment.leaves, segment.directories), (2, 1));
    let kinds: BTreeSet<BlockKind> = blocks.ids().into_iter().map(|block| block.kind).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    (segment, blocks)
}

/// For each block, a query that reads it.
fn readers(segment: &Segment, blocks: &Memory) -> BTreeMap<BlockId, Term> {
    let terms = ["every", "000", "129"].map(|prefix| Term::Prefix(vec![prefix.to_owned()]));
    let mut readers = BTreeMap::new();
    for term in terms {
        let mut counting = Counting::<false>::of(blocks.clone());
        found(segment, &term, &mut &mut counting).expect("the index is as it was written");
        readers.extend(
            counting
                .read_blocks
                .into_iter()
                .map(|block| (block, term.clone())),
        );
    }
    assert_eq!(readers.keys().copied().collect::<Vec<_>>(), blocks.ids());
    readers
}

fn found(
    segment: &Segment,
    term: &Term,
    blocks: &mut impl audit_index::Blocks<Error = Damaged>,
) -> Result<Vec<i64>, Damaged> {
    newest(
        std::slice::from_ref(segment),
        std::slice::from_ref(term),
        // Not the first id, so that its row is searched for.
        &(1..ROWS * 3),
        2_000,
        blocks,
    )
}

fn place(outcome: Result<impl Sized, Damaged>) -> Option<Place> {
    outcome.err().expect("the damage is noticed").place
}

#[test]
fn every_changed_bit_is_noticed_by_verification_and_by_a_query_that_reads_the_block() {
    let (segment, mut blocks) = small();
    verify(&segment, |_, _| {}, &mut blocks).expect("the segment is as it was written");
    for (block, term) in readers(&segment, &blocks) {
        let bits = blocks.0[&block.key()].len() * 8;
        for bit in 0..bits {
            let flip = |blocks: &mut Memory| {
                blocks.0.get_mut(&block.key()).expect("a block")[bit / 8] ^= 1 << (bit % 8);
            };
            flip(&mut blocks);
            let named = Some(Place::Block(block));
            assert_eq!(place(found(&segment, &term, &mut blocks)), named, "bit {bit}");
            assert_eq!(
                place(verify(&segment, |_, _| {}, &mut blocks)),
                named,
                "bit {bit}"
            );
            flip(&mut blocks);
        }
    }
}

#[test]
fn a_truncated_or_missing_block_is_noticed() {
    let (segment, blocks) = small();
    for (block, term) in readers(&segment, &blocks) {
        let stored = &blocks.0[&block.key()];
        for length in (0..stored.len()).step_by(97).chain([1, 3, 4, stored.len() - 1]) {
            let mut blocks = blocks.clone();
            blocks.0.insert(block.key(), stored[..length].to_vec());
            let named = Some(Place::Block(block));
            assert_eq!(
                place(found(&segment, &term, &mut blocks)),
                named,
                "{length} bytes"
            );
            assert_eq!(
                place(verify(&segment, |_, _| {}, &mut blocks)),
                named,
                "{length} bytes"
            );
        }
        let mut blocks = blocks.clone();
        blocks.0.remove(&block.key());
        assert_eq!(
            place(found(&segment, &term, &mut blocks)),
            Some(Place::Block(block))
        );
        assert_eq!(
            place(verify(&segment, |_, _| {}, &mut blocks)),
            Some(Place::Block(block))
        );
    }
}

#[test]
fn a_block_in_the_place_of_another_one_is_noticed() {
    let (segment, mut blocks) = small();
    // A segment with the same content and another number.
    let (same, other) = (
        small().0,
        Segment {
            id: 2,
            ..segment.clone()
        },
    );
    assert_eq!(same, segment);
    let rows: Rows = BTreeMap::from([(7, "every".to_owned())]);
    file_all(&rows, 2, &mut blocks);
    for (block, term) in readers(&segment, &small().1) {
        for instead in blocks.ids().into_iter().filter(|instead| *instead != block) {
            let mut blocks = blocks.clone();
            let bytes = blocks.0[&instead.key()].clone();
            blocks.0.insert(block.key(), bytes);
            let named = Some(Place::Block(block));
            assert_eq!(place(found(&segment, &term, &mut blocks)), named, "{instead}");
            assert_eq!(
                place(verify(&segment, |_, _| {}, &mut blocks)),
                named,
                "{instead}"
            );
        }
    }
    assert!(verify(&other, |_, _| {}, &mut blocks).is_err());
}

#[test]
fn every_changed_bit_of_a_descriptor_is_noticed() {
    let (segment, _) = small();
    let stored = segment.stored_roots();
    let bare = || Segment {
        roots: audit_index::Roots::default(),
        ..segment.clone()
    };
    assert_eq!(bare().with_stored_roots(&stored).as_ref(), Ok(&segment));
    for bit in 0..stored.len() * 8 {
        let mut stored = stored.clone();
        stored[bit / 8] ^= 1 << (bit % 8);
        let named = Some(Place::Segment(1));
        assert_eq!(place(bare().with_stored_roots(&stored)), named, "bit {bit}");
    }
    for length in 0..stored.len() {
        assert!(
            bare().with_stored_roots(&stored[..length]).is_err(),
            "{length} bytes"
        );
    }
    for bit in 0..32 {
        let numbers = |segment: Segment| {
            let Segment {
                id,
                level,
                rows,
                leaves,
                directories,
                ..
            } = segment.clone();
            [
                Segment {
                    id: id ^ 1 << bit,
                    ..segment.clone()
                },
                Segment {
                    level: level ^ 1 << bit,
                    ..segment.clone()
                },
                Segment {
                    rows: rows ^ 1 << bit,
                    ..segment.clone()
                },
                Segment {
                    leaves: leaves ^ 1 << bit,
                    ..segment.clone()
                },
                Segment {
                    directories: directories ^ 1 << bit,
                    ..segment.clone()
                },
                Segment {
                    first: segment.first ^ 1 << bit,
                    ..segment.clone()
                },
                Segment {
                    last: segment.last ^ 1 << (bit + 31),
                    ..segment
                },
            ]
        };
        for changed in numbers(bare()) {
            assert!(changed.clone().with_stored_roots(&stored).is_err(), "{changed:?}");
        }
    }
}
