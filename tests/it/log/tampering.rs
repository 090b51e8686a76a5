//! `log verify` names the event that was tampered with.

use super::{Case, canonical, delete, hash_of, id_bytes, live_log, quoted, stop};
use audit_tests::{DatabaseKind, event, on_both_databases};
use serde_json::json;

/// One event in the full tile of leaves, and one in the partial tile.
const PLACES: [usize; 2] = [17, 270];

on_both_databases! {
    an_edited_field_is_found,
    an_event_edited_with_its_hash_is_found,
    an_edited_hash_is_found,
    an_event_of_another_environment_is_found,
    a_deleted_event_is_found,
    an_event_that_was_added_is_found,
    an_event_that_was_inserted_is_found,
    swapped_events_are_found,
    an_event_whose_columns_say_something_else_is_found,
    a_row_that_leads_elsewhere_is_found,
    a_cut_off_end_is_found,
    a_head_that_claims_too_much_is_found,
    an_edited_tile_is_found,
    the_first_of_several_is_named,
    an_unchanged_log_is_sound,
}

fn an_edited_field_is_found(database: DatabaseKind) {
    for seq in PLACES {
        let case = Case::fresh(database);
        case.tamper(&format!(
            "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq = {seq}"
        ));
        case.expect_named_by_id(seq, "do not belong together");
        case.expect_caught(&format!("event {seq} was"));
    }
}

fn an_event_edited_with_its_hash_is_found(database: DatabaseKind) {
    for seq in PLACES {
        let case = Case::fresh(database);
        let mut event = case.events[seq].clone();
        event["actor"]["id"] = json!("somebody else");
        let text = canonical(&event);
        case.tamper(&format!(
            "UPDATE events SET body = {}, content_hash = {} WHERE LEDGER AND seq = {seq}",
            quoted(&text),
            case.hash_literal(&event)
        ));
        if seq < 256 {
            case.expect_named_by_id(seq, "changed together with its content hash");
            case.expect_caught(&format!("event {seq} was"));
        } else {
            // The leaves of the partial tile come from the content hashes in `events`. The tree's edge narrows the
            // finding down to 32 events.
            let first = &case.findings()[0];
            assert_eq!(
                (&first["seq"], &first["last_seq"]),
                (&json!(256), &json!(287)),
                "{first}"
            );
            case.expect_caught("events 256 to 287");
        }
    }
}

fn an_edited_hash_is_found(database: DatabaseKind) {
    for seq in PLACES {
        for (column, bytes) in [("content_hash", 32), ("content_salt", 16), ("content_salt", 15)] {
            let case = Case::fresh(database);
            let other = case.database.blob(&vec![7; bytes]);
            case.tamper(&format!(
                "UPDATE events SET {column} = {other} WHERE LEDGER AND seq = {seq}"
            ));
            case.expect_named_by_id(seq, "do not belong together");
        }
    }
}

fn an_event_of_another_environment_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    let (server, _) = case.start();
    let test = case.organization.on(&server).test();
    let event = test.event(&test.store(event()));
    stop(server);
    // Everything that its row has in the log of the test environment.
    let bytes = |member: &str, prefix: &str| {
        let text = event[member].as_str().and_then(|text| text.strip_prefix(prefix));
        let bytes = base16ct::lower::decode_vec(text.expect("hexadecimal")).expect("hexadecimal");
        case.database.blob(&bytes)
    };
    let id = case
        .database
        .blob(&id_bytes(event["id"].as_str().expect("an id")));
    case.tamper(&format!(
        "UPDATE events SET id = {id}, content_hash = {}, content_salt = {}, body = {} WHERE LEDGER AND seq = 17",
        bytes("content_hash", "sha256:"),
        bytes("content_salt", ""),
        quoted(&canonical(&event)),
    ));
    case.expect_named(17, "do not belong together");
}

