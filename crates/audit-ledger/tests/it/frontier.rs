//! Frontiers and their encoding.

use crate::reference::Reference;
use audit_ledger::{Frontier, FrontierError, RangeError, ReadError, TREE_LEAVES_MAX, TreeHead};
use proptest::prelude::*;

#[test]
fn the_root_after_each_append_agrees_with_the_rfc() {
    let tree = Reference::of_size(300);
    let mut frontier = Frontier::new();
    assert_eq!(frontier.head(), TreeHead::of_empty_tree());
    for size in 0..=300 {
        assert_eq!(frontier.head(), tree.head(size));
        let read = Frontier::read(size, |subtree| tree.hash(subtree));
        assert_eq!(read.as_ref(), Ok(&frontier), "{size}");
        let bytes = frontier.encode();
        assert!(bytes.len() <= Frontier::BYTES_MAX);
        assert_eq!(Frontier::decode(&bytes).as_ref(), Ok(&frontier));
        if size < 300 {
            assert_eq!(frontier.append(tree.leaf(size)), size);
        }
    }
}

proptest! {
    #[test]
    fn leaves_appended_together_give_the_tree_of_leaves_appended_one_by_one(steps in prop::collection::vec(0_u64..70, 1..9)) {
        let tree = Reference::of_size(600);
        let (mut together, mut one_by_one) = (Frontier::new(), Frontier::new());
        for step in steps {
            let leaves: Vec<_> = (together.size()..together.size() + step).map(|index| tree.leaf(index)).collect();
            together.extend(&leaves);
            for leaf in leaves {
                one_by_one.append(leaf);
            }
            prop_assert_eq!(&together, &one_by_one);
        }
    }
}

#[test]
fn a_decoded_frontier_continues_the_tree() {
    let tree = Reference::of_size(300);
    let mut frontier = Frontier::new();
    for index in 0..300 {
        frontier = Frontier::decode(&frontier.encode()).unwrap();
        frontier.append(tree.leaf(index));
    }
    assert_eq!(frontier.head(), tree.head(300));
}

#[test]
fn each_kind_of_damage_has_its_error() {
    let empty = Frontier::new().encode();
    assert_eq!(empty, [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Frontier::decode(&[]), Err(FrontierError::Length));
    assert_eq!(Frontier::decode(&[2]), Err(FrontierError::UnknownVersion(2)));
    assert_eq!(Frontier::decode(&empty[..8]), Err(FrontierError::Length));
    assert_eq!(
        Frontier::decode(&[empty.as_slice(), &[0]].concat()),
        Err(FrontierError::Length)
    );
    let encoded = |size: u64, hashes: usize| {
        let size = size.to_be_bytes();
        [&[1], size.as_slice(), &vec![7; 32 * hashes]].concat()
    };
    assert!(Frontier::decode(&encoded(5, 2)).is_ok());
    for hashes in [0, 1, 3] {
        assert_eq!(Frontier::decode(&encoded(5, hashes)), Err(FrontierError::Length));
    }
    assert!(Frontier::decode(&encoded(TREE_LEAVES_MAX, 1)).is_ok());
    let too_large = TREE_LEAVES_MAX + 1;
    assert_eq!(
        Frontier::decode(&encoded(too_large, 2)),
        Err(FrontierError::Size(too_large))
    );
    let longest = encoded(TREE_LEAVES_MAX - 1, 62);
    assert_eq!(longest.len(), Frontier::BYTES_MAX);
    assert!(Frontier::decode(&longest).is_ok());
}

#[test]
fn a_tree_that_is_too_large_is_not_read() {
    let tree = Reference::of_size(1);
    let size = TREE_LEAVES_MAX + 1;
    assert_eq!(
        Frontier::read(size, |subtree| tree.hash(subtree)),
        Err(ReadError::Range(RangeError::TooLarge { size }))
    );
}

#[test]
fn the_largest_tree_accepts_appends() {
    let mut bytes = Frontier::new().encode();
    bytes[1..].copy_from_slice(&TREE_LEAVES_MAX.to_be_bytes());
    bytes.extend([7; 32]);
    let mut frontier = Frontier::decode(&bytes).unwrap();
    let leaf = Reference::of_size(1).leaf(0);
    assert_eq!(frontier.append(leaf), TREE_LEAVES_MAX);
    assert_eq!(frontier.append(leaf), TREE_LEAVES_MAX + 1);
    assert_eq!(frontier.size(), TREE_LEAVES_MAX + 2);
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_the_one_encoding_of_a_frontier(mut bytes in prop::collection::vec(any::<u8>(), 0..150)) {
        for (at, byte) in bytes.iter_mut().take(8).enumerate() {
            *byte = u8::from(at == 0);
        }
        if let Ok(frontier) = Frontier::decode(&bytes) {
            prop_assert_eq!(frontier.encode(), bytes);
        }
    }
}
