//! Verifies every vector in `docs/vectors`.

use crate::log::Log;
use crate::reference::Reference;
use audit_domain::{
    ContentHash, DEFAULT_TIER, Event, EventId, LogName, PartMask, PartProofs, Record, Sha256Digest, Stamp,
    StoredEvent, Timestamp, ViewerTier, canonical, json,
};
use audit_ledger::{
    AnchoredMap, Checkpoint, ConsistencyProof, Hash, InclusionProof, KeyName, Origin, RemovalDigest,
    RemovalKind, RemovalRecord, SignedAnchor, SignedCheckpoint, SigningKey, TenantLabel, TenantLogs,
    TenantMapKey, TileId, TreeHead, VerifierKey, decode_records, encode_records,
};
use base16ct::lower::encode_string as hex;
use serde_json::Value;
use sha2::{Digest, Sha256};

const MERKLE: &str = include_str!("../../../../docs/vectors/merkle.json");
const TILES: &str = include_str!("../../../../docs/vectors/tiles.json");
const CHECKPOINT: &str = include_str!("../../../../docs/vectors/checkpoint.json");
const ANCHOR: &str = include_str!("../../../../docs/vectors/anchor.json");
const REMOVAL: &str = include_str!("../../../../docs/vectors/removal.json");
const EVENTS: &str = include_str!("../../../../docs/vectors/events.json");
const EXAMPLES: &str = include_str!("../../../../docs/examples/cloudtrail-events.jsonl");

/// The root of the eight leaves in the tests of Certificate Transparency's reference implementation.
const CT_ROOT: &str = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328";

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn from_hex(value: &Value) -> Vec<u8> {
    base16ct::lower::decode_vec(text(value)).unwrap()
}

fn hexes(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(|hash| hex(hash.as_bytes())).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    items(value).iter().map(text).collect()
}

#[test]
fn the_tree_of_the_certificate_transparency_tests() {
    let vectors = read(MERKLE);
    let tree = Reference::new(items(&vectors["leaves"]).iter().map(from_hex).collect());
    let leaves: Vec<Hash> = (0..8).map(|index| tree.leaf(index)).collect();
    assert_eq!(texts(&vectors["leaf_hashes"]), hexes(&leaves));
    let mut log = Log::default();
    for (size, root) in texts(&vectors["roots"]).into_iter().enumerate() {
        assert_eq!(hex(log.head().root.as_bytes()), root);
        log.append(leaves.get(size).copied()).unwrap();
    }
    assert_eq!(hex(log.head().root.as_bytes()), CT_ROOT);
    for proof in items(&vectors["inclusion"]) {
        let (index, size) = (number(&proof["index"]), number(&proof["size"]));
        let ours = log.prove_inclusion(index, size).unwrap();
        assert_eq!(hexes(ours.hashes()), texts(&proof["hashes"]));
        assert_eq!(
            ours.verify(index, &leaves[index as usize], &tree.head(size)),
            Ok(())
        );
    }
    assert_eq!(items(&vectors["inclusion"]).len(), 36);
    for proof in items(&vectors["consistency"]) {
        let (from, to) = (number(&proof["from"]), number(&proof["to"]));
        let ours = log.prove_consistency(from, to).unwrap();
        assert_eq!(hexes(ours.hashes()), texts(&proof["hashes"]));
        assert_eq!(ours.verify(&tree.head(from), &tree.head(to)), Ok(()));
    }
    assert_eq!(items(&vectors["consistency"]).len(), 45);
}

#[test]
fn tiles_and_their_paths() {
    let vectors = read(TILES);
    let id = |tile: &Value| {
        let (level, width) = (number(&tile["level"]) as u8, number(&tile["width"]) as u16);
        let id = TileId::new(level, number(&tile["index"]), width).unwrap();
        assert_eq!(id.to_string(), text(&tile["path"]));
        assert_eq!(text(&tile["path"]).parse(), Ok(id));
        id
    };
    assert_eq!(items(&vectors["paths"]).iter().map(id).count(), 9);
    for path in texts(&vectors["refused"]) {
        assert!(path.parse::<TileId>().is_err(), "{path}");
    }
    for tree in items(&vectors["trees"]) {
        let size = number(&tree["size"]);
        let partial: Vec<String> = TileId::partial_of(size).map(|id| id.to_string()).collect();
        assert_eq!(texts(&tree["partial"]), partial);
        for (level, count) in items(&tree["full"]).iter().enumerate() {
            let full = TileId::completed(0, size).filter(|id| usize::from(id.level()) == level);
            assert_eq!(full.count() as u64, number(count), "level {level} of {size}");
        }
    }
    let log = Log::of_size(number(&vectors["content"]["size"]) as u32);
    for tile in items(&vectors["content"]["tiles"]) {
        let bytes = log.tile(id(tile)).unwrap().encode();
        assert_eq!(bytes.len() as u64, number(&tile["bytes"]));
        assert_eq!(hex(&Sha256::digest(bytes)), text(&tile["sha256"]));
    }
}

