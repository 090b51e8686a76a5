//! Comparison with independent implementations: `ct-merkle`, `tlog_tiles` and `signed_note`.

use crate::log::{Log, leaf};
use crate::reference::Reference;
use audit_ledger::{
    Checkpoint, ConsistencyProof, Hash, InclusionProof, KeyName, Origin, SignedCheckpoint, SigningKey,
    Subtree, TileError, TileId, TreeHead, VerifierKey,
};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use sha2::Sha256;
use signed_note::{Note, Signer, StandardSigner, StandardVerifier, Verifier, VerifierList};
use std::cell::RefCell;
use tlog_tiles::{HashReader, TileHashReader, TileReader};

const SIZE_MAX: u64 = 130;

fn flat(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

fn theirs(hashes: &[Hash]) -> Vec<tlog_tiles::Hash> {
    hashes.iter().map(their).collect()
}

fn their(hash: &Hash) -> tlog_tiles::Hash {
    tlog_tiles::Hash(*hash.as_bytes())
}

#[test]
fn ct_merkle_makes_the_same_roots_and_proofs() {
    let tree = Reference::of_size(SIZE_MAX as u32);
    let mut theirs = MemoryBackedTree::<Sha256, [u8; 4]>::new();
    for size in 1..=SIZE_MAX {
        theirs.push((size as u32 - 1).to_be_bytes());
        assert_eq!(
            theirs.root().as_bytes().as_slice(),
            tree.head(size).root.as_bytes()
        );
        for index in 0..size {
            let ours = InclusionProof::prove(index, size, |s| tree.hash(s)).unwrap();
            assert_eq!(
                theirs.prove_inclusion(index as usize).as_bytes(),
                flat(ours.hashes())
            );
        }
        for from in 1..size {
            let ours = ConsistencyProof::prove(from, size, |s| tree.hash(s)).unwrap();
            let theirs = theirs.prove_consistency((size - from) as usize);
            assert_eq!(theirs.as_bytes(), flat(ours.hashes()), "{from} to {size}");
        }
    }
}

/// Lets `tlog_tiles` read our tree.
struct Hashes<'a>(&'a Reference);

impl HashReader for Hashes<'_> {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog_tiles::Hash>, tlog_tiles::Error> {
        let hash = |index: &u64| {
            let (level, n) = tlog_tiles::split_stored_hash_index(*index);
            let Ok(hash) = self.0.hash(Subtree::new(level, n).unwrap());
            their(&hash)
        };
        Ok(indexes.iter().map(hash).collect())
    }
}

#[test]
fn tlog_tiles_makes_and_verifies_the_same_proofs() {
    let tree = Reference::of_size(SIZE_MAX as u32);
    for size in 1..=SIZE_MAX {
        let root = their(&tree.head(size).root);
        assert_eq!(tlog_tiles::tree_hash(size, &Hashes(&tree)).unwrap(), root);
        for index in 0..size {
            let ours = InclusionProof::prove(index, size, |s| tree.hash(s)).unwrap();
            let proof = tlog_tiles::prove_record(size, index, &Hashes(&tree)).unwrap();
            assert_eq!(proof, theirs(ours.hashes()));
            tlog_tiles::check_record(&proof, size, root, index, their(&tree.leaf(index))).unwrap();
        }
        for from in 1..=size {
            let ours = ConsistencyProof::prove(from, size, |s| tree.hash(s)).unwrap();
            let proof = tlog_tiles::prove_tree(size, from, &Hashes(&tree)).unwrap();
            assert_eq!(proof, theirs(ours.hashes()));
            let earlier = their(&tree.head(from).root);
            tlog_tiles::check_tree(&proof, size, root, from, earlier).unwrap();
        }
    }
}

/// Lets `tlog_tiles` read our tiles in the encoding that is served.
struct Served<'a> {
    log: &'a Log,
    paths: RefCell<Vec<String>>,
}

impl TileReader for Served<'_> {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[tlog_tiles::Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        let read = |tile: &tlog_tiles::Tile| {
            let id = our_id(tile);
            self.paths.borrow_mut().push(id.to_string());
            self.log.tile(id).unwrap().encode()
        };
        Ok(tiles.iter().map(read).collect())
    }

    fn save_tiles(&self, _: &[tlog_tiles::Tile], _: &[Vec<u8>]) {}
}

/// The paths of `tlog_tiles` contain the tile height, as in Go's checksum database. C2SP omits it.
fn our_id(tile: &tlog_tiles::Tile) -> TileId {
    tile.path().replacen("tile/8/", "tile/", 1).parse().unwrap()
}

#[test]
fn tlog_tiles_finds_every_leaf_in_our_tiles() {
    let log = Log::of_size(70_000);
    for size in [1, 255, 256, 257, 65_536, 65_537, 70_000_u64] {
        let head = Log::of_size(size as u32).head();
        let served = Served {
            log: &log,
            paths: RefCell::default(),
        };
        let reader = TileHashReader::new(size, their(&head.root), &served);
        for index in (0..size).step_by(997) {
            let proof = tlog_tiles::prove_record(size, index, &reader).unwrap();
            let ours = log.prove_inclusion(index, size).unwrap();
            assert_eq!(proof, theirs(ours.hashes()), "{index} in {size}");
            let leaf = their(&log.leaves[index as usize]);
            tlog_tiles::check_record(&proof, size, their(&head.root), index, leaf).unwrap();
        }
        // Every tile fetched is full or partial in a tree of this size.
        for path in served.paths.into_inner() {
            let id: TileId = path.parse().unwrap();
            assert!(id.is_full() || TileId::partial_of(size).any(|partial| partial == id));
        }
    }
}