fn a_deleted_event_is_found(database: DatabaseKind) {
    for seq in PLACES {
        let case = Case::fresh(database);
        case.tamper(&delete(database, &format!("seq = {seq}")));
        case.expect_named(seq, "it was removed");
        assert_eq!(case.findings().len(), 1);
    }
    let case = Case::fresh(database);
    case.tamper(&delete(database, "seq = 17"));
    case.expect_caught("event 17 is missing, and no removal in the log covers it");
}

fn an_event_that_was_added_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper(&forgery(&case, super::EVENTS));
    case.expect_named(super::EVENTS, "added past the log");
    // On SQLite, add the entry of the time index as well. PostgreSQL has no such row.
    if database == DatabaseKind::Sqlite {
        case.tamper(&enlist(super::EVENTS));
        case.expect_named(super::EVENTS, "added past the log");
    }
}

/// SQL that adds the entry of an event to the time index of SQLite.
pub(crate) fn enlist(seq: usize) -> String {
    format!(
        "INSERT INTO event_times (position, entry) SELECT position, entry FROM events WHERE LEDGER AND seq = {seq}"
    )
}

/// SQL that moves an event to another position in the log, together with the rows that refer to it.
pub(crate) fn move_event(kind: DatabaseKind, from: i64, to: i64) -> String {
    match kind {
        DatabaseKind::Postgres => format!("UPDATE events SET seq = {to} WHERE LEDGER AND seq = {from};"),
        DatabaseKind::Sqlite => ["event_times", "events"]
            .iter()
            .map(|table| {
                format!(
                    "UPDATE {table} SET entry = entry + {to} - {from}
                     WHERE entry = (SELECT (id << 40) + {from} FROM ledgers WHERE HEAD);"
                )
            })
            .collect(),
    }
}

/// SQL that adds a forged event whose id, text, hash and times are consistent.
pub(crate) fn forgery(case: &Case, seq: usize) -> String {
    let last = case.events.last().expect("there are events");
    let mut event = last.clone();
    let id = last["id"].as_str().expect("an id").to_owned();
    // A smaller id of the same millisecond: the ten characters after `evt_` are the time. A greater one would be in the order of the log, so
    // that less is noticed.
    let changed = (15..id.len())
        .find(|at| id.as_bytes()[*at] != b'0')
        .expect("it is random");
    event["id"] = json!(format!("{}0{}", &id[..changed], &id[changed + 1..]));
    let text = canonical(&event);
    let blob = |bytes: &[u8]| case.database.blob(bytes);
    let (id, hash) = (
        blob(&id_bytes(event["id"].as_str().expect("an id"))),
        case.hash_literal(&event),
    );
    let (last_id, text) = (
        blob(&id_bytes(last["id"].as_str().expect("an id"))),
        quoted(&text),
    );
    match case.database.kind() {
        DatabaseKind::Sqlite => format!(
            "INSERT INTO events (entry, position, id, content_hash, content_salt, redacted, row_code, body)
             SELECT (ledger_id << 40) + {seq}, position + 500, {id}, {hash}, content_salt, redacted, row_code, {text} FROM events WHERE id = {last_id}"
        ),
        DatabaseKind::Postgres => format!(
            "INSERT INTO events (ledger_id, seq, month, id, occurred_at, content_hash, content_salt, redacted, row_code, body)
             SELECT ledger_id, {seq}, month, {id}, occurred_at, {hash}, content_salt, redacted, row_code, {text} FROM events WHERE id = {last_id}"
        ),
    }
}

fn an_event_that_was_inserted_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    // All later events move by one position.
    let moved = (100..super::EVENTS as i64).rev();
    let moves: String = moved.map(|seq| move_event(database, seq, seq + 1)).collect();
    case.tamper(&moves)
        .tamper("UPDATE ledgers SET size = size + 1 WHERE HEAD");
    case.tamper(&forgery(&case, 100));
    if database == DatabaseKind::Sqlite {
        case.tamper(&enlist(100));
    }
    case.expect_named(100, "not the event that the log has here");
    case.expect_caught("event 100 was changed");
}

