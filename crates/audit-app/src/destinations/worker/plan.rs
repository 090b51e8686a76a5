//! What a batch is, and what a run does after an attempt. Pure.
//!
//! | Verdict | The run |
//! |---|---|
//! | delivered | goes on behind the batch; the batches grow |
//! | delivered, with exceptions | the same, and the exceptions are set aside |
//! | refused, several records | makes the batch anew with half of them |
//! | refused, one event | sets it aside and goes on; after [`SET_ASIDE_IN_A_ROW_MAX`] it is parked |
//! | refused, a checkpoint | leaves it out: the next one covers more |
//! | retry | sends the same batch after a delay, for ever |
//! | credentials | sends the same batch every [`CREDENTIALS_SECONDS`] |
//!
//! A run that fails is `delayed` from its first failure on. The operator is told when it is late as well.
//!
//! A batch that is made anew begins at the same position and has fewer records, so it has another id.

use audit_destinations::{Chain, RecordFormat, RunState, Verdict};
use audit_domain::Timestamp;
use audit_store::{DestinationRunRow, MAIN_RUN, STREAM_CHECKPOINT_SECONDS};
use audit_webhooks::RetryAfter;
use serde_json::{Value, json};

/// The longest delay after a transient failure, in seconds. The first is one second, and each further one twice as long.
const BACKOFF_SECONDS_MAX: i64 = 300;
/// The longest `Retry-After` that is honoured, in seconds.
const RETRY_AFTER_SECONDS_MAX: i64 = 3_600;
/// The delay after the receiver has refused the credentials, in seconds.
const CREDENTIALS_SECONDS: i64 = 300;
/// A main run is late when its oldest undelivered event was received longer ago than this, in seconds.
const LATE_SECONDS: i64 = 300;
/// A run is parked when this many events in a row were set aside.
const SET_ASIDE_IN_A_ROW_MAX: i64 = 10;

/// What is committed before a batch is sent. After a crash, the same batch is made of it: the same bytes under the same id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The batch has the events from the cursor up to here that match the filter.
    pub(super) end_seq: u64,
    /// The number of its records.
    pub(super) records: u64,
    /// The filter of the destination when the batch was planned.
    pub(super) filter: Value,
    pub(super) format: RecordFormat,
    pub(super) include_raw: bool,
    pub(super) at: Timestamp,
    /// The last record, if it is a checkpoint.
    pub(super) checkpoint: Option<PlannedCheckpoint>,
}

/// The two notes of a checkpoint record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedCheckpoint {
    /// Of the stream.
    pub(super) note: String,
    /// Of the log.
    pub(super) log_checkpoint: String,
}

impl Plan {
    /// The text that is stored.
    pub(super) fn to_text(&self) -> String {
        let mut plan = json!({
            "end_seq": self.end_seq, "records": self.records, "filter": self.filter, "format": self.format.as_str(),
            "include_raw": self.include_raw, "at": self.at.as_micros(),
        });
        if let Some(checkpoint) = &self.checkpoint {
            plan["checkpoint"] = json!(checkpoint.note);
            plan["log_checkpoint"] = json!(checkpoint.log_checkpoint);
        }
        plan.to_string()
    }

    /// Reads what [`Self::to_text`] writes; `None` for another text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut plan: Value = serde_json::from_str(text).ok()?;
        let note = |name: &str| plan.get(name).and_then(Value::as_str).map(str::to_owned);
        let checkpoint = note("checkpoint").zip(note("log_checkpoint"));
        Some(Self {
            end_seq: plan["end_seq"].as_u64()?,
            records: plan["records"].as_u64()?,
            format: plan["format"].as_str()?.parse().ok()?,
            include_raw: plan["include_raw"].as_bool()?,
            at: Timestamp::from_micros(plan["at"].as_i64()?),
            checkpoint: checkpoint.map(|(note, log_checkpoint)| PlannedCheckpoint { note, log_checkpoint }),
            filter: plan["filter"].take(),
        })
    }
}

