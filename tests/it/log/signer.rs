//! Attacks on the signer by those who can write to the database and have neither the signing key nor the files of the servers:
//! nothing is signed that does not continue what was signed before.

use super::careful::rewrite;
use super::{
    Case, RESTORE_HEAD, STATE_DIRECTORY, audit, delete, id_bytes, quoted, stop, store_events, text_of,
};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, command_line_with, event_with,
    on_both_databases, serve_refused, temporary_directory,
};
use serde_json::json;

/// The metric of logs that do not continue their checkpoint.
const INCONSISTENT: &str = "audit_logs_inconsistent";
/// The metric of the times at which one was found.
const ALARMS: &str = "audit_log_alarms_total";

on_both_databases! {
    a_made_up_log_is_not_signed_under_the_name_of_another_one,
    without_its_checkpoint_a_rewritten_log_is_not_signed,
    a_checkpoint_that_was_removed_is_published_again,
    an_older_checkpoint_is_replaced_by_the_latest,
    the_size_beside_a_checkpoint_is_not_believed,
    rows_behind_the_edge_are_never_signed,
    a_planted_tile_does_not_keep_a_log_from_being_signed,
    a_changed_tile_does_not_keep_a_log_from_being_signed,
    what_was_acknowledged_while_a_log_could_not_be_signed_is_not_taken_away,
    a_log_that_is_not_signed_in_time_takes_no_events_until_it_is,
    a_log_that_lost_signed_events_soon_takes_none,
    two_servers_do_not_share_a_state_directory,
    a_damaged_state_file_is_refused,
}

fn checkpoint(client: &Client) -> String {
    let response = client.get("/log/checkpoint").send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    String::from_utf8(response.bytes).expect("a note in UTF-8")
}

/// SQL that gives the live ledger of one project the name of another one's, which gets the first one's.
fn exchange_names(database: &Database, one: &str, other: &str) {
    database.execute(&format!(
        "BEGIN;
         UPDATE ledgers SET environment = 'moved' WHERE project_id = '{one}' AND environment = 'live';
         UPDATE ledgers SET project_id = '{one}' WHERE project_id = '{other}' AND environment = 'live';
         UPDATE ledgers SET project_id = '{other}', environment = 'live' WHERE environment = 'moved';
         COMMIT"
    ));
}

fn a_made_up_log_is_not_signed_under_the_name_of_another_one(kind: DatabaseKind) {
    let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
    let environment = [(STATE_DIRECTORY, text_of(&memory))];
    let server = Server::start(&database, &environment);
    let victim = Organization::create(&server, "enterprise");
    let attacker = Organization::create(&server, "enterprise");
    store_events(&victim.project(), 5);
    store_events(&attacker.project(), 60);
    let before = checkpoint(&victim.project());
    checkpoint(&attacker.project());
    let state = temporary_directory("audit-").join("state");
    let audited = |server: &Server| audit(server.base_url(), &victim.project_key, &state, &[]);
    audited(&server).success();
    let ids = [&victim.project_id, &attacker.project_id];
    let forged = format!(
        "log_checkpoints WHERE note LIKE '%/{}/live%' AND note NOT LIKE {}",
        victim.project_id,
        quoted(&before)
    );
    // While the server runs: the made-up log grows, so it is signed.
    exchange_names(&database, ids[0], ids[1]);
    database.execute("DELETE FROM log_checkpoints");
    let refused = attacker.project().post("/events").json(event_with(json!({})));
    refused.send().expect_error(503, "log_stopped");
    attacker.project().get("/log/checkpoint").send_raw();
    assert_eq!(database.count(&forged), 0);
    let shown = victim.project().get("/log/checkpoint").send_raw();
    assert_eq!(String::from_utf8(shown.bytes).expect("a note"), before);
    // While it does not: a server signs at its start what it finds unsigned.
    stop(server);
    database.execute("DELETE FROM log_checkpoints");
    let server = Server::start(&database, &environment);
    server.wait_for_metric(ALARMS, 1);
    assert_eq!(database.count(&forged), 0);
    stop(server);
    exchange_names(&database, ids[0], ids[1]);
    let server = Server::start(&database, &environment);
    let project = victim.on(&server).project();
    assert_eq!(checkpoint(&project), before);
    project.store(event_with(json!({})));
    assert!(checkpoint(&project).contains("\n6\n"));
    audited(&server).success();
}

