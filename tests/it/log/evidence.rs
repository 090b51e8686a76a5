//! `log export`: archives that third parties verify without this service.

use super::{Case, canonical, leaf_of, live_log, quoted, store_events};
use audit_ledger::{InclusionProof, Origin, SignedCheckpoint, SigningKey, VerifierKey};
use audit_tests::process::Exit;
use audit_tests::{
    DatabaseKind, Finished, Stream, build_go, command_line, command_line_on, event, event_with, go,
    on_both_databases, python, run, run_python, temporary_directory,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

const FILES: [&str; 8] = [
    "README.txt",
    "SHA256SUMS",
    "checkpoint.txt",
    "events.jsonl",
    "key.txt",
    "proofs.jsonl",
    "range.txt",
    "removed.jsonl",
];

on_both_databases! {
    an_archive_proves_the_events_of_a_time,
    what_the_readme_says_works_as_written,
    every_program_refuses_a_changed_bit,
    every_program_refuses_a_forgery_with_matching_sums,
    compressed_files_are_refused,
    that_no_event_was_received_can_be_proved,
    a_claimed_event_hides_no_events_before_it,
    third_parties_refuse_an_archive_that_was_changed,
    no_archive_is_made_of_what_cannot_be_proved,
    a_file_that_is_there_is_left_alone,
}

/// A case with three events that were received at a time of their own, later than all before and earlier than the last.
struct Received {
    case: Case,
    /// Their time.
    at: String,
    /// Their positions.
    seqs: Range<usize>,
}

impl Received {
    fn make(database: DatabaseKind) -> Self {
        let case = Case::fresh(database);
        let (server, project) = case.start();
        let received_at = |id: &str| {
            project.event(id)["received_at"]
                .as_str()
                .expect("a time")
                .to_owned()
        };
        let store = |count: usize| {
            let event = event_with(json!({"actor": {"name": "Zoë, \"Z\"", "email": "zoe@example.com"}}));
            let ids = project.store_all(vec![event; count]);
            (received_at(&ids[0]), ids)
        };
        // Requests within one millisecond have the same time, so each is repeated until it has another one.
        let (mut before, mut end) = (received_at(&case.ids[case.ids.len() - 1]), case.ids.len());
        let at = loop {
            let (at, _) = store(3);
            end += 3;
            if at > before {
                break at;
            }
            before = at;
        };
        let mut seqs = end - 3..end;
        while store(1).0 == at {
            seqs.end += 1;
        }
        super::stop(server);
        Self { case, at, seqs }
    }
}

fn export(case: &Case, file: &Path, times: [&str; 2], more: &[&str]) -> Finished {
    let file = file.to_str().expect("a path in UTF-8");
    let project = case.organization.project_id.as_str();
    let [from, to] = times;
    let arguments = [
        "log",
        "export",
        "--project",
        project,
        "--from",
        from,
        "--to",
        to,
        file,
    ];
    command_line_on(&case.database, &[&arguments, more].concat())
}

/// The files of an archive by name.
#[derive(Clone)]
pub(super) struct Archive(pub(super) BTreeMap<String, Vec<u8>>);

impl Archive {
    pub(super) fn export(case: &Case, times: [&str; 2]) -> Self {
        let file = file();
        export(case, &file, times, &[]).success();
        Self::read(&file)
    }

    fn read(file: &Path) -> Self {
        let bytes = std::fs::File::open(file).expect("open the archive");
        let mut archive = zip::ZipArchive::new(bytes).expect("a zip file");
        assert_eq!(archive.len(), FILES.len());
        let read = |index: usize| {
            let mut entry = archive.by_index(index).expect("a file of the archive");
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("read it");
            (entry.name().expect("a name in UTF-8").into_owned(), bytes)
        };
        Self((0..FILES.len()).map(read).collect())
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(self.0[name].clone()).expect("UTF-8")
    }

    /// With another text in one of its files.
    fn with(&self, name: &str, text: impl Into<String>) -> Self {
        let mut files = self.0.clone();
        files.insert(name.to_owned(), text.into().into_bytes());
        Self(files)
    }

    /// With other lines in one of its files.
    fn with_lines(&self, name: &str, change: impl FnOnce(&mut Vec<String>)) -> Self {
        let mut lines: Vec<String> = self.text(name).lines().map(str::to_owned).collect();
        change(&mut lines);
        self.with(
            name,
            lines.iter().map(|line| format!("{line}\n")).collect::<String>(),
        )
    }

    /// Without an event and its proof.
    fn without_line(&self, line: usize) -> Self {
        let remove = |lines: &mut Vec<String>| drop(lines.remove(line));
        self.with_lines("events.jsonl", remove)
            .with_lines("proofs.jsonl", remove)
    }

    /// With the sums of its present files.
    pub(super) fn summed(&self) -> Self {
        let sums = FILES.iter().filter(|name| **name != "SHA256SUMS").map(|name| {
            let digest = Sha256::digest(&self.0[*name]);
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{digits}  {name}\n")
        });
        self.with("SHA256SUMS", sums.collect::<String>())
    }

    pub(super) fn key(&self) -> String {
        self.text("key.txt").trim_end().to_owned()
    }

    /// The name of its log.
    pub(super) fn log(&self) -> String {
        let note = self.text("checkpoint.txt");
        note.lines().next().expect("a log").to_owned()
    }

    /// Writes a zip file.
    fn zip(&self) -> PathBuf {
        self.zip_with(CompressionMethod::Stored)
    }

    fn zip_with(&self, method: CompressionMethod) -> PathBuf {
        let path = file();
        let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).expect("create a file"));
        for (name, bytes) in &self.0 {
            let options = SimpleFileOptions::default().compression_method(method);
            archive
                .start_file(name.as_str(), options)
                .expect("a file of the archive");
            archive.write_all(bytes).expect("write it");
        }
        archive.finish().expect("finish the archive");
        path
    }

    /// Writes the files into a folder.
    fn unpack(&self) -> PathBuf {
        let folder = temporary_directory("unpacked-");
        for (name, bytes) in &self.0 {
            std::fs::write(folder.join(name), bytes).expect("write a file");
        }
        folder.to_path_buf()
    }
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

