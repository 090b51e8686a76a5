//! Tests of the planner.

use super::*;
use crate::append::request::{NewEvent, UnhashedEvent};
use crate::configuration::owner::ConfigurationVersion;
use audit_alerts::{
    ALERTS_PER_MINUTE_MAX, AlertRule, CooldownSeconds, GroupBy, GroupHash, GroupState, GroupStates,
    RuleConditions, RuleDefinition, RuleSet, Severity, Watch,
};
use audit_domain::{ContentSalt, Event, Facet, Facets, OrganizationId, ProjectId, Record, RuleId};
use audit_ledger::Frontier;
use serde_json::json;
use std::sync::Arc;

const LEDGER: LedgerId = LedgerId(1);

/// [`super::plan`] with the default window.
fn plan(requests: Vec<AppendRequest>, before: Before) -> Plan {
    super::plan(requests, before, IdempotencyWindow::default())
}

fn destination(daily_events_max: Option<u64>) -> Destination {
    Destination {
        ledger_id: LEDGER,
        project_id: ProjectId::from_random([1; 16]),
        organization_id: OrganizationId::from_random([1; 16]),
        environment: Environment::Live,
        configuration_version: ConfigurationVersion(5),
        daily_events_max,
        is_archived: false,
        webhook_ids: Arc::new([]),
    }
}

fn event(millis: i64, key: Option<&str>, content: &str) -> NewEvent {
    let value = json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": content, "type": "user"}});
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
    let to = destination(None);
    let event = UnhashedEvent::new(
        &to,
        record,
        ContentSalt::from_bytes([7; 16]),
        &event.facets(),
        key.map(|key| (key, event.to_text().digest(None))),
    );
    NewEvent::all_hashed(vec![event], &to).remove(0)
}

fn request(daily_events_max: Option<u64>, events: Vec<NewEvent>) -> AppendRequest {
    AppendRequest::new(destination(daily_events_max), events, Origin::Sent)
}

/// The right edge of a tree of this size.
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
            name: "p/live".into(),
            configuration_version: ConfigurationVersion(5),
            size: 10,
            last: None,
            frontier: Some(frontier_of(10)),
            lifecycle: None,
            day: 100,
            day_events: 0,
            group_id: 0,
            months: Vec::new(),
        },
    )]);
    Before {
        heads,
        ..Before::default()
    }
}

fn head(before: &mut Before) -> &mut Head {
    before.heads.get_mut(&LEDGER).unwrap()
}

#[test]
fn the_count_of_a_day_restarts_on_another_day_and_continues_if_a_clock_is_ahead() {
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
        let (a, b) = (a.event.record.stamp(), b.event.record.stamp());
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
    let id = plan.rows[0].event.record.stamp().id;
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
fn an_event_of_the_service_uses_up_no_daily_limit_and_follows_the_stamps_before_it() {
    let mut before = before();
    head(&mut before).day_events = 9;
    let mut own = request(Some(9), vec![event(1, None, "own")]);
    own.origin = Origin::Service;
    let sent = |key| request(Some(9), vec![event(2, Some(key), "sent")]);
    let plan = plan(vec![own, sent("k")], before);
    assert!(plan.outcomes[0].is_ok());
    assert!(matches!(
        plan.outcomes[1],
        Err(StoreError::DailyLimit { limit: 9 })
    ));
    let head = &plan.after.heads[&LEDGER];
    assert_eq!((plan.rows.len(), head.size, head.day_events), (1, 11, 9));
    assert_eq!(head.last, Some(plan.rows[0].event.record.stamp()));
}

#[test]
fn an_archived_project_takes_events_of_the_service_and_repeats_alone() {
    let archived = |origin, events| {
        let mut request = request(None, events);
        request.destination.is_archived = true;
        request.origin = origin;
        request
    };
    let stored = request(None, vec![event(1, Some("k"), "a")]);
    let of_client = |key| vec![event(1, Some("k"), "a"), event(2, key, "b")];
    let plan = plan(
        vec![
            stored,
            archived(Origin::Sent, of_client(None)),
            archived(Origin::Claimed(Timestamp::from_millis(3)), of_client(Some("l"))),
            archived(Origin::Sent, vec![event(4, Some("k"), "a")]),
            archived(Origin::Service, vec![event(5, None, "own")]),
        ],
        before(),
    );
    for refused in [1, 2] {
        assert!(matches!(
            plan.outcomes[refused],
            Err(StoreError::ProjectArchived(_))
        ));
    }
    let appended = |index: usize| &plan.outcomes[index].as_ref().unwrap().events;
    assert!(matches!(appended(3).as_slice(), [Appended::Repeated(_)]));
    assert!(matches!(appended(4).as_slice(), [Appended::Stored(_)]));
    assert_eq!(plan.rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [10, 11]);
}

#[test]
fn a_request_beyond_the_daily_limit_changes_nothing() {
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
        "a repeat does not count towards the limit"
    );
    assert!(matches!(plan.outcomes[3], Err(StoreError::DailyLimit { .. })));
    assert_eq!(plan.rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [10, 11]);
}

