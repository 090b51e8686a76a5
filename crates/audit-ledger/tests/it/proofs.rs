//! Proofs of inclusion and consistency for every index in every tree of up to 300 leaves.

use crate::reference::Reference;
use audit_ledger::{
    ConsistencyProof, Hash, InclusionProof, PROOF_HASHES_MAX, ProofError, ProofTextError, RangeError,
    ReadError, Subtree, TREE_LEAVES_MAX, TreeHead,
};
use proptest::prelude::*;
use std::cell::RefCell;

/// Large enough for every shape of proof at nine levels, and small enough to try all pairs.
const SIZE_MAX: u64 = 300;
/// Up to this size every byte of every proof is changed; above it, one byte of each hash.
const THOROUGH_SIZE_MAX: u64 = 35;

fn tree() -> Reference {
    Reference::of_size(SIZE_MAX as u32)
}

fn prove_inclusion(tree: &Reference, index: u64, size: u64) -> InclusionProof {
    let asked = RefCell::new(Vec::new());
    let proof = InclusionProof::prove(index, size, |subtree| {
        asked.borrow_mut().push(subtree);
        tree.hash(subtree)
    });
    assert_eq!(InclusionProof::subtrees(index, size), Ok(asked.into_inner()));
    proof.unwrap()
}

fn prove_consistency(tree: &Reference, from: u64, to: u64) -> ConsistencyProof {
    let asked = RefCell::new(Vec::new());
    let proof = ConsistencyProof::prove(from, to, |subtree| {
        asked.borrow_mut().push(subtree);
        tree.hash(subtree)
    });
    assert_eq!(ConsistencyProof::subtrees(from, to), Ok(asked.into_inner()));
    proof.unwrap()
}

/// Sizes at which proofs are tampered with: all small ones, then every seventh and those around powers of two.
fn sizes_to_tamper_with() -> impl Iterator<Item = u64> {
    let is_near_power = |size: u64| (size - 1..=size + 1).any(u64::is_power_of_two);
    (1..=SIZE_MAX).filter(move |size| *size <= 3 * THOROUGH_SIZE_MAX || size % 7 == 0 || is_near_power(*size))
}

/// Lists that differ from these hashes by a changed byte or by a hash removed, added or exchanged. Thorough lists change
/// every byte and add or remove at every index. Other lists change one byte of each hash and add or remove at the ends.
fn tampered(hashes: &[Hash], is_thorough: bool) -> Vec<Vec<Hash>> {
    let mut lists = Vec::new();
    for position in 0..hashes.len() {
        let bytes = match is_thorough {
            true => 0..Hash::BYTES,
            false => position * 7 % Hash::BYTES..position * 7 % Hash::BYTES + 1,
        };
        for byte in bytes {
            let mut list = hashes.to_vec();
            let mut changed = *list[position].as_bytes();
            changed[byte] ^= 1 << (byte % 8);
            list[position] = Hash::from_bytes(changed);
            lists.push(list);
        }
        if is_thorough {
            let mut shorter = hashes.to_vec();
            shorter.remove(position);
            lists.push(shorter);
            let mut longer = hashes.to_vec();
            longer.insert(position, hashes[position]);
            lists.push(longer);
            let mut exchanged = hashes.to_vec();
            exchanged.swap(position.saturating_sub(1), position);
            lists.extend((position > 0).then_some(exchanged));
        }
    }
    lists.extend(hashes.split_last().map(|(_, shorter)| shorter.to_vec()));
    lists.extend(hashes.split_first().map(|(_, shorter)| shorter.to_vec()));
    lists.push([hashes, &[Hash::of_empty_tree()]].concat());
    lists
}

#[test]
fn inclusion_proofs_agree_with_the_rfc_for_every_leaf() {
    let tree = tree();
    for size in 1..=SIZE_MAX {
        let head = tree.head(size);
        for index in 0..size {
            let proof = prove_inclusion(&tree, index, size);
            assert_eq!(
                proof.hashes(),
                tree.path(index as usize, 0, size as usize),
                "{index} in {size}"
            );
            assert_eq!(proof.verify(index, &tree.leaf(index), &head), Ok(()));
        }
    }
}

#[test]
fn no_inclusion_proof_survives_tampering() {
    let tree = tree();
    for size in sizes_to_tamper_with() {
        let head = tree.head(size);
        for index in 0..size {
            let leaf = tree.leaf(index);
            let proof = prove_inclusion(&tree, index, size);
            for hashes in tampered(proof.hashes(), size <= THOROUGH_SIZE_MAX) {
                let tampered = InclusionProof::from_hashes(hashes);
                assert!(tampered.verify(index, &leaf, &head).is_err(), "{index} in {size}");
            }
            let other_leaf = Hash::of_leaf(b"another");
            assert_eq!(proof.verify(index, &other_leaf, &head), Err(ProofError::Root));
            let root = Hash::of_node(&head.root, &head.root);
            assert_eq!(
                proof.verify(index, &leaf, &TreeHead { root, ..head }),
                Err(ProofError::Root)
            );
        }
    }
}

