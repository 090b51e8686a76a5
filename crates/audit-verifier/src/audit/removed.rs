//! What the server says of removed events, and the check that the log has authorised each removal.

use super::events::Event;
use super::server::{Fetched, LogServer};
use super::{AuditResult, Failure};
use anyhow::{Context, anyhow};
use audit_cli::SystemClock;
use audit_domain::{Clock, ContentHash, LifecycleEvent, LogName, PartMask};
use audit_ledger::{Hash, RemovalCheck, RemovalProblem, RemovalRecord, RemovalReport, TenantLabel, TileId};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// The record of a removed event, as `GET /log/tile/removed` returns it.
#[derive(Clone, Copy)]
pub(super) struct Removed {
    /// Position of the plan, removal or erasure.
    authority: u64,
    record: RemovalRecord,
    pub(super) label: TenantLabel,
}

/// Bytes of a record: position, that of its authority, mask, content hash, label of the tenant; big endian.
const RECORD_BYTES: usize = 82;

/// The removals of the audited log.
pub(super) struct Removals<'a> {
    server: &'a LogServer,
    /// Events of the log that are audited.
    size: u64,
    /// From which ranges of the log events were or will be removed.
    ranges: Vec<Range<u64>>,
    /// Positions of removals and erasures that were carried out.
    carried_out: BTreeSet<u64>,
    /// The tile of which the records were read last.
    tile: Option<u64>,
    records: Vec<Removed>,
    /// `None` where the audit does not begin with the first event.
    check: Option<RemovalCheck>,
}

