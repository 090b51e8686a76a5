//! The filters of queries of events.

use crate::input::Fielded;
use crate::parameters::{read_time_in, take};
use crate::schema::{ADDITIVE, ActionFilterText, AnyTime, SearchText, Text, Word, absent_not_null, words_of};
use audit_domain::{
    ActorType, Bound, Category, Condition, EventFilter, Facet, FacetValues, Fields, MetadataPath, Outcome,
    Search, SearchMode, SearchScope, TimeZone, ValuePattern, limits,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

words_of! {
    SearchMode: "SearchMode", as_str, "How the last word of a search is compared.";
    SearchScope: "SearchScope", as_str, "Where a search looks.";
}

/// Which events, whenever they occurred: a condition on each facet, of two parameters; and on each member of the metadata that the
/// project names, which only the descriptions of the endpoints mention: the parameters of OpenAPI have fixed names.
pub(super) struct FilterQuery;

impl JsonSchema for FilterQuery {
    fn schema_name() -> Cow<'static, str> {
        "FilterQuery".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        for facet in Facet::ALL {
            let mut demanded = parameter(generator, *facet);
            if matches!(facet, Facet::IpAddress | Facet::SessionId | Facet::Outcome) {
                demanded.insert(ADDITIVE.to_owned(), json!(true));
            }
            properties.insert(facet.as_str().to_owned(), demanded.into());
        }
        for facet in Facet::ALL {
            let mut excluded = parameter(generator, *facet);
            let name = facet.as_str();
            let description =
                format!("Not the events that `{name}` with this value finds. Several values: none of them.");
            excluded.insert("description".to_owned(), json!(description));
            excluded.insert(ADDITIVE.to_owned(), json!(true));
            properties.insert(facet.exclusion().to_owned(), excluded.into());
        }
        json_schema!({"type": "object", "properties": properties})
    }
}

/// A parameter with values of a facet.
fn parameter(generator: &mut SchemaGenerator, facet: Facet) -> Schema {
    let values = match facet.values() {
        FacetValues::Identifier | FacetValues::Text | FacetValues::Address => {
            generator.subschema_for::<IdText>()
        }
        FacetValues::ActorType => generator.subschema_for::<Word<ActorType>>(),
        FacetValues::Category => generator.subschema_for::<Word<Category>>(),
        FacetValues::Action => generator.subschema_for::<ActionFilterText>(),
        FacetValues::Outcome => generator.subschema_for::<Word<Outcome>>(),
    };
    let (description, example) = about(facet);
    json_schema!({
        "type": "array",
        "items": values,
        "maxItems": Condition::PATTERNS_MAX,
        "description": format!("{description} Several values: one of them."),
        "examples": [[example]],
    })
}

/// The description of the parameter that demands a value, and an example.
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
        Facet::ActorType => ("Actors of this type.", "user"),
        Facet::Action => (
            "Exactly this action, or a beginning and a `*`: `user.*` finds `user.created` and `user.role.updated`, not `user`.",
            "user.*",
        ),
        Facet::Category => ("This category.", "admin"),
        Facet::TargetId => ("Exactly this target, any of `targets`; as `actor_id`.", "user_2"),
        Facet::TargetType => ("Exactly this type of a target, any of `targets`.", "user"),
        Facet::IpAddress => (
            "This address of the context, or an address of this network: `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`. A text \
             that is no address is compared as it is stored.",
            "203.0.113.0/24",
        ),
        Facet::SessionId => ("Exactly this session of the context; as `actor_id`.", "sess_1"),
        Facet::Outcome => ("This outcome.", "denied"),
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
    /// offset, or a date alone, which is its first instant, in UTC where no parameter gives a time zone.
    #[schemars(example = &"2026-01-15T00:00:00Z")]
    start_date: Option<AnyTime>,
    /// Events that occurred at this time or earlier: ISO 8601 with an
    /// offset, or a date alone, which is its last instant, in UTC where no parameter gives a time zone.
    #[schemars(example = &"2026-01-15T23:59:59.999Z")]
    end_date: Option<AnyTime>,
    /// Words, all of which must be words of the action, the actor's name or the target's name; a word with a `*` behind
    /// it must begin one, and a word in a script without spaces be any part of one. Words in quotation marks must follow each other
    /// in one text. Case, width, and accents of Latin, Greek and Cyrillic letters do not count. At least one letter or digit, at most
    /// 16 words, 2 of them with a `*`.
    #[schemars(example = &"jane upd*")]
    search: Option<SearchText>,
    /// With `prefix` the last word of `search` is compared as if a `*` were behind it: for a text that is still being typed. By
    /// default `words`.
    #[schemars(extend("x-additive" = true), example = &"prefix")]
    search_mode: Option<Word<SearchMode>>,
    /// Where `search` looks, by default `names`: the action, the actor's name and the target's name. `ids`: the ids of the actor, of
    /// the party that it acts for, and of the targets, by their words or as a whole. `email`: the actor's e-mail address as a whole.
    /// `metadata`: the texts of the metadata, which no index has. Several values: any of them.
    #[schemars(
        extend("x-additive" = true, "maxItems" = SearchScope::ALL.len()),
        example = &["names", "ids"]
    )]
    search_in: Option<Vec<Word<SearchScope>>>,
}

type IdText = Text<1, { limits::ID_CHARS_MAX }>;

