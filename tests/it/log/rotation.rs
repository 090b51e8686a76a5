//! Rotation of the signing key: statements of the keys, and those who follow them.

use super::{Case, STATE_DIRECTORY, audit, stop, store_events, text_of};
use audit_ledger::{KeyRotation, SignedCheckpoint, VerifierKey};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Finished, Organization, Server, Witness, command_line,
    command_line_on, command_line_with, on_both_databases, serve_refused, temporary_directory,
};
use std::path::{Path, PathBuf};

const ENCRYPTION: &str = "AUDIT_ENCRYPTION_KEY";
const ENCRYPTION_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

on_both_databases! {
    a_rotated_key_is_followed_by_all_who_know_the_first_one,
    logs_that_do_not_grow_are_signed_again_with_the_new_key,
    a_witness_follows_the_statements_with_its_state,
    the_database_alone_does_not_rotate_a_key,
    a_log_whose_key_was_removed_gets_no_other_one,
    a_plain_key_in_place_of_an_encrypted_one_is_refused,
}

/// A database with its own state directory.
struct Node {
    database: Database,
    memory: PathBuf,
}

impl Node {
    fn new(kind: DatabaseKind) -> Self {
        Self {
            database: Database::create(kind),
            memory: temporary_directory("memory-"),
        }
    }

    fn start(&self) -> Server {
        Server::start(&self.database, &[(STATE_DIRECTORY, text_of(&self.memory))])
    }

    fn log(&self, arguments: &[&str]) -> Finished {
        command_line_on(&self.database, &[&["log"], arguments].concat())
    }

    fn key(&self) -> String {
        self.log(&["key"]).success()
    }

    /// The file with the statements.
    fn rotations(&self) -> PathBuf {
        let path = temporary_directory("rotations-").join("rotations");
        let statements = self.log(&["key", "--rotations"]).success();
        std::fs::write(&path, format!("{statements}\n")).expect("write the statements");
        path
    }
}

fn text(client: &Client, path: &str) -> String {
    let response = client.get(path).send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    String::from_utf8(response.bytes).expect("UTF-8")
}

fn is_signed(note: &str, key: &str) -> bool {
    let key: VerifierKey = key.parse().expect("a key");
    SignedCheckpoint::open_of_owner(note, &key).is_ok()
}

fn receipt(client: &Client, id: &str) -> PathBuf {
    let path = temporary_directory("receipt-").join("event.tlog-proof");
    std::fs::write(&path, text(client, &format!("/events/{id}/receipt"))).expect("write the receipt");
    path
}

fn check(file: &Path, key: &str, more: &[&str]) -> Finished {
    command_line(&[&["check", text_of(file), "--key", key], more].concat())
}

fn a_rotated_key_is_followed_by_all_who_know_the_first_one(kind: DatabaseKind) {
    let node = Node::new(kind);
    let server = node.start();
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let id = store_events(&project, 3).remove(0);
    let (old, of_old) = (node.key(), receipt(&project, &id));
    assert_eq!(text(&project, "/log/key/rotations"), "");
    let state = temporary_directory("audit-").join("state");
    // The same command each time.
    let audited = |server: &Server, state: &Path| {
        audit(
            server.base_url(),
            &organization.project_key,
            state,
            &["--verifier-key", &old],
        )
    };
    audited(&server, &state).success();
    let before = temporary_directory("audit-").join("state");
    std::fs::copy(&state, &before).expect("copy the state");
    let nothing = node.log(&["rotate-key", "--retire"]);
    assert!(nothing.stderr.contains("no key is to be retired"), "{nothing:?}");
    let new = node.log(&["rotate-key"]).success();
    assert_ne!(new, old);
    assert_eq!(
        new.split('+').next(),
        old.split('+').next(),
        "the name is the same"
    );
    // A running server goes on with the old key.
    store_events(&project, 1);
    assert!(is_signed(&text(&project, "/log/checkpoint"), &old));
    stop(server);
    assert_eq!(node.key(), new);
    let again = node.log(&["rotate-key"]);
    assert!(
        again.stderr.contains("the key before this one still signs"),
        "{again:?}"
    );

    // Both sign.
    let server = node.start();
    let project = organization.on(&server).project();
    store_events(&project, 2);
    let note = text(&project, "/log/checkpoint");
    assert!(is_signed(&note, &old) && is_signed(&note, &new), "{note}");
    assert_eq!(text(&project, "/log/key").trim_end(), new);
    let shown = KeyRotation::open_all(&text(&project, "/log/key/rotations")).expect("statements");
    assert_eq!(shown.len(), 1);
    assert_eq!(
        (shown[0].old().to_string(), shown[0].new_key().to_string()),
        (old.clone(), new.clone())
    );
    assert!(
        audited(&server, &state)
            .success()
            .contains("6 events, 3 of them new")
    );
    assert!(std::fs::read_to_string(&state).expect("the state").contains(&new));
    stop(server);

    // The new one alone.
    assert_eq!(node.log(&["rotate-key", "--retire"]).success(), new);
    let server = node.start();
    let project = organization.on(&server).project();
    let id = store_events(&project, 1).remove(0);
    let note = text(&project, "/log/checkpoint");
    assert!(!is_signed(&note, &old) && is_signed(&note, &new), "{note}");
    for state in [&state, &before, &temporary_directory("audit-").join("state")] {
        assert!(audited(&server, state).success().contains("7 events"));
    }
    let rotations = node.rotations();
    let (of_new, followed) = (receipt(&project, &id), ["--rotations", text_of(&rotations)]);
    for (file, other) in [(&of_old, &new), (&of_new, &old)] {
        assert_eq!(check(file, other, &[]).exit, Exit::Code(1));
        for key in [&old, &new] {
            check(file, key, &followed).success();
        }
    }
    node.log(&["verify"]).success();
    node.log(&["verify", "--verifier-key", &old]).success();
    // A third key, and an auditor who missed the second one.
    stop(server);
    node.log(&["rotate-key"]).success();
    node.log(&["rotate-key", "--retire"]).success();
    let server = node.start();
    let late = temporary_directory("audit-").join("state");
    assert!(audited(&server, &late).success().contains("7 events"));
    assert!(audited(&server, &state).success().contains("7 events"));
    let compared = command_line(&["log", "compare", text_of(&state), text_of(&before)]);
    assert_eq!(compared.exit, Exit::Code(0), "{compared:?}");
}

