//! Verification of the index against the stored events.
//!
//! Each segment is walked as a whole. The tokens of a row are compared with those of its event by their number and the sum of
//! their hashes, so that the memory is that of a segment's rows. Then every stored event must be in a segment or in the backlog.

use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::search::tokens::{self, Kind};
use audit_domain::{Facet, TopField};
use audit_index::{Blocks, Damaged, RowId, Segment};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Findings that a report lists, at most. The rest is counted.
const FINDINGS_MAX: usize = 100;
/// Rows of a segment whose events are read together.
const READ_ROWS: u32 = 1_000;

/// The outcome of a verification of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    /// The number of stored events.
    pub events: u64,
    /// The number of events in a segment.
    pub indexed: u64,
    /// The number of events in the backlog.
    pub backlog: u64,
    /// The number of segments.
    pub segments: u64,
    /// The number of their blocks.
    pub blocks: u64,
    /// The first findings, at most 100.
    pub findings: Vec<IndexFinding>,
    /// The number of all findings.
    pub findings_count: u64,
}

impl IndexReport {
    fn add(&mut self, finding: IndexFinding) {
        self.findings_count += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }
}

/// The ledger and `seq` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace {
    /// Its ledger.
    pub ledger_id: LedgerId,
    /// Its position in the log.
    pub seq: i64,
}

/// An inconsistency of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexFinding {
    /// A segment or block is damaged, or cannot be read.
    Damaged(String),
    /// A segment has a row without an event.
    NoEvent {
        /// The segment.
        segment: u32,
        /// The id of the row.
        row: String,
    },
    /// A segment has an event under other tokens than its own.
    OtherTokens {
        /// The segment.
        segment: u32,
        /// The event.
        event: EventPlace,
    },
    /// An event is neither in a segment nor in the backlog.
    Unindexed(EventPlace),
    /// The action of an indexed event is not among those of its ledger, by which patterns of actions are resolved.
    UnknownAction(EventPlace),
}

/// The event of a row.
pub(crate) struct RowEvent {
    pub(crate) place: EventPlace,
    /// The tokens that the index must have of it, separated by spaces.
    pub(crate) tokens: String,
}

/// The index and the events at one moment.
pub(crate) trait VerifiedIndex {
    /// The id of a row.
    type Id: RowId;

    /// The complete segments; an error in place of a damaged descriptor.
    fn segments(&mut self) -> Result<Vec<Result<Segment<Self::Id>, Damaged>>>;

    /// The blocks, past any cache.
    fn blocks(&mut self) -> impl Blocks<Error = StoreError>;

    /// The events of rows, `None` for a row without one. The tokens of a row name its ledger, unless it has none.
    fn events_of(&mut self, rows: &[(Self::Id, Option<LedgerId>)]) -> Result<Vec<Option<RowEvent>>>;

    /// Whether the event of a row was removed or erased, and the segments may not be written without what they had of it yet.
    fn is_gone(&mut self, row: Self::Id, ledger_id: Option<LedgerId>) -> Result<bool>;

    /// The backlog: ranges of `seq`.
    fn backlog(&mut self) -> Result<Vec<(LedgerId, Range<i64>)>>;

    /// The actions of all ledgers.
    fn actions(&mut self) -> Result<Vec<(i64, String)>>;

    /// Calls `see` with every stored event.
    fn for_each_event(&mut self, see: &mut dyn FnMut(EventPlace)) -> Result<()>;
}

/// Verifies an index. Calls `progress` with the number of verified rows and of all rows.
pub(crate) fn verify(
    index: &mut impl VerifiedIndex,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<IndexReport> {
    let (mut report, mut covered) = (IndexReport::default(), Covered::default());
    let mut actions = Actions::default();
    let segments = index.segments()?;
    let rows_of = |segment: &Segment<_>| u64::from(segment.rows);
    let total = segments.iter().flatten().map(rows_of).sum();
    let (mut done, mut is_complete) = (0, true);
    for segment in segments {
        report.segments += 1;
        let walked = match &segment {
            Ok(segment) => walk(index, segment, &mut report)?,
            Err(damaged) => Err(damaged.to_string()),
        };
        match (segment, walked) {
            (Ok(segment), Ok(tokens)) => {
                let results = (&mut covered, &mut actions, &mut report);
                compare(index, &segment, &tokens, results, &mut |rows| {
                    done += rows;
                    progress(done, total);
                })?;
            }
            (_, Err(damage)) => {
                report.add(IndexFinding::Damaged(damage));
                is_complete = false;
            }
            (Err(damaged), Ok(_)) => return Err(damaged.into()),
        }
    }
    for event in actions.without(index.actions()?) {
        report.add(IndexFinding::UnknownAction(event));
    }
    let backlog = index.backlog()?;
    let backlog = Backlog::of(backlog);
    index.for_each_event(&mut |event| {
        report.events += 1;
        if covered.has(event) {
            report.indexed += 1;
        } else if backlog.has(event) {
            report.backlog += 1;
        } else if is_complete {
            // With a damaged segment it is unknown which events it has.
            report.add(IndexFinding::Unindexed(event));
        }
    })?;
    Ok(report)
}

/// The tokens of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RowTokens {
    count: u32,
    /// The sum of their hashes.
    hashes: u64,
    ledger_id: Option<LedgerId>,
}

