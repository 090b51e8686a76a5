//! Archives: what `audit-server archive` writes beside a running server, and what every reader says of it.

mod bucket;
mod refused;
mod rewrite;

use crate::log::{STATE_DIRECTORY, stop, store_events, text_of};
use audit_tests::process::{Exit, Process};
use audit_tests::{
    Database, DatabaseKind, Deadline, Finished, Organization, Server, command_line, command_line_on,
    now_plus, on_both_databases, python, run_python, start_command_line, temporary_directory,
};
use rustix::process::Signal;
use std::path::{Path, PathBuf};

on_both_databases! {
    an_archive_grows_beside_a_running_server,
    a_killed_command_leaves_what_the_next_one_completes,
    a_month_that_has_not_ended_is_archived_on_demand_only,
    an_archive_goes_on_under_the_next_key,
}

/// Events in the logs here.
const EVENTS: usize = 120;
/// Bounds a hang: a server signs within a second.
const SIGNED_SECONDS: u64 = 60;

/// An archive, and what it is verified against.
pub(crate) struct Archive {
    pub(crate) directory: PathBuf,
    key: String,
    log: String,
}

impl Archive {
    /// Of the live log of the organization; there is none yet.
    pub(crate) fn of(database: &Database, organization: &Organization) -> Self {
        let key = command_line_on(database, &["log", "key"]).success();
        let name = key.split('+').next().expect("a key has a name");
        Self {
            directory: temporary_directory("archive-").join("archive"),
            log: format!("{name}/{}/live", organization.project_id),
            key,
        }
    }

    /// Archives the live log up to the present month.
    pub(crate) fn create(&self, database: &Database, more: &[&str]) -> Finished {
        let month = this_month();
        let project = self.log.split('/').rev().nth(1).expect("a log has a project");
        let arguments = [
            "archive",
            "create",
            "--to",
            text_of(&self.directory),
            "--project",
            project,
            "--environment",
            "live",
            "--until",
            &month,
        ];
        command_line_on(database, &[&arguments, more].concat())
    }

    /// Archives the live log until all of it is signed and in the archive.
    pub(crate) fn complete(&self, database: &Database, more: &[&str]) {
        // On another clock than the server, the newest events may seem not to be signed in time.
        let report = command_line_on(database, &["log", "verify", "--json"]).stdout;
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let ledgers = report["ledgers"].as_array().expect("ledgers");
        let live = ledgers.iter().find(|ledger| {
            self.log.contains(ledger["project_id"].as_str().expect("an id"))
                && ledger["environment"] == "live"
        });
        let size = live.expect("the live log")["events"].to_string();
        let expected = format!("the first {size} positions");
        Deadline::seconds(SIGNED_SECONDS).poll("an archive of all events", || {
            self.create(database, more).success();
            self.verify().stdout.contains(&expected).then_some(())
        });
        self.verified();
    }

    /// What the program says of the archive.
    pub(crate) fn verify(&self) -> Finished {
        let directory = text_of(&self.directory);
        command_line(&[
            "archive", "verify", directory, "--key", &self.key, "--log", &self.log,
        ])
    }

    /// Asserts that the program, and the one of the documentation, accept the archive. Returns what the first one says.
    pub(crate) fn verified(&self) -> String {
        let said = self.verify().success();
        if let Some(python) = python() {
            let output = self.run_example(&python);
            assert!(output.status.success(), "{output:?}");
        }
        said
    }

    fn run_example(&self, python: &str) -> std::process::Output {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples/verify_archive.py");
        let mut command = std::process::Command::new(python);
        command.args([script, text_of(&self.directory), &self.key, &self.log]);
        audit_tests::run(&mut command)
    }

    /// The files of the log whose names begin and end so.
    fn files(&self, start: &str, end: &str) -> Vec<PathBuf> {
        let mut files = files_below(&self.directory);
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(end)
        });
        files
    }

    /// Kills the command when it has written so many files.
    fn kill_at(&self, files: usize, mut process: Process) {
        // Without a pause: the command would have written all files meanwhile.
        let deadline = Deadline::seconds(SIGNED_SECONDS);
        while self.manifests().len() < files {
            assert!(
                process.is_running() && deadline.left().is_some(),
                "it has written too few files"
            );
            std::thread::yield_now();
        }
        process.signal(Signal::KILL);
        let exit = process.wait(Deadline::seconds(SIGNED_SECONDS));
        assert_eq!(exit, Exit::Signal(9), "it was killed before its end");
    }

    fn manifests(&self) -> Vec<PathBuf> {
        self.files("_manifest-", ".json")
    }

    fn parquet(&self) -> Vec<PathBuf> {
        self.files("", ".parquet")
    }
}

/// All files below a directory, sorted; none where there is no directory.
pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("list the archive").path());
    let mut files: Vec<PathBuf> = paths
        .flat_map(|path| match path.is_dir() {
            true => files_below(&path),
            false => vec![path],
        })
        .collect();
    files.sort();
    files
}

/// The present month by UTC.
pub(crate) fn this_month() -> String {
    now_plus(0)[..7].to_owned()
}

fn started(kind: DatabaseKind) -> (Database, Server, Organization) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    (database, server, organization)
}

