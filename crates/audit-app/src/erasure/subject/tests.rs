use super::*;
use audit_domain::{ContentSalt, Event, EventId, Record, Stamp, Timestamp, canonical, erase_parts};
use audit_redact::{Behavior, HashKey, Pattern};
use serde_json::json;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const WHOLE: StoredSalt = StoredSalt::Whole(ContentSalt::from_bytes([3; 16]));

fn subject(ids: &[&str], texts: &[&str]) -> Subject {
    let [ids, texts] = [ids, texts].map(|all| all.iter().map(|text| (*text).to_owned()).collect());
    Subject::new(
        &engine(b"new")
            .previous_hash_keys(vec![HashKey::new(b"old".to_vec())])
            .build(),
        &Identifiers { ids, texts },
    )
}

fn engine(key: &[u8]) -> audit_redact::EngineBuilder {
    Engine::builder().hash_key(Some(HashKey::new(key.to_vec())))
}

/// An event that has a value in this field alone.
fn event(field: EventField, value: Value) -> Map<String, Value> {
    let mut event = json!({"action": "a.b", "category": "auth", "tenant_id": "t"});
    let mut place = &mut event;
    for step in field.path() {
        place = &mut place[step];
    }
    *place = value;
    event.as_object().unwrap().clone()
}

/// The parts in which a subject is found. A look before the event is read says the same.
fn found(subject: &Subject, event: &Map<String, Value>) -> Vec<EventPart> {
    let found = subject.find(event);
    let text = canonical::to_string(&Value::Object(event.clone()));
    assert!(found.is_none() || subject.may_be_in(&text), "{text}");
    found.map(|found| found.parts).unwrap_or_default()
}

fn masked(extent: Extent, subject: &Subject, event: &Value) -> Vec<EventPart> {
    let found = subject.find(event.as_object().unwrap()).unwrap();
    mask(extent, &found, &WHOLE).unwrap().parts().collect()
}

#[test]
fn a_person_is_found_in_every_part() {
    let subject = subject(&["usr_42"], &["Jane Doe"]);
    for part in EventPart::ALL {
        for field in part.fields() {
            for value in ["usr_42", "to Jane  Doe, JANE DOE"] {
                let nested = json!([{"x": [value]}]);
                for value in [json!(value), nested] {
                    let expected = match part {
                        EventPart::Kind => Vec::new(),
                        part => vec![*part],
                    };
                    assert_eq!(found(&subject, &event(*field, value)), expected, "{field}");
                }
            }
        }
    }
    assert!(
        subject
            .find(&event(EventField::Metadata, json!({"usr_42": 1})))
            .is_none()
    );
}

#[test]
fn a_person_is_found_in_every_form_of_redaction_but_the_masked_one() {
    let subject = subject(&["jane@example.com"], &["jane@example.com"]);
    let by_rule = |key: Option<&[u8]>, behavior: Behavior, text: &str| {
        let engine = Engine::builder().hash_key(key.map(|key| HashKey::new(key.to_vec())));
        let pattern = Pattern::parse("jane@example.com").unwrap();
        let engine = engine.pattern("mail", pattern, behavior).build();
        let mut text = text.to_owned();
        let mut session = engine.session();
        session.text(&["metadata"], &mut text);
        session.finish();
        text
    };
    for behavior in Behavior::ALL {
        for text in ["jane@example.com", "mail jane@example.com now"] {
            for key in [None, Some(&b"new"[..]), Some(&b"old"[..])] {
                let stored = by_rule(key, *behavior, text);
                assert_ne!(stored, text);
                let is_found = !found(&subject, &event(EventField::Metadata, json!(stored))).is_empty();
                assert_eq!(is_found, *behavior == Behavior::Hash, "{stored}");
            }
        }
    }
    let of_other_key = by_rule(Some(&b"lost"[..]), Behavior::Hash, "jane@example.com");
    assert!(found(&subject, &event(EventField::ActorId, json!(of_other_key))).is_empty());
}

#[test]
fn an_id_is_found_as_a_whole_and_a_text_at_word_boundaries() {
    let subject = subject(&["42", "Jane"], &["Zoë \"Z\" D", "+14155552671", "4155552671"]);
    for (value, is_found) in [
        (json!("42"), true),
        (json!(42), true),
        (json!("142"), false),
        (json!("4 42"), false),
        (json!(4.2), false),
        (json!("Jane"), true),
        (json!("jane"), false),
        (json!("for zoe \"z\" d."), true),
        (json!("for zoe ＂Z＂ D"), true),
        (json!("for zoe \"z\" day"), false),
        (json!("call +14155552671"), true),
        (json!("call +141555526712"), false),
        (json!(4_155_552_671_u64), true),
        (json!(41_555_526_712_u64), false),
        (json!({"list": [null, true, {"deep": 42}]}), true),
    ] {
        let event = event(EventField::Metadata, json!({"value": value}));
        assert_eq!(!found(&subject, &event).is_empty(), is_found, "{event:?}");
    }
}

