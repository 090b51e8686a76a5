//! What someone with write access to the database can do to a log, as a table: each edit is noticed by `log verify` or `log audit`,
//! whether servers run or not, and also after more events were stored.

use super::tampering::{enlist, forgery, move_event};
use super::{Case, STATE_DIRECTORY, audit, canonical, delete, id_bytes, quoted, stop, text_of};
use audit_tests::process::Exit;
use audit_tests::{DatabaseKind, command_line_with, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    edits_of_events_are_noticed,
    edits_of_heads_are_noticed,
    edits_of_tiles_and_checkpoints_are_noticed_or_undone,
}

/// When an edit is made, and whether more events are stored after it.
const SITUATIONS: [(bool, usize); 2] = [(false, 0), (true, 60)];

/// Makes each of these edits on a copy of its own. Asserts that it is noticed.
fn expect_noticed(case: &Case, edits: &[(&str, String)]) {
    for (name, sql) in edits {
        for (is_running, growth) in SITUATIONS {
            let case = case.copy();
            let running = is_running.then(|| case.start());
            case.tamper(sql);
            let (server, project) = running.unwrap_or_else(|| case.start());
            for _ in 0..growth.div_ceil(20) {
                // A log whose head was changed takes none.
                let events = vec![event_with(json!({})); 20];
                let status = project.post("/events").json(json!(events)).send().status();
                assert!([201, 503].contains(&status), "{name}: {status}");
            }
            let arguments = ["log", "verify", "--database-url", case.database.url()];
            let verified = command_line_with(&arguments, &[(STATE_DIRECTORY, text_of(&case.memory))]);
            let mut exits = vec![verified.exit];
            if verified.exit == Exit::Code(0) {
                let key = &case.organization.project_key;
                exits.push(audit(server.base_url(), key, &case.state, &[]).exit);
            }
            assert!(
                exits.contains(&Exit::Code(1)),
                "{name}, running: {is_running}, {growth} more events: {exits:?} {verified:?}"
            );
            drop(server);
        }
    }
}

fn edits_of_events_are_noticed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let mut forged = case.events[17].clone();
    forged["actor"]["id"] = json!("somebody else");
    let text = canonical(&forged);
    let blob = |bytes: &[u8]| case.database.blob(bytes);
    let other_id = blob(&id_bytes("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    let mut edits = vec![
        (
            "body",
            "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq = 17"
                .to_owned(),
        ),
        (
            "content_hash",
            format!(
                "UPDATE events SET content_hash = {} WHERE LEDGER AND seq = 17",
                blob(&[7; 32])
            ),
        ),
        (
            "short content_hash",
            format!(
                "UPDATE events SET content_hash = {} WHERE LEDGER AND seq = 17",
                blob(&[7; 31])
            ),
        ),
        (
            "content_salt",
            format!(
                "UPDATE events SET content_salt = {} WHERE LEDGER AND seq = 17",
                blob(&[7; 16])
            ),
        ),
        (
            "short content_salt",
            format!(
                "UPDATE events SET content_salt = {} WHERE LEDGER AND seq = 17",
                blob(&[7; 15])
            ),
        ),
        (
            "body and content_hash",
            format!(
                "UPDATE events SET body = {}, content_hash = {} WHERE LEDGER AND seq = 17",
                quoted(&text),
                case.hash_literal(&forged)
            ),
        ),
        (
            "id",
            format!("UPDATE events SET id = {other_id} WHERE LEDGER AND seq = 17"),
        ),
        (
            "sent_digest",
            format!(
                "UPDATE events SET sent_digest = {} WHERE LEDGER AND seq = 17",
                blob(&[7; 33])
            ),
        ),
        ("an event in the middle is deleted", delete(kind, "seq = 17")),
        ("the last events are deleted", delete(kind, "seq >= 290")),
        (
            "two events are exchanged",
            [(20, 1_000), (30, 20), (1_000, 30)]
                .map(|(from, to)| move_event(kind, from, to))
                .concat(),
        ),
        ("an event behind the edge", forgery(&case, super::EVENTS)),
        (
            "an event behind the edge, listed",
            match kind {
                DatabaseKind::Sqlite => {
                    format!("{}; {}", forgery(&case, super::EVENTS), enlist(super::EVENTS))
                }
                DatabaseKind::Postgres => format!("{}; SELECT 1", forgery(&case, super::EVENTS)),
            },
        ),
    ];
    match kind {
        DatabaseKind::Postgres => edits.extend([
            ("occurred_at", "UPDATE events SET occurred_at = occurred_at - 1000000 WHERE LEDGER AND seq = 17".to_owned()),
            (
                "planted idempotency_hash",
                format!("UPDATE events SET idempotency_hash = {} WHERE LEDGER AND seq = 17", blob(&[7; 16])),
            ),
            (
                "an event moved to the log of test events",
                "UPDATE events SET ledger_id = (SELECT id FROM ledgers WHERE project_id = events_project.project_id AND environment = 'test'),
                    seq = 0
                 FROM ledgers AS events_project
                 WHERE events_project.id = events.ledger_id AND LEDGER AND seq = 299".to_owned(),
            ),
        ]),
        DatabaseKind::Sqlite => edits.extend([
            ("position", "UPDATE event_times SET position = position - (3600000 << 20)
                 WHERE entry = (SELECT entry FROM events WHERE LEDGER AND seq = 17);
                 UPDATE events SET position = position - (3600000 << 20) WHERE LEDGER AND seq = 17".to_owned()),
            (
                "planted idempotency key",
                format!("INSERT INTO event_keys SELECT entry, {} FROM events WHERE LEDGER AND seq = 17", blob(&[7; 16])),
            ),
        ]),
    }
    expect_noticed(&case, &edits);
}

fn edits_of_heads_are_noticed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let set = |columns: &str| format!("UPDATE ledgers SET {columns} WHERE HEAD");
    let project = quoted(&case.organization.project_id);
    let edits = [
        ("size lowered", set("size = 299")),
        ("size raised", set("size = 301")),
        ("negative size", set("size = -1")),
        ("last_event_id", set("last_event_id = NULL")),
        ("last_received_at", set("last_received_at = last_received_at + 1")),
        ("frontier removed", set("frontier = NULL")),
        ("head_code removed", set("head_code = NULL")),
        (
            "names exchanged",
            format!(
                "UPDATE ledgers SET environment = 'moved' WHERE project_id = {project} AND environment = 'live';
                 UPDATE ledgers SET environment = 'live' WHERE project_id = {project} AND environment = 'test';
                 UPDATE ledgers SET environment = 'test' WHERE project_id = {project} AND environment = 'moved'"
            ),
        ),
    ];
    // A server that runs may have the head in memory: what it writes next is right again.
    for (name, sql) in edits {
        expect_noticed_while_stopped(&case, name, &sql);
    }
}

