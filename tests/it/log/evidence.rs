//! `log export`: archives that third parties verify without this service.

use super::{Case, canonical, leaf_of, quoted, store_events};
use audit_domain::ContentHash;
use audit_ledger::{InclusionProof, Origin, SignedCheckpoint, VerifierKey};
use audit_tests::process::Exit;
use audit_tests::{
    DatabaseKind, Finished, build_go, command_line_on, event_with, go, on_both_databases, python, run,
    run_python, temporary_directory,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: [&str; 6] = [
    "README.txt",
    "checkpoint.txt",
    "events.jsonl",
    "key.txt",
    "manifest.json",
    "proofs.json",
];
/// A day without other events.
const DAY: [&str; 2] = ["2020-02-01T00:00:00Z", "2020-02-01T23:59:59.999Z"];

on_both_databases! {
    an_archive_proves_the_events_of_a_time,
    what_the_readme_says_works_as_written,
    third_parties_refuse_an_archive_that_was_changed,
    no_archive_is_made_of_what_cannot_be_proved,
    a_file_that_is_there_is_left_alone,
}

/// A case with three events on [`DAY`], at positions 300, 302 and 303, and one each on the day before and the day after.
fn case(database: DatabaseKind) -> Case {
    let case = Case::fresh(database);
    let (server, project) = case.start();
    let times = [
        "2020-02-01T00:00:00Z",
        "2020-01-31T23:59:59.999Z",
        "2020-02-01T12:00:00.5Z",
        "2020-02-01T23:59:59.999Z",
        "2020-02-02T00:00:00Z",
    ];
    let event = |time: &str| event_with(json!({"occurred_at": time, "actor": {"name": "Zoë, \"Z\""}}));
    let mut events: Vec<Value> = times.iter().map(|time| event(time)).collect();
    events[2]["actor"]["email"] = json!("zoe@example.com");
    project.store_all(events);
    super::stop(server);
    case
}

fn export(case: &Case, file: &Path, times: [&str; 2]) -> Finished {
    let file = file.to_str().expect("a path in UTF-8");
    let project = case.organization.project_id.as_str();
    let arguments = [
        "log",
        "export",
        "--project",
        project,
        "--from",
        times[0],
        "--to",
        times[1],
        file,
    ];
    command_line_on(&case.database, &arguments)
}

fn file() -> PathBuf {
    temporary_directory("evidence-").join("events.zip")
}

fn unpack(file: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = std::fs::File::open(file).expect("open the archive");
    let mut archive = zip::ZipArchive::new(bytes).expect("a zip file");
    assert_eq!(archive.len(), FILES.len());
    let read = |index: usize| {
        let mut entry = archive.by_index(index).expect("a file of the archive");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("read it");
        (entry.name().expect("a name in UTF-8").into_owned(), bytes)
    };
    (0..FILES.len()).map(read).collect()
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).expect("UTF-8")
}

fn an_archive_proves_the_events_of_a_time(database: DatabaseKind) {
    let case = case(database);
    let file = file();
    let said = export(&case, &file, DAY).success();
    assert!(
        said.starts_with("3 events of ") && said.contains(" 305 "),
        "{said}"
    );
    let files = unpack(&file);
    assert_eq!(files.keys().collect::<Vec<_>>(), FILES);
    let key: VerifierKey = text(&files, "key.txt").trim_end().parse().expect("a key");
    assert_eq!(
        key.to_string(),
        command_line_on(&case.database, &["log", "key"]).success()
    );
    let origin = format!("{}/{}/live", key.name().as_str(), case.organization.project_id);
    let origin = Origin::parse(&origin).expect("a name");
    let signed = SignedCheckpoint::open(&text(&files, "checkpoint.txt"), &origin, &[key]).expect("signed");
    assert_eq!(signed.head().size, 305);
    let proofs: Value = serde_json::from_str(&text(&files, "proofs.json")).expect("JSON");
    let events = text(&files, "events.jsonl");
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let seqs: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(seqs, [300, 302, 303]);
    for (event, proof) in events.iter().zip(proofs["proofs"].as_array().expect("proofs")) {
        let mut read = event.clone();
        read.as_object_mut().expect("an event").remove("seq");
        let hashes = proof["inclusion"]
            .as_array()
            .expect("hashes")
            .iter()
            .filter_map(Value::as_str);
        let inclusion = InclusionProof::from_base64(hashes).expect("hashes");
        let seq = event["seq"].as_u64().expect("a position");
        inclusion
            .verify(seq, &leaf_of(&read), signed.head())
            .expect("the event is in the log");
    }
    assert_eq!(
        (&events[0]["redacted"], &events[1]["redacted"]),
        (&json!(false), &json!(true))
    );
    let readme = text(&files, "README.txt");
    for word in [
        case.organization.project_id.as_str(),
        "3 events",
        "305 events",
        "What the proofs show, and what they do not",
    ] {
        assert!(readme.contains(word), "{word} in {readme}");
    }
    assert!(
        !readme.contains("{size}") && !readme.contains("{log}"),
        "{readme}"
    );
}

