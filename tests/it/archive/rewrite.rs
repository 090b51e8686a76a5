//! Archives that follow an erasure, with the events that retention has removed since from the archive before.

use super::refused::{edit, remove};
use super::{Archive, this_month};
use crate::erasure::{GRACE_MILLIS, confirm, done, listed, request_of};
use crate::log::text_of;
use crate::retention::Scene;
use audit_tests::process::Exit;
use audit_tests::{
    DatabaseKind, Finished, Organization, Server, command_line, event_with, merge, on_both_databases, python,
    run_python, start_command_line, temporary_directory,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

on_both_databases! {
    an_archive_follows_an_erasure_and_keeps_what_retention_has_removed,
}

/// In every text of the person's events that goes.
const MARKER: &str = "quixoticmarker";

// The events of January by position.
const BY_JANE: u64 = 0;
const ON_JANE: u64 = 1;
const HELD: u64 = 2;
const BY_BOB: u64 = 3;
const BY_ROWAN: u64 = 4;
const OF_OTHERS: u64 = 5;
const JANUARY: u64 = 9;
/// The first event of July.
const LATER: u64 = JANUARY;

fn by_jane() -> Value {
    event_with(json!({
        "tenant_id": "acme",
        "actor": {"id": "usr_jane", "name": format!("Jane {MARKER}"), "email": format!("{MARKER}@example.com")},
        "context": {"ip_address": "192.0.2.7", "user_agent": format!("Agent {MARKER}")},
        "metadata": {"note": format!("about {MARKER}")},
    }))
}

fn of_january() -> Vec<Value> {
    let by = |actor: &str, tenant: &str| event_with(json!({"actor": {"id": actor}, "tenant_id": tenant}));
    let on_jane = json!({
        "target": {"type": "user", "id": "usr_jane", "name": MARKER}, "metadata": {"reason": MARKER},
    });
    let mut events = vec![
        by_jane(),
        merge(by("usr_admin", "acme"), on_jane),
        merge(by("usr_jane", "held"), json!({"metadata": {"note": "stays"}})),
        by("usr_bob", "acme"),
        by("usr_rowan", "acme"),
    ];
    // With all that the text of an event can have.
    events.extend((OF_OTHERS..JANUARY).map(|number| {
        event_with(json!({
            "tenant_id": "acme", "outcome": "denied", "idempotency_key": format!("key-{number}"),
            "actor": {"id": "usr_other", "on_behalf_of": {"id": "svc", "type": "service"}},
            "targets": [{"type": "doc", "id": "1", "name": "\"quoted\" \\ \u{1f980}"}, {"type": "doc", "id": "2"}],
            "target": null,
            "metadata": {"number": 1.5e300, "list": [null, true, {"b": 1, "a": ""}], "n": number},
            "changes": [{"field": "f", "before": null, "after": "ü"}],
        }))
    }));
    events
}

/// Erases a person, and waits until it is done. Returns the id of the erasure.
fn erase(scene: &mut Scene, identifiers: &Value, extent: &str) -> String {
    let organization = scene.organization.clone();
    let erasure = listed(&organization, request_of(identifiers.clone(), extent));
    confirm(&organization, &erasure).expect_status(202);
    scene.clock.advance_millis(GRACE_MILLIS);
    done(&organization, &erasure)["id"]
        .as_str()
        .expect("an id")
        .to_owned()
}

/// A deployment that has removed the events of January, and erased Jane afterwards.
struct Rewritten {
    scene: Scene,
    /// The archive from before.
    old: Archive,
    erasure: String,
    identifiers: PathBuf,
    _server: Server,
}

impl Rewritten {
    fn make(kind: DatabaseKind) -> Option<Self> {
        let (mut scene, server) = Scene::create(kind, |organization| {
            organization.project().store_all(of_january())
        })?;
        scene.organization.project().store(by_jane());
        let old = Archive::of(&scene.database, &scene.organization);
        old.complete(&scene.database, &["--events-per-file", "7"]);
        // The log has records of these.
        erase(&mut scene, &json!({"ids": ["usr_bob"]}), "person");
        erase(&mut scene, &json!({"ids": ["usr_rowan"]}), "row");
        let removed = scene.remove(json!({"days": 93}));
        assert_eq!(
            removed["events"],
            json!(JANUARY - 1),
            "all but the one that was erased: {removed}"
        );
        let hold = json!({"reason": "case 12", "tenant_id": "held"});
        scene.send("POST", "/holds", Some(hold)).expect_status(201);
        let jane = json!({"ids": ["usr_jane"], "texts": [MARKER]});
        let erasure = erase(&mut scene, &jane, "person");
        let identifiers = temporary_directory("identifiers-").join("jane.json");
        std::fs::write(&identifiers, jane.to_string()).expect("write the identifiers");
        Some(Self {
            scene,
            old,
            erasure,
            identifiers,
            _server: server,
        })
    }

    fn new_archive(&self) -> Archive {
        Archive::of(&self.scene.database, &self.scene.organization)
    }

    /// The options that follow the erasure.
    fn options<'a>(&'a self, from: &'a Path) -> [&'a str; 6] {
        let identifiers = text_of(&self.identifiers);
        [
            "--from",
            text_of(from),
            "--erasure",
            &self.erasure,
            "--identifiers",
            identifiers,
        ]
    }

    /// Writes the new archive with these options, and then what is signed later. Returns what the first run has said.
    fn complete(&self, archive: &Archive, options: &[&str]) -> String {
        let first = archive.create(&self.scene.database, options).success();
        archive.complete(&self.scene.database, &[]);
        first
    }

    /// What the command says when it refuses. The identifiers are not in it, and nothing is archived.
    fn refusal(&self, archive: &Archive, more: &[&str]) -> String {
        let refusal = archive.create(&self.scene.database, more).refusal();
        assert!(
            !refusal.contains(MARKER) && !refusal.contains("usr_jane"),
            "{refusal}"
        );
        refusal
    }
}

