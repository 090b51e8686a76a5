//! Redaction of a typed event: which of its fields are texts, identifiers or free-form values.

use audit_domain::{
    Actor, Change, Context, DigestKey, Event, LifecycleEvent, OnBehalfOf, Record, SentDigest, Stamp, Target,
};
use audit_redact::{Engine, Report, Session};
use serde_json::{Map, Value};

/// Redacts an event in place and creates its record. If the event has an idempotency key, also returns the digest of the
/// unredacted event.
pub(crate) fn redact_and_record(
    engine: &Engine,
    digest_key: Option<&DigestKey>,
    event: &mut Event,
    stamp: Stamp,
) -> (Record, Option<SentDigest>, Report) {
    record_redacted(redact_event, engine, digest_key, (event, stamp))
}

/// As [`redact_and_record`], for an event of the service itself. Rules hide what clients chose: names, and values with names in them.
/// No rule hides the ids, the addresses or the names of settings. `engine` has no rules that name fields.
pub(crate) fn redact_and_record_own(
    engine: &Engine,
    digest_key: Option<&DigestKey>,
    event: &mut Event,
    stamp: Stamp,
) -> (Record, Option<SentDigest>, Report) {
    record_redacted(redact_own_event, engine, digest_key, (event, stamp))
}

fn record_redacted(
    redact: fn(&Engine, &mut Event) -> Report,
    engine: &Engine,
    digest_key: Option<&DigestKey>,
    (event, stamp): (&mut Event, Stamp),
) -> (Record, Option<SentDigest>, Report) {
    let sent = event.idempotency_key.is_some().then(|| event.to_text());
    let digest = sent.as_ref().map(|sent| sent.digest(digest_key));
    let report = redact(engine, event);
    let unchanged = sent.filter(|_| !report.was_redacted());
    let text = unchanged.unwrap_or_else(|| event.to_text());
    let record = Record::of_text(event, &text, report.was_redacted(), stamp);
    (record, digest, report)
}

/// Redacts an event in place.
fn redact_event(engine: &Engine, event: &mut Event) -> Report {
    // Without `..`, so that a new field does not compile until redaction handles it.
    let Event {
        action: _,
        category: _,
        tenant_id: _,
        actor,
        target,
        targets,
        outcome: _,
        context,
        metadata,
        changes,
        idempotency_key: _,
        occurred_at: _,
    } = event;
    let mut session = engine.session();
    redact_actor(&mut session, actor);
    if let Some(target) = target {
        redact_target(&mut session, &["target"], target);
    }
    for (index, target) in targets.iter_mut().flatten().enumerate() {
        redact_target(&mut session, &["targets", &index.to_string()], target);
    }
    if let Some(context) = context {
        redact_context(&mut session, context);
    }
    redact_metadata(&mut session, metadata);
    for (index, change) in changes.iter_mut().flatten().enumerate() {
        redact_change(&mut session, &index.to_string(), change);
    }
    session.finish()
}

/// Redacts an event of the service itself in place. `engine` has no rules that name fields.
fn redact_own_event(engine: &Engine, event: &mut Event) -> Report {
    if LifecycleEvent::is_action(event.action.as_str()) {
        return redact_lifecycle_event(engine, event);
    }
    // Without `..`, so that a new field does not compile until it is decided whether a client chose it.
    let Event {
        action: _,
        category: _,
        tenant_id: _,
        actor:
            Actor {
                id: _,
                actor_type: _,
                name,
                email,
                // Absent in events of the service.
                on_behalf_of: _,
            },
        target,
        // The service names one target.
        targets: _,
        outcome: _,
        context,
        metadata,
        changes,
        idempotency_key: _,
        occurred_at: _,
    } = event;
    let mut session = engine.session();
    redact_optional(&mut session, &["actor", "name"], name);
    redact_optional(&mut session, &["actor", "email"], email);
    if let Some(target) = target {
        redact_optional(&mut session, &["target", "name"], &mut target.name);
    }
    if let Some(context) = context {
        redact_optional(&mut session, &["context", "user_agent"], &mut context.user_agent);
    }
    redact_metadata(&mut session, metadata);
    for (index, change) in changes.iter_mut().flatten().enumerate() {
        let Change {
            field: _,
            before,
            after,
        } = change;
        redact_values(&mut session, &index.to_string(), before, after);
    }
    session.finish()
}

