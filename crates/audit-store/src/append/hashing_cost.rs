//! What the write path hashes for an event: the table of `docs/design/write-path.md`, in compressions of SHA-256.

use super::idempotency::{Idempotency, hash_of_key};
use super::request::{Destination, NewEvent, UnhashedEvent};
use super::senders::EventSender;
use crate::configuration::owner::ConfigurationVersion;
use crate::ids::LedgerId;
use crate::row_code::{CodedRow, RowCodes};
use crate::search::tokens::Tokens;
use audit_domain::{
    ContentSalt, DigestKey, Environment, Event, EventId, KeyId, Month, OrganizationId, PartProofs, ProjectId,
    Record, Stamp, Timestamp,
};
use audit_ledger::{Frontier, Hash, HeadKey};
use audit_sha256::compressions_of;
use serde_json::json;
use std::sync::Arc;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const SALT: ContentSalt = ContentSalt::from_bytes([7; 16]);
/// Events of a batch, as many as an array may have.
const BATCH_EVENTS: usize = 100;

/// An event of the benchmark.
fn event() -> Event {
    let value = json!({
        "action": "document.updated", "category": "mutation", "tenant_id": "tenant_0042", "idempotency_key": "01j9z3k8q6v0000000000042",
        "actor": {"id": "usr_00815", "type": "user", "name": "Alice O'Neil"},
        "target": {"id": "doc_104711", "type": "document", "name": "quarterly budget draft 17"},
        "context": {
            "ip_address": "10.11.12.13", "session_id": "s-0badcafe-42", "location": "Lisbon, Portugal",
            "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        },
        "metadata": {
            "request": {"method": "PUT", "path": "/v2/document/updated/42", "bytes": 48_113, "ms": 417},
            "roles": ["member", "editor"],
        },
        "changes": [{"field": "status", "before": "draft", "after": "published"}, {"field": "version", "before": 41, "after": 42}],
        "occurred_at": "2026-01-15T10:29:00.000Z",
    });
    Event::from_json(value, NOW).expect("an event")
}

fn record() -> Record {
    let id = EventId::new(NOW, [7; 10]);
    Record::new(&event(), false, Stamp { id, received_at: NOW })
}

fn destination() -> Destination {
    Destination {
        ledger_id: LedgerId(37),
        project_id: ProjectId::from_random([1; 16]),
        organization_id: OrganizationId::from_random([1; 16]),
        environment: Environment::Live,
        configuration_version: ConfigurationVersion(1),
        daily_events_max: None,
        is_archived: false,
        webhook_ids: Arc::new([]),
    }
}

fn cost<T>(work: impl FnOnce() -> T) -> usize {
    compressions_of(work).1
}

/// The code of a row, without the blocks of the key, which are hashed once for a commit.
fn row_code() -> usize {
    let key_hash = hash_of_key("t", "k");
    let row = CodedRow {
        log: "0198a5c0-0000-7000-8000-000000000001/live",
        id: &[1; 16],
        month: Month::from_number(600),
        idempotency_hash: Some(&key_hash),
        sent_digest: Some(&[3; 20]),
        redacted: false,
        sender: Some(4),
    };
    let codes = RowCodes::new(&HeadKey::new(&[7; HeadKey::BYTES]));
    let of = |rows: usize| {
        cost(|| {
            codes
                .codes(vec![row; rows], |row, message| row.write(message))
                .count()
        })
    };
    assert_eq!(of(BATCH_EVENTS), BATCH_EVENTS * of(1));
    of(1)
}

/// The cost of an event by purpose.
fn by_purpose() -> Vec<(&'static str, usize)> {
    let (event, to) = (event(), destination());
    let canonical = record().canonical().to_owned();
    let salts = cost(|| PartProofs::new(&canonical, &SALT, |_| false));
    let with_parts = cost(|| PartProofs::new(&canonical, &SALT, |_| true));
    let log = audit_domain::LogName::new(to.project_id, to.environment);
    let content = cost(|| record().hashed(SALT, &log));
    let key = DigestKey::new("k");
    let facets = event.facets();
    let key_hash = hash_of_key("t", "k");
    let keyed = cost(|| Tokens::of(37, &facets, Some(&key_hash)));
    let leaf = Hash::of_leaf(b"");
    let tree = cost(|| {
        let mut frontier = Frontier::new();
        frontier.extend(&[leaf; 256]);
    });
    vec![
        ("salts", salts),
        ("parts", with_parts - salts),
        ("content hash", content - with_parts),
        ("index tokens", keyed),
        (
            "digest of the request",
            cost(|| event.to_text().digest(Some(&key))),
        ),
        (
            "idempotency key",
            cost(|| hash_of_key("tenant_0042", "01j9z3k8q6v0000000000042")),
        ),
        ("leaf", cost(|| Hash::of_leaf(&[0; 32]))),
        ("inner nodes", tree.div_ceil(256)),
        ("code of the row", row_code()),
    ]
}

#[test]
fn an_event_costs_what_the_documentation_says() {
    let by_purpose = by_purpose();
    let sender = cost(|| EventSender::new(KeyId::from_random([1; 16]), "192.0.2.7".parse().ok()));
    let document = include_str!("../../../../docs/design/write-path.md");
    let total: usize = by_purpose.iter().map(|(_, cost)| cost).sum();
    let rows = by_purpose
        .into_iter()
        .chain([("of an event", total), ("sender", sender)]);
    for (purpose, cost) in rows {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| {purpose} |")));
        let cells: Vec<&str> = row.unwrap_or_default().split(" | ").collect();
        assert_eq!(
            cells.get(2),
            Some(&cost.to_string().as_str()),
            "{purpose}: {cost}; {row:?}"
        );
    }
}

#[test]
fn an_event_of_a_batch_costs_as_much_as_a_single_one() {
    let (to, key) = (destination(), DigestKey::new("k"));
    let prepared = || {
        let event = event();
        let digest = event.to_text().digest(Some(&key));
        let key = event.idempotency_key.as_deref().map(|key| (key, digest));
        UnhashedEvent::new(&to, record(), SALT, &event.facets(), key)
    };
    let of = |events: usize| {
        compressions_of(|| {
            let events = (0..events).map(|_| prepared()).collect();
            NewEvent::all_hashed(events, &to)
        })
    };
    let (single, single_cost) = of(1);
    let (batch, batch_cost) = of(BATCH_EVENTS);
    assert_eq!(batch_cost, BATCH_EVENTS * single_cost);
    let hash = single[0].record.content_hash();
    assert!(batch.iter().all(|event| event.record.content_hash() == hash));
    let expected = [
        "salts",
        "parts",
        "content hash",
        "index tokens",
        "digest of the request",
        "idempotency key",
    ];
    let by_purpose = by_purpose();
    let before_the_queue = by_purpose
        .iter()
        .filter(|(purpose, _)| expected.contains(purpose));
    assert_eq!(single_cost, before_the_queue.map(|(_, cost)| cost).sum::<usize>());
    let keys: Vec<&Idempotency> = batch
        .iter()
        .filter_map(|event| event.idempotency.as_ref())
        .collect();
    assert_eq!(keys.len(), BATCH_EVENTS);
}
