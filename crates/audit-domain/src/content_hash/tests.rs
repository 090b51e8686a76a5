use super::*;
use crate::{
    Environment, Event, EventField, EventId, ProjectId, Record, Stamp, Timestamp, ViewerTier, canonical,
};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const SALT: ContentSalt = ContentSalt::from_bytes([0x5a; 16]);

fn log() -> LogName {
    LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
}

fn event() -> Value {
    json!({
        "action": "user.created", "category": "mutation", "tenant_id": "t", "idempotency_key": "k",
        "actor": {"id": "a", "type": "user", "name": "n", "email": "e", "on_behalf_of": {"id": "b", "type": "user", "name": "m"}},
        "target": {"id": "x", "type": "y", "name": "z"}, "outcome": "success",
        "context": {"ip_address": "i", "user_agent": "u", "location": "l", "session_id": "s"},
        "metadata": {"b": 1.50, "a": [true, null]}, "changes": [{"field": "f", "before": 1}],
        "occurred_at": "2026-01-15T10:29:00.000Z",
    })
}

fn canonical_of(event: Value) -> String {
    let event = Event::from_json(event, NOW).unwrap();
    let id = EventId::new(NOW, [7; 10]);
    let stamp = Stamp { id, received_at: NOW };
    Record::new(&event, false, stamp).canonical().to_owned()
}

fn hash(event: Value) -> ContentHash {
    ContentHash::of(&canonical_of(event), &SALT, &log()).unwrap()
}

/// The content hash by the definition, from the value of each field.
fn by_definition(event: &Value, salt: &ContentSalt, log: &str) -> ContentHash {
    let lines = |fields: &[EventField]| {
        let text = |field: &EventField| {
            let pointer = format!("/{}", field.as_str().replace('.', "/"));
            let value = event.pointer(&pointer).map(canonical::to_string);
            match field {
                EventField::Outcome
                | EventField::OnBehalfOf
                | EventField::Targets
                | EventField::ClaimedAt => value,
                _ => Some(value.unwrap_or_default()),
            }
        };
        fields.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    };
    let mut input = [b"\x03", log.as_bytes(), b"\n"].concat();
    for (n, part) in EventPart::ALL.iter().enumerate() {
        let pair = Sha256::digest([&[4], &salt.as_bytes()[..], &[n as u8 / 2]].concat());
        let salt = &pair[16 * (n % 2)..][..16];
        let fields = lines(part.fields());
        input.extend(Sha256::digest(
            [&[2], salt, &[n as u8], fields.as_bytes()].concat(),
        ));
    }
    input.extend(lines(&EventPart::OPEN_FIELDS).as_bytes());
    ContentHash::from_bytes(Sha256::digest(input).into())
}

#[test]
fn the_hash_is_that_of_the_definition() {
    let smallest =
        json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
    for length in [0, 1, 36, 37, 38, 54, 55, 56, 63, 64, 65, 119, 120, 1_000, 60_000] {
        let mut event = smallest.clone();
        event["metadata"] = json!({"m": "x".repeat(length)});
        let mut targets = self::event();
        targets["targets"] = json!([targets["target"], {"id": "v", "type": "w"}]);
        for event in [event, self::event(), targets, smallest.clone()] {
            let mut read: Value = serde_json::from_str(&canonical_of(event)).unwrap();
            for claimed_at in [None, Some("2026-01-16T00:00:00.000Z")] {
                if let Some(time) = claimed_at {
                    read["claimed_at"] = json!(time);
                }
                assert_eq!(
                    ContentHash::of(&canonical::to_string(&read), &SALT, &log()),
                    Some(by_definition(&read, &SALT, log().as_str()))
                );
            }
        }
    }
}

#[test]
fn every_field_the_salt_and_the_log_change_the_hash() {
    let mut hashes = HashSet::from([hash(event())]);
    let mut expect_new = |hash: ContentHash, what: &str| assert!(hashes.insert(hash), "{what}");
    for (pointer, other) in [
        ("/action", json!("user.removed")),
        ("/category", json!("admin")),
        ("/tenant_id", json!("u")),
        ("/idempotency_key", json!("l")),
        ("/actor/id", json!("b")),
        ("/actor/type", json!("system")),
        ("/actor/name", json!("")),
        ("/actor/email", json!("f")),
        ("/actor/on_behalf_of/id", json!("a")),
        ("/actor/on_behalf_of/type", json!("system")),
        ("/actor/on_behalf_of/name", json!("n")),
        ("/actor/on_behalf_of", json!({"id": "c", "type": "user"})),
        ("/outcome", json!("denied")),
        ("/target/id", json!("y")),
        ("/target/type", json!("z")),
        ("/target/name", json!("y")),
        ("/context/ip_address", json!("l")),
        ("/context/user_agent", json!("s")),
        ("/context/location", json!("i")),
        ("/context/session_id", json!("u")),
        ("/metadata", json!({})),
        ("/changes", json!([])),
        ("/occurred_at", json!("2026-01-15T10:29:00.001Z")),
    ] {
        let mut changed = event();
        *changed.pointer_mut(pointer).unwrap() = other;
        expect_new(hash(changed), pointer);
        let mut without = event();
        let (object, name) = pointer.rsplit_once('/').unwrap();
        without
            .pointer_mut(object)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(name);
        if Event::from_json(without.clone(), NOW).is_ok() {
            expect_new(hash(without), &format!("without {pointer}"));
        }
    }
    for targets in [
        json!([{"id": "x", "type": "y", "name": "z"}]),
        json!([{"id": "x", "type": "y", "name": "z"}, {"id": "v", "type": "w"}]),
        json!([{"id": "x", "type": "y", "name": "z"}, {"id": "w", "type": "v"}]),
    ] {
        let mut with = event();
        with["targets"] = targets;
        expect_new(hash(with), "targets");
    }
    let text = canonical_of(event());
    let other_salt = ContentSalt::from_bytes([0x5b; 16]);
    expect_new(ContentHash::of(&text, &other_salt, &log()).unwrap(), "the salt");
    for (project, environment) in [(1, Environment::Test), (2, Environment::Live)] {
        let log = LogName::new(ProjectId::from_random([project; 16]), environment);
        expect_new(ContentHash::of(&text, &SALT, &log).unwrap(), "the log");
    }
}

