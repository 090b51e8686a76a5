//! Requests of several owners, taken in turns: deficit round robin (M. Shreedhar, G. Varghese, "Efficient fair queuing using
//! deficit round robin", IEEE/ACM Transactions on Networking 4(3), 1996). A single owner can fill a commit. Each
//! of several can take at least an equal share, however many or large the requests of the others are.
//!
//! How much an owner may have waiting is a multiple of what is free (A. Choudhury, E. Hahne, "Dynamic queue length thresholds
//! for shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998): an owner that floods the queue fills its
//! own share and is refused, while the rest stays free for others.

use super::{COMMIT_BYTES_MAX, COMMIT_ROWS_MAX, WaitingAppend};
use crate::configuration::Owner;
use crate::options::QueueLimits;
use std::collections::{HashMap, VecDeque};

/// What an owner may have waiting, as a multiple of what is free: two thirds of the queue for one owner, two fifths each for
/// two.
pub(crate) const SHARE_OF_FREE: usize = 2;
/// What an owner may take in one turn, in the unit of [`cost`].
const QUANTUM: usize = 64 * 1024;
/// The bytes that cost as much as a row: a full commit has as many of the one as of the other.
const ROW_COST: usize = COMMIT_BYTES_MAX / COMMIT_ROWS_MAX;

/// What a request takes of a commit.
fn cost(append: &WaitingAppend) -> usize {
    append.bytes + append.rows * ROW_COST
}

/// The waiting requests of an owner.
#[derive(Default)]
struct Line {
    /// In the order of arrival.
    waiting: VecDeque<WaitingAppend>,
    bytes: usize,
    /// What the owner may still take in its turn, or has left from its last one.
    deficit: usize,
    /// Whether the turn has begun: a full commit interrupts it.
    is_in_turn: bool,
}

/// The end of a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnEnd {
    /// No further request belongs to the commit.
    Nothing,
    /// The next request costs more than the owner may take.
    Spent,
    /// The next request exceeds the size of the commit.
    Full,
}

/// The requests that wait, by owner.
#[derive(Default)]
pub(crate) struct Turns {
    lines: HashMap<Owner, Line>,
    /// The owners that have a line, in the order of their turns.
    order: VecDeque<Owner>,
    len: usize,
    bytes: usize,
}

/// A commit while it is filled.
struct Room<'a> {
    commit: &'a mut Vec<WaitingAppend>,
    rows: usize,
    bytes: usize,
}

impl<'a> Room<'a> {
    fn of(commit: &'a mut Vec<WaitingAppend>) -> Self {
        Self {
            rows: commit.iter().map(|append| append.rows).sum(),
            bytes: commit.iter().map(|append| append.bytes).sum(),
            commit,
        }
    }

    /// Whether it has room for a request. An empty one has, however large the request is.
    fn has_room_for(&self, next: &WaitingAppend) -> bool {
        let fits = self.rows + next.rows <= COMMIT_ROWS_MAX && self.bytes + next.bytes <= COMMIT_BYTES_MAX;
        fits || self.commit.is_empty()
    }

    fn add(&mut self, append: WaitingAppend) {
        self.rows += append.rows;
        self.bytes += append.bytes;
        self.commit.push(append);
    }
}