impl RowTokens {
    fn add(&mut self, token: &[u8]) {
        let mut hasher = DefaultHasher::new();
        token.hash(&mut hasher);
        self.hashes = self.hashes.wrapping_add(hasher.finish());
        self.count += 1;
    }

    /// Of an event.
    fn of(tokens: &str) -> (u32, u64) {
        let mut distinct: Vec<&str> = tokens.split(' ').filter(|token| !token.is_empty()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut row = Self::default();
        distinct.iter().for_each(|token| row.add(token.as_bytes()));
        (row.count, row.hashes)
    }
}

/// Walks a segment. Returns the tokens of its rows, or else the damage.
fn walk<V: VerifiedIndex>(
    index: &mut V,
    segment: &Segment<V::Id>,
    report: &mut IndexReport,
) -> Result<Result<Vec<RowTokens>, String>> {
    let mut rows = vec![RowTokens::default(); segment.rows as usize];
    let see = |token: &[u8], row: u32| {
        if let Some(row) = rows.get_mut(row as usize) {
            if row.ledger_id.is_none() {
                row.ledger_id = super::tokens::ledger_of(token).map(LedgerId);
            }
            row.add(token);
        }
    };
    match audit_index::verify(segment, see, &mut index.blocks()) {
        Ok(verified) => {
            report.blocks += verified.blocks;
            Ok(Ok(rows))
        }
        // SQLite reports damage of the index file itself as the error of a statement.
        Err(error @ (StoreError::DamagedIndex(_) | StoreError::Database(_))) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Compares the tokens of a segment's rows with those of their events.
fn compare<V: VerifiedIndex>(
    index: &mut V,
    segment: &Segment<V::Id>,
    tokens: &[RowTokens],
    (covered, actions, report): (&mut Covered, &mut Actions, &mut IndexReport),
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut start = 0;
    for tokens in tokens.chunks(READ_ROWS as usize) {
        let end = start + tokens.len() as u32;
        let ids = segment.ids(start..end, &mut index.blocks())?;
        let rows: Vec<(V::Id, Option<LedgerId>)> = ids
            .into_iter()
            .zip(tokens.iter().map(|row| row.ledger_id))
            .collect();
        let events = index.events_of(&rows)?;
        for (((id, ledger_id), tokens), event) in rows.iter().zip(tokens).zip(events) {
            let Some(event) = event else {
                if !index.is_gone(*id, *ledger_id)? {
                    report.add(IndexFinding::NoEvent {
                        segment: segment.id,
                        row: format!("{id:?}"),
                    });
                }
                continue;
            };
            covered.add(event.place);
            actions.add(&event);
            // An erased event is indexed anew.
            let is_same = RowTokens::of(&event.tokens) == (tokens.count, tokens.hashes);
            if !is_same && !index.is_gone(*id, *ledger_id)? {
                report.add(IndexFinding::OtherTokens {
                    segment: segment.id,
                    event: event.place,
                });
            }
        }
        progress(u64::from(end - start));
        start = end;
    }
    Ok(())
}

/// The tokens of the actions of events, each with an event that has it.
#[derive(Debug, Default)]
struct Actions(HashMap<String, EventPlace>);

impl Actions {
    fn add(&mut self, event: &RowEvent) {
        let prefix = tokens::field_prefix(event.place.ledger_id.0, TopField::Action);
        let token = event.tokens.split(' ').find(|token| token.starts_with(&prefix));
        if let Some(token) = token.filter(|token| !self.0.contains_key(*token)) {
            self.0.insert(token.to_owned(), event.place);
        }
    }

    /// The events whose actions are not among these, in order.
    fn without(mut self, known: Vec<(i64, String)>) -> Vec<EventPlace> {
        for (ledger_id, action) in known {
            self.0.remove(&tokens::token(
                Kind::Is(Facet::Action),
                ledger_id,
                action.as_bytes(),
            ));
        }
        let mut events: Vec<EventPlace> = self.0.into_values().collect();
        events.sort_by_key(|event| (event.ledger_id, event.seq));
        events
    }
}

/// A set of events: a bitmap per 512 positions of a ledger.
#[derive(Debug, Default)]
struct Covered(HashMap<(LedgerId, i64), [u64; 8]>);

impl Covered {
    const fn split(event: EventPlace) -> ((LedgerId, i64), usize, u64) {
        let low = event.seq & 511;
        (
            (event.ledger_id, event.seq >> 9),
            (low >> 6) as usize,
            1 << (low & 63),
        )
    }

    fn add(&mut self, event: EventPlace) {
        let (key, word, bit) = Self::split(event);
        self.0.entry(key).or_default()[word] |= bit;
    }

    fn has(&self, event: EventPlace) -> bool {
        let (key, word, bit) = Self::split(event);
        self.0.get(&key).is_some_and(|words| words[word] & bit != 0)
    }
}

/// The ranges of the backlog, by ledger and start. They do not overlap.
struct Backlog(BTreeMap<(LedgerId, i64), i64>);

impl Backlog {
    fn of(ranges: Vec<(LedgerId, Range<i64>)>) -> Self {
        let ranges = ranges.into_iter();
        Self(
            ranges
                .map(|(ledger_id, seqs)| ((ledger_id, seqs.start), seqs.end))
                .collect(),
        )
    }

    fn has(&self, event: EventPlace) -> bool {
        let first = (event.ledger_id, i64::MIN);
        let before = self.0.range(first..=(event.ledger_id, event.seq)).next_back();
        before.is_some_and(|(_, end)| event.seq < *end)
    }
}
