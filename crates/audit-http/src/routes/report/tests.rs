use super::body::LISTED_MAX;
use super::*;
use audit_app::{HoldRelease, LegalHold, ReportedEvent};
use audit_domain::{
    Archived, CancelReason, Erasure, ErasurePlan, Hold, LifecycleEvent, Removal, Restored, RetentionPlan,
    RetentionPolicy, Sha256Digest, Timestamp,
};
use std::collections::BTreeSet;

const AT: Timestamp = Timestamp::from_seconds(1_768_473_000);
const DIGEST: Sha256Digest = Sha256Digest::from_bytes([7; 32]);
/// An id that a hold names.
const NAMED: &str = "the tenant of a case";

fn plan(events: u64) -> LifecycleEvent {
    LifecycleEvent::Planned(RetentionPlan {
        policy: 1,
        seqs: 0..9,
        received_before: [("default".to_owned(), AT)].into(),
        events,
        held: 1,
        kept: 0,
        digest: DIGEST,
        not_before: AT,
    })
}

fn erasure_plan() -> LifecycleEvent {
    LifecycleEvent::ErasurePlanned(ErasurePlan {
        erasure: "ers_1".to_owned(),
        basis: "gdpr_17".to_owned(),
        ticket: Some("T-1".to_owned()),
        extent: "person".to_owned(),
        events: 3,
        rows: 1,
        held: 0,
        read_to: 40,
        digest: DIGEST,
        not_before: AT,
    })
}

fn hold() -> LifecycleEvent {
    LifecycleEvent::HoldPlaced(Hold {
        hold: "hld_1".to_owned(),
        reason: "case 7".to_owned(),
        tenant_id: vec![NAMED.to_owned()],
        ..Hold::default()
    })
}

/// An event, and whether it is a plan that is open.
fn reported(seq: u64, event: LifecycleEvent, is_open: bool) -> ReportedEvent {
    ReportedEvent {
        seq,
        at: AT.plus_seconds(seq.cast_signed()),
        actor_id: "audit-server".to_owned(),
        actor_name: Some("operations".to_owned()),
        event,
        is_open,
    }
}

fn legal_hold(seq: u64, released: Option<u64>) -> LegalHold {
    LegalHold {
        id: "hld_1".to_owned(),
        reason: "case 7".to_owned(),
        tenant_id: vec![NAMED.to_owned()],
        actor_id: Vec::new(),
        target_id: Vec::new(),
        from: Some(AT),
        to: None,
        placed_at: AT,
        placed_by: "audit-server".to_owned(),
        seq,
        second_key: false,
        released: released.map(|seq| HoldRelease {
            seq,
            at: AT,
            by: "audit-server".to_owned(),
            reason: "the case is closed".to_owned(),
        }),
    }
}

/// The report of a chain with an event of each kind that the service writes, at the positions from 0 on.
fn report() -> LogReport {
    let removal = Removal {
        plan: 2,
        policy: 0,
        holds: Vec::new(),
        seqs: 0..9,
        events: 5,
        digest: DIGEST,
        received_before: [("default".to_owned(), AT)].into(),
        archive: None,
        undelivered: Vec::new(),
    };
    let erasure = Erasure {
        erasure: "ers_1".to_owned(),
        plan: 7,
        basis: "gdpr_17".to_owned(),
        ticket: Some("T-1".to_owned()),
        events: 3,
        rows: 1,
        digest: DIGEST,
    };
    let (reason, requested) = (CancelReason::Hold, CancelReason::Requested);
    let released = LifecycleEvent::HoldReleased {
        hold: "hld_1".to_owned(),
        placed: 12,
        reason: "the case is closed".to_owned(),
    };
    let policy = RetentionPolicy {
        days: Some(365),
        categories: [("security".to_owned(), 2_190)].into(),
        ..RetentionPolicy::default()
    };
    let cancelled = LifecycleEvent::ErasureCancelled {
        erasure: "ers_1".to_owned(),
        plan: 9,
        reason,
    };
    let events = [
        (LifecycleEvent::RetentionChanged(policy), false),
        (LifecycleEvent::RetentionConfirmed { until: AT }, false),
        (plan(5), false),
        (LifecycleEvent::Removed(removal), false),
        (plan(6), false),
        (
            LifecycleEvent::Cancelled {
                plan: 4,
                reason: requested,
            },
            false,
        ),
        (plan(7), true),
        (erasure_plan(), false),
        (LifecycleEvent::Erased(erasure), false),
        (erasure_plan(), false),
        (cancelled, false),
        (erasure_plan(), true),
        (hold(), false),
        (released, false),
        (hold(), true),
        (
            LifecycleEvent::Archived(Archived {
                end_seq: 9,
                manifest: DIGEST,
            }),
            false,
        ),
        (
            LifecycleEvent::Restored(Restored {
                seqs: 0..9,
                events: 2,
                archive: DIGEST,
                hold: "hld_1".to_owned(),
            }),
            false,
        ),
    ];
    let events = (0..)
        .zip(events)
        .map(|(seq, (event, is_open))| reported(seq, event, is_open));
    LogReport {
        log: "e08c3d15-61b1-4005-9dc1-2205d270c86f/live".to_owned(),
        made_at: AT,
        size: 40,
        signed: Some(40),
        checkpoint: Some("a note".to_owned()),
        policy: None,
        events: events.collect(),
        holds: vec![legal_hold(12, Some(13)), legal_hold(14, None)],
        removed: 6,
        erased: 2,
        verified: None,
    }
}

