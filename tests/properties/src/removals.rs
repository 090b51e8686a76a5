//! What stays of removed events, and what the log says of removals.

use audit_domain::{
    CancelReason, Environment, Hold, Lifecycle, LifecycleEvent, LogName, ProjectId, RetentionPolicy,
    SERVICE_TENANT_ID, StoredSalt, Timestamp, json,
};
use audit_ledger::{RemovalCheck, decode_records, encode_records};
use serde_json::{Map, Value, json as object};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

/// Records of removed events and salts of erased ones: what is decoded is encoded as it was, in the database and in a response.
pub fn removed(bytes: &[u8]) -> bool {
    let records = decode_records(7, bytes);
    if let Some(records) = &records {
        assert_eq!(encode_records(records), bytes);
    }
    let salt = StoredSalt::read(bytes);
    if let Some(salt) = &salt {
        assert_eq!(salt.to_bytes(), bytes);
        let read = StoredSalt::take_members(&mut salt.to_members());
        assert_eq!(read.as_ref(), Some(salt));
    }
    records.is_some() || salt.is_some()
}

/// Events of the chain: what is read is read again as it is written, and no event stops the fold or the check of removals.
pub fn lifecycle(bytes: &[u8]) -> bool {
    let Ok(value) = json::parse(bytes) else {
        return false;
    };
    let Value::Object(event) = Value::from(value) else {
        return false;
    };
    let log = LogName::new(ProjectId::from_random([7; 16]), Environment::Live);
    let mut check = RemovalCheck::new(log, NOW);
    check.event(7, NOW, &event);
    assert_eq!(
        check.finish().problems.is_empty(),
        !LifecycleEvent::is_lifecycle(&event) || is_first(&event)
    );
    let Some((previous, read)) = LifecycleEvent::read(&event) else {
        return false;
    };
    assert_eq!(
        LifecycleEvent::read(&logged(&read, previous)),
        Some((previous, read))
    );
    true
}

/// Whether an event can be the first one of a chain.
fn is_first(event: &Map<String, Value>) -> bool {
    let Some((previous, read)) = LifecycleEvent::read(event) else {
        return false;
    };
    // A plan of an erasure has records, if it is of any event.
    let has_records = matches!(&read, LifecycleEvent::ErasurePlanned(plan) if plan.events > 0);
    Lifecycle::default().add(7, NOW, read, previous).is_ok() && !has_records
}

/// The event as the log has it.
fn logged(event: &LifecycleEvent, previous: Option<u64>) -> Map<String, Value> {
    let mut logged = Map::new();
    logged.insert("tenant_id".to_owned(), SERVICE_TENANT_ID.into());
    logged.insert("action".to_owned(), event.action().into());
    logged.insert("metadata".to_owned(), event.metadata(previous).into());
    logged.insert("changes".to_owned(), event.changes().into());
    logged
}

/// Inputs of [`removed`].
pub fn removed_seeds() -> Vec<Vec<u8>> {
    let record = |offset: u8| [vec![offset, 0xff, 0xff], vec![7; 40]].concat();
    // Two erasures, of the first part and of the last one.
    let erasures = [
        vec![2],
        812_u64.to_be_bytes().to_vec(),
        900_u64.to_be_bytes().to_vec(),
    ]
    .concat();
    let parts = [
        [vec![1], vec![5; 32]].concat(),
        [vec![0], vec![3; 16]].concat().repeat(9),
        [vec![2], vec![5; 32]].concat(),
    ];
    vec![
        record(0),
        [record(3), record(200)].concat(),
        vec![9; 16],
        [erasures, parts.concat()].concat(),
    ]
}

/// Inputs of [`lifecycle`].
pub fn lifecycle_seeds() -> Vec<Vec<u8>> {
    let hold = Hold {
        hold: "hld_1".to_owned(),
        reason: "case 7".to_owned(),
        actor_id: vec!["u1".to_owned()],
        from: Some(NOW),
        ..Hold::default()
    };
    let policy = RetentionPolicy {
        days: Some(365),
        categories: [("security".to_owned(), 2_190)].into(),
        ..RetentionPolicy::default()
    };
    let events = [
        LifecycleEvent::RetentionChanged(policy),
        LifecycleEvent::RetentionConfirmed { until: NOW },
        LifecycleEvent::HoldPlaced(hold),
        LifecycleEvent::Cancelled {
            plan: 7,
            reason: CancelReason::Clock,
        },
    ];
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for event in &events {
        let logged = Value::Object(logged(event, None));
        seeds.push(logged.to_string().into_bytes());
    }
    let digest = format!("sha256:{}", "07".repeat(32));
    for (action, metadata) in [
        (
            "audit.retention.planned",
            object!({"policy": 1, "first_seq": 0, "end_seq": 9, "received_before": {"default": NOW.to_string()},
                "events": 5, "held": 0, "kept": 0, "digest": digest, "not_before": NOW.to_string(), "previous": 1}),
        ),
        (
            "audit.events.removed",
            object!({"plan": 2, "policy": 1, "holds": [3], "first_seq": 0, "end_seq": 9, "events": 5, "digest": digest,
                "received_before": {"default": NOW.to_string()}, "previous": 4}),
        ),
        (
            "audit.erasure.planned",
            object!({"erasure": "ers_1", "basis": "other", "extent": "row", "events": 1, "rows": 1, "held": 0,
                "read_to": 7, "digest": digest, "not_before": NOW.to_string(), "previous": null}),
        ),
    ] {
        let event = object!({"tenant_id": SERVICE_TENANT_ID, "action": action, "metadata": metadata});
        seeds.push(event.to_string().into_bytes());
    }
    seeds
}