impl<'a> Removals<'a> {
    /// Reads which removals there are, of a log with a checkpoint of `size` events. A server that has no such list removes nothing.
    pub(super) fn read(server: &'a LogServer, size: u64) -> AuditResult<Self> {
        let removals = listed(server)?;
        let ranges = removals.iter().map(|removal| {
            // Erasures are of events anywhere in the log.
            removal["first_seq"].as_u64().unwrap_or(0)..removal["end_seq"].as_u64().unwrap_or(u64::MAX)
        });
        let is_carried_out = |removal: &&Value| {
            let action = removal["action"].as_str();
            action.is_some_and(|action| ["audit.events.removed", "audit.events.erased"].contains(&action))
        };
        let carried_out = removals.iter().filter(is_carried_out);
        Ok(Self {
            server,
            size,
            ranges: ranges.collect(),
            carried_out: carried_out
                .filter_map(|removal| removal["seq"].as_u64())
                .collect(),
            tile: None,
            records: Vec::new(),
            check: None,
        })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Checks them, too: the audit begins with the first event.
    #[must_use]
    pub(super) fn checked(self, log: Option<LogName>) -> Self {
        let check = log.map(|log| RemovalCheck::new(log, SystemClock.now()));
        Self { check, ..self }
    }

    /// Reads the records of the tile of a position, unless there are none or they have been read.
    fn enter(&mut self, seq: u64) -> AuditResult<()> {
        let width = u64::from(TileId::WIDTH_MAX);
        let (tile, first) = (seq / width, seq / width * width);
        let has_records = |range: &Range<u64>| range.start < first + width && first < range.end;
        if self.tile != Some(tile) && self.ranges.iter().any(has_records) {
            self.read_tile(tile)?;
        }
        Ok(())
    }

    fn read_tile(&mut self, tile: u64) -> AuditResult<()> {
        let id = TileId::new(0, tile, TileId::WIDTH_MAX).map_err(anyhow::Error::new)?;
        let path = id.to_string().replacen("tile/0/", "log/tile/removed/", 1);
        self.records = match self.server.bytes(&path)? {
            Fetched::Found(bytes) => {
                decode(&bytes).with_context(|| format!("GET {path}: these are no records"))?
            }
            Fetched::Refused(_) => Vec::new(),
        };
        self.tile = Some(tile);
        Ok(())
    }

    fn records_of(&self, seq: u64) -> impl Iterator<Item = &Removed> {
        self.records
            .iter()
            .filter(move |removed| removed.record.seq == seq)
    }

    /// The record of an event that the server does not return. `None` where it has none with this leaf hash.
    pub(super) fn missing(&mut self, seq: u64, leaf: &Hash) -> AuditResult<Option<Removed>> {
        self.enter(seq)?;
        let covers = |removed: &Removed| removed.record.mask.is_row() && removed.record.leaf() == *leaf;
        let is_known = |removed: &Removed| covers(removed) && self.carried_out.contains(&removed.authority);
        if !self.records_of(seq).any(is_known) {
            // It may have been removed since the records were read.
            self.read_tile(seq / u64::from(TileId::WIDTH_MAX))?;
        }
        let Some(removed) = self.records_of(seq).find(|removed| covers(removed)).copied() else {
            return Ok(None);
        };
        if removed.authority >= self.size {
            let what = format!("event {seq} was removed while the log was read: audit again later");
            return Err(Failure::Inconclusive(anyhow!(what)));
        }
        if self.check.is_none() {
            return Err(only_in_full(seq, "removed"));
        }
        Ok(Some(removed))
    }

    /// Notes the records of a position, and its event if it is there. Returns what the event lacks without a record.
    pub(super) fn note(&mut self, seq: u64, event: Option<&Event>) -> AuditResult<Option<String>> {
        self.enter(seq)?;
        let erased = event.and_then(|event| event.salt.as_ref()?.erased());
        let erased = || erased.into_iter().flat_map(|erased| erased.masks());
        // Whichever erasure took them.
        let lacks = |mask: PartMask| {
            let is_gone = |part| erased().any(|(_, parts)| parts.parts().any(|gone| gone == part));
            event.is_none() || (!mask.is_row() && mask.parts().all(is_gone))
        };
        let has_record = |(erasure, parts): (u64, PartMask)| {
            let mut records = self.records_of(seq);
            records.any(|removed| removed.authority == erasure && removed.record.mask.contains(parts))
        };
        if erased().any(|(erasure, _)| erasure >= self.size) {
            let what = format!("event {seq} was erased while the log was read: audit again later");
            return Err(Failure::Inconclusive(anyhow!(what)));
        }
        let unexplained = erased().find(|erased| !has_record(*erased));
        if let Some((erasure, _)) = unexplained {
            return Ok(Some(format!(
                "event {seq} lacks parts, and the erasure at {erasure} has no record of them"
            )));
        }
        let Some(check) = &mut self.check else {
            return match erased().next() {
                None => Ok(None),
                Some(_) => Err(only_in_full(seq, "erased in part")),
            };
        };
        for (erasure, _) in erased() {
            check.erased(seq, erasure);
        }
        let size = self.size;
        let mut has_records = false;
        let of_event = self.records.iter().filter(|removed| removed.record.seq == seq);
        for removed in of_event.filter(|removed| removed.authority < size) {
            let is_there = !lacks(removed.record.mask);
            check.record(
                removed.authority,
                &removed.record,
                &removed.label,
                is_there,
                false,
            );
            has_records = true;
        }
        if let Some(event) = event
            && let Some(at) = event.logged_at
            && (has_records || LifecycleEvent::is_lifecycle(&event.object))
        {
            check.event(seq, at, &event.object);
        }
        Ok(None)
    }

    /// What the check has found; `None` where the audit did not begin with the first event.
    pub(super) fn finish(self) -> AuditResult<Option<RemovalReport>> {
        let Some(report) = self.check.map(RemovalCheck::finish) else {
            return Ok(None);
        };
        for problem in &report.problems {
            if let RemovalProblem::Digest { removal } = problem
                && report.lifecycle.is_open(*removal)
                && listed(self.server)?
                    .iter()
                    .all(|listed| listed["seq"].as_u64() != Some(*removal))
            {
                // The records of the plan were deleted, or became those of its removal.
                let what = format!(
                    "the plan at {removal} was cancelled or carried out while the log was read: audit again later"
                );
                return Err(Failure::Inconclusive(anyhow!(what)));
            }
        }
        match report.problems.first() {
            Some(problem) => Err(Failure::Inconsistent(problem.to_string())),
            None => Ok(Some(report)),
        }
    }
}

/// Why an audit of new events alone says nothing of an event.
fn only_in_full(seq: u64, what: &str) -> Failure {
    let what = format!("event {seq} was {what}: only an audit without --new-only can tell whether it may be");
    Failure::Inconclusive(anyhow!(what))
}

/// The plans, removals and erasures of the log.
fn listed(server: &LogServer) -> AuditResult<Vec<Value>> {
    match server.json("log/removals", &[])? {
        Fetched::Found(mut body) => match body["removals"].take() {
            Value::Array(removals) => Ok(removals),
            _ => Err(anyhow!("GET log/removals: the response has no list").into()),
        },
        Fetched::Refused(_) => Ok(Vec::new()),
    }
}

/// What removals have taken, as a summary says it; empty where they have taken nothing.
pub(super) fn described(report: &RemovalReport) -> String {
    let counts = [
        (
            report.retention,
            "removed by retention",
            report.lifecycle.removals().count(),
            "removal",
        ),
        (
            report.erased + report.erased_parts,
            "erased",
            report.lifecycle.erasures().count(),
            "erasure",
        ),
    ];
    let counts = counts.into_iter().filter(|(events, ..)| *events > 0);
    let text = |(events, what, times, name): (u64, &str, usize, &str)| {
        let plural = if times == 1 { "" } else { "s" };
        format!(", {events} {what} ({times} {name}{plural})")
    };
    let uncompared = match report.uncompared {
        0 => String::new(),
        events => format!(", {events} about to go not compared with policy and holds"),
    };
    counts.map(text).chain([uncompared]).collect()
}

/// The records of a tile; `None` where the bytes are none.
fn decode(bytes: &[u8]) -> Option<Vec<Removed>> {
    let (chunks, rest) = bytes.as_chunks::<RECORD_BYTES>();
    let decode = |chunk: &[u8; RECORD_BYTES]| {
        let (seq, chunk) = chunk.split_first_chunk()?;
        let (authority, chunk) = chunk.split_first_chunk()?;
        let (mask, chunk) = chunk.split_first_chunk()?;
        let (content_hash, label) = chunk.split_first_chunk()?;
        let label = TenantLabel::from_bytes(label.try_into().ok()?);
        Some(Removed {
            authority: u64::from_be_bytes(*authority),
            record: RemovalRecord {
                seq: u64::from_be_bytes(*seq),
                mask: PartMask::from_bits(u16::from_be_bytes(*mask))?,
                content_hash: ContentHash::from_bytes(*content_hash),
                slot: label.slot(),
            },
            label,
        })
    };
    let records: Vec<Removed> = chunks.iter().map(decode).collect::<Option<_>>()?;
    let key = |removed: &Removed| (removed.record.seq, removed.authority);
    (rest.is_empty() && records.is_sorted_by(|one, next| key(one) < key(next))).then_some(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{Environment, EventPart, ProjectId, StoredSalt};
    use serde_json::json;

    /// A server that hides a part may show a record of it and a list of erasures; that the log has authorised it is found by the check.
    #[test]
    fn an_audit_of_new_events_alone_does_not_accept_that_parts_are_missing() {
        let mask = PartMask::of_parts([EventPart::Metadata]).unwrap();
        let whole = StoredSalt::read(&[7; 16]).unwrap();
        // The metadata was taken by the erasure at 5.
        let mut bytes = [&[1][..], &5_u64.to_be_bytes()].concat();
        for part in EventPart::ALL {
            let is_gone = *part == EventPart::Metadata;
            bytes.push(u8::from(is_gone));
            bytes.extend([7; 32].iter().take(if is_gone { 32 } else { 16 }));
        }
        let erased = StoredSalt::read(&bytes).unwrap();
        let server = LogServer::new("http://localhost", "");
        let log = LogName::new(ProjectId::from_random([1; 16]), Environment::Live);
        let note = |salt: StoredSalt, is_full: bool| {
            let label = TenantLabel::from_bytes([9; 32]);
            let record = RemovalRecord {
                seq: 3,
                mask,
                content_hash: ContentHash::from_bytes([7; 32]),
                slot: label.slot(),
            };
            let mut removals = Removals {
                server: &server,
                size: 9,
                ranges: Vec::new(),
                carried_out: BTreeSet::from([5]),
                tile: None,
                records: vec![Removed {
                    authority: 5,
                    record,
                    label,
                }],
                check: None,
            }
            .checked(is_full.then_some(log));
            let event = Event {
                id: String::new(),
                tenant_id: String::new(),
                leaf: None,
                has_matching_hash: true,
                logged_at: None,
                salt: Some(salt),
                object: json!({"action": "a"}).as_object().unwrap().clone(),
            };
            removals.note(3, Some(&event))
        };
        assert!(matches!(note(whole.clone(), false), Ok(None)));
        assert!(matches!(note(erased.clone(), true), Ok(None)));
        assert!(matches!(note(erased, false), Err(Failure::Inconclusive(_))));
    }

    #[test]
    fn records_are_read_as_the_server_writes_them() {
        let record = |seq: u64, authority: u64, mask: u16| {
            let mut bytes = [seq.to_be_bytes(), authority.to_be_bytes()].concat();
            bytes.extend(mask.to_be_bytes());
            bytes.extend([7; 32]);
            bytes.extend([9; 32]);
            bytes
        };
        let [first, second] = [record(17, 1_203, u16::MAX), record(17, 1_300, 5)];
        let records = decode(&[first.clone(), second.clone()].concat()).unwrap();
        assert_eq!((records[0].authority, records[1].authority), (1_203, 1_300));
        assert!(records[0].record.mask.is_row());
        assert_eq!(records[1].record.content_hash, ContentHash::from_bytes([7; 32]));
        assert_eq!(records[1].label, TenantLabel::from_bytes([9; 32]));
        for other in [
            [second.clone(), first.clone()].concat(),
            [first.clone(), first.clone()].concat(),
            first[1..].to_vec(),
            record(17, 1_203, 0),
        ] {
            assert!(decode(&other).is_none());
        }
    }
}