fn logs_that_do_not_grow_are_signed_again_with_the_new_key(kind: DatabaseKind) {
    let node = Node::new(kind);
    let server = node.start();
    let organization = Organization::create(&server, "enterprise");
    let id = store_events(&organization.project(), 2).remove(0);
    let note = text(&organization.project(), "/log/checkpoint");
    stop(server);
    let new = node.log(&["rotate-key"]).success();
    node.log(&["rotate-key", "--retire"]).success();
    assert!(!is_signed(&note, &new));
    node.log(&["verify"]).success();
    let server = node.start();
    let project = organization.on(&server).project();
    let proof = project
        .get(&format!("/events/{id}/proof"))
        .send()
        .expect_status(200);
    assert!(
        is_signed(proof["checkpoint"].as_str().expect("a note"), &new),
        "{proof:?}"
    );
    let signed_again = text(&project, "/log/checkpoint");
    assert!(is_signed(&signed_again, &new));
    assert!(
        signed_again.lines().take(3).eq(note.lines().take(3)),
        "the same head"
    );
}

fn a_witness_follows_the_statements_with_its_state(kind: DatabaseKind) {
    let node = Node::new(kind);
    let (old, state) = (node.key(), temporary_directory("witness-"));
    let witness = Witness::start(&state, &[&old]);
    let policy = temporary_directory("policy-").join("policy");
    let serve = |witness: &Witness| {
        let text = format!("witness w {} {}\nquorum w\n", witness.key, witness.url);
        std::fs::write(&policy, text).expect("write the policy");
        let memory = (STATE_DIRECTORY, text_of(&node.memory));
        Server::start(&node.database, &[memory, ("AUDIT_POLICY", text_of(&policy))])
    };
    let has_quorum = |client: &Client, size: &str| {
        Deadline::seconds(60).poll("a quorum", || {
            let response = client.get("/log/checkpoint").send_raw();
            let note = String::from_utf8_lossy(&response.bytes).into_owned();
            (note.lines().nth(1) == Some(size) && response.header("log-quorum") == Some("true")).then_some(())
        });
    };
    let server = serve(&witness);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 2);
    has_quorum(&organization.project(), "2");
    stop(server);
    node.log(&["rotate-key"]).success();
    // Both keys sign: the witness needs to know nothing.
    let server = serve(&witness);
    let project = organization.on(&server).project();
    store_events(&project, 1);
    has_quorum(&project, "3");
    stop(server);
    witness.stop();
    node.log(&["rotate-key", "--retire"]).success();
    let rotations = node.rotations();
    let arguments = [
        Witness::arguments(&state, &[&old]),
        vec!["--rotations", text_of(&rotations)],
    ]
    .concat();
    let witness = Witness::start_with(&arguments);
    let server = serve(&witness);
    let project = organization.on(&server).project();
    store_events(&project, 1);
    has_quorum(&project, "4");
}

