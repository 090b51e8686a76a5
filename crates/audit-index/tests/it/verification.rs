//! Verification finds inconsistencies that a checksum does not.

use crate::memory::Memory;
use crate::{Rows, file_all, many};
use audit_index::{BlockId, BlockKind, Damaged, Place, Segment, build_segment, verify};

fn outcome(segment: &Segment, blocks: &mut Memory) -> Result<(), Damaged> {
    verify(segment, |_, _| {}, blocks).map(|_| ())
}

fn what(segment: &Segment, blocks: &mut Memory) -> &'static str {
    outcome(segment, blocks).expect_err("it is noticed").what
}

#[test]
fn a_large_segment_is_right_and_every_block_and_posting_is_counted() {
    let mut blocks = Memory::default();
    let segment = file_all(&many(), 1, &mut blocks);
    let mut seen = 0_u64;
    let verified = verify(&segment, |_, _| seen += 1, &mut blocks).expect("it is right");
    assert_eq!(verified.blocks, blocks.0.len() as u64);
    assert_eq!((verified.postings, seen), (140_000 * 4, 140_000 * 4));
}

#[test]
fn an_empty_segment_is_right() {
    let mut blocks = Memory::default();
    let empty = build_segment::<i64, _>(&[], 1, &mut blocks).expect("memory can be written");
    assert_eq!(outcome(&empty, &mut blocks), Ok(()));
    let rows: Rows = [(1, String::new()), (2, String::new())].into();
    let without_tokens = file_all(&rows, 2, &mut blocks);
    assert_eq!(outcome(&without_tokens, &mut blocks), Ok(()));
}

#[test]
fn a_descriptor_that_does_not_match_its_blocks_is_noticed() {
    let mut blocks = Memory::default();
    let segment = file_all(&many(), 1, &mut blocks);
    let more = file_all(&[(7, "every".to_owned())].into(), 2, &mut blocks);
    let changed = |change: fn(&mut Segment)| {
        let mut changed = segment.clone();
        change(&mut changed);
        changed
    };
    for (segment, place) in [
        (
            changed(|segment| segment.rows -= 1),
            Place::Block(BlockId {
                segment: 1,
                kind: BlockKind::Ids,
                number: 279,
            }),
        ),
        (
            changed(|segment| segment.rows -= 500),
            Place::Block(BlockId {
                segment: 1,
                kind: BlockKind::FirstIds,
                number: 0,
            }),
        ),
        (changed(|segment| segment.first -= 1), Place::Segment(1)),
        (changed(|segment| segment.last += 1), Place::Segment(1)),
        (changed(|segment| segment.directories += 1), Place::Segment(1)),
        (changed(|segment| segment.leaves -= 1), Place::Segment(1)),
        (
            Segment {
                roots: more.roots.clone(),
                ..segment.clone()
            },
            Place::Segment(1),
        ),
    ] {
        let noticed = outcome(&segment, &mut blocks).expect_err("it is noticed");
        assert_eq!(noticed.place, Some(place), "{noticed}");
    }
}

#[test]
fn blocks_that_contradict_each_other_are_noticed() {
    let rows: Rows = (0..1_105)
        .map(|number| (number, format!("a{number:04} every")))
        .collect();
    let mut written = Memory::default();
    let segment = file_all(&rows, 1, &mut written);
    let key = |kind, number| {
        BlockId {
            segment: 1,
            kind,
            number,
        }
        .key()
    };
    let with = |kind, number, change: fn(&mut Vec<u8>)| {
        let mut blocks = written.clone();
        blocks.replace(key(kind, number), change);
        what(&segment, &mut blocks)
    };
    let swap_ids = |ids: &mut Vec<u8>| ids[8..24].rotate_left(8);
    assert_eq!(with(BlockKind::Ids, 0, swap_ids), "the ids do not ascend");
    // The last letter of the second token becomes one that is less.
    let swap_tokens = |leaf: &mut Vec<u8>| {
        let token = leaf
            .windows(5)
            .position(|bytes| bytes == b"a0000")
            .expect("the first token");
        leaf[token + 4] = b'9';
    };
    assert_eq!(
        with(BlockKind::Dictionary, 0, swap_tokens),
        "the tokens do not ascend"
    );
    // The segment has 1,105 rows.
    let lengthen = |bitmap: &mut Vec<u8>| *bitmap.last_mut().expect("a bitmap") |= 2;
    assert_eq!(
        with(BlockKind::Postings, 0, |bitmap| bitmap.push(0)),
        "a block ends too early"
    );
    assert_eq!(with(BlockKind::Postings, 0, lengthen), "a row is out of range");
    let other_separator = |directory: &mut Vec<u8>| {
        let last = directory.len() - 5;
        directory[last] ^= 1;
    };
    assert_eq!(
        with(BlockKind::Directory, 0, other_separator),
        "a separator does not match its dictionary block"
    );
    let other_first = |firsts: &mut Vec<u8>| firsts[8] ^= 1;
    assert_eq!(
        with(BlockKind::FirstIds, 0, other_first),
        "a first id is not the first one of its block"
    );
    assert_eq!(
        with(BlockKind::FirstIds, 0, |firsts| firsts.truncate(8)),
        "the block has another number of ids"
    );
    let mut blocks = written.clone();
    let ids = written.0[&key(BlockKind::Ids, 2)].clone();
    blocks.0.insert(key(BlockKind::Ids, 3), ids);
    blocks.replace(key(BlockKind::Ids, 3), |_| {});
    assert_eq!(what(&segment, &mut blocks), "the block is surplus");
}
