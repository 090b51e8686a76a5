//! What receivers get of events.

use crate::{seeds, text};
use audit_destinations::{OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode};
use audit_domain::{
    ContentSalt, Environment, Event, EventId, LogName, ProjectId, Record as EventRecord, Stamp, StoredEvent,
    Timestamp, json,
};
use audit_ledger::StreamNote;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const POSITION: u64 = 12;
const SEQ: u64 = 345;

/// Every event gives a record of one line in every format, which says where it is in its stream: in JSON with the event as it was, in OCSF
/// with all of its texts, in CEF with values that a reader finds as they were, but for control characters. A note of a stream has one text.
pub fn destinations(bytes: &[u8]) -> bool {
    is_note(bytes) || is_event(bytes)
}

fn is_note(bytes: &[u8]) -> bool {
    let Some((text, note)) = text(bytes).and_then(|text| Some((text, StreamNote::parse(text).ok()?))) else {
        return false;
    };
    assert_eq!(note.to_text(), text);
    assert_eq!(text.lines().count(), 6);
    true
}

fn is_event(bytes: &[u8]) -> bool {
    let Ok(value) = json::parse(bytes) else {
        return false;
    };
    let Ok(event) = Event::from_json(value, NOW) else {
        return false;
    };
    let log = LogName::new(ProjectId::from_random([7; 16]), Environment::Live);
    let stream = StreamPart {
        destination: "dst_1",
        log: log.as_str(),
        run: 0,
        position: POSITION,
    };
    let shown = shown(&event, &log);
    let payload = Payload::Event {
        seq: SEQ,
        json: &shown,
    };
    let options = OcsfOptions {
        include_raw: true,
        ..OcsfOptions::default()
    };
    let [json, ocsf, cef] = [RecordFormat::Json, RecordFormat::Ocsf, RecordFormat::Cef].map(|format| {
        let record = encode(&Record { stream, payload }, format, &options, NOW);
        assert!(!record.text.contains(['\n', '\r']), "{}", record.text);
        record.text
    });
    let place =
        json!({"destination": "dst_1", "log": log.as_str(), "run": 0, "position": POSITION, "seq": SEQ});
    let value = |text: &str| serde_json::from_str::<Value>(text).expect("a record is JSON");

    let mut members = value(&json);
    assert_eq!(members["stream"].take(), place);
    members.as_object_mut().expect("an object").remove("stream");
    assert_eq!(members, value(&shown));

    let mut ocsf = value(&ocsf);
    assert_eq!(ocsf["unmapped"]["stream"], place);
    assert_eq!(ocsf["raw_data"].take(), shown);
    check_nothing_lost(value(&shown), &ocsf);

    check_cef(&cef, &event);
    true
}

fn shown(event: &Event, log: &LogName) -> String {
    let stamp = Stamp {
        id: EventId::new(NOW, [3; 10]),
        received_at: NOW,
    };
    let record = EventRecord::new(event, false, stamp).hashed(ContentSalt::from_bytes([9; 16]), log);
    let stored = StoredEvent {
        id: record.stamp().id,
        occurred_at: record.occurred_at(),
        canonical: record.canonical().to_owned(),
        content_hash: record.content_hash(),
        content_salt: (*record.content_salt()).into(),
        redacted: record.redacted(),
    };
    stored.to_json().expect("an event is an object").get().to_owned()
}

/// Every text of the event is in its record. The fields that are not are written as numbers, or in another form.
fn check_nothing_lost(mut shown: Value, ocsf: &Value) {
    for pointer in ["/actor/type", "/received_at", "/context/ip_address"] {
        if let Some(field) = shown.pointer_mut(pointer) {
            *field = Value::Null;
        }
    }
    let (mut found, mut expected) = (BTreeSet::new(), BTreeSet::new());
    texts(ocsf, &mut found);
    texts(&shown, &mut expected);
    let lost: Vec<_> = expected.difference(&found).collect();
    assert!(lost.is_empty(), "{lost:?} of {shown}");
}

