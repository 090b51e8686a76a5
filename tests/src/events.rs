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

/// The content hash of an event as a full read returned it, recomputed with an independent implementation of RFC 8785.
pub fn content_hash(event: &Value) -> String {
    let mut hashed = event.clone();
    let members = hashed.as_object_mut().expect("an event is an object");
    members.remove("content_hash");
    members.remove("redacted");
    let canonical = serde_json_canonicalizer::to_vec(&hashed).expect("JSON has a canonical form");
    let digest = Sha256::digest(&canonical);
    format!("sha256:{}", base16ct::lower::encode_string(&digest))
}
