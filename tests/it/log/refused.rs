//! The corpus of documents that verifiers refuse (`docs/vectors/refused.json`): changes of an archive, of receipts and of a proof of
//! completeness that the service has made. Every program of this project that verifies such a document must refuse all of them, and
//! accept what was changed. `AUDIT_UPDATE_SNAPSHOT=1` makes a new corpus; then see which changes are accepted.

use super::Case;
use super::evidence::{Archive, Programs};
use super::tenants::feed;
use audit_domain::json as strict_json;
use audit_tests::process::Exit;
use audit_tests::{
    Client, DatabaseKind, Stream, command_line, environment, event_with, python, run, temporary_directory,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/vectors/refused.json");
/// Most lines, numbers, names or hashes of one text that are changed.
const CHANGED_MAX: usize = 6;

/// Replaces `remove` characters at `at` by `insert`.
struct Change {
    what: String,
    at: usize,
    remove: usize,
    insert: String,
}

fn change(what: String, at: usize, remove: usize, insert: &str) -> Change {
    let insert = insert.to_owned();
    Change {
        what,
        at,
        remove,
        insert,
    }
}

/// What can be wrong with a text that another program has written: its lines, its numbers, its hashes, and the members of its JSON.
fn changes(text: &str) -> Vec<Change> {
    let characters: Vec<char> = text.chars().collect();
    let mut changes = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate().take(CHANGED_MAX) {
        let length = line.chars().count();
        let end = start + length - usize::from(line.ends_with('\n'));
        changes.push(change(format!("line {number} is missing"), start, length, ""));
        changes.push(change(format!("line {number} is there twice"), start, 0, line));
        changes.push(change(
            format!("line {number} begins with a space"),
            start,
            0,
            " ",
        ));
        changes.push(change(format!("line {number} ends with a space"), end, 0, " "));
        changes.push(change(format!("line {number} ends with CR LF"), end, 0, "\r"));
        start += length;
    }
    for (start, end) in runs(&characters, 1, char::is_ascii_digit).take(CHANGED_MAX) {
        let last = characters[end - 1]
            .to_digit(10)
            .map_or(0, |digit| (digit + 1) % 10);
        changes.push(change(
            format!("the number at {start} begins with 0"),
            start,
            0,
            "0",
        ));
        changes.push(change(
            format!("the number at {start} is another"),
            end - 1,
            1,
            &last.to_string(),
        ));
    }
    let is_of_hash = |character: &char| character.is_ascii_alphanumeric() || "+/=".contains(*character);
    for (start, end) in runs(&characters, 40, is_of_hash).take(CHANGED_MAX) {
        let other = if characters[start] == 'a' { "b" } else { "a" };
        changes.push(change(format!("the hash at {start} is another"), start, 1, other));
        changes.push(change(
            format!("the hash at {start} is too short"),
            end - 4,
            4,
            "",
        ));
        if characters[end - 1] == '=' {
            // The last bits of the digit before it are not used.
            let last = if characters[end - 2] == '=' {
                end - 3
            } else {
                end - 2
            };
            let next = char::from(characters[last] as u8 + 1).to_string();
            changes.push(change(
                format!("the hash at {start} has unused bits"),
                last,
                1,
                &next,
            ));
            changes.push(change(format!("the hash at {start} has no ="), end - 1, 1, ""));
        }
    }
    let mut names = Vec::new();
    for (start, end) in runs(&characters, 1, |character| {
        character.is_ascii_lowercase() || *character == '_'
    }) {
        let is_name = start > 0 && characters[start - 1] == '"' && characters[end..].starts_with(&['"', ':']);
        let name: String = characters[start..end].iter().collect();
        if !is_name || names.contains(&name) {
            continue;
        }
        let twice = format!("\"{name}\":null,");
        changes.push(change(
            format!("the member {name} is there twice"),
            start - 1,
            0,
            &twice,
        ));
        changes.push(change(format!("a member is named x{name}"), start, 0, "x"));
        changes.push(change(
            format!("the name {name} has an escape"),
            start,
            1,
            &format!("\\u{:04x}", characters[start] as u32),
        ));
        changes.push(change(format!("a space follows {name}"), end + 2, 0, " "));
        names.push(name);
    }
    changes
}

/// Where the longest runs of such characters begin and end, if they have this many.
fn runs<'a>(
    text: &'a [char],
    length_min: usize,
    is_one: impl Fn(&char) -> bool + 'a,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].iter().position(&is_one)?;
            at = start + text[start..].iter().take_while(|one| is_one(one)).count();
            if at - start >= length_min {
                return Some((start, at));
            }
        }
    })
}

/// Applies the change of a case to a text.
fn changed(text: &str, case: &Value) -> String {
    let number = |name: &str| case[name].as_u64().expect("a number") as usize;
    let (at, remove) = (number("at"), number("remove"));
    let before: String = text.chars().take(at).collect();
    let after: String = text.chars().skip(at + remove).collect();
    format!("{before}{}{after}", case["insert"].as_str().expect("a text"))
}