/// A batch, as far as the state of its run depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batched {
    /// The records that are events.
    pub(super) events: u64,
    pub(super) has_checkpoint: bool,
    pub(super) end_seq: u64,
    /// The chain after the events.
    pub(super) chain_of_events: Chain,
    /// The chain after all records.
    pub(super) chain: Chain,
    /// When the service received the first and the last of its events.
    pub(super) received: Option<(Timestamp, Timestamp)>,
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
    /// Nothing more is sent until the operator changes the destination.
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
    /// The indexes of the events that are set aside.
    pub(super) set_aside: Vec<usize>,
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
    /// Whether events were set aside since the last checkpoint. One notice stands for all of them.
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

/// Whether a checkpoint record is due, if records follow the last one. At the end of a replay it does not wait.
pub(super) fn is_checkpoint_due(run: &DestinationRunRow, now: Timestamp) -> bool {
    let is_last = is_at_end(run) && run.last_success_at.is_some_and(|at| at >= run.checkpoint_at);
    is_last || Timestamp::from_micros(run.checkpoint_at).plus_seconds(STREAM_CHECKPOINT_SECONDS) <= now
}

/// Notes that a run has come to the end of the log without another batch. A run that has failed waits for its batch, and does not get here.
pub(super) fn caught_up(run: &mut DestinationRunRow) -> Option<Notice> {
    let was_late = state(run) == RunState::Delayed;
    if was_late {
        RunState::Active.as_str().clone_into(&mut run.state);
    }
    was_late.then_some(Notice::Recovered)
}

/// What follows an attempt at the batch of a run.
pub(super) fn after(
    run: &DestinationRunRow,
    batch: &Batched,
    verdict: &Verdict,
    facts: &Circumstances,
) -> Step {
    let step = Step {
        run: run.clone(),
        set_aside: Vec::new(),
        notices: Vec::new(),
        was_late: is_announced(run, batch, facts),
    };
    match verdict {
        Verdict::Delivered => step.delivered(batch, Vec::new(), facts),
        Verdict::DeliveredExcept(refused) => {
            let mut refused = refused.clone();
            refused.sort_unstable();
            refused.dedup();
            step.delivered(batch, refused, facts)
        }
        Verdict::Refused => match (batch.events, batch.has_checkpoint) {
            (0, _) => step.without_checkpoint(facts),
            (1, false) => step.set_aside(batch, facts),
            (events, has_checkpoint) => step.halved(events + u64::from(has_checkpoint), facts),
        },
        Verdict::Retry { after } => step.repeated(batch, *after, facts),
        Verdict::Credentials => step.without_credentials(facts),
    }
}

impl Step {
    /// The receiver has the batch, without the records with these indexes.
    fn delivered(mut self, batch: &Batched, refused: Vec<usize>, facts: &Circumstances) -> Self {
        let events = usize::try_from(batch.events).unwrap_or(usize::MAX);
        let has_checkpoint = batch.has_checkpoint && !refused.contains(&events);
        let refused: Vec<usize> = refused.into_iter().filter(|index| *index < events).collect();
        let delivered = events - refused.len();
        self.advance(batch, has_checkpoint, facts.now);
        if batch.has_checkpoint {
            self.run.checkpoint_at = facts.now.as_micros();
        }
        // The note of this batch lacks what was set aside with it. The next one begins where the last complete one ended.
        if has_checkpoint && refused.is_empty() {
            self.run.checkpoint_position = self.run.position;
        }
        let is_taken = delivered > 0 || has_checkpoint;
        if is_taken {
            self.run.delivered += i64::try_from(delivered).unwrap_or(i64::MAX);
            self.succeed(batch, facts);
        }
        self.note_set_aside(refused, is_taken, facts);
        self
    }

    /// The receiver has taken something of the batch.
    fn succeed(&mut self, batch: &Batched, facts: &Circumstances) {
        let twice = batch_max(&self.run, facts.records_max).saturating_mul(2);
        self.run.batch_max = twice.min(facts.records_max).cast_signed();
        self.run.set_aside_in_a_row = 0;
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
        self.advance(batch, false, facts.now);
        self.note_set_aside(vec![0], false, facts);
        self
    }

