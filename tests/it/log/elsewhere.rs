//! A signing key that is not in the database: OpenSSL signs with it.

use super::{stop, store_events, text_of};
use audit_ledger::{SignedCheckpoint, VerifierKey};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, command_line_on, on_both_databases,
    serve_refused, temporary_directory,
};
use std::path::PathBuf;
use std::process::{Command, Output};

const COMMAND: &str = "AUDIT_LOG_KEY_COMMAND";
const PUBLIC_KEY: &str = "AUDIT_LOG_PUBLIC_KEY";

on_both_databases! {
    checkpoints_are_signed_by_a_program,
    a_program_that_fails_or_has_another_key_signs_nothing,
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
                "T=$(mktemp {shown}/XXXXXX) && cat > $T && test ! -e {shown}/locked && \
                 openssl pkeyutl -sign -inkey {shown}/key.pem -rawin -in $T"
            ),
            public_key: public_key.collect(),
            folder,
        }
    }

    fn environment(&self) -> [(&str, &str); 2] {
        [(COMMAND, &self.command), (PUBLIC_KEY, &self.public_key)]
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
    let answer = client.get("/log/checkpoint").send_raw();
    match answer.status {
        200 => Some(String::from_utf8(answer.bytes).expect("UTF-8")),
        status => {
            assert_eq!(status, 503, "{answer:?}");
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
    assert!(rotated.stderr.contains("it cannot be rotated"), "{rotated:?}");
}

fn a_program_that_fails_or_has_another_key_signs_nothing(kind: DatabaseKind) {
    let (database, program, other) = (Database::create(kind), Program::new(), Program::new());
    for (environment, reason) in [
        (
            vec![(COMMAND, "exit 3"), (PUBLIC_KEY, program.public_key.as_str())],
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
