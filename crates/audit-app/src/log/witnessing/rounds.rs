//! Which checkpoint each witness is asked for next: the state of all logs and witnesses, without I/O.
//!
//! A log has one round at a time: all witnesses are asked for the same checkpoint, because cosignatures of different checkpoints
//! are no quorum. The next checkpoint waits until the round has a quorum, or until no witness that responds is left to ask. Only
//! the latest one waits, so a log that grows faster than witnesses respond takes no more memory.

use audit_store::LedgerId;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of logs with a round, about a kilobyte each. Others are found again by the scan.
pub(super) const LOGS_MAX: usize = 20_000;
/// A checkpoint without a quorum after this time counts as such.
pub(super) const QUORUM_WAIT: Duration = Duration::from_secs(1);
/// A log without a quorum is not looked up before this time.
const SETTLED: Duration = Duration::from_secs(30);
/// The pause after the first failure of a witness. It doubles with each further one.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// A published checkpoint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) ledger_id: LedgerId,
    pub(super) size: u64,
    /// The note with the signature of the log alone.
    pub(super) note: String,
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The verified signature line.
    Cosigned(String),
    /// The witness does not cosign this checkpoint.
    Refused,
    /// Another node had a later checkpoint cosigned.
    Outdated,
    /// The witness did not respond, or not as a witness.
    Failed,
}

/// What a thread of a witness does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Ask(Arc<Published>),
    /// Wait for a signal, at most this long.
    Wait(Option<Duration>),
}

/// A checkpoint with its cosignatures, to be stored.
#[derive(Clone, Debug)]
pub(super) struct Collected {
    pub(super) published: Arc<Published>,
    pub(super) lines: Vec<String>,
    pub(super) has_quorum: bool,
}

/// The state of one log.
#[derive(Debug)]
struct Round {
    published: Arc<Published>,
    /// The latest checkpoint, if it is another one.
    next: Option<Arc<Published>>,
    /// The signature lines by witness.
    lines: BTreeMap<usize, String>,
    /// The witnesses that have responded.
    done: BTreeSet<usize>,
    has_quorum: bool,
    /// Since when there are lines that are not stored.
    unwritten_since: Option<Instant>,
}

/// The state of one witness.
#[derive(Debug, Default)]
struct Queue {
    /// The logs to ask about, in order, and the same as a set.
    waiting: VecDeque<LedgerId>,
    queued: HashSet<LedgerId>,
    in_flight: HashSet<LedgerId>,
    failures: u32,
    retry_at: Option<Instant>,
}

/// Whether cosignatures of these witnesses, by their numbers, are a quorum.
type IsQuorum = Box<dyn Fn(&BTreeSet<usize>) -> bool + Send>;

/// The state of all logs and witnesses.
pub(super) struct Rounds {
    is_quorum: IsQuorum,
    queues: Vec<Queue>,
    rounds: HashMap<LedgerId, Round>,
    /// To be stored at once.
    ready: HashMap<LedgerId, Collected>,
    /// Since when the latest checkpoint of a log has no quorum.
    without_quorum: HashMap<LedgerId, Instant>,
}

impl Round {
    fn new(published: Arc<Published>) -> Self {
        Self {
            published,
            next: None,
            lines: BTreeMap::new(),
            done: BTreeSet::new(),
            has_quorum: false,
            unwritten_since: None,
        }
    }

    fn collected(&self) -> Collected {
        Collected {
            published: Arc::clone(&self.published),
            lines: self.lines.values().cloned().collect(),
            has_quorum: self.has_quorum,
        }
    }
}

impl Queue {
    fn push(&mut self, ledger_id: LedgerId) {
        if !self.in_flight.contains(&ledger_id) && self.queued.insert(ledger_id) {
            self.waiting.push_back(ledger_id);
        }
    }

    fn pop(&mut self) -> Option<LedgerId> {
        let ledger_id = self.waiting.pop_front()?;
        self.queued.remove(&ledger_id);
        Some(ledger_id)
    }
}

