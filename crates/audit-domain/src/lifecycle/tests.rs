use super::*;
use crate::SERVICE_TENANT_ID;
use serde_json::{Map, Value, json};

const DAY: i64 = 86_400;
const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const DIGEST: Sha256Digest = Sha256Digest::from_bytes([7; 32]);

fn policy() -> RetentionPolicy {
    RetentionPolicy {
        days: Some(365),
        categories: [("security".to_owned(), 2_190)].into(),
        ..RetentionPolicy::default()
    }
}

fn before() -> ReceivedBefore {
    let times = [(DEFAULT_DAYS, 365), ("security", 2_190)];
    times
        .map(|(category, days)| (category.to_owned(), NOW.plus_seconds(-days * DAY)))
        .into()
}

fn plan() -> RetentionPlan {
    RetentionPlan {
        policy: 10,
        seqs: 0..9,
        received_before: before(),
        events: 5,
        held: 1,
        kept: 2,
        digest: DIGEST,
        not_before: NOW.plus_seconds(DAY),
    }
}

fn removal() -> Removal {
    Removal {
        plan: 20,
        policy: 10,
        holds: Vec::new(),
        seqs: 0..9,
        events: 5,
        digest: DIGEST,
        received_before: before(),
        archive: None,
        undelivered: Vec::new(),
    }
}

const fn archived(end_seq: u64) -> Archived {
    Archived {
        end_seq,
        manifest: DIGEST,
    }
}

fn hold() -> Hold {
    Hold {
        hold: "hld_1".to_owned(),
        reason: "case 7".to_owned(),
        actor_id: vec!["u1".to_owned(), "[USER]".to_owned()],
        from: Some(NOW),
        to: Some(NOW.plus_seconds(DAY)),
        ..Hold::default()
    }
}

fn erasure_plan() -> ErasurePlan {
    ErasurePlan {
        erasure: "ers_1".to_owned(),
        basis: "gdpr_17".to_owned(),
        ticket: Some("T-1".to_owned()),
        extent: "person".to_owned(),
        events: 3,
        rows: 1,
        held: 0,
        read_to: 40,
        digest: DIGEST,
        not_before: NOW.plus_seconds(DAY),
    }
}

fn erasure() -> Erasure {
    Erasure {
        erasure: "ers_1".to_owned(),
        plan: 20,
        basis: "gdpr_17".to_owned(),
        ticket: None,
        events: 3,
        rows: 1,
        digest: DIGEST,
    }
}

fn erasure_of(plan: u64) -> Erasure {
    Erasure { plan, ..erasure() }
}

/// An event of each action.
fn examples() -> [LifecycleEvent; 12] {
    [
        LifecycleEvent::RetentionChanged(RetentionPolicy {
            days: None,
            preset: Some("pci".to_owned()),
            archive: true,
            ..policy()
        }),
        LifecycleEvent::RetentionConfirmed { until: NOW },
        LifecycleEvent::Planned(plan()),
        LifecycleEvent::Cancelled {
            plan: 20,
            reason: CancelReason::Hold,
        },
        LifecycleEvent::Removed(Removal {
            holds: vec![3, 4],
            archive: Some(DIGEST),
            undelivered: vec![Undelivered {
                destination: "dst_1".to_owned(),
                from_seq: 7,
            }],
            ..removal()
        }),
        LifecycleEvent::ErasurePlanned(erasure_plan()),
        LifecycleEvent::ErasureCancelled {
            erasure: "ers_1".to_owned(),
            plan: 20,
            reason: CancelReason::Requested,
        },
        LifecycleEvent::Erased(erasure()),
        LifecycleEvent::Archived(archived(8)),
        LifecycleEvent::Restored(Restored {
            seqs: 3..8,
            events: 4,
            archive: DIGEST,
            hold: "hld_1".to_owned(),
        }),
        LifecycleEvent::HoldPlaced(hold()),
        LifecycleEvent::HoldReleased {
            hold: "hld_1".to_owned(),
            placed: 20,
            reason: "settled".to_owned(),
        },
    ]
}

/// The event as the log has it.
fn logged(event: &LifecycleEvent, previous: Option<u64>) -> Map<String, Value> {
    let mut object = json!({
        "tenant_id": SERVICE_TENANT_ID, "action": event.action(), "metadata": event.metadata(previous),
    });
    if !event.changes().is_empty() {
        object["changes"] = event.changes().into();
    }
    object.as_object().unwrap().clone()
}