/// The programs that check an archive: `audit-server check`, and those of the README that can run here.
pub(super) struct Programs {
    python: Option<(String, PathBuf)>,
    go: Option<PathBuf>,
    /// The log that they expect.
    pub(super) log: String,
}

impl Programs {
    pub(super) fn of(archive: &Archive) -> Self {
        let folder = temporary_directory("programs-").to_path_buf();
        let save = |name: &str| {
            let path = folder.join(name);
            std::fs::write(&path, program(&archive.text("README.txt"), name)).expect("write a program");
            path
        };
        Self {
            python: python().map(|python| (python, save("check.py"))),
            go: go().map(|go| build_go(&go, &save("check.go"))),
            log: archive.log(),
        }
    }

    /// What each program says of an archive, and whether it accepts it.
    pub(super) fn run(&self, archive: &Archive, key: &str) -> Vec<(bool, String)> {
        let path = archive.zip();
        let path = path.to_str().expect("a path in UTF-8");
        let own = command_line(&["check", path, "--key", key, "--log", &self.log]);
        let mut said = vec![(own.exit == Exit::Code(0), format!("{}{}", own.stdout, own.stderr))];
        assert_ne!(own.exit, Exit::Code(2), "{own:?}");
        let folder = archive.unpack();
        let mut run_in = |mut command: Command| {
            let output = run(command.args([key, &self.log]).current_dir(&folder));
            let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
            said.push((
                output.status.success(),
                String::from_utf8_lossy(&text).into_owned(),
            ));
        };
        if let Some((python, script)) = &self.python {
            // Without assertions, which must not carry the check.
            let mut command = Command::new(python);
            command.arg("-O").arg(script);
            run_in(command);
        }
        if let Some(go) = &self.go {
            run_in(Command::new(go));
        }
        said
    }

    fn expect_accepted(&self, archive: &Archive, start: &str) {
        for (accepted, said) in self.run(archive, &archive.key()) {
            assert!(accepted && said.starts_with(start), "{start:?} in {said}");
        }
    }

    fn expect_refused(&self, archive: &Archive, key: &str, what: &str) {
        for (accepted, said) in self.run(archive, key) {
            assert!(!accepted, "{what}: {said}");
        }
    }
}

fn file() -> PathBuf {
    temporary_directory("evidence-").join("events.zip")
}

