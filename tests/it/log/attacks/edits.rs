//! What someone with write access to the database alone can do to a log: one row for each edit.

use super::super::careful::{edge, rewriting};
use super::super::tampering::{enlist, forgery, move_event};
use super::super::{canonical, delete, hash_of, id_bytes, live_log, quoted};
use super::edit::{Attacked, Edit};
use super::{PARTIAL, TILED, UNREAD};
use audit_domain::{ContentHash, ContentSalt, EventPart, PartMask, StoredSalt, erase_parts};
use audit_tests::DatabaseKind;
use serde_json::{Value, json};

/// The event at this position, by somebody else.
fn forged(attacked: &Attacked<'_>, seq: usize) -> Value {
    let mut event = attacked.case.events[seq].clone();
    event["actor"]["id"] = json!("somebody else");
    event
}

fn with_hash(attacked: &Attacked<'_>, seq: usize) -> String {
    let event = forged(attacked, seq);
    format!(
        "UPDATE events SET body = {}, content_hash = {} WHERE LEDGER AND seq = {seq}",
        quoted(&canonical(&event)),
        attacked.case.hash_literal(&event)
    )
}

fn with_hash_and_salt(attacked: &Attacked<'_>) -> String {
    let text = canonical(&forged(attacked, TILED));
    let salt = ContentSalt::from_bytes([9; 16]);
    let log = live_log(&attacked.case.organization);
    let hash = ContentHash::of(&text, &salt, &log).expect("an event");
    format!(
        "UPDATE events SET body = {}, content_hash = {}, content_salt = {} WHERE AT_TILED",
        quoted(&text),
        attacked.blob(hash.as_bytes()),
        attacked.blob(&[9; 16]),
    )
}

fn with_id_and_hash(attacked: &Attacked<'_>) -> String {
    let mut event = attacked.case.events[TILED].clone();
    let id = "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    event["id"] = json!(id);
    format!(
        "UPDATE events SET id = {}, body = {}, content_hash = {} WHERE AT_TILED",
        attacked.blob(&id_bytes(id)),
        quoted(&canonical(&event)),
        attacked.case.hash_literal(&event)
    )
}

fn exchanged(attacked: &Attacked<'_>, one: i64, other: i64) -> String {
    let away = 1 << 20;
    let moves = [(one, away), (other, one), (away, other)];
    moves
        .map(|(from, to)| move_event(attacked.kind(), from, to))
        .concat()
}

fn planted(attacked: &Attacked<'_>, seq: usize) -> String {
    let forgery = forgery(attacked.case, seq);
    match attacked.kind() {
        DatabaseKind::Sqlite => format!("{forgery}; {}", enlist(seq)),
        DatabaseKind::Postgres => forgery,
    }
}

fn inserted(attacked: &Attacked<'_>) -> String {
    let moved = (PARTIAL..attacked.size).rev();
    let moves: String = moved
        .map(|seq| move_event(attacked.kind(), seq as i64, seq as i64 + 1))
        .collect();
    format!(
        "{moves} UPDATE ledgers SET size = size + 1 WHERE HEAD; {}",
        planted(attacked, PARTIAL)
    )
}

fn cut_off(attacked: &Attacked<'_>) -> String {
    let events = delete(attacked.kind(), &format!("seq >= {PARTIAL}"));
    let edge = edge(&attacked.case.leaves()[..PARTIAL]);
    format!(
        "{events}; UPDATE ledgers SET size = {PARTIAL}, frontier = {} WHERE HEAD",
        attacked.blob(&edge)
    )
}

fn emptied(attacked: &Attacked<'_>) -> String {
    format!(
        "{}; DELETE FROM log_tiles WHERE LEDGER; DELETE FROM log_checkpoints WHERE LEDGER;
         UPDATE ledgers SET size = 0, frontier = NULL, last_event_id = NULL, last_received_at = NULL, head_code = NULL WHERE HEAD",
        delete(attacked.kind(), "seq >= 0")
    )
}

fn other_event_id(attacked: &Attacked<'_>) -> String {
    let id = id_bytes(&attacked.case.ids[3]);
    format!(
        "UPDATE ledgers SET last_event_id = {} WHERE HEAD",
        attacked.blob(&id)
    )
}

