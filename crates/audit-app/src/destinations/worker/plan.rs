//! What a run does after an attempt. Pure.
//!
//! | Verdict | The run |
//! |---|---|
//! | delivered | goes on behind the batch; the batches grow |
//! | refused, several events | makes the batch anew with half of them |
//! | refused, one event | sets it aside and goes on; after [`SET_ASIDE_IN_A_ROW_MAX`] it is parked |
//! | refused, a checkpoint | leaves it out: the next one covers more. A replay ends without it |
//! | retry | sends the same batch after a delay, for ever |
//! | credentials | sends the same batch every [`CREDENTIALS_SECONDS`] |
//!
//! A run that fails is `delayed` from its first failure on. The operator is told when it is late as well.
//!
//! A batch that is made anew begins at the same position and has fewer records, so it has another id. The receiver may have taken a part of the
//! one that it refused. So a checkpoint is a batch of its own, and none is sent before the run has passed the events of a refused batch: it
//! would get a position at which the receiver has an event.

use super::planned::{refused_end_seq, refused_text};
use audit_destinations::{Attempt, RunState, Verdict};
use audit_domain::Timestamp;
use audit_ledger::StreamChain;
use audit_store::{DestinationRunRow, MAIN_RUN, STREAM_CHECKPOINT_SECONDS};
use audit_webhooks::RetryAfter;
use serde_json::{Value, json};

/// The longest delay after a transient failure, in seconds. The first is one second, and each further one twice as long.
const BACKOFF_SECONDS_MAX: i64 = 300;
/// The longest `Retry-After` that is honoured, in seconds.
const RETRY_AFTER_SECONDS_MAX: i64 = audit_store::ATTEMPT_DELAY_SECONDS_MAX;
/// The delay after the receiver has refused the credentials, in seconds.
const CREDENTIALS_SECONDS: i64 = 300;
/// A main run is late when its oldest undelivered event was received longer ago than this, in seconds.
const LATE_SECONDS: i64 = 300;
/// A run is parked when this many events in a row were set aside.
const SET_ASIDE_IN_A_ROW_MAX: i64 = 10;

/// A batch, as far as the state of its run depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batched {
    /// The number of its records: events, or one checkpoint.
    pub(super) records: u64,
    /// Of a checkpoint: its note names all events that were set aside up to this position. `None` for a batch of events.
    pub(super) covered_position: Option<u64>,
    pub(super) end_seq: u64,
    /// The chain after its records.
    pub(super) chain: StreamChain,
    /// When the service received the first and the last of its events. Of a checkpoint, those of the next event.
    pub(super) received: Option<(Timestamp, Timestamp)>,
    /// The end of a longer batch that was refused before: see [`refused_end_seq`].
    pub(super) refused_end_seq: Option<u64>,
    /// Whether there were events behind it when it was made.
    pub(super) has_more: bool,
}

/// A change that the operator gets to know by an event of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The run is late. Once until it has recovered.
    Delayed,
    /// Records arrive in time again, after [`Self::Delayed`] or [`Self::CredentialsRefused`].
    Recovered,
    /// Nothing more is sent until the operator changes the destination: too many events were refused, or the log has lost some.
    Parked,
    /// The receiver refuses the credentials.
    CredentialsRefused,
    /// The receiver has refused an event for good.
    EventSetAside,
}

/// What follows an attempt.
#[derive(Debug)]
pub(super) struct Step {
    /// The run afterwards.
    pub(super) run: DestinationRunRow,
    /// Whether the only event of the batch is set aside.
    pub(super) is_set_aside: bool,
    pub(super) notices: Vec<Notice>,
    /// Whether the operator knows that records do not arrive.
    was_late: bool,
}

/// The facts of an attempt that the verdict does not have.
pub(super) struct Circumstances {
    pub(super) now: Timestamp,
    /// When the destination was created: an event that is older could not be delivered before.
    pub(super) created_at: Timestamp,
    /// The most records that a batch of this kind may have.
    pub(super) records_max: u64,
    /// Whether events were set aside since the last time of a checkpoint. One notice stands for all of them.
    pub(super) has_set_aside: bool,
}

/// The state of a run in its row. One that no version writes counts as active: the next attempt decides.
pub(super) fn state(run: &DestinationRunRow) -> RunState {
    run.state.parse().unwrap_or(RunState::Active)
}

