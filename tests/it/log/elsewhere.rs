//! A signing key that is not in the database: OpenSSL signs with it.

use super::{stop, store_events, text_of};
use audit_ledger::{SignedAnchor, SignedCheckpoint, SignedTenantMap, VerifierKey};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, SoftHsm, command_line_on,
    on_both_databases, serve_refused, temporary_directory,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const COMMAND: &str = "AUDIT_LOG_KEY_COMMAND";
const PUBLIC_KEY: &str = "AUDIT_LOG_PUBLIC_KEY";
const COMMAND_BEFORE: &str = "AUDIT_LOG_KEY_COMMAND_BEFORE";
const PUBLIC_KEY_BEFORE: &str = "AUDIT_LOG_PUBLIC_KEY_BEFORE";

on_both_databases! {
    checkpoints_are_signed_by_a_program,
    a_program_that_fails_or_has_another_key_signs_nothing,
    anchors_and_maps_are_signed_by_the_program,
    a_key_of_a_program_is_followed_by_that_of_another_one,
    a_stored_key_is_followed_by_that_of_a_program_and_the_other_way_round,
    a_key_in_an_hsm_signs,
}

/// A key of OpenSSL, and the command that signs with it. While the file `locked` exists, it fails.
struct Program {
    folder: PathBuf,
    command: String,
    public_key: String,
}

impl Program {
    fn new() -> Self {
        let folder = temporary_directory("program-");
        let key = folder.join("key.pem");
        openssl(&["genpkey", "-algorithm", "ed25519", "-out", text_of(&key)]);
        let public = openssl(&["pkey", "-in", text_of(&key), "-pubout", "-outform", "DER"]).stdout;
        let public_key = public[public.len() - 32..]
            .iter()
            .map(|byte| format!("{byte:02x}"));
        let shown = text_of(&folder);
        Self {
            command: format!(
                "sh -c 'T=$(mktemp {shown}/XXXXXX) && cat > $T && test ! -e {shown}/locked && \
                 openssl pkeyutl -sign -inkey {shown}/key.pem -rawin -in $T'"
            ),
            public_key: public_key.collect(),
            folder,
        }
    }

    fn environment(&self) -> [(&str, &str); 2] {
        [(COMMAND, &self.command), (PUBLIC_KEY, &self.public_key)]
    }

    /// The same for the key before the present one.
    fn environment_before(&self) -> [(&str, &str); 2] {
        [
            (COMMAND_BEFORE, &self.command),
            (PUBLIC_KEY_BEFORE, &self.public_key),
        ]
    }

    /// Options of `log rotate-key`.
    fn as_new(&self) -> [&str; 4] {
        [
            "--log-key-command",
            &self.command,
            "--log-public-key",
            &self.public_key,
        ]
    }

    fn as_before(&self) -> [&str; 4] {
        [
            "--log-key-command-before",
            &self.command,
            "--log-public-key-before",
            &self.public_key,
        ]
    }

    fn lock(&self, is_locked: bool) {
        let path = self.folder.join("locked");
        let changed = match is_locked {
            true => std::fs::write(path, "locked"),
            false => std::fs::remove_file(path),
        };
        changed.expect("lock the program");
    }
}

fn openssl(arguments: &[&str]) -> Output {
    let output = Command::new("openssl")
        .args(arguments)
        .output()
        .expect("run openssl");
    assert!(output.status.success(), "{output:?}");
    output
}

fn checkpoint(client: &Client) -> Option<String> {
    let response = client.get("/log/checkpoint").send_raw();
    match response.status {
        200 => Some(String::from_utf8(response.bytes).expect("UTF-8")),
        status => {
            assert_eq!(status, 503, "{response:?}");
            None
        }
    }
}

fn checkpoints_are_signed_by_a_program(kind: DatabaseKind) {
    let (database, program) = (Database::create(kind), Program::new());
    let server = Server::start(&database, &program.environment());
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    store_events(&project, 3);
    let note = checkpoint(&project).expect("a checkpoint");
    let key = command_line_on(&database, &["log", "key"]).success();
    let key: VerifierKey = key.parse().expect("a key");
    let public: String = key
        .public_key()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(public, program.public_key);
    let signed = SignedCheckpoint::open_of_owner(&note, &key).expect("a signed checkpoint");
    assert_eq!(signed.head().size, 3);
    // While the program does not sign, events are stored, and nothing is lost.
    program.lock(true);
    store_events(&project, 2);
    assert_eq!(checkpoint(&project), None);
    assert_eq!(server.metric("audit_logs_inconsistent"), 0);
    assert_eq!(project.count(), 5);
    program.lock(false);
    let note = Deadline::seconds(60).poll("a signature", || checkpoint(&project));
    assert_eq!(note.lines().nth(1), Some("5"));
    let state = temporary_directory("audit-").join("state");
    super::audit(server.base_url(), &organization.project_key, &state, &[]).success();
    stop(server);
    command_line_on(&database, &["log", "verify"]).success();
    let rotated = command_line_on(&database, &["log", "rotate-key"]);
    assert!(
        rotated
            .stderr
            .contains("with the program that has it, --log-key-command-before"),
        "{rotated:?}"
    );
}

