//! A look-up of a token reads one directory block and one dictionary block per segment.

use crate::memory::{Counting, Memory};
use crate::{Rows, file_all};
use audit_index::{BlockKind, Segment, Term, newest};

/// A segment of five ledgers, `c` to `g`, with two directory blocks.
fn segment(blocks: &mut Memory) -> Segment {
    let tokens = |number: i64| {
        let ledger = ["c", "d", "e", "f", "g"][usize::try_from(number % 5).expect("a small number")];
        let unlike_its_neighbours = number.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed()) as u64;
        format!("{ledger}k{unlike_its_neighbours:016x} {ledger}common")
    };
    let rows: Rows = (0..150_000).map(|number| (number, tokens(number))).collect();
    let segment = file_all(&rows, 1, blocks);
    assert!(segment.directories > 1, "{segment:?}");
    segment
}

#[test]
fn a_token_costs_one_directory_block_and_one_dictionary_block() {
    let mut blocks = Memory::default();
    let segments = [segment(&mut blocks)];
    let mut counting = Counting::<false>::of(blocks.clone());
    let everything = i64::MIN..i64::MAX;
    let mut kinds_of = |term: Term| {
        counting.read_blocks.clear();
        let found = newest(&segments, &[term], &everything, 1, &mut &mut counting).expect("it is found");
        let kinds: Vec<BlockKind> = counting.read_blocks.iter().map(|block| block.kind).collect();
        (found.len(), kinds)
    };
    // Every token, so that the first and the last of each block are among them, and a token that follows each.
    let mut tokens = Vec::new();
    let see = |token: &[u8], _: &[i64]| {
        let text = String::from_utf8(token.to_vec()).expect("a token in UTF-8");
        if text.contains('k') {
            tokens.push(text);
        }
    };
    segments[0].for_each(see, &mut blocks).expect("it was written");
    let last = tokens.last().expect("a token").clone();
    for token in tokens {
        let (found, kinds) = kinds_of(Term::is(token.clone()));
        let path = [BlockKind::Directory, BlockKind::Dictionary];
        assert_eq!(
            (found, kinds.as_slice()),
            (1, [path[0], path[1], BlockKind::Ids].as_slice()),
            "{token}"
        );
        let (found, kinds) = kinds_of(Term::is(format!("{token}!")));
        // The roots exclude what follows the last token.
        let path = if token == last { &[] } else { path.as_slice() };
        assert_eq!((found, kinds.as_slice()), (0, path), "after {token}");
    }
}

#[test]
fn ledgers_outside_of_the_range_of_a_segment_cost_nothing() {
    let mut blocks = Memory::default();
    let rows: Rows = (0..3).map(|number| (number, "ck dk ek".to_owned())).collect();
    let segments = [segment(&mut blocks), file_all(&rows, 2, &mut blocks)];
    let mut counting = Counting::<false>::of(blocks);
    for ledger in ["a", "b", "h", "x", "zz"] {
        for term in [
            Term::is(format!("{ledger}common")),
            Term::Prefix(vec![format!("{ledger}k"), ledger.to_owned()]),
        ] {
            let everything = i64::MIN..i64::MAX;
            let found = newest(&segments, &[term], &everything, 50, &mut &mut counting);
            assert_eq!(found, Ok(Vec::new()));
        }
    }
    assert_eq!(counting.read_blocks, []);
}
