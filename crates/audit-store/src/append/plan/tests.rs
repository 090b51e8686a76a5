use super::*;
use crate::append::NewEvent;
use crate::append::watch::{Counted, GroupCount, GroupHash, Watch, Watcher};
use audit_domain::{Event, ProjectId};
use serde_json::json;
use std::sync::Arc;

const LEDGER: LedgerId = LedgerId(1);

fn destination(daily_events_max: Option<u64>) -> Destination {
    Destination {
        ledger_id: LEDGER,
        project_id: ProjectId::from_random([1; 16]),
        environment: Environment::Live,
        configuration_version: 5,
        daily_events_max,
        webhook_ids: Arc::new([]),
    }
}

fn event(millis: i64, key: Option<&str>, content: &str) -> NewEvent {
    let value = json!({"action": "a.b", "category": "auth", "tenant_id": content, "actor": {"id": "a", "type": "user"}});
    let received_at = Timestamp::from_millis(millis);
    let event = Event::from_json(value, received_at).unwrap();
    let record = Record::new(
        &event,
        false,
        Stamp {
            id: EventId::new(received_at, [5; 10]),
            received_at,
        },
    );
    NewEvent::new(
        &destination(None),
        record,
        &event.facets(),
        key.map(|key| (key, event.to_text().digest(None))),
    )
}

fn request(daily_events_max: Option<u64>, events: Vec<NewEvent>) -> AppendRequest {
    AppendRequest {
        destination: destination(daily_events_max),
        events,
        origin: Origin::Sent,
    }
}

/// The edge of a tree of so many events.
fn frontier_of(size: u64) -> Frontier {
    let mut frontier = Frontier::new();
    for number in 0..size {
        frontier.append(Hash::of_leaf(&number.to_be_bytes()));
    }
    frontier
}

fn before() -> Before {
    let heads = HashMap::from([(
        LEDGER,
        Head {
            size: 10,
            last: None,
            frontier: Some(frontier_of(10)),
            day: 100,
            day_events: 0,
        },
    )]);
    Before {
        configuration_version: 5,
        heads,
        ..Before::default()
    }
}

fn head(before: &mut Before) -> &mut Head {
    before.heads.get_mut(&LEDGER).unwrap()
}

#[test]
fn a_day_is_counted_from_its_beginning_and_goes_on_where_a_clock_is_ahead() {
    let mut before = before();
    let head = head(&mut before);
    for (day, expected) in [(100, (100, 7)), (99, (100, 7)), (101, (101, 0)), (98, (98, 0))] {
        (head.day, head.day_events) = (100, 7);
        head.begin_day(day);
        assert_eq!((head.day, head.day_events), expected, "on day {day}");
    }
}

#[test]
fn sequence_numbers_have_no_gap_and_stamps_never_go_back() {
    let plan = plan(
        vec![
            request(None, vec![event(2_000, None, "a"), event(2_000, None, "b")]),
            request(None, vec![event(1_000, None, "c")]),
            request(None, vec![event(3_000, None, "d")]),
        ],
        before(),
    );
    assert_eq!(
        plan.rows.iter().map(|row| row.seq).collect::<Vec<_>>(),
        [10, 11, 12, 13]
    );
    assert!(plan.rows.is_sorted_by(|a, b| {
        let (a, b) = (a.record.stamp(), b.record.stamp());
        a.id < b.id && a.received_at <= b.received_at
    }));
    assert_eq!(plan.after.heads[&LEDGER].size, 14);
}

#[test]
fn a_repeated_key_is_stored_once_within_and_across_requests() {
    let plan = plan(
        vec![
            request(
                None,
                vec![
                    event(1, Some("k"), "a"),
                    event(1, Some("k"), "a"),
                    event(1, Some("k"), "b"),
                ],
            ),
            request(None, vec![event(2, Some("k"), "a")]),
        ],
        before(),
    );
    let id = plan.rows[0].record.stamp().id;
    assert_eq!(plan.rows.len(), 1);
    let outcomes: Vec<_> = plan
        .outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap().events)
        .collect();
    let first = vec![
        Appended::Stored(id),
        Appended::Repeated(id),
        Appended::Conflicting(id),
    ];
    assert_eq!(outcomes, [first, vec![Appended::Repeated(id)]]);
}

#[test]
fn a_request_past_the_daily_limit_leaves_no_trace() {
    let mut before = before();
    head(&mut before).day_events = 7;
    let plan = plan(
        vec![
            request(
                Some(9),
                vec![event(1, Some("k"), "a"), event(1, None, "b"), event(1, None, "c")],
            ),
            request(Some(9), vec![event(1, Some("k"), "other"), event(1, None, "b")]),
            request(Some(9), vec![event(1, Some("k"), "other")]),
            request(Some(9), vec![event(1, None, "d")]),
        ],
        before,
    );
    assert!(matches!(
        plan.outcomes[0],
        Err(StoreError::DailyLimit { limit: 9 })
    ));
    assert!(matches!(
        plan.outcomes[1]
            .as_ref()
            .map(|appended| appended.events.as_slice()),
        Ok([Appended::Stored(_), Appended::Stored(_)])
    ));
    assert!(
        matches!(
            plan.outcomes[2]
                .as_ref()
                .map(|appended| appended.events.as_slice()),
            Ok([Appended::Repeated(_)])
        ),
        "a repeat uses nothing up"
    );
    assert!(matches!(plan.outcomes[3], Err(StoreError::DailyLimit { .. })));
    assert_eq!(plan.rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [10, 11]);
}

