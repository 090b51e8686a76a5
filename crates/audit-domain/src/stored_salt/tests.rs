use super::*;
use crate::{
    Environment, Event, EventId, ProjectId, Record, Stamp, StoredEvent, Timestamp, ViewerTier, canonical,
};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const SALT: ContentSalt = ContentSalt::from_bytes([3; 16]);

fn log() -> LogName {
    LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
}

/// What two erasures have left of an event.
fn erased() -> StoredEvent {
    let event = json!({
        "action": "user.created", "category": "mutation", "tenant_id": "acme", "metadata": {"a": 1},
        "actor": {"id": "u1", "type": "user", "name": "n", "email": "e"}, "target": {"id": "x", "type": "y"},
    });
    let event = Event::from_json(event, NOW).unwrap();
    let id = EventId::new(NOW, [7; 10]);
    let record = Record::new(&event, false, Stamp { id, received_at: NOW }).hashed(SALT, &log());
    let gone = [EventPart::ActorEmail, EventPart::ActorId, EventPart::Metadata];
    let proofs = PartProofs::new(record.canonical(), &SALT, |part| gone.contains(&part)).unwrap();
    let mut members = json!({
        "parts": proofs.to_json(),
        "erased": [{"seq": 812, "parts": ["actor.email", "actor.id"]}, {"seq": 900, "parts": ["metadata"]}],
    });
    let mut left: Value = serde_json::from_str(record.canonical()).unwrap();
    left.as_object_mut().unwrap().remove("metadata");
    let actor = left["actor"].as_object_mut().unwrap();
    actor.remove("id");
    actor.remove("email");
    StoredEvent {
        id,
        occurred_at: record.occurred_at(),
        canonical: canonical::to_string(&left),
        content_hash: record.content_hash(),
        content_salt: StoredSalt::take_members(members.as_object_mut().unwrap()).unwrap(),
        redacted: false,
    }
}

#[test]
fn a_salt_is_read_as_written() {
    let whole = StoredSalt::from(SALT);
    let parts = erased().content_salt;
    for salt in [&whole, &parts] {
        let bytes = salt.to_bytes();
        assert_eq!(StoredSalt::read(&bytes).as_ref(), Some(salt));
        assert_eq!(
            StoredSalt::take_members(&mut salt.to_members()).as_ref(),
            Some(salt)
        );
        for other in [
            &bytes[1..],
            &bytes[..bytes.len() - 1],
            &[&bytes[..], &[0]].concat(),
            &[],
        ] {
            assert_eq!(StoredSalt::read(other), None);
        }
    }
    let bytes = parts.to_bytes();
    // Another number of erasures, two at one position, another tag.
    for (at, byte) in [(0, 1), (0, 3), (0, 9), (8, 0x84), (17, 3)] {
        let mut other = bytes.clone();
        assert_ne!(other[at], byte);
        other[at] = byte;
        assert_eq!(StoredSalt::read(&other), None, "{at}");
    }
    let masks: Vec<_> = parts.erased().unwrap().masks().collect();
    assert_eq!(
        masks[1],
        (900, PartMask::of_parts([EventPart::Metadata]).unwrap())
    );
    assert_eq!(parts.erased().unwrap().erasures(), [812, 900]);
}

#[test]
fn an_erased_event_has_its_content_hash_and_shows_what_was_erased() {
    let event = erased();
    assert_eq!(event.computed_hash(&log()), Some(event.content_hash));
    let put_back = event
        .canonical
        .replace("\"occurred_at\"", "\"metadata\":{\"a\":1},\"occurred_at\"");
    assert_ne!(put_back, event.canonical);
    assert_eq!(
        event.content_salt.content_hash(&put_back, &log()),
        None,
        "nothing proves the field"
    );
    let mut read: Map<String, Value> = serde_json::from_str(event.to_json().unwrap().get()).unwrap();
    assert_eq!(read, event.to_object().unwrap());
    assert_eq!(read["erased"][1], json!({"seq": 900, "parts": ["metadata"]}));
    assert_eq!(
        StoredSalt::take_members(&mut read),
        Some(event.content_salt.clone())
    );
    assert_eq!(event.facets().unwrap().get(crate::Facet::ActorType), Some("user"));
}

#[test]
fn a_viewer_gets_the_proofs_of_what_is_left_and_no_salt_of_what_is_hidden() {
    let event = erased();
    for tier in ViewerTier::initial() {
        let proofs = event.part_proofs(&tier).unwrap();
        let hidden: Vec<EventPart> = proofs.hidden().collect();
        assert!(
            EventPart::ALL
                .iter()
                .all(|part| !tier.hides_of(*part) || hidden.contains(part))
        );
        assert!(hidden.contains(&EventPart::ActorId));
        let mut seen = event.to_object().unwrap();
        tier.redact(&mut seen);
        assert_eq!(seen.contains_key("parts"), !tier.hides_something());
        assert_eq!(seen["erased"][1], json!({"parts": ["metadata"]}), "no position");
        assert_eq!(
            ContentHash::of_visible(&seen, &proofs, &log()),
            event.content_hash
        );
        let salt = StoredSalt::take_members(&mut seen);
        assert_eq!(salt.is_some(), !tier.hides_something());
        let has_hash =
            |salt: StoredSalt| salt.content_hash(&event.canonical, &log()) == Some(event.content_hash);
        assert!(salt.is_none_or(has_hash));
    }
}
