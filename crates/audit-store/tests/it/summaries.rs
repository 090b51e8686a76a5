//! Summaries count exactly the events that match the definition of a filter.

use crate::finding::{any_event, any_filter, expected, pages, thinned};
use crate::numbered::open_without_indexing;
use crate::{NOW, append, create_project, destination, open, prepare};
use audit_domain::{
    Buckets, Category, Condition, EventFilter, Facet, Interval, ProjectId, Search, StoredEvent, TimeZone,
    Timestamp, TopField, ValuePattern, ViewerTier,
};
use audit_store::{Destination, EventSummary, Store, SummaryQuery, SummaryRefusal, TOP_EVENTS_MAX};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn query(
    to: &Destination,
    filter: &EventFilter,
    tier: Option<&ViewerTier>,
    interval: Option<Interval>,
) -> SummaryQuery {
    SummaryQuery {
        ledger_id: to.ledger_id,
        filter: filter.clone(),
        tier: tier.cloned(),
        interval,
        zone: TimeZone::utc(),
        splits_by_category: true,
    }
}

pub(crate) fn summary(store: &Store, query: &SummaryQuery) -> Result<EventSummary, SummaryRefusal> {
    store
        .read(|reader| reader.summary(query))
        .expect("the events are counted")
}

/// The summary of these events, counted one by one.
fn counted(query: &SummaryQuery, events: &[StoredEvent]) -> EventSummary {
    let times = || events.iter().map(|event| event.occurred_at);
    let first = query.filter.start.or(times().min());
    let last = query.filter.end.or(times().max());
    let buckets = match first.zip(last) {
        Some((first, last))
            if !events.is_empty() || query.filter.start.is_some() && query.filter.end.is_some() =>
        {
            Buckets::between(query.interval, first, last, &query.zone).expect("few buckets")
        }
        _ => Buckets::none(query.interval),
    };
    let hides = |field| query.tier.as_ref().is_some_and(|tier| tier.hides(field));
    let mut of_bucket: Vec<(u64, BTreeMap<Category, u64>)> = vec![Default::default(); buckets.starts.len()];
    let mut values: BTreeMap<TopField, BTreeMap<String, u64>> = BTreeMap::new();
    for (position, event) in events.iter().enumerate() {
        let facets = event.facets().expect("a stored event");
        let number = buckets
            .starts
            .iter()
            .rposition(|start| *start <= event.occurred_at)
            .expect("a bucket");
        of_bucket[number].0 += 1;
        let category: Category = facets
            .get(Facet::Category)
            .expect("a category")
            .parse()
            .expect("a category");
        *of_bucket[number].1.entry(category).or_default() += 1;
        for field in TopField::ALL.iter().filter(|_| position < TOP_EVENTS_MAX) {
            if let Some(value) = facets.get(field.facet()) {
                *values
                    .entry(*field)
                    .or_default()
                    .entry(value.to_owned())
                    .or_default() += 1;
            }
        }
    }
    let top = TopField::ALL
        .iter()
        .filter(|field| !hides(field.facet().field()))
        .map(|field| {
            let mut values: Vec<(String, u64)> =
                values.remove(field).unwrap_or_default().into_iter().collect();
            values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            values.truncate(10);
            (*field, values)
        });
    let is_split = !hides(audit_domain::EventField::Category);
    EventSummary {
        interval: buckets.interval,
        buckets: buckets
            .starts
            .iter()
            .zip(of_bucket)
            .map(|(start, (count, categories))| audit_store::SummaryBucket {
                start: *start,
                count,
                categories: is_split.then(|| categories.into_iter().collect()),
            })
            .collect(),
        total: events.len() as u64,
        looked_at: events.len().min(TOP_EVENTS_MAX),
        top: top.collect(),
    }
}

/// Tiers that hide and restrict in every way.
fn tiers() -> Vec<ViewerTier> {
    let tier = |hidden: &[&str], categories: Option<&[Category]>, actions: Option<&[&str]>| ViewerTier {
        name: "t".parse().expect("a name"),
        categories: categories.map(<[Category]>::to_vec),
        actions: actions.map(|globs| globs.iter().map(|glob| glob.parse().expect("a glob")).collect()),
        hidden_fields: hidden.iter().map(|path| path.parse().expect("a path")).collect(),
        routes: None,
    };
    let mut tiers = ViewerTier::initial();
    tiers.push(tier(&["category", "actor"], None, None));
    tiers.push(tier(
        &["target.type"],
        Some(&[Category::Auth, Category::Admin]),
        Some(&["user.*", "*failed"]),
    ));
    tiers.push(tier(&["action"], None, Some(&["us*.created"])));
    tiers.push(tier(&[], Some(&[]), None));
    tiers
}