#[test]
fn a_request_prepared_with_an_old_configuration_is_refused() {
    // Versions have no order: a lower number is as old as a higher one.
    for current in [4, 6] {
        let mut before = before();
        head(&mut before).configuration_version = ConfigurationVersion(current);
        let plan = plan(vec![request(None, vec![event(1, None, "a")])], before);
        assert!(matches!(plan.outcomes[0], Err(StoreError::Stale)));
        assert!(plan.rows.is_empty());
    }
}

#[test]
fn another_projects_version_makes_no_request_stale() {
    const OTHER: LedgerId = LedgerId(2);
    let mut before = before();
    let other = Head {
        configuration_version: ConfigurationVersion(6),
        ..head(&mut before).clone()
    };
    before.heads.insert(OTHER, other);
    let mut stale = request(None, vec![event(1, None, "b")]);
    stale.destination.ledger_id = OTHER;
    let plan = plan(vec![stale, request(None, vec![event(1, None, "a")])], before);
    assert!(matches!(plan.outcomes[0], Err(StoreError::Stale)));
    assert!(plan.outcomes[1].is_ok());
    assert_eq!(
        plan.rows.iter().map(|row| row.ledger_id).collect::<Vec<_>>(),
        [LEDGER]
    );
}

/// Counts actions `a.b` of a tenant: three raise an alert, and there is no cooldown.
fn every_third() -> RuleSet {
    let definition = RuleDefinition {
        name: "every third".parse().unwrap(),
        action_pattern: "a.b".parse().unwrap(),
        threshold: 3.try_into().unwrap(),
        window_seconds: 3_600.try_into().unwrap(),
        group_by: GroupBy::TenantId,
        count_distinct: None,
        severity: Severity::High,
        enabled: true,
        cooldown_seconds: CooldownSeconds::try_from(0).unwrap(),
        conditions: RuleConditions::default(),
    };
    let id = RuleId::from_random([7; 16]);
    RuleSet::new([AlertRule::custom(id, Timestamp::from_seconds(0), definition)])
}

/// The same event, counted for the tenant `t` instead of its own.
fn watched(event: NewEvent) -> NewEvent {
    let arrived_at = event.record.stamp().received_at;
    let fields = Facets::default()
        .with(Facet::Action, "a.b")
        .with(Facet::TenantId, "t");
    let watches = every_third().watches(&fields, event.record.occurred_at(), arrived_at);
    event.watched(watches)
}

fn group() -> (LedgerId, GroupHash) {
    let [watch] = <[Watch; 1]>::try_from(watched(event(1, None, "a")).watches).unwrap();
    (LEDGER, watch.group_hash())
}

/// The row of a group with this state.
fn stored(state: &GroupState) -> Vec<u8> {
    let [watch] = <[Watch; 1]>::try_from(watched(event(1, None, "a")).watches).unwrap();
    let mut states = GroupStates::default();
    states.set(watch.rule_key(), state, watch.expires_at(state));
    states.encode(Timestamp::from_micros(0)).0
}