fn without_its_checkpoint_a_rewritten_log_is_not_signed(kind: DatabaseKind) {
    for is_running in [true, false] {
        let case = Case::fresh(kind);
        let running = is_running.then(|| case.start());
        rewrite(&case, 17);
        case.tamper("DELETE FROM log_checkpoints WHERE LEDGER");
        let (server, project) = running.unwrap_or_else(|| case.start());
        let shown = checkpoint(&project);
        let known = std::fs::read_to_string(&case.state).expect("the state of the audit");
        let known: serde_json::Value = serde_json::from_str(&known).expect("JSON");
        assert_eq!(known["checkpoint"], *shown, "no other root of this size");
        // Nor does it take events.
        let refused = project.post("/events").json(event_with(json!({}))).send();
        refused.expect_error(503, "log_stopped");
        assert_eq!(checkpoint(&project), shown);
        assert_eq!(server.metric(INCONSISTENT), 1);
        let ready = server.client().request("GET", "/readyz").send();
        assert_eq!(ready.expect_status(200)["logs_inconsistent"], 1);
        let again = server.client().request("GET", "/readyz").send();
        assert_eq!(again.status(), 200, "other logs are served");
    }
}

fn a_checkpoint_that_was_removed_is_published_again(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    case.tamper("DELETE FROM log_checkpoints WHERE LEDGER");
    let (server, project) = case.start();
    let shown = checkpoint(&project);
    assert!(shown.contains("\n300\n"), "{shown}");
    let own = format!("log_checkpoints WHERE note = {}", quoted(&shown));
    Deadline::seconds(60).poll("the checkpoint", || {
        (case.database.count(&own) == 1).then_some(())
    });
    assert_eq!(server.metric(INCONSISTENT), 0);
    assert!(server.metric(ALARMS) >= 1, "{}", server.stderr());
    // A note of another log in its place is no checkpoint either.
    case.tamper("UPDATE log_checkpoints SET note = replace(note, '/live', '/test') WHERE LEDGER");
    store_events(&project, 10);
    assert!(checkpoint(&project).contains("\n310\n"));
    stop(server);
    case.expect_sound();
    case.audit(&[]).success();
}

fn an_older_checkpoint_is_replaced_by_the_latest(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let (server, project) = case.start();
    for copy in [
        "saved_checkpoints AS SELECT * FROM log_checkpoints",
        "saved_heads AS SELECT * FROM ledgers",
    ] {
        case.database.execute(&format!("CREATE TABLE {copy}"));
    }
    store_events(&project, 10);
    let latest = checkpoint(&project);
    assert!(latest.contains("\n310\n"), "{latest}");
    let older = "DELETE FROM log_checkpoints; INSERT INTO log_checkpoints SELECT * FROM saved_checkpoints";
    case.database.execute(older);
    assert_eq!(checkpoint(&project), latest);
    stop(server);
    // The log is cut off, so that the older checkpoint is that of the whole log.
    case.tamper(&delete(kind, "seq >= 300"))
        .tamper(RESTORE_HEAD)
        .database
        .execute(older);
    case.expect_sound();
    let (server, project) = case.start();
    assert_eq!(checkpoint(&project), latest);
    server.wait_for_metric(INCONSISTENT, 1);
}

fn the_size_beside_a_checkpoint_is_not_believed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let (server, project) = case.start();
    case.tamper("UPDATE log_checkpoints SET size = 1000000 WHERE LEDGER");
    let id = project.store(event_with(json!({})));
    assert!(checkpoint(&project).contains("\n301\n"));
    let proof = || project.get(&format!("/events/{id}/proof")).send();
    proof().expect_status(200);
    stop(server);
    // Nor by the search for logs that nobody signed.
    case.tamper("UPDATE log_checkpoints SET size = 301 WHERE LEDGER")
        .database
        .execute("UPDATE log_checkpoints SET note = replace(note, '\n301\n', '\n299\n')");
    let (server, project) = case.start();
    let unsigned = "log_checkpoints WHERE note LIKE '%\n301\n%'";
    Deadline::seconds(60).poll("a checkpoint", || {
        (case.database.count(unsigned) == 1).then_some(())
    });
    assert!(checkpoint(&project).contains("\n301\n"));
    drop(server);
    case.expect_sound();
}