#[test]
fn an_event_is_read_as_written_and_not_without_a_member() {
    for event in examples() {
        for previous in [None, Some(7)] {
            let object = logged(&event, previous);
            assert!(LifecycleEvent::is_action(event.action()));
            assert_eq!(LifecycleEvent::read(&object), Some((previous, event.clone())));
            let mut other = object.clone();
            other.insert("tenant_id".to_owned(), "acme".into());
            assert_eq!(LifecycleEvent::read(&other), None);
            let mut other = object.clone();
            other["metadata"].as_object_mut().unwrap().remove("previous");
            assert_eq!(LifecycleEvent::read(&other), None, "{}", event.action());
        }
    }
    assert!(!LifecycleEvent::is_action("audit.retention.delayed"));
}

#[test]
fn a_hold_of_which_the_scope_was_erased_covers_everything() {
    let mut object = logged(&LifecycleEvent::HoldPlaced(hold()), None);
    object.remove("changes");
    let fields = HeldFields {
        tenant_id: "another",
        actor_id: "another",
        target_id: Vec::new(),
        logged_at: NOW,
    };
    assert!(!hold().covers(&fields));
    let read = LifecycleEvent::read(&object);
    let Some((None, LifecycleEvent::HoldPlaced(erased))) = read else {
        panic!("{read:?}");
    };
    assert!(erased.covers(&fields));
}

#[test]
fn a_hold_covers_what_has_its_ids_within_its_time() {
    let event = json!({
        "tenant_id": "acme", "actor": {"id": "u1"}, "targets": [{"id": "x"}, {"id": "y"}], "target": {"id": "x"},
        "received_at": NOW.plus_seconds(-DAY).to_string(), "claimed_at": NOW.to_string(),
    });
    let fields = HeldFields::of(event.as_object().unwrap()).unwrap();
    let ids = |id: &str| vec![id.to_owned()];
    let covers = |changed: Hold| changed.covers(&fields);
    assert!(covers(hold()) && covers(Hold::default()));
    assert!(covers(Hold {
        target_id: ids("y"),
        ..hold()
    }));
    assert!(!covers(Hold {
        target_id: ids("z"),
        ..hold()
    }));
    assert!(!covers(Hold {
        tenant_id: ids("other"),
        ..hold()
    }));
    assert!(!covers(Hold {
        actor_id: ids("u2"),
        ..hold()
    }));
    assert!(!covers(Hold {
        to: Some(NOW),
        ..hold()
    }));
    assert!(!covers(Hold {
        from: Some(NOW.plus_seconds(1)),
        ..hold()
    }));
}

/// The fold of a policy at 10, a plan at 20 and what follows; the result of the last.
fn fold(events: Vec<LifecycleEvent>) -> (Lifecycle, Result<(), LifecycleError>) {
    let mut lifecycle = Lifecycle::default();
    let first = [
        LifecycleEvent::RetentionChanged(policy()),
        LifecycleEvent::Planned(plan()),
    ];
    let mut last = Ok(());
    for (number, event) in first.into_iter().chain(events).enumerate() {
        assert_eq!(last, Ok(()));
        let seq = 10 + 10 * number as u64;
        let at = NOW.plus_seconds(if seq > 20 { DAY } else { 0 });
        let previous = lifecycle.last_seq();
        last = lifecycle.add(seq, at, event, previous);
    }
    (lifecycle, last)
}

#[test]
fn a_removal_after_the_grace_closes_its_plan() {
    let (lifecycle, added) = fold(vec![LifecycleEvent::Removed(removal())]);
    assert_eq!(added, Ok(()));
    assert_eq!(lifecycle.open_plan(), None);
    assert_eq!(
        lifecycle.removals().map(|(seq, ..)| seq).collect::<Vec<_>>(),
        [30]
    );
    let (lifecycle, added) = fold(vec![LifecycleEvent::Cancelled {
        plan: 20,
        reason: CancelReason::Requested,
    }]);
    assert_eq!((added, lifecycle.open_plan()), (Ok(()), None));
    let (lifecycle, added) = fold(vec![LifecycleEvent::RetentionConfirmed { until: NOW }]);
    assert_eq!((added, lifecycle.confirmed_until()), (Ok(()), Some(NOW)));
    assert_eq!(lifecycle.open_plan(), Some((20, &plan())));
}

#[test]
fn a_removal_under_a_hold_is_refused() {
    let removed = || LifecycleEvent::Removed(removal());
    let (lifecycle, added) = fold(vec![LifecycleEvent::HoldPlaced(hold()), removed()]);
    let hold_in_force = LifecycleError::HoldInForce {
        seq: 40,
        hold: "hld_1".to_owned(),
    };
    assert_eq!(added, Err(hold_in_force.clone()));
    assert_eq!(lifecycle.holds().count(), 1);
    // Naming the hold does not help: the plan does not know of it.
    let of_hold = LifecycleEvent::Removed(Removal {
        holds: vec![30],
        ..removal()
    });
    assert_eq!(
        fold(vec![LifecycleEvent::HoldPlaced(hold()), of_hold]).1,
        Err(hold_in_force)
    );
    let released = |hold: &str| LifecycleEvent::HoldReleased {
        hold: hold.to_owned(),
        placed: 30,
        reason: "settled".to_owned(),
    };
    let placed = || LifecycleEvent::HoldPlaced(hold());
    assert_eq!(fold(vec![placed(), released("hld_1"), removed()]).1, Ok(()));
    let unknown = Err(LifecycleError::UnknownHold { seq: 40 });
    assert_eq!(fold(vec![placed(), released("hld_2")]).1, unknown);
}

