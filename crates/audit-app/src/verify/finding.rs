//! The findings of a verification.

use audit_domain::EventId;
use audit_ledger::{CheckpointError, TileId};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of findings of each kind, so that a badly damaged log does not need more memory.
pub const FINDINGS_MAX: usize = 100;

/// An inconsistency of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The smallest known range of affected events.
    pub seqs: Option<Range<u64>>,
    /// The id of the event, if there is a single one and it can be read.
    pub id: Option<EventId>,
    /// The problem.
    pub problem: Problem,
}

/// A problem of an event, of a range of events or of the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The event is missing.
    #[error("it was removed")]
    Removed,
    /// The row lacks parts, and no erasure in the log covers them.
    #[error("parts of it were removed, and no erasure in the log covers them")]
    ErasedPart,
    /// The lifecycle events of the log contradict each other.
    #[error("the events of retention, holds and removals contradict each other: {0}")]
    LifecycleChain(String),
    /// The records of a removal were changed, or it is not in the log.
    #[error("the records of the removal at {removal} are not those that it was logged with")]
    RemovalRecords {
        /// The position of its event.
        removal: u64,
    },
    /// A removal takes what a hold or the policy keeps.
    #[error("a removal in the log takes it against the rules of the log: {why}")]
    RemovalNotAllowed {
        /// What it contradicts.
        why: String,
    },
    /// Rows that a removal took are there.
    #[error("{events} events that the removal at {removal} took are there again")]
    NotRemoved {
        /// The position of its event.
        removal: u64,
        /// The number of rows.
        events: u64,
    },
    /// Rows that were put back for a hold in force are missing, or were not put back yet.
    #[error(
        "{events} events that the restore at {restore} put back for a hold are missing: run it again if it was interrupted"
    )]
    NotRestored {
        /// The position of its event.
        restore: u64,
        /// The number of rows.
        events: u64,
    },
    /// Rows or parts that an erasure took are there.
    #[error("what the erasure at {removal} took of {events} events is there again")]
    NotErased {
        /// The position of its event.
        removal: u64,
        /// The number of events.
        events: u64,
    },
    /// The row of the event cannot be read.
    #[error("its row cannot be read")]
    Unreadable,
    /// The stored content hash is not the hash of the text.
    #[error("its text and its content hash do not belong together: one of them was changed")]
    TextOrHash,
    /// Text and content hash match, but they are not those that were appended.
    #[error(
        "it is not the event that the log has here: it was changed together with its content hash, or exchanged, or the \
         log's tile was changed"
    )]
    NotAppended,
    /// A column differs from the text of the event.
    #[error("{0} is not what the event's text says")]
    Column(&'static str),
    /// The code of the row is wrong.
    #[error(
        "what stands beside its text was not written by the service: the digest of the request, the sender, the month or `redacted`"
    )]
    ForgedRow,
    /// The row of its sender is missing, or not that of a key and an address, or begins after the event.
    #[error("the key and the address that it was sent with were removed or changed")]
    Sender,
    /// An event exists that was never appended.
    #[error("it was added past the log")]
    Added,
    /// The index of ids or of times contains an event that does not exist.
    #[error("its id or its time is listed, and it is not there")]
    Gone,
    /// At least one event of the range is not the one that was appended.
    #[error("at least one of them is not the event that was appended")]
    OneOfThem,
    /// A tile is missing.
    #[error("{0} is missing")]
    TileMissing(TileId),
    /// A tile does not match the tiles below it.
    #[error("{0} was changed")]
    TileChanged(TileId),
    /// The size in the ledger's head is negative.
    #[error("the ledger has a size of {0} events")]
    Size(i64),
    /// The frontier is missing or invalid.
    #[error("the frontier of the log's tree was removed or changed")]
    Frontier,
    /// The frontier and the ledger differ in size.
    #[error("the log's tree has {tree} events, but its ledger has {ledger}")]
    FrontierSize {
        /// The number of events of the tree.
        tree: u64,
        /// The number of events of the ledger.
        ledger: u64,
    },
    /// A tile is stored that the tree does not have.
    #[error("the log has the tile {index} of level {level}, which its tree does not have")]
    StrayTile {
        /// Its level.
        level: i64,
        /// Its index.
        index: i64,
    },
    /// The code of the head is wrong.
    #[error("the head of the ledger was not written by the service")]
    ForgedHead,
    /// A column of the head is not that of the newest event, or of the newest lifecycle event.
    #[error("ledgers.{0} is not that of the newest event")]
    Head(&'static str),
    /// An alert names an event that the log does not have.
    #[error("the alert {alert} was raised by this event, which the log does not have")]
    AlertOfNoEvent {
        /// The id of the alert.
        alert: String,
    },
    /// A column of an alert is not what its events raised.
    #[error("{column} of the alert {alert} is not what its events raised")]
    AlertContradicted {
        /// The id of the alert.
        alert: String,
        /// The column, or the columns of which one is wrong.
        column: &'static str,
    },
    /// The row of an alert cannot be read. The id is in hexadecimal digits.
    #[error("the alert {0} cannot be read")]
    AlertDamaged(String),
    /// The column beside the last checkpoint is not its size.
    #[error("the last checkpoint is of {signed} events, and its row says {column}")]
    CheckpointSize {
        /// The size in the note.
        signed: u64,
        /// The size in the row.
        column: i64,
    },
    /// Events were received long ago and are not signed.
    #[error("they were received and not signed in time")]
    Unsigned,
    /// The database's key is not the trusted one.
    #[error("the log's key in the database is not the given one: it is {0}")]
    OtherKey(String),
    /// This node has signed a log that the database does not have.
    #[error("this node has signed the log, and the database does not have it")]
    LogGone,
    /// The list of projects has a project whose cell has no log of it.
    #[error("the list of projects has the project, and its cell does not have the log")]
    NoLog,
    /// A cell has a log that the list of projects does not have, or places elsewhere.
    #[error("the cell has the log, and the list of projects does not have the project there")]
    NotListed,
    /// An anchor has a log that the database does not have.
    #[error("the anchor {0} has the log, and the database does not have it")]
    AnchoredGone(Arc<str>),
    /// An anchor has events that the log does not have.
    #[error("the anchor {0} has them and they are no longer there: the log was cut off or rolled back")]
    AnchoredCutOff(Arc<str>),
    /// The log is another one than an anchor has.
    #[error("at least one of them is not the event that the anchor {0} has")]
    AnchoredDifferent(Arc<str>),
    /// The log is smaller than one that was acknowledged and could not be signed.
    #[error(
        "they were acknowledged and are no longer there: the log was cut off or rolled back before it was signed"
    )]
    AcknowledgedCutOff,
    /// The log is another one than was acknowledged and could not be signed.
    #[error("at least one of them is not the event that was acknowledged; the log could not be signed then")]
    AcknowledgedDifferent,
    /// The map of tenants in an anchor is not that of the events.
    #[error("the map of tenants in the anchor {0} is not that of these events: another one was signed")]
    AnchoredMap(Arc<str>),
    /// The map of tenants in an anchor has another key.
    #[error("the secret of the maps of tenants is not the one of the anchor {0}: it was removed or changed")]
    AnchoredMapSecret(Arc<str>),
    /// What this node has signed cannot be read.
    #[error("the checkpoint that this node remembers is not one that this log signed: {0}")]
    Remembered(CheckpointError),
    /// There is a checkpoint, but no key.
    #[error("the log's key was removed")]
    NoKey,
    /// The signature of the last checkpoint is not of this log.
    #[error("the last checkpoint is not one that this log signed: {0}")]
    Checkpoint(CheckpointError),
    /// The log is smaller than its last checkpoint.
    #[error("they were signed and are no longer there: the log was cut off or rolled back")]
    CutOff,
    /// The state of the map of tenants has the wrong code, or its key is missing.
    #[error("the map of tenants was not written by the service; it is discarded when it is needed")]
    ForgedTenantMap,
    /// A part of the map of tenants is not that of the events.
    #[error("{0} of the map of tenants is not that of the events")]
    TenantMap(&'static str),
    /// The stored log of a tenant is not that of its events.
    #[error("the log of the tenant {0} is not that of its events")]
    TenantLog(String),
    /// The log differs from its last checkpoint.
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
    /// A finding about one event.
    pub(super) fn event(seq: u64, id: Option<EventId>, problem: Problem) -> Self {
        Self {
            seqs: Some(seq..seq + 1),
            id,
            problem,
        }
    }

    /// A finding about a range of events.
    pub(super) fn events(seqs: Range<u64>, problem: Problem) -> Self {
        Self {
            seqs: Some(seqs),
            id: None,
            problem,
        }
    }

    /// A finding about the log as a whole.
    pub(super) fn log(problem: Problem) -> Self {
        Self {
            seqs: None,
            id: None,
            problem,
        }
    }

    /// Whether it is about a single event.
    pub fn names_an_event(&self) -> bool {
        self.id.is_some() || self.seqs.as_ref().is_some_and(|seqs| seqs.end == seqs.start + 1)
    }
}

/// Collects findings.
#[derive(Clone, Debug, Default)]
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

    /// The findings, sorted: single events in the order of the log, then ranges, then the log as a whole. Also their number.
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
