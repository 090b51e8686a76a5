//! Texts of the log: proofs, notes, requests to witnesses, stored state.

use crate::text;
use audit_domain::ContentHash;
use audit_ledger::{
    AddCheckpoint, Anchor, Checkpoint, Frontier, Hash, InclusionProof, KeyName, KeyRotation, MapTile, Origin,
    Policy, SignedAnchor, SignedCheckpoint, SignedStream, SignedTenantMap, SigningKey, Tile, TileId, TileSet,
    TlogProof, VerifierKey, WitnessKey, WitnessSigner, entry_bundle, merge_signatures, note_text,
};
use std::str::FromStr;

/// The key of the seeds' notes.
fn key(name: &str, seed: u8) -> SigningKey {
    let name = KeyName::parse(name).expect("the name of a key");
    SigningKey::from_seed(name, &[seed; SigningKey::SEED_BYTES]).expect("a seed")
}

/// A key that signed nothing.
fn other_key() -> VerifierKey {
    key("example.com/other", 99).verifier().clone()
}

/// A log of 20 leaves.
fn log() -> (Vec<Hash>, Checkpoint) {
    let leaves: Vec<Hash> = (0..20_u8).map(|number| Hash::of_leaf(&[number])).collect();
    let mut frontier = Frontier::default();
    for leaf in &leaves {
        frontier.append(*leaf);
    }
    let origin = Origin::parse("example.com/log").expect("an origin");
    (leaves, Checkpoint::new(origin, frontier.head()))
}

/// Whether a text is read as a value. It is written as it was then.
fn is_read<T: FromStr + ToString>(text: &str) -> bool {
    let Ok(value) = text.parse::<T>() else {
        return false;
    };
    assert_eq!(value.to_string(), text);
    true
}

/// A proof has one text. None that nobody signed is verified, and one of the log's key proves a leaf of its log, at its index.
pub fn proof(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let Ok(proof) = text.parse::<TlogProof>() else {
        return false;
    };
    assert_eq!(proof.to_string(), text);
    assert!(proof.verify(&Hash::of_leaf(b"x"), &other_key()).is_err());
    let (leaves, checkpoint) = log();
    let signer = key("example.com/log", 1);
    for (index, leaf) in (0..).zip(&leaves) {
        if let Ok(signed) = proof.verify(leaf, signer.verifier()) {
            assert_eq!((proof.index, signed.head()), (index, checkpoint.head()));
        }
    }
    true
}

/// Notes of all kinds: what is read is written as it was, nothing is opened by a key that signed nothing, and signatures of
/// two notes are merged only if both have the same text.
pub fn note(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let origin = Origin::parse("example.com/log").expect("an origin");
    assert!(SignedCheckpoint::open(text, &origin, &[other_key()]).is_err());
    assert!(SignedCheckpoint::open_of_owner(text, &other_key()).is_err());
    assert!(SignedAnchor::open(text, &[other_key()]).is_err());
    assert!(SignedTenantMap::open(text, &[other_key()]).is_err());
    assert!(SignedStream::open(text, &[other_key()]).is_err());
    let (_, checkpoint) = log();
    let signed = key("example.com/log", 1).sign(checkpoint);
    let merged = merge_signatures(signed.note(), text);
    if let Some(merged) = &merged {
        assert_eq!(note_text(merged), note_text(text));
    }
    let checkpoint = Checkpoint::parse(text);
    if let Ok(checkpoint) = &checkpoint {
        assert_eq!(checkpoint.to_string(), text);
    }
    let anchor = Anchor::parse(text);
    if let Ok(anchor) = &anchor {
        assert_eq!(anchor.to_string(), text);
    }
    let rotation = KeyRotation::open(text);
    if let Ok(rotation) = &rotation {
        assert_eq!(rotation.note(), text);
    }
    let is_key_or_tile =
        is_read::<VerifierKey>(text) || is_read::<WitnessKey>(text) || is_read::<TileId>(text);
    let policy = text.parse::<Policy>();
    if let Ok(policy) = &policy {
        assert!(policy.verify(text, &origin).is_err(), "a policy is not signed");
    }
    merged.is_some()
        || checkpoint.is_ok()
        || anchor.is_ok()
        || rotation.is_ok()
        || policy.is_ok()
        || is_key_or_tile
}

/// A request to a witness has one text, and its origin is that of its checkpoint.
pub fn witness_request(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let Ok(request) = text.parse::<AddCheckpoint>() else {
        return false;
    };
    assert_eq!(request.to_string(), text);
    if let Ok(origin) = request.origin() {
        assert!(request.checkpoint.starts_with(&format!("{origin}\n")));
    }
    true
}