fn an_archive_proves_the_events_of_a_time(database: DatabaseKind) {
    let Received { case, at, seqs } = Received::make(database);
    let path = file();
    let said = export(&case, &path, [&at, &at], &[]).success();
    let size = seqs.end + 1;
    assert!(
        said.starts_with(&format!("{} events of ", seqs.len())) && said.contains(&format!(" {size} ")),
        "{said}"
    );
    let archive = Archive::read(&path);
    assert_eq!(archive.0.keys().collect::<Vec<_>>(), FILES);
    let key: VerifierKey = archive.key().parse().expect("a key");
    assert_eq!(
        key.to_string(),
        command_line_on(&case.database, &["log", "key"]).success()
    );
    let origin = format!("{}/{}/live", key.name().as_str(), case.organization.project_id);
    let origin = Origin::parse(&origin).expect("a name");
    let signed = SignedCheckpoint::open(&archive.text("checkpoint.txt"), &origin, &[key]).expect("signed");
    assert_eq!(signed.head().size, size as u64);
    let lines = |name: &str| -> Vec<Value> {
        let text = archive.text(name);
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect()
    };
    let (events, proofs) = (lines("events.jsonl"), lines("proofs.jsonl"));
    let found: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    let with_neighbours: Vec<u64> = (seqs.start as u64 - 1..size as u64).collect();
    assert_eq!(found, with_neighbours);
    assert_eq!(events.len(), proofs.len());
    for (event, proof) in events.iter().zip(&proofs) {
        let mut read = event.clone();
        read.as_object_mut().expect("an event").remove("seq");
        let hashes = proof["inclusion"].as_array().expect("hashes").iter();
        let inclusion = InclusionProof::from_base64(hashes.filter_map(Value::as_str)).expect("hashes");
        let seq = event["seq"].as_u64().expect("a position");
        inclusion
            .verify(seq, &leaf_of(&live_log(&case.organization), &read), signed.head())
            .expect("the event is in the log");
    }
    assert_eq!(events[1]["redacted"], json!(true));
    let readme = archive.text("README.txt");
    for word in [
        case.organization.project_id.as_str(),
        &format!("{} events", seqs.len()),
        &format!("{size} events"),
        "What the proofs show, and what they do not",
    ] {
        assert!(readme.contains(word), "{word} in {readme}");
    }
    // The programs print what they have verified, and have braces of their own.
    let (text, programs) = readme.split_once("----8<----").expect("a program");
    assert!(!text.contains("{log}") && !text.contains("{size}"), "{text}");
    assert!(
        programs.contains("are in the log {log} of {size} events"),
        "{programs}"
    );
}

fn what_the_readme_says_works_as_written(database: DatabaseKind) {
    let Received { case, at, seqs } = Received::make(database);
    let archive = Archive::export(&case, [&at, &at]);
    let programs = Programs::of(&archive);
    let proved = format!("{} events received from {at} to {at} are in the log ", seqs.len());
    programs.expect_accepted(&archive, &proved);
    let everything = Archive::export(&case, ["2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z"]);
    programs.expect_accepted(&everything, &format!("{} events received", seqs.end + 1));
    // A log of somebody else, or an archive that brings a key of its own.
    let key: VerifierKey = archive.key().parse().expect("a key");
    let other = SigningKey::from_seed(key.name().clone(), &[8; 32]).expect("a key");
    programs.expect_refused(&archive, &other.verifier().to_string(), "another key");
    // The log of another project, which the same key signs.
    let shadow = Programs {
        log: archive.log().replace("/live", "/test"),
        ..programs
    };
    shadow.expect_refused(&archive, &archive.key(), "another log");
}

fn every_program_refuses_a_changed_bit(database: DatabaseKind) {
    let Received { case, at, .. } = Received::make(database);
    let archive = Archive::export(&case, [&at, &at]);
    let programs = Programs::of(&archive);
    let key = archive.key();
    for name in FILES {
        let length = archive.0[name].len();
        for byte in [0, length / 3, length.saturating_sub(1)] {
            let mut changed = archive.clone();
            let file = changed.0.get_mut(name).expect("a file");
            match file.get_mut(byte) {
                Some(changed) => *changed ^= 1 << (byte % 8),
                None => file.push(b'\n'),
            }
            programs.expect_refused(&changed, &key, &format!("byte {byte} of {name}"));
        }
    }
}