#[test]
fn an_inclusion_proof_verifies_at_its_own_index_only() {
    let tree = tree();
    for size in 1..=64 {
        let head = tree.head(size);
        for index in 0..size {
            let proof = prove_inclusion(&tree, index, size);
            for other in (0..size + 2).filter(|other| *other != index) {
                assert!(proof.verify(other, &tree.leaf(index), &head).is_err());
                if other < size {
                    assert!(proof.verify(index, &tree.leaf(other), &head).is_err());
                }
            }
        }
    }
}

#[test]
fn a_node_is_not_accepted_as_a_leaf() {
    let tree = tree();
    let (left, right) = (tree.mth(0, 2), tree.mth(2, 4));
    let data = [left.as_bytes().as_slice(), right.as_bytes()].concat();
    let head = tree.head(4);
    let empty = InclusionProof::from_hashes(Vec::new());
    let small = TreeHead { size: 1, ..head };
    assert_eq!(
        empty.verify(0, &Hash::of_leaf(&data), &small),
        Err(ProofError::Root)
    );
}

#[test]
fn consistency_proofs_agree_with_the_rfc_for_every_pair_of_sizes() {
    let tree = tree();
    for to in 0..=SIZE_MAX {
        for from in 0..=to {
            let proof = prove_consistency(&tree, from, to);
            let expected = match from {
                0 => Vec::new(),
                _ => tree.proof(from as usize, to as usize),
            };
            assert_eq!(proof.hashes(), expected, "{from} to {to}");
            assert_eq!(proof.verify(&tree.head(from), &tree.head(to)), Ok(()));
        }
    }
}

#[test]
fn no_consistency_proof_survives_tampering() {
    let tree = tree();
    for to in sizes_to_tamper_with() {
        for from in 0..=to {
            let (earlier, later) = (tree.head(from), tree.head(to));
            let proof = prove_consistency(&tree, from, to);
            for hashes in tampered(proof.hashes(), to <= THOROUGH_SIZE_MAX) {
                let tampered = ConsistencyProof::from_hashes(hashes);
                assert!(tampered.verify(&earlier, &later).is_err(), "{from} to {to}");
            }
            let other = |head: TreeHead| TreeHead {
                root: Hash::of_node(&head.root, &head.root),
                ..head
            };
            assert!(proof.verify(&other(earlier), &later).is_err(), "{from} to {to}");
            // Every tree continues the empty tree.
            if from > 0 {
                assert!(proof.verify(&earlier, &other(later)).is_err(), "{from} to {to}");
            }
        }
    }
}

#[test]
fn a_changed_leaf_breaks_consistency_with_every_tree_that_has_it() {
    let tree = tree();
    let mut data: Vec<Vec<u8>> = (0..SIZE_MAX as u32).map(|n| n.to_be_bytes().to_vec()).collect();
    data[17] = b"changed".to_vec();
    let changed = Reference::new(data);
    for from in 1..SIZE_MAX {
        let proof = prove_consistency(&changed, from, SIZE_MAX);
        let verdict = proof.verify(&tree.head(from), &changed.head(SIZE_MAX));
        assert_eq!(verdict.is_ok(), from <= 17, "{from}");
    }
}

/// The roots here do not belong to their sizes. A log that signs such heads must not get a proof accepted either.
#[test]
fn a_proof_of_the_wrong_length_is_refused_even_if_it_leads_to_the_root() {
    let tree = tree();
    let head = |size, root| TreeHead { size, root };
    let (first, second) = (tree.leaf(0), tree.leaf(1));
    let root_of_two = tree.head(2).root;

    let too_long = InclusionProof::from_hashes(vec![first]);
    let verdict = too_long.verify(0, &second, &head(1, root_of_two));
    assert_eq!(verdict, Err(ProofError::Length));
    let too_short = InclusionProof::from_hashes(vec![second]);
    let verdict = too_short.verify(0, &first, &head(3, root_of_two));
    assert_eq!(verdict, Err(ProofError::Length));

    let too_short = ConsistencyProof::from_hashes(Vec::new());
    let verdict = too_short.verify(&tree.head(2), &head(4, root_of_two));
    assert_eq!(verdict, Err(ProofError::Length));
    let above = |size| head(size, Hash::of_node(&first, &tree.head(size).root));
    let mut hashes = prove_consistency(&tree, 3, 4).hashes().to_vec();
    hashes.push(first);
    let too_long = ConsistencyProof::from_hashes(hashes);
    assert_eq!(too_long.verify(&above(3), &above(4)), Err(ProofError::Length));
}