/// Reads the values of a facet that a parameter has.
fn read_patterns(fields: &mut Fields<'_>, facet: Facet, parameter: &str) -> BTreeSet<ValuePattern> {
    let chars_max = match facet.values() {
        FacetValues::Identifier | FacetValues::Text | FacetValues::Address => limits::ID_CHARS_MAX,
        FacetValues::ActorType | FacetValues::Category | FacetValues::Action | FacetValues::Outcome => {
            usize::MAX
        }
    };
    let patterns = read_texts(fields, parameter, chars_max).into_iter();
    patterns
        .filter_map(|text| match read_pattern(facet, text) {
            Ok(pattern) => Some(pattern),
            Err(message) => fields.violate(parameter, message),
        })
        .collect()
}

/// Reads the texts of a parameter; none with the violation noted.
fn read_texts(fields: &mut Fields<'_>, parameter: &str, chars_max: usize) -> Vec<String> {
    let texts = fields.repeated_text(parameter, 1, chars_max);
    if texts.len() > Condition::PATTERNS_MAX {
        let message = format_args!("must be given at most {} times", Condition::PATTERNS_MAX);
        fields.violate::<()>(parameter, message);
        return Vec::new();
    }
    texts
}

/// Reads the conditions on members of the metadata, whose parameters are their paths. Which paths may be used is the project's setting.
fn read_metadata(fields: &mut Fields<'_>) -> BTreeMap<MetadataPath, Condition> {
    let mut conditions = BTreeMap::<MetadataPath, Condition>::new();
    let names =
        [MetadataPath::PREFIX, MetadataPath::EXCLUDING_PREFIX].map(|prefix| fields.names_with(prefix));
    for name in names.concat() {
        let texts = read_texts(fields, &name, limits::ID_CHARS_MAX);
        let excluded = name.strip_prefix(MetadataPath::EXCLUSION);
        let path = match excluded.unwrap_or(&name).parse() {
            Ok(path) => path,
            Err(error) => {
                fields.violate::<()>(&name, error);
                continue;
            }
        };
        let condition = conditions.entry(path).or_default();
        let patterns = match excluded {
            Some(_) => &mut condition.none_of,
            None => &mut condition.any_of,
        };
        patterns.extend(texts.into_iter().map(ValuePattern::Is));
    }
    conditions
}

fn read_pattern(facet: Facet, text: String) -> Result<ValuePattern, String> {
    fn refused(error: impl Display) -> String {
        error.to_string()
    }
    match facet.values() {
        FacetValues::Identifier | FacetValues::Text => {}
        FacetValues::ActorType => _ = text.parse::<ActorType>().map_err(refused)?,
        FacetValues::Category => _ = text.parse::<Category>().map_err(refused)?,
        FacetValues::Outcome => _ = text.parse::<Outcome>().map_err(refused)?,
        FacetValues::Action => return ValuePattern::of_action(&text).map_err(refused),
        FacetValues::Address => return ValuePattern::of_address(&text).map_err(refused),
    }
    Ok(ValuePattern::Is(text))
}

impl Fielded for FilterQuery {
    type Read = EventFilter;

    fn read(fields: &mut Fields<'_>) -> Option<EventFilter> {
        let mut filter = EventFilter {
            metadata: read_metadata(fields),
            ..EventFilter::default()
        };
        for facet in Facet::ALL {
            let condition = Condition {
                any_of: read_patterns(fields, *facet, facet.as_str()),
                none_of: read_patterns(fields, *facet, facet.exclusion()),
            };
            if condition != Condition::default() {
                filter.conditions.insert(*facet, condition);
            }
        }
        Some(filter)
    }

    fn is_repeatable(parameter: &str) -> bool {
        let mut facets = Facet::ALL.iter();
        facets.any(|facet| parameter == facet.as_str() || parameter == facet.exclusion())
            || parameter.starts_with(MetadataPath::PREFIX)
            || parameter.starts_with(MetadataPath::EXCLUDING_PREFIX)
    }
}

impl HistoryQuery {
    /// Reads the parameters. A date alone is a day of the time zone.
    pub(super) fn read_in(fields: &mut Fields<'_>, zone: &TimeZone) -> Option<EventFilter> {
        let filter = FilterQuery::read(fields)?;
        let mode = fields.optional_parsed("search_mode");
        let mode = mode.unwrap_or(SearchMode::Words);
        Some(EventFilter {
            start: read_time_in(fields, "start_date", Bound::Start, zone),
            end: read_time_in(fields, "end_date", Bound::End, zone),
            search: read_search(fields, mode),
            ..filter
        })
    }
}

impl Fielded for HistoryQuery {
    type Read = EventFilter;

    fn read(fields: &mut Fields<'_>) -> Option<EventFilter> {
        Self::read_in(fields, &TimeZone::utc())
    }

    fn is_repeatable(parameter: &str) -> bool {
        parameter == SEARCH_IN || FilterQuery::is_repeatable(parameter)
    }
}

const SEARCH_IN: &str = "search_in";

fn read_search(fields: &mut Fields<'_>, mode: SearchMode) -> Option<Search> {
    let scopes = read_scopes(fields);
    let text = fields.optional_text("search", 0, usize::MAX)?;
    take(fields, Search::parse_in(mode, scopes?, &text))
}

/// Where a search looks; `None` with the violation noted.
fn read_scopes(fields: &mut Fields<'_>) -> Option<BTreeSet<SearchScope>> {
    let names = fields.repeated_text(SEARCH_IN, 0, usize::MAX);
    if names.is_empty() {
        return Some(Search::DEFAULT_SCOPES.into());
    }
    if names.len() > SearchScope::ALL.len() {
        let message = format_args!("must be given at most {} times", SearchScope::ALL.len());
        return fields.violate(SEARCH_IN, message);
    }
    let scopes = names.iter().map(|name| name.parse::<SearchScope>());
    match scopes.collect() {
        Ok(scopes) => Some(scopes),
        Err(error) => fields.violate(SEARCH_IN, error),
    }
}
