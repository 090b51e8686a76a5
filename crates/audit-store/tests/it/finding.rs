//! Queries find exactly the events that match the definition of a filter, in order, for any filter and page size.

use crate::{NOW, append, create_project, open, prepare};
use audit_domain::{
    ActorType, Category, Condition, EventFilter, EventOrder, Facet, MetadataPath, Outcome, PageLimit, Search,
    SearchMode, SearchScope, StoredEvent, Timestamp, ValuePattern, ViewerTier,
};
use audit_store::{Destination, EventQuery, Store};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const ACTIONS: [&str; 5] = [
    "user.created",
    "user.role.updated",
    "auth.failed",
    "auth.failed_twice",
    "user.deleted",
];
const NAMES: [&str; 7] = [
    "Alice O'Neil",
    "Bob",
    "alice-bob Ärzte",
    "",
    "Jose\u{301} 田中太郎",
    "太田中 कर्म",
    "ภาษาไทย 김철수",
];

const ADDRESSES: [&str; 7] = [
    "192.0.2.1",
    "192.0.2.131",
    "::ffff:192.0.2.1",
    "192.0.3.7",
    "2001:DB8::1",
    "2001:db8:0:1::2",
    "not an address",
];
const NETWORKS: [&str; 8] = [
    "192.0.2.1",
    "192.0.2.128/25",
    "192.0.2.0/23",
    "0.0.0.0/0",
    "2001:db8::1",
    "2001:db8::/62",
    "not an address",
    "198.51.100.0/24",
];

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
            let address = ADDRESSES[(usize::from(actor) + name) % ADDRESSES.len()];
            event["context"] = json!({"ip_address": address, "session_id": format!("s{tenant}")});
            let invoice = json!({"id": format!("INV-{target}/00{actor}"), "type": "invoice"});
            let further = (0..usize::from(tenant)).map(|more| json!({"id": format!("o{more}"), "type": format!("k{}", name % 3)}));
            event["targets"] = [event["target"].clone(), invoice].into_iter().chain(further).collect();
            event["actor"]["on_behalf_of"] = json!({"id": format!("party {tenant}"), "type": "user"});
            event["actor"]["email"] = json!(format!("a{actor}@x"));
            event["metadata"] = json!({"note": format!("Role {target} updated"), "n": [target, "by alice"]});
        }
        event
    })
}

pub(crate) fn any_filter() -> impl Strategy<Value = EventFilter> {
    let actions = proptest::sample::select(
        &[
            "user.created",
            "user.*",
            "auth.failed*",
            "us*",
            "*",
            "user.role.*",
            "none.at_all",
            "auth.failed_*",
        ][..],
    )
    .prop_map(|text| ValuePattern::of_action(text).expect("a pattern"));
    let action = proptest::option::of((
        proptest::collection::btree_set(actions.clone(), 0..3),
        proptest::collection::btree_set(actions, 0..2),
    ))
    .prop_map(|patterns| patterns.map(|(any_of, none_of)| Condition { any_of, none_of }));
    let search = prop_oneof![3 => Just(None), 1 => any_search().prop_map(Some)];
    // Of every facet: numbers of values, some of which events have, that are demanded and excluded.
    let numbers = |count| proptest::collection::btree_set(0..8_usize, count);
    let values = proptest::collection::vec(
        proptest::option::of((numbers(0..3), numbers(0..2))),
        Facet::ALL.len(),
    );
    let times = (proptest::option::of(0..5_i64), proptest::option::of(0..5_i64));
    (values, action, search, times, any_members()).prop_map(
        |(values, action, search, (start, end), metadata)| {
            let conditions = Facet::ALL.iter().zip(values);
            let mut conditions: BTreeMap<Facet, Condition> = conditions
                .filter_map(|(facet, value)| Some((*facet, condition(*facet, value?))))
                .collect();
            conditions.extend(action.map(|action| (Facet::Action, action)));
            EventFilter {
                conditions,
                metadata,
                start: start.map(|age| Timestamp::from_millis(NOW.as_millis() - age)),
                end: end.map(|age| Timestamp::from_millis(NOW.as_millis() - age)),
                search,
            }
        },
    )
}

/// Conditions on members of the metadata.
fn any_members() -> impl Strategy<Value = BTreeMap<MetadataPath, Condition>> {
    let paths = ["metadata.note", "metadata.n", "metadata.absent"];
    let path = proptest::sample::select(paths.to_vec()).prop_map(|path| path.parse().expect("a path"));
    let values = [
        "Role 0 updated",
        "Role 1 updated",
        "0",
        "2",
        "by alice",
        "unknown",
    ];
    let value =
        proptest::sample::select(values.to_vec()).prop_map(|value| ValuePattern::Is(value.to_owned()));
    let values = |count| proptest::collection::btree_set(value.clone(), count);
    let condition = (values(0..3), values(0..2)).prop_map(|(any_of, none_of)| Condition { any_of, none_of });
    proptest::collection::btree_map(path, condition, 0..3)
}