/// State from the database: what is decoded is encoded as it was.
pub fn stored_tree(bytes: &[u8]) -> bool {
    let frontier = Frontier::decode(bytes);
    if let Ok(frontier) = &frontier {
        assert_eq!(frontier.encode(), bytes);
        assert_eq!(frontier.head().root, frontier.root());
    }
    let tile = MapTile::decode(bytes);
    if let Ok(tile) = &tile {
        assert_eq!(tile.encode(), bytes);
    }
    frontier.is_ok() || tile.is_ok()
}

/// A bundle of entries is read by the rules of C2SP `tlog-tiles`, and its entries have the hashes of the tile above it.
pub fn entries(bytes: &[u8]) -> bool {
    let (chunks, _) = bytes.as_chunks::<{ Hash::BYTES }>();
    let chunks = &chunks[..chunks.len().min(usize::from(TileId::WIDTH_MAX))];
    let hashes: Vec<ContentHash> = chunks
        .iter()
        .map(|bytes| ContentHash::from_bytes(*bytes))
        .collect();
    let bundle = entry_bundle(&hashes);
    let mut rest = bundle.as_slice();
    for (chunk, hash) in chunks.iter().zip(&hashes) {
        let (length, after) = rest.split_first_chunk::<2>().expect("the length of an entry");
        let (entry, after) = after.split_at(usize::from(u16::from_be_bytes(*length)));
        assert_eq!(entry, chunk);
        assert_eq!(Hash::of_leaf(entry), Hash::of_event(hash));
        rest = after;
    }
    assert!(rest.is_empty(), "nothing follows the entries");
    !hashes.is_empty()
}

/// Inputs of [`entries`].
pub fn entries_seeds() -> Vec<Vec<u8>> {
    vec![
        vec![7; Hash::BYTES],
        (0..=255).collect(),
        vec![0; Hash::BYTES * 257 + 1],
    ]
}

/// Inputs of [`proof`].
pub fn proof_seeds() -> Vec<Vec<u8>> {
    let (leaves, checkpoint) = log();
    let size = checkpoint.head().size;
    let id = TileId::new(0, 0, 20).expect("a tile of the log");
    let tiles: TileSet = [Tile::new(id, leaves).expect("its hashes")].into_iter().collect();
    let inclusion =
        InclusionProof::prove(7, size, |subtree| tiles.hash(subtree)).expect("the leaf is in the log");
    let checkpoint = key("example.com/log", 1).sign(checkpoint).note().to_owned();
    let proof = TlogProof {
        extra: Some(b"extra".to_vec()),
        index: 7,
        inclusion,
        checkpoint,
    };
    vec![
        proof.to_string().into_bytes(),
        TlogProof { extra: None, ..proof }.to_string().into_bytes(),
    ]
}

/// Inputs of [`note`].
pub fn note_seeds() -> Vec<Vec<u8>> {
    let (_, checkpoint) = log();
    let (old, new) = (key("example.com/log", 1), key("example.com/log", 2));
    let name = KeyName::parse("example.com/witness").expect("the name of a key");
    let witness = WitnessSigner::from_seed(name, &[3; SigningKey::SEED_BYTES]).expect("a seed");
    let rotation = old.rotate_to(&new).expect("another key");
    let texts = [
        checkpoint.to_string(),
        old.sign(checkpoint).note().to_owned(),
        rotation.note().to_owned(),
        old.verifier().to_string(),
        "tile/0/x001/234.p/7".to_owned(),
        format!("log {}\nwitness w {}\nquorum w\n", old.verifier(), witness.key()),
    ];
    texts.map(String::into_bytes).to_vec()
}

/// Inputs of [`witness_request`].
pub fn witness_request_seeds() -> Vec<Vec<u8>> {
    let (_, checkpoint) = log();
    let note = key("example.com/log", 1).sign(checkpoint).note().to_owned();
    vec![
        format!("old 0\n\n{note}").into_bytes(),
        format!("old 16\n{}\n\n{note}", Hash::of_leaf(b"a")).into_bytes(),
    ]
}

/// Inputs of [`stored_tree`].
pub fn stored_tree_seeds() -> Vec<Vec<u8>> {
    let mut frontier = Frontier::default();
    let mut seeds = Vec::new();
    for number in 0..70_u8 {
        frontier.append(Hash::of_leaf(&[number]));
        if matches!(number, 0 | 6 | 63 | 69) {
            seeds.push(frontier.encode());
        }
    }
    seeds
}