/// The positions that an entry names.
fn positions(value: &Value, found: &mut BTreeSet<u64>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let is_position = ["seq", "plan"].contains(&name.as_str());
                found.extend(member.as_u64().filter(|_| is_position));
                positions(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| positions(item, found)),
        _ => {}
    }
}

#[test]
fn the_report_has_every_event_of_the_chain() {
    let report = report();
    let expected: BTreeSet<u64> = report.events.iter().map(|event| event.seq).collect();
    let json = report_json(report);
    let mut found = BTreeSet::new();
    positions(&json, &mut found);
    assert_eq!(found, expected, "{json:#}");
    assert_eq!(json["holds"][0]["placed"]["seq"], 14, "what is in force is first");
    assert_eq!(json["holds"][1]["released"]["seq"], 13);
    assert_eq!(json["counts"]["stored"], 34, "{json:#}");
    assert_eq!(json["more"], false);
}

#[test]
fn the_report_has_no_id_that_a_hold_names() {
    let json = report_json(report());
    assert!(!json.to_string().contains(NAMED), "{json:#}");
    assert_eq!(json["holds"][0]["names"], 1);
}

#[test]
fn each_list_has_its_newest_entries_and_every_hold_in_force() {
    let mut report = report();
    let confirmed = |seq| reported(seq, LifecycleEvent::RetentionConfirmed { until: AT }, false);
    let placed = |seq| reported(seq, hold(), false);
    let end = 100 + LISTED_MAX as u64;
    report.events.extend((100..end).map(confirmed));
    report.events.extend((end..end + LISTED_MAX as u64).map(placed));
    let released = (end..end + LISTED_MAX as u64).map(|seq| legal_hold(seq, Some(13)));
    report.holds.extend(released);
    let json = report_json(report);
    let list = |name: &str| json[name].as_array().expect("a list").clone();
    let confirmed = list("confirmed");
    assert_eq!(confirmed.len(), LISTED_MAX);
    assert_eq!(confirmed[0]["seq"], end - 1);
    assert_eq!(
        confirmed[LISTED_MAX - 1]["seq"],
        100,
        "the one at 1 is the oldest"
    );
    let holds = list("holds");
    assert_eq!(holds.len(), LISTED_MAX);
    assert_eq!(holds[0]["placed"]["seq"], 14, "the oldest but one, and in force");
    assert_eq!(json["more"], true);
}

/// Puts `text` in place of each string and of each name of a member of `metadata`.
fn fill(value: &mut Value, text: &str) {
    match value {
        Value::String(own) => *own = text.to_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, text)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| fill(member, text));
            for name in ["categories", "received_before"] {
                if let Some(times) = members.get_mut(name) {
                    *times = serde_json::json!({(text): text});
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_html_escapes_every_text() {
    let mut report = report();
    report.policy = Some(audit_app::PolicyInForce {
        policy: RetentionPolicy {
            days: Some(365),
            categories: [("security".to_owned(), 2_190)].into(),
            preset: None,
            archive: true,
        },
        since: AT,
        seq: 0,
    });
    report.verified = Some(audit_app::VerifiedLog {
        at: AT,
        size: 40,
        findings: 0,
        unexplained: 0,
    });
    let json = report_json(report);
    let plain = report_html(&json);
    assert!(
        plain.contains("case 7") && plain.contains("sha256:0707"),
        "{plain}"
    );
    let mut hostile = json;
    fill(&mut hostile, "<script>&\"'");
    let html = report_html(&hostile);
    let escaped = "&lt;script&gt;&amp;&quot;&#39;";
    assert!(html.matches(escaped).count() > 40, "{html}");
    let rest = html.replace(escaped, "");
    assert!(!rest.contains("script") && !rest.contains('\''), "{rest}");
    // What is left are the tags of the document, whose numbers do not depend on its texts.
    assert_eq!(rest.matches('<').count(), plain.matches('<').count());
    assert_eq!(rest.matches('"').count(), plain.matches('"').count());
}

#[test]
fn the_content_policy_has_the_hash_of_the_style() {
    use base64::Engine;
    use sha2::{Digest, Sha256};
    let html = report_html(&report_json(report()));
    let (_, rest) = html.split_once("<style>").expect("a style");
    let (style, _) = rest.split_once("</style>").expect("the end of the style");
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style));
    assert!(
        CONTENT_POLICY.contains(&format!("'sha256-{hash}'")),
        "{}",
        *CONTENT_POLICY
    );
}