fn every_program_refuses_a_forgery_with_matching_sums(database: DatabaseKind) {
    let Received { case, at, .. } = Received::make(database);
    let archive = Archive::export(&case, [&at, &at]);
    let programs = Programs::of(&archive);
    let key = archive.key();
    let lines = archive.text("events.jsonl").lines().count();
    let actor = archive.text("events.jsonl").replace("actor-1", "actor-2");
    let earlier = Archive::export(&case, ["2000-01-01T00:00:00Z", &at]).text("range.txt");
    let with_range = |from: &str, to: &str| archive.with("range.txt", format!("{from}\n{to}\n"));
    let swapped = |lines: &mut Vec<String>| lines.swap(1, 2);
    let proof_of_another = |lines: &mut Vec<String>| lines[2] = lines[1].clone();
    let forgeries = [
        ("an event was changed", archive.with("events.jsonl", actor)),
        ("the first event is missing", archive.without_line(0)),
        ("an event in the middle is missing", archive.without_line(2)),
        ("the last event is missing", archive.without_line(lines - 1)),
        (
            "two events are exchanged",
            archive
                .with_lines("events.jsonl", swapped)
                .with_lines("proofs.jsonl", swapped),
        ),
        (
            "a proof is of another event",
            archive.with_lines("proofs.jsonl", proof_of_another),
        ),
        (
            "a proof is missing",
            archive.with_lines("proofs.jsonl", |lines| drop(lines.pop())),
        ),
        (
            "there are no events",
            archive.with("events.jsonl", "").with("proofs.jsonl", ""),
        ),
        ("the range begins earlier", archive.with("range.txt", earlier)),
        (
            "the range ends before it begins",
            with_range("2100-01-01T00:00:00.000Z", &at),
        ),
        ("a time has a space", with_range(&at.replace('T', " "), &at)),
        (
            "a time has no milliseconds",
            with_range(&at, "2100-01-01T00:00:00Z"),
        ),
        (
            "a time has another zone",
            with_range(&at, &at.replace('Z', "+00:00")),
        ),
        ("a time is no date", with_range("0", &at)),
        (
            "there is a third time",
            archive.with("range.txt", format!("{at}\n{at}\n{at}\n")),
        ),
        (
            "the log is smaller than signed",
            archive.with_lines("checkpoint.txt", |lines| lines[1] = "305".to_owned()),
        ),
        (
            "the signature is missing",
            archive.with_lines("checkpoint.txt", |lines| lines.truncate(4)),
        ),
    ];
    for (what, forgery) in forgeries {
        programs.expect_refused(&forgery.summed(), &key, what);
    }
    // The same steps without a forgery.
    let proved = format!("{} events received", lines - 2);
    programs.expect_accepted(&archive.summed(), &proved);
}

/// A compressed file could become gigabytes, and `log export` writes none.
fn compressed_files_are_refused(database: DatabaseKind) {
    let Received { case, at, .. } = Received::make(database);
    let archive = Archive::export(&case, [&at, &at]);
    let check = |method: CompressionMethod| {
        let path = archive.zip_with(method);
        let path = path.to_str().expect("a path in UTF-8");
        command_line(&["check", path, "--key", &archive.key(), "--log", &archive.log()])
    };
    check(CompressionMethod::Stored).success();
    let refused = check(CompressionMethod::Deflated);
    assert_eq!(refused.exit, Exit::Code(1), "{refused:?}");
    assert!(refused.stderr.contains("not an uncompressed file"), "{refused:?}");
}

/// What the programs say of a range that the log had not passed when it was signed.
const OPEN_END: &str = ", which ended within that time when it was signed";

fn that_no_event_was_received_can_be_proved(database: DatabaseKind) {
    let Received { case, at, .. } = Received::make(database);
    let before = Archive::export(&case, ["2000-01-01", "2000-12-31"]);
    let programs = Programs::of(&before);
    programs.expect_accepted(&before, "0 events received from 2000-01-01T00:00:00.000Z");
    assert_eq!(
        before.text("range.txt"),
        "2000-01-01T00:00:00.000Z\n2000-12-31T23:59:59.999Z\n"
    );
    let said = |archive: &Archive| programs.run(archive, &archive.key());
    assert!(said(&before).iter().all(|(_, said)| !said.contains(OPEN_END)));
    assert_eq!(before.text("events.jsonl").lines().count(), 1);
    let after = Archive::export(&case, ["2100-01-01T00:00:00Z", "2100-12-31T23:59:59.999Z"]);
    programs.expect_accepted(&after, "0 events received from 2100-01-01T00:00:00.000Z");
    // A log that is signed now says nothing of later.
    assert!(said(&after).iter().all(|(_, said)| said.contains(OPEN_END)));
    let reversed = export(
        &case,
        &file(),
        ["2100-01-01T00:00:00Z", "2000-01-01T00:00:00Z"],
        &[],
    );
    assert_eq!(reversed.exit, Exit::Code(2), "{reversed:?}");
    assert!(
        reversed.stderr.contains("--from is later than --to"),
        "{reversed:?}"
    );
    // The end of another range does not show that this one is empty.
    let hidden = after.with("range.txt", format!("{at}\n{at}\n"));
    programs.expect_refused(&hidden.summed(), &after.key(), "an event is hidden");
}

