use super::*;
use audit_destinations::{OcsfOptions, Payload, RecordFormat, StreamPart, encode};
use audit_domain::{
    ContentSalt, Environment, Event, EventId, LogName, ProjectId, Stamp, StoredEvent, Timestamp,
};
use audit_ledger::{KeyName, SigningKey, StreamChain, StreamNote};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
const DESTINATION: &str = "dst_1";

fn key() -> SigningKey {
    SigningKey::from_seed(KeyName::parse("log").unwrap(), &[1; 32]).unwrap()
}

fn log() -> LogName {
    LogName::new(ProjectId::from_random([1; 16]), Environment::Live)
}

/// Makes the records of a run, as a destination sends them.
struct Sender {
    format: RecordFormat,
    include_raw: bool,
    chain: StreamChain,
    position: u64,
    seq: u64,
    set_aside: Vec<(u64, [u8; 32])>,
    lines: Vec<String>,
}

impl Sender {
    fn new() -> Self {
        Self::in_format(RecordFormat::Json, false)
    }

    fn in_format(format: RecordFormat, include_raw: bool) -> Self {
        Self {
            format,
            include_raw,
            chain: StreamChain::START,
            position: 0,
            seq: 100,
            set_aside: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn encoded(&self, payload: Payload<'_>, position: u64) -> String {
        let log = log();
        let stream = StreamPart {
            destination: DESTINATION,
            log: log.as_str(),
            run: 0,
            position,
        };
        let record = audit_destinations::Record { stream, payload };
        let options = OcsfOptions {
            include_raw: self.include_raw,
            ..OcsfOptions::default()
        };
        encode(&record, self.format, &options, NOW).text
    }

    fn stored_event(&self) -> StoredEvent {
        let event = json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": self.seq.to_string(), "type": "user"}});
        let received_at = NOW.plus_seconds(self.seq.cast_signed());
        let stamp = Stamp {
            id: EventId::new(received_at, [1; 10]),
            received_at,
        };
        let event = Event::from_json(event, received_at).unwrap();
        let record =
            audit_domain::Record::new(&event, false, stamp).hashed(ContentSalt::from_bytes([3; 16]), &log());
        StoredEvent {
            id: stamp.id,
            occurred_at: record.occurred_at(),
            canonical: record.canonical().to_owned(),
            content_hash: record.content_hash(),
            content_salt: (*record.content_salt()).into(),
            redacted: false,
        }
    }

    fn event(&mut self) -> &mut Self {
        let event = self.stored_event();
        self.position += 1;
        self.chain = self.chain.after(self.position, event.content_hash.as_bytes());
        let json = event.to_json().unwrap();
        let payload = Payload::Event {
            seq: self.seq,
            json: json.get(),
        };
        let line = self.encoded(payload, self.position);
        self.lines.push(line);
        self.seq += 1;
        self
    }

    fn events(&mut self, count: usize) -> &mut Self {
        for _ in 0..count {
            self.event();
        }
        self
    }

    /// An event that the receiver refuses.
    fn refused(&mut self) -> &mut Self {
        let hash = *self.stored_event().content_hash.as_bytes();
        self.event().lines.pop();
        self.set_aside.push((self.position, hash));
        self
    }

    fn checkpoint(&mut self) -> &mut Self {
        self.checkpoint_by(&key())
    }

    fn checkpoint_by(&mut self, key: &SigningKey) -> &mut Self {
        let origin = format!("log/{}", log().as_str());
        let note = StreamNote {
            origin: StreamNote::origin_of(&origin, DESTINATION, 0),
            position: self.position,
            chain: self.chain,
            next_seq: self.seq,
            filter_fingerprint: "ab".repeat(32),
            set_aside: std::mem::take(&mut self.set_aside),
        };
        let signed = key.sign_stream(&note.to_text()).unwrap();
        let payload = Payload::Checkpoint {
            note: signed.note(),
            log_checkpoint: "of the log",
            through_position: self.position,
            through_seq: self.seq - 1,
        };
        let line = self.encoded(payload, self.position + 1);
        self.position += 1;
        self.chain = self
            .chain
            .after(self.position, &Sha256::digest(signed.note()).into());
        self.lines.push(line);
        self
    }

    fn report(&self) -> Report {
        report_of(&self.lines)
    }
}

fn report_of(lines: &[String]) -> Report {
    let verifier = key().verifier().clone();
    let mut stream = Stream::default();
    for line in lines {
        let record = Record::read(line.as_bytes(), std::slice::from_ref(&verifier)).unwrap();
        stream.add(record).unwrap();
    }
    Report::of(stream.runs, stream.tests, Some(&verifier))
}

fn error_of(line: &Value) -> String {
    Record::read(line.to_string().as_bytes(), &[])
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn assert_has(report: &Report, line: &str) {
    assert!(
        report.text.lines().any(|found| found.trim() == line),
        "{line} in {}",
        report.text
    );
}

/// Ten events, a checkpoint, five events, a checkpoint, one event.
fn sent() -> Sender {
    let mut sender = Sender::new();
    sender.events(10).checkpoint().events(5).checkpoint().event();
    sender
}

const COMPLETE: &str = "positions 1–16 are complete up to seq 114, which the log received at 2026-01-15T10:31:54.000Z; 1 later records have no \
     checkpoint yet";

#[test]
fn a_whole_stream_is_complete_in_any_order_and_with_repeats() {
    let sender = sent();
    let report = sender.report();
    assert!(report.is_covered && !report.is_refused, "{}", report.text);
    assert_has(&report, COMPLETE);
    let mut reversed = sender.lines.clone();
    reversed.reverse();
    assert_has(&report_of(&reversed), COMPLETE);
    let twice = [sender.lines.clone(), sender.lines.clone()].concat();
    let report = report_of(&twice);
    assert!(!report.is_refused, "{}", report.text);
    assert_has(&report, COMPLETE);
    assert_has(&report, "18 repeats");
}

#[test]
fn a_record_that_is_missing_is_named() {
    for (index, position) in [(0, "1"), (4, "5"), (10, "11"), (15, "16")] {
        let mut lines = sent().lines;
        lines.remove(index);
        let report = report_of(&lines);
        match index {
            // What the receiver no longer has.
            0 => {
                assert!(!report.is_refused && report.is_covered, "{}", report.text);
                assert!(
                    report.text.contains("positions 11–16 are complete up to seq 114"),
                    "{}",
                    report.text
                );
            }
            _ => {
                assert!(report.is_refused, "{}", report.text);
                assert_has(&report, &format!("MISSING: 1 positions: {position}"));
            }
        }
    }
    let mut lines = sent().lines;
    lines.drain(2..5);
    lines.remove(5);
    assert_has(&report_of(&lines), "MISSING: 4 positions: 3–5, 9");
}

#[test]
fn the_last_months_of_a_stream_are_complete_from_their_first_checkpoint_on() {
    let lines = sent().lines.split_off(7);
    let report = report_of(&lines);
    assert!(!report.is_refused && report.is_covered, "{}", report.text);
    assert!(
        report.text.contains("positions 11–16 are complete up to seq 114"),
        "{}",
        report.text
    );
    let without_checkpoint = report_of(&lines[5..]);
    assert!(!without_checkpoint.is_refused && !without_checkpoint.is_covered);
}

#[test]
fn an_event_that_was_changed_is_found_in_every_format() {
    let changed = |format, include_raw, from: &str, to: &str| {
        let mut sender = Sender::in_format(format, include_raw);
        sender.events(3).checkpoint();
        assert!(!sender.report().is_refused);
        assert!(sender.lines[1].contains(from), "{}", sender.lines[1]);
        sender.lines[1] = sender.lines[1].replace(from, to);
        sender.report()
    };
    let report = changed(RecordFormat::Json, false, "\"a.b\"", "\"a.c\"");
    assert!(report.is_refused, "{}", report.text);
    assert_has(
        &report,
        "CHANGED: events without their content hash, at the positions 2",
    );
    let report = changed(RecordFormat::Ocsf, true, "\\\"a.b\\\"", "\\\"a.c\\\"");
    assert_has(
        &report,
        "CHANGED: events without their content hash, at the positions 2",
    );
    // With a content hash that fits: it is that of another event.
    let mut sender = Sender::new();
    sender.events(3);
    let other = sender.stored_event().to_json().unwrap();
    sender.checkpoint();
    let payload = Payload::Event {
        seq: 101,
        json: other.get(),
    };
    sender.lines[1] = sender.encoded(payload, 2);
    let report = sender.report();
    assert!(report.is_refused && !report.is_covered, "{}", report.text);
    assert_has(
        &report,
        "OTHER: the records are not those of the next checkpoint, at the positions 1–3",
    );
}

#[test]
fn without_the_event_as_it_was_hashed_only_its_hash_is_compared() {
    let mut sender = Sender::in_format(RecordFormat::Ocsf, false);
    sender.events(3).checkpoint();
    let report = sender.report();
    assert!(report.is_covered && !report.is_refused, "{}", report.text);
    assert_has(&report, "of 3 events the hash was compared and no field");
}

#[test]
fn what_the_receiver_has_refused_is_no_gap() {
    let mut sender = Sender::new();
    sender
        .refused()
        .events(2)
        .refused()
        .checkpoint()
        .event()
        .checkpoint();
    let report = sender.report();
    assert!(report.is_covered && !report.is_refused, "{}", report.text);
    assert_has(&report, "set aside by the receiver: positions 1, 4");
    assert!(
        report.text.contains("positions 1–6 are complete up to seq 104"),
        "{}",
        report.text
    );
    // It was sent again later.
    let mut resent = Sender::new();
    resent.event();
    sender.lines.push(resent.lines.remove(0));
    let report = sender.report();
    assert!(
        !report.is_refused && report.text.contains("positions 1–6 are complete"),
        "{}",
        report.text
    );
}

#[test]
fn two_records_with_one_position_contradict_each_other() {
    let mut sender = sent();
    let other = sender.stored_event().to_json().unwrap();
    let payload = Payload::Event {
        seq: 102,
        json: other.get(),
    };
    sender.lines.insert(12, sender.encoded(payload, 3));
    let report = sender.report();
    assert!(report.is_refused, "{}", report.text);
    assert_has(&report, "CONTRADICTING: two records with the positions 3");
}

#[test]
fn a_checkpoint_counts_only_with_the_signature_of_the_log() {
    let forger = SigningKey::from_seed(KeyName::parse("log").unwrap(), &[2; 32]).unwrap();
    let mut sender = Sender::new();
    sender.events(3).checkpoint_by(&forger);
    let report = sender.report();
    assert!(report.is_refused && !report.is_covered);
    assert_has(
        &report,
        "INVALID: checkpoints at the positions 4 (the note is not signed by a known key)",
    );
    // Of another run.
    let mut sender = sent();
    sender.lines[10] = sender.lines[10].replace("\"run\":0", "\"run\":1");
    assert!(sender.report().text.contains("it is of the stream log/"));
}

#[test]
fn tests_belong_to_no_run() {
    let mut sender = sent();
    let test = sender.encoded(Payload::Test, 0);
    sender.lines.push(test);
    let report = sender.report();
    assert!(!report.is_refused && report.is_covered, "{}", report.text);
    assert_has(&report, "1 records of tests");
}

#[test]
fn what_is_no_record_is_an_error_with_its_reason() {
    let stream = json!({"destination": "d", "log": "l", "run": 0, "position": 1});
    for (line, reason) in [
        (json!([]), "it is not a JSON object"),
        (
            json!({}),
            "it is not a record of a destination: it has no member \"stream\"",
        ),
        (
            json!({"stream": {"run": -1}}),
            "its member \"stream\" is not that of a record",
        ),
        (
            json!({"stream": stream}),
            "it has neither a content_hash nor a note",
        ),
        (
            json!({"stream": {"destination": "d", "log": "l", "run": 0, "position": 0}}),
            "its position is 0",
        ),
    ] {
        assert_eq!(error_of(&line), reason);
    }
}

#[test]
fn records_far_from_their_places_are_gaps_in_bounded_memory() {
    let mut run = Run::default();
    let event = || {
        record::Content::Event(record::EventContent {
            hash: [7; 32],
            logged_at: None,
            fields: record::Fields::Unknown,
        })
    };
    for position in (1..=20_000).map(|number| number * 10) {
        run.add(position, event());
        run.settle();
    }
    assert_eq!(run.waiting(), 20_000);
    run.settle_with_gaps();
    assert_eq!(
        (run.waiting(), run.found.missing, run.found.gaps.count),
        (0, 9 * 19_999, 19_999)
    );
    assert_eq!(run.found.gaps.first.len(), chain::FINDINGS_MAX);
    run.add(1, event());
    assert_eq!((run.waiting(), run.found.far_repeats), (0, 1));
}
