//! Verifies the vectors of content hashes in `docs/vectors` that need no signature.

use audit_domain::{
    ContentHash, DEFAULT_TIER, Event, EventId, LogName, PartProofs, Record, Stamp, Timestamp, ViewerTier,
};
use serde_json::Value;

const EVENT_FIELDS: &str = include_str!("../../../../docs/vectors/event-fields.json");

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn tier_without(hidden_fields: &Value) -> ViewerTier {
    let paths = items(hidden_fields).iter().map(text);
    ViewerTier {
        name: DEFAULT_TIER.parse().expect("a name"),
        categories: None,
        actions: None,
        hidden_fields: paths.map(|path| path.parse().expect("a field")).collect(),
        routes: None,
    }
}

#[test]
fn events_with_and_without_appended_fields_have_the_hashes_of_the_vectors() {
    let vectors: Value = serde_json::from_str(EVENT_FIELDS).expect("JSON");
    let origin = format!("audit.example.com/{}", text(&vectors["log"]));
    let log = LogName::of_origin(&origin).expect("a log");
    for vector in items(&vectors["events"]) {
        let received_at = Timestamp::parse_rfc3339(text(&vector["received_at"])).expect("a time");
        let id: EventId = text(&vector["id"]).parse().expect("an id");
        let event = Event::from_json(vector["sent"].clone(), received_at).expect("a valid event");
        let salt = text(&vector["content_salt"]).parse().expect("a salt");
        let record = Record::new(&event, false, Stamp { id, received_at }).hashed(salt, &log);
        assert_eq!(record.canonical(), text(&vector["canonical"]));
        assert_eq!(record.content_hash().to_string(), text(&vector["content_hash"]));
        for viewer in items(&vector["viewers"]) {
            let tier = tier_without(&viewer["hidden_fields"]);
            let is_hidden = |part| tier.hides_of(part);
            let proofs = PartProofs::new(record.canonical(), &salt, is_hidden).expect("an event");
            assert_eq!(Value::Object(proofs.to_json()), viewer["parts"]);
            let mut seen = serde_json::from_str(record.canonical()).expect("an object");
            tier.redact(&mut seen);
            assert_eq!(
                ContentHash::of_visible(&seen, &proofs, &log),
                record.content_hash()
            );
            assert_eq!(Value::Object(seen), viewer["read"]);
        }
    }
    assert_eq!(items(&vectors["events"]).len(), 8);
}
