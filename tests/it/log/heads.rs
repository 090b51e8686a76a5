//! Heads that the service did not write: their logs take no events and are not signed until they are repaired.

use super::{Case, STATE_DIRECTORY, stop, store_events, text_of};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Finished, Organization, Server, command_line_with, event_with,
    on_both_databases, serve_refused, temporary_directory,
};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// The metric of logs that take no events.
const FORGED: &str = "audit_logs_forged";
const KEY_FILE: &str = "AUDIT_HEAD_KEY_FILE";
const ENCRYPTION: &str = "AUDIT_ENCRYPTION_KEY";
const ENCRYPTION_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

on_both_databases! {
    a_log_whose_head_was_changed_takes_no_events,
    a_key_is_revoked_while_no_log_of_its_project_takes_events,
    a_head_is_repaired_when_its_events_are_those_that_were_signed,
    tiles_are_written_again_from_the_events_of_their_head,
    a_head_is_not_repaired_when_its_events_were_changed,
    events_that_nobody_signed_are_accepted_on_demand_alone,
    a_node_without_the_key_is_refused,
    the_key_is_derived_from_the_encryption_key,
}

/// Changes of the head of a log, each of which takes only write access to the database.
const CHANGES: [&str; 8] = [
    "size = 299",
    "size = 301",
    "last_event_id = (SELECT last_event_id FROM ledgers WHERE project_id = PROJECT AND environment = 'test')",
    "last_received_at = last_received_at + 1",
    "frontier = NULL",
    "lifecycle_seq = 0",
    "head_code = NULL",
    "head_code = (SELECT head_code FROM ledgers WHERE project_id = PROJECT AND environment = 'test')",
];

fn change(case: &Case, set: &str) {
    let project = format!("'{}'", case.organization.project_id);
    case.tamper(&format!(
        "UPDATE ledgers SET {} WHERE HEAD",
        set.replace("PROJECT", &project)
    ));
}

fn try_to_store(client: &Client) -> u16 {
    client.post("/events").json(event_with(json!({}))).send().status()
}

fn repair(case: &Case, more: &[&str]) -> Finished {
    let arguments = [&["log", "repair", "--database-url", case.database.url()], more].concat();
    command_line_with(&arguments, &[(STATE_DIRECTORY, text_of(&case.memory))])
}

fn a_log_whose_head_was_changed_takes_no_events(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    for set in CHANGES {
        let case = case.copy();
        let (server, project) = case.start();
        case.database
            .execute("CREATE TABLE saved AS SELECT * FROM ledgers");
        change(&case, set);
        let refused = project.post("/events").json(event_with(json!({}))).send();
        refused.expect_error(503, "log_stopped");
        assert_eq!(server.metric(FORGED), 1, "{set}");
        server.wait_for_log("was not written by this service");
        let verified = super::verify(&case.database);
        assert_eq!(verified.exit, Exit::Code(1), "{set}: {verified:?}");
        // Another log takes events in the same commits.
        let test = case.organization.on(&server).test();
        assert_eq!(try_to_store(&test), 201, "{set}");
        // What was put back is what the service wrote.
        case.tamper(
            "UPDATE ledgers SET (size, last_event_id, last_received_at, frontier, lifecycle_seq, head_code) =
                (SELECT size, last_event_id, last_received_at, frontier, lifecycle_seq, head_code FROM saved WHERE saved.id = ledgers.id)
             WHERE HEAD",
        );
        assert_eq!(try_to_store(&project), 201, "{set}");
        assert_eq!(server.metric(FORGED), 0, "{set}");
    }
}

/// Heads that are not those of a log of any size.
const FORGERIES: [&str; 4] = [
    "head_code = NULL",
    "frontier = NULL",
    "size = size + 1",
    "size = -1",
];

