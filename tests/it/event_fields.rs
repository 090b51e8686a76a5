//! Every field of an event, from ingest to export: stored, redacted, read, hidden, found, followed and exported. The
//! fields come from [`EventField`], and each question about them is a `match`: a new field does not compile here until
//! each response is given.

use audit_domain::{EventField, Facet, SearchScope, SearchedText};
use audit_tests::{Client, DatabaseKind, Organization, content_hash, event, merge, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An address that redaction replaces.
const PERSONAL: &str = "jane@example.com";

/// A value of the field that distinguishes an event from the smallest one, or `None` if the service makes the value.
fn sample(field: EventField) -> Option<Value> {
    Some(match field {
        EventField::Id
        | EventField::ReceivedAt
        | EventField::ClaimedAt
        | EventField::Redacted
        | EventField::ContentHash
        | EventField::ContentSalt => {
            return None;
        }
        EventField::OccurredAt => json!("2026-01-15T10:30:00.000Z"),
        EventField::Action => json!("invoice.paid"),
        EventField::Category => json!("admin"),
        EventField::TenantId => json!("tenant-2"),
        EventField::ActorType => json!("service"),
        EventField::Outcome => json!("denied"),
        EventField::OnBehalfOf => json!({"id": "sample_party", "name": "Ann", "type": "user"}),
        EventField::Targets => {
            let member = |member: &str| format!("sample_target_{member}");
            let first = json!({"id": member("id"), "name": member("name"), "type": member("type")});
            json!([first, {"id": "sample_second", "type": "doc"}])
        }
        EventField::Metadata => json!({"key": "value"}),
        EventField::Changes => json!([{"field": "plan", "before": "a", "after": {"b": 1}}]),
        EventField::ActorId
        | EventField::ActorName
        | EventField::ActorEmail
        | EventField::TargetId
        | EventField::TargetType
        | EventField::TargetName
        | EventField::IpAddress
        | EventField::UserAgent
        | EventField::Location
        | EventField::SessionId
        | EventField::IdempotencyKey => json!(format!("sample_{}", field.as_str().replace('.', "_"))),
    })
}

/// The effect of redaction on the field.
enum Redaction {
    /// The value stays unchanged.
    Kept,
    /// Each finding in it is replaced.
    Replaced,
    /// The whole value is replaced by its hash. Queries by the original value still find the event.
    Hashed,
}

fn redaction(field: EventField) -> Redaction {
    match field {
        EventField::Id
        | EventField::OccurredAt
        | EventField::ReceivedAt
        | EventField::ClaimedAt
        | EventField::Action
        | EventField::Category
        | EventField::TenantId
        | EventField::ActorType
        | EventField::TargetType
        | EventField::IdempotencyKey
        | EventField::Outcome
        | EventField::Redacted
        | EventField::ContentHash
        | EventField::ContentSalt => Redaction::Kept,
        EventField::ActorId | EventField::TargetId | EventField::SessionId => Redaction::Hashed,
        EventField::ActorName
        | EventField::ActorEmail
        | EventField::TargetName
        | EventField::IpAddress
        | EventField::UserAgent
        | EventField::Location
        | EventField::Metadata
        | EventField::Changes
        | EventField::OnBehalfOf
        | EventField::Targets => Redaction::Replaced,
    }
}

/// The field with [`PERSONAL`] in it, if it takes such a text.
fn personal(field: EventField) -> Option<Value> {
    match field {
        EventField::Metadata => Some(json!({"key": PERSONAL})),
        EventField::Changes => Some(json!([{"field": "plan", "before": PERSONAL, "after": {"b": PERSONAL}}])),
        EventField::OnBehalfOf => Some(json!({"id": PERSONAL, "name": PERSONAL, "type": "user"})),
        EventField::Targets => Some(json!([{"id": PERSONAL, "name": PERSONAL, "type": "doc"}])),
        EventField::OccurredAt
        | EventField::Action
        | EventField::Category
        | EventField::ActorType
        | EventField::Outcome => None,
        _ => sample(field).map(|_| json!(PERSONAL)),
    }
}

/// The parameters that find an event by the sample of the field.
fn filters(field: EventField) -> Vec<&'static str> {
    let facets = Facet::ALL.iter().filter(|facet| facet.field() == field);
    facets
        .map(|facet| facet.as_str())
        .chain(scope(field).map(|_| "search"))
        .collect()
}