#[test]
fn a_leaf_or_size_out_of_range_has_no_proof() {
    let tree = tree();
    let none = || InclusionProof::from_hashes(Vec::new());
    let no_leaf = RangeError::NoSuchLeaf { index: 5, size: 5 };
    assert_eq!(
        InclusionProof::prove(5, 5, |s| tree.hash(s)),
        Err(ReadError::Range(no_leaf))
    );
    assert_eq!(
        none().verify(5, &tree.leaf(0), &tree.head(5)),
        Err(ProofError::Range(no_leaf))
    );
    assert!(InclusionProof::subtrees(0, 0).is_err());
    let backwards = RangeError::Backwards { from: 6, to: 5 };
    assert_eq!(ConsistencyProof::subtrees(6, 5), Err(backwards));
    assert_eq!(
        ConsistencyProof::prove(6, 5, |s| tree.hash(s)),
        Err(ReadError::Range(backwards))
    );
    let size = TREE_LEAVES_MAX + 1;
    assert_eq!(
        InclusionProof::subtrees(0, size),
        Err(RangeError::TooLarge { size })
    );
    assert_eq!(
        ConsistencyProof::subtrees(u64::MAX, u64::MAX),
        Err(RangeError::TooLarge { size: u64::MAX })
    );
}

#[test]
fn an_error_of_the_source_is_returned() {
    let failing = |_: Subtree| Err::<Hash, _>("no disk");
    assert_eq!(
        InclusionProof::prove(0, 2, failing),
        Err(ReadError::Source("no disk"))
    );
    assert_eq!(
        ConsistencyProof::prove(1, 2, failing),
        Err(ReadError::Source("no disk"))
    );
}

#[test]
fn proofs_round_trip_through_base64_and_have_a_limit() {
    let tree = tree();
    let proof = prove_inclusion(&tree, 17, 300);
    let texts = proof.to_base64();
    assert!(texts.iter().all(|text| text.len() == 44));
    assert_eq!(InclusionProof::from_base64(&texts), Ok(proof));
    let proof = prove_consistency(&tree, 17, 300);
    assert_eq!(
        ConsistencyProof::from_base64(proof.to_base64()),
        Ok(proof.clone())
    );

    let mut damaged = texts.clone();
    damaged[3].pop();
    assert!(matches!(
        InclusionProof::from_base64(&damaged),
        Err(ProofTextError::Hash { position: 3, .. })
    ));
    let longest = vec![texts[0].clone(); PROOF_HASHES_MAX];
    assert!(InclusionProof::from_base64(&longest).is_ok());
    let too_long = vec![texts[0].clone(); PROOF_HASHES_MAX + 1];
    assert_eq!(
        InclusionProof::from_base64(&too_long),
        Err(ProofTextError::TooLong)
    );
}

proptest! {
    /// Sizes beyond exhaustive testing: the lengths are bounded and no arithmetic overflows.
    #[test]
    fn proofs_in_the_largest_trees_are_bounded(size in 1..=TREE_LEAVES_MAX, a: u64, b: u64) {
        let made_up = |subtree: Subtree| {
            let leaves = subtree.leaves();
            Ok::<_, ()>(Hash::of_leaf(&[leaves.start.to_be_bytes(), leaves.end.to_be_bytes()].concat()))
        };
        let (index, from) = (a % size, b % (size + 1));
        let proof = InclusionProof::prove(index, size, made_up).unwrap();
        prop_assert!(proof.hashes().len() < PROOF_HASHES_MAX);
        let proof = ConsistencyProof::prove(from, size, made_up).unwrap();
        prop_assert!(proof.hashes().len() <= PROOF_HASHES_MAX);
        for subtree in ConsistencyProof::subtrees(from, size).unwrap() {
            prop_assert!(subtree.leaves().end <= size);
        }
    }

    /// No input makes a verifier panic.
    #[test]
    fn any_hashes_are_refused(hashes in prop::collection::vec(any::<[u8; 32]>(), 0..70), index: u64, from: u64, to: u64) {
        let hashes: Vec<Hash> = hashes.into_iter().map(Hash::from_bytes).collect();
        let root = Hash::of_leaf(b"root");
        let (earlier, later) = (TreeHead { size: from, root }, TreeHead { size: to, root: Hash::of_empty_tree() });
        prop_assert!(InclusionProof::from_hashes(hashes.clone()).verify(index, &root, &later).is_err());
        prop_assert!(ConsistencyProof::from_hashes(hashes).verify(&earlier, &later).is_err());
    }
}