fn rows_behind_the_edge_are_never_signed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    // With the size of the ledger, or with a tree that has to be built again.
    for head in ["size = 301", "size = 301, frontier = NULL"] {
        let case = case.copy();
        case.tamper(&super::tampering::forgery(&case, super::EVENTS))
            .tamper(&format!("UPDATE ledgers SET {head} WHERE HEAD"))
            .tamper("DELETE FROM log_checkpoints WHERE LEDGER");
        if kind == DatabaseKind::Sqlite {
            case.tamper(&super::tampering::enlist(super::EVENTS));
        }
        case.forget();
        let (server, _) = case.start();
        server.wait_for_metric(INCONSISTENT, 1);
        for size in [301, 302] {
            let signed = format!("log_checkpoints WHERE note LIKE '%/live\n{size}\n%'");
            assert_eq!(case.database.count(&signed), 0, "{head}");
        }
    }
}

/// The number of events that the latest checkpoint covers.
fn signed_size(client: &Client) -> usize {
    let note = checkpoint(client);
    let size = note.lines().nth(1).and_then(|size| size.parse().ok());
    size.expect("a checkpoint has a size")
}

/// The first step of an attack: events of a log that is not signed have no proof, and can be removed.
fn a_planted_tile_does_not_keep_a_log_from_being_signed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let (server, project) = case.start();
    let planted = case.database.blob(&[7; 256 * 32]);
    case.tamper(&format!(
        "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes) SELECT id, 0, 1, {planted} FROM ledgers WHERE HEAD"
    ));
    store_events(&project, 300);
    server.wait_for_log("another tile/0/001 of the ledger");
    assert_eq!(signed_size(&project), super::EVENTS + 300);
    assert_eq!((server.metric(INCONSISTENT), server.metric(ALARMS)), (0, 1));
    audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &[],
    )
    .success();
    stop(server);
    case.expect_sound();
}

fn a_changed_tile_does_not_keep_a_log_from_being_signed(kind: DatabaseKind) {
    for edit in [
        "UPDATE log_tiles SET hashes = TILE WHERE LEDGER",
        "DELETE FROM log_tiles WHERE LEDGER",
    ] {
        let case = Case::fresh(kind);
        case.tamper(&edit.replace("TILE", &case.database.blob(&[7; 256 * 32])));
        let (server, project) = case.start();
        store_events(&project, 5);
        assert_eq!(signed_size(&project), super::EVENTS + 5, "{edit}");
        assert_eq!(server.metric(INCONSISTENT), 0, "{edit}");
        stop(server);
        let findings = case.findings();
        let problem = findings[0]["problem"].as_str().unwrap_or_default();
        assert!(problem.contains("tile"), "{findings:?}");
    }
}

/// SQL after which the content hashes of new events are not theirs, and SQL that ends it.
fn wrong_hashes(kind: DatabaseKind) -> [&'static str; 2] {
    match kind {
        DatabaseKind::Sqlite => [
            "CREATE TRIGGER wrong AFTER INSERT ON events BEGIN
                 UPDATE events SET content_hash = zeroblob(32) WHERE entry = NEW.entry;
             END",
            "DROP TRIGGER wrong",
        ],
        DatabaseKind::Postgres => [
            "CREATE FUNCTION wrong() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN NEW.content_hash = decode(repeat('00', 32), 'hex'); RETURN NEW; END $$;
             CREATE TRIGGER wrong BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION wrong()",
            "DROP TRIGGER wrong ON events",
        ],
    }
}

/// The attack: a log is kept from being signed, its unsigned events are removed, and the head of the last signature, which the
/// service wrote, is put back. The server signed on, and nothing was left of events that it had acknowledged.
fn what_was_acknowledged_while_a_log_could_not_be_signed_is_not_taken_away(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let [begin, end] = wrong_hashes(kind);
    let (server, project) = case.start();
    case.tamper("CREATE TABLE saved_heads AS SELECT * FROM ledgers");
    case.database.execute(begin);
    store_events(&project, 5);
    server.wait_for_metric(INCONSISTENT, 1);
    case.database.execute(end);
    let unsigned = format!("seq >= {}", super::EVENTS);
    case.tamper(&delete(kind, &unsigned)).tamper(RESTORE_HEAD);
    // Nothing is appended to what is left.
    for _ in 0..3 {
        assert_eq!(signed_size(&project), super::EVENTS);
        expect_stopped(&project);
    }
    assert_eq!(server.metric(INCONSISTENT), 1);
    stop(server);
    let arguments = ["log", "verify", "--database-url", case.database.url()];
    let verified = command_line_with(&arguments, &[(STATE_DIRECTORY, text_of(&case.memory))]);
    assert_eq!(verified.exit, Exit::Code(1), "{verified:?}");
    assert!(verified.stdout.contains("they were acknowledged"), "{verified:?}");
    let (_server, project) = case.start();
    expect_stopped(&project);
    assert_eq!(signed_size(&project), super::EVENTS);
}