/// Where a search looks for the field, if it does.
fn scope(field: EventField) -> Option<SearchScope> {
    if field == EventField::Metadata {
        return Some(SearchScope::Metadata);
    }
    let text = SearchedText::ALL.iter().find(|text| text.field() == field)?;
    Some(text.scope())
}

/// The query that finds an event by a value of the field.
fn query(field: EventField, parameter: &'static str, value: &str) -> Vec<(&'static str, String)> {
    let scope = scope(field).filter(|_| parameter == "search");
    let scope = scope.map(|scope| ("search_in", scope.to_string()));
    // As a phrase, which words of several ids are not.
    let value = match &scope {
        Some(_) => format!("\"{value}\""),
        None => value.to_owned(),
    };
    std::iter::once((parameter, value)).chain(scope).collect()
}

/// The text of a sample by which the event is found.
fn searched(sample: &Value) -> &str {
    let inner = ["/id", "/1/id", "/key"]
        .iter()
        .find_map(|path| sample.pointer(path));
    inner.unwrap_or(sample).as_str().expect("a text")
}

/// The parameters that exclude values of a field.
fn exclusions(field: EventField) -> impl Iterator<Item = &'static str> {
    let facets = Facet::ALL.iter().filter(move |facet| facet.field() == field);
    facets.map(|facet| facet.exclusion())
}

/// The parameters of queries that are no filter by the value of a field.
const OTHER_PARAMETERS: [&str; 18] = [
    "after",
    "cursor",
    "end_date",
    "environment",
    "for",
    "format",
    "id",
    "labels",
    "limit",
    "order",
    "project_id",
    "search_in",
    "search_mode",
    "separator",
    "start_date",
    "time_zone",
    "utc_offset",
    "wait",
];

/// The parameter that a follower of the feed cannot give.
const NOT_IN_THE_FEED: &str = "search";

/// An object that holds `value` at the field.
fn at(field: EventField, value: Value) -> Value {
    let steps: Vec<_> = field.path().collect();
    let put = |inner, step: &&str| json!({*step: inner});
    steps.iter().rev().fold(value, put)
}

fn pointer(field: EventField) -> String {
    field.path().map(|step| format!("/{step}")).collect()
}

/// The smallest event with a value at the field, and with the other members that the field requires.
fn event_with_field(field: EventField, value: Value) -> Value {
    let base = match field.path().next() {
        Some("target") => merge(event(), json!({"target": {"id": "target-1", "type": "doc"}})),
        _ => event(),
    };
    merge(base, at(field, value))
}

/// An event with every field that a sender can set.
fn full_event() -> Value {
    let sent = EventField::ALL
        .iter()
        .filter_map(|field| Some((*field, sample(*field)?)));
    sent.fold(event(), |event, (field, value)| merge(event, at(field, value)))
}

fn ids(events: &[Value]) -> BTreeSet<String> {
    let id = |event: &Value| event["id"].as_str().expect("an event has an id").to_owned();
    events.iter().map(id).collect()
}

/// The ids of the events that the list, the export and the feed find, which must agree.
fn found<V: AsRef<str>>(client: &Client, filter: &[(&str, V)]) -> BTreeSet<String> {
    let filter: Vec<(&str, &str)> = filter
        .iter()
        .map(|(name, value)| (*name, value.as_ref()))
        .collect();
    let filter = filter.as_slice();
    let listed = ids(&client.find(filter));
    let exported = client.get("/events/export").queries(filter).send_raw();
    let lines = String::from_utf8(exported.bytes).expect("an export in UTF-8");
    let exported: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON lines"))
        .collect();
    assert_eq!(ids(&exported), listed, "export {filter:?}");
    if filter.iter().all(|(name, _)| *name != NOT_IN_THE_FEED) {
        let page = client
            .get("/events/feed")
            .queries(filter)
            .send()
            .expect_status(200);
        assert_eq!(ids(&page.list("events")), listed, "feed {filter:?}");
    }
    listed
}

