//! What a walk over the events finds of removals: the records of what is gone, and the lifecycle events that authorise them.
//!
//! A row may be missing only if it has a record of a removal whose event is in the log and has the digest of its records.

use super::finding::{Finding, Findings, Problem};
use crate::error::Result;
use audit_domain::{LifecycleEvent, LogName, PartMask, Timestamp};
use audit_ledger::{RemovalCheck, RemovalProblem, RemovalRecord, RemovalReport, TenantLabel, TileId};
use audit_store::{LedgerId, Reader, StoreError, StoredRemoval};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

/// What removals took from a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of events that retention has removed.
    pub retention: u64,
    /// The number of events that erasures have removed as a whole.
    pub erased: u64,
    /// The number of events that are missing and that no removal in the log covers.
    pub unexplained: u64,
    /// The number of events that a plan or removal is about to take, and that were too many to be compared with policy and holds.
    pub uncompared: u64,
    /// The removals by retention, in the order of the log.
    pub removals: Vec<VerifiedRemoval>,
    /// Events that were received before may be removed.
    pub(super) before: Option<Timestamp>,
    /// Whether persons were erased.
    pub(super) has_erasures: bool,
}

/// A removal by retention, as its event in the log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedRemoval {
    /// The position of its event.
    pub seq: u64,
    /// The time of its event.
    pub at: Timestamp,
    /// The number of events that it removed.
    pub events: u64,
    /// The last position that it may have removed.
    pub through: u64,
}

/// The members of a lifecycle event, from its text.
pub(super) fn lifecycle_event(body: &str) -> Option<Map<String, Value>> {
    // The canonical form has no white space.
    if !body.contains(r#""action":"audit."#) {
        return None;
    }
    serde_json::from_str(body)
        .ok()
        .filter(LifecycleEvent::is_lifecycle)
}

/// A record of an event.
pub(super) struct Recorded {
    /// The position of the event that authorises the removal.
    authority: u64,
    is_begun: bool,
    is_done: bool,
    pub(super) record: RemovalRecord,
    pub(super) label: TenantLabel,
}

impl Recorded {
    /// Whether the removal takes the whole row, and rows may be gone.
    pub(super) fn is_of_gone_row(&self) -> bool {
        self.is_begun && self.record.mask.is_row()
    }

    /// Whether the removal takes all of these parts.
    fn has_parts(&self, parts: &PartMask) -> bool {
        let has = |part| self.record.mask.parts().any(|own| own == part);
        self.record.mask.is_row() || parts.parts().all(has)
    }
}

/// The records of a page, in the order of the log.
pub(super) struct PageRecords(Peekable<IntoIter<Recorded>>);

impl PageRecords {
    fn new(records: Vec<Recorded>) -> Self {
        Self(records.into_iter().peekable())
    }

    /// The next records, if they are of this position.
    pub(super) fn take(&mut self, seq: u64) -> Vec<Recorded> {
        std::iter::from_fn(|| self.0.next_if(|own| own.record.seq == seq)).collect()
    }
}

/// What a removal has taken, by its records: events or parts of events.
struct Taken {
    events: u64,
    /// What is wrong with the first of them, unless the removal is in the log.
    finding: Finding,
}

/// The removals of a log, while its events are read.
pub(super) struct RemovalWalk {
    /// By number, as their rows say.
    stored: HashMap<u32, StoredRemoval>,
    /// The number of events that are read.
    size: u64,
    /// None where the log has no name.
    check: Option<RemovalCheck>,
    /// By the position of the event that must authorise it, and whether it is of parts, which only an erasure takes.
    taken: BTreeMap<(u64, bool), Taken>,
    unexplained: u64,
    /// The position of the newest lifecycle event.
    pub(super) last_seq: Option<u64>,
    /// Records are of a removal whose event is behind the events that are read.
    pub(super) is_outdated: bool,
}