fn a_program_that_fails_or_has_another_key_signs_nothing(kind: DatabaseKind) {
    let (database, program, other) = (Database::create(kind), Program::new(), Program::new());
    for (environment, reason) in [
        (
            vec![
                (COMMAND, "sh -c 'exit 3'"),
                (PUBLIC_KEY, program.public_key.as_str()),
            ],
            "exit status: 3",
        ),
        (
            vec![(COMMAND, "cat"), (PUBLIC_KEY, program.public_key.as_str())],
            "no signature",
        ),
        (
            vec![(COMMAND, program.command.as_str()), (PUBLIC_KEY, "00")],
            "must be 32 bytes",
        ),
        (
            vec![
                (COMMAND, program.command.as_str()),
                (PUBLIC_KEY, other.public_key.as_str()),
            ],
            "another key",
        ),
        (vec![(COMMAND, program.command.as_str())], "--log-public-key"),
    ] {
        let refused = serve_refused(&database, &environment);
        assert!(refused.contains(reason), "{reason:?} in {refused}");
    }
    let server = Server::start(&database, &program.environment());
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 1);
    assert!(checkpoint(&organization.project()).is_some());
    stop(server);
    // Afterwards only a server with this program starts.
    let refused = serve_refused(&database, &other.environment());
    assert!(
        refused.contains("is not the signing key of this database"),
        "{refused}"
    );
    let refused = serve_refused(&database, &[]);
    assert!(refused.contains("there is no --log-key-command"), "{refused}");
    stop(Server::start(&database, &program.environment()));
    let stored = Database::create(kind);
    command_line_on(&stored, &["log", "key"]).success();
    let refused = serve_refused(&stored, &program.environment());
    assert!(refused.contains("that is for a new deployment"), "{refused}");
}

fn verifier(key: &str) -> VerifierKey {
    key.parse().expect("a key")
}

fn is_signed(note: &str, key: &str) -> bool {
    SignedCheckpoint::open_of_owner(note, &verifier(key)).is_ok()
}

/// The anchor that a server makes when it starts.
fn first_anchor(directory: &Path) -> String {
    Deadline::seconds(60).poll("an anchor", || {
        let mut files = std::fs::read_dir(directory).expect("list a directory");
        let file = files.find_map(|file| {
            Some(file.ok()?.path()).filter(|path| path.extension() == Some("anchor".as_ref()))
        });
        std::fs::read_to_string(file?).ok()
    })
}

/// A server with this key signs checkpoints, anchors and maps of tenants with it.
fn assert_everything_is_signed(database: &Database, environment: &[(&str, &str)]) {
    let directory = temporary_directory("anchors-");
    let anchors = ("AUDIT_ANCHOR_DIRECTORY", text_of(&directory));
    let server = Server::start(database, &[environment, &[anchors]].concat());
    let project = Organization::create(&server, "enterprise").project();
    store_events(&project, 3);
    let key = command_line_on(database, &["log", "key"]).success();
    let note = checkpoint(&project).expect("a checkpoint");
    assert!(is_signed(&note, &key), "{note}");
    let anchor = first_anchor(&directory);
    assert!(SignedAnchor::open(&anchor, &[verifier(&key)]).is_ok(), "{anchor}");
    let map = project.get("/log/tenants").send().expect_status(200);
    let map = map["map"].as_str().expect("a map").to_owned();
    assert!(SignedTenantMap::open(&map, &[verifier(&key)]).is_ok(), "{map}");
    stop(server);
}

fn anchors_and_maps_are_signed_by_the_program(kind: DatabaseKind) {
    let (database, program) = (Database::create(kind), Program::new());
    assert_everything_is_signed(&database, &program.environment());
}