/// The state of a group after these events, and the number of alerts they raised.
fn counted(events: &[(EventId, i64)]) -> (GroupState, usize) {
    let [watch] = <[Watch; 1]>::try_from(watched(event(1, None, "a")).watches).unwrap();
    let mut state = GroupState::default();
    let observe = |(id, millis): &(EventId, i64)| {
        let at = Timestamp::from_millis(*millis);
        let event = CountedEvent {
            id: *id,
            arrived_at: at,
            occurred_at: at,
        };
        watch.observe(&mut state, event).into_firing()
    };
    let alerts = events.iter().filter_map(observe).count();
    (state, alerts)
}

#[test]
fn a_count_continues_from_the_stored_state_and_sees_each_stored_event_once() {
    let earlier = [1, 2].map(|n| (EventId::new(Timestamp::from_millis(1), [n; 10]), 1));
    let before = Before {
        alert_groups: HashMap::from([(group(), stored(&counted(&earlier).0))]),
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
    let [
        RaisedAlert {
            alert,
            undelivered_to,
            ..
        },
    ] = plan.alerts.as_slice()
    else {
        panic!("one alert: {:?}", plan.alerts)
    };
    assert!(undelivered_to.is_empty(), "the commit writes its deliveries");
    assert_eq!(alert.sample_event_ids[0], plan.rows[0].event.record.stamp().id);
    let alert_id = alert.id.to_bytes();
    let delivered: Vec<_> = plan
        .deliveries
        .iter()
        .map(|delivery| (delivery.webhook_id.as_str(), delivery.alert_id.as_deref()))
        .collect();
    assert_eq!(
        delivered,
        [
            ("w1", Some(alert_id.as_slice())),
            ("w2", Some(alert_id.as_slice()))
        ]
    );
    assert_ne!(plan.deliveries[0].id, plan.deliveries[1].id);
    let seen = [0, 2].map(|row: usize| (plan.rows[row].event.record.stamp().id, 1));
    let (expected, alerts) = counted(&[earlier[0], earlier[1], seen[0], seen[1]]);
    assert_eq!(alerts, 1);
    assert_eq!(
        plan.counts.changed()[&group()].0,
        stored(&expected),
        "the repeat and the unwatched event are not counted"
    );
}

#[test]
fn a_request_writes_few_deliveries_and_names_the_webhooks_of_the_others() {
    let webhook_ids: Arc<[String]> = (0..20).map(|number| format!("w{number}")).collect();
    let of = |count: usize| {
        let events = (0..3 * count).map(|_| watched(event(1, None, "a"))).collect();
        let mut request = request(None, events);
        request.destination.webhook_ids = Arc::clone(&webhook_ids);
        request
    };
    let plan = plan(vec![of(5), of(1)], before());
    let undelivered: Vec<usize> = plan
        .alerts
        .iter()
        .map(|raised| raised.undelivered_to.len())
        .collect();
    assert_eq!(
        undelivered,
        [0, 0, 0, 20, 20, 0],
        "sixty deliveries of the first request, twenty of the other"
    );
    assert_eq!(plan.deliveries.len(), 60 + 20);
}

#[test]
fn alerts_beyond_the_limit_of_a_minute_are_counted_and_not_raised() {
    let limit = usize::try_from(ALERTS_PER_MINUTE_MAX).unwrap();
    let events = |count: usize| (0..3 * count).map(|_| watched(event(1, None, "a"))).collect();
    let first = plan(vec![request(None, events(limit - 1))], before());
    assert_eq!(
        (first.alerts.len(), first.counts.suppressed.count),
        (limit - 1, 0)
    );
    let states = first.counts.changed().into_iter();
    let before = Before {
        alert_groups: states.map(|(key, (state, _))| (key, state)).collect(),
        ..before()
    };
    let second = plan(vec![request(None, events(3)), request(None, events(1))], before);
    assert_eq!(second.alerts.len(), 1);
    assert_eq!(second.rows.len(), 12, "the events are stored");
    let suppressed = &second.counts.suppressed;
    assert_eq!(
        (suppressed.count, suppressed.begun.as_slice()),
        (3, [LEDGER].as_slice())
    );
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
    let seen = (plan.rows[0].event.record.stamp().id, 1);
    assert_eq!(plan.counts.changed()[&group()].0, stored(&counted(&[seen]).0));
}

#[test]
fn counts_use_the_clock_of_the_accepting_node_and_not_the_time_of_the_ledger() {
    let mut before = before();
    let ahead = Stamp {
        id: EventId::new(Timestamp::from_seconds(500), [1; 10]),
        received_at: Timestamp::from_seconds(500),
    };
    before.heads.get_mut(&LEDGER).unwrap().last = Some(ahead);
    let sent = (0..3).map(|_| watched(event(100_000, None, "a"))).collect();
    let plan = plan(vec![request(None, sent)], before);
    assert_eq!(plan.rows[0].event.record.stamp().received_at, ahead.received_at);
    let fired_at: Vec<_> = plan.alerts.iter().map(|raised| raised.alert.fired_at).collect();
    assert_eq!(fired_at, [Timestamp::from_seconds(100)]);
}

/// A time in the month so many months after January 1970, in milliseconds.
fn in_month(month: i64) -> i64 {
    month * 2_629_800_000 + 1_000_000_000
}

fn months_of_rows(plan: &Plan) -> Vec<i32> {
    plan.rows.iter().map(|row| row.month.number()).collect()
}

fn entered(plan: &Plan) -> Vec<(i32, i64)> {
    let entered = plan.entered.iter();
    entered
        .map(|(_, entered)| (entered.month.number(), entered.first_seq))
        .collect()
}

#[test]
fn a_commit_stores_events_of_a_ledger_in_the_latest_month_of_all() {
    let sent = |month, key| request(None, vec![event(in_month(month), key, "a")]);
    let first = plan(vec![sent(5, None), sent(6, None)], before());
    assert_eq!(
        (months_of_rows(&first), entered(&first)),
        (vec![6, 6], vec![(6, 10)])
    );
    // A clock that is behind.
    let second = plan(vec![sent(4, None)], first.after);
    assert_eq!((months_of_rows(&second), entered(&second)), (vec![6], vec![]));
    let mut claimed = sent(3, None);
    claimed.origin = Origin::Claimed(Timestamp::from_millis(in_month(8)));
    let third = plan(vec![claimed], second.after);
    assert_eq!(
        (months_of_rows(&third), entered(&third)),
        (vec![8], vec![(8, 13)])
    );
    let head = &third.after.heads[&LEDGER];
    let month = |seq| head.month_of(seq).number();
    assert_eq!([10, 12, 13, 99].map(month), [6, 6, 8, 8]);
    let since = |month| head.first_seq_since(Month::from_number(month));
    assert_eq!(
        [0, 6, 7, 8, 9].map(since),
        [Some(10), Some(10), Some(13), Some(13), None]
    );
}

#[test]
fn a_refused_request_enters_no_month() {
    let plan = plan(
        vec![request(Some(0), vec![event(in_month(5), None, "a")])],
        before(),
    );
    assert!(plan.entered.is_empty() && plan.after.heads[&LEDGER].months.is_empty());
}

#[test]
fn a_key_outside_of_the_window_is_new() {
    let key = "k";
    let mut before = before();
    let first = event(in_month(5), Some(key), "a");
    let hash = first.idempotency.unwrap();
    let known = KnownKey {
        event: Some(KnownEvent {
            id: first.record.stamp().id,
            digest: hash.digest,
        }),
        month: Month::from_number(5),
    };
    for (window, month, is_known) in [
        (3, 5, true),
        (3, 7, true),
        (3, 8, false),
        (1, 6, false),
        (0, 999, true),
    ] {
        before.keys = KnownKeys::from([((LEDGER, hash.hash), known)]);
        let state = Before {
            heads: before.heads.clone(),
            keys: before.keys.clone(),
            ..Before::default()
        };
        let sent = vec![
            event(in_month(month), Some(key), "a"),
            event(in_month(month), Some(key), "a"),
        ];
        let plan = super::plan(
            vec![request(None, sent)],
            state,
            IdempotencyWindow::of_months(window),
        );
        let appended = &plan.outcomes[0].as_ref().unwrap().events;
        let expected = if is_known {
            first.record.stamp().id
        } else {
            plan.rows[0].event.record.stamp().id
        };
        assert_eq!(
            plan.rows.len(),
            usize::from(!is_known),
            "window {window}, month {month}"
        );
        assert_eq!(appended[1], Appended::Repeated(expected));
    }
}

proptest::proptest! {
    /// Whatever the clocks show, months are those of the rows' ranges, never go back, and are not before that of a stamp or id.
    #[test]
    fn months_never_go_back_and_are_not_before_those_of_stamps(
        commits in proptest::collection::vec(proptest::collection::vec((0_i64..30, proptest::bool::ANY), 1..4), 1..12)
    ) {
        let (mut state, mut rows) = (before(), Vec::new());
        for commit in commits {
            let requests = commit.iter().map(|(month, is_claim)| {
                let mut request = request(None, vec![event(in_month(*month), None, "a")]);
                if *is_claim {
                    request.origin = Origin::Claimed(Timestamp::from_millis(in_month(month + 1)));
                }
                request
            });
            let plan = plan(requests.collect(), state);
            rows.extend(plan.rows.iter().map(|row| (row.seq, row.month, row.event.record.stamp())));
            state = Before { heads: plan.after.heads, ..Before::default() };
        }
        let head = &state.heads[&LEDGER];
        proptest::prop_assert!(head.months.is_sorted_by(|one, next| one.month < next.month && one.first_seq < next.first_seq));
        for (seq, month, stamp) in rows {
            proptest::prop_assert_eq!(head.month_of(seq), month);
            proptest::prop_assert!(Month::of(stamp.received_at) <= month && Month::of(stamp.id.time()) <= month);
        }
    }
}

/// An event of an action that moves the chain of lifecycle events, where the service records it.
fn lifecycle_event(millis: i64) -> NewEvent {
    NewEvent {
        action: "audit.hold.placed".to_owned(),
        ..event(millis, None, "h")
    }
}

#[test]
fn an_ordinary_append_keeps_the_lifecycle_of_the_head() {
    let events = vec![event(1, None, "a"), lifecycle_event(2), event(3, None, "b")];
    let own = AppendRequest::new(destination(None), events, Origin::Service);
    let first = plan(vec![own, request(None, vec![event(4, None, "c")])], before());
    assert_eq!(first.after.heads[&LEDGER].lifecycle, Some(11));
    let second = plan(vec![request(None, vec![event(5, None, "d")])], first.after);
    assert_eq!(second.after.heads[&LEDGER].lifecycle, Some(11));
}

#[test]
fn a_client_event_of_a_lifecycle_action_moves_nothing() {
    for origin in [Origin::Sent, Origin::Claimed(Timestamp::from_seconds(1))] {
        let mut before = before();
        head(&mut before).lifecycle = Some(3);
        let sent = AppendRequest::new(destination(None), vec![lifecycle_event(1)], origin);
        let plan = plan(vec![sent], before);
        assert_eq!(plan.rows.len(), 1);
        assert_eq!(plan.after.heads[&LEDGER].lifecycle, Some(3));
    }
}

#[test]
fn a_request_that_is_refused_moves_no_lifecycle() {
    let mut before = before();
    let repeated = event(2, Some("k"), "a");
    let forged = KnownKey {
        event: None,
        month: Month::MIN,
    };
    let hash = repeated.idempotency.unwrap().hash;
    before.keys = KnownKeys::from([((LEDGER, hash), forged)]);
    let events = vec![lifecycle_event(1), repeated];
    let own = AppendRequest::new(destination(None), events, Origin::Service);
    let plan = plan(vec![own], before);
    assert!(matches!(plan.outcomes[0], Err(StoreError::ForgedRow { .. })));
    assert_eq!(plan.after.heads[&LEDGER].lifecycle, None);
}
