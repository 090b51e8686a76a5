//! Events to send, and the hash of events read back.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The smallest valid event.
pub fn event() -> Value {
    json!({
        "action": "user.created",
        "category": "mutation",
        "actor": {"id": "actor-1", "type": "user"},
        "tenant_id": "tenant-1",
    })
}

/// The smallest valid event with these members changed, at any depth; null removes a member.
pub fn event_with(changes: Value) -> Value {
    merge(event(), changes)
}

/// `base` changed as RFC 7396 (JSON Merge Patch) says.
pub fn merge(base: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        return changes;
    };
    let mut merged = match base {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    };
    for (name, change) in changes {
        if change.is_null() {
            merged.remove(&name);
        } else {
            let old = merged.remove(&name).unwrap_or_default();
            merged.insert(name, merge(old, change));
        }
    }
    Value::Object(merged)
}

/// The fields of each part of an event that the content hash covers with a salt.
const PARTS: [&[&str]; 11] = [
    &["/action", "/actor/type", "/category", "/target/type", "/outcome"],
    &["/actor/email"],
    &["/actor/id"],
    &["/actor/name", "/actor/on_behalf_of"],
    &["/changes"],
    &["/context/ip_address", "/context/location"],
    &["/context/session_id", "/context/user_agent"],
    &["/idempotency_key"],
    &["/metadata"],
    &["/target/id"],
    &["/target/name", "/targets"],
];

/// The fields that have a line only where the event has them.
const APPENDED: [&str; 4] = ["/outcome", "/actor/on_behalf_of", "/targets", "/claimed_at"];

/// The content hash of an event of a log (`<project id>/<environment>`) as a full read returned it, recomputed from the
/// documentation, with an independent implementation of RFC 8785.
pub fn content_hash(event: &Value, log: &str) -> String {
    let values = |fields: &[&str]| {
        let canonical =
            |value| serde_json_canonicalizer::to_string(value).expect("JSON has a canonical form");
        let line = |field: &&str| match event.pointer(field) {
            Some(value) => Some(canonical(value)),
            None => (!APPENDED.contains(field)).then(String::new),
        };
        fields.iter().filter_map(line).collect::<Vec<_>>().join("\n")
    };
    let salt = event["content_salt"].as_str().expect("a full read has the salt");
    let salt = base16ct::lower::decode_vec(salt).expect("hexadecimal");
    let mut content = [b"\x03", log.as_bytes(), b"\n"].concat();
    for (number, fields) in (0_u8..).zip(PARTS) {
        let salts = Sha256::digest([&[4], &salt[..], &[number / 2]].concat());
        let salt = &salts[usize::from(number % 2) * 16..][..16];
        content.extend(Sha256::digest(
            [&[2], salt, &[number], values(fields).as_bytes()].concat(),
        ));
    }
    let open = ["/id", "/occurred_at", "/received_at", "/tenant_id", "/claimed_at"];
    content.extend(values(&open).bytes());
    let digest = Sha256::digest(&content);
    format!("sha256:{}", base16ct::lower::encode_string(&digest))
}