#[test]
fn the_extent_person_keeps_who_acted_on_a_person() {
    use EventPart::{
        ActorEmail, ActorId, ActorName, Changes, Client, IdempotencyKey, Metadata, Network, TargetId,
        TargetName,
    };
    let subject = subject(&["jane"], &[]);
    let as_actor = [
        ActorEmail,
        ActorId,
        ActorName,
        Changes,
        Network,
        Client,
        IdempotencyKey,
        Metadata,
    ];
    let as_target = [Changes, IdempotencyKey, Metadata, TargetId, TargetName];
    let both = EventPart::ALL
        .iter()
        .copied()
        .filter(|part| *part != EventPart::Kind);
    let both: Vec<EventPart> = both.collect();
    for (event, expected) in [
        (
            json!({"actor": {"id": "jane"}, "target": {"id": "joe"}}),
            &as_actor[..],
        ),
        (json!({"actor": {"id": "joe", "email": "jane"}}), &as_actor[..]),
        (
            json!({"actor": {"id": "joe"}, "target": {"id": "jane"}}),
            &as_target[..],
        ),
        (
            json!({"targets": [{"id": "joe"}, {"id": "jane"}]}),
            &as_target[..],
        ),
        (
            json!({"actor": {"id": "jane"}, "target": {"name": "jane"}}),
            &both[..],
        ),
        (
            json!({"actor": {"id": "joe", "on_behalf_of": {"id": "jane"}}}),
            &[ActorName, IdempotencyKey][..],
        ),
        (
            json!({"context": {"session_id": "jane"}}),
            &[Client, IdempotencyKey][..],
        ),
        (
            json!({"metadata": {"by": "jane"}}),
            &[IdempotencyKey, Metadata][..],
        ),
    ] {
        assert_eq!(masked(Extent::Person, &subject, &event), expected, "{event}");
        assert_eq!(masked(Extent::All, &subject, &event), both, "{event}");
        let row = subject.find(event.as_object().unwrap()).unwrap();
        assert_eq!(mask(Extent::Row, &row, &WHOLE), Some(PartMask::ROW));
    }
}

#[test]
fn an_event_whose_tenant_is_the_person_goes_as_a_whole() {
    for (tenant, is_row) in [("jane", true), ("jane2", false), (SERVICE_TENANT_ID, false)] {
        let subject = subject(&["jane", SERVICE_TENANT_ID], &[]);
        let event = json!({"tenant_id": tenant, "actor": {"id": "joe"}});
        let found = subject.find(event.as_object().unwrap());
        let mask = found.and_then(|found| mask(Extent::Person, &found, &WHOLE));
        assert_eq!(mask, is_row.then_some(PartMask::ROW), "{tenant}");
    }
}

#[test]
fn a_part_that_is_gone_does_not_go_again() {
    let sent = json!({
        "action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "jane", "type": "user"},
        "metadata": {"to": "jane"},
    });
    let stamp = Stamp {
        id: EventId::new(NOW, [7; 10]),
        received_at: NOW,
    };
    let record = Record::new(&Event::from_json(sent, NOW).unwrap(), false, stamp);
    let gone = PartMask::of_parts([EventPart::Metadata, EventPart::IdempotencyKey]).unwrap();
    let (text, salt) = erase_parts(record.canonical(), &WHOLE, gone, 9).unwrap();
    let event: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let found = subject(&["jane"], &[]).find(&event).unwrap();
    let left = mask(Extent::Person, &found, &salt).unwrap();
    assert!(
        gone.parts().all(|part| left.parts().all(|other| other != part)),
        "{left:?}"
    );
    assert!(left.contains(PartMask::of_parts([EventPart::ActorId]).unwrap()));
}

#[test]
fn no_output_for_debugging_names_the_person() {
    let identifiers = Identifiers {
        ids: vec!["jane".to_owned()],
        texts: vec!["jane@example.com".to_owned()],
    };
    let subject = Subject::new(&Engine::builtins(), &identifiers);
    assert!(!format!("{identifiers:?}{subject:?}").contains("jane"));
}