/// The rows of an archive by position, each as JSON. `None` without Python.
fn rows(archive: &Archive) -> Option<BTreeMap<u64, Value>> {
    let output = run_python(&python()?, "archive_rows.py", &[text_of(&archive.directory)]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    Some(
        rows.map(|row| (row["seq"].as_u64().expect("a position"), row))
            .collect(),
    )
}

fn an_archive_follows_an_erasure_and_keeps_what_retention_has_removed(kind: DatabaseKind) {
    let Some(rewritten) = Rewritten::make(kind) else {
        return;
    };
    let new = rewritten.new_archive();
    let said = followed(&rewritten, &new);
    let taken = JANUARY - 1;
    let expected = format!(
        "{taken} of them from {}: 3 lost parts, and 0 more were erased as a whole",
        rewritten
            .old
            .directory
            .canonicalize()
            .expect("the archive")
            .display()
    );
    assert!(said.contains(&expected), "{said}");
    assert!(
        new.verified()
            .contains(", of 4 of them parts were erased, 1 were removed"),
        "{}",
        new.verified()
    );
    check_rows(&rewritten, &new);
    check_interrupted(&rewritten, &new);
    check_refused(&rewritten);
    check_tampered(&rewritten);
    check_without_erasure(&rewritten);
}

/// Writes the new archive until it has all. Returns what the first run has said.
fn followed(rewritten: &Rewritten, new: &Archive) -> String {
    let options = rewritten.options(&rewritten.old.directory);
    let options = [&options[..], &["--events-per-file", "5"]].concat();
    let first = rewritten.complete(new, &options);
    assert!(!first.contains(MARKER) && !first.contains("usr_jane"), "{first}");
    let again = rewritten.refusal(new, &options);
    assert!(again.contains("has files already"), "{again}");
    first
}

fn check_rows(rewritten: &Rewritten, new: &Archive) {
    let (Some(before), Some(after)) = (rows(&rewritten.old), rows(new)) else {
        return;
    };
    assert!(rows_text(&before).contains(MARKER));
    assert!(!rows_text(&after).contains(MARKER), "{after:?}");
    for seq in [HELD].into_iter().chain(OF_OTHERS..JANUARY) {
        assert_eq!(after[&seq], before[&seq]);
    }
    assert_eq!(after.get(&BY_ROWAN), None);
    for seq in [BY_JANE, ON_JANE, BY_BOB, LATER + 10] {
        let (before, after) = (&before[&seq], &after[&seq]);
        assert_eq!(before["content_hash"], after["content_hash"]);
        assert!(
            after["content_salt"].as_str().expect("a salt").len() > 32,
            "{after}"
        );
        assert_eq!(after["idempotency_key"], Value::Null);
    }
    let (on_jane, by_jane) = (&after[&ON_JANE], &after[&BY_JANE]);
    assert_eq!(on_jane["actor_id"], json!("usr_admin"), "{on_jane}");
    assert_eq!(on_jane["target_id"], Value::Null, "{on_jane}");
    assert_eq!(by_jane["actor_id"], Value::Null, "{by_jane}");
    assert_eq!(by_jane["context_ip_address"], Value::Null, "{by_jane}");
    assert_eq!(by_jane["action"], before[&BY_JANE]["action"]);
    // All that the log has, and all of January but the event that was erased as a whole.
    let expected = before.keys().copied().filter(|seq| *seq != BY_ROWAN);
    assert!(expected.into_iter().all(|seq| after.contains_key(&seq)));
}

fn rows_text(rows: &BTreeMap<u64, Value>) -> String {
    rows.values().map(Value::to_string).collect()
}

/// A command that was killed leaves what the next one continues.
fn check_interrupted(rewritten: &Rewritten, new: &Archive) {
    let archive = rewritten.new_archive();
    let database = &rewritten.scene.database;
    let options = rewritten.options(&rewritten.old.directory);
    let options = [&options[..], &["--events-per-file", "1"]].concat();
    let month = this_month();
    let arguments = [
        "archive",
        "create",
        "--to",
        text_of(&archive.directory),
        "--until",
        &month,
    ];
    let project = &rewritten.scene.organization.project_id;
    let log = ["--project", project, "--environment", "live"];
    let url = ["--database-url", database.url()];
    let arguments = [&arguments[..], &log, &options, &url].concat();
    archive.kill_at(2, start_command_line(&arguments, &[]));
    assert!(
        archive.manifests().len() < JANUARY as usize,
        "it was killed in January"
    );
    let stated = std::fs::read_to_string(archive.directory.join("_from")).expect("read the file");
    assert!(
        stated.contains(&rewritten.erasure) && !stated.contains(MARKER) && !stated.contains("usr_jane"),
        "{stated}"
    );
    let verified = archive.verify();
    assert_eq!(verified.exit, Exit::Code(2), "{verified:?}");
    let others = rewritten.identifiers.with_file_name("others.json");
    std::fs::write(&others, json!({"ids": ["usr_jane"]}).to_string()).expect("write a file");
    let mut of_others = rewritten.options(&rewritten.old.directory);
    of_others[5] = text_of(&others);
    for other in [&[][..], &["--record"], &options[..2], &of_others] {
        let refusal = rewritten.refusal(&archive, other);
        assert!(refusal.contains("is unfinished"), "{refusal}");
    }
    let refusal = rewritten.refusal(&rewritten.new_archive(), &["--from", text_of(&archive.directory)]);
    assert!(refusal.contains("is unfinished"), "{refusal}");
    rewritten.complete(&archive, &options);
    archive.verified();
    assert_eq!(rows(&archive), rows(new));
}

fn check_refused(rewritten: &Rewritten) {
    let old = &rewritten.old.directory;
    let new = rewritten.new_archive();
    let at = |directory: PathBuf| Archive {
        directory,
        ..rewritten.old.copy()
    };
    let link = temporary_directory("archive-").join("link");
    std::os::unix::fs::symlink(old, &link).expect("create a link");
    let around = old.join("..").join(old.file_name().expect("a name"));
    for same in [old.clone(), link, around, old.join("new")] {
        let refusal = rewritten.refusal(&at(same), &["--from", text_of(old)]);
        assert!(
            refusal.contains("--to must be another directory than --from"),
            "{refusal}"
        );
    }
    assert!(!old.join("new").exists());

    let Some(other) = Scene::create(DatabaseKind::Sqlite, |organization: &Organization| {
        organization.project().store_all(of_january())
    }) else {
        return;
    };
    let foreign = Archive::of(&other.0.database, &other.0.organization);
    foreign.complete(&other.0.database, &[]);
    let refusal = rewritten.refusal(&new, &["--from", text_of(&foreign.directory)]);
    assert!(refusal.contains("has none of these logs"), "{refusal}");

    let mut unknown = rewritten.options(old);
    unknown[3] = "ers_01KAZZZZZZZZZZZZZZZZZZZZZZ";
    let refusal = rewritten.refusal(&new, &unknown);
    assert!(refusal.contains("no event `audit.events.erased`"), "{refusal}");
    let organization = &rewritten.scene.organization;
    let planned = listed(organization, request_of(json!({"ids": ["usr_other"]}), "person"));
    assert_eq!(
        planned["state"], "done",
        "retention has removed all of these: {planned}"
    );
    let found = listed(organization, request_of(json!({"ids": ["actor-1"]}), "person"));
    confirm(organization, &found).expect_status(202);
    for erasure in [&planned, &found] {
        unknown[3] = erasure["id"].as_str().expect("an id");
        let refusal = rewritten.refusal(&new, &unknown);
        assert!(refusal.contains("no event `audit.events.erased`"), "{refusal}");
    }

    let wrong = rewritten.identifiers.with_file_name("wrong.json");
    let mut options = rewritten.options(old);
    options[5] = text_of(&wrong);
    for (text, reason) in [
        (
            json!({"names": [MARKER]}).to_string(),
            "is not a JSON object with `ids`, `texts` or both",
        ),
        (
            json!({MARKER: []}).to_string(),
            "is not a JSON object with `ids`, `texts` or both",
        ),
        (
            format!("{{\"ids\": [\"{MARKER}\""),
            "is not a JSON object with `ids`, `texts` or both",
        ),
        (
            json!({"texts": [format!("{MARKER} ")]}).to_string(),
            "identifiers.texts",
        ),
        (json!({"ids": []}).to_string(), "must have an id or a text"),
    ] {
        std::fs::write(&wrong, text).expect("write a file");
        let refusal = rewritten.refusal(&new, &options);
        assert!(
            refusal.contains("--identifiers") && refusal.contains(reason),
            "{refusal}"
        );
    }
    remove(&wrong);
    assert!(rewritten.refusal(&new, &options).contains("No such file"));
    assert_eq!(new.manifests(), Vec::<PathBuf>::new());
    let alone = command_line(&["archive", "create", "--to", "x", "--erasure", &rewritten.erasure]);
    assert_eq!(alone.exit, Exit::Code(2), "{alone:?}");
}

fn check_tampered(rewritten: &Rewritten) {
    let refused = |changed: &Archive, file: &Path, reason: &str| {
        let new = rewritten.new_archive();
        let refusal = rewritten.refusal(&new, &rewritten.options(&changed.directory));
        assert!(
            refusal.contains(text_of(file)) && refusal.contains(reason),
            "{refusal}"
        );
        assert_eq!(new.manifests(), Vec::<PathBuf>::new());
    };
    let changed = rewritten.old.copy();
    let file = changed.parquet()[0].canonicalize().expect("a file");
    edit(&file, |bytes| bytes[900] ^= 1);
    refused(&changed, &file, "the file is another one");

    let changed = rewritten.old.copy();
    let file = changed.parquet()[0].canonicalize().expect("a file");
    remove(&file);
    refused(&changed, &file, "No such file");

    let changed = rewritten.old.copy();
    remove(&changed.parquet()[0]);
    let manifest = changed.manifests()[0].clone();
    remove(&manifest);
    let log = manifest.ancestors().nth(2).expect("the directory of the log");
    refused(
        &changed,
        &log.canonicalize().expect("a directory"),
        "the events from 0 on are missing",
    );

    let changed = rewritten.old.copy();
    let manifests = changed.manifests();
    let root = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("read a manifest");
        serde_json::from_str::<Value>(&text).expect("JSON")["root"]
            .as_str()
            .expect("a root")
            .to_owned()
    };
    let last = manifests
        .last()
        .expect("a manifest")
        .canonicalize()
        .expect("a manifest");
    let (first, own) = (root(&manifests[0]), root(&last));
    edit(&last, |bytes| {
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        *bytes = text.replace(&own, &first).into_bytes();
    });
    refused(&changed, &last, "it has other events than the log");
}

/// What is taken from an archive that has followed an erasure is the same again, and without an erasure the events are as they were.
fn check_without_erasure(rewritten: &Rewritten) {
    let first = rewritten.new_archive();
    let from: [&str; 2] = ["--from", text_of(&rewritten.old.directory)];
    rewritten.complete(&first, &from);
    let (Some(before), Some(after)) = (rows(&rewritten.old), rows(&first)) else {
        return;
    };
    for seq in [BY_JANE, ON_JANE, HELD, OF_OTHERS] {
        assert_eq!(after[&seq], before[&seq]);
    }
    let (second, third) = (rewritten.new_archive(), rewritten.new_archive());
    rewritten.complete(&second, &rewritten.options(&first.directory));
    rewritten.complete(&third, &["--from", text_of(&second.directory)]);
    assert_eq!(rows(&third), rows(&second));
    // As a whole.
    let said: Finished = third.verify();
    assert!(said.stdout.contains(", 1 were removed"), "{said:?}");
}