/// Redacts a lifecycle event in place: only what people wrote. A rule could take a digest, a position or a time for a number of somebody,
/// and verifiers and the service read them. The ids in the changes of a hold are in all stored forms already.
fn redact_lifecycle_event(engine: &Engine, event: &mut Event) -> Report {
    let mut session = engine.session();
    redact_optional(&mut session, &["actor", "name"], &mut event.actor.name);
    redact_optional(&mut session, &["actor", "email"], &mut event.actor.email);
    // The reason of a cancellation is a word of the service, as is the legal ground of an erasure.
    let is_cancelled = event.action.as_str().ends_with(".cancelled");
    let names = ["reason", "ticket"];
    for name in names
        .into_iter()
        .filter(|name| !is_cancelled || *name != "reason")
    {
        if let Some(value) = event
            .metadata
            .as_mut()
            .and_then(|metadata| metadata.get_mut(name))
        {
            session.value(&["metadata", name], value);
        }
    }
    session.finish()
}

fn redact_metadata(session: &mut Session<'_>, metadata: &mut Option<Map<String, Value>>) {
    if let Some(metadata) = metadata {
        let mut value = Value::Object(std::mem::take(metadata));
        session.value(&["metadata"], &mut value);
        // Redaction may change the type of any value below `metadata`; `metadata` itself stays an object.
        if let Value::Object(redacted) = value {
            *metadata = redacted;
        }
    }
}

fn redact_actor(session: &mut Session<'_>, actor: &mut Actor) {
    let Actor {
        id,
        actor_type: _,
        name,
        email,
        on_behalf_of,
    } = actor;
    session.identifier(&["actor", "id"], id);
    redact_optional(session, &["actor", "name"], name);
    redact_optional(session, &["actor", "email"], email);
    if let Some(on_behalf_of) = on_behalf_of {
        let OnBehalfOf {
            id,
            actor_type: _,
            name,
        } = on_behalf_of;
        session.identifier(&["actor", "on_behalf_of", "id"], id);
        redact_optional(session, &["actor", "on_behalf_of", "name"], name);
    }
}

fn redact_target(session: &mut Session<'_>, path: &[&str], target: &mut Target) {
    let Target {
        id,
        target_type: _,
        name,
    } = target;
    session.identifier(&[path, &["id"]].concat(), id);
    redact_optional(session, &[path, &["name"]].concat(), name);
}

fn redact_context(session: &mut Session<'_>, context: &mut Context) {
    let Context {
        ip_address,
        user_agent,
        location,
        session_id,
    } = context;
    redact_optional(session, &["context", "ip_address"], ip_address);
    redact_optional(session, &["context", "user_agent"], user_agent);
    redact_optional(session, &["context", "location"], location);
    if let Some(session_id) = session_id {
        session.identifier(&["context", "session_id"], session_id);
    }
}

fn redact_change(session: &mut Session<'_>, index: &str, change: &mut Change) {
    let Change { field, before, after } = change;
    session.text(&["changes", index, "field"], field);
    redact_values(session, index, before, after);
}

/// Redacts the values of a change.
fn redact_values(
    session: &mut Session<'_>,
    index: &str,
    before: &mut Option<Value>,
    after: &mut Option<Value>,
) {
    for (name, value) in [("before", before), ("after", after)] {
        if let Some(value) = value {
            session.value(&["changes", index, name], value);
        }
    }
}

