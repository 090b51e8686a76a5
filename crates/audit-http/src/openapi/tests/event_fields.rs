//! The schemas of events against the list of their fields.

use super::{Checker, parsed};
use audit_domain::EventField;
use serde_json::Value;
use std::collections::BTreeSet;

/// The dot paths of a schema's fields, of those that every event has if `only_required`. Fields below `metadata`, `changes`, `targets` and
/// `actor.on_behalf_of` count as part of these.
fn paths(
    checker: &Checker<'_>,
    schema: &Value,
    prefix: &str,
    only_required: bool,
    found: &mut BTreeSet<String>,
) {
    let schema = checker.resolve(schema);
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.is_some_and(|required| required.iter().any(|one| one == name));
        let path = format!("{prefix}{name}");
        let is_field = EventField::ALL.iter().any(|field| field.as_str() == path);
        if !is_field && checker.resolve(property).get("properties").is_some() {
            paths(checker, property, &format!("{path}."), only_required, found);
        } else if is_required || !only_required {
            found.insert(path);
        }
    }
}

fn paths_of(name: &str, only_required: bool) -> BTreeSet<String> {
    let document = parsed();
    let mut found = BTreeSet::new();
    let schema = &document["components"]["schemas"][name];
    paths(&Checker::new(&document), schema, "", only_required, &mut found);
    found
}

fn fields(is_wanted: impl Fn(EventField) -> bool) -> BTreeSet<String> {
    let wanted = EventField::ALL.iter().filter(|field| is_wanted(**field));
    wanted.map(ToString::to_string).collect()
}

/// Whether the service adds the field.
fn is_added(field: EventField) -> bool {
    match field {
        EventField::Id
        | EventField::ReceivedAt
        | EventField::ClaimedAt
        | EventField::Redacted
        | EventField::ContentHash
        | EventField::ContentSalt => true,
        EventField::OccurredAt
        | EventField::Action
        | EventField::Category
        | EventField::TenantId
        | EventField::ActorId
        | EventField::ActorType
        | EventField::ActorName
        | EventField::ActorEmail
        | EventField::TargetId
        | EventField::TargetType
        | EventField::TargetName
        | EventField::IpAddress
        | EventField::UserAgent
        | EventField::Location
        | EventField::SessionId
        | EventField::IdempotencyKey
        | EventField::Metadata
        | EventField::Changes
        | EventField::Outcome
        | EventField::OnBehalfOf
        | EventField::Targets => false,
    }
}

#[test]
fn a_new_event_has_every_field_that_the_service_does_not_add() {
    assert_eq!(paths_of("EventInput", false), fields(|field| !is_added(field)));
}

#[test]
fn a_stored_event_has_every_field_and_what_erasures_took() {
    let mut expected = fields(|_| true);
    expected.extend(["erased", "parts"].map(str::to_owned));
    assert_eq!(paths_of("StoredEvent", false), expected);
}

#[test]
fn what_a_viewer_sees_for_certain_is_what_no_tier_hides() {
    assert_eq!(
        paths_of("StoredEvent", true),
        fields(|field| {
            // A viewer who does not see all has no salt, and only claimed events have the time of the claim.
            let is_optional = matches!(field, EventField::ContentSalt | EventField::ClaimedAt);
            !field.is_hideable() && !is_optional
        })
    );
}