impl RemovalWalk {
    /// `size` is the number of events that are read.
    pub(super) fn new(stored: &[StoredRemoval], size: u64, log: Option<LogName>, now: Timestamp) -> Self {
        let numbered = stored.iter().map(|removal| (removal.number, removal.clone()));
        Self {
            stored: numbered.collect(),
            size,
            check: log.map(|log| RemovalCheck::new(log, now)),
            taken: BTreeMap::new(),
            unexplained: 0,
            last_seq: None,
            is_outdated: false,
        }
    }

    /// Reads the records of a page, which begins with a tile. Its rows must have been read before: the record of a row is there
    /// before the row goes.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader<'_>,
        ledger_id: LedgerId,
        seqs: &Range<u64>,
    ) -> Result<PageRecords> {
        if self.stored.is_empty() {
            return Ok(PageRecords::new(Vec::new()));
        }
        match self.recorded(reader, ledger_id, seqs) {
            Ok(recorded) => Ok(PageRecords::new(recorded)),
            // The digest of their removal is another one without them.
            Err(StoreError::Damaged { what }) => {
                log::debug!(
                    "the records of events from {} on cannot be read: {what}",
                    seqs.start
                );
                Ok(PageRecords::new(Vec::new()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn recorded(
        &mut self,
        reader: &mut Reader<'_>,
        ledger_id: LedgerId,
        seqs: &Range<u64>,
    ) -> Result<Vec<Recorded>, StoreError> {
        let width = u64::from(TileId::WIDTH_MAX);
        let records = reader.removal_records(ledger_id, seqs.start / width..seqs.end.div_ceil(width))?;
        let slots: HashSet<u64> = records.iter().map(|(_, record)| record.slot).collect();
        let slots: Vec<u64> = slots.into_iter().collect();
        let labels = reader.removed_labels(ledger_id, &slots)?;
        let mut recorded = Vec::with_capacity(records.len());
        for (number, record) in records {
            let removal = self.stored.get(&number);
            let label = labels
                .get(&record.slot)
                .filter(|label| label.slot() == record.slot);
            let Some((removal, (authority, label))) =
                removal.and_then(|removal| Some((removal, removal.authority.zip(label)?)))
            else {
                continue;
            };
            if authority >= self.size {
                self.is_outdated = true;
                continue;
            }
            recorded.push(Recorded {
                authority,
                is_begun: removal.is_begun,
                is_done: removal.is_done,
                record,
                label: *label,
            });
        }
        Ok(recorded)
    }

    /// Adds the records of the next position, before its event. `erased` has the parts that its row lacks; none where there is no row.
    pub(super) fn add_records(&mut self, recorded: &[Recorded], erased: Option<&[(u64, PartMask)]>) {
        let Some(check) = &mut self.check else { return };
        for own in recorded {
            let is_erased = |part| {
                let mut erased = erased.into_iter().flatten();
                erased.any(|(_, mask)| mask.parts().any(|gone| gone == part))
            };
            let is_there = match erased {
                None => false,
                Some(_) => own.record.mask.is_row() || !own.record.mask.parts().all(is_erased),
            };
            check.record(own.authority, &own.record, &own.label, is_there, own.is_done);
        }
    }

    /// Adds an event of the log that is as it was appended: a lifecycle event, or one with a record.
    pub(super) fn add_event(&mut self, seq: u64, at: Timestamp, event: &Map<String, Value>) {
        if let Some(check) = &mut self.check {
            check.event(seq, at, event);
        }
    }

    /// The record of a missing row. Counts the row as unexplained where there is none.
    pub(super) fn gone<'a>(&mut self, seq: u64, recorded: &'a [Recorded]) -> Option<&'a Recorded> {
        let own = recorded.iter().find(|own| own.is_of_gone_row());
        match own {
            Some(own) => self.take(
                (own.authority, false),
                Finding::event(seq, None, Problem::Removed),
            ),
            None => self.unexplained += 1,
        }
        own
    }

    /// Counts missing rows that have no records.
    pub(super) fn add_unexplained(&mut self, events: u64) {
        self.unexplained += events;
    }

    /// Whether the parts that a row lacks have records of the erasures that it names.
    pub(super) fn are_recorded(
        &mut self,
        seq: u64,
        recorded: &[Recorded],
        erased: &[(u64, PartMask)],
    ) -> bool {
        erased.iter().all(|(erasure, parts)| {
            self.take((*erasure, true), Finding::event(seq, None, Problem::ErasedPart));
            let mut of_erasure = recorded
                .iter()
                .filter(|own| own.is_begun && own.authority == *erasure);
            of_erasure.any(|own| own.has_parts(parts))
        })
    }

    fn take(&mut self, authority: (u64, bool), finding: Finding) {
        let taken = self
            .taken
            .entry(authority)
            .or_insert(Taken { events: 0, finding });
        taken.events += 1;
    }

    /// Ends the walk: the findings of removals that contradict the log, and what removals took.
    pub(super) fn finish(&mut self, findings: &mut Findings) -> Removed {
        let Some(check) = self.check.take() else {
            return Removed::default();
        };
        let RemovalReport {
            problems,
            lifecycle,
            retention,
            erased,
            erased_parts: _,
            uncompared,
        } = check.finish();
        let is_retention = |seq: u64| lifecycle.removals().any(|(own, ..)| own == seq);
        let is_erasure = |seq: u64| lifecycle.erasures().any(|(own, ..)| own == seq);
        for ((authority, is_part), taken) in std::mem::take(&mut self.taken) {
            let is_authorised = is_erasure(authority) || (!is_part && is_retention(authority));
            if !is_authorised {
                self.unexplained += taken.events;
                findings.add(taken.finding);
            }
        }
        for problem in problems {
            findings.add(finding_of(problem, is_retention));
        }
        let removals = lifecycle.removals().map(|(seq, at, removal)| VerifiedRemoval {
            seq,
            at,
            events: removal.events,
            through: removal.seqs.end.saturating_sub(1),
        });
        let before = lifecycle
            .removals()
            .flat_map(|(_, _, removal)| removal.received_before.values().copied());
        let of_rows = lifecycle.erasures().filter(|(.., erasure)| erasure.rows > 0);
        let before = before.chain(of_rows.map(|(_, at, _)| at));
        Removed {
            retention,
            erased,
            unexplained: self.unexplained,
            uncompared,
            removals: removals.collect(),
            before: before.max(),
            has_erasures: lifecycle.erasures().next().is_some(),
        }
    }
}

fn finding_of(problem: RemovalProblem, is_retention: impl Fn(u64) -> bool) -> Finding {
    match problem {
        RemovalProblem::Chain(_) | RemovalProblem::Unreadable { .. } => {
            Finding::log(Problem::LifecycleChain(problem.to_string()))
        }
        RemovalProblem::UnknownAuthority { seq, authority } => {
            Finding::event(seq, None, Problem::RemovalRecords { removal: authority })
        }
        RemovalProblem::Digest { removal } => Finding::log(Problem::RemovalRecords { removal }),
        RemovalProblem::NotRemoved { removal, events } => Finding::log(match is_retention(removal) {
            true => Problem::NotRemoved { removal, events },
            false => Problem::NotErased { removal, events },
        }),
        RemovalProblem::NotRestored { restore, events, .. } => {
            Finding::log(Problem::NotRestored { restore, events })
        }
        RemovalProblem::Held { seq, .. }
        | RemovalProblem::OfLifecycle { seq, .. }
        | RemovalProblem::TooYoung { seq, .. } => Finding::event(
            seq,
            None,
            Problem::RemovalNotAllowed {
                why: problem.to_string(),
            },
        ),
    }
}

#[cfg(test)]
mod tests;
