//! The thread that sends batches.

use super::{Recorded, Recorder, State};
use crate::ambient;
use crate::buffer::{Entry, body_of};
use crate::error::Error;
use crate::policy::{concerns_events, concerns_request, is_temporary};
use crate::transport::{Call, json_of, outcomes_of};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest pause after a failed send while the client is being closed: it has little time left.
const CLOSING_PAUSE_MAX: Duration = Duration::from_secs(2);

impl Recorder {
    /// Starts the thread, unless it runs.
    pub(super) fn start_thread(self: &Arc<Self>, state: &mut State) {
        if state.is_running {
            return;
        }
        let recorder = Arc::clone(self);
        let run = move || {
            let end = EndOfThread(&recorder);
            recorder.run();
            drop(end);
        };
        match std::thread::Builder::new()
            .name("audit-client".to_owned())
            .spawn(run)
        {
            Ok(_) => state.is_running = true,
            // The next event tries again.
            Err(error) => log::error!("cannot start the thread that sends events: {error}"),
        }
    }

    fn run(&self) {
        while let Some(batch) = self.next_batch() {
            self.deliver(&batch);
        }
    }

    /// Waits for a batch. `None` at the end.
    fn next_batch(&self) -> Option<Vec<Entry>> {
        let mut state = self.state.lock();
        loop {
            if state.is_abandoned || (state.is_closing && state.buffer.pending() == 0) {
                return None;
            }
            let due = state.due(&self.options);
            match due {
                None => self.changed.wait(&mut state),
                Some(due) if due > Instant::now() => {
                    self.changed.wait_until(&mut state, due);
                }
                Some(_) => match state.buffer.peek() {
                    Ok(batch) if !batch.is_empty() => {
                        state.paused_until = None;
                        return Some(batch);
                    }
                    Ok(_) => self.pause(&mut state, &Error::Spool("events are missing".to_owned())),
                    Err(error) => self.pause(&mut state, &error),
                },
            }
        }
    }

    /// Sends a batch and settles its events. `false` if they have to wait.
    fn deliver(&self, batch: &[Entry]) -> bool {
        let started_at = Instant::now();
        let call = Call::new("POST", self.path.clone()).body(body_of(batch));
        let parse = |body: &[u8]| outcomes_of(&json_of(body)?, batch.len());
        match self
            .transport
            .send(&call, parse, |wait, error| self.sleep(wait, error))
        {
            Ok(outcomes) => self.settle(batch, outcomes, started_at),
            Err(error) => {
                if batch.len() > 1 && concerns_request(&error) {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    return self.deliver(first) && self.deliver(second);
                }
                let is_kept = is_temporary(&error)
                    || matches!(error, Error::NotSent)
                    || (self.options.keeps_unauthorized && !concerns_events(&error));
                if is_kept {
                    self.pause(&mut self.state.lock(), &error);
                    return false;
                }
                self.settle(batch, vec![Err(error); batch.len()], started_at);
            }
        }
        true
    }

    fn sleep(&self, wait: Duration, error: &Error) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.note_failure(self.transport.retry.told(error));
        self.changed.notify_all();
        let deadline = Instant::now() + wait;
        self.changed
            .wait_while_until(&mut state, |state| !state.is_abandoned, deadline);
        if state.is_abandoned {
            Err(Error::NotSent)
        } else {
            Ok(())
        }
    }

    fn pause(&self, state: &mut State, error: &Error) {
        if state.is_closing && state.buffer.is_durable() {
            // The spool keeps the events. Waiting for the server would only hold up the end of the process.
            state.is_abandoned = true;
        }
        if state.is_abandoned {
            return;
        }
        let (now, retry) = (Instant::now(), &self.transport.retry);
        state.note_failure(retry.told(error));
        state.failed_sends += 1;
        let mut wait = retry.pause(state.failed_sends, error, u64::from_le_bytes(ambient::random()));
        if state.is_closing {
            wait = wait.min(CLOSING_PAUSE_MAX).max(retry.told(error));
        }
        state.paused_until = Some(now + wait);
        self.changed.notify_all();
        log::warn!(
            "{} events wait, next attempt in {:.1} s: {error}",
            state.buffer.pending(),
            wait.as_secs_f64()
        );
    }

    fn settle(&self, batch: &[Entry], outcomes: Vec<Result<String, Error>>, started_at: Instant) {
        let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count() as u64;
        {
            let mut state = self.state.lock();
            if state.is_abandoned {
                // The client reported these events as pending, and the next one may have the spool.
                return;
            }
            state.buffer.advance(batch.len());
            state.stored += batch.len() as u64 - failed;
            state.failed += failed;
            state.failed_sends = 0;
            state.failing_since = None;
            // Events that are left came while this batch was sent.
            state.first_at = started_at;
        }
        self.report(batch, outcomes);
        let mut state = self.state.lock();
        state.reported += batch.len() as u64;
        self.wake(state);
    }

    pub(super) fn report(&self, batch: &[Entry], outcomes: Vec<Result<String, Error>>) {
        let Some(on_result) = &self.options.on_result else {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
                *counts.entry(error.to_string()).or_default() += 1;
            }
            for (error, count) in counts {
                log::error!("{count} events were not stored: {error}");
            }
            return;
        };
        for (entry, result) in batch.iter().zip(outcomes) {
            let body = Arc::clone(&entry.body);
            let recorded = Recorded { body, result };
            if catch_unwind(AssertUnwindSafe(|| on_result(&recorded))).is_err() {
                log::error!("on_result panicked");
            }
        }
    }
}

/// Says that the thread has ended, however it ended. The next event starts another one.
struct EndOfThread<'a>(&'a Recorder);

impl Drop for EndOfThread<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_running = false;
        self.0.wake(state);
    }
}