/// All texts of a value.
fn texts<'v>(value: &'v Value, found: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => found.extend([text.as_str()]),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|item| texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_cef(line: &str, event: &Event) {
    let (header, extension) = read_header(line);
    assert_eq!(
        header[..5],
        ["CEF:0", "audit-log", "audit-log", "1", event.action.as_str()],
        "{line}"
    );
    assert!(["3", "6"].contains(&header[6].as_str()), "{line}");
    let values = read_extension(extension);
    let context = event.context.as_ref();
    for (key, expected) in [
        ("act", Some(event.action.as_str())),
        ("suid", Some(&event.actor.id)),
        ("cs1", Some(&event.tenant_id)),
        ("cs3", event.target.as_ref().map(|target| target.id.as_str())),
        ("cs4", context.and_then(|context| context.session_id.as_deref())),
        (
            "requestClientApplication",
            context.and_then(|context| context.user_agent.as_deref()),
        ),
        ("cn1", Some("12")),
        ("cn2", Some("345")),
    ] {
        let is_kept = |character: char| matches!(character, '\n' | '\r') || !character.is_control();
        let expected = expected.map(|text| text.replace(|character| !is_kept(character), " "));
        assert_eq!(values.get(key), expected.as_ref(), "{key} of {line}");
    }
}

/// The seven fields before the extension, and the extension.
fn read_header(line: &str) -> (Vec<String>, &str) {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut characters = line.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '|' if fields.len() == 6 => {
                fields.push(field);
                return (fields, &line[at + 1..]);
            }
            '|' => fields.push(std::mem::take(&mut field)),
            '\\' => field.push(escaped(&mut characters, &['\\', '|'])),
            _ => field.push(character),
        }
    }
    panic!("{line} has {} fields", fields.len())
}

/// The values by their keys: a key is the word before an `=` that is not escaped.
fn read_extension(extension: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let (mut key, mut value) = (String::new(), String::new());
    let mut characters = extension.char_indices();
    while let Some((_, character)) = characters.next() {
        match character {
            '=' => {
                let (before, next) = value.rsplit_once(' ').unwrap_or(("", &value));
                assert!(
                    !next.is_empty() && next.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                    "the key {next:?} of {extension}"
                );
                if !key.is_empty() {
                    let repeated = values.insert(key, before.to_owned());
                    assert_eq!(repeated, None, "{extension}");
                }
                key = next.to_owned();
                value.clear();
            }
            '\\' => value.push(match escaped(&mut characters, &['\\', '=', 'n', 'r']) {
                'n' => '\n',
                'r' => '\r',
                other => other,
            }),
            _ => value.push(character),
        }
    }
    values.insert(key, value);
    values
}

/// The character after a `\`.
fn escaped(characters: &mut std::str::CharIndices<'_>, allowed: &[char]) -> char {
    let (_, character) = characters.next().expect("a character after a backslash");
    assert!(allowed.contains(&character), "\\{character}");
    character
}

/// Inputs of [`destinations`].
pub fn destinations_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        r#"{"action":"team.member_removed","category":"admin","tenant_id":"a|b=c\\d","actor":{"id":"u=1\n|\\","type":"api_key",
"name":"Jane \u00fc\r\u0001","email":"jane@example.com","on_behalf_of":{"id":"u_3","type":"user"}},"outcome":"denied",
"targets":[{"id":"t=2","type":"team"},{"id":"u_4","type":"user","name":"Bob"}],"context":{"ip_address":"2001:db8::7",
"user_agent":"curl/8 (a=b; c|d)\\","location":"Oslo","session_id":"s\u2028"},"occurred_at":"2026-01-15T10:30:00.5+01:00",
"idempotency_key":"k-1","metadata":{"stream":1,"n":[-0.5e3,null,true]},"changes":[{"field":"role","before":"member","after":{"a":1}}]}"#,
        r#"{"action":"user.role.granted","category":"admin","tenant_id":"acme","actor":{"id":"u_1","type":"user"},"target":
{"id":"u_2","type":"user"},"changes":[{"field":"roles","after":["admin"]}]}"#,
        r#"{"action":"auth.login_failed","category":"auth","tenant_id":"acme","actor":{"id":"u_1","type":"system"}}"#,
        concat!(
            "07070707-0707-4707-8707-070707070707/live/destinations/dst_1/0\n12\n",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n346\n",
            "abababababababababababababababababababababababababababababababab\n",
            "3:0101010101010101010101010101010101010101010101010101010101010101,",
            "11:0202020202020202020202020202020202020202020202020202020202020202\n",
        ),
    ])
}