#[test]
fn signed_checkpoints() {
    let vectors = read(CHECKPOINT);
    let key: VerifierKey = text(&vectors["key"]).parse().unwrap();
    assert_eq!(hex(key.public_key()), text(&vectors["public_key"]));
    let seed = from_hex(&vectors["seed"]).try_into().unwrap();
    let signing_key = SigningKey::from_seed(key.name().clone(), &seed).unwrap();
    assert_eq!(signing_key.verifier(), &key);
    let (origin, keys) = (Origin::parse(text(&vectors["origin"])).unwrap(), [key]);
    let mut heads = Vec::new();
    for vector in items(&vectors["checkpoints"]) {
        let head = Log::of_size(number(&vector["size"]) as u32).head();
        let checkpoint = Checkpoint::new(origin.clone(), head);
        assert_eq!(checkpoint.to_string(), text(&vector["text"]));
        let signed = signing_key.sign(checkpoint);
        assert_eq!(signed.note(), text(&vector["note"]));
        let opened = SignedCheckpoint::open(text(&vector["note"]), &origin, &keys);
        assert_eq!(opened, Ok(signed));
        heads.push(head);
    }
    let proof = ConsistencyProof::from_base64(texts(&vectors["consistency"])).unwrap();
    assert_eq!(proof.verify(&heads[0], &heads[1]), Ok(()));
    assert_eq!(Log::of_size(300).prove_consistency(100, 300), Ok(proof));
    for refused in items(&vectors["refused"]) {
        let opened = SignedCheckpoint::open(text(&refused["note"]), &origin, &keys);
        assert!(opened.is_err(), "{}", refused["why"]);
    }
    assert_eq!(items(&vectors["refused"]).len(), 12);
}

#[test]
fn events_their_canonical_form_and_their_proofs() {
    let vectors = read(EVENTS);
    let keys = [text(&vectors["key"]).parse().unwrap()];
    let origin = Origin::parse(text(&vectors["origin"])).unwrap();
    let signed = SignedCheckpoint::open(text(&vectors["checkpoint"]), &origin, &keys).unwrap();
    let log = LogName::of_origin(origin.as_str()).unwrap();
    let mut hashes = Vec::new();
    for (seq, vector) in items(&vectors["events"]).iter().enumerate() {
        let sent = EXAMPLES
            .lines()
            .nth(number(&vector["line"]) as usize - 1)
            .unwrap();
        let received_at = Timestamp::parse_rfc3339(text(&vector["received_at"])).unwrap();
        let id: EventId = text(&vector["id"]).parse().unwrap();
        let event = Event::from_json(json::parse(sent.as_bytes()).unwrap(), received_at).unwrap();
        let salt = text(&vector["content_salt"]).parse().unwrap();
        let record = Record::new(&event, false, Stamp { id, received_at }).hashed(salt, &log);
        assert_eq!(record.canonical(), text(&vector["canonical"]));
        assert_eq!(record.content_hash(), hash_of_read(text(&vector["read"]), &log));
        check_viewer(vector, record.content_hash(), &log);
        let stored = StoredEvent {
            id,
            occurred_at: record.occurred_at(),
            canonical: record.canonical().to_owned(),
            content_hash: record.content_hash(),
            content_salt: salt.into(),
            redacted: false,
        };
        assert_eq!(stored.to_json().unwrap().get(), text(&vector["read"]));

        let leaf = Hash::of_event(&record.content_hash());
        assert_eq!(leaf.to_string(), text(&vector["leaf_hash"]));
        let proof = &vector["proof"];
        assert_eq!(number(&proof["seq"]), seq as u64);
        assert_eq!(record.content_hash().to_string(), text(&proof["content_hash"]));
        assert_eq!(proof["checkpoint"], vectors["checkpoint"]);
        let inclusion = InclusionProof::from_base64(texts(&proof["inclusion"])).unwrap();
        assert_eq!(inclusion.verify(seq as u64, &leaf, signed.head()), Ok(()));
        hashes.push(record.content_hash());
    }
    assert_eq!(TreeHead::of_events(&hashes), *signed.head());
    assert_eq!(hashes.len(), 5);
}

#[test]
fn anchors() {
    let vectors = read(ANCHOR);
    let key: VerifierKey = text(&vectors["key"]).parse().unwrap();
    let seed = from_hex(&vectors["seed"]).try_into().unwrap();
    let signing = SigningKey::from_seed(key.name().clone(), &seed).unwrap();
    let keys = std::slice::from_ref(&key);
    let mut before: Option<SignedAnchor> = None;
    for vector in items(&vectors["anchors"]) {
        let signed = SignedAnchor::open(text(&vector["note"]), keys).unwrap();
        assert_eq!(signed.anchor().to_string(), text(&vector["text"]));
        assert_eq!(signing.sign_anchor(signed.anchor().clone()), signed);
        assert_eq!(hex(signed.digest().as_bytes()), text(&vector["sha256"]));
        let file = format!("{}.anchor", signed.anchor().file_name());
        assert_eq!(file, text(&vector["file"]));
        for head in signed.anchor().heads.values() {
            assert_eq!(Reference::of_size(300).head(head.size), *head);
        }
        for (log, map) in &signed.anchor().maps {
            assert_eq!(map_of_vectors(&vectors, log, map.size), *map);
        }
        assert_eq!(signed.anchor().maps.len(), 1);
        if let Some(before) = before.replace(signed.clone()) {
            assert_eq!(before.check_later(&signed), Ok(()));
        }
    }
    for refused in items(&vectors["refused"]) {
        let opened = SignedAnchor::open(text(&refused["note"]), keys);
        assert!(opened.is_err(), "{}", refused["reason"]);
    }
}

