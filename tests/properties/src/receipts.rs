//! Receipts, as the client verifies them.

use crate::text;
use audit_client::verify_receipt;
use audit_domain::{
    ContentSalt, DisclosedEvent, Environment, Event, EventId, LogName, ProjectId, Record, Stamp, Timestamp,
    canonical, json,
};
use audit_ledger::{
    Checkpoint, Frontier, Hash, InclusionProof, KeyName, Origin, SigningKey, Tile, TileId, TileSet, TlogProof,
};
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const EVENTS: u8 = 5;

fn key(seed: u8) -> SigningKey {
    let name = KeyName::parse("audit.example.com").expect("the name of a key");
    SigningKey::from_seed(name, &[seed; SigningKey::SEED_BYTES]).expect("a seed")
}

fn log_name() -> LogName {
    LogName::new(ProjectId::from_random([7; 16]), Environment::Live)
}

/// The events of a log, each as stored text, with its salt and leaf.
fn events() -> Vec<(Value, ContentSalt, Hash)> {
    let event = |number: u8| {
        let text = json!({"action": "user.updated", "category": "admin", "tenant_id": "acme",
            "actor": {"id": format!("u_{number}"), "type": "user", "name": "Jane"}, "metadata": {"n": number}});
        let text = text.to_string();
        let value = json::parse(text.as_bytes()).expect("JSON");
        let event = Event::from_json(value, NOW).expect("an event");
        let id = EventId::new(NOW, [number; 10]);
        let salt = ContentSalt::from_bytes([number; 16]);
        let stamp = Stamp { id, received_at: NOW };
        let record = Record::new(&event, false, stamp).hashed(salt, &log_name());
        let stored = serde_json::from_str(record.canonical()).expect("the stored text is JSON");
        (stored, salt, Hash::of_event(&record.content_hash()))
    };
    (0..EVENTS).map(event).collect()
}

/// A receipt that is verified has an event of the log, whole, and the head that was signed. Nothing is verified with another key.
pub fn receipt(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let other = key(2).verifier().to_string();
    assert!(verify_receipt(text, &other, None).is_err());
    let signer = key(1).verifier().to_string();
    let Ok((event, signed)) = verify_receipt(text, &signer, None) else {
        return false;
    };
    let event = Value::from(event);
    assert!(events().iter().any(|(stored, ..)| *stored == event), "{event}");
    assert_eq!(signed.head().size, u64::from(EVENTS));
    let log = log_name();
    assert!(verify_receipt(text, &signer, Some(log.as_str())).is_ok());
    assert!(verify_receipt(text, &signer, Some("another")).is_err());
    true
}

/// Inputs of [`receipt`].
pub fn receipt_seeds() -> Vec<Vec<u8>> {
    let events = events();
    let leaves: Vec<Hash> = events.iter().map(|(.., leaf)| *leaf).collect();
    let mut tree = Frontier::default();
    for leaf in &leaves {
        tree.append(*leaf);
    }
    let origin = format!("audit.example.com/{}", log_name().as_str());
    let checkpoint = Checkpoint::new(Origin::parse(&origin).expect("an origin"), tree.head());
    let id = TileId::new(0, 0, EVENTS.into()).expect("a tile of the log");
    let tiles: TileSet = [Tile::new(id, leaves).expect("its hashes")].into_iter().collect();
    let note = key(1).sign(checkpoint).note().to_owned();
    let receipt = |index: u64| {
        let (event, salt, _) = &events[usize::try_from(index).expect("an index of the events")];
        let extra = DisclosedEvent::whole(&canonical::to_string(event), salt);
        let inclusion = InclusionProof::prove(index, EVENTS.into(), |subtree| tiles.hash(subtree));
        let proof = TlogProof {
            extra: Some(extra.into_bytes()),
            index,
            inclusion: inclusion.expect("the leaf is in the log"),
            checkpoint: note.clone(),
        };
        proof.to_string().into_bytes()
    };
    [0, 2, 4].map(receipt).to_vec()
}