fn the_database_alone_does_not_rotate_a_key(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    let key = command_line_on(&case.database, &["log", "key"]).success();
    let memory = [(STATE_DIRECTORY, text_of(&case.memory))];
    let seed = |byte: u8| case.database.blob(&[&[0], [byte; 32].as_slice()].concat());
    // A key of the attacker.
    let replaced = case.copy();
    replaced.tamper(&format!(
        "UPDATE secrets SET secret = {} WHERE name = 'log_key'",
        seed(7)
    ));
    let of_replaced = [(STATE_DIRECTORY, text_of(&replaced.memory))];
    let refused = serve_refused(&replaced.database, &of_replaced);
    assert!(refused.contains("it was replaced"), "{refused}");
    // A statement that the old key has not signed.
    let name = key.split('+').next().expect("a name");
    let attacker =
        audit_ledger::SigningKey::from_seed(audit_ledger::KeyName::parse(name).expect("a name"), &[7; 32]);
    let attacker = attacker.expect("a key");
    let other =
        audit_ledger::SigningKey::from_seed(attacker.verifier().name().clone(), &[8; 32]).expect("a key");
    let genuine = other.rotate_to(&attacker).expect("a statement");
    let forged = genuine.note().replace(&other.verifier().to_string(), &key);
    for statement in [forged.as_str(), genuine.note()] {
        let replaced = replaced.copy();
        let statement = replaced.database.blob(statement.as_bytes());
        replaced.tamper(&format!(
            "INSERT INTO secrets (name, secret, created_at) VALUES ('log_key_rotations', {statement}, 0)"
        ));
        let memory = [(STATE_DIRECTORY, text_of(&replaced.memory))];
        serve_refused(&replaced.database, &memory);
    }
    // Nor do auditors follow, where the attacker has the files of the server as well.
    let statement = replaced.database.blob(genuine.note().as_bytes());
    replaced.tamper(&format!(
        "INSERT INTO secrets (name, secret, created_at) VALUES ('log_key_rotations', {statement}, 0); \
         DELETE FROM log_checkpoints WHERE LEDGER"
    ));
    super::assert_wrong(&replaced.forget().audit(&[]), "not signed by a known key");
    // The unchanged database starts.
    stop(Server::start(&case.database, &memory));
}

fn a_log_whose_key_was_removed_gets_no_other_one(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    case.tamper("DELETE FROM secrets WHERE name = 'log_key'");
    let (server, _) = case.start();
    let audited = audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &[],
    );
    super::assert_wrong(&audited, "500 the log contradicts its signed checkpoint");
    let log = stop(server);
    assert!(
        log.contains("the log's key was removed from the database"),
        "{log}"
    );
    let verified = super::verify(&case.database);
    assert_eq!(verified.exit, Exit::Code(1), "{verified:?}");
    assert!(
        verified.stdout.contains("the log's key was removed"),
        "{verified:?}"
    );
    assert_eq!(case.database.count("secrets WHERE name = 'log_key'"), 0);
}

fn a_plain_key_in_place_of_an_encrypted_one_is_refused(kind: DatabaseKind) {
    let database = Database::create(kind);
    let encrypted = [(ENCRYPTION, ENCRYPTION_KEY)];
    let server = Server::start(&database, &encrypted);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 2);
    text(&organization.project(), "/log/checkpoint");
    stop(server);
    let plain = database.blob(&[&[0], [7; 32].as_slice()].concat());
    database.execute(&format!(
        "UPDATE secrets SET secret = {plain} WHERE name = 'log_key'"
    ));
    let refused = serve_refused(&database, &encrypted);
    assert!(refused.contains("not encrypted"), "{refused}");
    assert_eq!(refused.lines().count(), 1, "{refused}");
    // A key from before there was an encryption key is encrypted, or replaced by an encrypted one.
    let database = Database::create(kind);
    let plain = command_line_on(&database, &["log", "key"]).success();
    let refused = serve_refused(&database, &encrypted);
    assert!(refused.contains("secrets rewrap --seal-plain"), "{refused}");
    let run = |arguments: &[&str]| {
        let arguments = [arguments, &["--database-url", database.url()]].concat();
        command_line_with(&arguments, &encrypted).success()
    };
    assert_ne!(run(&["log", "rotate-key"]), plain);
    let sealed = run(&["secrets", "rewrap", "--seal-plain"]);
    assert!(!sealed.contains("signing key"), "it was replaced: {sealed}");
    stop(Server::start(&database, &encrypted));
}