proptest! {
    #[test]
    fn tlog_tiles_publishes_the_same_tiles(from in 0_u64..200_000, growth in 0_u64..140_000) {
        let to = from + growth;
        let all = tlog_tiles::Tile::new_tiles(8, from, to);
        let theirs: Vec<TileId> = all.iter().map(our_id).filter(TileId::is_full).collect();
        prop_assert_eq!(TileId::completed(from, to).collect::<Vec<_>>(), theirs);
        let theirs: Vec<TileId> = tlog_tiles::Tile::new_tiles(8, 0, to).iter().map(our_id).collect();
        let theirs: Vec<TileId> = theirs.into_iter().filter(|id| !id.is_full()).collect();
        prop_assert_eq!(TileId::partial_of(to).collect::<Vec<_>>(), theirs);
    }

    #[test]
    fn tlog_tiles_looks_for_a_hash_in_the_same_tile(size in 1_u64..1 << 40, level in 0_u8..40, index: u64) {
        let count = size >> level;
        prop_assume!(count > 0);
        let subtree = Subtree::new(level, index % count).unwrap();
        let stored = tlog_tiles::stored_hash_index(level, subtree.index());
        let tile = tlog_tiles::Tile::from_index(8, stored).parent(0, size).unwrap();
        prop_assert_eq!(TileId::holding(subtree, size), Some(our_id(&tile)));
    }

    #[test]
    fn tlog_tiles_reads_the_same_paths(path in "[0-9]{1,2}/(x[0-9]{3}/){0,3}[0-9]{2,3}(\\.p/[1-9][0-9]{0,2})?") {
        // `tlog_tiles` panics on a width of 0, so the strategy has none.
        let ours = format!("tile/{path}").parse::<TileId>();
        // Only `tlog_tiles` accepts tiles beyond our largest tree.
        if !matches!(ours, Err(TileError::Range { .. })) {
            let theirs = tlog_tiles::Tile::from_path(&format!("tile/8/{path}")).ok();
            prop_assert_eq!(ours.ok(), theirs.as_ref().map(our_id));
        }
    }

    #[test]
    fn tlog_tiles_reads_the_same_checkpoints(text in "(o|a b|)\n(0|1|01|77|\\+1|-1| 1|1 )\n(47DEQpj8HBSa\\+/TImW\\+5JCeuQeRkm5NMpJWZG3hSuFU=|47DEQpj8|)(\n|\n\n| \n|\nx\n|\nx|)") {
        // Only ours refuses an empty tree whose root is not that of the empty tree. The strategy has no such text.
        let ours = Checkpoint::parse(&text);
        let theirs = tlog_tiles::Checkpoint::from_bytes(text.as_bytes());
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.to_string().into_bytes(), theirs.to_bytes()),
            (ours, theirs) => prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}", text),
        }
    }

}

proptest! {
    // A signature of `signed_note` takes milliseconds without optimisation.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn signed_note_makes_the_same_keys_and_signatures(seed: [u8; 32], name in "[a-z./]{1,20}", size: u32) {
        let ours = SigningKey::from_seed(KeyName::parse(&name).unwrap(), &seed).unwrap();
        let theirs = their_signer(&ours, &seed);
        let verifier = StandardVerifier::new(&ours.verifier().to_string()).unwrap();
        prop_assert_eq!(verifier.key_id().to_string(), theirs.key_id().to_string());

        let head = TreeHead { size: size.into(), root: if size == 0 { Hash::of_empty_tree() } else { leaf(size) } };
        let checkpoint = Checkpoint::new(Origin::parse(&name).unwrap(), head);
        let mut note = Note::new(checkpoint.to_string().as_bytes(), &[]).unwrap();
        note.add_sigs(&[&theirs]).unwrap();
        let signed = ours.sign(checkpoint);
        prop_assert_eq!(note.to_bytes(), signed.note().as_bytes());

        let (verified, _) = Note::from_bytes(signed.note().as_bytes())
            .unwrap()
            .verify(&VerifierList::new(vec![Box::new(verifier)]))
            .unwrap();
        prop_assert_eq!(verified.len(), 1);
    }

    #[test]
    fn signed_note_agrees_on_damaged_notes(at: prop::sample::Index, byte: u8) {
        let key = SigningKey::from_seed(KeyName::parse("example.com/log").unwrap(), &[1; 32]).unwrap();
        let origin = Origin::parse("example.com/log").unwrap();
        let head = Log::of_size(3).head();
        let signed = key.sign(Checkpoint::new(origin.clone(), head));
        let mut bytes = signed.note().as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let keys: [VerifierKey; 1] = [key.verifier().clone()];
        let ours = std::str::from_utf8(&bytes)
            .ok()
            .and_then(|note| SignedCheckpoint::open(note, &origin, &keys).ok());
        let verifier = StandardVerifier::new(&keys[0].to_string()).unwrap();
        let list = VerifierList::new(vec![Box::new(verifier)]);
        let theirs = Note::from_bytes(&bytes).is_ok_and(|note| note.verify(&list).is_ok());
        prop_assert_eq!(ours.is_some(), theirs);
    }
}

fn their_signer(ours: &SigningKey, seed: &[u8; 32]) -> StandardSigner {
    use base64::Engine;
    let key = base64::engine::general_purpose::STANDARD.encode([&[1], seed.as_slice()].concat());
    let (name, id) = (ours.verifier().name(), ours.verifier().id());
    StandardSigner::new(&format!("PRIVATE+KEY+{name}+{id}+{key}")).unwrap()
}