fn redact_optional(session: &mut Session<'_>, path: &[&str], text: &mut Option<String>) {
    if let Some(text) = text {
        session.text(path, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{EventField, EventId, Timestamp};
    use audit_redact::Shape;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    #[test]
    fn a_record_is_of_the_redacted_event_and_the_digest_of_the_sent_one() {
        let stamp = Stamp {
            id: EventId::new(NOW, [7; 10]),
            received_at: NOW,
        };
        for name in ["Jane", "Jane jane@example.com"] {
            for key in [None, Some("jane@example.com")] {
                let mut sent = json!({
                    "action": "user.created", "category": "mutation", "tenant_id": "acme",
                    "actor": {"id": "u1", "type": "user", "name": name},
                });
                if let Some(key) = key {
                    sent["idempotency_key"] = json!(key);
                }
                let sent = Event::from_json(sent, NOW).unwrap();
                let (engine, mut event) = (Engine::builtins(), sent.clone());
                let (record, digest, report) = redact_and_record(&engine, None, &mut event, stamp);
                assert_eq!(report.was_redacted(), name.contains('@'));
                assert_eq!(event == sent, !name.contains('@'), "{event:?}");
                assert_eq!(record, Record::new(&event, report.was_redacted(), stamp));
                assert_eq!(digest, key.map(|_| sent.to_text().digest(None)));
            }
        }
    }

    fn of_service(action: &str, metadata: &Map<String, Value>, changes: Option<Vec<Change>>) -> Event {
        Event {
            action: action.parse().unwrap(),
            category: audit_domain::Category::Security,
            tenant_id: audit_domain::SERVICE_TENANT_ID.to_owned(),
            actor: Actor {
                id: "k1".to_owned(),
                actor_type: audit_domain::ActorType::ApiKey,
                name: Some("jane@example.com".to_owned()),
                email: None,
                on_behalf_of: None,
            },
            target: None,
            targets: None,
            outcome: None,
            context: None,
            metadata: Some(metadata.clone()),
            changes,
            idempotency_key: None,
            occurred_at: None,
        }
    }

    #[test]
    fn no_rule_changes_why_a_plan_was_cancelled_or_made() {
        let pattern = audit_redact::Pattern::parse("requested|contract").unwrap();
        let behavior = audit_redact::Behavior::Replace;
        let engine = Engine::builder().pattern("words", pattern, behavior).build();
        let metadata = Map::from_iter([("reason".to_owned(), json!("requested"))]);
        for (action, is_kept) in [
            ("audit.retention.cancelled", true),
            ("audit.erasure.cancelled", true),
            ("audit.hold.released", false),
        ] {
            let mut event = of_service(action, &metadata, None);
            redact_own_event(&engine, &mut event);
            assert_eq!(event.metadata.unwrap() == metadata, is_kept, "{action}");
        }
        let metadata = Map::from_iter(["basis", "ticket"].map(|name| (name.to_owned(), json!("contract"))));
        let mut event = of_service("audit.erasure.planned", &metadata, None);
        redact_own_event(&engine, &mut event);
        let redacted = event.metadata.unwrap();
        assert_eq!(redacted["basis"], "contract");
        assert_ne!(redacted["ticket"], "contract");
    }

    #[test]
    fn no_rule_changes_what_a_removal_is_verified_with() {
        let metadata = json!({
            "previous": 4_111_111_111_111_111_u64, "events": 4_111_111_111_111_111_u64,
            "digest": "sha256:123-45-6789", "hold": "jane@example.com", "reason": "asked by jane@example.com",
        });
        let Value::Object(metadata) = metadata else {
            panic!("{metadata}");
        };
        let change = Change {
            field: "actor_id".to_owned(),
            before: None,
            after: Some(json!(["jane@example.com"])),
        };
        let mut event = of_service("audit.hold.placed", &metadata, Some(vec![change.clone()]));
        redact_own_event(&Engine::builtins(), &mut event);
        let redacted = event.metadata.unwrap();
        for (name, value) in &metadata {
            assert_eq!(redacted[name] == *value, name != "reason", "{name}: {redacted:?}");
        }
        assert_eq!(event.changes, Some(vec![change]));
        assert!(!event.actor.name.unwrap().contains('@'));
    }

    #[test]
    fn a_typed_event_is_redacted_as_its_json_is() {
        let event = json!({
            "action": "user.created", "category": "mutation", "tenant_id": "jane@example.com", "idempotency_key": "jane@example.com",
            "actor": {
                "id": "jane@example.com", "type": "user", "name": "Jane jane@example.com", "email": "jane@example.com",
                "on_behalf_of": {"id": "joe@example.com", "type": "user", "name": "Joe joe@example.com"},
            },
            "outcome": "success",
            "target": {"id": "4111 1111 1111 1111", "type": "card", "name": "call +14155552671"},
            "targets": [
                {"id": "4111 1111 1111 1111", "type": "card", "name": "call +14155552671"},
                {"id": "z@example.com", "type": "w@example.com", "name": "v@example.com"},
            ],
            "context": {"ip_address": "1.2.3.4", "user_agent": "x@example.com", "location": "y@example.com", "session_id": "s@example.com"},
            "metadata": {"a@example.com": [{"ssn": "123-45-6789"}]},
            "changes": [{"field": "f@example.com", "before": "b@example.com", "after": {"x": ["a@example.com"]}}],
        });
        for field in EventField::ALL {
            let is_sent = match field {
                EventField::Id
                | EventField::ReceivedAt
                | EventField::ClaimedAt
                | EventField::Redacted
                | EventField::ContentHash
                | EventField::ContentSalt => false,
                // Times are neither texts nor identifiers.
                EventField::OccurredAt => false,
                _ => true,
            };
            let pointer: String = field.path().map(|step| format!("/{step}")).collect();
            assert_eq!(event.pointer(&pointer).is_some(), is_sent, "{field}");
        }
        let engine = Engine::builtins();
        let mut typed = Event::from_json(event.clone(), NOW).unwrap();
        let report = redact_event(&engine, &mut typed);
        let mut value = event;
        let expected = engine.redact(&mut value, &Shape::audit_event());
        let typed: Value = serde_json::from_str(typed.to_text().as_str()).unwrap();
        assert_eq!(typed, value);
        let sorted = |report: &Report| {
            let mut fields = report.fields().to_vec();
            fields.sort();
            fields
        };
        assert_eq!(sorted(&report), sorted(&expected));
        assert!(
            !typed["actor"]["email"].as_str().unwrap().contains('@'),
            "{typed}"
        );
    }
}