fn a_key_of_a_program_is_followed_by_that_of_another_one(kind: DatabaseKind) {
    let (database, one, two) = (Database::create(kind), Program::new(), Program::new());
    let log = |arguments: &[&str]| command_line_on(&database, &[&["log"], arguments].concat());
    let server = Server::start(&database, &one.environment());
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 2);
    let state = temporary_directory("audit-").join("state");
    let audited = |server: &Server, old: &str| {
        let more = ["--verifier-key", old];
        super::audit(server.base_url(), &organization.project_key, &state, &more).success()
    };
    let old = log(&["key"]).success();
    audited(&server, &old);
    stop(server);
    // The old key signs, or nothing happens.
    let without = log(&[&["rotate-key"], &two.as_new()[..]].concat());
    assert!(without.stderr.contains("--log-key-command-before"), "{without:?}");
    assert_eq!(log(&["key"]).success(), old);
    let rotate = [&["rotate-key"], &two.as_new()[..], &one.as_before()].concat();
    let new = log(&rotate).success();
    assert_ne!(new, old);
    let refused = serve_refused(&database, &two.environment());
    assert!(refused.contains("it needs --log-key-command-before"), "{refused}");
    // Both sign.
    let both = [two.environment(), one.environment_before()].concat();
    let server = Server::start(&database, &both);
    let project = organization.on(&server).project();
    store_events(&project, 1);
    let note = checkpoint(&project).expect("a checkpoint");
    assert!(is_signed(&note, &old) && is_signed(&note, &new), "{note}");
    audited(&server, &old);
    stop(server);
    // The new one alone.
    log(&["rotate-key", "--retire"]).success();
    let server = Server::start(&database, &two.environment());
    let project = organization.on(&server).project();
    store_events(&project, 1);
    let note = checkpoint(&project).expect("a checkpoint");
    assert!(!is_signed(&note, &old) && is_signed(&note, &new), "{note}");
    assert!(audited(&server, &old).contains("4 events"));
    stop(server);
    log(&["verify", "--verifier-key", &old]).success();
}

fn a_stored_key_is_followed_by_that_of_a_program_and_the_other_way_round(kind: DatabaseKind) {
    let (database, program) = (Database::create(kind), Program::new());
    let log = |arguments: &[&str]| command_line_on(&database, &[&["log"], arguments].concat());
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 2);
    stop(server);
    let stored = log(&["key"]).success();
    let signed_by = |environment: &[(&str, &str)], keys: [&str; 2]| {
        let server = Server::start(&database, environment);
        let project = organization.on(&server).project();
        store_events(&project, 1);
        let note = checkpoint(&project).expect("a checkpoint");
        stop(server);
        keys.iter().all(|key| is_signed(&note, key))
    };
    let elsewhere = log(&[&["rotate-key"], &program.as_new()[..]].concat()).success();
    assert!(signed_by(&program.environment(), [&stored, &elsewhere]));
    log(&["rotate-key", "--retire"]).success();
    let again = log(&[&["rotate-key"], &program.as_before()[..]].concat()).success();
    assert!(signed_by(&program.environment_before(), [&elsewhere, &again]));
    log(&["rotate-key", "--retire"]).success();
    assert!(signed_by(&[], [&again, &again]));
    log(&["verify", "--verifier-key", &stored]).success();
}

/// A token of SoftHSM: no program can read the key.
fn a_key_in_an_hsm_signs(kind: DatabaseKind) {
    let Some(hsm) = SoftHsm::create() else { return };
    let (database, one, two) = (Database::create(kind), hsm.key("01"), hsm.key("02"));
    let environment = [
        (COMMAND, one.command.as_str()),
        (PUBLIC_KEY, one.public_key.as_str()),
    ];
    assert_everything_is_signed(&database, &environment);
    // The next key is in the token as well.
    let rotate = [
        "log",
        "rotate-key",
        "--log-key-command",
        &two.command,
        "--log-public-key",
        &two.public_key,
        "--log-key-command-before",
        &one.command,
        "--log-public-key-before",
        &one.public_key,
    ];
    let new = command_line_on(&database, &rotate).success();
    command_line_on(&database, &["log", "rotate-key", "--retire"]).success();
    let environment = [
        (COMMAND, two.command.as_str()),
        (PUBLIC_KEY, two.public_key.as_str()),
    ];
    let server = Server::start(&database, &environment);
    let project = Organization::create(&server, "enterprise").project();
    store_events(&project, 1);
    let note = checkpoint(&project).expect("a checkpoint");
    assert!(is_signed(&note, &new), "{note}");
    stop(server);
}

#[test]
fn the_private_key_is_not_in_the_database() {
    let (database, program) = (Database::create(DatabaseKind::Sqlite), Program::new());
    let server = Server::start(&database, &program.environment());
    store_events(&Organization::create(&server, "enterprise").project(), 1);
    stop(server);
    let seed = openssl(&[
        "pkey",
        "-in",
        text_of(&program.folder.join("key.pem")),
        "-outform",
        "DER",
    ])
    .stdout;
    let seed = &seed[seed.len() - 32..];
    let holds = |(_, file): &(PathBuf, Vec<u8>)| file.windows(32).any(|window| window == seed);
    assert!(!database.files().iter().any(holds));
}