#[test]
fn a_removal_is_refused_before_the_end_of_the_grace_and_with_another_digest() {
    let early = RetentionPlan {
        not_before: NOW.plus_seconds(DAY + 1),
        ..plan()
    };
    let cancelled = LifecycleEvent::Cancelled {
        plan: 20,
        reason: CancelReason::Policy,
    };
    let of_second = Removal {
        plan: 40,
        ..removal()
    };
    let events = vec![
        cancelled,
        LifecycleEvent::Planned(early),
        LifecycleEvent::Removed(of_second),
    ];
    let too_early = LifecycleError::TooEarly {
        seq: 50,
        not_before: NOW.plus_seconds(DAY + 1),
    };
    assert_eq!(fold(events).1, Err(too_early));
    for other in [
        Removal {
            digest: Sha256Digest::from_bytes([8; 32]),
            ..removal()
        },
        Removal {
            events: 6,
            ..removal()
        },
        Removal {
            seqs: 0..10,
            ..removal()
        },
        Removal {
            received_before: ReceivedBefore::new(),
            ..removal()
        },
    ] {
        let other_digest = Err(LifecycleError::OtherDigest { seq: 30 });
        assert_eq!(fold(vec![LifecycleEvent::Removed(other)]).1, other_digest);
    }
}

#[test]
fn a_removal_that_is_younger_than_the_policy_is_refused() {
    let mut younger = before();
    younger.insert("security".to_owned(), NOW.plus_seconds(-365 * DAY));
    let mut without_category = before();
    without_category.remove("security");
    let mut without_default = before();
    without_default.remove(DEFAULT_DAYS);
    for received_before in [younger, without_category, without_default, ReceivedBefore::new()] {
        let plan = RetentionPlan {
            received_before,
            ..plan()
        };
        let too_young = Err(LifecycleError::TooYoung { seq: 30 });
        assert_eq!(fold(vec![LifecycleEvent::Planned(plan)]).1, too_young);
    }
    for (changed, expected) in [
        (RetentionPolicy::default(), LifecycleError::NoPolicy { seq: 40 }),
        (policy(), LifecycleError::NoPolicy { seq: 40 }),
    ] {
        let events = vec![
            LifecycleEvent::RetentionChanged(changed),
            LifecycleEvent::Removed(removal()),
        ];
        assert_eq!(
            fold(events).1,
            Err(expected),
            "the policy of the plan is not in force any more"
        );
    }
}

#[test]
fn a_removal_names_an_archive_that_has_its_range() {
    let in_archive = |ends: &[u64], archive: Option<Sha256Digest>| {
        let policy = RetentionPolicy {
            archive: true,
            ..policy()
        };
        let mut events = vec![LifecycleEvent::RetentionChanged(policy)];
        events.push(LifecycleEvent::Cancelled {
            plan: 20,
            reason: CancelReason::Policy,
        });
        events.push(LifecycleEvent::Planned(RetentionPlan { policy: 30, ..plan() }));
        let archives = ends
            .iter()
            .map(|end_seq| LifecycleEvent::Archived(archived(*end_seq)));
        events.extend(archives);
        events.push(LifecycleEvent::Removed(Removal {
            plan: 50,
            policy: 30,
            archive,
            ..removal()
        }));
        fold(events).1
    };
    let other = Some(Sha256Digest::from_bytes([8; 32]));
    let refused = |seq: u64| Err(LifecycleError::NotArchived { seq });
    assert_eq!(in_archive(&[9], Some(DIGEST)), Ok(()));
    assert_eq!(in_archive(&[9, 5], Some(DIGEST)), Ok(()));
    assert_eq!(
        in_archive(&[8], Some(DIGEST)),
        refused(70),
        "it ends before the range"
    );
    assert_eq!(in_archive(&[9], None), refused(70));
    assert_eq!(in_archive(&[9], other), refused(70));
    assert_eq!(in_archive(&[], Some(DIGEST)), refused(60));
    // Without such a policy none has to be named, but none that is unknown.
    let named = |archive| fold(vec![LifecycleEvent::Removed(Removal { archive, ..removal() })]).1;
    assert_eq!(named(Some(DIGEST)), refused(30));
    let since = |seqs: Range<u64>| {
        let restored = LifecycleEvent::Restored(Restored {
            seqs,
            events: 1,
            archive: DIGEST,
            hold: "hld_1".to_owned(),
        });
        let events = vec![
            LifecycleEvent::Archived(archived(9)),
            LifecycleEvent::HoldPlaced(hold()),
            restored,
        ];
        fold(events).0.archived(9).count()
    };
    assert_eq!(since(8..9), 0, "it may have been made while the event was away");
    assert_eq!(since(9..10), 1);
    let ahead = LifecycleEvent::Archived(archived(31));
    assert_eq!(fold(vec![ahead]).1, refused(30), "it names events behind itself");
}

