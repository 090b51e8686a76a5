//! Tampering that keeps the database consistent: some of it contradicts the last checkpoint, the rest only the state of
//! an external auditor.

use super::{Case, assert_wrong, audit, canonical, delete, leaf_of, live_log, quoted, stop, store_events};
use audit_ledger::{Frontier, Hash};
use audit_tests::{DatabaseKind, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_rewritten_event_contradicts_the_last_checkpoint,
    a_log_that_was_cut_off_carefully_is_caught,
    a_log_that_was_rolled_back_is_caught,
    a_log_that_was_rolled_back_and_has_grown_again_is_caught,
    two_histories_of_one_log_are_caught,
    a_forged_checkpoint_is_caught,
}

/// The encoded edge of the tree over these leaves, as stored in a row of `ledgers`.
pub(crate) fn edge(leaves: &[Hash]) -> Vec<u8> {
    let mut frontier = Frontier::new();
    for leaf in leaves {
        frontier.append(*leaf);
    }
    frontier.encode()
}

/// Changes an event, its content hash, its tile and the edge of the tree.
pub(crate) fn rewrite(case: &Case, seq: usize) {
    case.tamper(&rewriting(case, seq));
}

/// The SQL of [`rewrite`].
pub(crate) fn rewriting(case: &Case, seq: usize) -> String {
    let mut event = case.events[seq].clone();
    event["actor"]["id"] = json!("somebody else");
    let text = canonical(&event);
    let mut leaves = case.leaves();
    leaves[seq] = leaf_of(&live_log(&case.organization), &event);
    let tile: Vec<u8> = leaves[..256].iter().flat_map(|leaf| *leaf.as_bytes()).collect();
    let blob = |bytes: &[u8]| case.database.blob(bytes);
    format!(
        "UPDATE events SET body = {}, content_hash = {} WHERE LEDGER AND seq = {seq};
         UPDATE log_tiles SET hashes = {} WHERE LEDGER AND level = 0 AND tile_index = 0;
         UPDATE ledgers SET frontier = {} WHERE HEAD",
        quoted(&text),
        case.hash_literal(&event),
        blob(&tile),
        blob(&edge(&leaves)),
    )
}

fn a_rewritten_event_contradicts_the_last_checkpoint(database: DatabaseKind) {
    for (seq, range) in [(17, "events 0 to 255"), (270, "events 256 to 287")] {
        let case = Case::fresh(database);
        rewrite(&case, seq);
        let findings = case.findings();
        let found = |text: &str| {
            let found = findings
                .iter()
                .find(|finding| finding["problem"].to_string().contains(text));
            found.unwrap_or_else(|| panic!("{text} in {findings:?}"))
        };
        let signed = found("that was signed");
        assert_eq!((&signed["seq"], &signed["last_seq"]), (&json!(0), &json!(299)));
        found("was not written by the service");
        // An auditor that stores the edge of the tree narrows the range further than the checkpoint does.
        case.expect_caught(range);
        // Without the last checkpoint the head is wrong, and the server shows what it has signed.
        case.tamper("DELETE FROM log_checkpoints WHERE LEDGER");
        case.findings();
        case.expect_caught(range);
        // With the files of the server as well the database is consistent, and the server signs a different history of the
        // same size. An auditor that saw the first history still has its checkpoint.
        case.tamper("DELETE FROM log_checkpoints WHERE LEDGER")
            .forget()
            .seal();
        case.expect_sound();
        case.expect_caught("two histories of 300 events");
        let kept = case.state.with_extension("refused");
        assert!(
            std::fs::read_to_string(kept)
                .expect("read the evidence")
                .contains("\n300\n")
        );
    }
}

