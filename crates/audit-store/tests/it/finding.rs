//! Queries find exactly the events that match the definition of a filter, in order, for any filter and page size.

use crate::{NOW, append, create_project, open, prepare};
use audit_domain::{
    ActionFilter, ActorType, Category, EventFilter, PageLimit, Position, Search, StoredEvent, Timestamp,
    ViewerTier,
};
use audit_store::{Destination, EventQuery, Store};
use proptest::prelude::*;
use serde_json::{Value, json};

const ACTIONS: [&str; 5] = [
    "user.created",
    "user.role.updated",
    "auth.failed",
    "auth.failed_twice",
    "user.deleted",
];
const NAMES: [&str; 4] = ["Alice O'Neil", "Bob", "alice-bob Ärzte", ""];

pub(crate) fn any_event() -> impl Strategy<Value = Value> {
    let ids = (0..3_u8, 0..3_u8, 0..3_u8, 0..ACTIONS.len(), 0..NAMES.len());
    (ids, 0..6_usize, proptest::bool::ANY, 0..4_i64).prop_map(|((tenant, actor, target, action, name), category, has_target, age)| {
        let mut event = json!({
            "action": ACTIONS[action], "category": Category::ALL[category].as_str(), "tenant_id": format!("t{tenant}"),
            "actor": {"id": format!("a{actor}"), "type": ActorType::ALL[usize::from(actor)].as_str(), "name": NAMES[name]},
            // Several events share a millisecond.
            "occurred_at": Timestamp::from_millis(NOW.as_millis() - age).to_string(),
        });
        if has_target {
            event["target"] = json!({"id": format!("o{target}"), "type": format!("k{target}"), "name": NAMES[usize::from(target)]});
        }
        event
    })
}

pub(crate) fn any_filter() -> impl Strategy<Value = EventFilter> {
    let action = prop_oneof![
        Just(None),
        proptest::sample::select(
            &[
                "user.created",
                "user.*",
                "auth.failed*",
                "us*",
                "*",
                "user.role.*",
                "none.at_all",
                "auth.failed_*"
            ][..]
        )
        .prop_map(|text| Some(ActionFilter::parse(text).expect("a valid filter")))
    ];
    let search = prop_oneof![
        3 => Just(None),
        1 => proptest::sample::select(&["alice", "ALI*", "bob alice", "ärz*", "updated", "failed", "neil", "unknown", "t*"][..])
            .prop_map(|text| Some(Search::parse(text).expect("a valid search")))
    ];
    let ids = (
        proptest::option::of(0..4_u8),
        proptest::option::of(0..4_u8),
        proptest::option::of(0..4_u8),
    );
    let words = (
        proptest::option::of(0..4_usize),
        proptest::option::of(0..6_usize),
        proptest::option::of(0..3_u8),
    );
    let times = (proptest::option::of(0..5_i64), proptest::option::of(0..5_i64));
    (ids, words, action, search, times).prop_map(
        |((tenant, actor, target), (actor_type, category, target_type), action, search, (start, end))| {
            EventFilter {
                tenant_id: tenant.map(|tenant| format!("t{tenant}")),
                actor_ids: actor.map(|actor| vec![format!("a{actor}"), "a0".to_owned()]),
                actor_type: actor_type.map(|index| ActorType::ALL[index]),
                action,
                category: category.map(|index| Category::ALL[index]),
                target_ids: target.map(|target| vec![format!("o{target}")]),
                target_type: target_type.map(|target| format!("k{target}")),
                start: start.map(|age| Timestamp::from_millis(NOW.as_millis() - age)),
                end: end.map(|age| Timestamp::from_millis(NOW.as_millis() - age)),
                search,
            }
        },
    )
}

