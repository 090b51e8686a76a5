//! The records of one run in the order of their positions, and the chain over them.
//!
//! Records may come in any order. Each waits for those before it, and is forgotten once the chain has passed it, except for the latest, with
//! which repeats are compared. So the memory depends on how far records are from their places, and not on their number.

use super::record::{Content, EventContent, Fields};
use audit_domain::Timestamp;
use audit_ledger::{StreamChain, StreamNote};
use std::collections::{BTreeMap, VecDeque};

/// Most records of a file that wait for those before them, some 100 bytes each.
pub(super) const WAITING_MAX: usize = 1_000_000;
/// Most passed records of a run with which repeats are compared.
const RECENT_MAX: usize = 10_000;
/// Most findings of one kind that are kept. The others are counted.
pub(super) const FINDINGS_MAX: usize = 20;

/// What was found in one run.
#[derive(Default)]
pub(super) struct Run {
    waiting: BTreeMap<u64, Waiting>,
    /// The position that is next, and the chain before it. `None` before the first record is known.
    next: Option<Next>,
    /// The hashes of the last positions before the next one.
    recent: VecDeque<[u8; 32]>,
    /// What the last checkpoint that was reached covers.
    pub(super) covered: Option<Covered>,
    pub(super) found: Findings,
}

struct Next {
    position: u64,
    /// `None` after a gap, until a checkpoint states it.
    chain: Option<StreamChain>,
    /// The position from which on the chain is known without a gap.
    since: u64,
    /// When the log received the last event before it.
    logged_at: Option<Timestamp>,
}

/// A record that waits.
enum Waiting {
    Event(EventContent),
    /// An event that the receiver has refused, by a checkpoint.
    SetAside([u8; 32]),
    Checkpoint([u8; 32], Box<Stated>),
}

/// What a checkpoint states.
struct Stated {
    position: u64,
    chain: StreamChain,
    next_seq: u64,
}

/// What a checkpoint covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Covered {
    /// The first position from which on nothing is missing.
    pub(super) since: u64,
    /// The last position that the checkpoint covers.
    pub(super) position: u64,
    /// Everything before this number of the log was read.
    pub(super) next_seq: u64,
    /// When the log received the last of these events.
    pub(super) logged_at: Option<Timestamp>,
}

/// Findings of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed<T> {
    pub(super) first: Vec<T>,
    pub(super) count: u64,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self {
            first: Vec::new(),
            count: 0,
        }
    }
}

impl<T> Listed<T> {
    fn push(&mut self, finding: T) {
        if self.first.len() < FINDINGS_MAX {
            self.first.push(finding);
        }
        self.count += 1;
    }
}

/// What was found.
#[derive(Default)]
pub(super) struct Findings {
    /// The first and the last position.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Positions that are missing, by their first and last.
    pub(super) gaps: Listed<(u64, u64)>,
    pub(super) missing: u64,
    /// Positions that the receiver has refused.
    pub(super) set_aside: Listed<u64>,
    /// Events whose fields do not have their content hash.
    pub(super) changed: Listed<u64>,
    /// Positions with two different records.
    pub(super) contradicting: Listed<u64>,
    /// The records between these two positions are not those of a checkpoint.
    pub(super) unchained: Listed<(u64, u64)>,
    /// Checkpoints that are none, with the reason.
    pub(super) invalid: Listed<(u64, String)>,
    pub(super) checkpoints: u64,
    pub(super) events: u64,
    /// Events of which only the content hash was compared.
    pub(super) hashes_only: u64,
    pub(super) repeats: u64,
    /// Repeats of records that were passed long before, which were not compared with them.
    pub(super) far_repeats: u64,
}

impl Findings {
    /// Whether the file is not what was sent.
    pub(super) const fn is_refused(&self) -> bool {
        self.gaps.count
            + self.changed.count
            + self.contradicting.count
            + self.unchained.count
            + self.invalid.count
            > 0
    }
}

impl Waiting {
    const fn hash(&self) -> &[u8; 32] {
        match self {
            Self::Event(EventContent { hash, .. }) | Self::SetAside(hash) | Self::Checkpoint(hash, _) => hash,
        }
    }
}