fn expect_noticed_while_stopped(case: &Case, name: &str, sql: &str) {
    for growth in [0, 1] {
        let case = case.copy();
        case.tamper(sql);
        if growth > 0 {
            let (server, project) = case.start();
            let answer = project.post("/events").json(event_with(json!({}))).send();
            assert!(
                answer.status() == 503 || name == "names exchanged",
                "{name}: {}",
                answer.status()
            );
            assert!(server.metric("audit_logs_forged") > 0, "{name}");
            stop(server);
        }
        let verified = super::verify(&case.database);
        assert_eq!(verified.exit, Exit::Code(1), "{name}: {verified:?}");
    }
}

fn edits_of_tiles_and_checkpoints_are_noticed_or_undone(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let blob = |bytes: &[u8]| case.database.blob(bytes);
    let ledger = "(SELECT id FROM ledgers WHERE HEAD)";
    let noticed = [
        (
            "tile",
            format!("UPDATE log_tiles SET hashes = {} WHERE LEDGER", blob(&[7; 8_192])),
        ),
        ("tile removed", "DELETE FROM log_tiles WHERE LEDGER".to_owned()),
        (
            "planted tile",
            format!(
                "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) VALUES ({ledger}, 0, 1, {})",
                blob(&[7; 8_192])
            ),
        ),
        (
            "planted tile of a level that no tree has",
            format!(
                "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) VALUES ({ledger}, 9, 0, {})",
                blob(&[7; 8_192])
            ),
        ),
    ];
    expect_noticed(&case, &noticed);
    // A server publishes its checkpoint again.
    for (name, sql) in [
        ("checkpoint removed", "DELETE FROM log_checkpoints WHERE LEDGER"),
        (
            "note",
            "UPDATE log_checkpoints SET note = replace(note, '300', '301') WHERE LEDGER",
        ),
        ("size", "UPDATE log_checkpoints SET size = 1000000 WHERE LEDGER"),
    ] {
        let case = case.copy();
        case.tamper(sql);
        let (server, project) = case.start();
        super::store_events(&project, 2);
        let shown = project.get("/log/checkpoint").send_raw();
        let shown = String::from_utf8(shown.bytes).expect("a note");
        assert!(shown.contains("\n302\n"), "{name}: {shown}");
        stop(server);
        case.expect_sound();
        case.audit(&[]).success();
    }
}
