//! What is wrong with a log.

use audit_domain::EventId;
use audit_ledger::{CheckpointError, TileId};
use std::fmt;
use std::ops::Range;

/// Findings of each kind that are kept, so that a log of which everything is wrong costs no more than others.
pub const FINDINGS_MAX: usize = 100;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The events that it is about, as narrow as can be told.
    pub seqs: Option<Range<u64>>,
    /// The event's id, where it is about one that can be read.
    pub id: Option<EventId>,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with an event, or with the log as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no event where one was.
    #[error("it was removed")]
    Removed,
    /// The row cannot be read as one of an event.
    #[error("its row cannot be read")]
    Unreadable,
    /// The text is not what the hash beside it was made of.
    #[error("its text and its content hash do not belong together: one of them was changed")]
    TextOrHash,
    /// Text and hash belong together, and are not what was appended.
    #[error(
        "it is not the event that the log has here: it was changed together with its content hash, or exchanged, or the \
         log's tile was changed"
    )]
    NotAppended,
    /// A column says something else than the text.
    #[error("{0} is not what the event's text says")]
    Column(&'static str),
    /// An event is there that was never appended.
    #[error("it was added past the log")]
    Added,
    /// A list of ids or of times leads to an event that is not there.
    #[error("its id or its time is listed, and it is not there")]
    Gone,
    /// One of some events is not what was appended.
    #[error("at least one of them is not the event that was appended there")]
    OneOfThem,
    /// A tile is missing.
    #[error("{0} is missing")]
    TileMissing(TileId),
    /// A tile is not made of the tiles below it.
    #[error("{0} was changed")]
    TileChanged(TileId),
    /// The ledger's head says that it has a negative number of events.
    #[error("the ledger says that it has {0} events")]
    Size(i64),
    /// The tree's edge is missing or no edge of a tree.
    #[error("the edge of the log's tree was removed or changed")]
    Edge,
    /// The tree's edge is of another size than the ledger.
    #[error("the log's tree is of {tree} events and its ledger of {ledger}")]
    EdgeSize {
        /// Events of the tree.
        tree: u64,
        /// Events of the ledger.
        ledger: u64,
    },
    /// There is a checkpoint and no key it could have been signed with.
    #[error("the log's key was removed")]
    NoKey,
    /// The last checkpoint is not one of this log.
    #[error("the last checkpoint is not one that this log signed: {0}")]
    Checkpoint(CheckpointError),
    /// The log has fewer events than were signed.
    #[error("they were signed and are no longer there: the log was cut off or rolled back")]
    CutOff,
    /// The log has other events than were signed.
    #[error("at least one of them is not the event that was signed")]
    NotSigned,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.seqs, self.id) {
            (Some(seqs), _) if seqs.end > seqs.start + 1 => {
                write!(formatter, "events {} to {}: ", seqs.start, seqs.end - 1)?;
            }
            (Some(seqs), Some(id)) => write!(formatter, "event {} ({id}): ", seqs.start)?,
            (Some(seqs), None) => write!(formatter, "event {}: ", seqs.start)?,
            (None, Some(id)) => write!(formatter, "event {id}: ")?,
            (None, None) => {}
        }
        write!(formatter, "{}", self.problem)
    }
}

impl Finding {
    /// About one event.
    pub(super) fn event(seq: u64, id: Option<EventId>, problem: Problem) -> Self {
        Self {
            seqs: Some(seq..seq + 1),
            id,
            problem,
        }
    }

    /// About some events.
    pub(super) fn events(seqs: Range<u64>, problem: Problem) -> Self {
        Self {
            seqs: Some(seqs),
            id: None,
            problem,
        }
    }

    /// About the log as a whole.
    pub(super) fn log(problem: Problem) -> Self {
        Self {
            seqs: None,
            id: None,
            problem,
        }
    }

    /// Whether it names an event.
    pub fn names_an_event(&self) -> bool {
        self.id.is_some() || self.seqs.as_ref().is_some_and(|seqs| seqs.end == seqs.start + 1)
    }
}

/// What is found, on the way.
#[derive(Debug, Default)]
pub(super) struct Findings {
    named: Vec<Finding>,
    others: Vec<Finding>,
    count: u64,
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        self.count += 1;
        let list = match finding.names_an_event() {
            true => &mut self.named,
            false => &mut self.others,
        };
        if list.len() < FINDINGS_MAX {
            list.push(finding);
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Events that are named first, in their order, then ranges, then what is about the whole; and how many there were.
    pub(super) fn finish(self) -> (Vec<Finding>, u64) {
        let Self {
            mut named,
            mut others,
            count,
        } = self;
        named.sort_by_key(|finding| finding.seqs.as_ref().map_or(u64::MAX, |seqs| seqs.start));
        others.sort_by_key(|finding| {
            let seqs = finding.seqs.as_ref();
            seqs.map_or((u64::MAX, 0), |seqs| (seqs.end - seqs.start, seqs.start))
        });
        named.append(&mut others);
        (named, count)
    }
}