    fn note_set_aside(&mut self, refused: Vec<usize>, is_partial: bool, facts: &Circumstances) {
        if refused.is_empty() {
            return;
        }
        if !facts.has_set_aside {
            self.notices.push(Notice::EventSetAside);
        }
        // In a batch of which the receiver has taken something, it refuses single events.
        if !is_partial {
            self.run.set_aside_in_a_row += i64::try_from(refused.len()).unwrap_or(i64::MAX);
        }
        if self.run.set_aside_in_a_row >= SET_ASIDE_IN_A_ROW_MAX {
            self.enter(RunState::Parked);
            self.notices.push(Notice::Parked);
        }
        self.set_aside = refused;
    }

    /// Goes on behind the batch.
    fn advance(&mut self, batch: &Batched, has_checkpoint: bool, now: Timestamp) {
        let chain = match has_checkpoint {
            true => batch.chain,
            false => batch.chain_of_events,
        };
        self.run.cursor_seq = batch.end_seq.cast_signed();
        self.run.position += (batch.events + u64::from(has_checkpoint)).cast_signed();
        self.run.chain = chain.as_bytes().to_vec();
        self.plan_anew(now);
    }

    fn plan_anew(&mut self, now: Timestamp) {
        self.run.planned = None;
        self.run.attempts = 0;
        self.run.next_attempt_at = now.as_micros();
        // The receiver responds again. Where the operator was told, records must arrive first.
        if state(&self.run) == RunState::Delayed && !self.was_late {
            self.enter(RunState::Active);
        }
    }

    /// A batch of several records was refused: one of them may be the reason.
    fn halved(mut self, records: u64, facts: &Circumstances) -> Self {
        self.run.batch_max = records.div_ceil(2).cast_signed();
        self.plan_anew(facts.now);
        self
    }

    /// A checkpoint alone was refused.
    fn without_checkpoint(mut self, facts: &Circumstances) -> Self {
        self.run.checkpoint_at = facts.now.as_micros();
        self.plan_anew(facts.now);
        self
    }

    fn repeated(mut self, batch: &Batched, after: Option<RetryAfter>, facts: &Circumstances) -> Self {
        self.run.attempts += 1;
        let asked = after.map_or(0, |after| seconds_of(after, facts.now));
        let delay = backoff_seconds(self.run.attempts).max(asked);
        self.run.next_attempt_at = facts.now.plus_seconds(delay).as_micros();
        if state(&self.run) == RunState::Credentials {
            return self;
        }
        self.enter(RunState::Delayed);
        let first = batch.received.map(|(first, _)| first);
        if !self.was_late && first.is_some_and(|first| is_late(&self.run, first, facts.now, facts)) {
            self.notices.push(Notice::Delayed);
        }
        self
    }

    fn without_credentials(mut self, facts: &Circumstances) -> Self {
        self.run.attempts += 1;
        self.run.next_attempt_at = facts.now.plus_seconds(CREDENTIALS_SECONDS).as_micros();
        if state(&self.run) != RunState::Credentials {
            self.enter(RunState::Credentials);
            self.notices.push(Notice::CredentialsRefused);
        }
        self
    }

    fn enter(&mut self, state: RunState) {
        state.as_str().clone_into(&mut self.run.state);
    }
}

/// Whether an event that was received then is late at a time. A replay has no time by which it must be done.
fn is_late(run: &DestinationRunRow, received_at: Timestamp, at: Timestamp, facts: &Circumstances) -> bool {
    let since = received_at.max(facts.created_at);
    run.number == MAIN_RUN && since.plus_seconds(LATE_SECONDS) < at
}

/// Whether a notice has said that records do not arrive. A run that has failed is delayed at once, and its notice follows with the first
/// failure at which it is late.
fn is_announced(run: &DestinationRunRow, batch: &Batched, facts: &Circumstances) -> bool {
    match state(run) {
        RunState::Active | RunState::Parked => false,
        RunState::Credentials => true,
        // It became late while it succeeded.
        RunState::Delayed if run.attempts == 0 => true,
        RunState::Delayed => {
            let first = batch.received.map(|(first, _)| first);
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
