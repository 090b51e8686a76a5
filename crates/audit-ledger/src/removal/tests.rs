use super::*;
use crate::TenantMapKey;
use audit_domain::{
    DEFAULT_DAYS, Environment, Erasure, ErasurePlan, EventPart, Hold, LifecycleEvent, ProjectId,
    ReceivedBefore, Removal, Restored, RetentionPlan, RetentionPolicy, SERVICE_TENANT_ID, Sha256Digest,
    Timestamp,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const DAY: i64 = 86_400;
const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
/// Events before the lifecycle events, and the positions of these.
const ROWS: u64 = 8;
const POLICY: u64 = 10;
const HOLD: u64 = 11;
const PLAN: u64 = 20;
const REMOVAL: u64 = 30;

fn log() -> LogName {
    LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
}

fn label(seq: u64) -> TenantLabel {
    TenantMapKey::new([7; 32]).label(&tenant(seq))
}

fn tenant(seq: u64) -> String {
    format!("tenant-{}", seq % 3)
}

fn record(seq: u64) -> RemovalRecord {
    RemovalRecord {
        seq,
        mask: PartMask::ROW,
        content_hash: ContentHash::from_bytes([seq as u8; 32]),
        slot: label(seq).slot(),
    }
}

fn digest(kind: RemovalKind, seqs: &[u64]) -> Sha256Digest {
    let mut digest = RemovalDigest::new(kind, &log());
    for seq in seqs {
        digest.add(&record(*seq), &label(*seq));
    }
    Sha256Digest::from_bytes(*digest.finish().as_bytes())
}

/// A log of [`ROWS`] events of 500 days ago with a policy of 365 days, and a removal of some of them.
#[derive(Clone, Debug)]
struct Case {
    planned: Vec<u64>,
    /// The tenant that is held.
    held: Option<u64>,
    is_removed: bool,
    /// The records that the check is given, and which of their events are there.
    records: Vec<(u64, bool)>,
    is_done: bool,
    restored: Option<(u64, bool)>,
}

impl Case {
    fn authority(&self) -> u64 {
        if self.is_removed { REMOVAL } else { PLAN }
    }

    fn events(&self) -> Vec<(u64, Timestamp, LifecycleEvent)> {
        let policy = RetentionPolicy {
            days: Some(365),
            ..RetentionPolicy::default()
        };
        let received_before = [(DEFAULT_DAYS.to_owned(), NOW.plus_seconds(-365 * DAY))];
        let plan = RetentionPlan {
            policy: POLICY,
            seqs: 0..ROWS,
            received_before: received_before.into(),
            events: self.planned.len() as u64,
            held: 0,
            kept: 0,
            digest: digest(RemovalKind::Retention, &self.planned),
            not_before: NOW,
        };
        let mut events = vec![(POLICY, NOW, LifecycleEvent::RetentionChanged(policy))];
        if let Some(held) = self.held {
            let hold = Hold {
                hold: "hld_1".to_owned(),
                tenant_id: vec![tenant(held)],
                ..Hold::default()
            };
            events.push((HOLD, NOW, LifecycleEvent::HoldPlaced(hold)));
        }
        events.push((PLAN, NOW, LifecycleEvent::Planned(plan.clone())));
        if self.is_removed {
            let removal = Removal {
                plan: PLAN,
                policy: POLICY,
                holds: self.held.map(|_| HOLD).into_iter().collect(),
                seqs: plan.seqs,
                events: plan.events,
                digest: plan.digest,
                received_before: plan.received_before,
                archive: None,
                undelivered: Vec::new(),
            };
            events.push((REMOVAL, NOW, LifecycleEvent::Removed(removal)));
        }
        if let Some((restored, is_covered)) = self.restored {
            let hold = Hold {
                hold: "hld_2".to_owned(),
                tenant_id: vec![tenant(restored + u64::from(!is_covered))],
                ..Hold::default()
            };
            let restored = Restored {
                seqs: restored..restored + 1,
                events: 1,
                archive: digest(RemovalKind::Retention, &[]),
                hold: hold.hold.clone(),
            };
            events.push((REMOVAL + 1, NOW, LifecycleEvent::HoldPlaced(hold)));
            events.push((REMOVAL + 2, NOW, LifecycleEvent::Restored(restored)));
        }
        events
    }

    fn check(&self) -> RemovalReport {
        let mut check = RemovalCheck::new(log(), NOW);
        for (seq, is_there) in &self.records {
            check.record(
                self.authority(),
                &record(*seq),
                &label(*seq),
                *is_there,
                self.is_done,
            );
            if *is_there {
                check.event(*seq, NOW, &row(*seq, NOW.plus_seconds(-500 * DAY)));
            }
        }
        let mut previous = None;
        for (seq, at, event) in self.events() {
            check.event(seq, at, &logged(&event, previous));
            previous = Some(seq);
        }
        check.finish()
    }

    /// What is wrong, computed from the whole case.
    fn expected(&self) -> Vec<RemovalProblem> {
        let (removal, mut expected) = (self.authority(), Vec::new());
        let missing = self.records.iter().find(|(_, is_there)| !is_there);
        if let (Some((seq, _)), false) = (missing, self.is_removed) {
            let (seq, authority) = (*seq, removal);
            expected.push(RemovalProblem::UnknownAuthority { seq, authority });
        }
        let given: Vec<u64> = self.records.iter().map(|(seq, _)| *seq).collect();
        if given != self.planned {
            expected.push(RemovalProblem::Digest { removal });
        }
        let there = || {
            self.records
                .iter()
                .filter(|(_, is_there)| *is_there)
                .map(|(seq, _)| *seq)
        };
        if let Some(seq) = there().find(|seq| self.held.is_some_and(|held| tenant(held) == tenant(*seq))) {
            let hold = "hld_1".to_owned();
            expected.push(RemovalProblem::Held { removal, seq, hold });
        }
        let again = there().filter(|seq| self.restored != Some((*seq, true))).count() as u64;
        if self.is_removed && self.is_done && again > 0 {
            expected.push(RemovalProblem::NotRemoved {
                removal,
                events: again,
            });
        }
        if let Some((seq, is_covered)) = self.restored
            && !(is_covered && there().any(|there| there == seq))
        {
            let hold = "hld_2".to_owned();
            let restore = REMOVAL + 2;
            expected.push(RemovalProblem::NotRestored {
                restore,
                events: 1,
                hold,
            });
        }
        expected
    }
}

fn row(seq: u64, received_at: Timestamp) -> Map<String, Value> {
    let event = json!({
        "tenant_id": tenant(seq), "category": "auth", "actor": {"id": "u"}, "received_at": received_at.to_string(),
    });
    event.as_object().unwrap().clone()
}

fn logged(event: &LifecycleEvent, previous: Option<u64>) -> Map<String, Value> {
    let event = json!({
        "tenant_id": SERVICE_TENANT_ID, "action": event.action(), "metadata": event.metadata(previous),
        "changes": event.changes(),
    });
    event.as_object().unwrap().clone()
}

fn cases() -> impl Strategy<Value = Case> {
    let subset = || prop::collection::btree_set(0..ROWS, 0..5);
    let there = prop::collection::vec(any::<bool>(), 5);
    let other = prop::option::weighted(0.3, subset());
    (
        subset(),
        other,
        there,
        prop::option::of(0..3_u64),
        any::<[bool; 2]>(),
        prop::option::of((0..ROWS, any::<bool>())),
    )
        .prop_map(
            |(planned, other, there, held, [is_removed, is_done], restored)| Case {
                records: other
                    .unwrap_or_else(|| planned.clone())
                    .into_iter()
                    .zip(there)
                    .collect(),
                planned: planned.into_iter().collect(),
                held,
                is_removed,
                is_done,
                restored: restored.filter(|_| is_removed),
            },
        )
}

proptest! {
    #[test]
    fn a_check_finds_what_the_whole_log_shows(case in cases()) {
        let report = case.check();
        prop_assert_eq!(&report.problems, &case.expected());
        let gone = case.records.iter().filter(|(_, is_there)| !is_there).count() as u64;
        prop_assert_eq!(report.retention, if case.is_removed { gone } else { 0 });
        prop_assert_eq!(report.lifecycle.removals().count(), usize::from(case.is_removed));
    }

    #[test]
    fn a_record_is_read_as_written(
        tile in 0..1_u64 << 40,
        records in prop::collection::btree_map(any::<u8>(), (1_u16..1 << 11, any::<[u8; 32]>(), any::<u64>()), 0..20),
    ) {
        let records: Vec<RemovalRecord> = records.into_iter().map(|(offset, (mask, content_hash, slot))| RemovalRecord {
            seq: tile * 256 + u64::from(offset),
            mask: PartMask::from_bits(mask).unwrap(),
            content_hash: ContentHash::from_bytes(content_hash),
            slot,
        }).collect();
        let bytes = encode_records(&records);
        prop_assert_eq!(bytes.len(), records.len() * RemovalRecord::BYTES);
        prop_assert_eq!(decode_records(tile, &bytes), Some(records));
    }
}

#[test]
fn records_have_one_order_and_a_mask() {
    let bytes = encode_records(&[record(3), record(7)]);
    let (first, second) = bytes.split_at(RemovalRecord::BYTES);
    assert_eq!(decode_records(0, &[second, first].concat()), None);
    assert_eq!(decode_records(0, &[first, first].concat()), None);
    assert_eq!(decode_records(0, &bytes[1..]), None);
    assert_eq!(decode_records(u64::MAX, &bytes), None);
    let mut without_mask = bytes.clone();
    without_mask[1..3].fill(0);
    assert_eq!(decode_records(0, &without_mask), None);
}

#[test]
fn a_row_that_the_policy_keeps_is_found_while_it_is_there() {
    let mut check = RemovalCheck::new(log(), NOW);
    check.record(PLAN, &record(3), &label(3), true, false);
    check.event(3, NOW, &row(3, NOW.plus_seconds(-364 * DAY)));
    let case = Case {
        planned: vec![3],
        held: None,
        is_removed: false,
        records: Vec::new(),
        is_done: false,
        restored: None,
    };
    let mut previous = None;
    for (seq, at, event) in case.events() {
        check.event(seq, at, &logged(&event, previous));
        previous = Some(seq);
    }
    let problems = check.finish().problems;
    assert_eq!(
        problems,
        [RemovalProblem::TooYoung {
            removal: PLAN,
            seq: 3
        }]
    );
}

#[test]
fn an_erasure_has_a_digest_of_its_own_kind_and_its_number_of_rows() {
    for (kind, rows, is_valid) in [
        (RemovalKind::Erasure, 1, true),
        (RemovalKind::Erasure, 0, false),
        (RemovalKind::Retention, 1, false),
    ] {
        let digest = digest(kind, &[3]);
        let plan = ErasurePlan {
            erasure: "ers_1".to_owned(),
            basis: "gdpr_17".to_owned(),
            ticket: None,
            extent: "row".to_owned(),
            events: 1,
            rows,
            held: 0,
            read_to: ROWS,
            digest,
            not_before: NOW,
        };
        let erasure = Erasure {
            erasure: plan.erasure.clone(),
            plan: PLAN,
            basis: plan.basis.clone(),
            ticket: None,
            events: 1,
            rows,
            digest,
        };
        let mut check = RemovalCheck::new(log(), NOW);
        check.record(REMOVAL, &record(3), &label(3), false, true);
        check.event(PLAN, NOW, &logged(&LifecycleEvent::ErasurePlanned(plan), None));
        check.event(
            REMOVAL,
            NOW,
            &logged(&LifecycleEvent::Erased(erasure), Some(PLAN)),
        );
        let report = check.finish();
        assert_eq!(report.problems.is_empty(), is_valid, "{:?}", report.problems);
        assert_eq!((report.retention, report.erased), (0, 1));
    }
}

#[test]
fn what_an_erasure_took_is_not_restored() {
    let erased = || {
        let erasure = Erasure {
            erasure: "ers_1".to_owned(),
            plan: 5,
            basis: "gdpr_17".to_owned(),
            ticket: None,
            events: 1,
            rows: 1,
            digest: digest(RemovalKind::Erasure, &[3]),
        };
        let plan = ErasurePlan {
            erasure: erasure.erasure.clone(),
            basis: erasure.basis.clone(),
            ticket: None,
            extent: "row".to_owned(),
            events: 1,
            rows: 1,
            held: 0,
            read_to: ROWS,
            digest: erasure.digest,
            not_before: NOW,
        };
        vec![
            (5, logged(&LifecycleEvent::ErasurePlanned(plan), None)),
            (6, logged(&LifecycleEvent::Erased(erasure), Some(5))),
        ]
    };
    for (events, expected) in [(removed_early(&[3]).to_vec(), 0), (erased(), 1)] {
        let hold = Hold {
            hold: "hld_1".to_owned(),
            ..Hold::default()
        };
        let restored = Restored {
            seqs: 0..ROWS,
            events: 1,
            archive: digest(RemovalKind::Retention, &[3]),
            hold: hold.hold.clone(),
        };
        let mut check = RemovalCheck::new(log(), NOW);
        check.record(6, &record(3), &label(3), true, true);
        let more = [
            (8, logged(&LifecycleEvent::HoldPlaced(hold), Some(6))),
            (9, logged(&LifecycleEvent::Restored(restored), Some(8))),
        ];
        for (seq, event) in events.into_iter().chain(more) {
            check.event(seq, NOW, &event);
        }
        let problems = check.finish().problems;
        let is_again = |problem: &&RemovalProblem| matches!(problem, RemovalProblem::NotRemoved { .. });
        assert_eq!(problems.iter().filter(is_again).count(), expected, "{problems:?}");
    }
}

/// A row that was put back is taken out while its hold is in force, or while a second removal is collected after the release.
#[test]
fn rows_that_were_put_back_stay_until_a_removal_takes_them() {
    let hold = Hold {
        hold: "hld_1".to_owned(),
        ..Hold::default()
    };
    let restored = |seqs: &[u64]| Restored {
        seqs: 0..ROWS,
        events: seqs.len() as u64,
        archive: digest(RemovalKind::Retention, &[3]),
        hold: hold.hold.clone(),
    };
    let check_of = |seqs: &[u64], there: &dyn Fn(u64) -> bool| {
        let mut check = RemovalCheck::new(log(), NOW);
        for seq in seqs {
            check.record(6, &record(*seq), &label(*seq), there(*seq), true);
            check.event(*seq, NOW, &row(*seq, NOW.plus_seconds(-500 * DAY)));
        }
        check
    };
    let add = |check: &mut RemovalCheck, seqs: &[u64], more: Vec<(u64, Map<String, Value>)>| {
        for (seq, event) in removed_early(seqs).into_iter().chain(more) {
            check.event(seq, NOW, &event);
        }
    };
    let placed = || {
        let placed = LifecycleEvent::HoldPlaced(hold.clone());
        let restored = LifecycleEvent::Restored(restored(&[2, 3]));
        vec![(8, logged(&placed, Some(6))), (9, logged(&restored, Some(8)))]
    };
    for (there, expected) in [(&[2, 3][..], 0), (&[3], 1), (&[], 2)] {
        let mut check = check_of(&[1, 2, 3], &|seq| there.contains(&seq));
        add(&mut check, &[1, 2, 3], placed());
        let problems = check.finish().problems;
        let expected = (expected > 0).then(|| RemovalProblem::NotRestored {
            restore: 9,
            events: expected,
            hold: hold.hold.clone(),
        });
        assert_eq!(problems, Vec::from_iter(expected));
    }

    // The second removal has taken 2. Where it has kept another event for a hold, 3 may be that one.
    for (held, is_recorded, expected) in [(0, false, 1), (1, false, 0), (0, true, 0)] {
        let mut check = RemovalCheck::new(log(), NOW);
        check.record(6, &record(2), &label(2), false, true);
        check.record(12, &record(2), &label(2), false, true);
        check.record(6, &record(3), &label(3), true, true);
        if is_recorded {
            // It is about to go.
            check.record(12, &record(3), &label(3), true, false);
        }
        check.event(3, NOW, &row(3, NOW.plus_seconds(-500 * DAY)));
        let taken: &[u64] = if is_recorded { &[2, 3] } else { &[2] };
        let (plan, removal) = removal_of(11, taken, held);
        let release = LifecycleEvent::HoldReleased {
            hold: hold.hold.clone(),
            placed: 8,
            reason: String::new(),
        };
        let mut more = placed();
        more.extend([
            (10, logged(&release, Some(9))),
            (11, logged(&LifecycleEvent::Planned(plan), Some(10))),
            (12, logged(&LifecycleEvent::Removed(removal), Some(11))),
        ]);
        add(&mut check, &[2, 3], more);
        let (removal, events) = (6, 1);
        let expected = (expected > 0).then_some(RemovalProblem::NotRemoved { removal, events });
        assert_eq!(check.finish().problems, Vec::from_iter(expected));
    }
}

/// A plan of these events, at this position of the log, and its removal.
fn removal_of(plan_seq: u64, seqs: &[u64], held: u64) -> (RetentionPlan, Removal) {
    let received_before = ReceivedBefore::from([(DEFAULT_DAYS.to_owned(), NOW.plus_seconds(-365 * DAY))]);
    let (events, digest) = (seqs.len() as u64, digest(RemovalKind::Retention, seqs));
    let plan = RetentionPlan {
        policy: 4,
        seqs: 0..ROWS,
        received_before: received_before.clone(),
        events,
        held,
        kept: 0,
        digest,
        not_before: NOW,
    };
    let removal = Removal {
        plan: plan_seq,
        policy: 4,
        holds: Vec::new(),
        seqs: 0..ROWS,
        events,
        digest,
        received_before,
        archive: None,
        undelivered: Vec::new(),
    };
    (plan, removal)
}

/// A removal, an erasure that waits, and both have a record of the same row.
#[test]
fn what_is_gone_already_is_no_finding_of_a_plan_that_would_take_it() {
    for (is_taken, expected) in [(true, None), (false, Some(3))] {
        let plan = ErasurePlan {
            erasure: "ers_1".to_owned(),
            basis: "gdpr_17".to_owned(),
            ticket: None,
            extent: "row".to_owned(),
            events: 1,
            rows: 1,
            held: 0,
            read_to: ROWS,
            digest: digest(RemovalKind::Erasure, &[3]),
            not_before: NOW,
        };
        let mut check = RemovalCheck::new(log(), NOW);
        if is_taken {
            check.record(6, &record(3), &label(3), false, true);
        }
        check.record(8, &record(3), &label(3), false, false);
        let seqs: &[u64] = if is_taken { &[3] } else { &[] };
        for (seq, event) in removed_early(seqs) {
            check.event(seq, NOW, &event);
        }
        check.event(8, NOW, &logged(&LifecycleEvent::ErasurePlanned(plan), Some(6)));
        let report = check.finish();
        let authority = 8;
        let expected = expected.map(|seq| RemovalProblem::UnknownAuthority { seq, authority });
        assert_eq!(report.problems, Vec::from_iter(expected));
        assert_eq!((report.retention, report.erased), (u64::from(is_taken), 0));
    }
}

/// An event of which an erasure took one part, and which a later plan is about to take, or another part of it.
#[test]
fn parts_are_erased_by_an_erasure_in_the_log_and_not_by_a_plan() {
    let part = |part: EventPart| PartMask::of_parts([part]).expect("a part");
    let of_mask = |mask: PartMask| RemovalRecord { mask, ..record(3) };
    let plan = |mask: PartMask| {
        let mut digest = RemovalDigest::new(RemovalKind::Erasure, &log());
        digest.add(&of_mask(mask), &label(3));
        ErasurePlan {
            erasure: format!("ers_{}", mask.bits()),
            basis: "gdpr_17".to_owned(),
            ticket: None,
            extent: "person".to_owned(),
            events: 1,
            rows: u64::from(mask.is_row()),
            held: 0,
            read_to: ROWS,
            digest: Sha256Digest::from_bytes(*digest.finish().as_bytes()),
            not_before: NOW,
        }
    };
    let taken = part(EventPart::Metadata);
    for waiting in [part(EventPart::ActorId), PartMask::ROW] {
        for (is_early, expected) in [(false, None), (true, Some(3))] {
            let (first, second) = (plan(taken), plan(waiting));
            let erasure = Erasure {
                erasure: first.erasure.clone(),
                plan: PLAN,
                basis: first.basis.clone(),
                ticket: None,
                events: 1,
                rows: 0,
                digest: first.digest,
            };
            let mut check = RemovalCheck::new(log(), NOW);
            check.record(REMOVAL, &of_mask(taken), &label(3), false, true);
            // The row itself is there.
            let is_there = waiting.is_row() || !is_early;
            check.record(REMOVAL + 1, &of_mask(waiting), &label(3), is_there, false);
            check.erased(3, REMOVAL);
            if is_early {
                check.erased(3, REMOVAL + 1);
            }
            for (seq, event, previous) in [
                (PLAN, LifecycleEvent::ErasurePlanned(first), None),
                (REMOVAL, LifecycleEvent::Erased(erasure), Some(PLAN)),
                (REMOVAL + 1, LifecycleEvent::ErasurePlanned(second), Some(REMOVAL)),
            ] {
                check.event(seq, NOW, &logged(&event, previous));
            }
            let authority = REMOVAL + 1;
            let expected = expected.map(|seq| RemovalProblem::UnknownAuthority { seq, authority });
            assert_eq!(check.finish().problems, Vec::from_iter(expected));
        }
    }
}

/// Who has set a policy stays, even where an erasure in the log has a record of the event.
#[test]
fn a_record_of_a_lifecycle_event_is_found() {
    let mask = PartMask::of_parts([EventPart::ActorId]).expect("a part");
    let record = RemovalRecord { mask, ..record(4) };
    let mut digest = RemovalDigest::new(RemovalKind::Erasure, &log());
    digest.add(&record, &label(4));
    let plan = ErasurePlan {
        erasure: "ers_1".to_owned(),
        basis: "gdpr_17".to_owned(),
        ticket: None,
        extent: "person".to_owned(),
        events: 1,
        rows: 0,
        held: 0,
        read_to: ROWS,
        digest: Sha256Digest::from_bytes(*digest.finish().as_bytes()),
        not_before: NOW,
    };
    for is_there in [true, false] {
        let erasure = Erasure {
            erasure: plan.erasure.clone(),
            plan: PLAN,
            basis: plan.basis.clone(),
            ticket: None,
            events: 1,
            rows: 0,
            digest: plan.digest,
        };
        let mut check = RemovalCheck::new(log(), NOW);
        check.record(REMOVAL, &record, &label(4), is_there, false);
        let policy = LifecycleEvent::RetentionChanged(RetentionPolicy::default());
        for (seq, event, previous) in [
            (4, policy, None),
            (PLAN, LifecycleEvent::ErasurePlanned(plan.clone()), Some(4)),
            (REMOVAL, LifecycleEvent::Erased(erasure), Some(PLAN)),
        ] {
            check.event(seq, NOW, &logged(&event, previous));
        }
        let (removal, seq) = (REMOVAL, 4);
        assert_eq!(
            check.finish().problems,
            [RemovalProblem::OfLifecycle { removal, seq }]
        );
    }
}

#[test]
fn a_label_of_another_slot_and_an_event_that_removes_nothing_are_found() {
    let mut check = RemovalCheck::new(log(), NOW);
    check.record(5, &record(3), &label(4), false, false);
    let problems = check.finish().problems;
    let expected = [
        RemovalProblem::Digest { removal: 5 },
        RemovalProblem::UnknownAuthority { seq: 3, authority: 5 },
    ];
    assert_eq!(problems, expected);
}

/// A plan and a removal of these events, in the log at 5 and 6.
fn removed_early(seqs: &[u64]) -> [(u64, Map<String, Value>); 3] {
    let policy = RetentionPolicy {
        days: Some(365),
        ..RetentionPolicy::default()
    };
    let (plan, removal) = removal_of(5, seqs, 0);
    [
        (4, logged(&LifecycleEvent::RetentionChanged(policy), None)),
        (5, logged(&LifecycleEvent::Planned(plan), Some(4))),
        (6, logged(&LifecycleEvent::Removed(removal), Some(5))),
    ]
}

#[test]
fn a_removal_covers_no_event_behind_itself() {
    for (missing, expected) in [(3, None), (7, Some(7))] {
        let mut check = RemovalCheck::new(log(), NOW);
        check.record(6, &record(missing), &label(missing), false, true);
        for (seq, event) in removed_early(&[missing]) {
            check.event(seq, NOW, &event);
        }
        let authority = 6;
        let expected = expected.map(|seq| RemovalProblem::UnknownAuthority { seq, authority });
        assert_eq!(check.finish().problems, Vec::from_iter(expected));
    }
}

#[test]
fn events_that_are_too_many_to_be_compared_are_counted_and_found_when_they_should_be_gone() {
    for is_done in [false, true] {
        let mut check = RemovalCheck::new(log(), NOW);
        check.rows_max = 2;
        for seq in 0..3 {
            // The first two are about to go.
            let is_done = is_done && seq == 2;
            check.record(6, &record(seq), &label(seq), true, is_done);
            check.event(seq, NOW, &row(seq, NOW.plus_seconds(-500 * DAY)));
        }
        for (seq, event) in removed_early(&[0, 1, 2]) {
            check.event(seq, NOW, &event);
        }
        let report = check.finish();
        let (removal, events) = (6, 1);
        let again = is_done.then_some(RemovalProblem::NotRemoved { removal, events });
        assert_eq!((report.problems, report.uncompared), (Vec::from_iter(again), 1));
    }
}