fn swapped_events_are_found(database: DatabaseKind) {
    let swap = |case: &Case, one: i64, other: i64| {
        let away = 1 << 20;
        let moves = [(one, away), (other, one), (away, other)];
        case.tamper(&moves.map(|(from, to)| move_event(database, from, to)).concat());
    };
    let case = Case::fresh(database);
    swap(&case, 10, 20);
    case.expect_named(10, "exchanged");
    assert_eq!(
        case.findings()[0]["id"],
        *case.ids[20],
        "the finding names the event now at this position"
    );
    case.expect_caught("event 10 was changed");
    let case = Case::fresh(database);
    swap(&case, 289, 290);
    let findings = case.findings();
    let of_the_tree = findings
        .iter()
        .find(|finding| finding["seq"] != finding["last_seq"]);
    let of_the_tree = of_the_tree.expect("the edge of the tree differs");
    assert_eq!(
        (&of_the_tree["seq"], &of_the_tree["last_seq"]),
        (&json!(288), &json!(295)),
        "{of_the_tree}"
    );
    // On SQLite, look-ups by id rely on ids that increase along the log. The swap breaks that order.
    if database == DatabaseKind::Sqlite {
        assert_eq!(findings[0]["seq"], json!(290), "{findings:?}");
    }
}

fn an_event_whose_columns_say_something_else_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    let other = case.database.blob(&id_bytes("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    case.tamper(&format!(
        "UPDATE events SET id = {other} WHERE LEDGER AND seq = 17"
    ));
    case.expect_named_by_id(17, "events.id is not what the event's text says");
    let case = Case::fresh(database);
    // Move the event an hour back in the order of time.
    match database {
        DatabaseKind::Postgres => {
            case.tamper("UPDATE events SET occurred_at = occurred_at - 3600000000 WHERE LEDGER AND seq = 270")
        }
        DatabaseKind::Sqlite => case.tamper(
            "UPDATE event_times SET position = position - (3600000 << 20)
             WHERE entry = (SELECT entry FROM events WHERE LEDGER AND seq = 270);
             UPDATE events SET position = position - (3600000 << 20) WHERE LEDGER AND seq = 270",
        ),
    };
    case.expect_named_by_id(270, "order of time");
}

fn a_row_that_leads_elsewhere_is_found(database: DatabaseKind) {
    // On PostgreSQL the order and the ids are columns of the event itself, and the month leads to its partition.
    if database == DatabaseKind::Postgres {
        let case = Case::fresh(database);
        case.tamper("UPDATE events SET month = month + 1 WHERE LEDGER AND seq = 17");
        case.expect_named(17, "events.month");
        let case = Case::fresh(database);
        case.tamper("UPDATE ledger_months SET first_seq = 1 WHERE LEDGER");
        case.expect_named(0, "events.month");
        return;
    }
    let case = Case::fresh(database);
    case.tamper(
        "UPDATE event_times SET entry = (SELECT entry FROM events WHERE LEDGER AND seq = 5)
         WHERE entry = (SELECT entry FROM events WHERE LEDGER AND seq = 17)",
    );
    case.expect_named_by_id(17, "event_times.entry");
    let case = Case::fresh(database);
    // Forge the record of a claimed event, whose id is outside the order of ids.
    case.tamper(
        "INSERT INTO unordered_events (entry, id, after_id)
         SELECT entry, id, id FROM events WHERE LEDGER AND seq = 17",
    );
    case.expect_named_by_id(17, "order of ids");
    let case = Case::fresh(database);
    case.tamper(
        "INSERT INTO unordered_events (entry, id, after_id)
         SELECT entry + 1, id, id FROM events WHERE LEDGER AND seq = 17",
    );
    case.expect_named_by_id(18, "order of ids");
    let case = Case::fresh(database);
    case.tamper(
        "INSERT INTO event_times (position, entry) SELECT position + 500, entry FROM events WHERE LEDGER AND seq = 17",
    );
    let findings = case.findings();
    assert!(
        findings[0]["problem"].to_string().contains("its time is listed"),
        "{findings:?}"
    );
    let case = Case::fresh(database);
    case.tamper("DELETE FROM events WHERE LEDGER AND seq = 17");
    case.expect_named(17, "it was removed");
}

