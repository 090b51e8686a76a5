use super::*;
use crate::{
    ContentSalt, Environment, Event, EventId, Facet, Facets, HashedRecord, LogName, PartProofs, ProjectId,
    Record, Stamp, Timestamp,
};
use proptest::prelude::*;
use serde_json::json;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const SALT: ContentSalt = ContentSalt::from_bytes([0x5a; 16]);

fn log() -> LogName {
    LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
}

/// An event whose values are found nowhere else, or one that has few fields.
fn record(is_small: bool) -> HashedRecord {
    let small = json!({"action": "q.action", "category": "auth", "tenant_id": "qtenant", "actor": {"id": "q-actor", "type": "user"}});
    let large = json!({
        "action": "q.action", "category": "mutation", "tenant_id": "qtenant", "idempotency_key": "q-key", "outcome": "denied",
        "actor": {"id": "q-actor", "type": "user", "name": "q-name", "email": "q-email", "on_behalf_of": {"id": "q-party", "type": "user"}},
        "targets": [{"id": "q-target", "type": "q-kind", "name": "q-title"}, {"id": "q-second", "type": "q-kind"}],
        "context": {"ip_address": "q-address", "user_agent": "q-agent", "location": "q-location", "session_id": "q-session"},
        "metadata": {"b": 1.50, "a": [true, null, "q-metadata"]}, "changes": [{"field": "q-changes", "before": 1}],
    });
    let event = Event::from_json(if is_small { small } else { large }, NOW).unwrap();
    let id = EventId::new(NOW, [7; 10]);
    Record::new(&event, false, Stamp { id, received_at: NOW }).hashed(SALT, &log())
}

fn has(event: &Map<String, Value>, field: EventField) -> bool {
    let pointer = format!("/{}", field.as_str().replace('.', "/"));
    Value::Object(event.clone()).pointer(&pointer).is_some()
}

proptest! {
    #[test]
    fn an_erased_event_has_the_content_hash_that_it_had(
        erasures in prop::collection::vec((1_u16..1 << EventPart::COUNT, 1..9_u64), 1..5),
        is_small in any::<bool>(),
    ) {
        let record = record(is_small);
        let whole: Map<String, Value> = serde_json::from_str(record.canonical()).unwrap();
        let (mut text, mut salt) = (record.canonical().to_owned(), StoredSalt::from(SALT));
        let mut gone = 0;
        for (bits, erasure) in erasures {
            let mask = PartMask::from_bits(bits).unwrap();
            let (erased, left) = erase_parts(&text, &salt, mask, erasure).unwrap();
            prop_assert_eq!(left == salt, gone | bits == gone);
            gone |= bits;
            prop_assert_eq!(left.content_hash(&erased, &log()), Some(record.content_hash()));
            let read = StoredSalt::read(&left.to_bytes());
            prop_assert_eq!(read.as_ref(), Some(&left));
            let hidden = PartMask::of_parts(left.erased().unwrap().proofs().hidden());
            prop_assert_eq!(hidden.map(PartMask::bits), Some(gone));
            let event: Map<String, Value> = serde_json::from_str(&erased).unwrap();
            for part in EventPart::ALL {
                for field in part.fields() {
                    let is_left = gone >> *part as u16 & 1 == 0 && has(&whole, *field);
                    prop_assert_eq!(has(&event, *field), is_left, "{}", field);
                }
            }
            let again = erase_parts(&erased, &left, mask, erasure + 1);
            prop_assert_eq!(again, Some((erased.clone(), left.clone())), "nothing is left to erase");
            (text, salt) = (erased, left);
        }
    }
}

#[test]
fn an_erased_part_is_in_neither_text_nor_salt() {
    let record = record(false);
    let whole: Value = serde_json::from_str(record.canonical()).unwrap();
    let proofs = PartProofs::new(record.canonical(), &SALT, |_| false)
        .unwrap()
        .to_json();
    for part in EventPart::ALL {
        let mask = PartMask::of_parts([*part]).unwrap();
        let (text, salt) = erase_parts(record.canonical(), &SALT.into(), mask, 9).unwrap();
        let digits: String = salt.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!digits.contains(&SALT.to_string()));
        for other in EventPart::ALL {
            let part_salt = proofs[other.as_str()]["salt"].as_str().unwrap();
            assert_eq!(
                digits.contains(part_salt),
                other != part,
                "{other} without {part}"
            );
        }
        for field in part.fields() {
            let pointer = format!("/{}", field.as_str().replace('.', "/"));
            let value = canonical::to_string(whole.pointer(&pointer).unwrap());
            // The first target and its type are in `targets`, too, and the type of the party in the actor.
            let is_in_another = matches!(
                field,
                EventField::TargetId
                    | EventField::TargetType
                    | EventField::TargetName
                    | EventField::ActorType
            );
            assert!(is_in_another || !text.contains(&value), "{field} in {text}");
        }
    }
}

#[test]
fn an_event_is_not_found_by_an_id_that_was_erased() {
    let record = record(false);
    let mask = PartMask::of_parts([EventPart::ActorId, EventPart::TargetId, EventPart::TargetName]).unwrap();
    let (text, _) = erase_parts(record.canonical(), &SALT.into(), mask, 9).unwrap();
    let facets = Facets::read(&text).unwrap();
    assert_eq!(
        [Facet::ActorId, Facet::TargetId].map(|facet| facets.get(facet)),
        [None; 2]
    );
    assert_eq!(facets.further(Facet::TargetId).count(), 0);
    assert_eq!(facets.get(Facet::TargetType), Some("q-kind"));
}

#[test]
fn what_is_not_an_event_is_not_erased() {
    let mask = PartMask::of_parts([EventPart::Metadata]).unwrap();
    let record = record(false);
    let cut_off = &record.canonical()[..record.canonical().len() - 1];
    for text in ["", "{}", cut_off] {
        assert_eq!(erase_parts(text, &SALT.into(), mask, 9), None, "{text}");
    }
}