/// Documents of a new server, and all changes of them.
fn make() -> Value {
    let case = Case::fresh(DatabaseKind::Sqlite);
    let (server, project) = case.start();
    let organization = case.organization.on(&server);
    let stream = Stream::of(&project);
    let claimed = stream.store(event_with(json!({"tenant_id": "acme"})));
    assert_eq!(stream.move_to(&organization.master()), 1);
    let details = json!({
        "tenant_id": "acme", "idempotency_key": "key-1", "metadata": {"a": [1, {"b": "c"}]},
        "actor": {"name": "N", "email": "n@example.com"}, "target": {"id": "t", "type": "door"},
        "context": {"ip_address": "192.0.2.1", "user_agent": "u"},
    });
    let id = project.store(event_with(details));
    let time = |id: &str, name: &str| project.event(id)[name].as_str().expect("a time").to_owned();
    let (from, to) = (time(&claimed, "claimed_at"), time(&id, "received_at"));
    project.store_all(vec![event_with(json!({"tenant_id": "acme"})); 2]);
    let read = |client: &Client, path: &str| {
        let bytes = client.get(path).send_raw().bytes;
        String::from_utf8(bytes).expect("UTF-8")
    };
    let path = format!("/events/{id}/receipt");
    let receipt = read(&project, &path);
    organization
        .create_tier(json!({"name": "narrow", "hidden_fields": ["actor.email", "context.ip_address"]}));
    let of_viewer = read(&organization.viewer("acme", "narrow"), &path);
    let viewer = organization.viewer("acme", "full");
    let completeness = read(&viewer, "/log/completeness");
    let events: String = feed(&viewer).iter().map(|event| format!("{event}\n")).collect();
    super::stop(server);
    let archive = Archive::export(&case, [&from, &to]);
    let files: Map<String, Value> = archive
        .0
        .keys()
        .map(|name| (name.clone(), archive.text(name).into()))
        .collect();
    let mut cases = Vec::new();
    let mut add = |of: &str, part: &str, text: &str| {
        for Change {
            what,
            at,
            remove,
            insert,
        } in changes(text)
        {
            let case = json!({
                "of": of, "part": part, "what": what, "at": at, "remove": remove, "insert": insert,
            });
            if !says_the_same(of, text, &changed(text, &case)) {
                cases.push(case);
            }
        }
    };
    for name in files.keys().filter(|name| *name != "README.txt") {
        add("archive", name, &archive.text(name));
    }
    for (of, text) in [("receipt", &receipt), ("receipt_of_viewer", &of_viewer)] {
        add(of, "text", text);
        add(of, "extra", &extra(text).1);
    }
    add("completeness", "text", &completeness);
    json!({
        "key": archive.key(), "log": archive.log(), "tenant_id": "acme",
        "documents": {
            "archive": files, "receipt": receipt, "receipt_of_viewer": of_viewer, "completeness": completeness, "events": events,
        },
        "cases": cases,
    })
}

/// Whether a changed text is allowed and says what it said before: the response of a server is any JSON, and may have further members;
/// and a note may have a signature line twice.
fn says_the_same(of: &str, text: &str, changed: &str) -> bool {
    if of != "completeness" {
        let lines = |text: &str| BTreeSet::from_iter(text.lines().map(str::to_owned));
        let is_note = text.contains("\n\n\u{2014} ");
        return is_note && changed.starts_with(text) && lines(text) == lines(changed);
    }
    let read = |text: &str| {
        let json = strict_json::parse(text.as_bytes()).ok()?;
        let Value::Object(mut members) = Value::from(json) else {
            return None;
        };
        let is_read = |name: &str| ["tenant_id", "salt", "checkpoint", "path", "map"].contains(&name);
        members.retain(|name, _| is_read(name));
        Some(members)
    };
    read(text) == read(changed)
}

/// What stands in front of the extra data of a receipt, the data, and what follows them.
fn extra(receipt: &str) -> (String, String, String) {
    let (before, rest) = receipt.split_once("extra ").expect("a line");
    let (extra, after) = rest.split_once('\n').expect("its end");
    let extra = String::from_utf8(STANDARD.decode(extra).expect("base64")).expect("UTF-8");
    (format!("{before}extra "), extra, format!("\n{after}"))
}

/// The document of a case.
fn document(corpus: &Value, case: &Value) -> String {
    let of = case["of"].as_str().expect("a document");
    let text = corpus["documents"][of].as_str().expect("a text");
    match case["part"].as_str() {
        Some("extra") => {
            let (before, data, after) = extra(text);
            format!("{before}{}{after}", STANDARD.encode(changed(&data, case)))
        }
        _ => changed(text, case),
    }
}