/// A viewer of the smallest event's tenant, from whom a new tier hides the field.
fn viewer_without(organization: &Organization, field: EventField) -> Client {
    let path = field.as_str();
    let tier = path.replace('.', "-");
    organization
        .master()
        .post("/viewer-tiers")
        .json(json!({"name": tier, "hidden_fields": [path]}))
        .send()
        .expect_status(201);
    organization.viewer("tenant-1", &tier)
}

on_both_databases! {
    every_field_is_stored_and_read_back,
    every_field_is_redacted_as_its_kind_says,
    every_filter_finds_by_its_field_and_by_nothing_that_is_hidden,
    every_field_is_hidden_by_its_tier_or_cannot_be,
    every_field_has_a_column,
    every_parameter_of_a_query_is_accounted_for,
}

fn every_field_is_stored_and_read_back(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let read = project.event(&project.store(full_event()));
    for field in EventField::ALL {
        let value = read.pointer(&pointer(*field));
        match sample(*field) {
            Some(sample) => assert_eq!(value, Some(&sample), "{field}"),
            None => assert_eq!(value.is_some(), *field != EventField::ClaimedAt, "{field}"),
        }
    }
    let log = format!("{}/live", organization.project_id);
    assert_eq!(read["content_hash"], content_hash(&read, &log));
}

fn every_field_is_redacted_as_its_kind_says(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for field in EventField::ALL {
        let Some(personal) = personal(*field) else {
            assert!(matches!(redaction(*field), Redaction::Kept), "{field}");
            continue;
        };
        let id = project.store(event_with_field(*field, personal.clone()));
        let read = project.event(&id);
        let value = read.pointer(&pointer(*field)).expect("the field is there");
        let is_kept = value.to_string().contains(PERSONAL);
        match redaction(*field) {
            Redaction::Kept => assert_eq!(*value, personal, "{field}"),
            Redaction::Replaced => {
                assert!(
                    !is_kept && value.to_string().contains("[REDACTED]"),
                    "{field}: {value}"
                );
            }
            Redaction::Hashed => {
                assert!(!is_kept, "{field}: {value}");
                for filter in filters(*field) {
                    assert!(
                        found(&project, &query(*field, filter, PERSONAL)).contains(&id),
                        "{filter} by the original"
                    );
                }
                for exclusion in exclusions(*field) {
                    assert!(
                        !found(&project, &[(exclusion, PERSONAL)]).contains(&id),
                        "{exclusion} by the original"
                    );
                }
            }
        }
    }
}

fn every_filter_finds_by_its_field_and_by_nothing_that_is_hidden(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store(event());
    for field in EventField::ALL
        .iter()
        .filter(|field| !filters(**field).is_empty())
    {
        let sample = sample(*field).expect("a field with a filter is sent");
        let wanted = searched(&sample).to_owned();
        let id = project.store(event_with_field(*field, sample));
        let viewer = field.is_hideable().then(|| viewer_without(&organization, *field));
        for filter in filters(*field) {
            let query = query(*field, filter, &wanted);
            assert_eq!(
                found(&project, &query),
                BTreeSet::from([id.clone()]),
                "{filter}={wanted}"
            );
            if let Some(viewer) = &viewer {
                assert!(
                    found::<&str>(viewer, &[]).contains(&id),
                    "{field} is hidden, and the event is not"
                );
                assert_eq!(
                    found(viewer, &query),
                    BTreeSet::new(),
                    "{field} is hidden, {filter}={wanted}"
                );
            }
        }
        for exclusion in exclusions(*field) {
            let query = [(exclusion, wanted.as_str())];
            let others = found(&project, &query);
            assert!(
                !others.is_empty() && !others.contains(&id),
                "{exclusion}={wanted}"
            );
            if let Some(viewer) = &viewer {
                assert_eq!(
                    found(viewer, &query),
                    BTreeSet::new(),
                    "{field} is hidden, {exclusion}"
                );
            }
        }
    }
}