/// The most records of the next batch.
pub(super) fn batch_max(run: &DestinationRunRow, records_max: u64) -> u64 {
    run.batch_max.cast_unsigned().clamp(1, records_max)
}

/// Whether a run has read all that it should: a replay, at its end.
pub(super) fn is_at_end(run: &DestinationRunRow) -> bool {
    run.planned.is_none() && run.end_seq.is_some_and(|end| run.cursor_seq >= end)
}

/// Whether nothing is left for a run to do: it is at its end, and a checkpoint covers everything.
pub(super) fn is_finished(run: &DestinationRunRow) -> bool {
    is_at_end(run) && run.checkpoint_position == run.position
}

/// Whether a checkpoint record is due. At the end of a replay it does not wait. The query of due runs has the same rule for the time.
pub(super) fn is_checkpoint_due(run: &DestinationRunRow, now: Timestamp) -> bool {
    let is_uncovered = run.position > run.checkpoint_position;
    let is_last = is_at_end(run) && run.last_success_at.is_some_and(|at| at >= run.checkpoint_at);
    let last = Timestamp::from_micros(run.checkpoint_at);
    // From before the clock was set back.
    let is_far_ahead = last > now.plus_seconds(audit_store::TIME_AHEAD_SECONDS_MAX);
    let is_time = is_far_ahead || last.plus_seconds(STREAM_CHECKPOINT_SECONDS) <= now;
    is_uncovered && refused_end_seq(run).is_none() && (is_last || is_time)
}

/// Notes that a run has come to the end of the log without another batch. One whose batch has failed waits for it, and does not get here.
pub(super) fn caught_up(run: &mut DestinationRunRow) -> Option<Notice> {
    if state(run) != RunState::Delayed {
        return None;
    }
    RunState::Active.as_str().clone_into(&mut run.state);
    if run.attempts == 0 {
        return Some(Notice::Recovered);
    }
    // It was an error of the service that delayed it.
    run.attempts = 0;
    run.last_error = None;
    None
}

/// What follows an attempt at the batch of a run.
pub(super) fn after(
    run: &DestinationRunRow,
    batch: &Batched,
    verdict: &Verdict,
    facts: &Circumstances,
) -> Step {
    let step = Step::new(run, batch.received, facts);
    match verdict {
        Verdict::Delivered => step.delivered(batch, facts),
        Verdict::Refused => match (batch.covered_position, batch.records) {
            (Some(_), _) => step.without_checkpoint(batch, facts),
            (None, 0 | 1) => step.set_aside(batch, facts),
            (None, _) => step.halved(batch, facts),
        },
        Verdict::Retry { after } => step.repeated(batch.received, *after, facts),
        Verdict::Credentials => step.without_credentials(facts),
    }
}

/// What follows an error of the service, after which nothing was sent. `received`: when it received the next event, if that is known.
pub(super) fn after_error(
    run: &DestinationRunRow,
    received: Option<(Timestamp, Timestamp)>,
    facts: &Circumstances,
) -> Step {
    Step::new(run, received, facts).repeated(received, None, facts)
}

/// What follows an attempt with a configuration that was replaced meanwhile: the present one is tried at once. `before`: the run before the
/// attempt, `after`: the run that it led to.
pub(super) fn superseded(
    before: &DestinationRunRow,
    after: DestinationRunRow,
    notices: &mut Vec<Notice>,
    now: Timestamp,
) -> DestinationRunRow {
    let run = DestinationRunRow {
        next_attempt_at: now.as_micros(),
        ..after
    };
    if !matches!(state(&run), RunState::Credentials | RunState::Parked) {
        return run;
    }
    notices.retain(|notice| !matches!(notice, Notice::CredentialsRefused | Notice::Parked));
    DestinationRunRow {
        state: before.state.clone(),
        attempts: before.attempts,
        last_error: before.last_error.clone(),
        set_aside_in_a_row: 0,
        ..run
    }
}

/// A failed attempt, as it is stored.
pub(super) fn described(attempt: &Attempt, now: Timestamp) -> String {
    json!({
        "at": now.to_string(), "status": attempt.status, "request": attempt.request, "response": attempt.response,
        "refused_credentials": attempt.verdict == Verdict::Credentials,
    })
    .to_string()
}

