//! The list of the fields of an event against what reads, writes, indexes and hides them.

use audit_domain::{
    Actor, Change, Condition, ContentSalt, Context, Environment, Event, EventField, EventFilter, EventId,
    Facet, Facets, HiddenField, LogName, OnBehalfOf, ProjectId, Record, Search, SearchMode, SearchScope,
    SearchedText, Stamp, StoredEvent, Target, Timestamp, ValuePattern, ViewerTier,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

/// An event with every field that a sender can set.
fn event() -> Event {
    let event = json!({
        "action": "user.created", "category": "mutation", "tenant_id": "t", "idempotency_key": "k",
        "actor": {"id": "a", "type": "user", "name": "an", "email": "e", "on_behalf_of": {"id": "b", "type": "user", "name": "bn"}},
        "targets": [{"id": "o", "type": "doc", "name": "on"}, {"id": "p", "type": "doc"}], "outcome": "denied",
        "context": {"ip_address": "i", "user_agent": "u", "location": "l", "session_id": "s"},
        "metadata": {"m": "mn"}, "changes": [{"field": "f", "before": 1, "after": 2}],
        "occurred_at": "2026-01-15T10:30:00Z",
    });
    Event::from_json(event, NOW).expect("a valid event")
}

/// An event that was claimed from a stream, so that it has every field.
fn stored() -> StoredEvent {
    let stamp = Stamp {
        id: EventId::new(NOW, [7; 10]),
        received_at: NOW,
    };
    let log = LogName::new(ProjectId::from_random([1; 16]), Environment::Live);
    let salt = ContentSalt::from_bytes([7; 16]);
    let sent = Record::new(&event(), true, stamp);
    let object = serde_json::from_str(sent.canonical()).expect("an object");
    let record = Record::claimed(object, true, stamp, sent.occurred_at(), NOW.plus_seconds(60));
    let record = record.expect("an event").hashed(salt, &log);
    StoredEvent {
        id: stamp.id,
        occurred_at: record.occurred_at(),
        canonical: record.canonical().to_owned(),
        content_hash: record.content_hash(),
        content_salt: salt.into(),
        redacted: true,
    }
}

/// The dot paths of what is in an object. What is below `metadata`, `changes`,
/// `actor.on_behalf_of` and `targets` belongs to these.
fn paths(object: &Map<String, Value>, prefix: &str, found: &mut BTreeSet<String>) {
    for (name, value) in object {
        let path = format!("{prefix}{name}");
        match value {
            Value::Object(inner) if path != "metadata" && path != "actor.on_behalf_of" => {
                paths(inner, &format!("{path}."), found)
            }
            _ => assert!(found.insert(path)),
        }
    }
}

fn tier_without(path: &str) -> ViewerTier {
    ViewerTier {
        name: "t".parse().expect("a valid name"),
        categories: None,
        actions: None,
        hidden_fields: vec![path.parse().expect("a field that can be hidden")],
        routes: None,
    }
}

/// The facet or the searched text that a field is, `None` if no filter and no search looks at it.
fn facet<'a>(facets: &'a Facets<'_>, field: EventField) -> Option<Option<&'a str>> {
    let facet = Facet::ALL.iter().find(|facet| facet.field() == field);
    let text = SearchedText::ALL.iter().find(|text| text.field() == field);
    // An id is both.
    match (facet, text) {
        (Some(facet), _) => Some(facets.get(*facet)),
        (None, Some(text)) => Some(facets.searched_text(*text)),
        (None, None) => None,
    }
}

fn search(scope: SearchScope, text: &str) -> Search {
    Search::parse_in(SearchMode::Words, BTreeSet::from([scope]), text).expect("a search")
}

/// One condition each that the event meets, and one that it does not meet, with the field that they compare. Without
/// `..`, so that a new condition does not compile until it is here.
fn conditions() -> Vec<(EventField, EventFilter, EventFilter)> {
    let nothing = EventFilter {
        conditions: BTreeMap::new(),
        metadata: BTreeMap::new(),
        start: None,
        end: None,
        search: None,
    };
    let event = event();
    let facets = event.facets();
    let mut conditions: Vec<_> = Facet::ALL
        .iter()
        .map(|facet| {
            let value = facets.get(*facet).expect("the event has every field");
            (
                facet.field(),
                EventFilter::of(*facet, value),
                EventFilter::of(*facet, "other"),
            )
        })
        .collect();
    let mut add = |field, set: &dyn Fn(&mut EventFilter, bool)| {
        let [mut met, mut unmet] = [nothing.clone(), nothing.clone()];
        set(&mut met, true);
        set(&mut unmet, false);
        conditions.push((field, met, unmet));
    };
    let time = |seconds: i64| Some(NOW.plus_seconds(seconds));
    add(EventField::Action, &|filter, is_met| {
        let action = if is_met { "user.*" } else { "auth.*" };
        let condition = Condition::of(ValuePattern::of_action(action).expect("a pattern"));
        filter.conditions.insert(Facet::Action, condition);
    });
    for text in SearchedText::ALL {
        let value = facets.searched_text(*text).expect("the event has every field");
        add(text.field(), &|filter, is_met| {
            filter.search = Some(search(text.scope(), if is_met { value } else { "other" }));
        });
    }
    add(EventField::Metadata, &|filter, is_met| {
        let word = if is_met { "mn" } else { "other" };
        filter.search = Some(search(SearchScope::Metadata, word));
    });
    add(EventField::Metadata, &|filter, is_met| {
        let value = if is_met { "mn" } else { "other" };
        let path = "metadata.m".parse().expect("a path");
        filter.metadata.insert(path, Condition::is(value));
    });
    add(EventField::OccurredAt, &|filter, is_met| {
        filter.start = time(if is_met { 0 } else { 100_000_000 })
    });
    add(EventField::OccurredAt, &|filter, is_met| {
        filter.end = time(if is_met { 100_000_000 } else { -100_000_000 })
    });
    conditions
}

/// Without `..`: a new field of an event does not compile here, and fails here until it is in [`event`].
#[test]
fn the_event_of_these_tests_has_every_field() {
    let Event {
        action: _,
        category: _,
        tenant_id: _,
        actor:
            Actor {
                id: _,
                actor_type: _,
                name: Some(_),
                email: Some(_),
                on_behalf_of:
                    Some(OnBehalfOf {
                        id: _,
                        actor_type: _,
                        name: Some(_),
                    }),
            },
        target:
            Some(Target {
                id: _,
                target_type: _,
                name: Some(_),
            }),
        targets: Some(_),
        outcome: Some(_),
        context:
            Some(Context {
                ip_address: Some(_),
                user_agent: Some(_),
                location: Some(_),
                session_id: Some(_),
            }),
        metadata: Some(_),
        changes: Some(changes),
        idempotency_key: Some(_),
        occurred_at: Some(_),
    } = event()
    else {
        panic!("a field is missing");
    };
    let [
        Change {
            field: _,
            before: Some(_),
            after: Some(_),
        },
    ] = &changes[..]
    else {
        panic!("a field of a change is missing");
    };
}

#[test]
fn a_read_event_has_the_listed_fields_and_no_other() {
    let mut found = BTreeSet::new();
    paths(&stored().to_object().expect("an object"), "", &mut found);
    let listed: BTreeSet<String> = EventField::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(found, listed);
}

#[test]
fn an_event_and_its_stored_text_have_the_same_facets() {
    assert_eq!(event().facets(), stored().facets().expect("a stored event"));
}

#[test]
fn a_hidden_field_is_in_no_facet_and_in_no_response() {
    let (event, stored) = (event(), stored());
    let facets = event.facets();
    for hidden in EventField::ALL {
        assert_eq!(
            hidden.as_str().parse::<HiddenField>().is_ok(),
            hidden.is_hideable(),
            "{hidden}"
        );
        if !hidden.is_hideable() {
            continue;
        }
        let tier = tier_without(hidden.as_str());
        let root = hidden.path().next().expect("a path has a step");
        assert!(
            tier.hides(*hidden) && tier_without(root).hides(*hidden),
            "{hidden}"
        );
        let restricted = tier.restrict(facets.clone());
        let mut read = stored.to_object().expect("an object");
        tier.redact(&mut read);
        let mut found = BTreeSet::new();
        paths(&read, "", &mut found);
        for field in EventField::ALL {
            // Whoever has the salt can guess.
            let is_hidden = field == hidden || *field == EventField::ContentSalt;
            assert_eq!(
                found.contains(field.as_str()),
                !is_hidden,
                "{field} when {hidden} is hidden"
            );
            let Some(original) = facet(&facets, *field) else {
                continue;
            };
            // What is hidden of the actor and the target is hidden of their twins.
            let is_twin_hidden = matches!(
                (field, hidden),
                (EventField::OnBehalfOf, EventField::ActorId) | (EventField::Targets, EventField::TargetId)
            );
            let expected = original.filter(|_| !is_hidden && !is_twin_hidden);
            let shown = facet(&restricted, *field).flatten();
            assert_eq!(shown, expected, "{field} when {hidden} is hidden");
        }
    }
}

#[test]
fn each_condition_decides_and_has_its_fingerprint() {
    let stored = stored();
    let shows = |filter: &EventFilter, tier: Option<&ViewerTier>| {
        filter.shows(&stored, tier).expect("a stored event")
    };
    let mut fingerprints = BTreeSet::from([EventFilter::default().fingerprint()]);
    for (field, met, unmet) in conditions() {
        assert!(shows(&met, None) && !shows(&unmet, None), "{field}");
        for filter in [&met, &unmet] {
            // Two conditions of a search can be equal.
            assert!(
                fingerprints.insert(filter.fingerprint()) || filter.search.is_some(),
                "{field}"
            );
        }
        if !field.is_hideable() {
            continue;
        }
        let tier = tier_without(field.as_str());
        assert!(!shows(&met, Some(&tier)), "{field}");
        // A search may still find by the texts that are visible.
        assert!(met.is_hidden_by(&tier) || met.search.is_some(), "{field}");
    }
}

#[test]
fn a_search_is_hidden_when_all_texts_are() {
    let search = EventFilter {
        search: Some(Search::parse("word").expect("a search")),
        ..EventFilter::default()
    };
    let mut tier = tier_without("action");
    tier.hidden_fields
        .extend(["actor", "target.*"].map(|path| path.parse().expect("a field that can be hidden")));
    assert!(search.is_hidden_by(&tier));
    tier.hidden_fields.pop();
    assert!(!search.is_hidden_by(&tier));
}