impl Turns {
    /// The number of waiting requests.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Every waiting request.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &WaitingAppend> {
        self.lines.values().flat_map(|line| &line.waiting)
    }

    /// Whether the queue, or the owner's share of it, is full for a request of so many bytes. The first request of an owner needs no
    /// share.
    pub(crate) fn is_full_for(&self, owner: Owner, bytes: usize, limits: &QueueLimits) -> bool {
        if self.len >= limits.jobs_max || (self.len > 0 && self.bytes + bytes > limits.bytes_max) {
            return true;
        }
        let Some(line) = self.lines.get(&owner) else {
            return false;
        };
        let free_jobs = limits.jobs_max - self.len - 1;
        let free_bytes = limits.bytes_max.saturating_sub(self.bytes + bytes);
        line.waiting.len() + 1 > SHARE_OF_FREE * free_jobs || line.bytes + bytes > SHARE_OF_FREE * free_bytes
    }

    /// Whether a request would be refused that is not prepared yet, and has so many bytes as it was sent. Rules make more of it, and about as
    /// much as of the requests of its owner that wait.
    pub(crate) fn is_full_for_body(&self, owner: Owner, bytes: usize, limits: &QueueLimits) -> bool {
        let waiting = self.lines.get(&owner);
        let mean = waiting.map_or(0, |line| line.bytes / line.waiting.len().max(1));
        self.is_full_for(owner, bytes.max(mean), limits)
    }

    /// Adds a request behind those of its owner.
    pub(crate) fn push(&mut self, append: WaitingAppend) {
        let owner = append.owner();
        let line = self.lines.entry(owner).or_insert_with(|| {
            self.order.push_back(owner);
            Line::default()
        });
        line.bytes += append.bytes;
        self.bytes += append.bytes;
        self.len += 1;
        line.waiting.push_back(append);
    }

    /// Removes the request of an owner with this number. Returns whether it was there.
    pub(crate) fn withdraw(&mut self, owner: Owner, number: u64) -> bool {
        let Some(line) = self.lines.get_mut(&owner) else {
            return false;
        };
        let Ok(index) = line.waiting.binary_search_by_key(&number, |append| append.number) else {
            return false;
        };
        let bytes = line.waiting.remove(index).map_or(0, |append| append.bytes);
        line.bytes -= bytes;
        self.bytes -= bytes;
        self.len -= 1;
        if line.waiting.is_empty() {
            self.lines.remove(&owner);
            self.order.retain(|other| *other != owner);
        }
        true
    }

    /// Moves the requests that `belongs` selects into a commit until it is full: those of each owner in their order, the owners
    /// in turns. One request is taken however large it is.
    pub(crate) fn fill(&mut self, commit: &mut Vec<WaitingAppend>, belongs: impl Fn(&WaitingAppend) -> bool) {
        let mut room = Room::of(commit);
        let is_alone = self.order.len() == 1;
        // The owners without a further request for this commit, with the requests that they passed over.
        let mut passed: HashMap<Owner, VecDeque<WaitingAppend>> = HashMap::new();
        let mut ended: VecDeque<Owner> = VecDeque::new();
        while let Some(owner) = self.order.pop_front() {
            let Some(line) = self.lines.get_mut(&owner) else {
                continue;
            };
            let (len, bytes) = (line.waiting.len(), line.bytes);
            let mut over = VecDeque::new();
            let end = line.take_turn(&mut room, is_alone, &belongs, &mut over);
            self.len -= len - line.waiting.len() - over.len();
            self.bytes -= bytes - line.bytes;
            if !over.is_empty() {
                passed.entry(owner).or_default().append(&mut over);
            }
            match end {
                TurnEnd::Spent => self.order.push_back(owner),
                TurnEnd::Nothing => ended.push_back(owner),
                TurnEnd::Full => {
                    self.order.push_front(owner);
                    break;
                }
            }
        }
        for (owner, mut over) in passed {
            if let Some(line) = self.lines.get_mut(&owner) {
                over.append(&mut line.waiting);
                line.waiting = over;
            }
        }
        // Owners whose requests belong to another writer keep their places.
        while let Some(owner) = ended.pop_back() {
            let is_empty = self.lines.get(&owner).is_none_or(|line| line.waiting.is_empty());
            match is_empty {
                true => drop(self.lines.remove(&owner)),
                false => self.order.push_front(owner),
            }
        }
    }
}

impl Line {
    /// One turn of the owner. Requests that do not belong to the commit are moved to `over`.
    fn take_turn(
        &mut self,
        room: &mut Room<'_>,
        is_alone: bool,
        belongs: impl Fn(&WaitingAppend) -> bool,
        over: &mut VecDeque<WaitingAppend>,
    ) -> TurnEnd {
        while let Some(next) = self.waiting.pop_front() {
            if !belongs(&next) {
                over.push_back(next);
                continue;
            }
            if !self.is_in_turn {
                self.is_in_turn = true;
                self.deficit += QUANTUM;
            }
            let cost = cost(&next);
            let end = if !is_alone && cost > self.deficit {
                self.is_in_turn = false;
                TurnEnd::Spent
            } else if !room.has_room_for(&next) {
                TurnEnd::Full
            } else {
                self.deficit = self.deficit.saturating_sub(cost);
                self.bytes -= next.bytes;
                room.add(next);
                continue;
            };
            self.waiting.push_front(next);
            return end;
        }
        TurnEnd::Nothing
    }
}
