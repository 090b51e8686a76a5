//! The measured queries: every filter alone and every pair of filters.

use crate::generator::{HttpClient, Query};
use crate::plan::DEEP_PAGE;
use crate::workload::{RunTimes, timestamp_text, vocabulary as words};
use anyhow::Context;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

const EVENTS_PATH: &str = "/api/v1/events";
const SUMMARY_PATH: &str = "/api/v1/events/summary";
/// Events that the rare value of `start_date` matches.
const NEWEST_EVENTS: u32 = 200;
/// Escaped in query strings: everything but unreserved characters (RFC 3986) and the `*` of prefixes.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'*');

/// How many events a filter value matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Selectivity {
    /// A tenth of all events or more.
    Common,
    /// About 200, independent of the number of events stored.
    Rare,
    /// None.
    Absent,
}

impl Selectivity {
    const ALL: [Self; 3] = [Self::Common, Self::Rare, Self::Absent];
    /// The measured combinations of two filters.
    const PAIRS: [[Self; 2]; 6] = [
        [Self::Common, Self::Common],
        [Self::Rare, Self::Common],
        [Self::Common, Self::Rare],
        [Self::Rare, Self::Rare],
        [Self::Absent, Self::Common],
        [Self::Common, Self::Absent],
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Rare => "rare",
            Self::Absent => "absent",
        }
    }
}

/// A documented filter with a value of each selectivity.
#[derive(Debug)]
struct Filter {
    name: &'static str,
    /// Query parameters and their values, by selectivity.
    values: [Vec<(&'static str, String)>; 3],
}

/// A query and the expected size of its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct QueryKind {
    /// Names of the filters, joined by `+`.
    pub(crate) filters: String,
    /// Selectivities of their values in the same order, joined by `+`.
    pub(crate) selectivity: String,
    /// From 1.
    pub(crate) page: u32,
    #[serde(skip)]
    pub(crate) filter_count: usize,
    #[serde(skip)]
    pub(crate) expected: Expected,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Expected {
    Nothing,
    Something,
    #[default]
    Unknown,
}

/// Times for the date filters.
#[derive(Debug, Clone)]
pub(crate) struct QueryTimes {
    pub(crate) run: RunTimes,
    pub(crate) now_ms: i64,
    /// `occurred_at` of the [`NEWEST_EVENTS`]th newest event.
    pub(crate) newest_since: String,
}

impl QueryTimes {
    /// Reads the newest events of the service.
    pub(crate) fn read(run: RunTimes, now_ms: i64, client: &mut HttpClient) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Page {
            events: Vec<Event>,
        }
        #[derive(Deserialize)]
        struct Event {
            occurred_at: String,
        }
        let (body, _) = client.get(&format!("{EVENTS_PATH}?limit={NEWEST_EVENTS}"))?;
        let page: Page = serde_json::from_slice(body).context("malformed page of events")?;
        let oldest = page.events.last().context("there are no events")?;
        Ok(Self {
            run,
            now_ms,
            newest_since: oldest.occurred_at.clone(),
        })
    }
}

fn filters(times: &QueryTimes) -> Vec<Filter> {
    let one = |name: &'static str, parameter: &'static str, values: words::FilterValues| Filter {
        name,
        values: [values.common, values.rare, values.absent].map(|value| vec![(parameter, value.to_owned())]),
    };
    let date = |name: &'static str, values: [String; 3]| Filter {
        name,
        values: values.map(|value| vec![(name, value)]),
    };
    let range = |(start, end): (i64, i64)| {
        vec![
            ("start_date", timestamp_text(start)),
            ("end_date", timestamp_text(end)),
        ]
    };
    let (rare, empty) = (times.run.rare_hour(), times.run.empty_hour());
    let soon = times.now_ms + 3_600_000;
    vec![
        one("tenant_id", "tenant_id", words::TENANT),
        one("actor_id", "actor_id", words::ACTOR),
        one("actor_type", "actor_type", words::ACTOR_TYPE),
        one("action", "action", words::ACTION),
        one("action prefix", "action", words::ACTION_PREFIX),
        one("category", "category", words::CATEGORY),
        one("target_id", "target_id", words::TARGET),
        one("target_type", "target_type", words::TARGET_TYPE),
        date(
            "start_date",
            [
                timestamp_text(empty.0),
                times.newest_since.clone(),
                timestamp_text(soon),
            ],
        ),
        date(
            "end_date",
            [
                timestamp_text(soon),
                timestamp_text(rare.1),
                timestamp_text(empty.0),
            ],
        ),
        Filter {
            name: "date range",
            values: [range((times.run.first_ms(), soon)), range(rare), range(empty)],
        },
        one("search word", "search", words::WORD),
        one("search two words", "search", words::TWO_WORDS),
        one("search prefix", "search", words::WORD_PREFIX),
    ]
}

/// All queries. A result may turn out to end before its deep page.
pub(crate) fn kinds(times: &QueryTimes) -> Vec<(QueryKind, Query)> {
    let filters = filters(times);
    let mut all = vec![kind(&[], 1), kind(&[], DEEP_PAGE)];
    for filter in &filters {
        all.extend(Selectivity::ALL.map(|selectivity| kind(&[(filter, selectivity)], 1)));
        all.push(kind(&[(filter, Selectivity::Common)], DEEP_PAGE));
    }
    for (index, first) in filters.iter().enumerate() {
        for second in filters[index + 1..]
            .iter()
            .filter(|second| !first.excludes(second))
        {
            all.extend(Selectivity::PAIRS.map(|[a, b]| kind(&[(first, a), (second, b)], 1)));
            all.push(kind(
                &[(first, Selectivity::Common), (second, Selectivity::Common)],
                DEEP_PAGE,
            ));
        }
    }
    all.extend(words::NEVER_TOGETHER.iter().map(never_together));
    all.push(summary(&[]));
    for filter in &filters {
        all.extend(Selectivity::ALL.map(|selectivity| summary(&[(filter, selectivity)])));
    }
    all
}

