//! What verifiers say of a log after erasures, and of an erased event.

use super::erased::{ABOUT_JANE, BY_JANE, Erased, HELD, MARKER, NEARLY_JANE, ON_JANE, PAT};
use super::{GRACE_MILLIS, Scene, confirm, done, listed, read, request_of};
use crate::archive::Archive;
use crate::log::{audit, live_log};
use audit_domain::{ContentHash, LogName, StoredSalt};
use audit_ledger::{Hash, InclusionProof, SignedCheckpoint, VerifierKey};
use audit_tests::process::Exit;
use audit_tests::{
    Client, DatabaseKind, Organization, Server, command_line, command_line_on, event_with, on_both_databases,
    python, run_python, temporary_directory,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;

on_both_databases! {
    log_verify_counts_what_was_erased,
    a_new_auditor_and_one_who_has_seen_the_events_accept_an_erasure,
    list_feed_export_and_proof_of_an_erased_event_verify,
    a_viewer_verifies_an_erased_event_and_cannot_guess_the_rest,
    receipts_of_an_erased_event_verify,
    an_archive_of_erased_events_verifies_and_names_nobody,
    an_archive_of_parquet_has_what_erasures_left,
    an_erasure_that_another_one_has_preceded_is_no_finding,
}

/// The events of which parts were erased.
const ERASED: [usize; 3] = [BY_JANE, ON_JANE, ABOUT_JANE];
/// The number of events that were erased as a whole.
const ROWS: u64 = 2;

fn log_verify_counts_what_was_erased(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let scene = erased.scene();
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    let removed = &verified["removed"];
    let counts = ["retention", "erased", "unexplained"].map(|name| removed[name].as_u64());
    assert_eq!(counts, [Some(0), Some(ROWS), Some(0)], "{verified}");
    command_line_on(&scene.database, &["log", "verify"]).success();
    command_line_on(&scene.database, &["index", "verify"]).success();
    // Two of them have the event by Jane.
    assert_eq!(scene.erased_rows(), 3 + 2);
}

fn a_new_auditor_and_one_who_has_seen_the_events_accept_an_erasure(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let new = temporary_directory("audit-").join("state");
    let known = erased.state();
    let url = organization.anonymous().base_url();
    for state in [&known, &new] {
        let said = audit(url, &organization.project_key, state, &[]).success();
        assert!(said.contains("erased (5 erasures)"), "{said}");
    }
}

/// The content hash of an event as a full read returns it, computed from its fields and the proofs of its parts.
fn hash_of(log: &LogName, event: &Value) -> ContentHash {
    let mut members = event.as_object().expect("an event is an object").clone();
    let salt = StoredSalt::take_members(&mut members).expect("what proves the event");
    for added in ["content_hash", "redacted"] {
        members.remove(added);
    }
    let text = serde_json_canonicalizer::to_string(&members).expect("JSON has a canonical form");
    salt.content_hash(&text, log).expect("an event")
}

fn hashes(value: &Value) -> Vec<&str> {
    let hashes = value.as_array().expect("hashes").iter();
    hashes.map(|hash| hash.as_str().expect("base64")).collect()
}

fn key_of(project: &Client) -> String {
    let key = project.get("/log/key").send_raw();
    String::from_utf8(key.bytes)
        .expect("a key in UTF-8")
        .trim_end()
        .to_owned()
}

/// Asserts that an event is in the log with this hash.
fn assert_included(project: &Client, id: &str, hash: &ContentHash) {
    let proof = project
        .get(&format!("/events/{id}/proof"))
        .send()
        .expect_status(200);
    assert_eq!(proof["content_hash"], hash.to_string());
    assert!(
        proof["content_salt"].is_null() && proof["parts"].is_object(),
        "{proof:?}"
    );
    let key: VerifierKey = key_of(project).parse().expect("a key");
    let note = proof["checkpoint"].as_str().expect("a note");
    let signed = SignedCheckpoint::open_of_owner(note, &key).expect("a checkpoint");
    let inclusion = InclusionProof::from_base64(hashes(&proof["inclusion"])).expect("hashes");
    let seq = proof["seq"].as_u64().expect("a position");
    inclusion
        .verify(seq, &Hash::of_event(hash), signed.head())
        .expect("the event is in the log");
}

/// All events of the feed.
fn feed(client: &Client) -> Vec<Value> {
    let (mut events, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut request = client.get("/events/feed").query("limit", "200");
        if let Some(cursor) = &cursor {
            request = request.query("after", cursor);
        }
        let response = request.send().expect_status(200);
        events.extend(response.list("events"));
        if response["has_more"] == false {
            return events;
        }
        cursor = Some(response.text("cursor"));
    }
}

fn export(client: &Client) -> Vec<Value> {
    let response = client.get("/events/export").send_raw();
    let text = String::from_utf8(response.bytes).expect("an export in UTF-8");
    let event = |line: &str| serde_json::from_str(line).expect("a line of JSON");
    text.lines().map(event).collect()
}

fn by_id(events: Vec<Value>) -> HashMap<String, Value> {
    let named = |event: Value| (event["id"].as_str().expect("an id").to_owned(), event);
    events.into_iter().map(named).collect()
}

fn list_feed_export_and_proof_of_an_erased_event_verify(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let (project, log) = (organization.project(), live_log(organization));
    let sources = [
        by_id(feed(&project)),
        by_id(export(&project)),
        by_id(project.pages(&[("limit", "200")]).concat()),
    ];
    for position in ERASED {
        let id = &erased.ids[position];
        let before = &erased.before[position]["content_hash"];
        let shown = project.event(id);
        for source in &sources {
            assert_eq!(source[id], shown);
        }
        let hash = hash_of(&log, &shown);
        assert_eq!(*before, hash.to_string());
        assert_included(&project, id, &hash);
    }
    for position in [HELD, NEARLY_JANE] {
        assert_eq!(sources[0][&erased.ids[position]], erased.before[position]);
    }
}

/// Python's implementation of the content hash, from the documentation.
fn a_viewer_verifies_an_erased_event_and_cannot_guess_the_rest(kind: DatabaseKind) {
    let (Some(python), Some((erased, organization))) = (python(), Erased::running(kind)) else {
        return;
    };
    let folder = temporary_directory("erased-");
    let mut count = 0;
    for (reader, client) in readers(organization) {
        for (position, path) in [
            (BY_JANE, "actor.id"),
            (ON_JANE, "target.id"),
            (ABOUT_JANE, "metadata"),
        ] {
            let id = &erased.ids[position];
            let listed = client.find(&[("tenant_id", "acme")]);
            let event = listed
                .iter()
                .find(|event| event["id"] == **id)
                .expect("the event");
            assert!(!event["erased"].is_null(), "{reader}: {event}");
            let proof = client
                .get(&format!("/events/{id}/proof"))
                .send()
                .expect_status(200);
            // The right one is among the guesses.
            let guesses = [json!("usr_jane"), erased.before[position]["metadata"].clone()];
            let input = json!({"event": event, "proof": proof.body(), "path": path, "guesses": guesses});
            let file = folder.join(format!("{reader}-{position}.json"));
            std::fs::write(file, input.to_string()).expect("write the input");
            count += 1;
        }
    }
    let folder = folder.to_str().expect("a path in UTF-8");
    let output = run_python(&python, "viewer_content_hash.py", &[folder]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{count} events verified, 0 guessed in 0 with the salt\n")
    );
}

fn readers(organization: &Organization) -> [(&'static str, Client); 3] {
    [
        ("full", organization.viewer("acme", "full")),
        ("standard", organization.viewer("acme", "standard")),
        ("project", organization.project()),
    ]
}

/// That from before, which has the whole event, and one from afterwards.
fn receipts_of_an_erased_event_verify(kind: DatabaseKind) {
    let Some((erased, organization)) = Erased::running(kind) else {
        return;
    };
    let project = organization.project();
    let key = key_of(&project);
    let now = project
        .get(&format!("/events/{}/receipt", erased.ids[BY_JANE]))
        .send_raw();
    let now = String::from_utf8(now.bytes).expect("a receipt in UTF-8");
    for receipt in [&erased.receipt, &now] {
        let file = temporary_directory("receipt-").join("event.tlog-proof");
        std::fs::write(&file, receipt).expect("write the receipt");
        command_line(&["check", file.to_str().expect("a path in UTF-8"), "--key", &key]).success();
    }
}

fn an_archive_of_erased_events_verifies_and_names_nobody(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let scene = erased.scene();
    let project = &scene.organization.project_id;
    let file = temporary_directory("evidence-").join("events.zip");
    let path = file.to_str().expect("a path in UTF-8");
    let (from, to) = ("2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z");
    let export = [
        "log",
        "export",
        "--project",
        project,
        "--from",
        from,
        "--to",
        to,
        path,
    ];
    command_line_on(&scene.database, &export).success();
    let mut archive =
        zip::ZipArchive::new(std::fs::File::open(&file).expect("open the archive")).expect("a zip file");
    let mut texts = String::new();
    for index in 0..archive.len() {
        let mut bytes = Vec::new();
        let mut entry = archive.by_index(index).expect("a file");
        entry.read_to_end(&mut bytes).expect("read the archive");
        texts.push_str(&String::from_utf8_lossy(&bytes));
    }
    assert!(texts.contains("stoic text") && texts.contains(&erased.ids[NEARLY_JANE]));
    for name in [MARKER, PAT, "Bob Stoneson", "zebra crossing"] {
        assert!(!texts.contains(name), "{name}");
    }
    let key = command_line_on(&scene.database, &["log", "key"]).success();
    let key = key.trim_end();
    let name = key.split('+').next().expect("a name");
    let log = format!("{name}/{project}/live");
    command_line(&["check", path, "--key", key, "--log", &log]).success();
}

fn an_archive_of_parquet_has_what_erasures_left(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let scene = erased.scene();
    let archive = Archive::of(&scene.database, &scene.organization);
    archive.create(&scene.database, &[]).success();
    let said = archive.verified();
    let counts = format!(
        "of {} of them parts were erased, {ROWS} were removed",
        scene.erased_rows()
    );
    assert!(
        said.contains(&counts) && !said.contains("behind its end"),
        "{said}"
    );
}

/// The same events are in three lists. While the other plans wait, what they would take is gone already.
fn an_erasure_that_another_one_has_preceded_is_no_finding(kind: DatabaseKind) {
    let Some((mut scene, server)) = Scene::create(kind) else {
        return;
    };
    let organization = scene.organization.clone();
    let event = event_with(json!({"actor": {"id": "usr_jane"}}));
    organization.project().store_all(vec![event; 3]);
    let plan = |extent: &str| {
        let listed = listed(&organization, request_of(json!({"ids": ["usr_jane"]}), extent));
        confirm(&organization, &listed).expect_status(202)["erasure"].clone()
    };
    let first = plan("row");
    scene.clock.advance_millis(GRACE_MILLIS / 2);
    let others = [plan("person"), plan("row")];
    scene.clock.advance_millis(GRACE_MILLIS / 2 + 1);
    done(&organization, &first);
    for waiting in &others {
        assert_eq!(read(&organization, waiting)["state"], "planned");
    }
    assert_erased(&scene, &server, "while the others wait");
    scene.clock.advance_millis(GRACE_MILLIS);
    for other in &others {
        done(&organization, other);
    }
    assert_erased(&scene, &server, "when all are done");
}

/// Asserts that three events are gone, and nobody finds anything.
fn assert_erased(scene: &Scene, server: &Server, when: &str) {
    let state = temporary_directory("audit-").join("state");
    let audited = audit(server.base_url(), &scene.organization.project_key, &state, &[]);
    assert_eq!(audited.exit, Exit::Code(0), "{when}: {audited:?}");
    let verified = scene.verified();
    assert_eq!(verified["findings"], json!([]), "{when}: {verified}");
    assert_eq!(verified["removed"]["erased"], json!(3), "{when}: {verified}");
}
