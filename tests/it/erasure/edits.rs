//! Edits of what erasures have left in the database, with write access to the database alone. `docs/design/tampering.md` has them.

use super::erased::{ABOUT_JANE, Erased, NEARLY_JANE, OF_JANE, OF_ROW, ON_JANE};
use crate::log::{Case, canonical, delete, quoted};
use crate::retention::SQLITE_COLUMNS;
use audit_domain::{ContentHash, EventPart, PartMask, StoredSalt, erase_parts};
use audit_tests::{DatabaseKind, on_both_databases};
use serde_json::Value;

on_both_databases! {
    log_verify_notices_every_edit_of_what_an_erasure_left,
}

/// Name, statements and the problem that `log verify` finds.
type Edit = (&'static str, String, &'static str);

const PART: &str = "no erasure in the log covers them";
const RECORDS: &str = "are not those that it was logged with";
const REMOVED: &str = "it was removed";
const AGAIN: &str = "is there again";

/// A database after erasures, to be edited.
struct Edited<'a> {
    case: &'a Case,
    kind: DatabaseKind,
    /// The position of the erasure of Jane.
    erasure: u64,
}

impl Edited<'_> {
    /// Exchanges text and salt of an event.
    fn with(&self, seq: usize, text: &str, salt: &StoredSalt) -> String {
        format!(
            "UPDATE events SET body = {}, content_salt = {} WHERE LEDGER AND seq = {seq}",
            quoted(text),
            self.case.database.blob(&salt.to_bytes())
        )
    }

    fn original(&self, seq: usize) -> (String, StoredSalt) {
        let event = &self.case.events[seq];
        let salt = event["content_salt"].as_str().and_then(|salt| salt.parse().ok());
        (canonical(event), StoredSalt::Whole(salt.expect("a salt")))
    }

    /// Text and salt of an event as an erasure at this position leaves them.
    fn erased(&self, seq: usize, parts: &[EventPart], erasure: u64) -> String {
        let (text, salt) = self.original(seq);
        let mask = PartMask::of_parts(parts.iter().copied()).expect("parts");
        let (text, salt) = erase_parts(&text, &salt, mask, erasure).expect("an event");
        self.with(seq, &text, &salt)
    }

    fn put_back(&self, seq: usize) -> String {
        let (text, salt) = self.original(seq);
        self.with(seq, &text, &salt)
    }

    /// Changes the records of the erasure: three, of the first tile.
    fn records(&self, sqlite: &str, postgres: &str) -> String {
        let records = match self.kind {
            DatabaseKind::Sqlite => format!("CAST({sqlite} AS BLOB)"),
            DatabaseKind::Postgres => postgres.to_owned(),
        };
        format!(
            "UPDATE removed_events SET records = {records} WHERE {}",
            self.of_erasure()
        )
    }

    fn of_erasure(&self) -> String {
        let erasure = self.erasure;
        format!("LEDGER AND removal = (SELECT number FROM removals WHERE LEDGER AND event_seq = {erasure})")
    }

    /// A record of an event that the erasure did not touch, in the slot of the first record: the tenant is the same.
    fn with_another_record(&self) -> String {
        let hash = self.case.events[NEARLY_JANE]["content_hash"].as_str();
        let hash: ContentHash = hash.and_then(|text| text.parse().ok()).expect("a hash");
        let offset = u8::try_from(NEARLY_JANE).expect("an offset in the first tile");
        let record = [&[offset, 0, 1 << (EventPart::ActorId as u8)][..], hash.as_bytes()].concat();
        let added = format!(
            "records || {} || substr(records, 36, 8)",
            self.case.database.blob(&record)
        );
        self.records(&added, &added)
    }

    fn edits(&self, erasure_of_row: u64) -> Vec<Edit> {
        let row = match self.kind {
            DatabaseKind::Sqlite => format!(
                "INSERT INTO events ({SQLITE_COLUMNS}) SELECT {SQLITE_COLUMNS} FROM saved_events;
                 INSERT INTO event_times (position, entry) SELECT position, entry FROM saved_events"
            ),
            DatabaseKind::Postgres => "INSERT INTO events SELECT * FROM saved_events".to_owned(),
        };
        let metadata = [EventPart::Metadata];
        vec![
            (
                "parts of an event erased, without an erasure",
                self.erased(NEARLY_JANE, &[EventPart::ActorId], self.erasure),
                PART,
            ),
            (
                "one part more than the erasure took",
                self.erased(
                    ABOUT_JANE,
                    &[EventPart::Metadata, EventPart::ActorId],
                    self.erasure,
                ),
                PART,
            ),
            (
                "parts erased by an event that is no erasure",
                self.erased(ABOUT_JANE, &metadata, 5),
                PART,
            ),
            (
                "parts erased by another erasure",
                self.erased(ABOUT_JANE, &metadata, erasure_of_row),
                PART,
            ),
            (
                "an erased text put back, with its salt",
                self.put_back(ON_JANE),
                AGAIN,
            ),
            ("a removed row put back", row, AGAIN),
            (
                "the event of the erasure deleted",
                delete(self.kind, &format!("seq = {}", self.erasure)),
                REMOVED,
            ),
            (
                "all records deleted",
                format!("DELETE FROM removed_events WHERE {}", self.of_erasure()),
                PART,
            ),
            (
                "a record deleted",
                self.records("substr(records, 44)", "substr(records, 44)"),
                PART,
            ),
            ("a record added", self.with_another_record(), RECORDS),
            (
                "other parts in a record",
                self.records(
                    "substr(records, 1, 1) || X'0001' || substr(records, 4)",
                    "overlay(records placing '\\x0001'::bytea from 2)",
                ),
                RECORDS,
            ),
            (
                "the row of the erasure deleted",
                format!(
                    "DELETE FROM removals WHERE LEDGER AND event_seq = {}",
                    self.erasure
                ),
                PART,
            ),
            (
                "another event as that of the erasure",
                format!(
                    "UPDATE removals SET event_seq = 5 WHERE LEDGER AND event_seq = {}",
                    self.erasure
                ),
                PART,
            ),
        ]
    }
}

fn log_verify_notices_every_edit_of_what_an_erasure_left(kind: DatabaseKind) {
    let Some(erased) = Erased::shared(kind) else {
        return;
    };
    let case = erased.case();
    let edited = Edited {
        case: &case,
        kind,
        erasure: erased.erased_seq(OF_JANE),
    };
    for (name, sql, problem) in edited.edits(erased.erased_seq(OF_ROW)) {
        let case = erased.case();
        case.tamper(&sql);
        let findings = case.findings();
        let mut problems = findings.iter().filter_map(|finding| finding["problem"].as_str());
        assert!(
            problems.any(|found| found.contains(problem)),
            "{name}: {}",
            Value::from(findings.clone())
        );
    }
}