/// A claimed event was received before the time of the archive, and is in the log within it.
fn a_claimed_event_hides_no_events_before_it(database: DatabaseKind) {
    let case = Case::fresh(database);
    let (server, project) = case.start();
    let organization = case.organization.on(&server);
    let stream = Stream::of(&project);
    let received = |id: &str| {
        project.event(id)["received_at"]
            .as_str()
            .expect("a time")
            .to_owned()
    };
    let old = stream.store(event());
    // Requests within one millisecond have the same time, so each is repeated until it has another one.
    let later_than = |time: &str| {
        let ids = std::iter::repeat_with(|| project.store(event()));
        let mut times = ids.map(|id| received(&id));
        times.find(|found| found.as_str() > time).expect("time passes")
    };
    let start = later_than(&received(&project.store(event())));
    assert_eq!(stream.move_to(&organization.master()), 1);
    let (received_at, claimed_at) = (received(&old), project.event(&old)["claimed_at"].clone());
    let claimed_at = claimed_at.as_str().expect("a time");
    assert!(received_at < start && start.as_str() <= claimed_at);
    let end = later_than(claimed_at);
    later_than(&end);
    super::stop(server);
    let archive = Archive::export(&case, [&start, &end]);
    let programs = Programs::of(&archive);
    let events = archive.text("events.jsonl");
    let claimed = events.lines().position(|line| line.contains(&old));
    let claimed = claimed.expect("the claimed event is in the archive");
    let count = events.lines().count() - 2;
    programs.expect_accepted(&archive, &format!("{count} events received from {start}"));
    let begins_with_it = (0..claimed).fold(archive.clone(), |archive, _| archive.without_line(0));
    programs.expect_refused(
        &begins_with_it.summed(),
        &archive.key(),
        "the range begins with a claimed event",
    );
    // Without the member that says so, it is another event.
    let member = format!("\"claimed_at\":\"{claimed_at}\",");
    let unmarked = begins_with_it.with(
        "events.jsonl",
        begins_with_it.text("events.jsonl").replace(&member, ""),
    );
    assert_ne!(unmarked.0, begins_with_it.0);
    programs.expect_refused(&unmarked.summed(), &archive.key(), "the claim is left out");
}

fn third_parties_refuse_an_archive_that_was_changed(database: DatabaseKind) {
    let Some(python) = python() else { return };
    let Received { case, at, seqs } = Received::make(database);
    let archive = Archive::export(&case, [&at, &at]);
    let check = |archive: &Archive| {
        let path = archive.zip();
        let path = path.to_str().expect("a path in UTF-8");
        run_python(&python, "log_pymerkle.py", &["evidence", path])
    };
    let said = check(&archive);
    assert!(said.status.success(), "{said:?}");
    let included = format!("{} events of the archive included", seqs.len() + 2);
    assert!(
        String::from_utf8_lossy(&said.stdout).contains(&included),
        "{said:?}"
    );
    let changed = archive.text("events.jsonl").replacen("actor-1", "actor-2", 1);
    assert!(
        !check(&archive.with("events.jsonl", changed).summed())
            .status
            .success()
    );
}

fn no_archive_is_made_of_what_cannot_be_proved(database: DatabaseKind) {
    let Received { case, at, seqs } = Received::make(database);
    let refuse = |more: &[&str], why: &str| {
        let file = file();
        let finished = export(&case, &file, [&at, &at], more);
        assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
        assert!(finished.stderr.contains(why), "{finished:?}");
        let folder = file.parent().expect("a folder");
        assert_eq!(
            std::fs::read_dir(folder).expect("list it").count(),
            0,
            "a refused export leaves no file"
        );
    };
    refuse(&["--environment", "test"], "the log has no events");
    let seq = seqs.start + 1;
    case.tamper(&format!(
        "UPDATE events SET body = replace(body, 'actor-1', 'actor-2') WHERE LEDGER AND seq = {seq}"
    ));
    refuse(&[], &format!("event {seq} is not as it was appended"));
    let mut event = case.events[17].clone();
    event["actor"]["id"] = json!("somebody else");
    event["received_at"] = json!(at);
    let text = canonical(&event);
    // With the salt of the other event.
    case.tamper(&format!(
        "UPDATE events SET body = {}, content_hash = {},
             content_salt = (SELECT content_salt FROM events WHERE LEDGER AND seq = 17) WHERE LEDGER AND seq = {seq}",
        quoted(&text),
        case.hash_literal(&event)
    ));
    refuse(&[], "cannot be proved");
}

fn a_file_that_is_there_is_left_alone(database: DatabaseKind) {
    let case = Case::fresh(database);
    let (server, project) = case.start();
    store_events(&project, 1);
    drop(server);
    let file = file();
    std::fs::write(&file, "precious").expect("write a file");
    let finished = export(
        &case,
        &file,
        ["2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z"],
        &[],
    );
    assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("read it"), "precious");
}