/// The project's log takes no events.
fn expect_stopped(project: &Client) {
    let refused = project.post("/events").json(event_with(json!({}))).send();
    refused.expect_error(503, "log_stopped");
}

/// Events that are not signed have no proof, and the same attack takes them away. So there are not many of them.
fn a_log_that_is_not_signed_in_time_takes_no_events_until_it_is(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let environment = [
        (STATE_DIRECTORY, text_of(&case.memory)),
        ("AUDIT_UNSIGNED_SECONDS_MAX", "1"),
    ];
    let start = || {
        let server = Server::start(&case.database, &environment);
        let project = case.organization.on(&server).project();
        (server, project)
    };
    let [begin, end] = wrong_hashes(kind);
    let (server, project) = start();
    case.database.execute(begin);
    store_events(&project, 1);
    let refused = Deadline::seconds(60).poll("a log that takes no events", || {
        let response = project.post("/events").json(event_with(json!({}))).send();
        (response.status() != 201).then_some(response)
    });
    assert_eq!(refused.header("retry-after"), Some("30"));
    refused.expect_error(503, "log_stopped");
    // Other logs go on, and it is remembered that this one does not.
    let other = Organization::create(&server, "enterprise").project();
    case.database.execute(end);
    store_events(&other, 1);
    stop(server);
    let (server, project) = start();
    server.wait_for_metric(INCONSISTENT, 1);
    expect_stopped(&project);
    // The operator puts the content hashes back.
    for event in project.pages(&[("limit", "200")]).concat() {
        let id = id_bytes(event["id"].as_str().expect("an id"));
        let (id, hash) = (case.database.blob(&id), case.hash_literal(&event));
        case.tamper(&format!(
            "UPDATE events SET content_hash = {hash} WHERE LEDGER AND id = {id}"
        ));
    }
    assert!(signed_size(&project) > super::EVENTS);
    store_events(&project, 1);
    stop(server);
    case.expect_sound();
}

/// An older head is one that the service wrote, and fits the rows that are left.
fn a_log_that_lost_signed_events_soon_takes_none(kind: DatabaseKind) {
    for (case, is_running) in [
        (Case::fresh(kind), true),
        (Case::fresh(kind), false),
        (Case::empty(kind), false),
    ] {
        let environment = [
            (STATE_DIRECTORY, text_of(&case.memory)),
            ("AUDIT_UNSIGNED_SECONDS_MAX", "1"),
        ];
        let start = || {
            let server = Server::start(&case.database, &environment);
            let project = case.organization.on(&server).project();
            (server, project)
        };
        let (server, project) = start();
        case.tamper("CREATE TABLE saved_heads AS SELECT * FROM ledgers");
        let first = case.ids.len();
        store_events(&project, 5);
        assert_eq!(signed_size(&project), first + 5);
        let running = match is_running {
            true => Some((server, project)),
            false => {
                stop(server);
                None
            }
        };
        let lost = format!("seq >= {first}");
        case.tamper(&delete(kind, &lost)).tamper(RESTORE_HEAD);
        let (server, project) = running.unwrap_or_else(start);
        Deadline::seconds(60).poll("a log that takes no events", || {
            let response = project.post("/events").json(event_with(json!({}))).send();
            (response.status() == 503).then_some(())
        });
        expect_stopped(&project);
        server.wait_for_metric(INCONSISTENT, 1);
        assert_eq!(signed_size(&project), first + 5, "nothing else is signed");
    }
}

fn two_servers_do_not_share_a_state_directory(kind: DatabaseKind) {
    let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
    let environment = [(STATE_DIRECTORY, text_of(&memory))];
    let server = Server::start(&database, &environment);
    let refusal = serve_refused(&database, &environment);
    assert!(refusal.contains("in use by another server"), "{refusal}");
    stop(server);
    stop(Server::start(&database, &environment));
}

fn a_damaged_state_file_is_refused(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let file = std::fs::read_dir(&case.memory)
        .expect("list the state directory")
        .map(|entry| entry.expect("list the state directory").path())
        .find(|path| path.extension().is_some_and(|extension| extension == "signed"))
        .expect("the state file");
    std::fs::write(&file, "nonsense\n").expect("damage the state file");
    let refusal = serve_refused(&case.database, &[(STATE_DIRECTORY, text_of(&case.memory))]);
    assert!(refusal.contains("damaged in line 1"), "{refusal}");
}
