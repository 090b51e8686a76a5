//! The run of events of an archive, checked event by event.

use super::time;
use crate::check::Failure;
use crate::evidence::{proof_line, removed_line};
use audit_domain::{ContentHash, ContentSalt, LogName, Timestamp};
use audit_ledger::{Hash, InclusionProof, SignedCheckpoint};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The range of time and the head that the events are checked against, and what was found so far.
pub(super) struct Run<'a> {
    signed: &'a SignedCheckpoint,
    log: LogName,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) count: u64,
    /// Events that were removed, and the positions of the events that authorise it.
    removed: u64,
    removals: BTreeSet<u64>,
    begins_removed: bool,
    last: Option<Last>,
}

/// The last position of the run so far.
struct Last {
    seq: u64,
    is_removed: bool,
    /// The time of the last event that is there.
    logged_at: Option<Timestamp>,
}

/// A line of proofs.jsonl.
pub(super) struct Proof {
    seq: u64,
    /// `None` of a removed event.
    pub(super) id: Option<String>,
    inclusion: InclusionProof,
}

impl Proof {
    pub(super) fn read(line: &str) -> Result<Self, Failure> {
        let written: Value = serde_json::from_str(line).map_err(Failure::refused)?;
        let (seq, id) = (
            written["seq"].as_u64().unwrap_or(u64::MAX),
            written["id"].as_str(),
        );
        let hashes = written["inclusion"].as_array().into_iter().flatten();
        let inclusion = InclusionProof::from_base64(hashes.map(|hash| hash.as_str().unwrap_or_default()));
        let inclusion = inclusion.map_err(Failure::refused)?;
        if proof_line(seq, id, &inclusion) != line {
            return Err(Failure::Refused(format!(
                "the proof of event {seq} is not written as an export writes it"
            )));
        }
        Ok(Self {
            seq,
            id: id.map(str::to_owned),
            inclusion,
        })
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(
        signed: &'a SignedCheckpoint,
        log: LogName,
        (start, end): (Timestamp, Timestamp),
    ) -> Self {
        Self {
            signed,
            log,
            start,
            end,
            count: 0,
            removed: 0,
            removals: BTreeSet::new(),
            begins_removed: false,
            last: None,
        }
    }

    /// Checks the next event of the run.
    pub(super) fn add(&mut self, line: &str, proof: &Proof) -> Result<(), Failure> {
        let seq = proof.seq;
        let changed = || {
            Failure::Refused(format!(
                "event {seq} was changed: its text does not have its content hash of version 2 (salted parts)"
            ))
        };
        let mut members = line.splitn(5, ',').skip(2);
        let salt = members.next().ok_or_else(changed)?;
        let text = members.nth(1).ok_or_else(changed)?;
        let text = format!("{{{text}");
        let salt = salt
            .strip_prefix("\"content_salt\":\"")
            .and_then(|salt| salt.strip_suffix('"'))
            .and_then(|salt| salt.parse::<ContentSalt>().ok())
            .ok_or_else(changed)?;
        let content_hash = ContentHash::of(&text, &salt, &self.log).ok_or_else(changed)?;
        let stated =
            format!("{{\"seq\":{seq},\"content_hash\":\"{content_hash}\",\"content_salt\":\"{salt}\",");
        let redacted = line.strip_prefix(&stated).and_then(|rest| rest.split_once(','));
        let redacted = redacted.ok_or_else(changed)?.0;
        if !["\"redacted\":true", "\"redacted\":false"].contains(&redacted) {
            return Err(changed());
        }
        let event: Map<String, Value> = serde_json::from_str(&text).map_err(|_| changed())?;
        if event.get("id").and_then(Value::as_str) != proof.id.as_deref() {
            return Err(Failure::Refused(format!(
                "the proof of event {seq} is that of another"
            )));
        }
        let logged_at = event.get("claimed_at").or_else(|| event.get("received_at"));
        let logged_at = time(logged_at.and_then(Value::as_str).unwrap_or_default())?;
        self.check_place(proof, &content_hash)?;
        match &self.last {
            None if seq > 0 && logged_at >= self.start => {
                return Err(Failure::refused("the event before the range is missing"));
            }
            Some(last) if last.logged_at.is_some_and(|before| logged_at < before) => {
                return Err(Failure::Refused(format!(
                    "event {seq} was received before the event that precedes it in the log"
                )));
            }
            _ => {}
        }
        self.count += u64::from((self.start..=self.end).contains(&logged_at));
        self.last = Some(Last {
            seq,
            is_removed: false,
            logged_at: Some(logged_at),
        });
        Ok(())
    }

    /// Checks the next position of the run, whose event was removed.
    pub(super) fn add_removed(&mut self, line: &str, proof: &Proof) -> Result<(), Failure> {
        let seq = proof.seq;
        let written: Value = serde_json::from_str(line).map_err(Failure::refused)?;
        let removal = written["removal"].as_u64().unwrap_or_default();
        let content_hash = written["content_hash"].as_str().unwrap_or_default();
        let content_hash: ContentHash = content_hash.parse().map_err(Failure::refused)?;
        let is_later = removal > seq && removal < self.signed.head().size;
        if removed_line(seq, &content_hash, removal) != line || !is_later {
            return Err(Failure::Refused(format!(
                "the line of the removed event {seq} is not written as an export writes it"
            )));
        }
        self.check_place(proof, &content_hash)?;
        self.begins_removed |= self.last.is_none() && seq > 0;
        self.removed += 1;
        self.removals.insert(removal);
        self.last = Some(Last {
            seq,
            is_removed: true,
            logged_at: self.last.as_ref().and_then(|last| last.logged_at),
        });
        Ok(())
    }

    /// Checks that an event is at the next position of the log.
    fn check_place(&self, proof: &Proof, content_hash: &ContentHash) -> Result<(), Failure> {
        let seq = proof.seq;
        let leaf = Hash::of_event(content_hash);
        let verified = proof.inclusion.verify(seq, &leaf, self.signed.head());
        verified.map_err(|error| Failure::Refused(format!("event {seq} is not in the log: {error}")))?;
        match &self.last {
            Some(last) if seq != last.seq + 1 => {
                Err(Failure::Refused(format!("event {} is left out", last.seq + 1)))
            }
            _ => Ok(()),
        }
    }

    /// Whether the run ends behind the range. Otherwise it must end with the log, or where events were removed.
    pub(super) fn check_end(&self) -> Result<bool, Failure> {
        match &self.last {
            Some(last) if last.logged_at.is_some_and(|at| at > self.end) => Ok(true),
            Some(last) if last.seq + 1 == self.signed.head().size => Ok(false),
            Some(last) if last.is_removed => Ok(true),
            _ => Err(Failure::refused("the event after the range is missing")),
        }
    }

    /// What to say of the events of the run that were removed.
    pub(super) fn removed_of_it(&self) -> String {
        if self.removed == 0 {
            return String::new();
        }
        let removals: Vec<String> = self.removals.iter().map(u64::to_string).collect();
        let ends_removed = self.last.as_ref().is_some_and(|last| {
            last.is_removed
                && last.logged_at.is_none_or(|at| at <= self.end)
                && last.seq + 1 < self.signed.head().size
        });
        let open = match (self.begins_removed, ends_removed) {
            (false, false) => "",
            (true, false) => {
                "; the events before were removed, and how many of them are of that time is not known"
            }
            (false, true) => {
                "; the events after were removed, and how many of them are of that time is not known"
            }
            (true, true) => {
                "; the events before and after were removed, and how many of them are of that time is not known"
            }
        };
        format!(
            "; {} events were removed (by the removals at {}, as the archive states){open}",
            self.removed,
            removals.join(", ")
        )
    }
}