fn a_log_that_was_cut_off_carefully_is_caught(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper(&delete(database, "seq >= 290")).tamper(&format!(
        "UPDATE ledgers SET size = 290, frontier = {} WHERE HEAD",
        case.database.blob(&edge(&case.leaves()[..290]))
    ));
    let first = &case.findings()[0];
    assert_eq!(
        (&first["seq"], &first["last_seq"]),
        (&json!(290), &json!(299)),
        "{first}"
    );
    case.tamper("DELETE FROM log_checkpoints WHERE LEDGER");
    case.expect_caught("the server does not return tile/0/001.p/44 of the log");
    case.tamper("DELETE FROM log_checkpoints WHERE LEDGER")
        .forget()
        .seal();
    case.expect_sound();
    case.expect_caught("the log had 300 events and now has 290: it was truncated or rolled back");
}

/// Stores and audits more events on a case's database.
fn grow(case: &Case, count: usize) {
    let (server, project) = case.start();
    store_events(&project, count);
    let audited = audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &[],
    )
    .success();
    assert!(audited.contains(&format!("{count} of them new")), "{audited}");
    stop(server);
}

/// A case whose database is restored from a backup after its auditor has seen 20 more events.
fn rolled_back(database: DatabaseKind) -> Case {
    let case = Case::fresh(database);
    let backup = case.copy();
    grow(&case, 20);
    Case {
        database: backup.database,
        memory: backup.memory,
        ..case
    }
}

fn a_log_that_was_rolled_back_is_caught(database: DatabaseKind) {
    let case = rolled_back(database);
    case.expect_sound();
    case.expect_caught("the log had 320 events and now has 300: it was truncated or rolled back");
    assert_wrong(&case.audit(&["--new-only"]), "truncated or rolled back");
}

fn a_log_that_was_rolled_back_and_has_grown_again_is_caught(database: DatabaseKind) {
    let case = rolled_back(database);
    let (server, project) = case.start();
    store_events(&project, 50);
    let audited = audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &[],
    );
    assert_wrong(&audited, "does not continue");
}

fn two_histories_of_one_log_are_caught(database: DatabaseKind) {
    let case = rolled_back(database);
    let (server, project) = case.start();
    store_events(&project, 20);
    let audited = audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &[],
    );
    assert_wrong(&audited, "two histories of 320 events");
}

fn a_forged_checkpoint_is_caught(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper("UPDATE log_checkpoints SET note = replace(note, '300', '301') WHERE LEDGER");
    let findings = case.findings();
    assert!(
        findings[0]["problem"]
            .to_string()
            .contains("not one that this log signed"),
        "{findings:?}"
    );
    // With the signing key replaced, the database is consistent. A client that pins the original key detects it.
    let case = Case::fresh(database);
    let key_of = |case: &Case| audit_tests::command_line_on(&case.database, &["log", "key"]).success();
    let key = key_of(&case);
    let seed = case.database.blob(&[&[0], [7; 32].as_slice()].concat());
    case.tamper(&format!(
        "UPDATE secrets SET secret = {seed} WHERE name = 'log_key'; DELETE FROM log_checkpoints WHERE LEDGER"
    ));
    assert_ne!(key_of(&case), key);
    // A server that has signed with the original key does not start.
    let memory = [(super::STATE_DIRECTORY, super::text_of(&case.memory))];
    assert!(audit_tests::serve_refused(&case.database, &memory).contains("it was replaced"));
    case.forget();
    let (server, _) = case.start();
    let checkpoint = case
        .organization
        .on(&server)
        .project()
        .get("/log/checkpoint")
        .send_raw();
    assert_eq!(checkpoint.status, 200);
    assert_wrong(
        &audit(
            server.base_url(),
            &case.organization.project_key,
            &case.state,
            &[],
        ),
        "not signed by a known key",
    );
    stop(server);
    case.expect_sound();
    let pinned = ["log", "verify", "--json", "--verifier-key", &key];
    let finished = audit_tests::command_line_on(&case.database, &pinned);
    let report: Value = serde_json::from_str(&finished.stdout).expect("a report");
    assert_eq!(report["ok"], json!(false), "{report}");
}