/// The summary of a query, with the numbers of events by category. It has no events.
fn summary(parts: &[(&Filter, Selectivity)]) -> (QueryKind, Query) {
    let (kind, query) = kind(parts, 1);
    let kind = QueryKind {
        filters: format!("summary: {}", kind.filters),
        expected: Expected::Nothing,
        ..kind
    };
    let parameters = query.target.strip_prefix(EVENTS_PATH).unwrap_or_default();
    let separator = if parameters.is_empty() { '?' } else { '&' };
    let target = format!("{SUMMARY_PATH}{parameters}{separator}split=category");
    (kind, Query { target, ..query })
}

impl Filter {
    /// Whether both filters use the same query parameter.
    fn excludes(&self, other: &Self) -> bool {
        let [own, ..] = &self.values;
        let [others, ..] = &other.values;
        own.iter()
            .any(|(name, _)| others.iter().any(|(other, _)| name == other))
    }

    fn parameters(&self, selectivity: Selectivity) -> &[(&'static str, String)] {
        match selectivity {
            Selectivity::Common => &self.values[0],
            Selectivity::Rare => &self.values[1],
            Selectivity::Absent => &self.values[2],
        }
    }
}

fn kind(parts: &[(&Filter, Selectivity)], page: u32) -> (QueryKind, Query) {
    let join = |names: Vec<&str>| names.join(" + ");
    let is_absent = parts
        .iter()
        .any(|(_, selectivity)| *selectivity == Selectivity::Absent);
    let expected = match parts {
        _ if is_absent => Expected::Nothing,
        [] | [_] => Expected::Something,
        _ => Expected::Unknown,
    };
    let parameters = parts
        .iter()
        .flat_map(|(filter, selectivity)| filter.parameters(*selectivity));
    let kind = QueryKind {
        filters: if parts.is_empty() {
            "none".to_owned()
        } else {
            join(parts.iter().map(|(filter, _)| filter.name).collect())
        },
        selectivity: join(parts.iter().map(|(_, selectivity)| selectivity.name()).collect()),
        page,
        filter_count: parts.len(),
        expected,
    };
    let target = target(parameters.map(|(name, value)| (*name, value.as_str())));
    (kind, Query { target, page })
}

fn never_together(pair: &[(&'static str, &'static str); 2]) -> (QueryKind, Query) {
    let kind = QueryKind {
        filters: pair.map(|(name, _)| name).join(" + "),
        selectivity: "common, never together".to_owned(),
        page: 1,
        filter_count: 2,
        expected: Expected::Nothing,
    };
    let target = target(pair.iter().copied());
    (kind, Query { target, page: 1 })
}

fn target<'a>(parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let parts: Vec<String> = parameters
        .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, ESCAPED)))
        .collect();
    match parts.as_slice() {
        [] => EVENTS_PATH.to_owned(),
        parts => format!("{EVENTS_PATH}?{}", parts.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn all() -> Vec<(QueryKind, Query)> {
        kinds(&QueryTimes {
            run: RunTimes {
                began_ms: 1_768_473_000_000,
            },
            now_ms: 1_768_473_100_000,
            newest_since: "2026-01-15T10:31:30.000Z".to_owned(),
        })
    }

    #[test]
    fn every_filter_is_measured_alone_and_with_every_other() {
        let all = all();
        let firsts = |filters: &str| {
            let is_first = |kind: &&QueryKind| kind.filters == filters && kind.page == 1;
            all.iter().map(|(kind, _)| kind).filter(is_first).count()
        };
        assert_eq!((firsts("none"), firsts("category")), (1, 3));
        assert_eq!(firsts("tenant_id + search word"), 6);
        assert_eq!(firsts("start_date + end_date"), 6);
        // 14 filters make 91 pairs, 6 of which use one parameter twice.
        let pairs: HashSet<&str> = all
            .iter()
            .filter(|(kind, _)| kind.filter_count == 2 && !kind.selectivity.contains("never"))
            .map(|(kind, _)| kind.filters.as_str())
            .collect();
        assert_eq!(pairs.len(), 85);
    }

    #[test]
    fn no_query_and_no_parameter_of_a_query_is_repeated() {
        let all = all();
        let different: HashSet<String> = all
            .iter()
            .map(|(_, query)| format!("{} {}", query.page, query.target))
            .collect();
        assert_eq!(different.len(), all.len());
        for (_, query) in &all {
            let names: Vec<&str> = query.target.split(['?', '&']).skip(1).collect();
            let names: Vec<&str> = names.iter().filter_map(|part| part.split('=').next()).collect();
            let unique: HashSet<&&str> = names.iter().collect();
            assert_eq!(unique.len(), names.len(), "{}", query.target);
        }
    }

    #[test]
    fn filter_values_are_percent_encoded() {
        let pair = [("search", "a b*"), ("start_date", "2026-01-15T10:30:00.000Z")];
        assert_eq!(
            target(pair.into_iter()),
            "/api/v1/events?search=a%20b*&start_date=2026-01-15T10%3A30%3A00.000Z"
        );
    }
}