/// The value of a field for a viewer whose tier hides the field `hidden`; `None` if the viewer does not get it.
fn shown(full: &Value, field: EventField, hidden: EventField) -> Option<Value> {
    // The salt would tell which guess of the hidden field is right.
    if field == hidden || field == EventField::ContentSalt {
        return None;
    }
    let mut value = full.pointer(&pointer(field))?.clone();
    match (field, hidden.as_str().split_once('.')) {
        (EventField::OnBehalfOf, Some(("actor", member))) => value = merge(value, json!({member: null})),
        (EventField::Targets, Some(("target", member))) => {
            for target in value.as_array_mut().expect("an array") {
                *target = merge(target.take(), json!({member: null}));
            }
        }
        _ => {}
    }
    Some(value)
}

fn every_field_is_hidden_by_its_tier_or_cannot_be(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stored = merge(full_event(), json!({"tenant_id": "tenant-1"}));
    let id = organization.project().store(stored);
    let full = organization.project().event(&id);
    for hidden in EventField::ALL {
        if !hidden.is_hideable() {
            let tier = json!({"name": "refused", "hidden_fields": [hidden.as_str()]});
            let response = organization.master().post("/viewer-tiers").json(tier).send();
            response.expect_error(400, "validation_error");
            continue;
        }
        let viewer = viewer_without(&organization, *hidden);
        let listed = viewer.find(&[]);
        let followed = viewer
            .get("/events/feed")
            .send()
            .expect_status(200)
            .list("events");
        assert_eq!((listed.len(), &followed), (1, &listed));
        for field in EventField::ALL {
            assert_eq!(
                listed[0].pointer(&pointer(*field)),
                shown(&full, *field, *hidden).as_ref(),
                "{field} when {hidden} is hidden"
            );
        }
    }
}

fn every_field_has_a_column(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = project.get("/events/export").query("format", "csv").send_raw();
    let header = String::from_utf8(response.bytes).expect("CSV in UTF-8");
    let column = |field: &EventField| field.as_str().replace("context.", "").replace('.', "_");
    let mut expected: Vec<_> = EventField::ALL.iter().map(column).collect();
    expected.push("erased".to_owned());
    assert_eq!(header.trim_end().split(',').collect::<Vec<_>>(), expected);
}

fn every_parameter_of_a_query_is_accounted_for(database: DatabaseKind) {
    let response = Organization::fresh(database)
        .anonymous()
        .get("/openapi.json")
        .send_raw();
    let document: Value = serde_json::from_slice(&response.bytes).expect("the document is JSON");
    let fields = EventField::ALL.iter();
    let filters: BTreeSet<&str> = fields
        .flat_map(|field| filters(*field).into_iter().chain(exclusions(*field)))
        .collect();
    for path in ["/api/v1/events", "/api/v1/events/export", "/api/v1/events/feed"] {
        let parameters = document["paths"][path]["get"]["parameters"]
            .as_array()
            .expect("parameters");
        let resolved = parameters
            .iter()
            .map(|parameter| match parameter["$ref"].as_str() {
                Some(reference) => document
                    .pointer(&reference[1..])
                    .expect("a reference leads somewhere"),
                None => parameter,
            });
        let in_query = resolved.filter(|parameter| parameter["in"] == "query");
        let mut found: BTreeSet<&str> = in_query
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        found.retain(|name| !OTHER_PARAMETERS.contains(name));
        let is_expected = |name: &&str| path != "/api/v1/events/feed" || *name != NOT_IN_THE_FEED;
        let expected: BTreeSet<&str> = filters.iter().copied().filter(is_expected).collect();
        assert_eq!(found, expected, "{path}");
        let guide = guide(path);
        for name in expected {
            let is_listed = |line: &str| {
                let first_cell = line.strip_prefix('|').and_then(|line| line.split('|').next());
                first_cell.is_some_and(|cell| cell.contains(&format!("`{name}`")))
            };
            assert!(
                guide.lines().any(is_listed),
                "{name} in the guide's table for {path}"
            );
        }
    }
}

/// The part of the guides that lists the parameters of a path. Those of the export are those of the list.
fn guide(path: &str) -> String {
    let (file, heading) = match path {
        "/api/v1/events/feed" => ("feed.md", ""),
        _ => ("api.md", "### GET /events\n"),
    };
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(file);
    let text = std::fs::read_to_string(file).expect("read the documentation");
    let (_, section) = text.split_once(heading).expect("the heading of the section");
    match heading {
        "" => text,
        _ => section.split("\n### ").next().unwrap_or_default().to_owned(),
    }
}
