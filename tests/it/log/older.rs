//! A database from before there was a log: its trees are made at the first start.

use super::{Case, verify};
use audit_tests::process::Exit;
use audit_tests::{DatabaseKind, on_both_databases};

on_both_databases! {
    events_from_before_the_log_are_taken_into_it,
    what_was_changed_before_its_tree_was_made_again_is_another_history,
}

const WITHOUT_TREES: &str =
    "DELETE FROM log_tiles; DELETE FROM log_checkpoints; UPDATE ledgers SET frontier = NULL";

fn events_from_before_the_log_are_taken_into_it(database: DatabaseKind) {
    let case = Case::fresh(database);
    case.tamper(WITHOUT_TREES);
    let (server, project) = case.start();
    let proof = project
        .get(&format!("/events/{}/proof", case.ids[17]))
        .send()
        .expect_status(200);
    assert_eq!(proof["seq"], 17);
    drop(server);
    // It is the very log that was audited before.
    let audited = case.audit(&[]).success();
    assert!(audited.contains(": 300 events, 0 of them new"), "{audited}");
    assert_eq!(verify(&case.database).exit, Exit::Code(0));
}

fn what_was_changed_before_its_tree_was_made_again_is_another_history(database: DatabaseKind) {
    let case = Case::fresh(database);
    let other = case.database.blob(&[7; 32]);
    case.tamper(WITHOUT_TREES).tamper(&format!(
        "UPDATE events SET content_hash = {other} WHERE LEDGER AND seq = 17"
    ));
    case.expect_caught("two histories of 300 events");
}