/// Of words and phrases that events have, or nearly have.
fn any_search() -> impl Strategy<Value = Search> {
    let texts = [
        "alice",
        "ALI*",
        "bob alice",
        "ärz*",
        "updated",
        "failed",
        "neil",
        "unknown",
        "t*",
        "jose",
        "太郎",
        "田中",
        "田中太郎",
        "中",
        "太 田 郎",
        "कर",
        "कर्म",
        "ไทย",
        "철수",
        "\"role updated\"",
        "\"user role\" alice",
        "\"alice bob",
        "\"bob alice\"",
        "\"jose 田中\"",
        "INV-1/002",
        "inv 00*",
        "\"inv 2\"",
        "party",
        "\"party 1\"",
        "a1",
        "o2",
        "a1@x",
        "a1@x alice",
        "\"role 1\"",
        "\"by al*\" 2",
        "a* 1",
    ];
    let scopes = proptest::collection::btree_set(proptest::sample::select(SearchScope::ALL), 1..4);
    let scopes = prop_oneof![1 => Just(Search::DEFAULT_SCOPES.into()), 2 => scopes];
    let mode = proptest::sample::select(SearchMode::ALL);
    (proptest::sample::select(texts.to_vec()), mode, scopes)
        .prop_map(|(text, mode, scopes)| Search::parse_in(mode, scopes, text).expect("a valid search"))
}

fn condition(facet: Facet, (any_of, none_of): (BTreeSet<usize>, BTreeSet<usize>)) -> Condition {
    let patterns =
        |numbers: BTreeSet<usize>| numbers.into_iter().map(|number| value(facet, number)).collect();
    Condition {
        any_of: patterns(any_of),
        none_of: patterns(none_of),
    }
}

fn value(facet: Facet, number: usize) -> ValuePattern {
    ValuePattern::Is(match facet {
        Facet::TenantId => format!("t{number}"),
        Facet::ActorId => format!("a{number}"),
        Facet::ActorType => ActorType::ALL[number % ActorType::ALL.len()].to_string(),
        Facet::Action => ACTIONS[number % ACTIONS.len()].to_owned(),
        Facet::Category => Category::ALL[number % Category::ALL.len()].to_string(),
        Facet::TargetId => format!("o{number}"),
        Facet::TargetType => format!("k{number}"),
        Facet::IpAddress => {
            return ValuePattern::of_address(NETWORKS[number]).expect("an address or a network");
        }
        Facet::SessionId => format!("s{number}"),
        Facet::Outcome => Outcome::ALL[number % Outcome::ALL.len()].to_string(),
    })
}

/// Keeps one condition in four on average, so that events match.
pub(crate) fn thinned(filter: EventFilter, mask: u16) -> EventFilter {
    let keep = |bit: usize| mask & (1 << bit) != 0;
    let conditions = filter.conditions.into_iter();
    let times = Facet::ALL.len();
    EventFilter {
        conditions: conditions.filter(|(facet, _)| keep(*facet as usize)).collect(),
        start: filter.start.filter(|_| keep(times)),
        end: filter.end.filter(|_| keep(times + 1)),
        search: filter.search.filter(|_| keep(times + 2)),
        metadata: match keep(times + 3) {
            true => filter.metadata,
            false => BTreeMap::new(),
        },
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
    pages_in(EventOrder::Descending, store, to, filter, tier, limit)
}

fn pages_in(
    order: EventOrder,
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
            order,
            after,
            limit: PageLimit::new(limit).expect("a valid limit"),
        };
        let page = store
            .read(|reader| reader.events(&query))
            .expect("the events are read");
        assert!(
            page.events.len() == limit || page.next.is_none(),
            "only the last page is short"
        );
        all.extend(page.events);
        after = page.next;
        if after.is_none() {
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
        let metadata = event.metadata(tier).expect("a stored event");
        let hides_member =
            |tier: &ViewerTier| filter.metadata.keys().any(|path| tier.hides_path(path.as_str()));
        match tier {
            // A condition on a hidden field selects nothing.
            Some(tier) if filter.conditions.keys().any(|facet| tier.hides(facet.field())) => false,
            Some(tier) if hides_member(tier) => false,
            Some(tier) => tier.shows(&facets) && filter.matches(event, &tier.restrict(facets), &metadata),
            None => filter.matches(event, &facets, &metadata),
        }
    };
    everything.iter().filter(wanted).cloned().collect()
}

/// A tier that shows a target and hides those after it.
fn without_further_targets() -> ViewerTier {
    ViewerTier {
        name: "first-target".parse().expect("a valid name"),
        categories: None,
        actions: None,
        hidden_fields: vec!["targets".parse().expect("a field that can be hidden")],
        routes: None,
    }
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
            let mut wanted = expected(&everything, &filter, None);
            prop_assert_eq!(&pages(&store, &to, &filter, None, limit), &wanted, "{:?}", filter);
            wanted.reverse();
            let ascending = pages_in(EventOrder::Ascending, &store, &to, &filter, None, limit);
            prop_assert_eq!(ascending, wanted, "{:?}", filter);
            let mut partly = ViewerTier::initial().remove(0);
            partly.hidden_fields = ["targets.1", "actor.id", "metadata.note"].map(|path| path.parse().expect("a path")).into();
            for tier in ViewerTier::initial().into_iter().chain([without_further_targets(), partly]) {
                let found = pages(&store, &to, &filter, Some(&tier), limit);
                prop_assert_eq!(found, expected(&everything, &filter, Some(&tier)), "{:?} {:?}", tier, filter);
            }
        }
    }
}