fn an_archive_grows_beside_a_running_server(kind: DatabaseKind) {
    let (database, _server, organization) = started(kind);
    let project = organization.project();
    store_events(&project, EVENTS);
    let archive = Archive::of(&database, &organization);
    archive.complete(&database, &["--events-per-file", "50"]);
    let before = archive.parquet();
    assert!(before.len() >= 3, "{before:?}");
    store_events(&project, 10);
    archive.complete(&database, &[]);
    let after = archive.parquet();
    assert!(
        after.len() > before.len() && before.iter().all(|file| after.contains(file)),
        "{after:?}"
    );
    // Nothing is new.
    let again = archive.create(&database, &[]).success();
    assert!(again.starts_with("0 events archived in 0 files"), "{again}");
    let Some(python) = python() else { return };
    let output = run_python(&python, "archive_readers.py", &[text_of(&archive.directory)]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    // 130 of the client, with numbers in their metadata.
    assert!(said.contains("duckdb: 130 events"), "{said}");
    assert!(said.contains("pyarrow: 130 events"), "{said}");
}

fn a_killed_command_leaves_what_the_next_one_completes(kind: DatabaseKind) {
    let (database, _server, organization) = started(kind);
    store_events(&organization.project(), EVENTS);
    // All events are signed.
    Archive::of(&database, &organization).complete(&database, &[]);
    let archive = Archive::of(&database, &organization);
    let month = this_month();
    let arguments = [
        "archive",
        "create",
        "--to",
        text_of(&archive.directory),
        "--project",
        &organization.project_id,
        "--environment",
        "live",
        "--until",
        &month,
        "--events-per-file",
        "1",
        "--database-url",
        database.url(),
    ];
    for files in [1, 7, 40] {
        archive.kill_at(files, start_command_line(&arguments, &[]));
    }
    assert!(archive.manifests().len() < EVENTS, "it was killed in the middle");
    archive.complete(&database, &["--events-per-file", "1"]);
    assert!(archive.manifests().len() >= EVENTS);
    assert_eq!(archive.parquet().len(), archive.manifests().len());
    assert_eq!(archive.files("", ".new"), Vec::<PathBuf>::new());

    // Killed between the names of the last file and of its manifest, and while it wrote the next one.
    let manifests = archive.manifests();
    let last = manifests.last().expect("a manifest");
    std::fs::remove_file(last).expect("remove the manifest");
    let folder = last.ancestors().nth(2).expect("the directory of the log");
    std::fs::write(folder.join("_file.new"), "PAR1").expect("write a part of a file");
    let unfinished = archive.verify();
    assert_eq!(unfinished.exit, Exit::Code(2), "{unfinished:?}");
    assert!(
        unfinished.stderr.contains("has no manifest yet"),
        "{unfinished:?}"
    );
    archive.complete(&database, &[]);
    assert_eq!(archive.files("", ".new"), Vec::<PathBuf>::new());
}

fn a_month_that_has_not_ended_is_archived_on_demand_only(kind: DatabaseKind) {
    let (database, _server, organization) = started(kind);
    store_events(&organization.project(), 3);
    let archive = Archive::of(&database, &organization);
    archive.complete(&database, &[]);
    let other = temporary_directory("archive-");
    let all = command_line_on(&database, &["archive", "create", "--to", text_of(&other)]).success();
    assert!(all.contains("0 events archived in 0 files"), "{all}");
    for (option, value, expected) in [
        ("--until", "2026-13", "must be a month such as 2026-11"),
        ("--events-per-file", "0", "0 is not in 1..=2000000"),
        (
            "--project",
            "00000000-0000-4000-8000-000000000000",
            "there is no project",
        ),
    ] {
        let arguments = ["archive", "create", "--to", text_of(&other), option, value];
        let refusal = command_line_on(&database, &arguments).refusal();
        assert!(
            refusal.contains(option) && refusal.contains(expected),
            "{refusal}"
        );
    }
}

/// An archive whose first file is signed by one key, and its last one by the next key alone.
fn an_archive_goes_on_under_the_next_key(kind: DatabaseKind) {
    let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
    let start = || Server::start(&database, &[(STATE_DIRECTORY, text_of(&memory))]);
    let server = start();
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 3);
    let archive = Archive::of(&database, &organization);
    archive.complete(&database, &[]);
    stop(server);
    command_line_on(&database, &["log", "rotate-key"]).success();
    let server = start();
    store_events(&organization.on(&server).project(), 3);
    archive.complete(&database, &[]);
    stop(server);
    command_line_on(&database, &["log", "rotate-key", "--retire"]).success();
    let server = start();
    store_events(&organization.on(&server).project(), 3);
    let rotations = memory.join("rotations");
    let statements = command_line_on(&database, &["log", "key", "--rotations"]).success();
    std::fs::write(&rotations, format!("{statements}\n")).expect("write the statements");
    let directory = text_of(&archive.directory);
    let verify = |key: &str| {
        let arguments = [
            "archive",
            "verify",
            directory,
            "--log",
            &archive.log,
            "--key",
            key,
        ];
        command_line(&[&arguments[..], &["--rotations", text_of(&rotations)]].concat())
    };
    let said = Deadline::seconds(SIGNED_SECONDS).poll("the events of the new key", || {
        archive.create(&database, &[]).success();
        Some(verify(&archive.key).success()).filter(|said| said.contains("in 3 files"))
    });
    let new = command_line_on(&database, &["log", "key"]).success();
    assert_eq!(verify(&new).success().lines().count(), said.lines().count());
    let refused = archive.verify();
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    assert!(refused.stderr.contains("its checkpoint is wrong"), "{refused:?}");
}