#[test]
fn what_was_prepared_with_an_old_configuration_is_refused() {
    let before = Before {
        configuration_version: 6,
        ..before()
    };
    let plan = plan(vec![request(None, vec![event(1, None, "a")])], before);
    assert!(matches!(plan.outcomes[0], Err(StoreError::Stale)));
    assert!(plan.rows.is_empty());
}

/// Counts to three and starts again.
#[derive(Debug)]
struct EveryThird;

#[derive(Debug)]
struct Count(u8);

impl Watcher for EveryThird {
    fn resume(&self, remembered: Option<&[u8]>) -> Box<dyn GroupCount> {
        Box::new(Count(remembered.map_or(0, |bytes| bytes[0])))
    }
}

impl GroupCount for Count {
    fn observe(&mut self, event: SeenEvent) -> Counted {
        self.0 = (self.0 + 1) % 3;
        if self.0 > 0 {
            return Counted::Changed;
        }
        Counted::Raised(Box::new(AlertRow {
            id: event.id.to_bytes(),
            rule_id: "r".to_owned(),
            rule_name: "R".to_owned(),
            severity: "high".to_owned(),
            status: "open".to_owned(),
            group_key: "g".to_owned(),
            event_count: 3,
            sample_event_ids: vec![event.id],
            fired_at: event.arrived_at,
            acknowledged_at: None,
            resolved_at: None,
        }))
    }

    fn encode(&self) -> Vec<u8> {
        vec![self.0]
    }

    fn expires_at(&self) -> Timestamp {
        Timestamp::from_seconds(1)
    }
}

fn watched(event: NewEvent) -> NewEvent {
    event.watched(vec![Watch {
        group: GroupHash::of(&["g"]),
        watcher: Arc::new(EveryThird),
    }])
}

#[test]
fn a_count_goes_on_where_it_was_left_and_sees_each_stored_event_once() {
    let group = GroupHash::of(&["g"]);
    let before = Before {
        remembered: HashMap::from([((LEDGER, group), vec![2])]),
        ..before()
    };
    let events = vec![
        watched(event(1, Some("k"), "a")),
        watched(event(1, Some("k"), "a")),
        event(1, None, "not counted"),
        watched(event(1, None, "b")),
    ];
    let mut request = request(None, events);
    request.destination.webhook_ids = Arc::new(["w1".to_owned(), "w2".to_owned()]);
    let plan = plan(vec![request], before);
    let raised: Vec<_> = plan.alerts.iter().map(|(_, alert)| alert.id).collect();
    assert_eq!(raised, [plan.rows[0].record.stamp().id.to_bytes()]);
    let told: Vec<_> = plan
        .deliveries
        .iter()
        .map(|delivery| (delivery.webhook_id.as_str(), delivery.alert_id.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("w1", Some(raised[0].as_slice())),
            ("w2", Some(raised[0].as_slice()))
        ]
    );
    assert_ne!(plan.deliveries[0].id, plan.deliveries[1].id);
    let remembered = plan.counts.changed();
    assert_eq!(remembered[&(LEDGER, group)].0, [1], "the repeat was not counted");
}

#[test]
fn a_refused_request_is_not_counted() {
    let mut before = before();
    head(&mut before).day_events = 9;
    let refused = (0..3).map(|_| watched(event(1, None, "a"))).collect();
    let taken = vec![watched(event(1, None, "b"))];
    let plan = plan(vec![request(Some(10), refused), request(Some(10), taken)], before);
    assert!(matches!(plan.outcomes[0], Err(StoreError::DailyLimit { .. })));
    assert!(plan.alerts.is_empty());
    let remembered = plan.counts.changed();
    assert_eq!(remembered[&(LEDGER, GroupHash::of(&["g"]))].0, [1]);
}

/// Remembers when it was told that the event arrived.
#[derive(Debug)]
struct LastArrival(Timestamp);

impl Watcher for EveryArrival {
    fn resume(&self, _: Option<&[u8]>) -> Box<dyn GroupCount> {
        Box::new(LastArrival(Timestamp::from_seconds(0)))
    }
}

#[derive(Debug)]
struct EveryArrival;

impl GroupCount for LastArrival {
    fn observe(&mut self, event: SeenEvent) -> Counted {
        self.0 = event.arrived_at;
        Counted::Changed
    }

    fn encode(&self) -> Vec<u8> {
        Vec::new()
    }

    fn expires_at(&self) -> Timestamp {
        self.0
    }
}

#[test]
fn counts_go_by_the_clock_of_the_node_and_not_by_one_that_was_ahead() {
    let mut before = before();
    let ahead = Stamp {
        id: EventId::new(Timestamp::from_seconds(500), [1; 10]),
        received_at: Timestamp::from_seconds(500),
    };
    before.heads.get_mut(&LEDGER).unwrap().last = Some(ahead);
    let watch = Watch {
        group: GroupHash::of(&["g"]),
        watcher: Arc::new(EveryArrival),
    };
    let sent = event(100_000, None, "a").watched(vec![watch]);
    let plan = plan(vec![request(None, vec![sent])], before);
    assert_eq!(plan.rows[0].record.stamp().received_at, ahead.received_at);
    let (_, arrived_at) = &plan.counts.changed()[&(LEDGER, GroupHash::of(&["g"]))];
    assert_eq!(*arrived_at, Timestamp::from_seconds(100));
}
