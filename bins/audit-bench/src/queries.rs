//! The queries: every filter alone and every two of them together, made from one list.

use crate::generator::{PageReader, Query};
use crate::plan::DEEP_PAGE;
use crate::workload::{Epoch, timestamp_text, vocabulary as words};
use anyhow::Context;
use serde::{Deserialize, Serialize};

const EVENTS_PATH: &str = "/api/v1/events";
/// How many of the newest events the filter `start_date` leaves, as a rare one.
const NEWEST_EVENTS: u32 = 200;

/// How many events a value finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// A tenth of all or more.
    Common,
    /// About 200, however many there are.
    Rare,
    /// None.
    Absent,
}

impl Level {
    const ALL: [Self; 3] = [Self::Common, Self::Rare, Self::Absent];
    /// The ways in which two filters are put together.
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

/// A documented filter, with a value of each level.
#[derive(Debug)]
struct Filter {
    name: &'static str,
    /// Parameters of the query with their values, by level.
    values: [Vec<(&'static str, String)>; 3],
}

/// What is asked, and what is known about the answer beforehand.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct QueryKind {
    /// The filters, joined by `+`.
    pub(crate) filters: String,
    /// The levels of their values in the same order, joined by `+`.
    pub(crate) levels: String,
    /// From 1.
    pub(crate) page: u32,
    /// How many filters there are.
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

/// The times that queries ask for.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    pub(crate) epoch: Epoch,
    pub(crate) now_ms: i64,
    /// `occurred_at` of the [`NEWEST_EVENTS`]th newest event.
    pub(crate) newest_since: String,
}

impl Times {
    /// Asks the service for what it has.
    pub(crate) fn read(epoch: Epoch, now_ms: i64, reader: &mut PageReader) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Page {
            events: Vec<Event>,
        }
        #[derive(Deserialize)]
        struct Event {
            occurred_at: String,
        }
        let (body, _) = reader.get(&format!("{EVENTS_PATH}?limit={NEWEST_EVENTS}"))?;
        let page: Page = serde_json::from_slice(body).context("a page of events cannot be read")?;
        let oldest = page.events.last().context("there are no events")?;
        Ok(Self {
            epoch,
            now_ms,
            newest_since: oldest.occurred_at.clone(),
        })
    }
}

fn filters(times: &Times) -> Vec<Filter> {
    let one = |name: &'static str, parameter: &'static str, levels: words::Levels| Filter {
        name,
        values: [levels.common, levels.rare, levels.absent].map(|value| vec![(parameter, value.to_owned())]),
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
    let (rare, empty) = (times.epoch.rare_hour(), times.epoch.empty_hour());
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
            values: [range((times.epoch.first_ms(), soon)), range(rare), range(empty)],
        },
        one("search word", "search", words::WORD),
        one("search two words", "search", words::TWO_WORDS),
        one("search prefix", "search", words::WORD_PREFIX),
    ]
}

/// All of them. Which deep pages exist shows when they are asked for.
pub(crate) fn kinds(times: &Times) -> Vec<(QueryKind, Query)> {
    let filters = filters(times);
    let mut all = vec![kind(&[], 1), kind(&[], DEEP_PAGE)];
    for filter in &filters {
        all.extend(Level::ALL.map(|level| kind(&[(filter, level)], 1)));
        all.push(kind(&[(filter, Level::Common)], DEEP_PAGE));
    }
    for (index, first) in filters.iter().enumerate() {
        for second in filters[index + 1..]
            .iter()
            .filter(|second| !first.excludes(second))
        {
            all.extend(Level::PAIRS.map(|[a, b]| kind(&[(first, a), (second, b)], 1)));
            all.push(kind(
                &[(first, Level::Common), (second, Level::Common)],
                DEEP_PAGE,
            ));
        }
    }
    all.extend(words::NEVER_TOGETHER.iter().map(never_together));
    all
}

impl Filter {
    /// Whether both need the same parameter.
    fn excludes(&self, other: &Self) -> bool {
        let [own, ..] = &self.values;
        let [others, ..] = &other.values;
        own.iter()
            .any(|(name, _)| others.iter().any(|(other, _)| name == other))
    }

    fn parameters(&self, level: Level) -> &[(&'static str, String)] {
        match level {
            Level::Common => &self.values[0],
            Level::Rare => &self.values[1],
            Level::Absent => &self.values[2],
        }
    }
}

fn kind(parts: &[(&Filter, Level)], page: u32) -> (QueryKind, Query) {
    let join = |names: Vec<&str>| names.join(" + ");
    let is_absent = parts.iter().any(|(_, level)| *level == Level::Absent);
    let expected = match parts {
        _ if is_absent => Expected::Nothing,
        [] | [_] => Expected::Something,
        _ => Expected::Unknown,
    };
    let parameters = parts.iter().flat_map(|(filter, level)| filter.parameters(*level));
    let kind = QueryKind {
        filters: if parts.is_empty() {
            "none".to_owned()
        } else {
            join(parts.iter().map(|(filter, _)| filter.name).collect())
        },
        levels: join(parts.iter().map(|(_, level)| level.name()).collect()),
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
        levels: "common, never together".to_owned(),
        page: 1,
        filter_count: 2,
        expected: Expected::Nothing,
    };
    let target = target(pair.iter().copied());
    (kind, Query { target, page: 1 })
}

fn target<'a>(parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let parts: Vec<String> = parameters
        .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
        .collect();
    match parts.as_slice() {
        [] => EVENTS_PATH.to_owned(),
        parts => format!("{EVENTS_PATH}?{}", parts.join("&")),
    }
}

fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'*' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn all() -> Vec<(QueryKind, Query)> {
        kinds(&Times {
            epoch: Epoch {
                began_ms: 1_768_473_000_000,
            },
            now_ms: 1_768_473_100_000,
            newest_since: "2026-01-15T10:31:30.000Z".to_owned(),
        })
    }

    #[test]
    fn every_filter_is_asked_alone_and_with_every_other() {
        let all = all();
        let firsts = |filters: &str| {
            let is_first = |kind: &&QueryKind| kind.filters == filters && kind.page == 1;
            all.iter().map(|(kind, _)| kind).filter(is_first).count()
        };
        assert_eq!((firsts("none"), firsts("category")), (1, 3));
        assert_eq!(firsts("tenant_id + search word"), 6);
        assert_eq!(firsts("start_date + end_date"), 6);
        // 14 filters make 91 pairs, of which 6 need one parameter twice.
        let pairs: HashSet<&str> = all
            .iter()
            .filter(|(kind, _)| kind.filter_count == 2 && !kind.levels.contains("never"))
            .map(|(kind, _)| kind.filters.as_str())
            .collect();
        assert_eq!(pairs.len(), 85);
    }

    #[test]
    fn no_query_is_asked_twice_and_none_has_a_parameter_twice() {
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
    fn what_is_asked_for_is_encoded() {
        let pair = [("search", "a b"), ("start_date", "2026-01-15T10:30:00.000Z")];
        assert_eq!(
            target(pair.into_iter()),
            "/api/v1/events?search=a%20b&start_date=2026-01-15T10%3A30%3A00.000Z"
        );
    }
}
