//! Dense posting lists that have no row in common.

use crate::memory::{Counting, Memory};
use crate::{Rows, file_all, full_scan, merged};
use audit_index::{BlockCache, BlockId, BlockKind, Damaged, Place, Segment, Term, count, newest, verify};
use std::fmt::Write;
use std::ops::Range;

const ROWS: i64 = 140_000;
const EVERYTHING: Range<i64> = i64::MIN..i64::MAX;

/// Rows over three chunks. `even` meets `odd` never and `late` once, in the last chunk.
fn tokens(number: i64) -> String {
    let mut tokens = if number % 2 == 0 { "even" } else { "odd" }.to_owned();
    let mut push = |is_in: bool, token: &str| {
        if is_in {
            tokens.push(' ');
            tokens.push_str(token);
        }
    };
    push(number % 2 == 1 && number > 70_000 || number == 139_000, "late");
    // Of these, all but the first meet `even`: a short list and a posted one that is not dense.
    push(number % 6 == 1, "mix_dense");
    push(number == 5_000 || number == 70_000, "mix_few");
    push(number % 269 == 0, "thin_posted");
    push(number % 10 == 3, "odd_tenth");
    tokens
}

fn rows() -> Rows {
    (0..ROWS).map(|number| (number, tokens(number))).collect()
}

/// The rows as one segment, and as the merge of two.
fn segments(rows: &Rows) -> (Segment, Segment, Memory) {
    let mut blocks = Memory::default();
    let at_once = file_all(rows, 1, &mut blocks);
    let parts = [0, 1].map(|part| {
        let of_part = rows.iter().filter(|(id, _)| *id / 3 % 2 == part);
        of_part
            .map(|(id, tokens)| (*id, tokens.clone()))
            .collect::<Rows>()
    });
    let parts = [
        file_all(&parts[0], 2, &mut blocks),
        file_all(&parts[1], 3, &mut blocks),
    ];
    let merged = merged(&parts, 4, 20_000, &mut blocks);
    (at_once, merged, blocks)
}

fn is(token: &str) -> Term {
    Term::is(token.to_owned())
}

/// The contents of the blocks that say which lists are disjoint.
fn disjoint_blocks<'a>(segment: &Segment, blocks: &'a Memory) -> Vec<&'a [u8]> {
    let block = |number| BlockId {
        segment: segment.id,
        kind: BlockKind::Disjoint,
        number,
    };
    let stored = (0..).map_while(|number| blocks.0.get(&block(number).key()));
    // Without the checksum, which covers the number of the segment.
    stored.map(|bytes| &bytes[..bytes.len() - 4]).collect()
}

#[test]
fn queries_of_lists_that_never_or_hardly_meet_return_the_result_of_a_full_scan() {
    let rows = rows();
    let (at_once, merged, blocks) = segments(&rows);
    assert_eq!(disjoint_blocks(&at_once, &blocks).len(), 1);
    assert_eq!(
        disjoint_blocks(&at_once, &blocks),
        disjoint_blocks(&merged, &blocks)
    );
    for segment in [&at_once, &merged] {
        verify(segment, |_, _| {}, &mut blocks.clone()).expect("the segment is as it was written");
    }
    let prefix = |text: &str| Term::Prefix(vec![text.to_owned()]);
    for terms in [
        vec![is("even"), is("odd")],
        vec![is("even"), is("late")],
        vec![is("late"), is("even"), is("odd")],
        vec![is("even"), prefix("mix_")],
        vec![is("even"), prefix("thin_")],
        vec![is("odd_tenth"), is("mix_dense"), prefix("odd")],
        vec![
            Term::AnyOf(vec!["mix_dense".to_owned(), "odd_tenth".to_owned()]),
            is("even"),
        ],
        vec![
            Term::AnyOf(vec!["mix_dense".to_owned(), "thin_posted".to_owned()]),
            is("even"),
        ],
    ] {
        for range in [EVERYTHING, 60_000..139_001, 0..139_000] {
            let expected = full_scan(&rows, &terms, &range, usize::MAX);
            for segment in [&at_once, &merged] {
                let segments = std::slice::from_ref(segment);
                let mut far = Counting::<true>::of(blocks.clone());
                for wanted in [1, 200_000] {
                    let expected = &expected[..expected.len().min(wanted)];
                    let found = newest(segments, &terms, &range, wanted, &mut blocks.clone());
                    assert_eq!(found.as_deref(), Ok(expected), "{terms:?} {range:?}");
                    let cache = BlockCache::new(1 << 20);
                    let found = newest(segments, &terms, &range, wanted, &mut cache.before(&mut far));
                    assert_eq!(found.as_deref(), Ok(expected), "{terms:?} {range:?}, remote");
                }
                let bounds = [range.start, range.end];
                let counts = count(segments, &terms, &bounds, &[is("late")], &mut blocks.clone());
                let late = expected
                    .iter()
                    .filter(|id| is("late").matches(&tokens(**id)))
                    .count();
                let counts = counts.map(|counts| (counts.all, counts.split));
                assert_eq!(counts, Ok((vec![expected.len() as u64], vec![vec![late as u64]])));
            }
        }
    }
}

