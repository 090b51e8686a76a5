//! The filters of queries of events.

use crate::input::Fielded;
use crate::parameters::{read_time, take};
use crate::schema::{ADDITIVE, ActionFilterText, AnyTime, SearchText, Text, Word, absent_not_null};
use audit_domain::{
    ActorType, Bound, Category, Condition, EventFilter, Facet, FacetValues, Fields, Search, Violations,
    limits,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Which events, whenever they occurred: a condition on each facet.
pub(super) struct FilterQuery;

impl JsonSchema for FilterQuery {
    fn schema_name() -> Cow<'static, str> {
        "FilterQuery".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let properties = Facet::ALL.iter();
        let properties: Map<String, Value> = properties
            .map(|facet| (facet.as_str().to_owned(), parameter(generator, *facet).into()))
            .collect();
        json_schema!({"type": "object", "properties": properties})
    }
}

/// The parameter with which events are filtered by a facet.
fn parameter(generator: &mut SchemaGenerator, facet: Facet) -> Schema {
    let mut schema = match facet.values() {
        FacetValues::Identifier | FacetValues::Text => generator.subschema_for::<IdText>(),
        FacetValues::ActorType => generator.subschema_for::<Word<ActorType>>(),
        FacetValues::Category => generator.subschema_for::<Word<Category>>(),
        FacetValues::Action => generator.subschema_for::<ActionFilterText>(),
    };
    let (description, example) = about(facet);
    if !description.is_empty() {
        schema.insert("description".to_owned(), json!(description));
    }
    schema.insert("examples".to_owned(), json!([example]));
    if matches!(facet, Facet::IpAddress | Facet::SessionId) {
        schema.insert(ADDITIVE.to_owned(), json!(true));
    }
    schema
}

/// The description of the parameter, beyond that of its words, and an example.
const fn about(facet: Facet) -> (&'static str, &'static str) {
    match facet {
        Facet::TenantId => (
            "Exactly this tenant. With a viewer token it is always the token's.",
            "acme",
        ),
        Facet::ActorId => (
            "Exactly this actor. The original id also finds events in which redaction replaced it by its hash.",
            "user_1",
        ),
        Facet::ActorType => ("", "user"),
        Facet::Action => (
            "Exactly this action, or a beginning and a `*`: `user.*` finds `user.created` and `user.role.updated`, not `user`.",
            "user.*",
        ),
        Facet::Category => ("", "admin"),
        Facet::TargetId => ("Exactly this target; as `actor_id`.", "user_2"),
        Facet::TargetType => ("Exactly this type of target.", "user"),
        Facet::IpAddress => (
            "Exactly this address of the context, as it is stored.",
            "203.0.113.7",
        ),
        Facet::SessionId => ("Exactly this session of the context; as `actor_id`.", "sess_1"),
    }
}

/// Which events among those that have happened.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct HistoryQuery {
    #[schemars(flatten)]
    filter: FilterQuery,
    /// Events that occurred at this time or later: ISO 8601 with an
    /// offset, or a date alone, which is its first instant in UTC.
    #[schemars(example = &"2026-01-15T00:00:00Z")]
    start_date: Option<AnyTime>,
    /// Events that occurred at this time or earlier: ISO 8601 with an
    /// offset, or a date alone, which is its last instant in UTC.
    #[schemars(example = &"2026-01-15T23:59:59.999Z")]
    end_date: Option<AnyTime>,
    /// Words, all of which must be words of the action, the actor's name or the target's name; a word with a `*` behind
    /// it must begin one. At least one letter or digit, at most 16 different words, 2 of them with a `*`.
    #[schemars(example = &"jane upd*")]
    search: Option<SearchText>,
}

type IdText = Text<1, { limits::ID_CHARS_MAX }>;

/// Reads a condition on a facet.
fn read_condition(fields: &mut Fields<'_>, facet: Facet) -> Option<Condition> {
    let name = facet.as_str();
    match facet.values() {
        FacetValues::Identifier | FacetValues::Text => fields
            .optional_text(name, 1, limits::ID_CHARS_MAX)
            .map(Condition::is),
        FacetValues::ActorType => fields.optional_parsed::<ActorType>(name).map(of_word),
        FacetValues::Category => fields.optional_parsed::<Category>(name).map(of_word),
        FacetValues::Action => read_with(fields, name, Condition::on_action),
    }
}

fn of_word(word: impl ToString) -> Condition {
    Condition::is(word.to_string())
}

impl Fielded for FilterQuery {
    type Read = EventFilter;

    fn read(fields: &mut Fields<'_>) -> Option<EventFilter> {
        let facets = Facet::ALL.iter();
        let conditions = facets.filter_map(|facet| Some((*facet, read_condition(fields, *facet)?)));
        Some(EventFilter {
            conditions: conditions.collect(),
            ..EventFilter::default()
        })
    }
}

impl Fielded for HistoryQuery {
    type Read = EventFilter;

    fn read(fields: &mut Fields<'_>) -> Option<EventFilter> {
        let EventFilter { conditions, .. } = FilterQuery::read(fields)?;
        Some(EventFilter {
            conditions,
            start: read_time(fields, "start_date", Bound::Start),
            end: read_time(fields, "end_date", Bound::End),
            search: read_with(fields, "search", Search::parse),
        })
    }
}

fn read_with<T>(
    fields: &mut Fields<'_>,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, Violations>,
) -> Option<T> {
    let text = fields.optional_text(name, 0, usize::MAX)?;
    take(fields, parse(&text))
}