#[test]
fn a_chain_with_a_gap_is_refused() {
    let confirmed = || LifecycleEvent::RetentionConfirmed { until: NOW };
    for (seq, found) in [
        (30, None),
        (30, Some(10)),
        (30, Some(30)),
        (20, Some(20)),
        (5, Some(20)),
    ] {
        let (mut lifecycle, _) = fold(Vec::new());
        let expected = Some(20);
        let gap = LifecycleError::Previous { seq, expected, found };
        assert_eq!(lifecycle.add(seq, NOW, confirmed(), found), Err(gap));
    }
    let (lifecycle, added) = fold(vec![LifecycleEvent::Cancelled {
        plan: 10,
        reason: CancelReason::Requested,
    }]);
    assert_eq!(added, Err(LifecycleError::UnknownPlan { seq: 30 }));
    assert_eq!(lifecycle.open_plan(), Some((20, &plan())), "it stays open");
}

#[test]
fn an_erasure_does_what_its_plan_says_after_the_grace() {
    let planned = || LifecycleEvent::ErasurePlanned(erasure_plan());
    let erased = |erasure: Erasure| fold(vec![planned(), LifecycleEvent::Erased(erasure)]);
    let valid = erasure_of(30);
    let (lifecycle, added) = erased(valid.clone());
    assert_eq!((added, lifecycle.open_erasures().count()), (Ok(()), 0));
    assert_eq!(lifecycle.erasures().count(), 1);
    assert_eq!(
        lifecycle.open_plan(),
        Some((20, &plan())),
        "another removal stays open beside it"
    );
    let other = Erasure {
        erasure: "ers_2".to_owned(),
        ..valid.clone()
    };
    assert_eq!(erased(other).1, Err(LifecycleError::UnknownPlan { seq: 40 }));
    let other = Erasure {
        rows: 2,
        ..valid.clone()
    };
    assert_eq!(erased(other).1, Err(LifecycleError::OtherDigest { seq: 40 }));
    let cancelled = LifecycleEvent::ErasureCancelled {
        erasure: "ers_1".to_owned(),
        plan: 30,
        reason: CancelReason::Hold,
    };
    let events = vec![planned(), cancelled, LifecycleEvent::Erased(valid)];
    assert_eq!(fold(events).1, Err(LifecycleError::UnknownPlan { seq: 50 }));
    let placed = || LifecycleEvent::HoldPlaced(hold());
    let after_plan = vec![planned(), placed(), LifecycleEvent::Erased(erasure_of(30))];
    let hold = "hld_1".to_owned();
    let hold_in_force = LifecycleError::HoldInForce { seq: 50, hold };
    assert_eq!(fold(after_plan).1, Err(hold_in_force));
    // The list has nothing that an earlier hold covers.
    let before_plan = vec![placed(), planned(), LifecycleEvent::Erased(erasure_of(40))];
    assert_eq!(fold(before_plan).1, Ok(()));
}

#[test]
fn events_are_restored_for_a_hold_in_force() {
    let restored = Restored {
        seqs: 3..8,
        events: 4,
        archive: DIGEST,
        hold: "hld_1".to_owned(),
    };
    let event = || LifecycleEvent::Restored(restored.clone());
    let placed = || LifecycleEvent::HoldPlaced(hold());
    let (lifecycle, added) = fold(vec![placed(), event()]);
    assert_eq!(added, Ok(()));
    assert_eq!(lifecycle.restored().collect::<Vec<_>>(), [(40, &restored)]);
    assert_eq!(
        fold(vec![event()]).1,
        Err(LifecycleError::UnknownHold { seq: 30 })
    );
    let released = LifecycleEvent::HoldReleased {
        hold: "hld_1".to_owned(),
        placed: 30,
        reason: "settled".to_owned(),
    };
    let events = vec![placed(), released, event()];
    assert_eq!(fold(events).1, Err(LifecycleError::UnknownHold { seq: 50 }));
}