/// Computed before events had an outcome, a second target and a party that is acted for.
#[test]
fn an_event_without_later_fields_has_the_hash_that_it_always_had() {
    let mut earlier = event();
    earlier.as_object_mut().unwrap().remove("outcome");
    earlier["actor"].as_object_mut().unwrap().remove("on_behalf_of");
    assert_eq!(
        hash(earlier).to_string(),
        "sha256:819ec9d57e61ba6ddc6ddc85833f1453104a0fbcafeadf27393298a49c4e77ae"
    );
}

#[test]
fn a_reader_of_some_parts_computes_the_hash_and_cannot_guess_the_others() {
    let text = canonical_of(event());
    let whole: Map<String, Value> = serde_json::from_str(&text).unwrap();
    for tier in ViewerTier::initial() {
        let proofs = PartProofs::new(&text, &SALT, |part| tier.hides_of(part)).unwrap();
        let mut seen = whole.clone();
        tier.redact(&mut seen);
        assert_eq!(ContentHash::of_visible(&seen, &proofs, &log()), hash(event()));
        assert_eq!(proofs.hidden().count() > 0, tier.hides_something());
        assert_eq!(
            PartProofs::from_json(&Value::Object(proofs.to_json())),
            Some(proofs.clone())
        );
        // A hidden field may have any value in what the reader sees.
        seen.insert("context".to_owned(), json!({"ip_address": "another"}));
        let is_hidden = proofs.hidden().any(|part| part == EventPart::Network);
        assert_eq!(
            ContentHash::of_visible(&seen, &proofs, &log()) == hash(event()),
            is_hidden
        );
        seen.insert("action".to_owned(), json!("user.removed"));
        assert_ne!(ContentHash::of_visible(&seen, &proofs, &log()), hash(event()));
    }
}

#[test]
fn equal_and_absent_fields_have_different_hashes_in_different_events() {
    let hidden = |event, salt: u8| {
        let salt = ContentSalt::from_bytes([salt; 16]);
        PartProofs::new(&canonical_of(event), &salt, |_| true).unwrap().0
    };
    let mut without = event();
    without.as_object_mut().unwrap().remove("context");
    let hashes: Vec<_> = [hidden(event(), 1), hidden(event(), 2), hidden(without, 3)]
        .concat()
        .into_iter()
        .map(|proof| match proof {
            PartProof::Hash(hash) => hash,
            PartProof::Salt(_) => panic!("a salt of a hidden part"),
        })
        .collect();
    assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 3 * EventPart::COUNT);
}

#[test]
fn proofs_of_parts_have_one_form() {
    let proofs = PartProofs::new(&canonical_of(event()), &SALT, |part| part == EventPart::Metadata).unwrap();
    let json = Value::Object(proofs.to_json());
    let refused = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut other = json.clone();
        change(other.as_object_mut().unwrap());
        assert_eq!(PartProofs::from_json(&other), None, "{other}");
    };
    refused(&|parts| drop(parts.remove("kind")));
    refused(&|parts| drop(parts.insert("other".to_owned(), parts["kind"].clone())));
    refused(&|parts| parts["kind"] = json!({"salt": "00"}));
    refused(&|parts| parts["kind"] = json!({"salt": "G".repeat(32)}));
    refused(&|parts| parts["metadata"] = json!({}));
    refused(&|parts| parts["metadata"]["salt"] = parts["kind"]["salt"].clone());
    assert_eq!(PartProofs::from_json(&json!([])), None);
    assert_eq!(format!("{SALT:?}"), "ContentSalt(…)");
    assert_eq!(SALT.to_string().parse(), Ok(SALT));
    assert_eq!("5A".repeat(16).parse::<ContentSalt>(), Err(ContentSaltError));
}