/// An event is deleted as a removal does it, with a record, and the log has no removal.
fn removed(attacked: &Attacked<'_>) -> String {
    let hash = hash_of(
        &live_log(&attacked.case.organization),
        &attacked.case.events[TILED],
    );
    let offset = u8::try_from(TILED).expect("an offset in the first tile");
    // In the slot of the label of zeros.
    let record = [&[offset, 0xff, 0xff][..], hash.as_bytes(), &[0; 8]].concat();
    format!(
        "{PLANTED_REMOVAL};
         INSERT INTO removed_events (ledger_id, tile_index, removal, records) VALUES (OWN, 0, 1, {});
         INSERT INTO removed_tenants (ledger_id, slot, label) VALUES (OWN, 0, {}); {}",
        attacked.blob(&record),
        attacked.blob(&[0; 32]),
        delete(attacked.kind(), &format!("seq = {TILED}"))
    )
}

/// A part of an event is erased as an erasure does it, and the log has no erasure.
fn erased(attacked: &Attacked<'_>) -> String {
    let event = &attacked.case.events[UNREAD];
    let salt = event["content_salt"].as_str().and_then(|salt| salt.parse().ok());
    let salt = StoredSalt::Whole(salt.expect("a salt"));
    let mask = PartMask::of_parts([EventPart::ActorId]).expect("a part");
    let (text, salt) = erase_parts(&canonical(event), &salt, mask, 5).expect("an event");
    format!(
        "UPDATE events SET body = {}, content_salt = {} WHERE LEDGER AND seq = {UNREAD}",
        quoted(&text),
        attacked.blob(&salt.to_bytes())
    )
}

fn older_checkpoint(attacked: &Attacked<'_>) -> String {
    let note = attacked.older_note;
    let size = note.lines().nth(1).expect("a size");
    format!(
        "UPDATE log_checkpoints SET note = {}, size = {size} WHERE LEDGER",
        quoted(note)
    )
}

/// The service notices the edit when it next uses the value.
pub(super) const UNDONE: &str = "the server writes the right value again";
/// Configuration is no part of the log.
const CONFIGURATION: &str = "configuration is not in the log; a change that the service made has an [own event](../api.md#the-services-own-events), this one has none";
const STATUS: &str =
    "what people say of an alert is not in the log; a change by the service has an own event";