/// A program of the README: the text between its two cut marks.
fn program(readme: &str, name: &str) -> String {
    let (_, program) = readme
        .split_once(&format!("----8<---- {name}\n"))
        .expect("the README contains the program");
    program
        .split_once("----8<----")
        .expect("the program ends with a cut mark")
        .0
        .to_owned()
}

fn unpack_into_folder(files: &BTreeMap<String, Vec<u8>>) -> PathBuf {
    let folder = temporary_directory("unpacked-");
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).expect("write a file");
    }
    for name in ["check.py", "check.go"] {
        std::fs::write(folder.join(name), program(&text(files, "README.txt"), name))
            .expect("write a program");
    }
    folder.to_path_buf()
}

fn what_the_readme_says_works_as_written(database: DatabaseKind) {
    let case = case(database);
    let file = file();
    export(&case, &file, DAY).success();
    let files = unpack(&file);
    let folder = unpack_into_folder(&files);
    // The same archive with one character of an event changed.
    let mut changed = files.clone();
    let events = text(&files, "events.jsonl").replacen("actor-1", "actor-2", 1);
    changed.insert("events.jsonl".to_owned(), events.into_bytes());
    let changed = unpack_into_folder(&changed);
    if let Some(python) = python() {
        let check = |folder: &Path| run(Command::new(&python).arg("check.py").current_dir(folder));
        let said = check(&folder);
        assert!(said.status.success(), "{said:?}");
        assert!(
            String::from_utf8_lossy(&said.stdout).starts_with("3 events are in the log "),
            "{said:?}"
        );
        assert!(!check(&changed).status.success());
    }
    if let Some(go) = go() {
        let program = build_go(&go, &folder.join("check.go"));
        let check = |folder: &Path| run(Command::new(&program).current_dir(folder));
        let said = check(&folder);
        assert!(said.status.success(), "{said:?}");
        assert!(
            String::from_utf8_lossy(&said.stdout).starts_with("3 events are in the log "),
            "{said:?}"
        );
        assert!(!check(&changed).status.success());
    }
}

fn third_parties_refuse_an_archive_that_was_changed(database: DatabaseKind) {
    let Some(python) = python() else { return };
    let case = case(database);
    let file = file();
    export(&case, &file, DAY).success();
    let check = |file: &Path| {
        let path = file.to_str().expect("a path in UTF-8");
        run_python(&python, "log_pymerkle.py", &["evidence", path])
    };
    let said = check(&file);
    assert!(said.status.success(), "{said:?}");
    assert!(
        String::from_utf8_lossy(&said.stdout).contains("3 events of the archive included"),
        "{said:?}"
    );
    let mut bytes = std::fs::read(&file).expect("read the archive");
    let place = bytes
        .windows(7)
        .position(|window| window == b"actor-1")
        .expect("an event");
    bytes[place + 6] = b'2';
    std::fs::write(&file, bytes).expect("write the archive");
    assert!(!check(&file).status.success());
}

fn no_archive_is_made_of_what_cannot_be_proved(database: DatabaseKind) {
    let case = case(database);
    let refuse = |times: [&str; 2], why: &str| {
        let file = file();
        let finished = export(&case, &file, times);
        assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
        assert!(finished.stderr.contains(why), "{finished:?}");
        let folder = file.parent().expect("a folder");
        assert_eq!(
            std::fs::read_dir(folder).expect("list it").count(),
            0,
            "a refused export leaves no file"
        );
    };
    refuse(
        ["1999-01-01T00:00:00Z", "1999-12-31T00:00:00Z"],
        "there are no events between these times",
    );
    case.tamper("UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq = 302");
    refuse(DAY, "event 302 is not as it was appended");
    let mut event = case.events[17].clone();
    event["actor"]["id"] = json!("somebody else");
    let text = canonical(&event);
    case.tamper(&format!(
        "UPDATE events SET body = {}, content_hash = {} WHERE LEDGER AND seq = 302",
        quoted(&text),
        case.database.blob(ContentHash::of(&text).as_bytes())
    ));
    refuse(DAY, "cannot be proved");
}

fn a_file_that_is_there_is_left_alone(database: DatabaseKind) {
    let case = Case::fresh(database);
    let (server, project) = case.start();
    store_events(&project, 1);
    drop(server);
    let file = file();
    std::fs::write(&file, "precious").expect("write a file");
    let finished = export(&case, &file, ["2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z"]);
    assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("read it"), "precious");
}
