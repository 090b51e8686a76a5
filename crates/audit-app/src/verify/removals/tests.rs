use super::*;
use audit_domain::{ContentHash, EventPart, SERVICE_TENANT_ID};
use audit_ledger::{RemovalDigest, RemovalKind, TenantMapKey};
use serde_json::json;

/// The events of the test log: one of January, the policy, a hold or none, the plan, and the removal.
const OLD: u64 = 0;
const POLICY: u64 = 1;
const HOLD: u64 = 2;
const PLAN: u64 = 3;
const REMOVAL: u64 = 4;
const RECEIVED_BEFORE: &str = "2026-03-01T00:00:00.000Z";

fn log() -> LogName {
    LogName::parse("67e55044-10b1-426f-9247-bb680e5fe0c8", "live").expect("a name")
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).expect("a time")
}

fn label() -> TenantLabel {
    TenantMapKey::new([7; 32]).label("acme")
}

fn record() -> RemovalRecord {
    RemovalRecord {
        seq: OLD,
        mask: PartMask::ROW,
        content_hash: ContentHash::from_bytes([1; 32]),
        slot: label().slot(),
    }
}

fn recorded(authority: u64, is_begun: bool) -> Vec<Recorded> {
    vec![Recorded {
        authority,
        is_begun,
        is_done: is_begun,
        record: record(),
        label: label(),
    }]
}

fn digest() -> String {
    let mut digest = RemovalDigest::new(RemovalKind::Retention, &log());
    digest.add(&record(), &label());
    let digits = digest
        .finish()
        .as_bytes()
        .map(|byte| format!("{byte:02x}"))
        .concat();
    format!("sha256:{digits}")
}

fn members(action: &str, metadata: Value) -> Map<String, Value> {
    let event = json!({
        "action": action,
        "category": "security",
        "tenant_id": SERVICE_TENANT_ID,
        "target": {"type": "log", "id": log().as_str()},
        "metadata": metadata,
    });
    event.as_object().expect("an object").clone()
}

fn walk() -> RemovalWalk {
    RemovalWalk::new(&[], 5, Some(log()), time("2026-07-05T00:00:00.000Z"))
}

fn add_policy(walk: &mut RemovalWalk) {
    let policy = json!({"previous": null, "days": 93, "categories": {}});
    let policy = members("audit.retention.changed", policy);
    walk.add_event(POLICY, time("2026-07-01T00:00:00.000Z"), &policy);
}

fn add_plan(walk: &mut RemovalWalk, previous: u64) {
    let plan = json!({
        "previous": previous, "policy": POLICY, "first_seq": OLD, "end_seq": OLD + 1,
        "received_before": {"default": RECEIVED_BEFORE}, "events": 1, "held": 0, "kept": 0,
        "digest": digest(), "not_before": "2026-07-03T00:00:00.000Z",
    });
    let plan = members("audit.retention.planned", plan);
    walk.add_event(PLAN, time("2026-07-02T00:00:00.000Z"), &plan);
}

fn add_removal(walk: &mut RemovalWalk) {
    let removal = json!({
        "previous": PLAN, "plan": PLAN, "policy": POLICY, "holds": [], "first_seq": OLD, "end_seq": OLD + 1,
        "events": 1, "digest": digest(), "received_before": {"default": RECEIVED_BEFORE},
    });
    let removal = members("audit.events.removed", removal);
    walk.add_event(REMOVAL, time("2026-07-04T00:00:00.000Z"), &removal);
}

/// Ends a walk over a log whose old event is missing and has a record of this authority.
fn finished(authority: u64, has_removal: bool) -> (Removed, Vec<Finding>) {
    let mut walk = walk();
    let recorded = recorded(authority, true);
    walk.add_records(&recorded, None);
    assert!(walk.gone(OLD, &recorded).is_some());
    add_policy(&mut walk);
    add_plan(&mut walk, POLICY);
    if has_removal {
        add_removal(&mut walk);
    }
    let mut findings = Findings::default();
    let removed = walk.finish(&mut findings);
    (removed, findings.finish().0)
}

#[test]
fn a_gap_is_explained_by_the_removal_that_has_its_record_and_by_no_other_event() {
    let (removed, findings) = finished(REMOVAL, true);
    assert_eq!(findings, []);
    let events = (removed.retention, removed.erased, removed.unexplained);
    assert_eq!(events, (1, 0, 0));
    assert_eq!(removed.before, Some(time(RECEIVED_BEFORE)));
    let [removal] = removed.removals.as_slice() else {
        panic!("{removed:?}")
    };
    assert_eq!((removal.seq, removal.events, removal.through), (REMOVAL, 1, OLD));
    for (authority, has_removal) in [(PLAN, false), (PLAN, true), (POLICY, true)] {
        let (removed, findings) = finished(authority, has_removal);
        assert_eq!(removed.unexplained, 1, "{authority}");
        let gap = Finding::event(OLD, None, Problem::Removed);
        assert!(findings.contains(&gap), "{findings:?}");
    }
}

#[test]
fn a_gap_whose_removal_has_not_begun_is_unexplained() {
    let mut walk = walk();
    let recorded = recorded(PLAN, false);
    assert!(walk.gone(OLD, &recorded).is_none());
    assert_eq!(walk.finish(&mut Findings::default()).unexplained, 1);
}

#[test]
fn a_plan_for_an_event_under_a_hold_is_found_while_the_event_is_there() {
    let mut walk = walk();
    walk.add_records(&recorded(PLAN, false), Some(&[]));
    let mut old = members("user.created", json!({}));
    old.insert("received_at".to_owned(), "2026-01-15T00:00:00.000Z".into());
    walk.add_event(OLD, time("2026-01-15T00:00:00.000Z"), &old);
    add_policy(&mut walk);
    let hold = json!({"previous": POLICY, "hold": "hld_1", "reason": "case 12"});
    let hold = members("audit.hold.placed", hold);
    walk.add_event(HOLD, time("2026-07-01T12:00:00.000Z"), &hold);
    add_plan(&mut walk, HOLD);
    let mut findings = Findings::default();
    walk.finish(&mut findings);
    let (findings, _) = findings.finish();
    let is_held = |finding: &Finding| {
        let is_refused =
            matches!(&finding.problem, Problem::RemovalNotAllowed { why } if why.contains("hld_1"));
        is_refused && finding.seqs == Some(OLD..OLD + 1)
    };
    assert!(findings.iter().any(is_held), "{findings:?}");
}

#[test]
fn a_removal_by_retention_explains_no_missing_part() {
    let mut walk = walk();
    let recorded = recorded(REMOVAL, true);
    let parts = PartMask::of_parts([EventPart::ActorId]).expect("a part");
    let erased = [(REMOVAL, parts)];
    walk.add_records(&recorded, Some(&erased));
    assert!(walk.are_recorded(OLD, &recorded, &erased));
    add_policy(&mut walk);
    add_plan(&mut walk, POLICY);
    add_removal(&mut walk);
    let mut findings = Findings::default();
    assert_eq!(walk.finish(&mut findings).unexplained, 1);
    let part = Finding::event(OLD, None, Problem::ErasedPart);
    let (findings, _) = findings.finish();
    assert!(findings.contains(&part), "{findings:?}");
}