fn a_key_is_revoked_while_no_log_of_its_project_takes_events(kind: DatabaseKind) {
    let environment = [("AUDIT_SELF_AUDIT", "on"), ("RUST_LOG", "warn")];
    let database = Database::create(kind);
    let server = Server::start(&database, &environment);
    for forgery in FORGERIES {
        for forged in ["environment = 'live'", "environment IN ('live', 'test')"] {
            let organization = Organization::create(&server, "enterprise");
            organization.test().store(event_with(json!({})));
            let (master, stolen) = (organization.master(), organization.create_key("live"));
            let second = master.post("/master-keys").json(json!({"name": "second"})).send();
            let second = format!(
                "/master-keys/{}",
                second.expect_status(201)["id"].as_str().expect("an id")
            );
            let alarms = server.metric("audit_log_alarms_total");
            let project = &organization.project_id;
            database.execute(&format!(
                "UPDATE ledgers SET {forgery} WHERE project_id = '{project}' AND {forged}"
            ));
            // What gives access has to wait.
            let body =
                json!({"project_id": project, "type": "project", "name": "another", "environment": "live"});
            master
                .post("/keys")
                .json(body)
                .send()
                .expect_error(503, "log_stopped");
            organization.revoke_key(&stolen);
            let refused = organization.with_credential(&stolen).get("/events").send();
            assert_eq!(refused.status(), 401, "{forgery}, {forged}");
            master.delete(&second).send().expect_status(200);
            // The thread that signs finds the head as well.
            assert!(
                server.metric("audit_log_alarms_total") >= alarms + 2,
                "{forgery}, {forged}"
            );
            let recorded = master
                .get("/events")
                .query("environment", "test")
                .query("tenant_id", "audit-server")
                .send();
            let recorded = recorded.list("events");
            let is_in_test = forged == "environment = 'live'";
            let actions: Vec<&str> = recorded
                .iter()
                .filter_map(|event| event["action"].as_str())
                .collect();
            let expected: &[&str] = match is_in_test {
                true => &["audit.master_key.revoked", "audit.api_key.revoked"],
                false => &[],
            };
            assert_eq!(actions, expected, "{forgery}, {forged}");
            assert!(
                recorded
                    .iter()
                    .all(|event| event["metadata"]["instead_of"] == "live"),
                "{recorded:?}"
            );
            let text = if is_in_test {
                "is in the log of test events"
            } else {
                "is in no log"
            };
            server.wait_for_log(text);
        }
    }
}

fn a_head_is_repaired_when_its_events_are_those_that_were_signed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    for set in CHANGES {
        let case = case.copy();
        change(&case, set);
        case.tamper("DELETE FROM log_tiles WHERE LEDGER");
        let repaired = repair(&case, &[]).success();
        assert!(
            repaired.contains("300 events, signed up to 300: repaired"),
            "{repaired}"
        );
        assert_eq!(
            case.database.count("log_repairs WHERE size = 300"),
            1,
            "it is recorded"
        );
        case.expect_sound();
        let (server, project) = case.start();
        store_events(&project, 3);
        stop(server);
        case.audit(&[]).success();
    }
    let nothing = repair(&case, &[]).success();
    assert!(nothing.contains("nothing to write again"), "{nothing}");
}

fn tiles_are_written_again_from_the_events_of_their_head(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let [other, short] = [256, 1].map(|hashes| case.database.blob(&vec![7; hashes * 32]));
    for edit in [
        format!("UPDATE log_tiles SET hashes = {other} WHERE LEDGER"),
        format!("UPDATE log_tiles SET hashes = {short} WHERE LEDGER"),
        "DELETE FROM log_tiles WHERE LEDGER".to_owned(),
        format!(
            "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) SELECT id, 0, 1, {other} FROM ledgers WHERE HEAD"
        ),
    ] {
        let case = case.copy();
        let (server, project) = case.start();
        case.tamper(&edit);
        // Also while the log grows, and what has grown is not signed yet.
        store_events(&project, 5);
        let repaired = repair(&case, &[]).success();
        assert!(
            repaired.contains("305 events, signed up to 30")
                && repaired.contains("repaired (not those of the events: tiles)"),
            "{edit}: {repaired}"
        );
        assert_eq!(case.database.count("log_repairs WHERE size = 305"), 1, "{edit}");
        let id = &case.ids[3];
        project
            .get(&format!("/events/{id}/proof"))
            .send()
            .expect_status(200);
        stop(server);
        case.expect_sound();
        assert!(repair(&case, &[]).success().contains("nothing to write again"));
    }
    // Not where the events are not those of the head: that is for `log verify`.
    let changed = case.database.blob(&[7; 32]);
    case.tamper(&format!(
        "UPDATE events SET content_hash = {changed} WHERE LEDGER AND seq = 17"
    ));
    case.tamper("DELETE FROM log_tiles WHERE LEDGER");
    assert!(repair(&case, &[]).success().contains("nothing to write again"));
}