/// Whether the operator knows that the present credentials are refused.
fn is_refusal_known(run: &DestinationRunRow) -> bool {
    let error = run.last_error.as_deref().map(serde_json::from_str::<Value>);
    let is_refusal = |error: &Value| error["refused_credentials"] == true;
    state(run) == RunState::Credentials || error.and_then(Result::ok).as_ref().is_some_and(is_refusal)
}

/// Nothing more is sent until the operator changes the destination: the log has lost the next event.
pub(super) fn park(run: &mut DestinationRunRow, error: String) -> Notice {
    RunState::Parked.as_str().clone_into(&mut run.state);
    run.last_error = Some(error);
    Notice::Parked
}

impl Step {
    fn new(run: &DestinationRunRow, received: Option<(Timestamp, Timestamp)>, facts: &Circumstances) -> Self {
        Self {
            run: run.clone(),
            is_set_aside: false,
            notices: Vec::new(),
            was_late: is_announced(run, received, facts),
        }
    }

    /// The receiver has the batch.
    fn delivered(mut self, batch: &Batched, facts: &Circumstances) -> Self {
        self.advance(batch, facts.now);
        match batch.covered_position {
            None => self.run.delivered += batch.records.cast_signed(),
            // Its note has room for all that was set aside.
            Some(covered) if covered + 1 == self.run.position.cast_unsigned() => {
                self.run.checkpoint_position = self.run.position;
                self.run.checkpoint_at = facts.now.as_micros();
            }
            // The next checkpoint names the others, and stays due.
            Some(covered) => self.run.checkpoint_position = covered.cast_signed(),
        }
        self.succeed(batch, facts);
        self
    }

    /// Adds that the receiver took the batch by the previous credentials only: it has refused the present ones.
    pub(super) fn with_refused_credentials(&mut self, before: &DestinationRunRow, error: String) {
        if !is_refusal_known(before) {
            self.notices.push(Notice::CredentialsRefused);
        }
        self.run.last_error = Some(error);
    }

    /// The receiver has taken the batch.
    fn succeed(&mut self, batch: &Batched, facts: &Circumstances) {
        if batch.covered_position.is_none() {
            let twice = batch_max(&self.run, facts.records_max).saturating_mul(2);
            self.run.batch_max = twice.min(facts.records_max).cast_signed();
            self.run.set_aside_in_a_row = 0;
        }
        self.run.last_success_at = Some(facts.now.as_micros());
        self.run.last_error = None;
        let is_late = batch.has_more
            && match batch.received {
                Some((_, last)) => is_late(&self.run, last, facts.now, facts),
                None => self.was_late,
            };
        match (is_late, self.was_late) {
            (true, false) => self.notices.push(Notice::Delayed),
            (false, true) => self.notices.push(Notice::Recovered),
            (true, true) | (false, false) => {}
        }
        self.enter(match is_late {
            true => RunState::Delayed,
            false => RunState::Active,
        });
    }

    /// The only event of a batch was refused.
    fn set_aside(mut self, batch: &Batched, facts: &Circumstances) -> Self {
        self.advance(batch, facts.now);
        self.is_set_aside = true;
        if !facts.has_set_aside {
            self.notices.push(Notice::EventSetAside);
        }
        self.run.set_aside_in_a_row += 1;
        if self.run.set_aside_in_a_row >= SET_ASIDE_IN_A_ROW_MAX {
            self.enter(RunState::Parked);
            self.notices.push(Notice::Parked);
        }
        self
    }

    /// Goes on behind the batch.
    fn advance(&mut self, batch: &Batched, now: Timestamp) {
        self.run.cursor_seq = batch.end_seq.cast_signed();
        self.run.position += batch.records.cast_signed();
        self.run.chain = batch.chain.as_bytes().to_vec();
        self.plan_anew(batch.refused_end_seq, now);
    }

    fn plan_anew(&mut self, refused_end_seq: Option<u64>, now: Timestamp) {
        let cursor = self.run.cursor_seq.cast_unsigned();
        let refused = refused_end_seq.filter(|end| *end > cursor);
        self.run.planned = refused.map(refused_text);
        self.run.attempts = 0;
        self.run.next_attempt_at = now.as_micros();
        // The receiver responds again. Where the operator was told, records must arrive first.
        if state(&self.run) == RunState::Delayed && !self.was_late {
            self.enter(RunState::Active);
        }
    }

    /// A batch of several events was refused: one of them may be the reason.
    fn halved(mut self, batch: &Batched, facts: &Circumstances) -> Self {
        self.run.batch_max = batch.records.div_ceil(2).cast_signed();
        self.plan_anew(batch.refused_end_seq.max(Some(batch.end_seq)), facts.now);
        self
    }