fn archive(corpus: &Value, case: Option<&Value>) -> Archive {
    let files = corpus["documents"]["archive"].as_object().expect("files");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let files = files.iter().map(|(name, value)| match case {
        Some(case) if case["part"] == **name => (name.clone(), changed(&text(value), case).into_bytes()),
        _ => (name.clone(), text(value).into_bytes()),
    });
    let archive = Archive(files.collect());
    match case.is_some_and(|case| case["part"] == "SHA256SUMS") {
        true => archive,
        // They detect damage, and everybody can write them.
        false => archive.summed(),
    }
}

/// What the programs say of a document, and whether each accepts it.
fn verdicts(corpus: &Value, programs: &Programs, case: Option<&Value>, of: &str) -> Vec<(bool, String)> {
    let key = corpus["key"].as_str().expect("a key");
    if of == "archive" {
        return programs.run(&archive(corpus, case), key);
    }
    let original = corpus["documents"][of].as_str().expect("a text").to_owned();
    let text = case.map_or(original, |case| document(corpus, case));
    if of == "completeness" {
        let events = corpus["documents"]["events"].as_str().expect("a text");
        return verdicts_of_completeness(&text, events, key, &programs.log);
    }
    let folder = temporary_directory("refused-");
    let file = saved(&folder, "document", &text);
    let mut said = Vec::new();
    let own = command_line(&["check", &file, "--key", key, "--log", &expected_log(corpus, of)]);
    said.push((own.exit == Exit::Code(0), format!("{own:?}")));
    let client = audit_client::verify_receipt(&text, key, None);
    said.push((client.is_ok(), format!("{client:?}")));
    said
}

/// What the programs say of a proof that the events of the tenant `acme` are complete.
fn verdicts_of_completeness(document: &str, events: &str, key: &str, log: &str) -> Vec<(bool, String)> {
    let folder = temporary_directory("refused-");
    let file = saved(&folder, "document", document);
    let events = saved(&folder, "events.jsonl", events);
    let own = command_line(&[
        "check", &file, "--key", key, "--log", log, "--tenant", "acme", "--events", &events,
    ]);
    let mut said = vec![(own.exit == Exit::Code(0), format!("{own:?}"))];
    if let Some(python) = python() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples/completeness.py");
        let output = run(Command::new(python).args([script, &file, &events, key]));
        said.push((output.status.success(), format!("{output:?}")));
    }
    said
}

/// The path of a new file.
fn saved(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("write a file");
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The log of a receipt: for a viewer, that of its tenant.
fn expected_log(corpus: &Value, of: &str) -> String {
    let text = corpus["documents"][of].as_str().expect("a text");
    let log = text.lines().find(|line| line.starts_with("audit-log-"));
    log.expect("a checkpoint").to_owned()
}

#[test]
fn every_program_refuses_the_corpus() {
    if environment("AUDIT_UPDATE_SNAPSHOT").is_some_and(|value| value == "1") {
        let text = serde_json::to_string_pretty(&make()).expect("JSON");
        std::fs::write(CORPUS, text + "\n").expect("write the corpus");
    }
    let corpus = std::fs::read(Path::new(CORPUS)).expect("read the corpus");
    let corpus: Value = serde_json::from_slice(&corpus).expect("JSON");
    let programs = Programs::of(&archive(&corpus, None));
    for of in ["archive", "receipt", "receipt_of_viewer", "completeness"] {
        for (accepted, said) in verdicts(&corpus, &programs, None, of) {
            assert!(accepted, "{of}: {said}");
        }
    }
    let cases = corpus["cases"].as_array().expect("cases");
    assert!(cases.len() >= 200, "{}", cases.len());
    let mut wrong = Vec::new();
    // Each starts two or three programs. The clients read all of them.
    let is_full = environment("AUDIT_TEST_ATTACKS").is_some_and(|form| form == "full");
    for case in cases.iter().step_by(if is_full { 1 } else { 5 }) {
        let verdicts = verdicts(
            &corpus,
            &programs,
            Some(case),
            case["of"].as_str().expect("a document"),
        );
        for (program, (accepted, said)) in verdicts.into_iter().enumerate() {
            if accepted {
                wrong.push(format!("program {program}, {case}: {said}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} accepted:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn statements_of_removed_events_are_verified() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/vectors/completeness.json");
    let vectors = std::fs::read(path).expect("read the vectors");
    let vectors: Value = serde_json::from_slice(&vectors).expect("JSON");
    let text = |name: &str| vectors[name].as_str().expect("a text");
    let log = format!("audit.example.com/{}", text("log"));
    for (name, is_valid) in [("accepted", true), ("refused", false)] {
        for case in vectors[name].as_array().expect("cases") {
            let mut document = vectors["proof"].clone();
            if let Some(removed) = case.get("removed") {
                document["removed"] = removed.clone();
            }
            let there = case["there"].as_array().expect("indexes").iter();
            let event = |index: &Value| &vectors["events"][index.as_u64().expect("an index") as usize];
            let events: String = there.map(|index| format!("{}\n", event(index))).collect();
            for (accepted, said) in
                verdicts_of_completeness(&document.to_string(), &events, text("key"), &log)
            {
                assert_eq!(accepted, is_valid, "{case}: {said}");
            }
        }
    }
}