impl Run {
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a record.
    pub(super) fn add(&mut self, position: u64, content: Content) {
        let waiting = match content {
            Content::Event(event) => {
                if event.fields == Fields::Changed {
                    self.found.changed.push(position);
                }
                Waiting::Event(event)
            }
            Content::Checkpoint(hash, Ok(note)) => {
                for (position, hash) in &note.set_aside {
                    self.add_set_aside(*position, *hash);
                }
                let StreamNote {
                    position,
                    chain,
                    next_seq,
                    ..
                } = note;
                Waiting::Checkpoint(
                    hash,
                    Box::new(Stated {
                        position,
                        chain,
                        next_seq,
                    }),
                )
            }
            Content::Checkpoint(hash, Err(reason)) => {
                self.found.invalid.push((position, reason));
                // It keeps its place, and says nothing.
                Waiting::Event(EventContent {
                    hash,
                    logged_at: None,
                    fields: Fields::Unknown,
                })
            }
        };
        match self.known(position) {
            Known::No => {
                self.waiting.insert(position, waiting);
            }
            Known::SetAside(hash) if hash == *waiting.hash() => {
                // It was sent again.
                self.waiting.insert(position, waiting);
            }
            Known::Record(hash) if hash == *waiting.hash() => self.found.repeats += 1,
            Known::SetAside(_) | Known::Record(_) => self.found.contradicting.push(position),
            Known::Forgotten => self.found.far_repeats += 1,
        }
    }

    /// Notes that the receiver has refused an event, by a checkpoint.
    fn add_set_aside(&mut self, position: u64, hash: [u8; 32]) {
        match self.known(position) {
            Known::No => {
                self.waiting.insert(position, Waiting::SetAside(hash));
            }
            Known::SetAside(known) | Known::Record(known) if known != hash => {
                self.found.contradicting.push(position);
            }
            Known::SetAside(_) | Known::Record(_) | Known::Forgotten => {}
        }
    }

    fn known(&self, position: u64) -> Known {
        match self.waiting.get(&position) {
            Some(Waiting::SetAside(hash)) => return Known::SetAside(*hash),
            Some(other) => return Known::Record(*other.hash()),
            None => {}
        }
        match &self.next {
            Some(next) if position < next.position => {
                let back = usize::try_from(next.position - position).unwrap_or(usize::MAX);
                let index = self.recent.len().checked_sub(back);
                index.map_or(Known::Forgotten, |index| Known::Record(self.recent[index]))
            }
            _ => Known::No,
        }
    }

    /// Passes the records whose predecessors are all there.
    pub(super) fn settle(&mut self) {
        self.pass(false);
    }

    /// Passes all records. What is missing before one of them is a gap.
    pub(super) fn settle_with_gaps(&mut self) {
        self.pass(true);
    }

    fn pass(&mut self, with_gaps: bool) {
        while let Some(entry) = self.waiting.first_entry() {
            let position = *entry.key();
            let is_next = match &self.next {
                Some(next) => next.position == position,
                None => position == 1,
            };
            if !is_next && !with_gaps {
                return;
            }
            let record = entry.remove();
            // A file that begins in the middle lacks nothing that was set aside before.
            let is_before = self.next.is_none() && position > 1 && matches!(record, Waiting::SetAside(_));
            if !is_before {
                self.take(position, record);
            }
        }
    }

    /// Passes one record.
    fn take(&mut self, position: u64, record: Waiting) {
        let mut next = self.next.take().unwrap_or_else(|| {
            self.found.first = position;
            Next {
                position,
                chain: (position == 1).then_some(StreamChain::START),
                since: position,
                logged_at: None,
            }
        });
        if next.position < position {
            self.found.gaps.push((next.position, position - 1));
            self.found.missing = self.found.missing.saturating_add(position - next.position);
            next.chain = None;
            self.recent.clear();
        }
        match &record {
            Waiting::Event(event) => {
                self.found.events += 1;
                self.found.hashes_only += u64::from(event.fields == Fields::Unknown);
                next.logged_at = event.logged_at.or(next.logged_at);
            }
            Waiting::SetAside(_) => self.found.set_aside.push(position),
            Waiting::Checkpoint(_, note) => self.reach(position, note, &mut next),
        }
        next.chain = next.chain.map(|chain| chain.after(position, record.hash()));
        next.position = position.saturating_add(1);
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(*record.hash());
        self.found.last = position;
        self.next = Some(next);
    }

    /// Compares the chain with that of a checkpoint, and goes on with the latter.
    fn reach(&mut self, position: u64, note: &Stated, next: &mut Next) {
        self.found.checkpoints += 1;
        if note.position.checked_add(1) != Some(position) {
            let reason = format!("it covers the positions up to {}", note.position);
            self.found.invalid.push((position, reason));
            return;
        }
        match next.chain {
            Some(chain) if chain == note.chain => {
                self.covered = Some(Covered {
                    since: next.since,
                    position: note.position,
                    next_seq: note.next_seq,
                    logged_at: next.logged_at,
                });
            }
            Some(_) => {
                self.found.unchained.push((next.since, note.position));
                next.since = position;
            }
            None => next.since = position,
        }
        next.chain = Some(note.chain);
    }
}

/// What is known of a position.
enum Known {
    No,
    SetAside([u8; 32]),
    Record([u8; 32]),
    /// It was passed long before.
    Forgotten,
}