fn compare(
    store: &Store,
    to: &Destination,
    everything: &[StoredEvent],
    filter: &EventFilter,
    interval: Option<Interval>,
) {
    let tiers = tiers();
    for tier in std::iter::once(None).chain(tiers.iter().map(Some)) {
        let utc = query(to, filter, tier, interval);
        let found = expected(everything, filter, tier);
        // Clocks that are put back and forward among the events.
        let changes = [(-3_000, 16_200), (-600, 19_800)];
        let changes = changes.map(|(seconds, offset)| (NOW.plus_seconds(seconds), offset));
        let zoned = SummaryQuery {
            zone: TimeZone::new(19_800, changes),
            ..utc.clone()
        };
        for query in [utc, zoned] {
            let expected = counted(&query, &found);
            assert_eq!(summary(store, &query).as_ref(), Ok(&expected), "{query:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_summary_counts_the_events_that_match_the_filter(
        events in proptest::collection::vec((any_event(), 0..3_i64), 1..80),
        others in proptest::collection::vec(any_event(), 0..100),
        filters in proptest::collection::vec((any_filter(), any::<u16>(), any::<u16>(), 0..6_usize), 20),
        indexed in 0..80_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        create_project(&store, 2);
        create_project(&store, 1);
        let to = destination(&store, ProjectId::from_random([1; 16]));
        let other = destination(&store, ProjectId::from_random([2; 16]));
        let others = others.chunks(20).chain(std::iter::repeat(&[][..]));
        for (number, (chunk, elsewhere)) in events.chunks(7).zip(others).enumerate() {
            // A clean stop indexes the backlog, so that some events are in the index and the later ones are not.
            if number == indexed / 7 {
                drop(store);
                store = open(folder.path());
            }
            // Some events occurred minutes or days before the others.
            let event = |(event, age): &(serde_json::Value, i64)| {
                let mut event = event.clone();
                let at = event["occurred_at"].as_str().and_then(|at| Timestamp::parse_rfc3339(at).ok()).expect("a time");
                let seconds = [0, 61, 86_400][usize::try_from(*age).expect("an index")];
                event["occurred_at"] = json!(at.plus_seconds(-seconds).to_string());
                prepare(&to, &event, NOW, 9)
            };
            append(&store, &to, chunk.iter().map(event).collect());
            append(&store, &other, elsewhere.iter().map(|event| prepare(&other, event, NOW, 9)).collect());
        }
        let everything = pages(&store, &to, &EventFilter::default(), None, 50);
        for (filter, one, two, interval) in filters {
            // Days in minutes are more buckets than there may be, unless the filter has times.
            let interval = [None, Some(Interval::Month), Some(Interval::Week), Some(Interval::Day), Some(Interval::Hour)]
                .get(interval).copied().flatten();
            compare(&store, &to, &everything, &thinned(filter, one & two), interval);
        }
    }
}

fn store_days(store: &Store, to: &Destination, days: i64) -> Vec<StoredEvent> {
    for day in 0..days {
        let event = |number: i64| {
            let at = NOW.plus_seconds(-86_400 * day - number);
            json!({
                "action": format!("doc.opened_{number}"), "category": Category::ALL[(day % 6) as usize].as_str(), "tenant_id": "t",
                "actor": {"id": format!("a{number}"), "type": "user", "name": "x".repeat(70)}, "occurred_at": at.to_string(),
            })
        };
        append(
            store,
            to,
            (0..90)
                .map(|number| prepare(to, &event(number), NOW, day as u8))
                .collect(),
        );
    }
    pages(store, to, &EventFilter::default(), None, 200)
}

fn filter_of(action: Option<&str>, search: Option<&str>) -> EventFilter {
    let of_action = |text| {
        (
            Facet::Action,
            Condition::of(ValuePattern::of_action(text).expect("a pattern")),
        )
    };
    EventFilter {
        conditions: action.map(of_action).into_iter().collect(),
        search: search.map(|text| Search::parse(text).expect("a search")),
        ..EventFilter::default()
    }
}

/// The tokens of these filters also have other events, or there are too many of them.
#[test]
fn what_the_index_cannot_count_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let everything = store_days(&store, &to, 3);
    let words = [64, 65, 70].map(|length| "x".repeat(length));
    let searches = words.iter().flat_map(|word| [word.clone(), format!("{word}*")]);
    let mut filters: Vec<EventFilter> = searches.map(|search| filter_of(None, Some(&search))).collect();
    filters
        .extend(["doc.opened_*", "doc.opened_1*", "d*", "doc.*"].map(|action| filter_of(Some(action), None)));
    for filter in filters {
        compare(&store, &to, &everything, &filter, None);
    }
    let long = summary(&store, &query(&to, &filter_of(None, Some(&words[0])), None, None));
    assert_eq!(long.map(|summary| summary.total), Ok(0), "no event has this word");
    let whole = summary(&store, &query(&to, &filter_of(None, Some(&words[2])), None, None));
    assert_eq!(whole.map(|summary| summary.total), Ok(270));
}

/// The indexer of these stores does nothing before they are closed.
#[test]
fn events_are_counted_in_the_backlog_and_while_the_index_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_without_indexing(folder.path());
    let to = create_project(&store, 1);
    let everything = store_days(&store, &to, 5);
    let filters = [
        filter_of(None, None),
        filter_of(Some("doc.opened_7"), None),
        filter_of(None, Some("opened")),
    ];
    for filter in &filters {
        compare(&store, &to, &everything, filter, None);
    }
    drop(store);
    crate::rebuilding::remove_index(folder.path());
    let store = open_without_indexing(folder.path());
    assert_eq!(store.statistics().events_to_rebuild, 450);
    for filter in &filters {
        compare(&store, &to, &everything, filter, Some(Interval::Day));
    }
    drop(store);
    let store = open(folder.path());
    store.wait_for_rebuild();
    for filter in &filters {
        compare(&store, &to, &everything, filter, Some(Interval::Day));
    }
}