fn a_cut_off_end_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper(&delete(database, "seq >= 290"))
        .tamper("UPDATE ledgers SET size = 290 WHERE HEAD");
    let findings = case.findings();
    assert!(
        findings.iter().any(|finding| {
            (&finding["seq"], &finding["last_seq"]) == (&json!(290), &json!(299))
                && finding["problem"]
                    .as_str()
                    .is_some_and(|problem| problem.contains("cut off"))
        }),
        "{findings:?}"
    );
    case.expect_caught("the server does not return tile/0/001.p/44 of the log");
    // With the size unchanged, the finding names the first missing event.
    let case = Case::fresh(database);
    case.tamper(&delete(database, "seq >= 290"));
    case.expect_named(290, "it was removed");
}

fn a_head_that_claims_too_much_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper("UPDATE ledgers SET size = 4000000000000000000 WHERE HEAD");
    case.expect_named(super::EVENTS, "it was removed");
    let case = Case::fresh(database);
    case.tamper("UPDATE ledgers SET size = -1 WHERE HEAD");
    let findings = case.findings();
    assert!(
        findings
            .iter()
            .any(|finding| finding["problem"].to_string().contains("-1 events")),
        "{findings:?}"
    );
}

fn an_edited_tile_is_found(database: DatabaseKind) {
    let case = Case::fresh(database);
    let mut leaves = case.leaves();
    leaves.swap(3, 4);
    let tile: Vec<u8> = leaves[..256].iter().flat_map(|leaf| *leaf.as_bytes()).collect();
    case.tamper(&format!(
        "UPDATE log_tiles SET hashes = {} WHERE LEDGER AND level = 0 AND tile_index = 0",
        case.database.blob(&tile)
    ));
    case.expect_named(3, "the log's tile");
    case.expect_caught("the tiles of the 300 events do not have the signed root");
    let case = Case::fresh(database);
    case.tamper("DELETE FROM log_tiles WHERE LEDGER");
    let findings = case.findings();
    assert_eq!(findings[0]["problem"], "tile/0/000 is missing", "{findings:?}");
    case.expect_caught("the server does not return tile/0/000");
}

fn the_first_of_several_is_named(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper(
        "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq IN (280, 30, 200)",
    )
    .tamper(&delete(database, "seq IN (250, 40)"));
    case.expect_named_by_id(30, "do not belong together");
    let seqs: Vec<u64> = case
        .findings()
        .iter()
        .filter_map(|finding| finding["seq"].as_u64())
        .collect();
    assert_eq!(seqs, [30, 40, 200, 250, 280]);
}

fn an_unchanged_log_is_sound(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.expect_sound();
    let report = audit_tests::command_line_on(&case.database, &["log", "verify", "--json"]).json();
    assert_eq!(
        (&report["ok"], &report["events"]),
        (&json!(true), &json!(super::EVENTS))
    );
    let own: Vec<_> = report["ledgers"]
        .as_array()
        .expect("ledgers")
        .iter()
        .filter(|ledger| {
            ledger["project_id"] == *case.organization.project_id && ledger["environment"] == "live"
        })
        .collect();
    assert_eq!(own.len(), 1, "{report}");
    assert_eq!((&own[0]["events"], &own[0]["signed"]), (&json!(300), &json!(300)));
    let tree = audit_ledger::TreeHead::of_events(
        &case
            .events
            .iter()
            .map(|event| hash_of(&live_log(&case.organization), event))
            .collect::<Vec<_>>(),
    );
    assert_eq!(own[0]["root"], tree.root.to_string());
    let one = [
        "log",
        "verify",
        "--json",
        "--project",
        &case.organization.project_id,
    ];
    let report = audit_tests::command_line_on(&case.database, &one).json();
    assert_eq!(
        report["ledgers"].as_array().map(Vec::len),
        Some(2),
        "live and test: {report}"
    );
    let nobody = [
        "log",
        "verify",
        "--project",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
    ];
    audit_tests::command_line_on(&case.database, &nobody).refusal();
}