/// Keeps one condition in four on average, so that events match.
pub(crate) fn thinned(filter: EventFilter, mask: u16) -> EventFilter {
    let keep = |bit: u16| mask & (1 << bit) != 0;
    EventFilter {
        tenant_id: filter.tenant_id.filter(|_| keep(0)),
        actor_ids: filter.actor_ids.filter(|_| keep(1)),
        actor_type: filter.actor_type.filter(|_| keep(2)),
        action: filter.action.filter(|_| keep(3)),
        category: filter.category.filter(|_| keep(4)),
        target_ids: filter.target_ids.filter(|_| keep(5)),
        target_type: filter.target_type.filter(|_| keep(6)),
        start: filter.start.filter(|_| keep(7)),
        end: filter.end.filter(|_| keep(8)),
        search: filter.search.filter(|_| keep(9)),
    }
}

/// All pages of a query.
pub(crate) fn pages(
    store: &Store,
    to: &Destination,
    filter: &EventFilter,
    tier: Option<&ViewerTier>,
    limit: usize,
) -> Vec<StoredEvent> {
    let (mut all, mut after) = (Vec::<StoredEvent>::new(), None);
    loop {
        let query = EventQuery {
            ledger_id: to.ledger_id,
            filter: filter.clone(),
            tier: tier.cloned(),
            after,
            limit: PageLimit::new(limit).expect("a valid limit"),
        };
        let page = store
            .read(|reader| reader.events(&query))
            .expect("the events are read");
        assert!(
            page.events.len() == limit || !page.has_more,
            "only the last page is short"
        );
        all.extend(page.events);
        after = all.last().map(|last| Position {
            occurred_at: last.occurred_at,
            id: last.id,
        });
        if !page.has_more {
            return all;
        }
    }
}

pub(crate) fn expected(
    everything: &[StoredEvent],
    filter: &EventFilter,
    tier: Option<&ViewerTier>,
) -> Vec<StoredEvent> {
    let wanted = |event: &&StoredEvent| {
        let facets = event.facets().expect("a stored event");
        match tier {
            Some(tier) => tier.shows(&facets) && filter.matches(event, &tier.restrict(facets)),
            None => filter.matches(event, &facets),
        }
    };
    everything.iter().filter(wanted).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_query_finds_the_events_that_match_the_filter(
        events in proptest::collection::vec(any_event(), 1..80),
        others in proptest::collection::vec(any_event(), 0..300),
        filters in proptest::collection::vec((any_filter(), any::<u16>(), any::<u16>()), 30),
        limit in 1..60_usize,
        indexed in 0..80_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        create_project(&store, 2);
        create_project(&store, 1);
        let to = crate::destination(&store, audit_domain::ProjectId::from_random([1; 16]));
        let other = crate::destination(&store, audit_domain::ProjectId::from_random([2; 16]));
        let others = others.chunks(40).chain(std::iter::repeat(&[][..]));
        for (number, (chunk, elsewhere)) in events.chunks(7).zip(others).enumerate() {
            // A clean stop indexes the backlog, so that some events are in the index and the later ones are not.
            if number == indexed / 7 {
                drop(store);
                store = open(folder.path());
            }
            append(&store, &to, chunk.iter().map(|event| prepare(&to, event, NOW, 9)).collect());
            append(&store, &other, elsewhere.iter().map(|event| prepare(&other, event, NOW, 9)).collect());
        }
        let everything = pages(&store, &to, &EventFilter::default(), None, limit);
        prop_assert_eq!(everything.len(), events.len());
        let position = |event: &StoredEvent| (event.occurred_at, event.id);
        prop_assert!(everything.is_sorted_by(|a, b| position(a) > position(b)), "newest first");
        for (filter, one, two) in filters {
            let filter = thinned(filter, one & two);
            prop_assert_eq!(pages(&store, &to, &filter, None, limit), expected(&everything, &filter, None), "{:?}", filter);
            for tier in ViewerTier::initial() {
                let found = pages(&store, &to, &filter, Some(&tier), limit);
                prop_assert_eq!(found, expected(&everything, &filter, Some(&tier)), "{:?} {:?}", tier, filter);
            }
        }
    }
}