const NO_EVENT: &str = "no event: the daily limit counts again";
const NO_NOTE: &str = "it has no signature, and the server does not send it";
const INDEX: &str = "`log verify --index`";
const NO_REMOVAL: &str = "its code is wrong and no event of the log authorises it, so nothing is removed";
const PLANTED_REMOVAL: &str = "INSERT INTO removals (ledger_id, number, kind, state, event_seq, first_seq, end_seq, cursor_seq, records, code, changed_at, leased_until)
             VALUES (OWN, 1, 'retention', 'removing', 5, 0, 100, 0, 1, #32#, 0, 0)";

const PLANTED_ERASURE: &str = "INSERT INTO removals (ledger_id, number, kind, state, event_seq, first_seq, end_seq, cursor_seq, records, request, code, changed_at, leased_until)
             VALUES (OWN, 1, 'erasure', 'removing', 5, 0, 100, 0, 1, '{}', #32#, 0, 0)";

/// All edits. Each must be noticed by `log verify` or `log audit`, or the server writes the right value again, unless it is excused.
pub(super) fn edits() -> Vec<Edit> {
    [
        events(),
        rows_of_events(),
        heads(),
        trees(),
        maps(),
        rest(),
        removals(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The texts, hashes and positions of events.
fn events() -> Vec<Edit> {
    vec![
        Edit::both("an actor", "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE AT_TILED"),
        Edit::both("an actor, in the partial tile", "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE AT_PARTIAL"),
        Edit::both("a tenant", "UPDATE events SET body = replace(body, 'tenant-1', 'acme') WHERE AT_TILED"),
        Edit::both("an action", "UPDATE events SET body = replace(body, 'user.created', 'user.deleted') WHERE AT_TILED"),
        Edit::both("a time of receipt", "UPDATE events SET body = replace(body, '\"received_at\":\"20', '\"received_at\":\"19') WHERE AT_TILED"),
        Edit::both("a text that is not JSON", "UPDATE events SET body = 'no JSON' WHERE AT_TILED"),
        Edit::both("an empty text", "UPDATE events SET body = '' WHERE AT_PARTIAL"),
        Edit::both("a content hash", "UPDATE events SET content_hash = #32# WHERE AT_TILED"),
        Edit::both("a content hash, in the partial tile", "UPDATE events SET content_hash = #32# WHERE AT_PARTIAL"),
        Edit::both("a content hash of 31 bytes", "UPDATE events SET content_hash = #31# WHERE AT_TILED"),
        Edit::both("a salt", "UPDATE events SET content_salt = #16# WHERE AT_TILED"),
        Edit::both("a salt of 15 bytes", "UPDATE events SET content_salt = #15# WHERE AT_TILED"),
        Edit::built("a text with its hash", |attacked| with_hash(attacked, TILED)),
        Edit::built("a text with its hash, in the partial tile", |attacked| with_hash(attacked, PARTIAL)),
        Edit::built("a text with its hash and salt", with_hash_and_salt),
        Edit::built("a text with its hash, tile and edge", |attacked| rewriting(attacked.case, TILED)),
        Edit::built("a text with its hash, tile and edge, in the partial tile", |attacked| rewriting(attacked.case, PARTIAL)),
        Edit::built("a text with its hash, tile and edge, without a checkpoint", |attacked| {
            format!("{}; DELETE FROM log_checkpoints WHERE LEDGER", rewriting(attacked.case, TILED))
        }),
        Edit::built("a text with its hash and id", with_id_and_hash),
        Edit::built("the first event deleted", |attacked| delete(attacked.kind(), "seq = 0")),
        Edit::built("an event deleted", |attacked| delete(attacked.kind(), &format!("seq = {TILED}"))),
        Edit::built("an event deleted, in the partial tile", |attacked| delete(attacked.kind(), &format!("seq = {PARTIAL}"))),
        Edit::built("the last event deleted", |attacked| delete(attacked.kind(), "seq = SIZE - 1")),
        Edit::built("the last events deleted, with size and edge", cut_off),
        Edit::built("the last events deleted, with size and edge, without a checkpoint", |attacked| {
            format!("{}; DELETE FROM log_checkpoints WHERE LEDGER", cut_off(attacked))
        }),
        Edit::built("all events deleted", |attacked| delete(attacked.kind(), "seq >= 0")),
        Edit::built("all events deleted, and an empty log", emptied),
        Edit::built("two events exchanged", |attacked| exchanged(attacked, 20, 30)),
        Edit::built("two events exchanged, in the partial tile", |attacked| exchanged(attacked, PARTIAL as i64 - 1, PARTIAL as i64)),
        Edit::built("an event inserted", inserted),
        Edit::built("an event behind the end", |attacked| planted(attacked, attacked.size)),
        Edit::built("an event behind the end, with the size", |attacked| {
            format!("{}; UPDATE ledgers SET size = size + 1 WHERE HEAD", planted(attacked, attacked.size))
        }),
        Edit::built("an event behind a gap", |attacked| planted(attacked, attacked.size + 5)),
        Edit::each(
            "an event moved to the test events",
            "UPDATE event_times SET entry = OTHER << 40 WHERE entry = (SELECT entry FROM events WHERE AT_PARTIAL);
             UPDATE events SET entry = OTHER << 40 WHERE AT_PARTIAL",
            "UPDATE events SET ledger_id = OTHER, seq = 0 WHERE AT_PARTIAL",
        ),
    ]
}

/// The other columns and rows of an event.
fn rows_of_events() -> Vec<Edit> {
    vec![
        Edit::both("an id", "UPDATE events SET id = #16# WHERE AT_TILED"),
        Edit::both("an id of 15 bytes", "UPDATE events SET id = #15# WHERE AT_TILED"),
        Edit::each(
            "a time",
            "UPDATE event_times SET position = position - (3600000 << 20) WHERE entry = (SELECT entry FROM events WHERE AT_TILED);
             UPDATE events SET position = position - (3600000 << 20) WHERE AT_TILED",
            "UPDATE events SET occurred_at = occurred_at - 3600000000 WHERE AT_TILED",
        ),
        Edit::both("`redacted`", "UPDATE events SET redacted = NOT redacted WHERE AT_TILED"),
        Edit::both("a digest of the request, of an event without a key", "UPDATE events SET sent_digest = #20# WHERE AT_TILED"),
        Edit::both("a digest of the request", "UPDATE events SET sent_digest = #20# WHERE AT_KEYED"),
        Edit::both("a digest of the request, with its code", "UPDATE events SET sent_digest = #20#, row_code = #12# WHERE AT_KEYED"),
        Edit::both("the digest of another event, with its code", "UPDATE events SET (sent_digest, row_code) =
             (SELECT o.sent_digest, o.row_code FROM events AS o WHERE o.ledger_id = OWN AND o.seq = 1) WHERE AT_KEYED"),
        Edit::both("the code of a row", "UPDATE events SET row_code = #12# WHERE AT_TILED"),
        Edit::both("a code of a row of no bytes", "UPDATE events SET row_code = substr(row_code, 1, 0) WHERE AT_TILED"),
        Edit::both("the sender of an event", "UPDATE events SET sender = sender + 1 WHERE AT_TILED"),
        Edit::both("no sender of an event", "UPDATE events SET sender = NULL WHERE AT_TILED"),
        Edit::both("the key of a sender", "UPDATE ledger_senders SET key_id = replace(key_id, '-', '0') WHERE LEDGER"),
        Edit::both("the address of a sender", "UPDATE ledger_senders SET address = '192.0.2.99' WHERE LEDGER"),
        Edit::both("the first event of a sender", "UPDATE ledger_senders SET first_seq = 100 WHERE LEDGER"),
        Edit::both("no senders", "DELETE FROM ledger_senders WHERE LEDGER"),
        Edit::both("no digest of the request", "UPDATE events SET sent_digest = NULL WHERE AT_KEYED"),
        Edit::each(
            "an idempotency key for an event without one",
            "INSERT INTO event_keys SELECT entry, #16# FROM events WHERE AT_TILED",
            "UPDATE events SET idempotency_hash = #16# WHERE AT_TILED",
        ),
        Edit::each(
            "another idempotency key",
            "UPDATE event_keys SET first_entry = first_entry + 1 WHERE first_entry >> 40 = OWN",
            "UPDATE events SET idempotency_hash = #16# WHERE AT_KEYED",
        ),
        Edit::each(
            "no idempotency keys",
            "DELETE FROM event_keys WHERE first_entry >> 40 = OWN",
            "UPDATE events SET idempotency_hash = NULL WHERE LEDGER",
        ),
        Edit::postgres("a month", "UPDATE events SET month = month + 1 WHERE AT_TILED"),
        Edit::both("the first event of a month", "UPDATE ledger_months SET first_seq = first_seq + 1 WHERE LEDGER"),
        Edit::postgres("a month that the log does not have", "INSERT INTO ledger_months SELECT ledger_id, month + 1, 100 FROM ledger_months WHERE LEDGER"),
        Edit::sqlite("a month too many", "INSERT INTO ledger_months SELECT ledger_id, month + 1, 100 FROM ledger_months WHERE LEDGER"),
        Edit::both("no months", "DELETE FROM ledger_months WHERE LEDGER"),
        Edit::sqlite(
            "a time that leads to another event",
            "UPDATE event_times SET entry = (SELECT entry FROM events WHERE LEDGER AND seq = 5) WHERE entry = (SELECT entry FROM events WHERE AT_TILED)",
        ),
        Edit::sqlite("an event without its time", "DELETE FROM event_times WHERE entry = (SELECT entry FROM events WHERE AT_TILED)"),
        Edit::sqlite("an event with two times", "INSERT INTO event_times (position, entry) SELECT position + 500, entry FROM events WHERE AT_TILED"),
        Edit::sqlite("an id out of order", "INSERT INTO unordered_events (entry, id, after_id) SELECT entry, id, id FROM events WHERE AT_TILED"),
    ]
}

/// The head of a log.
fn heads() -> Vec<Edit> {
    vec![
        Edit::both("size lowered", "UPDATE ledgers SET size = size - 1 WHERE HEAD"),
        Edit::both("size raised", "UPDATE ledgers SET size = size + 1 WHERE HEAD"),
        Edit::both("size 0", "UPDATE ledgers SET size = 0 WHERE HEAD"),
        Edit::both("negative size", "UPDATE ledgers SET size = -1 WHERE HEAD"),
        Edit::both(
            "a huge size",
            "UPDATE ledgers SET size = 4000000000000000000 WHERE HEAD",
        ),
        Edit::both(
            "no last event",
            "UPDATE ledgers SET last_event_id = NULL WHERE HEAD",
        ),
        Edit::built("another last event", other_event_id),
        Edit::both(
            "last time raised",
            "UPDATE ledgers SET last_received_at = last_received_at + 3600000000 WHERE HEAD",
        ),
        Edit::both(
            "last time lowered",
            "UPDATE ledgers SET last_received_at = last_received_at - 3600000000 WHERE HEAD",
        ),
        Edit::both("no edge", "UPDATE ledgers SET frontier = NULL WHERE HEAD"),
        Edit::both(
            "an edge that cannot be read",
            "UPDATE ledgers SET frontier = #15# WHERE HEAD",
        ),
        Edit::both("no code", "UPDATE ledgers SET head_code = NULL WHERE HEAD"),
        Edit::both("another code", "UPDATE ledgers SET head_code = #32# WHERE HEAD"),
        Edit::both(
            "the code of the test events",
            "UPDATE ledgers SET head_code = (SELECT head_code FROM ledgers AS o WHERE o.id = OTHER) WHERE HEAD",
        ),
        Edit::both(
            "live and test exchanged",
            "UPDATE ledgers SET environment = 'moved' WHERE project_id = PROJECT AND environment = 'live';
             UPDATE ledgers SET environment = 'live' WHERE project_id = PROJECT AND environment = 'test';
             UPDATE ledgers SET environment = 'test' WHERE project_id = PROJECT AND environment = 'moved'",
        ),
        Edit::both(
            "events of the day",
            "UPDATE ledgers SET day_events = 0 WHERE HEAD",
        )
        .excused(NO_EVENT),
    ]
}

/// Tiles and checkpoints.
fn trees() -> Vec<Edit> {
    vec![
        Edit::both("a tile", "UPDATE log_tiles SET hashes = #8192# WHERE LEDGER"),
        Edit::both(
            "a tile that is too short",
            "UPDATE log_tiles SET hashes = #8191# WHERE LEDGER",
        ),
        Edit::both("no tile", "DELETE FROM log_tiles WHERE LEDGER"),
        Edit::both(
            "a tile behind the end",
            "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) VALUES (OWN, 0, 1, #8192#)",
        ),
        Edit::both(
            "a part of a tile",
            "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) VALUES (OWN, 0, 1, #256#)",
        ),
        Edit::both(
            "a tile of the next level",
            "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) VALUES (OWN, 1, 0, #8192#)",
        ),
        Edit::both(
            "a tile of a level that no tree has",
            "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) VALUES (OWN, 9, 0, #8192#)",
        ),
        Edit::both("no checkpoint", "DELETE FROM log_checkpoints WHERE LEDGER").excused(UNDONE),
        Edit::both(
            "the size in a checkpoint",
            "UPDATE log_checkpoints SET note = replace(note, 'SIZE', '1000') WHERE LEDGER",
        ).excused(UNDONE),
        Edit::both(
            "the size beside a checkpoint raised",
            "UPDATE log_checkpoints SET size = 1000000 WHERE LEDGER",
        ).excused(UNDONE),
        Edit::both(
            "the size beside a checkpoint lowered",
            "UPDATE log_checkpoints SET size = 1 WHERE LEDGER",
        ).excused(UNDONE),
        Edit::both(
            "a checkpoint that cannot be read",
            "UPDATE log_checkpoints SET note = 'no note' WHERE LEDGER",
        ).excused(UNDONE),
        Edit::both(
            "the checkpoint of another log",
            "UPDATE log_checkpoints SET note = (SELECT min(note) FROM log_checkpoints AS o WHERE o.ledger_id <> OWN) WHERE LEDGER",
        ).excused(UNDONE),
        Edit::built("an older checkpoint", older_checkpoint).excused(UNDONE),
        Edit::both(
            "a cosigned checkpoint that cannot be read",
            "INSERT INTO log_cosigned (ledger_id, version, note, quorum_size, quorum_note) VALUES (OWN, 1, 'no note', 0, NULL)",
        ).excused(NO_NOTE),
    ]
}

/// The logs of tenants and their map.
fn maps() -> Vec<Edit> {
    vec![
        Edit::both(
            "the root of the map",
            "UPDATE tenant_maps SET root = #32# WHERE LEDGER",
        )
        .excused(UNDONE),
        Edit::both(
            "the size of the map",
            "UPDATE tenant_maps SET size = size - 1 WHERE LEDGER",
        )
        .excused(UNDONE),
        Edit::both(
            "the code of the map",
            "UPDATE tenant_maps SET code = #32# WHERE LEDGER",
        )
        .excused(UNDONE),
        Edit::both(
            "a node of the map",
            "UPDATE tenant_map_tiles SET children = #33# WHERE LEDGER",
        )
        .excused(UNDONE),
        Edit::both("no nodes of the map", "DELETE FROM tenant_map_tiles WHERE LEDGER").excused(UNDONE),
        Edit::both(
            "the edge of a tenant",
            "UPDATE tenant_logs SET frontier = #8# WHERE LEDGER AND tenant_id = 'acme'",
        )
        .excused(UNDONE),
        Edit::both(
            "the leaves of a tenant",
            "UPDATE tenant_logs SET recent = #32# WHERE LEDGER AND tenant_id = 'acme'",
        )
        .excused(UNDONE),
        Edit::both(
            "the name of a tenant",
            "UPDATE tenant_logs SET tenant_id = 'other' WHERE LEDGER AND tenant_id = 'acme'",
        )
        .excused(UNDONE),
        Edit::both(
            "no log of a tenant",
            "DELETE FROM tenant_logs WHERE LEDGER AND tenant_id = 'acme'",
        )
        .excused(UNDONE),
        Edit::both(
            "a tile of a tenant",
            "INSERT INTO tenant_tiles (ledger_id, slot, level, tile_index, first_seq, hashes)
             SELECT ledger_id, slot, 0, 0, 0, #8192# FROM tenant_logs WHERE LEDGER AND tenant_id = 'acme'",
        ),
    ]
}

/// What is beside the events.
fn rest() -> Vec<Edit> {
    vec![
        Edit::both("the count of an alert", "UPDATE alerts SET event_count = 4 WHERE LEDGER"),
        Edit::both("the sample events of an alert", "UPDATE alerts SET sample_event_ids = #16# WHERE LEDGER"),
        Edit::both("the time of an alert", "UPDATE alerts SET fired_at = fired_at + 1000 WHERE LEDGER"),
        Edit::both("an alert that no event raised", "INSERT INTO alerts (ledger_id, id, rule_id, rule_name, severity, status, tenant_id, group_by, group_key, event_count, sample_event_ids, fired_at)
             SELECT ledger_id, #16#, rule_id, rule_name, severity, status, tenant_id, group_by, group_key, event_count, sample_event_ids, fired_at FROM alerts WHERE LEDGER"),
        Edit::both("an alert resolved", "UPDATE alerts SET status = 'resolved', resolved_at = fired_at + 1000 WHERE LEDGER").excused(STATUS),
        Edit::both("an alert deleted", "DELETE FROM alerts WHERE LEDGER").excused(STATUS),
        Edit::both("an action that no event has", "INSERT INTO ledger_actions (ledger_id, action) VALUES (OWN, 'made.up')").excused(INDEX),
        Edit::both("no actions", "DELETE FROM ledger_actions WHERE LEDGER").excused(INDEX),
        Edit::both("a key planted", "INSERT INTO api_keys (id, organization_id, project_id, environment, name, prefix, key_hash, created_at)
             SELECT 'planted-' || min(id), min(organization_id), PROJECT, 'live', 'planted', 'pk_live_', #32#, 0
             FROM api_keys WHERE project_id = PROJECT").excused(CONFIGURATION),
        Edit::both("a rule planted", "INSERT INTO alert_rules (project_id, id, name, action_pattern, threshold, window_seconds, group_by, severity, enabled, cooldown_seconds, conditions, revision, created_at)
             VALUES (PROJECT, '01890000-0000-7000-8000-000000000000', 'planted', 'door.*', 1, 60, 'tenant_id', 'low', TRUE, 60, '{}', 1, 0)").excused(CONFIGURATION),
    ]
}

/// What removes events. `tests/it/retention/edits.rs` edits what a removal has left.
fn removals() -> Vec<Edit> {
    vec![
        Edit::both(
            "the newest lifecycle event",
            "UPDATE ledgers SET lifecycle_seq = 5 WHERE HEAD",
        ),
        Edit::built("an event deleted, with a record of a removal", removed),
        Edit::both("a removal planted", PLANTED_REMOVAL).excused(NO_REMOVAL),
        Edit::built("a part of an event erased", erased),
        Edit::both("an erasure planted", PLANTED_ERASURE).excused(NO_REMOVAL),
    ]
}