#[test]
fn a_range_of_time_has_at_most_1000_buckets() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    store_days(&store, &to, 2);
    let between = |minutes: i64, interval| {
        let filter = EventFilter {
            start: Some(NOW),
            end: Some(NOW.plus_seconds(60 * (minutes - 1))),
            ..EventFilter::default()
        };
        summary(&store, &query(&to, &filter, None, interval))
    };
    assert_eq!(
        between(1_000, Some(Interval::Minute)).map(|summary| summary.buckets.len()),
        Ok(1_000)
    );
    let refused = between(1_001, Some(Interval::Minute));
    assert!(
        matches!(refused, Err(SummaryRefusal::TooManyBuckets(_))),
        "{refused:?}"
    );
    assert_eq!(
        between(1_001, None).map(|summary| summary.interval),
        Ok(Interval::Hour)
    );
    // The whole time: the buckets are those of the events.
    let always = EventFilter {
        start: Some(Timestamp::MIN),
        end: Some(Timestamp::MAX),
        ..EventFilter::default()
    };
    let of_events = summary(&store, &query(&to, &always, None, None)).expect("a summary");
    assert_eq!((of_events.total, of_events.interval), (180, Interval::Hour));
    assert_eq!(of_events.buckets.len(), 25);
}

/// More events than are read, and than are looked at: a part is in several segments, and the rest in the backlog.
#[test]
fn frequent_values_are_those_of_the_newest_events() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let to = create_project(&store, 1);
    for batch in 0..12_u8 {
        if batch == 9 {
            drop(store);
            store = open_without_indexing(folder.path());
        }
        let event = |number: i64| {
            // Over a month, in no order, several in a millisecond.
            let age = (number * 7_919 + i64::from(batch) * 104_729) % 2_600_000;
            let of = |every: i64| number * number % every;
            let mut event = json!({
                "action": format!("doc.opened_{}", of(7)), "category": Category::ALL[(number % 6) as usize].as_str(),
                "tenant_id": format!("t{}", of(5)),
                "actor": {"id": format!("a{}", (number + i64::from(batch)) % 9), "type": "user"},
                "occurred_at": NOW.plus_seconds(-age).to_string(),
            });
            if number % 3 == 0 {
                event["target"] = json!({"id": "o", "type": format!("k{}", of(4))});
            }
            event
        };
        append(
            &store,
            &to,
            (0..1_000)
                .map(|number| prepare(&to, &event(number), NOW, batch))
                .collect(),
        );
    }
    let everything = pages(&store, &to, &EventFilter::default(), None, 200);
    assert_eq!(everything.len(), 12_000);
    let of_action = filter_of(Some("doc.opened_1"), None);
    let since = EventFilter {
        start: Some(NOW.plus_seconds(-2_000_000)),
        ..EventFilter::default()
    };
    let of_tenant = EventFilter::of(Facet::TenantId, "t1");
    for filter in [EventFilter::default(), since, of_action, of_tenant] {
        for interval in [None, Some(Interval::Month)] {
            let query = query(&to, &filter, None, interval);
            let expected = counted(&query, &expected(&everything, &filter, None));
            assert_eq!(summary(&store, &query).as_ref(), Ok(&expected), "{query:?}");
        }
    }
}