    /// A checkpoint was refused.
    fn without_checkpoint(mut self, batch: &Batched, facts: &Circumstances) -> Self {
        self.plan_anew(batch.refused_end_seq, facts.now);
        self.run.checkpoint_at = facts.now.as_micros();
        if is_at_end(&self.run) {
            // Otherwise the replay would send it for ever.
            self.run.checkpoint_position = self.run.position;
        }
        self
    }

    fn repeated(
        mut self,
        received: Option<(Timestamp, Timestamp)>,
        after: Option<RetryAfter>,
        facts: &Circumstances,
    ) -> Self {
        self.run.attempts += 1;
        let asked = after.map_or(0, |after| seconds_of(after, facts.now));
        let delay = backoff_seconds(self.run.attempts).max(asked);
        let mut next_attempt_at = facts.now.plus_seconds(delay);
        if state(&self.run) != RunState::Credentials {
            self.enter(RunState::Delayed);
            match received.map(|(first, _)| first) {
                Some(first) if !self.was_late && is_late(&self.run, first, facts.now, facts) => {
                    self.notices.push(Notice::Delayed);
                }
                // The notice does not wait for an attempt that is far away.
                Some(first) if !self.was_late && self.run.number == MAIN_RUN => {
                    next_attempt_at = next_attempt_at.min(late_at(first, facts).plus_seconds(1));
                }
                _ => {}
            }
        }
        self.run.next_attempt_at = next_attempt_at.as_micros();
        self
    }

    fn without_credentials(mut self, facts: &Circumstances) -> Self {
        if !is_refusal_known(&self.run) {
            self.notices.push(Notice::CredentialsRefused);
        }
        self.run.attempts += 1;
        self.run.next_attempt_at = facts.now.plus_seconds(CREDENTIALS_SECONDS).as_micros();
        self.enter(RunState::Credentials);
        self
    }

    fn enter(&mut self, state: RunState) {
        state.as_str().clone_into(&mut self.run.state);
    }
}

/// Whether an event that was received then is late at a time. A replay has no time by which it must be done.
fn is_late(run: &DestinationRunRow, received_at: Timestamp, at: Timestamp, facts: &Circumstances) -> bool {
    run.number == MAIN_RUN && late_at(received_at, facts) < at
}

/// After this time, an event that was received then is late.
fn late_at(received_at: Timestamp, facts: &Circumstances) -> Timestamp {
    received_at.max(facts.created_at).plus_seconds(LATE_SECONDS)
}

/// Whether a notice has said that records do not arrive. A run that has failed is delayed at once, and its notice follows with the first
/// failure at which it is late.
fn is_announced(
    run: &DestinationRunRow,
    received: Option<(Timestamp, Timestamp)>,
    facts: &Circumstances,
) -> bool {
    match state(run) {
        RunState::Active | RunState::Parked => false,
        RunState::Credentials => true,
        // It became late while it succeeded.
        RunState::Delayed if run.attempts == 0 => true,
        RunState::Delayed => {
            let first = received.map(|(first, _)| first);
            let was_late = |(first, at)| is_late(run, first, at, facts);
            first.zip(last_failure_at(run)).is_some_and(was_late)
        }
    }
}

/// When the last attempt has failed.
fn last_failure_at(run: &DestinationRunRow) -> Option<Timestamp> {
    let error: Value = serde_json::from_str(run.last_error.as_deref()?).ok()?;
    Timestamp::parse_rfc3339(error.get("at")?.as_str()?).ok()
}

/// The delay after this many failures, in seconds.
fn backoff_seconds(attempts: i64) -> i64 {
    let doublings = u32::try_from(attempts - 1).unwrap_or(u32::MAX).min(10);
    (1 << doublings).min(BACKOFF_SECONDS_MAX)
}

/// The delay that a receiver asks for, in seconds.
fn seconds_of(after: RetryAfter, now: Timestamp) -> i64 {
    let seconds = match after {
        RetryAfter::Seconds(seconds) => i64::try_from(seconds).unwrap_or(i64::MAX),
        RetryAfter::At(at) => at.as_seconds() - now.as_seconds(),
    };
    seconds.clamp(0, RETRY_AFTER_SECONDS_MAX)
}

#[cfg(test)]
mod tests;