impl Rounds {
    pub(super) fn new(witnesses: usize, is_quorum: IsQuorum) -> Self {
        Self {
            is_quorum,
            queues: (0..witnesses).map(|_| Queue::default()).collect(),
            rounds: HashMap::new(),
            ready: HashMap::new(),
            without_quorum: HashMap::new(),
        }
    }

    /// Asks the witnesses for a checkpoint, now or after the round of its log.
    pub(super) fn submit(&mut self, published: Published, now: Instant) {
        let ledger_id = published.ledger_id;
        let is_full = self.rounds.len() >= LOGS_MAX;
        match self.rounds.get_mut(&ledger_id) {
            Some(round) if published.size <= round.published.size => return,
            Some(round) => {
                let is_later = |next: &Arc<Published>| next.size >= published.size;
                if !round.next.as_ref().is_some_and(is_later) {
                    round.next = Some(Arc::new(published));
                }
            }
            None if is_full => {}
            None => {
                self.rounds.insert(ledger_id, Round::new(Arc::new(published)));
                self.queues.iter_mut().for_each(|queue| queue.push(ledger_id));
            }
        }
        self.without_quorum.entry(ledger_id).or_insert(now);
        self.advance(ledger_id);
    }

    /// What a thread of this witness does next.
    pub(super) fn take(&mut self, witness: usize, now: Instant) -> Next {
        let queue = &mut self.queues[witness];
        if let Some(retry_at) = queue.retry_at.filter(|retry_at| *retry_at > now) {
            return Next::Wait(Some(retry_at - now));
        }
        // One request finds out whether a witness that failed responds again.
        if queue.failures > 0 && !queue.in_flight.is_empty() {
            return Next::Wait(None);
        }
        while let Some(ledger_id) = queue.pop() {
            let round = self.rounds.get(&ledger_id);
            if let Some(round) = round.filter(|round| !round.done.contains(&witness)) {
                queue.in_flight.insert(ledger_id);
                return Next::Ask(Arc::clone(&round.published));
            }
        }
        Next::Wait(None)
    }

    /// Notes what came of a request.
    pub(super) fn finish(&mut self, witness: usize, asked: &Arc<Published>, outcome: Outcome, now: Instant) {
        let ledger_id = asked.ledger_id;
        let queue = &mut self.queues[witness];
        queue.in_flight.remove(&ledger_id);
        if outcome == Outcome::Failed {
            // Requests that were in flight together are one failure.
            if queue.retry_at.is_none_or(|retry_at| retry_at <= now) {
                let pause = RETRY_MIN.saturating_mul(1 << queue.failures.min(10));
                queue.failures = queue.failures.saturating_add(1);
                queue.retry_at = Some(now + pause.min(RETRY_MAX));
            }
            if self.rounds.contains_key(&ledger_id) {
                queue.push(ledger_id);
            }
            match queue.failures {
                1 => self.advance_all(),
                _ => self.advance(ledger_id),
            }
            return;
        }
        (queue.failures, queue.retry_at) = (0, None);
        let Some(round) = self.rounds.get_mut(&ledger_id) else {
            return;
        };
        if !Arc::ptr_eq(&round.published, asked) {
            // The log has gone on meanwhile.
            queue.push(ledger_id);
            return;
        }
        match outcome {
            Outcome::Outdated => {
                let round = self.rounds.remove(&ledger_id);
                self.without_quorum.remove(&ledger_id);
                if let Some(next) = round.and_then(|round| round.next).and_then(Arc::into_inner) {
                    self.submit(next, now);
                }
                return;
            }
            Outcome::Cosigned(line) => {
                round.lines.insert(witness, line);
                round.unwritten_since.get_or_insert(now);
            }
            Outcome::Refused | Outcome::Failed => {}
        }
        round.done.insert(witness);
        let is_first = !round.has_quorum;
        round.has_quorum = (self.is_quorum)(&round.lines.keys().copied().collect());
        if round.has_quorum && is_first {
            // The next checkpoint has no quorum from now on, as far as is known.
            match &round.next {
                Some(_) => self.without_quorum.insert(ledger_id, now),
                None => self.without_quorum.remove(&ledger_id),
            };
            self.ready_to_store(ledger_id);
        }
        self.advance(ledger_id);
    }