#[test]
fn the_digest_of_a_removal_is_that_of_the_vector() {
    let vectors = read(REMOVAL);
    let (project, environment) = text(&vectors["log"]).split_once('/').unwrap();
    let log = LogName::parse(project, environment).unwrap();
    let bytes = |value: &Value| <[u8; 32]>::try_from(from_hex(value)).unwrap();
    let record = |vector: &Value| {
        let label = TenantLabel::from_bytes(bytes(&vector["label"]));
        let record = RemovalRecord {
            seq: number(&vector["seq"]),
            mask: PartMask::from_bits(number(&vector["mask"]) as u16).unwrap(),
            content_hash: ContentHash::from_bytes(bytes(&vector["content_hash"])),
            slot: label.slot(),
        };
        (record, label)
    };
    let records: Vec<_> = items(&vectors["records"]).iter().map(record).collect();
    for kind in RemovalKind::ALL {
        let mut digest = RemovalDigest::new(*kind, &log);
        for (record, label) in &records {
            digest.add(record, label);
        }
        let digest = Sha256Digest::from_bytes(*digest.finish().as_bytes());
        assert_eq!(digest.to_string(), text(&vectors["digests"][kind.as_str()]));
    }
    for stored in items(&vectors["stored"]) {
        let tile = number(&stored["tile"]);
        let records = records.iter().map(|(record, _)| *record);
        let records: Vec<RemovalRecord> = records.filter(|record| record.seq / 256 == tile).collect();
        assert_eq!(hex(&encode_records(&records)), text(&stored["bytes"]));
        assert_eq!(decode_records(tile, &from_hex(&stored["bytes"])), Some(records));
    }
    assert_eq!((records.len(), items(&vectors["stored"]).len()), (5, 3));
}

/// The map over the first events of the log of the vectors.
fn map_of_vectors(vectors: &Value, log: &str, size: u64) -> AnchoredMap {
    let secret = from_hex(&vectors["tenant_map_secret"]).try_into().unwrap();
    let key = TenantMapKey::of_log(&secret, log);
    let (events, mut logs) = (Reference::of_size(300), TenantLogs::default());
    for index in 0..size {
        let tenant_id = format!("tenant-{}", index % 7);
        logs.append(key.label(&tenant_id), Some(&tenant_id), events.leaf(index));
    }
    AnchoredMap {
        size,
        root: logs.root(&key),
        binding: key.binding(size),
    }
}

/// The content hash that a reader of an event computes.
fn hash_of_read(read: &str, log: &LogName) -> ContentHash {
    let mut event: serde_json::Map<String, Value> = serde_json::from_str(read).unwrap();
    event.remove("content_hash").unwrap();
    event.remove("redacted").unwrap();
    let salt = event.remove("content_salt").unwrap();
    let text = canonical::to_string(&Value::Object(event));
    ContentHash::of(&text, &self::text(&salt).parse().unwrap(), log).unwrap()
}

/// Checks what a viewer of the tier `standard` reads of an event, and the proofs of its parts.
fn check_viewer(vector: &Value, content_hash: ContentHash, log: &LogName) {
    let (viewer, salt) = (&vector["viewer"], text(&vector["content_salt"]).parse().unwrap());
    let tiers = ViewerTier::initial();
    let tier = tiers
        .iter()
        .find(|tier| tier.name.as_str() == DEFAULT_TIER)
        .unwrap();
    let proofs = PartProofs::new(text(&vector["canonical"]), &salt, |part| tier.hides_of(part)).unwrap();
    assert_eq!(Value::Object(proofs.to_json()), viewer["parts"]);
    let mut seen = read(text(&vector["read"])).as_object().unwrap().clone();
    tier.redact(&mut seen);
    assert_eq!(read(text(&viewer["read"])), Value::Object(seen.clone()));
    assert_eq!(ContentHash::of_visible(&seen, &proofs, log), content_hash);
}

#[test]
fn the_key_of_the_vectors_has_a_recognisable_seed() {
    // The seed counts up from zero, so that a real log that uses it stands out.
    let seed: [u8; 32] = std::array::from_fn(|n| n as u8);
    let name = KeyName::parse("audit.example.com").unwrap();
    let key = SigningKey::from_seed(name, &seed).unwrap();
    assert_eq!(key.verifier().to_string(), text(&read(CHECKPOINT)["key"]));
    assert_eq!(key.verifier().to_string(), text(&read(EVENTS)["key"]));
}