#[test]
fn an_intersection_of_dense_lists_that_never_meet_reads_none_of_their_postings() {
    let (segment, _, blocks) = segments(&rows());
    let postings_read = |terms: &[Term]| {
        let mut near = Counting::<false>::of(blocks.clone());
        let found = newest(
            std::slice::from_ref(&segment),
            terms,
            &EVERYTHING,
            50,
            &mut &mut near,
        );
        let is_postings = |block: &&BlockId| block.kind == BlockKind::Postings;
        (
            found.map(|found| found.len()),
            near.read_blocks.iter().filter(is_postings).count(),
        )
    };
    assert_eq!(postings_read(&[is("even"), is("odd")]), (Ok(0), 0));
    // Only in the chunks of the short list: the last one of its rows is in the second chunk.
    assert_eq!(
        postings_read(&[is("even"), Term::Prefix(vec!["mix_".to_owned()])]),
        (Ok(2), 4)
    );
    let (found, read) = postings_read(&[is("even"), is("late")]);
    assert_eq!(found, Ok(1));
    assert!(read > 2, "{read}");
}

/// Each row has one of 200 tokens, one of 199 and one of 197: 596 dense lists, more than are numbered.
fn with_many_dense_lists() -> Rows {
    let tokens = |number: i64| {
        let mut tokens = String::new();
        for (field, count) in [("a", 200), ("b", 199), ("c", 197)] {
            write!(tokens, "{field}{:03} ", number % count).expect("a string");
        }
        tokens
    };
    (0..ROWS).map(|number| (number, tokens(number))).collect()
}

#[test]
fn lists_beyond_the_last_number_are_compared_by_their_postings() {
    let rows = with_many_dense_lists();
    let mut blocks = Memory::default();
    let segment = file_all(&rows, 1, &mut blocks);
    verify(&segment, |_, _| {}, &mut blocks).expect("the segment is as it was written");
    let sizes: Vec<usize> = disjoint_blocks(&segment, &blocks)
        .iter()
        .map(|block| block.len())
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), 512 * 64);
    assert!(sizes.iter().all(|size| *size < 4_000), "{sizes:?}");
    for (terms, reads_postings) in [
        ([is("a003"), is("a117")], false),
        ([is("b198"), is("b000")], false),
        // The numbers end with `c112`.
        ([is("c001"), is("c112")], false),
        ([is("c001"), is("c113")], true),
        ([is("a003"), is("b004")], true),
    ] {
        let mut near = Counting::<false>::of(blocks.clone());
        let found = newest(
            std::slice::from_ref(&segment),
            &terms,
            &EVERYTHING,
            50,
            &mut &mut near,
        );
        assert_eq!(found, Ok(full_scan(&rows, &terms, &EVERYTHING, 50)), "{terms:?}");
        let read = near
            .read_blocks
            .iter()
            .any(|block| block.kind == BlockKind::Postings);
        assert_eq!(read, reads_postings, "{terms:?}");
    }
}

#[test]
fn a_block_that_says_otherwise_is_noticed() {
    let rows = rows();
    let mut written = Memory::default();
    let segment = file_all(&rows, 1, &mut written);
    let block = BlockId {
        segment: 1,
        kind: BlockKind::Disjoint,
        number: 0,
    };
    let named = Some(Place::Block(block));
    let place = |outcome: Result<(), Damaged>| outcome.expect_err("it is noticed").place;
    let verified = |blocks: &mut Memory| verify(&segment, |_, _| {}, blocks).map(|_| ());
    let queried = |blocks: &mut Memory| {
        let terms = [is("even"), is("odd")];
        newest(std::slice::from_ref(&segment), &terms, &EVERYTHING, 1, blocks).map(|_| ())
    };
    let bits = (written.0[&block.key()].len() - 4) * 8;
    for bit in 0..bits {
        let mut blocks = written.clone();
        blocks.0.get_mut(&block.key()).expect("a block")[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(place(queried(&mut blocks)), named, "bit {bit}");
    }
    // With the checksum of the changed content.
    for bit in [0, 1, 64, bits - 1] {
        let mut blocks = written.clone();
        blocks.replace(block.key(), |content| content[bit / 8] ^= 1 << (bit % 8));
        assert_eq!(place(verified(&mut blocks)), named, "bit {bit}");
    }
    let mut blocks = written.clone();
    blocks.replace(block.key(), |content| content.truncate(63));
    assert_eq!(place(queried(&mut blocks)), named);
    assert_eq!(place(verified(&mut blocks)), named);
    let mut blocks = written.clone();
    blocks.0.remove(&block.key());
    assert_eq!(place(queried(&mut blocks)), named);
    assert_eq!(place(verified(&mut blocks)), named);
    let surplus = BlockId { number: 1, ..block };
    let mut blocks = written.clone();
    blocks.0.insert(surplus.key(), vec![0; 4]);
    blocks.replace(surplus.key(), |_| {});
    assert_eq!(place(verified(&mut blocks)), Some(Place::Block(surplus)));
    // `even` is dense list 0. Its entry in the dictionary: the header, the number plus 1, and the first block.
    let leaf = BlockId {
        segment: 1,
        kind: BlockKind::Dictionary,
        number: 0,
    };
    let mut blocks = written.clone();
    blocks.replace(leaf.key(), |content| {
        let token = content
            .windows(4)
            .position(|bytes| bytes == b"even")
            .expect("the token");
        assert_eq!(content[token + 5], 1);
        content[token + 5] = 2;
    });
    assert_eq!(place(verified(&mut blocks)), Some(Place::Block(leaf)));
}