    /// The checkpoints whose new cosignatures are to be stored: with a new quorum at once, others a second after the first.
    pub(super) fn take_unwritten(&mut self, now: Instant) -> Vec<Collected> {
        let is_due = |round: &Round| {
            let since = round.unwritten_since;
            since.is_some_and(|since| now.saturating_duration_since(since) >= QUORUM_WAIT)
        };
        let rounds = self.rounds.iter().filter(|(_, round)| is_due(round));
        let due: Vec<LedgerId> = rounds.map(|(ledger_id, _)| *ledger_id).collect();
        due.into_iter()
            .for_each(|ledger_id| self.ready_to_store(ledger_id));
        std::mem::take(&mut self.ready).into_values().collect()
    }

    /// Keeps what could not be stored for the next call of [`Self::take_unwritten`].
    pub(super) fn return_unwritten(&mut self, unwritten: Vec<Collected>) {
        for collected in unwritten {
            self.keep(collected);
        }
    }

    /// The number of logs whose latest checkpoint has no quorum a second after it was published.
    pub(super) fn count_without_quorum(&self, now: Instant) -> usize {
        let since = self.without_quorum.values();
        since
            .filter(|since| now.saturating_duration_since(**since) >= QUORUM_WAIT)
            .count()
    }

    /// Forgets logs without a round that a scan of the ledgers behind `after`, up to `last`, has not found without a quorum: another
    /// node has had them cosigned.
    pub(super) fn settle(
        &mut self,
        after: Option<LedgerId>,
        last: Option<LedgerId>,
        uncosigned: &BTreeSet<LedgerId>,
        now: Instant,
    ) {
        let rounds = &self.rounds;
        self.without_quorum.retain(|ledger_id, since| {
            after.is_some_and(|after| *ledger_id <= after)
                || last.is_some_and(|last| *ledger_id > last)
                || rounds.contains_key(ledger_id)
                || uncosigned.contains(ledger_id)
                || now.saturating_duration_since(*since) < SETTLED
        });
    }

    fn keep(&mut self, collected: Collected) {
        let key = |collected: &Collected| {
            (
                collected.has_quorum,
                collected.published.size,
                collected.lines.len(),
            )
        };
        let kept = self.ready.get(&collected.published.ledger_id);
        if kept.is_none_or(|kept| key(kept) < key(&collected)) {
            self.ready.insert(collected.published.ledger_id, collected);
        }
    }

    fn ready_to_store(&mut self, ledger_id: LedgerId) {
        let Some(round) = self.rounds.get_mut(&ledger_id) else {
            return;
        };
        if round.unwritten_since.take().is_some() {
            let collected = round.collected();
            self.keep(collected);
        }
    }

    fn advance_all(&mut self) {
        let ledger_ids: Vec<LedgerId> = self.rounds.keys().copied().collect();
        ledger_ids
            .into_iter()
            .for_each(|ledger_id| self.advance(ledger_id));
    }

    /// Begins the next round of a log, if its round has a quorum or no witness that responds is left to ask. Ends the round if there is no next one and
    /// every witness has responded.
    fn advance(&mut self, ledger_id: LedgerId) {
        let Some(round) = self.rounds.get(&ledger_id) else {
            return;
        };
        let mut left = (0..self.queues.len()).filter(|witness| !round.done.contains(witness));
        let (is_asked_of_all, is_stuck) = (
            left.clone().next().is_none(),
            left.all(|witness| self.queues[witness].failures > 0),
        );
        let is_over = round.has_quorum || is_stuck;
        let is_finished = is_asked_of_all || (round.has_quorum && is_stuck);
        match (round.next.is_some(), is_over, is_finished) {
            (true, true, _) => {
                self.ready_to_store(ledger_id);
                let next = self
                    .rounds
                    .get_mut(&ledger_id)
                    .and_then(|round| round.next.take());
                if let Some(next) = next {
                    self.rounds.insert(ledger_id, Round::new(next));
                    self.queues.iter_mut().for_each(|queue| queue.push(ledger_id));
                }
            }
            (false, _, true) => {
                self.ready_to_store(ledger_id);
                self.rounds.remove(&ledger_id);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