fn a_head_is_not_repaired_when_its_events_were_changed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    super::careful::rewrite(&case, 270);
    for checkpoint in ["", "DELETE FROM log_checkpoints"] {
        case.database
            .execute(&format!("UPDATE ledgers SET day = day; {checkpoint}"));
        let refused = repair(&case, &["--accept-unsigned"]);
        assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
        assert!(
            refused.stdout.contains("are not those that were signed"),
            "{refused:?}"
        );
    }
    let (_server, project) = case.start();
    assert_eq!(try_to_store(&project), 503);
}

fn events_that_nobody_signed_are_accepted_on_demand_alone(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    case.tamper(&super::tampering::forgery(&case, super::EVENTS));
    if kind == DatabaseKind::Sqlite {
        case.tamper(&super::tampering::enlist(super::EVENTS));
    }
    change(&case, "size = 301");
    let refused = repair(&case, &[]);
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    assert!(
        refused.stdout.contains("events 300 to 300 are not signed"),
        "{refused:?}"
    );
    let accepted = repair(&case, &["--accept-unsigned"]).success();
    assert!(
        accepted.contains("301 events, signed up to 300: repaired"),
        "{accepted}"
    );
}

fn a_node_without_the_key_is_refused(kind: DatabaseKind) {
    let database = Database::create(kind);
    let folders = [(); 2].map(|()| temporary_directory("node-"));
    let [first, second] = folders
        .each_ref()
        .map(|folder| [(STATE_DIRECTORY, text_of(folder)), (KEY_FILE, "")]);
    let server = Server::start(&database, &first);
    let organization = Organization::create_with(&server, "enterprise", &first);
    store_events(&organization.project(), 2);
    let key = std::fs::read_dir(&folders[0])
        .expect("list the state directory")
        .map(|entry| entry.expect("list the state directory").path())
        .find(|path| path.extension().is_some_and(|extension| extension == "head-key"))
        .expect("the key's file");
    let mode = std::fs::metadata(&key)
        .expect("the key's file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let refusal = serve_refused(&database, &second);
    assert!(
        refusal.contains("does not have the key") && refusal.contains("AUDIT_ENCRYPTION_KEY"),
        "{refusal}"
    );
    let copy = folders[1].join(key.file_name().expect("a file has a name"));
    std::fs::copy(&key, copy).expect("copy the key");
    if kind == DatabaseKind::Postgres {
        let other = Server::start(&database, &second);
        store_events(&organization.on(&other).project(), 2);
        stop(other);
    }
    stop(server);
}

fn the_key_is_derived_from_the_encryption_key(kind: DatabaseKind) {
    let database = Database::create(kind);
    let folders = [(); 2].map(|()| temporary_directory("node-"));
    let [first, second] = folders.each_ref().map(|folder| {
        [
            (STATE_DIRECTORY, text_of(folder)),
            (KEY_FILE, ""),
            (ENCRYPTION, ENCRYPTION_KEY),
        ]
    });
    let server = Server::start(&database, &first);
    let organization = Organization::create_with(&server, "enterprise", &first);
    store_events(&organization.project(), 2);
    stop(server);
    let server = Server::start(&database, &second);
    store_events(&organization.on(&server).project(), 2);
    stop(server);
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("list the state directory"));
    let mut names = files.map(|entry| entry.expect("list the state directory").file_name());
    assert!(names.all(|name| !name.to_string_lossy().ends_with("head-key")));
}
